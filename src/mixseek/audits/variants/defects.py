"""Defects that must cost something."""

import re
from collections.abc import Mapping

from mixseek.audits.variants.texts import JudgedText

_TO_NEGATE: Mapping[str, tuple[re.Pattern[str], str | Mapping[str, str]]] = {
    "en": (
        re.compile(r"\b(is|are|was|were|will|can|could|should|would|must|has|have|does|do)\b(?! not\b|n't|n’t)"),
        r"\1 not",
    ),
    "ja": (
        re.compile(r"(です|ます|である|だ|でした|ました)(?=[。！]|\s*$)"),
        {
            "です": "ではありません", "ます": "ません", "である": "ではない", "だ": "ではない",
            "でした": "ではありませんでした", "ました": "ませんでした",
        },
    ),
    "zh": (re.compile(r"(?<!不)(是|会|能|可以|应该|需要)"), r"不\1"),
}  # fmt: skip
# Letters of ours only: 120メートル has a number in it.
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.,])[0-9]+(?:[.,][0-9]+)*(?![A-Za-z0-9_])")
# A list's own numbers say nothing.
_LIST_NUMBER = re.compile(r"^[^\S\n]*+(\d+)[.)]\s", re.MULTILINE)
_NEGATED_FROM_THE_END = 3
_FEWEST_SENTENCES = 3


def negate(text: JudgedText) -> str | None:
    """The last of the closing sentences that can be turned round."""
    pattern, negation = _TO_NEGATE[text.language]
    sentences = text.sentences
    for place in range(len(sentences) - 1, max(-1, len(sentences) - 1 - _NEGATED_FROM_THE_END), -1):
        match = pattern.search(sentences[place])
        if match is not None:
            replacement = match.expand(negation) if isinstance(negation, str) else negation[match[0]]
            turned = sentences[place][: match.start()] + replacement + sentences[place][match.end() :]
            return "".join((*sentences[:place], turned, *sentences[place + 1 :]))
    return None


def miscount(text: JudgedText) -> str | None:
    """One number, wherever it stands: its first digit is another."""
    listed = {match.start(1) for match in _LIST_NUMBER.finditer(text.text)}
    numbers = [match[0] for match in _NUMBER.finditer(text.text) if match.start() not in listed]
    if not numbers:
        return None
    chosen = text.rng.choice(numbers)
    digit = text.rng.choice([figure for figure in "123456789" if figure != chosen[0]])
    return _NUMBER.sub(lambda match: digit + chosen[1:] if match[0] == chosen else match[0], text.text)


def drop_part(text: JudgedText) -> str | None:
    """Half of what is said, from the middle on; the beginning and the end stay, so that nothing looks cut off."""
    sentences = text.sentences
    if len(sentences) < _FEWEST_SENTENCES:
        return None
    dropped = max(1, len(sentences) // 2)
    start = (len(sentences) - dropped + 1) // 2
    return "".join((*sentences[:start], *sentences[start + dropped :]))


def invent_quote(text: JudgedText) -> str:
    """A quotation that nobody said, at the end."""
    return f"{text.text}\n\n{text.words('quotation')}"
