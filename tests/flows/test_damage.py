"""A journal that was cut or changed is noticed by everybody who reads it; what a kill leaves is no damage."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.flows.dying import MOMENTS_OF_AN_APPEND
from tests.flows.running import hold_at, mixseek_here, read_jsonl, sums, write_jsonl

READERS = (
    ("judge", "data.jsonl", "--workspace", "ws", "--run", "r"),
    ("report", "r", "--workspace", "ws"),
    ("show", "r", "sum-1", "--workspace", "ws"),
    ("export", "r", "--workspace", "ws", "--to", "x.jsonl"),
    ("export", "r", "--workspace", "ws", "--to", "x.csv"),
    ("archive", "r", "--workspace", "ws"),
)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of 40 samples."""
    directory = tmp_path_factory.mktemp("judged")
    write_jsonl(directory / "data.jsonl", sums(40))
    done = mixseek_here("judge", "data.jsonl", "--workspace", "ws", "--run", "r", cwd=directory)
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture
def place(judged: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return shutil.copytree(judged, tmp_path, dirs_exist_ok=True)


def journal_of(place: Path) -> Path:
    return place / "ws" / "runs" / "r" / "journal.jsonl"


def cut_at_line_end(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(lines[: len(lines) // 2])


def flip_score(data: bytes) -> bytes:
    return data.replace(b'"score":1.0', b'"score":0.0', 1)


def flip_letter(data: bytes) -> bytes:
    return data.replace(b'"verdict":"correct"', b'"verdict":"corrext"', 1)


def flip_key(data: bytes) -> bytes:
    """Of an outcome: its sample has none then, and nobody knows whose it is."""
    found = re.search(rb'"t":"outcome","key":"([0-9a-f])', data)
    assert found is not None
    other = b"0" if found[1] != b"0" else b"1"
    return data[: found.start(1)] + other + data[found.end(1) :]


def add_line(data: bytes) -> bytes:
    return data + data.splitlines(keepends=True)[-1]


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut": (cut_at_line_end, r"cut short: it holds [\d,]+ of the [\d,]+ bytes that were written"),
    "score": (flip_score, "changed since it was written"),
    "letter": (flip_letter, "changed since it was written"),
    "key": (flip_key, r"changed since it was written \(the outcome at byte \d+ is about no sample of the run: "),
    "added": (add_line, r"[\d,]+ bytes were added after the run had ended"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_reader_refuses_a_journal_that_is_not_what_was_written(place: Path, damage: str) -> None:
    """One line that says which file, what is wrong and what to do; exit code 2; the journal is left as it is."""
    change, words = DAMAGE[damage]
    journal = journal_of(place)
    changed = change(journal.read_bytes())
    journal.write_bytes(changed)

    for command in READERS:
        done = mixseek_here(*command, cwd=place)

        assert done.returncode == 2, (command, done.stderr)
        said = [line for line in done.stderr.splitlines() if "journal.jsonl" in line]
        assert len(said) == 1, (command, done.stderr)
        assert re.search(rf"journal\.jsonl: {words}", said[0]), (command, said)
        assert "restore it from a copy, or judge again under another --run" in said[0]
    assert journal.read_bytes() == changed
    assert not (place / "x.jsonl").exists()
    assert not (place / "ws" / "runs" / "r" / "archive").exists()


@pytest.mark.parametrize("damage", DAMAGE)
def test_the_list_of_runs_names_the_damaged_one(place: Path, damage: str) -> None:
    """And still lists the others."""
    done = mixseek_here("judge", "data.jsonl", "--workspace", "ws", "--run", "other", cwd=place)
    assert done.returncode == 0
    change, words = DAMAGE[damage]
    journal_of(place).write_bytes(change(journal_of(place).read_bytes()))

    listed = mixseek_here("runs", "--workspace", "ws", cwd=place)

    # The list reads no journal: what has the right length is held against its digest where its results are read.
    words = "perhaps changed since it was written" if words.startswith("changed") else words
    assert "other" in listed.stdout
    assert re.search(rf"journal\.jsonl: {words}", listed.stderr), listed.stderr


def test_an_archive_check_and_the_report_agree_about_a_damaged_journal(place: Path) -> None:
    """The archive beside it is whole, but it stands for a journal that no longer says the same."""
    archived = mixseek_here("archive", "r", "--workspace", "ws", cwd=place)
    assert archived.returncode == 0
    folder = place / "ws" / "runs" / "r" / "archive"
    assert mixseek_here("archive", "--check", folder, cwd=place).returncode == 0
    journal_of(place).write_bytes(flip_score(journal_of(place).read_bytes()))

    checked = mixseek_here("archive", "--check", folder, "--json", cwd=place)

    assert checked.returncode == 1
    problems = json.loads(checked.stdout)["problems"]
    assert [(problem["path"], problem["kind"]) for problem in problems] == [("../journal.jsonl", "changed")]
    assert "changed since it was written" in problems[0]["detail"]


def test_whoever_takes_the_seal_out_goes_on_with_what_is_left(place: Path) -> None:
    """The way out that the message names."""
    journal = journal_of(place)
    journal.write_bytes(cut_at_line_end(journal.read_bytes()))
    manifest = journal.with_name("manifest.json")
    document = json.loads(manifest.read_text(encoding="utf-8"))
    assert set(document["journal"]) == {"bytes", "blake2b", "crc32"}
    del document["journal"]
    manifest.write_text(json.dumps(document), encoding="utf-8")

    done = mixseek_here("judge", "data.jsonl", "--workspace", "ws", "--run", "r", "--json", cwd=place)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["valid"] == 32
    assert mixseek_here("report", "r", "--workspace", "ws", cwd=place).returncode == 0


def test_a_killed_run_is_sealed_as_far_as_it_was_known_to_be_on_disk(tmp_path: Path) -> None:
    """kill -9 is no damage; cutting what was sealed before it is."""
    write_jsonl(tmp_path / "data.jsonl", sums(2_000))
    command = ("judge", "data.jsonl", "--workspace", "ws", "--run", "r", "--workers", "1")
    journal = journal_of(tmp_path)
    manifest = journal.with_name("manifest.json")
    # The first append is sealed when it is on disk; the middle of the second one is behind the seal.
    process = hold_at(MOMENTS_OF_AN_APPEND + 2, "journal.jsonl", *command, cwd=tmp_path)
    process.kill()
    process.communicate()
    sealed = json.loads(manifest.read_text(encoding="utf-8"))
    left = journal.read_bytes()

    assert sealed["status"] == "running"
    assert 0 < sealed["journal"]["bytes"] < len(left)
    assert mixseek_here("report", "r", "--workspace", "ws", cwd=tmp_path).returncode == 0
    journal.write_bytes(left[: sealed["journal"]["bytes"] - 1])
    assert mixseek_here("report", "r", "--workspace", "ws", cwd=tmp_path).returncode == 2
    assert mixseek_here(*command, cwd=tmp_path).returncode == 2
    journal.write_bytes(left)
    done = mixseek_here(*command, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["valid"] == 1_600
    assert len({row["key"] for row in read_jsonl(journal) if row["t"] == "outcome"}) == 2_000


def test_an_orphan_in_the_part_that_is_not_sealed_is_named(tmp_path: Path) -> None:
    """A run of an older mixseek has no seal; its orphans are noticed all the same."""
    write_jsonl(tmp_path / "data.jsonl", sums(10))
    done = mixseek_here("judge", "data.jsonl", "--workspace", "ws", "--run", "r", cwd=tmp_path)
    assert done.returncode == 0
    journal = journal_of(tmp_path)
    manifest = journal.with_name("manifest.json")
    document = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**document, "journal": None}), encoding="utf-8")
    journal.write_bytes(flip_key(journal.read_bytes()))

    for command in READERS:
        told = mixseek_here(*command, cwd=tmp_path)

        assert told.returncode == 2, (command, told.stderr)
        assert re.search(
            "about no sample of the run|about a sample .* that the run does not have|before its sample", told.stderr
        ), (command, told.stderr)


@pytest.mark.parametrize("content", [b"", b"[]", b"\0" * 9, b'{"run": "r"'])
def test_a_manifest_that_is_none_is_the_owners_to_mend(place: Path, content: bytes) -> None:
    """One line and exit code 2, not a fault of ours."""
    journal_of(place).with_name("manifest.json").write_bytes(content)

    for command in READERS[:2]:
        done = mixseek_here(*command, cwd=place)

        assert done.returncode == 2, (command, done.stderr)
        assert len(done.stderr.splitlines()) == 1, (command, done.stderr)
        assert "manifest.json: not a manifest (" in done.stderr


def test_what_a_report_found_damaged_is_named_so_in_the_list_of_runs(place: Path) -> None:
    """Not as lines that the report would count."""
    journal = journal_of(place)
    journal.write_bytes(flip_score(journal.read_bytes()))
    assert mixseek_here("report", "r", "--workspace", "ws", cwd=place).returncode == 2

    said = mixseek_here("runs", "--workspace", "ws", cwd=place).stderr
    assert "changed since it was written" in said
    assert "perhaps" not in said
