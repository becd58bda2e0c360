// On paper: the rows of the list's page from the first to the last, and in words what narrows it.

function narrowingText() {
  const texts = { q: () => `“${state.q}”`, meta: () => conditions().join(" · ") };
  return NARROWING.filter((name) => state[name])
    .map((name) => texts[name]?.() ?? `${LABELS[name]}: ${optionText(name, state[name])}`).join(" · ");
}

/** Else only the rows in sight are drawn. */
function drawForPaper(isOnPaper) {
  isPrinting = isOnPaper;
  drawRows();
  byId("narrowed").replaceChildren(...visibleNodes(isOnPaper ? narrowingText() : ""));
}

function startPrinting() {
  addEventListener("beforeprint", () => drawForPaper(true));
  addEventListener("afterprint", () => drawForPaper(false));
}
