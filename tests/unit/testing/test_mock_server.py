"""The loopback judge: two wire formats, every fault as it is named, and the same answers whatever the order."""

import json
import math
import socket
import time
from pathlib import Path

import pytest
from tests.flows.loopback import Loopback, loopback
from tests.unit.judges.mock_requests import PROTOCOL, a_sample, anthropic_body, get, openai_body, send, text_of
from tests.waiting import wait_for

from mixseek.domain.judgments import Flag, InvalidJudgment, Reply, ValidJudgment
from mixseek.domain.ports import Nonces
from mixseek.testing.mock_replies import Fault
from mixseek.testing.mock_server import MockOptions

FLAGS = {
    Fault.PROSE: {Flag.UNPARSABLE_OUTPUT, Flag.PROTOCOL_VIOLATION},
    Fault.TRUNCATED: {Flag.UNPARSABLE_OUTPUT},
    Fault.WRONG_SCHEMA: {Flag.UNPARSABLE_OUTPUT},
    Fault.REFUSAL: {Flag.JUDGE_REFUSAL_OR_EVASION},
    Fault.INCONSISTENT: {Flag.INTERNAL_INCONSISTENCY},
}


def test_a_verdict_satisfies_the_protocol_and_quotes_the_response() -> None:
    """Ready-made for `mixseek judge`: consistent, about the sample it was asked for, and both verdicts occur."""
    verdicts = set()
    with loopback() as judge:
        for number in range(12):
            status, headers, answer = send(judge, openai_body(a_sample(number)))
            outcome = PROTOCOL.parse(Reply(text_of(answer), "mock"), a_sample(number))

            assert status == 200
            assert headers["x-request-id"]
            assert answer["choices"][0]["finish_reason"] == "stop"
            assert answer["usage"]["prompt_tokens"] > answer["usage"]["completion_tokens"] > 0
            assert isinstance(outcome, ValidJudgment)
            assert outcome.fields["extraction_verified"] is True
            verdicts.add(outcome.verdict)

    assert verdicts == {"correct", "incorrect"}


def test_both_wire_formats_give_the_same_verdict() -> None:
    """What is asked decides, not how it travels."""
    with loopback() as judge:
        status, headers, answer = send(judge, anthropic_body(a_sample(3)), "/v1/messages")
        same = text_of(send(judge, openai_body(a_sample(3)))[2])

    assert status == 200
    assert headers["request-id"]
    assert (answer["type"], answer["role"], answer["stop_reason"]) == ("message", "assistant", "end_turn")
    assert answer["content"] == [{"type": "text", "text": same}]
    assert answer["usage"]["input_tokens"] > 0


def test_the_verdict_depends_on_sample_model_and_seed_but_not_on_the_nonce() -> None:
    """Workspaces have nonces of their own; their results must be comparable all the same."""
    with loopback() as judge, loopback(MockOptions(seed=1)) as other_seed:
        first = text_of(send(judge, openai_body(a_sample(1)))[2])

        assert text_of(send(judge, openai_body(a_sample(1), nonces=Nonces("e" * 24, "f" * 24)))[2]) == first
        assert text_of(send(judge, openai_body(a_sample(2)))[2]) != first
        assert text_of(send(judge, openai_body(a_sample(1), model="else"))[2]) != first
        assert text_of(send(other_seed, openai_body(a_sample(1)))[2]) != first
        assert judge.stats()["distinct"] == 3


def test_a_re_ask_is_another_request_with_the_same_verdict() -> None:
    """Words around the fences, or turns after them, do not change what is judged."""
    body = openai_body(a_sample(1))
    longer, turns = json.loads(json.dumps(body)), json.loads(json.dumps(body))
    longer["messages"][-1]["content"] += "\n\nYour previous reply could not be used. Judge again."
    turns["messages"] += [{"role": "assistant", "content": "?"}, {"role": "user", "content": "Judge again."}]
    with loopback() as judge:
        replies = {text_of(send(judge, asked)[2]) for asked in (body, longer, turns)}

        assert len(replies) == 1
        assert judge.stats()["distinct"] == 3


@pytest.mark.parametrize("asked", ["x", "a b", 'quo"te', "二", "7"])
def test_the_reply_carries_the_id_the_prompt_asks_for(asked: str) -> None:
    """Whatever the prompt calls the sample."""
    text = f"Judge one sample. Its input_id is {json.dumps(asked, ensure_ascii=False)}.\n\nNow."
    with loopback() as judge:
        answer = send(judge, {"model": "mock", "messages": [{"role": "user", "content": text}]})[2]

    assert json.loads(text_of(answer))["id"] == asked


@pytest.mark.parametrize("fault", sorted(FLAGS))
def test_a_bad_reply_earns_exactly_its_flags(fault: Fault) -> None:
    """So that a test of the engine can tell the right flag from the wrong one."""
    with loopback(MockOptions(fault_rate=1, faults=(fault,))) as judge:
        status, _, answer = send(judge, openai_body(a_sample(4)))
        outcome = PROTOCOL.parse(Reply(text_of(answer), "mock"), a_sample(4))

        assert status == 200
        assert isinstance(outcome, InvalidJudgment)
        assert {finding.flag for finding in outcome.findings} == FLAGS[fault]
        assert answer["choices"][0]["finish_reason"] == ("length" if fault is Fault.TRUNCATED else "stop")
        assert (answer["choices"][0]["message"]["refusal"] is not None) == (fault is Fault.REFUSAL)


@pytest.mark.parametrize("fault", [Fault.FENCED, Fault.SLOW_DRIP])
def test_a_harmless_fault_leaves_the_verdict_as_it_was(fault: Fault) -> None:
    """A fence around it, or a slow line."""
    with loopback(MockOptions(fault_rate=1, faults=(fault,), drip_seconds=0.2)) as judge, loopback() as calm:
        started = time.monotonic()
        dripped = PROTOCOL.parse(Reply(text_of(send(judge, openai_body(a_sample(4)))[2]), "mock"), a_sample(4))
        seconds = time.monotonic() - started
        plain = PROTOCOL.parse(Reply(text_of(send(calm, openai_body(a_sample(4)))[2]), "mock"), a_sample(4))

    assert isinstance(dripped, ValidJudgment)
    assert isinstance(plain, ValidJudgment)
    assert dripped.fields == plain.fields
    assert fault is not Fault.SLOW_DRIP or seconds >= 0.15


@pytest.mark.parametrize(
    ("fault", "status", "wire"),
    [
        (Fault.RATE_LIMIT, 429, "openai"),
        (Fault.RATE_LIMIT, 429, "anthropic"),
        (Fault.SERVER_ERROR, 500, "openai"),
        (Fault.SERVER_ERROR, 500, "anthropic"),
        (Fault.DROP, 0, "openai"),
        (Fault.DROP, 0, "anthropic"),
    ],
)
def test_a_failed_call_looks_like_the_real_thing(fault: Fault, status: int, wire: str) -> None:
    """Status, Retry-After, and the error body of its wire format."""
    with loopback(MockOptions(fault_rate=1, faults=(fault,), retry_after_seconds=0.5)) as judge:
        body, path = (
            (openai_body(a_sample(1)), "/v1/chat/completions")
            if wire == "openai"
            else (anthropic_body(a_sample(1)), "/v1/messages")
        )
        got, headers, answer = send(judge, body, path)

        assert got == status
        assert judge.stats()["faults"] == {fault.value: 1}
        if status == 429:
            assert headers["retry-after"] == "0.5"
        if status:
            assert answer["error"]["message"]
            assert ("type" in answer) == (wire == "anthropic")


def faults_of(judge: Loopback, numbers: list[int], times: int) -> dict[int, list[int]]:
    """Statuses in the order of asking, by sample."""
    return {number: [send(judge, openai_body(a_sample(number)))[0] for _ in range(times)] for number in numbers}


def test_faults_do_not_depend_on_the_order_of_requests() -> None:
    """Decided by seed, request and how often it came; a retry may succeed."""
    options = MockOptions(fault_rate=0.5, faults=(Fault.SERVER_ERROR,))
    with loopback(options) as judge:
        forth = faults_of(judge, list(range(12)), 3)
    with loopback(options) as judge:
        back = faults_of(judge, list(range(11, -1, -1)), 3)

    assert forth == back
    assert {status for statuses in forth.values() for status in statuses} == {200, 500}
    assert any(statuses[0] == 500 and 200 in statuses for statuses in forth.values())


def test_the_share_and_the_kinds_of_faults_are_as_asked_for() -> None:
    """A fifth, all kinds."""
    options = MockOptions(fault_rate=0.2, drip_seconds=0.01)
    with loopback(options) as judge:
        for number in range(400):
            send(judge, {"model": "mock", "messages": [{"role": "user", "content": str(number)}]})
        stats = judge.stats()

    assert 50 <= sum(stats["faults"].values()) <= 110
    assert set(stats["faults"]) == {fault.value for fault in Fault}


def test_a_refused_key_is_named_in_the_message() -> None:
    """As careless endpoints do, so that nobody may print such a message as it is."""
    with loopback(MockOptions(refuses_keys=True)) as judge:
        status, _, answer = send(judge, openai_body(a_sample(1)), Authorization="Bearer canary")
        other, _, said = send(judge, anthropic_body(a_sample(1)), "/v1/messages", **{"x-api-key": "canary"})

    assert (status, other) == (401, 401)
    assert answer["error"]["code"] == "invalid_api_key"
    assert "canary" in answer["error"]["message"]
    assert said["error"]["type"] == "authentication_error"


def test_a_schema_can_be_refused() -> None:
    """A 400 that names the parameter; without the schema the same prompt is answered."""
    schema = {"type": "json_schema", "json_schema": {"name": "reply", "schema": {}}}
    with loopback(MockOptions(refuses_schemas=True)) as judge:
        refused = send(judge, {**openai_body(a_sample(1)), "response_format": schema})
        answered = send(judge, openai_body(a_sample(1)))

    assert refused[0] == 400
    assert "response_format" in refused[2]["error"]["message"]
    assert answered[0] == 200


def test_stats_count_and_reset_forgets() -> None:
    """Over HTTP too, for people with curl."""
    with loopback(MockOptions(latency_seconds=0.01)) as judge:
        for number in (1, 1, 2):
            send(judge, openai_body(a_sample(number)))
        stats = get(judge, "/stats")
        send(judge, b"", "/reset")
        after = get(judge, "/stats")

    assert stats == {
        "requests": 3,
        "distinct": 2,
        "repeated": 1,
        "seen": {"1": 1, "2": 1},
        "answered": {"200": 3},
        "abandoned": 0,
        "faults": {},
        "in_flight": 0,
        "max_in_flight": 1,
    }
    assert (after["requests"], after["distinct"]) == (0, 0)


def test_the_log_tells_received_answered_and_abandoned(tmp_path: Path) -> None:
    """What the endpoint saw, for comparing with what the engine says."""
    log = tmp_path / "requests.jsonl"
    with loopback(MockOptions(log=log)) as judge:
        send(judge, openai_body(a_sample(5)))
        judge.hold()
        raw = json.dumps(openai_body(a_sample(6))).encode()
        with socket.create_connection((judge.server.host, judge.server.port)) as impatient:
            impatient.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\nHost: mock\r\nContent-Length: %d\r\n\r\n%s" % (len(raw), raw)
            )
            wait_for(lambda: judge.requests == 2)
        wait_for(lambda: judge.stats()["abandoned"] == 1)
        lines = [json.loads(line) for line in log.read_text().splitlines()]

    assert [(line["event"], line["number"]) for line in lines] == [
        ("received", 1),
        ("answered", 1),
        ("received", 2),
        ("abandoned", 2),
    ]
    assert lines[0]["question"] == "How many, 5?"
    assert (lines[1]["status"], lines[1]["fault"]) == (200, None)
    assert isinstance(lines[1]["is_correct"], bool)


def test_a_full_endpoint_answers_429() -> None:
    """Capacity 1: the second at the same time is sent away at once."""
    with loopback(MockOptions(capacity=1)) as judge:
        judge.hold()
        raw = json.dumps(openai_body(a_sample(6))).encode()
        with socket.create_connection((judge.server.host, judge.server.port)) as first:
            first.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\nHost: mock\r\nContent-Length: %d\r\n\r\n%s" % (len(raw), raw)
            )
            wait_for(lambda: judge.requests == 1)
            status = send(judge, openai_body(a_sample(7)))[0]
            judge.release()
            answered = first.recv(1 << 16)

    assert status == 429
    assert answered.startswith(b"HTTP/1.1 200 ")


def is_listening(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port)).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize("down_seconds", [0.05, math.inf])
def test_it_can_be_down_for_a_while_and_come_back_at_the_same_place(down_seconds: float) -> None:
    """Open connections die, new ones are refused, then all is well."""
    with loopback(MockOptions(down_after_requests=1, down_seconds=down_seconds)) as judge:
        judge.hold()
        first = send(judge, openai_body(a_sample(1)))[0]
        judge.release()
        if down_seconds == math.inf:
            assert not is_listening(judge.server.host, judge.server.port)
            judge.come_back()
        wait_for(lambda: is_listening(judge.server.host, judge.server.port))
        again = send(judge, openai_body(a_sample(1)))[0]

    assert (first, again) == (0, 200)
