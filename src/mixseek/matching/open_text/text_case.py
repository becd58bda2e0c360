"""One comparison in progress: what is compared, what was found, and the names of the rules that may decide it."""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from typing import Final

from mixseek.lazy_dataclass import dataclass
from mixseek.matching.open_text.dates import PartialDate, dates_in
from mixseek.matching.open_text.gold import Gold, GoldAnswer, Question
from mixseek.matching.open_text.words import Words
from mixseek.matching.phrases import Phrases

_SAYS = Phrases("short_text")


class Rule(StrEnum):
    """Every reason the short-text comparer gives."""

    # Correct: the gold is in the response, said in one of these ways.
    EXACT_ANSWER = "exact_answer"
    CONTAINED = "contained"
    SAME_DATE = "same_date"
    INFLECTED = "inflected"
    ALL_ITEMS = "all_items"

    # Incorrect: the response answers with nothing, or with something that leaves no room for the gold.
    NO_ANSWER = "no_answer"
    REFUSAL = "refusal"
    NONE_OF_THE_NAMES = "none_of_the_names"
    OTHER_NUMBER = "other_number"
    OTHER_DATE = "other_date"
    NO_DATE = "no_date"
    MISSING_ITEM = "missing_item"

    # Undecided: the gold is there, but is it meant?
    DENIED = "denied"
    HEDGED = "hedged"
    ECHOED = "echoed"
    LONGER_NAME = "longer_name"
    RIVAL_GOLDS = "rival_golds"
    TOO_FEW_ITEMS = "too_few_items"
    WRONG_KIND = "wrong_kind"
    FINER_DATE = "finer_date"
    COARSER_DATE = "coarser_date"
    IN_PASSING = "in_passing"
    ONE_OF_SEVERAL = "one_of_several"
    ONLY_MENTIONED = "only_mentioned"
    # Undecided: no rule speaks.
    NO_RULE = "no_rule"


@dataclass(frozen=True, slots=True)
class Passage:
    """A rule that holds for the words from `first` to `last` of the response, both included."""

    rule: Rule
    first: int
    last: int
    answer: GoldAnswer | None = None


class Case:
    """The response, the golds and the question as folded words."""

    def __init__(self, response: str, gold: Gold, question: Question, is_cut: bool) -> None:
        self.words = Words(response)
        self.gold = gold
        self.question = question
        self.is_cut = is_cut  # only a part of the response was read, so nothing can be said about what is not in it
        self.padded = f" {' '.join(self.words.text)} "
        self.vocabulary = frozenset(self.words.text)
        self.lowered = self.words.folded_source.lower()  # with the same offsets

    @cached_property
    def dates(self) -> tuple[PartialDate, ...]:
        return tuple(dates_in(self.words))

    @cached_property
    def refusal(self) -> re.Match[str] | None:
        """The words with which the response declines to answer."""
        return _SAYS.refusal.search(self.lowered)

    def places_of(self, padded: str) -> Iterator[int]:
        """The index of the first word of each occurrence of padded words."""
        at = self.padded.find(padded)
        while at >= 0:
            yield self.padded.count(" ", 0, at)
            # The closing space of one occurrence may open the next.
            at = self.padded.find(padded, at + len(padded) - 1)


# A bare date or number may be one of several right ones; a sentence commits itself to what was asked.
SHORT_RESPONSE: Final = 6
