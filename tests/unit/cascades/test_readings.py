"""How judges' takes become opinions, opinions a tier's verdict, and verdicts disagreement with people."""

import pytest
from tests.cases import each

from mixseek.cascades.plan import ask_tiers
from mixseek.cascades.readings import (
    Candidate,
    Opinion,
    RatedText,
    RatingScale,
    Take,
    TierReader,
    join_scores,
    join_takes,
    read_item,
)
from mixseek.domain.confidence import ConfidenceSource
from mixseek.errors import ConfigurationError
from mixseek.stats.cascades import Reading

BINARY, GRADED = RatingScale(), RatingScale(is_graded=True)
PANEL, REPEATS, LOGPROBS = ConfidenceSource.PANEL, ConfidenceSource.REPEATS, ConfidenceSource.LOGPROBS


@each(
    ("scores", "scale", "expected"),
    [
        ([], BINARY, None),
        ([1.0], BINARY, 1.0),
        ([1.0, 0.0], BINARY, None),
        ([1.0, 0.0, 1.0], BINARY, 1.0),
        ([1.0, 0.0, 0.5], BINARY, None),
        ([0.2, 0.4, 0.9], GRADED, 0.4),
        ([0.2, 0.4], GRADED, pytest.approx(0.3)),
    ],
)
def test_several_scores_are_one_where_most_say_so(
    scores: list[float], scale: RatingScale, expected: float | None
) -> None:
    """Between right and wrong there is nothing; on a graded scale there is a middle."""
    assert join_scores(scores, scale) == expected


def test_takes_are_as_sure_as_they_agree_or_as_they_say() -> None:
    """Never one source in the place of another, and nothing where none is."""
    takes = [Take(1.0, {LOGPROBS: 0.9}), Take(0.0, {LOGPROBS: 0.8}), Take(1.0, {LOGPROBS: 0.7})]

    assert join_takes(takes, REPEATS, BINARY) == Opinion(1.0, 2 / 3)
    assert join_takes(takes, LOGPROBS, BINARY) == Opinion(1.0, 0.8)
    assert join_takes(takes, None, BINARY) == Opinion(1.0)
    assert join_takes([Take(1.0)], LOGPROBS, BINARY) == Opinion(1.0)
    assert join_takes(takes[:2], REPEATS, BINARY) is None


def opinions(**scores: float) -> dict[str, Opinion]:
    return {name: Opinion(score) for name, score in scores.items()}


@each(
    ("tier", "heard", "expected"),
    [
        (TierReader(("a",)), opinions(a=1.0), Opinion(1.0, 1.0)),
        (TierReader(("a",)), opinions(b=1.0), None),
        (TierReader(("a",), (), LOGPROBS), opinions(a=1.0), None),
        (TierReader(("a", "b", "c"), (), PANEL), opinions(a=1.0, b=1.0, c=1.0), Opinion(1.0, 1.0)),
        (TierReader(("a", "b", "c"), (), PANEL), opinions(a=1.0, b=0.0, c=1.0), Opinion(1.0, 2 / 3)),
        # Whoever was asked and gave no verdict does not agree.
        (TierReader(("a", "b", "c"), (), PANEL), opinions(a=1.0, b=1.0), Opinion(1.0, 2 / 3)),
        (TierReader(("a", "b"), (), PANEL), opinions(a=1.0, b=0.0), None),
        # Judges beside it decide nothing, however many they are.
        (TierReader(("d",), ("a", "b", "c"), PANEL), opinions(a=1.0, b=1.0, c=1.0, d=0.0), Opinion(0.0, 0.25)),
        (TierReader(("d",), ("a", "b", "c"), PANEL), opinions(a=1.0, b=1.0, d=1.0), Opinion(1.0, 0.75)),
        (TierReader(("d",), ("a", "b", "c"), PANEL), opinions(a=1.0, b=1.0, c=1.0), None),
    ],
)
def test_a_tier_says_what_most_of_it_say(tier: TierReader, heard: dict[str, Opinion], expected: Opinion | None) -> None:
    assert tier.read(heard, BINARY) == expected


@each(
    ("labels", "scale", "score", "expected"),
    [
        ((), BINARY, 1.0, None),
        ((1.0,), BINARY, 1.0, 0.0),
        ((0.0,), BINARY, 1.0, 1.0),
        ((0.0, 1.0), BINARY, 1.0, 0.5),
        ((0.5,), GRADED, 0.74, 0.0),
        ((0.5,), GRADED, 0.75, 1.0),
        ((0.5, 0.9, 1.0), GRADED, 0.8, pytest.approx(1 / 3)),
    ],
)
def test_disagreement_is_the_share_of_people_who_say_something_else(
    labels: tuple[float, ...], scale: RatingScale, score: float, expected: float | None
) -> None:
    """A quarter of the scale apart is something else: the rule of labels everywhere."""
    text = RatedText("t", "q", {"a": Opinion(score)}, labels, 2.0)
    item = read_item(text, [TierReader(("a",)), TierReader(("b",))], scale)

    assert item.readings == (Reading(1.0, expected), None)
    assert (item.question, item.weight, item.is_labelled) == ("q", 2.0, bool(labels))


@each(
    ("sources", "expected"),
    [
        ({}, None),
        ({LOGPROBS: 60}, LOGPROBS),
        ({LOGPROBS: 50}, None),
        ({LOGPROBS: 10, REPEATS: 90}, REPEATS),
        ({ConfidenceSource.WRITTEN: 100, ConfidenceSource.DECISION: 100}, ConfidenceSource.DECISION),
    ],
)
def test_a_judge_is_sure_by_one_source_that_most_of_its_judgments_have(
    sources: dict[ConfidenceSource, int], expected: ConfidenceSource | None
) -> None:
    """The most trusted of those; two are no common scale."""
    assert Candidate("j", "j", sources=sources, judgments=100).source is expected


# Tiers as somebody writes them.

JUDGES = (
    Candidate("openai:a", "a", price=0.3),
    Candidate("b", "b", price=0.1),
    Candidate("c=d+e", "c=d+e", price=0.2, sources={LOGPROBS: 9}, judgments=9),
)


def asked(
    *texts: str, **prices: float
) -> list[tuple[str, tuple[str, ...], tuple[str, ...], ConfidenceSource | None, float | None]]:
    return [
        (tier.name, tier.reader.judges, tier.reader.beside, tier.reader.source, tier.price)
        for tier in ask_tiers(JUDGES, texts, prices)
    ]


def test_every_judge_is_a_tier_the_cheapest_first() -> None:
    """One with a confidence of its own uses that; others are as sure as those before them agree."""
    assert asked() == [
        ("b", ("b",), (), None, 0.1),
        ("c=d+e", ("c=d+e",), (), LOGPROBS, 0.2),
        ("a", ("openai:a",), ("b", "c=d+e"), PANEL, 0.3),
    ]


def test_tiers_stand_as_they_are_written() -> None:
    """By the name that a reader knows or by the one that is asked; a sign of ours in a judge's name is the judge's."""
    assert asked("c=d+e", "both=a + b") == [
        ("c=d+e", ("c=d+e",), (), LOGPROBS, 0.2),
        ("both", ("openai:a", "b"), (), PANEL, pytest.approx(0.4)),
    ]
    assert asked("all=c=d+e", "openai:a+b")[0][:2] == ("all", ("c=d+e",))
    assert asked("b", "a", "a+b")[2] == ("a+b", ("openai:a", "b"), (), PANEL, 0.0)


def test_a_panel_has_a_price_of_its_own() -> None:
    """By its name, or by who is in it."""
    assert asked("p=a+b", p=0.05)[0][4] == 0.05
    assert asked("p=a+b", **{"b+a": 0.05})[0][4] == 0.05
    with pytest.raises(ConfigurationError, match="--price a\\+b: no judge or tier is called so"):
        asked("a", **{"a+b": 0.05})
