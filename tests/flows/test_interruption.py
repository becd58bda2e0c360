"""kill -9, Ctrl-C and SIGTERM at any moment: the same command ends with exactly what an undisturbed run gives."""

import json
import os
import signal
from pathlib import Path

import pytest
from tests.flows.dying import MOMENTS_OF_AN_APPEND, dying
from tests.flows.live import stop_at_once
from tests.flows.running import hold_at, mixseek_here, read_jsonl, size_of, start, sums, write_jsonl
from tests.flows.warm import Begun
from tests.once import made_once
from tests.waiting import wait_for

# While starting: before the manifest is there, and on taking it up again. While judging: in the middle of a line,
# before a sync, and before an append; much of what there is to judge is left after each.
KILLS = [
    (1, "manifest"),
    (2, "journal.jsonl"),
    (3, "journal.jsonl"),
    (1, "manifest"),
    (8, "journal.jsonl"),
    (4, "journal.jsonl"),
]
# A little more than the head that is judged without further processes.
SAMPLES = 4_100


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset that keeps the judges busy for a while, and its undisturbed results; workspaces are a test's own."""
    return made_once(tmp_path_factory, "interruption", make_place)


def make_place(directory: Path) -> None:
    write_jsonl(directory / "data.jsonl", sums(SAMPLES))
    done = mixseek_here("judge", "data.jsonl", "--workspace", "calm", "--run", "r", "--json", cwd=directory)
    assert done.returncode == 0, done.stderr
    (directory / "calm.json").write_text(done.stdout, encoding="utf-8")
    export(directory, "calm")


def export(place: Path, workspace: str) -> Path:
    target = place / f"{workspace}.jsonl"
    done = mixseek_here("export", "r", "--workspace", workspace, "--to", target, cwd=place)
    assert done.returncode == 0, done.stderr
    return target


def journal_of(place: Path, workspace: str) -> Path:
    return place / workspace / "runs" / "r" / "journal.jsonl"


def counts_of(summary: str) -> object:
    return json.loads(summary)["counts"]


def judge_arguments(workspace: str, workers: int) -> tuple[str, ...]:
    return ("judge", "data.jsonl", "--workspace", workspace, "--run", "r", "--workers", str(workers), "--json")


def hold(place: Path, workspace: str, workers: int) -> Begun:
    """Held in the middle of judging, before the third of nine appends: what is sent now cannot come too late."""
    moment = 2 * MOMENTS_OF_AN_APPEND + 1
    return hold_at(moment, "journal.jsonl", *judge_arguments(workspace, workers), cwd=place)


@pytest.mark.thorough
@pytest.mark.parametrize("workers", [1, 2])
def test_kills_in_one_run_after_another_change_nothing(workers: int, place: Path) -> None:
    """The journal is the truth: each rerun goes on behind the last whole line, with one process or with two."""
    workspace = f"killed-{workers}"
    for moment, below in KILLS:
        process = start(*judge_arguments(workspace, workers), cwd=place, **dying(moment, below))
        process.communicate()
        assert process.returncode == -signal.SIGKILL, (moment, below)

    done = mixseek_here(*judge_arguments(workspace, workers), cwd=place)

    assert done.returncode == 0, done.stderr
    assert counts_of(done.stdout) == counts_of((place / "calm.json").read_text(encoding="utf-8"))
    assert export(place, workspace).read_bytes() == (place / "calm.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("signum", "workers"), [(signal.SIGINT, 1), (signal.SIGINT, 2), (signal.SIGTERM, 2), (signal.SIGHUP, 2)]
)
def test_a_signal_drains_and_exits_130(signum: signal.Signals, workers: int, place: Path) -> None:
    """Sent to the whole group, as a terminal does: workers do not complain, and what was begun is journaled."""
    workspace = f"stopped-{signum.name}-{workers}"
    journal = journal_of(place, workspace)
    process = hold(place, workspace, workers)
    os.killpg(process.pid, signum)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate()
    whole = journal_of(place, "calm").read_bytes()
    manifest = json.loads(journal.with_name("manifest.json").read_text(encoding="utf-8"))

    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    assert "run the same command again" in err
    assert manifest["status"] == "interrupted"
    # Dataset order and whole lines: what is there is exactly how the undisturbed journal begins.
    assert whole.startswith(journal.read_bytes())
    assert 0 < size_of(journal) < len(whole)


def test_a_second_signal_stops_at_once(place: Path) -> None:
    """Without a traceback, and resumable all the same."""
    process = hold(place, "twice", 2)
    err = stop_at_once(process)

    assert process.returncode == 130
    assert "Traceback" not in err


def test_a_judging_process_that_is_killed_is_one_line_and_resumable(place: Path) -> None:
    """Out of memory, say. Exit 4: the same command goes on behind what was journaled."""
    process = hold(place, "shot", 2)
    os.kill(worker_of(process), signal.SIGKILL)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate()

    assert process.returncode == 4, err
    assert out == ""
    assert "a judging process died" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert journal_of(place, "calm").read_bytes().startswith(journal_of(place, "shot").read_bytes())


def worker_of(process: Begun) -> int:
    """A child that judges."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    return next(int(child) for child in children if b"mixseek.engine" in Path(f"/proc/{child}/cmdline").read_bytes())


def test_no_judging_process_outlives_a_kill(place: Path) -> None:
    """A worker that waits for a dead parent would wait for ever."""
    process = hold(place, "orphans", 2)
    process.kill()
    process.communicate()

    def is_gone() -> bool:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    wait_for(is_gone)


def test_two_commands_on_one_run_do_not_mix_their_lines(place: Path) -> None:
    """The second one is told that the run is busy; the first one is not disturbed."""
    process = hold(place, "busy", 1)
    second = mixseek_here(*judge_arguments("busy", 1), cwd=place)
    process.send_signal(signal.SIGCONT)
    process.communicate()

    assert process.returncode == 0
    assert second.returncode == 4
    assert len(second.stderr.splitlines()) == 1
    ids = [row["id"] for row in read_jsonl(export(place, "busy"))]
    assert ids == [f"sum-{n}" for n in range(SAMPLES)]
