"""Endpoints that die, refuse, or speak another format; and the key, which is nowhere but in the request."""

import json
import math
import subprocess
from pathlib import Path

import pytest
from tests.flows.live import (
    CANARY,
    KEYS,
    begin,
    counts_of,
    export,
    files_below,
    journal_lines,
    judge,
    judge_arguments,
    read_until,
    riddles,
    verdicts,
    wait_until,
)
from tests.flows.loopback import Loopback, loopback
from tests.flows.running import mixseek, mixseek_here, start_anew, write_jsonl

from mixseek.testing.mock_server import MockOptions

SAMPLES = 60


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "data.jsonl", riddles(SAMPLES))


def anthropic_spec(endpoint: Loopback) -> str:
    return f"anthropic:mock@{endpoint.base_url}"


def test_an_endpoint_that_dies_and_comes_back_is_waited_for(data: Path, tmp_path: Path) -> None:
    """Connections die, new ones are refused for a while; the run says so, waits, and finishes."""
    with loopback(MockOptions(down_after_requests=20, down_seconds=math.inf)) as endpoint:
        process = begin(*judge_arguments(data, endpoint.spec, "--concurrency", "8"), cwd=tmp_path)
        heard = read_until(process, "127.0.0.1")
        endpoint.come_back()
        out, err = process.communicate()
        stats = endpoint.stats()

    assert "127.0.0.1" in heard
    assert process.returncode == 0, heard + err
    assert json.loads(out)["counts"] == {"valid": SAMPLES, "invalid": 0, "undecided": 0, "missing": 0}
    assert stats["requests"] - SAMPLES <= 8 + 1


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_a_refused_key_is_one_line_at_once(wire: str, data: Path, tmp_path: Path) -> None:
    """Exit 2, with the endpoint's own words but never with the key that they contain."""
    with loopback(MockOptions(refuses_keys=True)) as endpoint:
        spec = endpoint.spec if wire == "openai" else anthropic_spec(endpoint)
        process = begin(*judge_arguments(data, spec, "--quiet"), cwd=tmp_path)
        assert wait_until(lambda: endpoint.requests > 0, process)
        # Nobody waits for an endpoint that refuses: patience would be ten minutes, and is longer than ours.
        out, err = process.communicate()

    assert process.returncode == 2, err
    assert len(err.splitlines()) == 1
    assert err.startswith("mixseek: ")
    assert "401" in err
    assert CANARY not in out + err


def test_the_anthropic_format_gives_the_same_judgments(data: Path, tmp_path: Path) -> None:
    """One verdict, two wires."""
    with loopback() as endpoint:
        one = judge(data, endpoint.spec, cwd=tmp_path, workspace="one")
        other = judge(data, anthropic_spec(endpoint), cwd=tmp_path, workspace="other")
        log = endpoint.stats()
    mine, theirs = (
        [{**row, "judge": ""} for row in verdicts(export(tmp_path, workspace))] for workspace in ("one", "other")
    )

    assert one.returncode == other.returncode == 0, other.stderr
    assert mine == theirs
    assert log["requests"] == 2 * SAMPLES
    assert all(reply["details"]["usage"]["input_tokens"] > 0 for reply in journal_lines(tmp_path, "reply", "other"))


def test_an_endpoint_without_schemas_is_asked_without(data: Path, tmp_path: Path) -> None:
    """Found out by a few refusals, not by one for each sample."""
    with loopback(MockOptions(refuses_schemas=True, latency_seconds=0.01)) as endpoint:
        done = judge(data, endpoint.spec, "--concurrency", "4", cwd=tmp_path)
        stats = endpoint.stats()

    assert done.returncode == 0, done.stderr
    assert counts_of(done)["valid"] == SAMPLES
    assert stats["answered"]["200"] == SAMPLES
    assert 0 < stats["answered"]["400"] <= 8


def test_an_overloaded_endpoint_is_asked_for_less_at_once(data: Path, tmp_path: Path) -> None:
    """429 for all that is too many: everything is judged, and the refusals stay few."""
    with loopback(MockOptions(capacity=4, latency_seconds=0.02, retry_after_seconds=0.05)) as endpoint:
        done = judge(data, endpoint.spec, "--concurrency", "64", cwd=tmp_path)
        stats = endpoint.stats()

    assert done.returncode == 0, done.stderr
    assert counts_of(done)["valid"] == SAMPLES
    assert stats["answered"]["200"] == SAMPLES


def command_lines_of(process: subprocess.Popen[str]) -> str:
    """As `ps` shows them: the process and its children."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            if str(process.pid) in (directory.name, (directory / "stat").read_text().rpartition(")")[2].split()[1]):
                found.append((directory / "cmdline").read_bytes().decode())
        except OSError:
            continue  # ended meanwhile
    return "\n".join(found)


def test_the_key_is_nowhere(data: Path, tmp_path: Path) -> None:
    """Not in any file below the workspace, not in output, reports or `ps`; with faults, so that errors are told too."""
    faulty = MockOptions(latency_seconds=0.01, fault_rate=0.3, retry_after_seconds=0.02, drip_seconds=0.05)
    with loopback(faulty) as endpoint:
        process = start_anew(*judge_arguments(data, endpoint.spec, "--concurrency", "4"), cwd=tmp_path, **KEYS)
        assert wait_until(lambda: endpoint.requests > 20, process)
        shown = command_lines_of(process)
        out, err = process.communicate(timeout=180)
        page = mixseek_here("report", "r", "--workspace", "ws", "--to", "report.html", cwd=tmp_path, env=KEYS)
        debugged = judge(data, endpoint.spec.replace("/v1", "/nowhere"), "--debug", cwd=tmp_path, workspace="broken")
    with loopback(MockOptions(refuses_keys=True)) as endpoint:
        refused = mixseek(*judge_arguments(data, endpoint.spec, "--debug", workspace="refused"), cwd=tmp_path, env=KEYS)
    told = [shown, out, err, page.stdout, page.stderr, debugged.stdout, debugged.stderr, refused.stdout, refused.stderr]

    assert "judge" in shown
    assert process.returncode == 0, err
    assert page.returncode == 0, page.stderr
    assert [text for text in told if CANARY in text] == []
    assert [path for path in files_below(tmp_path) if CANARY.encode() in path.read_bytes()] == []


def test_a_prompt_that_is_too_long_is_missing_for_good(tmp_path: Path) -> None:
    """The rest is judged, nobody asks for it again unasked, and the exit code says that something is missing."""
    rows = riddles(6)
    rows[2]["response"] = "on and on " * 5_000
    data = write_jsonl(tmp_path / "data.jsonl", rows)
    with loopback(MockOptions(context_characters=20_000)) as endpoint:
        first = judge(data, endpoint.spec, cwd=tmp_path)
        asked = endpoint.requests
        again = judge(data, endpoint.spec, cwd=tmp_path)

    assert first.returncode == again.returncode == 4, first.stderr
    assert counts_of(first) == counts_of(again) == {"valid": 5, "invalid": 0, "undecided": 0, "missing": 1}
    assert "1 sample is missing: their judge refuses them" in first.stderr
    assert json.loads(first.stdout)["complete"]
    assert json.loads(first.stdout)["calls"][endpoint.spec]["tries"] == asked == endpoint.requests == 6
