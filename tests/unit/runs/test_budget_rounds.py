"""How many pairs are chosen at once."""

from tests.cases import each

from mixseek.runs.budget_rounds import round_size


@each(("systems", "pairs"), [(2, 16), (6, 16), (7, 21), (12, 66), (28, 378), (29, 400), (200, 400)])
def test_a_round_has_each_two_systems_once_within_limits(systems: int, pairs: int) -> None:
    assert round_size(systems) == pairs
