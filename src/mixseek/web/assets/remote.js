// Where judgments come from in the viewer: its server, a page at a time.

const PAGE_ROWS = 100;
const API = `/api/runs/${encodeURIComponent(data.run)}`;
FILTERS.push("meta", "sort", "at");
for (const name of ["meta", "sort", "at"]) state[name] = "";

let asking = 0;
let page = { offset: 0, matches: 0, total: 0, search: null };

/** The answer, however long it is being made; null when something newer was asked meanwhile. */
async function ask(path, isWanted = () => true) {
  for (;;) {
    const answer = await fetch(path);
    if (!isWanted()) return null;
    if (answer.status !== 202) {
      const document = await answer.json();
      if (!answer.ok) throw new Error(document.error);
      return document;
    }
    const { pending_seconds: seconds } = await answer.json();
    byId("matches").textContent = `${say("The judgments are being listed")} … ${Math.round(seconds)} s`;
    await new Promise((done) => setTimeout(done, 300));
  }
}

function listPath() {
  const wanted = new URLSearchParams({ limit: String(PAGE_ROWS) });
  for (const name of FILTERS) if (state[name]) wanted.set(name === "at" ? "offset" : name, state[name]);
  // An open judgment brings the page that it is on.
  if (state.id && !state.at) for (const name of NAMES) if (state[name]) wanted.set(name, state[name]);
  return `${API}/judgments?${wanted}`;
}

function matchText() {
  const counted = `${countText(page.matches)} ${say("of")} ${countText(page.total)}`;
  const { search } = page;
  if (!search || search.searched >= search.samples) return counted;
  return `${countText(page.matches)} ${say("so far; searched")} ${countText(search.searched)} ${say("of")} ${countText(search.samples)}`;
}

function drawPager() {
  const last = page.offset + rows.length;
  byId("page-text").textContent = rows.length ? `${countText(page.offset + 1)}–${countText(last)}` : "–";
  byId("earlier").disabled = page.offset === 0;
  byId("later").disabled = last >= page.matches;
  byId("sort").value = state.sort;
  drawReviewLink();
}

/** What is listed is a queue for people, too. */
function drawReviewLink() {
  const wanted = new URLSearchParams();
  for (const name of FILTERS) if (state[name] && name !== "sort" && name !== "at") wanted.set(name, state[name]);
  const link = byId("review-link");
  const review = `/runs/${encodeURIComponent(data.run)}/review`;
  link.href = wanted.size ? `${review}?${new URLSearchParams({ queue: `filter:${wanted}` })}` : review;
  link.textContent = say(wanted.size ? "Review these" : "Review");
}

async function findRemotely(tell) {
  const number = ++asking;
  const isNarrowed = FILTERS.some((name) => state[name] && name !== "sort" && name !== "at");
  let shown = -1;
  for (;;) {
    const answer = await ask(listPath(), () => number === asking);
    if (!answer) return;
    page = answer;
    const isDone = !page.search || page.search.searched >= page.search.samples;
    if (answer.rows.length !== shown || isDone) {
      shown = answer.rows.length;
      takePayload(answer);
      drawPager();
      tell({ rows, text: matchText(), isNarrowed });
    } else byId("matches").textContent = matchText();
    if (isDone) return;
    await new Promise((done) => setTimeout(done, 250));
    if (number !== asking) return;
  }
}

function showFailure(error) {
  byId("matches").textContent = error.message;
}

const LABELS = {
  judge: "Judge", task: "Task", target: "Target", variant: "Variant", gate: "Gate", control: "Self-judgment", quote: "Quote",
  error: "Error type", unverified: "Unverified", warning: "Warning", reasoning: "Reasoning", rule: "Rule", flag: "Flag", meta: "Metadata",
};

function drawOutcomes({ outcomes, total }) {
  const button = (outcome, count, tone) => make("button", { type: "button", class: tone ? `tone-${tone}` : null, "data-outcome": outcome, "aria-pressed": "false" },
    visibleLine(outcome, 40) || say("all"), " ", make("span", {}, countText(count)));
  if (outcomes.length > 8) return;
  const holder = make("div", { class: "outcomes", id: "outcomes", role: "group", "aria-label": say("Outcome") },
    button("", total), ...outcomes.map((one) => button(one.outcome, one.count, one.tone)));
  byId("outcomes")?.remove();
  document.querySelector(".filter-line").append(holder);
}

async function chooseRemotely(tell) {
  const answer = await ask(`${API}/choices`);
  drawOutcomes(answer);
  tell(Object.entries(answer.choices).map(([name, values]) => [name, LABELS[name] ?? name, values]));
  drawControls();
  const { searched, samples } = answer.metadata_read;
  // Metadata is read as the search is: a part at a time, and only while nobody waits for anything else.
  if (searched < samples) setTimeout(() => chooseRemotely(tell).catch(showFailure), 2000);
}

async function completeRemotely(row, tell) {
  const answer = await ask(`${API}/sample?${new URLSearchParams({ id: row.sample.id })}`, () => selected === row);
  if (!answer) return;
  const whole = linkRows(answer).find((one) => one.judge === row.judge && (one.repeat ?? 1) === (row.repeat ?? 1));
  if (whole) tell(whole);
}

/** Beyond an end of the page is the next one. */
function turn(place) {
  if (place >= 0 && place < rows.length) return false;
  const isLater = place >= rows.length;
  if (isLater ? page.offset + rows.length >= page.matches : page.offset === 0) return false;
  Object.assign(state, { id: "", by: "", repeat: "", at: String(isLater ? page.offset + PAGE_ROWS : Math.max(0, page.offset - PAGE_ROWS)) });
  if (state.at === "0") state.at = "";
  writeAddress({ push: true });
  selected = null;
  applyFilters(() => { if (rows.length) select(isLater ? rows[0] : rows[rows.length - 1]); });
  return true;
}

const source = {
  find: (tell) => { findRemotely(tell).catch(showFailure); },
  choices: (tell) => { chooseRemotely(tell).catch(showFailure); },
  isEmpty: () => page.total === 0,
  restart() { state.at = ""; },
  turn,
  complete: (row, tell) => { completeRemotely(row, tell).catch(showFailure); },
  sampleAddress: (row) => `/runs/${encodeURIComponent(data.run)}/sample?${new URLSearchParams({ id: row.sample.id })}`,
};

byId("earlier").addEventListener("click", () => turn(-1));
byId("later").addEventListener("click", () => turn(rows.length));
byId("sort").addEventListener("change", (event) => { state.sort = event.target.value; filtersChanged(); });
