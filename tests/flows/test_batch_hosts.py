"""Hosts that speak nearly as OpenAI does about batches: what is particular to them, byte for byte."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.flows.batches import KEYS, judge, ledger, replies
from tests.flows.live import riddles
from tests.flows.loopback import Asked, Given, answering, refusal
from tests.flows.running import mixseek_here, write_jsonl

COUNT = 3
REPLY = {"id": 1, "is_correct": True, "extracted_answer": "x", "reasoning_score": 1, "comment": "c"}


class Together:
    """Files by their own way with a purpose of their own, an answer with the batch inside, and no metadata."""

    def __init__(self, *, first_creation: bytes | None = None) -> None:
        """`first_creation`: what is answered instead when the first batch is made."""
        self.first_creation = first_creation
        self.file = b""
        self.made: list[dict[str, Any]] = []
        self.is_ended = False

    def answer(self, asked: Asked) -> Given:
        path = asked.path.partition("?")[0]
        if path == "/v1/files/upload":
            if b"batch-api" not in asked.body or b'name="file_name"' not in asked.body:
                return refusal(400, "purpose and file_name are required")
            self.file = asked.body
            return given({"id": "file-in", "object": "file", "filename": "f.jsonl"})
        if path == "/v1/batches" and asked.body:
            body = json.loads(asked.body)
            if body.keys() - {"input_file_id", "endpoint", "completion_window"}:
                return refusal(400, f"unknown fields in {sorted(body)}")
            self.made.append(body)
            if self.first_creation is not None and len(self.made) == 1:
                return 201, {}, self.first_creation
            return given({"job": self.job(), "warning": ""}, status=201)
        if path == "/v1/batches":
            other = {**self.job(), "id": "job-other", "input_file_id": "file-other"}
            return given([other, *([self.job()] if self.made else [])])
        if path == "/v1/batches/job-1":
            return given(self.job())
        if path == "/v1/files/file-out/content":
            return 200, {}, self.output()
        return refusal(404, f"nothing at {path}")

    def job(self) -> dict[str, Any]:
        return {
            "id": "job-1",
            "input_file_id": "file-in",
            "status": "COMPLETED" if self.is_ended else "IN_PROGRESS",
            "output_file_id": "file-out" if self.is_ended else "",
            "created_at": "2026-11-19T14:30:00Z",
        }

    def output(self) -> bytes:
        """A line for each of the file's."""
        lines = [line for line in self.file.splitlines() if line.startswith(b'{"custom_id"')]
        choice = {"message": {"content": json.dumps(REPLY)}, "finish_reason": "stop"}
        body = {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
        return b"".join(
            json.dumps(
                {"custom_id": json.loads(line)["custom_id"], "response": {"status_code": 200, "body": body}}
            ).encode()
            + b"\n"
            for line in lines
        )


def given(document: Any, status: int = 200) -> Given:
    return status, {"Content-Type": "application/json"}, json.dumps(document).encode()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "riddles.jsonl", riddles(COUNT))


def test_together_has_ways_of_its_own(tmp_path: Path, data: Path) -> None:
    """The batch is made of the uploaded file, once, and collected when it has ended; the list calls it Together's."""
    host = Together()
    with answering(host.answer) as hand:
        spec, keys = f"together:m@{hand.base_url}", {**KEYS, "TOGETHER_API_KEY": "sk-together-000"}
        left = judge(data, spec, "--batch", "--max-reasks", "0", cwd=tmp_path, keys=keys)
        listed = json.loads(mixseek_here("batches", "--workspace", "ws", "--json", cwd=tmp_path).stdout)["batches"]
        host.is_ended = True
        done = judge(data, spec, "--batch", "--max-reasks", "0", cwd=tmp_path, keys=keys)

    assert left.returncode == 4, left.stderr
    assert [(line["provider"], line["id"]) for line in listed] == [("together", "job-1")]
    assert done.returncode in (0, 1), done.stderr
    assert host.made == [
        {"input_file_id": "file-in", "endpoint": "/v1/chat/completions", "completion_window": "24h"},
    ]
    assert len(replies(tmp_path)) == COUNT


@pytest.mark.parametrize("torn", [b"<html>", b"{}"], ids=["no document", "no name"])
def test_a_host_without_metadata_knows_the_file_of_a_batch_in_doubt(torn: bytes, tmp_path: Path, data: Path) -> None:
    """It was made, and its answer said nothing: the file's name tells which of the list it is."""
    host = Together(first_creation=torn)
    with answering(host.answer) as hand:
        spec, keys = f"together:m@{hand.base_url}", {**KEYS, "TOGETHER_API_KEY": "sk-together-000"}
        left = judge(data, spec, "--batch", cwd=tmp_path, keys=keys)
        found = judge(data, spec, "--batch", "--poll", "0.05", cwd=tmp_path, keys=keys)

    assert (left.returncode, found.returncode) == (4, 4), found.stderr
    assert "nobody knows whether it was taken" in left.stderr
    assert "was submitted before this command was started: it is job-1" in found.stderr
    assert len(host.made) == 1
    assert [event["event"] for event in ledger(tmp_path)][:3] == ["intended", "uploaded", "submitted"]
