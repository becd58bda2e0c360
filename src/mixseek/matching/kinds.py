"""Which kind of answer a ground truth is; the first kind that fits wins."""

import re

from mixseek.domain.ports import MathsComparer
from mixseek.matching.booleans import BooleanReader, polarity_of
from mixseek.matching.brackets import bracket_reader, is_bracket_sequence
from mixseek.matching.either import EitherReader
from mixseek.matching.fold import fold
from mixseek.matching.number_answers import NumberReader
from mixseek.matching.numbers import plain_number
from mixseek.matching.option_letters import OptionReader, comparable
from mixseek.matching.options import NO_OPTIONS, lettered_options, numbered_options
from mixseek.matching.reading import Reader
from mixseek.matching.word_lists import WordListReader

_LETTER = re.compile(r"[\s*(\[{]*(?:\\text\{)?\(?([A-Z])\)?[\s)\]}.:*]*")
_SORTING = re.compile(
    r"\bsort|alphabet|\border\b|並べ替え|並べて|並べなさい|順に|五十音順|アルファベット順|排序|排列|字母顺序",
    re.IGNORECASE,
)
_QUESTION_WORD = re.compile(r"[^\s,;:.?]+")
_NUMBERED_QUESTION = re.compile(r"option|choice|select|choose|correct answer|answer number|選|选", re.IGNORECASE)


def reader_for(gold: str, question: str, maths: MathsComparer | None = None) -> Reader | None:
    """The reader of a closed kind, or None when the ground truth is free text or mathematics."""
    gold = fold(gold).strip()
    question = fold(question)
    letter = _LETTER.fullmatch(gold)
    if letter is not None:
        return OptionReader(letter[1], question)
    if is_bracket_sequence(gold):
        return bracket_reader(gold, question)
    polarity = polarity_of(gold, question)
    by_text = option_by_text(gold, question)
    if polarity is not None:
        boolean = BooleanReader(*polarity)
        return boolean if by_text is None else EitherReader(by_text, boolean)
    if by_text is not None:
        return by_text
    value = plain_number(gold)
    if value is not None:
        if gold.isdigit() and len(gold) <= 2 and _asks_for_number(gold, question):
            return OptionReader(gold, question)
        return NumberReader(value, question, gold, maths, percent="%" in gold)
    words = [word for word in re.split(r"[\s,]+", gold.casefold()) if word]
    if len(words) >= 2 and _SORTING.search(question):
        asked = _QUESTION_WORD.findall(question.casefold())
        wanted = frozenset(words)
        if wanted.issubset(asked):
            return WordListReader(tuple(words), tuple(word for word in asked if word in wanted)[-len(words) :])
    return None


def _asks_for_number(gold: str, question: str) -> bool:
    """Whether the question lists numbered options and wants one of their numbers."""
    return bool(_NUMBERED_QUESTION.search(question)) and gold in numbered_options(question).labels


def option_by_text(gold: str, question: str) -> OptionReader | None:
    """The ground truth is the text of exactly one listed option: its letter is as good."""
    options = lettered_options(question)
    if options is NO_OPTIONS:
        return None
    wanted = comparable(gold)
    labels = [label for label, text in zip(options.labels, options.texts, strict=True) if comparable(text) == wanted]
    return OptionReader(labels[0], question) if len(labels) == 1 and wanted else None
