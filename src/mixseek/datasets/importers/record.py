"""One sample of another tool's log: what every format is turned into, how it is named, and what its grades mean.

A sample's `question_id` is the name that the log has for the question. Its `id` is that name, `@` and the target
where one file holds several targets, and `#N` for the second and later repeats: `d026`, `d026#2`, `d026@model-b#2`.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from mixseek.datasets.importers.reading import Sniffed
from mixseek.domain.samples import GRADED, LOG_SCORES, RESPONSE_ERROR

# The words of a row beyond those that every dataset has.
REPEAT = "repeat"
STOP_REASON = "stop_reason"
# Why there is no text though nothing failed: a filter took it away, or the limit was reached before it began.
WITHHELD = "response_withheld"
# What was said before there was no answer: kept, and judged by nobody.
WITHHELD_TEXT = "withheld_text"
# How answers end that ended by themselves, in the words of the tools.
_ORDINARY_STOPS = frozenset({"stop", "end_turn", "stop_sequence", "completed", "endoftext", "eos"})
# A filter stopped it: what stands there is the filter's word, or a part of an answer that nobody was to see.
_FILTER_STOPS = frozenset(
    {
        *("content_filter", "content_filtered", "safety", "recitation", "blocklist", "prohibited_content", "spii"),
        *("image_safety", "guardrail_intervened", "sensitive"),
    }
)
# The model waits for a tool: what it has said until then is no answer.
_CALL_STOPS = frozenset({"tool_calls", "tool_call", "tool_use", "function_call", "pause_turn"})
_ERROR_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class LoggedScore:
    """What the log's own scorer said. `value` is its own word; the rest is what can be said of it in ours."""

    value: Any
    # 0..1, where the value is on that scale or has a place on it.
    score: float | None = None
    # None where the scorer gave a degree and no verdict.
    is_correct: bool | None = None
    reason: str | None = None
    # Why the grade cannot be used: the grader failed, or wrote something that its tool could not read.
    problem: str | None = None
    # The verdict is our reading of a number, and not the tool's own word beside it.
    is_read: bool = False
    # Its scorer grades: none of its values is a verdict, whatever one of them looks like.
    is_graded: bool = False

    def document(self) -> dict[str, Any]:
        """For the row; what is not known is left out."""
        value = str(self.value) if isinstance(self.value, float) and not math.isfinite(self.value) else self.value
        told = {"value": value, "score": self.score, "is_correct": self.is_correct}
        told |= {"reason": self.reason, "problem": self.problem, GRADED: self.is_graded or None}
        return {name: known for name, known in told.items() if known is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSample:
    """`response` None needs an `error`: a sample without a response is never an empty answer."""

    question_id: str
    question: str = ""
    response: str | None = None
    error: str | None = None
    # Why there is no answer though nothing failed; `response` is then what was said before.
    withheld: str | None = None
    # The tool says that this text is the answer, however the last request ended.
    is_final: bool = False
    targets: tuple[str, ...] = ()
    target_model: str | None = None
    # Told apart in the id where a file holds several: the target, or a prompt.
    variant: str | None = None
    prompt_variant: str | None = None
    task_name: str | None = None
    # From 1; None where the log has no number and the order of the file has to do.
    repeat: int | None = None
    stop_reason: str | None = None
    scores: Mapping[str, LoggedScore] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Naming:
    """Gives samples their ids, and repeats without a number theirs by the order of the file."""

    def __init__(self) -> None:
        self._times: Counter[tuple[str, str | None]] = Counter()

    def row(self, sample: LoggedSample) -> dict[str, Any]:
        """As a row of a dataset; fields without a value are left out, but a response that failed is null."""
        repeat = sample.repeat
        if repeat is None:
            place = (sample.question_id, sample.variant)
            self._times[place] += 1
            repeat = self._times[place]
        name = sample.question_id + ("" if sample.variant is None else f"@{sample.variant}")
        named = name if repeat == 1 else f"{name}#{repeat}"
        withheld = withheld_by(sample)
        row: dict[str, Any] = {
            "id": named,
            "question_id": sample.question_id,
            "question": sample.question or None,
            "ground_truth": sample.targets[0] if sample.targets else None,
            "ground_truth_alternatives": list(sample.targets[1:]) or None,
            "target_model": sample.target_model,
            "prompt_variant": sample.prompt_variant,
            "task_name": sample.task_name,
            "output_id": named,
            REPEAT: repeat,
            STOP_REASON: sample.stop_reason,
            LOG_SCORES: {name: score.document() for name, score in sample.scores.items()} or None,
            "metadata": dict(sample.metadata) or None,
        }
        row = {column: value for column, value in row.items() if value is not None}
        row["response"] = sample.response
        if sample.error is not None:
            row |= {"response": None, RESPONSE_ERROR: shorten(sample.error)}
        elif withheld is not None:
            row |= {"response": None, RESPONSE_ERROR: shorten(withheld), WITHHELD: sample.stop_reason or withheld}
            row |= {WITHHELD_TEXT: sample.response} if (sample.response or "").strip() else {}
        elif sample.response is None:
            row[RESPONSE_ERROR] = "the log holds no response"
        return row


def withheld_by(sample: LoggedSample) -> str | None:
    """Why a sample without an error has no answer all the same; None where its text is one."""
    if sample.withheld is not None:
        return sample.withheld
    is_blank = not (sample.response or "").strip()
    stop = (sample.stop_reason or "").lower().replace("-", "_")
    if stop in _FILTER_STOPS and not is_blank:
        return f"stopped by {sample.stop_reason}: its text is no answer of the model's"
    if stop in _CALL_STOPS and not is_blank and not sample.is_final:
        return f"stopped by {sample.stop_reason}: its text comes before a call of a tool"
    return (
        f"stopped by {sample.stop_reason}, without a text"
        if is_blank and stop and stop not in _ORDINARY_STOPS
        else None
    )


def shorten(error: str) -> str:
    """One line: tracebacks of 24 KB do not tell more than their first words."""
    line = " ".join(error.split())
    return (line if len(line) <= _ERROR_CHARACTERS else line[: _ERROR_CHARACTERS - 1] + "…") or "an error without words"


# What grades mean.

_WORDS = {
    True: frozenset({"yes", "true", "correct", "pass", "passed", "c", "right"}),
    False: frozenset({"no", "false", "incorrect", "fail", "failed", "i", "wrong"}),
}


def read_grade(value: Any, *, passed: bool | None = None, reason: str | None = None) -> LoggedScore:
    """A verdict, a number or a word; `passed` is the tool's own verdict beside a number, and wins over ours."""
    if isinstance(value, bool):
        return LoggedScore(value, float(value), value if passed is None else passed, reason)
    if isinstance(value, int | float):
        if not math.isfinite(value):
            return LoggedScore(value, reason=reason, problem=f"the grade is {value}: no number")
        score = float(value) if 0 <= value <= 1 else None
        verdict = {0.0: False, 1.0: True}.get(value) if passed is None else passed
        return LoggedScore(value, score, verdict, reason, is_read=passed is None)
    if isinstance(value, str):
        word = value.strip().lower()
        verdict = next((known for known, words in _WORDS.items() if word in words), None)
        if verdict is None and (number := read_number(word)) is not None:
            return read_grade(number, passed=passed, reason=reason)
        verdict = verdict if passed is None else passed
        return LoggedScore(value, None if verdict is None else float(verdict), verdict, reason)
    if value is None:
        return LoggedScore(None, reason=reason, problem=reason or "the grade is null")
    return LoggedScore(value, is_correct=passed, reason=reason)


class ScoreScales:
    """Which scorers grade, told by all their values: 1 is *correct* only where a scorer gives nothing but 0 to 1.

    A scorer that never gives a verdict (words, degrees) grades as well.
    """

    def __init__(self) -> None:
        self._beyond: set[str] = set()
        self._silent: set[str] = set()
        self._verdicts: set[str] = set()

    def note(self, scores: Mapping[str, LoggedScore]) -> None:
        """Told of every sample's scores; an unreadable one says nothing about its scorer."""
        for name, score in scores.items():
            if score.problem is not None:
                continue
            if score.is_read and score.score is None:
                self._beyond.add(name)
            (self._silent if score.is_correct is None else self._verdicts).add(name)

    @property
    def graded(self) -> frozenset[str]:
        return frozenset(self._beyond | (self._silent - self._verdicts))

    def settle(self, scores: Mapping[str, LoggedScore]) -> dict[str, LoggedScore]:
        """Once all were noted: a number of a scorer that grades is neither a verdict nor on our scale."""
        return {name: self._regraded(name, score) for name, score in scores.items()}

    def _regraded(self, name: str, score: LoggedScore) -> LoggedScore:
        if name not in self.graded or score.problem is not None or (score.is_correct is not None and not score.is_read):
            return score
        is_beyond = name in self._beyond
        return replace(score, score=None if is_beyond else score.score, is_correct=None, is_graded=True)


def grade_table(rows: Callable[[], Iterator[tuple[int, dict[str, Any]]]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a table of somebody's own with bare scores, each read as a log's are; documents of ours stay."""
    scales = ScoreScales()
    for _, row in rows():
        scales.note(bare_scores(row))
    for place, row in rows():
        bare = scales.settle(bare_scores(row)) if scales.graded else {}
        graded = {name: score.document() for name, score in bare.items() if score.is_graded}
        yield place, {**row, LOG_SCORES: {**row[LOG_SCORES], **graded}} if graded else row


def bare_scores(row: Mapping[str, Any]) -> dict[str, LoggedScore]:
    """Those that are a mere value."""
    scores = as_table(row.get(LOG_SCORES))
    return {name: read_grade(value) for name, value in scores.items() if isinstance(value, int | float | str)}


def read_number(text: str) -> float | None:
    """Cells of a table are text; NaN and the infinities are numbers here, so that they are refused as grades."""
    try:
        return float(text)
    except ValueError:
        return None


# Texts that are not always texts.

TEXT_KEYS = ("text", "content", "value", "output", "response", "answer", "completion", "result")
_QUESTION_KEYS = ("question", "input", "query", "prompt", "instruction", "problem", "text", "user_input", "request")
_TARGET_KEYS = (
    *("expected_response", "ground_truth", "reference", "expected", "answer", "target", "expected_output", "gold"),
    *("reference_answer", "expected_answer", "label", "output", "response", "correct_answer"),
)
# What a user of ours and of these tools calls the right answer among the variables of a prompt.
TARGET_VARIABLES = _TARGET_KEYS[:-3]


def content_text(content: Any) -> str | None:
    """What a message says: a text, or the text parts of a list of them; reasoning and images are not said."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return None
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and part.get("type", "text") in ("text", "output_text", "input_text"):
            text = part.get("text")
            texts += [text] if isinstance(text, str) else []
    return "\n".join(texts)


def conversation_text(messages: Any) -> str:
    """What was asked: the one user message, or who said what where there are more. A system prompt alone is no turn."""
    said = messages_of(messages)
    turns = [(role_of(message), content_text(message.get("content", message.get("value"))) or "") for message in said]
    turns = [(role, text) for role, text in turns if text]
    spoken = [(role, text) for role, text in turns if role not in ("system", "developer")]
    if len(spoken) == 1:
        return spoken[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in turns)


def last_user_text(messages: Any) -> str:
    """The last question of a few-shot prompt; what stands before it are examples."""
    texts = [content_text(message.get("content")) for message in messages_of(messages) if role_of(message) == "user"]
    return next((text for text in reversed(texts) if text), "")


# How others call who speaks: ShareGPT in `from`, LangChain in `type`.
_ROLE_NAMES = {
    "human": "user",
    "gpt": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "aimessagechunk": "assistant",
}
_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})
_MESSAGE_TYPES = frozenset({"human", "ai", "system", "tool", "function", "developer", "AIMessageChunk"})


def role_of(message: Mapping[str, Any]) -> str:
    """Who speaks, in the words of OpenAI; empty where the message does not say."""
    kind = message.get("type")
    typed = kind if isinstance(kind, str) and kind in _MESSAGE_TYPES and "content" in message else ""
    role = str(message.get("role") or message.get("from") or typed)
    return _ROLE_NAMES.get(role.lower(), role)


def is_message(item: Mapping[str, Any]) -> bool:
    """Somebody who speaks, and what is said: a structured output may have a `role` or a `from`, too."""
    return role_of(item) in _ROLES and any(name in item for name in ("content", "value", "tool_calls"))


def messages_of(value: Any) -> list[Mapping[str, Any]]:
    """Messages as plain ones; LangChain wraps each, and has a list of them for each prompt."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        value = value[0]
    return [plain_message(message) for message in as_rows(value)]


def plain_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without what LangChain writes around it: `{"lc": 1, "kwargs": {…}}`, or `{"type": "ai", "data": {…}}`."""
    inside = message.get("kwargs") if "lc" in message else message.get("data") if "type" in message else None
    if not isinstance(inside, Mapping) or "content" not in inside:
        return message
    name = message.get("id")
    known = str(name[-1]).removesuffix("Message").lower() if isinstance(name, list) and name else message.get("type")
    return {"type": known, **inside}


def as_rows(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; nothing where it is none."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def as_table(value: Any) -> Mapping[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_text(value: Any) -> str | None:
    """Text as it is, other values as JSON has them; booleans as people write them in a ground truth."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return None if isinstance(value, float) and not math.isfinite(value) else str(value)
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        return json.dumps(value, ensure_ascii=False, default=str)


def question_text(value: Any) -> str:
    """The question in whatever a tool calls the input: a text, messages, or an object with one of them."""
    return pick_text(value, _QUESTION_KEYS)


def target_texts(value: Any) -> tuple[str, ...]:
    """One right answer, or a list of them, or an object that holds them."""
    if isinstance(value, Mapping):
        found = next((value[key] for key in _TARGET_KEYS if value.get(key) is not None), None)
        if found is None and len(value) == 1:
            found = next(iter(value.values()))
        return target_texts(found)
    items = value if isinstance(value, list) else [value]
    return tuple(text for item in items if (text := as_text(item)))


def pick_text(value: Any, keys: Iterable[str]) -> str:
    """Of an object: the value of a known key, or the only one; else the whole of it as JSON."""
    if isinstance(value, list) and as_rows(value):
        return conversation_text(value)
    if not isinstance(value, Mapping):
        return as_text(value) or ""
    if messages_of(value.get("messages")):
        return conversation_text(value["messages"])
    found = next((value[key] for key in keys if value.get(key) is not None), None)
    if found is None and len(value) == 1:
        found = next(iter(value.values()))
    return as_text(value if found is None else found) or ""


def with_options(question: str, options: Iterable[str]) -> str:
    """The question with its lettered options below, as open question sets write them."""
    lines = [f"({letter}) {option}" for letter, option in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", options, strict=False)]
    return "\n".join([question, "Options:", *lines]) if lines else question


def digest_name(*parts: Any) -> str:
    """A name for a question that has none: the same content, the same name, in every file."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


class QuestionNames:
    """Names that tests were given by hand, made unambiguous: one name, one question."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, wanted: str | None, *content: Any) -> str:
        """What was wanted, unless another question has it already; the same content keeps its name."""
        digest = digest_name(*content)
        if digest not in self._names:
            name = wanted if wanted and wanted not in self._taken else f"{wanted}~{digest}" if wanted else digest
            self._names[digest] = name
            self._taken.add(name)
        return self._names[digest]


# What a format is: how its logs are recognised, and what an opened one gives.

# Sentences about a log as a whole: what is cut off, what was left out.
Notices = list[str]


@dataclass(frozen=True, slots=True)
class Log:
    """One log, recognised. Reading its samples again gives the same ones; what is remarkable goes to the notices."""

    samples: Callable[[Notices], Iterator[LoggedSample]]
    # Of the tool that wrote it, where the log says so.
    tool_version: str | None = None
    # Of the shape of the log, where it has one.
    log_version: str | None = None
    # Files beside it that were read with it.
    companions: tuple[Path, ...] = ()
    notices: tuple[str, ...] = field(default=())


def opening(read: Callable[[Sniffed, Notices], Iterator[LoggedSample]]) -> Callable[[Sniffed], Log]:
    """For a format whose logs say nothing of themselves but their samples."""
    return lambda sniffed: Log(partial(read, sniffed))


@dataclass(frozen=True, slots=True)
class LogFormat:
    """`open` raises DatasetError for a log that is recognised and cannot be read, with what is missing."""

    name: str
    title: str
    recognise: Callable[[Sniffed], bool]
    open: Callable[[Sniffed], Log]
