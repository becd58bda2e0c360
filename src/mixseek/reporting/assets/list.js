// The list of judgments. Only the rows in sight exist as elements, so two thousand scroll like twenty.

const ROW_HEIGHT = 62; // as in browser.css
const SPARE_ROWS = 8;

let matching = rows;
let selected = null;

/** Asks the source for what the filters leave, and shows it; `after` is done then. */
function applyFilters(after = null) {
  source.find((found) => {
    matching = found.rows;
    byId("matches").textContent = found.text;
    byId("clear").hidden = !found.isNarrowed;
    drawControls();
    byId("list").scrollTop = 0;
    keepSelection();
    if (after) after();
  });
}

function keepSelection() {
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
    holder.replaceChildren(make("p", { class: "quiet placeholder" }, say(source.isEmpty() ? "This run holds no judgments." : "No judgment matches these filters.")));
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

const STEPS = { move, close: () => select(null) };

function select(row, { push = false, isQuiet = false } = {}) {
  const wasOpen = Boolean(state.id);
  selected = row;
  Object.assign(state, row && !isQuiet ? nameOf(row) : { id: "", by: "", repeat: "" });
  byId("browser").classList.toggle("open", Boolean(row));
  // On a small screen the detail covers the list: "back" must lead to the list, not out of the page.
  if (!isQuiet) writeAddress({ push: push && !wasOpen });
  renderDetail(row, STEPS);
  if (row) source.complete(row, (whole) => { if (selected === row) renderDetail(whole, STEPS); });
  const place = matching.indexOf(row);
  if (place >= 0) keepInSight(place);
  drawRows();
}

function move(by) {
  if (!matching.length) return;
  const place = matching.indexOf(selected);
  const next = place < 0 ? (by > 0 ? 0 : matching.length - 1) : place + by;
  if (place >= 0 && Number.isFinite(by) && source.turn(next)) return;
  select(matching[Math.max(0, Math.min(matching.length - 1, next))]);
}

// --- the controls above the list

const UNSCORED = ["undecided", "invalid", "missing"];
/** One control for each thing that judgments differ in, with how many there are of each value. */
function buildSelects() {
  source.choices((choices) => byId("selects").replaceChildren(...choices.map(([name, label, values]) => {
    const options = values.map(([value, count]) =>
      make("option", { value }, `${visibleLine(name === "judge" ? labelOf(value) : value, 60)} (${countText(count)})`));
    const choice = make("select", { name }, make("option", { value: "" }, say("any")), ...options);
    choice.addEventListener("change", () => { state[name] = choice.value; filtersChanged(); });
    return make("label", { class: "choice" }, make("span", {}, say(label)), choice);
  })));
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
  source.restart();
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
