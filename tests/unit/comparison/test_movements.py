"""What a hurried reader of a comparison sees first: both means in one line, and the groups that moved."""

from dataclasses import replace

import pytest
from tests.unit.stats.test_difference import sums_of

from mixseek.comparison.model import ComparedSide, Comparison, Drift, GroupDifference
from mixseek.comparison.views.sections import comparison_sections, group_sections, split_groups
from mixseek.comparison.views.words import movement_text
from mixseek.presentation.render.html import panels_html
from mixseek.presentation.render.markdown import sections_markdown
from mixseek.presentation.render.terminal import result_text
from mixseek.stats.difference import Difference, estimate_difference

SIDE = ComparedSide("A", "march", "march", "d.jsonl", ("rules",), 40, 0, ())


def difference_of(better: int, worse: int = 0, equal: int = 20, high: float = 1.0) -> Difference:
    """One pair a question: so many went from nought to `high`, so many back, and the others stayed at nought."""
    pairs = [(0.0, high)] * better + [(high, 0.0)] * worse + [(0.0, 0.0)] * equal
    return estimate_difference(*sums_of([[pair] for pair in pairs]))


def comparison_of(whole: Difference, *groups: GroupDifference) -> Comparison:
    drift = Drift(None, 0, 0, None, whole, ())
    side_b, by_task = replace(SIDE, letter="B", name="april"), {"task": groups} if groups else {}
    return Comparison("semantic 1", "ab" * 32, SIDE, side_b, (), whole, by_task, drift, (), (), (), ())


@pytest.mark.parametrize(
    ("whole", "expected"),
    [
        (difference_of(10), r"0.0% → 33.3% (+33.3 points, +15.4 to +51.2)"),
        (difference_of(0, 10), r"33.3% → 0.0% (−33.3 points, −51.2 to −15.4)"),
        (difference_of(10, high=0.5), r"0.000 → 0.167 (+0.167, +0.077 to +0.256)"),
        (difference_of(1, equal=0), "0.0% → 100.0% (+100.0 points)"),
        (difference_of(0, equal=0), None),
    ],
)
def test_a_movement_has_both_means_the_difference_and_its_ends(whole: Difference, expected: str | None) -> None:
    """The unit stands once, with an arrow and true minuses; without a difference there is nothing to say."""
    comparison = comparison_of(whole)

    assert movement_text(comparison) == expected
    assert (expected or "april against march") in result_text(comparison)
    assert (expected or "april against march") in sections_markdown(comparison_sections(comparison)).replace("`", "")


def names(groups: list[GroupDifference]) -> list[str | None]:
    return [group.name for group in groups]


def test_groups_that_moved_lead_and_the_others_are_folded() -> None:
    """A wide interval leads nobody, however large its mean."""
    moved = [GroupDifference("up", difference_of(10), 0.01), GroupDifference("down", difference_of(0, 15), 0.01)]
    wide = GroupDifference("wide", difference_of(1, equal=0), None)
    still = [GroupDifference(f"still-{number}", difference_of(1, 1), 1.0) for number in range(8)]
    groups = (*still, wide, *moved)

    leading, others = split_groups(groups)
    first, folded = group_sections(comparison_of(difference_of(10), *groups))
    page = panels_html([first, folded], str)

    assert names(leading) == ["down", "up"]
    assert names(others) == ["wide", *(f"still-{number}" for number in range(8))]
    assert page.count("<details>") == 1
    assert "<summary><h3>By task: 9 more without a clear change</h3></summary>" in page
    assert page.index(">up<") < page.index("<details>") < page.index(">wide<")


def test_the_largest_changes_lead_where_no_group_moved_clearly() -> None:
    groups = [GroupDifference(f"g{number}", difference_of(number, 1, 30), 1.0) for number in range(2, 5)]
    groups += [GroupDifference(f"still-{number}", difference_of(1, 1), 1.0) for number in range(7)]

    leading, others = split_groups(groups)

    assert names(leading) == ["g4", "g3", "g2", "still-0", "still-1"]
    assert len(others) == 5


def test_a_few_groups_stay_together() -> None:
    """Nothing is hidden that fits at a glance; the largest change is the first."""
    groups = [GroupDifference(f"g{number}", difference_of(number), 0.5) for number in range(8)]

    leading, others = split_groups(groups)

    assert (names(leading), others) == ([f"g{number}" for number in reversed(range(8))], [])
