"""What a mean takes of samples that no judge calls right or wrong for good: those cut off, and those undecided.

Nothing is judged anew: verdicts stay what judges said, and whoever reads them chooses what is in the mean. Bounds hold
every choice.

    choice                 what is in the mean
    cut off: incorrect     a response that was cut off as it was judged (seed 001: incorrect), or, where the rules
                           left it undecided, as incorrect
    cut off: leave-out     no response that was cut off
    undecided: leave-out   no sample that is undecided, for whatever other reason
    undecided: incorrect   undecided samples as incorrect (seed 001: what is ambiguous is INCORRECT)

Between two responses nothing is incorrect: a pair that is undecided is in no mean.
"""

from dataclasses import asdict
from enum import StrEnum
from typing import TypeVar

from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass


class CutOffChoice(StrEnum):
    """What a response that was cut off counts as."""

    INCORRECT = "incorrect"
    LEAVE_OUT = "leave-out"


class UndecidedChoice(StrEnum):
    """What a sample that is undecided counts as."""

    LEAVE_OUT = "leave-out"
    INCORRECT = "incorrect"


@dataclass(frozen=True, slots=True)
class Counting:
    """Both choices; None where nothing was said, which is the first of each."""

    cut_off: CutOffChoice | None = None
    undecided: UndecidedChoice | None = None

    @property
    def leaves_out_cut_off(self) -> bool:
        return self.cut_off is CutOffChoice.LEAVE_OUT

    @property
    def counts_undecided(self) -> bool:
        """Whether undecided samples are incorrect, and not only those that were cut off."""
        return self.undecided is UndecidedChoice.INCORRECT

    @property
    def is_usual(self) -> bool:
        """Whether the mean is the one that is shown where nobody chooses."""
        return not (self.leaves_out_cut_off or self.counts_undecided)

    @property
    def explicit(self) -> "Counting":
        """The same choices, said in so many words: nothing is left for another to say."""
        return Counting(self.cut_off or CutOffChoice.INCORRECT, self.undecided or UndecidedChoice.LEAVE_OUT)

    def or_else(self, other: "Counting") -> "Counting":
        """These choices, and those of the other where nothing was said here."""
        return Counting(self.cut_off or other.cut_off, self.undecided or other.undecided)

    def document(self) -> dict[str, str]:
        """What was chosen, in words for programs."""
        return {name: choice.value for name, choice in asdict(self.explicit).items()}


USUAL = Counting()

Choice = TypeVar("Choice", bound=StrEnum)


def read_counting(cut_off: object, undecided: object) -> Counting:
    """The choices as somebody wrote them; raises ConfigurationError for a word that is none."""
    return Counting(
        _read_choice(CutOffChoice, "--cut-off", cut_off), _read_choice(UndecidedChoice, "--undecided", undecided)
    )


def _read_choice(kind: type[Choice], flag: str, given: object) -> Choice | None:
    if given is None:
        return None
    try:
        return kind(str(given))
    except ValueError:
        known = ", ".join(member.value for member in kind)
        raise ConfigurationError(f"{flag} {given!r}: it is one of {known}") from None
