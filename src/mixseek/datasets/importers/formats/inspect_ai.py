"""Logs of Inspect (inspect-ai): `.eval`, a zip with a member for each sample, and the same as one `.json`."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.datasets.importers.log_format import Log, LogFormat, Notices, in_object, in_zip
from mixseek.datasets.importers.reading.json_stream import walk_file
from mixseek.datasets.importers.reading.sniffing import Shape, Sniffed
from mixseek.datasets.importers.reading.zip_members import Member, is_cut_zip, list_members, read_members
from mixseek.datasets.importers.samples.answers import calls_of, describe_calls
from mixseek.datasets.importers.samples.grades import LoggedScore, read_grade
from mixseek.datasets.importers.samples.messages import content_text, conversation_text, role_of
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import target_texts, with_options
from mixseek.datasets.importers.samples.times import utc_text
from mixseek.datasets.importers.samples.transcript import Execution, Transcript, transcript_of
from mixseek.datasets.importers.samples.turns import Unread, result_text, turns_of
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.domain.steps import StepRole, StepStatus
from mixseek.errors import DatasetError

_HEADER, _START = "header.json", "_journal/start.json"
_VERSIONS = (1, 2)
# Inspect's own letters; N is no answer.
_LETTERS: Mapping[Any, tuple[float, bool | None]] = {
    "C": (1.0, True),
    "I": (0.0, False),
    "P": (0.5, None),
    "N": (0.0, False),
}
# What versions before the `reason` field wrote where they could not read the grader's reply, beside the letter I.
_GRADE_NOT_FOUND = "Grade not found in model output"
_ATTACHMENT = "attachment://"


_SIGNATURES = (
    in_zip(_HEADER),
    in_zip(_START),
    in_zip("samples/"),
    in_object("eval", "version", "status"),
)


def open_inspect(sniffed: Sniffed) -> Log:
    """Either shape, with the header's word on version, model and task."""
    if sniffed.shape is not Shape.ZIP:
        header = {name: sniffed.value(name) for name in ("version", "status")}
        header["eval"] = {
            name: sniffed.value("eval", name) for name in ("task", "model", "packages", "config", "dataset")
        }
        return log_of(sniffed, header, ("samples",) in sniffed.outline, partial(read_object, sniffed, header))
    members = list_members(sniffed.path)
    wanted = [member for member in members if member.name in (_HEADER, _START)]
    headers = {member.name: value for member, value in read_members(sniffed.path, wanted, [])}
    header = dict(as_table(headers.get(_HEADER) or headers.get(_START)))
    samples = [member for member in members if member.name.startswith("samples/")]
    if not header and not samples:
        raise DatasetError(f"{sniffed.path}: an Inspect log with neither {_HEADER} nor {_START}, and without samples")
    if _HEADER not in headers:
        header["status"] = "killed"
    return log_of(sniffed, header, True, partial(read_zip, sniffed, header, samples))


def log_of(sniffed: Sniffed, header: Mapping[str, Any], has_samples: bool, samples: Any) -> Log:
    """The log with versions, and with what the header says about the end of the run."""
    version, run = header.get("version"), as_table(header.get("eval"))
    if version is not None and version not in _VERSIONS:
        raise DatasetError(
            f"{sniffed.path}: an Inspect log of version {version}; known are {' and '.join(map(str, _VERSIONS))}"
        )
    if not has_samples:
        raise DatasetError(f"{sniffed.path}: an Inspect log without `samples`: only its header was kept")
    status, notices = header.get("status"), []
    if status == "killed":
        notices.append("no header: the run was killed, and the log holds what was written until then")
    elif status != "success":
        notices.append(f"the run ended with status {status!r}")
    if sniffed.shape is Shape.ZIP and is_cut_zip(sniffed.path):
        notices.append("the zip is cut short: its directory is missing, and the members before the cut were read")
    tool = as_text(as_table(run.get("packages")).get("inspect_ai"))
    return Log(samples, tool, as_text(version), notices=tuple(notices))


def read_zip(
    sniffed: Sniffed, header: Mapping[str, Any], members: list[Member], notices: Notices
) -> Iterator[LoggedSample]:
    """Members in the order of the zip, which is the order in which samples ended."""
    count = 0
    for _, sample in read_members(sniffed.path, members, notices):
        count += 1
        yield read_sample(as_table(sample), header)
    tell_missing(header, count, notices)


def read_object(sniffed: Sniffed, header: Mapping[str, Any], notices: Notices) -> Iterator[LoggedSample]:
    """The items of `samples`; the rest of the object is walked over."""
    count = 0
    for _, sample in walk_file(sniffed.path, {("samples",): True}, notices):
        if not isinstance(sample, Mapping):
            # `samples: null`: only the header was kept.
            raise DatasetError(f"{sniffed.path}: an Inspect log whose `samples` are no list of samples")
        count += 1
        yield read_sample(sample, header)
    tell_missing(header, count, notices)


def tell_missing(header: Mapping[str, Any], count: int, notices: Notices) -> None:
    """How many samples the run was to have, where the log says so and has fewer."""
    run = as_table(header.get("eval"))
    ids, epochs = as_table(run.get("dataset")).get("sample_ids"), as_table(run.get("config")).get("epochs")
    planned = len(ids) * (epochs if isinstance(epochs, int) else 1) if isinstance(ids, list) else 0
    if count < planned:
        notices.append(f"{count:,} of {planned:,} planned samples are in the log")


def read_sample(sample: Mapping[str, Any], header: Mapping[str, Any]) -> LoggedSample:
    """A text may stand among the attachments instead; `error` is an error whatever else there is."""
    attachments = as_table(sample.get("attachments"))
    run, output = as_table(header.get("eval")), as_table(resolve(sample.get("output"), attachments))
    asked_input = resolve(sample.get("input"), attachments)
    question = asked_input if isinstance(asked_input, str) else conversation_text(asked_input)
    choices = sample.get("choices")
    error = sample.get("error")
    first = as_table(next(iter(as_rows(output.get("choices"))), {}))
    message = as_table(first.get("message"))
    response = as_text(output.get("completion")) or content_text(message.get("content"))
    calls = calls_of(message)
    is_submitted = was_submitted(response or "", calls)
    withheld = describe_limit(as_table(sample.get("limit"))) or (
        describe_calls(calls) if calls and not is_submitted else None
    )
    scores = as_table(resolve(sample.get("scores"), attachments))
    if not scores and isinstance(sample.get("score"), Mapping):
        # Version 1 had one scorer, without a name.
        scores = {"score": sample["score"]}
    transcript = transcript_of_sample(sample, attachments, first)
    # What solvers had users say after the question was put.
    asked_later = len(transcript.user_texts) > (1 if isinstance(asked_input, str) else count_users(asked_input))
    question = with_options(question, map(str, choices)) if isinstance(choices, list) else question
    return LoggedSample(
        question_id=as_text(sample.get("id")) or "",
        question=transcript.question if asked_later else question,
        steps=transcript.steps,
        response=response,
        error=None if error is None else as_text(as_table(error).get("message")) or "an error without a message",
        withheld=withheld,
        is_final=is_submitted or not calls,
        targets=target_texts(resolve(sample.get("target"), attachments)),
        target_model=as_text(run.get("model")),
        task_name=as_text(run.get("task")),
        repeat=sample["epoch"] if isinstance(sample.get("epoch"), int) else None,
        stop_reason=limit_name(as_table(sample.get("limit"))) or as_text(first.get("stop_reason")),
        scores=dict(score for name, value in scores.items() for score in read_score(name, as_table(value))),
        metadata=as_table(sample.get("metadata")),
    )


def count_users(messages: Any) -> int:
    return sum(
        role_of(message) == "user" and bool(content_text(message.get("content"))) for message in as_rows(messages)
    )


def transcript_of_sample(
    sample: Mapping[str, Any], attachments: Mapping[str, Any], choice: Mapping[str, Any]
) -> Transcript:
    """The messages, with what the events say of the tools: when they ran, and those whose result no message told."""
    messages = resolve(sample.get("messages"), attachments)
    transcript = transcript_of(turns_of(messages, Unread(), marks_failures=True))
    last = transcript.entries[-1] if transcript.entries else None
    message = as_table(choice.get("message"))
    if last is not None and last.role is StepRole.ASSISTANT and content_text(message.get("content")) == last.text:
        transcript.end(as_text(choice.get("stop_reason")))
    known = {entry.call_id for entry in transcript.entries if entry.call_id is not None}
    for event in as_rows(sample.get("events")):
        if event.get("event") == "tool" and event.get("id") in known:
            transcript.run(execution_of(resolve(event, attachments)))
    return transcript


def execution_of(event: Mapping[str, Any]) -> Execution:
    """A call that raised beyond what Inspect tells the model is marked in its event only."""
    error = as_table(event.get("error"))
    failed = bool(error) or event.get("failed") is True
    is_done = event.get("pending") is not True
    seconds = event.get("working_time")
    return Execution(
        tool=as_text(event.get("function")) or "unknown",
        call_id=as_text(event.get("id")),
        result=as_text(error.get("message")) if failed else result_text(event.get("result")) if is_done else None,
        status=StepStatus.ERROR if failed else StepStatus.OK if is_done else None,
        time=utc_text(event.get("timestamp")),
        seconds=float(seconds) if isinstance(seconds, int | float) and seconds >= 0 else None,
    )


def was_submitted(response: str, calls: list[Mapping[str, Any]]) -> bool:
    """Agents of Inspect hand in their answer by a call (`submit`), and the completion is it, or ends with it."""
    arguments = [
        value for call in calls for value in as_table(call.get("arguments")).values() if isinstance(value, str)
    ]
    answers = [text.strip() for text in arguments if text.strip()]
    return any(response.strip() == text or response.rstrip().endswith(f"\n\n{text}") for text in answers)


def describe_limit(limit: Mapping[str, Any]) -> str | None:
    """A sample that was ended by a limit was going on: what it had said until then is no answer."""
    if not limit:
        return None
    value = limit.get("limit")
    size = f" of {value:g}" if isinstance(value, int | float) else ""
    return f"ended by the {as_text(limit.get('type')) or 'sample'} limit{size}, before there was an answer"


def limit_name(limit: Mapping[str, Any]) -> str | None:
    """What ended the sample, as a reason: `message_limit`."""
    kind = as_text(limit.get("type"))
    return f"{kind}_limit" if kind else None


def read_score(name: str, score: Mapping[str, Any]) -> Iterator[tuple[str, LoggedScore]]:
    """One scorer may give several values: each is a scorer then, named `scorer.value`."""
    value, reason = score.get("value"), as_text(score.get("explanation"))
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from read_score(f"{name}.{key}", {**score, "value": part})
        return
    why = score.get("reason")
    if why == "grader_failed" or (reason or "").startswith(_GRADE_NOT_FOUND):
        problem = f"the grader's reply could not be read: {reason or why}"
        yield name, LoggedScore(value, reason=reason, problem=" ".join(problem.split())[:300])
    elif isinstance(value, str) and value in _LETTERS:
        points, is_correct = _LETTERS[value]
        yield name, LoggedScore(value, points, is_correct, reason)
    else:
        yield name, read_grade(value, reason=reason)


def resolve(value: Any, attachments: Mapping[str, Any]) -> Any:
    """The value with long texts put back where Inspect left a reference to them."""
    if not attachments:
        return value
    if isinstance(value, str):
        return attachments.get(value.removeprefix(_ATTACHMENT), value) if value.startswith(_ATTACHMENT) else value
    if isinstance(value, list):
        return [resolve(item, attachments) for item in value]
    if isinstance(value, Mapping):
        return {key: resolve(item, attachments) for key, item in value.items()}
    return value


FORMAT = LogFormat("inspect", "Inspect log", _SIGNATURES, open_inspect)
