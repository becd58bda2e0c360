// Where judgments come from in a report: all that are listed are in the file.

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


/** Of each control its values with their counts; one value that all rows share tells nothing. */
function listChoices() {
  const hasButtons = document.querySelector("[data-outcome]") !== null;
  const found = [];
  for (const [name, label, valuesOf] of SELECTS) {
    if (hasButtons && (name === "status" || name === "verdict")) continue;
    const counts = new Map();
    for (const row of rows) for (const value of new Set(valuesOf(row))) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
    if (counts.size < (["judge", "task", "target", "variant", "control", "unverified"].includes(name) ? 2 : 1)) continue;
    found.push([name, label, [...counts].sort(([one], [other]) => (one < other ? -1 : 1))]);
  }
  return found;
}

function findRows(tell) {
  const wanted = Object.entries(TESTS).filter(([name]) => state[name]);
  const words = fold(state.q).split(/\s+/).filter(Boolean);
  const found = rows.filter((row) =>
    wanted.every(([name, test]) => test(row, state[name])) && words.every((word) => searchText(row).includes(word)));
  const isNarrowed = wanted.length > 0 || words.length > 0;
  const text = isNarrowed
    ? `${countText(found.length)} of ${countText(rows.length)}`
    : `${countText(rows.length)} ${rows.length === 1 ? "judgment" : "judgments"}`;
  tell({ rows: found, text, isNarrowed });
}

// The seam between the list and where its rows come from; the viewer has another one, which asks its server.
const source = {
  find: findRows,
  choices: (tell) => tell(listChoices()),
  isEmpty: () => rows.length === 0,
  restart() {}, // nothing is paged
  turn: () => false, // all rows are on one page
  complete() {}, // rows are whole
  sampleAddress: () => null, // a sample has no page of its own
};
