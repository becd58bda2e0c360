// Word by word: what only one of two texts says is marked in both, where they stand.

// Longer texts are compared by what stands between their common beginning and end; beyond this not at all.
const MOST_CELLS = 4_000_000;
// Of two texts that have less in common than that, everything would be struck out, which helps nobody to read them.
const MOST_CHANGED = 0.7;

/** Words with the space after them; of scripts without spaces, characters. */
const wordsOf = (text) => text.match(/[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\s\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+|\s+/gu) ?? [];

/** For each word of both whether the other has it in the same order; null where that would take too long. */
const commonWords = (a, b) => {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const [n, m] = [a.length - start - end, b.length - start - end];
  if (n * m > MOST_CELLS) return null;
  const lengths = new Uint16Array((n + 1) * (m + 1));
  for (let i = n - 1; i >= 0; i -= 1) for (let j = m - 1; j >= 0; j -= 1) {
    lengths[i * (m + 1) + j] = a[start + i] === b[start + j]
      ? lengths[(i + 1) * (m + 1) + j + 1] + 1
      : Math.max(lengths[(i + 1) * (m + 1) + j], lengths[i * (m + 1) + j + 1]);
  }
  const kept = [new Set(), new Set()];
  let [i, j] = [0, 0];
  while (i < n && j < m) {
    if (a[start + i] === b[start + j]) { kept[0].add(start + i); kept[1].add(start + j); i += 1; j += 1; }
    else if (lengths[(i + 1) * (m + 1) + j] >= lengths[i * (m + 1) + j + 1]) i += 1;
    else j += 1;
  }
  const isCommon = (words, own) => words.map((word, place) => place < start || place >= words.length - end || own.has(place));
  return [isCommon(a, kept[0]), isCommon(b, kept[1])];
};

/** The text nodes of an output, and where each begins. */
const textNodes = (element) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let offset = 0;
  while (walker.nextNode()) { nodes.push([walker.currentNode, offset]); offset += walker.currentNode.length; }
  return nodes;
};

const markWords = (element, words, isCommon, name) => {
  const spans = [];
  let offset = 0;
  words.forEach((word, place) => {
    if (!isCommon[place] && word.trim()) spans.push([offset, offset + word.length]);
    offset += word.length;
  });
  for (const [node, begin] of textNodes(element).reverse()) {
    for (const [from, to] of spans.toReversed()) {
      const [first, last] = [Math.max(from, begin) - begin, Math.min(to, begin + node.length) - begin];
      if (first >= last || last > node.length) continue;
      const rest = node.splitText(first);
      rest.splitText(last - first);
      const mark = document.createElement(name);
      rest.replaceWith(mark);
      mark.append(rest);
    }
  }
};

/** Of the words of both texts those that only one of them says; spaces are no words. */
const changedShare = (texts, common) => {
  const kept = texts.flatMap((words, side) => words.flatMap((word, place) => (word.trim() ? [common[side][place]] : [])));
  return kept.filter((isCommon) => !isCommon).length / Math.max(1, kept.length);
};

/** Marks what differs and tells which share of the words does; null where that would take too long. */
function markDifference(a, b) {
  const [before, after] = [wordsOf(a.textContent), wordsOf(b.textContent)];
  const common = commonWords(before, after);
  if (!common) return null;
  const share = changedShare([before, after], common);
  if (share > MOST_CHANGED) return share;
  markWords(a, before, common[0], "del");
  markWords(b, after, common[1], "ins");
  return share;
}
