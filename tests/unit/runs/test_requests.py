"""From what was asked to a plan, before anything is written."""

import json
from pathlib import Path
from typing import Any

import pytest

from mixseek.errors import ConfigurationError, DatasetError
from mixseek.runs.first_manifest import first_manifest
from mixseek.runs.requests import manifest_entries
from mixseek.runs.requests.request import JudgeRequest, Plan, make_plan
from mixseek.storage.journal.manifest import Manifest

ROWS = [{"id": str(n), "response": f"The answer is {n}.", "other": "no", "ground_truth": str(n)} for n in range(3)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "data.jsonl", ROWS)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def plan_for(data: Path, cores: int = 4, **changes: Any) -> Plan:
    return make_plan(JudgeRequest(str(data), data.parent / "ws", **changes), cores)


def manifest_for(data: Path, **changes: Any) -> Manifest:
    from datetime import UTC, datetime

    return first_manifest(plan_for(data, **changes), datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    "change",
    [
        {"language": "ja"},
        {"judges": ("rules", "replay")},
        {"judges": ("rules", "replay"), "cascade": True},
        {"limit": 2},
        {"mapping": {"response": "other"}},
    ],
    ids=str,
)
def test_whatever_changes_a_verdict_changes_the_name_of_the_run(data: Path, change: dict[str, Any]) -> None:
    """And what does not, does not: the same command resumes on another number of cores."""
    usual = plan_for(data).run.name

    assert plan_for(data, **change).run.name != usual
    assert plan_for(data, cores=1, workers=3, gates={"fail_under": 0.5}).run.name == usual


def test_other_rules_are_another_run(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a run by the rules of yesterday and half by those of today would be a run by nobody's rules."""
    usual, before = plan_for(data).run.name, manifest_for(data, run="r")
    monkeypatch.setattr(manifest_entries, "digest_rules", lambda: "0" * 64)

    assert plan_for(data).run.name != usual
    with pytest.raises(ConfigurationError, match="other rules"):
        before.check_resumable(manifest_for(data, run="r"))


@pytest.mark.parametrize(
    ("judges", "workers", "expected"),
    [(("rules",), 0, 4), (("rules",), 1, 1), (("rules",), 3, 3), (("rules", "replay"), 0, 1), (("replay",), 8, 1)],
)
def test_only_rules_are_spread_over_processes(data: Path, judges: tuple[str, ...], workers: int, expected: int) -> None:
    """0 means every core."""
    assert plan_for(data, judges=judges, workers=workers).workers == expected


def test_planning_writes_nothing(data: Path) -> None:
    """A refused request leaves no trace."""
    plan_for(data)

    assert not (data.parent / "ws").exists()


def test_rules_without_any_ground_truth_are_refused_with_the_columns_there_are(tmp_path: Path) -> None:
    """Surely the column has another name; recorded replies need none."""
    data = write(tmp_path / "data.jsonl", [{"id": "1", "response": "x", "gold_label": "y"}])

    with pytest.raises(DatasetError, match=r"--map ground_truth=COLUMN .*gold_label"):
        plan_for(data)
    assert plan_for(data, judges=("replay",)).samples == 1


@pytest.mark.parametrize("judges", [(), ("rules", "rules")])
def test_no_judge_and_the_same_judge_twice_are_refused(data: Path, judges: tuple[str, ...]) -> None:
    """Two of one name could not be told apart in the journal."""
    with pytest.raises(ConfigurationError, match="--judge"):
        plan_for(data, judges=judges)


def test_the_manifest_says_what_is_about_to_be_run(data: Path) -> None:
    """Enough to run it again elsewhere."""
    manifest = manifest_for(data, command_line=("mixseek", "judge", "data.jsonl"), gates={"fail_under": 0.5})

    assert manifest.sample_count == 3
    assert manifest.dataset["rows"] == 3
    assert manifest.protocol.name == "semantic"
    assert len(manifest.judges[0].parameters["rules_sha256"]) == 64
    assert manifest.environment.command_line == ("mixseek", "judge", "data.jsonl")
    assert {"mixseek", "duckdb", "pydantic"} <= set(manifest.environment.package_versions)
    assert manifest.gates == {"fail_under": 0.5}
    assert not manifest.network_used
