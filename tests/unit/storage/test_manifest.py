"""What was run, with what, on what."""

import json
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.unit.storage.material import NOW, make_manifest

from mixseek.errors import ConfigurationError, StorageError
from mixseek.storage.journal.manifest import (
    Environment,
    JournalSeal,
    JudgeEntry,
    ProtocolEntry,
    RunStatus,
    read_manifest,
    read_stored_manifest,
    write_manifest,
)


def test_a_manifest_comes_back_as_it_was(tmp_path: Path) -> None:
    """With everything in it."""
    manifest = make_manifest(
        ("rules", "replay"),
        cascade=True,
        gates={"fail_under": 0.8},
        counts={"rules": {"valid": 2, "undecided": 1}},
        dataset={"path": "答え.jsonl", "sha256": "00", "mapping": {"response": "output"}},
        environment=Environment(
            command_line=("mixseek", "judge"), package_versions={"duckdb": "2.0.0"}, python="3.11.7", platform="Linux"
        ),
    )

    write_manifest(tmp_path / "manifest.json", manifest)

    assert read_stored_manifest(tmp_path / "manifest.json") == manifest
    assert manifest.judge_names == ("rules", "replay")
    assert "答え.jsonl" in (tmp_path / "manifest.json").read_text(encoding="utf-8")


def test_sealing_and_restarting_keep_the_rest(tmp_path: Path) -> None:
    """Times are UTC, whatever clock they came from."""
    manifest = make_manifest()
    later = NOW.astimezone(timezone(timedelta(hours=9))) + timedelta(minutes=1)

    sealed = manifest.sealed(RunStatus.COMPLETE, later, {"rules": {"valid": 3}}, JournalSeal(bytes=5, blake2b="ab"))
    restarted = sealed.restarted(later, Environment(python="3.13"))

    assert (sealed.status, sealed.counts) == (RunStatus.COMPLETE, {"rules": {"valid": 3}})
    assert sealed.model_dump(mode="json")["finished_at"] == "2026-03-01T09:13:00Z"
    assert (restarted.status, restarted.finished_at) == (RunStatus.RUNNING, None)
    assert (restarted.created_at, restarted.started_at) == (NOW, later)
    assert restarted.journal == sealed.journal == JournalSeal(bytes=5, blake2b="ab")
    write_manifest(tmp_path / "m", restarted)
    assert read_stored_manifest(tmp_path / "m") == restarted


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"dataset": {"sha256": "other"}}, "dataset"),
        ({"dataset": {"sha256": "ab" * 32, "mapping": {"response": "x"}}}, "column mapping"),
        ({"sample_count": 4}, "number of samples"),
        ({"protocol": ProtocolEntry(name="semantic", version="1", language="ja", hash="ef")}, "protocol"),
        ({"judges": ("replay",)}, "set of judges, or other rules"),
        ({"cascade": True}, "cascade"),
    ],
)
def test_a_run_is_never_mixed_with_another_request(changes: dict[str, Any], word: str) -> None:
    """Whatever differs is named."""
    manifest = make_manifest()
    manifest.check_resumable(make_manifest(gates={"fail_under": 0.5}, environment=Environment(python="x")))

    with pytest.raises(ConfigurationError, match=f"run trial: was started with another {word}; choose a new name"):
        manifest.check_resumable(make_manifest(**changes))


def test_other_recorded_replies_are_named_and_an_old_manifest_knows_none() -> None:
    """A run begun before digests were written down can still be taken up."""
    old, begun, corrected = (
        make_manifest().model_copy(update={"judges": (JudgeEntry(name="replay:r", kind="replay", parameters=known),)})
        for known in ({}, {"replies_sha256": "ab", "replies_bytes": 3}, {"replies_sha256": "cd", "replies_bytes": 3})
    )

    begun.check_resumable(begun)
    old.check_resumable(begun)
    with pytest.raises(ConfigurationError, match="run trial: was started with another version of replay:r; choose a"):
        begun.check_resumable(corrected)
    with pytest.raises(ConfigurationError, match="set of judges"):
        begun.check_resumable(make_manifest())


@pytest.mark.parametrize("content", ["", "[]", "{", '{"run": 1}', "\0\0\0"])
def test_a_broken_manifest_is_one_line(tmp_path: Path, content: str) -> None:
    """With its path, and advice that works: the judge command itself refuses to go on without knowing with what."""
    path = tmp_path / "manifest.json"
    path.write_text(content)

    with pytest.raises(StorageError) as caught:
        read_manifest(path)

    assert str(caught.value).startswith(f"{path}: not a manifest (")
    assert str(caught.value).endswith("; restore it from a copy, or judge under another --run")
    assert "\n" not in str(caught.value)


def test_fields_of_a_later_version_are_passed_over(tmp_path: Path) -> None:
    """An older mixseek can still list and show the run."""
    path = tmp_path / "manifest.json"
    write_manifest(path, make_manifest())
    path.write_text(json.dumps({**json.loads(path.read_text()), "price": 3}))

    assert read_stored_manifest(path) == make_manifest()


def test_an_argument_that_is_no_utf8_does_not_stop_the_run(tmp_path: Path) -> None:
    """File names on Linux are bytes."""
    manifest = make_manifest(
        environment=Environment(command_line=("judge", "caf\udce9.jsonl")), dataset={"path": "caf\udce9.jsonl"}
    )

    write_manifest(tmp_path / "m", manifest)

    assert read_manifest(tmp_path / "m").dataset == {"path": "caf�.jsonl"}
    assert manifest.environment.command_line == ("judge", "caf�.jsonl")


def test_a_manifest_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    """Not a traceback."""
    with pytest.raises(StorageError, match="cannot read the manifest: no such file"):
        read_manifest(tmp_path / "manifest.json")
