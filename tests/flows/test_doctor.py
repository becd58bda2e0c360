"""`mixseek doctor`: what is installed, which keys are set, who answers, what is wrong; and that nothing is changed."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.flows.live import CANARY, KEYS
from tests.flows.loopback import loopback
from tests.flows.pages import ROOT
from tests.flows.running import mixseek_here, sums, write_jsonl

from mixseek.setup.doctor import EXTRAS
from mixseek.testing.mock_server import MockOptions


def examine(place: Path, *more: str, **environment: str) -> tuple[int, dict[str, dict[str, Any]]]:
    done = mixseek_here("doctor", "--json", *more, cwd=place, env={**KEYS, **environment})
    document = json.loads(done.stdout)
    assert done.returncode == (0 if document["ok"] else 1)
    assert CANARY not in done.stdout + done.stderr
    return done.returncode, {one["name"]: one for one in document["findings"]}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """With a run that is complete."""
    mixseek_here("judge", write_jsonl(tmp_path / "s.jsonl", sums(5)), "--run", "r", "-q", cwd=tmp_path)
    return tmp_path / ".mixseek"


def test_every_extra_is_said_to_be_there_or_what_it_would_give(tmp_path: Path) -> None:
    """Those of pyproject.toml, but for the ones that developers need."""
    code, found = examine(tmp_path, "--offline")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    said = {extra: found[f"extra {extra}"] for extra in EXTRAS}

    assert code == 0
    assert set(EXTRAS) <= set(declared)
    assert all(extra in EXTRAS for extra in declared if extra not in ("dev", "docs", "notebook"))
    for extra, one in said.items():
        assert one["severity"] == "ok" or f"pip install 'mixseek[{extra}]'" in one["said"]
    assert said["maths"]["severity"] == "ok"


def test_keys_are_named_and_never_shown(tmp_path: Path) -> None:
    (tmp_path / "mixseek.toml").write_text(
        '[judges.own]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "OWN_KEY"\n', encoding="utf-8"
    )
    shown = mixseek_here("doctor", "--offline", cwd=tmp_path, env={**KEYS, "OWN_KEY": CANARY + "x"})
    _, found = examine(tmp_path, "--offline", OWN_KEY=CANARY + "x", MISTRAL_API_KEY="")

    assert found["OPENAI_API_KEY"]["said"].startswith("set; ")
    assert found["OWN_KEY"]["said"] == "set; [judges.own]"
    assert found["MISTRAL_API_KEY"]["said"].startswith("not set")
    assert "OPENAI_API_KEY: set" in shown.stdout
    assert CANARY not in shown.stdout + shown.stderr
    assert str(len(CANARY)) not in found["OPENAI_API_KEY"]["said"]


def test_judges_of_the_settings_are_asked_unless_offline(tmp_path: Path) -> None:
    with loopback(MockOptions(latency_seconds=0)) as endpoint:
        text = f"""
        [judges.good]
        model = "m"
        base_url = "{endpoint.base_url}"
        [judges.gone]
        model = "m"
        base_url = "http://127.0.0.1:9/v1"
        [judges.keyless]
        model = "m"
        provider = "mistral"
        """
        (tmp_path / "mixseek.toml").write_text(text, encoding="utf-8")
        _, offline = examine(tmp_path, "--offline", MISTRAL_API_KEY="")
        asked_offline = endpoint.requests
        code, found = examine(tmp_path, MISTRAL_API_KEY="")

    assert asked_offline == 0
    assert offline["good"]["said"] == "not asked"
    assert code == 1
    assert found["good"]["severity"] == "ok"
    assert found["gone"]["severity"] == "problem"
    assert "MISTRAL_API_KEY" in found["keyless"]["said"]


def test_settings_that_cannot_be_read_and_variables_nobody_knows(tmp_path: Path) -> None:
    (tmp_path / "mixseek.toml").write_text("workspce = 'x'\n", encoding="utf-8")
    code, found = examine(tmp_path, "--offline", MIXSEEK_WORKSPCE="y")

    assert code == 1
    assert "did you mean 'workspace'?" in found["mixseek.toml"]["said"]
    assert "has no effect" in found["MIXSEEK_WORKSPCE"]["said"]


def test_a_sound_workspace_is_left_as_it_is(workspace: Path) -> None:
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
    code, found = examine(workspace.parent, "--offline")

    assert code == 0
    assert found["runs"]["said"] == "1 of 1 sound"
    assert {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()} == before


def damage_journal(root: Path) -> None:
    path = root / "runs" / "r" / "journal.jsonl"
    path.write_bytes(path.read_bytes().replace(b"answer", b"ANSWER", 1))


def cut_journal(root: Path) -> None:
    path = root / "runs" / "r" / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-20])


def kill_run(root: Path) -> None:
    path = root / "runs" / "r" / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"complete"', '"running"'), encoding="utf-8")


def share_key(root: Path) -> None:
    (root / "nonce.key").write_bytes(b"k" * 32)
    (root / "nonce.key").chmod(0o644)


def write_label(root: Path) -> None:
    (root / "labels").mkdir()
    (root / "labels" / "labels.jsonl").write_text("nonsense\n", encoding="utf-8")


_DAMAGES = {
    "changed journal": (damage_journal, "run r", "changed since it was written"),
    "cut journal": (cut_journal, "run r", "cut short"),
    "torn run": (kill_run, "run r", "its process was killed"),
    "manifest": (lambda root: (root / "runs/r/manifest.json").write_text("{"), "run r", "not a manifest"),
    "no manifest": (lambda root: (root / "runs/r/manifest.json").unlink(), "run r", "no manifest"),
    "index": (lambda root: (root / "runs/r/index.duckdb").write_bytes(b"x" * 9_000), "run r", "is damaged"),
    "cache": (lambda root: (root / "replies.sqlite").write_bytes(b"x" * 9_000), "replies.sqlite", "damaged"),
    "labels": (write_label, "labels", "line 1 is no label"),
    "key": (share_key, "nonce.key", "others may read it"),
}


@pytest.mark.parametrize("kind", _DAMAGES)
def test_what_is_wrong_with_a_workspace_is_named_and_not_touched(kind: str, workspace: Path) -> None:
    damage, name, said = _DAMAGES[kind]
    damage(workspace)
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
    code, found = examine(workspace.parent, "--offline")

    assert code == 1
    assert found[name]["severity"] == "problem"
    assert said in found[name]["said"]
    assert {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()} == before


def test_a_workspace_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "ws").write_text("", encoding="utf-8")
    code, found = examine(tmp_path, "--offline", "-w", "ws")

    assert code == 1
    assert "not a directory" in found["ws"]["said"]
