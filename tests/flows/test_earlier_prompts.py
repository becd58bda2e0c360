"""A run that an earlier mixseek began goes on with the prompts of then, and is never mixed with those of now."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.flows.live import KEYS, riddles
from tests.flows.loopback import Loopback, loopback
from tests.flows.running import mixseek_here, the_one_line, write_jsonl

SAMPLES = 8
# How the user message of version 1 began.
OF_THEN, OF_NOW = "Judge one sample. Its input_id is 1.", "Judge one sample. Its sections follow"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "data.jsonl", riddles(SAMPLES))


def judged(data: Path, endpoint: Loopback, *more: str) -> Any:
    options = ("--judge", endpoint.spec, "--workspace", "ws", "--no-cache", "--concurrency", "1", *more)
    return mixseek_here("judge", data.name, *options, cwd=data.parent, env=KEYS)


def runs(data: Path) -> list[dict[str, Any]]:
    """Name and version of the protocol of each."""
    manifests = sorted((data.parent / "ws" / "runs").glob("*/manifest.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in manifests]


@pytest.mark.parametrize("named", [(), ("--run", "spring")])
def test_the_same_command_goes_on_with_what_an_earlier_version_began(data: Path, named: tuple[str, ...]) -> None:
    """Nothing is asked twice, and no run holds two kinds of prompts."""
    with loopback() as endpoint:
        begun = judged(data, endpoint, "--protocol", "semantic@1", "--max-calls", "3", *named)
        again = judged(data, endpoint, *named)
        asked = endpoint.stats()["requests"]

    assert begun.returncode == 4, begun.stderr
    assert again.returncode == 0, again.stderr
    assert "was begun with earlier prompts of the semantic protocol (version 1, now 2) and goes on with them" in (
        " ".join(again.stderr.split())
    )
    assert asked == SAMPLES
    (run,) = runs(data)
    assert (run["protocol"]["version"], run["status"]) == ("1", "complete")


def test_who_asks_for_a_version_by_name_gets_it(data: Path) -> None:
    """Each in a run of its own: their numbers are never averaged."""
    with loopback() as endpoint:
        for version in ("semantic@1", "semantic@2"):
            assert judged(data, endpoint, "--protocol", version, "--quiet").returncode == 0

    assert sorted(run["protocol"]["version"] for run in runs(data)) == ["1", "2"]


def test_a_run_of_an_earlier_version_refuses_the_present_one_by_name(data: Path) -> None:
    with loopback() as endpoint:
        judged(data, endpoint, "--protocol", "semantic@1", "--run", "spring")
        refused = judged(data, endpoint, "--protocol", "semantic@2", "--run", "spring")

    assert refused.returncode == 2
    assert "run spring: was started with another protocol" in the_one_line(refused)


def test_protocol_show_shows_a_version(tmp_path: Path) -> None:
    then, now = (mixseek_here("protocol", "show", name, cwd=tmp_path).stdout for name in ("semantic@1", "semantic"))

    assert OF_THEN in then
    assert OF_NOW not in then
    assert OF_NOW in now
