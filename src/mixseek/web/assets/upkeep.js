// A run gets another name, or goes, after a question; where the server refuses, its sentence stands in the question.

const HOW_TO_CHANGE = {
  rename: (run, form) => ["name", { new: form.elements.new.value }],
  remove: (run) => ["removal", { run }],
};

/** `room` is what it stands in: runs, or answers. */
function askFirst(kind, run, room) {
  const dialog = document.getElementById(kind);
  Object.assign(dialog.dataset, { run, room });
  for (const words of dialog.querySelectorAll("[data-room]")) words.hidden = words.dataset.room !== room;
  dialog.querySelector(".upkeep-run").replaceChildren(...nameNodes(run));
  dialog.querySelector(".upkeep-problem").textContent = "";
  const name = dialog.querySelector("input");
  if (name) name.value = run;
  dialog.showModal();
}

async function changeRun(dialog, form) {
  const { run, room } = dialog.dataset;
  const [path, change] = HOW_TO_CHANGE[dialog.id](run, form);
  const problem = dialog.querySelector(".upkeep-problem");
  try {
    const address = `${BASE}/api/${room}/${encodeURIComponent(run)}/${path}`;
    await fetchAnswer(address, { method: "POST", body: JSON.stringify(change) }).then(readDone);
  } catch (error) {
    problem.textContent = error.message;
    return;
  }
  dialog.close();
  await showNews();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-upkeep]");
  if (button) askFirst(button.dataset.upkeep, button.dataset.run, button.dataset.room ?? "runs");
  if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
});
for (const dialog of document.querySelectorAll("dialog.upkeep")) dialog.addEventListener("submit", (event) => {
  event.preventDefault();
  changeRun(dialog, event.target);
});
