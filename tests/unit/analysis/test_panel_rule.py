"""The rule of a panel, on every combination of a few opinions: the words of `domain.panels` against the query."""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

import duckdb
import pytest

from mixseek.domain.panels import PanelRule, PanelState, default_rule
from mixseek.index.panel import settle


class Opinion(NamedTuple):
    state: str
    value: float | None = None
    verdict: str | None = None
    is_unverified: bool = False
    # Of a judge that its repeats divide.
    lowest: float = 0.0
    highest: float = 1.0


RIGHT, WRONG = Opinion("valid", 1.0, "correct"), Opinion("valid", 0.0, "incorrect")
COPIED = Opinion("valid", 1.0, "correct", True)
PASS, HIGH_PASS = Opinion("valid", 0.875, "PASS"), Opinion("valid", 1.0, "PASS")
PARTIAL, FAIL = Opinion("valid", 0.625, "PARTIAL"), Opinion("valid", 0.25, "FAIL")
DIVIDED = Opinion("split", lowest=0.25, highest=0.875)
INVALID, UNDECIDED, MISSING = Opinion("invalid"), Opinion("undecided"), Opinion("missing")
Settled = tuple[str, float | None, str | None, float, float]


def settled(panels: Sequence[Sequence[Opinion]], rule: PanelRule | None, *, is_graded: bool = False) -> list[Settled]:
    """By the query: state, value, verdict, lowest and highest of each panel."""
    rows = []
    for number, panel in enumerate(panels):
        for one in panel:
            is_valid = one.state == "valid"
            lowest = (0.0 if one.is_unverified else one.value) if is_valid else one.lowest
            highest = one.value if is_valid else one.highest
            rows.append((number, one.value, lowest, highest, one.verdict, one.state, one.is_unverified, 1))
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE said (sample BIGINT, value DOUBLE, lowest DOUBLE, highest DOUBLE, verdict VARCHAR, "
            "state VARCHAR, is_unverified BOOLEAN, voices BIGINT)"
        )
        columns = [list(column) for column in zip(*rows, strict=True)]
        connection.execute(f"INSERT INTO said SELECT {', '.join(['unnest(?)'] * len(columns))}", columns)
        query = settle("FROM said", "sample", rule, str(is_graded))
        return connection.execute(
            f"SELECT state, value, verdict, lowest, highest FROM ({query}) ORDER BY sample"  # noqa: S608 - our own text
        ).fetchall()


def told(panel: Sequence[Opinion], rule: PanelRule, *, is_graded: bool) -> tuple[str, float | None, str | None]:
    """By the words, as slowly as they are read."""
    valid = [one for one in panel if one.state == "valid"]
    heard = [one for one in panel if one.state in ("valid", "split")]
    if not heard:
        best = next(state for state in ("invalid", "undecided", "missing") if any(one.state == state for one in panel))
        return best, None, None
    votes = Counter(one.verdict for one in valid)
    if rule is PanelRule.MEAN:
        if not valid:
            return "split", None, None
        return "valid", mean_of(valid), valid[0].verdict if len(votes) == 1 else None
    if rule is PanelRule.MEDIAN:
        ordered = sorted(valid, key=lambda one: (one.value, one.verdict))
        if not ordered:
            return "split", None, None
        low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
        if low.value != high.value and not is_graded:
            return "split", None, None
        return "valid", mean_of([low, high]), low.verdict if low.verdict == high.verdict else None
    for verdict, count in votes.items():
        if count == len(heard) or (rule is PanelRule.MAJORITY and count > len(heard) / 2):
            return "valid", mean_of(one for one in valid if one.verdict == verdict), verdict
    return "split", None, None


def mean_of(opinions: Iterable[Opinion]) -> float:
    return fmean(one.value for one in opinions if one.value is not None)


@pytest.mark.parametrize("rule", PanelRule)
@pytest.mark.parametrize(
    ("alphabet", "is_graded"),
    [
        ((RIGHT, WRONG, DIVIDED, INVALID, UNDECIDED, MISSING), False),
        ((PASS, HIGH_PASS, PARTIAL, FAIL, DIVIDED, INVALID), True),
    ],
    ids=["right or wrong", "graded"],
)
def test_every_panel_of_up_to_four_judges_is_settled_as_the_words_say(
    rule: PanelRule, alphabet: Sequence[Opinion], is_graded: bool
) -> None:
    panels = [panel for judges in range(1, 5) for panel in itertools.combinations_with_replacement(alphabet, judges)]
    for panel, (state, value, verdict, lowest, highest) in zip(
        panels, settled(panels, rule, is_graded=is_graded), strict=True
    ):
        expected = told(panel, rule, is_graded=is_graded)
        assert (state, verdict) == (expected[0], expected[2]), panel
        assert value == pytest.approx(expected[1]), panel
        assert state in set(PanelState)
        assert (value is None) == (state != "valid"), panel
        # Without a verdict anything may be true; with one, it is in the bounds as it stands.
        assert (lowest, highest) == ((0, 1) if value is None else (value, value)), panel


def test_the_order_of_the_judges_changes_nothing() -> None:
    panel = (PASS, PARTIAL, FAIL, HIGH_PASS)
    for rule in PanelRule:
        assert len(set(settled(list(itertools.permutations(panel)), rule, is_graded=True))) == 1


@pytest.mark.parametrize("rule", PanelRule)
@pytest.mark.parametrize("one", [RIGHT, WRONG, PASS, COPIED, INVALID, UNDECIDED, MISSING])
def test_judges_that_say_the_same_are_as_one(rule: PanelRule, one: Opinion) -> None:
    """In score, verdict, state and bounds."""
    alone, twice, four = settled([(one,), (one,) * 2, (one,) * 4], rule)

    assert alone == twice == four
    assert alone == settled([(one,)], None)[0]


def test_a_tie_is_split_and_never_a_coin() -> None:
    """Between right and wrong there is nothing; on a graded scale the median lies midway, without a verdict."""
    for rule in (PanelRule.MAJORITY, PanelRule.UNANIMOUS, PanelRule.MEDIAN):
        assert settled([(RIGHT, WRONG)], rule) == [("split", None, None, 0.0, 1.0)]
    for rule in (PanelRule.MAJORITY, PanelRule.UNANIMOUS):
        assert settled([(PASS, PARTIAL)], rule, is_graded=True) == [("split", None, None, 0.0, 1.0)]
    for rule in (PanelRule.MEDIAN, PanelRule.MEAN):
        assert settled([(PASS, PARTIAL)], rule, is_graded=True) == [("valid", 0.75, None, 0.75, 0.75)]


def test_a_majority_that_rests_on_unverified_answers_may_be_wrong() -> None:
    """Without them it would be none: the lowest bound takes it as wrong."""
    panels = [(RIGHT, RIGHT, COPIED), (RIGHT, COPIED, WRONG), (COPIED, COPIED, COPIED)]

    assert [row[1:] for row in settled(panels, PanelRule.MAJORITY)] == [
        (1.0, "correct", 1.0, 1.0),
        (1.0, "correct", 0.0, 1.0),
        (1.0, "correct", 0.0, 1.0),
    ]
    assert settled(panels[:1], PanelRule.UNANIMOUS)[0][3] == 0.0


def test_a_user_who_names_no_rule_gets_no_mean() -> None:
    assert (default_rule(is_graded=False), default_rule(is_graded=True)) == (PanelRule.MAJORITY, PanelRule.MEDIAN)
