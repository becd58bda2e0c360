"""Checks ready to be tried on samples."""

from collections.abc import Iterable, Mapping
from typing import Any

from mixseek.checks.rules import Rule
from mixseek.domain.check_findings import CheckFinding
from mixseek.domain.samples import Sample
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """A rule with its name. `document` says the same as a table, with nothing left to look up."""

    name: str
    rule: Rule
    document: Mapping[str, Any]

    def find(self, sample: Sample) -> CheckFinding:
        """What the check makes of the sample."""
        state, detail, step = self.rule.examine(sample)
        return CheckFinding(self.name, state, detail, step)


@dataclass(frozen=True, slots=True)
class CheckSet:
    """The checks of a run: those of its protocol, and `beside` them those that a request has added.

    With `is_gate` a failed one of the protocol's changes the verdict of its sample; what a request adds never does.
    """

    checks: tuple[Check, ...] = ()
    is_gate: bool = False
    beside: tuple[Check, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.checks or self.beside)

    @property
    def every(self) -> tuple[Check, ...]:
        """All of them, in the order of declaration."""
        return (*self.checks, *self.beside)

    @property
    def documents(self) -> list[dict[str, Any]]:
        """What manifests keep of them."""
        return documents_of(self.every)


def documents_of(checks: Iterable[Check]) -> list[dict[str, Any]]:
    """Checks as tables."""
    return [dict(check.document) for check in checks]


NO_CHECKS = CheckSet()
