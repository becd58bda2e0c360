"""Columns of rows that any tool may write: ids, right answers, models, and groups such as `inputs.…`."""

from collections.abc import Mapping
from typing import Any

from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.samples.texts import target_texts
from mixseek.datasets.importers.samples.values import as_table, as_text


def below(row: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The columns of one kind, without their prefix."""
    return {name.removeprefix(prefix): read_cell(value) for name, value in row.items() if name.startswith(prefix)}


_IDS = ("id", "question_id", "custom_id", "example_id", "conversation_id", "uuid")
_TARGETS = (
    *("ground_truth", "target", "targets", "reference", "references", "reference_outputs", "expected"),
    *("expected_output", "expected_outputs", "expectations", "answer", "gold", "label"),
)
_MODELS = ("target_model", "model")


def common_fields(row: Mapping[str, Any], number: int, used: tuple[str, ...]) -> dict[str, Any]:
    """What a row says beside its texts; a row without an id is named by its number, as in any dataset."""
    name = next((as_text(row[key]) for key in _IDS if row.get(key) not in (None, "")), None)
    target = next((read_cell(row[key]) for key in _TARGETS if row.get(key) not in (None, "")), None)
    known = {*_IDS[:2], *_TARGETS, *_MODELS, *used, "metadata", "error", "task_name"}
    rest = {column: value for column, value in row.items() if column not in known and "." not in column}
    return {
        "question_id": name or str(number),
        "targets": target_texts(target),
        "target_model": next((as_text(row[key]) for key in _MODELS if row.get(key)), None),
        "task_name": as_text(row.get("task_name")),
        "metadata": {**as_table(read_cell(row.get("metadata"))), **rest},
    }
