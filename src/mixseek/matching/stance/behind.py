"""Behind an answer: the last sentence that is about it."""

import re

from mixseek.matching.stance.before import Frame
from mixseek.matching.stance.sentences import ABOVE, Setting, is_no_answer, is_quoting, judged, speaker_subject
from mixseek.matching.stance.words import (
    BLANK,
    HEAD,
    OPPOSITES,
    POINTERS,
    REVERSING,
    Stance,
    split_sentences,
    split_words,
)

_CLOSING_TAG = re.compile(r"\s{0,8}</\w{1,20}>")


def last_judgement(text: str, end: int, cut: int, setting: Setting, frame: Frame) -> Stance | None:
    """What the last sentence about the answer says of it; None where none is about it."""
    judgement: Stance | None = None
    is_next = True
    if (tag := _CLOSING_TAG.match(text, end, cut)) is not None:
        end = tag.end()
    for sentence in split_sentences(text, end, cut):
        rests = sentence.start == end
        is_last = not text[sentence.end : cut].strip(BLANK)
        stance = judged(sentence, setting, is_next=is_next, is_last=is_last, rests=rests)
        if stance is Stance.ASSERTED and sentence.start < frame.reach and speaker_subject(sentence.text) is None:
            stance = None  # who is quoted may call himself right
        if stance is not None:
            judgement = stance
        elif not rests:
            is_next = False
    if judgement is None and cut < len(text):
        # Behind a run-on question only the last words can be about more than that question.
        for sentence in split_sentences(text, max(cut, len(text) - HEAD), len(text)):
            judgement = judged(sentence, setting, is_next=False, is_last=not text[sentence.end :].strip(BLANK))
    return judgement


def said_of_another(text: str, start: int, end: int, cut: int) -> Stance | None:
    """Whether a polarity stands in a sentence about the answer above it."""
    # Sentences before this one need not be read.
    low = max(0, start - HEAD)
    begin = max(low, *(text.rfind(mark, low, start) for mark in ("\n", ". ", "。")))
    for sentence in split_sentences(text, begin, min(cut, end + HEAD)):
        if not sentence.start <= start < sentence.end:
            continue
        if ABOVE.search(sentence.text):
            return judged(sentence, Setting("text"), is_next=False)
        words = split_words(sentence.text)
        is_reversal = not OPPOSITES.isdisjoint(words) and REVERSING.issuperset(words)
        is_pointing = bool(words) and words[0] in POINTERS
        if is_reversal or (is_pointing and (is_no_answer(words) or is_quoting(words))):
            return judged(sentence, Setting("text"), is_next=True)
        break
    return None
