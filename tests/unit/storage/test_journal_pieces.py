"""A journal cut up for indexing."""

from pathlib import Path

import pytest
from tests.unit.storage.material import CORRECT, judged_lines, make_run, make_sample

from mixseek.errors import StorageError
from mixseek.storage.index import index_run
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
    for pieces in split_journal(journal, 1 << 30, tmp_path / "pieces", group_bytes):
        for piece in pieces:
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

    (pieces,) = split_journal(journal, len(b"".join(lines[:6])), tmp_path / "pieces")

    assert {piece.kind: piece.lines for piece in pieces} == {"sample": 2, "reply": 2, "outcome": 2}


def test_a_strange_line_leaves_nothing_behind(tmp_path: Path) -> None:
    """Named by its byte."""
    first = journal_lines(1)
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"".join(first) + b"garbage\n")

    with pytest.raises(StorageError, match=f"damaged at byte {len(b''.join(first))} "):
        list(split_journal(journal, 1 << 30, tmp_path / "pieces"))

    assert not list((tmp_path / "pieces").iterdir())


def test_positions_run_on_from_piece_to_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables keep the order of the dataset, each reply at its sample."""
    monkeypatch.setattr(split_journal, "__defaults__", (1_000,))
    workspace, run = make_run(tmp_path, journal_lines(30))

    index_run(workspace, run)

    with open_run_index(workspace, run) as opened:
        rows = [(row.id, row.raw_reply) for row in opened.rows()]
    assert rows == [(f"s{number}", f"reply {number}") for number in range(30)]
