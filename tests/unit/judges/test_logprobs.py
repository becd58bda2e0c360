"""Endpoints that give token probabilities, fewer than asked for, or none: each is learnt once and told once."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest
from tests.unit.judges.loopback import CALL, Loopback, Scripted, judge_at, says, serving
from tests.unit.judges.wire_documents import completion, message, openai_error
from tests.unit.protocols.token_lists import Piece, text_of, token_list

from mixseek.domain.ports import Answer
from mixseek.errors import ConfigurationError
from mixseek.judges.endpoint.logprobs import NO_FIELDS, NO_TOKENS
from mixseek.judges.endpoint.refusals import Refusal

PIECES: list[Piece] = ['{"is_correct":', (" true", {" true": 0.75, " false": 0.25}), "}"]
ASKING = replace(CALL, verdict_fields=(("is_correct",),))


def with_tokens() -> Scripted:
    document = completion({"content": text_of(PIECES)})
    document["choices"][0]["logprobs"] = {"content": token_list(PIECES), "refusal": None}
    return says(document)


WITHOUT = says(completion({"content": text_of(PIECES)}))


def asked(script: Sequence[Scripted], calls: int = 1, **settings: Any) -> tuple[list[Answer], list[Any], list[str]]:
    """The answers, what was sent, and what was told."""

    async def run() -> tuple[list[Answer], Loopback, list[str]]:
        notes: list[str] = []
        async with serving(*script) as endpoint:
            judge = judge_at(f"{endpoint.url}/v1", **settings)
            judge.tell_to(notes.append)
            answers = [await judge.call(ASKING) for _ in range(calls)]
            await judge.close()
            return answers, endpoint, notes

    answers, endpoint, notes = asyncio.run(run())
    return answers, [orjson.loads(body) if isinstance(body, bytes) else body for body in endpoint.bodies], notes


def kept(answer: Answer) -> Any:
    return answer.reply.details.get("logprobs")


def test_what_the_verdict_is_read_from_is_kept_with_the_reply() -> None:
    """Asked for where the settings say so, with the most that any host allows; nothing is told where all is well."""
    (answer,), (body,), notes = asked([with_tokens()], logprobs=True)

    assert (body["logprobs"], body["top_logprobs"]) == (True, 5)
    assert list(kept(answer)["fields"]) == ["is_correct"]
    assert kept(answer)["fields"]["is_correct"]["tokens"][0][0] == " true"
    assert notes == []


def test_nobody_asks_unless_told_to() -> None:
    """Neither in the request nor in the reply, nor in what names the judge: its replies stay where they were cached."""
    (answer,), (body,), notes = asked([with_tokens()])
    choices: list[dict[str, Any]] = [{}, {"logprobs": False}, {"logprobs": True}]
    plain, off, on = (judge_at("http://localhost:1/v1", **given) for given in choices)

    assert "logprobs" not in body
    assert kept(answer) is None
    assert notes == []
    assert plain.fingerprint == off.fingerprint
    assert plain.description == off.description
    assert on.fingerprint != off.fingerprint


def test_where_the_verdict_stands_in_no_field_nobody_asks_and_the_reply_says_so() -> None:
    """A protocol that cuts a response into claims, or an answer to a question."""

    async def run() -> tuple[Answer, Any]:
        async with serving(with_tokens()) as endpoint:
            judge = judge_at(f"{endpoint.url}/v1", logprobs=True)
            answer = await judge.call(CALL)
            await judge.close()
            return answer, endpoint.bodies[0]

    answer, body = asyncio.run(run())

    assert b"logprobs" not in (body if isinstance(body, bytes) else orjson.dumps(body))
    assert kept(answer) == {"problem": NO_FIELDS}


REFUSED = says(openai_error("'logprobs' is not supported with this model.", param="logprobs"), 400)
TOO_MANY = says(openai_error("Invalid 'top_logprobs': expected a value <= 5, but got 20.", param="top_logprobs"), 400)


def test_a_refusal_is_learnt_once_and_told_once() -> None:
    """Later requests do not ask; the replies say why they have none."""
    answers, bodies, notes = asked([REFUSED, WITHOUT], calls=3, logprobs=True)

    assert ["logprobs" in body for body in bodies] == [True, False, False, False]
    assert [kept(answer) for answer in answers] == [{"problem": NO_TOKENS}] * 3
    assert notes == ["gives no token probabilities (logprobs): it judges without, and without a confidence from them"]


def test_a_reply_without_them_is_learnt_once_and_told_once() -> None:
    """An endpoint may pass over what it does not know."""
    answers, bodies, notes = asked([WITHOUT], calls=3, logprobs=True)

    assert ["logprobs" in body for body in bodies] == [True, False, False]
    assert [kept(answer) for answer in answers] == [{"problem": NO_TOKENS}] * 3
    assert len(notes) == 1


def test_fewer_alternatives_are_asked_for_where_the_refusal_says_how_many() -> None:
    """Once; and told."""
    answers, bodies, notes = asked([TOO_MANY, with_tokens()], calls=2, logprobs=True, top_logprobs=20)

    assert [body["top_logprobs"] for body in bodies] == [20, 5, 5]
    assert all("fields" in kept(answer) for answer in answers)
    assert notes == ["gives at most 5 alternatives of a token, not 20: top_logprobs is 5 from now on"]


def test_an_endpoint_that_refuses_what_it_allowed_is_asked_without() -> None:
    """Nobody goes round in circles."""
    answers, bodies, notes = asked([TOO_MANY, TOO_MANY, WITHOUT], calls=2, logprobs=True, top_logprobs=20)

    assert [body.get("top_logprobs") for body in bodies] == [20, 5, None, None]
    assert [kept(answer) for answer in answers] == [{"problem": NO_TOKENS}] * 2
    assert len(notes) == 2


def test_a_refusal_in_words_has_its_tokens_elsewhere() -> None:
    """It says nothing of what the endpoint can."""
    refusal = says(completion({"content": None, "refusal": "I cannot judge this."}))
    _, bodies, notes = asked([refusal, with_tokens()], calls=2, logprobs=True)

    assert ["logprobs" in body for body in bodies] == [True, True]
    assert notes == []


def test_anthropic_has_none_and_says_so() -> None:
    """Nothing is sent that it would refuse."""
    text = [{"type": "text", "text": text_of(PIECES)}]
    answers, bodies, notes = asked([says(message(text))], calls=2, wire="anthropic", logprobs=True)

    assert not any("logprobs" in body for body in bodies)
    assert [kept(answer) for answer in answers] == [{"problem": NO_TOKENS}] * 2
    assert len(notes) == 1


def test_how_many_alternatives_without_any_is_a_contradiction() -> None:
    with pytest.raises(ConfigurationError, match="top_logprobs is for judges with logprobs = true"):
        judge_at("http://localhost:1/v1", top_logprobs=5)


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ("Invalid value for 'top_logprobs': must be less than or equal to 20.", 20),
        ("Invalid 'top_logprobs': integer above maximum value. Expected a value <= 20, but got 25 instead.", 20),
        ("Requested sample logprobs of 30, which is greater than max allowed: 20", 20),
        ("top_logprobs must be between 0 and 8", 8),
        ("top_logprobs should be in [0, 5]", 5),
        ("Input should be less than or equal to 5 (top_logprobs)", 5),
        ("The maximum value of top_logprobs is too low; the maximum is 4", 4),
        ("logprobs are not supported with reasoning models", None),
        ("You are not allowed to request logprobs from this model.", None),
    ],
)
def test_refusals_say_how_many_in_many_words(words: str, most: int | None) -> None:
    refusal = Refusal(words)

    assert refusal.names_logprobs
    assert refusal.allowed_logprobs == most
