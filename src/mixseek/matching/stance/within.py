"""In the sentence of a name in prose: asked about, or what others think and the response contradicts."""

import re

from mixseek.matching.stance.before import is_spoken
from mixseek.matching.stance.words import HEAD, MAY_BE, UNSPACED, Stance, split_words

_ASKED = re.compile(r"[^.!?。\n\"]{0,80}\?\s*([^.!?。,\n]*)")
_TURNS = re.compile(
    r"[^.!?。\n]{0,80}?(?:[,;.]\s+|\s)(?:but|however|actually|in fact|in reality|yet|though)\b"
    r"|[^.!?。\n]{0,40}?(?:が,|けど|しかし|実は|実際|其实|其實|但|不过|不過|然而|实际上)"
)
_TURN_WORDS = ("but", "however", "actually", "in fact", "in reality", "yet", "though")
_MYTH = re.compile(r"\b(?:misconceptions?|myths?|mistakenly|wrongly|erroneously)\b")
_SENTENCE_START = re.compile(r"[.!?。\n](?=\s|$)")


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
