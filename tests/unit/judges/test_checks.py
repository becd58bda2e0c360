"""`judges check`: one call, and words that help."""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from tests.cases import each
from tests.unit.judges.loopback import CANARY, Scripted, drops, judge_at, says, serving
from tests.unit.judges.wire_documents import anthropic_error, completion, message, openai_error

from mixseek.domain.ports import Answer, Call
from mixseek.judges.endpoint import check as checks
from mixseek.judges.endpoint.check import CheckResult, check_judge
from mixseek.judges.endpoint.errors import Place, map_exception
from mixseek.judges.keys.redaction import Redaction
from mixseek.presentation.render.tables import as_text
from mixseek.presentation.render.terminal import print_sections
from mixseek.setup.judges import check_sections

OK = '{"ok": true, "shape": "obeyed"}'
UNSHAPED = '{"ok": true}'


def check(*script: Scripted, wire: str = "openai", **settings: Any) -> CheckResult:
    async def run() -> CheckResult:
        async with serving(*script) as endpoint:
            judge = judge_at(endpoint.url, wire, **settings)
            try:
                return await check_judge(judge)
            finally:
                await judge.close()

    return asyncio.run(run())


def test_a_good_judge_is_usable_and_says_what_it_can_do() -> None:
    result = check(says(completion({"content": OK})))

    assert result.is_usable
    assert result.advice == ()
    assert (result.model, result.schema, result.input_tokens) == ("m-2026-01-01", "json_schema", 120)


def test_the_other_wire_format_is_checked_alike() -> None:
    result = check(says(message([{"type": "text", "text": OK}])), wire="anthropic")

    assert (result.problem, result.advice, result.schema) == (None, (), "json_schema")


def shown(result: CheckResult) -> str:
    """As `mixseek judges check` shows it."""
    return as_text(lambda console: print_sections(check_sections("j", result), console))


@pytest.mark.parametrize("text", [UNSHAPED, "ok: true", f"```json\n{OK}\n```", "[]"])
def test_a_response_format_that_is_taken_and_not_obeyed_is_said(text: str) -> None:
    """Gateways drop what they do not know; a model that does as the prompt says is no sign of a schema."""
    ignored = check(says(completion({"content": text})))
    obeyed = check(says(completion({"content": OK})))

    assert (ignored.is_usable, ignored.is_schema_obeyed, obeyed.is_schema_obeyed) == (True, False, True)
    assert any("not obeyed" in remark for remark in ignored.advice)
    assert "schema json_schema (not obeyed)" in shown(ignored)
    assert "schema json_schema (obeyed)" in shown(obeyed)


def test_json_mode_is_obeyed_by_any_object() -> None:
    """It promises no more; and without any, or of a reply that was cut off, there is nothing to say."""
    result = check(NO_FORMAT, says(completion({"content": UNSHAPED})))
    words = check(NO_FORMAT, says(completion({"content": "fine"})))
    without = check(NO_FORMAT, NO_FORMAT, says(completion({"content": "fine"})))
    cut = check(says(completion({"content": OK[:9]}, "length")))

    assert (result.schema, result.is_schema_obeyed, words.is_schema_obeyed) == ("json_object", True, False)
    assert (without.schema, without.is_schema_obeyed, cut.is_schema_obeyed) == ("none", None, None)


NO_FORMAT = says(openai_error("response_format is not supported"), 400)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([NO_FORMAT, NO_FORMAT, says(completion({"content": OK}))], "no JSON mode"),
        ([says(completion({"content": ""}, "length"))], "the reply was empty (finish reason: length)"),
        ([says(completion({"content": '{"o'}, "length"))], "cut off at max_tokens"),
        ([says(completion({"content": None, "refusal": "No."}))], "refused a harmless request"),
        ([says(completion({"content": OK}, usage=None))], "reports no token counts"),
    ],
)
def test_a_judge_that_answers_but_badly_is_usable_with_a_remark(script: list[Scripted], words: str) -> None:
    result = check(*script)

    assert result.is_usable
    assert any(words in remark for remark in result.advice)


def test_a_slow_judge_is_usable_with_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "SLOW_SECONDS", 0.0)

    assert "slow" in check(says(completion({"content": OK}))).advice[0]


UNKNOWN_MODEL = says(openai_error("The model `m` does not exist", code="model_not_found"), 404)
LIST = {"object": "list", "data": [{"id": "m-large", "object": "model"}, {"id": "other"}]}


@each(
    ("script", "words"),
    [
        ([UNKNOWN_MODEL, says(LIST)], "model 'm' is not served there; available: m-large, other"),
        ([UNKNOWN_MODEL, says({"data": []})], "lists no models"),
        ([UNKNOWN_MODEL, says({"data": [{"id": "m"}]})], "the model is listed there, so the path may be wrong"),
        ([says(b"<html>", 404), says(b"<html>", 404)], "no list of models could be had either"),
        ([UNKNOWN_MODEL, says({"data": [{"id": f"n{i:02}"} for i in range(40)]})], " and 28 more"),
        ([says(openai_error(f"Incorrect API key provided: {CANARY}"), 401)], "the key was refused or is missing"),
        ([says(openai_error("no access"), 403)], "not allowed to do this"),
        ([says(openai_error("You exceeded your current quota"), 429)], "no credit left"),
        ([says(openai_error("slow down"), 429)], "limits its rate"),
        ([says(openai_error("boom"), 500)], "up but failing"),
        ([says(openai_error("bad value", param="temperature"), 400)], "remove the parameter that it names"),
        ([drops], "closed the connection"),
        ([says(b"hello")], "check that the base URL is that of the API"),
        ([says(anthropic_error("x", "y"), 308, {"Location": "/"})], "refuses the request"),
    ],
)
def test_a_failure_comes_with_what_to_do(script: list[Scripted], words: str) -> None:
    result = check(*script)

    assert not result.is_usable
    assert any(words in advice for advice in result.advice), result.advice
    assert "canary" not in repr(result)


def test_a_timeout_says_so() -> None:
    async def never(request: Any) -> Any:
        await asyncio.Event().wait()

    assert "no answer in time" in check(never, timeout_seconds=0.2).advice[0]


class FailingJudge:
    """A judge whose connection fails in a way that loopback cannot stage."""

    name = "openai:m"
    endpoint = "https://api.x"
    fingerprint = "f"
    description: Mapping[str, Any] = {}

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def call(self, call: Call) -> Answer:
        raise map_exception(self.error, Place(self.name, self.endpoint, Redaction([])), 1.0) from self.error

    async def close(self) -> None:
        return None


_KEY = ConnectionKey("api.x", 443, True, True, None, None, None)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (aiohttp.ClientConnectorDNSError(_KEY, OSError(-2, "Name or service not known")), "DNS: the host name"),
        (
            aiohttp.ClientConnectorCertificateError(_KEY, ssl.SSLCertVerificationError(1, "self-signed")),
            "TLS: the certificate is not trusted",
        ),
        (aiohttp.ClientConnectorSSLError(_KEY, ssl.SSLError(1, "wrong version number")), "TLS: the handshake failed"),
        (aiohttp.ClientConnectorError(_KEY, ConnectionRefusedError(111, "refused")), "nothing listens there"),
    ],
)
def test_the_network_is_explained(error: Exception, words: str) -> None:
    result = asyncio.run(check_judge(FailingJudge(error)))

    assert result.problem is not None
    assert words in result.advice[0]
