"""`--batch` beside every other option: the same requests as at once, in batches."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.flows.batches import KEYS, judge, ledger, replies, spec_of, verdicts, write_settings
from tests.flows.live import riddles
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, write_jsonl

import mixseek as library
from mixseek.errors import ConfigurationError
from mixseek.testing.batches.faults import BatchFault
from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.mock_replies import Fault
from mixseek.testing.mock_server import MockOptions

COUNT = 6
WAIT = ("--batch", "--wait", "--poll", "0.05")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "riddles.jsonl"
    write_jsonl(path, riddles(COUNT))
    return path


def serving(**options: Any) -> Any:
    """The provider."""
    return loopback(MockOptions(batches=BatchOptions(), **options))


def test_repeats_go_into_one_batch(tmp_path: Path, data: Path) -> None:
    """Every repeat is a request of its own, under a name of its own."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        done = judge(data, "j", *WAIT, "--repeats", "3", cwd=tmp_path)
        account = server.server.ledger.summary()

    assert done.returncode == 0, done.stderr
    assert account["batches"] == {"openai-batch": 1}
    assert account["requests_in_batches"] == {"openai-batch": 3 * COUNT}
    assert len(replies(tmp_path)) == 3 * COUNT


def test_a_panel_has_a_batch_for_each_judge(tmp_path: Path, data: Path) -> None:
    """Of two judges that ask the same model, each is answered by its own batch."""
    with serving() as server:
        specs = [spec_of(wire, server) for wire in ("openai", "mistral")]
        done = judge(data, specs[0], *WAIT, "--judge", specs[1], cwd=tmp_path)
        account = server.server.ledger.summary()

    assert done.returncode == 0, done.stderr
    assert account["requests_in_batches"] == {"openai-batch": COUNT, "mistral-batch": COUNT}
    assert len(replies(tmp_path)) == 2 * COUNT


def test_a_cascade_leaves_to_its_second_tier_what_the_first_has_left(tmp_path: Path, data: Path) -> None:
    """Only samples without a valid verdict are in the second judge's batch."""
    with serving(fault_rate=0.8, faults=(Fault.PROSE,)) as server:
        specs = [spec_of(wire, server) for wire in ("openai", "mistral")]
        done = judge(data, specs[0], *WAIT, "--judge", specs[1], "--cascade", cwd=tmp_path)

    asked = [reply for reply in replies(tmp_path) if reply["attempt"] == 1]
    by_judge = Counter(reply["judge"] for reply in asked)
    assert done.returncode in (0, 1), done.stderr
    assert sorted(by_judge.values())[1] == COUNT
    assert 0 < sorted(by_judge.values())[0] < COUNT


def test_invalid_replies_are_asked_again_once_a_command(tmp_path: Path, data: Path) -> None:
    """`--retry-invalid` comes to an end where every reply is prose."""
    with serving(fault_rate=1.0, faults=(Fault.PROSE,)) as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        judge(data, "j", *WAIT, cwd=tmp_path)
        before = server.server.ledger.summary()["requests_in_batches"]["openai-batch"]
        again = judge(data, "j", *WAIT, "--retry-invalid", cwd=tmp_path)
        after = server.server.ledger.summary()

    assert again.returncode in (0, 1), again.stderr
    assert after["requests_in_batches"]["openai-batch"] == before + 2 * COUNT
    assert after["submitted_again_after_success"] == []


def test_the_rest_can_be_asked_at_once(tmp_path: Path, data: Path) -> None:
    """`--batch-rest live`: what expired is asked live, and the next batch is never made."""
    options = MockOptions(batches=BatchOptions(faults=(BatchFault.EXPIRED,), fault_rate=1.0))
    with loopback(options) as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        done = judge(data, "j", *WAIT, "--batch-rest", "live", cwd=tmp_path)
        account = server.server.ledger.summary()

    assert done.returncode == 0, done.stderr
    assert account["batches"] == {"openai-batch": 1}
    assert account["billed"]["openai"]["requests"] + account["billed"]["openai-batch"]["requests"] == COUNT


def test_no_more_is_left_than_calls_are_allowed(tmp_path: Path, data: Path) -> None:
    """`--max-calls` counts requests in batches as calls."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        first = judge(data, "j", *WAIT, "--max-calls", "2", cwd=tmp_path)
        asked = server.server.ledger.summary()["requests_in_batches"]
        rest = judge(data, "j", *WAIT, cwd=tmp_path)
        account = server.server.ledger.summary()

    assert first.returncode == 4
    assert asked == {"openai-batch": 2}
    assert rest.returncode == 0, rest.stderr
    assert account["requests_in_batches"] == {"openai-batch": COUNT}


def test_the_first_few_of_a_run_do_not_throw_away_what_the_rest_has_left(tmp_path: Path, data: Path) -> None:
    """`--limit` at the second command: batches of the others stay where they are."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        judge(data, "j", "--batch", cwd=tmp_path)
        few = judge(data, "j", *WAIT, "--limit", "2", cwd=tmp_path)
        done = judge(data, "j", *WAIT, cwd=tmp_path)
        account = server.server.ledger.summary()

    assert few.returncode in (0, 2, 4)
    assert done.returncode == 0, done.stderr
    assert account["requests_in_batches"] == {"openai-batch": COUNT}


def test_questions_that_come_twice_are_paid_for_as_often_as_they_are_asked(tmp_path: Path) -> None:
    """Two questions of the same words: the account says what the provider bills."""
    questions = tmp_path / "questions.jsonl"
    write_jsonl(questions, [{"id": f"q{n}", "question": "What is 2 + 2?"} for n in range(3)])
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        words = ("answer", questions, "--target", "j", "--workspace", "ws", "--run", "a", "--no-cache", "--json")
        done = mixseek_here(*words, *WAIT, cwd=tmp_path, env=KEYS)
        account = server.server.ledger.summary()

    billed = account["billed"]["openai-batch"]
    lines = [json.loads(line) for line in next((tmp_path / "ws").rglob("journal.jsonl")).read_text().splitlines()]
    paid = sum(line["details"]["cost_usd"] for line in lines if line["t"] == "reply")
    assert done.returncode == 0, done.stderr
    assert account["submitted_again_after_success"] == account["in_flight_twice"] == []
    assert paid == pytest.approx((billed["input_tokens"] * 100 + billed["output_tokens"] * 1000) / 2_000_000)


def test_from_python_a_batch_wants_a_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one nothing would be kept of what was paid for; with one it is as on the command line."""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    monkeypatch.chdir(tmp_path)
    with serving() as server:
        spec = spec_of("openai", server)
        with pytest.raises(ConfigurationError, match="workspace"):
            library.judge(riddles(2), judges=spec, batch=True)
        with pytest.raises(ConfigurationError, match="workspace"):
            library.answer([{"id": "q", "question": "What is 2 + 2?"}], targets=spec, batch=True)
        write_settings(tmp_path / "mixseek.toml", "openai", server, batch=True)
        with pytest.raises(ConfigurationError, match="workspace"):
            library.judge(riddles(2), judges="j")
        assert server.server.ledger.summary()["batches"] == {}
        run = library.judge(riddles(2), judges=spec, batch=True, wait=True, poll=0.05, workspace="ws", run="r")

    assert run.ok
    assert len(ledger(tmp_path)) > 0
    assert len(verdicts(tmp_path, "r")) == 2
