"""What people say of the samples of a run, as far as they were labelled."""

from collections.abc import Sequence

from mixseek.lazy_dataclass import dataclass

# A judge whose score lies so far from what people say, or from another judge's, says something else: a quarter of the
# scale. Right and wrong are the whole scale apart, a winner and a tie half of it.
APART = 0.25
# What stands in the place of a verdict while raters contradict each other.
DISPUTED = "disputed"


@dataclass(frozen=True, slots=True)
class PeopleVerdict:
    """What people say of a sample: a word, or a total on the protocol's scale.

    `share` is the settled label, 0..1; None while raters contradict each other. `raters` are names with what each gave.
    """

    verdict: str
    share: float | None
    raters: tuple[tuple[str, str], ...] = ()

    def is_missed_by(self, score: float | None) -> bool | None:
        """Whether a judge with this score is wrong; None where there is no score, or nothing settled."""
        if score is None or self.share is None:
            return None
        return abs(score - self.share) >= APART


@dataclass(frozen=True, slots=True)
class LabelledSamples:
    """The labelled samples of a run: position and id of each, which of the different verdicts of people it has, and
    what the judges together make of it (a verdict, or why there is none)."""

    positions: Sequence[int] = ()
    ids: Sequence[str] = ()
    codes: Sequence[int] = ()
    panel: Sequence[str] = ()
    verdicts: Sequence[PeopleVerdict] = ()

    def by_id(self) -> dict[str, tuple[PeopleVerdict, str]]:
        """What people and the panel say, by the ids of samples, which are unique in a run."""
        return {
            name: (self.verdicts[code], cell) for name, code, cell in zip(self.ids, self.codes, self.panel, strict=True)
        }
