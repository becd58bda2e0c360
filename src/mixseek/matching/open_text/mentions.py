"""Whether the sentence that holds a name only mentions it: compared with, conceded to others, former, a candidate.

Free text may hold the right name and answer with another one. What tells is the place that the sentence gives the
name: behind "than" it is what something else was measured by, in "Of A, B and C, it is C" one of those to choose from,
before "now it is" whoever held the place. Words that the question uses itself object to nothing: they may be what was
asked for. Whether another clause answers is read in `rivals.py`.
"""

import re

from mixseek.domain.judgments import Span
from mixseek.matching.open_text.gold import Question
from mixseek.matching.open_text.words import FUNCTION_WORDS, Words, stem
from mixseek.matching.phrases import Phrases

_SAYS = Phrases("mentions")
# So far around a name its sentence is read.
_REACH = 300
_BREAK = re.compile(r"[.!?。\n](?:(?<=[。!?\n])|(?=[\s\"')]))")
# A name behind another one's, which the first only leads to: "Ada Marsh's assistant, Otto Penn".
_OWNED = re.compile(r"(?:'s|(?<=s)')\s(?:[a-z][a-z-]*\s){0,3}[a-z][a-z-]*,?\s(?P<name>[A-Z]\w+)")
_MOVED_FROM = re.compile(r"\bfrom (?:the )?$")
_MOVED_TO = re.compile(r" to (?:the )?[A-Z]")
# Somebody else did something with what is the gold's: "Otto Penn broke Ada Marsh's record".
_ANOTHERS_DEED = re.compile(r"^\W{0,3}[A-Z]\w+(?: [A-Z]\w*)+ [a-z]+ (?:the )?$")


def is_only_mentioned(source: str, lowered: str, span: Span, question: Question) -> bool:
    """Whether the sentence around `span` gives the name there a place in which it answers nothing."""
    begin, finish = _sentence(lowered, span)
    before, behind = lowered[begin : span.start], lowered[span.end : finish]
    rest = lowered[span.end : span.end + _REACH]
    for pattern, text in ((_SAYS.compared, before), (_SAYS.fails, behind), (_SAYS.offered, before)):
        mark = pattern.search(text)
        if mark is not None and not _is_asked(mark, question):
            return True
    return (
        _is_outranked(behind, question)
        or _is_former(before, rest, question)
        or (_is_conceded(before) and _SAYS.but.search(rest) is not None)
        or _SAYS.conceded_last.search(before) is not None
        or _SAYS.seems_so.match(rest) is not None
        or _is_supposed(before, question)
        or _is_among_candidates(lowered, begin, span)
        or _leads_to_another(source, begin, span, question)
    )


def _sentence(lowered: str, span: Span) -> tuple[int, int]:
    begin = max(0, span.start - _REACH)
    for mark in _BREAK.finditer(lowered, begin, span.start):
        begin = mark.end()
    stop = _BREAK.search(lowered, span.end, span.end + _REACH)
    return begin, stop.start() if stop else min(len(lowered), span.end + _REACH)


def _is_conceded(before: str) -> bool:
    """What others hold, or what was meant to be; "but" may follow."""
    return _SAYS.others_hold.search(before) is not None or _SAYS.planned.search(before) is not None


def _is_asked(mark: re.Match[str], question: Question) -> bool:
    """Whether the question has the words itself; in a script without spaces, the word that they begin with."""
    words = Words(mark[0]).text
    if not mark[0].isascii():
        return "".join(words[:2]) in question.text
    content = set(words) - FUNCTION_WORDS or set(words)
    return not {stem(word) for word in question.words}.isdisjoint(map(stem, content))


def _is_outranked(behind: str, question: Question) -> bool:
    """ "The Volga is only the second longest", where one that is first was asked for."""
    mark = _SAYS.outranked.match(behind)
    if mark is None or not _SAYS.asks_for_first.search(question.text):
        return False
    rank = mark["rank"] or mark["rank_unspaced"]
    return rank not in question.text and (not rank.isascii() or question.words.isdisjoint(Words(rank).text))


def _is_former(before: str, rest: str, question: Question) -> bool:
    """ "It was Ada Marsh until 2010; now it is Otto Penn", where the question does not ask about the past."""
    if _SAYS.asks_of_past.search(question.text):
        return False
    if _SAYS.until_behind.match(rest):
        return True
    is_past = _SAYS.past_before.search(before) or _SAYS.past_behind.match(rest)
    return is_past is not None and _SAYS.now_another.match(rest) is not None


def _is_supposed(before: str, question: Question) -> bool:
    """ "If it were warmer, it would be argon.", unless the question supposes as well."""
    return _SAYS.supposed.search(before) is not None and not _SAYS.asks_supposing.search(question.text)


def _is_among_candidates(lowered: str, begin: int, span: Span) -> bool:
    """ "Of mercury, gallium and caesium, it is gallium that melts first": inside of what there is to choose from."""
    choice = _SAYS.choose_from.match(lowered, begin, begin + _REACH)
    return choice is not None and choice.start("choice") <= span.start < span.end <= choice.end("choice")


def _leads_to_another(source: str, begin: int, span: Span, question: Question) -> bool:
    """ "Ada Marsh's assistant, Otto Penn, found it": the name is there to say who somebody else is."""
    if _SAYS.relative_behind.match(source, span.end):
        return True
    if "from" not in question.words and _MOVED_FROM.search(source, max(0, span.start - _REACH), span.start):
        return _MOVED_TO.match(source, span.end) is not None
    # The span may take the possessive in.
    start = span.end - 2 if source[span.end - 2 : span.end] == "'s" else span.end
    if not source.startswith("'", start):
        return False
    relative = _SAYS.relative_owned.match(source, start)
    if relative is not None and not _is_asked(relative, question):
        return True
    deed = _ANOTHERS_DEED.match(source[begin : span.start])
    if deed is not None and question.words.isdisjoint(Words(deed[0]).text):
        return True
    owned = _OWNED.match(source, start)
    return owned is not None and question.words.isdisjoint(Words(owned["name"]).text)
