"""Logs of other tools as rows of ours: every shape, from files that were written here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import Seen, rows_of, seen

from mixseek.datasets.importers.registry import recognise

# What each writer's log has to give: the format's name, then every sample.
EXPECTED: dict[Callable[[Path], Path], tuple[str, list[Seen]]] = {
    **dict.fromkeys(
        (log_files.inspect_json, log_files.inspect_deflated, log_files.inspect_zstandard),
        (
            "inspect",
            [
                ("a", "So the answer is 7.", "7", {"match": True}),
                ("a#2", None, "7", {}),
                ("b", "So the answer is 7.", "7", {"match": "unreadable"}),
                ("b#2", "So the answer is 7.", "7", {"match": "graded"}),
            ],
        ),
    ),
    log_files.lm_eval: (
        "lm_eval",
        [
            ("q0", "It is 7.", "7", {"exact_match,strict": False, "exact_match,none": True}),
            ("q0#2", "It is 8.", "7", {}),
            ("q1", "It is 7.", "7", {"exact_match,strict": False, "exact_match,none": True}),
            ("q1#2", "It is 8.", "7", {}),
        ],
    ),
    log_files.lm_eval_choices: ("lm_eval", [("q0", "blue", "blue", {"exact_match,none": True})]),
    log_files.helm: ("helm", [("h1", "B", "B", {"exact_match": True}), ("h2", None, "B", {})]),
    log_files.evalscope: (
        "evalscope",
        [("0", "B", "B", {"acc": "unreadable"}), ("0#2", "B", "B", {"acc": True}), ("1", "B", "B", {"acc": True})],
    ),
    **dict.fromkeys(
        (log_files.promptfoo_json, log_files.promptfoo_lines),
        (
            "promptfoo",
            [
                ("count@0", "It is 7.", "7", {"agrees": True, "promptfoo": True}),
                ("count@1", None, "7", {}),
                ("count@0#2", "It is 7.", "7", {"agrees": True, "promptfoo": True}),
                ("count@1#2", "It is 7.", "7", {"agrees": True, "promptfoo": True}),
            ],
        ),
    ),
    log_files.promptfoo_table: (
        "promptfoo",
        [
            ("count@0", "It is 7.", "7", {"agrees": True, "promptfoo": True}),
            ("count@1", None, "7", {}),
            ("count@0#2", "It is 7.", "7", {"agrees": True, "promptfoo": True}),
            ("count@1#2", "It is 8.", "7", {"agrees": "unreadable", "promptfoo": "unreadable"}),
        ],
    ),
    log_files.deepeval: (
        "deepeval",
        [("count", "It is 7.", "7", {"Right [GEval]": True, "Exact Match": "unreadable"})],
    ),
    log_files.openai_chat: (
        "openai_batch",
        [("r1", "7", None, {}), ("r2", "I will not.", None, {}), ("r3", None, None, {})],
    ),
    log_files.openai_responses: ("openai_batch", [("r1", "7", None, {}), ("r2", None, None, {})]),
    log_files.anthropic: ("anthropic_batch", [("r1", "7", None, {}), ("r2", None, None, {}), ("r3", None, None, {})]),
    log_files.gemini: ("gemini_batch", [("r1", "7", None, {}), ("r2", None, None, {})]),
    log_files.mt_bench: (
        "fastchat",
        [
            ("81@model-x", "It is 7.", None, {"gpt-4": "graded"}),
            ("81.turn2@model-x", "Yes.", None, {"gpt-4": "unreadable"}),
        ],
    ),
    log_files.mt_bench_pair: (
        "fastchat",
        [
            ("0@m2 vs m1", "It is 7.", None, {"gpt-4": True}),
            ("1@m2 vs m1", "It is 7.", None, {"gpt-4": "graded"}),
            ("2@m2 vs m1", "It is 7.", None, {"gpt-4": "unreadable"}),
        ],
    ),
    log_files.mlflow: (
        "mlflow",
        [
            ("tr-1", "It's 7.", "7", {"contains": True, "right": True}),
            ("tr-2", "It's 7.", "7", {"contains": False, "right": "unreadable"}),
            ("tr-3", None, "7", {}),
        ],
    ),
    log_files.langsmith: ("langsmith", [("e1", "7", "7", {"exact": True}), ("e1#2", None, "7", {})]),
    log_files.chat: ("chat", [("c1", "7", "7", {}), ("c2", None, "7", {})]),
    log_files.inputs_outputs: ("inputs_outputs", [("1", "7", "7", {}), ("2", None, "7", {})]),
}


@pytest.mark.parametrize("write", EXPECTED, ids=lambda write: write.__name__)
def test_a_log_gives_its_samples_with_ids_responses_targets_and_scores(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = write(tmp_path)
    log = recognise(path)
    name, samples = EXPECTED[write]

    assert log is not None
    assert log.format.name == name
    assert [seen(row) for row in log.rows([])] == samples


@pytest.mark.parametrize("write", log_files.WRITERS, ids=lambda write: write.__name__)
def test_a_log_is_recognised_by_its_content_whatever_it_is_called(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    """CSV alone needs its suffix: any text is a table of one column."""
    path = write(tmp_path)
    named, log = path.with_name("data.csv" if path.suffix == ".csv" else "data.log"), recognise(path)
    path.rename(named)
    other = recognise(named)

    assert log is not None
    assert other is not None
    assert other.format.name == log.format.name


@pytest.mark.parametrize("write", log_files.WRITERS, ids=lambda write: write.__name__)
def test_a_sample_without_a_response_says_why_and_no_other_does(write: Callable[[Path], Path], tmp_path: Path) -> None:
    rows = rows_of(write(tmp_path))

    assert rows
    assert all((row["response"] is None) == ("response_error" in row) for row in rows)


PLAIN = (
    {"id": "1", "question": "How many?", "response": "7", "ground_truth": "7"},
    {"id": "1", "input": "How many?", "output": "7", "target": "7"},
    {"id": "1", "messages": [{"role": "user", "content": "How many?"}], "response": "7", "ground_truth": "7"},
    {"id": "1", "response": "7", "ground_truth": "7", "scores": {"own": 1}, "error": None},
)


@pytest.mark.parametrize("row", PLAIN, ids="-".join)
@pytest.mark.parametrize("count", [1, 2])
def test_a_plain_dataset_is_no_log(row: dict[str, Any], count: int, tmp_path: Path) -> None:
    rows = [{**row, "id": str(number)} for number in range(count)]

    assert recognise(log_files.write_lines(tmp_path / "plain.jsonl", rows)) is None
    assert recognise(log_files.write_json(tmp_path / "plain.json", rows)) is None
