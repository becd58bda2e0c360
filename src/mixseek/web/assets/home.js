// The home: lines are narrowed as somebody types, and a run that starts later appears by itself.

const isHome = document.querySelector("#runs, #answers, .empty, #competitions") !== null;
const NARROWING = ["q", "protocol", "dataset"];

/** What a line says of its run; what can be done with it is the same in every line. */
function textOfRow(row) {
  const copy = row.cloneNode(true);
  copy.querySelector(".board-upkeep")?.remove();
  return fold(copy.textContent);
}

/** Shows the lines that match; what narrows them stands in the address, so that a reload shows the same. */
function narrowRuns() {
  const form = document.getElementById("board-filters");
  if (!form) return;
  const wanted = Object.fromEntries(NARROWING.map((name) => [name, form.elements[name]?.value ?? ""]));
  const sought = fold(wanted.q).split(/\s+/).filter(Boolean);
  const rows = [...document.querySelectorAll("#runs tbody tr, #answers tbody tr")];
  for (const row of rows) {
    const text = sought.length ? textOfRow(row) : "";
    const isWanted = ["protocol", "dataset"].every((name) => !wanted[name] || row.dataset[name] === wanted[name]);
    row.hidden = !(isWanted && sought.every((word) => text.includes(word)));
  }
  const counts = { shown: rows.filter((row) => !row.hidden).length, all: rows.length };
  const said = document.getElementById("board-matches");
  const matches = said.dataset.words.replace(/\{(\w+)\}/g, (_, name) => countText(counts[name]));
  if (said.textContent !== matches) said.textContent = matches;
  const query = new URLSearchParams(location.search);
  for (const name of NARROWING) (wanted[name] ? query.set(name, wanted[name]) : query.delete(name));
  history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}${location.hash}`);
}

/** Fills the form with what the address says, after the page came or was replaced. */
function readNarrowing() {
  const form = document.getElementById("board-filters");
  if (!form) return;
  const query = new URLSearchParams(location.search);
  for (const name of NARROWING) if (form.elements[name]) form.elements[name].value = query.get(name) ?? "";
  narrowRuns();
}

/** The choice of A and B, what was typed and where somebody is stay: only what the list says is replaced. */
function replaceLists(text) {
  const chosen = [...document.querySelectorAll("#runs input:checked")].map((input) => [input.name, input.value]);
  const place = placeNow();
  document.querySelector("main").replaceWith(new DOMParser().parseFromString(text, "text/html").querySelector("main"));
  for (const [name, value] of chosen) {
    const same = [...document.querySelectorAll(`#runs input[name="${name}"]`)].find((input) => input.value === value);
    if (same) same.checked = true;
  }
  readNarrowing();
  returnTo(place);
}

/** Only a page takes the place of a page: a refusal is explained by who asks next. */
const showNews = () => fetchAnswer(location.href).then((page) => (page.ok ? page.text().then(replaceLists) : null)).catch(() => null);

async function lookForNews(before) {
  // A page that nobody looks at asks nothing; a server that is gone is asked again; a question is answered first.
  if (document.hidden || document.querySelector("dialog[open]")) return setTimeout(() => lookForNews(before), 3000);
  let now = before;
  try {
    now = JSON.stringify(await fetchAnswer(`${BASE}/api/workspace`).then(readDone));
    tellLost();
  } catch (error) { tellLost(error.message); }
  // What was not counted when the page was made may have been counted before it could ask.
  if (before === null ? document.querySelector("[data-uncounted]") : now !== before) await showNews();
  return setTimeout(() => lookForNews(now), document.querySelector(".state.running, .empty") ? 3000 : 5000);
}

if (document.querySelector("[data-comes-by-itself]")) setTimeout(() => location.reload(), 1000);
if (isHome) {
  readNarrowing();
  document.addEventListener("input", (event) => { if (event.target.form?.id === "board-filters") narrowRuns(); });
  document.addEventListener("submit", (event) => { if (event.target.id === "board-filters") event.preventDefault(); });
  lookForNews(null);
}
