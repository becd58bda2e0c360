// Marks, gates and quotes of a judgment under a protocol with dimensions; quotes are highlighted where they stand.

const NO_REASON = say("judgment.no_reason_was_given", "no reason was given");
const NO_DIMENSION = say("judgment.no_dimension", "no dimension");

function dimensionNumber(name) {
  return data.dimensions.indexOf(name) + 1;
}

/** Colours repeat after eight dimensions; the number beside them does not. */
function dimensionClass(name) {
  const number = dimensionNumber(name);
  return number ? `dimension-${((number - 1) % 8) + 1}` : "dimension-0";
}

function plainNumber(value) {
  return withMinus(Math.round(value * 100) / 100);
}

function totalText(row) {
  return row.total === undefined ? "–" : `${plainNumber(row.total)}${row.maximum === undefined ? "" : ` / ${plainNumber(row.maximum)}`}`;
}

function gateList(row) {
  if (!row.gates) return null;
  return make("ul", { class: "gates" }, ...row.gates.map(([name, reason]) =>
    make("li", {}, make("b", {}, ...visibleNodes(name)), " ", ...visibleNodes(reason ?? NO_REASON))));
}

function markLine([name, score, maximum, reason]) {
  const fill = make("i");
  if (maximum) fill.style.width = `${Math.max(0, Math.min(100, (score / maximum) * 100))}%`;
  return make("div", { class: `mark-line ${dimensionClass(name)}` },
    make("span", {}, make("i", { class: "dimension-dot" }), ...nameNodes(name)),
    make("span", {}, make("b", {}, plainNumber(score)), maximum ? make("span", { class: "soft" }, ` ${say("judgment.of_maximum", "of {maximum}", { maximum: plainNumber(maximum) })}`) : null),
    make("span", { class: "meter" }, fill),
    reason ? formedBlock("why", reason) : null);
}

function scoreBox(row) {
  return make("div", { class: `score-box tone-${row.tone}` },
    make("p", { class: "score-total" }, row.total === undefined ? "–" : plainNumber(row.total),
      row.maximum === undefined ? null : make("span", { class: "soft" }, ` ${say("judgment.of_maximum", "of {maximum}", { maximum: plainNumber(row.maximum) })}`)),
    ...row.marks.map(markLine));
}

const STAGES = {
  exact: say("evidence.exact", "exact"), folded: say("evidence.folded", "folded"), segments: say("evidence.segments", "segments"),
  fuzzy: say("evidence.fuzzy", "fuzzy"),
};
const PROBLEMS = {
  not_found: say("judgment.not_in_the_response", "not in the response"), from_question: say("judgment.from_the_question", "from the question"), from_rubric: say("judgment.from_the_rubric", "from the rubric"),
  from_another_step: say("judgment.from_another_step", "in another step than the one it names"),
  from_another_context: say("judgment.from_another_context", "in another document than the one it names"),
  too_short: say("judgment.too_short_to_prove_anything", "too short to prove anything"),
};

/** Where the quote is from, unless it is the response. */
const isOfResponse = (quote) => quote.step === undefined && quote.context === undefined;

function jumpText(quote) {
  if (quote.step !== undefined) return say("steps.show_in_step", "show in step {n}", { n: countText(quote.step) });
  if (quote.context !== undefined) return say("steps.show_in_context", "show in context {name}", { name: quote.context });
  return say("judgment.show_in_response", "show in response");
}

function quoteItem(row, quote, place) {
  const jump = quote.spans
    ? make("button", { type: "button", class: "text-button", onclick: () => lightQuote(row, place) }, ...nameNodes(jumpText(quote)))
    : make("span", { class: quote.problem ? "problem" : "quiet" }, quote.problem ? PROBLEMS[quote.problem] ?? quote.problem : quote.stage ? say("judgment.outside_of_this_file", "outside of this file") : say("judgment.not_looked_for", "not looked for"));
  return make("li", { class: dimensionClass(quote.dimension) },
    make("b", { class: "number-tag", title: quote.dimension ?? "" }, String(dimensionNumber(quote.dimension) || "–")),
    make("span", {}, make("q", { lang: languageOf(quote.text), dir: "auto" }, ...visibleNodes(quote.text)),
      quote.stage && quote.stage !== "exact" ? make("span", { class: "soft" }, ` ${say("judgment.found_by", "found by {stage} match", { stage: STAGES[quote.stage] ?? quote.stage })}`) : null),
    jump, quote.reason ? formedBlock("why", quote.reason) : null);
}

const CLAIM_VERDICTS = {
  supported: say("claims.supported", "supported"), contradicted: say("claims.contradicted", "contradicted"), not_found: say("claims.not_found", "not found"),
};
const CLAIM_TONES = { supported: "good", contradicted: "bad", not_found: "undecided" };

/** A claim with its words, and those of the document that decide it; each leads to where it stands. */
function claimItem(row, claim, place) {
  const jump = (number) => {
    const quote = row.quotes[number];
    return quote.spans ? make("button", { type: "button", class: "text-button", onclick: () => lightQuote(row, number) }, ...nameNodes(jumpText(quote))) : null;
  };
  const proof = claim.quote === undefined ? null : make("p", { class: "claim-proof" },
    make("q", { lang: languageOf(claim.quote), dir: "auto" }, ...visibleNodes(claim.quote)), " ",
    claim.problem === undefined ? jump(2 * place + 1) : make("span", { class: "problem" }, PROBLEMS[claim.problem] ?? claim.problem));
  return make("li", { class: `claim tone-${CLAIM_TONES[claim.verdict] ?? "mixed"}` },
    make("b", { class: "badge" }, CLAIM_VERDICTS[claim.verdict] ?? claim.verdict), " ",
    make("q", { lang: languageOf(claim.text), dir: "auto" }, ...visibleNodes(claim.text)), " ", jump(2 * place), proof);
}

function claimSection(row) {
  if (!row.claims) return null;
  const supported = row.claims.filter((claim) => claim.verdict === "supported").length;
  const words = say("claims.supported_of", "{n} of {total} supported", { n: countText(supported), total: countText(row.claims.length) });
  return make("section", { class: "claims" }, make("h3", {}, say("claims.claims", "Claims"), " ", make("span", { class: "soft" }, words)),
    make("ul", {}, ...row.claims.map((claim, place) => claimItem(row, claim, place))));
}

function quoteSection(row) {
  if (row.claims) return claimSection(row);
  if (!row.quotes) return null;
  const missing = row.quotes.filter((quote) => quote.problem).length;
  const isLookedFor = row.quotes.some((quote) => quote.problem || quote.stage || quote.spans);
  const counts = { n: countText(row.quotes.length), missing: countText(missing) };
  const words = missing ? say("judgment.quotes_without_support", "{n} quotes, {missing} without support", counts)
    : isLookedFor && !row.quotes.every(isOfResponse) ? say("steps.quotes_all_there", "{n} quotes, each where it is said to stand", counts)
    : isLookedFor ? say("judgment.quotes_all_there", "{n} quotes, all in the response", counts)
      : say("judgment.quotes_not_looked_for", "{n} quotes, not looked for", counts);
  return make("section", {}, make("h3", {}, say("word.evidence", "Evidence"), " ", make("span", { class: "soft" }, words)),
  make("ul", { class: "quotes" }, ...row.quotes.map((quote, place) => quoteItem(row, quote, place))));
}

function legend(row) {
  if (row.claims) return null;
  const named = [...new Set((row.quotes ?? []).filter((quote) => quote.spans).map((quote) => quote.dimension))];
  if (!named.length) return null;
  return make("p", { class: "legend" }, ...named.map((name) =>
    make("span", { class: dimensionClass(name) }, make("span", { class: "swatch-mark" }, make("b", { class: "number-tag" }, String(dimensionNumber(name) || "–"))), " ", ...visibleNodes(name ?? NO_DIMENSION))));
}

/** Pieces of a text between the ends of the quotes that are from it, each with the quotes that cover it. */
function quotePieces(row, start, end, isFromHere) {
  const places = (row.quotes ?? []).flatMap((quote, index) => (isFromHere(quote) ? quote.spans ?? [] : []).map(([from, to]) => ({ index, from: Math.max(start, from), to: Math.min(end, to) })))
    .filter(({ from, to }) => from < to);
  const cuts = [...new Set([start, end, ...places.flatMap(({ from, to }) => [from, to])])].sort((one, other) => one - other);
  return cuts.slice(0, -1).map((from, number) => {
    const to = cuts[number + 1];
    return { from, to, covering: [...new Set(places.filter((place) => place.from <= from && to <= place.to).map(({ index }) => index))] };
  });
}

function noteOf(row, covering) {
  if (row.claims) return [...new Set(covering.map((index) => CLAIM_VERDICTS[row.quotes[index].dimension] ?? row.quotes[index].dimension))].join("\n");
  return covering.map((index) => `${row.quotes[index].dimension ?? NO_DIMENSION}: ${row.quotes[index].reason || NO_REASON}`).join("\n");
}

function quoteMark(row, text, covering, isLast) {
  const names = [...new Set(covering.map((index) => row.quotes[index].dimension))];
  const numbers = names.map((name) => dimensionNumber(name) || "–").join("·");
  const note = noteOf(row, covering);
  const colour = row.claims ? `claim-mark tone-${CLAIM_TONES[names[0]] ?? "mixed"}` : dimensionClass(names[0]);
  const mark = make("mark", { class: `quote ${colour}`, title: note, tabindex: "0", "data-quotes": covering.join(" "), onclick: () => tellNote(row, note) },
    ...visibleNodes(text), isLast && !row.claims ? make("sup", {}, numbers) : null);
  mark.addEventListener("keydown", (event) => { if (event.key === "Enter") tellNote(row, note); });
  if (names.length > 1 && !row.claims) {
    // Several dimensions rest on the same words: one band for each.
    const bands = names.map((name, place) => {
      const number = ((dimensionNumber(name) - 1 + 8) % 8) + 1;
      return `var(--dimension-${number}-soft) ${(place / names.length) * 100}% ${((place + 1) / names.length) * 100}%`;
    });
    mark.style.background = `linear-gradient(to bottom, ${bands.join(", ")})`;
  }
  return mark;
}

function quotedNodes(row, whole, start, end, isFromHere = isOfResponse) {
  const pieces = quotePieces(row, start, end, isFromHere);
  return pieces.flatMap(({ from, to, covering }, number) => {
    const text = whole.slice(from, to);
    if (!covering.length) return visibleNodes(text);
    const next = pieces[number + 1];
    const isLast = !next || covering.some((index) => !next.covering.includes(index));
    return [quoteMark(row, text, covering, isLast)];
  });
}

function tellNote(row, note) {
  const section = row.holder.querySelector(".response");
  let place = section.querySelector(".quote-note");
  if (!place) section.append(place = make("p", { class: "quote-note", role: "status" }));
  place.replaceChildren(...visibleNodes(note));
}

function lightQuote(row, place, isSecond = false) {
  if (isMarkdown) row.holder.querySelector(".as-markdown").click();
  const marks = [...row.holder.querySelectorAll("mark.quote")];
  for (const mark of marks) mark.classList.toggle("lit", mark.dataset.quotes.split(" ").includes(String(place)));
  const first = marks.find((mark) => mark.classList.contains("lit"));
  if (!first) {
    // In the part of a long response that is folded away.
    const more = row.holder.querySelector(".more");
    if (more && !isSecond) { more.click(); lightQuote(row, place, true); }
    return;
  }
  // Arguments, results and contexts are folded.
  for (let part = first.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  first.scrollIntoView({ block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  tellNote(row, noteOf(row, [place]));
}
