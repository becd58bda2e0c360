"""The one home of the journal's line format: three kinds of record, each a JSON object on a line of its own.

    {"t":"sample","key":…,"sample":{…}}            with "steps_digest":… where it has steps or contexts
    {"t":"reply","key":…,"judge":…,"attempt":…,"text":…,"details":{…}}
    {"t":"outcome","key":…,"judge":…,"status":…,"id":…,"method":…,"score":…,"verdict":…,"fields":{…},
     "span":[start,end]|null,"rules":[…],"flags":[{"flag":…,"detail":…}],"repairs":[…],"reason":…}

An outcome of a repeat (`--repeats`) ends with `"take":2` and so on; without it, it is the first take. `"lost_tries":3`
counts requests that brought no reply, over all processes of the run, and `"lost_bill":{…}` says what their answers
without a reply took all the same (`input_tokens`, `output_tokens`, `cost_usd`); `"permanent":true` says that asking
again for what is missing changes nothing, and `"withheld":true` that a filter refused it. A valid judgment of which
that is known ends with `"confidence":{"value":…,"source":…,"shares":{…},"outside":…}` and `"expected_score":…`.

Text that UTF-8 cannot hold (an unpaired surrogate) stands in the line as U+FFFD, so that every JSON reader accepts
the line; the record as it was is then kept beside it, in `exact`.
"""

import dataclasses
import json
import math
import operator
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, assert_never

import orjson

from mixseek.domain.confidence import read_confidence
from mixseek.domain.judgments import (
    Finding,
    Flag,
    InvalidJudgment,
    Method,
    Missing,
    Outcome,
    Reply,
    Responded,
    Span,
    Status,
    Undecided,
    ValidJudgment,
    status_of,
)
from mixseek.domain.ports import NOTHING_LOST, LostRequests
from mixseek.domain.samples import Sample
from mixseek.domain.steps import contexts_of, digest_of_steps, steps_of
from mixseek.lazy_dataclass import dataclass

_SURROGATE = re.compile("[\ud800-\udfff]")
# Everything but what is always written; a default takes no room in a line.
_DEFAULTS: Mapping[str, Any] = {
    item.name: {} if item.default is dataclasses.MISSING else item.default
    for item in dataclasses.fields(Sample)
    if item.name not in ("id", "response")
}
# What an outcome of any status has in the journal, in this order, and what stands where it has no meaning.
_OUTCOME_FIELDS: Mapping[str, Any] = {
    "method": None,
    "score": None,
    "verdict": None,
    "fields": {},
    "span": None,
    "rules": (),
    "flags": (),
    "repairs": (),
    "reason": None,
}
_STEP_READERS: Mapping[str, Callable[[Any], Any]] = {"steps": steps_of, "steps_b": steps_of, "contexts": contexts_of}
_optional_fields = operator.attrgetter(*_DEFAULTS)


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """A sample was taken up."""

    key: str
    sample: Sample


@dataclass(frozen=True, slots=True)
class ReplyRecord:
    """A judge said something about a sample."""

    key: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class OutcomeRecord:
    """What became of a sample under a judge; the last one written counts."""

    key: str
    sample_id: str
    judge: str
    outcome: Outcome
    take: int = 1


Record = SampleRecord | ReplyRecord | OutcomeRecord


def encode_sample(sample: Sample, key: str | None = None) -> bytes:
    """`key` saves hashing the sample again where it is known."""
    optional = zip(_DEFAULTS, _optional_fields(sample), _DEFAULTS.values(), strict=True)
    known = {name: value for name, value, default in optional if value is not default and value != default}
    documents = sample.step_documents()
    fields = {"id": sample.id, "response": sample.response, **known, **documents}
    record = {"t": "sample", "key": key or sample.key(), "sample": fields}
    return encode_line(record | {"steps_digest": digest_of_steps(documents)} if documents else record)


def encode_reply(sample_key: str, reply: Reply) -> bytes:
    """Every attempt is a line of its own."""
    fields = {"judge": reply.judge, "attempt": reply.attempt, "text": reply.text, "details": reply.details}
    return encode_line({"t": "reply", "key": sample_key, **fields})


def encode_outcome(
    sample: Sample, key: str, judge: str, outcome: Outcome, take: int = 1, lost: LostRequests = NOTHING_LOST
) -> bytes:
    """Every field is there for every status, null or empty where it has no meaning: tables are made of these."""
    record: dict[str, Any] = {"t": "outcome", "key": key, "judge": judge, "status": status_of(outcome), "id": sample.id}
    record |= {name: getattr(outcome, name, empty) for name, empty in _OUTCOME_FIELDS.items()}
    span: Span | None = record["span"]
    record["span"] = None if span is None else [span.start, span.end]
    if take != 1:
        record["take"] = take
    if lost.tries:
        record["lost_tries"] = lost.tries
    if any(lost[1:]):
        record["lost_bill"] = dict(zip(lost._fields[1:], lost[1:], strict=True))
    match outcome:
        case ValidJudgment():
            # Where nobody knows them, the line is what it always was.
            record |= {} if outcome.confidence is None else {"confidence": outcome.confidence.document()}
            record |= {} if outcome.expected_score is None else {"expected_score": outcome.expected_score}
        case InvalidJudgment():
            record["flags"] = [{"flag": finding.flag, "detail": finding.detail} for finding in outcome.findings]
        case Undecided():
            record["fields"] = {"extracted_answer": outcome.extracted_answer, **outcome.fields}
        case Missing():
            record |= {"permanent": True} if outcome.is_permanent else {}
            record |= {"withheld": True} if outcome.is_withheld else {}
    return encode_line(record)


def decode_record(line: bytes) -> Record:
    """Raises ValueError for anything that is not a line of ours."""
    try:
        data = decode_line(line)
        match data["t"]:
            case "sample":
                return SampleRecord(data["key"], decode_sample(data["sample"]))
            case "reply":
                return ReplyRecord(data["key"], decode_reply(data))
            case "outcome":
                return OutcomeRecord(data["key"], data["id"], data["judge"], decode_outcome(data), data.get("take", 1))
            case other:
                raise ValueError(f"unknown record type {other!r}")
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a journal record ({error})") from error


def decode_sample(fields: Mapping[str, Any]) -> Sample:
    """The sample exactly as it was encoded."""
    values = {**fields, "ground_truth_alternatives": tuple(fields.get("ground_truth_alternatives", ()))}
    for name, read in _STEP_READERS.items():
        if name in fields:
            values[name] = read(fields[name])
    return Sample(**values)


def decode_reply(data: Mapping[str, Any]) -> Reply:
    """The reply exactly as it was encoded."""
    return Reply(text=data["text"], judge=data["judge"], attempt=data["attempt"], details=data["details"])


def decode_outcome(data: Mapping[str, Any]) -> Outcome:
    """The outcome exactly as it was encoded."""
    span = None if data["span"] is None else Span(*data["span"])
    match Status(data["status"]):
        case Status.VALID if data["method"] is None:
            # Nobody judged: it is what a target gave.
            return Responded(data["fields"])
        case Status.VALID:
            return ValidJudgment(
                score=data["score"],
                verdict=data["verdict"],
                fields=data["fields"],
                method=Method(data["method"]),
                span=span,
                rules=tuple(data["rules"]),
                repairs=tuple(data["repairs"]),
                confidence=read_confidence(data.get("confidence")),
                expected_score=data.get("expected_score"),
            )
        case Status.INVALID:
            findings = tuple(Finding(Flag(item["flag"]), item["detail"]) for item in data["flags"])
            return InvalidJudgment(findings, tuple(data["repairs"]), data["fields"])
        case Status.UNDECIDED:
            fields = {name: value for name, value in data["fields"].items() if name != "extracted_answer"}
            return Undecided(data["reason"], tuple(data["rules"]), span, data["fields"]["extracted_answer"], fields)
        case Status.MISSING:
            return Missing(data["reason"], data.get("permanent", False), data.get("withheld", False), data["fields"])
        case unexpected:
            assert_never(unexpected)


def encode_line(record: Mapping[str, Any]) -> bytes:
    """One line with its newline; what orjson refuses (surrogates, huge integers) is kept beside it in `exact`."""
    try:
        return orjson.dumps(record, default=make_plain, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        exact = json.dumps(make_plain(record), separators=(",", ":"))
        return encode_readable_line({**record, "exact": exact})


def encode_readable_line(record: Mapping[str, Any]) -> bytes:
    """One line for other programs: what not every JSON reader takes is replaced, and nothing is kept beside it."""
    try:
        return orjson.dumps(record, default=make_plain, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return orjson.dumps(make_plain(record, is_readable=True), option=orjson.OPT_APPEND_NEWLINE)


def decode_line(line: bytes) -> dict[str, Any]:
    """The JSON object of a line; raises ValueError (orjson's error is one)."""
    data = orjson.loads(line)
    if not isinstance(data, dict):
        # Not TypeError: a line that holds something else is a bad value, and callers catch one kind.
        raise ValueError("not a JSON object")  # noqa: TRY004
    if "exact" in data:
        exact: dict[str, Any] = json.loads(data["exact"])
        return exact
    return data


def decode_object(text: str) -> dict[str, Any]:
    """A text that is one JSON object and nothing else; empty for any other."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def is_absent(value: object) -> bool:
    """Whether a value is how pandas says that a cell is empty; the texts of those are no answers."""
    # Whoever has not loaded pandas has no such value, and pays nothing for the question.
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def make_plain(value: Any, is_readable: bool = False) -> Any:
    """What `json` can write; with `is_readable`, what every JSON reader can read too. Bytes are UTF-8, or it raises."""
    match value:
        case str():
            return replace_surrogates(str(value)) if is_readable else str(value)
        case None | bool():
            return value
        case int():
            return str(value) if is_readable and not -(2**63) <= value < 2**64 else int(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {make_plain(str(name), is_readable): make_plain(item, is_readable) for name, item in value.items()}
        case list() | tuple():
            return [make_plain(item, is_readable) for item in value]
        case bytes() | bytearray():
            return value.decode()
        case _ if is_absent(value):
            return None
        case _:
            return make_plain(str(value), is_readable)


def replace_surrogates(text: str) -> str:
    """One U+FFFD for each, so that spans still point at the same places."""
    return _SURROGATE.sub("\ufffd", text)
