"""What progress says, with a clock that we turn."""

import pytest

from mixseek.runs.progress import SECONDS_BETWEEN_LINES, LineProgress, Meter, describe_seconds


class Clock:
    """Stands still until told otherwise."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_rate_leaves_out_what_an_earlier_run_had_done() -> None:
    """Otherwise a resumed run would promise to be over at once."""
    clock = Clock()
    meter = Meter(1_000, clock)
    clock.now += 10
    meter.counts.update({"samples": 100, "skipped": 500, "valid": 90, "undecided": 10})

    assert meter.describe() == "600/1,000 samples · 10/s · 40s to go · valid 90 · undecided 10"


def test_without_a_total_there_is_no_time_to_go() -> None:
    """Stdin has no length."""
    clock = Clock()
    meter = Meter(None, clock)
    clock.now += 2
    meter.counts.update({"samples": 10, "valid": 10})

    assert meter.describe() == "10 samples · 5/s · valid 10"


def test_a_log_gets_a_line_now_and_then() -> None:
    """Not one per batch."""
    clock = Clock()
    lines: list[str] = []
    progress = LineProgress(100, clock, notify=lines.append)
    for _ in range(10):
        clock.now += SECONDS_BETWEEN_LINES / 4
        progress.advance({"samples": 1, "skipped": 0, "valid": 1})

    assert len(lines) == 2


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (8.4, "8s"), (59.6, "1m 00s"), (200, "3m 20s"), (3599.6, "1h 00m"), (3900, "1h 05m")],
)
def test_durations_are_two_units_at_most(seconds: float, text: str) -> None:
    """Nobody waits for the seconds of the third hour."""
    assert describe_seconds(seconds) == text
