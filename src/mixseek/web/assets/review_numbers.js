// What the labels make of the headline: the corrected number, how its interval has shrunk, and when it is enough.

const WIDTH = "mixseek-width";
const widthAsked = () => Number(recall(WIDTH) ?? "0.05");
let numbersAsked = 0;

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function onScale(share, scale) {
  return scale.is_binary ? `${(share * 100).toFixed(1)}%` : withMinus((scale.minimum + share * (scale.maximum - scale.minimum)).toFixed(2));
}

/** Both ends, the unit once. */
function limitsText({ low, high }, scale) {
  return `${onScale(low, scale).replace(/%$/, "")}–${onScale(high, scale)}`;
}

function widthText(share, scale) {
  return scale.is_binary ? `±${(share * 100).toFixed(1)}` : `±${(share * (scale.maximum - scale.minimum)).toFixed(2)}`;
}

/** Labels across, the interval up: a band that becomes narrow. */
function pathPlot({ path, scale, judges }) {
  const [width, height, left, bottom, right, top] = [320, 150, 44, 22, 8, 8];
  const lowest = Math.min(...path.map((point) => point.low), judges.mean ?? 1);
  const highest = Math.max(...path.map((point) => point.high), judges.mean ?? 0);
  const span = highest - lowest || 1;
  const most = path[path.length - 1].labels;
  const x = (labels) => left + ((width - left - right) * labels) / most;
  const y = (share) => top + (height - top - bottom) * (1 - (share - lowest) / span);
  const points = (list) => list.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
  const band = [...path.map((point) => [x(point.labels), y(point.high)]), ...path.toReversed().map((point) => [x(point.labels), y(point.low)])];
  const means = path.filter((point) => point.mean !== undefined);
  const label = (text, at, line, anchor) => svg("text", { x: at, y: line, "text-anchor": anchor, class: "path-text" }, text);
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "path-plot", role: "img", "aria-label": `${say("review.interval_after_each_label", "Interval after each label")}: ${path.map((point) => `${point.labels}: ${limitsText(point, scale)}`).join("; ")}` },
    svg("line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom, class: "plot-axis" }),
    path.length > 1 ? svg("polygon", { points: points(band), class: "path-band" }) : svg("line", { x1: x(most), x2: x(most), y1: y(path[0].low), y2: y(path[0].high), class: "path-mean" }),
    ...(judges.mean === null ? [] : [svg("line", { x1: left, x2: width - right, y1: y(judges.mean), y2: y(judges.mean), class: "path-judges" })]),
    svg("polyline", { points: points(means.map((point) => [x(point.labels), y(point.mean)])), class: "path-mean" }),
    label(onScale(highest, scale), left - 4, top + 8, "end"), label(onScale(lowest, scale), left - 4, height - bottom, "end"),
    label("0", left, height - 6, "middle"), label(`${most} ${say("review.labels", "labels")}`, width - right, height - 6, "end"));
}

function estimateLine(name, title, estimate, scale) {
  const known = estimate.mean !== null && estimate.mean !== undefined;
  const { low, high } = estimate.interval ?? estimate;
  const range = low === null || low === undefined || high === null ? "" : ` (${limitsText({ low, high }, scale)})`;
  return make("div", { "data-estimate": name }, make("dt", {}, title), make("dd", {}, known ? make("b", {}, onScale(estimate.mean, scale)) : "–", make("span", { class: "soft" }, range)));
}

function enoughText(told) {
  const { plan, scale } = told;
  const reached = told.half_width === null ? "" : `${say("review.now", "now")} ${widthText(told.half_width, scale)}`;
  const asked = `(${joinWords([reached, `${say("review.asked_for", "asked for")} ${widthText(plan.half_width, scale)}`])})`;
  if (told.is_enough) return `${say("review.enough_the_interval_is_as_narrow_as", "Enough: the interval is as narrow as asked for.")} ${asked}`;
  if (plan.needed === null) return `${say("review.not_even_labels_for_all_samples_make", "Not even labels for all samples make it so narrow.")} ${asked}`;
  if (plan.more === 0) return `${say("review.enough_labels_by_the_plan_but_the", "Enough labels by the plan, but the interval is still too wide.")} ${asked}`;
  return `${say("review.more_labels_needed", "More labels needed")}: ${countText(plan.more)} ${asked}`;
}

function widthChoice(scale, changed) {
  const options = [0.02, 0.03, 0.05, 0.08, 0.1, 0.15];
  const select = make("select", { "data-width": "" }, ...options.map((one) => make("option", { value: String(one), selected: one === widthAsked() }, widthText(one, scale))));
  select.addEventListener("change", () => { remember(WIDTH, select.value); changed(); });
  return make("label", { class: "choice" }, say("review.width_to_reach", "Width to reach"), " ", select);
}

function drawNumbers(holder, told) {
  const { agreement } = told;
  const parts = [
    make("h2", {}, say("review.corrected_headline", "Corrected headline")),
    make("dl", { class: "estimates" }, estimateLine("judges alone", say("word.judges_alone", "judges alone"), told.judges, told.scale), estimateLine("labels alone", say("word.labels_alone", "labels alone"), told.labels_only, told.scale), estimateLine("corrected", say("word.corrected", "corrected"), told.corrected, told.scale)),
    make("p", { class: "soft", "data-sentence": told.corrected.state }, told.sentence_in_language),
    make("p", { class: `enough${told.is_enough ? " is-enough" : ""}`, "data-enough": told.is_enough ? "yes" : "no", role: "status" }, enoughText(told)),
    told.path.length ? pathPlot(told) : make("p", { class: "soft" }, say("review.no_path_yet", "The interval is shown here when texts of a drawn sample have labels.")),
    widthChoice(told.scale, () => showNumbers(holder)),
    make("p", { class: "soft", "data-labelled": String(told.labelled) }, `${countText(told.labelled)} ${say("review.labelled_texts", "labelled texts")}`,
      told.disputed ? ` · ${countText(told.disputed)} ${say("review.undecided_raters_differ", "undecided: raters differ")}` : "",
      agreement.alpha === null ? "" : ` · ${say("review.krippendorff_alpha", "Krippendorff's alpha")} ${withMinus(agreement.alpha.toFixed(2))} (${countText(agreement.texts)})`,
      told.kappa === null ? "" : ` · ${say("review.judges_and_people_kappa", "judges and people: kappa")} ${withMinus(told.kappa.toFixed(2))}`),
  ];
  stayWhile(() => holder.replaceChildren(...parts));
}

/** Beside the work: nobody waits for it, and only the newest answer is drawn. */
async function showNumbers(holder) {
  const number = ++numbersAsked;
  try {
    const told = await ask(`/numbers${wanted({ width: String(widthAsked()) })}`);
    if (number === numbersAsked) drawNumbers(holder, told);
  } catch (error) {
    if (number === numbersAsked) holder.replaceChildren(make("p", { class: "soft" }, error.message));
  }
}
