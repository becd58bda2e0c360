"""Each row finds its own rubric, or says what there is."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from tests.unit.storage.material import write_jsonl

from mixseek.datasets.attachments import RowRequirements
from mixseek.datasets.reader import Dataset, open_dataset
from mixseek.datasets.rubric_files import RubricDirectory
from mixseek.domain.samples import Sample, SampleNeeds
from mixseek.errors import ConfigurationError, DatasetError

TEA = "task_type: creative\n\n## 加点項目\n- 湯気の描写がある\n"
TOWER = "---\ntask_name: tower-facts\ntask_type: fact\n---\n## 加点項目\n- 高さが正しい\n"
TYPES = ("fact", "creative", "speculative")
PLAIN = "## 加点項目\n- 三つの論点がある\n"


@pytest.fixture
def rubrics(tmp_path: Path) -> Path:
    directory = tmp_path / "tasks"
    directory.mkdir()
    (directory / "tea.md").write_text(TEA, encoding="utf-8")
    (directory / "tower.md").write_text(TOWER, encoding="utf-8")
    (directory / "README.md").write_text("How these were written.")
    (directory / "notes.csv").write_text("a,b")
    return directory


def dataset_of(tmp_path: Path, rubric: Path | None, *rows: dict[str, Any]) -> Dataset:
    rubrics = RubricDirectory(rubric) if rubric else None
    path = write_jsonl(tmp_path / "d.jsonl", *({"id": n, "response": "x", **row} for n, row in enumerate(rows, 1)))
    requirements = RowRequirements("rubric", SampleNeeds(rubric=True, task_types=TYPES), rubrics=rubrics)
    return open_dataset(str(path), mapping={}, spool_directory=None, requirements=requirements)


def samples_of(dataset: Dataset) -> list[Sample]:
    dataset.survey()
    return [sample for batch in dataset.batches(10) for sample in batch]


def test_rows_find_their_rubric_by_file_name_or_by_its_own_name(tmp_path: Path, rubrics: Path) -> None:
    names = [{"task_name": "tea"}, {"task_name": "tower"}, {"task_name": "tower-facts"}]
    samples = samples_of(dataset_of(tmp_path, rubrics, *names))

    assert [sample.rubric for sample in samples] == [TEA, TOWER, TOWER]
    assert [sample.task_type for sample in samples] == ["creative", "fact", "fact"]
    assert [sample.task_name for sample in samples] == ["tea", "tower", "tower-facts"]


def test_one_file_serves_rows_that_name_no_task(tmp_path: Path, rubrics: Path) -> None:
    """And gives them its name, so that reports can group by it."""
    samples = samples_of(dataset_of(tmp_path, rubrics / "tower.md", {}, {"task_name": "tower-facts"}))

    assert [(sample.rubric, sample.task_name) for sample in samples] == [(TOWER, "tower-facts")] * 2


def test_a_file_without_a_name_of_its_own_serves_every_row(tmp_path: Path) -> None:
    (tmp_path / "any.md").write_text(PLAIN, encoding="utf-8")

    samples = samples_of(dataset_of(tmp_path, tmp_path / "any.md", {"task_name": "debate"}, {}))

    assert [(sample.rubric, sample.task_name) for sample in samples] == [(PLAIN, "debate"), (PLAIN, "any")]
    assert [sample.task_type for sample in samples] == [None, None]


def test_a_row_may_bring_its_own(tmp_path: Path, rubrics: Path) -> None:
    """As text or as a path from the dataset; both win over --rubric."""
    rows = [{"task_name": "tea", "rubric": PLAIN}, {"rubric_path": "tasks/tower.md"}]

    samples = samples_of(dataset_of(tmp_path, rubrics, *rows))

    assert [sample.rubric for sample in samples] == [PLAIN, TOWER]
    assert [sample.task_name for sample in samples] == ["tea", "tower-facts"]


def test_the_rubrics_are_part_of_what_the_run_is(tmp_path: Path, rubrics: Path) -> None:
    """Those that were used; a change in another one changes nothing."""
    before = dataset_of(tmp_path, rubrics, {"task_name": "tea"}).description
    (rubrics / "tower.md").write_text(PLAIN)
    same = dataset_of(tmp_path, rubrics, {"task_name": "tea"}).description
    (rubrics / "tea.md").write_text(TEA + "- 季語がある\n", encoding="utf-8")
    other = dataset_of(tmp_path, rubrics, {"task_name": "tea"}).description

    assert before["rubrics"] == {"tea.md": hashlib.sha256(TEA.encode()).hexdigest()}
    assert same == before
    assert other["sha256"] != before["sha256"]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no such task": (
        {"task_name": "coffee"},
        "no rubric for the task 'coffee' in {shelf}; there is tea, tower-facts, tower; add coffee.md",
    ),
    "no task": ({}, "row has no `task_name`, so none of the rubrics in {shelf} is known to be its own"),
    "other type": (
        {"task_name": "tea", "task_type": "fact"},
        "`task_type` is 'fact' and its rubric says 'creative'; correct one of them",
    ),
    "unknown type in a column": ({"rubric": "task_type: poem\n- x"}, "unknown task_type 'poem'"),
    "twice": ({"rubric": "x", "rubric_path": "y.md"}, "both `rubric` and `rubric_path` are given"),
    "no such file": ({"rubric_path": "y.md"}, "`rubric_path` 'y.md': no such file"),
}


@pytest.mark.parametrize(("row", "message"), WRONG.values(), ids=list(WRONG))
def test_a_row_without_a_usable_rubric_is_named(
    tmp_path: Path, rubrics: Path, row: dict[str, Any], message: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        dataset_of(tmp_path, rubrics, {"task_name": "tea"}, row).survey()

    assert f"line 2: {message.format(shelf=rubrics)}" in str(caught.value) or message in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'd.jsonl'}: line 2: ")


def test_without_any_rubric_the_three_ways_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        dataset_of(tmp_path, None, {"task_name": "tea"}).survey()

    assert "line 1: row has no rubric" in str(caught.value)
    assert all(way in str(caught.value) for way in ("--rubric DIR", "column `rubric`", "`rubric_path`"))


def test_a_shelf_that_cannot_serve_is_refused_at_once(tmp_path: Path, rubrics: Path) -> None:
    """Before a row is read."""
    (tmp_path / "empty").mkdir()
    (rubrics / "again.md").write_text(TOWER, encoding="utf-8")
    (tmp_path / "blank.md").write_text(" \n")
    said = {
        tmp_path / "empty": "holds no rubrics",
        tmp_path / "no": "no such file or directory",
        rubrics: "again.md and tower.md are both for the task 'tower-facts'",
        tmp_path / "blank.md": "the rubric is empty",
    }
    for path, words in said.items():
        with pytest.raises(ConfigurationError) as caught:
            RubricDirectory(path)
        assert words in str(caught.value)
