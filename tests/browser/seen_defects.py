"""What is wrong with the looks of a page, as far as a machine can see: text that is cut off or lies upon other text."""

from playwright.async_api import Page

# A line of text is where it can be seen: within every box around it that cuts off what is outside. Whatever scrolls may
# have more than it shows; what ends in an ellipsis says so; what is for screen readers alone is one pixel wide; layers
# above the page are meant to cover it; and what is far from the screen is not set yet.
_DEFECTS = r"""() => {
    const SLACK = 3;
    const UNSEEN = "script, style, template, title, option, .visually-hidden, .skip";
    const shown = (element) =>
        element.checkVisibility({ contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true });
    const nameOf = (node) => {
        const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
        const words = element.textContent.trim().slice(0, 60);
        return `${element.localName}.${element.getAttribute("class") ?? ""} "${words}"`;
    };
    const across = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    const troubles = new Set();

    // What an element leaves to be seen of what is inside of it, and whether there may be more than that.
    const boxes = new Map();
    const boxOf = (element) => {
        if (element === null || element === document.documentElement)
            return { left: 0, right: innerWidth, top: -Infinity, bottom: Infinity, hasMore: false, isLayer: false };
        if (boxes.has(element)) return boxes.get(element);
        const box = { ...boxOf(element.parentElement) };
        const style = getComputedStyle(element);
        box.isLayer ||= style.position === "fixed" || style.position === "sticky";
        if (style.overflowX !== "visible" && !(element instanceof SVGElement)) {
            const { left, right, top, bottom } = element.getBoundingClientRect();
            box.hasMore ||= !["hidden", "clip"].includes(style.overflowX) || style.textOverflow === "ellipsis";
            box.left = Math.max(box.left, left);
            box.right = Math.min(box.right, right);
            box.top = Math.max(box.top, top);
            box.bottom = Math.min(box.bottom, bottom);
        }
        boxes.set(element, box);
        return box;
    };

    const lines = [];
    const see = (node, element, line, box) => {
        const [left, right] = [Math.max(line.left, box.left), Math.min(line.right, box.right)];
        const [top, bottom] = [Math.max(line.top, box.top), Math.min(line.bottom, box.bottom)];
        const isSeen = right - left > 1 && bottom - top > 1 && !box.isLayer;
        if (isSeen) lines.push({ node, element, left, right, top, bottom });
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.data.trim() || element.closest(UNSEEN) || !shown(element)) continue;
        const box = boxOf(element);
        if (box.right - box.left <= 2) continue;
        range.selectNodeContents(node);
        for (const line of range.getClientRects()) {
            const isCut = line.left < box.left - SLACK || line.right > box.right + SLACK;
            if (isCut && !box.hasMore && line.width > 1) troubles.add(`cut off: ${nameOf(node)}`);
            see(node, element, line, box);
        }
    }
    for (const choice of document.querySelectorAll("fieldset select, fieldset input, fieldset button")) {
        const inside = across(choice.getBoundingClientRect(), choice.closest("fieldset").getBoundingClientRect());
        if (shown(choice) && inside < choice.offsetWidth - SLACK) troubles.add(`out of its box: ${nameOf(choice)}`);
    }
    // A button without words is in the way of words as well.
    for (const button of document.querySelectorAll("button, input, select")) {
        const isDrawn = shown(button) && !button.textContent.trim();
        if (isDrawn) see(button, button, button.getBoundingClientRect(), boxOf(button));
    }

    lines.sort((a, b) => a.top - b.top);
    lines.forEach((line, place) => {
        for (let next = place + 1; next < lines.length && lines[next].top < line.bottom - SLACK; next += 1) {
            const other = lines[next];
            if (other.element.contains(line.element) || line.element.contains(other.element)) continue;
            // Lines that are set tight overlap a little; scripts have marks above and below.
            const height = Math.min(line.bottom - line.top, other.bottom - other.top);
            if (across(line, other) > SLACK && down(line, other) > Math.max(SLACK, 0.4 * height))
                troubles.add(`upon each other: ${nameOf(line.node)} and ${nameOf(other.node)}`);
        }
    });

    // A column is one thing: its head above its cells, each row with as many, all set to the same side.
    const laid = (cell) => getComputedStyle(cell).display !== "none";
    const width = (row) => [...row.cells].filter(laid).reduce((sum, cell) => sum + cell.colSpan, 0);
    const side = (cell) => getComputedStyle(cell).textAlign.replace("start", "left");
    for (const table of document.querySelectorAll("table")) {
        const head = table.tHead?.rows[0];
        const isCards = [...table.rows].some((row) => getComputedStyle(row).display === "grid");
        if (!head || !shown(table) || isCards) continue;
        for (const row of table.rows) {
            if (width(row) !== width(head))
                troubles.add(`a row of ${width(row)} under ${width(head)} heads: ${nameOf(row)}`);
            else if (row.cells.length === head.cells.length && row !== head)
                [...row.cells].forEach((cell, place) => {
                    const above = head.cells[place];
                    const isWord = cell.localName === "td" && cell.textContent.trim() && above.textContent.trim();
                    if (isWord && laid(cell) && side(cell) !== side(above))
                        troubles.add(`beside its head: ${nameOf(above)}`);
                });
        }
    }

    // Chinese and Japanese may break anywhere, but no word in a head is meant to.
    const segmenter = new Intl.Segmenter(document.documentElement.lang, { granularity: "word" });
    for (const head of document.querySelectorAll("thead th")) {
        if (!shown(head)) continue;
        const words = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
        for (let node = words.nextNode(); node; node = words.nextNode())
            for (const { segment, index, isWordLike } of segmenter.segment(node.data)) {
                if (!isWordLike || segment.length < 2) continue;
                range.setStart(node, index);
                range.setEnd(node, index + segment.length);
                const parts = [...range.getClientRects()].filter((line) => line.width > 0);
                if (new Set(parts.map((line) => Math.round(line.top))).size > 1)
                    troubles.add(`broken: ${segment} in ${nameOf(head)}`);
            }
    }

    const button = document.querySelector("#theme");
    const beside = button?.previousElementSibling;
    if (beside?.localName === "nav" && button.getBoundingClientRect().left - beside.getBoundingClientRect().right > 40)
        troubles.add(`adrift: ${nameOf(beside)}`);

    for (const drawing of document.querySelectorAll("svg")) {
        const labels = [...drawing.querySelectorAll("text")].filter(shown);
        const places = labels.map((label) => label.getBoundingClientRect());
        labels.forEach((label, number) => {
            for (let next = number + 1; next < labels.length; next += 1)
                if (across(places[number], places[next]) > -2 && down(places[number], places[next]) > SLACK)
                    troubles.add(`labels touch: ${label.textContent} and ${labels[next].textContent}`);
        });
    }
    return [...troubles];
}"""


async def find_defects(page: Page) -> list[str]:
    """Text that is cut off or lies upon other text or a button, choices out of their box, labels that touch.

    And columns that are not below their heads, heads that break inside a word, sections adrift in their line.
    """
    defects: list[str] = await page.evaluate(_DEFECTS)
    return defects
