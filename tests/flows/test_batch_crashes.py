"""A process that dies between two events of a batch: the same command again loses nothing and pays nothing twice."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.flows.batches import KEYS, WIRES, journal_bill, judge, ledger, provider_bill, replies, write_settings
from tests.flows.live import riddles
from tests.flows.loopback import Asked, Given, Loopback, answering, loopback, refusal
from tests.flows.running import mixseek_here, write_jsonl

from mixseek.judges.batches.door import BatchDoor
from mixseek.judges.batches.openai_files import OpenAIFiles
from mixseek.judges.batches.wires import BatchView, Phase
from mixseek.runs.batches import handling
from mixseek.storage.batch_ledger import BatchEntry, BatchLedger
from mixseek.testing.batches.faults import BatchFault
from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.mock_server import MockOptions

COUNT = 6
WAIT = ("--batch", "--wait", "--poll", "0.05")
MOST_DEATHS = 30
# Events after which nothing is left to do.
LAST = {"collected", "dropped", "withdrawn"}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused is tried again at the next look."""
    monkeypatch.setattr(handling, "_FIRST_REST_SECONDS", 0.0)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "riddles.jsonl"
    write_jsonl(path, riddles(COUNT))
    return path


def serving(*faults: BatchFault, **batches: Any) -> Any:
    """The provider."""
    return loopback(MockOptions(batches=BatchOptions(faults=faults, fault_rate=1.0, **batches)))


def cut(cwd: Path, after: str, *, half: bool = False) -> None:
    """The ledger as a process leaves it that dies right after an event, or while it writes the next one."""
    path = cwd / "ws" / "runs" / "r" / "batches.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    last = next(number for number, line in enumerate(lines) if json.loads(line)["event"] == after)
    rest = lines[last + 1 : last + 2] if half else []
    path.write_bytes(b"".join(lines[: last + 1]) + b"".join(line[: len(line) // 2] for line in rest))


def batch_files(cwd: Path) -> list[str]:
    return [path.name for path in (cwd / "ws" / "runs" / "r" / "batches").iterdir()]


@pytest.mark.parametrize("half", [False, True], ids=["between", "within"])
@pytest.mark.parametrize("wire", WIRES)
def test_a_batch_whose_name_was_not_noted_is_found_again(wire: str, half: bool, tmp_path: Path, data: Path) -> None:
    """It was submitted, and the process died before it wrote that down."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", wire, server)
        left = judge(data, "j", "--batch", cwd=tmp_path)
        cut(tmp_path, "intended" if wire == "anthropic" else "uploaded", half=half)
        done = judge(data, "j", *WAIT, cwd=tmp_path)
        account = server.server.ledger.summary()

    assert (left.returncode, done.returncode) == (4, 0), done.stderr
    assert "was submitted before this command was started" in done.stderr
    assert account["requests_in_batches"] == {f"{wire}-batch": COUNT}
    assert len(replies(tmp_path)) == COUNT
    assert batch_files(tmp_path) == []


@pytest.mark.parametrize("wire", ["openai", "mistral", "gemini"])
def test_without_an_upload_nothing_can_have_been_submitted(wire: str, tmp_path: Path, data: Path) -> None:
    """It died before its file had left: the batch is withdrawn without asking anybody."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", wire, server)
        judge(data, "j", "--batch", cwd=tmp_path)
        submitted, port = server.server.ledger.summary()["batches"], port_of(server)
    cut(tmp_path, "intended")
    # Another provider, which has never heard of the first one's batches.
    with loopback(MockOptions(batches=BatchOptions()), port) as server:
        listing = mixseek_here("batches", "--workspace", "ws", "--json", cwd=tmp_path)
        doctor = mixseek_here("doctor", "--workspace", "ws", "--offline", cwd=tmp_path, env=KEYS)
        done = judge(data, "j", *WAIT, cwd=tmp_path)
        account = server.server.ledger.summary()

    assert submitted == {f"{wire}-batch": 1}
    assert json.loads(listing.stdout)["batches"][0]["is_in_doubt"]
    assert doctor.returncode != 0
    assert f"batch b0001 of {COUNT} requests may have been submitted" in " ".join(doctor.stdout.split())
    assert done.returncode == 0, done.stderr
    assert [event["event"] for event in ledger(tmp_path)][1] == "withdrawn"
    assert account["requests_in_batches"] == {f"{wire}-batch": COUNT}
    assert batch_files(tmp_path) == []


class Died(BaseException):
    """What a process does not survive."""


@pytest.mark.parametrize("half", [False, True], ids=["between", "within"])
@pytest.mark.parametrize("wire", WIRES)
def test_a_process_may_die_after_every_event(
    wire: str, half: bool, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The n-th command dies after its n-th event, or within the next: in the end all is there, and paid for once."""
    faults = (BatchFault.MISSING_LINE, BatchFault.LINE_ERRORS, BatchFault.EXPIRED)
    deaths = written = 0
    write = BatchLedger._write

    def write_some(self: BatchLedger, event: Mapping[str, Any]) -> BatchEntry:
        nonlocal written
        if written < deaths + 1:
            noted = write(self, event)
            written += 1
            if half or written < deaths + 1:
                return noted
        else:
            with self.path.open("ab") as stream:
                stream.write(b'{"event":"submitted","batch":"b0001","id":"nob')
        raise Died

    with loopback(MockOptions(batches=BatchOptions(faults=faults, fault_rate=0.4))) as server:
        write_settings(tmp_path / "mixseek.toml", wire, server)
        done = None
        with monkeypatch.context() as patch:
            patch.setattr(BatchLedger, "_write", write_some)
            while done is None and deaths < MOST_DEATHS:
                written = 0
                try:
                    done = judge(data, "j", *WAIT, cwd=tmp_path)
                except Died:
                    deaths += 1
        account = server.server.ledger.summary()

    assert done is not None
    assert done.returncode == 0, done.stderr
    assert deaths >= 2
    assert account["submitted_again_after_success"] == account["in_flight_twice"] == []
    assert len(replies(tmp_path)) == COUNT
    assert {event["event"] for event in {event["batch"]: event for event in ledger(tmp_path)}.values()} <= LAST
    precision = 0.02 if account["billed_unreadable"] else 1e-9
    assert journal_bill(tmp_path) == pytest.approx(provider_bill(account, wire), rel=precision)
    assert batch_files(tmp_path) == []


def test_a_batch_that_no_list_can_tell_of_waits_for_a_person(tmp_path: Path, data: Path) -> None:
    """It is named, with exit code 4 and even with `--wait`; `mixseek batches --resubmit` frees its requests."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        judge(data, "j", "--batch", cwd=tmp_path)
        port = port_of(server)
    cut(tmp_path, "uploaded")
    with answering(lambda asked: refusal(404, "no such path"), port):
        codes = [judge(data, "j", *WAIT, cwd=tmp_path) for _ in range(2)]
        busy = judge(data, "j", "--batch", cwd=tmp_path)
    listing = mixseek_here("batches", "--workspace", "ws", cwd=tmp_path)
    freed = mixseek_here("batches", "--resubmit", "r/b0001", "--workspace", "ws", cwd=tmp_path)
    again = mixseek_here("batches", "--resubmit", "r/b0001", "--workspace", "ws", cwd=tmp_path)
    with loopback(MockOptions(batches=BatchOptions()), port) as server:
        done = judge(data, "j", *WAIT, cwd=tmp_path)

    assert [code.returncode for code in (*codes, busy)] == [4, 4, 4]
    assert "b0001" in codes[0].stderr
    assert "mixseek batches" in codes[1].stderr
    assert "r/b0001" in listing.stdout
    assert (freed.returncode, again.returncode) == (0, 2)
    assert "only one of which nobody knows" in again.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("wire", WIRES)
def test_a_list_that_is_too_long_to_be_looked_through_proves_nothing(
    wire: str, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not among its latest may stand behind them: nothing is paid for again before a person says so."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", wire, server)
        judge(data, "j", "--batch", cwd=tmp_path)
        port = port_of(server)
    cut(tmp_path, "intended" if wire == "anthropic" else "uploaded")
    with loopback(MockOptions(batches=BatchOptions()), port) as server:
        with monkeypatch.context() as patch:
            patch.setattr(handling, "MOST_LISTED", 0)
            doubtful = judge(data, "j", *WAIT, cwd=tmp_path)
        asked = server.server.ledger.summary()["requests_in_batches"]
        freed = mixseek_here("batches", "--resubmit", "r/b0001", "--workspace", "ws", cwd=tmp_path)
        done = judge(data, "j", *WAIT, cwd=tmp_path)

    assert doubtful.returncode == 4, doubtful.stderr
    assert "may have been submitted, and is not among the latest" in doubtful.stderr
    assert asked == {}
    assert (freed.returncode, done.returncode) == (0, 0), done.stderr


@pytest.mark.parametrize("seconds", [0.0, 0.5], ids=["ended", "running"])
def test_batches_in_doubt_of_one_size_are_told_apart_by_their_results(
    seconds: float, tmp_path: Path, data: Path
) -> None:
    """Where there are no labels the first may take another's for its own, until it sees whose answers are in it."""
    with serving(seconds=seconds) as server:
        write_settings(tmp_path / "mixseek.toml", "anthropic", server, batch_requests=3)
        judge(data, "j", "--batch", cwd=tmp_path)
        path = tmp_path / "ws" / "runs" / "r" / "batches.jsonl"
        intents = [event for event in ledger(tmp_path) if event["event"] == "intended"]
        moments = [event["at"] for event in intents]
        # The nearest in time is never the right one.
        turned = [{**event, "at": at} for event, at in zip(intents, [*moments[1:], moments[0]], strict=True)]
        path.write_text("".join(f"{json.dumps(event)}\n" for event in turned))
        done = judge(data, "j", *WAIT, cwd=tmp_path)
        account = server.server.ledger.summary()

    assert len(intents) == 3
    assert done.returncode == 0, done.stderr
    # Whether a wrong one was taken first hangs on which second each was made in; what comes of it does not.
    assert account["requests_in_batches"] == {"anthropic-batch": COUNT}
    assert journal_bill(tmp_path) == pytest.approx(provider_bill(account, "anthropic"))


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_says_nothing_about_a_batch_in_doubt(status: int, tmp_path: Path, data: Path) -> None:
    """With the right key it is looked for again, and found."""
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        judge(data, "j", "--batch", cwd=tmp_path)
        port = port_of(server)
    cut(tmp_path, "uploaded")
    with answering(lambda asked: refusal(status, "not with this key"), port):
        refused = judge(data, "j", *WAIT, cwd=tmp_path)

    assert refused.returncode == 2, refused.stderr
    assert "not with this key" in refused.stderr
    assert ledger(tmp_path)[-1]["event"] == "uploaded"


def test_another_key_loses_no_batch(tmp_path: Path, data: Path) -> None:
    """What this key does not know waits for the key that it was submitted with."""
    other = {**KEYS, "OPENAI_API_KEY": "sk-another-0000000000"}
    with serving() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        judge(data, "j", "--batch", cwd=tmp_path)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(OpenAIFiles, "look", look_and_find_nothing)
            foreign = judge(data, "j", *WAIT, cwd=tmp_path, keys=other)
            still = judge(data, "j", "--batch", cwd=tmp_path, keys=other)
        done = judge(data, "j", *WAIT, cwd=tmp_path)
        account = server.server.ledger.summary()

    assert (foreign.returncode, still.returncode) == (4, 4)
    assert "use that one again" in foreign.stderr
    assert done.returncode == 0, done.stderr
    assert account["requests_in_batches"] == {"openai-batch": COUNT}


async def look_and_find_nothing(self: OpenAIFiles, door: BatchDoor, batch: str) -> BatchView:
    return BatchView(batch, Phase.GONE, "gone")


def port_of(server: Loopback) -> int:
    return int(server.base_url.rsplit(":")[-1].removesuffix("/v1"))


def test_an_answer_without_a_name_is_no_answer(tmp_path: Path, data: Path) -> None:
    """A 200 that says nothing of a batch, or is no JSON, leaves in doubt whether it was taken: it is looked for."""
    made: list[str] = []

    def answer(asked: Asked) -> Given:
        if asked.path.endswith("/files"):
            return 200, {}, b'{"id": "file-1"}'
        if asked.path.endswith("/batches") and asked.body:
            made.append(json.loads(asked.body)["metadata"]["mixseek"])
            return (200, {}, b"{}") if len(made) == 1 else (200, {}, b"<html>")
        if "/batches?" in asked.path:
            batch = {"id": "batch_1", "status": "in_progress", "metadata": {"mixseek": made[-1]}}
            return 200, {}, json.dumps({"data": [batch]}).encode()
        return 200, {}, b'{"id": "batch_1", "status": "in_progress"}'

    with answering(answer) as hand:
        spec = f"openai:m@{hand.base_url}"
        first = judge(data, spec, "--batch", "--poll", "0.05", cwd=tmp_path)
        second = judge(data, spec, "--batch", "--poll", "0.05", cwd=tmp_path)
        other = judge(data, spec, "--batch", cwd=tmp_path, run="s")
        again = judge(data, spec, "--batch", "--poll", "0.05", cwd=tmp_path, run="s")

    assert [done.returncode for done in (first, second, other, again)] == [4, 4, 4, 4]
    assert "nobody knows whether it was taken" in first.stderr
    assert "it is batch_1" in second.stderr
    assert "nobody knows whether it was taken" in other.stderr
    assert len(made) == 2
