"""Real Ray on loopback: the run is the one that everybody knows, whoever is killed on the way."""

import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.responses import synthetic_rows
from tests.flows.live import CANARY, journal_lines, riddles
from tests.flows.loopback import Loopback, loopback
from tests.flows.running import mixseek, mixseek_here, write_jsonl
from tests.optin.ray_cluster import RayCluster, ray_cluster

from mixseek.testing.mock_server import MockOptions

pytest.importorskip("ray")
SECONDS = 400.0
KILLS = 5
CONCURRENCY = 16
# Looks at the endpoint's count, of a fiftieth of a second each.
_WINDOW_LOOKS = 100
Disturb = Callable[[subprocess.Popen[str]], None]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(cpus=2) as made:
        yield made


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, out, err


def judge_rules(cluster: RayCluster, data: Path, cwd: Path, *more: str) -> subprocess.Popen[str]:
    return cluster.begin("judge", data, "--run", "r", "--workspace", "ray", "--json", *more, cwd=cwd)


def test_rules_on_two_nodes_give_the_journal_of_one_machine(cluster: RayCluster, tmp_path: Path) -> None:
    """Byte for byte; the report's figures, show, export and archive follow from it. No word of Ray's is printed."""
    rows = [{**row, "id": f"row-{number}"} for number, row in enumerate(synthetic_rows(8_000))]
    data = write_jsonl(tmp_path / "rows.jsonl", rows)
    here = mixseek("judge", data, "--run", "r", "--workspace", "here", "--json", "--quiet", cwd=tmp_path)

    code, out, err = finish(judge_rules(cluster, data, tmp_path, "--shards", "7", "--quiet"))

    assert (code, err) == (0, "")
    assert (tmp_path / "ray/runs/r/journal.jsonl").read_bytes() == (tmp_path / "here/runs/r/journal.jsonl").read_bytes()
    ours, theirs = json.loads(out), json.loads(here.stdout)
    assert (ours["counts"], ours["mean_score"]) == (theirs["counts"], theirs["mean_score"])
    assert not (tmp_path / "ray/runs/r/shards").exists()
    shown = mixseek_here("show", "r", "row-7999", "--workspace", "ray", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr


def test_a_run_begun_on_one_machine_goes_on_on_ray_and_back(cluster: RayCluster, tmp_path: Path) -> None:
    """Half of the samples here, all of them there: the same run, and a third command judges nothing."""
    rows = [{**row, "id": f"row-{number}"} for number, row in enumerate(synthetic_rows(3_000))]
    data = write_jsonl(tmp_path / "rows.jsonl", rows)
    run = ("judge", data, "--run", "r", "--workspace", "ray")
    before = mixseek(*run, cwd=tmp_path)
    journal = tmp_path / "ray/runs/r/journal.jsonl"
    whole = journal.read_bytes()
    half = whole[: whole.index(b"\n", len(whole) // 2) + 1]
    journal.write_bytes(half)
    manifest = tmp_path / "ray/runs/r/manifest.json"
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**told, "status": "interrupted", "journal": None}))
    assert before.returncode == 0

    code, _, err = finish(judge_rules(cluster, data, tmp_path))

    assert code == 0, err
    assert "samples have been judged before" in err
    assert sorted(set(journal.read_bytes().splitlines())) == sorted(whole.splitlines())
    again = mixseek(*run, cwd=tmp_path)
    assert "is complete; nothing was judged again" in again.stderr


def judge_endpoint(cluster: RayCluster, endpoint: Loopback, data: Path, cwd: Path, *more: str) -> subprocess.Popen[str]:
    fixed = ("judge", data, "--judge", endpoint.spec, "--run", "r", "--workspace", "ws", "--json")
    return cluster.begin(*fixed, "--concurrency", str(CONCURRENCY), *more, cwd=cwd)


def test_an_endpoint_judges_as_on_one_machine_and_no_key_is_told(cluster: RayCluster, tmp_path: Path) -> None:
    """Outcomes byte for byte after sorting; calls at once are those of one machine; the cache has every reply."""
    data = write_jsonl(tmp_path / "riddles.jsonl", riddles(600))
    with loopback(MockOptions(latency_seconds=0.05)) as endpoint:
        fixed = ("judge", data, "--judge", endpoint.spec, "--run", "r", "--json", "--concurrency", str(CONCURRENCY))
        local = mixseek(*fixed, "--workspace", "here", cwd=tmp_path, env={"OPENAI_API_KEY": CANARY})
        code, out, err = finish(judge_endpoint(cluster, endpoint, data, tmp_path, "--shards", "9"))
        asked, most = endpoint.requests, endpoint.stats()["max_in_flight"]
        cached = mixseek(
            *fixed[:-4], "other", "--workspace", "ws", "--json", cwd=tmp_path, env={"OPENAI_API_KEY": CANARY}
        )

    def outcomes(workspace: str) -> list[str]:
        lines = (tmp_path / workspace / "runs/r/journal.jsonl").read_text().splitlines()
        return sorted(line for line in lines if line.startswith('{"t":"outcome'))

    assert (local.returncode, code) == (0, 0), err
    assert outcomes("ws") == outcomes("here")
    assert json.loads(out)["counts"] == json.loads(local.stdout)["counts"]
    assert (asked, most <= CONCURRENCY) == (1_200, True)
    assert (cached.returncode, endpoint.requests) == (0, 1_200)
    assert cluster.logs_with(CANARY) == []


def test_four_workers_hold_one_rate_within_five_percent(cluster: RayCluster, tmp_path: Path) -> None:
    """Fifty a second, after the second's worth that may leave at once."""
    data = write_jsonl(tmp_path / "riddles.jsonl", riddles(800))
    with loopback(MockOptions(latency_seconds=0.02)) as endpoint:
        table = f'[judges.slow]\nprovider = "openai"\nmodel = "mock"\nbase_url = "{endpoint.base_url}"\nrpm = 3000\n'
        (tmp_path / "mixseek.toml").write_text(table)
        fixed = ("judge", data, "--judge", "slow", "--run", "r", "--workspace", "ws", "--json", "--no-cache")
        process = cluster.begin(*fixed, "--shards", "4", cwd=tmp_path)
        seen: list[tuple[float, int]] = []
        while process.poll() is None:
            seen.append((time.monotonic(), endpoint.requests))
            time.sleep(0.02)
        code, _, err = finish(process)

    middle = [(at, count) for at, count in seen if 100 <= count <= 750]
    rates = [
        (high - low) / (last - first)
        for (first, low), (last, high) in zip(middle, middle[_WINDOW_LOOKS:], strict=False)
    ]
    assert code == 0, err
    # A machine that stands still for a second makes one window slow, and no limit looser.
    assert statistics.median(rates) == pytest.approx(50, rel=0.05)
    (first, low), (last, high) = middle[0], middle[-1]
    assert (high - low) / (last - first) <= 50 * 1.05


def test_a_budget_is_one_for_all_workers(cluster: RayCluster, tmp_path: Path) -> None:
    """A thousand calls, and not one more; the same command goes on from there."""
    data = write_jsonl(tmp_path / "riddles.jsonl", riddles(1_200))
    with loopback(MockOptions(latency_seconds=0.01)) as endpoint:
        code, _, err = finish(judge_endpoint(cluster, endpoint, data, tmp_path, "--max-calls", "1000", "--shards", "8"))
        spent = endpoint.requests
        again = finish(judge_endpoint(cluster, endpoint, data, tmp_path, "--shards", "8"))

    assert code == 4, err
    assert "--max-calls 1000 is reached" in err
    assert spent <= 1_000
    assert again[0] == 0, again[2]
    assert endpoint.requests == 1_200


def await_judging(cluster: RayCluster, process: subprocess.Popen[str]) -> None:
    """On a busy machine half a minute goes by before anybody judges."""
    while process.poll() is None and not cluster.workers():
        time.sleep(0.05)


def at_random_moments(
    cluster: RayCluster, times: int, disturb: Callable[[], None], seconds: float, rng: random.Random
) -> Disturb:
    def disturbing(process: subprocess.Popen[str]) -> None:
        for _ in range(times):
            await_judging(cluster, process)
            time.sleep(rng.uniform(0.3, seconds))
            if process.poll() is not None:
                return
            disturb()

    return disturbing


def complete_through(
    cluster: RayCluster, tmp_path: Path, samples: int, disturb: Disturb, *more: str
) -> tuple[dict[str, Any], int]:
    """Judge, disturbed, and again until it is complete; the stats of the endpoint, and how many commands it took."""
    data = write_jsonl(tmp_path / "riddles.jsonl", riddles(samples))
    with loopback(MockOptions(latency_seconds=0.25)) as endpoint:
        commands = 0
        code, err = 4, ""
        while code and commands < 3 * KILLS:
            commands += 1
            process = judge_endpoint(cluster, endpoint, data, tmp_path, "--shards", "24", "--no-cache", *more)
            disturb(process)
            code, _, err = finish(process)
            assert "Traceback" not in err, err
        assert code == 0, err
        outcomes = Counter(line["id"] for line in journal_lines(tmp_path, "outcome"))
        assert (len(outcomes), set(outcomes.values())) == (samples, {1})
        return endpoint.stats(), commands


def test_a_worker_killed_five_times_costs_what_was_in_flight(cluster: RayCluster, tmp_path: Path) -> None:
    """The shard goes on from its journal under another worker, within the same command."""
    rng = random.Random(1)
    killed: list[int] = []

    def kill_worker() -> None:
        if workers := cluster.workers():
            killed.append(rng.choice(workers))
            with contextlib.suppress(ProcessLookupError):
                os.kill(killed[-1], signal.SIGKILL)

    stats, commands = complete_through(cluster, tmp_path, 1_500, at_random_moments(cluster, 8, kill_worker, 3.0, rng))

    assert len(killed) >= KILLS
    assert commands <= 2
    assert stats["repeated"] <= len(killed) * CONCURRENCY


def test_a_node_killed_five_times_costs_what_was_in_flight(tmp_path: Path) -> None:
    """Its shards go to the other node; a new one joins while they are judged."""
    rng = random.Random(2)
    with ray_cluster() as cluster:
        kills = 0

        def kill_node() -> None:
            nonlocal kills
            if kills < KILLS:
                kills += 1
                cluster.nodes.pop().kill()
                cluster.join()

        disturb = at_random_moments(cluster, KILLS, kill_node, 2.0, rng)
        stats, _ = complete_through(cluster, tmp_path, 2_500, disturb)

    assert kills == KILLS
    assert stats["repeated"] <= KILLS * CONCURRENCY


def test_a_command_killed_five_times_goes_on_where_it_was(cluster: RayCluster, tmp_path: Path) -> None:
    """Sealed shards and the beginnings of others are taken over by the next one."""
    rng = random.Random(3)
    kills = 0

    def kill_driver(process: subprocess.Popen[str]) -> None:
        nonlocal kills
        if kills == KILLS:
            return
        await_judging(cluster, process)
        time.sleep(rng.uniform(0.0, 4.0))
        if process.poll() is None:
            kills += 1
            process.kill()

    stats, commands = complete_through(cluster, tmp_path, 2_500, kill_driver)

    assert (kills, commands) == (KILLS, KILLS + 1)
    assert stats["repeated"] <= KILLS * CONCURRENCY


def test_an_interruption_drains_and_the_same_command_goes_on(cluster: RayCluster, tmp_path: Path) -> None:
    """Exit 130; everything that came back is in the one journal, and nothing is asked twice."""
    data = write_jsonl(tmp_path / "riddles.jsonl", riddles(600))
    with loopback(MockOptions(latency_seconds=0.2)) as endpoint:
        process = judge_endpoint(cluster, endpoint, data, tmp_path, "--shards", "6")
        while process.poll() is None and endpoint.requests < 60:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        code, _, err = finish(process)
        replies, asked = len(journal_lines(tmp_path, "reply")), endpoint.requests
        left = (tmp_path / "ws/runs/r/shards").exists()
        again = finish(judge_endpoint(cluster, endpoint, data, tmp_path))

    assert code == 130, err
    assert "run the same command again to resume" in err
    assert (replies, left) == (asked, False)
    assert again[0] == 0, again[2]
    assert endpoint.requests == 600


def test_a_shard_that_fails_three_times_is_named_and_the_rest_is_judged(cluster: RayCluster, tmp_path: Path) -> None:
    """Exit 4 with its samples and the reason; the others are complete."""
    data = write_jsonl(tmp_path / "riddles.jsonl", riddles(200))
    with loopback(MockOptions(latency_seconds=0.5)) as endpoint:
        process = judge_endpoint(cluster, endpoint, data, tmp_path, "--shards", "4")
        victims: Counter[str] = Counter()
        room = tmp_path / "ws/runs/r/shards"
        while process.poll() is None and sum(victims.values()) < 3:
            # Whoever has the journal of the first shard open.
            for pid in cluster.workers():
                with contextlib.suppress(OSError):
                    names = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
                    if any("/000000-" in name and name.endswith(".part.jsonl") for name in names):
                        os.kill(pid, signal.SIGKILL)
                        victims["killed"] += 1
            time.sleep(0.05)
        code, _, err = finish(process)

    assert code == 4, err
    assert "stopped: shard 0 (50 samples, 'riddle-0' to 'riddle-49') failed 3 times" in err
    assert len(journal_lines(tmp_path, "outcome")) >= 150
    assert not room.exists()


def test_a_node_with_another_mixseek_is_refused_in_one_line(tmp_path: Path) -> None:
    """Before anything is judged; so is a judge that cannot leave this machine."""
    stale = tmp_path / "stale" / "mixseek-0.0.9.dist-info"
    stale.mkdir(parents=True)
    (stale / "METADATA").write_text("Metadata-Version: 2.1\nName: mixseek\nVersion: 0.0.9\n")
    data = write_jsonl(tmp_path / "riddles.jsonl", riddles(3))
    with ray_cluster(nodes=0) as cluster:
        cluster.join(PYTHONPATH=str(stale.parent))
        code, _, err = finish(judge_rules(cluster, data, tmp_path))
        replies = write_jsonl(tmp_path / "replies.jsonl", [{"id": "riddle-1", "reply": "yes"}])
        bound = finish(judge_rules(cluster, data, tmp_path, "--judge", f"replay:{replies}"))

    assert code == 2
    assert err.strip().endswith("has mixseek 0.0.9, and this command 0.1.0; install the same on every node")
    assert len(err.strip().splitlines()) == 1
    assert bound[0] == 2
    assert "is bound to this machine" in bound[2]
    assert not (tmp_path / "ray/runs/r").exists()


def test_from_python_without_an_address_ray_is_started_here_and_gone_afterwards(tmp_path: Path) -> None:
    """`mixseek.judge(..., on="ray")`, in a program that knows nothing of Ray."""
    program = (
        "import mixseek\n"
        "rows = [{'id': str(n), 'response': f'The answer is {n}.', 'ground_truth': str(n)} for n in range(300)]\n"
        "run = mixseek.judge(rows, on='ray', shards=3, progress=False)\n"
        "print(run.ok, len(list(run)), {one.verdict for one in run})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )

    assert (done.stdout.strip(), done.returncode) == ("True 300 {'correct'}", 0), done.stderr
