"""The bundled samples carry the label that a careful person gives; the rules must agree with every one of them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each

import mixseek
from mixseek.domain.judgments import Flag, InvalidJudgment, Reply, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.judges.math_verify import find_maths
from mixseek.matching.match import match_answer
from mixseek.matching.readings import NEEDS_MATHS
from mixseek.protocols.registry import load_protocol

_MATHS = find_maths()
_DATA = Path(mixseek.__file__).parent / "setup" / "demo_data"
_FIELDS = {"id", "task", "language", "question", "response", "ground_truth", "label", "why"}
_TASKS = frozenset(
    [
        "boolean_expressions",
        "causal_judgement",
        "date_understanding",
        "disambiguation_qa",
        "dyck_languages",
        "formal_fallacies",
        "geometric_shapes",
        "hyperbaton",
        "logical_deduction",
        "movie_recommendation",
        "multistep_arithmetic",
        "navigate",
        "object_counting",
        "penguins_in_a_table",
        "colored_objects",
        "ruin_names",
        "translation_error",
        "snarks",
        "sports_understanding",
        "temporal_sequences",
        "tracking_shuffled_objects",
        "web_of_lies",
        "word_sorting",
        "open_question",
        "mathematics",
    ]
)
# Bad on purpose: a demo without an invalid judgment would hide that there are any.
_BAD_REPLIES = {
    "en-disambiguation-02": Flag.INTERNAL_INCONSISTENCY,
    "ja-disambiguation-01": Flag.JUDGE_REFUSAL_OR_EVASION,
    "zh-sorting-02": Flag.UNPARSABLE_OUTPUT,
}


def _read(name: str) -> list[dict[str, Any]]:
    # Not splitlines(): it also breaks at separators that JSON allows inside a text.
    return [json.loads(line) for line in (_DATA / name).read_text(encoding="utf-8").split("\n") if line]


_ROWS = _read("semantic.jsonl")
_REPLIES = {row["id"]: row["reply"] for row in _read("semantic_replies.jsonl")}


def _sample(row: dict[str, Any]) -> Sample:
    return Sample(
        id=row["id"],
        response=row["response"],
        question=row["question"],
        ground_truth=row["ground_truth"],
        ground_truth_alternatives=tuple(row.get("ground_truth_alternatives", ())),
    )


_SAMPLES = {row["id"]: _sample(row) for row in _ROWS}


@pytest.mark.parametrize("row", _ROWS, ids=[row["id"] for row in _ROWS])
def test_the_rules_agree_with_the_label(row: dict[str, Any]) -> None:
    """Nowhere may rule and label disagree: the label is the promise that `mixseek demo` shows."""
    result = match_answer(
        row["response"],
        row["ground_truth"],
        question=row["question"],
        alternatives=tuple(row.get("ground_truth_alternatives", ())),
        maths=_MATHS,
    )

    if _MATHS is None and result.rules[-1] == NEEDS_MATHS:
        pytest.skip("the extra `maths` is not installed")
    assert row["label"] == result.decision.value, (row["why"], result)


def test_every_row_is_complete_and_named_once() -> None:
    """A row says what it is and what it shows; its id begins with its language."""
    assert len(_ROWS) == len(_SAMPLES)
    for row in _ROWS:
        assert _FIELDS <= set(row) <= _FIELDS | {"ground_truth_alternatives"}
        assert all(row.values())
        assert row["id"].startswith(f"{row['language']}-")


def test_every_answer_type_language_and_label_is_covered() -> None:
    """The demo is small and still meets each kind of answer, in three languages, right, wrong and open."""
    languages = Counter(row["language"] for row in _ROWS)
    shares = {label: count / len(_ROWS) for label, count in Counter(row["label"] for row in _ROWS).items()}

    assert len(_ROWS) >= 60
    assert {row["task"] for row in _ROWS} == _TASKS
    assert set(languages) == {"en", "ja", "zh"}
    assert min(languages.values()) >= 14
    assert set(shares) == {"correct", "incorrect", "undecided"}
    assert shares["undecided"] < shares["incorrect"] < shares["correct"] < 2 / 3


def test_every_undecided_sample_has_a_reply() -> None:
    """What the rules leave open goes on to the recorded judge, so that the cascade ends."""
    undecided = {row["id"] for row in _ROWS if row["label"] == "undecided"}

    assert undecided <= set(_REPLIES) <= set(_SAMPLES)
    assert set(_BAD_REPLIES) <= undecided


@each("sample_id", sorted(set(_REPLIES) - set(_BAD_REPLIES)))
def test_a_good_reply_is_a_valid_judgment_without_a_warning(sample_id: str) -> None:
    """What the judge quotes stands in the response, and the verdict follows from it; a clear label is confirmed."""
    label = next(row["label"] for row in _ROWS if row["id"] == sample_id)
    judgment = load_protocol("semantic").parse(Reply(_REPLIES[sample_id], "replay"), _SAMPLES[sample_id])

    assert isinstance(judgment, ValidJudgment), judgment
    assert judgment.fields["warnings"] == []
    assert label in (judgment.verdict, "undecided")


@pytest.mark.parametrize("sample_id", sorted(_BAD_REPLIES))
def test_a_bad_reply_is_invalid_under_its_own_flag(sample_id: str) -> None:
    """Invalid is not low: each bad reply is named for what is wrong with it, and for nothing else."""
    judgment = load_protocol("semantic").parse(Reply(_REPLIES[sample_id], "replay"), _SAMPLES[sample_id])

    assert isinstance(judgment, InvalidJudgment), judgment
    assert {finding.flag for finding in judgment.findings} == {_BAD_REPLIES[sample_id]}
