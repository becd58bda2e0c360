"""Whether the sentence around a value commits to it: conditions, suppositions, denials and questions do not."""

import re

from mixseek.matching import discounted, no_answer
from mixseek.matching.phrases import Phrases
from mixseek.matching.readings import Decision, Reader, Reading

# How far around a value its sentence is looked at.
_BEFORE = 240
_BEHIND = 90
_SENTENCE_STARTS = ("\n", ". ", "? ", "! ", "; ", '." ')
_SENTENCE_END = re.compile(r"[.!](?=[\s\"'*)]|$)|[;。\n]")
_UNSPACED_STARTS = "。!?;"
COMMITMENT = Phrases("commitment")
_TOKEN = re.compile(r"[a-z]{4,}|\d+|[\u3040-\u9fff]{2}")
# So much of a condition must stand in the question for it to be the question's own.
_RESTATED_SHARE = 0.6
_FUNCTION_WORDS = frozenset({"were", "only", "then", "that", "this", "have", "they", "with", "from"})


def as_said(text: str, lowered: str, offset: int, reading: Reading, cut: int, reader: Reader) -> Reading:
    """What was read in a piece at `offset`, or an open reading where its sentence does not commit to it."""
    if reading.decision is Decision.UNDECIDED or reader.spans_lines:
        return reading
    start, end = offset + reading.start, offset + reading.end
    if discounted.ends_plainly(lowered, start, end, cut):
        return reading
    kind = "boolean" if reading.rule.startswith("boolean") else reader.kind
    if _commits(lowered, start, end, cut if offset < cut else len(text), kind, reader.question):
        return reading
    if reading.decision is Decision.INCORRECT and (reader.is_absent(text) or no_answer.breaks_off(text)):
        # Meant or not, the right answer was never given.
        return reading
    return reading.left_open("not_committed")


def commits_to_words(text: str, start: int, end: int) -> bool:
    """Whether words found at [start, end) of a lower-case text are said outright.

    Free text tells of conditions and claims ("If I Loved You", "which he claimed"): only those on an answer count.
    """
    begin, finish = _sentence(text, start, end, len(text))
    if COMMITMENT.condition_right_behind.match(text, end, finish):
        return False
    if not COMMITMENT.names_answer.search(text, begin, finish):
        return True
    return _commits(text, start, end, len(text), "text", "")


def _sentence(text: str, start: int, end: int, cut: int) -> tuple[int, int]:
    begin = max(0, start - _BEFORE)
    for mark in _SENTENCE_STARTS:
        begin = max(begin, text.rfind(mark, begin, start) + 1)
    stop = _SENTENCE_END.search(text, end, min(cut, end + _BEHIND))
    return begin, stop.start() if stop else min(cut, end + _BEHIND)


def _commits(text: str, start: int, end: int, cut: int, kind: str, question: str) -> bool:
    begin, finish = _sentence(text, start, end, cut)
    # A polarity takes its negation in: "cannot say that the answer is yes" is one reading.
    value = end if kind == "boolean" else start
    if COMMITMENT.hint_before.search(text, begin, value) and not _commits_before(text[begin:value], kind, question):
        return False
    has_hint = COMMITMENT.hint_behind.search(text, end, finish) is not None
    if has_hint and not _commits_behind(text, begin, start, end, finish, kind, question):
        return False
    if text.isascii():
        return True
    for mark in _UNSPACED_STARTS:
        begin = max(begin, text.rfind(mark, begin, start) + 1)
    behind = start if kind == "boolean" and COMMITMENT.names_answer.search(text, begin, start) else end
    return _commits_unspaced(text[begin:start], text[behind:finish], kind, question)


def _commits_before(before: str, kind: str, question: str) -> bool:
    names_answer = COMMITMENT.names_answer.search(before) is not None
    condition = COMMITMENT.condition_before.search(before)
    if condition and (names_answer or kind != "number"):
        clause = before[condition.end() :].partition(",")[0]
        if not _is_restated(clause, question):
            return False
    is_denied = COMMITMENT.not_asserted.search(before) or COMMITMENT.denied_clause.search(before)
    if kind == "boolean":
        return not (names_answer and is_denied)
    return not is_denied


def _commits_behind(text: str, begin: int, start: int, end: int, finish: int, kind: str, question: str) -> bool:
    if COMMITMENT.denied_behind.match(text, end, finish):
        return False
    condition = COMMITMENT.condition_behind.match(text, end, finish)
    if condition is None:
        return True
    if kind == "number" and condition[0].endswith((" if", ",if")) and not condition[0].endswith("only if"):
        around = text[begin:start] + text[end : condition.end()]
        # "She makes a profit of 18 if she sells them all" says what the number is of; "18 if they are sold" does not.
        if any(map(str.isalpha, text[begin:start])) and not COMMITMENT.names_answer.search(around):
            return True
    return _is_restated(text[condition.end() : finish], question)


def _commits_unspaced(before: str, behind: str, kind: str, question: str) -> bool:
    condition = COMMITMENT.unspaced_condition.search(before)
    if condition and (kind != "number" or COMMITMENT.names_answer.search(before)):
        is_behind = condition[0][0] in "な場限"
        clause = before[: condition.start()].rpartition(",")[2] if is_behind else before[condition.end() :]
        if not _is_restated(clause.partition(",")[0], question):
            return False
    if COMMITMENT.unspaced_denied.search(before) or COMMITMENT.unspaced_behind.match(behind):
        return False
    return kind == "boolean" or not (
        COMMITMENT.unspaced_denied_value.search(before) or COMMITMENT.unspaced_not_behind.match(behind)
    )


def _is_restated(clause: str, question: str) -> bool:
    """Whether a condition is the question's own: "if all the algae die" of "What if all the algae died?"."""
    words = [word for word in _TOKEN.findall(clause) if word not in _FUNCTION_WORDS]
    asked = question.lower()
    return bool(words) and sum(word[:5] in asked for word in words) >= _RESTATED_SHARE * len(words)
