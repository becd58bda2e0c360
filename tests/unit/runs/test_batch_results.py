"""Requests on their way into batches, and lines on their way out of them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mixseek.errors import StorageError
from mixseek.judges.batches.lines import LineFormat
from mixseek.judges.batches.wires import Limits
from mixseek.runs.batches.results import Faults, Results, ends_whole
from mixseek.runs.batches.spool import Spool
from mixseek.storage.batch_ledger import BatchEntry, BatchLedger, Intent, Stage, read_ledger


def intent(name: str, *requests: str) -> Intent:
    return Intent(name, "label", "j", "openai", "m", "http://x", "a", requests, "", 0, 10, None, None)


def entry(name: str, *requests: str, files: tuple[str, ...] = ()) -> BatchEntry:
    now = datetime.now(UTC)
    return BatchEntry(intent(name, *requests), Stage.ENDED, now, now, results=files)


def spooled(directory: Path, *sizes: int, tokens: int = 10) -> Spool:
    """Requests `r0`, `r1` … of so many bytes."""
    spool = Spool(directory)
    for number, size in enumerate(sizes):
        spool.add(f"r{number}", b"x" * (size - 1) + b"\n", tokens, (None, None), b"p")
    return spool


@pytest.mark.parametrize(
    ("limits", "most_tokens", "sizes"),
    [
        # Nine tenths of a limit are used.
        (Limits(4, 10_000), None, [3, 2]),
        (Limits(100, 223), None, [4, 1]),
        (Limits(100, 10_000), 25, [2, 2, 1]),
        # One that is larger than a batch may be goes alone: only its provider can say no.
        (Limits(100, 40), None, [1, 1, 1, 1, 1]),
    ],
)
def test_a_batch_is_cut_to_every_limit(
    limits: Limits, most_tokens: int | None, sizes: list[int], tmp_path: Path
) -> None:
    spool = spooled(tmp_path, 50, 50, 50, 50, 50)
    cuts = []
    while taken := spool.cut(limits, most_tokens):
        cuts.append([request.custom_id for request in taken])

    assert [len(taken) for taken in cuts] == sizes
    spool.close()
    assert sorted(name for taken in cuts for name in taken) == [f"r{number}" for number in range(5)]


def test_what_does_not_fit_into_the_queue_stays(tmp_path: Path) -> None:
    """No batch is better than one that is refused; what is put back is there again."""
    spool = spooled(tmp_path, 50)

    assert spool.cut(Limits(9, 9_000), 9) == []
    taken = spool.cut(Limits(9, 9_000), 10)
    assert len(spool) == 0
    spool.put_back(taken)
    assert "r0" in spool
    assert spool.write(taken, "b1").path.read_bytes() == b"x" * 49 + b"\n"
    spool.close()


def test_a_full_disk_is_told_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that are still in memory are not lost in silence."""
    spool = spooled(tmp_path, 50)

    def refuse(*_: Any) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mixseek.runs.batches.spool.os.pread", refuse)
    with pytest.raises(StorageError, match="the disk is full"):
        spool.write(spool.cut(Limits(9, 9_000), None), "b1")
    spool.close()


def line(name: str, *, fails: bool = False) -> str:
    response = None if fails else {"status_code": 200, "body": {"choices": [], "of": name}}
    return json.dumps({"custom_id": name, "response": response, "error": {"code": "x"} if fails else None})


def test_what_is_wrong_with_lines_is_counted(tmp_path: Path) -> None:
    """Torn, repeated, unknown and missing; an answer counts where a failure came before it, and never the reverse."""
    rows = [line("a"), line("b", fails=True), line("b"), line("a", fails=True), line("z"), line("c")[:20], "[]", ""]
    (tmp_path / "r").write_text("\n".join(rows) + "\n")
    results = Results(tmp_path, LineFormat.OPENAI)
    faults = results.take(entry("b1", "a", "b", "c", files=("r",)), is_old=False)

    assert faults == Faults(torn=2, repeated=2, unknown=1, missing=1)
    assert faults.words() == (
        "2 torn lines, 2 lines that came before, 1 line about requests that are not in it, 1 request without a line"
    )
    assert [read.document is not None for _, read in results.lines("a")] == [True]
    assert [read.document is not None for _, read in results.lines("b")] == [False, True]
    assert results.lines("c") == []
    assert results.tries == {"a": 1, "b": 1, "c": 1}


def test_a_file_that_breaks_off_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "f"
    for data, is_whole in [(b"", True), (b"{}\n", True), (b"{}\n{}", True), (b'{}\n{"a":', False)]:
        path.write_bytes(data)
        assert ends_whole(path) is is_whole


def test_half_an_event_was_never_written(tmp_path: Path) -> None:
    """The next event begins a line of its own; what is torn inside the file is an error with its place."""
    path = tmp_path / "batches.jsonl"
    ledger = BatchLedger(path)
    ledger.intend(intent("b0001", "a"))
    ledger.note("b0001", Stage.SUBMITTED, id="x")
    with path.open("ab") as stream:
        stream.write(b'{"event":"ended","batch":"b0')

    assert read_ledger(path)[0].stage is Stage.SUBMITTED
    again = BatchLedger(path)
    again.note("b0001", Stage.ENDED, results=["r"])
    (kept,) = read_ledger(path)
    assert (kept.stage, kept.id, kept.results) == (Stage.ENDED, "x", ("r",))
    assert again.next_name() == "b0002"
    path.write_bytes(path.read_bytes().replace(b'"submitted"', b'submitted"'))
    with pytest.raises(StorageError, match="line 2 is no event of a batch"):
        read_ledger(path)
