"""Whatever happens to a log on its way: it gives samples, or one line that says why not."""

import contextlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.datasets.importers import log_files

from mixseek.datasets.importers.counts import LogCounts
from mixseek.datasets.importers.registry import recognise
from mixseek.errors import DatasetError

TIMES = 30
STRANGE: tuple[Any, ...] = (
    None,
    True,
    7,
    -1.5,
    "",
    "x",
    [],
    [[]],
    [None],
    {},
    {"a": None},
    ["x", {"role": 7}],
    float("nan"),
)


def read_all(path: Path) -> None:
    """Everything a caller does with a log; whatever else is raised than DatasetError is a bug."""
    counts = LogCounts()
    with contextlib.suppress(DatasetError):
        log = recognise(path)
        for row in log.rows([]) if log is not None else ():
            assert isinstance(row["id"], str)
            assert (row["response"] is None) == ("response_error" in row)
            counts.add(row, 3)


@pytest.mark.thorough
@pytest.mark.parametrize("write", log_files.WRITERS, ids=lambda write: write.__name__)
def test_bytes_that_changed_or_were_lost_never_break_a_reader(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path, rng = write(tmp_path), random.Random(7)
    whole = path.read_bytes()
    for _ in range(TIMES):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.choice(b'{}[]",:0\x00\x80ax\n ')
        path.write_bytes(data if rng.random() < 0.6 else data[: rng.randrange(len(data))])
        read_all(path)


def replaced(value: Any, rng: random.Random) -> Any:
    """The value with one of its parts, somewhere, replaced by something that nobody expects there."""
    if rng.random() < 0.25 or not isinstance(value, dict | list) or not value:
        return rng.choice(STRANGE)
    if isinstance(value, dict):
        name = rng.choice(list(value))
        return {**value, name: replaced(value[name], rng)}
    index = rng.randrange(len(value))
    return [*value[:index], replaced(value[index], rng), *value[index + 1 :]]


@pytest.mark.parametrize(
    "write",
    [write for write in log_files.WRITERS if write.__name__ not in ("promptfoo_table", "mlflow", "langsmith")],
    ids=lambda write: write.__name__,
)
def test_values_of_another_kind_than_expected_never_break_a_reader(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    path, rng = write(tmp_path), random.Random(11)
    if path.suffix == ".eval":
        path = log_files.inspect_json(tmp_path)
    is_lines = path.suffix == ".jsonl"
    text = path.read_text()
    rows = [json.loads(line) for line in text.splitlines()] if is_lines else [json.loads(text)]
    for _ in range(TIMES):
        index = rng.randrange(len(rows))
        changed = [replaced(row, rng) if number == index else row for number, row in enumerate(rows)]
        path.write_text("\n".join(json.dumps(row) for row in changed))
        read_all(path)
