// The steps of a sample as a timeline, and the documents that were given: folded where they are long, failures open.

const ROLES = {
  system: say("steps.system", "system"), user: say("steps.user", "user"), assistant: say("steps.assistant", "assistant"),
  tool: say("steps.tool", "tool"),
};
const STEP_STATES = { error: say("steps.failed", "failed"), cut_off: say("matrix.cut_off", "cut off") };
const STEP_PARTS = { arguments: say("steps.arguments", "Arguments"), result: say("steps.result", "Result") };
// A text of a step that is longer than this is folded.
const FOLDED_FROM = 600;
// Pictures that show themselves and run nothing.
const SHOWN_PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$/;

/** How much of a text a page has not, and how to read it all the same. */
function cutNote(count, isBefore = false) {
  const n = countText(count ?? 0);
  const words = isBefore ? say("judgment.cut_before", "{n} characters before this are not in this file; they are printed by", { n })
    : say("judgment.cut_after", "{n} characters after this are not in this file; they are printed by", { n });
  return count ? make("p", { class: "cut" }, words, " ", make("code", {}, `mixseek show ${data.run} ID`)) : null;
}

/** The text of a step, with the quotes that are from it. */
function stepTextNodes(row, text, step, part) {
  if (!row.quotes || step === null) return visibleNodes(text);
  return quotedNodes(row, text, 0, text.length, (quote) => quote.step === step && (quote.part ?? "text") === part);
}

function stepText(row, step, part, isMarked) {
  const text = step[part];
  if (text === undefined) return null;
  const body = make("div", { class: part === "text" ? "prose" : "prose step-data", lang: languageOf(text), dir: "auto" }, ...stepTextNodes(row, text, isMarked ? step.n : null, part));
  const cut = cutNote(step.cut?.[part]);
  if (part === "text" && text.length <= FOLDED_FROM) return make("div", {}, body, cut);
  const title = part === "text" ? say("steps.text", "Text") : STEP_PARTS[part];
  const preview = part === "text" ? "" : visibleLine(text, 80);
  return make("details", { open: part === "result" && step.status === "error" },
    make("summary", {}, title, " ", make("span", { class: "soft" }, charactersText(text.length + (step.cut?.[part] ?? 0))), preview ? make("code", { class: "step-preview" }, preview) : null),
    body, cut);
}

function pictureParts(step) {
  const shown = (step.images ?? []).map((image, place) => (SHOWN_PICTURE.test(image)
    ? make("img", { class: "step-picture", src: image, alt: say("steps.picture_n", "Picture {n}", { n: countText(place + 1) }), loading: "lazy" })
    : make("p", { class: "soft" }, say("steps.picture_at", "Picture: {place}", { place: visibleLine(image, 120) }))));
  if (step.images_cut) shown.push(make("p", { class: "cut" }, say("steps.pictures_left_out", "{n} pictures are too large for this page.", { n: countText(step.images_cut) })));
  return shown;
}

function timeText(step) {
  const took = step.seconds === undefined ? "" : say("steps.seconds", "{n} s", { n: withMinus(Math.round(step.seconds * 100) / 100) });
  return joinWords([step.parent === undefined ? "" : say("steps.begun_by", "begun by step {n}", { n: countText(step.parent) }), step.time ?? "", took]);
}

function timelineStep(row, step, isMarked) {
  if (step.skipped !== undefined) return make("li", { class: "step-gap" }, say("steps.not_in_this_file", "{n} steps between these are not in this file.", { n: countText(step.skipped) }));
  const state = STEP_STATES[step.status];
  const more = timeText(step);
  return make("li", { class: `step step-${step.role}${step.status === "error" ? " step-failed" : ""}`, value: String(step.n), "data-step": String(step.n), tabindex: "-1" },
    make("p", { class: "step-head" }, make("b", { class: "step-number" }, countText(step.n)), " ", make("span", { class: "step-role" }, ROLES[step.role] ?? step.role),
      step.tool === undefined ? null : make("code", { class: "step-tool" }, ...nameNodes(step.tool)),
      state === undefined ? null : make("b", { class: "step-state" }, state), more ? make("span", { class: "soft" }, more) : null),
    stepText(row, step, "text", isMarked), ...pictureParts(step), stepText(row, step, "arguments", isMarked), stepText(row, step, "result", isMarked));
}

/** Keys lead from step to step, where the focus is in the timeline. */
function walkSteps(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  const steps = [...event.currentTarget.querySelectorAll(":scope > .step")];
  const here = steps.findIndex((step) => step.contains(document.activeElement));
  const next = here < 0 ? steps[by > 0 ? 0 : steps.length - 1] : steps[here + by];
  event.preventDefault();
  event.stopPropagation();
  if (!next) return;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function timeline(row, steps, title, isMarked = true) {
  if (!steps) return null;
  const failed = steps.filter((step) => step.status === "error").length;
  const counts = joinWords([
    steps.length === 1 ? say("steps.one_step", "1 step") : say("steps.n_steps", "{n} steps", { n: countText(steps.at(-1).n) }),
    failed ? say("steps.n_failed", "{n} failed", { n: countText(failed) }) : "",
  ]);
  const list = make("ol", { class: "timeline", tabindex: "0", "aria-label": title, title: say("steps.arrows", "Arrow keys lead from step to step") }, ...steps.map((step) => timelineStep(row, step, isMarked)));
  list.addEventListener("keydown", walkSteps);
  return make("section", { class: "steps-section" }, make("h3", {}, title, " ", make("span", { class: "soft" }, counts)), list);
}

function contextPart(row, context) {
  const nodes = row.quotes ? quotedNodes(row, context.text, 0, context.text.length, (quote) => quote.context === context.id) : visibleNodes(context.text);
  return make("details", { class: "context", "data-context": context.id, open: context.text.length <= FOLDED_FROM },
    make("summary", {}, make("b", {}, ...nameNodes(context.id)), " ", context.source === undefined ? null : make("span", { class: "soft" }, ...nameNodes(context.source), " "), make("span", { class: "soft" }, charactersText(context.text.length))),
    make("div", { class: "prose", lang: languageOf(context.text), dir: "auto" }, ...nodes), cutNote(context.cut));
}

/** What came before the response: steps of it, those of the other one of a pair, and contexts. */
function timelineParts(row) {
  const { steps, steps_b: other, contexts } = row.sample;
  return [
    timeline(row, steps, other === undefined ? say("steps.steps", "Steps") : say("steps.steps_a", "Steps of A")),
    timeline(row, other, say("steps.steps_b", "Steps of B"), false),
    contexts === undefined ? null : make("section", { class: "contexts-section" }, make("h3", {}, say("steps.contexts", "Contexts")), ...contexts.map((context) => contextPart(row, context))),
  ].filter(Boolean);
}
