// Answers side by side: a page of questions, and below each a column for every target and variant that is shown.

const place = document.getElementById("side-by-side");
const API = `${BASE}/api/answers/${encodeURIComponent(place.dataset.run)}`;
const byId = (id) => document.getElementById(id);
const form = byId("answer-filters");
const IN_ADDRESS = ["state", "target", "variant", "q", "columns", "marked", "offset"];
const PAGE = 20;
const SEARCH_AFTER = 250;
const TONES = { finished: "good", cut_off: "undecided", withheld: "invalid", empty: "missing", failed: "bad", open: "mixed", not_asked: "plain" };
const STATES = {
  finished: say("responses.word_finished", "finished"), cut_off: say("matrix.cut_off", "cut off"), withheld: say("responses.word_withheld", "withheld"),
  empty: say("state.empty", "empty"), failed: say("word.failed", "failed"), open: say("answers.no_reply_yet", "no reply yet"), not_asked: say("answers.not_asked", "not asked"),
};
// Why there is no response, where a reply without one came or nothing did.
const WHY = {
  withheld: say("answers.why_withheld", "The provider's filter, or the model itself, refused."), empty: say("answers.why_empty", "The target answered without any text."),
  not_asked: say("answers.why_not_asked", "The run stopped before; the same command goes on with it."),
};
// What the address says, and the page that is shown.
let wanted = {};
let shown = null;
let asking = 0;

function readAddress() {
  const query = new URLSearchParams(location.search);
  wanted = Object.fromEntries(IN_ADDRESS.map((name) => [name, query.get(name) ?? ""]));
}

/** Where a change leads; whatever narrows begins with the first page. */
function addressOf(changes) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries({ offset: "", ...changes })) (value ? query.set(name, value) : query.delete(name));
  return `${location.pathname}${query.size ? `?${query}` : ""}`;
}

function go(changes, { replaces = false } = {}) {
  history[replaces ? "replaceState" : "pushState"](null, "", addressOf(changes));
  readAddress();
  show();
}

/** The answer, however long it is being made; null when something else was asked meanwhile. */
async function ask(path, isWanted) {
  for (;;) {
    const answer = await fetchAnswer(path);
    if (!isWanted()) return null;
    if (answer.status !== 202) return readDone(answer);
    const { search } = await readDocument(answer);
    byId("matches").textContent = search ? say("answers.searched", "searched {n} of {total} prompts", { n: countText(search.searched), total: countText(search.samples) }) : "…";
    await new Promise((done) => setTimeout(done, 250));
  }
}

async function show() {
  const number = ++asking;
  drawFilters();
  const query = new URLSearchParams({ limit: String(PAGE) });
  for (const name of IN_ADDRESS) if (wanted[name] && name !== "marked") query.set(name, wanted[name]);
  try {
    const document = await ask(`${API}/questions?${query}`, () => number === asking);
    if (!document) return;
    shown = document;
    tellLost();
    draw();
  } catch (error) { byId("matches").textContent = error.message; tellLost(error.isGone ? error.message : ""); }
}

function drawFilters() {
  for (const button of form.querySelectorAll("[data-state]")) button.setAttribute("aria-pressed", String(button.dataset.state === wanted.state));
  for (const name of ["target", "variant"]) {
    const select = form.elements[name];
    if (!select) continue;
    select.value = wanted[name];
    select.closest(".choice").classList.toggle("active", Boolean(wanted[name]));
  }
  if (document.activeElement !== byId("answer-search")) byId("answer-search").value = wanted.q;
}

const nameOf = ({ target, variant }) => `${target} · ${variant}`;
const columnAt = (number) => shown.columns[number - 1];

/** Which columns are shown can be chosen where there are several. */
function drawColumns() {
  const choice = byId("column-choice");
  choice.hidden = shown.narrowed.length < 2;
  byId("columns-shown").textContent = `${shown.shown.length} ${say("word.of", "of")} ${countText(shown.narrowed.length)}`;
  const boxes = shown.narrowed.map((number) => make("label", {},
    make("input", { type: "checkbox", value: number, checked: shown.shown.includes(number) }), make("span", {}, ...nameNodes(nameOf(columnAt(number))))));
  const held = document.activeElement?.closest("#column-boxes") ? document.activeElement.value : null;
  byId("column-boxes").replaceChildren(...boxes);
  if (held) byId("column-boxes").querySelector(`input[value="${held}"]`)?.focus();
}

/** The two columns that are held against each other: those of the address, as far as they are shown. */
function comparedColumns() {
  const named = wanted.marked.split(",").map(Number);
  return named.length === 2 && named.every((number) => shown.shown.includes(number)) ? named : null;
}

function drawDifferenceChoice() {
  byId("differ-choice").hidden = shown.shown.length < 2;
  const pair = comparedColumns();
  byId("differ").checked = pair !== null;
  for (const [id, at] of [["differ-a", 0], ["differ-b", 1]]) {
    const chosen = pair?.[at] ?? shown.shown[at];
    byId(id).replaceChildren(...shown.shown.map((number) => make("option", { value: number, selected: number === chosen }, visibleLine(nameOf(columnAt(number)), 60))));
  }
}

function chooseDifference() {
  const pair = [byId("differ-a").value, byId("differ-b").value];
  go({ marked: byId("differ").checked && pair[0] !== pair[1] ? pair.join(",") : "", offset: wanted.offset });
}

const badge = (state) => make("span", { class: `badge tone-${TONES[state] ?? "plain"}` }, STATES[state] ?? state);

/** How it ended, how long that took and what it cost: what is not known is left out. */
function callText(answer) {
  const parts = [];
  if (answer.finish_reason) parts.push(`finish_reason ${answer.finish_reason}`);
  if (answer.latency_seconds !== undefined) parts.push(`${answer.latency_seconds.toFixed(2)} s`);
  if (answer.input_tokens !== undefined || answer.output_tokens !== undefined) {
    parts.push(say("answers.tokens", "{input} tokens in, {output} out", { input: countOf(answer.input_tokens), output: countOf(answer.output_tokens) }));
  }
  if (answer.cost_usd !== undefined) parts.push(`$${answer.cost_usd.toFixed(6).replace(/(\.\d\d\d*?)0+$/, "$1")}`);
  if (answer.served_model) parts.push(answer.served_model);
  if (answer.seed !== undefined) parts.push(`seed ${answer.seed}`);
  return parts.join(" · ");
}

const countOf = (count) => (count === undefined ? "–" : countText(count));

const charactersOf = (text, more = 0) => make("span", { class: "soft" }, charactersText([...text].length + more));

/** A text in a frame of its own, which whoever uses a keyboard can move. */
function framed(text, label) {
  const block = formedBlock("prose", text);
  for (const [name, value] of Object.entries({ tabindex: "0", role: "region", "aria-label": label })) block.setAttribute(name, value);
  return block;
}

function folded(title, text, more, label) {
  return make("details", {}, make("summary", {}, title, " ", charactersOf(text, more)), framed(text, label));
}

/** In our words; what an endpoint said, in its own. */
function whyPart(answer) {
  const isOurs = answer.state === "not_asked" || answer.attempts !== undefined;
  if (isOurs && WHY[answer.state]) return make("p", { class: "answer-why" }, WHY[answer.state]);
  return make("p", { class: "answer-why", lang: languageOf(answer.why), dir: "auto" }, ...visibleNodes(answer.why));
}

/** What an answer says; `where` names its place for whoever asks for all of it. */
function answerNodes(answer, where, label) {
  const nodes = [];
  const call = callText(answer);
  if (call) nodes.push(make("p", { class: "answer-call" }, ...visibleNodes(call)));
  if (answer.why) nodes.push(whyPart(answer));
  if (answer.text) nodes.push(make("div", { class: "answer-text" }, framed(answer.text, `${say("judgment.response", "Response")}: ${label}`)));
  if (answer.refusal) nodes.push(folded(say("answers.said_instead", "Said instead of an answer"), answer.refusal, answer.refusal_cut, label));
  if (answer.reasoning) nodes.push(folded(say("judgment.reasoning", "Reasoning"), answer.reasoning, answer.reasoning_cut, `${say("judgment.reasoning", "Reasoning")}: ${label}`));
  if (answer.turns) nodes.push(make("details", { class: "turns" }, make("summary", {}, say("answers.conversation", "Conversation"), " ", make("span", { class: "soft" }, countText(answer.turns.length))),
    ...answer.turns.flatMap((turn) => [make("p", { class: "soft" }, turn.role), framed(turn.content ?? "", turn.role)])));
  const cut = (answer.text_cut ?? 0) + (answer.reasoning_cut ?? 0) + (answer.refusal_cut ?? 0);
  if (cut) nodes.push(make("button", { type: "button", class: "text-button", "data-more": where }, say("answers.more", "{n} more characters · show all", { n: countText(cut) })));
  if (answer.state !== "not_asked") nodes.push(make("button", { type: "button", class: "text-button", "data-prompt": where }, say("judgment.show_the_prompt", "Show the prompt")));
  return nodes;
}

function repeatPart(answer, where) {
  const title = say("answers.repeat", "Repeat {n}", { n: countText(answer.repeat) });
  return make("details", { class: "answer-repeat", "data-repeat": where }, make("summary", {}, title, " ", badge(answer.state)), make("div", { class: "answer-body" }));
}

function cellPart(question, number, answers) {
  const column = columnAt(number);
  const label = `${visibleLine(question.id, 60)}, ${visibleLine(nameOf(column), 80)}`;
  const head = make("h4", {}, ...nameNodes(column.target), " ", make("span", { class: "soft" }, ...nameNodes(column.variant)));
  if (!answers.length) return make("div", { class: "answer-cell", role: "group", "aria-label": label }, make("header", {}, head), make("p", { class: "answer-why" }, say("answers.not_planned", "not planned")));
  const [first, ...others] = answers;
  const whereOf = (answer) => `number=${question.number}&column=${number}&repeat=${answer.repeat}`;
  return make("div", { class: `answer-cell tone-${TONES[first.state] ?? "plain"}`, role: "group", "aria-label": label, "data-column": number },
    make("header", {}, head, badge(first.state)),
    make("div", { class: "answer-body" }, ...answerNodes(first, whereOf(first), label)),
    ...others.map((answer) => repeatPart(answer, whereOf(answer))));
}

/** Columns that have what was asked for, and are not shown: a click shows them. */
function elsewherePart(question) {
  if (!question.elsewhere) return null;
  return make("p", { class: "elsewhere" }, say("answers.elsewhere", "Also in columns that are not shown:"),
    ...question.elsewhere.map((number) => make("button", { type: "button", class: "text-button", "data-show-column": number }, ...nameNodes(nameOf(columnAt(number))))));
}

function questionPart(question) {
  const name = visibleLine(question.id, 60);
  const asked = question.question ? framed(question.question, `${say("word.question", "Question")} ${name}`) : null;
  asked?.classList.add("asked");
  return make("article", { class: "answer-question", "aria-label": name },
    make("header", {}, make("h3", {}, ...nameNodes(question.id)), question.task ? make("span", { class: "soft" }, ...nameNodes(question.task)) : null),
    asked,
    question.truth === undefined ? null : make("div", { class: "truth" }, make("span", { class: "soft" }, say("word.ground_truth", "Ground truth")), formedBlock("truth-text", question.truth)),
    elsewherePart(question),
    make("div", { class: "answer-columns", tabindex: "0", role: "region", "aria-label": say("answers.answers_to", "Answers to {id}", { id: name }) },
      ...question.cells.map((answers, at) => cellPart(question, shown.shown[at], answers))));
}

function drawPager() {
  const step = (label, offset, isThere, sign) => make("button", { type: "button", class: "icon-button", "aria-label": label, title: label, disabled: !isThere, "data-offset": offset }, sign);
  const { offset, matches, rows } = shown;
  const line = rows.length ? `${countText(offset + 1)}–${countText(offset + rows.length)} ${say("word.of", "of")} ${countText(matches)}` : "";
  byId("matches").textContent = rows.length ? line : say("answers.none", "No question has such an answer.");
  byId("pager").replaceChildren(
    step(say("answers.first_page", "First page"), 0, offset > 0, "⇤"), step(say("report.earlier_page", "Earlier page"), Math.max(0, offset - PAGE), offset > 0, "←"),
    step(say("report.next_page", "Next page"), offset + PAGE, offset + PAGE < matches, "→"), step(say("answers.last_page", "Last page"), Math.floor(Math.max(0, matches - 1) / PAGE) * PAGE, offset + PAGE < matches, "⇥"));
}

function draw() {
  drawColumns();
  drawDifferenceChoice();
  drawPager();
  byId("questions").replaceChildren(...shown.rows.map(questionPart));
  markDifferences();
}

/** Marks the words that differ between two columns, in every question of the page. */
function markDifferences() {
  const pair = comparedColumns();
  for (const article of byId("questions").children) {
    article.querySelector(".unlike")?.remove();
    const [a, b] = pair ? pair.map((number) => article.querySelector(`[data-column="${number}"] > .answer-body > .answer-text > .prose`)) : [];
    if (!a || !b) continue;
    for (const block of [a, b]) block.redraw();
    const share = markDifference(a, b);
    if (share === null || share <= MOST_CHANGED) continue;
    const words = say("compare.texts_unlike", "These texts have little in common ({share}% of their words differ), so both are shown as they are.", { share: String(Math.round(share * 100)) });
    article.querySelector(".answer-columns").before(make("p", { class: "soft unlike" }, words));
  }
}

function turnMarkdown() {
  isMarkdown = !isMarkdown;
  byId("as-markdown").setAttribute("aria-pressed", String(isMarkdown));
  for (const block of document.querySelectorAll("[data-formed]")) block.redraw();
  markDifferences();
}

/** All of an answer in the place of what is shown of it. */
async function showWhole(where, body) {
  try {
    const { answer } = await ask(`${API}/answer?${where}`, () => true);
    const label = body.closest(".answer-cell").getAttribute("aria-label");
    body.replaceChildren(...answerNodes(answer, where, label));
    markDifferences();
  } catch (error) { body.append(make("p", { class: "answer-why", role: "alert" }, error.message)); }
}

async function showPrompt(button) {
  let parts;
  try {
    const { prompt } = await ask(`${API}/answer?${button.dataset.prompt}`, () => true);
    parts = prompt.map(({ role, content }) => make("details", { open: true }, make("summary", {}, role), framed(content ?? "…", role)));
  } catch (error) { parts = [make("p", { class: "answer-why", role: "alert" }, error.message)]; }
  button.replaceWith(...parts);
}

place.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { state, offset, more, prompt, showColumn } = button.dataset;
  if (state !== undefined) go({ state, columns: "" });
  else if (offset !== undefined) { go({ offset: offset === "0" ? "" : offset }); place.scrollIntoView(); }
  else if (more) showWhole(more, button.closest(".answer-body"));
  else if (prompt) showPrompt(button);
  else if (showColumn) go({ columns: [...shown.shown, Number(showColumn)].sort((a, b) => a - b).join(","), offset: wanted.offset });
  else if (button.id === "as-markdown") turnMarkdown();
});
// A repeat is read when somebody opens it.
place.addEventListener("toggle", (event) => {
  const { repeat } = event.target.dataset;
  const body = event.target.querySelector(":scope > .answer-body");
  if (repeat && event.target.open && !body.hasChildNodes()) showWhole(repeat, body);
}, true);
form.addEventListener("change", ({ target }) => {
  if (target.closest("#column-boxes")) {
    const chosen = [...byId("column-boxes").querySelectorAll("input:checked")].map((box) => box.value);
    go({ columns: chosen.join(","), offset: wanted.offset });
  } else if (target.closest("#differ-choice")) chooseDifference();
  else if (target.tagName === "SELECT") go({ [target.name]: target.value, columns: "" });
});
let typing = 0;
byId("answer-search").addEventListener("input", ({ target }) => {
  clearTimeout(typing);
  typing = setTimeout(() => go({ q: target.value.trim() }, { replaces: true }), SEARCH_AFTER);
});
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("popstate", () => { readAddress(); show(); });
addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { event.preventDefault(); byId("answer-search").focus(); }
  else if (event.key === "t") byId("theme").click();
});
byId("look-again")?.addEventListener("click", () => reloadHere({ isNow: true }));
readAddress();
show();
