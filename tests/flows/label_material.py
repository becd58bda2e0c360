"""Answers that rules judge with a bias that is planted here, and people who fill in sheets."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.flows.running import mixseek_here, write_jsonl

# The rules go by ground truths, and some of those are wrong: people know better. 80% are judged correct.
TRUE_SHARE = 0.8 * 0.8 + 0.2 * 0.1


def answers(count: int = 500, **extra: Callable[[int], Any]) -> list[dict[str, Any]]:
    """Every fifth is judged incorrect; which of them people call right is `is_right`."""
    return [
        {
            "id": f"answer {n}",
            "question": f"What is {n} + {n + 1}?",
            "response": f"The answer is {2 * n + (1 if n % 5 else 2)}.",
            "ground_truth": str(2 * n + 1),
            "task_name": ("small", "large")[n % 2],
            **{name: value(n) for name, value in extra.items()},
        }
        for n in range(count)
    ]


def is_right(number: int) -> bool:
    """Of what is judged correct a fifth is wrong, of the rest a tenth is right."""
    place = number // 5
    return place % 10 == 0 if number % 5 == 0 else (place * 4 + number % 5) % 5 != 0


def judge_answers(place: Path, rows: list[dict[str, Any]], run: str = "r", name: str = "answers.jsonl") -> None:
    write_jsonl(place / name, rows)
    done = mixseek_here("judge", name, "--judge", "rules", "-w", "ws", "--run", run, "-q", cwd=place)
    assert done.returncode == 0, done.stderr


def read_sheet(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def fill(
    source: Path, target: Path, label: Callable[[Mapping[str, str]], str], *, delimiter: str = ",", end: str = "\r\n"
) -> Path:
    """Somebody opens a sheet, writes into its column `label`, and saves it in the way of some spreadsheet."""
    rows = read_sheet(source)
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, list(rows[0]), delimiter=delimiter, lineterminator=end)
    writer.writeheader()
    writer.writerows({**row, "label": label(row)} for row in rows)
    target.write_bytes(table.getvalue().encode("utf-8-sig"))
    return target


def number_of(row: Mapping[str, str]) -> int:
    return int(row["id"].rpartition(" ")[2])


def know_better(row: Mapping[str, str]) -> str:
    """What is true, whatever the ground truth says."""
    return "correct" if is_right(number_of(row)) else "incorrect"


def label(place: Path, *arguments: str) -> dict[str, Any]:
    """The answer of a `label` command; fails where it does."""
    done = mixseek_here("label", *arguments, "-w", "ws", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def corrected(place: Path, run: str = "r") -> dict[str, Any]:
    """The corrected headline in the report of a run."""
    done = mixseek_here("report", run, "-w", "ws", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["corrected"]
    return found
