"""`--batch` where several questions hang together: pairs, budgets of pairs, audits and job files."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.flows.batches import KEYS, judge, replies, write_settings
from tests.flows.live import riddles
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, write_jsonl

from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.mock_server import MockOptions

WAIT = ("--batch", "--wait", "--poll", "0.05")


def serving() -> Any:
    """The provider."""
    return loopback(MockOptions(batches=BatchOptions(), latency_seconds=0.0))


def write_outputs(path: Path, questions: int, targets: int) -> Path:
    """Single outputs, of which pairs are made."""
    rows = [
        {
            "id": f"q{number}-{name}",
            "question_id": f"q{number}",
            "question": f"Tell me about the number {number}.",
            "response": f"{name} says: {number} is between {number - 1} and {number + 1}.",
            "target_model": name,
        }
        for number in range(questions)
        for name in (f"aster-{place}" for place in range(targets))
    ]
    return write_jsonl(path, rows)


def test_both_orders_of_a_pair_are_in_one_batch(tmp_path: Path) -> None:
    """Neither order waits for the other: a pair costs one round, not two."""
    data = write_outputs(tmp_path / "outputs.jsonl", questions=4, targets=2)
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        done = judge(data, "j", *WAIT, "--protocol", "pairwise", "--pairs", "all", cwd=tmp_path)
        account = server.server.ledger.summary()

    shown = Counter(reply["details"]["presentation"] for reply in replies(tmp_path))
    assert done.returncode == 0, done.stderr
    assert account["batches"] == {"openai-batch": 1}
    assert account["requests_in_batches"] == {"openai-batch": 8}
    assert set(shown.values()) == {4}


def test_rounds_of_a_budget_are_batches_after_one_another(tmp_path: Path) -> None:
    """The pairs of a round are chosen from what the batch before it has brought."""
    data = write_outputs(tmp_path / "outputs.jsonl", questions=12, targets=4)
    words = ("--protocol", "pairwise", "--pairs", "all", "--budget", "40")
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "anthropic", server)
        done = judge(data, "j", *WAIT, *words, cwd=tmp_path)
        account = server.server.ledger.summary()

    rounds = json.loads((tmp_path / "ws" / "runs" / "r" / "rounds.json").read_text())
    assert done.returncode == 0, done.stderr
    assert len(rounds) > 1
    assert account["batches"] == {"anthropic-batch": len(rounds)}
    assert account["requests_in_batches"] == {"anthropic-batch": 80}


def test_an_audit_is_left_in_batches(tmp_path: Path) -> None:
    """Its variants are samples of a run as all others are."""
    data = write_jsonl(tmp_path / "riddles.jsonl", riddles(6))
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        words = ("audit", data, "--judge", "j", "--n", "6", "--only", "padding", "--workspace", "ws", *WAIT)
        done = mixseek_here(*words, cwd=tmp_path, env=KEYS)
        account = server.server.ledger.summary()

    assert done.returncode in (0, 1), done.stderr
    assert account["billed"].keys() == {"openai-batch"}
    assert account["requests_in_batches"]["openai-batch"] >= 6


def test_a_job_file_says_that_its_requests_wait(tmp_path: Path) -> None:
    """The same option, spelt as a key."""
    write_jsonl(tmp_path / "riddles.jsonl", riddles(5))
    with serving() as server:
        base = server.base_url
        (tmp_path / "job.toml").write_text(
            '[jobs.night]\ndata = "riddles.jsonl"\njudge = ["j"]\nbatch = true\nwait = true\npoll = 0.05\n\n'
            f'[judges.j]\nprovider = "mistral"\nmodel = "mock"\nbase_url = "{base}"\n'
        )
        done = mixseek_here("run", "job.toml", cwd=tmp_path, env=KEYS)
        account = server.server.ledger.summary()

    assert done.returncode == 0, done.stderr
    assert account["requests_in_batches"] == {"mistral-batch": 5}


def test_a_cluster_is_not_for_batches(tmp_path: Path) -> None:
    """One line, whether Ray is installed or not: a batch waits with its provider."""
    data = write_jsonl(tmp_path / "riddles.jsonl", riddles(2))
    refused = judge(data, "openai:m", "--batch", "--on", "ray", cwd=tmp_path)

    assert refused.returncode == 2
    assert refused.stderr.strip().splitlines() == [
        "mixseek: --batch waits with a provider, and not on a cluster; leave --on ray out"
    ]
