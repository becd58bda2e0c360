"""Spans of any tracer as one conversation: what models were told and said, what tools did, in the order of time.

Each request to a model repeats what was said before; only what is new is taken from it. What an agent said that was
itself called as a tool is told as steps below that call, and is no answer.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from mixseek.datasets.importers.samples.answers import Answer, read_answer
from mixseek.datasets.importers.samples.contexts import distinct
from mixseek.datasets.importers.samples.messages import is_message, messages_of
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import question_text
from mixseek.datasets.importers.samples.times import utc_text
from mixseek.datasets.importers.samples.transcript import Entry, Execution, Transcript
from mixseek.datasets.importers.samples.turns import Turn, Unread, turns_of
from mixseek.datasets.importers.samples.values import as_table
from mixseek.domain.steps import Context, StepRole, StepStatus, json_text
from mixseek.lazy_dataclass import dataclass

# A turn by what it says, however its tracer wrote it.
Print = tuple[Any, ...]


class SpanKind(StrEnum):
    """What a span is of; only the first three are events of the conversation."""

    MODEL = "model"
    TOOL = "tool"
    RETRIEVER = "retriever"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Span:
    """One span, in the words of no tracer. `asked` and `said` are messages as they stand there."""

    id: str
    trace: str
    kind: SpanKind
    parent: str | None = None
    # Seconds since 1970; None where it is not said, which is told in the order of the file.
    begin: float | None = None
    end: float | None = None
    name: str | None = None
    # Why it failed; None where it did not.
    error: str | None = None
    request_messages: Any = None
    reply_messages: Any = None
    # What went into a run as a whole and what came out, where these are no messages.
    given: Any = None
    gave: Any = None
    stop: str | None = None
    model: str | None = None
    call_id: str | None = None
    arguments: Any = None
    result: str | None = None
    contexts: tuple[Context, ...] = ()
    # What a root says beside that.
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> float | None:
        if self.begin is None or self.end is None or self.end < self.begin:
            return None
        return round(self.end - self.begin, 6)

    @property
    def time(self) -> str | None:
        return None if self.begin is None else utc_text(str(int(self.begin * 1_000_000)))


@dataclass(frozen=True, slots=True)
class Trace:
    """The spans of one trace, in the order of time, with the root that the others are below."""

    spans: tuple[Span, ...]
    root: Span | None

    @property
    def first_words(self) -> list[Print]:
        """What was asked at its beginning."""
        with_words = [
            span for span in (self.root, *self.spans) if span is not None and (span.request_messages or span.given)
        ]
        if not with_words:
            return []
        first = with_words[0]
        turns = (
            turns_of(first.request_messages, Unread())
            if first.request_messages
            else [Turn(StepRole.USER, "", question_text(first.given))]
        )
        return [print_of(turn) for turn in turns if turn.role is not StepRole.SYSTEM]


def traces_of(spans: Iterable[Span]) -> list[Trace]:
    """The traces among these spans, by when they began. The order of the file decides where no time does."""
    by_trace: dict[str, list[Span]] = defaultdict(list)
    taken = set()
    for span in spans:
        # A run may stand in a tree, and by itself.
        if (span.trace, span.id) not in taken:
            taken.add((span.trace, span.id))
            by_trace[span.trace].append(span)
    traces = []
    for members in by_trace.values():
        known = {span.id for span in members}
        ordered = sorted(members, key=lambda span: span.begin or 0.0)
        depth = depths_of(ordered)
        ordered.sort(key=lambda span: (span.begin or 0.0, depth[span.id]))
        roots = [span for span in ordered if span.parent is None] or [
            span for span in ordered if span.parent not in known and span.kind is not SpanKind.TOOL
        ]
        traces.append(Trace(tuple(ordered), roots[0] if roots else None))
    return sorted(traces, key=lambda trace: trace.spans[0].begin or 0.0)


def depths_of(spans: Sequence[Span]) -> dict[str, int]:
    """How far each is below its root; a span that is its own ancestor is at the top."""
    parents = {span.id: span.parent for span in spans}
    depths = {}
    for span in spans:
        depth, place, seen = 0, span.parent, {span.id}
        while place in parents and place not in seen:
            seen.add(place)
            depth, place = depth + 1, parents[place]
        depths[span.id] = depth
    return depths


def conversations_of(traces: Iterable[Trace]) -> list[list[Trace]]:
    """Traces of one thread that follow each other; one that begins as the first did is another run of the same."""
    conversations: list[list[Trace]] = []
    for trace in traces:
        words = trace.first_words
        is_repeat = bool(conversations) and bool(words) and words == conversations[-1][0].first_words
        if not conversations or is_repeat:
            conversations.append([trace])
        else:
            conversations[-1].append(trace)
    return conversations


class Timeline:
    """Takes up traces of one conversation, one after the other."""

    def __init__(self, unread: Unread, *, marks_failures: bool) -> None:
        self.transcript = Transcript(learns_prompts_late=True)
        self.contexts: list[Context] = []
        self._unread = unread
        self._marks_failures = marks_failures
        self._seen: Counter[Print] = Counter()
        self._of_trace: Counter[Print] = Counter()

    def take(self, trace: Trace) -> None:
        """All events of the trace: its root's messages matter where the requests to models do not tell them."""
        self._of_trace = Counter()
        tells = any(span.kind is SpanKind.MODEL and tells_more(span.request_messages) for span in trace.spans)
        is_model = trace.root is not None and trace.root.kind is SpanKind.MODEL
        if trace.root is not None and not tells and not is_model:
            if messages_of(trace.root.request_messages):
                self._listen(trace.root.request_messages, None)
            elif question := question_text(trace.root.given):
                self._hear(Turn(StepRole.USER, "user", question), None)
        within = self._tools_above(trace)
        run: dict[str, Entry] = {}
        for span in trace.spans:
            place = run.get(within.get(span.id) or "")
            match span.kind:
                case SpanKind.MODEL:
                    self._speak(span, place)
                case SpanKind.TOOL:
                    run[span.id] = self.transcript.run(execution_of(span), place)
                case SpanKind.RETRIEVER:
                    self._retrieve(span)
                case SpanKind.OTHER:
                    pass
        if trace.root is not None and not is_model and messages_of(trace.root.reply_messages):
            self._listen(trace.root.reply_messages, None)

    def _tools_above(self, trace: Trace) -> dict[str, str]:
        """The next tool above each span, by the id of the span."""
        spans = {span.id: span for span in trace.spans}
        above = {}
        for span in trace.spans:
            place, seen = spans.get(span.parent or ""), {span.id}
            while place is not None and place.id not in seen:
                if place.kind is SpanKind.TOOL:
                    above[span.id] = place.id
                    break
                seen.add(place.id)
                place = spans.get(place.parent or "")
        return above

    def _speak(self, span: Span, within: Entry | None) -> None:
        """A request to a model: what is new in it, and the reply."""
        if messages_of(span.request_messages):
            self._listen(span.request_messages, within)
        if span.error is not None:
            self.transcript.fail(span.error or None, within, span.time, span.seconds)
            return
        for turn in self._turns(span.reply_messages):
            self._count(turn)
            self.transcript.add(replace(turn, stop=turn.stop or span.stop), within, span.time, span.seconds)

    def _retrieve(self, span: Span) -> None:
        """Documents; a step only where a model called the retriever as a tool."""
        self.contexts += span.contexts
        if self.transcript.waits_for(span.name, span.call_id):
            self.transcript.run(execution_of(span))

    def _listen(self, messages: Any, within: Entry | None) -> None:
        """A list that repeats what was said before: what stands there oftener than it was heard is new."""
        turns = self._turns(messages)
        is_replay = len(turns) > 1 and self._seen[print_of(turns[0])] > 0
        heard = self._seen if is_replay else self._of_trace
        here: Counter[Print] = Counter()
        for turn in turns:
            mark = print_of(turn)
            here[mark] += 1
            # A system prompt is repeated with each trace, also where the rest is not.
            is_prompt = turn.role is StepRole.SYSTEM
            if here[mark] > (self._seen if is_prompt else heard)[mark]:
                # It is no word of the conversation, and stands beside the question.
                self._hear(replace(turn, speaker="") if is_prompt else turn, within)

    def _hear(self, turn: Turn, within: Entry | None) -> None:
        self._count(turn)
        self.transcript.add(turn, within)

    def _count(self, turn: Turn) -> None:
        mark = print_of(turn)
        self._seen[mark] += 1
        self._of_trace[mark] += 1

    def _turns(self, messages: Any) -> list[Turn]:
        return turns_of(messages, self._unread, marks_failures=self._marks_failures)


def tells_more(messages: Any) -> bool:
    """Whether there is more in a request than its system prompt."""
    return any(turn.role is not StepRole.SYSTEM for turn in turns_of(messages, Unread()))


def print_of(turn: Turn) -> Print:
    """What two tellings of one turn have in common."""
    calls = tuple(call.id or (call.tool, json_text(call.arguments)) for call in turn.calls)
    results = tuple(result.id or result.text for result in turn.results)
    return turn.role, (turn.text or "").strip(), calls, results


def execution_of(span: Span) -> Execution:
    """A span that did not fail is one that went well: every tracer marks failures."""
    return Execution(
        tool=span.name or "unknown",
        arguments=span.arguments,
        call_id=span.call_id,
        result=span.result if span.result is not None else span.error or None,
        status=StepStatus.OK if span.error is None else StepStatus.ERROR,
        time=span.time,
        seconds=span.seconds,
    )


def sample_of(traces: Sequence[Trace], unread: Unread, *, marks_failures: bool = False, **fields: Any) -> LoggedSample:
    """One conversation as a sample; `fields` are those that only the tracer knows."""
    timeline = Timeline(unread, marks_failures=marks_failures)
    for trace in traces:
        timeline.take(trace)
    transcript, last = timeline.transcript, traces[-1]
    root = last.root
    error = error_of(last)
    answer = final_answer(transcript, root)
    if answer.text is None and not any(is_captured(trace) for trace in traces):
        answer = Answer(None, "the trace holds no messages of its models: their content was not captured")
    asked = asked_of(root) if len(traces) == 1 else ""
    # What went into a chain may be another text than its prompt.
    is_spoken = asked.strip() in [text.strip() for text in transcript.user_texts]
    contexts = distinct(timeline.contexts)
    models = {span.model for trace in traces for span in trace.spans if span.kind is SpanKind.MODEL and span.model}
    return LoggedSample(
        question=asked if asked and not is_spoken else transcript.question,
        response=answer.begun if answer.text is None else answer.text,
        withheld=answer.withheld,
        stop_reason=answer.stop,
        is_final=answer.text is not None,
        error=error,
        steps=transcript.steps,
        contexts=contexts,
        **{"target_model": next(iter(models)) if len(models) == 1 else None, **fields},
    )


def is_captured(trace: Trace) -> bool:
    """Whether a model that was asked said what, or failed; without a model there is nothing to capture."""
    models = [span for span in trace.spans if span.kind is SpanKind.MODEL]
    return not models or any(messages_of(span.reply_messages) or span.error is not None for span in models)


def asked_of(root: Span | None) -> str:
    """What went into the run where it is a text, or an object with one."""
    return "" if root is None or messages_of(root.request_messages) or root.given is None else question_text(root.given)


def final_answer(transcript: Transcript, root: Span | None) -> Answer:
    """The output of the run where that is a text of its own, else what the model said last."""
    spoken = transcript.answer()
    if root is None or root.kind is SpanKind.MODEL or root.gave is None:
        return spoken
    given = read_answer(root.gave)
    if given.text is None or any(is_message(message) for message in messages_of(as_table(root.gave).get("messages"))):
        return spoken
    last = spoken.text is not None and spoken.text.strip() == given.text.strip()
    return Answer(given.text, stop=given.stop or (spoken.stop if last else None))


def error_of(trace: Trace) -> str | None:
    """Why the run failed; a step that did, and was got over, is no failure of the run."""
    if trace.root is not None:
        return None if trace.root.error is None else trace.root.error or "the run failed without a word"
    return None
