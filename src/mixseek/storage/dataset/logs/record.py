"""One sample of another tool's log: what every format is turned into, how it is named, and what its grades mean.

A sample's `question_id` is the name that the log has for the question. Its `id` is that name, `@` and the target
where one file holds several targets, and `#N` for the second and later repeats: `d026`, `d026#2`, `d026@model-b#2`.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from mixseek.domain.samples import LOG_SCORES, RESPONSE_ERROR
from mixseek.storage.dataset.logs.reading import Sniffed

# The words of a row beyond those that every dataset has.
REPEAT = "repeat"
STOP_REASON = "stop_reason"
# Why there is no text though nothing failed: a filter took it away, or the limit was reached before it began.
WITHHELD = "response_withheld"
# How answers end that ended by themselves, in the words of the tools.
_ORDINARY_STOPS = frozenset(
    {"stop", "end_turn", "stop_sequence", "completed", "endoftext", "eos", "tool_calls", "tool_use"}
)
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

    def document(self) -> dict[str, Any]:
        """For the row; what is not known is left out."""
        value = str(self.value) if isinstance(self.value, float) and not math.isfinite(self.value) else self.value
        told = {"value": value, "score": self.score, "is_correct": self.is_correct}
        told |= {"reason": self.reason, "problem": self.problem}
        return {name: known for name, known in told.items() if known is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSample:
    """`response` None needs an `error`: a sample without a response is never an empty answer."""

    question_id: str
    question: str = ""
    response: str | None = None
    error: str | None = None
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
            row |= {"response": None, RESPONSE_ERROR: f"stopped by {withheld}, without a text", WITHHELD: withheld}
        elif sample.response is None:
            row[RESPONSE_ERROR] = "the log holds no response"
        return row


def withheld_by(sample: LoggedSample) -> str | None:
    """No text after anything but an ordinary stop is no answer of a model's."""
    is_blank = not (sample.response or "").strip()
    stop = (sample.stop_reason or "").lower()
    return sample.stop_reason if is_blank and stop and stop not in _ORDINARY_STOPS else None


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
        return LoggedScore(value, score, verdict, reason)
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


def read_number(text: str) -> float | None:
    """Cells of a table are text; NaN and the infinities are numbers here, so that they are refused as grades."""
    try:
        return float(text)
    except ValueError:
        return None


# Texts that are not always texts.

_TEXT_KEYS = ("text", "content", "value", "output", "response", "answer", "completion", "result")
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
    turns = [(role_of(one), content_text(one.get("content", one.get("value"))) or "") for one in as_rows(messages)]
    turns = [(role, text) for role, text in turns if text]
    spoken = [(role, text) for role, text in turns if role not in ("system", "developer")]
    if len(spoken) == 1:
        return spoken[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in turns)


def last_user_text(messages: Any) -> str:
    """The last question of a few-shot prompt; what stands before it are examples."""
    texts = [content_text(one.get("content")) for one in as_rows(messages) if role_of(one) == "user"]
    return next((text for text in reversed(texts) if text), "")


def role_of(message: Mapping[str, Any]) -> str:
    """`human` and `gpt` are how ShareGPT says user and assistant."""
    role = str(message.get("role", message.get("from", "")))
    return {"human": "user", "gpt": "assistant", "model": "assistant"}.get(role, role)


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


def response_text(value: Any) -> str | None:
    """The answer in whatever a tool calls the output; None where there is none."""
    if value is None:
        return None
    choices = as_table(value).get("choices")
    if as_rows(choices):
        return content_text(as_table(as_rows(choices)[0].get("message")).get("content"))
    if as_rows(value) and role_of(as_rows(value)[-1]):
        return content_text(as_rows(value)[-1].get("content"))
    return pick_text(value, ("response", "output", "answer", *_TEXT_KEYS))


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
    if as_rows(value.get("messages")):
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
