r"""Where mathematics stands in a text: \boxed{…}, $…$, \(…\), \[…\]. One pass, no backtracking."""

import re
from typing import Final, NamedTuple

MAX_SEGMENT: Final = 2_000
MAX_GROUP: Final = 12
MAX_OPENINGS: Final = 1_500
MAX_BETWEEN: Final = 70
_DOLLAR_MONEY: Final = re.compile(r"\s*\d[\d,.]*\s+(?!\\)[A-Za-z]{2,}|\s|\d[\d,.]*[kKMB]?\s*$")
_CONNECTIVE: Final = re.compile(
    r"(?:\\[,;: !()\[\]\\]|\\q?quad|\\(?:text|mbox|textrm)\s*\{[^{}]{0,12}\}|[\s,;.&$~*]|and|or|und|et|y"
    r"|和|与|及|或|と)*"
)
_STRONG_SEPARATOR: Final = re.compile(r"\b(?:and|or)\b|[,;]")
_NEW_STATEMENT: Final = re.compile(
    r"=|\b(?:so|thus|hence|therefore|then|final|answer|is|gives?|which|check|we|since|because)\b", re.IGNORECASE
)
_PERCENT_AFTER: Final = re.compile(r"\s*(?:\\?%|percent(?:age)?\b|pct\b)", re.IGNORECASE)
_NAME_BEFORE: Final = re.compile(
    r"(?:^|[\s,;$({])((?:[A-Za-z]|\\[A-Za-z]{1,10})(?:_\{?\w{1,3}\}?)?(?:\(\w\))?)\s*=\s*\$?$"
)
_BOX: Final = re.compile(r"\\(?:boxed|fbox|framebox)\s*")
_BRACES: Final = re.compile(r"\\.|[{}]", re.DOTALL)
_OPENING: Final = re.compile(r"(?<!\\)(?:\$\$?|\\\(|\\\[)")
_CLOSERS: Final = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}


class Segment(NamedTuple):
    """`text` is what is compared; start and end delimit what a person would highlight."""

    start: int
    end: int
    text: str


def last_boxes(text: str, start: int = 0) -> Segment | None:
    r"""The last \boxed{…}; several that stand together as one enumeration are one answer."""
    place = max(text.rfind("\\boxed", start), text.rfind("\\fbox", start))
    if place < 0:
        return None
    last = _box_at(text, place)
    if last is None:
        return None
    group = [last]
    while len(group) < MAX_GROUP:
        first = group[0]
        place = max(text.rfind("\\boxed", start, first.start), text.rfind("\\fbox", start, first.start))
        before = _box_at(text, place) if place >= 0 else None
        if before is None or before.end > first.start:
            break
        between = text[before.end : first.start]
        name = _NAME_BEFORE.search(between) if len(between) <= MAX_BETWEEN else None
        if not _joined(between[: name.start(1)] if name else between, before, first):
            break
        if name:
            group[0] = first._replace(text=f"{name.group(1)} = {first.text}")
        group.insert(0, before)
    return _merged(text, group)


def _box_at(text: str, place: int) -> Segment | None:
    found = _BOX.match(text, place)
    if found is None:
        return None
    if not text.startswith("{", found.end()):
        end = found.end() + len(text[found.end() : found.end() + 40].split("$")[0].split("\n")[0].rstrip(" ."))
        return Segment(place, end, text[found.end() : end].strip()) if end > found.end() else None
    close = closing_brace(text, found.end())
    if close is None:  # cut off: take what is there
        end = min(len(text), found.end() + 1 + MAX_SEGMENT)
        return Segment(place, end, text[found.end() + 1 : end].split("\n\n")[0].strip().rstrip("$ "))
    return Segment(place, close + 1, text[found.end() + 1 : close].strip())


def closing_brace(text: str, opening: int) -> int | None:
    """The partner of the brace at `opening`, within a bounded distance; escaped braces do not count."""
    level = 0
    for found in _BRACES.finditer(text, opening, opening + MAX_SEGMENT):
        mark = found.group()
        if mark == "{":
            level += 1
        elif mark == "}":
            level -= 1
            if level == 0:
                return found.start()
    return None


def _joined(between: str, before: Segment, after: Segment) -> bool:
    """An enumeration: only connecting words between, or a short remark with a separator in it."""
    if len(between) > MAX_BETWEEN:
        return False
    if before.text == after.text:
        return False
    if _CONNECTIVE.fullmatch(between):
        return True
    return bool(_STRONG_SEPARATOR.search(between)) and not _NEW_STATEMENT.search(between)


def _merged(text: str, group: list[Segment]) -> Segment:
    last = group[-1]
    percent = _PERCENT_AFTER.match(text, _after_delimiters(text, last.end))
    end = percent.end() if percent else last.end
    if len(group) == 1:
        return Segment(last.start, end, last.text + ("\\%" if percent and not last.text.endswith("%") else ""))
    unique = list(dict.fromkeys(segment.text for segment in group))
    return Segment(group[0].start, end, ", ".join(unique))


def _after_delimiters(text: str, place: int) -> int:
    while text.startswith(("$", "\\)", "\\]"), place):
        place += 1 if text[place] == "$" else 2
    return place


def maths_segments(text: str, start: int, end: int) -> list[Segment]:
    r"""Every $…$, $$…$$, \(…\) and \[…\] between start and end; a lone dollar sign is money."""
    found: list[Segment] = []
    unclosed: set[str] = set()
    openings = 0
    place = start
    while place < end and openings < MAX_OPENINGS:
        openings += 1
        opening = _OPENING.search(text, place, end)
        if opening is None:
            break
        mark = opening.group()
        closer = _CLOSERS[mark]
        stop = -1 if mark in unclosed else text.find(closer, opening.end(), end)
        if stop < 0:
            unclosed.add(mark)
        elif stop - opening.end() > MAX_SEGMENT:
            stop = -1
        if stop < 0 or (mark == "$" and not _is_inline(text, opening.start(), opening.end(), stop)):
            place = opening.end()
            continue
        found.append(Segment(opening.start(), stop + len(closer), text[opening.end() : stop].strip()))
        place = stop + len(closer)
    return [segment for segment in found if segment.text]


def _is_inline(text: str, start: int, inner: int, stop: int) -> bool:
    """$5 and $6 is money: a paragraph break, or prose after the amount, tells."""
    content = text[inner:stop]
    if not content or "\n\n" in content:
        return False
    if start and text[start - 1].isdigit():
        return False
    return not _DOLLAR_MONEY.match(content) or "\\" in content or content.strip() != content or " " not in content


def join_neighbours(text: str, segments: list[Segment], chosen: int) -> Segment:
    """The chosen segment with those that an enumeration ties to it: $1$, $2$ and $3$."""
    first = last = chosen
    while first > 0 and chosen - first < MAX_GROUP and _tied(text, segments[first - 1], segments[first]):
        first -= 1
    while last + 1 < len(segments) and last - chosen < MAX_GROUP and _tied(text, segments[last], segments[last + 1]):
        last += 1
    group = segments[first : last + 1]
    percent = _PERCENT_AFTER.match(text, group[-1].end)
    end = percent.end() if percent else group[-1].end
    joined = ", ".join(segment.text.rstrip(".,;") for segment in group)
    return Segment(group[0].start, end, joined + ("\\%" if percent else ""))


def _tied(text: str, before: Segment, after: Segment) -> bool:
    between = text[before.end : after.start]
    return len(between) <= 12 and bool(_CONNECTIVE.fullmatch(between)) and bool(_STRONG_SEPARATOR.search(between))
