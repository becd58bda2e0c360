"""The index says what the journal says, and can be thrown away."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.storage.material import (
    CORRECT,
    INCORRECT,
    INVALID,
    MISSING,
    OUTCOMES,
    SCORED,
    UNDECIDED,
    append_lines,
    judged_lines,
    make_manifest,
    make_run,
    make_sample,
    totals_of,
)
from tests.unit.storage.test_records import ANY_OUTCOME, SAMPLES

from mixseek.domain.counts import OutcomeCount
from mixseek.domain.judgments import JudgedRow, Method, Missing, Outcome, Status, ValidJudgment, status_of
from mixseek.domain.samples import Sample
from mixseek.domain.scored_counts import DimensionCell, EvidenceCount, ScoredCell
from mixseek.errors import StorageError
from mixseek.index import loading as index
from mixseek.index.loading import ensure_indexed, index_error, index_run, is_fresh
from mixseek.index.run import open_run_index
from mixseek.storage.journal.journal import JournalFile
from mixseek.storage.journal.manifest import RunStatus, write_manifest
from mixseek.storage.journal.records import encode_outcome
from mixseek.storage.workspace import RunDirectory, Workspace


def rows_of(workspace: Workspace, run: RunDirectory) -> list[JudgedRow]:
    with open_run_index(workspace, run) as opened:
        return list(opened.rows())


def statuses_of(workspace: Workspace, run: RunDirectory) -> list[tuple[str, str, str]]:
    return [(row.id, row.judge, row.status.value) for row in rows_of(workspace, run)]


def journal_of(*outcomes: Outcome) -> list[bytes]:
    return [
        line
        for number, outcome in enumerate(outcomes, 1)
        for line in judged_lines(make_sample(number), {"rules": outcome}, reply=f"reply {number}")
    ]


def test_every_kind_of_outcome_is_indexed(tmp_path: Path) -> None:
    """In dataset order, with the reply it rests on."""
    workspace, run = make_run(tmp_path, journal_of(*OUTCOMES))

    rows = rows_of(workspace, run)

    assert [(row.id, row.status) for row in rows] == [
        (f"s{number}", status_of(outcome)) for number, outcome in enumerate(OUTCOMES, 1)
    ]
    assert [row.raw_reply for row in rows] == [f"reply {number}" for number in range(1, 6)]


@settings(max_examples=8)
@given(
    samples=st.lists(SAMPLES, min_size=1, max_size=12, unique_by=lambda sample: sample.key()),
    outcomes=st.lists(ANY_OUTCOME, min_size=12, max_size=12),
)
def test_journal_to_index_and_back_is_a_round_trip(
    samples: list[Sample], outcomes: list[Outcome], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Texts survive, except that what UTF-8 cannot hold is U+FFFD in the index."""
    pairs = list(zip(samples, outcomes, strict=False))
    lines = [line for sample, outcome in pairs for line in judged_lines(sample, {"rules": outcome})]
    workspace, run = make_run(tmp_path_factory.mktemp("ws"), lines)

    rows = rows_of(workspace, run)

    def readable(text: str) -> str:
        return "".join("�" if "\ud800" <= character <= "\udfff" else character for character in text)

    assert [row.response for row in rows] == [readable(sample.response) for sample in samples]
    assert [row.question for row in rows] == [readable(sample.question) for sample in samples]
    assert [row.status for row in rows] == [status_of(outcome) for _, outcome in pairs]
    for row, (sample, outcome) in zip(rows, pairs, strict=True):
        assert row.id == readable(sample.id)
        assert row.ground_truth_alternatives == tuple(readable(text) for text in sample.ground_truth_alternatives)
        assert row.span == getattr(outcome, "span", None)
        assert row.score == getattr(outcome, "score", None)
        assert row.rules == tuple(readable(rule) for rule in getattr(outcome, "rules", ()))


def test_a_stale_index_is_noticed_by_the_journal_it_was_made_from(tmp_path: Path) -> None:
    """A run that went on is indexed again; one that did not is left alone."""
    workspace, run = make_run(tmp_path, journal_of(CORRECT))

    assert not is_fresh(run)
    ensure_indexed(workspace, run)
    assert is_fresh(run)
    append_lines(run, judged_lines(make_sample(2), {"rules": INCORRECT}))
    assert not is_fresh(run)
    assert statuses_of(workspace, run) == [("s1", "rules", "valid"), ("s2", "rules", "valid")]


def test_a_fresh_index_is_not_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report on a million rows must not index them each time."""
    workspace, run = make_run(tmp_path, journal_of(CORRECT))
    ensure_indexed(workspace, run)
    monkeypatch.setattr(index, "index_run", lambda *_: pytest.fail("indexed again"))

    assert len(rows_of(workspace, run)) == 1


def test_runs_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Replacing the rows of one leaves the other as it is."""
    workspace, first = make_run(tmp_path, journal_of(CORRECT, UNDECIDED), name="first")
    _, second = make_run(tmp_path, journal_of(INVALID), name="second")
    for run in (first, second, first):
        index_run(workspace, run)

    assert [status for *_, status in statuses_of(workspace, first)] == ["valid", "undecided"]
    assert [status for *_, status in statuses_of(workspace, second)] == ["invalid"]


def test_the_last_outcome_counts_and_a_sample_stands_where_it_first_stood(tmp_path: Path) -> None:
    """A judge asked again after a missing reply; a sample taken up again after a kill."""
    lines = journal_of(MISSING, CORRECT)
    workspace, run = make_run(tmp_path, lines)
    append_lines(run, judged_lines(make_sample(1), {"rules": INCORRECT}, reply="second thoughts"))

    first, second = rows_of(workspace, run)

    assert (first.id, first.verdict, first.raw_reply) == ("s1", "incorrect", "second thoughts")
    assert (second.id, second.verdict) == ("s2", "correct")


def test_a_sample_without_an_outcome_is_missing_under_every_judge(tmp_path: Path) -> None:
    """The run was killed between the lines; nothing is left out of the counts."""
    lines = judged_lines(make_sample(1), {"a": CORRECT, "b": INVALID}) + judged_lines(make_sample(2), {"a": CORRECT})
    lines += judged_lines(make_sample(3), {})
    workspace, run = make_run(tmp_path, lines, ("a", "b"))

    assert statuses_of(workspace, run) == [
        ("s1", "a", "valid"),
        ("s1", "b", "invalid"),
        ("s2", "a", "valid"),
        ("s2", "b", "missing"),
        ("s3", "a", "missing"),
        ("s3", "b", "missing"),
    ]
    assert rows_of(workspace, run)[3].reason == "not judged yet: run the same command again"


def test_what_is_in_flight_is_not_missing_until_nobody_judges_any_more(tmp_path: Path) -> None:
    """While the run's lock is held; a run that was killed there has lost what it did not judge."""
    lines = judged_lines(make_sample(1), {"rules": CORRECT}) + judged_lines(make_sample(2), {})
    workspace, run = make_run(tmp_path, lines)
    write_manifest(run.manifest, make_manifest(status=RunStatus.RUNNING))

    with JournalFile(run.journal) as journal:
        assert statuses_of(workspace, run) == [("s1", "rules", "valid")]
        with open_run_index(workspace, run) as opened:
            assert (opened.facts.samples, opened.facts.missing) == (1, 0)
        journal.append(judged_lines(make_sample(2), {"rules": INCORRECT}) + judged_lines(make_sample(3), {}))
        assert statuses_of(workspace, run) == [("s1", "rules", "valid"), ("s2", "rules", "valid")]
    assert statuses_of(workspace, run)[2:] == [("s3", "rules", "missing")]


def test_a_cascade_asks_nobody_after_a_valid_judgment_and_its_last_word_is_final(tmp_path: Path) -> None:
    """Judges that were not due are not missing."""
    lines = judged_lines(make_sample(1), {"a": CORRECT})
    lines += judged_lines(make_sample(2), {"a": UNDECIDED, "b": INCORRECT})
    lines += judged_lines(make_sample(3), {"a": UNDECIDED})
    lines += judged_lines(make_sample(4), {"a": INVALID, "b": INVALID})
    workspace, run = make_run(tmp_path, lines, ("a", "b"), cascade=True)

    rows = rows_of(workspace, run)

    assert [(row.id, row.judge, row.status.value, row.is_final) for row in rows] == [
        ("s1", "a", "valid", True),
        ("s2", "a", "undecided", False),
        ("s2", "b", "valid", True),
        ("s3", "a", "undecided", False),
        ("s3", "b", "missing", True),
        ("s4", "a", "invalid", False),
        ("s4", "b", "invalid", True),
    ]


def test_a_torn_end_is_not_indexed_and_not_touched(tmp_path: Path) -> None:
    """A report may be made of a run that was killed, or is still running; cutting is the writer's."""
    lines = journal_of(CORRECT, INCORRECT)
    workspace, run = make_run(tmp_path, lines)
    whole = run.journal.read_bytes()
    # Torn in the middle of the last line, and just before its newline.
    for cut in (len(whole) - 20, len(whole) - 1):
        run.journal.write_bytes(whole[:cut])

        assert [row.status for row in rows_of(workspace, run)] == [Status.VALID, Status.MISSING]
        assert run.journal.stat().st_size == cut


@pytest.mark.parametrize("damage", [b'{"t":"outcome","ke{"t":"sample"}\n', b"garbage\n", b'{"t":"sample","key":"x"\n'])
def test_damage_elsewhere_is_named_by_its_byte(tmp_path: Path, damage: bytes) -> None:
    """DuckDB would pass over the line; we do not."""
    lines = journal_of(CORRECT)
    workspace, run = make_run(tmp_path, lines)
    run.journal.write_bytes(b"".join(lines) + damage + lines[0])

    with pytest.raises(StorageError, match=f"damaged at byte {len(b''.join(lines))} "):
        ensure_indexed(workspace, run)


@pytest.mark.parametrize("content", [b"", b"not a database", b"\0" * 20_000])
def test_a_damaged_index_is_rebuilt(tmp_path: Path, content: bytes) -> None:
    """Nobody is asked: nothing in it is the truth."""
    workspace, run = make_run(tmp_path, journal_of(CORRECT))
    ensure_indexed(workspace, run)
    run.index.write_bytes(content)

    assert statuses_of(workspace, run) == [("s1", "rules", "valid")]


def test_an_index_damaged_inside_is_rebuilt(tmp_path: Path) -> None:
    """The header is whole, a block is not."""
    workspace, run = make_run(tmp_path, journal_of(*[CORRECT] * 50))
    ensure_indexed(workspace, run)
    content = bytearray(run.index.read_bytes())
    content[12_288:] = b"\xff" * (len(content) - 12_288)
    run.index.write_bytes(content)

    assert len(statuses_of(workspace, run)) == 50


def test_an_index_of_another_version_is_rebuilt(tmp_path: Path) -> None:
    """Older or newer; with whatever tables it has."""
    workspace, run = make_run(tmp_path, journal_of(CORRECT))
    ensure_indexed(workspace, run)
    with duckdb.connect(str(run.index)) as connection:
        connection.execute("UPDATE index_state SET version = 1")
        connection.execute("ALTER TABLE samples DROP COLUMN language")
        connection.execute('CREATE TABLE "odd ""name" (x INTEGER)')

    assert not is_fresh(run)
    assert statuses_of(workspace, run) == [("s1", "rules", "valid")]


def test_a_workspace_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the remedy that fits; nothing is tried twice for it."""
    workspace, run = make_run(tmp_path, journal_of(CORRECT))
    refusals = {
        'IO Error: Cannot open file "x": Permission denied\nhint': "make the workspace writable, or choose another",
        "IO Error: Could not write file: No space left on device": "free some memory and disk space",
    }
    for message, remedy in refusals.items():

        def refuse(*_: object, message: str = message, **__: object) -> None:
            raise duckdb.IOException(message)

        monkeypatch.setattr(index, "build", refuse)
        with pytest.raises(StorageError, match=remedy) as caught:
            index_run(workspace, run)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("words", ["Failed to commit: failed to pin block of size 256.0 KiB", "Out of Memory Error: x"])
def test_where_the_usual_memory_does_not_do_most_of_the_machines_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """No command fails for memory that the machine has; with all of it, the remedy is named."""
    workspace, run = make_run(tmp_path, journal_of(CORRECT))
    build = index.build
    limits: list[str] = []

    def build_with_much(*arguments: Any, **named: Any) -> Any:
        limits.append(arguments[-1]["memory_limit"])
        if len(limits) == 1:
            raise duckdb.TransactionException(words)
        return build(*arguments, **named)

    monkeypatch.setattr(index, "build", build_with_much)
    assert statuses_of(workspace, run) == [("s1", "rules", "valid")]
    usual, ample = (int(limit.removesuffix("KiB")) for limit in limits)
    assert usual < ample
    assert "free some memory" in str(index_error(Path("index"), duckdb.TransactionException(words)))


def test_a_read_only_workspace_is_said_in_our_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the disk's own error as the cause, from which the exit code is derived."""
    workspace, run = make_run(tmp_path, journal_of(CORRECT))

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "replace", refuse)

    with pytest.raises(StorageError, match="cannot write the index: permission denied; make it writable") as caught:
        index_run(workspace, run)

    assert isinstance(caught.value.__cause__, OSError)


def test_a_response_of_many_megabytes_is_indexed(tmp_path: Path) -> None:
    """Lines longer than DuckDB's default limit of 16 MB."""
    long = make_sample(1, response="長い " * 2_600_000)
    workspace, run = make_run(
        tmp_path, judged_lines(long, {"rules": CORRECT}) + judged_lines(make_sample(2), {"rules": CORRECT})
    )

    first, second = rows_of(workspace, run)

    assert first.response == long.response
    assert second.id == "s2"


def test_a_run_without_lines_is_empty_and_one_without_a_journal_is_named(tmp_path: Path) -> None:
    """Killed before the first commit."""
    workspace, run = make_run(tmp_path, [])

    assert rows_of(workspace, run) == []
    run.journal.unlink()
    with pytest.raises(StorageError, match="cannot read the journal: no such file"):
        rows_of(workspace, run)


def test_a_workspace_with_pattern_characters_in_its_name_is_read(tmp_path: Path) -> None:
    """DuckDB would take [1] for a pattern, and what is behind a question mark for no part of the name."""
    workspace, run = make_run(tmp_path / "ws [1]*", journal_of(CORRECT, Missing("x")), name="r?un [a]")

    # The second time in the session of the first.
    assert [len(rows_of(workspace, run)) for _ in range(2)] == [2, 2]


def test_a_journal_that_has_grown_is_read_from_where_the_index_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more line costs one more line; the rows are those of an index that is made anew."""
    lines = judged_lines(make_sample(1), {"a": MISSING, "b": SCORED}, reply="first")
    lines += judged_lines(make_sample(2), {"a": SCORED}, reply="second")
    workspace, run = make_run(tmp_path, lines, ("a", "b"))
    index_run(workspace, run)
    scanned: list[int] = []
    scan = index.scan_journal

    def note(journal: Path, begin: int, size_bytes: int) -> Any:
        scanned.append(begin)
        return scan(journal, begin, size_bytes)

    monkeypatch.setattr(index, "scan_journal", note)
    for added in (
        judged_lines(make_sample(1), {"a": SCORED}, reply="third"),
        judged_lines(make_sample(2), {"b": INVALID}),
        judged_lines(make_sample(3), {"b": SCORED}),
    ):
        grown_from = run.journal.stat().st_size
        append_lines(run, added)
        grown = everything_about(workspace, run)
        assert scanned.pop() == grown_from
        run.index.unlink()
        assert everything_about(workspace, run) == grown
        assert scanned.pop() == 0


def everything_about(workspace: Workspace, run: RunDirectory) -> list[Any]:
    with open_run_index(workspace, run) as opened:
        assert opened.facts.has_scores
        return [
            list(opened.rows()),
            opened.counts(OutcomeCount, final_only=True),
            opened.counts(ScoredCell),
            opened.counts(DimensionCell),
            opened.counts(EvidenceCount),
        ]


@pytest.mark.parametrize("is_longer", [True, False])
def test_a_journal_that_was_changed_is_read_from_its_beginning(tmp_path: Path, is_longer: bool) -> None:
    """Whatever its length is now."""
    workspace, run = make_run(tmp_path, journal_of(CORRECT, CORRECT))
    index_run(workspace, run)
    other = [INCORRECT, INCORRECT, UNDECIDED] if is_longer else [INCORRECT]
    run.journal.write_bytes(b"".join(journal_of(*other)))

    assert [row.verdict for row in rows_of(workspace, run)] == [getattr(one, "verdict", None) for one in other]


def test_a_journal_whose_end_was_torn_is_taken_up_behind_its_last_whole_line(tmp_path: Path) -> None:
    """The writer cuts the torn end and goes on."""
    lines = journal_of(CORRECT, INCORRECT)
    workspace, run = make_run(tmp_path, lines)
    run.journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    assert statuses_of(workspace, run) == [("s1", "rules", "valid"), ("s2", "rules", "missing")]
    run.journal.write_bytes(b"".join(lines))

    assert statuses_of(workspace, run) == [("s1", "rules", "valid"), ("s2", "rules", "valid")]


WRITER = """
import duckdb, signal, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("CREATE TABLE busy (x INTEGER)")
print("ready", flush=True)
signal.pause()
"""


def test_nobody_waits_for_another_process_that_indexes(tmp_path: Path) -> None:
    """It builds under another name; and a reader goes on with what it has open."""
    workspace, run = make_run(tmp_path, journal_of(CORRECT))
    building = workspace.scratch / f"{os.getpid()}-999"
    building.mkdir(parents=True)
    command = [sys.executable, "-c", WRITER, str(building / run.index.name)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "ready\n"
            with open_run_index(workspace, run) as opened:
                append_lines(run, judged_lines(make_sample(2), {"rules": INCORRECT}))
                index_run(workspace, run)
                assert [totals.valid for totals in totals_of(opened)] == [1]
            assert len(rows_of(workspace, run)) == 2
            assert other.poll() is None
        finally:
            # Whatever failed above: leaving the block would wait for it.
            other.kill()


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """Half an index holds judged texts; what has another name is not ours to remove."""
    workspace, run = make_run(tmp_path, journal_of(CORRECT))
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    left = [workspace.scratch / name for name in (f"{gone.pid}-1", f"{os.getpid()}-999", "notes")]
    for directory in left:
        directory.mkdir(parents=True)
        (directory / "index.duckdb").write_bytes(b"half")

    index_run(workspace, run)

    assert [directory.exists() for directory in left] == [False, True, True]


def test_the_index_of_all_runs_that_earlier_versions_kept_is_removed(tmp_path: Path) -> None:
    """It may be as large as all journals together."""
    workspace, run = make_run(tmp_path, journal_of(CORRECT))
    workspace.outdated_index.write_bytes(b"old")

    index_run(workspace, run)

    assert not workspace.outdated_index.exists()


def test_long_texts_are_not_in_the_index(tmp_path: Path) -> None:
    """Memory does not follow the longest responses of a run: they are read from the journal one at a time."""
    long = "word " * 200_000
    lines = [
        line
        for number in range(5)
        for line in judged_lines(
            make_sample(number, response=f"{number} {long}", question=long), {"rules": CORRECT}, reply=long
        )
    ]
    workspace, run = make_run(tmp_path, lines)

    assert [row.response for row in rows_of(workspace, run)] == [f"{number} {long}" for number in range(5)]
    assert run.index.stat().st_size < 6 << 20 < run.journal.stat().st_size
    # Of tables: a view may call what it derives as it likes.
    stored = "SELECT column_name FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, table_name)"
    with duckdb.connect(str(run.index), read_only=True) as connection:
        columns = {row[0] for row in connection.execute(stored).fetchall()}
    assert not columns & {"response", "question", "text", "rubric", "metadata"}


def commented(length: int) -> ValidJudgment:
    return ValidJudgment(1.0, "correct", {**CORRECT.fields, "comment": "x" * length}, Method.CROSS_JUDGE)


def quoted(number: int) -> ValidJudgment:
    evidence = [
        {"dimension": "FORMAT", "stage": "exact", "problem": None, "quote": f"{number} {'q' * 300}"} for _ in range(3)
    ]
    return ValidJudgment(0.875, "PASS", {**SCORED.fields, "evidence": evidence}, Method.CROSS_JUDGE)


SHAPES: dict[str, tuple[int, Callable[[int], list[bytes]]]] = {
    "600 comments of 1 KB": (600, lambda n: judged_lines(make_sample(n), {"a": commented(1_000)}, reply="r")),
    "60 comments of 10 KB": (60, lambda n: judged_lines(make_sample(n), {"a": commented(10_000)}, reply="r")),
    "2,000 rows of 200 columns": (
        2_000,
        lambda n: judged_lines(
            make_sample(n, metadata={f"column {place}": f"value {place} {n}" for place in range(200)}), {"a": CORRECT}
        ),
    ),
    "2,000 rows with three quotes": (2_000, lambda n: judged_lines(make_sample(n), {"a": quoted(n)}, reply="r")),
    "60 rows of 100 takes": (
        60,
        lambda n: [
            *judged_lines(make_sample(n), {}),
            *(encode_outcome(make_sample(n), make_sample(n).key(), "a", CORRECT, take) for take in range(1, 101)),
        ],
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_of_every_shape_are_indexed(tmp_path: Path, shape: str) -> None:
    """Memory was once allowed by a formula that such rows did not fit."""
    count, make_lines = SHAPES[shape]
    lines = [line for number in range(count) for line in make_lines(number)]
    workspace, run = make_run(tmp_path, lines, ("a",))

    with open_run_index(workspace, run) as opened:
        assert [totals.valid for totals in totals_of(opened)] == [6_000 if "takes" in shape else count]
