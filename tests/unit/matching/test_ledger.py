"""The ledger counts what each rule decided; tests/flows/test_real_files.py holds every rule to its floor."""

import json
from pathlib import Path

import pytest
from bench.accuracy import (
    ENOUGH,
    FOLDS,
    RULE_FLOOR,
    SOURCES,
    Count,
    Entry,
    Row,
    below_the_floor,
    deciding_rule,
    judge_file,
    ledger,
    place,
    with_rare_together,
)


def _row(label: bool, verdict: bool | None, *rules: str, key: str = "q") -> Row:
    return Row("own", key, "high", label, verdict, rules)


def test_each_rule_is_counted_under_each_verdict() -> None:
    """Undecided rows are nobody's decision; the most used rule comes first."""
    rows = [
        *[_row(True, True, "text", "contained", key=f"q{number}") for number in range(6)],
        _row(False, True, "text", "contained"),
        _row(True, False, "reasoning_dropped", "option", "answer_cue", "option_label"),
        _row(False, False, "option", "boxed", "option_label"),
        _row(True, None, "text", "no_rule"),
    ]
    entries = ledger(rows, deciding_rule)

    assert [(entry.rule, entry.verdict, entry.count) for entry in entries] == [
        ("text: contained", "correct", Count(7, 6)),
        ("option: option_label", "incorrect", Count(2, 1)),
    ]
    assert [place(row) for row in rows[6:]] == ["", "answer_cue", "boxed", ""]


def test_folds_keep_the_rows_of_a_question_together() -> None:
    """All decisions are in a fold, and those about one question in the same."""
    rows = [_row(number % 2 == 0, True, "text", "contained", key=f"q{number // 2}") for number in range(80)]
    (entry,) = ledger(rows, deciding_rule)

    assert len(entry.folds) == FOLDS
    assert sum(fold.decisions for fold in entry.folds) == entry.count.decisions
    assert all(fold.right * 2 == fold.decisions for fold in entry.folds)


def test_the_lower_bound_is_wilsons() -> None:
    """Two values from a published table of the interval, and the ends."""
    assert Count(10, 9).lower_bound == pytest.approx(0.5958, abs=1e-4)
    assert Count(263, 81).lower_bound == pytest.approx(0.2553, abs=1e-4)
    assert Count(0, 0).lower_bound == 0.0


def test_enough_is_where_a_rule_without_mistakes_proves_itself() -> None:
    """One decision fewer, and even a perfect record has a bound below the floor."""
    assert Count(ENOUGH, ENOUGH).lower_bound >= RULE_FLOOR
    assert Count(ENOUGH - 1, ENOUGH - 1).lower_bound < RULE_FLOOR


@pytest.mark.parametrize(
    ("count", "standing"),
    [
        (Count(1_000, 985), "holds"),
        (Count(1_000, 984), "**below**"),
        (Count(ENOUGH - 1, 0), "too few decisions to say"),
    ],
)
def test_a_rule_stands_or_falls_by_its_share(count: Count, standing: str) -> None:
    """And says so when there is too little to say."""
    assert Entry("text: contained", "correct", count, ()).standing == standing


def test_rare_rules_are_held_to_the_floor_together() -> None:
    """Twenty small rules that are often wrong cannot hide behind their size."""
    rare = [Entry(f"text: rule_{number}", "incorrect", Count(40, 38), ()) for number in range(20)]
    other = [Entry("option: label", "correct", Count(40, 1), ())]
    entries = with_rare_together([*rare, *other])

    assert entries[-1].count == Count(800, 760)
    assert below_the_floor(entries) == ["text: all with too few → both"]


def test_the_readme_shows_the_table_with_its_floors() -> None:
    """Every source, with the floor it is held to, and the command that prints it."""
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    shown = [line.strip("| ").split(" | ") for line in readme.splitlines() if line.count("% |") >= 2]

    assert [(source.title, source.floor) for source in SOURCES] == [(row[0], row[-1]) for row in shown]
    assert "`mixseek judge FILE --judge rules`" in readme


def test_a_file_is_judged_by_the_installed_command(tmp_path: Path) -> None:
    """Verdicts and rules come from the export of a run; labels from the file."""
    rows = [
        {"id": "a", "question": "How much is 40 + 2?", "response": "The answer is 42.", "ground_truth": "42"},
        {"id": "b", "question": "Who built it?", "response": "Somebody from Penrill.", "ground_truth": "Ada Marsh"},
    ]
    labels = {"label": True, "label_confidence": "high", "split_key": "q1"}
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(row | labels) + "\n" for row in rows), encoding="utf-8")
    judged = judge_file(path, tmp_path)

    assert judged == [
        Row("own", "q1", "high", True, True, ("number", "answer_cue", "single_number")),
        Row("own", "q1", "high", True, None, ("text", "no_rule")),
    ]
