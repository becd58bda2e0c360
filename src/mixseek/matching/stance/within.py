"""In the sentence of an answer: left open, asked about, or what others think and the response contradicts."""

import re
from itertools import islice

from mixseek.matching.phrases import Phrases
from mixseek.matching.stance.before import is_spoken
from mixseek.matching.stance.words import BLANK, HEAD, MAY_BE, UNSPACED, Stance, split_words

_ASKED = re.compile(r"[^.!?。\n\"]{0,80}\?\s*([^.!?。,\n]*)")
_TURNS = re.compile(
    r"[^.!?。\n]{0,80}?(?:[,;.]\s+|\s)(?:but|however|actually|in fact|in reality|yet|though)\b"
    r"|[^.!?。\n]{0,40}?(?:が,|けど|しかし|実は|実際|其实|其實|但|不过|不過|然而|实际上)"
)
_TURN_WORDS = ("but", "however", "actually", "in fact", "in reality", "yet", "though")
_MYTH = re.compile(r"\b(?:misconceptions?|myths?|mistakenly|wrongly|erroneously)\b")
_SENTENCE_START = re.compile(r"[.!?。\n](?=\s|$)")
_SAYS = Phrases("stance_within")
# Of what leaves an answer open in English, each holds one of these.
_OPEN_WORDS = (
    "might ", "may ", "could ", "thought", "believed", "assumed", "guess", "perhaps", "maybe", "possibly", "hard to ",
    "difficult to ", "impossible to ", "who knows", "beats me", "toss", "flip a coin", "quote me", "debat", "used to ",
    "equally ", "just as ", "every bit as ", "no less ", "neither ",
)  # fmt: skip
_AHEAD = 160
# Said in a short response, these leave it open; a long one may weigh first and settle then.
_SHORT = 240
_STOP = re.compile(r"[.!?。\n](?:(?<=[。\n])|(?=\s|$))")


def left_open(text: str, start: int, end: int, cut: int, kind: str) -> Stance | None:
    """ "42, but it is hard to say", "I first thought 42", "(B) is tempting but wrong": named, and left open."""
    reach = min(cut, end + _AHEAD)
    if text[end:reach].strip(BLANK):
        if _SAYS.dropped.match(text, end, reach):
            return Stance.TAKEN_BACK
        # What is wrong with a polarity is part of it: "valid is wrong" is read where booleans are.
        if kind != "boolean" and _SAYS.called_wrong.match(text, end, reach):
            return Stance.DENIED
    if len(text) > _SHORT and len(text.strip()) > _SHORT:
        return None
    begin = max((mark.end() for mark in _STOP.finditer(text, 0, start)), default=0)
    stop = next(islice(_STOP.finditer(text, end, reach), 1, None), None)
    finish = stop.start() if stop is not None else reach
    around = text[begin:finish]
    if around.isascii() and not any(map(around.__contains__, _OPEN_WORDS)):
        return None  # a look, before the pattern is tried
    for mark in _SAYS.left_open.finditer(text, begin, finish):
        is_inside = start < mark.end() and mark.start() < end
        if not is_inside or mark[0].startswith("neither"):
            return Stance.DOUBTED
    return None


def named_within(text: str, start: int, end: int, cut: int) -> Stance | None:
    """ "Is Canberra the capital? No.", "Everyone thinks Canberra is, but it is Sydney": named, and not given."""
    asked = _ASKED.match(text, end, cut)
    if asked is not None:
        is_granted = (
            asked[1].lstrip().startswith(("yes", "indeed", "correct", "right", "exactly", "はい", "そう", "是"))
        )
        return None if is_granted else Stance.DOUBTED
    near = text[end : end + 100]
    may_turn = not near.isascii() or any(word in near for word in _TURN_WORDS)  # a look, before the pattern is tried
    turn = _TURNS.match(text, end, cut) if may_turn else None
    myth = _MYTH.search(text, max(0, start - HEAD), start)
    if turn is None and myth is None:
        return None
    begin = max((mark.end() for mark in _SENTENCE_START.finditer(text, max(0, start - HEAD), start)), default=0)
    if turn is None or (myth is not None and myth.start() >= begin):
        return Stance.DENIED if myth is not None and myth.start() >= begin else None
    before = split_words(text[begin:start])
    if not text.isascii():
        clause = text[begin:start] + turn[0]
        return Stance.ATTRIBUTED if UNSPACED.speakers.search(clause) and UNSPACED.says.search(clause) else None
    is_guess = not MAY_BE.isdisjoint(before) and not {"you", "one", "we"}.isdisjoint(before)
    return Stance.ATTRIBUTED if is_guess or is_spoken(before) else None
