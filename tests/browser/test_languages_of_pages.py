"""A page in Japanese or Chinese says nothing of ours in English and fits a telephone: every page type is read."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from playwright.async_api import expect
from tests.browser.driving import NARROW, WIDE, Chromium, overflow_of
from tests.browser.every_page import VIEWED, open_page, read_names
from tests.browser.seen_defects import find_defects

from mixseek.web.languages import read_messages
from mixseek.web.server import ViewServer

# What a person sees or hears, outside of what judges and datasets wrote: that has a direction or is code; what is wrong
# with a reply is said by its protocol; rules, warnings and metadata have names; a manifest is a file, shown as it is.
SHOWN = r"""() => {
    const theirs = "script, style, code, pre, kbd, [dir=auto], .languages, .manifest, .reasons, .flags, .matrix-name, "
        + ".row-bottom, .problem-line, select[data-field], select[name=warning], select[name=rule]";
    const isName = (node) => node.nodeType === Node.TEXT_NODE || node.localName === "wbr";
    const texts = new Set();
    const read = (node) => {
        if (node.nodeType === Node.TEXT_NODE) { texts.add(node.data); return; }
        if (node.nodeType !== Node.ELEMENT_NODE || node.matches(theirs)) return;
        for (const name of ["title", "aria-label", "placeholder", "alt"]) texts.add(node.getAttribute(name) ?? "");
        // A name with places to break it is several nodes.
        if ([...node.childNodes].every(isName)) texts.add(node.textContent);
        else node.childNodes.forEach(read);
    };
    read(document.body);
    return [...texts];
}"""
# Names of the demo that are words of ours as well: a judge, rules, error types, types of tasks, a protocol.
NAMES = {"rules", "none", "text", "number", "label", "language", "target", "code", "fact", "rubric"}
# Three words of English in a row are a phrase, and no name; those of statistics are the same everywhere.
PHRASE = re.compile(r"[A-Za-z][a-z']+(?: [a-z][a-z']+){2,}")
# So much of so much is said otherwise elsewhere.
SHARE = re.compile(r"\d of \d")


def untranslated(texts: list[str], table: Mapping[str, Mapping[str, str]], language: str) -> list[str]:
    """Texts that are one of our messages in English, but for numbers about it, and texts with a phrase."""
    english = {words["en"].casefold() for words in table.values() if words["en"] != words[language]} - NAMES
    left = []
    for text in texts:
        bare = re.sub(r"[\s\d.,%:()·]+$|^[\s\d.,%:()·]+", "", text)
        # A verdict in capitals is its protocol's.
        is_ours = re.search("[a-z]{3}", bare) and (bare.casefold() in english or PHRASE.search(text))
        if is_ours or SHARE.search(text):
            left.append(text.strip())
    return left


def test_english_among_other_words_is_seen() -> None:
    table = {"a": {"en": "correct", "ja": "正解"}, "b": {"en": "PASS", "ja": "PASS"}}
    texts = [
        "correct (3)",
        " 12.5% correct",
        "正解",
        "PASS",
        "rules",
        "en-boolean-04",
        "found by folded match",
        "判定 a b c",
        "4.82 of 8",
    ]

    assert untranslated(texts, table, "ja") == ["correct (3)", "12.5% correct", "found by folded match", "4.82 of 8"]


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_no_page_speaks_english_to_who_chose_another_language(
    chromium: Chromium, demo_viewer: ViewServer, demo_place: Path, language: str
) -> None:
    names = read_names(demo_place)

    async def scenario() -> None:
        troubles = []
        async with chromium.visiting(expected="404") as visit:
            await visit.follow(demo_viewer.link)
            await visit.page.goto(f"{demo_viewer.address}/?lang={language}")
            for name in VIEWED:
                page = await open_page(visit, demo_viewer, name, names)
                await expect(page.locator("html")).to_have_attribute("lang", language)
                texts = await page.evaluate(SHOWN)
                troubles += [f"{name}: {text}" for text in untranslated(texts, read_messages(), language)]
                await page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
                defects = [*await find_defects(page), *(["sideways"] if await overflow_of(page) > 0 else [])]
                troubles += [f"{name} on a telephone: {defect}" for defect in defects]
                await page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
        assert not troubles, "\n".join(troubles)

    chromium.do(scenario())
