"""Whether the sentence that holds a name only mentions it: compared with, conceded to others, former, a candidate.

Free text may hold the right name and answer with another one. What tells is the place that the sentence gives the name:
behind "than" it is what something else was measured by, in "Of A, B and C, it is C" one of those to choose from, before
"now it is" whoever held the place. Words that the question uses itself object to nothing: they may be what was asked for.
"""

import re
from collections.abc import Iterator

from mixseek.domain.judgments import Span
from mixseek.matching.gold import FUNCTION_WORDS, Asked, Question, Words, stem
from mixseek.matching.visible import Phrases

_SAYS = Phrases("mentions")
# So far around a name its sentence is read.
_REACH = 300
_BREAK = re.compile(r"[.!?](?=[\s\"')])|[。!?\n]")
# Not inside of "April 19, 1775".
_CLAUSE_BREAK = re.compile(r"(?<!\d),|,(?!\s?\d{4})|[;:()。、]|\s-\s|\b(?:and|but|while|then|when|before|after|although|though)\b")
_SO_MUCH_OF_A_WORD = 4
# Signs with which a time is asked for, and which stand at every date.
_ASKING_SIGNS = frozenset("年月日哪一何几いつ")
# A name behind another one's, which the first only leads to: "Ada Marsh's assistant, Otto Penn".
_OWNED = re.compile(r"(?:'s|(?<=s)')\s(?:[a-z][a-z-]*\s){0,3}[a-z][a-z-]*,?\s(?P<name>[A-Z]\w+)")
_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")


def is_only_mentioned(source: str, lowered: str, span: Span, question: Question, years: frozenset[str]) -> bool:
    """Whether the sentence around `span` gives the name there a place in which it answers nothing.

    `years` are all that would be right where a time was asked for.
    """
    begin, finish = _sentence(lowered, span)
    before, behind = lowered[begin : span.start], lowered[span.end : finish]
    rest = lowered[span.end : span.end + _REACH]
    for pattern, text in ((_SAYS.compared, before), (_SAYS.fails, behind), (_SAYS.offered, before)):
        mark = pattern.search(text)
        if mark is not None and not _is_asked(mark, question):
            return True
    return (
        (question.asked is Asked.TIME and _is_beside_the_date(lowered, span, question, years))
        or _is_outranked(behind, question)
        or _is_former(before, rest, question)
        or (_SAYS.others_hold.search(before) is not None and _SAYS.but.search(rest) is not None)
        or _SAYS.seems_so.match(rest) is not None
        or _is_supposed(before, question)
        or _is_among_candidates(lowered, begin, span)
        or _leads_to_another(source, span, question)
    )


def _sentence(lowered: str, span: Span) -> tuple[int, int]:
    begin = max(0, span.start - _REACH)
    for mark in _BREAK.finditer(lowered, begin, span.start):
        begin = mark.end()
    stop = _BREAK.search(lowered, span.end, span.end + _REACH)
    return begin, stop.start() if stop else min(len(lowered), span.end + _REACH)


def _is_asked(mark: re.Match[str], question: Question) -> bool:
    """Whether the question has the words itself; in a script without spaces, the word that they begin with."""
    words = Words(mark[0]).text
    if mark[0].isascii():
        return not question.words.isdisjoint(words) or not {stem(word) for word in question.words}.isdisjoint(
            map(stem, words)
        )
    return "".join(words[:2]) in question.text


def _is_outranked(behind: str, question: Question) -> bool:
    """ "The Volga is only the second longest", where one that is first was asked for."""
    mark = _SAYS.outranked.match(behind)
    return (
        mark is not None
        and _SAYS.asks_for_first.search(question.text) is not None
        and question.words.isdisjoint(Words(mark["rank"]).text)
    )


def _is_former(before: str, rest: str, question: Question) -> bool:
    """ "It was Ada Marsh until 2010; now it is Otto Penn", where the question does not ask about the past."""
    if _SAYS.asks_of_past.search(question.text):
        return False
    is_past = _SAYS.past_before.search(before) or _SAYS.past_behind.match(rest)
    return is_past is not None and _SAYS.now_another.match(rest) is not None


def _is_supposed(before: str, question: Question) -> bool:
    """ "If it were warmer, it would be argon.", unless the question supposes as well."""
    return _SAYS.supposed.search(before) is not None and not _SAYS.asks_supposing.search(question.text)


def _is_among_candidates(lowered: str, begin: int, span: Span) -> bool:
    """ "Of mercury, gallium and caesium, it is gallium that melts first": inside of what there is to choose from."""
    choice = _SAYS.choose_from.match(lowered, begin, begin + _REACH)
    return choice is not None and choice.start("choice") <= span.start < span.end <= choice.end("choice")


def _leads_to_another(source: str, span: Span, question: Question) -> bool:
    """ "Ada Marsh's assistant, Otto Penn, found it": the name is there to say who somebody else is."""
    if _SAYS.relative_behind.match(source, span.end):
        return True
    # The span may take the possessive in.
    start = span.end - 2 if source[span.end - 2 : span.end] == "'s" else span.end
    owned = _OWNED.match(source, start)
    return owned is not None and question.words.isdisjoint(Words(owned["name"]).text)


def _is_beside_the_date(lowered: str, span: Span, question: Question, years: frozenset[str]) -> bool:
    """The clause of the date is on something else than the question, and another clause dates what was asked."""
    if _SAYS.as_of.search(lowered, max(0, span.start - _REACH), span.start):
        return True
    told = question.words - FUNCTION_WORDS - _ASKING_SIGNS
    wanted = {word[:_SO_MUCH_OF_A_WORD] for word in told if word[0] != "#"}
    is_beside = is_dated_elsewhere = False
    for start, end in _clauses(lowered):
        dated = set(_YEAR.findall(lowered, start, end))
        if not dated:
            continue
        words = Words(lowered[start:end]).text
        is_on_question = not wanted.isdisjoint(word[:_SO_MUCH_OF_A_WORD] for word in words)
        if start <= span.start < end:
            is_beside = not is_on_question
        elif is_on_question and dated.isdisjoint(years):
            is_dated_elsewhere = True
    return is_beside and is_dated_elsewhere


def _clauses(lowered: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for mark in _CLAUSE_BREAK.finditer(lowered):
        yield begin, mark.start()
        begin = mark.end()
    yield begin, len(lowered)
