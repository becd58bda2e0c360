"""A judge that is not there, is something else, or repeats its key: what the command line and Python make of it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.flows.live import CANARY, KEYS, counts_of, journal_lines, judge, riddles
from tests.flows.loopback import Asked, Given, answering, completion, refusal
from tests.flows.running import mixseek_here, write_jsonl

import mixseek

# Port 9 is that of a service which nobody runs.
NOBODY = "openai:m@http://127.0.0.1:9/v1"
LOGIN = (200, {"Content-Type": "text/html"}, b"<!doctype html><title>Log in</title><form></form>")


@pytest.fixture
def patient_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by default, in less time."""
    monkeypatch.setattr("mixseek.engine.retry.FIRST_PATIENCE_SECONDS", 0.5)


@pytest.mark.parametrize(("count", "patience"), [(1, 0.5), (40, 2.0)])
def test_an_address_where_nobody_listens_is_given_up(
    count: int, patience: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait is named, and how to wait longer; no run is left behind. Several must have failed before it is over."""
    monkeypatch.setattr("mixseek.engine.retry.FIRST_PATIENCE_SECONDS", patience)
    data = write_jsonl(tmp_path / "data.jsonl", riddles(count))
    done = judge(data, NOBODY, cwd=tmp_path)

    assert done.returncode == 4
    assert "http://127.0.0.1:9: nothing has answered for " in done.stderr
    assert "cannot connect (Connection refused)" in done.stderr
    assert "add --patience 600" in done.stderr
    assert ("(--patience)" in done.stderr) == (count > 1)
    assert not (tmp_path / "ws" / "runs" / "r").exists()


def test_a_page_with_a_login_form_is_given_up_by_its_name(tmp_path: Path, patient_for_a_moment: None) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", riddles(5))
    with answering(lambda asked: LOGIN) as endpoint:
        done = judge(data, endpoint.spec, cwd=tmp_path)

    assert done.returncode == 4
    assert "answered with a page for browsers (Log in)" in done.stderr
    assert "a base URL often ends in /v1" in done.stderr


def test_a_404_is_told_with_the_advice_of_a_check(tmp_path: Path) -> None:
    """The same words in both."""

    def answer(asked: Asked) -> Given:
        models = json.dumps({"data": [{"id": "hand-large"}]}).encode()
        return (200, {}, models) if asked.path.endswith("/models") else refusal(404, "no such thing")

    data = write_jsonl(tmp_path / "data.jsonl", riddles(5))
    with answering(answer) as endpoint:
        done = judge(data, endpoint.spec, cwd=tmp_path)
        checked = mixseek_here("judges", "check", endpoint.spec, cwd=tmp_path, env=KEYS)
    advice = "model 'hand' is not served there; available: hand-large"

    assert (done.returncode, checked.returncode) == (2, 2)
    assert f"answered 404: no such thing; {advice}" in done.stderr
    assert checked.stdout.splitlines()[1:] == [f"  {advice}"]


def test_an_address_that_was_pasted_whole_is_refused_with_the_right_one(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", riddles(1))
    done = judge(data, "openai:m@http://localhost:8000/v1/chat/completions", cwd=tmp_path)

    assert done.returncode == 2
    assert "ends in /chat/completions, which is added to it; write http://localhost:8000/v1" in done.stderr


def test_from_python_it_is_an_incomplete_run(monkeypatch: pytest.MonkeyPatch, patient_for_a_moment: None) -> None:
    """As the page on Python promises: no exception, the reason in words without options, and every sample missing."""
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    run = mixseek.judge(riddles(3), judges=NOBODY, progress=False)

    assert (run.ok, run.state) == (False, "incomplete")
    assert [judged.status for judged in run] == ["missing"] * 3
    assert "to wait for one that is still starting, add patience=600" in run.reasons[0]
    assert [text for text in (*run.reasons, *run.notices) if "--" in text] == []


def test_what_was_paid_for_before_a_key_is_revoked_is_in_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory it would be lost for good with an exception."""
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    with answering(lambda asked: refusal(401, "revoked") if b"Riddle 4:" in asked.body else good(asked)) as endpoint:
        run = mixseek.judge(riddles(20), judges=endpoint.spec, concurrency=1, progress=False)

    assert (run.ok, run.state) == (False, "incomplete")
    assert "answered 401: revoked" in run.reasons[0]
    assert sum(judged.status == "valid" for judged in run) == 4


def good(asked: Asked) -> Given:
    return completion(json.dumps(reply_with("fine")))


def reply_with(comment: str) -> dict[str, Any]:
    return {
        "id": 1,
        "is_correct": True,
        "extracted_answer": "traveller",
        "reasoning_score": 4,
        "error_type": "none",
        "comment": comment,
    }


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


def test_a_key_that_is_repeated_is_written_nowhere(tmp_path: Path) -> None:
    """In a header, in a reply, spelt with escapes that only the reader of the reply decodes, in reasoning, in ids."""

    def answer(asked: Asked) -> Given:
        text = json.dumps(reply_with("PLACE")).replace("PLACE", f"a {escaped(CANARY)} b")
        message = {"role": "assistant", "content": text, "reasoning": f"I was called with {CANARY}"}
        document = {"id": CANARY, "model": f"m-{CANARY}", "choices": [{"finish_reason": "stop", "message": message}]}
        return 200, {"x-request-id": f"req-{CANARY}"}, json.dumps(document).encode()

    data = write_jsonl(tmp_path / "data.jsonl", riddles(3))
    with answering(answer) as endpoint:
        done = judge(data, endpoint.spec, cwd=tmp_path)
    shown = mixseek_here("show", "r", "riddle-1", "-w", "ws", cwd=tmp_path)
    exported = mixseek_here("export", "r", "-w", "ws", "--to", "out.jsonl", cwd=tmp_path)
    report = mixseek_here("report", "r", "-w", "ws", "--to", "page.html", cwd=tmp_path)
    (reply, *_) = journal_lines(tmp_path, "reply")
    held = {path: path.read_bytes().decode("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file()}

    assert (done.returncode, exported.returncode, counts_of(done)["valid"]) == (0, 0, 3)
    assert [path for path, text in held.items() if CANARY in text or escaped(CANARY)[:24] in text] == []
    assert CANARY not in done.stdout + done.stderr + shown.stdout
    assert "a [key] b" in shown.stdout
    assert "masked_keys_in" in json.dumps(reply)
    assert [calls["masked_replies"] for calls in json.loads(done.stdout)["calls"].values()] == [3]
    for shown_text in (report.stdout, held[tmp_path / "page.html"]):
        assert "masked in 3 of its replies" in " ".join(shown_text.split())


@pytest.mark.parametrize("error", [b"a" * 5_000_000, b"***" + b"a-" * 1_000_000, b"<title>" * 500_000])
def test_an_error_of_megabytes_does_not_hold_up_a_run(error: bytes, tmp_path: Path) -> None:
    """The time limits hold: the body is cut before it is looked at."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(2))
    with answering(lambda asked: (500, {}, error)) as endpoint:
        done = judge(data, endpoint.spec, "--timeout", "30", "--patience", "1", cwd=tmp_path)

    assert done.returncode == 4
    assert max(map(len, done.stderr.splitlines())) < 2_000


@pytest.mark.parametrize(
    "line",
    [
        f'api_key_env = "{CANARY}"',
        f'headers = {{ Authorization = "Bearer {CANARY}" }}',
        f'headers = {{ X-Own = "{CANARY}" }}',
        f'body = {{ user = "{CANARY}" }}',
        f'base_url = "http://127.0.0.1:9/{CANARY}/v1"',
        f'base_url = "http://127.0.0.1:9/v1?code={CANARY}"',
    ],
)
def test_a_key_in_a_file_is_refused_by_every_command_and_shown_by_none(line: str, tmp_path: Path) -> None:
    table = ["[judges.own]", 'model = "m"', line]
    table += [] if line.startswith("base_url") else ['base_url = "http://127.0.0.1:9/v1"']
    (tmp_path / "mixseek.toml").write_text("\n".join(table))
    data = write_jsonl(tmp_path / "data.jsonl", riddles(1))
    done = [
        judge(data, "own", cwd=tmp_path),
        judge(data, "own", "--dry-run", cwd=tmp_path),
        mixseek_here("judges", "check", "own", cwd=tmp_path),
        mixseek_here("judges", cwd=tmp_path),
        mixseek_here("judges", "--json", cwd=tmp_path),
        mixseek_here("doctor", "--offline", cwd=tmp_path),
    ]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "mixseek.toml"]

    assert [one.returncode for one in done[:3]] == [2, 2, 2]
    assert re.search(r"credential|api_key_env is not the name", done[0].stderr)
    assert [one.args for one in done if CANARY in one.stdout + one.stderr] == []
    assert [path for path in written if CANARY.encode() in path.read_bytes()] == []
