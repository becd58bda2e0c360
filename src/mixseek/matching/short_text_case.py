"""One comparison in progress: what is compared, what was found, and the names of the rules that may decide it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from mixseek.matching.short_text_dates import PartialDate, dates_in
from mixseek.matching.short_text_gold import Answer, Gold, Question
from mixseek.matching.short_text_words import Words


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
    # Undecided: no rule speaks.
    NO_RULE = "no_rule"


@dataclass(frozen=True, slots=True)
class Found:
    """A rule that holds for the words from `first` to `last` of the response, both included."""

    rule: Rule
    first: int
    last: int
    answer: Answer | None = None


@dataclass(frozen=True)
class Case:
    """The response, the golds and the question as folded words."""

    words: Words
    gold: Gold
    question: Question
    is_cut: bool  # only a part of the response was read, so nothing can be said about what is not in it

    @cached_property
    def padded(self) -> str:
        return f" {' '.join(self.words.text)} "

    @cached_property
    def lowered(self) -> str:
        """The response in lower case, with the same offsets."""
        source = self.words.folded_source
        lowered = source.lower()
        return lowered if len(lowered) == len(source) else source

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(self.words.text)

    @cached_property
    def dates(self) -> tuple[PartialDate, ...]:
        return tuple(dates_in(self.words))

    def places_of(self, padded: str) -> Iterator[int]:
        """The index of the first word of each occurrence of padded words."""
        at = self.padded.find(padded)
        while at >= 0:
            yield self.padded.count(" ", 0, at)
            # The closing space of one occurrence may open the next.
            at = self.padded.find(padded, at + len(padded) - 1)
