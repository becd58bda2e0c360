"""Rounds, scores and the order of the leader board."""

import itertools
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.domain.rounds import (
    BoardEntry,
    DecidedBy,
    ImprovementJudgment,
    RoundDecision,
    RoundProgress,
    RoundState,
    StopReason,
    check_score,
    rank_teams,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, -0.001, 100.001, True])
def test_a_round_refuses_what_is_not_a_score(score: float) -> None:
    """NaN, infinities, what lies outside 0..100, and True, which is not 1."""
    with pytest.raises(ValueError, match="score must be"):
        RoundState(1, "text", score)
    with pytest.raises(ValueError, match="score must be"):
        rank_teams([BoardEntry("a", "A", 1, score)])


@pytest.mark.parametrize("score", [None, 0, 0.0, 100, 100.0, 61.5])
def test_a_round_takes_a_score_or_none(score: float | None) -> None:
    """None is "not evaluated" and stays None; whole numbers become floats."""
    state = RoundState(1, "text", score)

    assert state.evaluation_score == score
    assert type(state.evaluation_score) is (type(None) if score is None else float)


def test_the_optional_fields_of_a_round_have_defaults() -> None:
    """Seed 004 names four fields; the times are ours and may be left out."""
    state = RoundState(round_number=1, submission_content="text", evaluation_score=None)

    assert (state.score_details, state.round_started_at, state.round_ended_at) == ({}, None, None)


@pytest.mark.parametrize("number", [0, -1])
def test_rounds_count_from_one(number: int) -> None:
    """There is no round 0."""
    with pytest.raises(ValueError, match="round_number must be 1 or more"):
        RoundState(number, "text", None)


@pytest.mark.parametrize("name", ["round_started_at", "round_ended_at"])
def test_times_are_utc(name: str) -> None:
    """A time without a zone names no moment; another zone becomes UTC."""
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    state = RoundState(1, "text", None, {}, **{name: tokyo})

    assert getattr(state, name).isoformat() == "2026-03-01T12:00:00+00:00"
    with pytest.raises(ValueError, match="no time zone"):
        RoundState(1, "text", None, {}, **{name: NOON.replace(tzinfo=None)})


@pytest.mark.parametrize("confidence", [math.nan, -0.1, 1.1, True])
def test_an_opinion_refuses_what_is_not_a_confidence(confidence: float) -> None:
    """0 to 1, and a number."""
    with pytest.raises(ValueError, match="confidence_score must be 0 to 1"):
        ImprovementJudgment(should_continue=True, reasoning="more", confidence_score=confidence)


@each(("continues", "reason"), list(itertools.product([True, False], [None, *StopReason])))
def test_a_stop_has_a_reason_and_going_on_has_none(continues: bool, reason: StopReason | None) -> None:
    """Every combination of the two fields."""
    if continues == (reason is None):
        assert RoundDecision(continues, reason, DecidedBy.CONTROLLER).stop_reason is reason
    else:
        with pytest.raises(ValueError, match="stop_reason"):
            RoundDecision(continues, reason, DecidedBy.CONTROLLER)


def test_progress_becomes_the_state_that_prompts_show() -> None:
    """Nothing is renamed on the way but the document's longer names."""
    progress = RoundProgress(2, "text", {}, NOON, 70.0, {"a": 1}, NOON)

    assert progress.state() == RoundState(2, "text", 70.0, {"a": 1}, NOON, NOON)


def test_best_is_the_latest_round_with_the_best_score() -> None:
    """(score, latest round): of two equal scores the later submission is shown as the best."""
    scores = {1: 70.0, 2: 80.0, 3: 80.0, 4: None}
    (team,) = rank_teams(BoardEntry("a", "A", number, score) for number, score in scores.items())

    assert (team.rank, team.best_score, team.best_round, team.rounds) == (1, 80.0, 3, 4)


# Each pair: the first is placed before the second, for the reason that is named.
TIES: dict[str, tuple[list[tuple[str, int, float | None]], list[tuple[str, int, float | None]]]] = {
    "higher score": ([("a", 1, 50.0)], [("b", 1, 49.0)]),
    "higher score beats earlier round": ([("b", 3, 50.1)], [("a", 1, 50.0)]),
    "equal score: reached in the earlier round": ([("b", 1, 50.0)], [("a", 2, 50.0)]),
    "equal score: first reached counts, not the latest": ([("b", 1, 50.0), ("b", 4, 50.0)], [("a", 2, 50.0)]),
    "equal score and round: team_id": ([("a", 2, 50.0)], [("b", 2, 50.0)]),
    "rounds without a score are no scores": ([("b", 2, 50.0)], [("a", 1, None), ("a", 3, 50.0)]),
    "equal to six decimals is equal": ([("b", 1, 30.0)], [("a", 2, 100 * (0.1 + 0.2))]),
    "different at six decimals is different": ([("b", 2, 50.000001)], [("a", 1, 50.0)]),
}


@each("rule", TIES)
def test_ties_are_broken_by_one_rule(rule: str) -> None:
    """In whatever order the rows come."""
    first, second = TIES[rule]
    rows = [BoardEntry(team, team.upper(), number, score) for team, number, score in (*first, *second)]

    for order in itertools.permutations(rows):
        assert [team.team_id for team in rank_teams(order)] == [first[0][0], second[0][0]]


def test_a_renamed_team_is_one_team() -> None:
    """Under its latest name; two teams of the same name stay two."""
    ranking = rank_teams(
        [BoardEntry("a", "New", 2, 60.0), BoardEntry("a", "Old", 1, 70.0), BoardEntry("b", "New", 1, 10.0)]
    )

    assert [(team.rank, team.team_id, team.team_name, team.best_round) for team in ranking] == [
        (1, "a", "New", 1),
        (2, "b", "New", 1),
    ]


def test_a_score_of_ones_own_gives_no_place() -> None:
    """Seed 003 §1.2: shown as a control, in no main number; another judge's score of the same team counts."""
    ranking = rank_teams(
        [
            BoardEntry("a", "A", 1, 99.0, is_self_judged=True),
            BoardEntry("b", "B", 1, 99.0, is_self_judged=True),
            BoardEntry("b", "B", 2, 40.0),
            BoardEntry("c", "C", 1, 50.0),
        ]
    )

    assert [(team.rank, team.team_id, team.best_score, team.best_round, team.rounds) for team in ranking] == [
        (1, "c", 50.0, 1, 1),
        (2, "b", 40.0, 2, 2),
    ]


@each(
    ("details", "is_own"),
    [
        ({}, False),
        ({"metrics": [{"name": "m", "details": {"method": "cross_judge"}}]}, False),
        ({"metrics": [{"name": "m", "details": {"method": "rules"}}, {"name": "n", "details": {}}]}, False),
        (
            {
                "metrics": [
                    {"name": "m", "details": {"method": "rules"}},
                    {"name": "n", "details": {"method": "self_judge"}},
                ]
            },
            True,
        ),
        ({"metrics": "self_judge", "method": "self_judge"}, False),
        ({"metrics": [None, {"name": "m", "details": "self_judge"}]}, False),
    ],
)
def test_one_metric_that_judges_its_own_work_makes_the_round_its_own(details: dict[str, Any], is_own: bool) -> None:
    """Whatever else stands in the details, and whoever wrote them."""
    assert RoundProgress(1, "s", {}, NOON, 50.0, details, NOON).is_self_judged is is_own


def test_a_team_without_a_score_has_no_place() -> None:
    """It did not score 0."""
    assert rank_teams([BoardEntry("a", "A", 1, None)]) == ()
    assert rank_teams([]) == ()


ENTRIES = st.lists(
    st.builds(
        BoardEntry,
        st.sampled_from("abcd"),
        st.just("name"),
        st.integers(1, 5),
        st.none() | st.sampled_from([0.0, 50.0, 50.000001, 100.0]),
    ),
    max_size=20,
    unique_by=lambda entry: (entry.team_id, entry.round_number),
)


@given(ENTRIES)
def test_the_order_of_rows_does_not_matter(entries: list[BoardEntry]) -> None:
    """The board is a function of the set of rows; places count 1, 2, 3 …; nobody with a score is left out."""
    shuffled = sorted(entries, key=lambda entry: (entry.score or 0.0, entry.team_id), reverse=True)
    ranking = rank_teams(entries)

    assert rank_teams(shuffled) == ranking
    assert [team.rank for team in ranking] == list(range(1, len(ranking) + 1))
    assert {team.team_id for team in ranking} == {entry.team_id for entry in entries if entry.score is not None}


def test_a_score_that_is_no_number_is_refused() -> None:
    """A string from a model's reply is not a score."""
    with pytest.raises(ValueError, match="must be a number"):
        check_score("90")  # type: ignore[arg-type] # what an untyped caller may pass
