"""Whatever goes wrong with a batch: the same verdicts, nothing submitted twice, the bill known to the cent."""

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.flows.batches import KEYS, WIRES, journal_bill, judge, ledger, provider_bill, verdicts, write_settings
from tests.flows.live import riddles
from tests.flows.loopback import Loopback, loopback
from tests.flows.running import mixseek_here, write_jsonl
from tests.waiting import PATIENCE_SECONDS

from mixseek.runs.batches import handling
from mixseek.testing.batches.endpoints import BatchEndpoints, json_response
from mixseek.testing.batches.faults import BatchFault
from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.mock_server import MockOptions

COUNT = 12
WAIT = ("--batch", "--wait", "--poll", "0.05")
ALONE = [
    (BatchFault.TOO_MANY, "openai"),
    (BatchFault.TOO_MANY, "anthropic"),
    (BatchFault.TOO_MANY, "gemini"),
    (BatchFault.SLOW_POST, "openai"),
    (BatchFault.SLOW_POST, "anthropic"),
    (BatchFault.LOST_ANSWER, "mistral"),
    (BatchFault.LOST_ANSWER, "anthropic"),
    (BatchFault.ERROR_FILE_ONLY, "openai"),
    (BatchFault.ERROR_FILE_ONLY, "mistral"),
    (BatchFault.EXPIRED, "openai"),
    (BatchFault.EXPIRED, "anthropic"),
    (BatchFault.EXPIRED, "gemini"),
    (BatchFault.FAILED_BATCH, "openai"),
    (BatchFault.FAILED_HOLDS_QUEUE, "openai"),
    (BatchFault.FAILED_HOLDS_QUEUE, "gemini"),
    (BatchFault.GONE, "openai"),
    (BatchFault.GONE, "gemini"),
    (BatchFault.SHUFFLED, "gemini"),
    (BatchFault.UNKNOWN_LINE, "mistral"),
    (BatchFault.FOREIGN, "anthropic"),
    (BatchFault.CLOCK_AHEAD, "anthropic"),
    (BatchFault.CUT_DOWNLOAD, "anthropic"),
    (BatchFault.CUT_DOWNLOAD, "openai"),
    (BatchFault.LINE_ERRORS, "openai"),
    (BatchFault.REFUSED_LINES, "openai"),
    (BatchFault.REFUSED_LINES, "anthropic"),
    (BatchFault.EMPTY_TEXT, "mistral"),
    (BatchFault.TORN_LINE, "openai"),
    (BatchFault.TORN_LINE, "anthropic"),
    (BatchFault.MISSING_LINE, "gemini"),
    (BatchFault.TWICE, "openai"),
]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused is tried again at the next look."""
    monkeypatch.setattr(handling, "_FIRST_REST_SECONDS", 0.0)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "riddles.jsonl"
    write_jsonl(path, riddles(COUNT))
    return path


@pytest.fixture(scope="module")
def wanted(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What asking at once brings."""
    place = tmp_path_factory.mktemp("live")
    with loopback() as server:
        write_settings(place / "mixseek.toml", "openai", server)
        assert judge(data, "j", cwd=place).returncode == 0
    return verdicts(place, "r")


def suffering(*faults: BatchFault, rate: float = 1.0, **batches: Any) -> Any:
    """The provider, under which these strike wherever they can."""
    options = BatchOptions(faults=faults, fault_rate=rate, longest_wait_seconds=PATIENCE_SECONDS, **batches)
    return loopback(MockOptions(retry_after_seconds=0.0, drip_seconds=0.1, batches=options))


@pytest.mark.parametrize(("fault", "wire"), ALONE)
def test_what_goes_wrong_once_costs_nothing_but_time(
    fault: BatchFault, wire: str, tmp_path: Path, data: Path, wanted: list[dict[str, Any]]
) -> None:
    """One kind of fault alone, as often as it strikes: nothing is taken for an answer that is none."""
    # A bill for lines that are all unreadable can only be guessed at.
    rate = 0.5 if fault in (BatchFault.TORN_LINE, BatchFault.MISSING_LINE) else 1.0
    with suffering(fault, rate=rate) as server:
        write_settings(tmp_path / "mixseek.toml", wire, server)
        done = judge(data, "j", *WAIT, cwd=tmp_path)
        account = server.server.ledger.summary()

    assert account["faults"].get(fault.value)
    assert done.returncode == 0, done.stderr
    assert verdicts(tmp_path, "r") == wanted
    assert account["submitted_again_after_success"] == account["in_flight_twice"] == []
    assert account["strangers_cancelled"] == []
    # What cannot be read is in the account at the mean of what can be.
    precision = 0.01 if account["billed_unreadable"] else 1e-9
    assert journal_bill(tmp_path) == pytest.approx(provider_bill(account, wire), rel=precision)
    # Every batch came to its end, and leaves no file behind.
    assert {line["event"] for line in last_events(tmp_path)} <= {"collected", "dropped", "withdrawn"}
    assert list((tmp_path / "ws" / "runs" / "r" / "batches").iterdir()) == []


@pytest.mark.parametrize("wire", WIRES)
def test_a_batch_in_doubt_is_not_taken_for_another_of_its_size(
    wire: str, tmp_path: Path, data: Path, wanted: list[dict[str, Any]]
) -> None:
    """Its creation was never answered, and beside it stands a stranger's: as large, as old, of a file of that name."""
    with suffering(BatchFault.LOST_ANSWER, BatchFault.FOREIGN) as server:
        write_settings(tmp_path / "mixseek.toml", wire, server)
        done = judge(data, "j", *WAIT, cwd=tmp_path)
        account = server.server.ledger.summary()

    assert account["faults"].keys() == {"lost-answer", "foreign"}
    assert done.returncode == 0, done.stderr
    assert verdicts(tmp_path, "r") == wanted
    assert account["requests_in_batches"] == {f"{wire}-batch": COUNT}
    assert journal_bill(tmp_path) == pytest.approx(provider_bill(account, wire))


def forget_files(server: Loopback) -> None:
    """What the provider keeps is gone, as after some weeks."""
    assert server.server.batches is not None
    store = server.server.batches
    for stored in store.files.newest("file-"):
        store.files.remove(stored.id)


def last_events(cwd: Path) -> list[dict[str, Any]]:
    """What was heard last of each batch."""
    return list({event["batch"]: event for event in ledger(cwd)}.values())


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (BatchFault.TORN_LINE, "torn line"),
        (BatchFault.MISSING_LINE, "12 requests without a line"),
        (BatchFault.TWICE, "12 lines that came before"),
        (BatchFault.UNKNOWN_LINE, "1 line about requests that are not in it"),
        (BatchFault.GONE, "is gone"),
        (BatchFault.FAILED_BATCH, "was refused as a whole (server_error"),
    ],
)
def test_what_went_wrong_is_named(fault: BatchFault, words: str, tmp_path: Path, data: Path) -> None:
    """A person reads which batch it was, and what."""
    with suffering(fault) as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        done = judge(data, "j", *WAIT, cwd=tmp_path)

    assert words in done.stderr


def test_a_full_queue_is_filled_with_smaller_batches(tmp_path: Path, data: Path, wanted: list[dict[str, Any]]) -> None:
    """`token_limit_exceeded` is no refusal of the requests: fewer of them wait at once, and all are answered."""
    with suffering(queue_tokens=8_000) as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        done = judge(data, "j", *WAIT, cwd=tmp_path)
        account = server.server.ledger.summary()

    sizes = [len(event["requests"]) for event in ledger(tmp_path) if event["event"] == "intended"]
    assert done.returncode == 0, done.stderr
    assert "token_limit_exceeded" in done.stderr
    assert sizes[0] == COUNT
    assert max(sizes[1:]) < COUNT
    assert verdicts(tmp_path, "r") == wanted
    assert account["submitted_again_after_success"] == account["in_flight_twice"] == []


def test_commands_that_do_not_wait_learn_how_much_a_queue_takes(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them sees one refusal: neither it nor the next one begins with all of it again."""
    monkeypatch.setattr(handling, "_FIRST_REST_SECONDS", 60.0)
    codes: list[int] = []
    with suffering(queue_tokens=8_000) as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        while not codes or (codes[-1] == 4 and len(codes) < 20):
            codes.append(judge(data, "j", "--batch", cwd=tmp_path).returncode)
        account = server.server.ledger.summary()

    assert codes[-1] == 0
    assert len(codes) <= 10
    assert account["submitted_again_after_success"] == account["in_flight_twice"] == []


@pytest.mark.parametrize("wire", WIRES)
def test_a_provider_may_take_a_few_batches_at_a_time(
    wire: str, tmp_path: Path, data: Path, wanted: list[dict[str, Any]]
) -> None:
    """429 at the fourth of six: the others wait here, and nothing is sent twice."""
    with suffering(files_at_once=3, seconds=3_600.0) as server:
        store = server.server.batches
        assert store is not None
        write_settings(tmp_path / "mixseek.toml", wire, server, batch_requests=3)
        first = judge(data, "j", "--batch", cwd=tmp_path)
        taken = server.server.ledger.summary()["batches"]
        began = store.clock()
        store.clock = lambda: began + 7_200.0
        second = judge(data, "j", "--batch", cwd=tmp_path)
        store.clock = lambda: began + 14_400.0
        third = judge(data, "j", "--batch", cwd=tmp_path)
        account = server.server.ledger.summary()

    assert (first.returncode, second.returncode, third.returncode) == (4, 4, 0), third.stderr
    assert "Too many" in first.stderr
    assert "6 requests wait for room" in first.stderr
    assert taken == {f"{wire}-batch": 3}
    assert account["batches"] == {f"{wire}-batch": 6}
    assert account["requests_in_batches"] == {f"{wire}-batch": COUNT}
    assert verdicts(tmp_path, "r") == wanted


def test_batches_that_are_refused_for_another_reason_end_the_command(tmp_path: Path, data: Path) -> None:
    """The third refusal is the last one, and the reason is told; the requests are free for the next command."""
    with suffering(request_limit=3) as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        refused = judge(data, "j", *WAIT, cwd=tmp_path)
        account = server.server.ledger.summary()
        write_settings(tmp_path / "mixseek.toml", "openai", server, batch_requests=3)
        done = judge(data, "j", *WAIT, cwd=tmp_path)

    assert refused.returncode not in (0, 4, 3)
    assert "too_many_requests_in_batch" in refused.stderr.splitlines()[-1]
    assert account["batches"] == {"openai-batch": 3}
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("wire", ["openai", "gemini", "mistral"])
def test_many_batches_may_be_refused_at_one_look(
    wire: str, tmp_path: Path, data: Path, wanted: list[dict[str, Any]]
) -> None:
    """A provider's bad hour refuses all that is there: that is one refusal, and the same requests are taken later."""
    with suffering(BatchFault.FAILED_BATCH) as server:
        write_settings(tmp_path / "mixseek.toml", wire, server, batch_requests=3)
        done = judge(data, "j", *WAIT, cwd=tmp_path)
        account = server.server.ledger.summary()

    assert account["faults"] == {"failed-batch": COUNT}
    assert done.returncode == 0, done.stderr
    assert verdicts(tmp_path, "r") == wanted


@pytest.mark.parametrize("status", [200, 404])
@pytest.mark.parametrize("wire", WIRES)
def test_a_batch_that_is_gone_is_not_looked_for_for_ever(
    wire: str, status: int, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some hosts call the error a success. Looks of commands that do not wait count together."""

    def missing(self: BatchEndpoints, batch_id: str) -> web.Response:
        return json_response(status, self.error_body(404, f"No batch found with id '{batch_id}'."))

    monkeypatch.setattr(BatchEndpoints, "missing", missing)
    with suffering(BatchFault.GONE) as server:
        write_settings(tmp_path / "mixseek.toml", wire, server)
        codes = [judge(data, "j", "--batch", cwd=tmp_path).returncode for _ in range(12)]
        account = server.server.ledger.summary()

    assert codes[-1] == 0
    assert account["submitted_again_after_success"] == account["in_flight_twice"] == []


def test_results_that_are_not_kept_any_more_do_not_end_every_command(tmp_path: Path, data: Path) -> None:
    """A provider removes files after a while: that is told, and what to do."""
    with suffering() as server:
        write_settings(tmp_path / "mixseek.toml", "openai", server)
        left = judge(data, "j", "--batch", cwd=tmp_path)
        # Too late: it has ended, and its files are written now at the latest.
        mixseek_here("batches", "--cancel", "r/b0001", "--workspace", "ws", cwd=tmp_path, env=KEYS)
        forget_files(server)
        # Not at the first look: what has just ended may not be there yet.
        lost = judge(data, "j", *WAIT, cwd=tmp_path)
        freed = mixseek_here("batches", "--resubmit", "r/b0001", "--workspace", "ws", cwd=tmp_path)
        done = judge(data, "j", *WAIT, cwd=tmp_path)

    assert left.returncode == lost.returncode == 4, lost.stderr
    assert freed.returncode == 0, freed.stderr
    assert done.returncode == 0, done.stderr
