// Where judgments come from in a report: all of them are in the file, in blocks that are unpacked as they are needed.

const BLOCKS_KEPT = 60;
const packed = document.querySelectorAll("script.block");
const opened = new Map();
let index = null;
let asking = 0;

async function unpack(element) {
  const letters = atob(element.textContent);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
  return new Response(new Response(bytes).body.pipeThrough(new DecompressionStream("gzip"))).json();
}

async function openIndex() {
  index ??= unpack(byId("index"));
  const read = await index;
  data.repeats = Math.max(data.repeats, ...(read.columns.repeat?.values ?? []).map(([repeat]) => Number(repeat)));
  hasRepeats = data.repeats > 1;
  return read;
}

/** Judgments of one block; the ones that were used last stay unpacked. */
async function openBlock(number) {
  const found = opened.get(number) ?? unpack(packed[number]).then(linkRows);
  opened.delete(number);
  opened.set(number, found);
  if (opened.size > BLOCKS_KEPT) opened.delete(opened.keys().next().value);
  return found;
}

/** In which block a place is: `firsts` are the places that blocks begin with. */
function blockOf(firsts, place) {
  let [low, high] = [0, firsts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (firsts[middle] <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function rowsAt({ firsts }, places) {
  const found = [];
  for (const place of places) {
    const number = blockOf(firsts, place);
    const row = (await openBlock(number))[place - firsts[number]];
    row.position = place;
    found.push(row);
  }
  return found;
}

/** All places for which a column holds the value that is asked for. */
function narrowed({ columns }, places, name, wanted) {
  const { values, codes } = columns[name] ?? { values: [[]], codes: [] };
  const isWanted = values.map((held) => held.includes(wanted));
  return places.filter((place) => isWanted[codes[place] ?? 0]);
}

/** What a reader must see first comes first; sorted, what has no score comes last. */
function ordered({ columns, critical }, places) {
  if (!state.sort) {
    const first = new Set(critical);
    return [...places.filter((place) => first.has(place)), ...places.filter((place) => !first.has(place))];
  }
  const { values, codes } = columns.score;
  const direction = state.sort === "lowest" ? 1 : -1;
  const scoreOf = (place) => values[codes[place]][0] ?? direction * Infinity;
  return [...places].sort((one, other) => direction * (scoreOf(one) - scoreOf(other)) || one - other);
}

/** All words in the texts of the sample, or all of them in what the judge wrote of it; as in the viewer. */
function holdsWords(row, words) {
  const { sample } = row;
  const shown = [sample.id, sample.question, sample.response, sample.truth, ...(sample.alternatives ?? [])];
  const written = [
    row.comment, row.notes, row.answer, row.reason, ...(row.flags ?? []).map(([, detail]) => detail),
    ...(row.marks ?? []).map((mark) => mark[3]), ...(row.gates ?? []).map(([, reason]) => reason),
    ...(row.quotes ?? []).flatMap((quote) => [quote.text, quote.reason]),
  ];
  return [shown, written].some((texts) => {
    const text = fold(texts.filter(Boolean).join("\n"));
    return words.every((word) => text.includes(word));
  });
}

/** Block after block, with a breath between them: the page goes on answering. */
async function searched(read, places, words, isWanted, tellProgress) {
  const found = [];
  let rested = performance.now();
  for (const [done, place] of places.entries()) {
    const [row] = await rowsAt(read, [place]);
    if (holdsWords(row, words)) found.push(place);
    if (performance.now() - rested < 40) continue;
    tellProgress(found, done + 1);
    await new Promise((rest) => setTimeout(rest));
    if (!isWanted()) return null;
    rested = performance.now();
  }
  return found;
}

/** Where a judgment of the address stands in the list. */
function rankOf({ ids, columns }, places) {
  const is = (name, place, wanted) => !wanted || columns[name].values[columns[name].codes[place]].includes(wanted);
  return places.findIndex((place) => ids[place] === state.id && is("judge", place, state.by) && is("repeat", place, state.repeat));
}

async function findLocally(tell) {
  const number = ++asking;
  const isWanted = () => number === asking;
  const read = await openIndex();
  let places = [...read.ids.keys()];
  for (const name of NARROWING) if (state[name] && name !== "q") places = narrowed(read, places, name, state[name]);
  const words = fold(state.q).split(/\s+/).filter(Boolean);
  if (words.length) {
    const all = places.length;
    const tellProgress = (found, done) => tell({ text: searchText(found.length, done, all) });
    places = await searched(read, places, words, isWanted, tellProgress);
    if (!places) return;
  }
  places = ordered(read, places);
  const wanted = state.id && !state.at ? Math.max(0, rankOf(read, places)) : Number(state.at) || 0;
  const offset = wanted - (wanted % source.pageRows);
  const found = await rowsAt(read, places.slice(offset, offset + source.pageRows));
  if (isWanted()) tell({ rows: found, offset, matches: places.length, total: read.ids.length });
}

async function chooseLocally(tell) {
  const { columns } = await openIndex();
  const letters = [...packed, byId("index")].reduce((sum, element) => sum + element.firstChild.length, 0);
  if (letters > 1e6) byId("size").textContent = ` ${say("judgment.they_take", "They take")} ${(letters / 1e6).toFixed(1)} MB ${say("judgment.of_this_file_and_are_unpacked_as", "of this file, and are unpacked as they are looked at.")}`;
  tell(Object.fromEntries(Object.entries(columns).map(([name, { choices }]) => [name, choices])));
}

function showFailure(error) {
  byId("matches").textContent = `${say("judgment.this_browser_cannot_open_the_list", "This browser cannot open the list:")} ${error.message}`;
}

// The seam between the list and where its rows come from; the viewer has another one, which asks its server.
const source = {
  pageRows: 200,
  find: (tell) => { findLocally(tell).catch(showFailure); },
  choices: (tell) => { chooseLocally(tell).catch(showFailure); },
  complete() {}, // rows are whole
  sampleAddress: () => null, // a sample has no page of its own
};
