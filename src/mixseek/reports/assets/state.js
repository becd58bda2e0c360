// What is shown is a function of the address: every view can be bookmarked and sent.

// The run, and the judgments of it that are listed now: a page of them.
let data;
let rows;
let isPanel;
let isScored;
let hasRepeats;

/** Rows carry their sample and samples their rows, so that the rest of the page never looks up by position. */
function linkRows(payload) {
  const samples = payload.samples.map((sample) => ({ ...sample, judged: [] }));
  return payload.rows.map((row, position) => {
    const linked = { ...row, position, sample: samples[row.sample] };
    linked.sample.judged.push(linked);
    return linked;
  });
}

function takePayload(payload) {
  data = payload;
  rows = linkRows(payload);
  isPanel = data.judges.length > 1;
  isScored = data.dimensions.length > 0;
  hasRepeats = data.repeats > 1 || rows.some((row) => row.repeat);
}

takePayload(JSON.parse(document.getElementById("data").textContent));
/** How a judge is called before a reader: by the model whose recorded replies it brings, if that is known. */
const labelOf = (judge) => data.labels[judge] ?? judge;
const byId = (id) => document.getElementById(id);

// What narrows the list; `sort` and `at` say how it is shown and from where on; `id`, `by` (its judge) and `repeat` name
// the judgment that is open.
const NARROWING = ["status", "verdict", "judge", "task", "target", "variant", "question", "gate", "control", "cut_off", "withheld", "empty", "quote", "error", "unverified", "warning", "reasoning", "rule", "flag", "people", "wrong", "differ", "against", "panel", "meta", "q"];
const FILTERS = [...NARROWING, "sort", "at"];
const NAMES = ["id", "by", "repeat"];
const state = { id: "", by: "", repeat: "" };
for (const name of FILTERS) state[name] = "";

/** True when the address held a view of ours rather than the name of a section. */
function readAddress() {
  const hash = location.hash.slice(1);
  if (!hash.includes("=")) return false;
  const wanted = new URLSearchParams(hash);
  for (const name of [...FILTERS, ...NAMES]) state[name] = wanted.get(name) ?? "";
  if (!isPanel) state.judge = "";
  if (wanted.has("theme")) setTheme(wanted.get("theme"));
  return [...FILTERS, "id"].some((name) => state[name]);
}

// Where the list is, for a page that is not its own.
let listPage = "";

function addressOf(changes = {}) {
  const wanted = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...state, ...changes })) if (value) wanted.set(name, value);
  return `${listPage}#${wanted}`;
}

/** What names a row in the address. */
function nameOf(row) {
  return { id: row.sample.id, by: isPanel ? row.judge : "", repeat: row.repeat ? String(row.repeat) : "" };
}

/** The row that the address names: every judgment has an address of its own. */
function namedRow() {
  const named = rows.filter((row) => row.sample.id === state.id && (!state.by || row.judge === state.by));
  return named.find((row) => String(row.repeat ?? "") === state.repeat) ?? named[0] ?? null;
}

/** Which of its repeats, of how many. */
function repeatText(row) {
  return `${row.repeat ?? 1} ${say("word.of", "of")} ${Math.max(data.repeats ?? 1, row.repeat ?? 1)}`;
}

/** Who judged, before a reader: the judge, and which of its repeats. */
function judgeText(row) {
  return row.repeat || hasRepeats ? `${labelOf(row.judge)} · ${say("judgment.repeat", "repeat")} ${repeatText(row)}` : labelOf(row.judge);
}

/** Replaced while moving through the list, pushed where a reader expects "back" to return. */
function writeAddress({ push = false } = {}) {
  const address = addressOf();
  if (address === (location.hash || "#") || (address === "#" && !location.hash.includes("="))) return;
  try {
    if (push) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  } catch {
    // Some mail programs show files in a frame without history; the page works without addresses.
  }
}

function setTheme(theme) {
  if (theme !== "light" && theme !== "dark") return;
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("mixseek-theme", theme);
  } catch {
    // Files opened from disk may have no storage; the choice then lasts for this view.
  }
}

function restoreTheme() {
  try {
    setTheme(localStorage.getItem("mixseek-theme"));
  } catch {
    // As above.
  }
}

function toggleTheme() {
  const chosen = document.documentElement.dataset.theme;
  const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(isDark ? "light" : "dark");
}

/** Room for list and detail side by side; as in browser.css. An empty detail pane would be a waste of it. */
function isWide() {
  return matchMedia("(min-width: 900px)").matches;
}

// What a right-or-wrong protocol says, how a sample ends without a verdict, and what a filter asks.
const WORDS = {
  correct: say("word.correct", "correct"), incorrect: say("word.incorrect", "incorrect"), tie: say("word.tie", "tie"),
  scored: say("word.scored", "scored"), valid: say("word.valid", "valid"), undecided: say("word.undecided", "undecided"),
  invalid: say("word.invalid", "invalid"), missing: say("word.missing", "missing"), split: say("word.split", "split"),
  yes: say("word.yes", "yes"), no: say("word.no", "no"),
};

/** In the reader's language where it is a word of every protocol; one of a protocol's own as it stands. */
const verdictText = (verdict) => (Object.hasOwn(WORDS, verdict) ? WORDS[verdict] : verdict);

/** The one word for a row: its verdict where it has one, else its status. */
function outcomeOf(row) {
  return verdictText(row.status === "valid" && row.verdict ? row.verdict : row.status);
}
