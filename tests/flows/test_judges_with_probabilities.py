"""Judges with probabilities from outside: tokens and decision endpoints, from settings to journal, cache, resume."""

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.flows.cross_material import outputs
from tests.flows.document_material import pair_rows
from tests.flows.live import KEYS, riddles
from tests.flows.loopback import Loopback, loopback
from tests.flows.running import mixseek_here, read_jsonl, write_jsonl

from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.mock_probabilities import ProbabilityFault
from mixseek.testing.mock_server import MockOptions

SAMPLES = 12
NAMES = ("confidence_value", "confidence_source", "expected_score", "is_unexplained")
TOKEN_FAULTS = tuple(ProbabilityFault)[:6]
ANSWER_FAULTS = tuple(ProbabilityFault)[6:]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "data.jsonl", riddles(SAMPLES))


def configure(place: Path, endpoint: Loopback, **settings: Any) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    table = ["[judges.local]", 'model = "mock"', f'base_url = "{endpoint.base_url}"', *lines]
    (place / "mixseek.toml").write_text("\n".join(table) + "\n", encoding="utf-8")


def run(place: Path, data: Path, judge: str, *more: str, name: str = "r") -> subprocess.CompletedProcess[str]:
    words = ("judge", data.name, "--judge", judge, "--workspace", "ws", "--run", name, *more)
    return mixseek_here(*words, cwd=place, env=KEYS)


def rows_of(place: Path, name: str = "r") -> list[dict[str, Any]]:
    mixseek_here("export", name, "--to", f"{name}.rows.jsonl", "-w", "ws", cwd=place)
    return read_jsonl(place / f"{name}.rows.jsonl")


def outcomes_of(place: Path, name: str = "r") -> list[dict[str, Any]]:
    lines = (place / "ws" / "runs" / name / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    return [record for record in map(json.loads, lines) if record["t"] == "outcome"]


def test_tokens_give_confidence_and_expected_score(data: Path, tmp_path: Path) -> None:
    """In the export and in the journal; what they were read from is a few tokens of each reply."""
    with loopback() as endpoint:
        configure(tmp_path, endpoint, logprobs=True)
        judged = run(tmp_path, data, "local")
    rows = rows_of(tmp_path)
    lines = (tmp_path / "ws" / "runs" / "r" / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    replies = [record for record in map(json.loads, lines) if record["t"] == "reply"]

    assert judged.returncode == 0, judged.stderr
    assert [row["confidence_source"] for row in rows] == ["logprobs"] * SAMPLES
    assert all(0.54 < row["confidence_value"] <= 1 for row in rows)
    for row in rows:
        expected = row["confidence_value"] if row["is_correct"] else 1 - row["confidence_value"]
        assert row["expected_score"] == pytest.approx(expected)
    assert all(len(reply["details"]["logprobs"]["fields"]["is_correct"]["tokens"]) <= 2 for reply in replies)
    assert "confidence  12 of 12 valid judgments by token probabilities" in judged.stdout


@pytest.mark.parametrize("fault", TOKEN_FAULTS)
def test_whatever_is_wrong_with_tokens_the_verdicts_stand_and_have_no_confidence(
    fault: ProbabilityFault, data: Path, tmp_path: Path
) -> None:
    """But for an endpoint that gives fewer alternatives, which is asked for fewer; what is learnt is told once."""
    with loopback(MockOptions(probability_faults=(fault,))) as endpoint:
        configure(tmp_path, endpoint, logprobs=True, top_logprobs=20)
        judged = run(tmp_path, data, "local", "--concurrency", "1")
        requests = endpoint.requests
    rows, outcomes = rows_of(tmp_path), outcomes_of(tmp_path)
    is_lowered = fault is ProbabilityFault.FEWER_LOGPROBS
    is_learnt = fault in (ProbabilityFault.NO_LOGPROBS, ProbabilityFault.REFUSED_LOGPROBS)

    assert judged.returncode == 0, judged.stderr
    assert {row["status"] for row in rows} == {"valid"}
    assert {row["confidence_value"] is None for row in rows} == {not is_lowered}
    assert all(("no_confidence" in outcome["fields"]) == (not is_lowered) for outcome in outcomes)
    assert judged.stderr.count("gives at most 5 alternatives") == is_lowered
    assert judged.stderr.count("gives no token probabilities") == is_learnt
    assert requests == SAMPLES + (is_lowered or fault is ProbabilityFault.REFUSED_LOGPROBS)


def test_programs_are_told_how_many_have_a_confidence(data: Path, tmp_path: Path) -> None:
    """By judge and by what says so, in the document of the run."""
    with loopback() as endpoint:
        configure(tmp_path, endpoint, logprobs=True)
        document = json.loads(run(tmp_path, data, "local", "--json").stdout)

    whole = {"judge": "local", "source": "logprobs", "count": SAMPLES, "unexplained": 0, "why_not": None}
    assert document["confidences"] == [whole]


def test_a_cached_reply_without_tokens_is_not_one_with_them(data: Path, tmp_path: Path) -> None:
    """And the other way round: switching them off again finds what was paid for before."""
    with loopback() as endpoint:
        for name, logprobs in (("off", False), ("on", True), ("again", True), ("off-again", False)):
            configure(tmp_path, endpoint, logprobs=logprobs)
            run(tmp_path, data, "local", name=name)
        requests = endpoint.requests

    assert requests == 2 * SAMPLES
    for name, source in (("off", None), ("on", "logprobs"), ("again", "logprobs"), ("off-again", None)):
        assert {row["confidence_source"] for row in rows_of(tmp_path, name)} == {source}


@pytest.mark.parametrize("api", ["decisions", "systemone"])
def test_a_decision_endpoint_judges_without_a_word(api: str, data: Path, tmp_path: Path) -> None:
    """Through a table; the same command again asks nothing, and the cache serves another run."""
    with loopback() as endpoint:
        configure(tmp_path, endpoint, api=api)
        judged = run(tmp_path, data, "decisions:local" if api == "decisions" else "local")
        resumed = run(tmp_path, data, "decisions:local" if api == "decisions" else "local")
        run(tmp_path, data, "local", name="other")
        requests, stats = endpoint.requests, endpoint.stats()
    rows = rows_of(tmp_path)

    assert (judged.returncode, resumed.returncode) == (0, 0), judged.stderr
    assert requests == SAMPLES, stats
    assert [[row["status"], row["is_unexplained"]] for row in rows] == [["valid", True]] * SAMPLES
    assert {row["confidence_source"] for row in rows} == {"decision"}
    assert {row["verdict"] for row in rows} == {"correct", "incorrect"}
    assert all(row["extracted_answer"] is None and row["comment"] == "" for row in rows)
    assert "unexplained" in judged.stdout


def test_the_list_of_judges_says_what_they_give(tmp_path: Path) -> None:
    """And what may stand after --judge has both forms."""
    with loopback() as endpoint:
        configure(tmp_path, endpoint, api="systemone")
        decides = mixseek_here("judges", cwd=tmp_path).stdout
        configure(tmp_path, endpoint, logprobs=True)
        (listed,) = json.loads(mixseek_here("judges", "--json", cwd=tmp_path).stdout)["configured"]

    assert "gives decisions (systemone)" in decides
    assert "decisions:PROVIDER:MODEL" in decides
    assert listed["gives"] == "token probabilities"


def test_a_spec_is_enough(data: Path, tmp_path: Path) -> None:
    """`decisions:` before what a chat would be asked at."""
    with loopback() as endpoint:
        spec = f"decisions:{endpoint.spec}"
        judged = run(tmp_path, data, spec)
        checked = mixseek_here("judges", "check", spec, cwd=tmp_path, env=KEYS)

    assert judged.returncode == 0, judged.stderr
    assert {row["judge"] for row in rows_of(tmp_path)} == {spec}
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "answers" in checked.stdout


@pytest.mark.parametrize("api", ["decisions", "systemone"])
@pytest.mark.parametrize("fault", ANSWER_FAULTS)
def test_whatever_is_wrong_with_an_answer_is_an_invalid_judgment(
    fault: ProbabilityFault, api: str, tmp_path: Path
) -> None:
    """Of a choice, in each order of a pair; never a number, and the run goes on."""
    data = write_jsonl(tmp_path / "pairs.jsonl", pair_rows(1)[:1])
    with loopback(MockOptions(probability_faults=(fault,))) as endpoint:
        configure(tmp_path, endpoint, api=api)
        judged = run(tmp_path, data, "local", "--protocol", "pairwise", "--keep-going")
    (row,) = rows_of(tmp_path)

    assert (row["status"], row["score"], row["confidence_value"], row["expected_score"]) == (
        "invalid",
        None,
        None,
        None,
    )
    assert row["flags"], judged.stderr
    assert all(row["flag_details"])


def test_dimensions_are_judged_where_no_evidence_is_demanded(tmp_path: Path) -> None:
    """And refused in one line, before anybody is asked, where it is."""
    data = write_jsonl(tmp_path / "outputs.jsonl", outputs())
    with loopback() as endpoint:
        configure(tmp_path, endpoint, api="decisions")
        refused = run(tmp_path, data, "local", "--protocol", "cross")
        asked = endpoint.requests
        off = ("--protocol", "cross", "--parameter", "evidence.policy=off")
        judged = run(tmp_path, data, "local", *off)
    rows = rows_of(tmp_path)

    assert (refused.returncode, asked) == (2, 0)
    assert refused.stderr.count("\n") == 1
    assert "--parameter evidence.policy=off" in refused.stderr
    assert judged.returncode == 0, judged.stderr
    assert {row["status"] for row in rows} == {"valid"}
    assert all(row["expected_score"] is not None and row["confidence_value"] is None for row in rows)


def test_an_archive_is_read_again_from_what_was_said(data: Path, tmp_path: Path) -> None:
    """Confidence included: tokens and answers are in it."""
    pairs = write_jsonl(tmp_path / "pairs.jsonl", pair_rows(2))
    with loopback() as endpoint:
        configure(tmp_path, endpoint, logprobs=True)
        run(tmp_path, data, "local", name="tokens")
        run(tmp_path, pairs, "local", "--protocol", "pairwise", name="pair-tokens")
        configure(tmp_path, endpoint, api="systemone")
        run(tmp_path, data, "local", name="answers")
        run(tmp_path, pairs, "local", "--protocol", "pairwise", name="pair-answers")
    for name in ("tokens", "pair-tokens", "answers", "pair-answers"):
        written = mixseek_here("archive", name, "--to", f"{name}.d", "-w", "ws", cwd=tmp_path)
        checked = mixseek_here("archive", "--check", f"{name}.d", cwd=tmp_path)
        index = read_jsonl(tmp_path / f"{name}.d" / "index.jsonl")

        assert written.returncode == 0, written.stderr
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert Counter(row.get("confidence_source") for row in index).keys() <= {"logprobs", "decision", None}
        assert any(row.get("confidence_value") for row in index)


def test_what_was_never_decided_is_asked_in_chats(tmp_path: Path, data: Path) -> None:
    """No batches there, and one line says so."""
    with loopback() as endpoint:
        configure(tmp_path, endpoint, api="decisions")
        refused = run(tmp_path, data, "local", "--batch")

    assert refused.returncode == 2
    assert "decision endpoints take no batches" in refused.stderr


def test_a_batch_of_chat_completions_brings_its_tokens(data: Path, tmp_path: Path) -> None:
    """The body is the same; nothing is asked for twice."""
    with loopback(MockOptions(batches=BatchOptions())) as endpoint:
        configure(tmp_path, endpoint, provider="openai", logprobs=True)
        judged = run(tmp_path, data, "local", "--batch", "--wait", "--poll", "0.1")
    rows = rows_of(tmp_path)

    assert judged.returncode == 0, judged.stderr
    assert [row["confidence_source"] for row in rows] == ["logprobs"] * SAMPLES
