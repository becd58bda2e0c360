// Formulas of a response as MathML, which Temml makes of them. What it refuses, what is long or holds a character that
// cannot be seen, and everything where Temml is not on the page, is shown as it was written.

const LONGEST_FORMULA = 2000;
// In em: a formula draws in its own place, and pushes nothing else away.
const FORMULA_SIZE = [40, 8];
// \( … \), \[ … \], $$ … $$, an environment, a box by itself; and $ … $ around one word, or around what prose does not
// hold: $5 is a price.
const FORMULA = String.raw`\\\((?<round>(?:(?!\\\)).)+)\\\)|\\\[(?<square>(?:(?!\\\]).)+)\\\]|\$\$(?<double>[^$]+)\$\$|\$(?<single>(?=[^$\s]+\$|[^$\n]*[\\^_=+<>{}])(?! )[^$\n]+?(?<! ))\$(?!\d)|(?<environment>\\begin\{(?<kind>[a-zA-Z]+\*?)\}.*?\\end\{\k<kind>\})|(?<box>\\boxed\{(?:[^{}]|\{[^{}]*\})*\})`;

/** The source of a formula that a pattern has matched, and whether it stands on lines of its own; null where none has. */
function formulaIn({ round, square, double, single, environment, box }) {
  if (square ?? double ?? environment) return [square ?? double ?? environment, true];
  return round ?? single ?? box ? [round ?? single ?? box, false] : null;
}

function formulaNode([source, isDisplayed], written) {
  const tag = isDisplayed ? "div" : "span";
  const asWritten = make(tag, { class: "formula-source" }, ...visibleNodes(written));
  if (typeof temml === "undefined" || source.length > LONGEST_FORMULA || source.search(INVISIBLE) >= 0) return asWritten;
  const holder = make(tag, { class: isDisplayed ? "formula displayed" : "formula", dir: "ltr", title: written });
  try {
    temml.render(source, holder, { displayMode: isDisplayed, throwOnError: true, trust: false, maxExpand: 200, maxSize: FORMULA_SIZE });
  } catch {
    return asWritten;
  }
  for (const element of holder.querySelectorAll("*")) tame(element);
  return holder;
}

/** A judged text gives no element a name, leads nowhere, and hides nothing by its colour. */
function tame(element) {
  for (const name of ["id", "href"]) element.removeAttribute(name);
  for (const name of ["color", "backgroundColor", "position", "opacity"]) element.style[name] = "";
}

const FORMULA_START = /^ *(?:(\\\[)|(\$\$)|\\begin\{([a-zA-Z]+\*?)\})/;
const FORMULA_LINES = new RegExp(`^\\s*(?:${FORMULA})[\\s.,;]*$`, "s");
const MOST_FORMULA_LINES = 60;

/** A formula on lines of its own, and how many they are; null where none begins or none ends. */
function formulaBlock(lines, at) {
  const start = lines[at].match(FORMULA_START);
  if (!start) return null;
  const end = start[1] ? "\\]" : start[2] ? "$$" : `\\end{${start[3]}}`;
  for (let last = at; last < Math.min(lines.length, at + MOST_FORMULA_LINES); last += 1) {
    const rest = last === at ? lines[last].slice(start[0].length) : lines[last];
    if (!rest.includes(end)) continue;
    const written = lines.slice(at, last + 1).join("\n");
    const groups = written.match(FORMULA_LINES)?.groups;
    return groups ? [formulaNode(formulaIn(groups), written), last + 1 - at] : null;
  }
  return null;
}

/** Whether a line stands inside a formula that an earlier line of its paragraph has opened. */
function isInsideFormula(lines, at, line) {
  const before = lines.slice(Math.max(at, line - MOST_FORMULA_LINES), line).join("\n");
  return before.lastIndexOf("\\[") > before.lastIndexOf("\\]") || before.split("$$").length % 2 === 0;
}
