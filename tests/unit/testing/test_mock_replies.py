"""The mock answers whatever it is asked: every protocol in every language, metrics, opinions and teams' tasks."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each
from tests.unit.evaluator.asking_stubs import StubAsker, bench
from tests.unit.protocols.nonces import NONCES

from mixseek.domain.judgments import Flag, InvalidJudgment, Reply, Responded, ValidJudgment
from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.rounds import RoundState
from mixseek.domain.samples import Sample
from mixseek.evaluator.evaluator import BUILT_IN, make_metric
from mixseek.evaluator.metrics import MetricSetting
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.models import PromptBuilderSettings, RoundPromptContext
from mixseek.protocols.registry import load_protocol
from mixseek.round_controller.judgment_client import JudgmentProtocol
from mixseek.round_controller.model_team import FreeTextProtocol
from mixseek.setup.protocol_files import write_starter
from mixseek.testing.mock_replies import Fault, say
from mixseek.testing.prompts import Prompt, make_prompt

LANGUAGES = ["en", "ja", "zh"]
RUBRIC = "task_type: fact\n\n## Critical Fail Conditions\n- Names no number.\n"
COUNT = 40


def sample(number: int, **more: Any) -> Sample:
    known = {"question_id": "Q1", "prompt_variant": "A", "target_model": "other-1", "task_name": "counting"}
    text = f"First I look at it.\nThen I count up to {number} and say that it is {number} in the end."
    return Sample(f"s{number}", text, f"How many, {number}?", str(number), **{**known, **more})


def asked(protocol: JudgeProtocol, one: Sample, *, has_schema: bool) -> Prompt:
    turns = [(message.role, message.content) for message in protocol.messages(one, NONCES)]
    return make_prompt("mock", turns, protocol.reply_schema if has_schema else None)


def reply_to(protocol: JudgeProtocol, one: Sample, *, has_schema: bool = True, fault: Fault | None = None) -> Any:
    told = protocol.for_judge("mock")
    said = say(asked(told, one, has_schema=has_schema), fault, seed=0, correct_share=0.5)
    return told.parse(Reply(said.text, "mock", details={"model": "mock"}), one), said.text


@pytest.mark.parametrize("has_schema", [True, False])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["semantic", "cross", "rubric"])
def test_every_protocol_gets_valid_replies_of_every_verdict(name: str, language: str, has_schema: bool) -> None:
    """By the schema of the request, or by the prompt alone where the endpoint was given none."""
    protocol = load_protocol(name, language)
    more = {"rubric": RUBRIC} if name == "rubric" else {"output_id": "o"}
    outcomes = [reply_to(protocol, sample(number, **more), has_schema=has_schema) for number in range(COUNT)]
    verdicts = Counter(outcome.verdict for outcome, _ in outcomes if isinstance(outcome, ValidJudgment))

    assert [text for outcome, text in outcomes if isinstance(outcome, InvalidJudgment)] == []
    assert len(verdicts) >= {"semantic": 2, "cross": 3, "rubric": 1}[name]


# What ends a response, and the ground truth that it is held against: where a drawn verdict can contradict a quote.
ENDINGS = [
    ("So the answer is False.", "False"),
    ("So the answer is (B).", "(B)"),
    ("(B)", "(B)"),
    ("B", "(A)"),
    ("42", "42"),
    ("The total is 41.", "42"),
    ("yes", "yes"),
    ("No", "yes"),
    ("apple banana cherry", "apple banana cherry"),
    ("valid", "invalid"),
    ("] ) }", "] )"),
    ("\\boxed{7}", "7"),
    ("Paris", "London"),
    ("", "x"),
]


@pytest.mark.parametrize("language", LANGUAGES)
@each(("ending", "truth"), ENDINGS)
def test_a_verdict_by_lot_never_contradicts_the_answer_that_comes_with_it(
    ending: str, truth: str, language: str
) -> None:
    """Whatever was drawn: the mock reads what it quotes, as the protocol will; both verdicts still come."""
    protocol = load_protocol("semantic", language)
    texts = [f"Step {number}.\n{ending}" if ending else "" for number in range(COUNT)]
    samples = [Sample(f"s{number}", text, "Which?", truth) for number, text in enumerate(texts)]
    outcomes = [reply_to(protocol, one, has_schema=has_schema)[0] for one in samples for has_schema in (True, False)]
    verdicts = {outcome.verdict for outcome in outcomes if isinstance(outcome, ValidJudgment)}

    assert [outcome for outcome in outcomes if isinstance(outcome, InvalidJudgment)] == []
    assert len(verdicts) == (2 if ending else 1)


def test_a_second_right_answer_is_known_to_the_mock() -> None:
    """As it is to the protocol."""
    protocol = load_protocol("semantic", "en")
    samples = [
        Sample(f"s{number}", f"Step {number}.\n(B)", "Which?", "(A)", ground_truth_alternatives=("(B)",))
        for number in range(COUNT)
    ]

    assert not any(isinstance(reply_to(protocol, one)[0], InvalidJudgment) for one in samples)


UNTYPED_RUBRICS = [
    "# Bridge\n\nThe year counts most.\n",
    "## Critical Fail Conditions\n- Names no year.\n",
    "---\ntask_name: counting\n---\n## 加点\n- 簡潔\n",
    "Tasks of type `creative` are graded elsewhere.\n\n| `speculative` | 1 | 2 | 3 |\n",
]


@pytest.mark.parametrize("has_schema", [True, False])
@pytest.mark.parametrize("language", LANGUAGES)
@each("rubric", UNTYPED_RUBRICS)
def test_a_rubric_without_a_type_is_graded_by_the_type_that_is_inferred(
    rubric: str, language: str, has_schema: bool
) -> None:
    """One type throughout: in its field, as the inferred one, in the weights and in the scores."""
    protocol = load_protocol("rubric", language)
    outcomes = [reply_to(protocol, sample(number, rubric=rubric), has_schema=has_schema)[0] for number in range(COUNT)]

    assert [outcome for outcome in outcomes if isinstance(outcome, InvalidJudgment)] == []
    assert all(outcome.fields["inferred_task_type"] == outcome.fields["task_type"] for outcome in outcomes)


@pytest.mark.parametrize("task_type", ["fact", "creative", "speculative", None])
def test_a_rubric_is_graded_by_the_weights_of_its_type(task_type: str | None) -> None:
    """Also where the type has to be inferred."""
    one = sample(3, rubric="## Critical Fail Conditions\n- None of it.\n", task_type=task_type)
    outcome, text = reply_to(load_protocol("rubric"), one)

    assert isinstance(outcome, ValidJudgment), (outcome, text)
    assert sum(json.loads(text)["weights"].values()) == 100


@pytest.mark.parametrize("has_schema", [True, False])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_protocol_of_the_users_own_is_answered_by_its_rules(language: str, has_schema: bool, tmp_path: Path) -> None:
    """Weights, total, thresholds, gates, choices and evidence stand in the prompt, and hold in the reply."""
    path = tmp_path / "helpdesk.toml"
    write_starter(path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('languages = ["en"]', 'languages = ["en", "ja", "zh"]'), encoding="utf-8")
    protocol = load_protocol(str(path), language)
    outcomes = [reply_to(protocol, sample(number), has_schema=has_schema) for number in range(COUNT)]
    verdicts = {outcome.verdict for outcome, _ in outcomes if isinstance(outcome, ValidJudgment)}

    assert [(outcome, text) for outcome, text in outcomes if isinstance(outcome, InvalidJudgment)] == []
    assert verdicts >= {"good", "fair", "poor"}


@pytest.mark.parametrize("has_schema", [True, False])
@pytest.mark.parametrize("kind", sorted(BUILT_IN))
def test_metrics_get_points_that_add_up(kind: str, has_schema: bool) -> None:
    """For every criterion, with a reason."""
    metric = make_metric(kind, MetricSetting(kind), bench(StubAsker(lambda *_: "")))
    protocol = metric.protocol  # type: ignore[attr-defined] # every built-in asks a judge
    outcomes = [reply_to(protocol, sample(number), has_schema=has_schema)[0] for number in range(COUNT)]

    assert all(isinstance(outcome, ValidJudgment) for outcome in outcomes), outcomes
    assert len({outcome.score for outcome in outcomes}) > 5


def judgment_prompt(scores: list[float]) -> str:
    history = [RoundState(number, f"text {number}", score) for number, score in enumerate(scores, 1)]
    builder = UserPromptBuilder(settings=PromptBuilderSettings())
    context = RoundPromptContext(
        user_prompt="q",
        round_number=len(scores) + 1,
        round_history=history,
        team_id="t",
        team_name="T",
        execution_id="e",
    )
    return asyncio.run(builder.build_judgment_prompt(context))


@each("has_schema", [True, False])
@each("language", LANGUAGES)
@each(("scores", "goes_on"), [([40.0, 55.0], True), ([55.0, 40.0], False), ([95.0], False)])
def test_the_judge_of_progress_looks_at_the_scores(
    scores: list[float], goes_on: bool, language: str, has_schema: bool
) -> None:
    """Going on pays while they rise and there is room."""
    protocol = JudgmentProtocol(judgment_prompt(scores), "", language)
    outcome, _ = reply_to(protocol, sample(1), has_schema=has_schema)

    assert isinstance(outcome, ValidJudgment)
    assert outcome.fields["should_continue"] is goes_on


def test_a_team_gets_a_text_about_its_task_and_another_in_another_round() -> None:
    """No JSON where nobody asks for it; the time of asking changes nothing."""
    first = "---\n現在日時: 2026-03-01T12:00:00+00:00\n---\n# ユーザクエリ\nWhy is the sea salty?\n"
    outcome, text = reply_to(FreeTextProtocol(first, "You are team one."), sample(1))

    assert isinstance(outcome, Responded)
    assert "Why is the sea salty?" in text
    assert reply_to(FreeTextProtocol(first.replace("12:00:00", "13:30:00"), "You are team one."), sample(1))[1] == text
    assert reply_to(FreeTextProtocol(first, "You are team two."), sample(1))[1] != text
    assert reply_to(FreeTextProtocol(f"{first}### Score: 50.00/100\n", "You are team one."), sample(1))[1] != text


@dataclass(frozen=True)
class Case:
    protocol: JudgeProtocol
    sample: Sample


CASES = {
    "cross": Case(load_protocol("cross"), sample(1, output_id="o")),
    "rubric": Case(load_protocol("rubric"), sample(1, rubric=RUBRIC)),
    "judgment": Case(JudgmentProtocol(judgment_prompt([50.0]), ""), sample(1)),
}


@each("fault", [Fault.PROSE, Fault.TRUNCATED, Fault.WRONG_SCHEMA, Fault.REFUSAL, Fault.INCONSISTENT])
@each("name", sorted(CASES))
def test_faults_make_the_reply_of_any_protocol_invalid(name: str, fault: Fault) -> None:
    """With a flag that fits."""
    outcome, text = reply_to(CASES[name].protocol, CASES[name].sample, fault=fault)

    assert isinstance(outcome, InvalidJudgment), text
    if fault is Fault.INCONSISTENT and name != "judgment":
        assert {finding.flag for finding in outcome.findings} == {Flag.INTERNAL_INCONSISTENCY}
