"""Which of two responses a reply prefers, where it gives no JSON: only what is said for certain.

    marks       [[A>>B]], [[A]], [[C]] (a tie), wherever they stand
    sentences   "Therefore, Output (b) is better.", and nothing else in the sentence (see pair_verdicts.toml)
    a line      "2", "Response A", "tie" as the first line
    a pair      "7 9" as the first line: scores, unless both could be ranks

A reply may say its verdict several times, and in several of these ways; if they differ, it contradicts itself.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mixseek.domain.panels import Preference
from mixseek.settings.text_files import parse_toml

_MARK = re.compile(r"\[\[\s*(?:(A|B)\s*(>{1,2}|<{1,2}|=)\s*(A|B)|(A|B|C|tie))\s*\]\]", re.IGNORECASE)
_SENTENCE_END = re.compile(r"""[.!?]["”’')]?(?=\s|\Z)|[。！？\n]+""")
_EMPHASIS = re.compile(r"[*_`#]+")
_EDGES = " \t\r\"'“”‘’:：;,，、-–—>"
_SCORES = re.compile(r"(\d{1,3}(?:\.\d+)?)(?:\s*/\s*10)?[\s,]+(\d{1,3}(?:\.\d+)?)(?:\s*/\s*10)?")
# Longer sentences hold more than a verdict and its reason.
_LONGEST_SENTENCE = 600
_FIRST = {"a": Preference.A, "1": Preference.A, "b": Preference.B, "2": Preference.B}


class SaidVerdict(NamedTuple):
    """A verdict on the pair as shown: A was seen first. `is_strong` is None where the form does not tell."""

    preference: Preference
    form: str
    is_strong: bool | None = None


def find_verdicts(text: str) -> tuple[SaidVerdict, ...]:
    """Every verdict that is said for certain, in order; takes linear time and never raises."""
    return (*_marks(text), *_first_line(text), *_sentences(text))


def _marks(text: str) -> Iterator[SaidVerdict]:
    for left, sign, right, alone in (mark.groups() for mark in _MARK.finditer(text)):
        if alone:
            yield SaidVerdict(_FIRST.get(alone.lower(), Preference.TIE), "mark")
        elif sign == "=" and left.lower() != right.lower():
            yield SaidVerdict(Preference.TIE, "mark")
        elif sign != "=" and left.lower() != right.lower():
            better = left if sign.startswith(">") else right
            yield SaidVerdict(_FIRST[better.lower()], "mark", is_strong=len(sign) == 2)


def _first_line(text: str) -> Iterator[SaidVerdict]:
    first, _, rest = text.strip().partition("\n")
    line = _EMPHASIS.sub("", first).strip(_EDGES)
    # Before more text, "1." begins a list and "Output (a):" is a heading.
    opens = bool(rest.strip()) and first.rstrip(" *_`").endswith((".", ":", "："))
    # "A" above "B" names both.
    is_listed = _patterns().terse.fullmatch(_EMPHASIS.sub("", rest).strip(f"{_EDGES}\n. ")) is not None
    terse = None if opens or is_listed else _patterns().terse.fullmatch(line.rstrip(". "))
    if terse is not None:
        yield SaidVerdict(_FIRST[terse["side"].lower()] if terse["side"] else Preference.TIE, "line")
    scores = _SCORES.fullmatch(line)
    if scores is not None:
        score_a, score_b = float(scores[1]), float(scores[2])
        if max(score_a, score_b) > 2:
            winner = Preference.TIE if score_a == score_b else Preference.A if score_a > score_b else Preference.B
            yield SaidVerdict(winner, "scores")


def _sentences(text: str) -> Iterator[SaidVerdict]:
    patterns, start = _patterns(), 0
    plain = _EMPHASIS.sub("", _MARK.sub("", text))
    for end in (*(match.span() for match in _SENTENCE_END.finditer(plain)), (len(plain), len(plain))):
        sentence = plain[start : end[0]].strip(_EDGES)
        start = end[1]
        # Before a closing quotation mark the question is somebody else's.
        is_asked = plain[slice(*end)].strip() in {"?", "？"}
        if is_asked or not 3 <= len(sentence) <= _LONGEST_SENTENCE:
            continue
        for pattern in patterns.winner:
            if match := pattern.fullmatch(sentence):
                side = _FIRST[match["side"].lower()]
                other = match.groupdict().get("other")
                if other is None or _FIRST[other.lower()] is not side:
                    yield SaidVerdict(side, "sentence")
                break
        else:
            if any(pattern.fullmatch(sentence) for pattern in patterns.tie):
                yield SaidVerdict(Preference.TIE, "sentence")


class _Patterns(NamedTuple):
    winner: tuple[re.Pattern[str], ...]
    tie: tuple[re.Pattern[str], ...]
    terse: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    tables = parse_toml(Path(__file__).with_name("pair_verdicts.toml").read_text(encoding="utf-8"))
    parts = tables["parts"]

    def compiled(pattern: str) -> re.Pattern[str]:
        # `(?P<side>` is no part.
        while re.search(r"(?<!P)<[A-Z_]+>", pattern):
            pattern = re.sub(r"(?<!P)<([A-Z_]+)>", lambda part: parts[part[1]], pattern)
        return re.compile(pattern, re.IGNORECASE)

    sentences = tables["sentences"]
    return _Patterns(
        tuple(map(compiled, sentences["winner"])), tuple(map(compiled, sentences["tie"])), compiled(sentences["terse"])
    )
