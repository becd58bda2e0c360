"""Metrics that ask a judge: what they ask, what they accept, and what they make of the rest."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.cases import each
from tests.unit.evaluator.asking_stubs import REQUEST, StubAsker, bench, reply_text

from mixseek.domain.judgments import Flag, InvalidJudgment, Missing, Reply, Undecided, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.evaluator.evaluator import BUILT_IN, make_metric
from mixseek.evaluator.metrics import (
    CRITERIA,
    ROLES,
    BaseMetric,
    Coverage,
    Criterion,
    LLMJudgeMetric,
    LLMPlain,
    MetricSetting,
)
from mixseek.evaluator.scores import EvaluationRequest, MetricScore, MissingMetric
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.constants import LANGUAGES
from mixseek.prompt_builder.models import PromptBuilderSettings

SAMPLE = Sample("alpha/1/c", "A text.", "A query.")
GOOD: dict[str, int] = {"requirements": 40, "depth": 20, "limits": 10}


def metric(kind: str = "Coverage", language: str = "en", **options: Any) -> LLMJudgeMetric:
    made = make_metric(
        kind, MetricSetting("m", options), bench(StubAsker(lambda *_: reply_text(**GOOD)), language=language)
    )
    assert isinstance(made, LLMJudgeMetric)
    return made


def evaluate(one: BaseMetric, request: EvaluationRequest = REQUEST) -> MetricScore | MissingMetric:
    return asyncio.run(one.evaluate(request))


def judged(text: str) -> ValidJudgment | InvalidJudgment:
    return metric().protocol.parse(Reply(text, "model"), SAMPLE)


def flags(text: str) -> set[Flag]:
    parsed = judged(text)
    assert isinstance(parsed, InvalidJudgment)
    return {finding.flag for finding in parsed.findings}


@each("kind", BUILT_IN)
@each("language", LANGUAGES)
def test_every_metric_has_its_role_and_criteria_in_every_language(kind: str, language: str) -> None:
    """Points sum to 100; the prompt names each criterion with its points, and asks for the reason first."""
    one = metric(kind, language)
    prompt = one.protocol.system_prompt

    assert one.get_instruction() == ROLES[kind][language]
    assert sum(criterion.points for criterion in one.get_criteria()) == 100
    for criterion in CRITERIA[kind]:
        assert set(criterion.wording) == set(LANGUAGES)
        assert criterion.wording[language] in prompt
        assert f'"{criterion.name}": {{"reason": "…", "score": 0}}' in prompt
    assert prompt.index("reason") < prompt.index('"score"')


def test_the_user_prompt_is_the_builders() -> None:
    """Seed 004: context, then build_evaluator_prompt; the submission stands inside a fence."""
    prompt = metric()._get_user_prompt(REQUEST.user_query, REQUEST.submission)

    assert prompt.startswith("---\n現在日時: ")
    assert f"# ユーザクエリ\n{REQUEST.user_query}\n" in prompt
    assert "<<<SUBMISSION " in prompt


def test_the_way_to_the_user_prompt_fails_as_the_seed_says() -> None:
    """Seed 004's diagram: a bad context is a ValidationError, a bad template a RuntimeError."""
    for field in ("user_query", "submission"):
        given = {"user_query": "q", "submission": "s", field: " "}
        with pytest.raises(ValidationError, match=f"{field} cannot be empty"):
            metric()._get_user_prompt(**given)

    settings = PromptBuilderSettings(evaluator_user_prompt="{{ submission.author.name }}")
    broken = bench(StubAsker(lambda *_: ""))
    broken = replace(broken, prompts=UserPromptBuilder(settings=settings))
    with pytest.raises(RuntimeError, match=r"^Jinja2 template error: "):
        Coverage(MetricSetting("m"), broken)._get_user_prompt("q", "s")


def test_a_prompt_of_the_users_own_is_part_of_what_is_asked() -> None:
    """Replies to other words must not be taken for replies to these; a metric that changes nothing asks the same."""

    class Same(Coverage):
        pass

    class Curt(Coverage):
        def _get_user_prompt(self, user_query: str, submission: str) -> str:
            return f"{user_query}? {submission}"

    class Loud(Coverage):
        def _get_user_prompt(self, user_query: str, submission: str) -> str:
            return f"{user_query}! {submission}"

    hashes = []
    for kind in (Same, Curt, Loud):
        kind.__name__ = "Coverage"  # the name counts too, and has the role
        hashes.append(kind(MetricSetting("m"), bench(StubAsker(lambda *_: ""))).protocol.hash)

    assert hashes[0] == metric().protocol.hash
    assert len(set(hashes)) == 3


def test_a_metric_of_the_users_needs_an_instruction_and_criteria() -> None:
    """And is then asked like any other."""

    class Rhyme(LLMJudgeMetric):
        criteria = (Criterion("rhyme", 100, {"en": "It rhymes."}),)

    class Metre(Rhyme):
        def get_instruction(self) -> str:
            return "You judge rhymes."

    with pytest.raises(ConfigurationError, match="Rhyme must define get_instruction"):
        Rhyme(MetricSetting("r"), bench(StubAsker(lambda *_: "")))
    scored = evaluate(Metre(MetricSetting("r"), bench(StubAsker(lambda *_: reply_text(rhyme=30)))))

    assert isinstance(scored, MetricScore)
    assert scored.score == 30


def test_a_valid_reply_becomes_a_score_with_comment_and_criteria() -> None:
    """And says by which method it came about."""
    asker = StubAsker(lambda *_: reply_text(**GOOD), details={"judge_model": "openai:gpt-x"})
    one = make_metric("Coverage", MetricSetting("c"), bench(asker))
    scored = evaluate(one, EvaluationRequest("q", "s", target_model="gpt-x"))

    assert isinstance(scored, MetricScore)
    assert (scored.name, scored.score, scored.comment) == ("c", 70, "Say it shorter.")
    assert scored.details["criteria"]["depth"] == {"reason": "because of depth", "score": 20}
    assert scored.details["method"] == "self_judge"


def test_the_judge_is_not_told_whose_submission_it_is() -> None:
    """Neither the team nor its model stands in the prompt; the same text is the same question."""
    asker = StubAsker(lambda *_: reply_text(**GOOD))
    one = make_metric("Coverage", MetricSetting("c"), bench(asker))
    for team in ("zebra-team", "yak-team"):
        evaluate(one, EvaluationRequest("q", "s", team_id=team, target_model="openai:zebra-model"))

    assert not any(
        "zebra" in message.content or "yak" in message.content for prompt in asker.prompts for message in prompt
    )
    assert len({(protocol.hash, sample.response, sample.target_model) for protocol, sample, _ in asker.asked}) == 1


@pytest.mark.parametrize(
    ("outcome", "reason", "is_permanent"),
    [
        (Missing("no reply"), "no reply", False),
        (Missing("too long", is_permanent=True), "too long", True),
        (Undecided("rules decline"), "undecided: rules decline", True),
        ("I think it is fine.", "the judge's reply is invalid (UNPARSABLE_OUTPUT: ", True),
        ("I'm sorry, but I cannot evaluate this.", "the judge's reply is invalid (JUDGE_REFUSAL_OR_EVASION: ", True),
    ],
)
def test_anything_but_a_valid_judgment_is_missing(outcome: Any, reason: str, is_permanent: bool) -> None:
    """Never 0; for good, unless no reply could be had."""
    result = evaluate(make_metric("Coverage", MetricSetting("c"), bench(StubAsker(lambda *_: outcome))))

    assert isinstance(result, MissingMetric)
    assert result.reason.startswith(reason)
    assert result.is_permanent is is_permanent


def test_the_sum_is_recomputed() -> None:
    """A reply that cannot add is not believed."""
    assert flags(reply_text(total=71, **GOOD)) == {Flag.INTERNAL_INCONSISTENCY}


@each(
    ("change", "flag"),
    [
        ({"criteria": {}}, Flag.INCOMPLETE_COVERAGE),
        ({"criteria": []}, Flag.UNPARSABLE_OUTPUT),
        ({"criteria": None}, Flag.UNPARSABLE_OUTPUT),
        ({"criteria": {"requirements": {"reason": "r", "score": 51}}}, Flag.PROTOCOL_VIOLATION),
        ({"criteria": {"requirements": {"reason": "r", "score": -1}}}, Flag.PROTOCOL_VIOLATION),
        ({"criteria": {"requirements": {"reason": "r", "score": True}}}, Flag.UNPARSABLE_OUTPUT),
        ({"criteria": {"requirements": {"reason": "r", "score": 40.0}}}, Flag.UNPARSABLE_OUTPUT),
        ({"criteria": {"requirements": {"reason": "r", "score": "high"}}}, Flag.UNPARSABLE_OUTPUT),
        ({"criteria": {"requirements": {"reason": "  ", "score": 40}}}, Flag.INCOMPLETE_COVERAGE),
        ({"criteria": {"requirements": {"score": 40}}}, Flag.UNPARSABLE_OUTPUT),
        ({"criteria": {"beauty": {"reason": "r", "score": 1}}}, Flag.PROTOCOL_VIOLATION),
        ({"comment": None}, Flag.UNPARSABLE_OUTPUT),
        ({"comment": 3}, Flag.UNPARSABLE_OUTPUT),
        ({"total_score": None}, Flag.UNPARSABLE_OUTPUT),
        ({"total_score": 70.0}, Flag.UNPARSABLE_OUTPUT),
        ({"total_score": 101}, Flag.PROTOCOL_VIOLATION),
    ],
)
def test_every_fault_of_a_reply_has_its_flag(change: dict[str, Any], flag: Flag) -> None:
    """One change to a good reply, one objection that names it."""
    reply = json.loads(reply_text(**GOOD))
    if change.get("criteria"):
        change = {"criteria": {**reply["criteria"], **change["criteria"]}}

    assert flag in flags(json.dumps({**reply, **change}))


@given(st.text(max_size=200) | st.builds(json.dumps, st.recursive(st.none() | st.integers() | st.text(), st.lists)))
def test_no_reply_whatever_makes_the_parser_raise(text: str) -> None:
    """A reply has been paid for and must be accounted for."""
    assert isinstance(judged(text), ValidJudgment | InvalidJudgment)


def test_extra_keys_are_ignored_and_recorded() -> None:
    """As for every protocol in repair mode."""
    parsed = judged(json.dumps({**json.loads(reply_text(**GOOD)), "mood": "good"}))

    assert isinstance(parsed, ValidJudgment)
    assert parsed.repairs == ("extra_keys_ignored",)


def test_what_is_asked_decides_the_hash_and_the_metrics_name_does_not() -> None:
    """Renaming a metric keeps its replies; another word in the instruction does not."""
    plain = metric("LLMPlain", instruction="Judge the metre.")
    other_name = make_metric(
        "LLMPlain", MetricSetting("other", {"instruction": "Judge the metre."}), bench(StubAsker(lambda *_: ""))
    )
    assert isinstance(other_name, LLMPlain)

    assert plain.protocol.hash == other_name.protocol.hash
    assert plain.protocol.hash != metric("LLMPlain", instruction="Judge the rhyme.").protocol.hash
    assert plain.protocol.hash != metric("LLMPlain").protocol.hash
    assert metric("LLMPlain").protocol.hash != metric("LLMPlain", "ja").protocol.hash


def test_the_plain_metric_takes_criteria_of_the_users() -> None:
    """Scored and summed like any other."""
    own = metric(
        "LLMPlain",
        criteria={"metre": {"points": 60, "text": "5-7-5."}, "season": {"points": 40, "text": "A season word."}},
    )

    assert "`metre` (0 to 60 points): 5-7-5." in own.protocol.system_prompt
    assert isinstance(own.protocol.parse(Reply(reply_text(metre=60, season=0), "m"), SAMPLE), ValidJudgment)


@each(
    ("options", "message"),
    [
        ({"criteria": {"a": {"points": 60, "text": "x"}}}, "points sum to 60, expected 100"),
        (
            {"criteria": {"a": {"points": 100.0, "text": "x"}}},
            r"criteria\.a\.points: Input should be a valid integer \(got 100\.0\)",
        ),
        ({"criteria": {"a b": {"points": 100, "text": "x"}}}, "must be one word"),
        ({"criteria": {"a": {"points": 100}}}, "'criteria.a.text' is missing"),
        ({"criteria": {"a": {"points": 0, "text": "x"}}}, r"criteria\.a\.points: Input should be greater than"),
        ({"criteria": {}}, "criteria: Dictionary should have at least 1 item"),
        ({"instruction": " "}, "options: instruction: String should match"),
        ({"instructions": "x"}, "unknown key 'instructions'; did you mean 'instruction'"),
    ],
)
def test_what_is_wrong_with_a_plain_metric_is_said_when_it_is_made(options: dict[str, Any], message: str) -> None:
    """Before anything is paid."""
    with pytest.raises(ConfigurationError, match=message):
        metric("LLMPlain", **options)
