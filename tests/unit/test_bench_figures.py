"""`make bench` fails where a ratio has grown by more than 15 % against the last release, and says what it was."""

import pytest
from bench import waiting
from bench.waiting import Figure, describe, has_grown, read_figures

_FIGURE = Figure(of="CPU of ours / of theirs", before=3.0, aim=1.5, last=2.0)


@pytest.mark.parametrize(("now", "expected"), [(1.4, False), (2.0, False), (2.29, False), (2.31, True)])
def test_fifteen_percent_are_noise_and_more_is_a_defect(now: float, expected: bool) -> None:
    assert has_grown(_FIGURE, now) is expected


def test_a_figure_stands_beside_the_old_ones() -> None:
    line = describe("live_cpu", _FIGURE, 2.5)
    assert line.startswith("live_cpu: 2.50 (last release 2.00, before 3.00, aim 1.50): GROWN by more than 15 %")
    assert describe("live_cpu", _FIGURE, 1.8).partition("\n")[0].endswith("not met yet")
    assert describe("live_cpu", _FIGURE, 1.5).partition("\n")[0].endswith("met")


def test_every_figure_of_the_file_is_measured() -> None:
    assert {name for part in waiting.PARTS for name in part} == set(read_figures())


@pytest.mark.parametrize(("now", "code"), [(1.0, 0), (1_000.0, 1)])
def test_the_exit_code_is_the_verdict(monkeypatch: pytest.MonkeyPatch, now: float, code: int) -> None:
    monkeypatch.setattr(waiting, "PARTS", {("start_up", "report_small"): lambda: dict.fromkeys(read_figures(), now)})
    assert waiting.main(["start_up"]) == code
