"""The judge of progress: what it is asked (seed 004), what counts as an opinion, and what an outage is."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.cases import each
from tests.unit.evaluator.asking_stubs import StubAsker

from mixseek.domain.judgments import Flag, InvalidJudgment, Missing, Outcome, Reply, ValidJudgment
from mixseek.domain.rounds import ImprovementJudgment, NoOpinion, RankedTeam, RoundState
from mixseek.domain.samples import Sample
from mixseek.engine.budget import BudgetSpentError
from mixseek.engine.endpoint import EndpointDownError
from mixseek.engine.questions import Answered, Question
from mixseek.errors import ConfigurationError
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.constants import LANGUAGES
from mixseek.prompt_builder.models import PromptBuilderSettings
from mixseek.round_controller.judgment_client import JudgmentClient, JudgmentProtocol

HISTORY = [RoundState(1, "first try", 40.0), RoundState(2, "second try", 55.5)]
GOOD: dict[str, Any] = {"reasoning": "It rises.", "should_continue": True, "confidence_score": 0.75}
SAMPLE = Sample("a/1/judgment", "text")


class Board:
    """One team stands alone."""

    async def ranking(self, execution_id: str) -> list[RankedTeam]:
        return [RankedTeam(1, "alpha", "Alpha", 55.5, 2, 2)] if execution_id == "race" else []


def client(asker: StubAsker, language: str = "en") -> JudgmentClient:
    builder = UserPromptBuilder(store=Board(), settings=PromptBuilderSettings())
    return JudgmentClient(asker, builder, "model", language=language)


def judge(said: str | Outcome | Exception, asker: StubAsker | None = None) -> ImprovementJudgment | NoOpinion:
    def say(*_: object) -> str | Outcome:
        if isinstance(said, Exception):
            raise said
        return said

    asker = asker or StubAsker(say)
    work = client(asker).judge_improvement_prospects(
        "the task", HISTORY, team_id="alpha", team_name="Alpha", execution_id="race"
    )
    return asyncio.run(work)


def parse(text: str) -> ValidJudgment | InvalidJudgment:
    return JudgmentProtocol("", "").parse(Reply(text, "model"), SAMPLE)


def test_the_prompt_is_the_builders_for_the_round_after_the_history() -> None:
    """Task, both rounds with their scores, and the leader board; the system prompt asks for the reasons first."""
    asker = StubAsker(lambda *_: json.dumps(GOOD))
    judge("", asker)
    system, user = asker.prompts[0]

    assert user.content.startswith("# タスク\n以下の提出履歴に基づいて")
    assert "# ユーザクエリ\nthe task\n" in user.content
    assert "### スコア: 55.50/100" in user.content
    assert "**Alpha**" in user.content
    assert system.content.index("reasoning") < system.content.index('"should_continue"')


def test_the_round_number_is_the_next_ones() -> None:
    """Seed 004: len(round_history) + 1."""
    settings = PromptBuilderSettings(judgment_user_prompt="round {{ round_number }}")
    asker = StubAsker(lambda *_: json.dumps(GOOD))
    made = JudgmentClient(asker, UserPromptBuilder(settings=settings), "model")
    asyncio.run(made.judge_improvement_prospects("t", HISTORY, team_id="a", team_name="A", execution_id="race"))

    assert asker.prompts[0][1].content == "round 3"


def test_the_way_to_the_prompt_fails_as_the_seed_says() -> None:
    """A bad context is a ValidationError, a bad template a RuntimeError; neither is taken for an outage."""

    async def ask(made: JudgmentClient, task: str) -> None:
        await made.judge_improvement_prospects(task, HISTORY, team_id="a", team_name="A", execution_id="race")

    with pytest.raises(ValidationError, match="user_prompt cannot be empty"):
        asyncio.run(ask(client(StubAsker(lambda *_: "")), " "))
    settings = PromptBuilderSettings(judgment_user_prompt="{{ submission_history.first.name }}")
    broken = JudgmentClient(StubAsker(lambda *_: ""), UserPromptBuilder(settings=settings), "model")
    with pytest.raises(RuntimeError, match=r"^Jinja2 template error: "):
        asyncio.run(ask(broken, "t"))


def test_a_team_without_any_round_can_be_asked_about() -> None:
    """Seed 004: the round is the number of rounds plus one, also when that is 1."""
    asker = StubAsker(lambda *_: json.dumps(GOOD))
    work = client(asker).judge_improvement_prospects(
        "the task", [], team_id="alpha", team_name="Alpha", execution_id="race"
    )

    assert asyncio.run(work) == ImprovementJudgment(True, "It rises.", 0.75)
    assert "まだ過去の提出はありません。" in asker.prompts[0][1].content


def test_the_question_has_a_name_of_its_own() -> None:
    """Its prompt shows a leader board that changes; the same question on resume is the same all the same."""
    asker = StubAsker(lambda *_: json.dumps(GOOD))
    judge("", asker)

    assert asker.identities == ["race/alpha/2/judgment"]


def test_a_valid_reply_is_an_opinion() -> None:
    """With its reasons and how sure it is."""
    assert judge(json.dumps(GOOD)) == ImprovementJudgment(True, "It rises.", 0.75)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Missing("timed out"), "timed out"),
        ("no idea", "the judge's reply is invalid (JUDGE_REFUSAL_OR_EVASION"),
        (EndpointDownError("gone for 600 s"), "gone for 600 s"),
    ],
)
def test_an_outage_is_no_opinion(said: str | Outcome | Exception, reason: str) -> None:
    """Never a decision of its own."""
    opinion = judge(said)

    assert isinstance(opinion, NoOpinion)
    assert opinion.reason.startswith(reason)


def test_a_spent_budget_is_not_an_outage() -> None:
    """It ends the whole competition."""
    with pytest.raises(BudgetSpentError):
        judge(BudgetSpentError("spent"))


@each(
    ("change", "flag"),
    [
        ({"reasoning": None}, Flag.UNPARSABLE_OUTPUT),
        ({"reasoning": " "}, Flag.INCOMPLETE_COVERAGE),
        ({"should_continue": "yes"}, Flag.UNPARSABLE_OUTPUT),
        ({"should_continue": 1}, Flag.UNPARSABLE_OUTPUT),
        ({"confidence_score": "high"}, Flag.UNPARSABLE_OUTPUT),
        ({"confidence_score": True}, Flag.UNPARSABLE_OUTPUT),
        ({"confidence_score": None}, Flag.UNPARSABLE_OUTPUT),
        ({"confidence_score": 1.01}, Flag.PROTOCOL_VIOLATION),
        ({"confidence_score": -0.01}, Flag.PROTOCOL_VIOLATION),
        ({"confidence_score": 75}, Flag.PROTOCOL_VIOLATION),
    ],
)
def test_every_fault_of_a_reply_has_its_flag(change: dict[str, Any], flag: Flag) -> None:
    """75 is not 0.75."""
    parsed = parse(json.dumps({**GOOD, **change}))

    assert isinstance(parsed, InvalidJudgment)
    assert {finding.flag for finding in parsed.findings} == {flag}


@pytest.mark.parametrize("missing", list(GOOD))
def test_every_field_is_needed(missing: str) -> None:
    """An opinion without one of them is none."""
    assert isinstance(parse(json.dumps({key: value for key, value in GOOD.items() if key != missing})), InvalidJudgment)


@pytest.mark.parametrize("confidence", [0, 1, 0.0, 1.0, 0.5])
def test_both_ends_of_the_scale_are_on_it(confidence: float) -> None:
    """As integers too: JSON knows one kind of number."""
    assert isinstance(parse(json.dumps({**GOOD, "confidence_score": confidence})), ValidJudgment)


@given(st.text(max_size=200))
def test_no_reply_whatever_makes_the_parser_raise(text: str) -> None:
    """A reply has been paid for and must be accounted for."""
    assert isinstance(parse(text), ValidJudgment | InvalidJudgment)


def test_languages_have_prompts_of_their_own_and_others_are_refused() -> None:
    """And hashes of their own."""
    assert len({JudgmentProtocol("", "", language).hash for language in LANGUAGES}) == len(LANGUAGES)

    with pytest.raises(ConfigurationError, match="available are en, ja"):
        client(StubAsker(lambda *_: ""), "fr")


class RecallingAsker(StubAsker):
    """The first question was answered with nonsense in an earlier process."""

    async def ask(self, question: Question) -> Answered:
        answered = await super().ask(question)
        if question.repeat > 1:
            return answered
        return Answered(parse("no idea"), Reply("no idea", question.judge), is_recalled=True)


@pytest.mark.parametrize(("asks_anew", "takes"), [(False, 1), (True, 2)])
def test_an_invalid_reply_of_an_earlier_process_counts_unless_it_stopped_the_team(asks_anew: bool, takes: int) -> None:
    """A process that died before it could act on the reply must end like one that did not."""
    asker = RecallingAsker(lambda *_: json.dumps(GOOD))
    work = client(asker).judge_improvement_prospects(
        "the task", HISTORY, team_id="alpha", team_name="Alpha", execution_id="race", asks_anew=asks_anew
    )
    opinion = asyncio.run(work)

    assert isinstance(opinion, ImprovementJudgment) is asks_anew
    assert len(asker.asked) == takes
    assert len(set(asker.identities)) == 1
