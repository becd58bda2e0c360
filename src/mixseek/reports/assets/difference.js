// What only one of two outputs says is marked when a reader opens the pair.
(() => {
  const list = document.getElementById("changes");

  const compareOutputs = (change) => {
    if (change.dataset.compared || change.hidden) return;
    change.dataset.compared = "yes";
    const [a, b] = [...change.querySelectorAll(".output > .response")];
    if (!a || !b) return;
    const share = markDifference(a, b);
    if (share === null || share <= MOST_CHANGED) return;
    const note = document.createElement("p");
    note.className = "soft unlike";
    note.textContent = list.dataset.unlike.replace("{share}", String(Math.round(share * 100)));
    change.querySelector(".outputs").before(note);
  };

  for (const change of document.querySelectorAll("details.change")) {
    change.addEventListener("toggle", () => { if (change.open) compareOutputs(change); });
    if (change.open) compareOutputs(change);
  }
  const choice = document.getElementById("mark-difference");
  if (choice) {
    document.getElementById("difference-choice").hidden = false;
    choice.addEventListener("change", () => list.classList.toggle("unmarked", !choice.checked));
  }
  // Most come to see what got worse.
  const worse = document.querySelector('#filters [data-kind="worse"]');
  if (worse && new URLSearchParams(location.search).get("kind") === "worse") worse.click();
})();
