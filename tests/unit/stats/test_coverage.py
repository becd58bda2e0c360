"""Intervals hold the truth about as often as they say: some hundred seeded replications of `make coverage`."""

from functools import partial
from random import Random

import pytest
from bench.boards import TOP_WORLDS, WORLDS, held, question_by_question, until_known
from bench.coverage import PLAIN, plain_line
from bench.draws import SETTINGS, Setting

from mixseek.stats.estimates import State
from mixseek.stats.pair_planning import next_pairs

QUICK = [setting for setting in SETTINGS if setting.share == 1.0 and setting.name != "e"]


@pytest.mark.parametrize("setting", QUICK, ids=lambda setting: setting.name)
def test_most_intervals_hold_the_truth(setting: Setting) -> None:
    """Of 150, between 90 % and 99.5 %: chance alone moves 95 % by three points either way."""
    rng = Random(f"test {setting.name}")
    draws = [setting.draw(rng) for _ in range(150)]
    told = [(draw.truth, result) for draw in draws if (result := draw.result()).low is not None]
    held = sum((result.low or 0) <= truth <= (result.high or 0) for truth, result in told)

    assert len(told) > 140
    assert 0.9 <= held / len(told) <= 0.995


def test_labels_of_one_verdict_never_give_a_number() -> None:
    setting = next(one for one in SETTINGS if one.name == "e")
    rng = Random(3)
    results = [setting.draw(rng).result() for _ in range(20)]

    assert {(result.state, result.point) for result in results} == {(State.BOUNDS, None)}


@pytest.mark.thorough
def test_few_questions_make_wide_intervals_that_hold() -> None:
    """Twenty questions that resemble each other within."""
    for setting in PLAIN[:8]:
        coverage = float(plain_line(setting, 150, 5).split()[-2])
        assert 0.9 <= coverage <= 0.995


@pytest.mark.thorough
def test_intervals_of_strengths_hold_the_truth_where_questions_resemble_themselves() -> None:
    """Of 240 intervals; those that take comparisons for independent are too short here."""
    found = held(WORLDS[2], 30, 7)

    assert 0.91 <= found.ours / found.counted <= 0.985
    assert found.fisher < found.ours - 5
    assert found.ranks / found.counted > 0.97


def test_chosen_pairs_tell_the_first_three_from_fewer_judgments() -> None:
    """The same answers, all of question after question or chosen round by round."""
    rng = Random(3)
    rows = [row for question in range(40) for row in TOP_WORLDS[0].question(rng, f"q{question}")]
    whole, is_known = until_known(TOP_WORLDS[0], rows, question_by_question)
    chosen, is_right = until_known(TOP_WORLDS[0], rows, partial(next_pairs, top=3, seed=1))

    assert is_known
    assert is_right
    assert chosen <= 0.6 * whole
