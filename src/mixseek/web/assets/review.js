// Labelling: queues to choose from, or one of them, a text at a time. The address says which.

const QUEUES = {
  draw: [say("review.drawn_sample", "Drawn sample"), say("review.texts_that_the_lot_fell_on", "Texts that the lot fell on.")],
  disputes: [say("review.raters_differ", "Raters differ"), say("review.see_what_each_rater_said_and_settle", "See what each rater said, and settle it.")],
  disagreements: [say("review.judges_differ", "Judges differ"), say("review.different_verdicts_or_scores_far_apart", "Different verdicts, or scores far apart.")],
  undecided: [say("word.undecided_head", "Undecided"), say("review.no_judge_or_no_majority_has_decided", "No judge, or no majority, has decided.")],
  invalid: [say("review.invalid_replies", "Invalid replies"), say("review.a_judge_reply_could_not_be_used", "A judge's reply could not be used.")],
  evidence: [say("review.weakest_evidence", "Weakest evidence"), say("review.quotes_or_answers_that_are_not_in", "Quotes or answers that are not in the response.")],
  filter: [say("review.filtered_list", "Filtered list"), say("review.texts_of_the_judgments_that_a_filter", "Texts of the judgments that a filter found.")],
};
const USES = {
  headline: say("review.labels_given_here_correct_the_headline", "Labels given here correct the headline."),
  agreement: say("review.labels_given_here_show_how_judges_and", "Labels given here show how judges and people agree. They do not correct the headline: these texts were not drawn by lot."),
  settles: say("review.your_word_settles_it_it_counts_alone", "Your word settles it: it counts alone, and what the raters said stays."),
};
const SHORT_USES = { headline: say("review.corrects_the_headline", "corrects the headline"), settles: say("review.settles_what_counts", "settles what counts"), agreement: say("review.agreement_only", "agreement only") };
const queueName = new URLSearchParams(location.search).get("queue");
listPage = `${BASE}/runs/${encodeURIComponent(data.run)}`;

const titleOf = (queue) => QUEUES[queue.kind][0] + (queue.name.includes(":") ? ` ${visibleLine(queue.name.slice(queue.name.indexOf(":") + 1), 80)}` : "");
const overviewAddress = () => `${location.pathname}${rater ? wanted({ rater }) : ""}`;
const queueAddress = (name) => `${location.pathname}${wanted({ queue: name, ...(rater ? { rater } : {}) })}`;

function progressBar(done, whole) {
  return make("progress", { max: Math.max(whole, 1), value: done, "aria-label": say("word.progress", "Progress") });
}

// The rater.

function raterForm(named) {
  const input = make("input", { name: "rater", value: rater, maxlength: 100, autocomplete: "nickname", required: true, "data-rater": "" });
  const form = make("form", { class: "rater-form" }, make("label", {}, say("review.your_name", "Your name"), input),
    make("button", { type: "submit", class: "action" }, say("review.go_on", "Go on")), make("p", { class: "soft" }, say("review.your_name_goes_with_every_label_agreement", "Your name goes with every label; agreement is between names.")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!input.value.trim()) return;
    nameRater(input.value);
    named();
  });
  return form;
}

/** Whose label it will be, where nobody can overlook it. */
function raterLine() {
  return make("p", { class: "rater-line" }, make("b", { class: "rater-name", "data-rater-name": rater }, ...nameNodes(rater)),
    make("button", { type: "button", class: "text-button", "data-other-rater": "", onclick: () => askName() }, say("review.not_you", "Not you?")));
}

function askName() {
  review.className = "review";
  review.replaceChildren(raterForm(() => location.reload()));
  review.querySelector("input").select();
}

/** The address names somebody else than this browser has known. */
function askWhich() {
  const choose = (name) => { nameRater(name); location.reload(); };
  const button = (name, mark) => make("button", { type: "button", class: "action", [`data-${mark}`]: "", onclick: () => choose(name) }, `${say("review.i_am", "I am")} ${visibleLine(name, 100)}`);
  review.className = "review";
  review.replaceChildren(make("section", { class: "panel second-name", "data-second-name": "", role: "alertdialog", "aria-label": say("review.who_are_you", "Who are you?") },
    make("h2", {}, say("review.who_are_you", "Who are you?")),
    make("p", {}, `${say("review.the_link_is_for", "The link is for")} `, make("b", {}, ...visibleNodes(addressedRater)), `${say("joint.semicolon", "; ")}${say("review.in_this_browser_labels_were_given_by", "in this browser labels were given by")} `, make("b", {}, ...visibleNodes(keptRater())), endSentence("")),
    make("p", { class: "form-actions" }, button(addressedRater, "is-addressed"), button(keptRater(), "is-kept"))));
  review.querySelector("button").focus();
}

/** An address that opens the viewer and names a rater, to send around. */
function inviteForm(queues) {
  const input = make("input", { name: "invited", maxlength: 100, required: true, autocomplete: "off", "data-invited": "" });
  const choice = make("select", {}, make("option", { value: "" }, say("review.all_queues", "All queues")), ...queues.map((queue) => make("option", { value: queue.name }, titleOf(queue))));
  const link = make("input", { readonly: true, hidden: true, "data-link": "", "aria-label": say("review.link", "Link") });
  link.addEventListener("focus", () => link.select());
  const form = make("form", { class: "rater-form invite-form" }, make("label", {}, say("review.link_for_a_rater", "Link for a rater"), input), make("label", {}, say("review.queue", "Queue"), choice),
    make("button", { type: "submit", class: "action" }, say("review.make_a_link", "Make a link")), link);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const made = await ask(`/link${wanted({ rater: plainName(input.value), ...(choice.value ? { queue: choice.value } : {}) })}`);
      Object.assign(link, { value: made.link, hidden: false });
      link.focus();
    } catch (error) { notify(error.message); }
  });
  return form;
}

// All queues.

function queueLine(queue) {
  const [, about] = QUEUES[queue.kind];
  return make("li", { class: "queue", "data-queue": queue.name },
    make("div", {}, make("h3", {}, make("a", { href: queueAddress(queue.name) }, titleOf(queue))), make("p", { class: "soft" }, about),
      make("p", { class: `use use-${queue.use}` }, SHORT_USES[queue.use])),
    make("p", { class: "queue-count" }, make("a", { class: "action", href: queueAddress(queue.name), "aria-label": `${say("word.review", "Review")}: ${titleOf(queue)}` }, say("word.review", "Review")), progressBar(queue.done, queue.listed), `${countText(queue.done)} ${say("word.of", "of")} ${countText(queue.listed)}`,
      queue.total > queue.listed ? make("span", { class: "soft" }, ` (${countText(queue.total)})`) : null));
}

function drawForm(overview) {
  const { left, columns } = overview.draw;
  const count = make("input", { type: "number", name: "count", min: 1, max: left, value: Math.min(50, left), required: true });
  const rare = make("input", { type: "checkbox", checked: (columns ?? []).includes("verdict"), disabled: columns !== null });
  const form = make("form", { class: "draw-form", "data-draw": "" }, make("label", {}, say("review.texts", "Texts"), count),
    make("label", { class: "check" }, rare, say("review.by_verdict_so_that_rare_ones_are", "by verdict, so that rare ones are seen")),
    make("button", { type: "submit", class: "action", disabled: isReadOnly || left < 1 }, say("review.draw_a_sample", "Draw a sample")),
    make("p", { class: "soft" }, `${countText(left)} ${say("review.texts_were_not_drawn_yet", "texts were not drawn yet.")}`));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const body = { count: Number(count.value), by_verdict: rare.checked };
    try {
      const made = await ask("/draws", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      location.assign(queueAddress(made.queue));
    } catch (error) { notify(error.message); }
  });
  return form;
}

function raterTable({ raters, agreement }) {
  if (!raters.length) return make("p", { class: "soft" }, say("review.nobody_has_labelled_a_text_of_this", "Nobody has labelled a text of this run yet."));
  const row = (cells, tag) => make("tr", {}, ...cells.map((cell, place) => make(tag, { class: place ? "number" : null }, cell)));
  const number = (value, digits) => (value === null ? "–" : withMinus(value.toFixed(digits)));
  return make("div", {}, make("table", { class: "workspace raters" }, make("thead", {}, row([say("review.rater", "Rater"), say("review.labels", "labels"), say("review.seconds_each", "seconds each")], "th")),
    make("tbody", {}, ...raters.map((one) => row([make("span", {}, ...nameNodes(one.name)), countText(one.labels), number(one.seconds, 1)], "td")))),
  agreement.texts ? make("p", { class: "soft", "data-agreement": "" }, `${say("review.raters_agree_on", "Raters agree on")} ${(agreement.share * 100).toFixed(1)}% (${countText(agreement.texts)} ${say("review.texts_of_several_raters", "texts of several raters")}); ${say("review.krippendorff_alpha", "Krippendorff's alpha")} ${number(agreement.alpha, 2)}`) : null);
}

async function showOverview() {
  const overview = await ask(wanted({ rater }));
  const numbers = make("section", { class: "numbers panel", "data-numbers": "" });
  const isOffered = (queue) => queue.total > 0 || queue.kind === "draw";
  review.className = "review overview";
  review.replaceChildren(
    make("div", {}, make("section", { class: "panel" }, make("h2", {}, say("review.queues", "Queues")), make("ul", { class: "queues" }, ...overview.queues.filter(isOffered).map(queueLine))),
      make("section", { class: "panel" }, make("h2", {}, say("review.draw_a_sample", "Draw a sample")), make("p", { class: "soft" }, say("review.only_texts_drawn_by_lot_speak_for", "Only texts drawn by lot speak for the whole run: their labels correct the headline.")), drawForm(overview))),
    make("div", {}, numbers, make("section", { class: "panel" }, make("h2", {}, say("review.raters", "Raters")), raterTable(overview), rater ? raterLine() : null, raterForm(() => location.reload()), inviteForm(overview.queues.filter(isOffered)))));
  showNumbers(numbers);
}

// One queue.

let queue = null;
let item = null;
let form = null;
let isOpen = false;
let shownAt = 0;
let hiddenFor = 0;
let hiddenAt = null;
let isBusy = false;
const skipped = new Set();
const parts = {};
// What this rater has labelled here, in its order; and which of it is looked at, null while working.
let behind = [];
let lookedAt = null;
// Keys that were pressed while a label was being saved: they are for what is shown next.
const waitingKeys = [];
const MOST_WAITING = 50;
const AT_ONCE = "mixseek-at-once";
const goesOnAtOnce = () => recall(AT_ONCE) === "yes";
const draftName = (text) => `mixseek-note-${data.run}-${rater}-${text}`;

document.addEventListener("visibilitychange", () => {
  if (document.hidden) hiddenAt = performance.now();
  else if (hiddenAt !== null) { hiddenFor += performance.now() - hiddenAt; hiddenAt = null; }
});
const isLabelled = () => item?.own !== null && item?.own !== undefined;
const openTexts = () => queue.items.filter(([, isDone]) => !isDone).map(([text]) => text);

function nextText() {
  const open = openTexts();
  const fresh = open.find((text) => !skipped.has(text));
  if (fresh === undefined && open.length) skipped.clear();
  return fresh ?? open[0] ?? null;
}

function frameQueue() {
  parts.progress = make("p", { class: "review-progress", "data-progress": "" });
  parts.text = make("section", { class: "review-text detail", "data-item": "", "aria-label": say("word.sample", "Sample") });
  parts.form = make("section", { class: "review-form panel", "data-form": "", "aria-label": say("review.your_label", "Your label") });
  parts.told = make("section", { class: "review-told", "data-reveal": "", "aria-label": say("review.what_others_said", "What others said") });
  parts.numbers = make("section", { class: "numbers panel", "data-numbers": "" });
  const blind = make("input", { type: "checkbox", checked: true, "data-blind": "" });
  blind.addEventListener("change", () => { isOpen = !blind.checked; showItem(item?.text ?? nextText()); });
  const atOnce = make("input", { type: "checkbox", checked: goesOnAtOnce(), "data-at-once": "" });
  atOnce.addEventListener("change", () => remember(AT_ONCE, atOnce.checked ? "yes" : null));
  byId("review-title").replaceChildren(titleOf(queue));
  review.className = "review working";
  review.replaceChildren(
    make("div", { class: "review-head" }, raterLine(), make("a", { class: "plain-link", href: overviewAddress() }, say("review.all_queues", "All queues")), parts.progress,
      make("label", { class: "check" }, blind, say("review.blind", "Blind")),
      make("label", { class: "check" }, atOnce, say("review.one_key_a_label_the_next_text", "One key a label: the next text comes at once")),
      make("button", { type: "button", class: "text-button", "data-help-open": "", onclick: showHelp }, say("review.keys", "Keys"), " ", keyMark("?")),
      make("p", { class: `use use-${queue.use}`, "data-use": queue.use }, USES[queue.use], queue.tells ? ` ${say("review.the_name_of_this_queue_tells_something", "The name of this queue tells something about the verdicts.")}` : "")),
    parts.text, make("div", { class: "review-side" }, parts.form, parts.told, parts.numbers));
}

function drawProgress() {
  const left = openTexts().length;
  const done = queue.items.length - left;
  const rest = queue.seconds ? ` · ${queue.seconds} ${say("review.s_each", "s each")} · ~${Math.ceil((left * queue.seconds) / 60)} ${say("review.min_left", "min left")}` : "";
  parts.progress.replaceChildren(progressBar(done, queue.items.length), make("b", { "data-done": String(done) }, `${countText(done)} ${say("word.of", "of")} ${countText(queue.items.length)}`), make("span", { class: "soft" }, rest));
}

function drawText() {
  const { question, response, response_b: other, ground_truth: truth, alternatives, rubric, task_type: type } = item.sample;
  const block = (name, text, mark) => make("section", { [`data-${mark}`]: "" }, make("h3", {}, name), formedBlock("prose", text));
  const rubricPart = foldable(say("word.rubric", "Rubric"), rubric, 0, (rubric ?? "").length < 1500);
  rubricPart?.setAttribute("data-rubric", "");
  const answerPart = (text, mark) => {
    const holder = make("div", { [`data-${mark}`]: "" });
    holder.append(other === null ? "" : make("h3", { class: "side" }, mark === "response" ? "A" : "B"), responseSection({ sample: { response: text }, holder }));
    return holder;
  };
  const answer = other === null ? answerPart(response, "response") : make("div", { class: "two-sides" }, answerPart(response, "response"), answerPart(other, "response-b"));
  parts.text.replaceChildren(...[
    make("h2", { class: "visually-hidden" }, say("word.sample", "Sample")),
    question ? block(say("word.question", "Question"), question, "question") : null,
    truth === null ? null : block(say("word.ground_truth", "Ground truth"), [truth, ...alternatives].join(" · "), "truth"),
    type ? make("p", { class: "soft" }, say("word.task_type", "Task type"), " ", ...visibleNodes(type)) : null, rubricPart,
    ...timelineParts({ sample: item.sample, holder: parts.text }),
    item.was_turned ? make("p", { class: "soft", "data-turned": "" }, say("review.while_you_decided_the_two_stood_the", "While you decided, the two stood the other way round: your first is B here.")) : null,
    answer,
  ].filter(Boolean));
}

function labelText(label) {
  return `${label.marks && Object.keys(label.marks).length ? `${label.given} (${Object.values(label.marks).join(" + ")})` : verdictText(label.given)}${label.verdict && label.verdict !== "scored" ? ` ${label.verdict}` : ""}${stepsText(label)}`;
}

/** Which steps somebody calls wrong, or that all that were labelled are right. */
function stepsText({ steps = {} }) {
  const wrong = Object.keys(steps).filter((number) => steps[number] === 0);
  if (wrong.length) return ` · ${say("steps.wrong_steps", "wrong steps: {steps}", { steps: wrong.join(", ") })}`;
  return Object.keys(steps).length ? ` · ${say("steps.no_wrong_step", "no labelled step is wrong")}` : "";
}

function raterLines(labels) {
  return make("ul", { class: "rater-labels", "data-raters": "" }, ...labels.map((label) => make("li", {},
    make("b", {}, visibleLine(label.rater, 100)), label.is_adjudicated ? make("span", { class: "soft" }, ` ${say("review.settled_it", "settled it")}`) : null, " ", visibleLine(labelText(label), 200),
    label.note ? formedBlock("comment", label.note) : null)));
}

function judgeCard(row) {
  const card = make("article", { class: "detail judge-column", "data-judge": row.judge, "aria-label": judgeText(row) });
  row.holder = card;
  card.append(...[make("header", { class: "detail-head" }, badge(row), make("h3", { class: "detail-id" }, ...nameNodes(judgeText(row)))), ...judgmentParts(row), row.span || row.quotes ? responseSection(row) : null].filter(Boolean));
  return card;
}

function drawReveal() {
  const { judged, raters = [] } = item;
  if (!judged) {
    parts.told.replaceChildren(...(raters.length ? [make("h3", {}, say("review.the_raters_said", "The raters said")), raterLines(raters)] : []));
    return;
  }
  takePayload(judged);
  const address = `${listPage}/sample?${new URLSearchParams({ id: rows[0]?.sample.id ?? "" })}`;
  parts.told.replaceChildren(...[
    make("h3", {}, say("review.the_judges_said", "The judges said")), make("div", { class: "judge-cards" }, ...rows.map(judgeCard)),
    raters.length > 1 ? make("h3", {}, say("review.the_raters_said", "The raters said")) : null, raters.length > 1 ? raterLines(raters) : null,
    make("p", {}, make("a", { class: "wide-link", href: address }, say("word.every_judge_repeat_and_attempt_side_by", "Every judge, repeat and attempt side by side"))),
  ].filter(Boolean));
}

function drawForms() {
  const { text } = item;
  const note = make("textarea", { rows: 2, maxlength: 4000, "data-note": "", "aria-label": say("review.note", "Note"), placeholder: `${say("review.note", "Note")} (n)` });
  // Until its label is kept, a note stays in the browser: through Escape, a reload, or another queue.
  note.value = recall(draftName(text)) ?? "";
  note.addEventListener("input", () => remember(draftName(text), note.value || null));
  const button = (name, key, act, mark, isMain = false) => make("button", { type: "button", class: isMain ? "action" : "text-button", [`data-${mark}`]: "", onclick: act }, name, " ", keyMark(key));
  const undo = queue.last ? button(say("word.undo", "Undo"), "u", takeBack, "undo") : null;
  if (isLabelled()) {
    form = null;
    parts.note = null;
    const next = button(say("review.next", "Next"), "Enter", goOn, "next", true);
    parts.form.replaceChildren(...[lookedAt === null ? null : make("p", { class: "soft", "data-looking-back": "" }, `${say("review.looking_back", "Looking back")}: ${countText(lookedAt + 1)} ${say("word.of", "of")} ${countText(behind.length)} `, keyMark("←"), " ", keyMark("→")), make("p", { class: "own", "data-own": item.own.given }, say("review.you_said", "You said"), " ", make("b", {}, labelText(item.own)), item.own.note ? textBlock("comment", item.own.note) : null),
      make("p", { class: "form-actions" }, next, undo)].filter(Boolean));
    next.focus({ preventScroll: true });
    return;
  }
  form = labelForm(item.form, give);
  parts.note = note;
  parts.form.replaceChildren(...[form.element, note, make("p", { class: "form-actions" }, button(say("word.skip", "Skip"), "s", skip, "skip"), undo), isReadOnly ? make("p", { class: "soft" }, say("word.read_only", "read only")) : null].filter(Boolean));
  if (form.first) form.first.focus({ preventScroll: true });
  if (isReadOnly) for (const one of parts.form.querySelectorAll("button, input, textarea")) one.disabled = true;
}

function drawItem() {
  drawProgress();
  drawText();
  drawForms();
  drawReveal();
}

function drawDone() {
  lookedAt = null;
  item = null;
  form = null;
  drawProgress();
  parts.text.replaceChildren(make("p", { class: "all-done", "data-all-done": "" }, say("review.nothing_is_left_to_label_in_this", "Nothing is left to label in this queue.")), make("p", {}, make("a", { class: "plain-link", href: overviewAddress() }, say("review.all_queues", "All queues"))));
  parts.form.replaceChildren(queue.last ? make("button", { type: "button", class: "text-button", "data-undo": "", onclick: takeBack }, say("word.undo", "Undo"), " ", keyMark("u")) : "");
  parts.told.replaceChildren();
}

async function showItem(text) {
  if (text === null) return drawDone();
  item = await ask(`/item${wanted({ queue: queue.name, text, rater, ...(isOpen ? { open: "yes" } : {}) })}`);
  [shownAt, hiddenFor, hiddenAt] = [performance.now(), 0, null];
  review.dataset.text = text;
  drawItem();
  scrollTo({ top: 0 });
  return item;
}

/** One thing at a time; keys that were pressed meanwhile come after it. */
function once(act) {
  return async (...given) => {
    if (isBusy || isReadOnly) return;
    isBusy = true;
    try { await act(...given); } catch (error) { waitingKeys.length = 0; notify(error.message); } finally { isBusy = false; }
    while (waitingKeys.length && !isBusy) actOn(waitingKeys.shift());
  };
}

const give = once(async (answer) => {
  const seconds = Math.round((performance.now() - shownAt - hiddenFor) / 100) / 10;
  const body = { id: newId(), queue: queue.name, text: item.text, rater, note: parts.note?.value ?? "", seconds: Math.min(seconds, 86400), is_open: isOpen, is_turned: item.is_turned, ...answer };
  const told = await tell("/labels", body);
  item = told;
  queue.last = { id: body.id, text: body.text };
  queue.items = queue.items.map(([text, isDone]) => [text, isDone || text === body.text]);
  skipped.delete(body.text);
  remember(draftName(body.text), null);
  behind = [...behind.filter((text) => text !== body.text), body.text];
  lookedAt = null;
  byId("said").textContent = `${say("review.saved", "Saved")}: ${labelText(told.own)}`;
  if (told.replaced) notify(`${endSentence(`${say("review.you_had_labelled_this_text_already_in", "You had labelled this text already, in another window perhaps")}: ${labelText(told.replaced)}`)} ${say("review.what_you_said_now_is_what_counts", "What you said now is what counts; Undo takes it back.")}`);
  if (goesOnAtOnce()) await showItem(nextText());
  else drawItem();
  showNumbers(parts.numbers);
});

const takeBack = once(async () => {
  if (!queue.last) return;
  const { id, text } = queue.last;
  await tell("/retractions", { id: newId(), rater, retracts: id });
  byId("said").textContent = say("review.taken_back", "Taken back");
  await loadQueue();
  lookedAt = null;
  await showItem(text);
  showNumbers(parts.numbers);
});

const goOn = once(async () => {
  lookedAt = null;
  await showItem(nextText());
});
/** One label further back, or forward until the text that is waiting. */
const look = once(async (by) => {
  const place = (lookedAt ?? behind.length) + by;
  if (place < 0 || place > behind.length) return;
  lookedAt = place < behind.length ? place : null;
  await showItem(lookedAt === null ? nextText() : behind[place]);
});
const skip = once(async () => {
  skipped.add(item.text);
  await showItem(nextText());
});

async function loadQueue() {
  queue = await ask(`/queue${wanted({ queue: queueName, rater })}`);
  const done = queue.items.filter(([, isDone]) => isDone).map(([text]) => text);
  behind = [...done.filter((text) => !behind.includes(text)), ...behind.filter((text) => done.includes(text))];
}

// Keys.

function showHelp() {
  const lines = [["?", say("review.keys", "Keys")], ["n", say("review.note_escape_leaves_it", "Note (Escape leaves it)")], ["s", say("review.skip_it_comes_again_at_the_end", "Skip: it comes again at the end")], ["u", say("review.undo_the_last_label", "Undo the last label")], ["Enter", say("review.save_or_the_next_text", "Save, or the next text")], ["← →", say("review.look_at_the_last_ones_and_come", "Look at the last ones, and come back")], ["r", say("review.open_or_close_the_rubric", "Open or close the rubric")], ["m", say("review.the_response_as_markdown_or_as_it", "The response as Markdown, or as it is")], ["t", say("word.switch_between_light_and_dark", "Switch between light and dark")], ["Escape", say("review.all_queues", "All queues")]];
  const own = item?.form.kind === "verdict" ? item.form.options.map((option) => [option.keys.join(" / "), verdictText(option.value)]) : [["0–9", say("review.value_of_the_dimension_tab_moves_on", "Value of the dimension; Tab moves on")], ["g", say("review.the_gate_fails", "The gate fails")]];
  byId("help-keys").replaceChildren(...[...own, ...lines].map(([key, text]) => make("div", {}, make("dt", {}, keyMark(key)), make("dd", {}, text))));
  byId("help").showModal();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const { target, key } = event;
  if (target.matches("textarea, select, input:not([type=number]):not([type=radio]):not([type=checkbox])")) {
    if (key === "Escape") target.blur();
    return;
  }
  const isNumber = target.matches("input[type=number]");
  if (isNumber && /^[0-9.,\-]$/.test(key)) return;
  // Arrows move inside a field first.
  if (key.startsWith("Arrow") && target.matches("input, select")) return;
  // A button that has the focus answers Enter by itself.
  if (key === "Enter" && target.matches("button:not(.as-markdown), a, summary") && !isBusy) return;
  if (isBusy) {
    event.preventDefault();
    // One that is held down is one key.
    if (!event.repeat && waitingKeys.length < MOST_WAITING) waitingKeys.push(key);
    return;
  }
  if (event.repeat && !key.startsWith("Arrow")) return;
  if (actOn(key)) event.preventDefault();
}

/** Whether the key means anything now. */
function actOn(key) {
  const acts = {
    "?": showHelp, s: () => item && !isLabelled() && skip(), u: takeBack, n: () => parts.note?.focus(),
    r: () => { const rubric = parts.text.querySelector("details"); if (rubric) rubric.open = !rubric.open; },
    m: () => parts.text.querySelector(".as-markdown")?.click(), t: () => byId("theme").click(), Escape: () => location.assign(overviewAddress()),
    ArrowLeft: () => look(-1), ArrowRight: () => (lookedAt === null ? isLabelled() && goOn() : look(1)),
    ...(isLabelled() ? { Enter: goOn, " ": goOn } : Object.fromEntries(form?.keys ?? [])),
  };
  if (!acts[key]) return false;
  acts[key]();
  return true;
}

async function begin() {
  if (isSecondName()) return askWhich();
  if (rater) nameRater(rater);
  if (queueName === null) {
    await sendLeftovers();
    return showOverview();
  }
  if (!rater) {
    review.replaceChildren(raterForm(() => begin()));
    return review.querySelector("input").focus();
  }
  await sendLeftovers();
  await loadQueue();
  frameQueue();
  addEventListener("keydown", pressed);
  showNumbers(parts.numbers);
  return showItem(nextText());
}

begin().catch((error) => notify(error.message));
