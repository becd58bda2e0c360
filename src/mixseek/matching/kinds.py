"""Which kind of answer a ground truth is; the first kind that fits wins."""

import re
from functools import lru_cache

from mixseek.domain.ports import MathsComparer
from mixseek.matching.closed.booleans import BooleanReader, EitherReader, polarity_of
from mixseek.matching.closed.brackets import BracketReader, is_bracket_sequence
from mixseek.matching.closed.multi_select import MultiSelectReader, several_labels
from mixseek.matching.closed.number_answers import NumberReader
from mixseek.matching.closed.options import OptionReader, comparable, lettered_options, numbered_options
from mixseek.matching.closed.word_lists import WordListReader
from mixseek.matching.folding import fold
from mixseek.matching.numbers import plain_number
from mixseek.matching.phrases import Phrases
from mixseek.matching.readings import Reader

_SAYS = Phrases("kinds")

_LETTER = re.compile(r"[\s*(\[{]*(?:\\text\{)?\(?([A-Z])\)?[\s)\]}.:*]*")
_QUESTION_WORD = re.compile(r"[^\s,;:.?]+")


def reader_for(gold: str, question: str, maths: MathsComparer | None = None) -> Reader | None:
    """The reader of a closed kind, or None when the ground truth is free text or mathematics."""
    gold = fold(gold).strip()
    question = _folded(question)
    if _is_plain_text(gold):
        return option_by_text(gold, question) or _word_list(gold, question)
    letter = _LETTER.fullmatch(gold)
    if letter is not None:
        return OptionReader(letter[1], question)
    if (labels := several_labels(gold)) is not None:
        return MultiSelectReader(labels, question)
    if is_bracket_sequence(gold):
        return BracketReader(gold, question)
    polarity = polarity_of(gold, question)
    by_text = option_by_text(gold, question)
    if polarity is not None:
        boolean = BooleanReader(*polarity)
        return boolean if by_text is None else EitherReader(by_text, boolean, question)
    if by_text is not None:
        return by_text
    value = plain_number(gold)
    if value is not None:
        # The question lists numbered options and wants one of their numbers.
        is_listed = gold.isdigit() and len(gold) <= 2 and any(f"{gold}{sign}" in question for sign in ".)、]")
        if is_listed and _SAYS.numbered_question.search(question) and gold in numbered_options(question):
            return OptionReader(gold, question)
        return NumberReader(value.values[0], question, gold, maths, value.percent or "%" in gold)
    return _word_list(gold, question)


@lru_cache(maxsize=4096)  # the responses of several models are judged by the same ground truths
def _is_plain_text(gold: str) -> bool:
    """Whether a folded ground truth is neither letters, brackets, a polarity nor a number, whatever was asked."""
    return (
        _LETTER.fullmatch(gold) is None
        and several_labels(gold) is None
        and not is_bracket_sequence(gold)
        and polarity_of(gold) is None
        and polarity_of(gold, "plausible") is None
        and plain_number(gold) is None
    )


def _word_list(gold: str, question: str) -> WordListReader | None:
    if not _asks_for_order(question):
        return None
    words = [word for word in re.split(r"[\s,]+", gold.casefold()) if word]
    if len(words) >= 2:
        asked = _QUESTION_WORD.findall(question.casefold())
        wanted = frozenset(words)
        if wanted.issubset(asked):
            return WordListReader(tuple(words), tuple(word for word in asked if word in wanted)[-len(words) :])
    return None


@lru_cache(maxsize=4)  # asked for each acceptable answer to one question
def _folded(question: str) -> str:
    return fold(question)


@lru_cache(maxsize=4)
def _asks_for_order(question: str) -> bool:
    return _SAYS.sorting.search(question) is not None


def option_by_text(gold: str, question: str) -> OptionReader | None:
    """The ground truth is the text of exactly one listed option: its letter is as good."""
    options = lettered_options(question)
    if not options:
        return None
    wanted = comparable(gold)
    labels = [label for label, text in options.items() if comparable(text) == wanted]
    return OptionReader(labels[0], question) if len(labels) == 1 and wanted else None
