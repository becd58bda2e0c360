"""A judge behind an endpoint that misbehaves, refuses parameters, or is shared by many calls."""

import asyncio
import gzip
import time
from typing import Any, Literal

import aiohttp
import orjson
import pytest
from tests.unit.judges.loopback import (
    CALL,
    CANARY,
    Loopback,
    Scripted,
    ask,
    breaks_off,
    drips,
    drops,
    judge_at,
    says,
    serving,
)
from tests.unit.judges.wire_documents import TEXT, completion, message, openai_error

from mixseek.domain.ports import Answer
from mixseek.errors import ConfigurationError, PermanentJudgeError, TransientJudgeError
from mixseek.judges.endpoint import connection
from mixseek.judges.endpoint import judge as endpoint_judge
from mixseek.judges.endpoint.address import resolve_target
from mixseek.judges.endpoint.judge import EndpointJudge
from mixseek.settings.models import JudgeSettings, WireFormat

WIRES = ["openai", "anthropic"]
GOOD: dict[str, Any] = {
    "openai": completion({"content": TEXT}),
    "anthropic": message([{"type": "text", "text": TEXT}]),
}


def run_script(*script: Scripted, wire: str = "openai", **settings: Any) -> tuple[Answer, list[Any]]:
    async def run() -> tuple[Answer, list[Any]]:
        async with serving(*script) as endpoint:
            answer = await ask(judge_at(endpoint.url, wire, **settings))
            return answer, [orjson.loads(body) if isinstance(body, bytes) else body for body in endpoint.bodies]

    return asyncio.run(run())


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("drop", "the connection was dropped before an answer came"),
        ("break", "the answer broke off"),
        ("drip", "no complete answer within 0.3 s"),
    ],
)
def test_a_connection_that_fails_is_worth_another_try(wire: str, fault: str, words: str) -> None:
    body = orjson.dumps(GOOD[wire])
    script = {"drop": drops, "break": breaks_off(body, 40), "drip": drips(body, 60.0)}[fault]

    # Only the last one is to run out of time; a busy machine must not let the others do so.
    seconds = 0.3 if fault == "drip" else 30.0
    with pytest.raises(TransientJudgeError) as caught:
        run_script(script, wire=wire, timeout_seconds=seconds)

    assert words in str(caught.value)
    assert not caught.value.is_overload


def test_nobody_listening_is_worth_another_try() -> None:
    async def run() -> Answer:
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        return await ask(judge_at(f"http://127.0.0.1:{port}"))

    with pytest.raises(TransientJudgeError, match=r"cannot connect \(Connection refused\)"):
        asyncio.run(run())


def test_speaking_tls_to_a_plain_port_is_named() -> None:
    async def run() -> Answer:
        async with serving(says(GOOD["openai"])) as endpoint:
            return await ask(judge_at(endpoint.url.replace("http:", "https:")))

    with pytest.raises(TransientJudgeError, match="TLS failed"):
        asyncio.run(run())


@pytest.mark.parametrize("wire", WIRES)
def test_too_many_requests_carries_the_wait(wire: str) -> None:
    with pytest.raises(TransientJudgeError) as caught:
        run_script(says(openai_error("slow down"), 429, {"Retry-After": "2"}), wire=wire)

    assert caught.value.is_overload
    assert caught.value.retry_after_seconds == 2.0


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_BODY_BYTES", 1000)

    with pytest.raises(TransientJudgeError, match="the answer broke off"):
        run_script(says(b" " * 5000))


UNSUPPORTED_FORMAT = says(
    openai_error(
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported.", param="response_format"
    ),
    400,
)
NO_JSON_WORD = says(openai_error("'messages' must contain the word 'json' in some form", param="messages"), 400)


def test_structured_output_steps_down_from_schema_to_object_to_none() -> None:
    answer, bodies = run_script(UNSUPPORTED_FORMAT, NO_JSON_WORD, says(GOOD["openai"]))

    assert [body.get("response_format", {}).get("type") for body in bodies] == ["json_schema", "json_object", None]
    assert (answer.reply.details["schema"], answer.reply.details["requests"]) == ("none", 3)


def test_what_was_learnt_is_remembered_for_the_next_call() -> None:
    async def run() -> list[Any]:
        async with serving(UNSUPPORTED_FORMAT, says(GOOD["openai"])) as endpoint:
            judge = judge_at(endpoint.url)
            await judge.call(CALL)
            await ask(judge)
            return [orjson.loads(body)["response_format"]["type"] for body in endpoint.bodies]

    assert asyncio.run(run()) == ["json_schema", "json_object", "json_object"]


def test_many_calls_refused_at_once_step_down_only_once() -> None:
    """Each of them was put in the old way; none may take the new way for refused."""

    async def run() -> list[str]:
        async with serving(*[UNSUPPORTED_FORMAT] * 20, says(GOOD["openai"])) as endpoint:
            judge = judge_at(endpoint.url)
            answers = await asyncio.gather(*[judge.call(CALL) for _ in range(20)])
            await judge.close()
            return [answer.reply.details["schema"] for answer in answers]

    assert set(asyncio.run(run())) == {"json_object"}


def test_the_users_own_response_format_is_never_taken_back() -> None:
    with pytest.raises(PermanentJudgeError) as caught:
        run_script(UNSUPPORTED_FORMAT, body={"response_format": {"type": "json_schema"}})

    assert caught.value.concerns_everything


WANTS_OTHER_NAME = says(
    openai_error(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        param="max_tokens",
        code="unsupported_parameter",
    ),
    400,
)


def test_the_token_limit_goes_by_the_name_that_the_model_demands() -> None:
    _, bodies = run_script(WANTS_OTHER_NAME, says(GOOD["openai"]), max_tokens=77)

    assert [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in bodies] == [(77, None), (None, 77)]


def test_a_limit_that_is_too_large_is_not_renamed() -> None:
    too_large = says(openai_error("max_tokens is too large: 9. This model supports at most 8", param="max_tokens"), 400)

    with pytest.raises(PermanentJudgeError) as caught:
        run_script(too_large, says(GOOD["openai"]), max_tokens=9)

    assert caught.value.concerns_everything


def test_an_endpoint_that_refuses_every_way_is_left_after_four_requests() -> None:
    confused = says(openai_error("response_format, max_tokens, max_completion_tokens: unsupported"), 400)

    async def run() -> int:
        async with serving(confused) as endpoint:
            with pytest.raises(PermanentJudgeError):
                await ask(judge_at(endpoint.url, max_tokens=5))
            return len(endpoint.paths)

    assert asyncio.run(run()) <= 4


def test_a_judge_can_be_used_again_after_being_closed() -> None:
    async def run() -> str:
        async with serving(says(GOOD["openai"])) as endpoint:
            judge = judge_at(endpoint.url)
            await ask(judge)
            return (await ask(judge)).reply.text

    assert asyncio.run(run()) == TEXT


def test_a_packed_answer_is_unpacked_and_bounded_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = says(gzip.compress(orjson.dumps(GOOD["openai"])), headers={"Content-Encoding": "gzip"})
    bomb = says(gzip.compress(b" " * 5_000_000), headers={"Content-Encoding": "gzip"})

    assert run_script(packed)[0].reply.text == TEXT
    monkeypatch.setattr(connection, "MAX_BODY_BYTES", 1_000_000)
    with pytest.raises(TransientJudgeError, match="the answer broke off"):
        run_script(bomb)


def test_many_calls_travel_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing queues inside the client: none of 300 calls is answered before all of them are there."""
    # Who connects and who accepts take turns in one thread here, which a busy machine may hold up for long.
    monkeypatch.setattr(endpoint_judge, "CONNECT_TIMEOUT_SECONDS", 600.0)
    calls, arrived = 300, 0

    async def run() -> None:
        are_there = asyncio.Event()

        async def answer_together(request: Any) -> Any:
            nonlocal arrived
            arrived += 1
            if arrived == calls:
                are_there.set()
            await are_there.wait()
            return await says(GOOD["openai"])(request)

        async with serving(answer_together) as endpoint:
            judge = judge_at(endpoint.url, timeout_seconds=60.0)
            await asyncio.gather(*[judge.call(CALL) for _ in range(calls)])
            await judge.close()

    asyncio.run(run())
    assert arrived == calls


async def is_asked(endpoint: Loopback, times: int = 1) -> None:
    """Until the endpoint has so many requests, of which it has not answered the last."""
    while len(endpoint.paths) < times:
        await asyncio.sleep(0.001)


def test_a_cancelled_call_is_cancelled_and_nothing_else() -> None:
    async def run() -> None:
        async with serving(drips(b" " * 100, 60.0)) as endpoint:
            judge = judge_at(endpoint.url)
            task = asyncio.create_task(judge.call(CALL))
            await is_asked(endpoint)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await judge.close()

    asyncio.run(run())


@pytest.mark.parametrize("wire", WIRES)
def test_a_redirect_never_carries_the_key_away(wire: str) -> None:
    async def run() -> int:
        async with serving(says(b"", 307, {"Location": "/elsewhere"})) as endpoint:
            with pytest.raises(PermanentJudgeError):
                await ask(judge_at(endpoint.url, wire))
            return len(endpoint.paths)

    assert asyncio.run(run()) == 1


@pytest.mark.parametrize("wire", WIRES)
def test_a_key_that_the_endpoint_echoes_reaches_neither_reply_nor_error(wire: str) -> None:
    echo = {
        "openai": completion({"content": f"key {CANARY}"}),
        "anthropic": message([{"type": "text", "text": f"key {CANARY}"}]),
    }[wire]
    answer, _ = run_script(says(echo), wire=wire)
    with pytest.raises(TransientJudgeError) as caught:
        run_script(says(f"<p>{CANARY}".encode()), wire=wire)

    assert answer.reply.text == "key [key]"
    assert answer.reply.details["masked_keys_in"] == ["text"]
    assert "canary" not in repr(answer) + str(caught.value)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("header", ["x-request-id", "request-id", "apim-request-id"])
def test_a_key_in_a_header_of_the_answer_is_not_kept(wire: str, header: str) -> None:
    answer, _ = run_script(says(GOOD[wire], headers={header: f"req {CANARY}"}), wire=wire)

    assert answer.reply.details["request_id"] == answer.request_id == "req [key]"
    assert answer.reply.details["masked_keys_in"] == ["request_id"]
    assert "canary" not in repr(answer)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("wire", WIRES)
def test_a_key_that_is_spelt_with_escapes_is_not_kept(wire: str, depth: int) -> None:
    """An escape of the answer, and of the JSON in its text: whoever reads the reply decodes both."""
    spelt = "".join(f"\\u{ord(letter):04x}" for letter in CANARY)
    for _ in range(depth - 1):
        spelt = spelt.replace("\\", "\\\\")
    body = orjson.dumps(GOOD[wire]).replace(orjson.dumps(TEXT)[1:-1], f"so {spelt}".encode())
    answer, _ = run_script(says(body), wire=wire)

    assert answer.reply.text.replace("\\", "") == "so [key]"
    assert answer.reply.details["masked_keys_in"] == ["text"]


def test_replies_without_a_key_say_nothing_of_one() -> None:
    assert "masked_keys_in" not in run_script(says(GOOD["openai"]))[0].reply.details


@pytest.mark.parametrize("body", [b"a" * 5_000_000, b'{"error": {"message": "' + b"a-" * 2_500_000 + b'"}}'])
def test_an_error_of_megabytes_costs_no_more_than_its_first_words(body: bytes) -> None:
    begun = time.process_time()
    with pytest.raises(TransientJudgeError, match="answered 500: a"):
        run_script(says(body, 500))

    assert time.process_time() - begun < 10


@pytest.mark.parametrize("wire", WIRES)
def test_a_judge_shows_no_credential_anywhere(wire: Literal["openai", "anthropic"]) -> None:
    settings = JudgeSettings(
        model="m",
        wire=WireFormat.OPENAI if wire == "openai" else WireFormat.ANTHROPIC,
        base_url="http://127.0.0.1:1/v1",
        api_key_env="K",
        headers={"Authorization": "$A", "X-Api-Key": "$K", "X-Team": "a", "X-Session": "$S"},
        body={"token": "</s>", "nested": {"secret": 1, "n": 1}, "max_new_tokens": 3},
    )
    environment = {"K": CANARY, "S": "session-canary-1", "A": f"Bearer {CANARY}"}
    judge = EndpointJudge(resolve_target("j", {"j": settings}, environment), environment)
    shown = [repr(judge), str(judge), repr(judge.target), repr(settings), repr(vars(judge)["_redaction"])]

    assert "canary" not in " ".join([*shown, repr(judge.description), judge.fingerprint, repr(judge.target.key)])
    assert judge.description["headers"] == {"X-Team": "a", "X-Session": "$S"}
    assert judge.description["body"] == {"nested": {"n": 1}, "max_new_tokens": 3}


def fingerprint(**settings: Any) -> str:
    return judge_at(settings.pop("url", "http://127.0.0.1:1/v1"), **settings).fingerprint


def test_the_fingerprint_changes_with_all_that_decides_a_reply_and_with_nothing_else() -> None:
    different: list[dict[str, Any]] = [
        {},
        {"model": "n"},
        {"wire": "anthropic"},
        {"url": "http://127.0.0.1:2/v1"},
        {"temperature": 0.0},
        {"top_p": 0.5},
        {"max_tokens": 5},
        {"seed": 1},
        {"body": {"a": 1}},
        {"body": {"stop_token": "x"}},
        {"headers": {"anthropic-beta": "b"}},
    ]
    same: list[dict[str, Any]] = [
        {"rpm": 5},
        {"timeout_seconds": 3.0},
        {"price_input": 1.0},
        {"headers": {"api-key": "$K"}},
    ]

    assert len({fingerprint(**settings) for settings in different}) == len(different)
    assert {fingerprint(**settings) for settings in same} == {fingerprint()}


def test_a_header_from_an_unset_variable_is_refused_before_the_run() -> None:
    with pytest.raises(ConfigurationError, match="header X-A needs the environment variable NOT_SET"):
        judge_at("http://127.0.0.1:1", headers={"X-A": "$NOT_SET"})


def test_no_session_is_left_behind() -> None:
    async def run() -> bool:
        async with serving(says(GOOD["openai"])) as endpoint:
            judge = judge_at(endpoint.url)
            await judge.call(CALL)
            session = judge._session
            await judge.close()
            return session is not None and session.closed and judge._session is None

    assert asyncio.run(run())


def test_a_judge_that_was_closed_in_one_loop_may_be_asked_in_another() -> None:
    """With connections and time limits of the loop that it is asked in."""
    judge = judge_at("http://127.0.0.1:1")

    async def run() -> str:
        async with serving(says(GOOD["openai"])) as endpoint:
            judge._url = judge_at(endpoint.url)._url
            return (await ask(judge)).reply.text

    assert [asyncio.run(run()), asyncio.run(run())] == [TEXT, TEXT]


def test_who_is_cancelled_stays_cancelled_and_who_is_late_goes_on() -> None:
    """A time limit ends one call of a task, and not the task."""

    async def run() -> tuple[list[str], int, bool]:
        async with serving(drips(b"{}" * 50, 0.05)) as endpoint:
            late = []
            judge = judge_at(endpoint.url, timeout_seconds=0.1)
            for _ in range(2):
                with pytest.raises(TransientJudgeError) as caught:
                    await judge.call(CALL)
                late.append(str(caught.value).partition(": ")[2])
            await judge.close()
            patient = judge_at(endpoint.url)
            task = asyncio.create_task(patient.call(CALL))
            await is_asked(endpoint, times=3)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await patient.close()
            current = asyncio.current_task()
            assert current is not None
            return late, current.cancelling(), task.cancelled()

    assert asyncio.run(run()) == (["no complete answer within 0.1 s"] * 2, 0, True)


@pytest.mark.parametrize(
    ("url", "environment", "proxy"),
    [
        ("https://api.x/v1", {}, None),
        ("https://api.x/v1", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://api.x/v1", {"https_proxy": "http://p:1", "NO_PROXY": "y, .api.x"}, None),
        ("https://api.x/v1", {"ALL_PROXY": "http://p:2"}, "http://p:2"),
        ("http://api.x/v1", {"HTTPS_PROXY": "http://p:1"}, None),
        ("http://127.0.0.1:8000", {"HTTP_PROXY": "http://p:1", "no_proxy": "127.0.0.1"}, None),
        ("https://api.x/v1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
    ],
)
def test_the_environments_proxy_is_found(url: str, environment: dict[str, str], proxy: str | None) -> None:
    assert connection.proxy_for(url, environment) == proxy


def test_proxies_are_obeyed_only_when_asked() -> None:
    environment = {"HTTP_PROXY": "http://user:proxy-canary@127.0.0.1:9", "K": CANARY}
    judges = []
    for use_proxy in (False, True):
        settings = JudgeSettings(
            model="m", base_url="http://127.0.0.1:1", api_key_env="K", use_proxy=use_proxy, timeout_seconds=2
        )
        judges.append(EndpointJudge(resolve_target("j", {"j": settings}, environment), environment))

    async def run() -> str:
        with pytest.raises(TransientJudgeError) as caught:
            await ask(judges[1])
        return str(caught.value)

    assert [judge._proxy for judge in judges] == [None, environment["HTTP_PROXY"]]
    assert "canary" not in asyncio.run(run())


def test_the_pool_takes_as_many_connections_as_the_engine_allows() -> None:
    async def run() -> Any:
        session = connection.open_session()
        connector = session.connector
        await session.close()
        return connector

    connector = asyncio.run(run())

    assert isinstance(connector, aiohttp.TCPConnector)
    assert connector.limit == 0


LOGIN = b"<!DOCTYPE html><html><head><title>Log in</title></head><body><form>\xe2\x80\xa6</form></body></html>"


def test_a_page_for_browsers_is_called_one() -> None:
    with pytest.raises(TransientJudgeError) as caught:
        run_script(says(LOGIN, headers={"Content-Type": "text/html; charset=utf-8"}))

    assert "answered with a page for browsers (Log in), which no API does: the path may be" in str(caught.value)


@pytest.mark.parametrize("status", [404, 405])
def test_a_wrong_path_or_model_is_refused_with_the_words_of_a_check(status: int) -> None:
    """Whoever judges without a check before gets the same help; however many calls meet it, it is looked up once."""

    async def run() -> tuple[set[str], list[str]]:
        async def answer(request: Any) -> Any:
            if request.path.endswith("/models"):
                return await says({"data": [{"id": "m-large"}]})(request)
            return await says(openai_error("Not Found"), status)(request)

        async with serving(answer) as endpoint:
            judge = judge_at(f"{endpoint.url}/api")
            failed = await asyncio.gather(*(judge.call(CALL) for _ in range(5)), return_exceptions=True)
            await judge.close()
            assert all(isinstance(error, PermanentJudgeError) and error.concerns_everything for error in failed)
            return set(map(str, failed)), endpoint.paths

    words, paths = asyncio.run(run())

    assert [line.partition(": ")[2] for line in words] == [
        f"answered {status}: Not Found; model 'm' is not served there; available: m-large"
    ]
    assert paths.count("/api/models") == 1
