"""`mixseek.evaluate` and `mixseek.aevaluate`: the evaluator of a race, without a race."""

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from mixseek.api.loops import run_to_end
from mixseek.api.options import check_options, live_options
from mixseek.composition.competitions import evaluate as composition
from mixseek.composition.competitions.evaluate import EvaluateRequest, SubmissionText
from mixseek.errors import ConfigurationError
from mixseek.reporting.evaluation import Evaluation
from mixseek.settings.load import load_settings
from mixseek.settings.models import Language
from mixseek.settings.race import EvaluationFile


class EvaluateOptions(TypedDict, total=False):
    """Every option of `mixseek evaluate`; what is left out is as on the command line."""

    judge: str
    """The judge of all metrics that name none: `openai:gpt-5-mini`, a name from mixseek.toml."""
    evaluator: str | Path | Mapping[str, Any] | EvaluationFile
    """A file with an `[evaluator]` as in a race, or what would stand in it. Default: the three built-in metrics."""
    language: Language
    """Of the prompts. Default: ja, as in a race."""
    workspace: str | Path
    """Where replies are journaled and cached. Default: nowhere; nothing is left behind."""
    concurrency: int
    """Calls at once to an endpoint, at most. Default: 32."""
    max_calls: int
    """Stop after so many requests."""
    max_cost: float
    """Stop before more US dollars are spent."""
    cache: bool
    """False: do not look for replies in the workspace's cache."""
    patience: float
    """Wait so many seconds for an endpoint that is down. Default: 600."""
    retry_invalid: bool
    """Ask again for metric replies of an earlier call that cannot be used."""


Submissions = str | Mapping[str, str] | Iterable[str]


def evaluate(user_query: str, submissions: Submissions, **options: Unpack[EvaluateOptions]) -> Evaluation:
    """Score one submission or many: the metrics of a race and their weighted mean, on 0..100.

    `submissions` is a text, several texts, or a mapping of names to texts. A metric that gives no score is a
    `MissingMetric` with its reason, and then there is no overall score. Raises MixseekError for what concerns all of
    them: a setting, a refused key. Works inside a running event loop, too; there `aevaluate` does not block it.
    """
    return run_to_end(lambda stop: _evaluate(user_query, submissions, options, stop))


async def aevaluate(user_query: str, submissions: Submissions, **options: Unpack[EvaluateOptions]) -> Evaluation:
    """As `evaluate`, awaited."""
    return await _evaluate(user_query, submissions, options, lambda: False)


async def _evaluate(
    user_query: str, submissions: Submissions, options: EvaluateOptions, stop: Callable[[], bool]
) -> Evaluation:
    given = check_options(dict(options), EvaluateOptions.__annotations__, "evaluate")
    if "workspace" in given:
        return await composition.evaluate(make_request(user_query, submissions, given, Path(given["workspace"])), stop)
    with tempfile.TemporaryDirectory(prefix="mixseek-") as directory:
        evaluation = await composition.evaluate(make_request(user_query, submissions, given, Path(directory)), stop)
    return replace(evaluation, journal=None)


def make_request(
    user_query: str, submissions: Submissions, given: Mapping[str, Any], workspace: Path
) -> EvaluateRequest:
    """The request that the command line makes, too."""
    evaluator = given.get("evaluator")
    return EvaluateRequest(
        submissions=name_submissions(submissions),
        workspace=workspace,
        user_query=user_query,
        evaluator=Path(evaluator) if isinstance(evaluator, str) else evaluator,
        judge=given.get("judge"),
        language=given.get("language"),
        live=live_options(given),
        configured=load_settings().judges,
        environment=os.environ,
    )


def name_submissions(submissions: Submissions) -> list[SubmissionText]:
    """By their own names, or by their place, from 1."""
    if isinstance(submissions, str):
        return [SubmissionText("1", submissions)]
    if not isinstance(submissions, Iterable):
        raise ConfigurationError(f"submissions: a value of type {type(submissions).__name__}; give a text, or several")
    if not isinstance(submissions, Mapping):
        submissions = {str(number): text for number, text in enumerate(submissions, 1)}
    for name, text in submissions.items():
        if not isinstance(text, str):
            raise ConfigurationError(f"submission {name!r}: a value of type {type(text).__name__}; give its text")
    return [SubmissionText(name, text) for name, text in submissions.items()]
