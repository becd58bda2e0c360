// One judgment in full: what was asked, what was answered, where the answer was found and why the verdict fell.

// Longer responses open around the answer; the rest is one click away.
const WINDOW = 6000;

function badge(row) {
  return make("span", { class: `badge tone-${row.tone}` }, ...nameNodes(outcomeOf(row)));
}

function filterLink(name, value, label = value) {
  const href = addressOf({ id: "", by: "", repeat: "", [name]: value });
  return make("a", { href, title: say("judgment.list_only", "List only: {value}", { value: label }), lang: languageOf(label) }, ...nameNodes(label));
}

function fact(label, ...content) {
  return make("div", {}, make("dt", {}, label), make("dd", {}, ...content));
}

/** What was found beside what was right; nobody looks for an answer in either of two responses. */
function answerBox(row) {
  const { sample } = row;
  if (sample.response_b !== undefined || row.claims) return null;
  const found = row.answer === undefined
    ? make("span", { class: "quiet" }, row.status === "invalid" || row.status === "missing" ? say("judgment.not_judged", "not judged") : say("judgment.none_found", "none found"))
    : formedBlock("answer", row.answer);
  const jump = row.span
    ? make("button", { type: "button", class: "text-button", onclick: () => revealMark(row) }, say("judgment.show_in_response", "show in response"))
    : null;
  const truth = sample.truth === undefined ? make("span", { class: "quiet" }, say("judgment.none_given", "none given")) : formedBlock("answer", sample.truth);
  const also = sample.alternatives
    ? make("div", { class: "also" }, say("judgment.also_accepted", "also accepted: "), formedBlock("alternatives", sample.alternatives.join(" · ")))
    : null;
  return make("div", { class: `answers tone-${row.tone}` },
    make("div", {}, make("h3", {}, say("judgment.extracted_answer", "Extracted answer")), found, jump),
    make("div", {}, make("h3", {}, say("word.ground_truth", "Ground truth")), truth, also));
}

const ORDER_STATES = {
  agreed: say("pairs.agreed", "agreed"), position: say("pairs.position", "position"), partial: say("pairs.partial", "partial"),
  single: say("pairs.single", "single"),
};
const CONFIDENCES = { high: say("confidence.high", "high"), medium: say("confidence.medium", "medium"), low: say("confidence.low", "low") };

/** What says how sure a judge is of its verdict. */
const SOURCES = {
  logprobs: say("sure.by_tokens", "by the probabilities of tokens"), decision: say("sure.by_decision", "by a decision endpoint"),
};

/** What each order of a pair said, and how the two go together. */
function ordersText(orders) {
  return orders.replace(/, (?=\w first: )/g, say("joint.comma", ", ")).replace(/\b(\w) first: (\w+)/g, (_, side, verdict) => say("pairs.order_said", "{side} first: {verdict}", { side, verdict: verdictText(verdict) }))
    .replace(/\((\w+)\)$/, (_, state) => `(${ORDER_STATES[state] ?? state})`);
}

function facts(row) {
  const list = make("dl", { class: "facts" });
  if (isPanel) list.append(fact(say("word.judge", "Judge"), filterLink("judge", row.judge, labelOf(row.judge))));
  if (hasRepeats) list.append(fact(say("judgment.repeat_head", "Repeat"), repeatText(row)));
  if (row.reasks) list.append(fact(say("judgment.re_asks", "Re-asks"), countText(row.reasks), make("span", { class: "soft" }, ` ${say("judgment.the_replies_before_were_invalid", "the replies before were invalid")}`)));
  if (row.unverified) list.append(fact(say("judgment.extraction", "Extraction"), make("b", {}, say("word.unverified", "unverified")), make("span", { class: "soft" }, ` ${say("judgment.not_in_the_response", "not in the response")}`)));
  if (row.reasoning !== undefined) list.append(fact(say("judgment.reasoning_score", "Reasoning score"), filterLink("reasoning", String(row.reasoning))));
  if (row.sample.task !== undefined) list.append(fact(say("word.task", "Task"), filterLink("task", row.sample.task)));
  if (row.score !== null) list.append(fact(row.marks ? say("judgment.share_of_the_maximum", "Share of the maximum") : say("word.score_head", "Score"), withMinus(Math.round(row.score * 1000) / 1000)));
  if (row.error !== undefined) list.append(fact(say("word.error_type", "Error type"), filterLink("error", row.error)));
  if (row.sample.model !== undefined) list.append(fact(say("judgment.target_model", "Target model"), filterLink("target", row.sample.model)));
  if (row.sample.cut_off) list.append(fact(say("judgment.response", "Response"), filterLink("cut_off", "yes", say("matrix.cut_off", "cut off"))));
  if (row.sample.withheld) list.append(fact(say("judgment.response", "Response"), filterLink("withheld", "yes", say("state.withheld", "withheld by a filter"))));
  if (row.sample.empty) list.append(fact(say("judgment.response", "Response"), filterLink("empty", "yes", say("state.empty", "empty"))));
  if (row.sample.model_b !== undefined) list.append(fact(say("judgment.against", "Against"), ...nameNodes(row.sample.model_b)));
  if (row.orders !== undefined) list.append(fact(say("judgment.orders", "Orders"), ...visibleNodes(ordersText(row.orders))));
  if (row.sample.qid !== undefined) list.append(fact(say("word.question", "Question"), ...nameNodes(row.sample.qid)));
  if (row.sample.variant !== undefined) list.append(fact(say("word.variant", "Variant"), filterLink("variant", row.sample.variant)));
  if (row.type !== undefined) list.append(fact(say("word.task_type", "Task type"), ...visibleNodes(row.type), row.inferred ? make("span", { class: "soft" }, ` ${say("judgment.inferred_by_the_judge", "inferred by the judge")}`) : null));
  if (row.wrong_step !== undefined) list.append(fact(say("steps.first_wrong", "First wrong step"), make("b", {}, countText(row.wrong_step))));
  if (row.confidence !== undefined) list.append(fact(say("judgment.confidence", "Confidence"), ...visibleNodes(CONFIDENCES[row.confidence] ?? row.confidence)));
  if (row.sure !== undefined) list.append(fact(say("sure.of_the_verdict", "Sure of the verdict"), withMinus(Math.round(row.sure[0] * 1000) / 1000), make("span", { class: "soft" }, ` ${SOURCES[row.sure[1]]}`)));
  if (row.expected !== undefined) list.append(fact(say("sure.expected_score", "Expected score"), withMinus(Math.round(row.expected * 1000) / 1000)));
  if (row.unexplained) list.append(fact(say("sure.reasons", "Reasons"), make("b", {}, say("sure.unexplained", "unexplained")), make("span", { class: "soft" }, ` ${say("sure.asked_for_numbers", "numbers alone were asked for")}`)));
  if (row.control) list.append(fact(say("judgment.method", "Method"), make("b", {}, say("judgment.self_judgment", "self-judgment")), make("span", { class: "soft" }, ` ${say("judgment.a_control_in_no_mean", "a control, in no mean")}`)));
  else if (row.family) list.append(fact(say("judgment.method", "Method"), say("judgment.same_family_other_model", "same family, other model")));
  if (!isPanel) list.append(fact(say("word.judge", "Judge"), ...nameNodes(labelOf(row.judge))));
  return list;
}

function explanation(row) {
  const parts = [];
  const told = new Set((row.gates ?? []).map(([, reason]) => reason));
  for (const text of [row.comment, row.notes, row.reason]) if (text !== undefined && !told.has(text)) parts.push(formedBlock("comment", text));
  if (row.flags) {
    parts.push(make("ul", { class: "flags" }, ...row.flags.map(([flag, detail]) =>
      make("li", {}, make("b", {}, filterLink("flag", flag)), " ", ...visibleNodes(detail)))));
  }
  if (row.checks) {
    parts.push(make("ul", { class: "flags checks" }, ...row.checks.map(([check, step, detail]) =>
      make("li", {}, make("b", {}, say("checked.failed_check", "Check failed: {check}", { check })), " ", ...visibleNodes(detail),
        step === null ? null : ` (${say("checked.in_step", "step {step}", { step })})`))));
  }
  if (row.left_out !== undefined) parts.push(make("p", { class: "cut" }, say("steps.judge_was_not_shown", "The judge was not shown all of it:"), " ", ...visibleNodes(row.left_out)));
  if (row.warnings) {
    parts.push(make("ul", { class: "flags warnings" }, ...row.warnings.map((warning) => make("li", {}, make("b", {}, filterLink("warning", warning))))));
  }
  return parts;
}

function trace(row) {
  if (!row.rules) return null;
  return make("section", {}, make("h3", {}, say("judgment.rules_in_order", "Rules, in order")),
    make("ol", { class: "trace" }, ...row.rules.map((rule) => make("li", {}, filterLink("rule", rule)))));
}

/** A judgment is drawn in an element of its own, which it knows as its holder. */
function revealMark(row) {
  if (isMarkdown) row.holder.querySelector(".as-markdown").click();
  const mark = row.holder.querySelector("mark");
  if (mark) mark.scrollIntoView({ block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

/** The visible part of a response: a window around the answer, or its end, because conclusions come last. */
function windowOf(row) {
  const { response = "" } = row.sample;
  if (response.length <= WINDOW) return [0, response.length];
  const span = row.span ?? (row.quotes ?? []).find((quote) => quote.spans && isOfResponse(quote))?.spans[0];
  const middle = span ? (span[0] + span[1]) >> 1 : response.length;
  const start = Math.max(0, Math.min(middle - WINDOW / 2, response.length - WINDOW));
  return [start, Math.min(response.length, start + WINDOW)].map((offset) => wholeCharacter(response, offset));
}

function responseNodes(row, start, end) {
  const { response = "" } = row.sample;
  if (row.quotes) return quotedNodes(row, response, start, end);
  if (!row.span) return visibleNodes(response.slice(start, end));
  const [from, to] = row.span.map((offset) => Math.max(start, Math.min(end, offset)));
  return [
    ...visibleNodes(response.slice(start, from)),
    make("mark", { title: say("judgment.the_extracted_answer", "The extracted answer") }, ...visibleNodes(response.slice(from, to))),
    ...visibleNodes(response.slice(to, end)),
  ];
}

function responseSection(row) {
  const { response = "" } = row.sample;
  const section = make("section", { class: "response", "data-formed": true });
  const draw = (start, end) => {
    section.redraw = () => draw(start, end);
    const turned = () => {
      isMarkdown = !isMarkdown;
      for (const part of document.querySelectorAll("[data-formed]")) part.redraw();
      section.querySelector(".as-markdown").focus();
    };
    const toggle = make("button", { type: "button", class: "text-button as-markdown", "aria-pressed": String(isMarkdown), onclick: turned }, say("judgment.as_markdown", "as Markdown"));
    const clipped = response.length - (end - start);
    const all = () => { draw(0, response.length); revealMark(row); };
    const more = (count, words) => (count ? make("button", { type: "button", class: "more", onclick: all }, words) : null);
    const [before, after] = [start, response.length - end].map(countText);
    const shown = isMarkdown ? markdownNodes(response.slice(start, end)) : responseNodes(row, start, end);
    const body = make("div", { class: isMarkdown ? "prose markdown" : "prose", lang: languageOf(response.slice(start, end)), dir: "auto" }, ...shown);
    if (!response) body.append(make("span", { class: "quiet" }, say("judgment.the_response_is_empty", "The response is empty.")));
    const parts = [
      make("h3", {}, say("judgment.response", "Response"), " ", make("span", { class: "soft" }, charactersText(response.length)), response ? toggle : null),
      isMarkdown ? null : legend(row), cutNote(row.sample.before, true), clipped ? more(start, say("judgment.more_before", "{n} more characters before · show all", { n: before })) : null, body,
      clipped ? more(response.length - end, say("judgment.more_after", "{n} more characters after · show all", { n: after })) : null, cutNote(row.sample.after),
    ];
    section.replaceChildren(...parts.filter(Boolean));
  };
  draw(...windowOf(row));
  return section;
}

function foldable(title, text, cut, isOpen, body = textBlock("prose", text ?? "")) {
  if (!text) return null;
  return make("details", { open: isOpen },
    make("summary", {}, title, " ", make("span", { class: "soft" }, charactersText(text.length))),
    body, cutNote(cut));
}

/** What was asked or answered: as it was written, or as it was meant, with the response. */
function foldableForm(title, text, cut, isOpen) {
  return foldable(title, text, cut, isOpen, formedBlock("prose", text ?? ""));
}

function otherJudges(row) {
  const others = row.sample.judged.filter((other) => other !== row);
  if (!others.length) return null;
  return make("section", {}, make("h3", {}, hasRepeats ? say("judgment.other_judgments_of_this_sample", "Other judgments of this sample") : say("judgment.other_judges_on_this_sample", "Other judges on this sample")),
    make("ul", { class: "others" }, ...others.map((other) =>
      make("li", {}, make("a", { href: addressOf(nameOf(other)) }, badge(other), " ", ...nameNodes(judgeText(other))),
        other.marks ? make("span", { class: "soft" }, ` ${totalText(other)}${other.control ? ` · ${say("judgment.self_judgment", "self-judgment")}` : ""}`) : null,
        other.answer === undefined ? null : make("span", { class: "soft" }, ` ${visibleLine(other.answer, 60)}`)))));
}

/** What a judge said of a sample, without the texts that all of its judges were shown. */
function judgmentParts(row) {
  return [gateList(row), isScored ? (row.marks ? scoreBox(row) : null) : answerBox(row), ...explanation(row), facts(row), trace(row), quoteSection(row), peopleSection(row, source.labelControl?.(row) ?? null)];
}

function renderDetail(row, { move, close }, detail = byId("detail")) {
  if (!row) {
    detail.replaceChildren(make("p", { class: "quiet placeholder" }, say("judgment.choose_a_judgment_to_see_the_response", "Choose a judgment to see the response and how it was judged.")));
    return;
  }
  const step = (label, by, path) => make("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: () => move(by) }, path);
  const head = make("header", { class: "detail-head" }, badge(row),
    make("h3", { class: "detail-id", lang: languageOf(row.sample.id) }, make("a", { href: addressOf(nameOf(row)), title: say("judgment.permanent_address", "Permanent address of this judgment") }, ...nameNodes(row.sample.id))),
    make("span", { class: "steps" }, step(say("judgment.previous_judgment_k", "Previous judgment (k)"), -1, "↑"), step(say("judgment.next_judgment_j", "Next judgment (j)"), 1, "↓"),
      make("button", { type: "button", class: "icon-button close", "aria-label": say("judgment.back_to_the_list", "Back to the list"), title: say("judgment.back_to_the_list_esc", "Back to the list (Esc)"), onclick: close }, "×")));
  row.holder = detail;
  const { question, question_cut: questionCut } = row.sample;
  const wide = source.sampleAddress(row);
  const parts = [
    head, wide ? make("p", {}, make("a", { class: "wide-link", href: wide }, say("word.every_judge_repeat_and_attempt_side_by", "Every judge, repeat and attempt side by side"))) : null,
    ...judgmentParts(row),
    foldableForm(say("word.question", "Question"), question, questionCut, (question ?? "").length <= 900), ...timelineParts(row), responseSection(row),
    row.sample.response_b === undefined ? null : foldableForm(say("judgment.response_b", "Response B"), row.sample.response_b, row.sample.b_cut, true),
    foldable(say("judgment.raw_reply_of_the_judge", "Raw reply of the judge"), row.reply, row.reply_cut, row.status === "invalid"), otherJudges(row),
  ];
  detail.replaceChildren(...parts.filter(Boolean));
  detail.scrollTop = 0;
}
