// Where a matrix comes from in a report: the index of its judgments, which the file carries. The rules are those of
// index/matrix.sql, which the viewer asks for the same of any number of judgments.

const ACROSS_CHOICES = ["target", "variant", "judge"];
// What was laid out last, by what stands across and what narrows it.
let laidOut = { key: "" };

const rounded = (value) => Math.round(value * 1e9) / 1e9;
const meanOf = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);

/** Which value each judgment has in a column of the index; null where it has none. */
function valuesOf({ columns }, name) {
  const { values, codes } = columns[name] ?? { values: [[]], codes: [] };
  return (place) => values[codes[place] ?? 0]?.[0] ?? null;
}

function emptyCell() {
  return { valid: 0, right: 0, undecided: 0, invalid: 0, missing: 0, controls: 0, scores: [], verdicts: new Set(), places: [] };
}

/** What a judgment of two says of each of them; as the statement `sides` of index/matrix.sql. */
const SIDES = { 1: "won", 0: "lost", 0.5: "tied" };
function sidesOf(held, heldB, score, verdict, isPaired) {
  if (!isPaired) return [{ held, score, verdict }];
  const sides = [{ held, score, verdict: SIDES[score] ?? null }];
  if (heldB !== null) sides.push({ held: heldB, score: score === null ? null : 1 - score, verdict: score === null ? null : SIDES[1 - score] ?? null });
  return sides;
}

const isPairedAcross = (read, across) => across === "target" && (read.columns.target_b?.choices ?? []).length > 0;

/** Every question with its cells; a model on its own output is a control, and in no count. */
function layOut(read, across, places) {
  const isPaired = isPairedAcross(read, across);
  const [question, column, other, status, score, verdict, control, cut] = ["question", across, "target_b", "status", "score", "verdict", "control", "cut_off"].map((name) => valuesOf(read, name));
  const keyOf = keysOfQuestions(read);
  const questions = new Map();
  const found = new Set();
  for (const place of places) {
    const name = question(place);
    const key = keyOf(place);
    if (!questions.has(key)) questions.set(key, { question: name, id: name === null ? read.ids[place] : null, first: place, cells: new Map() });
    const { cells } = questions.get(key);
    for (const side of sidesOf(column(place), other(place), score(place), verdict(place), isPaired)) {
      found.add(side.held);
      if (!cells.has(side.held)) cells.set(side.held, emptyCell());
      const cell = cells.get(side.held);
      cell.places.push(place);
      cell.cut_off ||= cut(place) === "yes";
      if (control(place) === "yes") { cell.controls += 1; continue; }
      cell[status(place)] += 1;
      if (status(place) !== "valid") continue;
      if (side.score !== null) cell.scores.push(side.score);
      if (side.score === 1) cell.right += 1;
      if (side.verdict !== null) cell.verdicts.add(side.verdict);
    }
  }
  for (const row of questions.values()) judgeQuestion(row);
  return { questions: [...questions.values()], columns: orderColumns([...found], across) };
}

// What was searched last, and the judgments of the questions that were found.
let soughtLast = { key: "" };

/** The judgments that are laid out: of all questions, or of those that a search finds in a text of theirs. */
async function placesOf(read, view, isWanted) {
  let places = [...read.ids.keys()];
  for (const name of MATRIX_NARROWING) if (view[name]) places = narrowed(read, places, name, view[name]);
  const words = fold(view.q).split(/\s+/).filter(Boolean);
  if (!words.length) return places;
  const key = JSON.stringify([words, ...MATRIX_NARROWING.map((name) => view[name])]);
  if (soughtLast.key !== key) {
    const found = await searched(read, places, words, isWanted, (_, done) => { if (isWanted()) tellSearching({ searched: done, samples: places.length }); });
    if (!found) return null;
    const keyOf = keysOfQuestions(read);
    const questions = new Set(found.map(keyOf));
    soughtLast = { key, places: places.filter((place) => questions.has(keyOf(place))) };
  }
  return soughtLast.places;
}

/** What names the question of a judgment: its name, or the sample where that names none. */
function keysOfQuestions(read) {
  const question = valuesOf(read, "question");
  return (place) => (question(place) === null ? `i${read.ids[place]}` : `q${question(place)}`);
}

/** What a question is filtered and sorted by. */
function judgeQuestion(row) {
  const cells = [...row.cells.values()];
  for (const cell of cells) {
    cell.mean = cell.scores.length ? rounded(meanOf(cell.scores)) : null;
    if (cell.verdicts.size === 1) [cell.verdict] = cell.verdicts;
  }
  const told = cells.filter((cell) => cell.scores.length);
  const means = told.map((cell) => cell.mean);
  const center = meanOf(means);
  row.differ = new Set(means).size > 1;
  const isKnown = cells.every((cell) => cell.undecided + cell.invalid + cell.missing === 0 && cell.scores.length === cell.valid);
  row.all_wrong = told.length > 0 && isKnown && told.every((cell) => Math.max(...cell.scores) <= data.wrong_at_most);
  row.cut_off = cells.some((cell) => cell.cut_off);
  row.is_graded = told.some((cell) => cell.scores.some((score) => score !== 0 && score !== 1));
  row.mean = center === null ? null : rounded(center);
  row.disagreement = center === null ? 0 : rounded(meanOf(means.map((mean) => (mean - center) ** 2)));
}

/** Judges as the run names them, all else by name; what no sample names comes last. */
function orderColumns(found, across) {
  const rank = (value) => (across === "judge" && data.judges.includes(value) ? data.judges.indexOf(value) : data.judges.length);
  found.sort((one, other) => (one === null) - (other === null) || rank(one) - rank(other) || NATURAL.compare(one, other));
  return found.map((value) => ({ value, name: across === "judge" ? labelOf(value) : value }));
}

const MATRIX_ORDERS = {
  disagreement: (one, other) => other.disagreement - one.disagreement,
  difficulty: (one, other) => (one.mean ?? Infinity) - (other.mean ?? Infinity) || 0,
};

async function pageOfMatrix(view, offset, limit, isWanted) {
  const read = await openIndex();
  const narrowing = Object.fromEntries(MATRIX_NARROWING.map((name) => [name, read.columns[name]?.choices ?? []]));
  const differing = ACROSS_CHOICES.filter((name) => narrowing[name].length > 1 || isPairedAcross(read, name));
  const choices = differing.length ? differing : ["judge"];
  const across = view.across || choices[0];
  const key = JSON.stringify([across, view]);
  if (laidOut.key !== key) {
    const places = await placesOf(read, { ...matrixView, ...view }, isWanted);
    if (!places || !isWanted()) return null;
    const { questions, columns } = layOut(read, across, places);
    const rows = view.filter ? questions.filter((row) => row[view.filter]) : questions;
    const sorted = view.sort ? [...rows].sort(MATRIX_ORDERS[view.sort]) : rows;
    const count = (name) => questions.filter((row) => row[name]).length;
    const counts = { all: questions.length, differ: count("differ"), all_wrong: count("all_wrong"), cut_off: count("cut_off") };
    laidOut = { key, rows: sorted, columns, counts, is_graded: count("is_graded") > 0, is_paired: isPairedAcross(read, across) };
  }
  const { rows, columns, counts, is_graded, is_paired } = laidOut;
  const shown = rows.slice(offset, offset + limit).map(({ question, id, first, cells }) => ({ question, id, first, cells: columns.map(({ value }) => cells.get(value) ?? null) }));
  return { across, choices, columns, columns_total: columns.length, counts, narrowing, is_graded, is_paired, matches: rows.length, offset, rows: shown };
}

async function judgmentsInCell(row, column) {
  const { places } = row.cells[laidOut.columns.findIndex(({ value }) => value === column.value)];
  return rowsAt(await openIndex(), places);
}

// The seam between a matrix and where its rows come from; the viewer has another one, which asks its server.
const matrixSource = {
  page: pageOfMatrix,
  cell: judgmentsInCell,
  complete: async (row) => row, // rows are whole
  gist: async ({ first }) => (await rowsAt(await openIndex(), [first]))[0].sample.question?.slice(0, 160) ?? "",
  // To lay it out takes a moment that nobody need wait for who does not look at it.
  start(show) {
    const fold = byId("matrix-fold");
    const open = () => { if (fold.open && matrixHead === null) show({}); };
    fold.addEventListener("toggle", open);
    open();
  },
  keep() {}, // the address of a report is that of its list
};
