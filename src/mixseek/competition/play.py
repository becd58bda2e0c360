"""A competition from its race to its leader board."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import closing

from mixseek.competition.boards import read_judging
from mixseek.competition.plan import (
    CompetePlan,
    CompeteRequest,
    NobodyToAsk,
    make_compete_plan,
    make_evaluator,
    make_judgment,
    model_name,
)
from mixseek.competition.questions import Counting, open_questions
from mixseek.competition.sessions import Patience
from mixseek.competition.store import AggregationStore
from mixseek.competition.views.board import LeaderBoard, build_leader_board
from mixseek.competition.views.forecast import CallForecast, CompeteForecast
from mixseek.engine.questions import Asker, LastingQuestions, Questions
from mixseek.evaluator.metrics import LLMJudgeMetric, ProtocolMetric
from mixseek.lazy_dataclass import dataclass
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.round_controller.controller import RoundParts
from mixseek.round_controller.model_team import ModelTeam
from mixseek.round_controller.orchestrator import CompetitionResult, Orchestrator
from mixseek.round_controller.program_teams import CallableTeam, CommandTeam
from mixseek.round_controller.team import AfterRound, Team, Watcher, watch_nothing
from mixseek.runs.live import Panel
from mixseek.runs.requests.named import is_remote
from mixseek.settings.load import importable_from
from mixseek.settings.race import TeamTable
from mixseek.storage.durable import make_directory
from mixseek.storage.journal.journal import JournalFile, says_nothing
from mixseek.storage.workspace_key import workspace_key


def panel_of(plan: CompetePlan) -> Panel:
    """Everybody of the race who is asked."""
    return Panel(plan.judges, plan.configured, plan.request.live)


def make_team(plan: CompetePlan, table: TeamTable, asker: Asker) -> Team:
    """A model, a program or a function."""
    name, directory = table.name or table.id, plan.race.directory
    if table.command is not None:
        return CommandTeam(table.id, name, table.command, directory)
    if table.callable is not None:
        return CallableTeam(table.id, name, table.callable, directory)
    spec = str(table.model)
    instructions = plan.race.instructions[table.id]
    return ModelTeam(table.id, name, spec, plan.execution_id, asker, instructions, model_name(plan, spec))


# What a competition would ask, before it asks anything.


def forecast_competition(request: CompeteRequest) -> CompeteForecast:
    """Checks the whole race; sends nothing and writes nothing."""
    plan = make_compete_plan(request)
    panel_of(plan).check_limits()
    file, rounds = plan.race.file, plan.race.file.rounds
    least = count_calls(plan, rounds.min)
    most = count_calls(plan, rounds.max)
    calls = tuple(
        CallForecast(judge.name, least[judge.name], most[judge.name]) for judge in plan.judges if is_remote(judge)
    )
    names = tuple(metric.shown_name for metric in file.evaluator.metrics)
    return CompeteForecast(
        plan.execution_id,
        len(file.teams),
        names,
        rounds.min,
        rounds.max,
        calls,
        tuple(plan.remarks),
        plan.self_judged,
    )


def count_calls(plan: CompetePlan, rounds: int) -> Counter[str]:
    """The calls by judge, when every team plays so many rounds."""
    file, calls = plan.race.file, Counter[str]()
    for team in file.teams:
        if team.model is not None:
            calls[team.model] += rounds
    with importable_from(plan.race.directory):
        evaluator = make_evaluator(plan.race, NobodyToAsk(), UserPromptBuilder(settings=plan.prompts))
    for metric, table in zip(evaluator.metrics, file.evaluator.metrics, strict=True):
        judge = table.judge or file.evaluator.judge
        if isinstance(metric, LLMJudgeMetric | ProtocolMetric) and judge is not None:
            calls[judge] += rounds * len(file.teams)
    if file.judgment is not None:
        # From the minimum on; after the very last round only for the sake of its opinion.
        opinions = rounds - file.rounds.min + 1
        if rounds == file.rounds.max and not file.judgment.after_last_round:
            opinions -= 1
        calls[file.judgment.judge] += opinions * len(file.teams)
    return calls


# What a stopping race still waits for the store: what was paid for is in the journal already.
_SECONDS_AFTER_STOP = 10.0


@dataclass(frozen=True, slots=True)
class Competition:
    """How it ended: the result, the board as every view shows it, and what this command sent."""

    result: CompetitionResult
    board: LeaderBoard
    counts: Counting


@dataclass(frozen=True, slots=True)
class CompetitionObserver:
    """Who looks on. `notify` gets a sentence where a person would otherwise wonder; `stop` is asked now and then."""

    watcher: Watcher = watch_nothing
    stop: Callable[[], bool] = lambda: False
    notify: Callable[[str], None] = lambda _: None
    after_round: AfterRound | None = None


def run_competition(request: CompeteRequest, observer: CompetitionObserver) -> Competition:
    """Plays what is not played yet. Again, it resumes; a finished competition is only shown."""
    return asyncio.run(compete(request, observer))


async def compete(request: CompeteRequest, observer: CompetitionObserver) -> Competition:
    """Raises ConfigurationError before anything is asked or written."""
    plan = make_compete_plan(request)
    panel_of(plan).check_limits()
    for remark in plan.remarks:
        observer.notify(remark)
    make_directory(plan.journal.parent, "create the competition")
    return await play(plan, observer)


async def play(plan: CompetePlan, observer: CompetitionObserver) -> Competition:
    """Connections, programs, the store and the journal are given back whatever happens."""
    stop, notify = observer.stop, observer.notify
    request, counting = plan.request, Counting()
    # Somebody who looks at the store may look as long as they like: a race waits, unless it is told to stop.
    patience = Patience(_SECONDS_AFTER_STOP, is_endless=lambda: not stop(), notify=notify)
    # The journal's lock is the execution's: a second process on it is told so before it asks anything.
    with (
        JournalFile(plan.journal) as journal,
        closing(AggregationStore(request.workspace, patience=patience)) as store,
        importable_from(plan.race.directory),
    ):
        asking = open_questions(
            panel_of(plan), journal, request.workspace, counting, environment=request.environment, notify=notify
        )
        # Of a start that failed before anybody had said or handed in anything, nothing is left, its name least of all.
        if says_nothing(journal.path):
            await store.remove_execution(plan.execution_id, unless_played=True)
        async with asking as questions:
            parts = make_parts(plan, questions, store, observer)
            teams = [make_team(plan, table, questions) for table in plan.race.file.teams]
            parallel = plan.race.file.rounds.parallel_teams
            result = await Orchestrator(
                parts, teams, plan.configuration, parallel_teams=parallel, halt=questions.halt
            ).compete()
        execution = next(
            candidate for candidate in await store.executions() if candidate.execution_id == plan.execution_id
        )
        board = build_leader_board(execution, result.ranking, result.progress, read_judging(journal.path))
        return Competition(result, board, counting)


def make_parts(
    plan: CompetePlan,
    questions: Questions,
    store: AggregationStore,
    observer: CompetitionObserver,
) -> RoundParts:
    """What all teams share."""
    file, request = plan.race.file, plan.request
    prompts = UserPromptBuilder(
        request.workspace,
        store,
        plan.prompts,
        fence_key=workspace_key(request.workspace),
        environment=request.environment,
        language=file.team_language,
    )
    judgment, retries_invalid = file.judgment, request.live.retry_invalid
    return RoundParts(
        execution_id=plan.execution_id,
        task=plan.race.task,
        store=store,
        prompts=prompts,
        evaluator=make_evaluator(plan.race, LastingQuestions(questions, retries_invalid), prompts),
        judgment=make_judgment(plan, questions, prompts),
        rules=file.rounds,
        on_judge_outage="continue" if judgment is None else judgment.on_outage,
        asks_after_last_round=judgment is None or judgment.after_last_round,
        on_missing_metric=file.evaluator.on_missing,
        retries_invalid=retries_invalid,
        watcher=observer.watcher,
        after_round=observer.after_round,
        stop=observer.stop,
    )
