"""A model as a team: its text is the submission, and what is no text is a failed round."""

import asyncio
from collections.abc import Callable

import pytest
from tests.cases import each
from tests.unit.evaluator.asking_stubs import StubAsker
from tests.unit.protocols.nonces import NONCES

from mixseek.domain.judgments import InvalidJudgment, Missing, Outcome, Reply, Responded
from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.engine.budget import BudgetSpentError
from mixseek.engine.endpoint import EndpointDownError
from mixseek.errors import PermanentJudgeError
from mixseek.round_controller.model_team import FreeTextProtocol, ModelTeam
from mixseek.round_controller.team import FailedSubmission, Submission

SAMPLE = Sample("alpha/1", "")
LONG = "I'm sorry, but I cannot help being long-winded. " + "This goes on about lighthouses. " * 40


def parse(text: str, **details: object) -> Responded | InvalidJudgment:
    return FreeTextProtocol("prompt").parse(Reply(text, "model", details=details), SAMPLE)


def team(say: Callable[[JudgeProtocol, Sample], str | Outcome]) -> tuple[ModelTeam, StubAsker]:
    asker = StubAsker(say, details={"usage": {"input_tokens": 7, "output_tokens": 3}, "cost_usd": 0.25})
    return ModelTeam("alpha", "Alpha", "model", "race", asker, "Be brief."), asker


def submit(one: ModelTeam) -> Submission | FailedSubmission:
    return asyncio.run(one.submit("the prompt", 2))


def test_the_model_gets_its_instructions_and_the_prompt_and_its_text_is_the_submission() -> None:
    """With what it cost; the question is named by execution, team and round."""
    one, asker = team(lambda *_: " A haiku.\n")

    paid = {
        "calls": 1,
        "input_tokens": 7,
        "output_tokens": 3,
        "cost_usd": 0.25,
        "masked_replies": 0,
        "cut_off_replies": 0,
    }
    assert submit(one) == Submission("A haiku.", paid)
    assert [(message.role, message.content) for message in asker.prompts[0]] == [
        ("system", "Be brief."),
        ("user", "the prompt"),
    ]
    assert asker.identities == ["race/alpha/2"]


def test_without_instructions_there_is_no_system_message() -> None:
    """Some endpoints refuse an empty one."""
    assert [message.role for message in FreeTextProtocol("p").messages(SAMPLE, NONCES)] == ["user"]


@each(
    ("text", "details"),
    [
        ("", {}),
        (" \n ", {}),
        ("<think>hm</think>  ", {}),
        ("<think>and then I would", {}),
        ("I'm sorry, but I cannot help with that.", {}),
        ("申し訳ありませんが、回答できません。", {}),
        ("Certainly, here it", {"finish_reason": "content_filter"}),
        ("I decline.", {"finish_reason": "refusal"}),
    ],
)
def test_nothing_half_a_thought_and_a_refusal_are_no_submission(text: str, details: dict[str, object]) -> None:
    """A failed round, not a score."""
    assert isinstance(parse(text, **details), InvalidJudgment)


@pytest.mark.parametrize("text", ["A haiku.", '{"json": true}', "<b>bold</b>", LONG, "Cut off in the middle of a"])
def test_any_other_text_is_taken_to_the_letter(text: str) -> None:
    """Also JSON, markup, and a long text that opens with regrets."""
    parsed = parse(text)

    assert isinstance(parsed, Responded)
    assert parsed.response == text.strip()


def test_thinking_is_not_submitted() -> None:
    """It is in the journal."""
    parsed = parse("<think>Should it rhyme? No.</think>\nA haiku.")

    assert isinstance(parsed, Responded)
    assert parsed.response == "A haiku."


def test_an_endpoint_that_refuses_or_is_gone_ends_this_team_alone() -> None:
    """Its message is the reason; a spent budget concerns everybody."""

    def failing(error: Exception) -> Callable[[JudgeProtocol, Sample], str]:
        def say(protocol: JudgeProtocol, sample: Sample) -> str:
            raise error

        return say

    for error in (PermanentJudgeError("401", concerns_everything=True), EndpointDownError("gone")):
        assert submit(team(failing(error))[0]) == FailedSubmission(str(error))
    assert submit(team(lambda *_: Missing("no reply"))[0]) == FailedSubmission("no reply")
    with pytest.raises(BudgetSpentError):
        submit(team(failing(BudgetSpentError("spent")))[0])


def test_the_instructions_decide_the_hash_and_the_prompt_does_not() -> None:
    """The prompt changes with the leader board."""
    assert FreeTextProtocol("a", "x").hash == FreeTextProtocol("b", "x").hash
    assert FreeTextProtocol("a", "x").hash != FreeTextProtocol("a", "y").hash
