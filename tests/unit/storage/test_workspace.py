"""Where runs live and how they are named."""

import unicodedata
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each
from tests.unit.storage.material import NOW, make_manifest

from mixseek.errors import ConfigurationError, StorageError
from mixseek.storage.journal.manifest import write_manifest
from mixseek.storage.workspace import Workspace, check_run_name, default_run_id, find_run


def with_runs(root: Path, *names: str) -> Workspace:
    """Runs started one minute after the other."""
    workspace = Workspace(root)
    for minute, name in enumerate(names):
        run = workspace.run(name)
        run.create()
        write_manifest(run.manifest, make_manifest(run=name, started_at=NOW + timedelta(minutes=minute)))
    return workspace


def test_the_layout_is_the_documented_one(tmp_path: Path) -> None:
    """People and scripts look there."""
    workspace = Workspace(tmp_path)
    run = workspace.run("bbh")

    assert workspace.outdated_index == tmp_path / "mixseek.duckdb"
    assert run.manifest == tmp_path / "runs" / "bbh" / "manifest.json"
    assert run.journal == tmp_path / "runs" / "bbh" / "journal.jsonl"
    assert run.report == tmp_path / "runs" / "bbh" / "report.html"
    assert not run.exists()


def test_runs_are_directories_with_a_manifest(tmp_path: Path) -> None:
    """Anything else in there is not ours."""
    workspace = with_runs(tmp_path, "b", "a", "試行")
    (tmp_path / "runs" / "leftover").mkdir()
    (tmp_path / "runs" / "note.txt").write_text("")

    assert [run.name for run in workspace.runs()] == ["a", "b", "試行"]
    assert Workspace(tmp_path / "nowhere").runs() == []


@pytest.mark.parametrize(
    ("name", "found"),
    [("bbh-march", "bbh-march"), ("bbh-m", "bbh-march"), ("bbh", "bbh"), ("g", "gsm"), ("latest", "gsm")],
)
def test_a_run_is_found_by_name_by_prefix_and_as_latest(tmp_path: Path, name: str, found: str) -> None:
    """An exact name wins over the prefix that it also is."""
    workspace = with_runs(tmp_path, "bbh", "bbh-march", "gsm")

    assert workspace.resolve(name).name == found


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bb", "run 'bb' could be bbh, bbh-march; write more of the name"),
        ("bhb-march", "no run 'bhb-march'; there is bbh-march"),
        ("zzz", "no run 'zzz'; there is bbh, bbh-march, gsm"),
        ("", "no run ''; there is bbh, bbh-march, gsm"),
        ("../gsm", "no run '../gsm'; there is gsm"),
    ],
)
def test_a_name_that_is_not_clear_is_answered_with_names_that_are(tmp_path: Path, name: str, message: str) -> None:
    """Never with the wrong run."""
    workspace = with_runs(tmp_path, "bbh", "bbh-march", "gsm")

    with pytest.raises(ConfigurationError) as caught:
        workspace.resolve(name)

    assert message in str(caught.value)


def test_without_a_name_it_is_the_only_run_and_none_of_several(tmp_path: Path) -> None:
    """Which of two was meant is nothing to guess; of many the first five are named."""
    assert find_run(with_runs(tmp_path / "one", "gsm"), None).name == "gsm"
    assert find_run(with_runs(tmp_path / "two", "bbh", "gsm"), "bbh").name == "bbh"
    for names, listed in ((("bbh", "gsm"), "bbh, gsm"), (("a", "b", "c", "d", "e", "f"), "a, b, c, d, e")):
        workspace = with_runs(tmp_path / f"{len(names)} runs", *names)
        with pytest.raises(ConfigurationError) as caught:
            find_run(workspace, None)

        assert str(caught.value) == f"{workspace.root}: which run? there is {listed}; name one, or `latest`"


def test_a_workspace_without_runs_says_how_to_start_one(tmp_path: Path) -> None:
    """Also where there is no such directory."""
    with pytest.raises(ConfigurationError, match="no runs here; start one with `mixseek judge`"):
        Workspace(tmp_path / "nowhere").resolve("latest")


def test_names_are_compared_in_one_unicode_form(tmp_path: Path) -> None:
    """A terminal may send letters decomposed."""
    workspace = with_runs(tmp_path, "カフェが")

    assert workspace.resolve(unicodedata.normalize("NFD", "カフェが")).name == "カフェが"


@pytest.mark.parametrize("name", ["bbh", "a b", "v1.2", "試行-1", "ελληνικά", "a" * 150, "x:y"])
def test_ordinary_names_are_names(name: str) -> None:
    """Unicode included."""
    assert check_run_name(name) == name


@each("name", ["", "  ", "a/b", "..", ".hidden", "a\\b", "a\nb", "a\0", " a", "a ", "a" * 151, "latest", "\ud800", "/"])
def test_names_that_are_no_directory_names_are_refused(name: str) -> None:
    """Nothing outside the workspace can be reached by a name."""
    with pytest.raises(ConfigurationError, match=r"^run name .*; use letters, digits, - and _$"):
        Workspace(Path("ws")).run(name)


@given(st.text(max_size=60), st.text(max_size=10))
def test_default_names_are_names_whatever_the_dataset_is_called(stem: str, digest: str) -> None:
    """And the same for the same request."""
    request: dict[str, Any] = {
        "dataset_stem": stem,
        "dataset_digest": "ab",
        "protocol_name": "semantic",
        "protocol_hash": "cd",
        "judges": ["rules"],
        "options": {"cascade": False},
    }

    name = default_run_id(**request)

    assert check_run_name(name) == name
    assert default_run_id(**request) == name


@pytest.mark.parametrize(
    "change",
    [
        {"dataset_digest": "other"},
        {"protocol_name": "cross"},
        {"protocol_hash": "other"},
        {"judges": ["replay"]},
        {"judges": ["rules", "replay"]},
        {"options": {"cascade": True}},
        {"options": {"mapping": {"response": "output"}}},
    ],
)
def test_default_names_differ_where_the_request_does(change: dict[str, Any]) -> None:
    """Otherwise one run would resume another."""
    request: dict[str, Any] = {
        "dataset_stem": "bbh",
        "dataset_digest": "ab",
        "protocol_name": "semantic",
        "protocol_hash": "cd",
        "judges": ["rules"],
        "options": {},
    }

    assert default_run_id(**request).startswith("bbh-semantic-")
    assert default_run_id(**request) != default_run_id(**{**request, **change})


def test_a_workspace_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A file in the way stands in for a read-only disk."""
    (tmp_path / "ws").write_text("")

    with pytest.raises(StorageError, match="cannot create the run: not a directory"):
        Workspace(tmp_path / "ws").run("a").create()
