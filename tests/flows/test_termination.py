"""SIGTERM at any moment: exit 130, no traceback, and the same command goes on."""

import signal
import time
from pathlib import Path

import pytest
from tests.flows.running import mixseek, start, sums, write_jsonl

from mixseek.cli.interrupts import stop_signals, stopping_on_signals


@pytest.mark.parametrize("seconds", [0.6, 1.0, 1.5, 2.2, 3.0])
def test_whenever_it_comes_the_exit_code_is_130(seconds: float, tmp_path: Path) -> None:
    """While the dataset is read, judged or indexed, or when all is done."""
    data = write_jsonl(tmp_path / "data.jsonl", sums(30_000))
    process = start("judge", data, "--workspace", "ws", "--run", "r", cwd=tmp_path)
    time.sleep(seconds)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    again = mixseek("judge", data, "--workspace", "ws", "--run", "r", cwd=tmp_path)

    assert process.returncode == 130 or (process.returncode == 0 and "mean score" in out), err
    assert "Traceback" not in err
    assert again.returncode == 0, again.stderr


def test_outside_of_judging_a_signal_ends_it_at_once() -> None:
    """Nobody looks whether to stop while a dataset is surveyed or a journal indexed."""
    with pytest.raises(KeyboardInterrupt), stopping_on_signals(drains=False):
        signal.raise_signal(signal.SIGTERM)
    stop_signals.clear()
