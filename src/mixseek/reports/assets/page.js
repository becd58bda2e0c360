// Everything that listens: tables that sort, tabs, keys, the address, and the start.

// A search that is typed on is applied when the typing pauses.
let waiting = 0;

// Q2 before Q10, as in the order that the page comes in.
const NATURAL = new Intl.Collator("en", { numeric: true });

function makeSortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-sort]");
    if (!button) return;
    const head = button.closest("th");
    const column = heads.indexOf(head);
    const isNumber = button.dataset.sort === "number";
    // Names start at A, numbers at the largest: what a reader looks for first.
    const before = head.getAttribute("aria-sort");
    const direction = before ? (before === "ascending" ? -1 : 1) : isNumber ? -1 : 1;
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    const valueOf = (row) => (isNumber ? Number(row.cells[column].dataset.value) : row.cells[column].dataset.value);
    const sorted = [...body.rows].map((row) => [valueOf(row), row]);
    sorted.sort(([one], [other]) => direction * (isNumber ? one - other : NATURAL.compare(one, other)));
    body.append(...sorted.map(([, row]) => row));
  });
}

function chooseTab(tab, { focus = false } = {}) {
  for (const other of document.querySelectorAll("[role=tab]")) {
    const isChosen = other === tab;
    other.setAttribute("aria-selected", String(isChosen));
    other.tabIndex = isChosen ? 0 : -1;
    byId(other.getAttribute("aria-controls")).hidden = !isChosen;
  }
  if (focus) tab.focus();
}

function startTabs() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  if (!tabs.length) return;
  chooseTab(tabs[0]);
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => chooseTab(tab));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by) chooseTab(tabs[(place + by + tabs.length) % tabs.length], { focus: true });
    });
  });
}

function onListKey(event) {
  const page = Math.max(1, Math.floor(byId("list").clientHeight / ROW_HEIGHT) - 1);
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
  if (!by) return;
  event.preventDefault();
  move(by, { isHeld: event.repeat });
}

function onKey(event) {
  const isTyping = event.target instanceof Element && event.target.closest("input, select, textarea");
  // Enter on a link or a button is for that.
  if (event.key === "Enter" && event.target instanceof Element && event.target.closest("a, button, summary, mark")) return;
  if (event.key === "Escape") {
    if (!isTyping) undo();
    else if (event.target === byId("search")) clearSearch();
    else clearOne(event.target);
    return;
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = {
    j: () => move(1, { isHeld: event.repeat }),
    k: () => move(-1, { isHeld: event.repeat }),
    t: toggleTheme,
    Enter: () => { const wide = selected && source.sampleAddress(selected); if (wide) location.assign(wide); },
    "/": () => { byId("search").focus(); byId("search").select(); },
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
  if (event.key !== "t") bringBrowserIntoView();
}

/** Escape closes what was opened; then it clears the filters that are shown. */
function undo() {
  if (state.id) select(null, { push: true });
  else if (isNarrowed()) clearFilters();
  else return;
  byId("list").focus({ preventScroll: true });
}

/** Escape in a control clears the filter that it shows. */
function clearOne(control) {
  control.blur();
  if (!NARROWING.includes(control.name) || !state[control.name]) return;
  state[control.name] = "";
  filtersChanged();
}

/** Browsers empty a search box on Escape without telling; the list follows, whatever was still waiting. */
function clearSearch() {
  clearTimeout(waiting);
  byId("search").value = "";
  byId("search").blur();
  if (!state.q) return;
  state.q = "";
  filtersChanged();
}

function bringBrowserIntoView() {
  const box = byId("judgments").getBoundingClientRect();
  if (box.top > innerHeight * 0.4 || box.bottom < innerHeight * 0.6) byId("judgments").scrollIntoView();
}

/** Shows what the address asks for; true when it asked for judgments. */
function followAddress() {
  if (!readAddress()) return false;
  const wanted = Object.fromEntries(NAMES.map((name) => [name, state[name]]));
  const wantedId = wanted.id;
  selected = null;
  applyFilters(() => {
    if (wantedId) {
      Object.assign(state, wanted);
      select(namedRow());
    } else if (!isWide()) select(null);
  });
  byId("judgments").scrollIntoView();
  return true;
}

/** "Back" to the page as it was opened. */
function showEverything() {
  for (const name of Object.keys(state)) state[name] = "";
  select(null, { isQuiet: true });
  applyFilters();
}

/** A section that is folded opens when it is asked for; texts in it are shown as the Markdown that they are. */
function startSections() {
  const openNamed = () => {
    const folded = byId(location.hash.slice(1))?.querySelector(":scope.folded > details");
    if (folded) folded.open = true;
  };
  addEventListener("hashchange", openNamed);
  openNamed();
  for (const part of document.querySelectorAll(".as-asked")) {
    part.replaceChildren(...markdownNodes(part.textContent));
    part.classList.add("markdown");
  }
  const links = [...document.querySelectorAll(".sections a")];
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) {
      for (const link of links) link.ariaCurrent = link.hash === `#${target.id}` ? "true" : null;
    }
  }, { rootMargin: "-15% 0px -80% 0px" });
  for (const link of links) { const section = document.querySelector(link.hash); if (section) seen.observe(section); }
}

/** The list as it is narrowed and sorted now, without what is open in it. Where nothing may be copied, it is shown. */
async function copyLink() {
  const button = byId("copy-link");
  const shown = byId("copied-link");
  shown.value = new URL(addressOf({ id: "", by: "", repeat: "" }), location.href).href;
  try {
    await navigator.clipboard.writeText(shown.value);
    button.textContent = say("report.copied", "Copied");
  } catch {
    shown.hidden = false;
    shown.select();
  }
}

function start() {
  restoreTheme();
  byId("browser").hidden = false;
  byId("clear").addEventListener("click", clearFilters);
  byId("copy-link").addEventListener("click", copyLink);
  byId("theme").addEventListener("click", toggleTheme);
  byId("earlier").addEventListener("click", () => turn(-1));
  byId("later").addEventListener("click", () => turn(rows.length));
  byId("sort").addEventListener("change", (event) => { state.sort = event.target.value; filtersChanged(); });
  document.querySelectorAll("table.sortable").forEach(makeSortable);
  startTabs();
  startSections();
  startPrinting();
  buildSelects();
  document.querySelector(".filters").addEventListener("click", (event) => {
    const button = event.target.closest("[data-outcome]");
    if (button) chooseOutcome(button.dataset.outcome);
  });
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  byId("search").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      // Letters of one search are one step.
      const push = !state.q;
      state.q = event.target.value;
      filtersChanged({ push });
    }, 120);
  });
  // Also what the box's own cross empties.
  byId("search").addEventListener("search", (event) => { if (!event.target.value) clearSearch(); });
  let isDrawing = false;
  const drawSoon = () => {
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(() => { isDrawing = false; drawRows(); });
  };
  byId("list").addEventListener("scroll", drawSoon, { passive: true });
  byId("list").addEventListener("keydown", onListKey);
  addEventListener("resize", drawSoon);
  addEventListener("keydown", onKey);
  addEventListener("hashchange", () => { if (!followAddress() && !location.hash.slice(1)) showEverything(); });
  if (!followAddress()) {
    renderDetail(null, {});
    applyFilters();
  }
}

start();
