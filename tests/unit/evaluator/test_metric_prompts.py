"""Prompts are product: the system prompts of metrics and of the judge of progress as golden files.

Rewrite them after a deliberate change with MIXSEEK_UPDATE_GOLDEN=1, and read the diff.
"""

import os
from pathlib import Path

import pytest
from tests.unit.evaluator.asking_stubs import StubAsker, bench

from mixseek.evaluator.evaluator import BUILT_IN, make_metric
from mixseek.evaluator.metrics import LLMJudgeMetric, MetricSetting
from mixseek.prompt_builder.constants import LANGUAGES
from mixseek.round_controller.judgment_client import JudgmentProtocol

GOLDEN = Path(__file__).parents[2] / "golden" / "prompts"


def assert_golden(name: str, rendered: str) -> None:
    golden = GOLDEN / name
    if os.environ.get("MIXSEEK_UPDATE_GOLDEN") == "1":
        golden.write_text(rendered, encoding="utf-8", newline="\n")

    assert golden.read_text(encoding="utf-8") == rendered


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_prompts_of_the_metrics_are_the_golden_ones(language: str) -> None:
    """All four of a language in one file: their differences are what one reads."""
    parts = []
    for kind in BUILT_IN:
        metric = make_metric(kind, MetricSetting("m"), bench(StubAsker(lambda *_: ""), language=language))
        assert isinstance(metric, LLMJudgeMetric)
        parts.append(f"=== {kind} ===\n{metric.protocol.system_prompt}\n")

    assert_golden(f"competition_metrics.{language}.txt", "".join(parts))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_prompt_of_the_judge_of_progress_is_the_golden_one(language: str) -> None:
    """The user prompt beside it is the builder's, and golden there."""
    assert_golden(f"competition_progress.{language}.txt", JudgmentProtocol("", "", language).system_prompt)
