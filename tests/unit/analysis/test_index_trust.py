"""Only an index that we made is read, and whoever reads it reaches no other file."""

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest
from tests.unit.storage.material import CORRECT, INCORRECT, append_lines, judged_lines, make_run, make_sample

from mixseek.analysis.labels.units import ensure_texts, open_units
from mixseek.analysis.ratings.relation import RatingSource
from mixseek.analysis.ratings.run import open_run as open_ratings
from mixseek.competition.sessions import start_session
from mixseek.datasets.tables import connecting
from mixseek.index import export, loading
from mixseek.index.export import export_run
from mixseek.index.listing import open_list
from mixseek.index.loading import ensure_indexed, find_index, is_fresh
from mixseek.index.pairing import open_pairs
from mixseek.index.run import open_run_index
from mixseek.index.totals import read_totals
from mixseek.storage import seal
from mixseek.storage.duckdb_session import attaching, confine, session_settings
from mixseek.storage.durable import storage_error
from mixseek.storage.seal import seal_file
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.storage.workspace_key import workspace_key

Made = tuple[Workspace, RunDirectory]


def lines_of(count: int, first: int = 1) -> list[bytes]:
    """Every other one is right."""
    outcomes = [CORRECT, INCORRECT]
    numbers = range(first, first + count)
    return [line for n in numbers for line in judged_lines(make_sample(n), {"rules": outcomes[n % 2]})]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    workspace, run = make_run(tmp_path / "ws", lines_of(4))
    ensure_indexed(workspace, run)
    return workspace, run


def mean_of(made: Made) -> float | None:
    with open_run_index(*made) as index:
        return index.facts.mean_score


# Whoever reads an index.


@contextlib.contextmanager
def listing(workspace: Workspace, run: RunDirectory) -> Iterator[duckdb.DuckDBPyConnection]:
    place = workspace.root / "listed"
    place.mkdir()
    judgments = open_list(workspace, run, place / "listed.duckdb")
    try:
        yield judgments._connection
    finally:
        judgments.close()


@contextlib.contextmanager
def exporting(workspace: Workspace, run: RunDirectory) -> Iterator[duckdb.DuckDBPyConnection]:
    """The session while the table is written."""
    seen: list[duckdb.DuckDBPyConnection] = []
    with pytest.MonkeyPatch.context() as patch:
        list_parts = export.list_parts

        def look(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[int, int, int, int]]:
            seen.append(connection.cursor())
            return list_parts(connection)

        patch.setattr(export, "list_parts", look)
        export_run(workspace, run, workspace.root / "out.parquet")
    yield seen[0]


@contextlib.contextmanager
def growing(workspace: Workspace, run: RunDirectory) -> Iterator[duckdb.DuckDBPyConnection]:
    """The session that goes on from an index that was there."""
    seen: list[duckdb.DuckDBPyConnection] = []
    with pytest.MonkeyPatch.context() as patch:
        load_lines = loading.load_lines

        def look(connection: duckdb.DuckDBPyConnection, *rest: Any) -> None:
            seen.append(connection.cursor())
            load_lines(connection, *rest)

        patch.setattr(loading, "load_lines", look)
        append_lines(run, lines_of(2, first=5))
        ensure_indexed(workspace, run)
    yield seen[0]


READERS: dict[str, Callable[[Workspace, RunDirectory], AbstractContextManager[object]]] = {
    "a report": open_run_index,
    "the viewer's list": listing,
    "labels": lambda workspace, run: open_units(workspace, run, None),
    "a comparison": lambda _, run: open_pairs(run, run),
    "stats": lambda workspace, run: open_ratings(workspace, run, RatingSource()),
    "an export": exporting,
    "an index that grows": growing,
}


def session_of(reader: object) -> duckdb.DuckDBPyConnection:
    for name in ("_connection", "connection"):
        reader = getattr(reader, name, reader)
    assert isinstance(reader, duckdb.DuckDBPyConnection)
    return reader


def refuse_everything(session: duckdb.DuckDBPyConnection, outside: Path) -> None:
    """Files, databases and extensions; and there is no way back."""
    secret = outside / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    for statement in (
        f"FROM read_text('{secret}')",
        f"FROM read_csv('{secret}')",
        f"COPY (SELECT 1) TO '{outside}/stolen.csv'",
        f"ATTACH '{outside}/other.duckdb' AS other",
        "INSTALL httpfs",
        f"LOAD '{outside}/evil.duckdb_extension'",
        "SET enable_external_access = true",
        f"SET allowed_paths = ['{secret}']",
        f"SET allowed_directories = ['{outside}']",
    ):
        with pytest.raises(duckdb.Error):
            session.execute(statement)
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]


@pytest.mark.parametrize("name", READERS)
def test_whoever_reads_an_index_reaches_no_other_file(name: str, made: Made, tmp_path: Path) -> None:
    """Neither a view nor a statement of ours opens a file, a database or an extension."""
    outside = tmp_path / "outside"
    outside.mkdir()

    with READERS[name](*made) as reader:
        refuse_everything(session_of(reader), outside)


def test_datasets_and_competitions_are_read_without_other_files(tmp_path: Path) -> None:
    """A file that DuckDB reads for us is the only one."""
    outside = tmp_path / "outside"
    outside.mkdir()
    data = tmp_path / "data.csv"
    data.write_text("id\n1\n", encoding="utf-8")

    with connecting(data) as session:
        assert session.execute(f"FROM read_csv('{data}')").fetchall() == [(1,)]
        refuse_everything(session, outside)
    with start_session(tmp_path / "competitions.duckdb") as session:
        session.execute(f"ATTACH '{tmp_path}/competitions.duckdb' AS competitions")
        refuse_everything(session, outside)


# What is believed.


def reseal(made: Made, *statements: str) -> None:
    """As somebody could who knows the key: with a seal that holds."""
    workspace, run = made
    index = find_index(run)
    assert index is not None
    content = run.index.read_bytes()[: index.sealed.content_bytes]
    run.index.write_bytes(content)
    with duckdb.connect(str(run.index)) as connection:
        for statement in statements:
            connection.execute(statement)
    seal_file(run.index, workspace_key(workspace.root), dict(index.sealed.facts))
    assert find_index(run) is not None


def test_a_view_in_place_of_a_table_is_not_read_even_under_a_seal(made: Made) -> None:
    """Only base tables of our schema are."""
    reseal(
        made,
        "ALTER TABLE facts RENAME TO kept",
        "CREATE VIEW facts AS SELECT * REPLACE (1.0 AS mean_score) FROM kept",
    )

    assert mean_of(made) == 0.5


def test_a_view_under_a_seal_reads_no_file(made: Made, tmp_path: Path) -> None:
    """Whatever the views hold that come with an index."""
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    reseal(made, f"CREATE OR REPLACE VIEW only_models AS FROM read_text('{tmp_path}/secret.txt')")

    with open_run_index(*made) as index, pytest.raises(duckdb.PermissionException):
        index._connection.execute("FROM only_models")


@pytest.mark.parametrize("place", ["first byte", "in the middle", "in the seal", "last byte", "one byte more"])
def test_a_byte_that_differs_is_enough(place: str, made: Made) -> None:
    """Wherever it is."""
    _, run = made
    content = bytearray(run.index.read_bytes())
    if place == "one byte more":
        content.append(0)
    else:
        position = {"first byte": 0, "in the middle": len(content) // 2, "in the seal": -60, "last byte": -1}[place]
        content[position] ^= 1
    run.index.write_bytes(content)

    assert not is_fresh(run)
    assert mean_of(made) == 0.5
    assert is_fresh(run)


def test_an_index_under_another_key_is_made_anew(made: Made) -> None:
    """As after `nonce.key` was removed."""
    workspace, run = made
    (workspace.root / "nonce.key").write_bytes(b"k" * 32)

    assert not is_fresh(run)
    assert mean_of(made) == 0.5
    assert is_fresh(run)


def test_a_copy_is_made_anew_and_a_moved_run_is_not(made: Made, tmp_path: Path) -> None:
    """Whoever sends a workspace with its key cannot know which file its index will be."""
    workspace, run = made
    copied = tmp_path / "copied"
    shutil.copytree(workspace.root, copied)
    run.path.rename(run.path.with_name("moved"))

    assert not is_fresh(Workspace(copied).run(run.name))
    assert is_fresh(workspace.run("moved"))


def test_what_is_put_in_place_between_check_and_opening_is_not_read(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that is open is the one that was looked at."""
    _, run = made
    forged = run.path / "forged"
    shutil.copyfile(run.index, forged)
    with duckdb.connect(str(forged)) as connection:
        connection.execute("UPDATE facts SET mean_score = 1.0")
    looked: list[Path] = []
    ensure = loading.ensure_indexed

    def ensure_and_replace(workspace: Workspace, run: RunDirectory) -> loading.TrustedIndex:
        index = ensure(workspace, run)
        if not looked:
            forged.replace(run.index)
        looked.append(index.path)
        return index

    monkeypatch.setattr(loading, "ensure_indexed", ensure_and_replace)

    assert mean_of(made) == 0.5
    assert len(looked) == 2


def test_two_who_index_at_once_do_not_disturb_each_other(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """A viewer and a run: what one goes on from is replaced by the other while it is copied."""
    workspace, run = made
    append_lines(run, lines_of(2, first=5))
    copy_index, began = loading.copy_index, []

    def copy_late(index: loading.TrustedIndex, to: Path) -> bool:
        began.append(to)
        if len(began) == 1:
            loading.index_run(workspace, run)
        return copy_index(index, to)

    monkeypatch.setattr(loading, "copy_index", copy_late)

    with open_run_index(*made) as index:
        assert (index.facts.samples, index.facts.mean_score) == (6, 0.5)


def test_a_file_is_read_once_to_be_believed(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """And again when anything about it has changed."""
    _, run = made
    digested: list[int] = []
    digest_start = seal._digest_start

    def count(*arguments: Any) -> object:
        digested.append(1)
        return digest_start(*arguments)

    monkeypatch.setattr(seal, "_digest_start", count)

    assert is_fresh(run)
    assert not digested
    os.utime(run.index)
    assert is_fresh(run)
    assert is_fresh(run)
    assert len(digested) == 1


def test_where_nothing_can_be_written_an_index_is_made_for_the_process_alone(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workspace of somebody else's, whose key is not ours to read: neither believed nor refused."""
    workspace, run = made
    before = {path: path.read_bytes() for path in workspace.root.rglob("*") if path.is_file()}

    def refuse(root: Path) -> bytes:
        raise storage_error("keep", root, OSError(errno.EACCES, "x")) from OSError(errno.EACCES, "x")

    monkeypatch.setattr(loading, "workspace_key", refuse)
    monkeypatch.setattr(loading, "find_workspace_key", lambda root: None)

    assert mean_of(made) == 0.5
    first = ensure_indexed(workspace, run)
    assert not first.path.is_relative_to(workspace.root)
    assert ensure_indexed(workspace, run) == first
    append_lines(run, lines_of(2, first=5))
    with open_run_index(*made) as index:
        assert index.facts.samples == 6
    run.journal.write_bytes(before[run.journal])
    assert {path: path.read_bytes() for path in workspace.root.rglob("*") if path.is_file()} == before


def test_changed_totals_are_none(made: Made) -> None:
    """They are counted again by whoever reads the run next."""
    _, run = made
    document = orjson.loads(run.totals.read_bytes())
    assert read_totals(run) is not None

    run.totals.write_bytes(orjson.dumps({**document, "mean_score": 1.0}))
    assert read_totals(run) is None
    assert mean_of(made) == 0.5
    assert orjson.loads(run.totals.read_bytes()) == document


def test_a_changed_table_of_texts_is_made_anew(made: Made) -> None:
    """It decides which label belongs to which sample."""
    workspace, run = made
    texts = ensure_texts(workspace, run)
    content = texts.read_bytes()
    texts.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))

    again = ensure_texts(workspace, run)

    assert again.read_bytes() == content
    assert [path.name for path in run.path.glob("texts-*")] == [again.name]


def test_a_confined_session_is_not_given_to_anybody_else(tmp_path: Path) -> None:
    """The next one may need files of its own."""
    config = session_settings(tmp_path / "spilled")
    with attaching(None, config=config) as connection:
        confine(connection)
    with attaching(None, config=config) as connection:
        connection.execute(f"COPY (SELECT 1) TO '{tmp_path}/out.csv'")

    assert (tmp_path / "out.csv").exists()
