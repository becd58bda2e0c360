// Markdown of a response as elements: text nodes inside a few harmless ones. Nothing is loaded, HTML stays text, and a
// link goes nowhere until it is clicked.

// Longer pieces are shown as they are: no pattern may take long on a text that somebody made for it.
const LONGEST_INLINE = 4000;
const DEEPEST = 6;
// A bracket keeps its backslash: it may begin a formula.
const MARKED = /(?<tick>`+)(?<code>[^`]+)\k<tick>(?!`)|(?<image>!)?\[(?<label>[^\]\n]*)\]\((?<link>[^()\s]*)\)|(?<bold>\*\*|__)(?=\S)(?<strong>.+?)(?<=\S)\k<bold>|(?<slant>[*_])(?=\S)(?<em>[^*_\n]+)(?<=\S)\k<slant>|~~(?=\S)(?<del>.+?)(?<=\S)~~|\\(?<plain>[!-'*-/:-@\\^-`{-~])|(?<address>https?:\/\/[^\s<>()\]]+)/;
const INLINE = new RegExp(`${FORMULA}|${MARKED.source}`, "gs");

function linkNode(address, label) {
  if (!/^https?:\/\//i.test(address)) return [...label, ...(address ? visibleNodes(` (${address})`) : [])];
  return [make("a", { href: address, rel: "noopener noreferrer nofollow", target: "_blank", title: address }, ...label)];
}

function inlineNodes(text, depth = 0) {
  if (text.length > LONGEST_INLINE || depth > DEEPEST) return visibleNodes(text);
  const nodes = [];
  let last = 0;
  for (const { index: at, 0: whole, groups } of text.matchAll(INLINE)) {
    nodes.push(...visibleNodes(text.slice(last, at)));
    last = at + whole.length;
    const inside = (tag, content) => nodes.push(make(tag, {}, ...inlineNodes(content, depth + 1)));
    // A name with_an_underscore is a name.
    const isInWord = groups.slant === "_" && /\w/.test(text[at - 1] ?? "") ;
    const formula = formulaIn(groups);
    if (formula) nodes.push(formulaNode(formula, whole));
    else if (groups.code !== undefined) nodes.push(make("code", {}, ...visibleNodes(groups.code)));
    else if (groups.image) nodes.push(...visibleNodes(`[${say("judgment.image", "image")}: ${groups.label}] (${groups.link})`));
    else if (groups.link !== undefined) nodes.push(...linkNode(groups.link, visibleNodes(groups.label || groups.link)));
    else if (groups.strong) inside("strong", groups.strong);
    else if (groups.em && !isInWord) inside("em", groups.em);
    else if (groups.del) inside("s", groups.del);
    else if (groups.plain) nodes.push(groups.plain);
    else if (groups.address) nodes.push(...linkNode(groups.address, visibleNodes(groups.address)));
    else nodes.push(...visibleNodes(whole));
  }
  nodes.push(...visibleNodes(text.slice(last)));
  return nodes;
}

const FENCE = /^ {0,3}(`{3,}|~{3,}) *([\w+#.-]*)/;
const HEAD = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?: +|$)/;
const TABLE_RULE = /^ *\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$/;

const isTable = (lines, at) => lines[at].includes("|") && (lines[at + 1] ?? "").includes("|") && TABLE_RULE.test(lines[at + 1]);
const isBlock = (lines, at) => FENCE.test(lines[at]) || HEAD.test(lines[at]) || RULE.test(lines[at]) || QUOTE.test(lines[at]) || ITEM.test(lines[at]) || isTable(lines, at) || formulaBlock(lines, at) !== null;

/** How many lines from `at` on belong together: each of them is asked. */
function countLines(lines, at, belongs) {
  let end = at;
  while (end < lines.length && belongs(end)) end += 1;
  return end - at;
}

function tableBlock(lines) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  const row = (line, tag) => make("tr", {}, ...cells(line).map((cell) => make(tag, tag === "th" ? { scope: "col" } : {}, ...inlineNodes(cell))));
  return make("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": say("judgment.table", "Table") },
    make("table", {}, make("thead", {}, row(lines[0], "th")), make("tbody", {}, ...lines.slice(2).map((line) => row(line, "td")))));
}

function listBlock(lines, depth) {
  const items = [];
  const { 1: indent, 2: first } = lines[0].match(ITEM);
  for (const line of lines) {
    const marker = line.match(ITEM);
    if (marker && marker[1].length <= indent.length + 1) items.push([line.slice(marker[0].length)]);
    else items[items.length - 1].push(line.replace(/^ {1,4}/, ""));
  }
  const start = Number.parseInt(first, 10);
  return make(Number.isNaN(start) ? "ul" : "ol", { start: start > 1 ? start : null }, ...items.map((item) => make("li", {}, ...blockNodes(item, depth + 1))));
}

/** One block that begins at a line, and how many lines it takes. */
function takeBlock(lines, at, depth) {
  const line = lines[at];
  const fence = line.match(FENCE);
  if (fence) {
    const length = countLines(lines, at + 1, (end) => !lines[end].trim().startsWith(fence[1]));
    return [make("pre", { tabindex: "0" }, make("code", {}, ...codeNodes(lines.slice(at + 1, at + 1 + length).join("\n"), fence[2]))), length + 2];
  }
  const formula = formulaBlock(lines, at);
  if (formula) return formula;
  const head = line.match(HEAD);
  if (head) return [make("p", { class: `head head-${head[1].length}`, role: "heading", "aria-level": String(Math.min(6, head[1].length + 3)) }, ...inlineNodes(head[2])), 1];
  if (RULE.test(line)) return [make("hr"), 1];
  if (QUOTE.test(line)) {
    const length = countLines(lines, at, (end) => QUOTE.test(lines[end]));
    return [make("blockquote", {}, ...blockNodes(lines.slice(at, at + length).map((one) => one.replace(QUOTE, "")), depth + 1)), length];
  }
  if (ITEM.test(line)) {
    const belongs = (end) => end === at || ITEM.test(lines[end]) || /^ +\S/.test(lines[end])
      || (!lines[end].trim() && /^(?: {2,}\S| *(?:[-*+]|\d{1,9}[.)]) )/.test(lines[end + 1] ?? ""));
    const length = countLines(lines, at, belongs);
    return [listBlock(lines.slice(at, at + length), depth), length];
  }
  if (isTable(lines, at)) {
    const length = countLines(lines, at, (end) => lines[end].includes("|"));
    return [tableBlock(lines.slice(at, at + length)), length];
  }
  const length = countLines(lines, at, (end) => lines[end].trim() && (end === at || isInsideFormula(lines, at, end) || !isBlock(lines, end)));
  return [make("p", {}, ...inlineNodes(lines.slice(at, at + length).join("\n"))), length];
}

function blockNodes(lines, depth) {
  if (depth > DEEPEST) return [make("p", {}, ...visibleNodes(lines.join("\n")))];
  const nodes = [];
  for (let at = 0; at < lines.length;) {
    if (!lines[at].trim()) { at += 1; continue; }
    const [node, length] = takeBlock(lines, at, depth);
    nodes.push(node);
    at += length;
  }
  return nodes;
}

// Once chosen, it holds for the judgments that are opened after.
let isMarkdown = false;

/** A text of a judge or a dataset: as it was written, or, with the responses of the page, as it was meant. */
function formedBlock(className, text) {
  const block = make("div", { class: className, "data-formed": true, lang: languageOf(text), dir: "auto" });
  // One line is no list and no heading, whatever it begins with.
  const meant = () => (text.includes("\n") ? markdownNodes(text) : inlineNodes(text));
  block.redraw = () => {
    block.classList.toggle("markdown", isMarkdown);
    block.replaceChildren(...(isMarkdown ? meant() : visibleNodes(text)));
  };
  block.redraw();
  return block;
}

function markdownNodes(text) {
  return foldedParts(text.replace(/\r\n?/g, "\n").replaceAll("\t", "    ")).map(({ title, part }) => {
    const nodes = blockNodes(part.split("\n"), 0);
    return title ? make("details", { class: "folded-part" }, make("summary", {}, title, " ", make("span", { class: "soft" }, charactersText(part.length))), ...nodes) : nodes;
  }).flat();
}
