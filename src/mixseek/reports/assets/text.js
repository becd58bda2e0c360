// Text from judged responses reaches the page through these functions only: as text nodes, never as markup.

// A page in another language brings its words, by their ids; a report brings none. What stands in braces is filled in.
const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}");
const say = (id, english, parts = {}) => (words[id] ?? english).replace(/\{(\w+)\}/g, (place, name) => parts[name] ?? place);

/** Parts of a line that have something in them, with the comma of the language. */
const joinWords = (words) => words.filter(Boolean).join(say("joint.comma", ", "));
const endSentence = (words) => say("joint.sentence", "{words}.", { words });

/** An element with attributes and children; strings become text nodes. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "onclick") element.addEventListener("click", value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// The same list as visible.py: what cannot be seen, or reorders its neighbours, is shown by its code point.
const INVISIBLE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}]+/gu;

function describeInvisible(run) {
  const codes = Array.from(run, (character) => character.codePointAt(0));
  if (codes.every((code) => code >= 0xe0020 && code <= 0xe007e)) {
    const hidden = codes.slice(0, 40).map((code) => String.fromCharCode(code - 0xe0000)).join("");
    return `hidden: ${hidden}${codes.length > 40 ? "…" : ""}`;
  }
  const shown = codes.slice(0, 3).map((code) => "U+" + code.toString(16).toUpperCase().padStart(4, "0")).join(" ");
  return codes.length > 3 ? `${shown} +${(codes.length - 3).toLocaleString("en")}` : shown;
}

/** Text nodes, with a small badge in place of each run of invisible characters. */
function visibleNodes(text) {
  const nodes = [];
  let last = 0;
  text = text.replace(/\r\n/g, "\n");
  for (const match of text.matchAll(INVISIBLE)) {
    if (match.index > last) nodes.push(text.slice(last, match.index));
    nodes.push(make("span", { class: "invisible", title: say("judgment.an_unseen_character", "A character that cannot be seen") }, describeInvisible(match[0])));
    last = match.index + match[0].length;
  }
  if (last < text.length) nodes.push(text.slice(last));
  return nodes;
}

// As in visible.py: a word that is too long for a narrow column, and where its parts end; a date or a number is one.
const LONG_WORD = /[^\s<>&]{12,}/g;
const END_OF_PART = /(?<=[/\\_.:=@-])(?=[^/\\_.:=@-])(?!(?<=\d[.:-])\d)/;

/** The same of a name: where it is long, a line may end where one of its parts does, and not in a word. */
function nameNodes(text) {
  const nodes = [];
  for (const node of visibleNodes(text)) {
    if (typeof node !== "string") { nodes.push(node); continue; }
    const parts = node.replace(LONG_WORD, (word) => word.split(END_OF_PART).join("\0")).split("\0");
    nodes.push(...parts.flatMap((part, place) => (place ? [make("wbr"), part] : [part])));
  }
  return nodes;
}

/** The offset, or one less where it would split a character in two. */
function wholeCharacter(text, offset) {
  const code = text.charCodeAt(offset);
  return code >= 0xdc00 && code <= 0xdfff && offset > 0 ? offset - 1 : offset;
}

/** One line for lists: invisible characters as codes, line breaks as spaces. */
function visibleLine(text, limit) {
  return text.slice(0, wholeCharacter(text, limit)).replace(INVISIBLE, (run) => (/^[\r\n]+$/.test(run) ? " " : `⟨${describeInvisible(run)}⟩`)).replace(/\s+/g, " ");
}

/** A guess that only chooses between Japanese, Korean and Chinese shapes of the same characters. */
function languageOf(text) {
  if (/[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]/.test(text)) return "ja";
  if (/[\u1100-\u11ff\uac00-\ud7af]/.test(text)) return "ko";
  if (/[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3134f}]/u.test(text)) return "zh";
  return null;
}

/** For searching: width, case and compatibility forms do not matter (ＡＢＣ finds abc, ｶﾅ finds カナ). */
function fold(text) {
  return text.normalize("NFKC").toLowerCase();
}

function countText(count) {
  return count.toLocaleString("en");
}

function charactersText(count) {
  const unit = count === 1 ? say("judgment.character", "character") : say("judgment.characters", "characters");
  return `${countText(count)} ${unit}`;
}

/** Digits as people read them: a hyphen is overlooked, a minus is not. */
const withMinus = (digits) => String(digits).replace("-", "−");

function textBlock(className, text) {
  return make("div", { class: className, lang: languageOf(text), dir: "auto" }, ...visibleNodes(text));
}
