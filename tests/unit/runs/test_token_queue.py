"""What refusals of a full queue teach: how many tokens may wait at once."""

from mixseek.runs.batches.token_queue import TokenQueue

OPENAI = (
    "token_limit_exceeded: Enqueued token limit reached for gpt-4o in organization org-x. Limit: 90,000 enqueued "
    "tokens. Please try again once some in_progress batches have been completed."
)


def test_a_limit_that_is_told_is_kept_with_a_margin() -> None:
    """No halving towards it: the provider has said how much there is room for."""
    queue = TokenQueue(None)
    is_smaller = queue.refused(1_000_000, OPENAI)

    assert is_smaller
    assert queue.most == 81_000


def test_a_limit_that_is_not_told_is_halved() -> None:
    """From what was refused, or from what is known to be too much."""
    queue = TokenQueue(None)
    first = queue.refused(1_000, "token_limit_exceeded: too much")
    after_first = queue.most
    second = queue.refused(400, "token_limit_exceeded: too much")

    assert (first, after_first) == (True, 500)
    assert (second, queue.most) == (True, 200)


def test_a_queue_that_something_else_holds_does_not_end_in_batches_of_one_request() -> None:
    """A failed batch may hold it for hours; then a smaller one helps nobody."""
    queue = TokenQueue(None)
    tries = [queue.refused(queue.most or 1_000_000, OPENAI) for _ in range(20)]

    assert queue.most == 90_000 // 16
    assert tries[0]
    assert not tries[-1]


def test_what_is_answered_makes_room_for_more_up_to_what_was_set() -> None:
    """A limit of the settings is never passed; one that was learnt grows by a half."""
    learnt, given = TokenQueue(None), TokenQueue(1_000)
    for queue in (learnt, given):
        queue.refused(1_000, "token_limit_exceeded: too much")
        for _ in range(5):
            queue.taken()

    untouched = TokenQueue(1_000)
    untouched.taken()
    free = TokenQueue(None)
    free.taken()
    assert learnt.most is not None
    assert learnt.most > 1_000
    assert given.most == 1_000
    assert (untouched.most, free.most) == (1_000, None)


def test_a_limit_of_the_settings_is_not_passed_by_what_is_told() -> None:
    """A provider may grant more than its user wants to wait."""
    queue = TokenQueue(1_000)
    is_smaller = queue.refused(900, OPENAI)

    assert (is_smaller, queue.most) == (False, 900)
