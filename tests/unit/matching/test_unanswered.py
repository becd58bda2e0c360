"""Texts that come to no answer."""

import pytest

from mixseek.matching.no_answer import turns_in_circles


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
