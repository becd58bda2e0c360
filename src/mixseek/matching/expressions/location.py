"""Where a response states its mathematical answer."""

import re
from dataclasses import dataclass
from typing import Final

from mixseek.domain.judgments import Span
from mixseek.matching.expressions.segments import Segment, join_neighbours, last_boxes, maths_segments

# Statements of the final answer stand near the end; only this much of a response is searched for them.
TAIL: Final = 12_000
_THINK_END: Final = "</think>"
_CUES: Final = re.compile(
    r"final answer(?:[^.\n$\\]{0,80}?\bis\b|\s*[:：])|\banswers?\s+(?:is|are|would be|will be|=)|\banswer\"?\s*[:：]"
    r"|\n#### "
    r"|答えは|正解は|答案[是为為：:]",
    re.IGNORECASE,
)
_STRONG_CUE: Final = re.compile(r"final|[:：#]", re.IGNORECASE)
_RUN_ON: Final = re.compile(r"<\|(?:im_start|im_end|endoftext|eot_id)\|>|</s>|\n\s*(?:Question|Problem|Q)\s*:")
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
_SAID: Final = re.compile(r"(?:\bis|\bare|\bbe|\bequals?|[=:≈])\s*[$*\\(\[]*-?[$€£¥]?[\d.][^\s]*\s*$", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?<=[.!?。])\s+|\n+")
_BARE_LETTER: Final = re.compile(r"\\?[A-Za-z](?:_\{?\w\}?)?(?:\([a-z]\))?$")
_LATEX: Final = re.compile(r"\\(?:frac|dfrac|tfrac|sqrt|pi|infty|left|begin|text|mathrm)\b")
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
    found = _RUN_ON.search(response, max(start, 1))
    return found.start() if found else len(response)


def _cue_statement(response: str, start: int, end: int, box: Segment | None) -> Location | None:
    cues = list(_CUES.finditer(response, start, end))
    for cue in reversed(cues[-6:]):
        if box is not None and (cue.end() <= box.start or not _STRONG_CUE.search(cue.group())):
            return None
        place = cue.end()
        quoted = _QUOTED.match(response, place, end) if '"' in cue.group() else None
        if quoted is not None:
            return Location(quoted.group(1), Span(*quoted.span(1)), "json_field", firm=True)
        while place < end and response[place] in " \t\n:：*`\"'=":
            place += 1
        stop = _region_end(response, place, end)
        located = _first_statement(response, place, stop)
        if located is not None:
            return located
    return None


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
    if not segments and len(line) <= 60 and any(mark in line for mark in "([{=<>^√π∞") and not line[:1].isspace():
        return None  # a short expression: compare it whole
    for found in _PLAIN.finditer(response, start, stop):
        inside = any(segment.start <= found.start() < segment.end for segment in segments)
        if not inside:
            return _trimmed(found)
    return None


def _unmarked_statement(response: str, start: int, end: int) -> Location | None:
    """No box, no cue: the whole text when it is short, else the last mathematics, which may be a side remark."""
    whole = response[start:end].strip()
    if not whole:
        return None
    offset = start + response[start:end].index(whole[0]) if whole else start
    segments = maths_segments(response, start, end)
    if len(whole) <= _SHORT_LINE and _is_only_maths(whole, segments, offset):
        return Location(whole, Span(offset, offset + len(whole)), "whole", firm=True)
    useful = [index for index, segment in enumerate(segments) if not _BARE_LETTER.match(segment.text)]
    plain = _last_plain(response, max(start, end - 2_000), end, segments)
    if useful:
        joined = join_neighbours(response, segments, useful[-1])
        if plain is None or plain.start < joined.end:
            return _weak(joined, "last_maths", response[start:end])
    return _weak(plain, "last_number", response[start:end]) if plain is not None else None


def _weak(segment: Segment, rule: str, text: str) -> Location:
    """Unmarked mathematics counts as the answer only where the text ends with it or concludes with it."""
    return Location(segment.text, Span(segment.start, segment.end), rule, firm=_concludes(segment, rule, text))


def _concludes(segment: Segment, rule: str, text: str) -> bool:
    tail = text[-600:]
    if _CODE.search(text[-2_000:]) or _NO_ANSWER.search(tail):
        return False
    sentence = next((part for part in reversed(_SENTENCE.split(tail)) if part.strip()), "")
    short = len(text) < _SHORT_LINE
    if text.rstrip(_CLOSING_MARKS).endswith(segment.text.rstrip(_CLOSING_MARKS)):
        said = bool(_SAID.search(text, max(0, len(text) - len(segment.text) - 40)))
        return short if rule == "last_maths" else said and (short or bool(_CONCLUSION.search(sentence)))
    if rule == "last_maths":
        return segment.text in sentence and (short or bool(_CONCLUSION.search(sentence)))
    numbers = {found.group().strip() for found in _PLAIN.finditer(sentence)}
    return len(numbers) <= 1 and (short or bool(_CONCLUSION.search(sentence)))


def _last_plain(response: str, start: int, end: int, segments: list[Segment]) -> Segment | None:
    last: Segment | None = None
    for found in _PLAIN.finditer(response, start, end):
        if not any(segment.start <= found.start() < segment.end for segment in segments):
            last = _trimmed(found)
    return last


def _trimmed(found: re.Match[str]) -> Segment:
    text = found.group()
    start = found.start() + len(text) - len(text.lstrip())
    return Segment(start, start + len(text.strip()), text.strip())


def _is_only_maths(whole: str, segments: list[Segment], offset: int) -> bool:
    """Nothing but mathematics and a few connecting words."""
    rest = list(whole)
    for segment in segments:
        for place in range(segment.start - offset, min(segment.end - offset, len(rest))):
            rest[place] = " "
    words = re.findall(r"[A-Za-z]{3,}", re.sub(r"\\[A-Za-z]+", " ", "".join(rest)))
    return len(words) <= (1 if segments else 2)
