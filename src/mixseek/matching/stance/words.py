"""The words that say how a response stands to an answer, by class, and how a text is taken apart into them."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from mixseek.matching.phrases import Phrases, table


class Stance(StrEnum):
    """What a response does with an answer; every one but the first takes a "correct" away."""

    ASSERTED = "asserted"
    DENIED = "denied"
    TAKEN_BACK = "taken_back"
    DOUBTED = "doubted"
    ATTRIBUTED = "attributed"
    SUPPOSED = "supposed"


UNSPACED = Phrases("stance_unspaced")
_CLASSES = {name: frozenset(words.split()) for name, words in table("stance").items()}
# Subjects.
ANSWERS, WEAK_ANSWERS = _CLASSES["answers"], _CLASSES["weak_answers"]
MATTERS, INFERENCES, OUTCOMES = _CLASSES["matters"], _CLASSES["inferences"], _CLASSES["outcomes"]
POINTERS, LINKS, FIRST_PERSON = _CLASSES["pointers"], _CLASSES["links"], _CLASSES["first_person"]
DETERMINERS, NEAR_DETERMINERS = _CLASSES["determiners"], _CLASSES["near_determiners"]
OTHER_ANSWERS, ELSEWHERE, OPENERS = _CLASSES["other_answers"], _CLASSES["elsewhere"], _CLASSES["openers"]
# In a sentence about one of these what is said next is said of it; "the options" are all of them.
OTHER_OPTIONS = ELSEWHERE & {"option", "choice", "other", "others", "another", "alternative", "alternatives"}
ANSWER_NOUNS = ANSWERS | WEAK_ANSWERS
# Predicates, and what turns or weakens them.
WRONG, RIGHT, WITHDRAWS = _CLASSES["wrong"], _CLASSES["right"], _CLASSES["withdraws"]
DISMISSALS = _CLASSES["dismissals"]
WRONG |= DISMISSALS
KNOWS, SETTLED = _CLASSES["knows"], _CLASSES["settled"]
DOUBTS, DOUBTFUL = _CLASSES["doubts"], _CLASSES["doubtful"]
TRUTH, GENUINE, OPPOSITES = _CLASSES["truth"], _CLASSES["genuine"], _CLASSES["opposites"]
NEGATORS, MAY_BE, DEGREES = _CLASSES["negators"], _CLASSES["may_be"], _CLASSES["degrees"]
VALUES = WRONG | RIGHT | DOUBTS | KNOWS | SETTLED | NEGATORS | MAY_BE
# Marks.
GRADES, MARKERS, PASSES = _CLASSES["grades"], _CLASSES["markers"], _CLASSES["passes"]
MARKING = _CLASSES["marks"] | GRADES | MARKERS | PASSES
# Frames.
SPEAKERS, SPEECH, SUPPOSES = _CLASSES["speakers"], _CLASSES["says"], _CLASSES["supposes"]
# Forms in which nobody speaks of himself alone: "says", "claimed".
THIRD_PERSON, SOURCES = _CLASSES["third_person"], _CLASSES["sources"]
AHEAD, BACKWARD = _CLASSES["ahead"], _CLASSES["backward"]
FORWARD, LABELS = _CLASSES["forward"], _CLASSES["labels"]
FRAME_VALUES = SUPPOSES | WRONG | DOUBTS | WITHDRAWS | {"believe"}
FRAMING = SPEECH | SPEAKERS | FRAME_VALUES
# Without one of these a sentence says nothing about an answer.
PREDICATES = WRONG | RIGHT | WITHDRAWS | KNOWS | SETTLED | DOUBTS | NEGATORS | OPPOSITES | {"back"}
# Beside a predicate, in a sentence of nothing else: "Not at all right.", "Just a guess."
LITTLE = _CLASSES["little"]
CONTRASTS = _CLASSES["contrasts"]
CLOSED = (
    VALUES | WITHDRAWS | OPENERS | LITTLE | POINTERS | ANSWER_NOUNS | DETERMINERS | NEAR_DETERMINERS | LINKS
) | _CLASSES["plain"]
# With a capital in the middle of a sentence these begin another one.
BEGINNINGS = (OPENERS | POINTERS | WITHDRAWS | FIRST_PERSON | NEAR_DETERMINERS | NEGATORS | CONTRASTS) | {
    *_CLASSES["checks"], "the", "there", "he", "she", "they", "is", "was", "what", "does", "just", "a", "an", "some",
    "someone",
}  # fmt: skip
# What leads back to the answer, and what replies to a question about it.
RECHECKS = CLOSED | FIRST_PERSON | _CLASSES["rechecks"]
REPLIES_NO, REPLIES_YES = _CLASSES["replies_no"], _CLASSES["replies_yes"]
REPLYING = CLOSED | FIRST_PERSON | REPLIES_NO | REPLIES_YES | _CLASSES["beside_reply"]
# How a second look at an answer begins, and what it is said to do.
LOOKING, SHOWING = _CLASSES["looking"], _CLASSES["showing"]
# What became of an answer: "it turned out to be wrong".
OUTCOME_VERBS = _CLASSES["outcome_verbs"]
ASIDES, VERDICT_VERBS = _CLASSES["asides"], _CLASSES["verdict_verbs"]
# Words for a polarity: behind one of its kind they may be it once more. What denies a "yes" is no repetition of it.
POLAR, POLAR_NO = _CLASSES["polar"], _CLASSES["polar_no"]
# Where a polarity is the answer these are it as often as they are a verdict on it.
MAY_ANSWER = POLAR - {"wrong", "incorrect", "right", "correct"}
# In a sentence that says of all that was said that its opposite is so.
REVERSING = CLOSED | GENUINE | OPPOSITES | FIRST_PERSON | SPEECH | _CLASSES["reversing"]
# A check of an answer, what it holds it against, and how it comes out.
CHECKS, TESTED = _CLASSES["checks"], _CLASSES["tested"]
AGREEMENTS, DISAGREEMENTS = _CLASSES["agreements"], _CLASSES["disagreements"]
# What somebody else does with an answer; what he does against it; what it then needs.
COMMENTS, OBJECTIONS, REPAIRS = _CLASSES["comments"], _CLASSES["objections"], _CLASSES["repairs"]
# What one may be told to do with an answer that stands.
KEPT = _CLASSES["kept"]
# In a remark about answering, and about nothing else.
OF_ANSWERING = (
    REVERSING | RECHECKS | MARKING | SPEAKERS | SPEECH | LOOKING | SHOWING | DEGREES | TRUTH | CHECKS | TESTED
    | AGREEMENTS | DISAGREEMENTS | COMMENTS | OBJECTIONS | REPAIRS | OPENERS | _CLASSES["beside_remark"]
)  # fmt: skip
# The sign comes first, titles such as "Dr." behind it: a search skips to the next sign.
BREAK = re.compile(
    r"[.!?。;\n\"\\](?:(?<=[。;\n])|(?<=[.!?])(?<!\bdr.)(?<!\bmr.)(?<!\bms.)(?<!\bmrs.)(?<!\bprof.)"
    r"(?=[\s\"')*\]}]|$|[^\x00-\x7f])|(?<=\")(?=\s)|(?<=\\)n)"
)
_UNSPACED_LETTER = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]")
_CAPITAL = re.compile(r"(?<![.!?:;,]) ([A-Z][a-z']*)")
_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")
_LETTERS = re.compile(r"[^\W\d_]{2}")
# Several words that are one predicate.
_JOINED = re.compile(
    r"\b(?:made up|make up|never mind|(?:falls?|fell|falling|comes?) apart|(?:breaks|broke) down|other way a?round)\b"
)
_MADE_UP = re.compile(r"\b(?:made|making) (?:this|that|it|(?:all|most) of (?:this|that|it)|everything|all this) up\b")
_CHANGED_MIND = re.compile(r"\b(?:changed?|changing) my mind\b")
_HOLDS = re.compile(
    r"\b(?:(?:holds?|held|adds?|stands?|stacks?) up|(?:checks?|pans?|works?) out|holds? (?:any )?water"
    r"|pass(?:es)? muster)\b"
)
_EMPHATIC = re.compile(r"\bcould(?:n't| not|nt) (disagree) more\b")
_JOINTS = ("disagree more", " up", " mind", " apart", " down", "way ", " out", " water", " muster")
# So far around a place its sentence is looked for.
HEAD = 400
BLANK = " \t\n\r.!*_\"'`)]}$>|#-。"


class Sentence(NamedTuple):
    start: int
    end: int
    text: str
    opens_line: bool


def split_sentences(text: str, start: int, end: int) -> Iterator[Sentence]:
    begin, opens_line = start, False
    for mark in BREAK.finditer(text, start, end):
        if mark.start() > begin and _LETTERS.search(text, begin, mark.start()):
            yield Sentence(begin, mark.end(), text[begin : mark.end()], opens_line)
            opens_line = False
        opens_line = opens_line or mark[0] in {"\n", "\\n"}
        begin = mark.end()
    if _LETTERS.search(text, begin, end):
        yield Sentence(begin, end, text[begin:end], opens_line)


def is_unspaced(text: str) -> bool:
    """Whether a text is written in a script without spaces; typographic quotes and accents do not make it one."""
    return not text.isascii() and _UNSPACED_LETTER.search(text) is not None


def restarted(cased: str, sentence: Sentence) -> Iterator[Sentence]:
    """A sentence, divided where another begins in it without a full stop before: "(D) a name That is wrong"."""
    begin = sentence.start
    for capital in _CAPITAL.finditer(cased, sentence.start, sentence.end):
        word = capital[1].lower().partition("'")[0]
        # "I" has a capital anywhere: it begins a sentence where no word leads to it, as in "what I said".
        is_led = word == "i" and REVERSING.issuperset(split_words(cased[begin : capital.start()].lower())[-1:])
        if word not in BEGINNINGS or (is_led and capital.start() > begin):
            continue
        if capital.start() > begin:
            yield _part(sentence, begin, capital.start())
        begin = capital.start() + 1
    yield _part(sentence, begin, sentence.end)


def _part(sentence: Sentence, start: int, end: int) -> Sentence:
    text = sentence.text[start - sentence.start : end - sentence.start]
    return Sentence(start, end, text, sentence.opens_line and start == sentence.start)


def split_words(text: str) -> list[str]:
    """Words with their contractions taken apart: "isn't" says not, "that's" is that."""
    if any(map(text.__contains__, _JOINTS)):
        text = _CHANGED_MIND.sub("changed-mind", _MADE_UP.sub("made-up", text))
        text = _EMPHATIC.sub(r"\1", text)
        text = _HOLDS.sub("holds-up", _JOINED.sub(lambda match: match[0].replace(" ", "-"), text))
    words: list[str] = _WORD.findall(text)
    if "'" not in text:
        return words
    return ["not" if word.endswith("n't") else word.partition("'")[0] for word in words]


def is_negated(words: Sequence[str]) -> bool:
    """Whether an odd number of negations stand in a clause; "nor" and "anything" go with the one before them."""
    negations = [word for word in words if word in NEGATORS]
    if len(negations) > 1:
        negations = [word for word in negations if word not in {"nor", "anything"}] or negations[:1]
    return len(negations) % 2 == 1
