"""A live run that is killed, stopped, doubled or left without a disk: complete in the end, and paid for once."""

import contextlib
import json
import os
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest
from tests.conftest import at_most
from tests.flows.dying import dying
from tests.flows.live import (
    KEYS,
    begin,
    counts_of,
    export,
    journal_lines,
    judge,
    judge_arguments,
    read_log,
    read_until,
    riddles,
    stop_at_once,
    verdicts,
    wait_until,
)
from tests.flows.loopback import Loopback, loopback
from tests.flows.running import COMMAND, environment, mixseek_here, the_one_line, write_jsonl
from tests.waiting import PATIENCE_SECONDS

from mixseek.testing.mock_server import MockOptions

# From the first write of a start to the middle of the journal, which has a line for each sample and each reply.
KILLS_WHILE_WRITING = [2, 20, 41]
ANSWERS_BEFORE_KILLS = [0, 5, 17]
SAMPLES = 64
SAMPLES_TO_KILL_IN = 128
CONCURRENCY = 8


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "data.jsonl", riddles(SAMPLES))


def arguments(data: Path, endpoint: Loopback, workspace: str = "ws") -> list[str]:
    return judge_arguments(data, endpoint.spec, "--concurrency", str(CONCURRENCY), workspace=workspace)


def has_been_asked(endpoint: Loopback, goal: int) -> bool:
    return endpoint.requests >= goal


@pytest.mark.thorough
def test_kills_lose_nothing_and_cost_only_what_was_in_flight(tmp_path: Path) -> None:
    """kill -9 while starting, asking and writing; the endpoint's log tells what was asked twice."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(SAMPLES_TO_KILL_IN))
    with loopback(MockOptions(log=tmp_path / "requests.log")) as endpoint:
        calm = judge(data, endpoint.spec, cwd=tmp_path, workspace="calm")
        wanted, before = verdicts(export(tmp_path, "calm")), endpoint.requests
        for moment in KILLS_WHILE_WRITING:
            # At a write, with whatever is in flight then.
            process = begin(*arguments(data, endpoint, "killed"), cwd=tmp_path, **dying(moment, "killed"))
            process.communicate()
            assert process.returncode == -signal.SIGKILL, moment
        for answered in ANSWERS_BEFORE_KILLS:
            # While all that may be asked at once is in flight, behind so many answers.
            endpoint.hold(after=answered)
            goal = endpoint.requests + answered + CONCURRENCY
            process = begin(*arguments(data, endpoint, "killed"), cwd=tmp_path)
            assert wait_until(partial(has_been_asked, endpoint, goal), process), process.communicate()
            process.kill()
            process.communicate()
        endpoint.release()
        last = judge(data, endpoint.spec, cwd=tmp_path, workspace="killed")
        asked = endpoint.requests - before
    lost = [exchange for exchange in read_log(tmp_path / "requests.log")[before:] if exchange.status is None]

    assert calm.returncode == last.returncode == 0, last.stderr
    assert verdicts(export(tmp_path, "killed")) == wanted
    assert len(journal_lines(tmp_path, "reply", "killed")) == SAMPLES_TO_KILL_IN
    assert counts_of(last) == counts_of(calm)
    # In flight, as whoever is killed sees it: sent, and the answer not written down.
    again = asked - SAMPLES_TO_KILL_IN
    kills = len(KILLS_WHILE_WRITING) + len(ANSWERS_BEFORE_KILLS)
    assert len(ANSWERS_BEFORE_KILLS) * CONCURRENCY <= again <= kills * CONCURRENCY
    assert len(lost) <= again, (len(lost), asked)


def has_begun(run: Path) -> bool:
    journal = run / "journal.jsonl"
    return journal.is_file() and journal.stat().st_size > 0


def test_two_runs_and_whoever_reads_share_a_workspace(tmp_path: Path) -> None:
    """Two processes judge into one workspace, and one cache of replies, while others list, report and show."""
    rows = riddles(2 * SAMPLES)
    parts = {"first": rows[:SAMPLES], "second": rows[SAMPLES:]}
    with loopback() as endpoint, contextlib.ExitStack() as stack:
        # Both are in the middle of it for as long as others read; whoever stood in a queue would never be served.
        endpoint.hold(after=SAMPLES)
        processes = {}
        for run, own in parts.items():
            write_jsonl(tmp_path / f"{run}.jsonl", own)
            words = ("--judge", endpoint.spec, "--workspace", "ws", "--run", run, "--json", "--concurrency", "2")
            processes[run] = begin("judge", f"{run}.jsonl", *words, cwd=tmp_path)
            stack.callback(processes[run].kill)
        for run, process in processes.items():
            assert wait_until(partial(has_begun, tmp_path / "ws" / "runs" / run), process), process.communicate()
        # The first sample of a run is in its journal as soon as there is anything.
        shown = [("show", run, own[0]["id"]) for run, own in parts.items()]
        wait_until(lambda: endpoint.requests > SAMPLES, processes["first"])
        for command in (("runs",), ("report", "first"), ("report", "second"), *shown):
            with at_most(PATIENCE_SECONDS, " ".join(command)):
                read = mixseek_here(*command, "--workspace", "ws", cwd=tmp_path)
            assert read.returncode == 0, (command, read.stderr)
        assert [process.poll() for process in processes.values()] == [None, None]
        endpoint.release()
        said = {run: process.communicate() for run, process in processes.items()}

    for run, process in processes.items():
        out, err = said[run]
        assert process.returncode == 0, err
        assert json.loads(out)["counts"]["valid"] == SAMPLES
    # Each asked for its own, once.
    assert endpoint.requests == 2 * SAMPLES


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_drains_what_is_in_flight_and_resumes(signum: signal.Signals, data: Path, tmp_path: Path) -> None:
    """Not one reply that was under way is thrown away, so the whole costs exactly one request a sample."""
    with loopback(MockOptions(log=tmp_path / "requests.log")) as endpoint:
        # What is asked is in flight until the signal has been heard.
        endpoint.hold()
        process = begin(*arguments(data, endpoint), cwd=tmp_path)
        assert wait_until(lambda: endpoint.requests >= CONCURRENCY, process)
        process.send_signal(signum)
        heard = read_until(process, "once more to stop at once")
        endpoint.release()
        out, err = process.communicate()
        err = heard + err
        paid, abandoned = endpoint.requests, endpoint.stats()["abandoned"]
        kept = len(journal_lines(tmp_path, "reply"))
        again = judge(data, endpoint.spec, cwd=tmp_path)

    assert process.returncode == 130, err
    assert out == ""
    assert "run the same command again" in err
    assert "Traceback" not in err
    assert (kept, abandoned) == (paid, 0)
    assert again.returncode == 0, again.stderr
    assert endpoint.requests == SAMPLES
    assert counts_of(again)["valid"] == SAMPLES


def test_a_second_signal_stops_at_once(data: Path, tmp_path: Path) -> None:
    """Even when the endpoint takes its time; resumable all the same."""
    with loopback() as endpoint:
        endpoint.hold()
        process = begin(*arguments(data, endpoint), cwd=tmp_path)
        assert wait_until(lambda: endpoint.requests >= CONCURRENCY, process)
        err = stop_at_once(process)
        replies = endpoint.stats()["answered"]

    assert process.returncode == 130
    assert replies == {}
    assert "Traceback" not in err


def test_a_second_process_on_the_same_run_gets_one_line(data: Path, tmp_path: Path) -> None:
    """And asks the endpoint for nothing."""
    with loopback() as endpoint:
        # Held, so that it is still there when the second one has started, however busy the machine is.
        endpoint.hold()
        process = begin(*arguments(data, endpoint), cwd=tmp_path)
        assert wait_until(lambda: endpoint.requests >= CONCURRENCY, process)
        second = judge(data, endpoint.spec, cwd=tmp_path, own_process=True)
        endpoint.release()
        _, err = process.communicate()

    assert process.returncode == 0, err
    assert second.returncode == 4
    the_one_line(second)
    assert endpoint.requests == SAMPLES


def test_a_full_disk_stops_with_one_line_and_resumes(data: Path, tmp_path: Path) -> None:
    """A limit on the size of files, as near to a full disk as a test may come."""
    with loopback(MockOptions()) as endpoint:
        stopped = subprocess.run(
            [
                "sh",
                "-c",
                'ulimit -f 130; exec "$@"',
                "sh",
                COMMAND,
                *arguments(data, endpoint),
                "--quiet",
                "--no-cache",
            ],
            cwd=tmp_path,
            env=environment(**KEYS),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        kept = len(journal_lines(tmp_path, "reply"))
        paid = endpoint.requests
        again = judge(data, endpoint.spec, "--no-cache", cwd=tmp_path)

    assert stopped.returncode in (2, 3, 4), stopped.stderr
    assert "journal" in the_one_line(stopped)
    assert 0 < kept < SAMPLES
    assert again.returncode == 0, again.stderr
    assert counts_of(again)["valid"] == SAMPLES
    assert endpoint.requests - paid == SAMPLES - kept


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to read-only files")
def test_a_read_only_journal_stops_before_anything_is_sent(data: Path, tmp_path: Path) -> None:
    """What cannot be kept is not asked for."""
    with loopback() as endpoint:
        endpoint.hold(after=20)
        process = begin(*arguments(data, endpoint), cwd=tmp_path)
        assert wait_until(lambda: endpoint.requests > 20, process)
        process.kill()
        process.communicate()
        endpoint.release()
        journal = tmp_path / "ws" / "runs" / "r" / "journal.jsonl"
        journal.chmod(0o400)
        paid = endpoint.requests
        refused = judge(data, endpoint.spec, cwd=tmp_path)
        sent = endpoint.requests - paid
        journal.chmod(0o600)
        again = judge(data, endpoint.spec, cwd=tmp_path)

    assert refused.returncode == 2
    assert "journal" in the_one_line(refused)
    assert sent == 0
    assert again.returncode == 0, again.stderr
