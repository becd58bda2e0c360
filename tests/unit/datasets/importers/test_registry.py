"""A log is found by the names that its first bytes show: a plain row is asked of no format, and each log of its own."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.datasets.importers import log_files

import mixseek.datasets.importers
from mixseek.datasets.importers import registry
from mixseek.datasets.importers.reading import sniffing
from mixseek.datasets.importers.reading.sniffing import sniff
from mixseek.datasets.importers.registry import FORMATS, SUMMARIES, recognise, shown_formats
from mixseek.datasets.reader import open_dataset
from mixseek.errors import DatasetError

IMPORTERS = Path(mixseek.datasets.importers.__file__).parent
PLAIN: tuple[dict[str, Any], ...] = (
    {"id": "1", "question": "How many?", "response": "7", "ground_truth": "7", "target_model": "m"},
    {"question_id": "1", "prompt": "How many?", "completion": "7", "reference": "7", "model": "m", "score": 1},
    {"id": "1", "input": "How many?", "output": "7", "expected_output": "7", "metadata": {"key": "x"}},
    {"instruction": "Count.", "output": "7", "error": None, "scores": {"mine": True}, "results": [1]},
    # Words of logs, of each too few.
    {"response": "7", "custom_id": "1", "index": 1, "target": "7", "version": 2, "status": "ok", "trace_id": "t"},
)


def shown_names(path: Path) -> list[str]:
    sniffed = sniff(path)
    assert sniffed is not None
    return [getattr(shown, "name", shown.title) for shown in shown_formats(sniffed)]


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: next(iter(row)))
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "one.jsonl"])
def test_a_plain_row_is_asked_of_no_format(row: dict[str, Any], name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    texts = {"rows.jsonl": f"{json.dumps(row)}\n" * 2, "rows.json": json.dumps([row, row], indent=1)}
    path.write_text(texts.get(name, json.dumps(row)))

    assert shown_names(path) == []


def test_a_plain_table_is_asked_of_no_format(tmp_path: Path) -> None:
    path = log_files.write_table(tmp_path / "rows.csv", list(PLAIN[0]), [["1", "How many?", "7", "7", "m"]])

    assert shown_names(path) == []


@pytest.mark.parametrize("write", log_files.WRITERS, ids=lambda write: write.__name__)
def test_a_log_shows_its_own_format_and_hardly_another(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path = write(tmp_path)
    log, shown = recognise(path), shown_names(path)

    assert log is not None
    assert log.format.name in shown
    assert len(shown) <= 3


def test_a_plain_dataset_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To find out whose it is, whether it is a list, and whether one object wraps its rows."""
    looks: list[Path] = []
    look = sniffing.sniff_text

    def counted(path: Path, stream: Any) -> Any:
        looks.append(path)
        return look(path, stream)

    monkeypatch.setattr(sniffing, "sniff_text", counted)
    for name, text in {"lines.jsonl": "{}\n{}\n", "list.json": "[{}]", "wrapped.json": '{"data": [{}]}'}.items():
        (tmp_path / name).write_text(text.replace("{}", json.dumps(PLAIN[0])))
        open_dataset(str(tmp_path / name), mapping={}, spool_directory=None)

    assert [path.name for path in looks] == ["lines.jsonl", "list.json", "wrapped.json"]


def test_only_the_first_line_of_a_plain_dataset_is_read_to_recognise_it(tmp_path: Path) -> None:
    """And what a buffer holds: not a megabyte to see whether another line follows."""
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(PLAIN[0])}\n" * 20_000)
    with path.open("rb") as stream:
        sniffing.sniff_text(path, stream)
        place = stream.raw.tell()

    assert place < 300_000 < path.stat().st_size


@pytest.mark.parametrize("summary", SUMMARIES, ids=lambda summary: summary.title)
@pytest.mark.parametrize("indent", [None, 1])
def test_a_summary_without_responses_says_what_to_give(summary: Any, indent: int | None, tmp_path: Path) -> None:
    names = [name for _, name in summary.signatures[0]]
    path = tmp_path / "summary.json"
    path.write_text(json.dumps({name: {"x": 1} for name in names}, indent=indent))

    with pytest.raises(DatasetError, match=re.escape(summary.advice)):
        recognise(path)


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(IMPORTERS.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def test_a_format_touches_its_own_file_and_the_registry_only() -> None:
    """Each file below `formats` is one format, and no other file of the source names it."""
    files = [path for path in (IMPORTERS / "formats").rglob("*.py") if path.name not in ("__init__.py", "joining.py")]
    naming = [
        path
        for path in IMPORTERS.parents[1].rglob("*.py")
        if path != Path(registry.__file__)
        and IMPORTERS / "formats" not in path.parents
        and "importers.formats" in path.read_text(encoding="utf-8")
    ]

    assert len(files) == len(FORMATS) == len({log_format.name for log_format in FORMATS})
    assert [path for path in files if "\nFORMAT = " not in path.read_text(encoding="utf-8")] == []
    assert naming == []


def test_no_file_of_the_importers_has_a_heading_under_which_another_subject_begins() -> None:
    heading = re.compile(r"\n\n(?:#[^\n]*\n)+\n")

    assert [path.name for path, _ in modules() if heading.search(path.read_text(encoding="utf-8"))] == []
