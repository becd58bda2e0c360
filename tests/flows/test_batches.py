"""`--batch`: requests are left with a provider, and collected by the same command later."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.flows.batches import (
    KEYS,
    WIRES,
    journal_bill,
    judge,
    ledger,
    provider_bill,
    replies,
    spec_of,
    verdicts,
    write_settings,
)
from tests.flows.live import riddles
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, write_jsonl
from tests.waiting import PATIENCE_SECONDS

from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.mock_replies import Fault
from mixseek.testing.mock_server import MockOptions

COUNT = 12


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "riddles.jsonl"
    write_jsonl(path, riddles(COUNT))
    return path


def serving(**batches: Any) -> Any:
    """The provider, quick unless a test says otherwise; what is due is there at the next look, on any machine."""
    return loopback(MockOptions(batches=BatchOptions(**batches, longest_wait_seconds=PATIENCE_SECONDS)))


@pytest.mark.parametrize("wire", WIRES)
def test_a_batch_brings_the_verdicts_that_asking_at_once_brings(wire: str, tmp_path: Path, data: Path) -> None:
    """The first command submits and says so with exit code 4; the second one collects; nothing is asked twice."""
    with serving() as server:
        spec = spec_of(wire, server)
        left = judge(data, spec, "--batch", cwd=tmp_path)
        events_before = ledger(tmp_path)
        collected = judge(data, spec, "--batch", cwd=tmp_path)
        live = judge(data, spec, cwd=tmp_path, run="live")
        account = server.server.ledger.summary()

    assert left.returncode == 4
    assert f"{COUNT} requests in 1 batch under way" in left.stderr
    assert "run the same command again to collect" in left.stderr
    assert events_before[0]["event"] == "intended"
    assert (collected.returncode, live.returncode) == (0, 0), collected.stderr
    assert verdicts(tmp_path, "r") == verdicts(tmp_path, "live")
    assert account["requests_in_batches"] == {f"{wire}-batch": COUNT}
    assert account["submitted_again_after_success"] == account["in_flight_twice"] == []
    assert [event["event"] for event in ledger(tmp_path)][-1] == "collected"
    # What was sent and what came is in the journal; the files are not needed any more.
    assert not list((tmp_path / "ws" / "runs" / "r" / "batches").glob("*"))


def test_waiting_ends_with_everything(tmp_path: Path, data: Path) -> None:
    """`--wait` looks until the batch has ended, and re-asks form the next batch."""
    options = MockOptions(batches=BatchOptions(), fault_rate=0.4, faults=(Fault.PROSE,))
    with loopback(options) as server:
        waited = judge(data, spec_of("openai", server), "--batch", "--wait", "--poll", "0.05", cwd=tmp_path)
        account = server.server.ledger.summary()

    asks = [reply["attempt"] for reply in replies(tmp_path)]
    assert waited.returncode == 0, waited.stderr
    assert "looked at again in" in waited.stderr
    assert account["batches"] == {"openai-batch": 2}
    assert asks.count(1) == COUNT
    assert 0 < asks.count(2) < COUNT
    assert account["requests_in_batches"] == {"openai-batch": len(asks)}


def test_a_batch_costs_half_and_the_account_says_what_the_provider_bills(tmp_path: Path, data: Path) -> None:
    """A reply keeps what it cost, and what it would have cost at once."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "anthropic", server)
        done = judge(data, "j", "--batch", "--wait", "--poll", "0.05", cwd=tmp_path)
        billed = server.server.ledger.summary()["billed"]["anthropic-batch"]

    at_once = (billed["input_tokens"] * 100 + billed["output_tokens"] * 1000) / 1_000_000
    costs = [reply["details"]["cost_usd"] for reply in replies(tmp_path)]
    saved = [reply["details"]["saved_by_batch_usd"] for reply in replies(tmp_path)]
    assert done.returncode == 0, done.stderr
    assert sum(costs) == pytest.approx(at_once / 2)
    assert sum(saved) == pytest.approx(at_once / 2)
    calls = json.loads(done.stdout)["calls"]["j"]
    assert calls["cost_usd"] == pytest.approx(at_once / 2)
    assert calls["saved_by_batch_usd"] == pytest.approx(at_once / 2)
    assert calls["batched_calls"] == COUNT
    report = mixseek_here("report", "r", "--workspace", "ws", cwd=tmp_path).stdout
    assert f"batch: {COUNT} calls, saved $" in report


def test_a_judge_can_be_left_to_batches_by_its_table(tmp_path: Path, data: Path) -> None:
    """`batch = true` does for one judge what `--batch` does for all; limits of its own cut its batches."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "mistral", server, batch=True, batch_requests=5, price_batch=0.25)
        done = judge(data, "j", "--wait", "--poll", "0.05", cwd=tmp_path)
        account = server.server.ledger.summary()

    # Nine tenths of a limit are used.
    assert done.returncode == 0, done.stderr
    assert account["batches"] == {"mistral-batch": 3}
    assert account["billed"].keys() == {"mistral-batch"}
    costs = [(reply["details"]["cost_usd"], reply["details"]["saved_by_batch_usd"]) for reply in replies(tmp_path)]
    assert all(saved == pytest.approx(3 * cost) for cost, saved in costs)


def test_no_more_is_left_than_there_is_money_for(tmp_path: Path, data: Path) -> None:
    """`--max-cost` sets aside what is submitted; what has come is read all the same."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        first = judge(data, "j", "--batch", "--max-cost", "0.4", "--wait", "--poll", "0.05", cwd=tmp_path)
        asked = sum(server.server.ledger.summary()["requests_in_batches"].values())
        rest = judge(data, "j", "--batch", "--wait", "--poll", "0.05", cwd=tmp_path)
        account = server.server.ledger.summary()

    spent = sum(reply["details"]["cost_usd"] for reply in replies(tmp_path)[:asked])
    assert first.returncode == 4
    assert "--max-cost 0.4 is reached" in first.stderr
    assert 0 < asked < COUNT
    assert spent <= 0.4
    assert rest.returncode == 0, rest.stderr
    assert account["requests_in_batches"] == {"openai-batch": COUNT}


def test_what_cannot_wait_is_refused_before_anything_is_written(tmp_path: Path, data: Path) -> None:
    """Rules alone, a host without batches, and a cluster: one line each."""
    rules = judge(data, "rules", "--batch", cwd=tmp_path)
    local = judge(data, "vllm:m@http://127.0.0.1:9/v1", "--batch", cwd=tmp_path)

    assert (rules.returncode, local.returncode) == (2, 2)
    assert "--batch: no judge here is behind an endpoint" in rules.stderr
    assert "no batches are known of vllm" in local.stderr
    assert "--batch-files DIR" in local.stderr
    assert not (tmp_path / "ws" / "runs").exists()


def test_what_is_left_in_a_batch_is_not_asked_at_once_as_well(tmp_path: Path, data: Path) -> None:
    """Without `--batch`, or as files, the same requests would be paid for twice: one line says what to do."""
    with serving(seconds=0.2) as server:
        spec = spec_of("openai", server)
        left = judge(data, spec, "--batch", cwd=tmp_path)
        at_once = judge(data, spec, cwd=tmp_path)
        as_files = judge(data, spec, "--batch-files", "out", cwd=tmp_path)
        looking = judge(data, spec, "--dry-run", cwd=tmp_path)
        done = judge(data, spec, "--batch", "--wait", "--poll", "0.05", cwd=tmp_path)
        shown = judge(data, spec, cwd=tmp_path)
        account = server.server.ledger.summary()

    assert left.returncode == 4
    assert (at_once.returncode, as_files.returncode) == (2, 2)
    (said,) = at_once.stderr.splitlines()
    assert "is not collected yet, and its requests would be paid for twice; add --batch" in said
    assert "it was left at openai: collect it in the same way first" in as_files.stderr
    assert looking.returncode == 0
    assert (done.returncode, shown.returncode) == (0, 0), done.stderr
    assert account["billed"].keys() == {"openai-batch"}
    assert account["requests_in_batches"] == {"openai-batch": COUNT}


def test_answers_that_wait_are_not_asked_at_once_as_well(tmp_path: Path) -> None:
    """The same holds for `mixseek answer`."""
    questions = write_jsonl(tmp_path / "questions.jsonl", [{"id": "q1", "question": "What is 2 + 2?"}])
    with serving(seconds=60.0) as server:
        words = ("answer", questions, "--target", spec_of("mistral", server), "--workspace", "ws", "--run", "a")
        left = mixseek_here(*words, "--batch", cwd=tmp_path, env=KEYS)
        at_once = mixseek_here(*words, cwd=tmp_path, env=KEYS)

    assert (left.returncode, at_once.returncode) == (4, 2)
    assert "would be paid for twice" in at_once.stderr


def test_options_about_batches_want_a_batch(tmp_path: Path, data: Path) -> None:
    """Whoever forgets `--batch` beside `--wait` would pay the whole price."""
    for option in (("--wait",), ("--batch-rest", "live")):
        refused = judge(data, "openai:m@http://127.0.0.1:9/v1", *option, cwd=tmp_path)

        assert refused.returncode == 2
        assert "add --batch" in refused.stderr


def test_batches_can_be_files_in_a_directory(tmp_path: Path, data: Path) -> None:
    """NAME.jsonl is written; what somebody puts beside it as NAME.output.jsonl is collected, in any order."""
    spec = "vllm:m@http://127.0.0.1:9/v1"
    left = judge(data, spec, "--batch-files", "out", cwd=tmp_path)
    (sent,) = (tmp_path / "out").glob("*.jsonl")
    requests = [json.loads(line) for line in sent.read_text().splitlines()]
    early = judge(data, spec, "--batch-files", "out", cwd=tmp_path)
    reply = {"id": 1, "is_correct": True, "extracted_answer": "x", "reasoning_score": 1, "comment": "c"}
    lines = [
        {
            "custom_id": request["custom_id"],
            "response": {
                "status_code": 200,
                "body": {
                    "choices": [{"message": {"content": json.dumps(reply)}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 7, "completion_tokens": 3},
                },
            },
            "error": None,
        }
        for request in reversed(requests)
    ]
    write_jsonl(sent.with_suffix(".output.jsonl"), lines)
    collected = judge(data, spec, "--batch-files", "out", cwd=tmp_path)

    assert (left.returncode, early.returncode) == (4, 4)
    assert len(requests) == COUNT
    assert {(request["method"], request["url"], request["body"]["model"]) for request in requests} == {
        ("POST", "/v1/chat/completions", "m")
    }
    assert collected.returncode in (0, 4), collected.stderr
    assert sum(reply["attempt"] == 1 for reply in replies(tmp_path)) == COUNT


def test_answers_come_in_batches_too(tmp_path: Path) -> None:
    """`mixseek answer --batch` leaves and collects as judging does."""
    questions = tmp_path / "questions.jsonl"
    write_jsonl(questions, [{"id": f"q{n}", "question": f"What is {n} + {n}?"} for n in range(5)])
    with serving() as server:
        words = ("answer", questions, "--target", spec_of("gemini", server), "--workspace", "ws", "--run", "a")
        left = mixseek_here(*words, "--batch", cwd=tmp_path, env=KEYS)
        collected = mixseek_here(*words, "--batch", cwd=tmp_path, env=KEYS)
        account = server.server.ledger.summary()

    assert left.returncode == 4, left.stderr
    assert collected.returncode == 0, collected.stderr
    assert account["requests_in_batches"] == {"gemini-batch": 5}
    assert account["billed"].keys() == {"gemini-batch"}


def test_what_was_left_is_listed_and_can_be_stopped(tmp_path: Path, data: Path) -> None:
    """`mixseek batches` names provider, state and cost; what was finished before it was cancelled is kept."""
    with serving(seconds=3600.0) as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        left = judge(data, "j", "--batch", cwd=tmp_path)
        listing = mixseek_here("batches", "--workspace", "ws", "--json", cwd=tmp_path)
        (line,) = json.loads(listing.stdout)["batches"]
        words = mixseek_here("batches", "--workspace", "ws", cwd=tmp_path).stdout
        stopped = mixseek_here("batches", "--workspace", "ws", "--cancel", line["id"], cwd=tmp_path, env=KEYS)
        unknown = mixseek_here("batches", "--workspace", "ws", "--cancel", "nobody", cwd=tmp_path, env=KEYS)
        kept = mixseek_here("runs", "rm", "r", "--workspace", "ws", cwd=tmp_path)
        doctor = mixseek_here("doctor", "--workspace", "ws", "--offline", cwd=tmp_path, env=KEYS)

    assert left.returncode == 4, left.stderr
    assert (line["run"], line["provider"], line["requests"], line["stage"]) == ("r", "openai", COUNT, "submitted")
    assert line["estimated_usd"] == pytest.approx(line["live_usd"] / 2)
    assert line["id"] in words
    assert stopped.returncode == 0, stopped.stderr
    assert "was asked to cancel it" in stopped.stdout
    assert unknown.returncode == 2
    assert kept.returncode == 2
    assert "1 batch under way" in kept.stderr
    assert "no batch 'nobody'" in unknown.stderr
    assert "is under way; run the same command again to collect" in " ".join(doctor.stdout.split())


@pytest.mark.parametrize("wire", WIRES)
def test_what_was_finished_before_a_cancellation_is_kept(wire: str, tmp_path: Path, data: Path) -> None:
    """Half of it was answered, and billed: the next command collects that half, and asks only for the other."""
    with serving(seconds=3600.0) as server:
        store = server.server.batches
        assert store is not None
        write_settings(tmp_path / "mixseek.toml", wire, server)
        judge(data, "j", "--batch", cwd=tmp_path)
        began = store.clock()
        store.clock, store.options = lambda: began + 1800.0, BatchOptions()
        stopped = mixseek_here("batches", "--workspace", "ws", "--cancel", "r/b0001", cwd=tmp_path, env=KEYS)
        done = judge(data, "j", "--batch", "--wait", "--poll", "0.05", cwd=tmp_path)
        live = judge(data, "j", cwd=tmp_path, run="live")
        account = server.server.ledger.summary()

    assert stopped.returncode == 0, stopped.stderr
    assert (done.returncode, live.returncode) == (0, 0), done.stderr
    assert verdicts(tmp_path, "r") == verdicts(tmp_path, "live")
    assert account["submitted_again_after_success"] == account["in_flight_twice"] == []
    asked = account["requests_in_batches"][f"{wire}-batch"]
    assert COUNT < asked < 2 * COUNT if wire != "gemini" else asked == 2 * COUNT
    assert journal_bill(tmp_path) == pytest.approx(provider_bill(account, wire))


def test_a_workspace_says_what_it_has_paid_and_saved(tmp_path: Path, data: Path) -> None:
    """`runs` has a cost for each run and a sum; `runs --cost` has months, judges and what batches saved."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        judge(data, "j", "--batch", "--wait", "--poll", "0.05", cwd=tmp_path)
        judge(data, "j", cwd=tmp_path, run="live")
        billed = server.server.ledger.summary()["billed"]
    document = json.loads(mixseek_here("runs", "--cost", "--workspace", "ws", "--json", cwd=tmp_path).stdout)
    listing = mixseek_here("runs", "--workspace", "ws", cwd=tmp_path).stdout

    live, batch = (
        (billed[wire]["input_tokens"] * 100 + billed[wire]["output_tokens"] * 1000) / 1_000_000
        for wire in ("openai", "openai-batch")
    )
    by_run = {row["run"]: row for row in document["spent"]}
    assert by_run["r"]["cost_usd"] == pytest.approx(batch / 2)
    assert by_run["r"]["saved_by_batch_usd"] == pytest.approx(batch / 2)
    assert by_run["live"]["cost_usd"] == pytest.approx(live)
    assert document["cost_usd"] == pytest.approx(live + batch / 2)
    assert {row["month"] for row in document["spent"]} == {
        reply["details"]["received_on"][:7] for reply in replies(tmp_path)
    }
    assert f"All runs: ${live + batch / 2:,.2f}" in listing
