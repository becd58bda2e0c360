"""Behind an answer: the last sentence that is about it."""

import re
from collections.abc import Iterator

from mixseek.matching.stance.before import Frame
from mixseek.matching.stance.marks import is_mark
from mixseek.matching.stance.questions import asked, looks_again, replied
from mixseek.matching.stance.remarks import holds_polarity, remark, remark_unspaced
from mixseek.matching.stance.sentences import (
    ABOVE,
    Setting,
    is_closed,
    is_no_answer,
    is_question,
    is_quoting,
    judged,
    speaker_subject,
)
from mixseek.matching.stance.words import (
    BLANK,
    CONTRASTS,
    HEAD,
    OPPOSITES,
    OTHER_OPTIONS,
    OUTCOME_VERBS,
    POINTERS,
    REVERSING,
    RIGHT,
    THIRD_PERSON,
    UNSPACED,
    Sentence,
    Stance,
    is_negated,
    is_unspaced,
    restarted,
    split_sentences,
    split_words,
)

_TURN_REACH = 24
_LAST_WORDS = 160
_CLOSING_TAG = re.compile(r"\s{0,8}</\w{1,20}>")


# A line of a list of options: what is said in it is said of that option.
_OPTION_LINE = re.compile(r"[\s*(\[-]*[a-j][).:\]]|[\s*(\[-]*[a-j]\s+(?:says|is|claims|states)\b")


def last_judgement(cased: str, text: str, end: int, cut: int, setting: Setting, frame: Frame) -> Stance | None:
    """What the last sentence about the answer says of it; None where none is about it."""
    judgement: Stance | None = None
    question: Stance | None = None
    is_next, is_of_another = True, False
    if (tag := _CLOSING_TAG.match(text, end, cut)) is not None:
        end = tag.end()
    for sentence in _pieces(cased, text, end, cut):
        rests = sentence.start == end
        is_last = not text[sentence.end : cut].strip(BLANK)
        stance = replied(sentence, question) if question is not None else None
        is_bare_not = sentence.text.strip(BLANK) == "not"
        may_point = is_last and (sentence.opens_line or not is_of_another or is_bare_not or _turns(sentence))
        if stance is None and setting.value and not rests and setting.value in sentence.text:
            stance = _judged_by_name(sentence, setting)
        stance = stance or judged(sentence, setting, is_next=is_next, is_last=may_point, rests=rests)
        may_remark = not rests and (sentence.opens_line or not is_of_another)
        if may_remark and stance in _UNSAID and cut - sentence.end < _LAST_WORDS:
            stance = _remarked(text, end, sentence, setting) or stance
        question = asked(sentence, setting) if is_question(sentence.text) else None
        if stance is Stance.ASSERTED and sentence.start < frame.reach and speaker_subject(sentence.text) is None:
            stance = None  # who is quoted may call himself right
        if stance is not None:
            judgement = stance
        elif not rests:
            is_next = question is not None or looks_again(sentence)
            setting = setting._replace(is_no=setting.is_no and not is_next)
            is_of_another = _is_of_another(sentence, setting.kind)
    if judgement is None and cut < len(text):
        judgement = _last_words(cased, text, cut, setting)
    return judgement


# "The right answer is another" calls something right as well.
_UNSAID = frozenset({None, Stance.ASSERTED})


def _remarked(text: str, end: int, sentence: Sentence, setting: Setting) -> Stance | None:
    """What one of the last sentences says of the answer that speaks of answering and does not name it."""
    own_line = text.rfind("\n", end, sentence.start + 1) >= 0
    if not sentence.text.isascii() and is_unspaced(sentence.text):
        return remark_unspaced(sentence) if own_line else None
    return remark(sentence, setting, own_line=own_line)


def _last_words(cased: str, text: str, cut: int, setting: Setting) -> Stance | None:
    """Behind a run-on question only the last words can be about more than that question."""
    judgement: Stance | None = None
    question: Stance | None = None
    for sentence in _pieces(cased, text, max(cut, len(text) - HEAD), len(text)):
        judgement = replied(sentence, question) if question is not None else None
        is_last = not text[sentence.end :].strip(BLANK)
        judgement = judgement or judged(sentence, setting, is_next=False, is_last=is_last)
        question = asked(sentence, setting) if is_question(sentence.text) else None
    return judgement


def _pieces(cased: str, text: str, start: int, end: int) -> Iterator[Sentence]:
    """Sentences, of which the first and the last ones may hold the beginning of another."""
    for sentence in split_sentences(text, start, end):
        if sentence.start == start or end - sentence.end < _LAST_WORDS:
            yield from restarted(cased, sentence)
        else:
            yield sentence


def _judged_by_name(sentence: Sentence, setting: Setting) -> Stance | None:
    """What a sentence says of the answer that names it: "To be clear, Ghent is not the answer." """
    # A "no" is a word of the sentence, unless the sentence is about it.
    subject = r"(?=\"?\s+(?:is|was|isn't|cannot|can't)\b)" if setting.kind == "boolean" else r"(?!\w)"
    renamed = re.sub(rf"(?<!\w){re.escape(setting.value)}{subject}", "that", sentence.text)
    if renamed == sentence.text:
        return None
    stance = judged(sentence._replace(text=renamed), setting, is_next=True)
    return None if stance is Stance.ASSERTED else stance


def _turns(sentence: Sentence) -> bool:
    return not CONTRASTS.isdisjoint(split_words(sentence.text[:_TURN_REACH])[:1])


def _is_of_another(sentence: Sentence, kind: str) -> bool:
    """Whether what stands next in the same line is said of another option or of what somebody says."""
    if kind == "option" and _OPTION_LINE.match(sentence.text):
        return True
    words = split_words(sentence.text)
    if kind != "option" or OTHER_OPTIONS.isdisjoint(words):
        return not THIRD_PERSON.isdisjoint(words)
    return RIGHT.isdisjoint(words) or is_negated(words)  # "which makes option B the correct choice" is about the answer


def verdict_on_answer(text: str, start: int, cut: int) -> tuple[int, Stance] | None:
    """Where the sentence around `start` begins and what it says, if it is a verdict on an answer before it."""
    low = max(0, start - HEAD)
    begin = max(low, text.rfind("\n", low, start) + 1)
    line_end = text.find("\n", start, cut)
    if is_mark(text[begin : line_end if line_end >= 0 else cut], Setting("text")):
        return begin, Stance.DENIED
    question: tuple[int, Stance] | None = None
    for sentence in split_sentences(text, begin, min(cut, start + HEAD)):
        if not sentence.start <= start < sentence.end:
            about = asked(sentence, Setting("text")) if is_question(sentence.text) else None
            question = None if about is None else (sentence.start, about)
            continue
        if is_mark(sentence.text, Setting("text")):
            return sentence.start, Stance.DENIED
        if question is not None and (reply := replied(sentence, question[1])) is not None:
            return question[0], reply
        stance = judged(sentence._replace(opens_line=True), Setting("text"), is_next=True, is_last=True)
        return None if stance is None else (sentence.start, stance)
    return None


def said_of_another(text: str, start: int, end: int, cut: int) -> Stance | None:
    """Whether a polarity stands in a sentence about the answer above it."""
    # Sentences before this one need not be read.
    low = max(0, start - HEAD)
    begin = max(low, *(text.rfind(mark, low, start) for mark in ("\n", ". ", "。")))
    for sentence in split_sentences(text, begin, min(cut, end + HEAD)):
        if not sentence.start <= start < sentence.end:
            continue
        if text[:begin].strip() and holds_polarity(sentence):
            return Stance.DENIED
        if ABOVE.search(sentence.text) or (is_unspaced(sentence.text) and UNSPACED.contrasts.match(sentence.text)):
            return judged(sentence, Setting("text"), is_next=False)
        words = split_words(sentence.text)
        if not OUTCOME_VERBS.isdisjoint(words) and is_closed(words) and text[:begin].strip():
            return judged(sentence, Setting("text"), is_next=True)  # "the answer is now known to be false"
        is_reversal = not OPPOSITES.isdisjoint(words) and REVERSING.issuperset(words)
        is_pointing = bool(words) and words[0] in POINTERS
        if is_reversal or (is_pointing and (is_no_answer(words) or is_quoting(words))):
            return judged(sentence, Setting("text"), is_next=True)
        break
    return None
