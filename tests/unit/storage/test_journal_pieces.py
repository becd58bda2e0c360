"""A journal cut up for indexing."""

import random
from pathlib import Path

import duckdb
import pytest
from tests.unit.storage.material import CORRECT, judged_lines, make_run, make_sample

from mixseek.errors import StorageError
from mixseek.storage.index import index_run
from mixseek.storage.index_connection import index_error, is_beyond_repair
from mixseek.storage.journal_pieces import KINDS, split_journal
from mixseek.storage.run_index import open_run_index


def journal_lines(count: int) -> list[bytes]:
    return [
        line
        for number in range(count)
        for line in judged_lines(make_sample(number), {"rules": CORRECT}, reply=f"reply {number}")
    ]


@pytest.mark.parametrize("group_bytes", [1, 500, 3_000, 1 << 20])
def test_every_line_is_in_one_piece_of_its_kind_and_in_order(tmp_path: Path, group_bytes: int) -> None:
    """However small the pieces are; and nothing is left on disk."""
    lines = journal_lines(20)
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"".join(lines))
    found: dict[str, list[bytes]] = {kind: [] for kind in KINDS}
    with split_journal(journal, 1 << 30, tmp_path / "pieces", group_bytes) as groups:
        for piece in (piece for pieces in groups for piece in pieces):
            content = piece.path.read_bytes().splitlines(keepends=True)
            assert piece.before == len(found[piece.kind])
            assert (piece.lines, piece.longest_bytes) == (len(content), max(map(len, content)))
            found[piece.kind] += content

    assert found == {kind: [line for line in lines if line.startswith(b'{"t":"%s"' % kind.encode())] for kind in KINDS}
    assert not list((tmp_path / "pieces").iterdir())


def test_what_was_written_since_is_left_for_the_next_time(tmp_path: Path) -> None:
    """The index says up to where it read."""
    lines = journal_lines(4)
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"".join(lines))

    with split_journal(journal, len(b"".join(lines[:6])), tmp_path / "pieces") as groups:
        (pieces,) = groups

    assert {piece.kind: piece.lines for piece in pieces} == {"sample": 2, "reply": 2, "outcome": 2}


def test_a_strange_line_leaves_nothing_behind(tmp_path: Path) -> None:
    """Named by its byte."""
    first = journal_lines(1)
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"".join(first) + b"garbage\n")

    place = f"damaged at byte {len(b''.join(first))} "
    with (
        pytest.raises(StorageError, match=place),
        split_journal(journal, 1 << 30, tmp_path / "pieces", 1) as groups,
    ):
        list(groups)

    assert not list((tmp_path / "pieces").iterdir())


def test_a_group_may_be_read_while_the_next_one_is_made(tmp_path: Path) -> None:
    """And no longer: however long the journal is, two groups are on disk."""
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"".join(journal_lines(6)))

    with split_journal(journal, 1 << 30, tmp_path / "pieces", 1) as groups:
        first, second, third = next(groups), next(groups), next(groups)
        exist = [all(piece.path.is_file() for piece in pieces) for pieces in (first, second, third)]

    assert exist == [False, True, True]


def test_positions_run_on_from_piece_to_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables keep the order of the dataset, each reply at its sample."""
    monkeypatch.setattr("mixseek.storage.journal_pieces.GROUP_BYTES", 1_000)
    workspace, run = make_run(tmp_path, journal_lines(30))

    index_run(workspace, run)

    with open_run_index(workspace, run) as opened:
        rows = [(row.id, row.raw_reply) for row in opened.rows()]
    assert rows == [(f"s{number}", f"reply {number}") for number in range(30)]


def test_pieces_of_a_process_that_was_killed_are_taken_away(tmp_path: Path) -> None:
    """They hold judged texts; what has another name is not ours to remove."""
    directory = tmp_path / "pieces"
    directory.mkdir()
    for name in ("1-2-reply.jsonl", "1-sample.jsonl", "1-2-notes.jsonl", "duckdb_temp_1.tmp"):
        (directory / name).write_bytes(b"left")
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"".join(journal_lines(1)))

    with split_journal(journal, 1 << 30, directory) as groups:
        assert sum(len(pieces) for pieces in groups) == 3

    assert sorted(path.name for path in directory.iterdir()) == ["1-2-notes.jsonl", "duckdb_temp_1.tmp"]


def test_long_texts_are_indexed_whatever_memory_short_ones_take(tmp_path: Path) -> None:
    """A group of rows is packed as a whole: 80 MB of responses do not fit where thousands of short ones do."""
    text = " ".join(map(str, random.Random(1).choices(range(10_000), k=400_000)))
    samples = (make_sample(number, response=f"{number} {text}") for number in range(42))
    workspace, run = make_run(
        tmp_path, (line for sample in samples for line in judged_lines(sample, {"rules": CORRECT}))
    )

    index_run(workspace, run)

    with open_run_index(workspace, run) as opened:
        assert [totals.valid for totals in opened.totals()] == [42]


@pytest.mark.parametrize("words", ["Failed to commit: failed to pin block of size 256.0 KiB", "Out of Memory Error: x"])
def test_short_memory_is_not_taken_for_a_damaged_index(words: str) -> None:
    """Throwing the index away would cost the other runs theirs, and help nobody."""
    error = duckdb.TransactionException(words)

    assert not is_beyond_repair(error)
    assert "free some memory" in str(index_error(Path("index"), error))
