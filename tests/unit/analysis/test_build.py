"""The report's data: scores over valid judgments only, and everything else counted beside them."""

from dataclasses import replace

import pytest
from tests.cases import each
from tests.unit.reports.counting import count_rows

from mixseek.analysis.run.build import ReportInput, build_report, in_order
from mixseek.analysis.run.model import Detail, RunHeader, Tone, tone_of
from mixseek.analysis.run.report_data import ReportData
from mixseek.domain.counts import FlagCount, ReasonCount, StatusCounts
from mixseek.domain.judgments import Finding, Flag, JudgedRow, Status
from mixseek.reports.wording.scores import control_sentence
from mixseek.stats.intervals import Bounds, wilson_interval

RUN = RunHeader("run-1", "semantic", "1.0", "abcdef0123456789", "answers.jsonl", samples=10)


def correct(name: str, **changes: object) -> JudgedRow:
    row = JudgedRow(
        id=name, judge="rules", status=Status.VALID, response="It is B.", verdict="correct", score=1.0,
        error_type="none", task_name="logic", rules=("final-line", "option:letter"),
    )  # fmt: skip
    return replace(row, **changes)  # type: ignore[arg-type]  # a test's shorthand for any field


def incorrect(name: str, **changes: object) -> JudgedRow:
    return correct(name, **{"verdict": "incorrect", "score": 0.0, "error_type": "wrong_logic", **changes})


def unscored(name: str, status: Status, **changes: object) -> JudgedRow:
    fields = {"status": status, "verdict": None, "score": None, "error_type": None, "rules": ("declined",)}
    return correct(name, **{**fields, **changes})


def report_of(*rows: JudgedRow) -> ReportData:
    return build_report(count_rows(RUN, {}, rows))


MIXED = (
    correct("a"),
    correct("b"),
    incorrect("c"),
    correct("d", task_name="arithmetic"),
    unscored("e", Status.UNDECIDED, reason="two options are named"),
    unscored("f", Status.INVALID, flags=(Finding(Flag.UNPARSABLE_OUTPUT, "no JSON object"),), task_name=None),
    unscored("g", Status.MISSING, reason="no recorded reply"),
)


def test_unscored_samples_never_enter_the_mean() -> None:
    score = report_of(*MIXED).judges[0].score

    assert score.counts == StatusCounts(valid=4, undecided=1, invalid=1, missing=1)
    assert score.mean == 0.75
    assert score.interval == wilson_interval(3, 4)


def test_unscored_samples_widen_the_bounds() -> None:
    assert report_of(*MIXED).judges[0].score.bounds == Bounds(3 / 7, 6 / 7)


def test_verdicts_run_from_best_to_worst_and_share_the_valid_ones() -> None:
    verdicts = report_of(*MIXED).judges[0].verdicts

    assert [(tally.name, tally.count, tally.share, tally.tone) for tally in verdicts] == [
        ("correct", 3, 0.75, Tone.GOOD),
        ("incorrect", 1, 0.25, Tone.BAD),
    ]


def test_error_types_run_from_most_to_least_frequent() -> None:
    error_types = report_of(*MIXED).judges[0].error_types

    assert [(tally.name, tally.count, tally.share) for tally in error_types] == [
        ("none", 3, 0.75),
        ("wrong_logic", 1, 0.25),
    ]


def test_tasks_are_sorted_by_name_and_the_nameless_come_last() -> None:
    tasks = report_of(*MIXED).judges[0].tasks

    assert [(item.name, item.score.mean, item.score.counts) for item in tasks] == [
        ("arithmetic", 1.0, StatusCounts(valid=1)),
        ("logic", 2 / 3, StatusCounts(valid=3, undecided=1, missing=1)),
        (None, None, StatusCounts(invalid=1)),
    ]


def test_rules_are_counted_with_what_became_of_their_samples() -> None:
    rules = report_of(*MIXED).judges[0].rules

    assert [(usage.rule, usage.count, usage.valid, usage.mean, usage.undecided) for usage in rules] == [
        ("final-line", 4, 4, 0.75, 0),
        ("option:letter", 4, 4, 0.75, 0),
        ("declined", 3, 0, None, 1),
    ]


def test_flags_and_reasons_carry_their_details() -> None:
    judge = report_of(*MIXED).judges[0]

    assert [(flag.kind, flag.count, flag.details) for flag in judge.flags] == [
        (Flag.UNPARSABLE_OUTPUT, 1, (Detail("no JSON object", 1),))
    ]
    assert [(reason.kind, reason.details) for reason in judge.reasons] == [
        (Status.UNDECIDED, (Detail("two options are named", 1),)),
        (Status.MISSING, (Detail("no recorded reply", 1),)),
    ]


def test_only_the_most_frequent_wordings_are_kept_but_all_are_counted() -> None:
    source = ReportInput(
        RUN,
        {},
        outcomes=count_rows(RUN, {}, MIXED).outcomes,
        rows=(),
        flags=[FlagCount("rules", Flag.PROTOCOL_VIOLATION, f"wording {n}", n) for n in range(1, 9)],
        reasons=[ReasonCount("rules", Status.UNDECIDED, f"reason {n}", 1) for n in range(3)],
    )

    judge = build_report(source).judges[0]

    flag = judge.flags[0]
    assert (flag.count, flag.details_total, [detail.count for detail in flag.details]) == (36, 8, [8, 7, 6, 5, 4])
    assert judge.reasons[0].details_total == 3


def test_one_reason_of_several_wordings_is_one_line_with_an_example() -> None:
    flagged = [
        replace(
            MIXED[0], id=str(n), status=Status.INVALID, flags=(Finding(Flag.PROTOCOL_VIOLATION, f'"{n}" is no word'),)
        )
        for n in range(3)
    ]

    (flag,) = report_of(*flagged).judges[0].flags

    assert flag.details == (Detail('such as: "0" is no word', 3),)
    assert flag.details_total == 1


def test_each_judge_has_its_own_headline_in_the_order_given() -> None:
    rows = [correct("a", judge="zeta"), incorrect("a", judge="alpha"), incorrect("b", judge="alpha")]

    judges = report_of(*rows).judges

    assert [(judge.judge, judge.score.mean) for judge in judges] == [("zeta", 1.0), ("alpha", 0.0)]


def test_graded_scores_are_not_called_a_share() -> None:
    judge = report_of(correct("a", score=0.4, verdict="40"), correct("b", score=0.9, verdict="90")).judges[0]

    assert not judge.score.is_binary
    assert judge.score.mean == pytest.approx(0.65)
    assert [tally.tone for tally in judge.verdicts] == [Tone.GOOD, Tone.BAD]


def test_a_run_without_valid_judgments_has_no_score() -> None:
    score = report_of(unscored("a", Status.UNDECIDED)).judges[0].score

    assert (score.mean, score.interval, score.bounds) == (None, None, Bounds(0.0, 1.0))


def test_an_empty_run_is_an_empty_report() -> None:
    report = report_of()

    assert (report.judges, report.rows_total, report.is_complete) == ((), 0, True)


def test_outcomes_are_counted_good_ones_first() -> None:
    rows = [correct(f"c{n}") for n in range(40)] + [incorrect(f"w{n}") for n in range(5)]
    rows.append(unscored("u", Status.UNDECIDED))

    report = build_report(count_rows(RUN, {}, rows))

    assert [(part.outcome, part.total) for part in report.shown] == [
        ("correct", 40),
        ("incorrect", 5),
        ("undecided", 1),
    ]
    assert (report.rows_total, report.is_complete) == (46, True)


def test_names_go_as_people_count() -> None:
    """Numbers by their size wherever they stand, names without one as words, no name last; digits of any length."""
    names = ["Q10", None, "Q2", "Q2-b10", "Q2-b9", "q1", "Q02", "Q1" + "0" * 5_000, "Alpha"]

    assert in_order(names) == ["Alpha", "Q02", "Q2", "Q2-b9", "Q2-b10", "Q10", "Q1" + "0" * 5_000, "q1", None]


@each(
    ("status", "score", "tone"),
    [
        (Status.VALID, 1.0, Tone.GOOD),
        (Status.VALID, 0.0, Tone.BAD),
        (Status.VALID, 0.5, Tone.MIXED),
        (Status.VALID, 7 / 8, Tone.GOOD),
        (Status.VALID, 6 / 8, Tone.MIXED),
        (Status.VALID, 4 / 8, Tone.MIXED),
        (Status.VALID, 3 / 8, Tone.BAD),
        (Status.VALID, None, Tone.MIXED),
        (Status.UNDECIDED, None, Tone.UNDECIDED),
        (Status.INVALID, None, Tone.INVALID),
        (Status.MISSING, None, Tone.MISSING),
    ],
)
def test_every_status_has_a_tone(status: Status, score: float | None, tone: Tone) -> None:
    assert tone_of(status, score) is tone


@pytest.mark.parametrize("status", list(Status))
def test_counts_can_be_asked_by_status(status: Status) -> None:
    counts = StatusCounts(**{status.value: 7})

    assert counts.of(status) == counts.total == 7


def test_self_judgments_stand_beside_the_headline_under_every_protocol() -> None:
    """Out of mean, verdicts and counts; in a sentence of their own, and in the list."""
    rows = (correct("a", judge="m"), incorrect("b", judge="m"), correct("own", judge="m", is_control=True))
    report = report_of(*rows)
    (judge,) = report.judges

    assert (judge.score.mean, judge.score.counts.total) == (0.5, 2)
    assert [tally.count for tally in judge.verdicts] == [1, 1]
    assert judge.control is not None
    assert judge.control.mean == 1.0
    assert control_sentence(judge) == "1 self-judgment apart, mean 100.0%: a control, in no mean."
    assert (report.rows_total, report.is_complete) == (3, True)
    assert control_sentence(report_of(correct("a")).judges[0]) is None
