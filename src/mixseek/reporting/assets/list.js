// The list of judgments. Only the rows in sight exist as elements, so two thousand scroll like twenty.

const ROW_HEIGHT = 62; // as in browser.css
const SPARE_ROWS = 8;

let matching = rows;
let selected = null;
const folded = new Map();

function searchText(row) {
  if (!folded.has(row)) {
    const { sample } = row;
    folded.set(row, fold([sample.id, sample.question, sample.response, row.answer, sample.truth, ...(sample.alternatives ?? [])].filter(Boolean).join("\n")));
  }
  return folded.get(row);
}

const TESTS = {
  status: (row, wanted) => row.status === wanted,
  verdict: (row, wanted) => row.status === "valid" && row.verdict === wanted,
  judge: (row, wanted) => row.judge === wanted,
  task: (row, wanted) => row.sample.task === wanted,
  target: (row, wanted) => row.sample.model === wanted,
  variant: (row, wanted) => row.sample.variant === wanted,
  gate: (row, wanted) => (row.gates ?? []).some(([gate]) => gate === wanted),
  control: (row, wanted) => Boolean(row.control) === (wanted === "yes"),
  quote: (row, wanted) => (row.quotes ?? []).some((quote) => quote.problem === wanted),
  error: (row, wanted) => row.error === wanted,
  unverified: (row, wanted) => Boolean(row.unverified) === (wanted === "yes"),
  warning: (row, wanted) => (row.warnings ?? []).includes(wanted),
  reasoning: (row, wanted) => row.status === "valid" && String(row.reasoning ?? "") === wanted,
  rule: (row, wanted) => (row.rules ?? []).includes(wanted),
  flag: (row, wanted) => (row.flags ?? []).some(([flag]) => flag === wanted),
};

function applyFilters() {
  const wanted = Object.entries(TESTS).filter(([name]) => state[name]);
  const words = fold(state.q).split(/\s+/).filter(Boolean);
  matching = rows.filter((row) =>
    wanted.every(([name, test]) => test(row, state[name])) && words.every((word) => searchText(row).includes(word)));
  const isNarrowed = wanted.length > 0 || words.length > 0;
  byId("matches").textContent = isNarrowed
    ? `${countText(matching.length)} of ${countText(rows.length)}`
    : `${countText(rows.length)} ${rows.length === 1 ? "judgment" : "judgments"}`;
  byId("clear").hidden = !isNarrowed;
  drawControls();
  byId("list").scrollTop = 0;
  if (isWide() && !state.id) {
    select(matching[0] ?? null, { isQuiet: true });
    return;
  }
  // What the reader opened stays open while it belongs to the list; what the filters exclude is closed.
  if (selected && !matching.includes(selected)) {
    select(isWide() ? matching[0] ?? null : null, { isQuiet: true });
    writeAddress();
    return;
  }
  drawRows();
  if (matching.includes(selected)) keepInSight(matching.indexOf(selected));
}

function rowElement(row, place) {
  const { sample } = row;
  const answer = row.marks ? totalText(row) : row.answer === undefined ? "–" : visibleLine(row.answer, 40);
  const truth = sample.truth === undefined ? null : visibleLine(sample.truth, 40);
  const gist = visibleLine(sample.question || sample.response || "", 160);
  const compared = [make("b", { lang: languageOf(answer) }, answer)];
  if (truth !== null && row.tone !== "good") compared.push(make("i", {}, "expected"), make("span", { lang: languageOf(truth) }, truth));
  const element = make("div", {
    class: `row tone-${row.tone}`, role: "option", id: `row-${row.position}`, "aria-selected": row === selected ? "true" : "false",
    "aria-setsize": matching.length, "aria-posinset": place + 1, onclick: () => select(row, { push: true }),
  },
  make("div", { class: "row-top" }, make("span", { class: "row-outcome" }, visibleLine(outcomeOf(row), 40), row.unverified ? make("i", { class: "row-doubt", title: "Unverified: the answer is not in the response" }, "?") : null),
    make("span", { class: "row-id", lang: languageOf(sample.id) }, visibleLine(sample.id, 80)),
    make("span", { class: "row-side" }, isPanel || hasRepeats ? visibleLine(row.control ? `${judgeText(row)} (self)` : judgeText(row), 40) : visibleLine(sample.task ?? "", 40))),
  make("div", { class: "row-bottom" }, make("span", { class: "row-compared" }, ...compared), make("span", { class: "row-gist", lang: languageOf(gist), dir: "auto" }, gist)));
  // Set through the object model: the content policy refuses style attributes.
  element.style.top = `${place * ROW_HEIGHT}px`;
  return element;
}

function drawRows() {
  const list = byId("list");
  const holder = byId("rows");
  if (!matching.length) {
    holder.style.height = "auto";
    holder.replaceChildren(make("p", { class: "quiet placeholder" }, rows.length ? "No judgment matches these filters." : "This run holds no judgments."));
    list.removeAttribute("aria-activedescendant");
    return;
  }
  holder.style.height = `${matching.length * ROW_HEIGHT}px`;
  const first = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - SPARE_ROWS);
  const last = Math.min(matching.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW_HEIGHT) + SPARE_ROWS);
  holder.replaceChildren(...matching.slice(first, last).map((row, index) => rowElement(row, first + index)));
  if (selected && holder.querySelector("[aria-selected=true]")) list.setAttribute("aria-activedescendant", `row-${selected.position}`);
  else list.removeAttribute("aria-activedescendant");
}

function keepInSight(place) {
  const list = byId("list");
  const top = place * ROW_HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW_HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW_HEIGHT - list.clientHeight;
}

function select(row, { push = false, isQuiet = false } = {}) {
  const wasOpen = Boolean(state.id);
  selected = row;
  Object.assign(state, row && !isQuiet ? nameOf(row) : { id: "", by: "", repeat: "" });
  byId("browser").classList.toggle("open", Boolean(row));
  // On a small screen the detail covers the list: "back" must lead to the list, not out of the page.
  if (!isQuiet) writeAddress({ push: push && !wasOpen });
  renderDetail(row, { move, close: () => select(null) });
  const place = matching.indexOf(row);
  if (place >= 0) keepInSight(place);
  drawRows();
}

function move(by) {
  if (!matching.length) return;
  const place = matching.indexOf(selected);
  const next = place < 0 ? (by > 0 ? 0 : matching.length - 1) : place + by;
  select(matching[Math.max(0, Math.min(matching.length - 1, next))]);
}

// --- the controls above the list

const UNSCORED = ["undecided", "invalid", "missing"];
const SELECTS = [
  ["judge", "Judge", (row) => [row.judge]],
  ["task", "Task", (row) => [row.sample.task]],
  ["target", "Target", (row) => [row.sample.model]],
  ["variant", "Variant", (row) => [row.sample.variant]],
  ["gate", "Gate", (row) => (row.gates ?? []).map(([gate]) => gate)],
  ["control", "Self-judgment", (row) => [row.control ? "yes" : "no"]],
  ["quote", "Quote", (row) => (row.quotes ?? []).map((quote) => quote.problem ?? undefined)],
  ["status", "Status", (row) => [row.status]],
  ["verdict", "Verdict", (row) => [row.status === "valid" ? row.verdict : undefined]],
  ["error", "Error type", (row) => [row.error]],
  ["unverified", "Unverified", (row) => [row.unverified ? "yes" : "no"]],
  ["warning", "Warning", (row) => row.warnings ?? []],
  ["reasoning", "Reasoning", (row) => [row.status === "valid" && row.reasoning !== undefined ? String(row.reasoning) : undefined]],
  ["rule", "Rule", (row) => row.rules ?? []],
  ["flag", "Flag", (row) => (row.flags ?? []).map(([flag]) => flag)],
];

function buildSelects() {
  const holder = byId("selects");
  const hasButtons = document.querySelector("[data-outcome]") !== null;
  for (const [name, label, valuesOf] of SELECTS) {
    if (hasButtons && (name === "status" || name === "verdict")) continue;
    const counts = new Map();
    for (const row of rows) for (const value of new Set(valuesOf(row))) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
    if (counts.size < (["judge", "task", "target", "variant", "control", "unverified"].includes(name) ? 2 : 1)) continue;
    const options = [...counts].sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([value, count]) => make("option", { value }, `${visibleLine(name === "judge" ? labelOf(value) : value, 60)} (${countText(count)})`));
    const select = make("select", { name }, make("option", { value: "" }, "any"), ...options);
    select.addEventListener("change", () => { state[name] = select.value; filtersChanged(); });
    holder.append(make("label", { class: "choice" }, make("span", {}, label), select));
  }
}

function drawControls() {
  for (const select of byId("selects").querySelectorAll("select")) {
    select.value = state[select.name];
    // A value that no listed row has: the list is empty, and the control says why.
    if (select.value !== state[select.name]) {
      select.append(make("option", { value: state[select.name] }, `${visibleLine(state[select.name], 60)} (0)`));
      select.value = state[select.name];
    }
    select.parentElement.classList.toggle("active", Boolean(state[select.name]));
  }
  const search = byId("search");
  if (search.value !== state.q) search.value = state.q;
  const outcome = state.verdict || state.status;
  for (const button of document.querySelectorAll("[data-outcome]")) {
    const own = button.dataset.outcome;
    // Status "valid" is every verdict at once.
    const isPressed = own === outcome || (outcome === "valid" && own !== "" && !UNSCORED.includes(own));
    button.setAttribute("aria-pressed", String(isPressed));
  }
}

function filtersChanged() {
  writeAddress();
  applyFilters();
}

function clearFilters() {
  for (const name of FILTERS) state[name] = "";
  filtersChanged();
}

function chooseOutcome(outcome) {
  const isStatus = UNSCORED.includes(outcome) || outcome === "valid";
  state.status = isStatus ? outcome : "";
  state.verdict = isStatus ? "" : outcome;
  filtersChanged();
}
