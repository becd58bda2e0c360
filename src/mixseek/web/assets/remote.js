// Where judgments come from in the viewer: its server, a page at a time.

const API = `${BASE}/api/runs/${encodeURIComponent(data.run)}`;
let asking = 0;
// How long the journal was when a live page showed what is asked for now: an older list may not have it.
let wantedBytes = 0;

/** The answer, however long it is being made; null when something newer was asked meanwhile. */
async function ask(path, isWanted = () => true) {
  for (;;) {
    const answer = await fetchAnswer(path);
    if (!isWanted()) return null;
    if (answer.status !== 202) {
      const document = await readDocument(answer);
      if (!answer.ok) throw new Error(document.error);
      return document;
    }
    const { pending_seconds: seconds } = await readDocument(answer);
    byId("matches").textContent = `${say("judgment.the_judgments_are_being_listed", "The judgments are being listed")} … ${Math.round(seconds)} s`;
    await new Promise((done) => setTimeout(done, 300));
  }
}

function listPath() {
  const wanted = new URLSearchParams({ limit: String(source.pageRows) });
  for (const name of FILTERS) if (state[name]) wanted.set(name === "at" ? "offset" : name, state[name]);
  if (wantedBytes) wanted.set("as_of", String(wantedBytes));
  // An open judgment brings the page that it is on.
  if (state.id && !state.at) for (const name of NAMES) if (state[name]) wanted.set(name, state[name]);
  return `${API}/judgments?${wanted}`;
}

/** What is listed is a queue for people, too. */
function drawReviewLink() {
  const wanted = new URLSearchParams();
  for (const name of NARROWING) if (state[name]) wanted.set(name, state[name]);
  const link = byId("review-link");
  const review = `${BASE}/runs/${encodeURIComponent(data.run)}/review`;
  link.href = wanted.size ? `${review}?${new URLSearchParams({ queue: `filter:${wanted}` })}` : review;
  link.textContent = wanted.size ? say("judgment.review_these", "Review these") : say("word.review", "Review");
}

/** What is listed as a file, in the order of the dataset. */
function drawDownloads() {
  const wanted = new URLSearchParams();
  for (const name of NARROWING) if (state[name]) wanted.set(name, state[name]);
  for (const link of document.querySelectorAll("[data-download]")) {
    wanted.set("format", link.dataset.download);
    link.href = `${API}/judgments/file?${wanted}`;
  }
}

async function findRemotely(tell) {
  const number = ++asking;
  drawReviewLink();
  drawDownloads();
  let shown = -1;
  for (;;) {
    const answer = await ask(listPath(), () => number === asking);
    if (!answer) return;
    const { search } = answer;
    const isDone = !search || search.searched >= search.samples;
    const text = isDone ? undefined : searchText(answer.matches, search.searched, search.samples);
    if (answer.rows.length !== shown || isDone) {
      shown = answer.rows.length;
      takePayload(answer);
      tell({ ...answer, rows, text });
    } else tell({ text });
    if (isDone) return;
    await new Promise((done) => setTimeout(done, 250));
    if (number !== asking) return;
  }
}

function showFailure(error) {
  byId("matches").textContent = error.message;
}

function drawOutcomes({ outcomes, total }) {
  const button = (outcome, count, tone) => make("button", { type: "button", class: tone ? `tone-${tone}` : null, "data-outcome": outcome, "aria-pressed": "false" },
    visibleLine(verdictText(outcome), 40) || say("word.all", "all"), " ", make("span", {}, countText(count)));
  if (outcomes.length > 8) return;
  const holder = make("div", { class: "outcomes", id: "outcomes", role: "group", "aria-label": say("word.outcome", "Outcome") },
    button("", total), ...outcomes.map((one) => button(one.outcome, one.count, one.tone)));
  const held = byId("outcomes");
  const words = (buttons) => [...buttons.children].map((one) => one.dataset.outcome).join("\0");
  if (held && words(held) === words(holder)) {
    [...held.children].forEach((one, place) => { one.querySelector("span").textContent = holder.children[place].querySelector("span").textContent; });
    return;
  }
  stayWhile(() => {
    held?.remove();
    document.querySelector(".filter-line").append(holder);
  });
}

async function chooseRemotely(tell) {
  const answer = await ask(`${API}/choices`);
  data.labels = answer.labels;
  drawOutcomes(answer);
  // Nothing is sorted by what this run does not have.
  for (const option of document.querySelectorAll("#sort [data-known]")) option.hidden = !answer.sorts.includes(option.value);
  tell(answer.choices);
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

/** What is listed may be other judgments now; what is open stays open while it belongs to them. */
function relist() {
  buildSelects();
  applyFilters(() => { if (selected) select(selected); byId("detail").focus({ preventScroll: true }); }, { staysInPlace: true });
}

const source = {
  pageRows: 100,
  find: (tell) => { findRemotely(tell).catch(showFailure); },
  choices: (tell) => { chooseRemotely(tell).catch(showFailure); },
  complete: (row, tell) => { completeRemotely(row, tell).catch(showFailure); },
  labelControl: (row) => labelControl(row, relist),
  // With the list that it was opened from, so that its page leads back there.
  sampleAddress: (row) => `${BASE}/runs/${encodeURIComponent(data.run)}/sample?${new URLSearchParams({ id: row.sample.id })}${addressOf({ ...nameOf(row), at: page.offset ? String(page.offset) : "" })}`,
};
