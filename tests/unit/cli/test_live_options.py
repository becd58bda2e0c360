"""Options of live judges, and what is said while they are waited for."""

import json

import pytest

from mixseek.cli.asking import judging
from mixseek.cli.main import main
from mixseek.cli.terminal.console import ExitCode, notify_json
from mixseek.cli.terminal.progress import show_progress
from mixseek.runs.progress import LineProgress, Meter
from mixseek.runs.requests.request import JudgeRequest, LiveOptions


def requested(*words: str, monkeypatch: pytest.MonkeyPatch) -> LiveOptions:
    """What `mixseek judge` asks for when these words are typed."""
    asked: list[JudgeRequest] = []

    def note(order: judging.JudgeOrder, job: object) -> ExitCode:
        asked.append(order.request)
        return ExitCode.OK

    monkeypatch.setattr(judging, "run_judge", note)

    assert main(["judge", "data.jsonl", *words]) == ExitCode.OK
    return asked[0].live


def test_what_is_not_typed_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command's defaults are those of the library."""
    assert requested(monkeypatch=monkeypatch) == LiveOptions()


@pytest.mark.parametrize(
    ("typed", "name", "value"),
    [
        ("--concurrency 4", "concurrency", 4),
        ("--repeats 3", "repeats", 3),
        ("--max-reasks 0", "max_reasks", 0),
        ("--max-calls 7", "max_calls", 7),
        ("--max-cost 0", "max_cost_usd", 0.0),
        ("--no-cache", "use_cache", False),
        ("--patience 5", "patience_seconds", 5.0),
        ("--timeout 2.5", "timeout_seconds", 2.5),
        ("--retry-refused", "retry_refused", True),
        ("--retry-invalid", "retry_invalid", True),
        ("--keep-going", "keep_going", True),
    ],
)
def test_what_is_typed_wins_nought_included(
    typed: str, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--max-reasks 0 and --max-cost 0 mean what they say."""
    assert getattr(requested(*typed.split(), monkeypatch=monkeypatch), name) == value


def test_progress_tells_what_is_in_flight_and_what_it_cost() -> None:
    """In flight is told as differences, so that their sum is the present number."""
    meter = Meter(100, lambda: 0.0)
    meter.counts.update({"samples": 10, "valid": 9, "invalid": 1, "in_flight": 40})
    meter.counts.update({"in_flight": -8, "cached": 2, "cost_millionths": 12_300})

    text = meter.describe()

    assert "32 in flight" in text
    assert "2 from cache" in text
    assert "$0.0123" in text


def test_json_lines_take_the_place_of_bar_and_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    """Each a document with a time; no bar on any terminal."""
    with show_progress(10, quiet=False, notify=notify_json) as progress:
        assert isinstance(progress, LineProgress)
        progress.notify("3 of 10")

    line = json.loads(capsys.readouterr().err)
    assert line["message"] == "3 of 10"
    assert line["time"].endswith("+00:00")
