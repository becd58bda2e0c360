"""The evaluator of seed 004 without a race: submissions, the query that each answers, and a score for each metric."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from mixseek.competition.plan import NobodyToAsk, describe_metrics, judges_of, make_evaluator, make_judges, read_prompts
from mixseek.competition.questions import Counting, open_questions
from mixseek.competition.views.evaluation import EvaluatedSubmission, Evaluation
from mixseek.datasets.reader import open_dataset
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.domain.samples import RESPONSE_ERROR
from mixseek.engine.endings import STOPPING, all_of
from mixseek.engine.questions import LastingQuestions, Questions
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.evaluator.evaluator import Evaluator
from mixseek.evaluator.scores import EvaluationRequest, EvaluationResult, MissingMetric
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.phrases import written_in
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.models import PromptBuilderSettings
from mixseek.runs.live import Panel
from mixseek.runs.requests.manifest_entries import describe_judge
from mixseek.runs.requests.named import AnyJudge
from mixseek.runs.requests.request import LiveOptions
from mixseek.settings.load import importable_from
from mixseek.settings.models import JudgeSettings, Language
from mixseek.settings.race import EvaluationFile, EvaluatorTable, MetricTable, Race, Scoring, load_scoring, make_scoring
from mixseek.storage.durable import make_directory
from mixseek.storage.journal.journal import JournalFile
from mixseek.storage.workspace import Workspace
from mixseek.storage.workspace_key import workspace_key

# Where nobody names any: what the built-in judges look at, with equal weights.
DEFAULT_METRICS = ("ClarityCoherence", "Coverage", "Relevance")
# Enough to keep an endpoint busy; memory stays flat however many submissions there are.
_AT_ONCE = 256
_BATCH_ROWS = 512


@dataclass(frozen=True, slots=True)
class SubmissionText:
    """A submission to be scored; `user_query` None: the one that is for all."""

    name: str
    text: str
    user_query: str | None = None
    target_model: str | None = None


@dataclass(frozen=True, slots=True)
class EvaluateRequest:
    """`mixseek evaluate` as data."""

    submissions: Sequence[SubmissionText]
    workspace: Path
    user_query: str | None = None
    # A file with an [evaluator], or what would stand in one; None: the default metrics.
    evaluator: Path | EvaluationFile | Mapping[str, Any] | None = None
    # The judge of all metrics that name none; wins over the file's.
    judge: str | None = None
    language: Language | None = None
    live: LiveOptions = field(default_factory=LiveOptions)
    configured: Mapping[str, JudgeSettings] = field(default_factory=dict)
    # Where keys are found; never to be shown.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    longest_line: int = LONGEST_LINE_BYTES


@dataclass(frozen=True, slots=True)
class EvaluatePlan:
    """Every part of an evaluation that can be made without asking anybody."""

    request: EvaluateRequest
    scoring: Scoring
    submissions: tuple[SubmissionText, ...]
    judges: tuple[AnyJudge, ...]
    configured: Mapping[str, JudgeSettings]
    prompts: PromptBuilderSettings
    digest: str = ""

    @property
    def journal(self) -> Path:
        """The same for the same request, so that a command given again resumes."""
        return self.request.workspace / "evaluations" / self.digest / "journal.jsonl"

    @property
    def panel(self) -> Panel:
        return Panel(self.judges, self.configured, self.request.live)


def read_submissions(
    path: str, mapping: Mapping[str, str], workspace: Path, longest_line: int = LONGEST_LINE_BYTES
) -> list[SubmissionText]:
    """The rows of a table or a log, each with its `response`, and with a query of its own where it has a `question`."""
    dataset = open_dataset(path, mapping=mapping, spool_directory=Workspace(workspace).spool, longest_line=longest_line)
    samples = [sample for batch in dataset.batches(_BATCH_ROWS) for sample in batch]
    for sample in samples:
        if why := sample.metadata.get(RESPONSE_ERROR):
            raise DatasetError(f"{path}: row {sample.id!r} has no response to evaluate: {why}")
    return [
        SubmissionText(sample.id, sample.response, sample.question or None, sample.target_model) for sample in samples
    ]


def make_evaluate_plan(request: EvaluateRequest) -> EvaluatePlan:
    """Raises ConfigurationError, in one line, for the first thing that cannot work."""
    scoring, task = choose_scoring(request)
    submissions = tuple(with_query(submission, request.user_query or task) for submission in request.submissions)
    if not submissions:
        raise ConfigurationError("nothing to evaluate: give a submission")
    configured = {**request.configured, **scoring.file.judges}
    judges = make_judges(judges_of(scoring), scoring.directory, configured, request.environment, request.longest_line)
    prompts = read_prompts(scoring, request.workspace)
    plan = EvaluatePlan(request, scoring, submissions, judges, configured, prompts)
    with importable_from(scoring.directory):
        evaluator = make_evaluator(scoring, NobodyToAsk(), prompt_builder(plan))
    identity = {
        "metrics": describe_metrics(scoring, evaluator),
        "judges": [describe_judge(judge).without_replies.model_dump(mode="json") for judge in judges],
        "submissions": [
            [submission.name, submission.text, submission.user_query, submission.target_model]
            for submission in submissions
        ],
    }
    text = json.dumps(identity, sort_keys=True).encode("utf-8", "surrogatepass")
    return replace(plan, digest=hashlib.sha256(text).hexdigest()[:16])


def choose_scoring(request: EvaluateRequest) -> tuple[Scoring, str | None]:
    """What scores, with the request's judge and language in it; of a race its task, too."""
    if isinstance(request.evaluator, Path):
        scoring = load_scoring(request.evaluator)
    else:
        metrics = tuple(MetricTable(type=name) for name in DEFAULT_METRICS)
        file = request.evaluator or EvaluationFile(evaluator=EvaluatorTable(metrics=metrics))
        scoring = make_scoring(file, directory=Path.cwd(), where="evaluator")
    overrides = {"judge": request.judge, "language": request.language}
    table = scoring.file.evaluator.model_copy(
        update={name: value for name, value in overrides.items() if value is not None}
    )
    file = scoring.file.model_copy(update={"evaluator": table})
    task = scoring.task if isinstance(scoring, Race) else None
    return Scoring(directory=scoring.directory, file=file), task


def with_query(submission: SubmissionText, user_query: str | None) -> SubmissionText:
    """The query that is for all wins over the row's own; raises ConfigurationError where there is none, or no text."""
    query = user_query or submission.user_query
    if query is None or not query.strip():
        raise ConfigurationError(
            f"submission {submission.name!r}: no query that it answers; give one for all with --query"
        )
    if not submission.text.strip():
        raise ConfigurationError(f"submission {submission.name!r}: is empty; there is nothing to score")
    return replace(submission, user_query=query)


def prompt_builder(plan: EvaluatePlan, fence_key: bytes | None = None) -> UserPromptBuilder:
    """The builder for the evaluator's prompts; there is no leader board."""
    request = plan.request
    language = plan.scoring.file.evaluator_language
    return UserPromptBuilder(
        request.workspace,
        settings=plan.prompts,
        fence_key=fence_key,
        environment=request.environment,
        language=language,
    )


def run_evaluation(
    request: EvaluateRequest, stop: Callable[[], bool] = lambda: False, notify: Callable[[str], None] = lambda _: None
) -> Evaluation:
    """Outside an event loop."""
    return asyncio.run(evaluate(request, stop, notify))


async def evaluate(
    request: EvaluateRequest, stop: Callable[[], bool] = lambda: False, notify: Callable[[str], None] = lambda _: None
) -> Evaluation:
    """Scores what is not scored yet. Raises ConfigurationError before anything is asked, and PermanentJudgeError."""
    plan = make_evaluate_plan(request)
    plan.panel.check_limits()
    for notice in submission_language_notices(plan):
        notify(notice)
    make_directory(plan.journal.parent, "create the evaluation")
    counting = Counting()
    with JournalFile(plan.journal) as journal, importable_from(plan.scoring.directory):
        asking = open_questions(
            plan.panel, journal, request.workspace, counting, environment=request.environment, notify=notify
        )
        async with asking as questions:
            asker = LastingQuestions(questions, request.live.retry_invalid)
            builder = prompt_builder(plan, workspace_key(request.workspace))
            evaluator = make_evaluator(plan.scoring, asker, builder)
            watching = asyncio.create_task(halt_on(stop, questions), name="watch")
            try:
                evaluated, reason = await score_all(plan, evaluator, questions)
            finally:
                watching.cancel()
    return Evaluation(evaluated, evaluator.weights, reason, counting.sent, plan.journal)


async def score_all(
    plan: EvaluatePlan, evaluator: Evaluator, questions: Questions
) -> tuple[tuple[EvaluatedSubmission, ...], str | None]:
    """Every submission in order, and why some were not reached; what stops one, stops all that come after it."""
    places = asyncio.Semaphore(_AT_ONCE)
    reasons: list[str] = []

    async def score(submission: SubmissionText) -> EvaluatedSubmission:
        request = EvaluationRequest(
            str(submission.user_query), submission.text, team_id=submission.name, target_model=submission.target_model
        )
        async with places:
            try:
                result = await evaluator.evaluate(request)
            except STOPPING as error:
                if not reasons:
                    reasons.append(str(error))
                    questions.halt()
                missing = tuple(MissingMetric(metric.name, reasons[0]) for metric in evaluator.metrics)
                result = EvaluationResult(missing, evaluator.weights)
        return EvaluatedSubmission(submission.name, request.user_query, submission.text, result)

    evaluated = await all_of([score(submission) for submission in plan.submissions])
    return tuple(evaluated), reasons[0] if reasons else None


async def halt_on(stop: Callable[[], bool], questions: Questions) -> None:
    """A signal is looked for now and then."""
    while not stop():
        await asyncio.sleep(0.1)
    questions.halt()


def submission_language_notices(plan: EvaluatePlan) -> list[str]:
    """One sentence where judges are asked in another language than the texts', and nobody chose that."""
    if plan.scoring.file.given_language is not None:
        return []
    language = written_in(
        text for submission in plan.submissions[:50] for text in (submission.user_query or "", submission.text)
    )
    asked_language = plan.scoring.file.evaluator_language
    if language is None or language == asked_language:
        return []
    return [
        f"the submissions look like {language!r}, and judges are asked in {asked_language!r}; "
        f"--language {language} changes it"
    ]
