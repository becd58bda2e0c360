"""A question about the answer behind it, and the reply: "Is that right? I'm afraid not." """

from mixseek.matching.stance.sentences import NEAR, Setting, is_answer, repeats
from mixseek.matching.stance.words import (
    DEGREES,
    ELSEWHERE,
    FIRST_PERSON,
    KNOWS,
    NEGATORS,
    OPENERS,
    RECHECKS,
    REPLIES_NO,
    REPLIES_YES,
    REPLYING,
    RIGHT,
    SETTLED,
    UNSPACED,
    WRONG,
    Sentence,
    Stance,
    is_negated,
    split_words,
)

_AUXILIARIES = frozenset(
    {"is", "was", "are", "were", "does", "do", "did", "can", "could", "should", "would", "will", "has", "have", "am"}
)


# Asked of what was just said, and not of what it is about.
_ON_ANSWERS = frozenset({"right", "correct", "accurate", "wrong", "incorrect"})


def asked(sentence: Sentence, setting: Setting) -> Stance | None:
    """What a yes to a question about the answer would say of it; None where it asks about something else."""
    if not sentence.text.isascii():
        is_right = UNSPACED.asks_right.search(sentence.text) and UNSPACED.back.search(sentence.text)
        return Stance.ASSERTED if is_right else None
    words = split_words(sentence.text)
    while words and words[0] in OPENERS:
        words = words[1:]
    if not words or not ELSEWHERE.isdisjoint(words) or not RECHECKS.issuperset(words) or not DEGREES.isdisjoint(words):
        return None
    body = words[1:] if words[0] in _AUXILIARIES else words
    names_answer = any(is_answer(body, place, setting.matters) for place in range(len(body)))
    if not names_answer and repeats(body, setting) and _ON_ANSWERS.isdisjoint(body):
        return None
    if not WRONG.isdisjoint(body):
        return Stance.DENIED
    is_about = not RIGHT.isdisjoint(body) or not SETTLED.isdisjoint(body) or not KNOWS.isdisjoint(body)
    return Stance.ASSERTED if is_about else None


def replied(sentence: Sentence, question: Stance) -> Stance | None:
    """What the sentence behind a question about the answer says of it: "I'm afraid not." """
    if not sentence.text.isascii():
        is_no = UNSPACED.replies_no.match(sentence.text) is not None
        return _opposite(question) if is_no else None
    words = split_words(sentence.text)
    if not words or words[0] in REPLIES_YES:
        return question if words and NEGATORS.isdisjoint(words) else None
    is_reply = words[0] in REPLIES_NO or (len(words) <= NEAR and REPLYING.issuperset(words) and is_negated(words))
    return _opposite(question) if is_reply else None


def _opposite(stance: Stance) -> Stance:
    return Stance.ASSERTED if stance is Stance.DENIED else Stance.DENIED


def looks_again(sentence: Sentence) -> bool:
    """ "Let me double-check this." speaks of the answer and says nothing of it: what comes next may point at it."""
    words = split_words(sentence.text)
    is_own = not FIRST_PERSON.isdisjoint(words)
    return is_own and RECHECKS.issuperset(words)
