"""Whether a response stands by the answer that was found in it: asserts it, or denies, doubts, attributes or drops it.

A sentence *about* the answer is told by what it is made of: a subject that is the answer as a whole ("the above", "my
solution", "that", 上記の答え), a predicate that calls it right, wrong, withdrawn or unknown, and negations that turn the
predicate round. The words stand in classes (`phrases.toml`) that combine, so that no wording has to be listed.

Three places count. Behind the answer, the last such sentence; before it, a sentence at the head of the response that
hands what follows to somebody else or calls it wrong; around it, the quotation such a sentence opens.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
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


_WORDS = {name: frozenset(words.split()) for name, words in table("stance").items()}
_ANSWERS, _POINTERS, _DETERMINERS = _WORDS["answers"], _WORDS["pointers"], _WORDS["determiners"]
_OTHERS, _WRONG, _RIGHT, _NEGATORS = _WORDS["other_answers"], _WORDS["wrong"], _WORDS["right"], _WORDS["negators"]
_SAYS = Phrases("stance_unspaced")
_MATTERS, _OPENERS, _ELSEWHERE = _WORDS["matters"], _WORDS["openers"], _WORDS["elsewhere"]
_WITHDRAWS, _MAY_BE, _KNOWS, _DOUBTS = _WORDS["withdraws"], _WORDS["may_be"], _WORDS["knows"], _WORDS["doubts"]
_WEAK_ANSWERS, _NEAR_DETERMINERS = _WORDS["weak_answers"], _WORDS["near_determiners"]
_FIRST_PERSON, _SPEAKERS, _SAID = _WORDS["first_person"], _WORDS["speakers"], _WORDS["says"]
_SUPPOSES, _AHEAD = _WORDS["supposes"], _WORDS["ahead"]
_ANSWER_NOUNS = _ANSWERS | _WEAK_ANSWERS
_FRAMING = _SAID | _SUPPOSES | _WRONG | _DOUBTS | _WITHDRAWS | _SPEAKERS | _RIGHT | _KNOWS
# Without one of these a sentence says nothing about an answer.
_PREDICATES = _WRONG | _RIGHT | _WITHDRAWS | _KNOWS | _DOUBTS | {"back", "mind", "it"}
_DEGREES, _LINKS = _WORDS["degrees"], _WORDS["links"]
_VALUES = _WRONG | _RIGHT | _DOUBTS | _KNOWS | _NEGATORS | _MAY_BE
# Beside a predicate, in a sentence of nothing else: "Not at all right.", "Just a guess."
_LITTLE = frozenset(
    "a an the is was be been at all of course just only really very totally completely quite my to".split()
)

_CONTRASTS = frozenset({"but", "however", "actually", "no", "wait", "sorry", "yet", "nope", "unfortunately"})
_CLOSED = (
    _VALUES | _WITHDRAWS | _OPENERS | _LITTLE | _POINTERS | _ANSWER_NOUNS | _DETERMINERS | _NEAR_DETERMINERS | _LINKS
)

_BREAK = re.compile(r"[.!?](?=[\s\"')*\]}]|$)|[。;\n]|\"(?=\s)|\\n")
_CLAUSE = re.compile(r"[,:()]|\s-+\s|\b(?:but|and|so|yet)\b(?! (?:far|on)\b)")
_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")
_LETTERS = re.compile(r"[^\W\d_]{2}")
# A subject and what is said of it stand so near to each other.
_NEAR = 8
# A sentence without spaces that is no longer than this needs no subject: 違います。
_BRIEF = 14
# A frame stands at the head of a response.
_HEAD = 400
_HEAD_SENTENCES = 3
_BLANK = " \t\n\r.!*_\"'`)]}$>|#-。"


def stance_on(lowered: str, start: int, end: int, cut: int, kind: str) -> Stance:
    """What the response does with the answer at [start, end) of its lower-case text, of which [0, cut) counts."""
    frame = _frame_before(lowered, start, cut)
    behind = None
    if lowered[end:cut].strip(_BLANK):
        is_no = kind == "boolean" and not _NO.isdisjoint(_words(lowered[start:end]))
        behind = _last_judgement(lowered, end, cut, _Setting(kind, is_no, frame is not None))
    if behind is None and kind == "boolean" and _ABOVE.search(lowered, max(0, start - _HEAD), start):
        behind = _meant_otherwise(lowered, start, end, cut)
    return behind or frame or Stance.ASSERTED


# Before a polarity that is said of the answer and is none: "The above answer is incorrect".
_ABOVE = re.compile(r"above|previous|preceding|earlier|上記|以上|先ほど|さっき|今の|上面|上述|刚才|剛才")


def _meant_otherwise(text: str, start: int, end: int, cut: int) -> Stance | None:
    """Whether a polarity stands in a sentence about the answer above it."""
    for sentence in _sentences(text, max(0, start - _HEAD), min(cut, end + _HEAD)):
        if sentence.start <= start < sentence.end and _ABOVE.search(sentence.text):
            return _judged(sentence, _Setting("text", is_no=False, is_framed=False), is_next=False)
    return None


_NO = _NEGATORS | _WRONG | {"implausible", "unlikely", "false", "no"}


class _Sentence(NamedTuple):
    start: int
    end: int
    text: str
    opens_line: bool


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
    return [
        "not" if word.endswith("n't") else word.partition("'")[0] if not word.endswith("student's") else word
        for word in _WORD.findall(text)
    ]


class _Setting(NamedTuple):
    """What is known of an answer when a sentence behind it is read."""

    kind: str
    is_no: bool  # a polarity that itself says no: "that is false" may repeat it
    is_framed: bool  # somebody else is said to speak: "he is wrong" is about the answer


def _last_judgement(text: str, end: int, cut: int, setting: _Setting) -> Stance | None:
    """What the last sentence about the answer says of it; None where none is about it."""
    judgement: Stance | None = None
    is_next = True
    for sentence in _sentences(text, end, cut):
        rests = sentence.start == end
        is_last = not text[sentence.end : cut].strip(_BLANK)
        stance = _judged(sentence, setting, is_next=is_next, is_last=is_last, rests=rests)
        if stance is not None:
            judgement = stance
        elif not rests:
            is_next = False
    return judgement


def _judged(
    sentence: _Sentence, setting: _Setting, *, is_next: bool, is_last: bool = False, rests: bool = False
) -> Stance | None:
    """What a sentence behind the answer says of it; `is_next`: nothing else was spoken of in between."""
    if sentence.text.rstrip(" \"'*)").endswith("?"):
        return None
    if not sentence.text.isascii() and (stance := _judged_unspaced(sentence.text, setting.kind)) is not None:
        return stance
    words = _words(sentence.text)
    if _PREDICATES.isdisjoint(words):
        return None
    is_contrast = sentence.opens_line or words[0] in _CONTRASTS
    may_point = (is_next or (is_last and is_contrast and _is_closed(words))) and (is_contrast or not setting.is_no)
    found: Stance | None = None
    if setting.kind != "boolean" and is_next and not rests and _is_bare(words):
        found = _valued(words)
    for place, clause in enumerate(_CLAUSE.split(sentence.text)):
        if rests and place == 0:
            continue  # the rest of the answer's own clause is read where the answer is
        found = _clause_stance(_words(clause), setting, may_point) or found
    return found


def _is_closed(words: list[str]) -> bool:
    """A sentence without a word of its own speaks of nothing but the answer: "But none of that is true." """
    return all(word in _CLOSED for word in words)


def _is_bare(words: list[str]) -> bool:
    """A sentence without a subject that is nothing but a predicate: "Not true.", "Just kidding!", "No idea." """
    rest = [word for word in words if word not in _OPENERS and word not in _LITTLE]
    return bool(rest) and all(word in _VALUES for word in rest)


def _valued(words: list[str]) -> Stance | None:
    """The predicate of a clause, turned round by each negation."""
    is_negated = sum(word in _NEGATORS for word in words) % 2 == 1
    vocabulary = set(words)
    if vocabulary & _DOUBTS or (is_negated and vocabulary & _KNOWS):
        return Stance.DOUBTED
    if vocabulary & _WRONG:
        if is_negated and vocabulary & _DEGREES:
            return None
        if vocabulary & _MAY_BE:
            return Stance.DOUBTED
        return Stance.ASSERTED if is_negated else Stance.DENIED
    if vocabulary & _RIGHT:
        if is_negated:
            return None if vocabulary & _DEGREES else Stance.DENIED
        return Stance.DOUBTED if vocabulary & _MAY_BE else Stance.ASSERTED
    return None


def _clause_stance(words: list[str], setting: _Setting, may_point: bool) -> Stance | None:
    if _PREDICATES.isdisjoint(words) or not _ELSEWHERE.isdisjoint(words):
        return None
    first = next((place for place, word in enumerate(words) if word not in _OPENERS), len(words) - 1)
    if first and words[first] == "that" and words[first - 1] == "note":
        first = min(first + 1, len(words) - 1)
    body = words[first:]
    if not _WITHDRAWS.isdisjoint(body) or ("take" in body and "back" in body):
        return Stance.TAKEN_BACK if _is_withdrawn(body, setting.kind) else None
    if body[0] in {"do", "not", "never"} and not _RIGHT.isdisjoint(body) and _names_answer(body, setting.kind):
        return Stance.DENIED  # "Do not trust the above"
    if body[0] in _FIRST_PERSON and not (body[0] in {"my", "our"} and _ANSWER_NOUNS.isdisjoint(body[:4])):
        stance = _valued(body[:_NEAR])
        # "I am right" may be about anything; who errs or does not know has said so.
        return None if stance is Stance.ASSERTED and not _names_answer(body, setting.kind) else stance
    if setting.is_framed and not _SPEAKERS.isdisjoint(body[:4]):
        return _valued(body[:_NEAR])
    subject = _subject(body, setting.kind, may_point)
    return None if subject is None else _valued(body[: subject + _NEAR])


def _is_withdrawn(body: list[str], kind: str) -> bool:
    """ "Ignore the above", "I take that back", "you should disregard my answer", "this answer is withdrawn"."""
    leads = body[0] in _WITHDRAWS or body[0] in _FIRST_PERSON or body[0] in {"you", "one", "let", "kindly"}
    return (leads or _subject(body, kind, may_point=True) is not None) and _names_answer(body, kind)


def _subject(body: list[str], kind: str, may_point: bool) -> int | None:
    """Where the answer is named as what the clause is about."""
    for place, word in enumerate(body[:_NEAR]):
        if word in _PREDICATES and word not in _ANSWER_NOUNS and word != "it":
            break
        if _is_answer(body, place, kind) and (may_point or word not in _WEAK_ANSWERS):
            return place
    is_pointer = body[0] in _POINTERS and (len(body) == 1 or body[1] in _LINKS or body[1] in _PREDICATES)
    return 0 if is_pointer and may_point else None


def _is_answer(words: list[str], place: int, kind: str) -> bool:
    before = words[max(0, place - 3) : place]
    if words[place] in {"above", "foregoing", "preceding"}:
        return "the" in before or place == 0
    if words[place] not in _ANSWER_NOUNS or (kind == "boolean" and words[place] in _MATTERS):
        return False
    if not _OTHERS.isdisjoint(before):
        return False
    is_near = not _NEAR_DETERMINERS.isdisjoint(before) or "above" in words[place + 1 : place + 3]
    return is_near or (words[place] in _ANSWERS and not _DETERMINERS.isdisjoint(before))


def _names_answer(words: list[str], kind: str) -> bool:
    return not _POINTERS.isdisjoint(words) or any(_is_answer(words, place, kind) for place in range(len(words)))


def _judged_unspaced(sentence: str, kind: str) -> Stance | None:
    if _SAYS.elsewhere.search(sentence) or (kind == "boolean" and _SAYS.matters.search(sentence)):
        return None
    is_about = len(sentence.strip()) <= _BRIEF or _SAYS.back.search(sentence) or _SAYS.first_person.search(sentence)
    if not is_about:
        return None
    if _SAYS.withdraws.search(sentence):
        return Stance.TAKEN_BACK
    cleared = _SAYS.unwrong.sub("", sentence)
    if _SAYS.doubts.search(cleared):
        return Stance.DOUBTED
    if _SAYS.wrong.search(cleared):
        return Stance.DENIED
    return Stance.ASSERTED if len(cleared) < len(sentence) or _SAYS.right.search(sentence) else None


# Before the answer: who is said to speak in what follows.

# What a sentence hands over to: the rest of the line, a quotation, or the next line.
_HANDS_OVER = re.compile(r":(?=\s*$)|:(?=\s)|,?\s[\"'](?=\S)|[^\x00-\x7f:]\"")
_BACKWARD = frozenset(
    {"first", "earlier", "previous", "previously", "initial", "initially", "before", "last", "typical"}
)
# A speaker, what he does, and what he says stand so near to each other.
_VERB_REACH = 6
_LONGEST_FRAME = 30


class _Frame(NamedTuple):
    """A sentence that may introduce what follows, up to where it hands over."""

    words: list[str]
    said: str
    is_inline: bool  # what follows stands on the same line
    opens_quote: bool
    has_colon: bool


def _frame_before(text: str, start: int, cut: int) -> Stance | None:
    """The stance of a sentence at the head that introduces all that follows, the answer included."""
    head = len(text) - len(text.lstrip())
    if text[head : head + 1] in {"{", "["}:
        return None
    sentences = _sentences(text, head, min(cut, head + _HEAD))
    for place, sentence in zip(range(_HEAD_SENTENCES), sentences, strict=False):
        if sentence.start >= start:
            return None
        mark = _HANDS_OVER.search(sentence.text)
        if mark is None and not text.startswith("\n", sentence.end) and sentence.text[-1] != "\n":
            continue
        if sentence.start + (mark.start() if mark else len(sentence.text) - 1) > start:
            return None
        said = sentence.text[: mark.end()] if mark else sentence.text
        is_inline = mark is not None and bool(sentence.text[mark.end() :].strip())
        opens_quote = mark is not None and (
            mark[0][-1] in "\"'" or sentence.text[mark.end() :].strip()[:1] in {'"', "'"}
        )
        frame = _Frame(_words(said), said, is_inline, opens_quote, mark is not None and ":" in mark[0])
        stance = _introduced(frame, is_first=place == 0)
        if stance is not None and start < _reach(text, sentence, mark, cut):
            return stance
    return None


def _introduced(frame: _Frame, *, is_first: bool) -> Stance | None:
    if not frame.said.isascii():
        return _introduced_unspaced(frame)
    vocabulary = set(frame.words)
    if not vocabulary & _FRAMING or len(frame.words) > _LONGEST_FRAME or not _BACKWARD.isdisjoint(vocabulary):
        return None
    names_what_follows = bool(vocabulary & {"following", "below", "follows"}) or (
        is_first and not _AHEAD.isdisjoint(vocabulary) and not _ANSWERS.isdisjoint(vocabulary)
    )
    if not (frame.has_colon or frame.opens_quote or (names_what_follows and not frame.is_inline)):
        return None
    if vocabulary & _SUPPOSES and (vocabulary & _SPEAKERS or names_what_follows):
        return Stance.SUPPOSED
    if _speaks(frame):
        return Stance.ATTRIBUTED
    if {"which", "of"} <= vocabulary or vocabulary & {"let", "we"}:
        return None  # "which of the following is false" repeats the question, "let us find the error" is a plan
    is_about = names_what_follows or not _ANSWERS.isdisjoint(vocabulary)
    if not is_about or (frame.is_inline and len(frame.words) > _VERB_REACH) or not (is_first or names_what_follows):
        return None
    if vocabulary & _WITHDRAWS:
        return Stance.TAKEN_BACK
    stance = _valued(frame.words)
    return stance if stance in {Stance.DENIED, Stance.DOUBTED} else None


def _speaks(frame: _Frame) -> bool:
    """Whether the frame ends with somebody saying something, who is not the one who answers."""
    words = frame.words
    for place, word in enumerate(words):
        if word not in _SAID:
            continue
        before, behind = words[max(0, place - _VERB_REACH) : place], words[place + 1 :]
        if "i" in before or "we" in before:
            continue
        around = before if word != "according" else behind[:_VERB_REACH]
        is_last = len(behind) <= _VERB_REACH or not _AHEAD.isdisjoint(behind)
        if is_last and not _SPEAKERS.isdisjoint(around):
            return True
    # "A student's solution:", "answer of a forum user:"
    return (
        len(words) <= _VERB_REACH
        and not _ANSWER_NOUNS.isdisjoint(words)
        and not _SPEAKERS.isdisjoint(words)
        and "i" not in words
    )


def _introduced_unspaced(frame: _Frame) -> Stance | None:
    said = frame.said
    if not frame.has_colon and not frame.opens_quote and not _SAYS.ahead.search(said):
        return None
    speaks = _SAYS.speakers.search(said)
    if _SAYS.supposes.search(said) and (speaks or _SAYS.ahead.search(said)):
        return Stance.SUPPOSED
    if speaks and (_SAYS.says.search(said) or frame.opens_quote):
        return Stance.ATTRIBUTED
    return Stance.DENIED if _SAYS.wrong.search(_SAYS.unwrong.sub("", said)) else None


def _reach(text: str, frame: _Sentence, mark: re.Match[str] | None, cut: int) -> int:
    """How far what the frame introduces goes: to the end of its quotation, or until the response speaks for itself."""
    if mark is not None:
        behind = frame.start + mark.end()
        quote = text[behind - 1] if text[behind - 1] in "\"'" else text[behind : behind + 3].strip()[:1]
        if quote and quote in "\"'":
            last = text.rfind(quote, behind + 1)
            return last if last >= 0 else cut
    setting = _Setting("text", is_no=False, is_framed=True)
    for sentence in _sentences(text, frame.end, cut):
        is_own = sentence.opens_line and len(words := _words(sentence.text)) > 1 and _is_closed(words)
        if is_own and _judged(sentence, setting, is_next=True) is not None:
            return sentence.start
    return cut
