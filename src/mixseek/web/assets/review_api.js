// How the page asks and tells: a label is kept in the browser until the server has said that it is on disk.

// Nothing is listed on this page, so nothing has to be fetched.
const source = { sampleAddress: () => null };
const API = `${BASE}/api/runs/${encodeURIComponent(data.run)}/review`;
const OUTBOX = `mixseek-outbox-${data.run}`;
const review = byId("review");
const isReadOnly = review.dataset.readOnly !== undefined;
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** A browser may have no storage; then what is remembered lasts as long as the page. */
const memory = new Map();
function remember(name, value) {
  memory.set(name, value);
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch { /* as above */ }
}
function recall(name) {
  try { return localStorage.getItem(name) ?? memory.get(name) ?? null; } catch { return memory.get(name) ?? null; }
}

// The name in the address wins, and every address of ours carries it: labels go to whoever the page shows.
const addressedRater = plainName(new URLSearchParams(location.search).get("rater") ?? "");
let rater = addressedRater || keptRater();

function nameRater(name) {
  rater = plainName(name);
  keepRater(rater);
  const address = new URL(location.href);
  address.searchParams.set("rater", rater);
  history.replaceState(null, "", address);
}

/** Another person than the one who labelled in this browser before: they are asked, not guessed. */
const isSecondName = () => Boolean(addressedRater && keptRater() && keptRater() !== addressedRater);

function notify(text) {
  byId("notice").hidden = !text;
  byId("notice").textContent = text ?? "";
}

/** The answer, however long it is being made; raises what the server refuses. */
async function ask(path, options) {
  for (;;) {
    const answer = await fetchAnswer(`${API}${path}`, options);
    if (answer.status !== 202) return readDone(answer);
    await pause(250);
  }
}

/** Sent until it is answered: what the server has already is not kept twice, because the body has an id. */
async function tell(path, body) {
  remember(OUTBOX, JSON.stringify({ path, body }));
  for (;;) {
    try {
      const answer = await ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      remember(OUTBOX, null);
      notify(null);
      return answer;
    } catch (error) {
      if (!error.isGone && error.status !== 403) {
        remember(OUTBOX, null);
        notify(error.message);
        throw error;
      }
      notify(error.isGone ? say("review.the_server_does_not_answer_what_you", "The server does not answer. What you gave is kept in this browser and sent when it is back.") : error.message);
      await pause(1500);
    }
  }
}

/** What an earlier page could not bring home. */
async function sendLeftovers() {
  const kept = JSON.parse(recall(OUTBOX) ?? "null");
  if (kept) await tell(kept.path, kept.body).catch(() => null);
}

const wanted = (parts) => `?${new URLSearchParams(parts)}`;
