// The list of samples without this holds all of them; with it they are filtered, and shown some at a time.
(() => {
  const changes = [...document.querySelectorAll(".change")];
  const form = document.getElementById("filters");
  if (!form) return;
  const pageSize = 25;
  const more = document.getElementById("more");
  const search = document.getElementById("search");
  const task = document.getElementById("task");
  const buttons = [...form.querySelectorAll("[data-kind]")];
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  let kind = "";
  let limit = pageSize;
  let texts = null;
  const show = () => {
    const wanted = fold(search.value.trim());
    // Folding all texts takes a moment: only for those who search.
    if (wanted && !texts) texts = changes.map((change) => fold(change.textContent));
    const matching = changes.filter((change, index) =>
      (!kind || change.dataset.kinds.split(" ").includes(kind)) &&
      (!task || !task.value || change.dataset.task === task.value) &&
      (!wanted || texts[index].includes(wanted)));
    const shown = new Set(matching.slice(0, limit));
    for (const change of changes) change.hidden = !shown.has(change);
    const matches = document.getElementById("matches");
    const counts = { shown: shown.size, matching: matching.length };
    matches.textContent = matches.dataset.words.replace(/\{(\w+)\}/g, (_, name) => counts[name].toLocaleString("en"));
    more.hidden = matching.length <= limit;
  };
  const again = () => { limit = pageSize; show(); };
  for (const button of buttons) button.addEventListener("click", () => {
    kind = button.dataset.kind;
    for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
    again();
  });
  search.addEventListener("input", again);
  if (task) task.addEventListener("change", again);
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => { limit += pageSize; show(); });
  form.hidden = false;
  show();
})();
