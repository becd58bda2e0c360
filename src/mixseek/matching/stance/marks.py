"""A mark set under an answer, over it or beside it: "Grade: incorrect", "0/10", "✗", "[wrong]", 採点：不正解.

It is a verdict without a verb: a label that names a mark or somebody who marks, and what he thinks of it.
"""

import re

from mixseek.matching.stance.sentences import Setting, valued
from mixseek.matching.stance.words import (
    ANSWER_NOUNS,
    ANSWERS,
    CLOSED,
    ELSEWHERE,
    GRADES,
    LABELS,
    MARKERS,
    MARKING,
    MAY_ANSWER,
    NEGATORS,
    PASSES,
    SPEAKERS,
    UNSPACED,
    WRONG,
    Stance,
    is_negated,
    is_unspaced,
    split_words,
)

# A mark is short, and stands in the last lines or in the first one.
_LONGEST = 80
_LAST_LINES = 3
_REACH = 240
_CROSSES = "✗✘❌❎✖☒⛔🚫👎"
_CROSS = re.compile(rf"[{_CROSSES}×x]\ufe0f?(?=\W|$)")
_CROSSES_ALONE = re.compile(rf"(?:[{_CROSSES}×]\ufe0f?\s{{0,2}})+")
# Around a mark and no part of it.
_AROUND = " \t\r\n*_#>|~`=\"'.!。,;-"
_ENCLOSED = re.compile(r"[\[({<]\s{0,3}([^\[\](){}<>]{1,40})[\])}>]")
_SCORE = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)\s{0,3}(?:/|out of|of)\s{0,3}(\d{1,3})\b")
_NOTHING = re.compile(
    r"(?:0(?:\.0{1,3})?|zero|nil|null|nought)\s{0,3}(?:%|percent|points?|pts?|marks?|credits?)?(?=\W|$)"
)
_NO_POINTS = re.compile(r"(?:0|zero|no) (?:points?|pts|marks?|credits?)")
_MAY_MARK = re.compile(r"[:=\[({<\d]| -|->|mark|grad|scor|point|credit")
_LABELLED = re.compile(r"([^:=\n]{1,48}?)\s{0,3}(?::|=|->|\s-)\s{0,3}(\S[^\n]*)")
# Where a sentence ends and a mark may begin behind it in the same line.
_SENTENCE_END = re.compile(r"[.!?。\])}$*](?:(?<!。)(?=\s)|(?<=[。!?])(?=[^\x00-\x7f]))")
# At the very end a sign or a bracket may be a mark, but in a list it is said of its line.
_TAIL = re.compile(rf"(?:[{_CROSSES}]\ufe0f?|[\[(][^\[\]()]{{1,40}}[\])])\W{{0,3}}$")
_LISTED_LINE = re.compile(r"\s{0,8}(?:[-*•|]\s|\(?[a-j0-9]{1,2}[).:]\s|\**option\b)")
_CHECKS = re.compile("[✓✔✅☑]")


def marked_behind(text: str, end: int, cut: int, setting: Setting) -> bool:
    """Whether a mark behind an answer that ends at `end` calls it wrong; `text` is in lower case."""
    limit = len(text.rstrip())
    return any(is_mark(line, setting) for line in _lines_behind(text, end, limit, cut))


def stands_in_grade(text: str, start: int) -> bool:
    """Whether a polarity was read in a grade: "False.\\n\\nGrade: incorrect" says no twice, and not of the same."""
    begin = text.rfind("\n", 0, start) + 1
    if not begin or text[:begin].isspace():
        return False
    limit = len(text.rstrip())
    finish = text.find("\n", start, limit)
    return is_mark(text[begin : finish if finish >= 0 else limit], _POLARITY)


# In a line with this much room for an answer only a grade is none.
_POLARITY = Setting("boolean", value="wrong incorrect correct right")
_ANY_TEXT = Setting("text")


def _lines_behind(text: str, end: int, limit: int, cut: int) -> list[str]:
    """The last lines, the last sentence of the last one, and what stands behind the answer in its own."""
    begin = max(end, limit - _REACH)
    lines = text[begin:limit].split("\n")
    if begin > end or "\n" in text[end:limit]:
        whole = [line for line in lines[0 if begin > end else 1 :] if line.strip()][-_LAST_LINES:]
        # Behind a run-on question only the last line can be about more than that question.
        whole = whole[-1:] if cut < limit else whole
    else:
        whole = []
    last = lines[-1]
    ends = [match.end() for match in _SENTENCE_END.finditer(last)]
    pieces = [last[place:] for place in ends[-2:] if last[place:].strip()]
    tail = _TAIL.search(last[-_LONGEST:])
    if tail is not None and not _LISTED_LINE.match(last):
        pieces.append(tail[0])
    own_end = text.find("\n", end, limit)
    rest = text[end : own_end if own_end >= 0 else limit].strip(_AROUND)
    # Right behind the answer only a sign or a bracket begins a mark: "42 (wrong)".
    return [*whole, *pieces, rest] if rest[:1] in {"[", "(", "{", "<", *_CROSSES, "×"} else [*whole, *pieces]


def marked_before(text: str, start: int, kind: str) -> bool:
    """Whether a mark over an answer that begins at `start` calls it wrong."""
    head = text[: min(start, _REACH)].lstrip()
    first = head[:1]
    if first and first in _CROSSES:
        # Several signs weigh several answers.
        return _CHECKS.search(text) is None and sum(map(text.count, _CROSSES)) == 1
    if first and first in "[({<" and (mark := _ENCLOSED.match(head)) is not None:
        return not WRONG.isdisjoint(split_words(mark[1])) and _is_failing(mark[1], kind)
    stop = head.find("\n")
    return stop > 0 and is_mark(head[:stop], _POLARITY if kind == "boolean" else _ANY_TEXT)


def is_mark(line: str, setting: Setting) -> bool:
    """Whether a line, in lower case, is nothing but a mark that calls an answer wrong."""
    kind, plain = setting.kind, line.strip(_AROUND)
    if not plain or len(plain) > _LONGEST:
        return False
    if plain.isascii() and _MAY_MARK.search(plain) is None:
        return False  # a look, before other patterns are tried
    if _CROSSES_ALONE.fullmatch(plain):
        return True
    if is_unspaced(plain):
        pattern = UNSPACED.graded if kind == "boolean" else UNSPACED.marked
        return pattern.fullmatch(plain) is not None
    if (enclosed := _ENCLOSED.fullmatch(plain)) is not None:
        plain = enclosed[1].strip(_AROUND)
        return _is_failing(plain, kind) or is_mark(plain, setting)
    if (score := _SCORE.fullmatch(plain)) is not None:
        return kind not in {"number", "expression"} and float(score[1]) == 0
    if _NO_POINTS.fullmatch(plain) or _is_told_mark(split_words(plain)):
        return True
    label = _LABELLED.fullmatch(plain)
    return label is not None and _is_labelled_mark(split_words(label[1]), label[2].strip(_AROUND + "()[]"), setting)


def _is_labelled_mark(label: list[str], value: str, setting: Setting) -> bool:
    if not label or not _OTHER_LABELS.isdisjoint(label) or "is" in label:
        return False
    words = split_words(value)
    is_marking = not MARKING.isdisjoint(label) or not SPEAKERS.isdisjoint(label)
    if is_marking and (_is_nothing(value) or _CROSS.match(value)):
        return True
    names_answer = not WRONG.isdisjoint(words) and not ANSWERS.isdisjoint(words)
    is_grade = not (MARKERS | GRADES).isdisjoint(label)
    if not PASSES.isdisjoint(label) and ANSWER_NOUNS.isdisjoint(label):
        # "Correct: no"
        return NEGATORS.isdisjoint(label) and (words[:1] in (["no"], ["false"], ["n"]) or bool(_CROSS.match(value)))
    is_open = setting.kind == "boolean" and not (names_answer or is_grade)
    if is_open and (MAY_ANSWER.issuperset(words) or not set(words).isdisjoint(split_words(setting.value))):
        return False  # "Verdict: invalid" is the answer, once more or at last
    if is_grade and value in {"f", "e", "f-", "fail", "ng"}:
        return True
    # A name is a label, too: "Ms Lee: wrong".
    is_name = len(label) <= 3 and LABELS.isdisjoint(label) and ANSWER_NOUNS.isdisjoint(label)
    return (is_marking or names_answer or is_name) and _is_failing(value, "text")


def _is_told_mark(words: list[str]) -> bool:
    """ "Marked wrong.", "Graded as incorrect by the examiner." """
    if (GRADES | MARKERS).isdisjoint(words) or not {"i", "we", "you"}.isdisjoint(words):
        return False
    rest = [word for word in words if word not in GRADES and word not in MARKERS]
    return bool(rest) and CLOSED.issuperset(rest) and valued(rest, is_own=False) is Stance.DENIED


# What is labelled so is a part of the matter: "Statement 2: false".
_OTHER_LABELS = (ELSEWHERE | {"statement", "statements", "case", "step", "claim", "line", "part", "item"}) - {"check"}


def _is_nothing(value: str) -> bool:
    """Whether a score is none, or less than half of what can be had."""
    score = _SCORE.match(value)
    if score is not None:
        return float(score[1]) * 2 < float(score[2])
    return _NOTHING.match(value) is not None


def _is_failing(value: str, kind: str) -> bool:
    """Whether a few words say nothing but that something is wrong: "wrong answer", "not accepted", "no credit"."""
    if _CROSS.match(value) and not split_words(value):
        return True
    words = [word for word in split_words(value) if word not in GRADES and word not in {"zero", "full"}]
    vocabulary = CLOSED | PASSES | {"fail", "failing"}
    may_answer = kind in {"boolean", "option"} and MAY_ANSWER.issuperset(words)
    if not words or not vocabulary.issuperset(words) or may_answer:
        return False
    if "fail" in words or "failing" in words or not PASSES.isdisjoint(words):
        return is_negated(words) == ("fail" not in words and "failing" not in words)
    return valued(words, is_own=False) is Stance.DENIED
