"""What the form of a response takes back or gives to somebody else: struck out, quoted, a part in a play.

No word of it need be known: a tag, a fence of removed lines, the last cell of a row, a quotation with a name below it.
"""

import re

from mixseek.matching.phrases import Lexicon, table
from mixseek.matching.stance.heads import is_ill_state
from mixseek.matching.stance.words import FIRST_PERSON, SPEECH, UNSPACED, Stance, is_unspaced, split_words

# What opens and closes something that is not to be read.
_STRUCK = (
    (
        re.compile(r"<(?:del|strike|s)\b[^<>\n]{0,60}>", re.IGNORECASE),
        re.compile(r"</(?:del|strike|s)>", re.IGNORECASE),
    ),
    (re.compile(r"\[quote\b[^\]\n]{0,60}\]", re.IGNORECASE), re.compile(r"\[/quote\]", re.IGNORECASE)),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"\{--"), re.compile(r"--\}")),
    (re.compile(r"\[(?:del|strike)\]", re.IGNORECASE), re.compile(r"\[/(?:del|strike)\]", re.IGNORECASE)),
    (re.compile(r"\\(?:sout|st|cancel|xout)\{"), re.compile(r"\}")),
)
_OPENS = (
    "<del",
    "<strike",
    "<s>",
    "<s ",
    "[quote",
    "<!--",
    "{--",
    "[del]",
    "[strike]",
    "[s]",
    "\\sout{",
    "\\st{",
    "\\cancel{",
    "\\xout{",
)
_REMOVED = re.compile(r"\s{0,12}diff[ \t]{0,8}\n(?:[^\n+-][^\n]{0,200}\n|(?:---|\+\+\+|@@)[^\n]{0,200}\n){0,8}-")
_CELL = re.compile(r"\|\s{0,8}([^|\n]{2,60}?)\s{0,8}\|\s{0,8}$")
_LONGEST_TAIL = 80
_UTTERS = Lexicon(table("reservations")["utters"])
# A name or a source below a quotation.
_SIGNED = re.compile(r"[\s,.]{0,8}(?:-{1,3}|~)\s{0,3}[^\W\d]")
_TURN = re.compile(
    r"\s{0,8}(?P<asks>[^\W\d][\w .'()-]{0,24}):[^\n]{1,300}\n\s{0,8}(?P<replies>[^\W\d][\w .'()-]{0,24}):(?=\s)"
)
_ASKING, _REPLYING = (frozenset(table("detached")[name].split()) for name in ("asking", "replying"))


def stance_by_markup(text: str, start: int, end: int, cut: int, aside: str) -> Stance | None:
    """What becomes of an answer at [start, end) by the marks around it; `aside` are the closing lines below it."""
    if any(map(text[:start].lower().__contains__, _OPENS)) and _is_struck(text, start):
        return Stance.TAKEN_BACK
    head = text[:start].lstrip()[:_HEAD]
    if head.startswith("diff") and _REMOVED.match(text) is not None:
        return Stance.TAKEN_BACK
    tail = text[end:cut].rstrip()
    if tail.endswith("|") and (cell := _CELL.search(tail)) is not None and is_ill_state(cell[1]):
        return Stance.DENIED
    if head.startswith('"') and _is_quoted(text, end, cut, aside):
        return Stance.ATTRIBUTED
    turn = _TURN.match(text, 0, start) if ":" in head else None
    return Stance.ATTRIBUTED if turn is not None and _is_played(turn) else None


_HEAD = 26


def _is_struck(text: str, start: int) -> bool:
    """Whether something was opened before an answer that is closed behind it, or never."""
    for opens, closes in _STRUCK:
        opened = [mark.end() for mark in opens.finditer(text, 0, start)]
        if opened and closes.search(text, opened[-1], start) is None:
            return True
    return False


def _is_quoted(text: str, end: int, cut: int, aside: str) -> bool:
    """Whether a response that opens with a quotation says behind it whose words they are: "…", said the parrot."""
    close = text.rfind('"', end, cut)
    tail = (text[close + 1 : cut].strip() or aside) if close >= 0 else ""
    if not tail or len(tail) > _LONGEST_TAIL:
        return False
    if _SIGNED.match(tail):
        return True
    if is_unspaced(tail):
        return UNSPACED.says.search(tail) is not None
    words = split_words(tail.lower())
    return FIRST_PERSON.isdisjoint(words[:3]) and any(word in SPEECH or word in _UTTERS for word in words[:6])


def _is_played(turn: re.Match[str]) -> bool:
    """Whether a question and its reply are two parts of which neither is the one who answers: "Host: … Fool: …"."""
    asks, replies = turn["asks"].lower().split(), turn["replies"].lower().split()
    return not _ASKING.isdisjoint(asks) and _REPLYING.isdisjoint(replies)
