// Where somebody is stays, though what is shown is made anew: the focus, the caret, and how far things are scrolled.

const PLACE = "mixseek-place";
const LONGEST_WAY_BACK = 15_000;
// Where somebody was before the page was loaded anew, as long as that is not all there again.
let wantedPlace = null;

/** What finds an element again where another one stands in its place: its own marks first, then the way to it. */
function pathTo(element) {
  if (!element || element === document.body || element === document.documentElement) return null;
  if (element.id) return `#${CSS.escape(element.id)}`;
  const row = element.closest("tr[id]");
  for (const name of ["data-upkeep", "data-outcome", "name", "href"]) {
    if (!element.hasAttribute(name)) continue;
    const path = `${row ? `#${CSS.escape(row.id)} ` : ""}${element.localName}[${name}="${CSS.escape(element.getAttribute(name))}"]`;
    if (document.querySelectorAll(path).length === 1) return path;
  }
  const { parentElement } = element;
  if (!parentElement) return null;
  const place = [...parentElement.children].indexOf(element) + 1;
  return `${pathTo(parentElement) ?? parentElement.localName} > :nth-child(${place})`;
}

function placeNow() {
  const focused = document.activeElement;
  const isText = focused?.matches("input[type=search], input[type=text], input:not([type]), textarea");
  const scrolled = [...document.querySelectorAll("main, main *")].filter((part) => part.scrollTop || part.scrollLeft);
  return {
    focus: pathTo(focused),
    caret: isText ? focused.selectionStart : null,
    scrolled: scrolled.map((part) => [pathTo(part), part.scrollLeft, part.scrollTop]),
    window: [scrollX, scrollY],
  };
}

/** Whether all of it is there again: what comes later is waited for by whoever asks. */
function returnTo({ focus, caret, scrolled, window: [left, top] }) {
  const again = focus && document.querySelector(focus);
  if (again && again !== document.activeElement) again.focus({ preventScroll: true });
  if (again && caret !== null) again.setSelectionRange(caret, caret);
  const isScrolled = scrolled.map(([path, x, y]) => {
    const part = document.querySelector(path);
    if (part) Object.assign(part, { scrollLeft: x, scrollTop: y });
    return part !== null && Math.abs(part.scrollTop - y) < 2;
  });
  scrollTo({ left, top, behavior: "instant" });
  return (!focus || document.activeElement === again) && isScrolled.every(Boolean) && Math.abs(scrollY - top) < 2;
}

/** A change of the page under somebody who goes on where they were. */
function stayWhile(change) {
  const place = placeNow();
  change();
  returnTo(place);
}

/** The page once more, and the same place on it; what somebody is filling in would be lost, and is waited for. */
function reloadHere({ isNow = false } = {}) {
  if (!isNow && document.activeElement?.matches("textarea, input:not([type=search], [type=radio], [type=checkbox])")) {
    setTimeout(reloadHere, 1000);
    return;
  }
  // A browser without storage begins at the top.
  try { sessionStorage.setItem(PLACE, JSON.stringify({ address: location.href, ...(wantedPlace ?? placeNow()) })); } catch { /* as above */ }
  location.reload();
}

/** After `reloadHere`: parts of a page come one by one, until somebody does something else. */
function comeBack() {
  try {
    wantedPlace = JSON.parse(sessionStorage.getItem(PLACE));
    sessionStorage.removeItem(PLACE);
  } catch { /* nothing was kept */ }
  if (wantedPlace?.address !== location.href) { wantedPlace = null; return; }
  const tryIt = () => { if (wantedPlace && returnTo(wantedPlace)) stop(); };
  const watching = new MutationObserver(tryIt);
  const stop = () => { watching.disconnect(); wantedPlace = null; };
  setTimeout(stop, LONGEST_WAY_BACK);
  watching.observe(document.body, { childList: true, subtree: true });
  for (const name of ["keydown", "pointerdown", "wheel"]) addEventListener(name, stop, { once: true, capture: true });
  tryIt();
}

addEventListener("load", comeBack);
