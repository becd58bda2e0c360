"""From a type to a metric: built-ins, protocols and the user's own."""

import asyncio

import pytest
from tests.cases import each
from tests.unit.evaluator.asking_stubs import REQUEST, StubAsker, WordCount, bench

from mixseek.domain.judgments import Method, Undecided, ValidJudgment
from mixseek.errors import ConfigurationError
from mixseek.evaluator.evaluator import make_metric
from mixseek.evaluator.metrics import BaseMetric, MetricSetting, ProtocolMetric
from mixseek.evaluator.scores import MetricScore, MissingMetric
from mixseek.protocols.registry import protocol_names

HERE = "tests.unit.evaluator.asking_stubs"


def make(kind: str, **options: object) -> BaseMetric:
    return make_metric(kind, MetricSetting("m", options), bench(StubAsker(lambda *_: Undecided("x"))))


def test_a_class_of_the_users_is_found_by_its_import_path() -> None:
    """And keeps the name that the race gives it."""
    made = make(f"{HERE}:WordCount")

    assert isinstance(made, WordCount)
    assert made.name == "m"


# What a task must say before its protocol can be asked.
NEEDED: dict[str, dict[str, object]] = {
    "semantic": {"ground_truth": "42"},
    "rubric": {"rubric": "task_type: fact\n\n- 3 points for naming the author"},
    "cross": {"question_id": "q1", "prompt_variant": "plain"},
}


@pytest.mark.parametrize("kind", sorted(set(protocol_names()) - {"pairwise", "trajectory", "grounded"}))
def test_every_protocol_of_one_response_is_a_metric(kind: str) -> None:
    """By its own name, with what it needs to know about the task."""
    assert isinstance(make(kind, **NEEDED.get(kind, {})), ProtocolMetric)


def test_a_protocol_of_two_responses_is_no_metric() -> None:
    """A metric scores one submission; said before the first round is paid for."""
    with pytest.raises(ConfigurationError, match="metric m: the pairwise protocol compares two responses"):
        make("pairwise")


@pytest.mark.parametrize(("kind", "judged"), [("trajectory", "steps"), ("grounded", "contexts")])
def test_a_protocol_of_steps_or_documents_is_no_metric(kind: str, judged: str) -> None:
    """A submission is a text."""
    with pytest.raises(ConfigurationError, match=f"metric m: the {kind} protocol judges {judged}, and a submission"):
        make(kind)


@pytest.mark.parametrize(("kind", "named"), [("semantic", "ground_truth"), ("rubric", "rubric")])
def test_what_a_protocol_needs_of_the_task_is_missed_when_the_metric_is_made(kind: str, named: str) -> None:
    """Not after the first round has been paid for."""
    with pytest.raises(ConfigurationError, match=f"metric m: .*{named}.* in the metric's options"):
        make(kind)


def test_a_protocols_score_is_on_the_scale_of_metrics() -> None:
    """Times 100, with the protocol's own fields beside it; rules may be the judge."""
    asker = StubAsker(lambda protocol, sample: ValidJudgment(1.0, "correct", {"is_correct": True}, Method.RULES))
    made = make_metric("semantic", MetricSetting("right", {"ground_truth": "42"}), bench(asker, "rules"))
    scored = asyncio.run(made.evaluate(REQUEST))

    assert isinstance(scored, MetricScore)
    assert (scored.score, scored.comment, scored.details) == (100, "correct", {"is_correct": True, "method": "rules"})
    assert asker.asked[0][1].ground_truth == "42"
    assert asker.asked[0][2] == "rules"


def test_rules_that_decline_leave_the_metric_missing() -> None:
    """Undecided is not half a point."""
    made = make_metric(
        "semantic", MetricSetting("m", {"ground_truth": "x"}), bench(StubAsker(lambda *_: Undecided("?")))
    )

    assert asyncio.run(made.evaluate(REQUEST)) == MissingMetric("m", "undecided: ?", is_permanent=True)


@each(
    ("kind", "options", "message"),
    [
        ("Coverag", {}, "unknown type 'Coverag'; did you mean 'Coverage'\\?"),
        ("Coverage", {"x": 1}, "Coverage takes no options"),
        (
            "semantic",
            {"ground_truht": "x"},
            "metric m: options: unknown key 'ground_truht'; did you mean 'ground_truth'",
        ),
        ("semantic", {"ground_truth": 3}, "options: ground_truth: Input should be a valid string"),
        (
            "semantic",
            {"ground_truth_alternatives": "x"},
            "options: ground_truth_alternatives: Input should be a valid tuple",
        ),
        ("protocol:nowhere.toml", {}, "nowhere.toml"),
        ("no.such.module:Metric", {}, "cannot import no.such.module"),
        (f"{HERE}:Nothing", {}, "has no Nothing"),
        (f"{HERE}:reply_text", {}, "is not a subclass of"),
        ("mixseek.evaluator.metrics:BaseMetric", {}, "cannot be made \\(TypeError"),
    ],
)
def test_what_cannot_work_is_said_in_one_line(kind: str, options: dict[str, object], message: str) -> None:
    """Naming the metric."""
    with pytest.raises(ConfigurationError, match=message) as refusal:
        make(kind, **options)

    assert "\n" not in str(refusal.value)
