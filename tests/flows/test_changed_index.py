"""A file that was made from the journal and changed since is not believed by anybody: it is made anew."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from tests.flows.running import mixseek_here, write_jsonl

SECRET = "key-of-somebody-else-4711"  # noqa: S105 - content of a file that nobody may read


def forge(index: Path) -> None:
    """Views in place of a table: every verdict is right, and a comment holds what stands in a file of the user's."""
    secret = index.parents[3] / "secret.txt"
    with duckdb.connect(str(index)) as connection:
        connection.execute("ALTER TABLE outcomes RENAME TO kept")
        connection.execute(
            f"""CREATE VIEW outcomes AS SELECT * REPLACE (1.0 AS score, 'correct' AS verdict, true AS is_correct,
            (SELECT content FROM read_text('{secret}')) AS reason) FROM kept"""  # noqa: S608 - a forgery of our own
        )
        connection.execute("ALTER TABLE facts RENAME TO facts_kept")
        connection.execute("CREATE VIEW facts AS SELECT * REPLACE (1.0 AS mean_score) FROM facts_kept")


def forge_rows(index: Path) -> None:
    """The same without a view."""
    with duckdb.connect(str(index)) as connection:
        connection.execute("UPDATE outcomes SET score = 1.0, verdict = 'correct', is_correct = true")
        connection.execute("UPDATE facts SET mean_score = 1.0")


def forge_beside(index: Path) -> None:
    """The same in the log that DuckDB reads together with the file, which stays as it was."""
    original = index.read_bytes()
    status = index.stat()
    connection = duckdb.connect(str(index))
    connection.execute("SET checkpoint_threshold = '1GB'; PRAGMA disable_checkpoint_on_shutdown")
    connection.execute("UPDATE outcomes SET score = 1.0, verdict = 'correct', is_correct = true")
    connection.execute("UPDATE facts SET mean_score = 1.0")
    connection.close()
    log = index.with_name("index.duckdb.wal")
    assert log.exists()
    assert index.read_bytes() == original
    os.utime(index, ns=(status.st_atime_ns, status.st_mtime_ns))


FORGERIES: dict[str, Callable[[Path], None]] = {"views": forge, "rows": forge_rows, "log": forge_beside}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A run in which one of four answers is right."""
    (tmp_path / "secret.txt").write_text(SECRET, encoding="utf-8")
    rows = [
        {"id": f"s{number}", "response": f"The answer is {number % 4}.", "ground_truth": "0", "question": f"q{number}"}
        for number in range(20)
    ]
    data = write_jsonl(tmp_path / "data.jsonl", rows)
    done = mixseek_here("judge", data, "-w", "ws", "--run", "r", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


def read_mean(place: Path) -> float:
    done = mixseek_here("report", "r", "-w", "ws", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    mean: float = json.loads(done.stdout)["judges"][0]["mean_score"]
    return mean


def test_the_index_with_which_a_run_ends_is_the_one_that_is_read(place: Path) -> None:
    """It was made before the run was called complete, and nobody makes it again for that."""
    index = place / "ws" / "runs" / "r" / "index.duckdb"
    made = index.stat()

    assert read_mean(place) == 0.25
    assert (index.stat().st_ino, index.stat().st_mtime_ns) == (made.st_ino, made.st_mtime_ns)


@pytest.mark.parametrize("name", FORGERIES)
def test_a_changed_index_is_not_believed(name: str, place: Path) -> None:
    """The mean stays what the judges said, and the gate fails as it did before."""
    FORGERIES[name](place / "ws" / "runs" / "r" / "index.duckdb")

    assert read_mean(place) == 0.25
    FORGERIES[name](place / "ws" / "runs" / "r" / "index.duckdb")
    gate = mixseek_here("judge", "data.jsonl", "-w", "ws", "--run", "r", "--fail-under", "80%", cwd=place)
    assert gate.returncode == 1
    assert "mean score 25.00%, under the limit of 80.00%" in gate.stderr


@pytest.mark.parametrize("name", FORGERIES)
def test_doctor_does_not_call_a_changed_index_sound(name: str, place: Path) -> None:
    """It says which file, what is known about it, and what to do."""
    FORGERIES[name](place / "ws" / "runs" / "r" / "index.duckdb")

    done = mixseek_here("doctor", "-w", "ws", "--offline", cwd=place)

    assert "0 of 1 sound" in done.stdout
    assert "index.duckdb" in done.stdout
    assert "`mixseek report r` makes it anew" in done.stdout


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_an_export_holds_nothing_of_other_files(suffix: str, place: Path) -> None:
    """Not even where the index asks for it."""
    forge(place / "ws" / "runs" / "r" / "index.duckdb")

    done = mixseek_here("export", "r", "-w", "ws", "--to", f"out.{suffix}", cwd=place)

    assert done.returncode == 0, done.stderr
    assert SECRET.encode() not in (place / f"out.{suffix}").read_bytes()
    with duckdb.connect() as connection:
        query = f"SELECT avg(score) FROM '{place}/out.{suffix}'"  # noqa: S608 - a file of our own
        assert connection.execute(query).fetchall() == [(0.25,)]


def test_changed_totals_are_not_listed(place: Path) -> None:
    """The list of runs opens no index, and believes no file either that nobody of ours wrote."""
    totals = place / "ws" / "runs" / "r" / "totals.json"
    before = mixseek_here("runs", "-w", "ws", cwd=place)
    totals.write_bytes(totals.read_bytes().replace(b"0.25", b"1.0"))

    done = mixseek_here("runs", "-w", "ws", cwd=place)

    assert "25" in before.stdout
    assert "100" not in done.stdout
    assert "`mixseek report r` counts them" in done.stdout + done.stderr
    assert read_mean(place) == 0.25
    assert mixseek_here("runs", "-w", "ws", cwd=place).stdout == before.stdout


def test_an_index_of_another_workspace_is_made_anew(place: Path) -> None:
    """A workspace that somebody sent comes with an index, and perhaps with the key; it is a copy all the same."""
    forged = place / "forged"
    shutil.copytree(place / "ws", forged)
    status = (forged / "runs" / "r" / "index.duckdb").stat()

    done = mixseek_here("report", "r", "-w", "forged", "--json", cwd=place)

    assert done.returncode == 0, done.stderr
    assert (forged / "runs" / "r" / "index.duckdb").stat().st_ino != status.st_ino
