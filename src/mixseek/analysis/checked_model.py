"""What checks made of the samples of a run, as plain data."""

from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CheckedGroup:
    """Samples of one target under one check; `applied` leaves out those of which nothing could be said."""

    name: str | None
    failed: int
    applied: int
    not_applicable: int

    @property
    def share(self) -> float | None:
        """None where the check applied to none."""
        return self.failed / self.applied if self.applied else None


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """One check over all samples, and target by target where samples name some."""

    check: str
    whole: CheckedGroup
    targets: tuple[CheckedGroup, ...] = ()
