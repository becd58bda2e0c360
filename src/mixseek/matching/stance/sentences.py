"""What one sentence says of an answer: a subject that is the answer, a predicate, and what turns it round."""

import re
from typing import NamedTuple

from mixseek.matching.stance.words import (
    ANSWER_NOUNS,
    ANSWERS,
    ASIDES,
    BLANK,
    CLOSED,
    CONTRASTS,
    DEGREES,
    DETERMINERS,
    DISMISSALS,
    DOUBTFUL,
    DOUBTS,
    ELSEWHERE,
    FIRST_PERSON,
    GENUINE,
    INFERENCES,
    KNOWS,
    LABELS,
    LINKS,
    LITTLE,
    LOOKING,
    MATTERS,
    MAY_ANSWER,
    MAY_BE,
    NEAR_DETERMINERS,
    NEGATORS,
    OPENERS,
    OPPOSITES,
    OTHER_ANSWERS,
    OUTCOMES,
    POINTERS,
    POLAR,
    PREDICATES,
    RECHECKS,
    REVERSING,
    RIGHT,
    SETTLED,
    SHOWING,
    SPEAKERS,
    SPEECH,
    TRUTH,
    UNSPACED,
    VALUES,
    VERDICT_VERBS,
    WEAK_ANSWERS,
    WITHDRAWS,
    WRONG,
    Sentence,
    Stance,
    is_negated,
    split_words,
)

_CLAUSE = re.compile(r"[,:()]|\s-+\s|\b(?:but|and|so|yet)\b(?! (?:far|on)\b)")
# A subject and what is said of it stand so near to each other.
NEAR = 12
# A sentence without spaces that is no longer than this needs no subject: 違います。
_BRIEF = 18
# A speaker, what he does, and what he says stand so near to each other.
VERB_REACH = 6


class Setting(NamedTuple):
    """What is known of an answer when a sentence behind it is read."""

    kind: str
    is_no: bool = False  # a polarity that itself says no: "that is false" may repeat it
    is_false: bool = False  # it says so of what was claimed: "that is not correct" may repeat it
    is_framed: bool = False  # somebody else is said to speak: "he is wrong" is about the answer
    matters: frozenset[str] = frozenset()  # nouns that the question may ask about: "the argument is not sound"
    value: str = ""  # a name or a number that may be repeated: "Ghent is not the answer"
    speaker: str = ""  # whose line of a dialogue the answer stands in: "Ann: you are wrong" is about it


def repeats(words: list[str], setting: Setting) -> bool:
    """Whether a sentence that calls something wrong may say a "no" once more; of a "false" also "not correct" does."""
    if not setting.is_no:
        return False
    again = POLAR - NEGATORS - (frozenset() if setting.is_false else frozenset({"right", "correct"}))
    return not again.isdisjoint(words)


def is_question(text: str) -> bool:
    """Also without a question mark: 正しいでしょうか。"""
    text = text.rstrip(" \"'*)")
    return text.endswith(("?", "でしょうか。", "ですか。", "だろうか。"))


def judged(
    sentence: Sentence, setting: Setting, *, is_next: bool, is_last: bool = False, rests: bool = False
) -> Stance | None:
    """What a sentence behind the answer says of it; `is_next`: nothing else was spoken of in between."""
    if is_question(sentence.text):
        return None
    if not sentence.text.isascii() and (stance := _judged_unspaced(sentence, setting)) is not None:
        return stance
    words = split_words(sentence.text)
    if PREDICATES.isdisjoint(words):
        return None
    if words[0] == "what" and words[1] in {"a", "an", "utter", "complete", "total"}:
        words = [word for word in words[2:] if word not in {"load", "pile", "bunch", "heap", "of"}] or words
    if setting.speaker and labelled(sentence.text, 0) not in {"", setting.speaker}:
        return _replied(words[1:])
    is_contrast = sentence.opens_line or words[0] in CONTRASTS
    may_point = is_next or (is_last and (is_closed(words) or RECHECKS.issuperset(words)))
    setting = setting._replace(is_no=setting.is_no and not is_contrast, matters=_matters(sentence, words, setting))
    spoken = None
    if is_last and sentence.text.strip(BLANK) == "not":
        spoken = Stance.DENIED
    elif (is_next or (is_last and sentence.opens_line)) and not rests and _is_bare(words):
        is_polar = setting.kind == "boolean" and (POLAR if setting.is_no else MAY_ANSWER).issuperset(words)
        spoken = None if is_polar else valued(words, is_own=True)
    for place, clause in enumerate(_CLAUSE.split(sentence.text)):
        words = split_words(clause)
        if rests and place == 0 and not _begins_anew(words, setting):
            continue  # the rest of the answer's own clause is read where the answer is
        if place == 0 and may_point and _is_bare(words) and not _JOKES.isdisjoint(words):
            spoken = Stance.DENIED
        spoken = _clause_stance(words, setting, may_point) or spoken
    return spoken


def _matters(sentence: Sentence, words: list[str], setting: Setting) -> frozenset[str]:
    """The nouns that may be what the question asks about; none behind a "but", and no inference in its own line."""
    if not setting.matters or words[0] in CONTRASTS:
        return frozenset()
    if words[0] in NEAR_DETERMINERS and POLAR.isdisjoint(words) and is_closed(words):
        return frozenset()  # "this claim is unfounded" is no other word for an "invalid"
    return MATTERS - INFERENCES if sentence.opens_line and is_closed(words) else MATTERS


def _begins_anew(words: list[str], setting: Setting) -> bool:
    """Behind an answer without a full stop a sentence of its own: "42 This cannot be correct", "42 He was wrong"."""
    if setting.is_framed and len(words) > 1 and words[0] in {"he", "she", "they"}:
        return words[1] in LINKS
    if len(words) < 2 or not REVERSING.issuperset(words):
        return False
    if words[0] in WITHDRAWS or words[0] in FIRST_PERSON or words[0] in {"please", "there"}:
        return True
    return len(words) > 2 and (words[0] not in LINKS or not OPPOSITES.isdisjoint(words))


_LABEL = re.compile(r"[\s*\"]*([a-z]{2,20})\**:")


def labelled(text: str, start: int) -> str:
    """The name before a line of a dialogue ("Bob: …"); empty where there is none, or a heading such as "Answer:"."""
    label = _LABEL.match(text, start)
    return label[1] if label is not None and label[1] not in LABELS and label[1] not in ANSWER_NOUNS else ""


def _replied(words: list[str]) -> Stance | None:
    """What another one in a dialogue says to the one who gave the answer: "You are mistaken.", "That is wrong." """
    body = [word for word in words if word not in OPENERS]
    if not body or (body[0] not in {"you", "your"} and not is_closed(body)):
        return None
    return valued(body[:NEAR], is_own=False)


def is_closed(words: list[str]) -> bool:
    """A sentence without a word of its own speaks of nothing but the answer: "But none of that is true." """
    return REVERSING.issuperset(words) if "i" not in words else CLOSED.issuperset(words)


def _is_bare(words: list[str]) -> bool:
    """A sentence without a subject that is nothing but a predicate: "Not true.", "Just kidding!", "No idea." """
    rest = [word for word in words if word not in OPENERS and word not in LITTLE]
    return bool(rest) and VALUES.issuperset(rest)


# "Just kidding, …": said of all that was said.
_JOKES = frozenset({"kidding", "joking", "joke", "lying", "oops"})
# Who cannot even guess does not know, and of what is not doubtful there is no doubt.
_GUESSES = (DOUBTS | KNOWS - ANSWER_NOUNS) - DOUBTFUL


def valued(words: list[str], *, is_own: bool) -> Stance | None:
    """The predicate of a clause, turned round by each negation; `is_own`: what the answering one knows counts."""
    vocabulary = set(words)
    negated = is_negated(words)
    if negated and vocabulary & DOUBTS and vocabulary.isdisjoint(_GUESSES):
        return Stance.ASSERTED  # "there is no doubt about this"
    if vocabulary & DOUBTS or (negated and vocabulary & (KNOWS | SETTLED if is_own else SETTLED)):
        return Stance.DOUBTED
    is_wrong, is_right = not vocabulary.isdisjoint(WRONG), not vocabulary.isdisjoint(RIGHT)
    if negated and vocabulary & DEGREES:
        return None
    if (is_wrong or is_right) and vocabulary & MAY_BE:
        return Stance.DOUBTED
    if is_wrong or is_right:
        return Stance.DENIED if is_wrong != negated else Stance.ASSERTED
    return Stance.DENIED if negated and len(words) == 1 else None


def _clause_stance(words: list[str], setting: Setting, may_point: bool) -> Stance | None:
    if PREDICATES.isdisjoint(words):
        return None
    first = next((place for place, word in enumerate(words) if not is_opener(words, place)), len(words) - 1)
    if first and words[first] == "that" and words[first - 1] == "note":
        first = min(first + 1, len(words) - 1)
    words, first = _without_recheck(words, first)
    body = words[first:]
    if body[0] in FIRST_PERSON and not (body[0] in {"my", "our"} and ANSWER_NOUNS.isdisjoint(body[:4])):
        return _own_stance(body, setting.matters)
    if not OPPOSITES.isdisjoint(body):
        return _reversed(body, setting, may_point)
    if _is_elsewhere(words):
        return None
    if not WITHDRAWS.isdisjoint(body):
        return Stance.TAKEN_BACK if _is_withdrawn(body, setting.matters) else None
    return _said_behind(body, setting, may_point) or _said_of_subject(body, setting, may_point)


def _without_recheck(words: list[str], first: int) -> tuple[list[str], int]:
    """A clause without the words before its subject that only look at it again: "on a second look this is wrong"."""
    if words[first] not in LOOKING and words[first] not in SHOWING:
        return words, first
    for place in range(first + 1, min(first + NEAR, len(words) - 1)):
        is_subject = words[place] in POINTERS and (words[place + 1] in LINKS or words[place + 1] == "to")
        if is_subject or (words[place] in DETERMINERS | NEAR_DETERMINERS and words[place + 1] in ANSWERS):
            return words[place:], 0
        if words[place] not in SHOWING and words[place] not in RECHECKS:
            break
    return words, first


def _said_behind(body: list[str], setting: Setting, may_point: bool) -> Stance | None:
    """What a clause says of the answer that names it behind its verb, or by whoever gave it."""
    if body[0] in {"do", "not", "never"} and not RIGHT.isdisjoint(body) and _names_answer(body, setting.matters):
        return Stance.DENIED  # "Do not trust the above"
    if body[0] in _IMPERSONAL and is_negated(body) and is_closed(body) and _names_answer(body, setting.matters):
        # "There is no truth to this", "no evidence supports this answer"
        is_pointed = any(is_answer(body, place, setting.matters) for place in range(len(body)))
        return valued(body, is_own=False) if may_point or is_pointed else None
    if _objects(body, setting):
        return valued(body, is_own=False)
    if setting.is_framed and (speaker := _speaker(body)) is not None:
        return valued(body[speaker : speaker + NEAR], is_own=False)
    if may_point and body[0] in POINTERS and is_negated(body) and {"what", "i"}.issubset(body):
        return Stance.DENIED  # "that is not what I meant"
    if is_no_answer(body, setting.matters):
        is_own = not {"my", "our"}.isdisjoint(body)  # of options nobody says that they are not *my* answer
        if _subject(body, setting.matters, may_point or is_own) is not None:
            return Stance.DENIED
    return None


def _said_of_subject(body: list[str], setting: Setting, may_point: bool) -> Stance | None:
    subject = _subject(body, setting.matters, may_point and not repeats(body, setting))
    if subject is None:
        return None
    is_named = body[subject] == "i" or is_answer(body, subject, setting.matters)
    is_dismissed = not DISMISSALS.isdisjoint(body) and REVERSING.issuperset(body)
    return _said_of_it(body, subject, setting) if is_named or is_dismissed or not TRUTH.isdisjoint(body) else None


def _is_elsewhere(words: list[str]) -> bool:
    if ELSEWHERE.isdisjoint(words):
        return False
    # "has since been refuted" gives a time, "since it is wrong" a reason.
    times = [place for place, word in enumerate(words) if word == "since" and place and words[place - 1] in _HAS]
    return len(times) != sum(word in ELSEWHERE for word in words)


_HAS = frozenset({"has", "have", "had"})


def _objects(body: list[str], setting: Setting) -> bool:
    """Whether something is said to support the answer or to speak against it: "the facts contradict this answer"."""
    verb = next((place for place, word in enumerate(body) if word in VERDICT_VERBS), len(body))
    return any(is_answer(body, place, setting.matters) for place in range(verb + 1, min(len(body), verb + VERB_REACH)))


def _said_of_it(body: list[str], subject: int, setting: Setting) -> Stance | None:
    """What a clause says whose subject is the answer."""
    stance = valued(body[: subject + NEAR], is_own=False)
    if stance is None and not {"work", "works"}.isdisjoint(body[subject + 1 :]):
        negated = is_negated(body)
        return Stance.DENIED if negated and DEGREES.isdisjoint(body) else None  # "this argument does not work"
    if stance is None and is_negated(body) and ASIDES.isdisjoint(body) and DEGREES.isdisjoint(body):
        # Whatever an answer is said not to be or to do, it is not asserted by that.
        is_own = not THESE.isdisjoint(body[: subject + 3]) and is_answer(body, subject, setting.matters)
        return Stance.DOUBTED if is_own else None
    return stance


# Subjects of a sentence that has the answer behind its predicate.
_IMPERSONAL = NEGATORS | {"there", "you", "one", "nobody", "people", "little"}


def is_opener(words: list[str], place: int) -> bool:
    """ "No, this is right" begins with an opener, "no part of this is right" with a negation."""
    if words[place] not in OPENERS:
        return False
    return words[place] != "no" or words[place + 1 : place + 2] == [] or words[place + 1] in _AFTER_NO


_AFTER_NO = (POINTERS | DETERMINERS | NEAR_DETERMINERS | FIRST_PERSON | OPENERS | CONTRASTS) - {"such"}
# What of an answer is said to be right or not: "no part of it", "not a word of the above".
_PORTIONS = frozenset({"part", "word", "words", "bit", "piece", "single", "line", "step"}) | ANSWER_NOUNS


def is_no_answer(words: list[str], matters: frozenset[str] = frozenset()) -> bool:
    """Whether something is said to be no answer, or not the real one: "this is not my actual answer"."""
    if not is_negated(words) or not DEGREES.isdisjoint(words):
        return False
    negator = next(place for place, word in enumerate(words) if word in NEGATORS)
    for place in range(negator + 1, len(words)):
        if words[place] not in ANSWER_NOUNS or words[place] in matters:
            continue
        begin = place
        while begin > negator + 1 and words[begin - 1] in GENUINE:
            begin -= 1
        is_determined = words[begin - 1] in _ARTICLES or words[begin - 1] in NEGATORS
        if is_determined and (begin < place or words[place] in ANSWERS):
            # "This answer is not right" has it as its subject, "this is not the answer" as its predicate.
            return not LINKS.isdisjoint(words[:begin])
    return False


_ARTICLES = frozenset({"the", "a", "an", "my", "our", "any", "its"})


def _reversed(body: list[str], setting: Setting, may_point: bool) -> Stance | None:
    """ "The opposite is true", "the truth is the reverse of what I said", in a sentence about nothing else."""
    if (not may_point or setting.is_no) and not is_quoting(body) and THESE.isdisjoint(body):
        return None
    is_said = not {"is", "was", "are", "be", "holds", "hold", "applies"}.isdisjoint(body)  # "on the contrary" leads on
    if not is_said or not REVERSING.issuperset(body) or body[0] in NEGATORS:
        return None
    negated = is_negated(body)
    is_wrong = not WRONG.isdisjoint(body)
    return Stance.DENIED if negated == is_wrong else None


def is_quoting(words: list[str]) -> bool:
    """ "what I wrote", "nothing I just said": the answer, by who gave it."""
    return "i" in words and not SPEECH.isdisjoint(words[words.index("i") + 1 :][:4])


def _own_stance(body: list[str], matters: frozenset[str]) -> Stance | None:
    """Said by the one who answers: of a slip, of not knowing, of taking it back."""
    if not {"if", "unless", "when"}.isdisjoint(body):
        return None
    names_answer = _names_answer(body, matters)
    if not WITHDRAWS.isdisjoint(body) or {"take", "back"}.issubset(body):
        return Stance.TAKEN_BACK if names_answer else None
    stance = valued(body[:NEAR], is_own=body[0] == "i")  # "we cannot determine the order" is a step
    # "I am right" may be about anything; who errs or does not know has said so.
    return None if stance is Stance.ASSERTED and (not names_answer or "hope" in body) else stance


def _is_withdrawn(body: list[str], matters: frozenset[str]) -> bool:
    """ "Ignore the above", "you should disregard my answer", "this answer is withdrawn", "never mind"."""
    if body[0] in WITHDRAWS and len(body) == 1:
        return True
    leads = body[0] in WITHDRAWS or body[0] in {"you", "one", "let", "kindly"}
    return (leads or _subject(body, matters, may_point=True) is not None) and _names_answer(body, matters)


def _speaker(body: list[str]) -> int | None:
    """Where one who was said to speak is the subject."""
    return next((place for place, word in enumerate(body[:4]) if word in SPEAKERS or word in {"he", "she"}), None)


def speaker_subject(sentence: str) -> int | None:
    return _speaker(split_words(sentence))


def _subject(body: list[str], matters: frozenset[str], may_point: bool) -> int | None:
    """Where the answer is named as what the clause is about."""
    for place, word in enumerate(body[:NEAR]):
        if word in PREDICATES and word not in ANSWER_NOUNS and word not in POINTERS and word not in NEGATORS:
            break
        if is_answer(body, place, matters) and (may_point or word not in WEAK_ANSWERS or not THESE.isdisjoint(body)):
            return place
    if (body[0] in POINTERS or body[0] == "what") and is_quoting(body[:VERB_REACH]):
        return body.index("i")
    if body[0] in NEGATORS and "of" in body[2:4] and not _PORTIONS.isdisjoint(body[1:3]):
        return body.index("of") if may_point else None  # "no part of this", "not a word of it"
    is_pointer = body[0] in POINTERS and (
        len(body) == 1 or body[1] in LINKS or body[1] in PREDICATES or body[1:3] == ["to", "be"]
    )
    return 0 if is_pointer and may_point else None


# Words that can only mean what was said before them.
THESE = frozenset({"my", "our", "above", "previous", "preceding", "foregoing"})


def is_answer(words: list[str], place: int, matters: frozenset[str]) -> bool:
    before = words[max(0, place - 3) : place]
    if words[place] in {"above", "foregoing", "preceding"}:
        return "the" in before or place == 0
    if words[place] not in ANSWER_NOUNS or not OTHER_ANSWERS.isdisjoint(before):
        return False
    if not THESE.isdisjoint(before) or not THESE.isdisjoint(words[place + 1 : place + 4]):
        return True
    if words[place] in matters:
        return False
    if not NEAR_DETERMINERS.isdisjoint(before):
        return True
    # "The result is a nonsensical name" is about the matter, "the result cannot be trusted" about nothing else.
    is_noun = words[place] in ANSWERS or (words[place] in OUTCOMES and is_closed(words))
    return is_noun and not DETERMINERS.isdisjoint(before)


def _names_answer(words: list[str], matters: frozenset[str]) -> bool:
    is_quoted = "what" in words and "i" in words  # "forget what I said"
    return (
        is_quoted
        or not POINTERS.isdisjoint(words)
        or any(is_answer(words, place, matters) for place in range(len(words)))
    )


def _judged_unspaced(spoken: Sentence, setting: Setting) -> Stance | None:
    sentence = spoken.text
    if UNSPACED.elsewhere.search(sentence):
        return None
    if setting.matters and not UNSPACED.contrasts.match(sentence) and not ABOVE.search(sentence):
        matters = UNSPACED.other_matters if spoken.opens_line else UNSPACED.matters
        if matters.search(sentence):
            return None
    if setting.is_framed and UNSPACED.speaker_errs.search(sentence):
        return Stance.DENIED
    is_brief = len(sentence.strip()) <= _BRIEF
    if not is_brief and not UNSPACED.back.search(sentence) and not UNSPACED.first_person.search(sentence):
        return None
    if UNSPACED.withdraws.search(sentence):
        return Stance.TAKEN_BACK
    cleared = UNSPACED.unwrong.sub("", sentence)
    if UNSPACED.doubts.search(cleared):
        return Stance.DOUBTED
    if UNSPACED.wrong.search(cleared):
        return Stance.DENIED
    return Stance.ASSERTED if len(cleared) < len(sentence) or UNSPACED.right.search(sentence) else None


# Before a polarity that is said of the answer and is none: "The above answer is incorrect", 計算を間違えました.
ABOVE = re.compile(
    r"above|previous|preceding|earlier|上記|以上|先ほど|さっき|今の|上の|計算|说明|説明|上面|上述|刚才|剛才|我的|私の"
    r"|逆|反対|相反|答えで|答案|[こそ]の(?:答|回答|解答)"
)
