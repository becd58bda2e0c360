"""Whether a response that holds the right name or date gives another one in the place of the answer.

A response is read clause by clause. A clause is *on the question* as far as it has its words. Where another clause is
nearer to the question than the one that holds the gold, and gives another date or another name in the place that the
answer would have (as its subject, behind "by" for who, behind "in" for where, behind "is"), the gold is company:
"Ankara is the capital, whereas Istanbul is the largest city". A name without such a place is company itself.
"""

import re
from collections.abc import Iterator, Set
from typing import NamedTuple

from mixseek.domain.judgments import Span
from mixseek.matching.numbers import MONTHS
from mixseek.matching.open_text.dates import PartialDate, dates_in
from mixseek.matching.open_text.gold import Asked, Gold, Question
from mixseek.matching.open_text.words import FUNCTION_WORDS, Words, stem
from mixseek.matching.phrases import Phrases

_SAYS = Phrases("rivals")
# Not inside of "April 19, 1775".
_CLAUSE_BREAK = re.compile(
    r",(?:(?<!\d,)|(?!\s?\d{4}))|[.!?](?=\s)|[;:()。、\n]|\s-\s"
    # A letter first: few of them begin one of these words.
    r"|[abystwh](?<=\b.)(?:(?<=a)(?:nd|fter|lthough)|(?<=b)(?:ut|ecause)|(?<=y)et|(?<=s)o|(?<=w)h(?:ile|ereas)"
    r"|(?<=t)h(?:en|ough)|(?<=h)owever)\b"
)
_CONTRASTS = frozenset({"but", "yet", "so", "while", "whereas", "however"})
_SENTENCE_ENDS = frozenset(".!?。\n")
_SO_MUCH_OF_A_WORD = 4
# Signs with which a time is asked for, and which stand at every date.
_ASKING_SIGNS = frozenset("年月日哪一何几いつ")
_REACH = 300
# More than any clause has in common with a question.
_FAR = 1_000

_NAME = r"[A-Z]\w+(?:[ -][A-Z]\w*)*"
_SUBJECT = rf"^\s*(?:[Tt]he )?(?P<subject>{_NAME})(?= [a-z])"
# Where a clause says who did it, where it was, what it is.
_WHO = re.compile(rf"{_SUBJECT}|\b(?:by|is|was|are|were) (?:the )?(?P<named>{_NAME})")
_WHERE = re.compile(rf"{_SUBJECT}|\b(?:in|at|is|was) (?:the )?(?P<named>{_NAME})")
_WHAT = re.compile(rf"{_SUBJECT}|\b(?:is|was|are|were) (?:the )?(?P<named>{_NAME})")
_ASKS_WHO, _ASKS_WHERE = re.compile(r"\bwho(?:m|se)?\b"), re.compile(r"\bwhere\b")
# "by the American singer": a word before another one is no name.
_DESCRIBED = re.compile(
    r" (?!(?:and|or|in|on|at|of|for|with|from|to|as|by|after|before|when|who|which|that|is|was)\b)[a-z]"
)
# What is given in its own right: "the father was Hal, played by Ada Marsh".
_GIVEN = re.compile(r"\b(?:by|is|was|are|were|as|named|called) (?:the )?(?:[\w'-]+ ){0,3}$")
# A clause with a verb of its own does not go on with the one before: "born in York and moved to Leeds".
_OWN_VERB = re.compile(r"\b(?:\w{2,}ed|grew|went|left|fled)\b")
_COUNTED = re.compile(r"(?<![\d,.])\d[\d,.]{0,20} (\w{1,30})")
_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
_COMMON = re.compile(r"\w*(?:tion|ing|ment|ness|ity|ism|ure|ly|ers?|s|th|al|ce)")
_ADJECTIVE = re.compile(r"\w*(?:an|ish|ese|ch|ic)")
_COPULA = re.compile(r" (?:is|was|are|were|has|had|did|became|won)\b")
_HEADLINE = re.compile(rf"\W{{0,3}}(?:The )?(?P<name>{_NAME})\s?(?=[.,;(])")
# "Dr." and "St." open a name.
_SHORTEST_NAME = 4
_JOINED = re.compile(r"\b(?:also|or|and|aka|known|called|named|born|alias|including)\b|[&/]", re.IGNORECASE)


class _Clause(NamedTuple):
    start: int
    end: int
    is_contrast: bool  # set against the one before
    opens_sentence: bool


def is_answered_otherwise(source: str, lowered: str, span: Span, question: Question, gold: Gold) -> bool:
    """Whether something else than the gold at `span` stands where the answer would."""
    if not lowered.isascii() and _is_of_another_topic(lowered, span, question):
        return True
    if question.asked is Asked.TIME and gold.dates:
        return _is_dated_otherwise(lowered, span, question, gold)
    if question.asked is Asked.QUANTITY:
        return _is_counted_otherwise(lowered, span, question)
    # What the response writes small is no name, and a name is no rival of it.
    is_name = source[span.start].isupper()
    if not is_name or question.wanted_items > 1 or question.is_list or question.is_open:
        return False
    return _is_named_otherwise(source, lowered, span, question, gold)


def _is_dated_otherwise(lowered: str, span: Span, question: Question, gold: Gold) -> bool:
    if _SAYS.as_of.search(lowered, max(0, span.start - _REACH), span.start):
        return True
    wanted = _asked_words(question, gold)
    here = elsewhere = 0
    for clause in _clauses(lowered):
        words = Words(lowered[clause.start : clause.end])
        shared = _shared(words, wanted)
        if clause.start <= span.start < clause.end:
            here = shared
        elif shared and any(_contradicts(date, gold) for date in dates_in(words)):
            elsewhere = max(elsewhere, shared)
    return elsewhere > here


def _contradicts(date: PartialDate, gold: Gold) -> bool:
    return all(wanted.contradicts(date) for wanted, _ in gold.dates)


def _is_counted_otherwise(lowered: str, span: Span, question: Question) -> bool:
    """ "It has 12 rings and 14 moons", where moons were asked for: another number stands before the noun."""
    asked = _SAYS.asked_count.search(question.text)
    if asked is None:
        return False
    noun = stem(asked["noun"])
    counted = [place for place in _COUNTED.finditer(lowered) if stem(place[1]) == noun]
    return bool(counted) and not any(place.start() < span.end and span.start < place.end() for place in counted)


def _is_of_another_topic(lowered: str, span: Span, question: Question) -> bool:
    """脚本は佐藤で、監督は田中です, where the 監督 was asked for."""
    asked = _SAYS.asked_topic.search(question.text)
    if asked is None or asked["topic"] not in lowered:
        return False
    heads = tuple(f"{asked['topic']}{joint}" for joint in "は是为")
    answered = [
        clause.start <= span.start < clause.end
        for clause in _clauses(lowered)
        if lowered[clause.start : clause.end].strip().startswith(heads)
    ]
    return bool(answered) and not any(answered)


def _is_named_otherwise(source: str, lowered: str, span: Span, question: Question, gold: Gold) -> bool:
    wanted = _asked_words(question, gold)
    is_where = _ASKS_WHERE.search(question.text) is not None
    places = _WHERE if is_where else _WHO if _ASKS_WHO.search(question.text) else _WHAT
    if not is_where and _is_below_headline(source, span, _known(question) | gold.vocabulary):
        return True
    asked_years = set(_YEAR.findall(question.text))
    here = elsewhere = shared = 0
    for clause in _clauses(lowered):
        text, shared_before = source[clause.start : clause.end], shared
        words = Words(text)
        shared = _shared(words, wanted)
        years = set(_YEAR.findall(lowered, clause.start, clause.end))
        if years and asked_years:
            # What happened in another year is not what was asked.
            shared = 0 if years.isdisjoint(asked_years) else shared + 1
        if clause.start <= span.start < clause.end:
            before = source[clause.start : span.start]
            if not is_where and _gives_another(before, places, clause.opens_sentence, question, gold):
                elsewhere = max(elsewhere, shared)
                shared = 0
            is_alone = gold.vocabulary.issuperset(set(words.text) - FUNCTION_WORDS)
            if is_alone and not lowered[: clause.start].strip():
                return False
            # A name alone goes on with the clause before it: "it went to Lyon, France".
            here = max(shared, shared_before if is_alone else 0)
            if _is_given(before, is_where):
                here += _FAR
        elif shared and _gives_another(text, places, clause.opens_sentence, question, gold):
            # Of two that say as much, the one behind "but" is the answer.
            is_behind_but = clause.is_contrast and clause.start > span.start
            elsewhere = max(elsewhere, shared + (1 + _FAR if is_behind_but else 0))
    return elsewhere > here


def _is_given(before: str, is_where: bool) -> bool:
    """Whether the gold has a place of an answer itself, which then yields to nothing but a "but"."""
    return _OWN_VERB.search(before) is None if is_where else _GIVEN.search(before) is not None


def _is_below_headline(source: str, span: Span, known: Set[str]) -> bool:
    """ "Otto Penn (Ada Marsh was only the producer)": the response opens with another name, and says nothing of it."""
    headline = _HEADLINE.match(source)
    if headline is None or headline.end() > span.start:
        return False
    words = Words(headline["name"]).text
    if not known.isdisjoint(words) or sum(map(len, words)) < _SHORTEST_NAME:
        return False
    between = source[headline.end() : span.start]
    # "Eric Penn (Ada Marsh)", "Coconut Cove, Florida": one thing in two ways.
    is_apposed = not Words(between).text and not Words(source[span.end :]).text
    return not is_apposed and not _JOINED.search(between)


def _gives_another(clause: str, places: re.Pattern[str], opens_sentence: bool, question: Question, gold: Gold) -> bool:
    """Whether a name that is neither the gold's nor the question's stands in the place of an answer."""
    for place in places.finditer(clause):
        name, is_subject = place["subject"] or place["named"], place["subject"] is not None
        if not is_subject and _DESCRIBED.match(clause, place.end()):
            continue
        # Any word has a capital letter at the head of a sentence, and "the Welsh player" is no name either.
        is_doubtful = is_subject and " " not in name and (opens_sentence or place[0].strip() != name)
        if is_doubtful and _is_common(name, clause[place.end() :], has_article=place[0].strip() != name):
            continue
        words = Words(name).text
        if words and words[-1] not in gold.vocabulary and _known(question).isdisjoint(words):
            return True
    return False


def _is_common(word: str, behind: str, *, has_article: bool) -> bool:
    """Whether a single word with a capital letter is hardly a name: "Construction began", "Scottish explorers"."""
    if _COMMON.fullmatch(word):
        return True
    return (has_article or _ADJECTIVE.fullmatch(word) is not None) and _COPULA.match(behind) is None


def _known(question: Question) -> Set[str]:
    return question.words | FUNCTION_WORDS | MONTHS.keys()


def _asked_words(question: Question, gold: Gold) -> set[str]:
    """Beginnings of what the question is about."""
    asked = question.words - FUNCTION_WORDS - _ASKING_SIGNS - gold.vocabulary
    return {word[:_SO_MUCH_OF_A_WORD] for word in asked if word[0] != "#"}


def _shared(words: Words, wanted: set[str]) -> int:
    return len(wanted.intersection(word[:_SO_MUCH_OF_A_WORD] for word in words.text))


def _clauses(lowered: str) -> Iterator[_Clause]:
    begin, is_contrast, opens_sentence = 0, False, True
    for mark in _CLAUSE_BREAK.finditer(lowered):
        if lowered[begin : mark.start()].strip():
            yield _Clause(begin, mark.start(), is_contrast, opens_sentence)
            is_contrast = opens_sentence = False
        begin, is_contrast = mark.end(), is_contrast or mark[0] in _CONTRASTS
        opens_sentence = opens_sentence or mark[0] in _SENTENCE_ENDS
    yield _Clause(begin, len(lowered), is_contrast, opens_sentence)
