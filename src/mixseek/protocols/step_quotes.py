"""Quotes that name their step: whether they stand in its text, its arguments or its result, and else where they stand.

Offsets are in the text of that part as `Step.text`, `Step.arguments_text` and `Step.result` have it.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from mixseek.domain.steps import Step, StepRole
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.evidence.quotes import QuoteFinding, QuoteLocator, QuoteProblem, locate_quote

# Whoever is judged speaks in these.
_JUDGED = (StepRole.ASSISTANT, StepRole.TOOL)
_BETWEEN = "\n\n"


class _Part(NamedTuple):
    step: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Location:
    """Where a quote was looked for and what was found there; `step` None is the response, the final answer."""

    finding: QuoteFinding
    step: int | None = None
    # "text", "arguments" or "result", where it was found in a step.
    part: str | None = None
    # Where it stands instead: "step 5", "the final answer".
    elsewhere: str | None = None

    @property
    def why_not(self) -> str:
        """Why it proves nothing, for a detail that a person can act on."""
        if self.elsewhere is not None:
            return f"it stands in {self.elsewhere}, not in {_place(self.step)}"
        return str(self.finding.problem)

    def document(self) -> dict[str, Any]:
        """The location in a judgment's fields; spans are of the response, or of the part of the step that is named."""
        located: dict[str, Any] = {
            "spans": [[span.start, span.end] for span in self.finding.spans],
            "stage": None if self.finding.stage is None else self.finding.stage.value,
            "problem": None if self.finding.problem is None else self.finding.problem.value,
        }
        if self.step is not None:
            located |= {"step": self.step, "part": self.part}
        return located


class StepQuotes:
    """Locates the quotes of one reply in one sample's response and steps."""

    def __init__(self, response: str, steps: Sequence[Step], question: str = "", rubric: str = "") -> None:
        self._response, self._question, self._rubric = response, question, rubric
        self._steps = steps

    def locate(self, quote: str) -> Location:
        """A quote that names no step: in the response, or else in a step of whoever is judged."""
        finding = locate_quote(quote, self._response, question=self._question, rubric=self._rubric)
        if finding.problem is None or not self._steps:
            return Location(finding)
        for number in self._standing_in(quote, _JUDGED):
            located = self._in_step(quote, number)
            if located.finding.problem is None:
                return located
        return Location(finding)

    def locate_in(self, quote: str, step: int | None) -> Location:
        """A quote that names its step, one of those that exist, or with None the final answer."""
        if step is None:
            location = Location(locate_quote(quote, self._response, question=self._question, rubric=self._rubric))
        else:
            location = self._in_step(quote, step)
        if location.finding.problem in (None, QuoteProblem.TOO_SHORT):
            return location
        elsewhere = self._elsewhere(quote, step)
        if elsewhere is None:
            return location
        return Location(QuoteFinding(problem=QuoteProblem.FROM_ANOTHER_STEP), step, elsewhere=elsewhere)

    def _in_step(self, quote: str, number: int) -> Location:
        best = Location(QuoteFinding(problem=QuoteProblem.NOT_FOUND), number)
        for part in parts_of(self._steps[number - 1], number):
            finding = locate_quote(quote, part.text, question=self._question, rubric=self._rubric)
            if finding.problem is None:
                return Location(finding, number, part.name)
            if best.finding.problem is QuoteProblem.NOT_FOUND:
                best = Location(finding, number)
        return best

    def _elsewhere(self, quote: str, named: int | None) -> str | None:
        for number in self._standing_in(quote, tuple(StepRole)):
            if number != named:
                return _place(number)
        if named is not None and locate_quote(quote, self._response).problem is None:
            return _place(None)
        return None

    def _standing_in(self, quote: str, roles: Collection[StepRole]) -> Iterator[int]:
        """Steps of these roles in which the quote seems to stand; all of them are looked through at once."""
        parts, starts, locator = self._joined[tuple(roles)] if roles else ((), (), None)
        if locator is None:
            return
        finding = locator.locate(quote)
        steps = {parts[bisect_right(starts, span.start) - 1].step for span in finding.spans}
        # Stitched from several steps, it stands in none.
        if len(steps) == 1:
            yield from steps

    @cached_property
    def _joined(self) -> Mapping[tuple[StepRole, ...], tuple[Sequence[_Part], Sequence[int], QuoteLocator]]:
        return {roles: self._join(roles) for roles in (_JUDGED, tuple(StepRole))}

    def _join(self, roles: Collection[StepRole]) -> tuple[Sequence[_Part], Sequence[int], QuoteLocator]:
        numbered = enumerate(self._steps, start=1)
        parts = [part for number, step in numbered if step.role in roles for part in parts_of(step, number)]
        starts, place = [], 0
        for part in parts:
            starts.append(place)
            place += len(part.text) + len(_BETWEEN)
        return parts, starts, QuoteLocator(_BETWEEN.join(part.text for part in parts))


def parts_of(step: Step, number: int) -> Iterator[_Part]:
    """The texts of a step by name, those that are there."""
    named = {"text": step.text, "arguments": step.arguments_text, "result": step.result}
    return (_Part(number, name, text) for name, text in named.items() if text)


def _place(step: int | None) -> str:
    return "the final answer" if step is None else f"step {step}"
