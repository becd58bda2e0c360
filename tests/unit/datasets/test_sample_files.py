"""Samples of a log that are written as a dataset come back as they were, in every kind of file."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.datasets.importers import log_files, trace_files

from mixseek.datasets.endings import state_of_sample
from mixseek.datasets.importers.registry import recognise
from mixseek.datasets.reader import open_dataset
from mixseek.datasets.sample_files import check_suffix, write_rows
from mixseek.domain.response_states import ResponseState
from mixseek.domain.samples import RESPONSE_ERROR, Sample
from mixseek.errors import ConfigurationError

KINDS = ["samples.jsonl", "samples.csv", "samples.parquet"]


def samples_of(path: Path) -> list[Sample]:
    dataset = open_dataset(str(path), mapping={}, spool_directory=None)
    return [sample for batch in dataset.batches(100) for sample in batch]


def write_log(folder: Path) -> Path:
    """A run with steps and contexts, one without an answer, one that failed, and one that is plain."""
    documents = ["Parcels wait in Oslo.", {"id": "d2", "text": 'A "quote",\nand a line.'}]
    rows: list[dict[str, Any]] = [
        {
            "id": "steps",
            "messages": trace_files.openai_messages(),
            "contexts": documents,
            "reference": ["54", "fifty-four"],
        },
        {"id": "open", "messages": trace_files.anthropic_messages(trace_files.ENDLESS), "metadata": {"n": 1}},
        {"id": "failed", "messages": [{"role": "user", "content": "1?"}], "error": "422"},
        {"id": "plain", "messages": [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "=2"}]},
    ]
    return log_files.write_lines(folder / "log.jsonl", rows)


@pytest.mark.parametrize("name", KINDS)
def test_a_log_and_what_was_written_of_it_are_the_same_samples(name: str, tmp_path: Path) -> None:
    log = recognise(write_log(tmp_path))
    assert log is not None
    target = tmp_path / name
    count = write_rows(log.rows([]), target)
    before, after = samples_of(log.path), samples_of(target)

    assert count == 4
    assert [sample.key() for sample in after] == [sample.key() for sample in before]
    assert [sample.steps for sample in after] == [sample.steps for sample in before]
    assert [sample.contexts for sample in after] == [sample.contexts for sample in before]
    assert [bool(sample.steps) for sample in after] == [True, True, False, False]
    assert after[0].ground_truth_alternatives == ("fifty-four",)
    # What has no answer says why, and what has one says nothing of an error.
    assert [sample.metadata.get(RESPONSE_ERROR) is not None for sample in after] == [False, True, True, False]
    states = [state_of_sample({"response": sample.response, "metadata": sample.metadata}) for sample in after]
    assert states == [ResponseState.FINISHED, None, None, ResponseState.FINISHED]


@pytest.mark.parametrize("name", KINDS)
def test_scores_of_a_log_are_there_after_it_was_written(name: str, tmp_path: Path) -> None:
    log = recognise(log_files.inspect_json(tmp_path))
    assert log is not None
    write_rows(log.rows([]), tmp_path / name)

    scores = [sample.metadata.get("scores") for sample in samples_of(tmp_path / name)]
    assert scores[0] == {"match": {"value": "C", "score": 1.0, "is_correct": True, "reason": "it matches"}}


@pytest.mark.parametrize("name", KINDS)
def test_no_rows_leave_no_file(name: str, tmp_path: Path) -> None:
    assert write_rows([], tmp_path / name) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["samples.xlsx", "samples"])
def test_another_kind_of_file_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"ends in \.jsonl, \.csv or \.parquet"):
        check_suffix(Path(name))


def test_messages_beside_a_response_are_its_steps(tmp_path: Path) -> None:
    """The conversation may end with the response, or before it; it is no metadata any more."""
    messages = trace_files.openai_messages()
    rows = [
        {"id": "a", "messages": messages, "response": trace_files.ANSWER},
        {"id": "b", "messages": messages[:-1], "response": trace_files.ANSWER, "question": "Mine?"},
        {"id": "c", "messages": messages[:1], "response": "54"},
    ]
    first, second, third = samples_of(log_files.write_lines(tmp_path / "rows.jsonl", rows))

    assert first.steps == second.steps
    assert [step.tool for step in first.steps if step.tool] == [call[0] for call in trace_files.CALLS]
    assert (first.question, second.question) == (trace_files.QUESTION, "Mine?")
    assert "messages" not in first.metadata
    # One question and one answer: nothing changes, not even the key.
    plain = samples_of(log_files.write_lines(tmp_path / "plain.jsonl", [{"id": "c", "response": "54"}]))
    assert (third.steps, third.key()) == ((), plain[0].key())
    assert third.metadata["messages"] == messages[:1]


def test_steps_of_the_row_itself_win_over_its_messages(tmp_path: Path) -> None:
    steps = [{"role": "user", "text": "Hi?"}, {"tool": "look_up", "result": "7"}, {"role": "assistant", "text": "7"}]
    row = {"id": "a", "messages": trace_files.openai_messages(), "response": "7", "steps": json.dumps(steps)}
    (sample,) = samples_of(log_files.write_lines(tmp_path / "rows.jsonl", [row]))

    assert [step.tool for step in sample.steps] == [None, "look_up", None]
