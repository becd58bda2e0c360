"""What each stage of the quote locator adds, on quotes that real judges gave.

The judged files do not lie beside the quotes. So two things are measured: whether a judge's quote stands in what the
other judges quoted from the same file, and whether it stands in itself after being printed to a PDF and read back.
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from mixseek.matching.evidence.quotes import QuoteFinding, QuoteStage, locate_quote
from mixseek.protocols.replies.reply_bundles import fold_identity, split_bundle

RADICAL = re.compile("[\u2e80-\u2fdf]")
_TO_RADICAL = {unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0x2F00, 0x2FD6)} | {
    "长": "⻓",
    "门": "⻔",
    "页": "⻚",
    "风": "⻛",
    "马": "⻢",
    "见": "⻅",
    "贝": "⻉",
    "车": "⻋",
    "龙": "⻰",
    "齐": "⻬",
}
_LINE = 18
_CITATION = re.compile(r"\s*\[cite[^\]]*\]")


def quotes_by_file(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """(judging, quote) for each file of each generator; blanks are no quotes."""
    quotes: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for number, row in enumerate(rows):
        bundle = split_bundle(row["raw_output"])
        for entry in bundle or ():
            evidence = json.loads(entry.text).get("evidence") or {}
            file = row["judged"]["generator"], fold_identity(entry.identities[0])
            quotes[file] += [(number, quote) for quote in evidence.values() if isinstance(quote, str) and quote.strip()]
    return quotes


def print_stages(rows: Iterable[Mapping[str, Any]]) -> None:
    """Three lines of figures."""
    quotes = quotes_by_file(rows)
    count = sum(map(len, quotes.values()))
    among_others: Counter[str] = Counter()
    printed: Counter[str] = Counter()
    radicals: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    for given in quotes.values():
        for number, quote in given:
            others = "\n\n".join(dict.fromkeys(other for judging, other in given if judging != number))
            found = locate_quote(quote, others)
            among_others[_end(found)] += 1
            if RADICAL.search(quote + "".join(others[span.start : span.end] for span in found.spans)):
                radicals[_end(found)] += 1
            page = as_pdf_text(quote)
            printed[_end(locate_quote(quote, page))] += 1
            forged = forge(quote)
            if forged is not None:
                changed[_end(locate_quote(forged, f"{quote}\n\n{page}"))] += 1
    print(f"\n{count:,} quotes of {len(quotes)} files, whose texts are not in the data")
    print(f"  in what other judges quoted from the same file: {_cumulated(among_others, count)}")
    print(f"  – where one of the two is written with radicals (⽰ for 示): {_cumulated(radicals, radicals.total())}")
    print(f"  in themselves, printed to a PDF and read back: {_cumulated(printed, count)}")
    print(f"  forged (a digit changed, a negation added or dropped): {_cumulated(changed, changed.total())}")


def as_pdf_text(text: str) -> str:
    """As a PDF gives it back: radicals where the font has them, short lines, no spaces between scripts."""
    text = re.sub(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])", "", text)
    text = "".join(_TO_RADICAL.get(character, character) for character in text)
    return re.sub(rf"([^\n]{{{_LINE}}}[\x21-\x7e]*)", r"\1\n", text)


def forge(quote: str) -> str | None:
    """The same quote saying something else; None where there is nothing to change."""
    quote = _CITATION.sub("", quote)
    if digit := re.search(r"\d", quote):
        return quote[: digit.start()] + str((int(digit[0]) + 1) % 10) + quote[digit.end() :]
    # Not at the beginning: what is left of "不适用" without its first character does stand in it.
    if negation := re.search(r"(?<=[^\W_]{2})[不无未没](?=[^\W_])", quote):
        return quote[: negation.start()] + quote[negation.end() :]
    if verb := re.search(r"(?<=[^\W_]{2})[是能会可应]", quote):
        return f"{quote[: verb.start()]}不{quote[verb.start() :]}"
    return None


def _end(finding: QuoteFinding) -> str:
    return finding.stage or finding.problem or ""


def _cumulated(ends: Counter[str], count: int) -> str:
    parts: list[str] = []
    found = 0
    for stage in QuoteStage:
        found += ends[stage]
        parts.append(f"{'+ ' if parts else ''}{stage} {found / max(count, 1):.1%}")
    return ", ".join(parts) + f" of {count:,}"
