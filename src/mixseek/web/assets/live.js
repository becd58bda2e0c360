// A run that is being judged in another process: progress by server-sent events, and its numbers when they are counted.

const live = byId("live");
const STATES = { running: say("word.running", "running"), complete: say("word.complete", "complete"), incomplete: say("word.incomplete", "incomplete"), interrupted: say("word.interrupted", "interrupted") };

function share(part, whole) {
  return whole ? `${Math.round((part / whole) * 1000) / 10} %` : "–";
}

function figure(label, ...content) {
  return make("div", {}, make("dt", {}, label), make("dd", {}, ...content));
}

/** A click opens it: the list that is asked then is at least as new as this line. */
function newestLine(judgment, journalBytes) {
  const name = { id: judgment.id, ...(isPanel ? { by: judgment.judge } : {}), ...(judgment.repeat > 1 ? { repeat: String(judgment.repeat) } : {}) };
  const word = judgment.status === "valid" && judgment.verdict ? judgment.verdict : judgment.status;
  return make("li", {}, make("a", { href: `#${new URLSearchParams(name)}`, onclick: () => { wantedBytes = Math.max(wantedBytes, journalBytes); } }, visibleLine(judgment.id, 60)), " ", make("b", {}, visibleLine(word, 40)), " ",
    make("span", { class: "soft" }, visibleLine(labelOf(judgment.judge), 40)), judgment.reason ? make("span", { class: "soft" }, ` ${visibleLine(judgment.reason, 120)}`) : null);
}

/** The lines of what was judged last; one that somebody is at stays, though newer ones would have left no room for it. */
function drawNewest(told) {
  if (!live.querySelector(".newest")) live.append(make("ul", { class: "newest" }));
  const list = live.querySelector(".newest");
  const held = [...list.children].find((line) => line.contains(document.activeElement));
  const addressOfLine = (line) => line.querySelector("a").getAttribute("href");
  const lines = told.newest.map((judgment) => newestLine(judgment, told.journal_bytes));
  const place = held ? lines.findIndex((line) => addressOfLine(line) === addressOfLine(held)) : -1;
  for (const line of [...list.children]) if (line !== held) line.remove();
  if (!held) list.append(...lines);
  else if (place < 0) held.before(...lines);
  else { held.before(...lines.slice(0, place)); held.after(...lines.slice(place + 1)); }
}

/** What was judged since the list was made is offered, and never pushed under a reader's eyes. */
function offerNew(progress) {
  const button = byId("show-new");
  const fresh = progress.judged - page.total;
  const show = () => {
    wantedBytes = Math.max(wantedBytes, progress.journal_bytes);
    if (document.activeElement === button) byId("list").focus({ preventScroll: true });
    button.hidden = true;
    // What can be filtered by is asked of the list that has come: asked before, an older one would answer.
    applyFilters(buildSelects, { staysInPlace: true });
  };
  // The first ones disturb nobody.
  if (fresh > 0 && page.total === 0 && !wantedBytes) return show();
  button.hidden = fresh <= 0 || page.total === 0;
  button.textContent = `${countText(fresh)} ${say("live.new", "new")} · ${say("live.show", "show")}`;
  button.onclick = show;
  return null;
}

function drawLive(told) {
  const whole = told.expected ?? told.sample_count;
  const done = told.expected === null ? told.samples : told.judged;
  const bar = make("progress", { max: whole, value: Math.min(done, whole), "aria-label": say("word.progress", "Progress") });
  const rest = told.rate ? Math.max(0, whole - done) / told.rate : null;
  const cost = told.cost_usd === null ? "–" : `$${told.cost_usd.toFixed(4)}${told.unpriced ? " +" : ""}`;
  live.hidden = false;
  drawNewest(told);
  const newest = live.querySelector(".newest");
  for (const part of [...live.children]) if (part !== newest) part.remove();
  newest.before(
    make("p", { class: "live-line" }, make("b", { class: told.is_running ? "state running" : "state" }, told.is_running ? say("word.running", "running") : STATES[told.status] ?? told.status), bar, `${countText(done)} ${say("word.of", "of")} ${countText(whole)}`),
    make("dl", { class: "facts" },
      figure(say("live.rate", "Rate"), told.rate === null ? "–" : `${told.rate.toFixed(1)} / s`),
      figure(say("live.left", "Left"), rest === null ? "–" : `${Math.ceil(rest)} s`),
      figure(say("word.cost", "Cost"), cost),
      figure(say("word.invalid", "invalid"), share(told.statuses.invalid ?? 0, told.judged)),
      figure(say("word.undecided", "undecided"), share(told.statuses.undecided ?? 0, told.judged)),
      figure(say("word.missing", "missing"), share(told.statuses.missing ?? 0, told.judged)),
      ...Object.entries(told.verdicts).map(([verdict, count]) => make("div", {}, make("dt", {}, visibleLine(verdict, 30)), make("dd", {}, countText(count))))));
  offerNew(told);
}

function watch() {
  const events = new EventSource(`${API}/live`);
  // A browser asks again by itself, until it is refused; meanwhile the numbers are not those of now.
  events.addEventListener("error", () => { fetchAnswer(API).then(readDocument).catch((error) => tellLost(error.message)); });
  events.addEventListener("progress", (event) => { tellLost(); drawLive(JSON.parse(event.data)); });
  events.addEventListener("end", (event) => {
    events.close();
    const told = JSON.parse(event.data);
    drawLive(told);
    // What was counted while it ran is no longer all.
    if (told.status !== "interrupted") setTimeout(reloadHere, 1500);
  });
}

async function awaitNumbers() {
  let isThere = false;
  try {
    const answer = await fetchAnswer(API);
    await readDocument(answer);
    isThere = answer.status !== 202;
    tellLost();
  } catch (error) { tellLost(error.message); }
  if (isThere) reloadHere();
  else setTimeout(awaitNumbers, 700);
}

byId("count-again")?.addEventListener("click", () => reloadHere({ isNow: true }));
if (!("ended" in live.dataset)) watch();
if ("pending" in live.dataset) setTimeout(awaitNumbers, 300);
