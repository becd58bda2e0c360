// What a judgment is held against: what people say of its sample, and the judges that say something else.

/** Beside a row of the list: what people say, and whether the judge says it, too; else whether judges differ. */
function peopleMark(row) {
  const { people, differ } = row.sample;
  if (people === undefined) {
    return differ === "yes" ? make("i", { class: "row-people", title: say("judgment.judges_differ", "Judges differ") }, "≠") : null;
  }
  const sign = { yes: "≠ ", no: "= " }[row.wrong] ?? "";
  const title = `${say("judgment.people_say", "People say")}: ${visibleLine(verdictText(people), 40)}`;
  return make("i", { class: row.wrong === "yes" ? "row-people is-wrong" : "row-people", title }, `${sign}${visibleLine(verdictText(people), 20)}`);
}

function peopleVerdict(row) {
  const { people, raters = [] } = row.sample;
  if (people === undefined) return null;
  // A verdict of people in the colour of a wrong one would be read as that.
  const tone = row.wrong === "no" ? "good" : "mixed";
  const held = { yes: say("judgment.the_judge_is_wrong", "The judge says something else."), no: say("judgment.the_judge_says_so_too", "The judge says so, too.") }[row.wrong] ?? null;
  return make("div", { "data-people": people },
    make("p", {}, make("a", { class: `badge tone-${tone}`, href: addressOf({ id: "", by: "", repeat: "", people }) }, ...visibleNodes(verdictText(people))), held === null ? null : ` ${held}`),
    make("ul", { class: "raters-of" }, ...raters.map(([rater, given]) => make("li", {}, make("b", {}, ...nameNodes(rater === "dataset" ? say("labels.dataset", "dataset") : rater)), " ", ...visibleNodes(verdictText(given))))));
}

/** Names lead to the list of what both judged differently. */
function otherOpinions(row) {
  if (!row.against) return null;
  const links = row.against.map((judge) => make("a", { href: addressOf({ id: "", by: "", repeat: "", judge: row.judge, against: judge }) }, ...nameNodes(labelOf(judge))));
  return make("p", { class: "soft" }, `${say("judgment.differs_from", "Differs from")}: `, ...links.flatMap((link, place) => (place ? [say("joint.comma", ", "), link] : [link])));
}

/** `control` is where a label can be given. */
function peopleSection(row, control = null) {
  const parts = [peopleVerdict(row), otherOpinions(row), control].filter(Boolean);
  if (!parts.length) return null;
  return make("section", { class: "people" }, make("h3", {}, say("judgment.what_people_say", "What people say")), ...parts);
}
