// Where a matrix comes from in the viewer: its server, a page of questions at a time.

// Whose matrix this is; `data` is that of the cell that was opened last.
const matrixRuns = data.runs;
const matrixPath = matrixRuns.length > 1
  ? `/api/compare/matrix?${new URLSearchParams(matrixRuns.map((run) => ["run", run]))}&`
  : `/api/runs/${encodeURIComponent(matrixRuns[0])}/matrix?`;
const matrixRunPath = (run) => `${BASE}/api/runs/${encodeURIComponent(run)}`;

/** The answer, however long it is being made; null when something newer was asked meanwhile. */
async function askMatrix(path, isWanted, tell) {
  for (;;) {
    const answer = await fetchAnswer(path);
    if (!isWanted()) return null;
    const document = await readDocument(answer);
    if (answer.status !== 202) {
      if (!answer.ok) throw new Error(document.error);
      return document;
    }
    if (document.search) tellSearching(document.search);
    else tell(`${say("judgment.the_judgments_are_being_listed", "The judgments are being listed")} … ${Math.round(document.pending_seconds)} s`);
    await new Promise((done) => setTimeout(done, 300));
  }
}

/** What is set of a view, as parameters of an address. */
function viewParameters(view) {
  return new URLSearchParams(Object.entries(view).filter(([, value]) => value));
}

const MATRIX_VALUES = {
  target: (row) => row.sample.model,
  variant: (row) => row.sample.variant,
  judge: (row) => row.judge,
  task: (row) => row.sample.task,
};

/** Whether a judgment belongs to a cell: of the same column, and not left out by what narrows the matrix. */
function isInCell(row, column, view, across) {
  const isOther = matrixHead.is_paired && row.sample.model_b === column.value;
  if (across !== "run" && !isOther && (MATRIX_VALUES[across](row) ?? null) !== column.value) return false;
  return Object.keys(MATRIX_VALUES).every((name) => !view[name] || MATRIX_VALUES[name](row) === view[name]);
}

/** All judgments of a question; where samples name none, of the one sample. */
async function judgmentsOf(question, column, view, isWanted) {
  const across = matrixRuns.length > 1 ? "run" : matrixHead.across;
  const path = matrixRunPath(across === "run" ? column.value : matrixRuns[0]);
  const asked = question.question === null ? `sample?${new URLSearchParams({ id: question.id })}` : `judgments?${new URLSearchParams({ question: question.question, limit: "1000" })}`;
  const answer = await askMatrix(`${path}/${asked}`, isWanted, () => {});
  if (!answer) return null;
  takePayload(answer);
  listPage = `${BASE}/runs/${encodeURIComponent(data.run)}`;
  return rows.filter((row) => isInCell(row, column, view, across));
}

/** With its texts in full: those of a list are as long as a list needs them. */
async function wholeJudgment(row) {
  const answer = await askMatrix(`${matrixRunPath(data.run)}/sample?${new URLSearchParams({ id: row.sample.id })}`, () => true, () => {});
  const isSame = (other) => other.judge === row.judge && (other.repeat ?? 1) === (row.repeat ?? 1) && other.sample.model === row.sample.model;
  return linkRows(answer).find(isSame) ?? row;
}

/** What is shown, and the cell that is open: its question and its column, or null; a column may have no name. */
function readMatrixAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const view = Object.fromEntries(Object.keys(matrixView).map((name) => [name, wanted.get(name) ?? ""]));
  return [view, wanted.get("row") ? { row: wanted.get("row"), column: wanted.get("column") } : null];
}

/** A page of the matrix, that of a question where one is named; with it comes how judges are called before a reader. */
async function pageFromServer(view, offset, limit, isWanted, tell, row = "") {
  const asked = viewParameters({ ...view, offset: String(offset), limit: String(limit), row });
  const answer = await askMatrix(`${BASE}${matrixPath}${asked}`, isWanted, tell);
  if (answer?.labels) data.labels = answer.labels;
  return answer;
}

// The seam between a matrix and where its rows come from; a report has another one, which reads them in its file.
const matrixSource = {
  page: pageFromServer,
  cell: judgmentsOf,
  complete: wholeJudgment,
  start(show) {
    addEventListener("hashchange", () => show(...readMatrixAddress()));
    show(...readMatrixAddress());
  },
  /** A step that "back" undoes, or the same step, gone on with. */
  keep(view, opened = null, { push = true } = {}) {
    const address = `#${viewParameters({ ...view, ...opened })}`;
    if (address === (location.hash || "#")) return;
    history[push ? "pushState" : "replaceState"](null, "", address);
  },
};

// What the detail of a judgment asks for.
const source = {
  sampleAddress: (row) => `${BASE}/runs/${encodeURIComponent(data.run)}/sample?${new URLSearchParams({ id: row.sample.id })}`,
};
