"""The Evaluator: all metrics at once, weights that add up, and nothing weighed away."""

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each
from tests.unit.evaluator.asking_stubs import REQUEST, Broken, StubAsker, WordCount, bench, reply_text

from mixseek.domain.judgments import Reply
from mixseek.engine.budget import BudgetSpentError
from mixseek.errors import ConfigurationError
from mixseek.evaluator.evaluator import Evaluator
from mixseek.evaluator.metrics import Coverage, MetricSetting
from mixseek.evaluator.scores import (
    Direction,
    EvaluationRequest,
    EvaluationResult,
    MetricScore,
    MissingMetric,
    Scale,
    resolve_weights,
    usage_of,
)


def evaluate(evaluator: Evaluator, request: EvaluationRequest = REQUEST) -> EvaluationResult:
    return asyncio.run(evaluator.evaluate(request))


def broken(how: str, name: str = "broken") -> Broken:
    return Broken(MetricSetting(name, {"how": how}))


def test_metrics_keep_their_order_and_the_overall_score_is_their_weighted_mean() -> None:
    """70 at a quarter and 7 words at three quarters."""
    asker = StubAsker(lambda protocol, sample: reply_text(requirements=40, depth=20, limits=10))
    metrics = [Coverage(MetricSetting("coverage"), bench(asker)), WordCount(MetricSetting("words"))]
    result = evaluate(Evaluator(metrics, {"coverage": 0.25, "words": 0.75}))

    assert [score.name for score in result.scores] == ["coverage", "words"]
    assert result.overall_score == pytest.approx(0.25 * 70 + 0.75 * 7)


def test_metrics_are_evaluated_at_the_same_time() -> None:
    """Each waits for all the others to have begun."""
    begun: list[str] = []

    class Waiting(WordCount):
        async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
            begun.append(self.name)
            while len(begun) < 3:
                await asyncio.sleep(0)
            return await super().evaluate(request)

    result = evaluate(Evaluator([Waiting(MetricSetting(name)) for name in "abc"], metric_seconds=5))

    assert result.missing == ()


def test_without_weights_all_metrics_count_the_same() -> None:
    """Absent weights are equal ones."""
    result = evaluate(Evaluator([broken("10", "a"), broken("20", "b")]))

    assert result.overall_score == 15
    assert result.weights == {"a": 0.5, "b": 0.5}


@each(
    ("how", "reason"),
    [
        ("raises", "LookupError: no such word"),
        ("nonsense", "returned int, expected MetricScore"),
        ("exits", "SystemExit: 3"),
        ("cancels", "CancelledError: never mind"),
        ("gives up", "TimeoutError: its own clock"),
        ("misconfigured", "DatasetError: its own rows"),
        ("hangs", "no score within 0.05 s"),
        ("nan", "ValueError: score must be finite"),
        ("inf", "ValueError: score must be finite"),
        ("-inf", "ValueError: score must be finite"),
        ("100.1", "ValueError: score must be 0 to 100"),
        ("-0.1", "ValueError: score must be 0 to 100"),
    ],
)
def test_a_metric_that_fails_is_missing_and_leaves_no_overall_score(how: str, reason: str) -> None:
    """The others keep theirs; nothing is weighed anew without it."""
    result = evaluate(Evaluator([WordCount(MetricSetting("words")), broken(how)], metric_seconds=0.05))

    assert [score.name for score in result.scores] == ["words"]
    assert [missing.name for missing in result.missing] == ["broken"]
    assert result.missing[0].reason.startswith(reason)
    assert "\n" not in result.missing[0].reason
    assert result.overall_score is None
    assert result.details()["missing"] == [{"name": "broken", "reason": result.missing[0].reason}]


@pytest.mark.parametrize(
    ("comment", "details"),
    [
        ("", {"x": math.nan}),
        ("", {"x": object()}),
        ("", {1: "a", "b": 2}),
        (5, {}),
    ],
)
def test_a_score_that_cannot_be_kept_is_missing(comment: Any, details: Any) -> None:
    """Before the store would trip over it."""

    class Odd(WordCount):
        async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
            return self.scored(5, comment, details)

    result = evaluate(Evaluator([Odd(MetricSetting("odd"))]))

    assert result.overall_score is None
    assert result.missing[0].reason.startswith("its ")


def test_whoever_cancels_an_evaluation_is_obeyed() -> None:
    """Only what a metric does to itself makes it missing."""

    async def leave() -> None:
        async with asyncio.timeout(0.01):
            await Evaluator([broken("hangs"), broken("5", "b")], metric_seconds=30).evaluate(REQUEST)

    with pytest.raises(TimeoutError):
        asyncio.run(leave())


def test_what_concerns_more_than_one_submission_is_raised() -> None:
    """A spent budget is not a missing metric."""

    def refuse(*_: object) -> str:
        raise BudgetSpentError("spent")

    with pytest.raises(BudgetSpentError):
        evaluate(Evaluator([Coverage(MetricSetting("c"), bench(StubAsker(refuse))), broken("5")]))


def test_lower_is_better_counts_from_the_top() -> None:
    """The metric's own number is kept as it is."""
    lower = Broken(MetricSetting("errors", {"how": "30"}, Direction.LOWER))
    result = evaluate(Evaluator([lower]))

    assert result.scores[0].score == 30
    assert result.overall_score == 70
    assert result.details()["metrics"][0]["direction"] == "lower"


class Stars(Broken):
    """Counts from 1 to 5."""

    scale = Scale(1, 5)


def stars(how: str, direction: Direction = Direction.HIGHER) -> Stars:
    return Stars(MetricSetting("stars", {"how": how}, direction))


@each(
    ("how", "direction", "points"),
    [
        ("1", Direction.HIGHER, 0),
        ("5", Direction.HIGHER, 100),
        ("4", Direction.HIGHER, 75),
        ("4.28", Direction.HIGHER, 82),
        ("4", Direction.LOWER, 25),
    ],
)
def test_a_metric_on_a_scale_of_its_own_counts_in_hundredths_of_it(
    how: str, direction: Direction, points: float
) -> None:
    """Its number is kept as the metric gave it; what is weighed is how far up its scale that is."""
    result = evaluate(Evaluator([stars(how, direction), broken("50")], {"stars": 0.5, "broken": 0.5}))
    kept = result.details()["metrics"]

    assert result.scores[0].score == float(how)
    assert result.overall_score == (points + 50) / 2
    assert (kept[0]["scale"], kept[0]["points"]) == ([1, 5], points)
    assert kept[1].keys().isdisjoint({"scale", "points"})


@pytest.mark.parametrize("how", ["0.9", "5.1", "80"])
def test_a_score_off_the_declared_scale_is_missing(how: str) -> None:
    """80 is a good score of another metric."""
    result = evaluate(Evaluator([stars(how)]))

    assert result.overall_score is None
    assert result.missing[0].reason == f"ValueError: score must be 1 to 5, not {float(how)}"


def test_a_score_that_the_metric_made_by_itself_is_held_against_the_declared_scale() -> None:
    """`MetricScore(...)` without `self.scored` knows nothing of it."""

    class Own(Stars):
        async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
            return MetricScore("another name", float(self.setting.options["how"]))

    given = {how: evaluate(Evaluator([Own(MetricSetting("own", {"how": how}))])) for how in ("3", "80")}

    assert given["3"].overall_score == 50
    assert given["80"].missing[0].reason == "ValueError: score must be 1 to 5, not 80.0"


def test_a_judges_metric_is_asked_the_same_and_scored_on_its_declared_scale() -> None:
    """70 of 100 points are 7 of 10."""
    asker = StubAsker(lambda protocol, sample: reply_text(requirements=40, depth=20, limits=10))
    tenths = Coverage(MetricSetting("coverage"), bench(asker))
    tenths.scale = Scale(0, 10)
    result = evaluate(Evaluator([tenths]))

    assert [(score.score, score.points) for score in result.scores] == [(7, 70)]


@pytest.mark.parametrize(
    "scale", [(5, 1), (1, 1), (0, math.inf), (math.nan, 1), ("0", 1), (0, 1, 2), 100, None, (0, True)]
)
def test_a_scale_that_is_none_is_refused_at_once(scale: Any) -> None:
    """Not after the first submission has been paid for."""
    metric = stars("3")
    metric.scale = scale

    with pytest.raises(ConfigurationError, match=r"metric stars: its scale is .*, expected two numbers"):
        Evaluator([metric])


def test_two_metrics_of_one_name_are_refused() -> None:
    """Weights go by name: 40 and 40 would both count in full and give 80."""
    with pytest.raises(ConfigurationError, match="two metrics are called 'form'; give one of them another name"):
        Evaluator([broken("40", "form"), broken("40", "form")])


@pytest.mark.parametrize("name", ["", " ", "\n\u3000"])
def test_a_metric_without_a_name_is_refused(name: str) -> None:
    """Nobody could say which one is missing."""
    with pytest.raises(ConfigurationError, match="a Broken has no name; give it one"):
        Evaluator([broken("40", name), broken("40", "form")])


def test_an_evaluator_without_metrics_is_refused() -> None:
    """In a sentence, and not by a division through nought."""
    with pytest.raises(ConfigurationError, match="an evaluator needs at least one metric"):
        Evaluator([])


def test_a_weight_that_no_metric_would_have_is_refused() -> None:
    """A misspelt name would otherwise weigh nothing, and all others the same."""
    with pytest.raises(ConfigurationError, match="a weight is given to 'coverge', which is none of coverage, form"):
        Evaluator([broken("40", "coverage"), broken("40", "form")], {"coverge": 0.5, "form": 0.5})


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"a": 0.5, "b": 0.3}, "weight sums to 0.8, expected 1.0"),
        ({"a": 0.6, "b": 0.6}, "weight sums to 1.2, expected 1.0"),
        ({"a": 0.5, "b": None}, "b has no weight while others have"),
        ({"a": 1.5, "b": -0.5}, "weight of a is 1.5"),
        ({"a": 1.0, "b": 0.0}, "weight of b is 0"),
        ({"a": math.nan, "b": 1.0}, "weight of a is nan"),
    ],
)
def test_weights_that_do_not_add_up_are_refused(weights: dict[str, float | None], message: str) -> None:
    """With the sum that they have."""
    with pytest.raises(ConfigurationError, match=message):
        resolve_weights(weights)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"team_id": ""}, "team_id cannot be empty"),
        ({"team_id": " "}, "team_id cannot be empty"),
        ({"execution_id": " "}, "execution_id cannot be empty"),
        ({"round_number": 0}, "round_number must be 1 or more, not 0"),
        ({"round_number": -3}, "round_number must be 1 or more, not -3"),
    ],
)
def test_a_round_of_nobody_cannot_be_evaluated(fields: dict[str, Any], message: str) -> None:
    """Replies and places on the board are known by team and round."""
    with pytest.raises(ValueError, match=message):
        EvaluationRequest("q", "s", **fields)


def test_thirds_add_up_to_one() -> None:
    """As far as floating point can tell."""
    assert resolve_weights({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})
    assert resolve_weights({"a": 0.333333, "b": 0.333333, "c": 0.333334})


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8))
def test_the_overall_score_stays_between_the_lowest_and_the_highest(scores: list[float]) -> None:
    """A mean is never outside of what it is the mean of."""
    metrics = tuple(MetricScore(str(number), score) for number, score in enumerate(scores))
    overall = EvaluationResult(metrics, resolve_weights({metric.name: None for metric in metrics})).overall_score

    assert overall is not None
    assert min(scores) - 1e-9 <= overall <= max(scores) + 1e-9


@pytest.mark.parametrize("field", ["user_query", "submission"])
@pytest.mark.parametrize("blank", ["", " \n\u3000"])
def test_nothing_cannot_be_evaluated(field: str, blank: str) -> None:
    """In seed 004's words."""
    with pytest.raises(ValueError, match=f"^{field} cannot be empty$"):
        EvaluationRequest(blank if field == "user_query" else "q", blank if field == "submission" else "s")


def test_usage_adds_up_what_was_paid_and_says_when_a_price_is_unknown() -> None:
    """A reply from the cache cost nothing; an unknown price makes the sum unknown."""
    paid = Reply("", "j", details={"usage": {"input_tokens": 5, "output_tokens": 2}, "cost_usd": 0.5, "cached": False})
    free = Reply("", "j", details={"usage": {"input_tokens": 5, "output_tokens": 2}, "cost_usd": 0.0, "cached": True})
    unpriced = Reply("", "j", details={"usage": {"input_tokens": None, "output_tokens": 1}, "cost_usd": None})

    unmasked = {"masked_replies": 0, "cut_off_replies": 0}
    assert usage_of([paid, free]) == {"calls": 1, "input_tokens": 5, "output_tokens": 2, "cost_usd": 0.5, **unmasked}
    assert usage_of([paid, unpriced]) == {
        "calls": 2,
        "input_tokens": 5,
        "output_tokens": 3,
        "cost_usd": None,
        **unmasked,
    }
    assert usage_of([]) == {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, **unmasked}


def test_replies_in_which_a_key_was_masked_are_counted_the_cached_included() -> None:
    """A cached reply cost nothing, and the endpoint that gave it has repeated the key all the same."""
    masked = [Reply("", "j", details={"masked_keys_in": ["text"], "cached": is_cached}) for is_cached in (True, False)]

    assert usage_of([*masked, Reply("", "j")])["masked_replies"] == 2


def test_a_missing_metric_has_no_score_anywhere() -> None:
    """Not in the details either."""
    result = EvaluationResult((MissingMetric("a", "gone"),), {"a": 1.0})

    assert result.details()["metrics"] == []
    assert result.overall_score is None
