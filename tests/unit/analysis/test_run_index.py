"""Counts for a report, and rows to look at."""

from pathlib import Path
from typing import Any

from tests.unit.storage.material import (
    CORRECT,
    INCORRECT,
    INVALID,
    MISSING,
    OUTCOMES,
    UNDECIDED,
    JudgeTotals,
    judged_lines,
    make_run,
    make_sample,
    totals_of,
)

from mixseek.domain.counts import FlagCount, OutcomeCount, ReasonCount, RuleCount
from mixseek.domain.judgments import (
    Finding,
    Flag,
    InvalidJudgment,
    Method,
    Missing,
    Outcome,
    Span,
    Status,
    Undecided,
    ValidJudgment,
)
from mixseek.index.run import RunIndex, open_run_index
from mixseek.index.totals import read_totals
from mixseek.storage.workspace import RunDirectory

HALF = ValidJudgment(0.5, "partial", {}, Method.CROSS_JUDGE)


def build(tmp_path: Path, *outcomes: Outcome, **changes: str) -> "tuple[Path, list[bytes]]":
    lines = [
        line
        for number, outcome in enumerate(outcomes, 1)
        for line in judged_lines(make_sample(number, **changes), {"rules": outcome})
    ]
    return tmp_path, lines


def whole(run: RunDirectory) -> tuple[tuple[int, ...], float | None]:
    """Each sample by the judge that had the last word."""
    totals = read_totals(run)
    assert totals is not None
    return tuple(totals.counts.values()), totals.mean_score


def test_totals_count_every_end_and_average_valid_scores_only(tmp_path: Path) -> None:
    """An invalid judgment is no zero."""
    workspace, run = make_run(*build(tmp_path, *OUTCOMES, CORRECT, INCORRECT))

    with open_run_index(workspace, run) as index:
        assert totals_of(index) == [JudgeTotals("rules", 4, 1, 1, 1, 0.5)]
    assert whole(run) == ((4, 1, 1, 1), 0.5)


def test_totals_of_nothing_are_none(tmp_path: Path) -> None:
    """No row, no mean; a run without valid judgments has counts but no mean."""
    workspace, run = make_run(tmp_path / "a", [])
    with open_run_index(workspace, run) as index:
        assert (totals_of(index), index.counts(OutcomeCount, final_only=False)) == ([], [])
    assert whole(run) == ((0, 0, 0, 0), None)

    workspace, run = make_run(*build(tmp_path / "b", UNDECIDED))
    with open_run_index(workspace, run) as index:
        assert totals_of(index) == [JudgeTotals("rules", 0, 0, 1, 0, None)]


def test_judges_come_in_the_order_of_the_manifest(tmp_path: Path) -> None:
    """Not by name; a cascade counts each sample once, by its last judge."""
    lines = judged_lines(make_sample(1), {"zeta": UNDECIDED, "alpha": CORRECT})
    lines += judged_lines(make_sample(2), {"zeta": INCORRECT})
    workspace, run = make_run(tmp_path, lines, ("zeta", "alpha"), cascade=True)

    with open_run_index(workspace, run) as index:
        assert [total.judge for total in totals_of(index)] == ["zeta", "alpha"]
        assert whole(run) == ((2, 0, 0, 0), 0.5)
        assert {(cell.judge, cell.verdict) for cell in index.counts(OutcomeCount, final_only=True)} == {
            ("zeta", "incorrect"),
            ("alpha", "correct"),
        }
        assert len(index.counts(OutcomeCount, final_only=False)) == 3


def test_outcomes_are_counted_by_task_status_verdict_and_error_type(tmp_path: Path) -> None:
    """With sums from which means and intervals can be made; samples without a task come last."""
    lines = [
        *judged_lines(make_sample(1, task_name="b"), {"rules": CORRECT}),
        *judged_lines(make_sample(2, task_name="b"), {"rules": CORRECT}),
        *judged_lines(make_sample(3, task_name="a"), {"rules": INCORRECT}),
        *judged_lines(make_sample(4, task_name=None), {"rules": HALF}),
        *judged_lines(make_sample(5, task_name="a"), {"rules": MISSING}),
    ]
    workspace, run = make_run(tmp_path, lines)

    with open_run_index(workspace, run) as index:
        assert index.counts(OutcomeCount, final_only=False) == [
            OutcomeCount("rules", "a", Status.MISSING, None, None, 1, 0.0, 0.0),
            OutcomeCount("rules", "a", Status.VALID, "incorrect", "wrong_logic", 1, 0.0, 0.0),
            OutcomeCount("rules", "b", Status.VALID, "correct", "none", 2, 2.0, 2.0),
            OutcomeCount("rules", None, Status.VALID, "partial", None, 1, 0.5, 0.25),
        ]


def test_rules_flags_reasons_and_lengths_are_counted(tmp_path: Path) -> None:
    """A rule that stands twice in a trace counts once."""
    twice = Undecided("two answers", ("final_line", "final_line"))
    workspace, run = make_run(*build(tmp_path, CORRECT, CORRECT, INVALID, UNDECIDED, twice, MISSING, response="12345"))

    with open_run_index(workspace, run) as index:
        assert index.counts(RuleCount) == [
            RuleCount("rules", "answer_is", Status.VALID, 2, 2.0),
            RuleCount("rules", "final_line", Status.UNDECIDED, 2, 0.0),
            RuleCount("rules", "option_letter", Status.VALID, 2, 2.0),
        ]
        assert index.counts(FlagCount) == [
            FlagCount("rules", Flag.INCOMPLETE_COVERAGE, "comment is absent", 1),
            FlagCount("rules", Flag.UNPARSABLE_OUTPUT, "no JSON object in the reply", 1),
        ]
        assert index.counts(ReasonCount) == [
            ReasonCount("rules", Status.UNDECIDED, "two answers", 2),
            ReasonCount("rules", Status.MISSING, "no recorded reply", 1),
        ]


def test_one_reason_told_of_several_values_is_counted_once(tmp_path: Path) -> None:
    """As the summary of a run does; the words are those of the first."""
    told = [
        InvalidJudgment((Finding(Flag.INTERNAL_INCONSISTENCY, f'it says "{word}", not {n}'),))
        for n, word in enumerate("abc")
    ]
    missing = [Missing(f"HTTP 500 after {n} tries") for n in (1, 2)]
    workspace, run = make_run(*build(tmp_path, *told, *missing))

    with open_run_index(workspace, run) as index:
        assert index.counts(FlagCount) == [FlagCount("rules", Flag.INTERNAL_INCONSISTENCY, 'it says "a", not 0', 3, 3)]
        assert index.counts(ReasonCount) == [ReasonCount("rules", Status.MISSING, "HTTP 500 after 1 tries", 2, 2)]


def test_a_row_carries_everything_needed_to_check_it(tmp_path: Path) -> None:
    """Sample, outcome and the last reply."""
    sample = make_sample(1, ground_truth_alternatives=("B", "b"), target_model="m", question_id="q", prompt_variant="p")
    workspace, run = make_run(tmp_path, judged_lines(sample, {"rules": INCORRECT}, reply="raw"))

    with open_run_index(workspace, run) as index:
        (row,) = index.find_sample("s1")

    assert (row.id, row.judge, row.status, row.verdict, row.score) == ("s1", "rules", Status.VALID, "incorrect", 0.0)
    assert (row.is_correct, row.extracted_answer, row.error_type) == (False, "C", "wrong_logic")
    assert (row.reasoning_score, row.comment, row.method, row.raw_reply) == (2, "another letter", "cross_judge", "raw")
    assert (row.question, row.response, row.ground_truth) == (sample.question, sample.response, "(B)")
    assert (row.ground_truth_alternatives, row.target_model, row.question_id) == (("B", "b"), "m", "q")
    assert (row.prompt_variant, row.task_name, row.repairs) == ("p", "task_1", ("code_fence",))


def test_undecided_and_invalid_rows_say_why(tmp_path: Path) -> None:
    """What was found so far, and the flags in order."""
    workspace, run = make_run(*build(tmp_path, UNDECIDED, INVALID))

    with open_run_index(workspace, run) as index:
        undecided, invalid = index.rows()

    assert (undecided.reason, undecided.extracted_answer, undecided.span) == ("two answers", "B or C", Span(0, 3))
    assert [(finding.flag, finding.detail) for finding in invalid.flags] == [
        (Flag.UNPARSABLE_OUTPUT, "no JSON object in the reply"),
        (Flag.INCOMPLETE_COVERAGE, "comment is absent"),
    ]


def ids(index: RunIndex, **query: Any) -> list[str]:
    return [row.id for row in index.rows(**query)]


def test_rows_are_chosen_by_status_and_number_in_the_order_of_the_dataset(tmp_path: Path) -> None:
    """And, within a sample, in the order of the judges."""
    outcomes: list[Outcome] = [CORRECT, MISSING, HALF, INCORRECT, UNDECIDED]
    lines = [
        line
        for number, outcome in enumerate(outcomes, 1)
        for line in judged_lines(make_sample(number, response="x" * (number % 3)), {"a": outcome, "b": CORRECT})
    ]
    workspace, run = make_run(tmp_path, lines, ("a", "b"))

    with open_run_index(workspace, run) as index:
        assert [row.id for row in index.rows() if row.judge == "a"] == ["s1", "s2", "s3", "s4", "s5"]
        assert ids(index, limit=3) == ["s1", "s1", "s2"]
        assert ids(index, status=Status.VALID) == ["s1", "s1", "s2", "s3", "s3", "s4", "s4", "s5"]
        assert ids(index, status=Status.MISSING, limit=1) == ["s2"]
        assert ids(index, status=Status.INVALID) == []


def test_a_limit_per_kind_takes_the_same_rows_every_time(tmp_path: Path) -> None:
    """Low and high scores are kinds of their own; the rows still come in dataset order."""
    outcomes: list[Outcome] = [CORRECT, INCORRECT, UNDECIDED, INVALID, MISSING] * 6
    workspace, run = make_run(*build(tmp_path, *outcomes))

    with open_run_index(workspace, run) as index:
        rows = list(index.rows(limit_per_kind=2))
        again = list(index.rows(limit_per_kind=2))

    assert rows == again
    kinds = [(row.status, row.score) for row in rows]
    assert all(kinds.count(kind) == 2 for kind in kinds)
    assert len(rows) == 10
    numbers = [int(row.id[1:]) for row in rows]
    assert numbers == sorted(numbers)


def test_more_rows_than_a_page_come_complete_and_in_order(tmp_path: Path) -> None:
    """Pages are nobody's business."""
    workspace, run = make_run(*build(tmp_path, *[CORRECT] * 1_203))

    with open_run_index(workspace, run) as index:
        assert ids(index) == [f"s{number}" for number in range(1, 1_204)]


def test_a_sample_is_found_by_id_under_every_judge(tmp_path: Path) -> None:
    """And ids that were nearly right are offered."""
    lines = [
        line for number in range(1, 30) for line in judged_lines(make_sample(number), {"a": CORRECT, "b": UNDECIDED})
    ]
    workspace, run = make_run(tmp_path, lines, ("b", "a"))

    with open_run_index(workspace, run) as index:
        assert [(row.id, row.judge) for row in index.find_sample("s7")] == [("s7", "b"), ("s7", "a")]
        assert index.find_sample("x7") == []
        assert index.similar_ids("x7", limit=1) == ["s7"]
