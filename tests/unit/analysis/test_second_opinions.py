"""What a judgment is held against: people and other judges; in a table of the list, and row by row in a report."""

import random
from pathlib import Path

import pytest
from tests.unit.storage.material import make_run, make_sample

from mixseek.analysis.run.report import StoredRows
from mixseek.domain.judgments import InvalidJudgment, JudgedRow, Method, Status, ValidJudgment
from mixseek.domain.people import APART, PeopleVerdict
from mixseek.index.listing import ListQuery, open_list
from mixseek.storage.journal.records import encode_outcome, encode_sample

SCORES = (0.0, 0.2, 0.25, 0.5, 0.75, 1.0)
WORDS = ("low", "middle", "high")
JUDGES = ("ann", "bob", "cy")


@pytest.mark.parametrize("share", [None, *SCORES])
@pytest.mark.parametrize("score", [None, *SCORES])
@pytest.mark.parametrize("status", Status)
def test_a_judge_is_wrong_where_both_sides_are_settled_and_apart(
    status: Status, score: float | None, share: float | None
) -> None:
    people = PeopleVerdict("a word", share)
    row = JudgedRow(id="s", judge="ann", status=status, score=score, response="", people=people)

    is_known = status is Status.VALID and score is not None and share is not None
    assert (row.is_wrong is None) == (not is_known)
    if score is not None and share is not None and is_known:
        assert row.is_wrong == (abs(score - share) >= APART)


def test_a_row_without_a_label_is_neither_right_nor_wrong() -> None:
    assert JudgedRow(id="s", judge="ann", status=Status.VALID, score=1.0, response="").is_wrong is None


def test_the_table_of_a_list_and_the_rows_of_a_report_compare_judges_alike(tmp_path: Path) -> None:
    """Scores, verdicts, controls and unusable replies by lot; repeats are rows of their own."""
    rng = random.Random(5)
    lines = []
    for number in range(1, 81):
        sample = make_sample(number)
        lines.append(encode_sample(sample, sample.key()))
        for judge in JUDGES[: rng.randint(1, 3)]:
            for take in range(1, rng.choice((2, 2, 3))):
                outcome: ValidJudgment | InvalidJudgment = InvalidJudgment(())
                if rng.random() < 0.85:
                    method = Method.SELF_JUDGE if rng.random() < 0.1 else Method.CROSS_JUDGE
                    outcome = ValidJudgment(rng.choice(SCORES), rng.choice(WORDS[: rng.randint(1, 3)]), {}, method)
                lines.append(encode_outcome(sample, sample.key(), judge, outcome, take=take))
    workspace, run = make_run(tmp_path / "ws", lines, JUDGES)
    (tmp_path / "listed").mkdir()

    listed = open_list(workspace, run, tmp_path / "listed" / "listed.duckdb").page(ListQuery(), 0, 1_000)[0]
    reported = list(StoredRows(workspace, run))

    assert [(row.id, row.judge, row.take, row.judges_differ, row.differs_from) for row in listed] == [
        (row.id, row.judge, row.take, row.judges_differ, row.differs_from) for row in reported
    ]
    assert {row.judges_differ for row in listed} == {None, True, False}
    assert {len(row.differs_from) for row in listed} == {0, 1, 2}
