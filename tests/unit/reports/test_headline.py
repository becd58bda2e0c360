"""The one order of every ranking, what a headline says, and the axis that it is drawn on."""

from collections.abc import Mapping

import pytest
from tests.unit.reports.counting import Unit, sums_of

from mixseek.analysis.run.headline import build_headline, summarise_group
from mixseek.analysis.run.model import Headline
from mixseek.domain.counts import PanelGroup
from mixseek.domain.panels import PanelRule, PanelState
from mixseek.reports.headline import (
    axis_of,
    describe_headline,
    headline_document,
    rule_sentence,
    score_sentence,
)


def group(*values: float | None, question: str | None = None) -> PanelGroup:
    """Samples of a question each, or all of one; None has no verdict."""
    units = [
        Unit(question or f"q{number}", value, *((0.0, 1.0) if value is None else (value, value)))
        for number, value in enumerate(values)
    ]
    valid = sum(value is not None for value in values)
    return PanelGroup(sums_of(units), {PanelState.VALID: valid, PanelState.SPLIT: len(values) - valid})


def headline(
    targets: Mapping[str | None, PanelGroup], variants: Mapping[str | None, PanelGroup] | None = None
) -> Headline:
    leading = {"target_model": targets, "prompt_variant": variants or {}}
    whole = group(1.0, 0.0, 1.0, None)
    return build_headline(PanelRule.MAJORITY, ("a", "b"), whole, leading, is_graded=False)


def test_the_highest_mean_is_first_equals_go_by_name_and_nothing_comes_last() -> None:
    found = headline({"b": group(1, 0), "silent": group(None), "a": group(0, 1), None: group(1, 1), "c": group(1, 1)})
    document = headline_document(found)

    assert [one.name for one in found.columns[0].groups] == ["c", None, "a", "b", "silent"]
    assert [one["rank"] for one in document["targets"]] == [1, 2, 3, 4, None]


def test_targets_lead_and_variants_follow_where_there_are_several() -> None:
    two: Mapping[str | None, PanelGroup] = {"A": group(1, 0), "B": group(0, 0)}
    one: Mapping[str | None, PanelGroup] = {"A": group(1, 0)}
    named: Mapping[str | None, PanelGroup] = {"m": group(1, 0)}

    assert [part.column for part in headline(named, two).columns] == ["target_model", "prompt_variant"]
    assert [part.column for part in headline(named, one).columns] == ["target_model"]
    assert [part.column for part in headline({None: group(1)}, one).columns] == ["prompt_variant"]
    assert headline({None: group(1)}, {None: group(1)}).columns == ()


def test_a_mean_without_an_interval_says_why() -> None:
    one, same = (summarise_group(own, is_graded=False) for own in (group(1), group(1, 0, 1, question="q")))
    nothing = summarise_group(group(None, None), is_graded=False)

    assert score_sentence(one, None) == "100.0% (1 sample: no interval, because one observation has no spread)"
    assert score_sentence(same, None).endswith(
        "(3 samples of 1 question: no interval, because samples of one question are one observation)"
    )
    assert score_sentence(nothing, None) == "no verdict on 2 samples: 2 split"


def test_after_judge_a_few_lines_say_it_all() -> None:
    lines = describe_headline(headline({"good": group(1, 1, None), "bad": group(0, 1)}))

    assert lines[0] == "Panel of 2 judges (a, b), majority: what more than half of them say, else split."
    assert lines[1:4] == [
        " 1. 100.0%     good",
        "    95% Wilson interval 34.2–100.0%, 2 samples",
        "    bounds 66.7–100.0%: 1 split",
    ]
    assert lines[4] == " 2. 50.0%      bad"


@pytest.mark.parametrize(
    ("rule", "judges", "said"),
    [
        (None, ("rules",), "Judged by rules."),
        (None, ("rules", "m"), "One verdict a sample, by the cascade rules → m."),
        (PanelRule.UNANIMOUS, ("a", "b"), "Panel of 2 judges (a, b), unanimous: what all of them say, else split."),
    ],
)
def test_whose_verdict_it_is(rule: PanelRule | None, judges: tuple[str, ...], said: str) -> None:
    whole = build_headline(rule, judges, group(1, 0), {}, is_graded=False)

    assert rule_sentence(whole) == said


@pytest.mark.parametrize("maximum", [None, 8.0, 100.0])
def test_everything_that_is_drawn_is_on_the_axis(maximum: float | None) -> None:
    """And a narrow range does not fill it: a hair's breadth must not look like a gulf."""
    close = build_headline(None, ("m",), group(*[0.9] * 400, *[0.91] * 400), {}, is_graded=True, maximum=maximum)
    axis = axis_of(close)
    score = close.score

    assert score.interval is not None
    assert 0 <= axis.low <= score.interval.low < score.interval.high <= axis.high <= 1
    assert axis.high - axis.low >= 1 / 3 - 1e-9
    assert all(-1e-9 <= axis.place(tick) <= 1 + 1e-9 for tick in axis.ticks)
    assert 3 <= len(axis.ticks) <= 7
    assert axis.labels[0] == {None: "0.6", 8.0: "5", 100.0: "60"}[maximum]
