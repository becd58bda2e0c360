"""Whether the sentence that holds a name only mentions it: compared with, conceded to others, former, a candidate.

Free text may hold the right name and answer with another one. What tells is the place that the sentence gives the name:
behind "than" it is what something else was measured by, in "Of A, B and C, it is C" one of those to choose from, before
"now it is" whoever held the place. Words that the question uses itself object to nothing: they may be what was asked for.
"""

import re
from collections.abc import Iterator, Set
from typing import NamedTuple

from mixseek.domain.judgments import Span
from mixseek.matching.gold import FUNCTION_WORDS, Asked, Gold, PartialDate, Question, Words, dates_in, stem
from mixseek.matching.numbers import MONTHS
from mixseek.matching.visible import Phrases

_SAYS = Phrases("mentions")
# So far around a name its sentence is read.
_REACH = 300
_BREAK = re.compile(r"[.!?](?=[\s\"')])|[。!?\n]")
# Not inside of "April 19, 1775".
_CLAUSE_BREAK = re.compile(
    r"(?<!\d),|,(?!\s?\d{4})|[.!?](?=\s)|[;:()。、\n]|\s-\s|\b(?:and|but|yet|so|while|whereas|then|although|though|however)\b"
)
_MOVED_FROM = re.compile(r"\bfrom (?:the )?$")
_MOVED_TO = re.compile(r" to (?:the )?[A-Z]")
_CONTRASTS = frozenset({"but", "yet", "so", "while", "whereas", "however"})
_NAME = r"[A-Z]\w+(?:[ -][A-Z]\w*)*"
_ANSWER_PLACE = re.compile(
    rf"^\s*(?:[Tt]he )?(?P<subject>{_NAME})(?= [a-z])|\b(?:by|is|was|are|were) (?:the )?(?P<named>{_NAME})"
)
_GIVEN = re.compile(r"\b(?:by|is|was|are|were|as|named|called) (?:the )?(?:[\w'-]+ ){0,3}$")
_SENTENCE_ENDS = frozenset(".!?。\n")
# More than any clause has in common with a question.
_FAR = 1_000
_DESCRIBED = re.compile(r" (?!(?:and|or|in|on|at|of|for|with|from|to|as|by|after|before|when|who|which|that|is|was)\b)[a-z]")
_SO_MUCH_OF_A_WORD = 4
# Signs with which a time is asked for, and which stand at every date.
_ASKING_SIGNS = frozenset("年月日哪一何几いつ")
# A name behind another one's, which the first only leads to: "Ada Marsh's assistant, Otto Penn".
_OWNED = re.compile(r"(?:'s|(?<=s)')\s(?:[a-z][a-z-]*\s){0,3}[a-z][a-z-]*,?\s(?P<name>[A-Z]\w+)")


def is_only_mentioned(source: str, lowered: str, span: Span, question: Question, gold: Gold) -> bool:
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
        or _SAYS.seems_so.match(rest) is not None
        or _is_supposed(before, question)
        or _is_among_candidates(lowered, begin, span)
        or _leads_to_another(source, span, question)
        or _is_answered_elsewhere(source, lowered, span, question, gold)
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
    if "from" not in question.words and _MOVED_FROM.search(source, max(0, span.start - _REACH), span.start):
        return _MOVED_TO.match(source, span.end) is not None
    # The span may take the possessive in.
    start = span.end - 2 if source[span.end - 2 : span.end] == "'s" else span.end
    owned = _OWNED.match(source, start)
    return owned is not None and question.words.isdisjoint(Words(owned["name"]).text)


# Does another clause say of another name, or of another date, what the question asks?


def _is_answered_elsewhere(source: str, lowered: str, span: Span, question: Question, gold: Gold) -> bool:
    """Another clause is nearer to the question than the one that holds the gold, and gives something else there.

    Another date may stand anywhere in its clause. Another name stands where the answer would: as its subject, behind
    "by", behind "is" ("Ankara is the capital, whereas Istanbul is the largest city"); elsewhere it is company.
    """
    is_time = question.asked is Asked.TIME and bool(gold.dates)
    if is_time and _SAYS.as_of.search(lowered, max(0, span.start - _REACH), span.start):
        return True
    told = question.words - FUNCTION_WORDS - _ASKING_SIGNS - gold.vocabulary
    wanted = {word[:_SO_MUCH_OF_A_WORD] for word in told if word[0] != "#"}
    known = question.words | gold.vocabulary | FUNCTION_WORDS | MONTHS.keys()
    here = elsewhere = shared = 0
    for clause in _clauses(lowered):
        text, shared_before = source[clause.start : clause.end], shared
        words = Words(text)
        shared = len(wanted.intersection(word[:_SO_MUCH_OF_A_WORD] for word in words.text))
        if clause.start <= span.start < clause.end:
            is_alone = gold.vocabulary.issuperset(set(words.text) - FUNCTION_WORDS)
            if is_alone and not lowered[: clause.start].strip():
                return False
            # A name alone goes on with the clause before it: "it went to Lyon, France".
            here = max(shared, shared_before if is_alone else 0)
            # What is given in its own right yields to nothing but a "but": "the father was Hal, played by Ada Marsh".
            here += not is_time and _GIVEN.search(source, clause.start, span.start) is not None and _FAR
        elif shared and is_time:
            if any(_contradicts(date, gold) for date in dates_in(words)):
                elsewhere = max(elsewhere, shared)
        elif shared and question.wanted_items == 1 and _is_said_of_another(text, clause.opens_sentence, known):
            # Of two that say as much, the one behind "but" is the answer.
            is_behind_but = clause.is_contrast and clause.start > span.start
            elsewhere = max(elsewhere, shared + (1 + _FAR if is_behind_but else 0))
    return elsewhere > here


def _contradicts(date: PartialDate, gold: Gold) -> bool:
    return all(wanted.contradicts(date) for wanted, _ in gold.dates)


def _is_said_of_another(clause: str, opens_sentence: bool, known: Set[str]) -> bool:
    """Whether a name that is neither the gold's nor the question's stands in the place of an answer."""
    for place in _ANSWER_PLACE.finditer(clause):
        name = place["subject"] or place["named"]
        # Any word has a capital letter at the head of a sentence; in "by the American singer" it is no name either.
        is_word = " " not in name and (opens_sentence if place["subject"] else _DESCRIBED.match(clause, place.end()))
        words = Words(name).text
        if words and not is_word and known.isdisjoint(words):
            return True
    return False


class _Clause(NamedTuple):
    start: int
    end: int
    is_contrast: bool  # set against the one before
    opens_sentence: bool


def _clauses(lowered: str) -> Iterator[_Clause]:
    begin, is_contrast, opens_sentence = 0, False, True
    for mark in _CLAUSE_BREAK.finditer(lowered):
        if lowered[begin : mark.start()].strip():
            yield _Clause(begin, mark.start(), is_contrast, opens_sentence)
            is_contrast = opens_sentence = False
        begin, is_contrast = mark.end(), is_contrast or mark[0] in _CONTRASTS
        opens_sentence = opens_sentence or mark[0] in _SENTENCE_ENDS
    yield _Clause(begin, len(lowered), is_contrast, opens_sentence)
