// The list of judgments. Only the rows in sight exist as elements, so two hundred scroll like twenty.

const ROW_HEIGHT = 62; // as in browser.css
const SPARE_ROWS = 8;

let selected = null;
// Where the rows stand among those that the filters leave, and how many those are.
let page = { offset: 0, matches: 0, total: 0 };
// Paper does not scroll.
let isPrinting = false;

const isSame = (row, other) => row.sample.id === other.sample.id && row.judge === other.judge && (row.repeat ?? 1) === (other.repeat ?? 1);
const isNarrowed = () => NARROWING.some((name) => state[name]);

function matchText() {
  if (isNarrowed()) return `${countText(page.matches)} ${say("word.of", "of")} ${countText(page.total)}`;
  return `${countText(page.total)} ${page.total === 1 ? say("judgment.judgment", "judgment") : say("judgment.judgments", "judgments")}`;
}

function searchText(found, done, all) {
  return `${countText(found)} ${say("judgment.so_far_searched", "so far; searched")} ${countText(done)} ${say("word.of", "of")} ${countText(all)}`;
}

/** Asks the source for what the filters leave, and shows it; `after` is done when the first rows are there. */
function applyFilters(after = null, { staysInPlace = false } = {}) {
  drawControls();
  byId("clear").hidden = !isNarrowed();
  byId("copy-link").textContent = say("report.copy_link", "Copy link");
  byId("copied-link").hidden = true;
  source.find((found) => {
    byId("matches").textContent = found.text ?? "";
    if (!found.rows) return;
    rows = found.rows;
    page = found;
    byId("matches").textContent = found.text ?? matchText();
    drawPager();
    const list = byId("list");
    const top = staysInPlace ? list.scrollTop : 0;
    list.scrollTop = top;
    keepSelection({ staysInPlace });
    if (staysInPlace && list.scrollTop !== top) { list.scrollTop = top; drawRows(); }
    if (after) after();
  });
}

function drawPager() {
  const last = page.offset + rows.length;
  byId("page-text").textContent = rows.length ? `${countText(page.offset + 1)}–${countText(last)}` : "–";
  byId("earlier").disabled = page.offset === 0;
  byId("later").disabled = last >= page.matches;
  for (const part of document.querySelectorAll(".turn")) part.hidden = page.matches <= source.pageRows;
  byId("sort").value = state.sort;
}

/** Beyond an end of the page is the next one; false where there is none. */
function turn(place) {
  if (place >= 0 && place < rows.length) return false;
  const isLater = place >= rows.length;
  if (isLater ? page.offset + rows.length >= page.matches : page.offset === 0) return false;
  const at = isLater ? page.offset + source.pageRows : Math.max(0, page.offset - source.pageRows);
  Object.assign(state, { id: "", by: "", repeat: "", at: at ? String(at) : "" });
  writeAddress({ push: true });
  selected = null;
  applyFilters(() => { if (rows.length) select(isLater ? rows[0] : rows[rows.length - 1]); });
  return true;
}

function keepSelection({ staysInPlace }) {
  if (isWide() && !state.id) {
    const again = staysInPlace && selected ? rows.find((row) => isSame(row, selected)) : null;
    select(again ?? rows[0] ?? null, { isQuiet: true });
    return;
  }
  // What the reader opened stays open while it belongs to the list; what the filters exclude is closed.
  if (selected) {
    selected = rows.find((row) => isSame(row, selected)) ?? null;
    if (!selected) {
      select(isWide() ? rows[0] ?? null : null, { isQuiet: true });
      writeAddress();
      return;
    }
  }
  drawRows();
  if (selected) keepInSight(rows.indexOf(selected));
}

function rowElement(row, place) {
  const { sample } = row;
  const answer = row.marks ? totalText(row) : row.answer === undefined ? "–" : visibleLine(row.answer, 40);
  const truth = sample.truth === undefined ? null : visibleLine(sample.truth, 40);
  const gist = visibleLine(sample.question || sample.response || "", 160);
  // Of two responses the verdict says it all.
  const compared = sample.response_b !== undefined && row.answer === undefined ? [] : [make("b", { lang: languageOf(answer) }, answer)];
  if (truth !== null && row.tone !== "good") compared.push(make("i", {}, say("judgment.expected", "expected")), make("span", { lang: languageOf(truth) }, truth));
  const element = make("div", {
    class: `row tone-${row.tone}`, role: "option", id: `row-${row.position}`, "aria-selected": row === selected ? "true" : "false",
    "aria-setsize": page.matches, "aria-posinset": page.offset + place + 1, onclick: () => select(row, { push: true }),
  },
  make("div", { class: "row-top" }, make("span", { class: "row-outcome" }, visibleLine(outcomeOf(row), 40), row.unverified ? make("i", { class: "row-doubt", title: say("judgment.unverified_answer", "Unverified: the answer is not in the response") }, "?") : null), peopleMark(row),
    make("span", { class: "row-id", lang: languageOf(sample.id) }, visibleLine(sample.id, 80)),
    make("span", { class: "row-side" }, isPanel || hasRepeats ? visibleLine(row.control ? `${judgeText(row)} (${say("matrix.self", "self")})` : judgeText(row), 40) : visibleLine(sample.task ?? "", 40))),
  make("div", { class: "row-bottom" }, make("span", { class: "row-compared" }, ...compared), make("span", { class: "row-gist", lang: languageOf(gist), dir: "auto" }, gist)));
  // Set through the object model: the content policy refuses style attributes.
  element.style.top = `${place * ROW_HEIGHT}px`;
  return element;
}

function drawRows() {
  const list = byId("list");
  const holder = byId("rows");
  if (!rows.length) {
    holder.style.height = "auto";
    holder.replaceChildren(make("p", { class: "quiet placeholder" }, page.total === 0 ? say("judgment.this_run_holds_no_judgments", "This run holds no judgments.") : say("judgment.no_judgment_matches_these_filters", "No judgment matches these filters.")));
    list.removeAttribute("aria-activedescendant");
    return;
  }
  holder.style.height = `${rows.length * ROW_HEIGHT}px`;
  const first = isPrinting ? 0 : Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - SPARE_ROWS);
  const last = isPrinting ? rows.length : Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW_HEIGHT) + SPARE_ROWS);
  holder.replaceChildren(...rows.slice(first, last).map((row, number) => rowElement(row, first + number)));
  if (selected && holder.querySelector("[aria-selected=true]")) list.setAttribute("aria-activedescendant", `row-${selected.position}`);
  else list.removeAttribute("aria-activedescendant");
}

function keepInSight(place) {
  const list = byId("list");
  const top = place * ROW_HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW_HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW_HEIGHT - list.clientHeight;
}

const STEPS = { move, close: () => select(null, { push: true }) };

/** What a reader opens is a step that "back" undoes; `isQuiet` shows something without it being asked for. */
function select(row, { push = false, isQuiet = false } = {}) {
  selected = row;
  Object.assign(state, row && !isQuiet ? nameOf(row) : { id: "", by: "", repeat: "" });
  // Whoever closes what an address has opened stays at its place in the list.
  if (!row && !isQuiet) state.at = page.offset ? String(page.offset) : "";
  byId("browser").classList.toggle("open", Boolean(row));
  if (!isQuiet) writeAddress({ push });
  renderDetail(row, STEPS);
  if (row) source.complete(row, (whole) => { if (selected === row) renderDetail(whole, STEPS); });
  const place = rows.indexOf(row);
  if (place >= 0) keepInSight(place);
  drawRows();
}

/** A key that is held down is one step, however many judgments it passes. */
function move(by, { isHeld = false } = {}) {
  if (!rows.length) return;
  const place = rows.indexOf(selected);
  const next = place < 0 ? (by > 0 ? 0 : rows.length - 1) : place + by;
  if (place >= 0 && Number.isFinite(by) && turn(next)) return;
  select(rows[Math.max(0, Math.min(rows.length - 1, next))], { push: !isHeld });
}

// --- the controls above the list

const UNSCORED = ["undecided", "invalid", "missing"];
const LABELS = {
  people: say("judgment.people_say", "People say"),
  wrong: say("judgment.judge_is_wrong", "Judge is wrong"),
  differ: say("judgment.judges_differ", "Judges differ"),
  judge: say("word.judge", "Judge"),
  against: say("judgment.differs_from", "Differs from"),
  panel: say("judgment.panel_says", "Panel says"),
  task: say("word.task", "Task"),
  target: say("word.target", "Target"),
  variant: say("word.variant", "Variant"),
  question: say("word.question", "Question"),
  gate: say("word.gate", "Gate"),
  control: say("judgment.self_judgment_head", "Self-judgment"),
  cut_off: say("judgment.cut_off", "Cut off"),
  withheld: say("judgment.withheld", "Withheld"),
  empty: say("judgment.empty", "Empty"),
  quote: say("judgment.quote", "Quote"),
  status: say("word.status", "Status"),
  verdict: say("word.verdict", "Verdict"),
  error: say("word.error_type", "Error type"),
  unverified: say("word.unverified_head", "Unverified"),
  warning: say("judgment.warning", "Warning"),
  reasoning: say("word.reasoning", "Reasoning"),
  rule: say("word.rule", "Rule"),
  flag: say("judgment.flag", "Flag"),
  meta: say("judgment.metadata", "Metadata"),
};
// One value of these, which all judgments share, tells nothing.
const COMPARED = ["judge", "task", "target", "variant", "control", "cut_off", "withheld", "empty", "unverified", "differ"];

// Their values are words of ours.
const WORDED = ["status", "verdict", "people", "panel", "wrong", "differ", "control", "cut_off", "withheld", "empty", "unverified"];

// Conditions on metadata, `name=value` each, stand in one value of the address with this between them.
const ALSO = "\u001f";
const conditions = () => state.meta.split(ALSO).filter(Boolean);
const fieldOf = (condition) => condition.slice(0, condition.indexOf("="));

function optionText(name, value) {
  if (name === "meta") return value.slice(value.indexOf("=") + 1);
  if (name === "quote") return PROBLEMS[value] ?? value;
  if (WORDED.includes(name)) return verdictText(value);
  return ["judge", "against"].includes(name) ? labelOf(value) : value;
}

/** A control for one of the filters; those on metadata are one for each `field`. */
function makeChoice(name, values, field = null) {
  const options = values.map(([value, count]) =>
    make("option", { value }, `${visibleLine(optionText(name, value), 60)}${count === null ? "" : ` (${countText(count)})`}`));
  const choice = make("select", { name, "data-field": field }, make("option", { value: "" }, say("word.any", "any")), ...options);
  choice.addEventListener("change", () => {
    if (field === null) state[name] = choice.value;
    else state.meta = [...conditions().filter((one) => fieldOf(one) !== field), choice.value].filter(Boolean).join(ALSO);
    filtersChanged();
  });
  return make("label", { class: "choice" }, make("span", {}, field === null ? LABELS[name] : visibleLine(field, 40)), choice);
}

function makeChoices(name, values) {
  if (name !== "meta") return [makeChoice(name, values)];
  const fields = [...new Set(values.map(([value]) => fieldOf(value)))];
  return fields.map((field) => makeChoice(name, values.filter(([value]) => fieldOf(value) === field), field));
}

function chosenIn(select) {
  if (select.name !== "meta") return state[select.name];
  return conditions().find((one) => fieldOf(one) === select.dataset.field) ?? "";
}

/** Controls that are there already stay the elements that they are: somebody may be at one of them. */
function takeChoices(holder, made) {
  const keyOf = (label) => ["name", "data-field"].map((name) => label.querySelector("select").getAttribute(name)).join("\0");
  const optionsOf = (label) => [...label.querySelector("select").options].map((option) => `${option.value}\0${option.text}`).join("\0");
  const held = new Map([...holder.children].map((label) => [keyOf(label), label]));
  const active = document.activeElement;
  const kept = made.map((label) => {
    const own = held.get(keyOf(label));
    if (own && optionsOf(own) !== optionsOf(label)) own.querySelector("select").replaceChildren(...label.querySelector("select").options);
    return own ?? label;
  });
  for (const label of held.values()) if (!kept.includes(label)) label.remove();
  kept.forEach((label, place) => { if (holder.children[place] !== label) holder.insertBefore(label, holder.children[place] ?? null); });
  if (holder.contains(active) && active !== document.activeElement) active.focus({ preventScroll: true });
}

/** One control for each thing that judgments differ in, with how many there are of each value. */
function buildSelects() {
  source.choices((choices) => {
    const hasButtons = document.querySelector("[data-outcome]") !== null;
    const isOffered = (name) => name !== "question" && !["against", "panel"].includes(name) && !(hasButtons && ["status", "verdict"].includes(name))
      && (choices[name] ?? []).length > (COMPARED.includes(name) ? 1 : 0);
    takeChoices(byId("selects"), Object.keys(LABELS).filter(isOffered).flatMap((name) => makeChoices(name, choices[name])));
    drawControls();
  });
}

/** What narrows the list is always seen above it, though no control offers it. */
function drawControls() {
  const held = () => [...byId("selects").querySelectorAll("select")];
  for (const name of Object.keys(LABELS)) {
    const hasButtons = ["status", "verdict"].includes(name) && document.querySelector("[data-outcome]");
    for (const value of name === "meta" ? conditions() : [state[name]].filter(Boolean)) {
      const isShown = held().some((select) => select.name === name && (name !== "meta" || select.dataset.field === fieldOf(value)));
      if (!isShown && !hasButtons) byId("selects").append(...makeChoices(name, [[value, null]]));
    }
  }
  for (const select of held()) {
    const chosen = chosenIn(select);
    select.value = chosen;
    // A value that no listed row has: the list is empty, and the control says why.
    if (select.value !== chosen) {
      select.append(make("option", { value: chosen }, `${visibleLine(optionText(select.name, chosen), 60)}`));
      select.value = chosen;
    }
    select.parentElement.classList.toggle("active", Boolean(chosen));
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

/** Every choice is a step that "back" undoes. */
function filtersChanged({ push = true } = {}) {
  state.at = "";
  writeAddress({ push });
  applyFilters();
}

function clearFilters() {
  for (const name of NARROWING) state[name] = "";
  filtersChanged();
}

function chooseOutcome(outcome) {
  const isStatus = UNSCORED.includes(outcome) || outcome === "valid";
  state.status = isStatus ? outcome : "";
  state.verdict = isStatus ? "" : outcome;
  filtersChanged();
}
