"""Where a response states its mathematical answer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mixseek.domain.judgments import Span
from mixseek.matching.expressions.meaning import Items, Meaning, Phrase
from mixseek.matching.expressions.readings import read_meanings
from mixseek.matching.expressions.segments import Segment, join_neighbours, last_boxes, maths_segments

# Statements of the final answer stand near the end; only this much of a response is searched for them.
TAIL: Final = 12_000
LONGEST_RUN_ON: Final = 40_000
_THINK_END: Final = "</think>"
MAX_CUES: Final = 6
# What every cue contains: found from the end with rfind, which is many times faster than a search from the front.
_CUE_CORES: Final = ("nswer", "NSWER", "\n#### ", "答えは", "正解は", "答案")
_CUE: Final = re.compile(
    r"(?P<final>final )?answer(?:s?\s+(?:is|are|would be|will be|=)|s?\"?\s*(?P<colon>[:：])"
    r"|(?(final)[^.\n$\\]{0,80}?\bis\b|(?!)))"
    r"|(?P<mark>\n#### |答えは|正解は|答案[是为為：:])",
    re.IGNORECASE,
)
_RUN_ON: Final = re.compile(r"<\|(?:im_start|im_end|endoftext|eot_id)\|>|</s>|\n[ \t]{0,8}(?:Question|Problem|Q) ?:")
_REGION_END: Final = re.compile(r"\n\s*\n|(?<=[^\d\s])\.(?=\s|$)|(?<=\d)\.(?=\s|$)|\n(?=\S{4,} )|。")
_PLAIN: Final = re.compile(
    r"(?<![\w.])[-−+]?[$€£¥]?\s?(?:\d[\d,]*(?:\.\d+)?|\.\d+)"
    r"(?:\s*(?:[-+*/^×÷]|\*\*)\s*\(?-?\d[\d,.]*\)?){0,8}(?:e[-+]?\d+)?\s*(?:\\?%|percent\b|pct\b|°)?",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"\s*\"((?:[^\"\\]|\\.){0,600})\"", re.DOTALL)
_CODE: Final = re.compile(r"\bprint\(|\breturn\b|\bimport\b|^\s*def |```", re.MULTILINE)
_NO_ANSWER: Final = re.compile(
    r"more information|not (?:provided|given|possible)|cannot|can't|unable|sorry|impossible", re.IGNORECASE
)
_CONCLUSION: Final = re.compile(r"\b(?:therefore|thus|hence|so|conclude|answer|total|result)\b|∴|=", re.IGNORECASE)
_SAID: Final = re.compile(r"(?:\bis|\bare|\bbe|\bequals?|[=:≈])[\s$*]*$", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?<=[.!?。])\s+|\n+")
_BARE_LETTER: Final = re.compile(r"\\?[A-Za-z](?:_\{?\w\}?)?(?:\([a-z]\))?$")
_ALGEBRA: Final = re.compile(r"[(\[{=<>^√π∞]|\d[A-Za-z](?![A-Za-z])|(?<![A-Za-z])[A-Za-z]\s*[-+*/]")
_LATEX: Final = re.compile(r"\\(?:frac|dfrac|tfrac|sqrt|pi|infty|left|begin|text|mathrm)\b")
_DIGIT_OR_LATEX: Final = re.compile(r"[\d\\]")
_SHORT_LINE: Final = 120
_CLOSING_MARKS: Final = " .!\t\n$*)]}\\²³°%m"


@dataclass(frozen=True, slots=True)
class Location:
    """A candidate for the final answer; `firm` when the response itself marks it as final."""

    text: str
    span: Span
    rule: str
    firm: bool


def locate_answer(response: str) -> Location | None:
    """The last definitive statement: a box, a cue followed by mathematics, the whole text, the last mathematics."""
    start = response.rfind(_THINK_END) + len(_THINK_END) if _THINK_END in response else 0
    if not start and "<think>" in response[:200]:
        return None
    end = _run_on_end(response, start)
    box = last_boxes(response[:end] if end < len(response) else response, start)
    cue = _cue_statement(response, max(start, end - TAIL), end, box)
    if cue is not None:
        return cue
    if box is not None and box.text:
        return Location(box.text, Span(box.start, box.end), "boxed", firm=True)
    return _unmarked_statement(response, max(start, end - TAIL), end)


def _run_on_end(response: str, start: int) -> int:
    """Base models go on with another problem; what they wrote before is their answer."""
    found = _RUN_ON.search(response, max(start, 1, len(response) - LONGEST_RUN_ON))
    return found.start() if found else len(response)


def _cue_statement(response: str, start: int, end: int, box: Segment | None) -> Location | None:
    for cue in _cues_from_the_end(response, start, end):
        if box is not None and (cue.end() <= box.start or cue.lastgroup is None):
            return None
        place = cue.end()
        quoted = _QUOTED.match(response, place, end) if '"' in cue.group() else None
        if quoted is not None:
            return Location(quoted.group(1), Span(*quoted.span(1)), "json_field", firm=True)
        while place < end and response[place] in " \t\n:：*`\"'=":
            place += 1
        stop = _region_end(response, place, end)
        located = _first_statement(response, place, stop)
        if located is not None and (box is None or _DIGIT_OR_LATEX.search(located.text)):
            return located
    return None


def _cues_from_the_end(response: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """ "the answer is", "Answer:", 答えは: the last one first; a box outranks those that do not say "final"."""
    place = end
    for _ in range(MAX_CUES):
        core = max(response.rfind(part, start, place) for part in _CUE_CORES)
        if core < start:
            return
        place = core
        for first in (core - 7, core - 1, core):
            cue = _CUE.match(response, first, end) if first >= start else None
            if cue is not None:
                yield cue
                break


def _region_end(response: str, start: int, end: int) -> int:
    found = _REGION_END.search(response, start, min(end, start + 600))
    if response.startswith(("$", "\\[", "\\("), start):
        return min(end, start + 1_200)
    return found.start() if found else min(end, start + 600)


def _first_statement(response: str, start: int, stop: int) -> Location | None:
    """After a cue the first mathematics that is more than a letter: "the largest $n$ is 34" answers 34."""
    segments = maths_segments(response, start, stop)
    plain = _first_plain(response, start, stop, segments)
    for index, segment in enumerate(segments):
        if _BARE_LETTER.match(segment.text):
            continue
        if plain is not None and plain.start < segment.start:
            break
        if segment.start - start > 90:
            break
        joined = join_neighbours(response, segments, index)
        return Location(joined.text, Span(joined.start, joined.end), "stated", firm=True)
    if plain is not None:
        return Location(plain.text, Span(plain.start, plain.end), "stated", firm=True)
    line = response[start:stop].strip()
    if line and len(line) <= _SHORT_LINE and not segments and (_LATEX.search(line) or len(line.split()) <= 6):
        return Location(line, Span(start, start + len(response[start:stop].rstrip())), "stated", firm=True)
    return None


def _first_plain(response: str, start: int, stop: int, segments: list[Segment]) -> Segment | None:
    """A number outside the marked mathematics, unless the region opens with bare LaTeX."""
    line = response[start:stop]
    if _LATEX.search(line) and not segments:
        return None
    if not segments and len(line) <= 60 and _ALGEBRA.search(line):
        return None  # a short expression: compare it whole
    return next(_plain_numbers(response, start, stop, segments), None)


def _unmarked_statement(response: str, start: int, end: int) -> Location | None:
    """No box, no cue: the whole text when it is short, else the last mathematics, which may be a side remark."""
    whole = response[start:end].strip()
    if not whole:
        return None
    offset = response.index(whole, start)
    segments = maths_segments(response, start, end)
    if len(whole) <= _SHORT_LINE and _is_only_maths(whole):
        return Location(whole, Span(offset, offset + len(whole)), "whole", firm=True)
    useful = [index for index, segment in enumerate(segments) if not _BARE_LETTER.match(segment.text)]
    plain = _last_plain(response, max(start, end - 2_000), end, segments)
    if useful:
        joined = join_neighbours(response, segments, useful[-1])
        if plain is None or plain.start < joined.end:
            return _weak(joined, "last_maths", response, start, end)
    return _weak(plain, "last_number", response, start, end) if plain is not None else None


def _weak(segment: Segment, rule: str, response: str, start: int, end: int) -> Location:
    """Unmarked mathematics counts as the answer only where the text ends with it or concludes with it."""
    firm = _concludes(segment, rule, response, start, end)
    return Location(segment.text, Span(segment.start, segment.end), rule, firm=firm)


def _concludes(segment: Segment, rule: str, response: str, start: int, end: int) -> bool:
    if _CODE.search(response, max(start, end - 2_000), end) or _NO_ANSWER.search(response, max(start, end - 600), end):
        return False
    sentence_start = _last_sentence(response, max(start, end - 600), end)
    if segment.start < sentence_start:
        return False
    short = end - start < _SHORT_LINE
    concluding = short or bool(_CONCLUSION.search(response, sentence_start, end))
    if rule == "last_maths":
        return concluding
    if not response[segment.end : end].strip(_CLOSING_MARKS):
        return concluding and bool(_SAID.search(response, sentence_start, segment.start))
    return concluding and len({found.group().strip() for found in _PLAIN.finditer(response, sentence_start, end)}) <= 1


def _last_sentence(response: str, start: int, end: int) -> int:
    """Where it begins."""
    last = len(response[:end].rstrip())
    begins = start
    for found in _SENTENCE.finditer(response, start, last):
        if found.end() < last:
            begins = found.end()
    return begins


def _last_plain(response: str, start: int, end: int, segments: list[Segment]) -> Segment | None:
    last: Segment | None = None
    for found in _plain_numbers(response, start, end, segments):
        last = found
    return last


def _plain_numbers(response: str, start: int, end: int, segments: list[Segment]) -> Iterator[Segment]:
    """Numbers outside the marked mathematics; both lists are in order, so one walk is enough."""
    index = 0
    for found in _PLAIN.finditer(response, start, end):
        while index < len(segments) and segments[index].end <= found.start():
            index += 1
        if index == len(segments) or found.start() < segments[index].start:
            yield _trimmed(found)


def _trimmed(found: re.Match[str]) -> Segment:
    text = found.group()
    start = found.start() + len(text) - len(text.lstrip())
    return Segment(start, start + len(text.strip()), text.strip())


def _is_only_maths(whole: str) -> bool:
    """The text reads as one expression from end to end, prose around it excluded."""
    return any(not _holds_prose(meaning) for meaning, _ in read_meanings(whole, anywhere=False))


def _holds_prose(meaning: Meaning) -> bool:
    members = meaning.members if isinstance(meaning, Items) else (meaning,)
    return any(isinstance(member, Phrase) for member in members)
