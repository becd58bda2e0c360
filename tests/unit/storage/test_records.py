"""The journal's line format, there and back."""

import json
import sys
from types import MappingProxyType, ModuleType
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import many
from tests.unit.storage.material import OUTCOMES, make_sample

from mixseek.domain.confidence import Confidence, ConfidenceSource
from mixseek.domain.judgments import (
    Finding,
    Flag,
    InvalidJudgment,
    Method,
    Missing,
    Outcome,
    Reply,
    Span,
    Undecided,
    ValidJudgment,
    status_of,
)
from mixseek.domain.samples import Sample
from mixseek.domain.steps import Context, Step, StepRole
from mixseek.storage.journal.records import (
    OutcomeRecord,
    ReplyRecord,
    SampleRecord,
    decode_record,
    encode_outcome,
    encode_readable_line,
    encode_reply,
    encode_sample,
    make_plain,
)

# Surrogates included: a response may hold what UTF-8 cannot.
TEXT = st.text(st.characters(), max_size=20)
MAYBE = st.none() | TEXT
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
SPANS = st.none() | st.builds(Span, st.integers(0, 10**6), st.integers(0, 10**6))
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
STEPS = st.lists(
    st.builds(Step, role=st.just(StepRole.TOOL), tool=TEXT, arguments=JSON, result=MAYBE, images=TEXTS)
    | st.builds(Step, role=st.sampled_from(StepRole), text=MAYBE, parent=st.none() | st.integers(1, 9)),
    max_size=2,
).map(tuple)
SAMPLES = st.builds(
    Sample,
    steps=STEPS,
    contexts=st.lists(st.builds(Context, id=TEXT, text=TEXT, source=MAYBE), max_size=2).map(tuple),
    id=TEXT,
    response=TEXT,
    question=TEXT,
    ground_truth=MAYBE,
    ground_truth_alternatives=TEXTS,
    question_id=MAYBE,
    prompt_variant=MAYBE,
    target_model=MAYBE,
    output_id=MAYBE,
    task_name=MAYBE,
    task_type=MAYBE,
    rubric=MAYBE,
    metadata=st.dictionaries(TEXT, JSON, max_size=3),
)
SHARE = st.floats(0, 1)
CONFIDENCES = st.builds(
    Confidence,
    value=SHARE,
    source=st.sampled_from(ConfidenceSource),
    shares=st.dictionaries(TEXT, SHARE, max_size=3),
    outside=st.none() | SHARE,
)
VALID = st.builds(
    ValidJudgment,
    score=st.floats(0, 1),
    confidence=st.none() | CONFIDENCES,
    expected_score=st.none() | SHARE,
    verdict=TEXT,
    fields=st.dictionaries(TEXT, JSON, max_size=3),
    method=st.sampled_from(Method),
    span=SPANS,
    rules=TEXTS,
    repairs=TEXTS,
)
INVALID = st.builds(
    InvalidJudgment,
    findings=st.lists(st.builds(Finding, st.sampled_from(Flag), TEXT), max_size=3).map(tuple),
    repairs=TEXTS,
    fields=st.dictionaries(TEXT, JSON, max_size=3),
)
ANY_OUTCOME = VALID | INVALID | st.builds(Undecided, TEXT, TEXTS, SPANS, MAYBE) | st.builds(Missing, TEXT)


@given(SAMPLES)
def test_a_sample_comes_back_as_it_was(sample: Sample) -> None:
    """Key included: it is what resume compares."""
    line = encode_sample(sample)

    assert decode_record(line) == SampleRecord(sample.key(), sample)
    assert encode_sample(sample, sample.key()) == line


@given(SAMPLES, TEXT, ANY_OUTCOME)
def test_an_outcome_comes_back_as_it_was(sample: Sample, judge: str, outcome: Outcome) -> None:
    """All four, with every text."""
    line = encode_outcome(sample, sample.key(), judge, outcome)

    assert decode_record(line) == OutcomeRecord(sample.key(), sample.id, judge, outcome)


@given(TEXT, TEXT, st.integers(1, 9), st.dictionaries(TEXT, JSON, max_size=3))
def test_a_reply_comes_back_as_it_was(text: str, judge: str, attempt: int, details: dict[str, Any]) -> None:
    """Kept for ever, character for character."""
    reply = Reply(text, judge, attempt, details)

    assert decode_record(encode_reply("0" * 32, reply)) == ReplyRecord("0" * 32, reply)


@given(SAMPLES, TEXT, ANY_OUTCOME)
def test_every_line_is_one_line_that_every_json_reader_accepts(sample: Sample, judge: str, outcome: Outcome) -> None:
    """One newline at the end and nowhere else; strict readers refuse neither surrogates nor huge integers."""
    key = sample.key()
    for line in (encode_sample(sample, key), encode_outcome(sample, key, judge, outcome)):
        assert line.index(b"\n") == len(line) - 1
        assert isinstance(orjson.loads(line), dict)
        assert json.loads(line)["key"] == key


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: type(outcome).__name__)
def test_every_outcome_line_has_every_field(outcome: Outcome) -> None:
    """Tables are made of these lines; a field that is sometimes absent is a column that is sometimes wrong."""
    sample = make_sample(1)
    line = json.loads(encode_outcome(sample, sample.key(), "rules", outcome))

    assert list(line) == [
        *("t", "key", "judge", "status", "id", "method", "score", "verdict"),
        *("fields", "span", "rules", "flags", "repairs", "reason"),
    ]
    assert (line["t"], line["status"], line["id"]) == ("outcome", status_of(outcome), "s1")


def test_what_is_absent_takes_no_room_in_a_sample_line() -> None:
    """A million lines of nulls are a hundred megabytes."""
    line = json.loads(encode_sample(Sample("a", "b")))

    assert line["sample"] == {"id": "a", "response": "b"}


def test_a_span_still_points_at_its_place_where_a_surrogate_was_replaced() -> None:
    """One U+FFFD for one surrogate; the original is kept in the same line."""
    line = encode_sample(Sample("a", "\ud83dx\udc00"))

    assert json.loads(line)["sample"]["response"] == "�x�"
    assert decode_record(line) == SampleRecord(Sample("a", "\ud83dx\udc00").key(), Sample("a", "\ud83dx\udc00"))


def test_values_that_json_does_not_know_are_written_all_the_same() -> None:
    """Samples may come from Python code: frozen mappings, sets, NaN, keys that are numbers."""
    sample = Sample("a", "b", metadata=MappingProxyType({"n": MappingProxyType({"x": 1}), "s": {1}, "f": float("nan")}))

    assert json.loads(encode_sample(sample))["sample"]["metadata"] == {"n": {"x": 1}, "s": "{1}", "f": None}
    assert json.loads(encode_sample(Sample("a", "b", metadata={1: 2})))["sample"]["metadata"] == {"1": 2}  # type: ignore[dict-item]  # what an untyped caller may do


def test_a_line_for_other_programs_carries_nothing_beside_it() -> None:
    """`exact` is the journal's own."""
    assert json.loads(encode_readable_line({"a": "\ud800", "n": 2**70})) == {"a": "�", "n": str(2**70)}


@many(80)
@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_anything_else_is_a_value_error(line: bytes) -> None:
    """Readers catch one kind of error and name the byte."""
    with pytest.raises(ValueError):  # noqa: PT011 - any message will do, the journal adds the place
        decode_record(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"t":"other","key":"x"}',
        b'{"t":"sample","key":"x"}',
        b'{"t":"sample","key":"x","sample":{"id":"a","response":"b","unknown":1}}',
        b'{"t":"reply","key":"x"}',
        b'{"t":"outcome","key":"x","id":"a","judge":"j","status":"valid"}',
        b'{"t":"outcome","key":"x","id":"a","judge":"j","status":"perfect","span":null}',
    ],
)
def test_a_record_that_is_not_whole_is_a_value_error(line: bytes) -> None:
    """Half a record must not pass for one."""
    with pytest.raises(ValueError):  # noqa: PT011 - any message will do, the journal adds the place
        decode_record(line)


def test_only_what_pandas_itself_calls_empty_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class of somebody else's may have the same name, and what it says is a text."""
    named_alike = type("NAType", (), {"__str__": lambda self: "a gene"})()
    pandas = ModuleType("pandas")
    vars(pandas).update(NA=object(), NaT=object())
    monkeypatch.setitem(sys.modules, "pandas", pandas)

    assert make_plain([pandas.NA, pandas.NaT, named_alike]) == [None, None, "a gene"]
