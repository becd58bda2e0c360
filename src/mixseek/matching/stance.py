"""Whether a response stands by the answer found in it, or denies it, doubts it, drops it or leaves it to somebody else.

A sentence *about* the answer is told by what it is made of: a subject that is the answer as a whole ("the above", "my
solution", "that", 上記の答え), a predicate that calls it right, wrong, withdrawn or unknown, and negations that turn it
round. The words stand in classes (`phrases.toml`) that combine, so that no wording has to be listed.

Three places count: behind the answer the last such sentence; before it a sentence at the head of the response that
hands all that follows to somebody else or calls it wrong; and around it what such a sentence says on both sides of a
quotation. Inside the sentence of the answer itself, `choice.py` and `match.py` have read what is said.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from mixseek.matching.visible import Phrases, table


class Stance(StrEnum):
    """What a response does with an answer; every one but the first takes a "correct" away."""

    ASSERTED = "asserted"
    DENIED = "denied"
    TAKEN_BACK = "taken_back"
    DOUBTED = "doubted"
    ATTRIBUTED = "attributed"
    SUPPOSED = "supposed"


_SAYS = Phrases("stance_unspaced")
_CLASSES = {name: frozenset(words.split()) for name, words in table("stance").items()}
# Subjects.
_ANSWERS, _WEAK_ANSWERS = _CLASSES["answers"], _CLASSES["weak_answers"]
_MATTERS, _INFERENCES, _OUTCOMES = _CLASSES["matters"], _CLASSES["inferences"], _CLASSES["outcomes"]
_POINTERS, _LINKS, _FIRST_PERSON = _CLASSES["pointers"], _CLASSES["links"], _CLASSES["first_person"]
_DETERMINERS, _NEAR_DETERMINERS = _CLASSES["determiners"], _CLASSES["near_determiners"]
_OTHER_ANSWERS, _ELSEWHERE, _OPENERS = _CLASSES["other_answers"], _CLASSES["elsewhere"], _CLASSES["openers"]
_ANSWER_NOUNS = _ANSWERS | _WEAK_ANSWERS
# Predicates, and what turns or weakens them.
_WRONG, _RIGHT, _WITHDRAWS = _CLASSES["wrong"], _CLASSES["right"], _CLASSES["withdraws"]
_KNOWS, _SETTLED, _DOUBTS = _CLASSES["knows"], _CLASSES["settled"], _CLASSES["doubts"]
_TRUTH, _GENUINE, _OPPOSITES = _CLASSES["truth"], _CLASSES["genuine"], _CLASSES["opposites"]
_NEGATORS, _MAY_BE, _DEGREES = _CLASSES["negators"], _CLASSES["may_be"], _CLASSES["degrees"]
_VALUES = _WRONG | _RIGHT | _DOUBTS | _KNOWS | _SETTLED | _NEGATORS | _MAY_BE
# Frames.
_SPEAKERS, _SPEECH, _SUPPOSES = _CLASSES["speakers"], _CLASSES["says"], _CLASSES["supposes"]
_AHEAD, _BACKWARD = _CLASSES["ahead"], _CLASSES["backward"]
_FORWARD, _LABELS = _CLASSES["forward"], _CLASSES["labels"]
_FRAME_VALUES = _SUPPOSES | _WRONG | _DOUBTS | _WITHDRAWS | {"believe"}
_FRAMING = _SPEECH | _SPEAKERS | _FRAME_VALUES

# Without one of these a sentence says nothing about an answer.
_PREDICATES = _WRONG | _RIGHT | _WITHDRAWS | _KNOWS | _SETTLED | _DOUBTS | _NEGATORS | _OPPOSITES | {"back"}
# Beside a predicate, in a sentence of nothing else: "Not at all right.", "Just a guess."
_LITTLE = _CLASSES["little"]
_CONTRASTS = _CLASSES["contrasts"]
_CLOSED = (
    _VALUES | _WITHDRAWS | _OPENERS | _LITTLE | _POINTERS | _ANSWER_NOUNS | _DETERMINERS | _NEAR_DETERMINERS | _LINKS
)
# Words for a polarity: behind one of its kind they may be it once more. What denies a "yes" is no repetition of it.
_POLAR, _POLAR_NO = _CLASSES["polar"], _CLASSES["polar_no"]
# In a sentence that says of all that was said that its opposite is so.
_REVERSING = _CLOSED | _GENUINE | _OPPOSITES | _FIRST_PERSON | _SPEECH | _CLASSES["reversing"]

_BREAK = re.compile(r"[.!?](?=[\s\"')*\]}]|$|[^\x00-\x7f])|[。;\n]|\"(?=\s)|\\n")
_CLAUSE = re.compile(r"[,:()]|\s-+\s|\b(?:but|and|so|yet)\b(?! (?:far|on)\b)")
_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")
_CLOSING_TAG = re.compile(r"\s{0,8}</\w{1,20}>")
_LETTERS = re.compile(r"[^\W\d_]{2}")
# Several words that are one predicate.
_JOINED = re.compile(
    r"\b(?:made up|make up|never mind|(?:falls?|fell|falling|comes?) apart|(?:breaks|broke) down|other way a?round)\b"
)
_JOINTS = (" up", " mind", " apart", " down", "way ")
# A subject and what is said of it stand so near to each other.
_NEAR = 12
# A sentence without spaces that is no longer than this needs no subject: 違います。
_BRIEF = 18
# A frame stands at the head of a response, and a quotation that it opens begins at once.
_FRAME_HEAD = 240
_EARLY_QUOTE = 40
# So far around a place its sentence is looked for.
_HEAD = 400
_HEAD_SENTENCES = 3
_BLANK = " \t\n\r.!*_\"'`)]}$>|#-。"


class _Sentence(NamedTuple):
    start: int
    end: int
    text: str
    opens_line: bool


class _Setting(NamedTuple):
    """What is known of an answer when a sentence behind it is read."""

    kind: str
    is_no: bool = False  # a polarity that itself says no: "that is false" may repeat it
    is_framed: bool = False  # somebody else is said to speak: "he is wrong" is about the answer
    matters: frozenset[str] = frozenset()  # nouns that the question may ask about: "the argument is not sound"
    speaker: str = ""  # whose line of a dialogue the answer stands in: "Ann: you are wrong" is about it


class _Frame(NamedTuple):
    """A sentence at the head that somebody else may speak behind; None where it is only a hint of one."""

    stance: Stance | None
    reach: int  # where what it introduces ends


_UNFRAMED = _Frame(None, -1)


def stance_on(lowered: str, start: int, end: int, cut: int, kind: str) -> Stance:
    """What the response does with the answer at [start, end) of its lower-case text, of which [0, cut) counts."""
    frame = _frame_before(lowered, start, cut)
    behind: Stance | None = None
    if lowered[end:].strip(_BLANK):
        is_no = kind == "boolean" and not _POLAR_NO.isdisjoint(_words(lowered[start:end]))
        setting = _Setting(
            kind, is_no, frame.reach >= 0, _MATTERS if kind == "boolean" else frozenset(), _labelled(lowered, 0)
        )
        behind = _last_judgement(lowered, end, cut, setting, frame)
    if behind is None and kind == "boolean":
        behind = _said_of_another(lowered, start, end, cut)
    within = _within(lowered, start, end, cut) if kind == "text" else None
    return behind or frame.stance or within or Stance.ASSERTED


def _sentences(text: str, start: int, end: int) -> Iterator[_Sentence]:
    begin, opens_line = start, False
    for mark in _BREAK.finditer(text, start, end):
        if mark.start() > begin and _LETTERS.search(text, begin, mark.start()):
            yield _Sentence(begin, mark.end(), text[begin : mark.end()], opens_line)
            opens_line = False
        opens_line = opens_line or mark[0] in {"\n", "\\n"}
        begin = mark.end()
    if _LETTERS.search(text, begin, end):
        yield _Sentence(begin, end, text[begin:end], opens_line)


def _words(text: str) -> list[str]:
    """Words with their contractions taken apart: "isn't" says not, "that's" is that."""
    if any(joint in text for joint in _JOINTS):
        text = _JOINED.sub(lambda found: found[0].replace(" ", "-"), text)
    return ["not" if word.endswith("n't") else word.partition("'")[0] for word in _WORD.findall(text)]


# In the sentence of a name in prose: asked about, or what others think and the response contradicts.

_ASKED = re.compile(r"[^.!?。\n\"]{0,80}\?\s*([^.!?。,\n]*)")
_TURNS = re.compile(
    r"[^.!?。\n]{0,80}?(?:[,;.]\s+|\s)(?:but|however|actually|in fact|in reality|yet|though)\b"
    r"|[^.!?。\n]{0,40}?(?:が,|けど|しかし|実は|実際|其实|其實|但|不过|不過|然而|实际上)"
)
_TURN_WORDS = ("but", "however", "actually", "in fact", "in reality", "yet", "though")
_MYTH = re.compile(r"\b(?:misconceptions?|myths?|mistakenly|wrongly|erroneously)\b")
_SENTENCE_START = re.compile(r"[.!?。\n](?=\s|$)")


def _within(text: str, start: int, end: int, cut: int) -> Stance | None:
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
    myth = _MYTH.search(text, max(0, start - _HEAD), start)
    if turn is None and myth is None:
        return None
    begin = max((mark.end() for mark in _SENTENCE_START.finditer(text, max(0, start - _HEAD), start)), default=0)
    if turn is None or (myth is not None and myth.start() >= begin):
        return Stance.DENIED if myth is not None and myth.start() >= begin else None
    before = _words(text[begin:start])
    if not text.isascii():
        clause = text[begin:start] + turn[0]
        return Stance.ATTRIBUTED if _SAYS.speakers.search(clause) and _SAYS.says.search(clause) else None
    is_guess = not _MAY_BE.isdisjoint(before) and not {"you", "one", "we"}.isdisjoint(before)
    return Stance.ATTRIBUTED if is_guess or _is_spoken(before) else None


# Behind the answer: sentences about it.


def _last_judgement(text: str, end: int, cut: int, setting: _Setting, frame: _Frame) -> Stance | None:
    """What the last sentence about the answer says of it; None where none is about it."""
    judgement: Stance | None = None
    is_next = True
    if (tag := _CLOSING_TAG.match(text, end, cut)) is not None:
        end = tag.end()
    for sentence in _sentences(text, end, cut):
        rests = sentence.start == end
        is_last = not text[sentence.end : cut].strip(_BLANK)
        stance = _judged(sentence, setting, is_next=is_next, is_last=is_last, rests=rests)
        if stance is Stance.ASSERTED and sentence.start < frame.reach and _speaker_subject(sentence.text) is None:
            stance = None  # who is quoted may call himself right
        if stance is not None:
            judgement = stance
        elif not rests:
            is_next = False
    if judgement is None and cut < len(text):
        # Behind a run-on question only the last words can be about more than that question.
        for sentence in _sentences(text, max(cut, len(text) - _HEAD), len(text)):
            judgement = _judged(sentence, setting, is_next=False, is_last=not text[sentence.end :].strip(_BLANK))
    return judgement


def _judged(
    sentence: _Sentence, setting: _Setting, *, is_next: bool, is_last: bool = False, rests: bool = False
) -> Stance | None:
    """What a sentence behind the answer says of it; `is_next`: nothing else was spoken of in between."""
    if sentence.text.rstrip(" \"'*)").endswith("?"):
        return None
    if not sentence.text.isascii() and (stance := _judged_unspaced(sentence, setting)) is not None:
        return stance
    words = _words(sentence.text)
    if _PREDICATES.isdisjoint(words):
        return None
    if setting.speaker and _labelled(sentence.text, 0) not in {"", setting.speaker}:
        return _replied(words[1:])
    is_contrast = sentence.opens_line or words[0] in _CONTRASTS
    may_point = is_next or (is_last and is_contrast and _is_closed(words))
    setting = setting._replace(is_no=setting.is_no and not is_contrast, matters=_matters(sentence, words, setting))
    found = None
    if is_last and sentence.text.strip(_BLANK) == "not":
        found = Stance.DENIED
    elif (is_next or (is_last and sentence.opens_line)) and not rests and _is_bare(words):
        is_polar = setting.kind == "boolean" and _POLAR.issuperset(words)
        found = None if is_polar else _valued(words, is_own=True)
    for place, clause in enumerate(_CLAUSE.split(sentence.text)):
        words = _words(clause)
        if rests and place == 0 and not _begins_anew(words, setting):
            continue  # the rest of the answer's own clause is read where the answer is
        found = _clause_stance(words, setting, may_point) or found
    return found


def _matters(sentence: _Sentence, words: list[str], setting: _Setting) -> frozenset[str]:
    """The nouns that may be what the question asks about; none behind a "but", and no inference in its own line."""
    if not setting.matters or words[0] in _CONTRASTS:
        return frozenset()
    return _MATTERS - _INFERENCES if sentence.opens_line and _is_closed(words) else _MATTERS


def _begins_anew(words: list[str], setting: _Setting) -> bool:
    """Behind an answer without a full stop a sentence of its own: "42 This cannot be correct", "42 He was wrong"."""
    if setting.is_framed and len(words) > 1 and words[0] in {"he", "she", "they"}:
        return words[1] in _LINKS
    may_begin = words[:1] and (words[0] in _POINTERS or not _OPPOSITES.isdisjoint(words))
    return bool(may_begin) and len(words) > 2 and _REVERSING.issuperset(words)


_LABEL = re.compile(r"[\s*\"]*([a-z]{2,20})\**:")


def _labelled(text: str, start: int) -> str:
    """The name before a line of a dialogue ("Bob: …"); empty where there is none, or a heading such as "Answer:"."""
    label = _LABEL.match(text, start)
    return label[1] if label is not None and label[1] not in _LABELS and label[1] not in _ANSWER_NOUNS else ""


def _replied(words: list[str]) -> Stance | None:
    """What another one in a dialogue says to the one who gave the answer: "You are mistaken.", "That is wrong." """
    body = [word for word in words if word not in _OPENERS]
    if not body or (body[0] not in {"you", "your"} and not _is_closed(body)):
        return None
    return _valued(body[:_NEAR], is_own=False)


def _is_closed(words: list[str]) -> bool:
    """A sentence without a word of its own speaks of nothing but the answer: "But none of that is true." """
    return _REVERSING.issuperset(words) if "i" not in words else _CLOSED.issuperset(words)


def _is_bare(words: list[str]) -> bool:
    """A sentence without a subject that is nothing but a predicate: "Not true.", "Just kidding!", "No idea." """
    rest = [word for word in words if word not in _OPENERS and word not in _LITTLE]
    return bool(rest) and _VALUES.issuperset(rest)


def _valued(words: list[str], *, is_own: bool) -> Stance | None:
    """The predicate of a clause, turned round by each negation; `is_own`: what the answering one knows counts."""
    vocabulary = set(words)
    is_negated = sum(word in _NEGATORS for word in words) % 2 == 1
    if vocabulary & _DOUBTS or (is_negated and vocabulary & (_KNOWS | _SETTLED if is_own else _SETTLED)):
        return Stance.DOUBTED
    is_wrong, is_right = not vocabulary.isdisjoint(_WRONG), not vocabulary.isdisjoint(_RIGHT)
    if is_negated and vocabulary & _DEGREES:
        return None
    if (is_wrong or is_right) and vocabulary & _MAY_BE:
        return Stance.DOUBTED
    if is_wrong or is_right:
        return Stance.DENIED if is_wrong != is_negated else Stance.ASSERTED
    return Stance.DENIED if is_negated and len(words) == 1 else None


def _clause_stance(words: list[str], setting: _Setting, may_point: bool) -> Stance | None:
    if _PREDICATES.isdisjoint(words):
        return None
    first = next((place for place, word in enumerate(words) if not _is_opener(words, place)), len(words) - 1)
    if first and words[first] == "that" and words[first - 1] == "note":
        first = min(first + 1, len(words) - 1)
    body = words[first:]
    if body[0] in _FIRST_PERSON and not (body[0] in {"my", "our"} and _ANSWER_NOUNS.isdisjoint(body[:4])):
        return _own_stance(body, setting.matters)
    if not _OPPOSITES.isdisjoint(body):
        return _reversed(body, setting, may_point)
    if not _ELSEWHERE.isdisjoint(words):
        return None
    if not _WITHDRAWS.isdisjoint(body):
        return Stance.TAKEN_BACK if _is_withdrawn(body, setting.matters) else None
    if body[0] in {"do", "not", "never"} and not _RIGHT.isdisjoint(body) and _names_answer(body, setting.matters):
        return Stance.DENIED  # "Do not trust the above"
    if setting.is_framed and (speaker := _speaker(body)) is not None:
        return _valued(body[speaker : speaker + _NEAR], is_own=False)
    if _is_no_answer(body, setting.matters):
        is_own = not {"my", "our"}.isdisjoint(body)  # of options nobody says that they are not *my* answer
        if _subject(body, setting.matters, may_point or is_own) is not None:
            return Stance.DENIED
    subject = _subject(body, setting.matters, may_point and not setting.is_no)
    if subject is None or (
        body[subject] != "i" and not _is_answer(body, subject, setting.matters) and _TRUTH.isdisjoint(body)
    ):
        return None
    stance = _valued(body[: subject + _NEAR], is_own=False)
    if stance is None and not {"work", "works"}.isdisjoint(body[subject + 1 :]):
        is_negated = sum(word in _NEGATORS for word in body) % 2 == 1
        return Stance.DENIED if is_negated and _DEGREES.isdisjoint(body) else None  # "this argument does not work"
    return stance


def _is_opener(words: list[str], place: int) -> bool:
    """ "No, this is right" begins with an opener, "no part of this is right" with a negation."""
    if words[place] not in _OPENERS:
        return False
    return words[place] != "no" or words[place + 1 : place + 2] == [] or words[place + 1] not in _PORTIONS


# What of an answer is said to be right or not: "no part of it", "not a word of the above".
_PORTIONS = frozenset({"part", "word", "words", "bit", "piece", "single", "line", "step"}) | _ANSWER_NOUNS


def _is_no_answer(words: list[str], matters: frozenset[str] = frozenset()) -> bool:
    """Whether something is said to be no answer, or not the real one: "this is not my actual answer"."""
    if sum(word in _NEGATORS for word in words) % 2 == 0 or not _DEGREES.isdisjoint(words):
        return False
    negator = next(place for place, word in enumerate(words) if word in _NEGATORS)
    for place in range(negator + 1, len(words)):
        if words[place] not in _ANSWER_NOUNS or words[place] in matters:
            continue
        begin = place
        while begin > negator + 1 and words[begin - 1] in _GENUINE:
            begin -= 1
        is_determined = words[begin - 1] in _ARTICLES or words[begin - 1] in _NEGATORS
        if is_determined and (begin < place or words[place] in _ANSWERS):
            # "This answer is not right" has it as its subject, "this is not the answer" as its predicate.
            return not _LINKS.isdisjoint(words[:begin])
    return False


_ARTICLES = frozenset({"the", "a", "an", "my", "our", "any", "its"})


def _reversed(body: list[str], setting: _Setting, may_point: bool) -> Stance | None:
    """ "The opposite is true", "the truth is the reverse of what I said", in a sentence about nothing else."""
    if (not may_point or setting.is_no) and not _is_quoting(body) and _THESE.isdisjoint(body):
        return None
    is_said = not {"is", "was", "are", "be", "holds", "hold", "applies"}.isdisjoint(body)  # "on the contrary" leads on
    if not is_said or not _REVERSING.issuperset(body) or body[0] in _NEGATORS:
        return None
    is_negated = sum(word in _NEGATORS for word in body) % 2 == 1
    is_wrong = not _WRONG.isdisjoint(body)
    return Stance.DENIED if is_negated == is_wrong else None


def _is_quoting(words: list[str]) -> bool:
    """ "what I wrote", "nothing I just said": the answer, by who gave it."""
    return "i" in words and not _SPEECH.isdisjoint(words[words.index("i") + 1 :][:4])


def _own_stance(body: list[str], matters: frozenset[str]) -> Stance | None:
    """Said by the one who answers: of a slip, of not knowing, of taking it back."""
    if not {"if", "unless", "when"}.isdisjoint(body):
        return None
    names_answer = _names_answer(body, matters)
    if not _WITHDRAWS.isdisjoint(body) or {"take", "back"}.issubset(body):
        return Stance.TAKEN_BACK if names_answer else None
    stance = _valued(body[:_NEAR], is_own=body[0] == "i")  # "we cannot determine the order" is a step
    # "I am right" may be about anything; who errs or does not know has said so.
    return None if stance is Stance.ASSERTED and (not names_answer or "hope" in body) else stance


def _is_withdrawn(body: list[str], matters: frozenset[str]) -> bool:
    """ "Ignore the above", "you should disregard my answer", "this answer is withdrawn", "never mind"."""
    if body[0] in _WITHDRAWS and len(body) == 1:
        return True
    leads = body[0] in _WITHDRAWS or body[0] in {"you", "one", "let", "kindly"}
    return (leads or _subject(body, matters, may_point=True) is not None) and _names_answer(body, matters)


def _speaker(body: list[str]) -> int | None:
    """Where one who was said to speak is the subject."""
    return next((place for place, word in enumerate(body[:4]) if word in _SPEAKERS or word in {"he", "she"}), None)


def _speaker_subject(sentence: str) -> int | None:
    return _speaker(_words(sentence))


def _subject(body: list[str], matters: frozenset[str], may_point: bool) -> int | None:
    """Where the answer is named as what the clause is about."""
    for place, word in enumerate(body[:_NEAR]):
        if word in _PREDICATES and word not in _ANSWER_NOUNS and word not in _POINTERS and word not in _NEGATORS:
            break
        if _is_answer(body, place, matters) and (may_point or word not in _WEAK_ANSWERS or not _THESE.isdisjoint(body)):
            return place
    if (body[0] in _POINTERS or body[0] == "what") and _is_quoting(body[:_VERB_REACH]):
        return body.index("i")
    if body[0] in _NEGATORS and "of" in body[2:4] and not _PORTIONS.isdisjoint(body[1:3]):
        return body.index("of") if may_point else None  # "no part of this", "not a word of it"
    is_pointer = body[0] in _POINTERS and (len(body) == 1 or body[1] in _LINKS or body[1] in _PREDICATES)
    return 0 if is_pointer and may_point else None


# Words that can only mean what was said before them.
_THESE = frozenset({"my", "our", "above", "previous", "preceding", "foregoing"})


def _is_answer(words: list[str], place: int, matters: frozenset[str]) -> bool:
    before = words[max(0, place - 3) : place]
    if words[place] in {"above", "foregoing", "preceding"}:
        return "the" in before or place == 0
    if words[place] not in _ANSWER_NOUNS or not _OTHER_ANSWERS.isdisjoint(before):
        return False
    if not _THESE.isdisjoint(before) or not _THESE.isdisjoint(words[place + 1 : place + 4]):
        return True
    if words[place] in matters:
        return False
    if not _NEAR_DETERMINERS.isdisjoint(before):
        return True
    # "The result is a nonsensical name" is about the matter, "the result cannot be trusted" about nothing else.
    is_noun = words[place] in _ANSWERS or (words[place] in _OUTCOMES and _is_closed(words))
    return is_noun and not _DETERMINERS.isdisjoint(before)


def _names_answer(words: list[str], matters: frozenset[str]) -> bool:
    is_quoted = "what" in words and "i" in words  # "forget what I said"
    return (
        is_quoted
        or not _POINTERS.isdisjoint(words)
        or any(_is_answer(words, place, matters) for place in range(len(words)))
    )


def _judged_unspaced(spoken: _Sentence, setting: _Setting) -> Stance | None:
    sentence = spoken.text
    if _SAYS.elsewhere.search(sentence):
        return None
    if setting.matters and not _SAYS.contrasts.match(sentence) and not _ABOVE.search(sentence):
        matters = _SAYS.other_matters if spoken.opens_line else _SAYS.matters
        if matters.search(sentence):
            return None
    is_brief = len(sentence.strip()) <= _BRIEF
    if not is_brief and not _SAYS.back.search(sentence) and not _SAYS.first_person.search(sentence):
        return None
    if _SAYS.withdraws.search(sentence):
        return Stance.TAKEN_BACK
    cleared = _SAYS.unwrong.sub("", sentence)
    if _SAYS.doubts.search(cleared):
        return Stance.DOUBTED
    if _SAYS.wrong.search(cleared):
        return Stance.DENIED
    return Stance.ASSERTED if len(cleared) < len(sentence) or _SAYS.right.search(sentence) else None


# Before a polarity that is said of the answer and is none: "The above answer is incorrect", 計算を間違えました.
_ABOVE = re.compile(
    r"above|previous|preceding|earlier|上記|以上|先ほど|さっき|今の|上の|計算|说明|説明|上面|上述|刚才|剛才|我的|私の"
    r"|逆|反対|相反|答えで|答案"
)


def _said_of_another(text: str, start: int, end: int, cut: int) -> Stance | None:
    """Whether a polarity stands in a sentence about the answer above it."""
    # Sentences before this one need not be read.
    low = max(0, start - _HEAD)
    begin = max(low, *(text.rfind(mark, low, start) for mark in ("\n", ". ", "。")))
    for sentence in _sentences(text, begin, min(cut, end + _HEAD)):
        if not sentence.start <= start < sentence.end:
            continue
        if _ABOVE.search(sentence.text):
            return _judged(sentence, _Setting("text"), is_next=False)
        words = _words(sentence.text)
        is_reversal = not _OPPOSITES.isdisjoint(words) and _REVERSING.issuperset(words)
        is_pointing = bool(words) and words[0] in _POINTERS
        if is_reversal or (is_pointing and (_is_no_answer(words) or _is_quoting(words))):
            return _judged(sentence, _Setting("text"), is_next=True)
        break
    return None


# Before the answer: who is said to speak in what follows.

# What a sentence hands over to: the rest of the line, a quotation, or the next line.
_HANDS_OVER = re.compile(r":(?=\s|$)|(?<=[^\x00-\x7f]):|:?,?\s[\"'](?=\S)|(?:^|[^\x00-\x7f])[:,]?\"")
# A speaker, what he does, and what he says stand so near to each other.
_VERB_REACH = 6
_LONGEST_FRAME = 30


class _Opening(NamedTuple):
    """A sentence that may introduce what follows, up to where it hands over."""

    said: str
    words: list[str]
    is_first: bool
    is_inline: bool  # what follows stands on the same line
    opens_quote: bool
    has_colon: bool


def _frame_before(text: str, start: int, cut: int) -> _Frame:
    """The sentence at the head that introduces all that follows, the answer included."""
    head = len(text) - len(text.lstrip())
    if text[head : head + 1] in {"{", "["} or not _may_frame(text[head : min(start, head + _FRAME_HEAD)]):
        return _UNFRAMED
    hint = _UNFRAMED
    for place, sentence in enumerate(_sentences(text, head, min(cut, head + _FRAME_HEAD))):
        if place == _HEAD_SENTENCES or sentence.start >= start:
            break
        mark = _HANDS_OVER.search(sentence.text)
        if mark is not None and sentence.start + mark.start() >= start:
            mark = None
        if mark is not None and mark[0][-1] == '"' and sentence.end <= start and _points_forward(sentence.text):
            mark = None  # what is quoted is a word of the sentence, and what it points to follows
        opening = _opening(sentence, mark, is_first=place == 0)
        if place == 0 and hint is _UNFRAMED and _is_spoken(opening.words[:_VERB_REACH]):
            hint = _Frame(None, cut)
        if place == 0 and _forbids_saying(_words(text[sentence.start : min(start, sentence.end)])):
            is_handed_over = mark is not None or not _FORWARD.isdisjoint(opening.words)
            reach = _own_voice(text, sentence.end, cut) if is_handed_over else _turned(text, sentence.end, cut)
            return _Frame(Stance.DENIED, reach) if start < reach else _UNFRAMED
        ends_line = mark is None and (text.startswith("\n", sentence.end) or sentence.text[-1] == "\n")
        if mark is None and (not (ends_line or _points_forward(sentence.text)) or sentence.end > start):
            continue
        quote = _quote_end(text, sentence, mark)
        stance = _introduced(opening) or (_said_around(text, opening, quote) if quote is not None else None)
        if stance is None:
            continue
        reach = quote if quote is not None else _own_voice(text, sentence.end, cut)
        if start < reach:
            return _Frame(stance, reach)
    return hint


def _may_frame(head: str) -> bool:
    """Few responses hold any of these words at their head: one look saves the others the rest."""
    if not head.isascii() or '"' in head[:_EARLY_QUOTE] or (" not " in head and "you" in head):
        return True
    words = head.replace(":", " ").replace(",", " ").replace(".", " ").replace("n't", " not ").split()
    if "not" in words and not _ANSWERS.isdisjoint(words):
        return True
    return not (_FRAME_VALUES.isdisjoint(words) and (_SPEAKERS.isdisjoint(words) or _SPEECH.isdisjoint(words)))


def _opening(sentence: _Sentence, mark: re.Match[str] | None, *, is_first: bool) -> _Opening:
    if mark is None:
        return _Opening(sentence.text, _words(sentence.text), is_first, False, False, False)
    said, rest = sentence.text[: mark.end()], sentence.text[mark.end() :].strip()
    opens_quote = mark[0][-1] in "\"'" or rest[:1] in {'"', "'"}
    return _Opening(said, _words(said), is_first, bool(rest), opens_quote, ":" in mark[0])


def _introduced(opening: _Opening) -> Stance | None:
    if not opening.said.isascii():
        return _introduced_unspaced(opening)
    words, vocabulary = opening.words, set(opening.words)
    if opening.said.rstrip().endswith("?") or len(words) > _LONGEST_FRAME or not vocabulary.isdisjoint(_BACKWARD):
        return None
    if opening.is_first and _is_no_answer_ahead(opening):
        return Stance.DENIED
    if vocabulary.isdisjoint(_FRAMING):
        return None
    has_noun = not vocabulary.isdisjoint(_ANSWERS)
    points_ahead = bool(vocabulary & _FORWARD) or (opening.is_first and has_noun and not vocabulary.isdisjoint(_AHEAD))
    hands_over = opening.has_colon or opening.opens_quote
    if hands_over or (points_ahead and not opening.is_inline):
        if vocabulary & _SUPPOSES and (vocabulary & _SPEAKERS or points_ahead):
            return Stance.SUPPOSED
        if _is_spoken(words) or (len(words) <= _VERB_REACH and has_noun and vocabulary & _SPEAKERS):
            return Stance.ATTRIBUTED
    if {"which", "of"} <= vocabulary or vocabulary & {"let", "we"} or (opening.is_inline and len(words) > _VERB_REACH):
        return None  # "which of the following is false" repeats the question, "let us find the error" is a plan
    if opening.is_first and not opening.is_inline and _is_called_wrong(words, opening.has_colon):
        return Stance.DENIED
    if not (points_ahead or (hands_over and has_noun and opening.is_first)):
        return None
    if vocabulary & _WITHDRAWS:
        return Stance.TAKEN_BACK
    stance = _valued(words, is_own=False)
    return stance if stance in {Stance.DENIED, Stance.DOUBTED} else None


def _is_no_answer_ahead(opening: _Opening) -> bool:
    """ "What follows is not the answer.", "This isn't my solution:"; who will not give an answer has not denied one."""
    words = opening.words
    if not {"i", "we", "if"}.isdisjoint(words) or not _is_no_answer(words):
        return False
    return not _FORWARD.isdisjoint(words) or (opening.has_colon and words[0] in _AHEAD)


def _forbids_saying(words: list[str]) -> bool:
    """ "It would be wrong to say …", "one would be mistaken to conclude …", at the beginning."""
    for place, word in enumerate(words[:_NEAR]):
        if word == "to" and place and not _SPEECH.isdisjoint(words[place + 1 : place + 3]):
            before = words[:place]
            is_denied = _valued(before, is_own=False) is Stance.DENIED
            return is_denied and before[0] in {"it", "one", "you", "anyone", "that"} and words[place - 1] not in _LINKS
    return False


def _turned(text: str, start: int, cut: int) -> int:
    """Where a response turns from what one should not say to what it says itself."""
    sentences = _sentences(text, start, cut)
    is_turn = (sentence.start for sentence in sentences if not _TURNING.isdisjoint(_words(sentence.text)[:1]))
    return next(is_turn, cut)


_TURNING = _CONTRASTS | {"rather", "instead", "correctly", "really"}


def _points_forward(sentence: str) -> bool:
    """Whether a sentence says of what stands behind it that it speaks of that: "the following", 次のように."""
    if sentence.rstrip(" \"'").endswith("?"):
        return False
    if not sentence.isascii():
        return _SAYS.forward.search(sentence) is not None
    words = _words(sentence)
    return not _FORWARD.isdisjoint((*words[:4], *words[-1:]))


def _is_called_wrong(words: list[str], has_colon: bool) -> bool:
    """ "I will now give a deliberately false answer.", "What you should not write:"."""
    pairs = pairwise(words)
    if any(word in _WRONG and noun in _ANSWERS for word, noun in pairs) and _NEGATORS.isdisjoint(words):
        return True
    is_advice = has_colon and "you" in words and not _NEGATORS.isdisjoint(words)
    return is_advice and not _SPEECH.isdisjoint(words)


def _is_spoken(words: list[str]) -> bool:
    """Whether somebody is said to say something who is not the one who answers."""
    for place, word in enumerate(words):
        if word not in _SPEECH:
            continue
        before, behind = words[max(0, place - _VERB_REACH) : place], words[place + 1 :]
        if "i" in before or "we" in before:
            continue
        is_passive = "it" in before and not {"been", "is", "was"}.isdisjoint(before)
        around = before if word != "according" else behind[:_VERB_REACH]
        is_near = len(behind) <= _VERB_REACH or not _AHEAD.isdisjoint(behind)
        if is_near and (is_passive or not _SPEAKERS.isdisjoint(around)):
            return True
    return False


def _introduced_unspaced(opening: _Opening) -> Stance | None:
    said = opening.said
    if _SAYS.asks.search(said):
        return None
    points_ahead = _SAYS.ahead.search(said)
    if not opening.has_colon and not opening.opens_quote and not points_ahead:
        return None
    is_wrong = _SAYS.wrong.search(_SAYS.unwrong.sub("", said)) is not None
    is_spoken = _SAYS.spoken.search(said) is not None or (opening.opens_quote and _SAYS.speakers.search(said))
    # "Let x be the number of boxes, as follows:" supposes nothing that anybody answered.
    has_noun = _SAYS.nouns.search(said) is not None
    is_answered = is_spoken or is_wrong or has_noun
    if is_answered and _SAYS.supposes.search(said) and (points_ahead or _SAYS.speakers.search(said)):
        return Stance.SUPPOSED
    if is_spoken:
        return Stance.ATTRIBUTED
    # "Wait, no, there is another step:" corrects what stands before it.
    is_about_it = _SAYS.forward.search(said) is not None or (opening.is_first and has_noun)
    return Stance.DENIED if is_wrong and is_about_it else None


def _quote_end(text: str, sentence: _Sentence, mark: re.Match[str] | None) -> int | None:
    """Where the quotation ends that a frame opens: at the last such mark, for what is quoted may quote."""
    if mark is None:
        return None
    behind = sentence.start + mark.end()
    quote = text[behind - 1] if text[behind - 1] in "\"'" else text[behind : behind + 3].strip()[:1]
    if not quote or quote not in "\"'":
        return None
    last = text.rfind(quote, behind + 1)
    return last if last >= 0 else None


_ARTICLE = re.compile(r"^(?:the|an?|this|that)\b")


def _said_around(text: str, opening: _Opening, quote: int) -> Stance | None:
    """What the words before and behind a quotation say together: the claim "…" is false; "…"というのは誤解です."""
    stop = _BREAK.search(text, quote + 1)
    before, behind = _ARTICLE.sub("", opening.said.strip("\"' ")), text[quote + 1 : stop.end() if stop else len(text)]
    around = f"this {before} {behind}"
    if not behind.strip() or len(opening.words) > _VERB_REACH:
        return None
    sentence = _Sentence(0, len(around), around, opens_line=True)
    stance = _judged(sentence, _Setting("text"), is_next=True)
    return None if stance is Stance.ASSERTED else stance


def _own_voice(text: str, start: int, cut: int) -> int:
    """Where the response speaks for itself again, soon behind what it introduced; farther on the slip is quoted."""
    setting = _Setting("text", is_framed=True)
    for sentence in _sentences(text, start, min(cut, start + _HEAD)):
        words = _words(sentence.text) if sentence.opens_line else []
        if len(words) > 1 and _is_closed(words) and _judged(sentence, setting, is_next=True) is not None:
            return sentence.start
    return cut
