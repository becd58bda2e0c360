"""Texts that come to no answer."""

import pytest

from mixseek.matching.discounted import is_discounted
from mixseek.matching.unanswered import turns_in_circles


@pytest.mark.parametrize("unit", ["and ", "Ada passes the lamp to Bo. ", "Step 12: turn left, then go on as before; "])
def test_a_text_that_repeats_one_unit_turns_in_circles(unit: str) -> None:
    """Counters aside, and wherever the cut falls."""
    counted = "".join(unit.replace("12", str(number)) for number in range(80))

    assert turns_in_circles(f"It began well. {counted}")
    assert turns_in_circles(f"It began well. {counted}"[:-2])


def test_a_text_that_only_ends_as_it_began_does_not() -> None:
    line = "The lamp stands on the table beside the window, where Ada left it in the evening. "
    others = "Bo looked for it in the cellar and then in the attic, and at last in the garden shed, in vain. "

    assert not turns_in_circles(line + others + line)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("it differs. so the answer is 7.", False), ("it differs. so the answer is 7 only if the switch is on.", True)],
)
def test_a_condition_discounts_even_the_plainest_cue(text: str, expected: bool) -> None:
    assert is_discounted(text, 0, text.index("answer"), text.index("7"), len(text)) is expected
