"""Ground truths made ready for comparison: repaired, split, and cut into the forms a response may use."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Final

from mixseek.matching.short_text_dates import PartialDate, dates_in
from mixseek.matching.short_text_lexicon import (
    ARTICLES,
    FUNCTION_WORDS,
    LEADING_PREPOSITIONS,
    MONTHS,
    TITLES,
    UNIT_WORDS,
    word_set,
)
from mixseek.matching.short_text_words import Words, relation_keys

_PARENTHESISED: Final = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]")
_ABBREVIATION: Final = re.compile(r"[A-Z][A-Z0-9]{1,5}")
_TAIL: Final = re.compile(r",? (?:who|which|where|whose|because|when|since) | [-–—] |, (?:the|an?) |; ")
_ITEM_BREAK: Final = re.compile(r",\s*(?:and\s+|&\s*)?|\s+and\s+|\s*&\s*|;\s*")
_UNSPACED_ITEM_BREAK: Final = re.compile(r"[、，]|和|及び|および|以及|與|与")
# A gold of this many items is a list; two may be a pair of names for one thing.
_ENUMERATION: Final = 3
# The first bytes of two- and three-byte UTF-8, each followed by what a continuation byte looks like in Windows-1252.
_MOJIBAKE: Final = re.compile(
    "[ÃÂâÐÑ][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u2122]"
)
_INVERTED_NAME: Final = re.compile(r"[A-Z][^\d,]*, [A-Z][^\d,]*")
_ROYAL: Final = word_set("king queen prince princess emperor pope st duke earl father sister")
_LONGEST_CHOICE: Final = 8  # words in a gold that offers alternatives with "or"
_LONGEST_GOLD: Final = 1_000
_MOST_GOLDS: Final = 200
# Longer lists are aliases of one thing, collected by machine; short ones may name different things.
_MOST_RIVALS: Final = 6
_MAJORITY: Final = 0.5
_DATE_WORDS: Final = frozenset(MONTHS) | UNIT_WORDS | FUNCTION_WORDS | LEADING_PREPOSITIONS | frozenset("年月日")


class Form(IntEnum):
    """How far a form of the gold is from the gold as written; the farther, the more the rules ask for."""

    WHOLE = 0
    CORE = 1


class Kind(StrEnum):
    """What the golds of one question are, when all are of one kind."""

    DATE = "date"
    NUMBER = "number"
    NAME = "name"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Answer:
    """One form of one acceptable answer, as folded words."""

    words: tuple[str, ...]
    form: Form
    written: str
    padded: str  # the folded words with one space around each, to be found in the same writing of a response
    glued: str
    content: frozenset[str]
    initials: str
    is_proper: bool  # every content word capitalised: a name
    is_rival: bool  # most of the other alternatives name something else


@dataclass(frozen=True, slots=True)
class Gold:
    """All acceptable answers of one question, with what is known of all of them together."""

    answers: tuple[Answer, ...]
    wholes: tuple[Answer, ...]
    kind: Kind
    dates: tuple[PartialDate, ...]
    numbers: frozenset[str]
    is_count: bool  # one number in each gold, and besides it only units and words of the question
    item_lists: tuple[tuple[str, ...], ...]  # golds that enumerate, as the padded words of each item
    vocabulary: frozenset[str]
    keys: frozenset[str]  # relation keys of what the golds say beyond the question
    has_rival_dates: bool
    is_disputed: bool  # few alternatives, and no majority of them for one thing


@lru_cache(maxsize=2048)
def prepare_gold(alternatives: tuple[str, ...], asked: frozenset[str]) -> Gold:
    """Never empty-handed: a gold without a single word gives a `Gold` without answers.

    Args:
        asked: the folded words of the question; what a gold shares with it tells nothing.
    """
    texts = list(dict.fromkeys(_separate(alternatives)))
    answers: dict[tuple[str, ...], Answer] = {}
    for text in texts:
        for written, form in _forms(text):
            answer = _answer(written, form)
            if answer.words and (answer.words not in answers or answers[answer.words].form > form):
                answers[answer.words] = answer
    wholes = tuple(answer for answer in answers.values() if answer.form is Form.WHOLE)
    keys_of = [_keys(answer, asked) for answer in wholes]
    shares = _shares(keys_of)
    is_few = 1 < len(wholes) <= _MOST_RIVALS
    if is_few:
        rivals = [keys for keys, share in zip(keys_of, shares, strict=True) if share <= _MAJORITY]
        for words, answer in answers.items():
            if any(not keys.isdisjoint(_keys(answer, asked)) for keys in rivals):
                answers[words] = replace(answer, is_rival=True)
    dates = tuple(date for answer in wholes for date in _whole_dates(answer))
    return Gold(
        answers=tuple(sorted(answers.values(), key=lambda answer: (answer.form, -len(answer.words)))),
        wholes=wholes,
        kind=_kind(wholes, dates),
        dates=dates,
        numbers=frozenset(word for answer in wholes for word in answer.words if word[0] == "#"),
        is_count=all(_is_count(answer, asked) for answer in wholes),
        item_lists=tuple(items for text in texts if len(items := _items(text)) > 1),
        vocabulary=frozenset().union(*(answer.content for answer in wholes)),
        keys=frozenset().union(*keys_of),
        has_rival_dates=len({date.year for date in dates if date.year is not None}) > 1,
        is_disputed=is_few and max(shares) <= _MAJORITY,
    )


def _keys(answer: Answer, asked: frozenset[str]) -> set[str]:
    telling = answer.content - asked
    return relation_keys(telling - TITLES) or relation_keys(telling) or relation_keys(answer.content)


def _is_count(answer: Answer, asked: frozenset[str]) -> bool:
    rest = answer.content - asked - UNIT_WORDS
    return len(rest) == 1 and next(iter(rest))[0] == "#" and sum(word[0] == "#" for word in answer.words) == 1


def _shares(keys_of: Sequence[set[str]]) -> list[float]:
    """For each alternative, which share of all of them is connected to it by common keys."""
    group = list(range(len(keys_of))) if len(keys_of) <= _MOST_RIVALS else []
    for i, keys in enumerate(keys_of[: len(group)]):
        for j in range(i):
            if group[i] != group[j] and not keys.isdisjoint(keys_of[j]):
                group = [group[j] if g == group[i] else g for g in group]
    return [group.count(g) / len(group) for g in group]


def _kind(wholes: Sequence[Answer], dates: Sequence[PartialDate]) -> Kind:
    if dates and all(any(True for _ in _whole_dates(answer)) for answer in wholes):
        return Kind.DATE
    if all(any(word[0] == "#" for word in answer.words) for answer in wholes):
        return Kind.NUMBER
    return Kind.NAME if 2 * sum(answer.is_proper for answer in wholes) > len(wholes) else Kind.WORDS


def _whole_dates(answer: Answer) -> Iterator[PartialDate]:
    """The dates of a gold that is nothing but a date."""
    if all(word[0] == "#" or word in _DATE_WORDS for word in answer.words):
        yield from dates_in(Words(answer.written))


def _separate(alternatives: Sequence[str]) -> Iterator[str]:
    """The parts of golds that were joined for storage; a join whose parts are all listed is dropped."""
    listed = {text.strip() for text in alternatives}
    for text in alternatives[:_MOST_GOLDS]:
        text = text[:_LONGEST_GOLD]
        if " | " in text:
            yield from (_repaired(part) for part in text.split(" | ") if part.strip())
        elif "/" in text and len(listed) > 1 and _is_join(text, listed - {text.strip()}):
            continue
        elif text.strip():
            yield _repaired(text)


def _is_join(text: str, others: set[str]) -> bool:
    return all(part.strip() in others or any(part.strip() in other for other in others) for part in text.split("/"))


def _repaired(text: str) -> str:
    """UTF-8 once read as Latin-1 or Windows-1252 is read again, as often as it was misread."""
    for _ in range(2):
        if not _MOJIBAKE.search(text):
            break
        try:
            text = text.encode("cp1252").decode("utf-8")
        except UnicodeError:
            try:
                text = text.encode("latin-1").decode("utf-8")
            except UnicodeError:
                break
    return text.strip().strip('"').strip()


def _forms(text: str) -> Iterator[tuple[str, Form]]:
    """The gold as written, then what remains of it without asides, titles and prepositions."""
    yield text, Form.WHOLE
    if len(_items(text)) >= _ENUMERATION:
        return  # the head of a list is one of its items, not the list
    bare = _PARENTHESISED.sub(" ", text).strip() or text
    if bare != text:
        yield bare, Form.CORE
        for match in _PARENTHESISED.finditer(text):
            aside = match.group(1) or match.group(2) or ""
            if _ABBREVIATION.fullmatch(aside):
                yield aside, Form.CORE
    head = _TAIL.split(bare, maxsplit=1)[0] or bare
    if head != bare:
        yield head, Form.CORE
    tokens = head.split()
    if " or " in head and len(tokens) <= _LONGEST_CHOICE:
        for part in head.split(" or "):
            yield part, Form.CORE
    stripped = _without_lead(tokens)
    if stripped != tokens:
        yield " ".join(stripped), Form.CORE
    if len(tokens) <= 3 and _INVERTED_NAME.fullmatch(head):
        family, _, given = head.partition(", ")
        yield f"{given} {family}", Form.CORE


def _without_lead(tokens: list[str]) -> list[str]:
    """Without the prepositions, articles and titles at the front, as long as something of weight remains."""
    index = 0
    while index < len(tokens) - 1:
        word = tokens[index].lower().rstrip(".,")
        is_title = word in TITLES
        if is_title and tokens[index + 1].lower() in LEADING_PREPOSITIONS:
            break  # "Queen of Denmark" is not Denmark
        if is_title and word in _ROYAL and index + 2 == len(tokens):
            break  # "King John" is not John
        if not is_title and word not in LEADING_PREPOSITIONS and word not in ARTICLES:
            break
        index += 1
    return tokens[index:]


def _answer(written: str, form: Form) -> Answer:
    words = Words(written)
    text = tuple(words.text)
    content = frozenset(word for word in text if word not in FUNCTION_WORDS)
    proper = [words.is_capitalised(i) for i, word in enumerate(text) if word not in FUNCTION_WORDS and word[0] != "#"]
    return Answer(
        words=text,
        form=form,
        written=written,
        padded=f" {' '.join(text)} ",
        glued="".join(text),
        content=content,
        initials="".join(word[0] for word in text if word not in FUNCTION_WORDS) if len(content) > 1 else "",
        is_proper=bool(proper) and all(proper),
        is_rival=False,
    )


def _items(text: str) -> tuple[str, ...]:
    if "、" in text:
        parts = [part for part in _UNSPACED_ITEM_BREAK.split(text) if part.strip()]
        return tuple(_answer(part, Form.WHOLE).padded for part in parts)
    if " and " not in text and "&" not in text and text.count(",") < 2:
        return ()  # "Lyon, France" is one place
    items = tuple(_answer(part, Form.WHOLE).padded for part in _ITEM_BREAK.split(text))
    return items if all(item.strip() for item in items) else ()
