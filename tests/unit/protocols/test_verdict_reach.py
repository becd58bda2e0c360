"""A verdict that no score can lead to is found, and none other."""

from itertools import product
from typing import Any

import pytest
from tests.cases import each

from mixseek.protocols.scored.arithmetic import total_of, verdict_of
from mixseek.protocols.scored.parameters import ScoredParameters
from mixseek.protocols.scored.reachable import unreachable_verdicts


def parameters(rules: dict[str, Any], values: str = "integer", **more: Any) -> ScoredParameters:
    table = {
        "dimensions": {"a": {"title": "A"}, "b": {"title": "B"}, "c": {"title": "C"}},
        "scale": {"minimum": 0, "maximum": 2, "values": values},
        "verdict": {"rules": {**rules, "rest": {}}},
    }
    return ScoredParameters.model_validate({**table, **more})


REACHABLE: list[dict[str, Any]] = [
    {"good": {"at_least": 6}},
    {"bad": {"at_most": 0}},
    {"good": {"at_least": 5, "nonzero": ["a", "b"]}},
    {"middle": {"at_least": 3, "at_most": 3}},
    {"bad": {"at_most": 3}, "good": {"at_least": 5}},
]
UNREACHABLE: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"good": {"at_least": 7}}, {"good": "at_least 7 is above the highest total 6"}),
    ({"bad": {"at_most": -1}}, {"bad": "at_most -1 is below the lowest total 0"}),
    ({"odd": {"at_least": 4, "at_most": 2}}, {"odd": "at_least 4 is above its own at_most 2"}),
    (
        {"good": {"at_least": 3}, "best": {"at_least": 5}},
        {"best": "whatever it would match is matched by good before it"},
    ),
    (
        {"bad": {"at_most": 3}, "good": {"at_least": 3}},
        {"rest": "whatever it would match is matched by bad or good before it"},
    ),
    ({"odd": {"at_most": 1, "nonzero": ["a", "b"]}}, {"odd": "no reply can meet it"}),
]


@each("rules", REACHABLE)
@each("values", ["integer", "number"])
def test_reachable_verdicts_are_left_alone(rules: dict[str, Any], values: str) -> None:
    assert unreachable_verdicts(parameters(rules, values)) == {}


@pytest.mark.parametrize(("rules", "said"), UNREACHABLE, ids=lambda value: str(value)[:40])
def test_unreachable_verdicts_are_named_with_the_reason(rules: dict[str, Any], said: dict[str, str]) -> None:
    assert unreachable_verdicts(parameters(rules)) == said


def test_decimals_reach_what_whole_numbers_do_not() -> None:
    """Between 2 and 3 lies 2.5; two dimensions that are not zero may sum to next to nothing."""
    between = {"bad": {"at_most": 2}, "good": {"at_least": 3}}

    assert unreachable_verdicts(parameters(between)) == {
        "rest": "whatever it would match is matched by bad or good before it"
    }
    assert unreachable_verdicts(parameters(between, "number")) == {}
    assert unreachable_verdicts(parameters({"odd": {"at_most": 1, "nonzero": ["a", "b"]}}, "number")) == {}


@each("pair", list(product(range(-1, 8), repeat=2)))
def test_the_answer_is_that_of_all_score_vectors(pair: tuple[int, int]) -> None:
    table = parameters({"bad": {"at_most": pair[0]}, "good": {"at_least": pair[1], "nonzero": ["a", "c"]}})
    vectors = [dict(zip("abc", vector, strict=True)) for vector in product(range(3), repeat=3)]
    reached = {verdict_of(table, scores, total_of(table, scores, None), ()) for scores in vectors}

    assert set(unreachable_verdicts(table)) == set(table.verdict.rules) - reached


def test_gates_and_task_types_count() -> None:
    gates = {"veto": {"effect": "all_zero"}, "note": {"effect": "none"}}
    rules = {
        "vetoed": {"gate": "veto", "at_least": 1},
        "noted": {"gate": "note", "at_least": 5},
        "veto": {"gate": "veto"},
    }

    assert set(unreachable_verdicts(parameters(rules, gates=gates))) == {"vetoed"}


def test_the_built_in_verdicts_are_reachable() -> None:
    weights = {"a": 60, "b": 30, "c": 10}
    types = {"types": {"fact": {"weights": weights}, "other": {"weights": {"a": 10, "b": 10, "c": 80}}}}
    table: dict[str, Any] = {"scale": {"minimum": 0, "values": "number"}, "task_types": types}

    assert unreachable_verdicts(parameters({"top": {"at_least": 100}}, **table)) == {}
    assert set(unreachable_verdicts(parameters({"top": {"at_least": 101}}, **table))) == {"top"}


def test_weights_leave_gaps_between_whole_totals() -> None:
    types = {"types": {"all": {"weights": {"a": 10, "b": 20, "c": 30}}}}
    table: dict[str, Any] = {"task_types": types, "total": {"rule": "weighted_sum"}}

    assert set(unreachable_verdicts(parameters({"gap": {"at_least": 11, "at_most": 19}}, **table))) == {"gap"}
    assert unreachable_verdicts(parameters({"ten": {"at_least": 10, "at_most": 19}}, **table)) == {}


@pytest.mark.parametrize("values", ["integer", "number"])
def test_a_verdict_without_a_threshold_is_reached_by_its_dimensions(values: str) -> None:
    """With a at zero, totals of b and c lie far from both ends."""
    rules: dict[str, Any] = {"first": {"nonzero": ["a"]}, "others": {"nonzero": ["b", "c"]}}

    assert unreachable_verdicts(parameters(rules, values)) == {}


def test_many_dimensions_do_not_take_for_ever() -> None:
    dimensions = {f"d{number}": {"title": "D"} for number in range(30)}
    table: dict[str, Any] = {"dimensions": dimensions, "scale": {"minimum": 0, "maximum": 100}}

    assert unreachable_verdicts(parameters({"top": {"at_least": 3000}, "no": {"at_least": 3001}}, **table)) == {
        "no": "at_least 3001 is above the highest total 3000"
    }


def test_a_scale_without_zero_makes_no_dimension_zero() -> None:
    scale: dict[str, Any] = {"scale": {"minimum": 1, "maximum": 3, "values": "number"}}
    anything: dict[str, Any] = {"some": {"nonzero": ["a"]}}

    assert set(unreachable_verdicts(parameters(anything, **scale))) == {"rest"}
    assert unreachable_verdicts(parameters({"low": {"at_most": 2.5, "nonzero": ["a", "b", "c"]}}, **scale)) == {
        "low": "at_most 2.5 is below the lowest total 3"
    }


def test_a_weight_that_is_the_maximum_leaves_room_for_zero() -> None:
    types = {"types": {"all": {"weights": {"a": 5, "b": 3, "c": 2}}}}
    table: dict[str, Any] = {"scale": {"minimum": 0, "values": "number"}, "task_types": types}

    assert unreachable_verdicts(parameters({"some": {"nonzero": ["a"]}}, **table)) == {}
    assert unreachable_verdicts(parameters({"some": {"at_least": 6, "nonzero": ["a"]}}, **table)) == {}
    assert set(unreachable_verdicts(parameters({"some": {"at_least": 0, "nonzero": []}}, **table))) == {"rest"}
