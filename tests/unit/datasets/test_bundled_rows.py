"""Files of replies whose judged text is not known: a row for each reply, also out of a bundle."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.storage.material import write_jsonl

from mixseek.datasets.attachments import RowRequirements
from mixseek.datasets.reader import open_dataset
from mixseek.domain.samples import Sample, SampleNeeds
from mixseek.errors import DatasetError

ENTRIES = [{"file": "q1.pdf", "total": 3}, {"file": "q2.pdf", "total": 4}]


def samples_of(path: Path, **requirements: Any) -> list[Sample]:
    dataset = open_dataset(
        str(path),
        mapping={},
        spool_directory=None,
        requirements=RowRequirements(**{"response": False, "bundles": True, **requirements}),
    )
    dataset.survey()
    return [sample for batch in dataset.batches(10) for sample in batch]


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2), encoding="utf-8")
    return path


@pytest.mark.parametrize("value", [ENTRIES, {"bundle_meta": {}, "per_file_scores": ENTRIES}], ids=["list", "object"])
def test_a_file_that_is_a_bundle_is_a_row_for_each_entry(tmp_path: Path, value: Any) -> None:
    samples = samples_of(write(tmp_path / "b.json", value))

    assert [(sample.id, sample.output_id) for sample in samples] == [("q1.pdf", "q1.pdf"), ("q2.pdf", "q2.pdf")]
    assert [json.loads(sample.metadata["reply"])["total"] for sample in samples] == [3, 4]
    assert all(sample.response == "" and sample.metadata["response_unknown"] for sample in samples)


def test_a_line_that_is_a_bundle_is_a_row_for_each_entry(tmp_path: Path) -> None:
    """Under its own id, so that two bundles may speak of files of the same name."""
    rows = [{"id": f"b{n}", "judge_model": "j", "raw_output": json.dumps(ENTRIES)} for n in (1, 2)]

    samples = samples_of(write_jsonl(tmp_path / "b.jsonl", *rows))

    assert [sample.id for sample in samples] == ["b1/q1.pdf", "b1/q2.pdf", "b2/q1.pdf", "b2/q2.pdf"]
    assert {sample.metadata["judge_model"] for sample in samples} == {"j"}
    assert "raw_output" not in samples[0].metadata


def test_what_the_reply_says_of_its_sample_is_taken_over_where_the_row_says_nothing(tmp_path: Path) -> None:
    meta = {"question_id": "Q1", "prompt_variant": "A", "target_model": "a", "output_id": "q1.pdf"}
    row = {"id": 1, "reply": json.dumps({"meta": meta, "scores": {}}), "target_model": "b"}

    (sample,) = samples_of(write_jsonl(tmp_path / "r.jsonl", row))

    assert (sample.question_id, sample.prompt_variant, sample.target_model) == ("Q1", "A", "b")
    assert json.loads(sample.metadata["reply"])["meta"] == meta


def test_a_reply_beside_its_text_stays_one_reply(tmp_path: Path) -> None:
    """Even one that looks like a bundle: it is about that text."""
    row = {"id": 1, "response": "judged", "reply": json.dumps(ENTRIES)}

    (sample,) = samples_of(write_jsonl(tmp_path / "r.jsonl", row))

    assert (sample.id, sample.response) == ("1", "judged")
    assert "response_unknown" not in sample.metadata


def test_a_list_of_rows_is_no_bundle(tmp_path: Path) -> None:
    rows = [{"id": "a", "reply": "x"}, {"id": "b", "reply": "y"}]

    samples = samples_of(write(tmp_path / "r.json", rows))

    assert [(sample.id, sample.metadata["reply"]) for sample in samples] == [("a", "x"), ("b", "y")]
    assert not any("reply_bundled" in sample.metadata for sample in samples)


def test_entries_that_contradict_each_other_are_one_row(tmp_path: Path) -> None:
    """With both texts, which no protocol accepts as one reply."""
    (sample,) = samples_of(write(tmp_path / "b.json", [{"file": "q1.pdf", "total": 3}, {"file": "q1.pdf", "total": 4}]))

    assert sample.metadata["reply"].count("total") == 2
    assert sample.metadata["reply_problem"]["flag"] == "INTERNAL_INCONSISTENCY"


def test_what_is_wrong_with_a_bundle_is_told_with_every_entry(tmp_path: Path) -> None:
    samples = samples_of(write(tmp_path / "b.json", {"flags": ["PROTOCOL_VIOLATION"], "per_file": ENTRIES}))

    assert [sample.metadata["reply_problem"]["flag"] for sample in samples] == ["PROTOCOL_VIOLATION"] * 2
    assert all(sample.metadata["reply_bundled"] is True for sample in samples)


def test_a_row_with_neither_text_nor_reply_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="line 1: row has no `response`"):
        samples_of(write_jsonl(tmp_path / "r.jsonl", {"id": 1, "question": "q"}))


def test_where_the_text_is_needed_its_absence_is_said_with_the_row(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "r.jsonl", {"id": 1, "response": "x", "reply": "y"}, {"id": 2, "reply": "y"})

    with pytest.raises(DatasetError, match="line 2: quotes cannot be verified"):
        samples_of(path, needs=SampleNeeds(response_reason="quotes cannot be verified"))
    assert len(samples_of(path)) == 2


def test_without_being_asked_for_no_row_is_taken_apart(tmp_path: Path) -> None:
    """A reply about many samples is one reply; a file that is a bundle is refused with what to add."""
    (sample,) = samples_of(write_jsonl(tmp_path / "r.jsonl", {"id": 1, "reply": json.dumps(ENTRIES)}), bundles=False)

    assert (sample.id, sample.metadata["reply"]) == ("1", json.dumps(ENTRIES))
    with pytest.raises(DatasetError, match=r"b\.json: one reply about many samples; add --bundles to take it apart"):
        samples_of(write(tmp_path / "b.json", ENTRIES), bundles=False)
