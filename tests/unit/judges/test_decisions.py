"""Decision endpoints against a real server: what is asked, what comes back, and what their settings may say."""

import asyncio
from dataclasses import replace
from typing import Any

import orjson
import pytest
from tests.unit.judges.loopback import CALL, CANARY, Loopback, Scripted, judge_at, says, serving

from mixseek.domain.decisions import DECISION_API, AnswerOption, DecisionQuestion, QuestionKind
from mixseek.domain.ports import Answer, Usage
from mixseek.errors import ConfigurationError, PermanentJudgeError, TransientJudgeError
from mixseek.judges.endpoint.address import resolve_target
from mixseek.judges.endpoint.judge import EndpointJudge
from mixseek.judges.specs import make_live_judge
from mixseek.settings.models import JudgeSettings, WireFormat

QUESTIONS = (
    DecisionQuestion("ok", QuestionKind.PREDICATE, "Is it so?", (AnswerOption("true", "Yes."), AnswerOption("false"))),
    DecisionQuestion("side", QuestionKind.CHOICE, "Which?", (AnswerOption("A", "The first."), AnswerOption("B"))),
    DecisionQuestion("tone", QuestionKind.LEVELS, "How kind?", (AnswerOption("0", "Rude."), AnswerOption("1"))),
)
ASKED = replace(CALL, questions=QUESTIONS)
BODY = b'{"model": "d-1", "answers": [{"name": "ok", "probability": NaN}], "usage": {"input_tokens": 9}}'


def ask(script: Scripted, api: str = "decisions") -> tuple[Answer, Loopback]:
    async def run() -> tuple[Answer, Loopback]:
        async with serving(script) as endpoint:
            judge = judge_at(f"{endpoint.url}/v1", wire=None, api=api)
            try:
                return await judge.call(ASKED), endpoint
            finally:
                await judge.close()

    return asyncio.run(run())


def test_openai_gets_a_list_of_questions_about_one_text() -> None:
    """The system's words and the user's, one after the other; the judged text stays in its fence in it."""
    _, endpoint = ask(says({"answers": []}))

    assert endpoint.paths == ["/v1/decisions"]
    assert endpoint.headers[0]["Authorization"] == f"Bearer {CANARY}"
    assert orjson.loads(endpoint.bodies[0]) == {
        "model": "m",
        "input": "\n\n".join(message.content for message in CALL.messages),
        "questions": [
            {"type": "predicate", "name": "ok", "instructions": "Is it so? true: Yes."},
            {
                "type": "choice",
                "name": "side",
                "instructions": "Which?",
                "choices": [{"value": "A", "description": "The first."}, {"value": "B"}],
            },
            {
                "type": "score",
                "name": "tone",
                "instructions": "How kind?",
                "levels": [{"label": "0", "description": "Rude."}, {"label": "1"}],
            },
        ],
    }


def test_systemone_gets_a_state_and_questions_by_name() -> None:
    """Levels are known by their places there."""
    _, endpoint = ask(says({"answers": {}}), "systemone")

    assert endpoint.paths == ["/v1/systemone"]
    assert orjson.loads(endpoint.bodies[0]) == {
        "model": "m",
        "state": "\n\n".join(message.content for message in CALL.messages),
        "questions": {
            "ok": {"type": "noul", "instructions": "Is it so?", "criteria": {"true": "Yes.", "false": "false"}},
            "side": {"type": "choice", "instructions": "Which?", "criteria": {"A": "The first.", "B": "B"}},
            "tone": {"type": "score", "instructions": "How kind?", "criteria": ["0: Rude.", "1"]},
        },
    }


def test_the_answer_is_kept_to_the_letter() -> None:
    """Whatever is wrong with it; the protocol says so."""
    answer, _ = ask(says(BODY))

    assert answer.reply.text == BODY.decode()
    assert answer.reply.details[DECISION_API] == "decisions"
    assert answer.usage == Usage(9, None, None)
    assert answer.model == "d-1"


def test_an_error_with_200_is_a_reply_and_one_that_names_its_status_is_that() -> None:
    """As gateways wrap what their upstream said."""
    answer, _ = ask(says({"error": {"message": "no decision"}}))
    with pytest.raises(TransientJudgeError, match="slow down"):
        ask(says({"error": {"message": "slow down", "code": 429}}))
    with pytest.raises(PermanentJudgeError, match="not served"):
        ask(says({"error": {"message": "model is not served"}}, 404))

    assert orjson.loads(answer.reply.text) == {"error": {"message": "no decision"}}


def test_what_has_no_questions_is_not_sent() -> None:
    """A metric of a competition, an answer to a question: nothing that a decision endpoint could do."""

    async def run() -> int:
        async with serving(says({"answers": []})) as endpoint:
            judge = judge_at(f"{endpoint.url}/v1", wire=None, api="decisions")
            with pytest.raises(PermanentJudgeError, match="name a judge that writes") as raised:
                await judge.call(CALL)
            assert raised.value.concerns_everything
            await judge.close()
            return len(endpoint.bodies)

    assert asyncio.run(run()) == 0


TABLE = {"local": JudgeSettings(model="d", base_url="http://localhost:1/v1")}


@pytest.mark.parametrize(
    ("spec", "settings", "wire", "url"),
    [
        ("decisions:openai:gpt-decide", {}, WireFormat.DECISIONS, "https://api.openai.com/v1"),
        ("decisions:openai:d@http://localhost:9/v1", {}, WireFormat.DECISIONS, "http://localhost:9/v1"),
        ("decisions:local", {}, WireFormat.DECISIONS, "http://localhost:1/v1"),
        ("decisions:local", {"api": "systemone"}, WireFormat.SYSTEMONE, "http://localhost:1/v1"),
        ("local", {"api": "systemone"}, WireFormat.SYSTEMONE, "http://localhost:1/v1"),
        ("local", {}, WireFormat.OPENAI, "http://localhost:1/v1"),
    ],
)
def test_a_spec_or_a_table_says_that_it_decides(spec: str, settings: Any, wire: WireFormat, url: str) -> None:
    """And its name in journal and reports is what the user wrote."""
    configured = {"local": JudgeSettings(model="d", base_url="http://localhost:1/v1", **settings)}
    judge = make_live_judge(spec, configured, {"OPENAI_API_KEY": "sk-1234567890abcdef"})
    assert isinstance(judge, EndpointJudge)

    assert (judge.target.wire, judge.target.base_url, judge.name) == (wire, url, spec)
    assert judge.asks_questions == (wire is not WireFormat.OPENAI)


@pytest.mark.parametrize(
    "given",
    [{"temperature": 0.0}, {"max_tokens": 5}, {"logprobs": True}, {"system": "Be kind."}, {"wire": "openai"}],
)
def test_what_only_a_writer_has_is_refused(given: Any) -> None:
    """A setting that means nothing would be believed to do something."""
    settings = JudgeSettings(model="d", base_url="http://localhost:1/v1", api=WireFormat.DECISIONS, **given)
    with pytest.raises(ConfigurationError, match=f"{next(iter(given))} means nothing"):
        resolve_target("local", {"local": settings}, {})


@pytest.mark.parametrize("key", ["input", "state", "questions", "model"])
def test_the_questions_are_ours_to_name(key: str) -> None:
    settings = JudgeSettings(model="d", base_url="http://localhost:1/v1", api=WireFormat.DECISIONS, body={key: "x"})
    with pytest.raises(ConfigurationError, match=f"body cannot hold '{key}'"):
        resolve_target("local", {"local": settings}, {})


def test_other_words_for_the_questions_are_another_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked in other words is asked again; a judge that writes is not asked them."""
    decider, writer = (
        [judge_at("http://localhost:1/v1", wire=None, **given).fingerprint for _ in (1, 2)]
        for given in ({"api": "decisions"}, {})
    )
    monkeypatch.setattr("mixseek.judges.endpoint.judge.digest_of_usual_words", lambda: "other words")

    assert judge_at("http://localhost:1/v1", wire=None, api="decisions").fingerprint not in decider
    assert judge_at("http://localhost:1/v1", wire=None).fingerprint in writer


def test_another_interface_is_another_judge() -> None:
    """Replies of one are never taken for the other's."""
    prints = {
        judge_at("http://localhost:1/v1", wire=None, **({"api": api} if api else {})).fingerprint
        for api in (None, "decisions", "systemone")
    }

    assert len(prints) == 3
