// Code of a response in colours: Prism takes it apart into words, and every word becomes a text node.

// A longer piece is shown in one colour: no pattern may take long on a text that somebody made for it.
const LONGEST_CODE = 20000;
const CODE_NAMES = { js: "javascript", ts: "typescript", py: "python", python3: "python", sh: "bash", shell: "bash", "c++": "cpp", rs: "rust", golang: "go", jsonl: "json" };
// What the words of a language are, in the colours that the page has.
const CODE_TONES = {
  comment: "comment", string: "string", "template-string": "string", char: "string", regex: "string", "string-interpolation": "string",
  number: "number", boolean: "number", constant: "number", keyword: "keyword", builtin: "keyword", "class-name": "name", function: "name",
  property: "name", decorator: "name", annotation: "name",
};

function codeNodes(text, named) {
  const name = CODE_NAMES[named.toLowerCase()] ?? named.toLowerCase();
  const grammar = typeof Prism !== "undefined" && Object.hasOwn(Prism.languages, name) ? Prism.languages[name] : null;
  // Prism keeps functions among its languages.
  if (!grammar || typeof grammar === "function" || text.length > LONGEST_CODE) return visibleNodes(text);
  return wordNodes(Prism.tokenize(text, grammar));
}

function wordNodes(words) {
  return [words].flat().flatMap((word) => {
    if (typeof word === "string") return visibleNodes(word);
    const tone = CODE_TONES[word.type];
    return tone ? [make("span", { class: `code-${tone}` }, ...wordNodes(word.content))] : wordNodes(word.content);
  });
}
