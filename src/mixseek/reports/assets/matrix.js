// Questions down; targets, variants, judges or runs across. Only rows in sight exist as elements, and come in pages, so
// that ten thousand questions scroll like ten.

const MATRIX_ROW = 36; // as in matrix.css
const MATRIX_SPARE = 6;
const MATRIX_PAGE = 100;
const MATRIX_PAGES_KEPT = 60;
// Rows beyond those in sight that are asked for as well, so that somebody who scrolls on finds them there.
const MATRIX_AHEAD = 70;
// Browsers lay out nothing higher than some thirty million pixels.
const MOST_MATRIX_ROWS = 800_000;
const MATRIX_NARROWING = ["judge", "target", "variant", "task"];
const ACROSS_NAMES = {
  target: say("matrix.targets", "targets"),
  variant: say("matrix.variants", "variants"),
  judge: say("matrix.judges", "judges"),
  run: say("matrix.runs", "runs"),
};
const NARROWING_NAMES = {
  judge: say("word.judge", "Judge"),
  target: say("word.target", "Target"),
  variant: say("word.variant", "Variant"),
  task: say("word.task", "Task"),
};
// Short signs for what has no verdict, beside the share of what has one.
const UNSCORED_SIGNS = { undecided: "?", invalid: "!", missing: "∅" };
const UNSCORED_NAMES = {
  undecided: say("word.undecided", "undecided"),
  invalid: say("word.invalid", "invalid"),
  missing: say("word.missing", "missing"),
};

// What a judgment of two says of one of them.
const SIDE_WORDS = { won: say("matrix.won", "won"), lost: say("matrix.lost", "lost"), tied: say("matrix.tied", "tied") };

// What is shown, as the address has it.
const matrixView = { across: "", filter: "", sort: "", q: "", judge: "", target: "", variant: "", task: "" };
// The page that came last, all pages that are kept, and which asking they belong to.
let matrixHead = null;
let matrixPages = new Map();
let matrixAsking = 0;
let isMatrixAsking = false;
// The elements of rows by their place, and the cell that keys move from.
const matrixDrawn = new Map();
const activeCell = { row: 0, column: 0 };
let isCellOpen = false;
// Opened before the page of its row was there.
let isCellAwaited = false;
let cellOpening = 0;
// The cell that an address names, until its page is there.
let wantedCell = null;

// --- what a cell says

/** From none right (0) to all right (4): a share between them is never shown as one of the ends. */
function shareStep(mean) {
  if (mean <= 0) return 0;
  if (mean >= 1) return 4;
  return 1 + Math.min(2, Math.floor(mean * 3));
}

const scoreText = (mean) => withMinus(Math.round(mean * 100) / 100);

/** Counts of what has no verdict, none of which is a number to be averaged. */
function unscoredIn(cell) {
  return Object.keys(UNSCORED_SIGNS).filter((name) => cell[name]).map((name) => [name, cell[name]]);
}

/** What a cell shows, what it says to who hears it, and how it looks. */
function describeCell(cell, { is_graded: isGraded, is_paired: isPaired }) {
  if (!cell) return { text: "–", spoken: say("matrix.no_judgment_here", "no judgment here"), look: "absent" };
  const unscored = unscoredIn(cell);
  const judged = cell.valid + unscored.reduce((sum, [, count]) => sum + count, 0);
  const cut = cell.cut_off ? say("matrix.cut_off", "cut off") : "";
  const look = cell.cut_off ? " cut" : "";
  if (judged === 0) return { text: say("matrix.self", "self"), spoken: joinWords([say("judgment.self_judgment", "self-judgment"), cut]), look: `control${look}` };
  const marks = unscored.map(([name, count]) => ({ tone: name, text: `${count}${UNSCORED_SIGNS[name]}` }));
  const rest = joinWords(unscored.map(([name, count]) => `${countText(count)} ${UNSCORED_NAMES[name]}`));
  if (cell.valid === 0) {
    const [[name, count]] = unscored;
    const text = unscored.length > 1 ? "" : count > 1 ? `${UNSCORED_NAMES[name]} ×${count}` : UNSCORED_NAMES[name];
    return { text, marks: unscored.length > 1 ? marks : [], spoken: joinWords([judged > 1 ? rest : text, cut]), look: `unscored tone-${name}${look}` };
  }
  const mean = cell.mean ?? null;
  const shared = `${mean === null ? "" : `share-${shareStep(mean)}`}${look}`;
  const spoken = (words) => joinWords([words, rest, cut]);
  if (cell.valid === 1) {
    const word = cell.verdict === undefined ? "" : (isPaired && SIDE_WORDS[cell.verdict]) || visibleLine(verdictText(cell.verdict), 40);
    // Where scores are graded, the word of a verdict may be the same for all of them.
    const text = [word, mean !== null && ((isGraded && !isPaired) || !word) ? scoreText(mean) : ""].filter(Boolean).join(" ") || "–";
    return { text, marks, spoken: spoken(text), look: shared };
  }
  if (isGraded) return { text: `${mean === null ? "–" : scoreText(mean)} ×${cell.valid}`, marks, spoken: spoken(`${say("matrix.mean_of", "mean of {n} judgments:").replace("{n}", countText(cell.valid))} ${mean === null ? "–" : scoreText(mean)}`), look: shared };
  const right = cell.right ?? 0;
  const share = isPaired ? say("matrix.won_of", "{right} of {n} won") : say("matrix.right_of", "{right} of {n} right");
  return { text: `${right}/${cell.valid}`, marks, spoken: spoken(share.replace("{right}", countText(right)).replace("{n}", countText(cell.valid))), look: shared };
}

// --- the grid

// A question that the dataset does not name is called by a digest, which says nothing to a reader.
const DIGEST_NAME = /^question-[0-9a-f]{10}$/;
const nameOfRow = (row) => row.question ?? row.id ?? "";

/** The name of a question and the beginning of its text; where the name is a digest, the text alone. */
function nameParts(row) {
  const name = visibleLine(nameOfRow(row), 80);
  const gist = visibleLine(row.gist ?? "", 160);
  const shown = DIGEST_NAME.test(name) && gist ? [gist] : [name, gist];
  return [make("b", { lang: languageOf(shown[0]), dir: "auto" }, shown[0]), shown[1] ? make("span", { lang: languageOf(shown[1]), dir: "auto" }, shown[1]) : null].filter(Boolean);
}

/** Names what a row asks, as soon as that is known. */
async function nameRow(row, holder) {
  holder.replaceChildren(...nameParts(row));
  if (row.gist === undefined) {
    row.gist = await matrixSource.gist(row);
    holder.replaceChildren(...nameParts(row));
  }
  holder.title = visibleLine(`${nameOfRow(row)} ${row.gist}`.trim(), 240);
}
const matrixRows = () => Math.min(matrixHead?.matches ?? 0, MOST_MATRIX_ROWS);
const rowAt = (place) => matrixPages.get(Math.floor(place / MATRIX_PAGE))?.[place % MATRIX_PAGE] ?? null;
const columnName = ({ name }) => (name === null || name === undefined ? say("matrix.without_a_name", "(none)") : visibleLine(name, 80));
const isOpened = (place, column) => isCellOpen && place === activeCell.row && column === activeCell.column;

function cellElement(cell, place, column) {
  const { text, spoken, look, marks = [] } = describeCell(cell, matrixHead);
  return make("div", {
    class: `matrix-cell ${look}${place === activeCell.row && column === activeCell.column ? " active" : ""}`, role: "gridcell", id: `cell-${place}-${column}`,
    "aria-colindex": column + 2, "aria-label": spoken, "aria-selected": String(isOpened(place, column)), title: spoken,
    onclick: () => { goToCell(place, column); openCell(); },
  }, text, ...marks.flatMap((mark) => [" ", make("i", { class: `tone-${mark.tone}` }, mark.text)]));
}

function matrixRowElement(place) {
  const row = rowAt(place);
  const head = make("div", { class: "matrix-name", role: "rowheader", "aria-colindex": 1 }, "…");
  if (row) nameRow(row, head).catch((error) => tellMatrix(error.message));
  const element = make("div", { class: "matrix-row", role: "row", "aria-rowindex": place + 2, "aria-busy": row ? null : "true" },
    head, ...(row ? row.cells.map((cell, column) => cellElement(cell, place, column)) : []));
  // Set through the object model: the content policy refuses style attributes.
  element.style.top = `${place * MATRIX_ROW}px`;
  return element;
}

function rowsInSight() {
  const grid = byId("matrix-grid");
  const top = grid.scrollTop - byId("matrix-top").offsetHeight;
  const first = Math.max(0, Math.floor(top / MATRIX_ROW) - MATRIX_SPARE);
  return [first, Math.min(matrixRows(), Math.ceil((top + grid.clientHeight) / MATRIX_ROW) + MATRIX_SPARE)];
}

/** Rows that stay in sight keep their elements. */
function drawMatrix() {
  const holder = byId("matrix-rows");
  const [first, last] = rowsInSight();
  for (const [place, element] of matrixDrawn) {
    if (place >= first && place < last && (element.ariaBusy !== "true" || !rowAt(place))) continue;
    element.remove();
    matrixDrawn.delete(place);
  }
  for (let place = first; place < last; place++) {
    if (matrixDrawn.has(place)) continue;
    const element = matrixRowElement(place);
    matrixDrawn.set(place, element);
    holder.append(element);
  }
  markActive();
  fetchInSight();
}

/** Readers of the screen follow the active cell while the focus stays on the grid. */
function markActive() {
  const grid = byId("matrix-grid");
  for (const cell of grid.querySelectorAll(".matrix-cell.active")) cell.classList.remove("active");
  for (const cell of grid.querySelectorAll('[aria-selected="true"]')) cell.setAttribute("aria-selected", "false");
  const cell = byId(`cell-${activeCell.row}-${activeCell.column}`);
  if (cell) {
    cell.classList.add("active");
    cell.setAttribute("aria-selected", String(isCellOpen));
    grid.setAttribute("aria-activedescendant", cell.id);
  } else grid.removeAttribute("aria-activedescendant");
}

function drawMatrixHead() {
  const { columns, counts, matches, choices } = matrixHead;
  const grid = byId("matrix-grid");
  grid.setAttribute("aria-rowcount", matches + 1);
  grid.setAttribute("aria-colcount", columns.length + 1);
  grid.style.setProperty("--matrix-columns", String(columns.length));
  byId("matrix-top").replaceChildren(make("div", { role: "row", "aria-rowindex": 1 },
    make("div", { role: "columnheader", "aria-colindex": 1 }, say("word.question", "Question")),
    ...columns.map((column, place) => make("div", { role: "columnheader", "aria-colindex": place + 2, title: columnName(column), lang: languageOf(columnName(column)) }, ...nameNodes(columnName(column))))));
  const holder = byId("matrix-rows");
  holder.style.height = `${matrixRows() * MATRIX_ROW}px`;
  byId("matrix-none")?.remove();
  if (!matches) grid.after(make("p", { class: "quiet matrix-none", id: "matrix-none" }, say("matrix.no_question_matches", "No question matches.")));
  grid.hidden = !matches;
  const across = byId("matrix-across");
  across.replaceChildren(...choices.map((name) => make("option", { value: name }, ACROSS_NAMES[name])));
  across.value = matrixHead.across;
  byId("matrix-across-choice").hidden = choices.length < 2;
  byId("matrix-sort").value = matrixView.sort;
  for (const button of document.querySelectorAll("[data-shown]")) {
    button.querySelector("span").textContent = countText(counts[button.dataset.shown || "all"]);
    button.setAttribute("aria-pressed", String(button.dataset.shown === matrixView.filter));
  }
  drawNarrowing();
  const hidden = matrixHead.columns_total - columns.length;
  const parts = [`${countText(matches)} ${say("word.of", "of")} ${countText(counts.all)} ${say("matrix.questions", "questions")}`];
  if (hidden > 0) parts.push(`${countText(hidden)} ${say("matrix.more_columns_are_not_shown", "more columns are not shown")}`);
  if (matches > MOST_MATRIX_ROWS) parts.push(`${say("matrix.the_first_are_shown", "the first are shown:")} ${countText(MOST_MATRIX_ROWS)}`);
  byId("matrix-matches").textContent = parts.join(" · ");
}

/** One control for each thing, beside what stands across, that judgments differ in. */
function drawNarrowing() {
  const holder = byId("matrix-narrowing");
  const offered = MATRIX_NARROWING.filter((name) => name !== matrixHead.across && ((matrixHead.narrowing[name] ?? []).length > 1 || matrixView[name]));
  const held = [...holder.querySelectorAll("select")];
  // Whoever has just chosen stays at the control.
  if (held.map(({ name }) => name).join() === offered.join()) {
    for (const choice of held) {
      choice.value = matrixView[choice.name];
      choice.parentElement.classList.toggle("active", Boolean(choice.value));
    }
    return;
  }
  holder.replaceChildren(...offered.map((name) => {
    const values = matrixHead.narrowing[name] ?? [[matrixView[name], 0]];
    const choice = make("select", { name }, make("option", { value: "" }, say("word.any", "any")),
      ...values.map(([value]) => make("option", { value }, visibleLine(name === "judge" ? labelOf(value) : value, 60))));
    choice.value = matrixView[name];
    choice.addEventListener("change", () => changeMatrix({ [name]: choice.value }));
    return make("label", { class: choice.value ? "choice active" : "choice" }, make("span", {}, NARROWING_NAMES[name]), choice);
  }));
}

// --- pages of rows

/** The pages that are to be there: those in sight first, then what lies below, then above. */
function pagesWanted() {
  if (!matrixHead) return [0];
  const [first, last] = rowsInSight();
  const pages = [];
  for (let number = Math.floor(first / MATRIX_PAGE); number * MATRIX_PAGE < last; number++) pages.push(number);
  const beyond = pages.length ? [Math.min(matrixRows() - 1, last + MATRIX_AHEAD), Math.max(0, first - MATRIX_AHEAD)] : [];
  return [...pages, ...beyond.map((place) => Math.floor(place / MATRIX_PAGE))];
}

/** Asked one after the other: what was only passed on the way is never asked for. */
async function fetchInSight() {
  if (isMatrixAsking) return;
  for (const number of pagesWanted()) {
    if (matrixPages.has(number)) continue;
    isMatrixAsking = true;
    const asked = matrixAsking;
    const isWanted = () => asked === matrixAsking;
    try {
      const answer = await matrixSource.page(matrixView, number * MATRIX_PAGE, MATRIX_PAGE, isWanted, tellMatrix, matrixHead ? "" : wantedCell?.row);
      isMatrixAsking = false;
      if (answer && isWanted()) takeMatrixPage(answer, answer.offset / MATRIX_PAGE);
      else fetchInSight();
    } catch (error) {
      isMatrixAsking = false;
      tellMatrix(error.message);
    }
    return;
  }
}

function takeMatrixPage(answer, number) {
  const isFirst = matrixHead === null;
  matrixHead = answer;
  matrixPages.set(number, answer.rows);
  if (matrixPages.size > MATRIX_PAGES_KEPT) matrixPages.delete(matrixPages.keys().next().value);
  if (isFirst) {
    drawMatrixHead();
    activeCell.row = Math.min(activeCell.row, Math.max(0, matrixRows() - 1));
    activeCell.column = Math.min(activeCell.column, Math.max(0, answer.columns.length - 1));
  }
  drawMatrix();
  if (isFirst && wantedCell) openWanted(answer.place);
  else if (isCellAwaited && isCellOpen) openCell();
}

/** The cell of the address; what is not in this view any more is not opened. */
function openWanted(place) {
  const { column } = wantedCell;
  wantedCell = null;
  const chosen = matrixHead.columns.findIndex(({ value }) => value === column);
  if (place === null || place === undefined || chosen < 0) return;
  goToCell(place, chosen);
  openCell({ isFollowed: true });
}

const tellMatrix = (text) => { byId("matrix-matches").textContent = text; };

/** How far a search has come that no row can be shown before. */
function tellSearching({ searched, samples }) {
  tellMatrix(`${say("matrix.searching", "Searching …")} ${countText(searched)} ${say("word.of", "of")} ${countText(samples)}`);
}

/** Another view begins at its top, with nothing open but what its address names. */
function showMatrix(opened = null) {
  wantedCell = opened;
  matrixAsking += 1;
  matrixHead = null;
  matrixPages = new Map();
  matrixDrawn.clear();
  byId("matrix-rows").replaceChildren();
  byId("matrix-grid").scrollTop = 0;
  Object.assign(activeCell, { row: 0, column: 0 });
  closeCell();
  // The first look at a large run takes a moment.
  tellMatrix(say("matrix.counting", "Counting …"));
  fetchInSight();
}

/** Where the address leads: the same view with another cell open, or another view. */
function followMatrix(view, opened = null) {
  const isShown = matrixHead !== null && Object.entries(view).every(([name, value]) => matrixView[name] === value);
  Object.assign(matrixView, view);
  byId("matrix-search").value = matrixView.q;
  if (!isShown) return showMatrix(opened);
  if (opened === null) return closeCell();
  for (const [number, held] of matrixPages) {
    const place = held.findIndex((row) => nameOfRow(row) === opened.row);
    if (place < 0) continue;
    wantedCell = opened;
    return openWanted(number * MATRIX_PAGE + place);
  }
  return showMatrix(opened);
}

function changeMatrix(changes, { push = true } = {}) {
  Object.assign(matrixView, changes);
  // What stands across is not narrowed.
  if (matrixView.across in matrixView) matrixView[matrixView.across] = "";
  matrixSource.keep(matrixView, null, { push });
  showMatrix();
}

/** Letters of one search are one step, and to empty it is another. */
function searchMatrix() {
  const words = byId("matrix-search").value;
  if (words !== matrixView.q) changeMatrix({ q: words }, { push: !matrixView.q || !words });
}

// --- from cell to cell

/** The active cell is brought into sight, beside the names and below the heads, which stay where they are. */
function goToCell(row, column) {
  activeCell.row = Math.max(0, Math.min(matrixRows() - 1, row));
  activeCell.column = Math.max(0, Math.min((matrixHead?.columns.length ?? 1) - 1, column));
  const grid = byId("matrix-grid");
  const head = byId("matrix-top");
  const top = activeCell.row * MATRIX_ROW;
  const room = grid.clientHeight - head.offsetHeight;
  if (top < grid.scrollTop) grid.scrollTop = top;
  else if (top + MATRIX_ROW > grid.scrollTop + room) grid.scrollTop = top + MATRIX_ROW - room;
  const heads = head.firstElementChild.children;
  const [name, over] = [heads[0].offsetWidth, heads[activeCell.column + 1]];
  if (over.offsetLeft - name < grid.scrollLeft) grid.scrollLeft = over.offsetLeft - name;
  else if (over.offsetLeft + over.offsetWidth > grid.scrollLeft + grid.clientWidth) grid.scrollLeft = over.offsetLeft + over.offsetWidth - grid.clientWidth;
  drawMatrix();
}

function onMatrixKey(event) {
  if (!matrixHead || event.altKey || event.metaKey) return;
  const page = Math.max(1, Math.floor(byId("matrix-grid").clientHeight / MATRIX_ROW) - 2);
  const { row, column } = activeCell;
  const [lastRow, lastColumn] = [matrixRows() - 1, matrixHead.columns.length - 1];
  const isWhole = event.ctrlKey;
  const move = {
    ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1],
    j: [row + 1, column], k: [row - 1, column],
    PageDown: [row + page, column], PageUp: [row - page, column],
    Home: [isWhole ? 0 : row, 0], End: [isWhole ? lastRow : row, lastColumn],
  }[event.key];
  if (move) {
    goToCell(...move);
    // What is open follows the keys.
    if (isCellOpen) openCell();
  } else if (event.key === "Enter" || event.key === " ") openCell();
  else if (event.key === "/") byId("matrix-search").select();
  else return;
  event.preventDefault();
  // The page has keys of its own.
  event.stopPropagation();
}

function onMatrixEscape(event) {
  if (event.key !== "Escape" || event.target.closest("select")) return;
  event.stopPropagation();
  const search = byId("matrix-search");
  if (event.target === search && search.value) { search.value = ""; searchMatrix(); } else if (isCellOpen) CELL_STEPS.close();
}

// --- the cell that is open

function closeCell() {
  cellOpening += 1;
  isCellOpen = false;
  byId("matrix-detail").hidden = true;
  byId("matrix-panes").classList.remove("open");
  markActive();
}

const CELL_STEPS = {
  move: (by) => { goToCell(activeCell.row + by, activeCell.column); openCell(); },
  close: () => { closeCell(); matrixSource.keep(matrixView); byId("matrix-grid").focus({ preventScroll: true }); },
};

/** The judgments of the active cell, beside the grid; of several, the first is open. From cell to cell is one step. */
async function openCell({ isFollowed = false } = {}) {
  const number = ++cellOpening;
  const row = rowAt(activeCell.row);
  const detail = byId("matrix-detail");
  if (row && !isFollowed) matrixSource.keep(matrixView, { row: nameOfRow(row), column: matrixHead.columns[activeCell.column].value }, { push: !isCellOpen });
  isCellOpen = true;
  byId("matrix-panes").classList.add("open");
  detail.hidden = false;
  markActive();
  const column = matrixHead.columns[activeCell.column];
  isCellAwaited = !row;
  if (!row?.cells[activeCell.column]) {
    detail.replaceChildren(make("p", { class: "quiet placeholder" }, row ? say("matrix.no_judgment_here", "no judgment here") : "…"));
    return;
  }
  try {
    const judged = await matrixSource.cell(row, column, matrixView, () => number === cellOpening);
    // A model's word on its own output comes after those that count.
    if (judged && number === cellOpening) showJudged(judged.sort((one, other) => Boolean(one.control) - Boolean(other.control)), 0);
  } catch (error) {
    if (number === cellOpening) detail.replaceChildren(make("p", { class: "quiet placeholder", role: "alert" }, error.message));
  }
}

async function showJudged(judged, chosen) {
  const number = cellOpening;
  const detail = byId("matrix-detail");
  const whole = await matrixSource.complete(judged[chosen]);
  if (number !== cellOpening) return;
  renderDetail(whole, CELL_STEPS, detail);
  if (judged.length < 2) return;
  const nameIt = (row) => [row.sample.model_b === undefined ? row.sample.model : `${row.sample.model ?? "A"} ↔ ${row.sample.model_b}`, row.sample.variant, judgeText(row)].filter((name) => name !== undefined).join(" · ");
  detail.querySelector(".detail-head").after(make("div", { class: "in-cell", role: "group", "aria-label": say("matrix.judgments_of_this_cell", "Judgments of this cell") },
    ...judged.map((row, place) => make("button", { type: "button", "aria-pressed": String(place === chosen), onclick: () => showJudged(judged, place) },
      make("b", { class: `tone-${row.tone}` }, visibleLine(outcomeOf(row), 40)), " ", ...nameNodes(nameIt(row))))));
}

function startMatrix() {
  const grid = byId("matrix-grid");
  let isDrawing = false;
  const drawSoon = () => {
    if (isDrawing || !matrixHead) return;
    isDrawing = true;
    requestAnimationFrame(() => { isDrawing = false; if (matrixHead) drawMatrix(); });
  };
  grid.addEventListener("scroll", drawSoon, { passive: true });
  addEventListener("resize", drawSoon);
  grid.addEventListener("keydown", onMatrixKey);
  byId("matrix-browser").addEventListener("keydown", onMatrixEscape);
  byId("matrix-across").addEventListener("change", (event) => changeMatrix({ across: event.target.value }));
  byId("matrix-sort").addEventListener("change", (event) => changeMatrix({ sort: event.target.value }));
  let typing;
  byId("matrix-search").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(searchMatrix, 120); });
  // Return asks at once; so does the box's own cross.
  byId("matrix-search").addEventListener("search", () => { clearTimeout(typing); searchMatrix(); });
  for (const button of document.querySelectorAll("[data-shown]")) button.addEventListener("click", () => changeMatrix({ filter: button.dataset.shown }));
  matrixSource.start(followMatrix);
}

if (byId("matrix-browser")) startMatrix();
