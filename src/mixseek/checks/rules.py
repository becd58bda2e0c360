"""What checks ask of a sample, a class for each kind; each says what it finds in one sentence.

A call is a step of the role `tool`, whatever came of it. Nothing is a pass or a failure where it cannot be known: a
sample without steps says nothing about its tools.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from mixseek.checks.figures import Figure, cost_of, latency_of, tokens_of
from mixseek.checks.json_schema import schema_problem, show, subset_problem
from mixseek.checks.patterns import SafePattern
from mixseek.domain.check_findings import CheckState
from mixseek.domain.samples import RESPONSE_ERROR, Sample
from mixseek.domain.steps import Step, StepRole, StepStatus, json_text, unhandled_errors
from mixseek.lazy_dataclass import dataclass

_NO_STEPS = "the sample has no steps"


class Examined(NamedTuple):
    """What a rule makes of a sample."""

    state: CheckState
    detail: str
    step: int | None = None


class Rule(Protocol):
    """What one kind of check asks for."""

    def examine(self, sample: Sample) -> Examined: ...


def passed(detail: str, step: int | None = None) -> Examined:
    return Examined(CheckState.PASSED, detail, step)


def failed(detail: str, step: int | None = None) -> Examined:
    return Examined(CheckState.FAILED, detail, step)


def not_applicable(detail: str) -> Examined:
    return Examined(CheckState.NOT_APPLICABLE, detail)


def calls_of(sample: Sample, tool: str | None = None) -> list[tuple[int, Step]]:
    """The calls of a tool, or of any, with the numbers of their steps."""
    return [
        (number, step)
        for number, step in enumerate(sample.steps, 1)
        if step.role is StepRole.TOOL and (tool is None or step.tool == tool)
    ]


@dataclass(frozen=True, slots=True)
class Uses:
    """A tool was called."""

    tool: str

    def examine(self, sample: Sample) -> Examined:
        if not sample.steps:
            return not_applicable(_NO_STEPS)
        calls = calls_of(sample, self.tool)
        return passed(f"{self.tool} was called", calls[0][0]) if calls else failed(f"{self.tool} was not called")


@dataclass(frozen=True, slots=True)
class NotUses:
    """A tool was left alone."""

    tool: str

    def examine(self, sample: Sample) -> Examined:
        if not sample.steps:
            return not_applicable(_NO_STEPS)
        calls = calls_of(sample, self.tool)
        return failed(f"{self.tool} was called", calls[0][0]) if calls else passed(f"{self.tool} was not called")


@dataclass(frozen=True, slots=True)
class Order:
    """Tools were called one after the other; others may have been called between them."""

    tools: tuple[str, ...]

    def examine(self, sample: Sample) -> Examined:
        if not sample.steps:
            return not_applicable(_NO_STEPS)
        calls = calls_of(sample)
        before, last = 0, ""
        for tool in self.tools:
            at = next((number for number, step in calls if number > before and step.tool == tool), None)
            if at is None:
                early = next((number for number, step in calls if step.tool == tool), None)
                where = f"after {last} in step {before}" if last else "at all"
                return failed(f"{tool} was not called {where}", early)
            before, last = at, tool
        return passed(f"called in the order {', '.join(self.tools)}", before or None)


@dataclass(frozen=True, slots=True)
class Count:
    """A tool was called so often."""

    tool: str
    least: int | None = None
    most: int | None = None

    def examine(self, sample: Sample) -> Examined:
        if not sample.steps:
            return not_applicable(_NO_STEPS)
        calls = calls_of(sample, self.tool)
        counted = f"{self.tool} was called {times(len(calls))}"
        if self.most is not None and len(calls) > self.most:
            return failed(f"{counted}, at most {self.most} allowed", calls[self.most][0])
        if self.least is not None and len(calls) < self.least:
            return failed(f"{counted}, at least {self.least} expected")
        return passed(counted)


class Fits(Protocol):
    """What a call is held against."""

    @property
    def is_for_every_call(self) -> bool: ...

    def problem(self, arguments: Any) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Subset:
    """Arguments that hold these, and perhaps more."""

    expected: Any
    is_for_every_call: bool = False

    def problem(self, arguments: Any) -> str | None:
        return subset_problem(self.expected, arguments)


@dataclass(frozen=True, slots=True)
class FieldPattern:
    """An argument whose text a regular expression finds something in; dots lead into objects."""

    field: str
    pattern: SafePattern
    is_for_every_call: bool = False

    def problem(self, arguments: Any) -> str | None:
        value = arguments
        for name in self.field.split("."):
            if not isinstance(value, Mapping) or name not in value:
                return f"there is no {self.field!r}"
            value = value[name]
        text = value if isinstance(value, str) else json_text(value)
        matches = self.pattern.search(text)
        if matches is None:
            return f"{self.field} has {len(text):,} characters, too many for the pattern"
        return None if matches else f"{self.field} is {show(value)}, which {self.pattern.text} does not match"


@dataclass(frozen=True, slots=True)
class SchemaOfArguments:
    """Arguments as a JSON schema says, in every call."""

    schema: Any
    is_for_every_call: bool = True

    def problem(self, arguments: Any) -> str | None:
        return schema_problem(arguments, self.schema)


@dataclass(frozen=True, slots=True)
class Arguments:
    """A tool was called with such arguments: in some call, or in every one where a schema says so."""

    tool: str
    wanted: Fits

    def examine(self, sample: Sample) -> Examined:
        if not sample.steps:
            return not_applicable(_NO_STEPS)
        calls = calls_of(sample, self.tool)
        if not calls:
            reason = f"{self.tool} was not called"
            return not_applicable(reason) if self.wanted.is_for_every_call else failed(reason)
        problems = [(number, self.wanted.problem(read_arguments(step))) for number, step in calls]
        wrong = [(number, problem) for number, problem in problems if problem is not None]
        right = [number for number, problem in problems if problem is None]
        if wrong and (self.wanted.is_for_every_call or not right):
            number, problem = wrong[0]
            return failed(f"{self.tool} was called with other arguments: {problem}", number)
        return passed(f"{self.tool} was called with such arguments", right[0])


def read_arguments(step: Step) -> Any:
    """The arguments as a JSON value; a text that is none stays a text, and a call without any has an empty object."""
    if not isinstance(step.arguments, str):
        return {} if step.arguments is None else step.arguments
    return read_json(step.arguments, step.arguments)


def read_json(text: str, otherwise: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise


def final_answer(sample: Sample) -> str | None:
    """None where nobody knows what the target would have answered: its response could not be had."""
    is_unknown = not sample.response and not sample.steps and RESPONSE_ERROR in sample.metadata
    return None if is_unknown else sample.response


_NO_ANSWER = "there is no final answer"


@dataclass(frozen=True, slots=True)
class AnswerContains:
    """The final answer holds a text, letter for letter."""

    text: str

    def examine(self, sample: Sample) -> Examined:
        answer = final_answer(sample)
        if answer is None:
            return not_applicable(_NO_ANSWER)
        if self.text in answer:
            return passed(f"the final answer contains {show(self.text)}")
        return failed(f"the final answer does not contain {show(self.text)}" if answer else _NO_ANSWER)


@dataclass(frozen=True, slots=True)
class AnswerMatches:
    """A regular expression finds something in the final answer."""

    pattern: SafePattern

    def examine(self, sample: Sample) -> Examined:
        answer = final_answer(sample)
        if answer is None:
            return not_applicable(_NO_ANSWER)
        matches = self.pattern.search(answer)
        if matches is None:
            most = self.pattern.most_characters
            return not_applicable(
                f"the final answer has {len(answer):,} characters; the pattern is tried on {most:,} at most"
            )
        if matches:
            return passed(f"the final answer matches {self.pattern.text}")
        return failed(f"the final answer does not match {self.pattern.text}" if answer else _NO_ANSWER)


@dataclass(frozen=True, slots=True)
class AnswerJson:
    """The final answer is JSON and nothing else, as a schema says."""

    schema: Any = True

    def examine(self, sample: Sample) -> Examined:
        answer = final_answer(sample)
        if answer is None:
            return not_applicable(_NO_ANSWER)
        try:
            value = json.loads(answer)
        except (ValueError, RecursionError) as error:
            return failed(f"the final answer is no JSON: {error}" if answer else _NO_ANSWER)
        problem = schema_problem(value, self.schema)
        if problem is None:
            return passed("the final answer is JSON as the schema says")
        return failed(f"the final answer is not as the schema says: {problem}")


@dataclass(frozen=True, slots=True)
class NoUnhandledErrors:
    """Every call that failed was repeated: a later call of the same tool ended well.

    Whether the final answer owns up to a failure is for a judge to say.
    """

    def examine(self, sample: Sample) -> Examined:
        if not sample.steps:
            return not_applicable(_NO_STEPS)
        if not any(step.status for step in sample.steps):
            return not_applicable("the steps do not say how they ended")
        if unhandled := unhandled_errors(sample.steps):
            step = sample.steps[unhandled[0] - 1]
            what = step.tool if step.role is StepRole.TOOL else f"the {step.role.value}"
            return failed(f"{what} failed and was not repeated with success", unhandled[0])
        has_failed = any(step.status is StepStatus.ERROR for step in sample.steps)
        return passed("every failed step was repeated with success" if has_failed else "no step failed")


@dataclass(frozen=True, slots=True)
class MostSteps:
    """At most so many steps."""

    most: float

    def examine(self, sample: Sample) -> Examined:
        if not sample.steps:
            return not_applicable(_NO_STEPS)
        return examine_numbers("step", range(1, len(sample.steps) + 1), self.most)


@dataclass(frozen=True, slots=True)
class MostToolCalls:
    """At most so many calls of tools."""

    most: float

    def examine(self, sample: Sample) -> Examined:
        if not sample.steps:
            return not_applicable(_NO_STEPS)
        return examine_numbers("tool call", [number for number, _ in calls_of(sample)], self.most)


@dataclass(frozen=True, slots=True)
class MostTokens:
    """At most so many tokens, in and out together."""

    most: float

    def examine(self, sample: Sample) -> Examined:
        return examine_figure(tokens_of(sample), self.most, lambda value: f"{value:,.0f} tokens")


@dataclass(frozen=True, slots=True)
class MostDollars:
    """At most so many US dollars."""

    most: float

    def examine(self, sample: Sample) -> Examined:
        return examine_figure(cost_of(sample), self.most, lambda value: f"{value:g} US dollars")


@dataclass(frozen=True, slots=True)
class MostSeconds:
    """At most so many seconds."""

    most: float

    def examine(self, sample: Sample) -> Examined:
        return examine_figure(latency_of(sample), self.most, lambda value: f"{value:g} seconds")


def examine_numbers(noun: str, numbers: Sequence[int], most: float) -> Examined:
    """How many steps or calls there are; the first that is too many is the step that the finding is about."""
    counted = f"{len(numbers)} {noun}{'' if len(numbers) == 1 else 's'}"
    if len(numbers) <= most:
        return passed(counted)
    return failed(f"{counted}, at most {most:g} allowed", numbers[int(most)])


def examine_figure(figure: Figure | None, most: float, describe: Callable[[float], str]) -> Examined:
    """A figure of which only a part is known can be too much, and never little enough."""
    if figure is None:
        return not_applicable("the sample does not say it")
    if figure.value > most:
        at_least = "" if figure.is_whole else "at least "
        return failed(f"{at_least}{describe(figure.value)}, at most {describe(most)} allowed")
    if not figure.is_whole:
        return not_applicable(f"{describe(figure.value)} are known, and not all of it is")
    return passed(describe(figure.value))


def times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")
