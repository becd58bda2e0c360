"""Whether there is another round: every case of a small finite space."""

from itertools import product

from tests.cases import each

from mixseek.domain.rounds import DecidedBy, ImprovementJudgment, NoOpinion, Opinion, RoundDecision, StopReason
from mixseek.round_controller.decisions import decide, has_stalled, wants_opinion
from mixseek.settings.race import OutagePolicy, RoundsTable

GO_ON = ImprovementJudgment(True, "more to gain", 0.9)
ENOUGH = ImprovementJudgment(False, "nothing left", 0.9)
OUT = NoOpinion("no reply")
OPINIONS: tuple[Opinion | None, ...] = (None, GO_ON, ENOUGH, OUT)


def expected(
    played: int, rules: RoundsTable, stalled: bool, opinion: Opinion | None, policy: OutagePolicy
) -> RoundDecision:
    """The rules in words, once more and written differently: maximum, minimum, no gain, then the opinion."""
    stop = StopReason.MAX_ROUNDS if played == rules.max else None
    by = DecidedBy.CONTROLLER
    if stop is None and played >= rules.min:
        if stalled and rules.no_gain_rounds is not None:
            stop, by = StopReason.NO_GAIN, DecidedBy.NO_GAIN_RULE
        elif opinion is OUT:
            stop = StopReason.JUDGE_OUT if policy == "stop" else None
            by = DecidedBy.POLICY
        elif opinion is not None:
            stop, by = StopReason.JUDGED_ENOUGH if opinion is ENOUGH else None, DecidedBy.JUDGE
    return RoundDecision(stop is None, stop, by)


@each("policy", ["continue", "stop"])
@each("no_gain_rounds", [None, 1])
@each(("minimum", "maximum"), [(low, high) for high in range(1, 5) for low in range(1, high + 1)])
def test_every_case_is_decided_as_the_rules_say(
    policy: OutagePolicy, no_gain_rounds: int | None, minimum: int, maximum: int
) -> None:
    """All rounds, rising and falling scores, all opinions."""
    rules = RoundsTable(min=minimum, max=maximum, no_gain_rounds=no_gain_rounds)
    for played, rises, opinion in product(range(1, maximum + 1), (True, False), OPINIONS):
        scores = [50.0 + (number if rises else -number) for number in range(played)]
        stalled = not rises and played > 1

        assert decide(scores, opinion, rules, policy) == expected(played, rules, stalled, opinion, policy)


def test_the_defaults_are_two_and_five_rounds() -> None:
    """Seed and issue agree."""
    assert (RoundsTable().min, RoundsTable().max) == (2, 5)


@each(
    ("scores", "rounds", "min_gain", "stalled"),
    [
        ([50.0], 1, 0.0, False),
        ([50.0, 50.0], 1, 0.0, True),
        ([50.0, 51.0], 1, 0.0, False),
        ([50.0, 51.0], 1, 1.0, True),
        ([50.0, 51.5], 1, 1.0, False),
        ([50.0, 40.0, 60.0], 1, 0.0, False),
        ([50.0, 40.0, 45.0], 2, 0.0, True),
        ([50.0, 60.0, 55.0], 2, 0.0, False),
        ([50.0, 60.0, 55.0, 60.0], 2, 0.0, True),
        ([None, 10.0], 1, 0.0, False),
        ([50.0, None], 1, 0.0, True),
        ([None, None], 1, 0.0, True),
        ([None], 1, 0.0, False),
        ([10.0, 20.0, 30.0], 3, 0.0, False),
    ],
)
def test_a_stall_is_so_many_rounds_without_a_better_score(
    scores: list[float | None], rounds: int, min_gain: float, stalled: bool
) -> None:
    """A round without a score brought no gain; the first score is one."""
    assert has_stalled(scores, rounds, min_gain) is stalled


def test_the_judge_is_asked_only_where_its_word_can_count_or_is_wanted() -> None:
    """Not before the minimum, not where the rule of no gain has spoken; after the last round unless told not to."""
    rules = RoundsTable(min=2, max=4, no_gain_rounds=1)
    rising, falling = [1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]
    quiet = RoundsTable(min=2, max=4)

    assert [wants_opinion(rising[:played], rules) for played in (1, 2, 3, 4)] == [False, True, True, True]
    assert [wants_opinion(falling[:played], rules) for played in (1, 2, 3, 4)] == [False, False, False, True]
    asked = [wants_opinion(rising[:played], quiet, after_last_round=False) for played in (1, 2, 3, 4)]
    assert asked == [False, True, True, False]
