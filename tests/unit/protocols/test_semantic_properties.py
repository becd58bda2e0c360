"""Whatever a judge writes: parse never raises, and a changed reply is valid by the rules or flagged."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.examples import many
from tests.unit.protocols.semantic_replies import SAMPLE, VALID

from mixseek.domain.judgments import InvalidJudgment, Reply, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.protocols.registry import load_protocol
from mixseek.protocols.semantic_reply import ERROR_TYPES

PROTOCOLS = [load_protocol("semantic", parameters={"reply_mode": mode}) for mode in ("repair", "strict")]

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def assert_lawful(judgment: ValidJudgment | InvalidJudgment) -> None:
    """A judgment is either flagged with reasons, or satisfies every rule of the protocol."""
    if isinstance(judgment, InvalidJudgment):
        assert judgment.findings
        assert all(finding.detail.encode() for finding in judgment.findings)
        return
    fields = judgment.fields
    correct = fields["is_correct"]
    assert type(correct) is bool
    assert type(fields["reasoning_score"]) is int
    assert fields["reasoning_score"] in ({1, 2, 4, 5} if correct else {1, 2, 3})
    assert fields["error_type"] in ({"none", "format_error"} if correct else set(ERROR_TYPES) - {"none"})
    assert isinstance(fields["extracted_answer"], str) or fields["error_type"] == "no_answer"
    assert isinstance(fields["comment"], str)
    assert judgment.score == float(correct)
    assert json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()
    if judgment.span is not None:
        assert 0 <= judgment.span.start < judgment.span.end


@given(text=st.text(alphabet=st.characters()), protocol=st.sampled_from(PROTOCOLS))
def test_any_text_is_judged_without_raising(text: str, protocol: Any) -> None:
    assert_lawful(protocol.parse(Reply(text, "j"), SAMPLE))


@many(100)
@given(
    name=st.sampled_from([*VALID, "extra"]),
    value=JSON_VALUES | st.sampled_from([*ERROR_TYPES, *range(7)]),
    protocol=st.sampled_from(PROTOCOLS),
)
def test_any_other_value_in_any_field_is_lawful_or_flagged(name: str, value: Any, protocol: Any) -> None:
    assert_lawful(protocol.parse(Reply(json.dumps({**VALID, name: value}), "j"), SAMPLE))


@many(100)
@given(
    place=st.integers(0, len(json.dumps(VALID))),
    removed=st.integers(0, 3),
    inserted=st.text(alphabet=st.characters(), max_size=3)
    | st.sampled_from(['"', "{", "}", ",", "\\", "</think>", "0"]),
    protocol=st.sampled_from(PROTOCOLS),
)
def test_any_edit_of_a_valid_reply_is_lawful_or_flagged(place: int, removed: int, inserted: str, protocol: Any) -> None:
    text = json.dumps(VALID)
    edited = text[:place] + inserted + text[place + removed :]

    assert_lawful(protocol.parse(Reply(edited, "j"), SAMPLE))


@given(values=st.dictionaries(st.sampled_from(list(VALID)), JSON_VALUES), protocol=st.sampled_from(PROTOCOLS))
def test_any_object_with_our_keys_is_lawful_or_flagged(values: dict[str, Any], protocol: Any) -> None:
    assert_lawful(protocol.parse(Reply(json.dumps(values), "j"), SAMPLE))


@given(
    response=st.text(alphabet=st.characters()),
    answer=st.text(alphabet=st.characters(), min_size=1),
    truth=st.text(alphabet=st.characters()),
)
def test_any_sample_can_be_judged(response: str, answer: str, truth: str) -> None:
    reply = Reply(json.dumps({**VALID, "extracted_answer": answer}), "j")

    assert_lawful(PROTOCOLS[0].parse(reply, Sample("s", response, ground_truth=truth)))
