"""Turns and executions put together: the steps of a conversation, what was asked in it, and the final answer.

A call and its result are one step, wherever each was said. A result finds its call by id, else by name, else in order.
"""

from collections.abc import Iterable
from dataclasses import field
from typing import Any

from mixseek.datasets.importers.samples.answers import Answer
from mixseek.datasets.importers.samples.messages import worded_question
from mixseek.datasets.importers.samples.turns import FINAL_RESULT, Call, Result, Turn
from mixseek.datasets.importers.samples.values import as_text
from mixseek.domain.response_states import ResponseState, state_of_reason
from mixseek.domain.steps import Step, StepRole, StepStatus
from mixseek.lazy_dataclass import dataclass


@dataclass(slots=True, eq=False)
class Entry:
    """A step that is not finished: its result may still come."""

    role: StepRole
    speaker: str = ""
    text: str | None = None
    images: tuple[str, ...] = ()
    tool: str | None = None
    arguments: Any = None
    call_id: str | None = None
    result: str | None = None
    status: StepStatus | None = None
    stop: str | None = None
    time: str | None = None
    seconds: float | None = None
    parent: "Entry | None" = None
    # Whether a message told its result, and whether an execution was recorded.
    is_told: bool = False
    is_run: bool = False
    is_of_provider: bool = False
    # Within the execution of a tool: an agent that is asked by another one.
    is_nested: bool = False


@dataclass(frozen=True, slots=True)
class Execution:
    """A tool that was called, as a trace has it."""

    tool: str
    arguments: Any = None
    call_id: str | None = None
    result: str | None = None
    status: StepStatus | None = None
    time: str | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Transcript:
    """Steps in the order in which they began."""

    entries: list[Entry] = field(default_factory=list)
    # A trace tells a system prompt with the first request, which is after what the user asked.
    learns_prompts_late: bool = False

    def add(
        self, turn: Turn, within: Entry | None = None, time: str | None = None, seconds: float | None = None
    ) -> Entry | None:
        """The entry that speaks, if one does; `within` is the execution in which it is said."""
        spoken = None
        for result in turn.results:
            self._tell(result, within)
        is_speech = bool(turn.text or turn.images) or not (turn.calls or turn.results)
        if turn.role is not StepRole.TOOL and is_speech:
            spoken = Entry(turn.role, turn.speaker, turn.text, turn.images, stop=turn.stop, parent=within)
            spoken.time, spoken.seconds, spoken.is_nested = time, seconds, within is not None
            self.close(spoken, None)
            self.entries.insert(self._place_of(turn.role), spoken)
        caller = spoken or (self._caller() if turn.calls else None) or within
        for call in turn.calls:
            self._call(call, caller, within, turn.stop)
        return spoken

    def fail(self, why: str | None, within: Entry | None, time: str | None, seconds: float | None) -> None:
        """A model that was asked and gave no reply."""
        entry = Entry(StepRole.ASSISTANT, "assistant", result=why, status=StepStatus.ERROR, time=time, parent=within)
        entry.seconds, entry.is_nested = seconds, within is not None
        self.entries.append(entry)

    def end(self, stop: str | None) -> None:
        """How the last request ended, where only the whole says it."""
        if self.entries and self.entries[-1].role is StepRole.ASSISTANT:
            self.close(self.entries[-1], stop)

    def close(self, entry: Entry, stop: str | None) -> None:
        """How a message ended, unless it says so itself."""
        entry.stop = entry.stop or stop
        if entry.status is None and state_of_reason(entry.stop) is ResponseState.CUT_OFF:
            entry.status = StepStatus.CUT_OFF

    def waits_for(self, tool: str | None, call_id: str | None) -> bool:
        """Whether somebody called this, and nobody carried it out yet."""
        return tool is not None and self._called(Execution(tool, call_id=call_id)) is not None

    def run(self, execution: Execution, within: Entry | None = None) -> Entry:
        """The step that this execution is of, which is a new one where nobody was seen to call it."""
        entry = self._called(execution)
        if entry is None:
            entry = Entry(StepRole.TOOL, "tool", tool=execution.tool, arguments=execution.arguments, parent=within)
            entry.call_id, entry.is_nested = execution.call_id, within is not None
            self.entries.append(entry)
        entry.is_run = True
        entry.time, entry.seconds = execution.time, execution.seconds
        entry.status = execution.status or entry.status
        entry.arguments = execution.arguments if entry.arguments is None else entry.arguments
        entry.result = execution.result if entry.result is None else entry.result
        return entry

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of them; none where they tell no more than one question and one answer."""
        entries = self.entries
        is_plain = not any(entry.role is StepRole.TOOL or entry.images for entry in entries)
        if is_plain and sum(entry.role is StepRole.ASSISTANT for entry in entries) < 2:
            return ()
        numbers = {id(entry): number for number, entry in enumerate(entries, 1)}
        return tuple([step_of(entry, numbers) for entry in entries])

    @property
    def question(self) -> str:
        """What users and assistants said up to the last word of a user."""
        entries = [entry for entry in self.entries if not entry.is_nested]
        asked = [number for number, entry in enumerate(entries) if entry.role is StepRole.USER]
        last = asked[-1] + 1 if asked else max(len(entries) - 1, 0)
        spoken = [(entry.speaker, entry.text) for entry in entries[:last] if entry.role is not StepRole.TOOL]
        # Without a speaker it stands beside the conversation.
        return worded_question([(speaker, text) for speaker, text in spoken if text and speaker])

    @property
    def user_texts(self) -> list[str]:
        """What users said."""
        return [entry.text for entry in self.entries if entry.role is StepRole.USER and entry.text]

    def answer(self) -> Answer:
        """What the assistant said last, if it asks for nothing and nothing stands behind it."""
        entries = [entry for entry in self.entries if not entry.is_nested]
        if not entries:
            return Answer(None)
        last = entries[-1]
        begun = next((entry.text for entry in reversed(after_user(entries)) if entry.text), None)
        if last.role is StepRole.ASSISTANT and last.status is not StepStatus.ERROR:
            return Answer(last.text, stop=last.stop)
        if last.role is StepRole.TOOL and last.result == FINAL_RESULT:
            # The model hands in its output by a call.
            return Answer(handed_in(last.arguments))
        if last.role is StepRole.TOOL:
            return Answer(None, describe_open(entries), begun, last.stop)
        if last.status is StepStatus.ERROR:
            why = f": {last.result}" if last.result else ""
            return Answer(None, f"the last request to the model failed{why}", begun)
        return Answer(
            None, f"the conversation ends with a message of {last.speaker!r}, without an answer of the assistant"
        )

    def _place_of(self, role: StepRole) -> int:
        """A system prompt that is learnt late stood before what was asked."""
        place = len(self.entries)
        while (
            self.learns_prompts_late
            and role is StepRole.SYSTEM
            and place
            and self.entries[place - 1].role is StepRole.USER
        ):
            place -= 1
        return place

    def _caller(self) -> Entry | None:
        """What the assistant said just before its calls, where each of them is an item of its own."""
        for entry in reversed(self.entries):
            if entry.role is not StepRole.TOOL or entry.is_told:
                return entry if entry.role is StepRole.ASSISTANT else None
        return None

    def _call(self, call: Call, parent: Entry | None, within: Entry | None, stop: str | None) -> None:
        entry = Entry(StepRole.TOOL, "tool", tool=call.tool, arguments=call.arguments, call_id=call.id, parent=parent)
        entry.stop, entry.is_of_provider, entry.is_nested = stop, call.is_of_provider, within is not None
        self.entries.append(entry)

    def _tell(self, result: Result, within: Entry | None) -> None:
        entry = self._waiting(result)
        if entry is None:
            entry = Entry(StepRole.TOOL, "tool", tool=result.tool or "unknown", call_id=result.id, parent=within)
            entry.is_nested = within is not None
            self.entries.append(entry)
        entry.is_told = True
        entry.result = result.text if entry.result is None else entry.result
        entry.status = entry.status or result.status

    def _waiting(self, result: Result) -> Entry | None:
        """The call of that id that waits; the oldest that waits where a result says only a name, or nothing."""
        waiting = [entry for entry in self.entries if entry.role is StepRole.TOOL and not entry.is_told]
        if result.id is not None:
            known = [entry for entry in waiting if entry.call_id == result.id]
            if known:
                return known[-1]
            waiting = [entry for entry in waiting if entry.call_id is None]
        named = [entry for entry in waiting if entry.tool == result.tool]
        return next(iter(named if result.tool is not None else waiting), None)

    def _called(self, execution: Execution) -> Entry | None:
        """The call that this is the execution of."""
        waiting = [entry for entry in self.entries if entry.role is StepRole.TOOL and not entry.is_run]
        if execution.call_id is not None:
            known = [entry for entry in waiting if entry.call_id == execution.call_id]
            if known:
                return known[-1]
            waiting = [entry for entry in waiting if entry.call_id is None]
        named = [entry for entry in waiting if entry.tool == execution.tool]
        exact = [entry for entry in named if entry.arguments == execution.arguments]
        return next(iter(exact or named), None)


def after_user(entries: list[Entry]) -> list[Entry]:
    """What the assistant said since a user spoke last."""
    last = max((number for number, entry in enumerate(entries) if entry.role is StepRole.USER), default=-1)
    return [entry for entry in entries[last + 1 :] if entry.role is StepRole.ASSISTANT]


def describe_open(entries: list[Entry]) -> str:
    """One clause about the calls that stand at the end."""
    last = max(number for number, entry in enumerate(entries) if entry.role is not StepRole.TOOL or number == 0)
    at_end = [entry for entry in entries[last:] if entry.role is StepRole.TOOL]
    names = list(dict.fromkeys(entry.tool or "" for entry in at_end))
    called = f"the tool {names[0]}" if len(names) == 1 else f"tools {', '.join(names)}"
    if any(entry.result is None and not entry.is_of_provider for entry in at_end):
        return f"ends in a call of {called}, without an answer"
    return f"ends with the result of {called}, without an answer"


def handed_in(arguments: Any) -> str | None:
    """The output in the arguments of the call that hands it in: the only value, or all of them as JSON."""
    if isinstance(arguments, dict) and len(arguments) == 1:
        return as_text(next(iter(arguments.values())))
    return as_text(arguments)


def step_of(entry: Entry, numbers: dict[int, int]) -> Step:
    parent = None if entry.parent is None else numbers.get(id(entry.parent))
    return Step(
        role=entry.role,
        text=entry.text,
        tool=entry.tool,
        arguments=entry.arguments,
        result=entry.result,
        status=entry.status,
        time=entry.time,
        seconds=entry.seconds,
        parent=parent if parent is not None and parent < numbers[id(entry)] else None,
        images=entry.images,
    )


def transcript_of(turns: Iterable[Turn]) -> Transcript:
    """A conversation that is nothing but its messages."""
    transcript = Transcript()
    for turn in turns:
        transcript.add(turn)
    return transcript


def conversation_fields(transcript: Transcript, answer: Answer | None = None) -> dict[str, Any]:
    """Question, final answer and steps as the fields of a sample; `answer` where the log says it apart."""
    answer = transcript.answer() if answer is None else answer
    return {
        "question": transcript.question,
        "response": answer.begun if answer.text is None else answer.text,
        "withheld": answer.withheld,
        "stop_reason": answer.stop,
        "steps": transcript.steps,
    }
