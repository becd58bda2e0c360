"""Requests to the loopback judge as clients write them."""

import http.client
import json
from typing import Any

from tests.flows.loopback import Loopback
from tests.unit.protocols.nonces import NONCES
from tests.waiting import PATIENCE_SECONDS

from mixseek.domain.ports import Nonces
from mixseek.domain.samples import Sample
from mixseek.protocols.registry import load_protocol

PROTOCOL = load_protocol("semantic")


def a_sample(number: int) -> Sample:
    return Sample(f"s{number}", f"I count {number}.\nSo it is {number}.", f"How many, {number}?", str(number))


def openai_body(sample: Sample, nonces: Nonces = NONCES, model: str = "mock") -> dict[str, Any]:
    messages = [{"role": m.role, "content": m.content} for m in PROTOCOL.messages(sample, nonces)]
    return {"model": model, "messages": messages}


def anthropic_body(sample: Sample, nonces: Nonces = NONCES) -> dict[str, Any]:
    system, user = PROTOCOL.messages(sample, nonces)
    return {
        "model": "mock",
        "max_tokens": 300,
        "system": system.content,
        "messages": [{"role": "user", "content": [{"type": "text", "text": user.content}]}],
    }


def send(
    judge: Loopback, body: Any, path: str = "/v1/chat/completions", **headers: str
) -> tuple[int, dict[str, str], Any]:
    """Status (0 for a dropped connection), headers in lower case, and the decoded body."""
    connection = http.client.HTTPConnection(judge.server.host, judge.server.port, timeout=PATIENCE_SECONDS)
    try:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", path, raw, headers)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, json.loads(answer.read())
    except (ConnectionError, http.client.HTTPException):
        return 0, {}, None
    finally:
        connection.close()


def get(judge: Loopback, path: str) -> Any:
    connection = http.client.HTTPConnection(judge.server.host, judge.server.port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def text_of(answer: Any) -> str:
    message = answer["choices"][0]["message"]
    return str(message["content"] or message["refusal"])
