"""Endpoints that refuse everything or answer with noise: said, stopped, and asked again when they are well."""

import json
from pathlib import Path

import pytest
from tests.flows.live import counts_of, export, journal_lines, judge, riddles
from tests.flows.loopback import Asked, Given, answering, completion, refusal
from tests.flows.running import mixseek_here, write_jsonl

NO = "the gateway objects"


def good(asked: Asked) -> Given:
    """A valid reply about the riddle that was asked."""
    text = json.loads(asked.body)["messages"][-1]["content"]
    number = text.split("Riddle ", 1)[1].split(":", 1)[0]
    verdict = {
        "id": f"riddle-{number}",
        "is_correct": True,
        "extracted_answer": f"traveller {number}",
        "reasoning_score": 5,
        "error_type": "none",
        "comment": "It says so.",
    }
    return completion(json.dumps(verdict))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "data.jsonl", riddles(400))


def test_a_blanket_refusal_stops_the_run_with_its_words_and_leaves_nothing(data: Path, tmp_path: Path) -> None:
    """Four hundred refusals are no result; when the endpoint has recovered, the same command judges everything."""
    with answering(lambda asked: refusal(400, NO)) as endpoint:
        done = judge(data, endpoint.spec, "--max-invalid", "1", cwd=tmp_path)
        port = endpoint.port
    assert done.returncode == 4
    assert NO in done.stderr
    assert "it refuses all of its first 20 samples" in done.stderr
    assert endpoint.requests <= 20 + 32
    assert not (tmp_path / "ws" / "runs" / "r").exists()

    with answering(good, port=port) as endpoint:
        again = judge(data, endpoint.spec, cwd=tmp_path)

    assert again.returncode == 0, again.stderr
    assert counts_of(again)["valid"] == 400


def test_a_judge_that_begins_to_refuse_is_stopped_too(data: Path, tmp_path: Path) -> None:
    """And what it refused is asked again on demand, every request in the account."""
    with answering(lambda asked: good(asked) if asked.number <= 100 else refusal(400, NO)) as endpoint:
        done = judge(data, endpoint.spec, cwd=tmp_path)
        port, first = endpoint.port, endpoint.requests
    assert done.returncode == 4
    assert "100 samples in a row" in done.stderr
    assert first <= 100 + 100 + 32

    with answering(good, port=port) as endpoint:
        plain = judge(data, endpoint.spec, cwd=tmp_path)
        retried = judge(data, endpoint.spec, "--retry-refused", cwd=tmp_path)

    assert plain.returncode == 4
    assert "--retry-refused asks again" in plain.stderr
    assert retried.returncode == 0, retried.stderr
    assert counts_of(retried)["valid"] == 400
    account = json.loads(retried.stdout)["calls"][endpoint.spec]
    assert account["calls"] == 400


def test_few_samples_all_refused_are_missing_and_asked_again_by_the_same_command(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", riddles(7))
    with answering(lambda asked: refusal(400, NO)) as endpoint:
        done = judge(data, endpoint.spec, cwd=tmp_path)
        port = endpoint.port
    with answering(good, port=port) as endpoint:
        again = judge(data, endpoint.spec, cwd=tmp_path)

    assert (done.returncode, counts_of(done)["missing"]) == (4, 7)
    assert (again.returncode, counts_of(again)["valid"]) == (0, 7), again.stderr


def test_what_one_sample_is_refused_counts_in_the_gate(tmp_path: Path) -> None:
    """Alone it is exit 4; who allows a share of invalid ones has said that it may be."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(10))
    with answering(lambda asked: refusal(400, NO) if b"Riddle 3:" in asked.body else good(asked)) as endpoint:
        plain = judge(data, endpoint.spec, cwd=tmp_path)
        allowed = judge(data, endpoint.spec, "--max-invalid", "10%", cwd=tmp_path)
        strict = judge(data, endpoint.spec, "--max-invalid", "9%", cwd=tmp_path)

    assert [done.returncode for done in (plain, allowed, strict)] == [4, 0, 1]
    assert "invalid or missing 10.00%" in strict.stderr
    assert endpoint.requests == 10


def test_nothing_valid_in_the_first_replies_stops_the_run(data: Path, tmp_path: Path) -> None:
    """With the commonest reason; --retry-invalid asks again what was invalid, and every attempt is kept."""
    with answering(lambda asked: completion("Nice answer!")) as endpoint:
        done = judge(data, endpoint.spec, cwd=tmp_path)
        port, noise = endpoint.port, endpoint.requests
    assert done.returncode == 4
    assert "gave nothing valid in its first 50 replies" in done.stderr
    assert "JUDGE_REFUSAL_OR_EVASION" in done.stderr
    assert noise <= 50 + 2 * 32

    with answering(good, port=port) as endpoint:
        again = judge(data, endpoint.spec, "--retry-invalid", cwd=tmp_path)

    assert again.returncode == 0, again.stderr
    assert counts_of(again)["valid"] == 400
    assert len(journal_lines(tmp_path, "reply")) == noise + 400


def test_invalid_replies_of_a_finished_run_are_asked_again_on_demand(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", riddles(10))
    with answering(lambda asked: completion("?") if b"Riddle 3:" in asked.body else good(asked)) as endpoint:
        first = judge(data, endpoint.spec, cwd=tmp_path)
        idle = judge(data, endpoint.spec, "--retry-refused", cwd=tmp_path)
        still = judge(data, endpoint.spec, "--retry-invalid", cwd=tmp_path)
        port, requests = endpoint.port, endpoint.requests
    with answering(good, port=port) as endpoint:
        done = judge(data, endpoint.spec, "--retry-invalid", cwd=tmp_path)
        more = judge(data, endpoint.spec, "--retry-invalid", cwd=tmp_path)

    assert [counts_of(one)["invalid"] for one in (first, idle, still, done, more)] == [1, 1, 1, 0, 0]
    # One ask and one again; as many on demand.
    assert requests == 9 + 2 + 2
    assert endpoint.requests == 1
    attempts = [line["attempt"] for line in journal_lines(tmp_path, "reply")]
    assert sorted(attempts)[-4:] == [2, 3, 4, 5]
    assert [row["status"] for row in export(tmp_path)] == ["valid"] * 10


def test_going_on_all_the_same_is_an_option(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", riddles(120))
    with answering(lambda asked: refusal(400, NO) if asked.number <= 60 else completion("?")) as endpoint:
        done = judge(data, endpoint.spec, "--keep-going", cwd=tmp_path)

    assert counts_of(done)["missing"] == 60
    assert counts_of(done)["invalid"] == 60


@pytest.mark.parametrize(
    ("answer", "options", "code"),
    [
        (refusal(401, "who are you"), (), 2),
        (refusal(404, "model not found"), (), 2),
        (refusal(400, "no"), ("--max-cost", "1"), 2),
    ],
)
def test_a_refused_start_leaves_no_run(answer: Given, options: tuple[str, ...], code: int, tmp_path: Path) -> None:
    """A bad key, an unknown model, a price that nobody knows: the name stays free for another protocol."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(5))
    with answering(lambda asked: answer) as endpoint:
        done = judge(data, endpoint.spec, *options, cwd=tmp_path)
        port = endpoint.port
    assert done.returncode == code, done.stderr
    assert not (tmp_path / "ws" / "runs" / "r").exists()
    with answering(good, port=port) as endpoint:
        assert judge(data, endpoint.spec, "--language", "ja", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    "stray", [(204, {}, b""), (101, {"Upgrade": "x", "Connection": "upgrade"}, b""), (200, {}, b"")]
)
def test_a_stray_answer_without_a_reply_is_like_a_502(stray: Given, tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", riddles(30))
    with answering(lambda asked: stray if asked.number % 7 == 3 else good(asked)) as endpoint:
        done = judge(data, endpoint.spec, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert counts_of(done)["valid"] == 30
    assert endpoint.requests > 30


def test_being_asked_to_wait_is_told_as_that(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", riddles(200))
    with answering(lambda asked: refusal(429, "later", **{"Retry-After": "3600"})) as endpoint:
        done = judge(data, endpoint.spec, "--patience", "5", cwd=tmp_path)

    assert done.returncode == 4
    assert "asked to wait 3600 s, and --patience is 5 s" in done.stderr
    assert "no reply for" not in done.stderr


def test_replies_of_a_retry_are_archived_like_all_others(tmp_path: Path) -> None:
    """Every reply has its file: the invalid ones of before, and the valid one that was asked for on demand."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(4))
    with answering(lambda asked: completion("?") if b"Riddle 3:" in asked.body else good(asked)) as endpoint:
        judge(data, endpoint.spec, cwd=tmp_path)
        port = endpoint.port
    with answering(good, port=port) as endpoint:
        done = judge(data, endpoint.spec, "--retry-invalid", cwd=tmp_path)
    written = mixseek_here("archive", "r", "-w", "ws", "--to", "arc", cwd=tmp_path)
    checked = mixseek_here("archive", "--check", "arc", cwd=tmp_path)

    assert [one.returncode for one in (done, written, checked)] == [0, 0, 0], checked.stdout
    files = {room: len(list((tmp_path / "arc" / room).rglob("*.json"))) for room in ("有效评测", "无效评测")}
    assert files == {"有效评测": 4, "无效评测": 2}
