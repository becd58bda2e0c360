"""A competition from its race to its leader board."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mixseek.competition.orchestrator import CompetitionResult, Orchestrator
from mixseek.composition.compete_parts import check_prices, make_questions, make_teams
from mixseek.composition.compete_plans import (
    CompetePlan,
    CompeteRequest,
    make_compete_plan,
    make_evaluator,
    make_judgment,
)
from mixseek.composition.leaderboards import read_judging
from mixseek.composition.nonces import workspace_key
from mixseek.engine.caching import NoCache, ReplyCache
from mixseek.engine.questions import LastingQuestions
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.reporting.leaderboard import LeaderBoard, build_leader_board
from mixseek.round_controller.controller import RoundParts
from mixseek.round_controller.decisions import OutagePolicy
from mixseek.round_controller.events import Watcher
from mixseek.round_controller.teams import TimeLimits
from mixseek.settings.import_paths import importable_from
from mixseek.storage.aggregation_connection import Patience
from mixseek.storage.aggregation_store import AggregationStore
from mixseek.storage.durable import storage_error
from mixseek.storage.journal import JournalFile
from mixseek.storage.reply_cache import CACHE_FILE, ReplyCacheFile

# What a stopping race still waits for the store: what was paid for is in the journal already.
_SECONDS_AFTER_STOP = 10.0


@dataclass(frozen=True, slots=True)
class Competition:
    """How it ended: the result, the board as every view shows it, and what this command sent."""

    result: CompetitionResult
    board: LeaderBoard
    counts: Mapping[str, int]
    journal: str


@dataclass
class Counting:
    """What reached the disk."""

    counts: Counter[str] = field(default_factory=Counter)

    def advance(self, counts: Mapping[str, int]) -> None:
        self.counts.update(counts)


def run_competition(
    request: CompeteRequest, watcher: Watcher, stop: Callable[[], bool], tell: Callable[[str], None]
) -> Competition:
    """Plays what is not played yet. Again, it resumes; a finished competition is only shown."""
    plan = make_compete_plan(request)
    check_prices(plan)
    for remark in plan.remarks:
        tell(remark)
    try:
        plan.directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("create the competition", plan.directory, error) from error
    # The journal's lock is the execution's: a second process on it is told so before it asks anything.
    with (
        JournalFile(plan.directory / "journal.jsonl") as journal,
        closing(AggregationStore(request.workspace, patience=wait_while_playing(stop, tell))) as store,
        importable_from(plan.race.directory),
    ):
        # Reply by reply, unlike a run: there are few of them, and each has cost a round's time.
        file = ReplyCacheFile(request.workspace / CACHE_FILE, read_clock) if request.use_cache else None
        try:
            return asyncio.run(compete(plan, journal, store, file or NoCache(), Surveyed(watcher, stop, tell)))
        finally:
            if file is not None:
                file.close()
                for warning in file.warnings:
                    tell(warning)


def wait_while_playing(stop: Callable[[], bool], tell: Callable[[str], None]) -> Patience:
    """Somebody who looks at the store may look as long as they like: a race waits, unless it is told to stop."""
    return Patience(_SECONDS_AFTER_STOP, is_endless=lambda: not stop(), tell=tell)


@dataclass(frozen=True, slots=True)
class Surveyed:
    """Who looks on, and who may stop it."""

    watcher: Watcher
    stop: Callable[[], bool]
    tell: Callable[[str], None]


async def compete(
    plan: CompetePlan, journal: JournalFile, store: AggregationStore, cache: ReplyCache, surveyed: Surveyed
) -> Competition:
    """Connections and programs are given back whatever happens."""
    key = workspace_key(plan.request.workspace)
    counting = Counting()
    prompts = UserPromptBuilder(
        plan.request.workspace,
        store,
        plan.prompts,
        fence_key=key,
        environment=plan.request.environment,
        language=plan.race.file.team_language,
    )
    questions = make_questions(plan, journal, cache, key, counting, surveyed.tell)
    rounds, evaluator = plan.race.file.rounds, plan.race.file.evaluator
    parts = RoundParts(
        execution_id=plan.execution_id,
        task=plan.race.task,
        store=store,
        prompts=prompts,
        evaluator=make_evaluator(plan, LastingQuestions(questions, plan.request.retry_invalid), prompts),
        judgment=make_judgment(plan, questions, prompts),
        rules=plan.rules,
        limits=TimeLimits(rounds.round_timeout_seconds, rounds.team_timeout_seconds),
        on_missing_metric=OutagePolicy(evaluator.on_missing),
        retries_invalid=plan.request.retry_invalid,
        watcher=surveyed.watcher,
        stop=surveyed.stop,
    )
    async with questions:
        orchestrator = Orchestrator(
            parts,
            make_teams(plan, questions),
            plan.configuration,
            parallel_teams=rounds.parallel_teams,
            halt=questions.halt,
        )
        result = await orchestrator.compete()
    execution = next(one for one in await store.executions() if one.execution_id == plan.execution_id)
    board = build_leader_board(execution, result.ranking, result.progress, read_judging(journal.path))
    return Competition(result, board, dict(counting.counts), str(journal.path))


def read_clock() -> datetime:
    return datetime.now(UTC)
