"""Whatever a judge writes: parse never raises, and a changed reply is valid by the rules or flagged."""

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.examples import many
from tests.unit.protocols.scored_replies import NAMES, SAMPLES, VALID, changed, protocol_of, without

from mixseek.domain.judgments import InvalidJudgment, Reply, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.protocols.scored.arithmetic import maxima_of, total_of, verdict_of

PROTOCOLS = {(name, mode): protocol_of(name, reply_mode=mode) for name in NAMES for mode in ("repair", "strict")}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
WORDS = st.sampled_from(["PASS", "FAIL", "fact", "creative", "high", "self_judge", "send", "", *range(-1, 9), True])


def paths(value: Any, prefix: str = "") -> list[str]:
    """Every place of a reply, as a dotted path."""
    pairs: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [(str(place), item) for place, item in enumerate(value)]
    return [path for key, item in pairs for path in (f"{prefix}{key}", *paths(item, f"{prefix}{key}."))]


PLACES = [(name, path) for name in NAMES for path in paths(VALID[name])]


def assert_lawful(name: str, judgment: ValidJudgment | InvalidJudgment) -> None:
    """A judgment is either flagged with reasons, or satisfies every rule of its protocol."""
    if isinstance(judgment, InvalidJudgment):
        assert judgment.findings
        assert all(finding.detail.encode() for finding in judgment.findings)
        return
    parameters = PROTOCOLS[name, "repair"].settings
    fields = judgment.fields
    scores, task_type = fields["scores"], fields.get("task_type")
    assert list(scores) == list(parameters.dimensions)
    for key, top in maxima_of(parameters, task_type).items():
        assert type(scores[key]) is int or (name == "rubric" and type(scores[key]) is float)
        assert 0 <= scores[key] <= top == fields["maxima"][key]
    total = total_of(parameters, scores, task_type)
    assert math.isclose(fields["total"], total, abs_tol=1e-9)
    failed = [gate for gate, said in fields.get("gates", {}).items() if said["failed"]]
    assert not failed or not any(scores.values())
    assert judgment.verdict == verdict_of(parameters, scores, total, failed)
    assert 0 <= judgment.score <= 1
    assert judgment.score == total / fields["total_maximum"]
    assert json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()
    for quote in fields.get("evidence", ()):
        assert (quote["problem"] is None) == bool(quote["spans"])
    assert_evidence_stands(name, fields)


def assert_evidence_stands(name: str, fields: Any) -> None:
    parameters = PROTOCOLS[name, "repair"].settings
    if parameters.evidence.policy == "verified":
        found = {quote["dimension"] for quote in fields["evidence"] if quote["problem"] is None}
        assert found == set(parameters.dimensions)


names = st.sampled_from(NAMES)
modes = st.sampled_from(["repair", "strict"])


@given(text=st.text(alphabet=st.characters()), name=names, mode=modes)
def test_any_text_is_judged_without_raising(text: str, name: str, mode: str) -> None:
    assert_lawful(name, PROTOCOLS[name, mode].parse(Reply(text, "j"), SAMPLES[name]))


@many(150)
@given(place=st.sampled_from(PLACES), value=JSON_VALUES | WORDS, mode=modes)
def test_any_other_value_at_any_place_is_lawful_or_flagged(place: tuple[str, str], value: Any, mode: str) -> None:
    name, path = place
    text = json.dumps(changed(VALID[name], path, value))

    assert_lawful(name, PROTOCOLS[name, mode].parse(Reply(text, "j"), SAMPLES[name]))


def test_a_reply_without_any_one_of_its_parts_is_lawful_or_flagged() -> None:
    for name, path in PLACES:
        for mode in ("repair", "strict"):
            text = json.dumps(without(VALID[name], path))

            assert_lawful(name, PROTOCOLS[name, mode].parse(Reply(text, "j"), SAMPLES[name]))


@many(100)
@given(
    data=st.data(),
    name=names,
    mode=modes,
    removed=st.integers(0, 3),
    inserted=st.text(alphabet=st.characters(), max_size=3)
    | st.sampled_from(['"', "{", "}", ",", "\\", "</think>", "0", "."]),
)
def test_any_edit_of_a_valid_reply_is_lawful_or_flagged(
    data: st.DataObject, name: str, mode: str, removed: int, inserted: str
) -> None:
    text = json.dumps(VALID[name], ensure_ascii=False)
    place = data.draw(st.integers(0, len(text)))
    edited = text[:place] + inserted + text[place + removed :]

    assert_lawful(name, PROTOCOLS[name, mode].parse(Reply(edited, "j"), SAMPLES[name]))


@given(data=st.data(), name=names, mode=modes)
def test_any_object_with_our_keys_is_lawful_or_flagged(data: st.DataObject, name: str, mode: str) -> None:
    values = data.draw(st.dictionaries(st.sampled_from(list(VALID[name])), JSON_VALUES))

    assert_lawful(name, PROTOCOLS[name, mode].parse(Reply(json.dumps(values), "j"), SAMPLES[name]))


any_text = st.none() | st.text(alphabet=st.characters(), max_size=30)


@given(
    name=names,
    judge=st.text(max_size=30),
    sample=st.builds(
        Sample,
        id=st.text(max_size=9),
        response=st.text(alphabet=st.characters(), max_size=60),
        question=st.text(alphabet=st.characters(), max_size=30),
        question_id=any_text,
        prompt_variant=any_text,
        target_model=any_text,
        output_id=any_text,
        task_name=any_text,
        task_type=any_text | st.sampled_from(["fact", "creative"]),
        rubric=any_text,
    ),
)
def test_any_sample_and_any_judge_can_be_parsed(name: str, judge: str, sample: Sample) -> None:
    assert_lawful_shape(PROTOCOLS[name, "repair"].parse(Reply(json.dumps(VALID[name]), judge), sample))


def assert_lawful_shape(judgment: ValidJudgment | InvalidJudgment) -> None:
    if isinstance(judgment, InvalidJudgment):
        assert judgment.findings
    else:
        assert 0 <= judgment.score <= 1
