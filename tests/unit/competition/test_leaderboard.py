"""The leader board as data, as curves and on a terminal."""

import io
import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from tests.cases import each
from tests.unit.competition.competition_boards import GO_ON, LAST, NOON, ON, board_of, round_of, team_of

from mixseek.competition.views.board import (
    DECIDER_TEXTS,
    STOP_TEXTS,
    Expense,
    LeaderBoard,
    MetricLine,
    add_expenses,
    decision_text,
    leader_board_document,
    read_metrics,
)
from mixseek.competition.views.sections import leader_board_sections, score_curves, score_series, score_ticks
from mixseek.competition.views.words import cost_text
from mixseek.domain.rounds import (
    DecidedBy,
    ExecutionStatus,
    NoOpinion,
    RoundDecision,
    RoundProgress,
    StopReason,
    TeamProgress,
)
from mixseek.presentation.pictures import COLOURS, DISTINCT, Series, line_style
from mixseek.presentation.render.curves import BOTTOM, HEIGHT, LEFT, NARROW, TOP, WIDE, Frame, place_curves, spread
from mixseek.presentation.render.tables import series_text
from mixseek.presentation.render.terminal import print_sections

ALPHA = team_of("Alpha", [50.0, 80.0, 70.0])
BETA = team_of("Beta", [60.0, None], StopReason.NO_GAIN)
GONE = TeamProgress("gone", "Gone", (), StopReason.TEAM_FAILED, "exit code 1", NOON)


def test_ranked_teams_come_first_and_teams_without_a_score_are_still_there() -> None:
    """In the order of the ranking, then by id."""
    board = board_of(GONE, BETA, ALPHA)

    assert [(team.rank, team.team_name, team.best_score, team.best_round) for team in board.teams] == [
        (1, "Alpha", 80.0, 2),
        (2, "Beta", 60.0, 1),
        (None, "Gone", None, None),
    ]
    assert [[entry.is_best for entry in team.rounds] for team in board.teams] == [
        [False, True, False],
        [True, False],
        [],
    ]
    assert [(team.ending, team.message) for team in board.teams] == [
        ("all rounds played", ""),
        ("no gain", ""),
        ("team failed", "exit code 1"),
    ]
    assert board.leader is board.teams[0]
    assert board.most_rounds == 3


def test_nobody_leads_without_a_score() -> None:
    """Neither an empty competition nor one in which everything failed has a winner."""
    assert board_of().leader is None
    assert board_of(GONE).leader is None


@each("reason", [None, *StopReason])
@each("status", list(ExecutionStatus))
def test_every_ending_has_words(status: ExecutionStatus, reason: StopReason | None) -> None:
    """A team that was interrupted and is being played again is playing."""
    board = board_of(team_of("Alpha", [1.0], reason), status=status)
    resumed = reason in (StopReason.INTERRUPTED, StopReason.BUDGET) and status is ExecutionStatus.RUNNING

    if reason is None or resumed:
        assert board.teams[0].ending == ("playing" if status is ExecutionStatus.RUNNING else "not ended")
        assert board.teams[0].stop_reason is None
    else:
        assert board.teams[0].ending == STOP_TEXTS[reason]


@each("decided_by", list(DecidedBy))
@each("reason", [None, *StopReason])
def test_every_decision_has_words(reason: StopReason | None, decided_by: DecidedBy) -> None:
    """What holds, and whose word it was."""
    text = decision_text(round_of(1, 1.0, decision=RoundDecision(reason is None, reason, decided_by)))

    assert text is not None
    assert text.startswith("goes on, " if reason is None else f"stops: {STOP_TEXTS[reason]}, ")
    assert text.endswith(DECIDER_TEXTS[decided_by])
    assert decision_text(round_of(1, 1.0, decision=None)) is None


def test_metrics_are_the_evaluators_scored_and_missing() -> None:
    """A missing metric has a reason and no number."""
    details = {
        "metrics": [{"name": "a", "score": 10.0, "weight": 0.25, "direction": "lower", "comment": "c"}],
        "missing": [{"name": "b", "reason": "503"}],
    }

    assert read_metrics(details) == (MetricLine("a", 10.0, 0.25, "c", True), MetricLine("b", None, None, "503", False))


def test_details_of_another_shape_show_what_has_a_score() -> None:
    """A library user may store what they like."""
    details = {"plain": 5, "with": {"score": 6.5, "comment": "c"}, "flag": True, "text": "x", "none": {"score": None}}

    assert read_metrics(details) == (MetricLine("plain", 5.0), MetricLine("with", 6.5, comment="c"))
    assert read_metrics({}) == ()


def test_a_metric_on_another_scale_keeps_it_and_is_drawn_by_its_share_of_it() -> None:
    """A bar of 4 hundredths would call 4 of 5 a failure."""
    lines = read_metrics({"metrics": [{"name": "stars", "score": 4, "scale": [1, 5], "points": 75.0}]})
    odd = read_metrics({"metrics": [{"name": "odd", "score": 4, "scale": scale} for scale in ("1 to 5", [5, 1], [1])]})

    assert lines == (MetricLine("stars", 4.0, scale=(1.0, 5.0)),)
    assert lines[0].share == 75
    assert [(line.scale, line.share) for line in odd] == [(None, 4.0)] * 3


def test_expenses_add_what_was_counted_and_say_what_was_not() -> None:
    """Nothing counted is not nought, and a sum that leaves calls out says so."""
    full = {"input_tokens": 10, "output_tokens": 2, "cost_usd": 0.5}

    assert add_expenses([]) == Expense()
    assert add_expenses([{"seconds": 1.5}]) == Expense()
    assert add_expenses([full, full]) == Expense(20, 4, 1.0)
    assert add_expenses([full, {"input_tokens": 1, "cost_usd": None}]) == Expense(11, 2, 0.5, is_cost_partial=True)


@pytest.mark.parametrize(
    ("expenses", "text"),
    [
        ([Expense(), Expense()], "–"),
        ([Expense(cost_usd=0.1), Expense(cost_usd=0.2)], "$0.30"),
        ([Expense(cost_usd=0.5), Expense(1, 1, None, is_cost_partial=True)], "$0.50 + unknown"),
        ([Expense(1, 1, None, is_cost_partial=True)], "unknown"),
        ([Expense(cost_usd=0.0)], "$0"),
    ],
)
def test_costs_are_never_guessed(expenses: list[Expense], text: str) -> None:
    """Known, partly known, unknown, and nobody counted are four things."""
    assert cost_text(*expenses) == text


def test_the_document_is_json_and_whole() -> None:
    """Everything a page shows, for a program; no NaN could pass."""
    document = json.loads(json.dumps(leader_board_document(board_of(ALPHA, BETA, GONE)), allow_nan=False))

    assert list(document) == [
        "schema",
        "execution",
        "task",
        "status",
        "started_at",
        "ended_at",
        "configuration",
        "teams",
    ]
    assert [team["stop_reason"] for team in document["teams"]] == ["max_rounds", "no_gain", "team_failed"]
    second = document["teams"][1]["rounds"][1]
    assert (second["score"], second["is_evaluated"], second["submission"]) == (None, True, "a text")
    assert second["metrics"][1] == {
        "name": "coverage",
        "score": None,
        "weight": None,
        "comment": "503 from the endpoint",
        "is_lower_better": False,
        "scale": None,
        "is_self_judged": False,
    }
    assert second["opinion"] == {
        "should_continue": True,
        "reasoning": "there is more in it",
        "confidence_score": 0.8,
    }
    assert document["teams"][0]["submitting"]["cost_usd"] == 1.5


# --- curves


def test_a_round_without_a_score_is_a_gap() -> None:
    """A line through it would invent a score."""
    board = board_of(team_of("Alpha", [50.0, 55.0, None, 60.0, 65.0]), team_of("Beta", [60.0, None, 70.0]))
    curves = score_curves(board)
    assert curves is not None

    assert [[point.step for point in curve.points] for curve in curves.curves] == [[1, 3], [1, 2, 4, 5]]
    assert [len(drawn.strokes) for drawn in place_curves(curves)] == [0, 2]


def test_one_score_is_no_curve() -> None:
    """There is nothing to compare it with."""
    assert score_curves(board_of(team_of("Alpha", [50.0]))) is None
    assert score_curves(board_of()) is None


SCORES = st.lists(st.none() | st.floats(0, 100), max_size=6)


@given(st.lists(SCORES, max_size=20), st.sampled_from([WIDE, NARROW]))
def test_everything_is_drawn_inside_the_picture(teams: list[list[float | None]], frame: Frame) -> None:
    """Whatever the scores are; and a higher score is never lower in the picture."""
    curves = score_curves(board_of(*(team_of(f"T{number:02}", scores) for number, scores in enumerate(teams))))
    if curves is None:
        return
    drawn = place_curves(curves, frame)
    placed = [pair for line in drawn for pair in zip(line.curve.points, line.places, strict=True)]

    assert all(LEFT <= place.x <= frame.right and TOP <= place.y <= BOTTOM for _, place in placed)
    assert all(line.label_y is None or 0 <= line.label_y <= HEIGHT for line in drawn)
    named = DISTINCT if frame is WIDE else 0
    assert [line.label_y is None for line in drawn] == [number >= named for number in range(len(drawn))]
    assert len(placed) == sum(score is not None for scores in teams for score in scores)
    ordered = sorted(placed, key=lambda pair: pair[0].value)
    assert all(lower.y >= higher.y for (_, lower), (_, higher) in itertools.pairwise(ordered))


@given(st.floats(0, 100), st.floats(0, 100))
def test_axes_hold_all_scores_within_0_to_100(one: float, other: float) -> None:
    """Marks are in order and at least two steps apart: a tenth of a point does not fill the picture."""
    low, high = sorted((one, other))
    ticks = score_ticks(low, high)

    assert ticks == sorted(set(ticks))
    assert 0 <= ticks[0] <= low
    assert high <= ticks[-1] <= 100
    assert ticks[-1] - ticks[0] >= 10
    assert len(ticks) <= 8


@given(st.lists(st.floats(10, 290), max_size=14))
def test_labels_do_not_lie_upon_each_other(wanted: list[float]) -> None:
    """In the order of the lines they name."""
    places = sorted(zip(wanted, spread(wanted, 14, 290), strict=True))

    assert all(later[1] - earlier[1] >= 15.9 for earlier, later in itertools.pairwise(places))


def test_teams_are_told_apart_by_colour_then_by_dash() -> None:
    """And those beyond both are grey."""
    styles = [line_style(index) for index in range(DISTINCT + 2)]

    assert len(set(styles[:DISTINCT])) == DISTINCT
    assert all("dashed" in style for style in styles[COLOURS:DISTINCT])
    assert set(styles[DISTINCT:]) == {"dimension-0"}


# --- terminal


def printed(board: LeaderBoard, width: int = 120, html: Path | None = None) -> str:
    stream = io.StringIO()
    print_sections(leader_board_sections(board, html), Console(file=stream, width=width))
    return stream.getvalue()


def test_the_terminal_shows_places_scores_rounds_and_endings() -> None:
    """To the letter, so that a change is looked at."""
    shown = [line.rstrip() for line in printed(board_of(ALPHA, BETA, GONE)).splitlines()]

    assert shown == [
        "race-1  finished",
        "2026-03-01 12:00 UTC · Write a haiku.",
        "",
        "#  Team    Best  Round  Rounds         Ended               Cost",
        "1  Alpha  80.00      2  3 ▅▇▆          all rounds played  $2.25",
        "2  Beta   60.00      1  2 ▅·           no gain            $1.50",
        "–  Gone       –      –  no submission  team failed            –",
        "Gone: exit code 1",
        "",
        "Submissions, remarks and opinions: add --to FILE, or --json.",
    ]


def test_the_terminal_names_the_page_on_one_line() -> None:
    """A path that is broken over two lines cannot be opened."""
    path = Path("/somewhere") / ("deep" * 30) / "board.html"

    assert f"Page  {path}\n" in printed(board_of(ALPHA), width=40, html=path)
    assert "No team has submitted anything yet." in printed(board_of())


def test_nothing_in_a_name_drives_the_terminal() -> None:
    """Escape sequences are shown, not obeyed; markup of the renderer stays text."""
    hostile = replace(ALPHA, team_name="[red]x[/red]\x1b[2J\u202e", message="\x1b]0;owned\x07")
    shown = printed(board_of(hostile, task="\x1b[31mtask", execution_id="id\x1b[1m"))

    assert "\x1b" not in shown
    assert "[red]x[/red]" in shown


def test_a_curve_of_blocks_has_one_sign_a_round() -> None:
    """0 and 100 are its ends; no score is a dot and not an empty block."""
    team = board_of(team_of("Alpha", [0.0, None, 100.0])).teams[0]

    series = score_series(team, 0)

    assert isinstance(series, Series)
    assert series_text(series) == "3 ▁·█"


def test_rounds_in_every_state_can_be_shown() -> None:
    """Submitted only, evaluated only, judged without an opinion."""
    rounds = (
        round_of(1, 40.0, opinion=NoOpinion("timeout"), decision=ON),
        round_of(2, None, opinion=None, decision=None),
        RoundProgress(3, "x", {}, NOON),
    )
    board = board_of(TeamProgress("a", "A", rounds), status=ExecutionStatus.RUNNING)

    assert [(entry.is_evaluated, entry.decision) for entry in board.teams[0].rounds] == [
        (True, "goes on, decided by the judge"),
        (True, None),
        (False, None),
    ]
    assert "playing" in printed(board)
    assert LAST.stop_reason is StopReason.MAX_ROUNDS
    assert GO_ON.should_continue
