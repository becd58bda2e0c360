"""From a plan to people who can be asked, and teams that can play."""

import asyncio
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from mixseek.competition.free_text import FreeTextProtocol
from mixseek.competition.model_team import ModelTeam
from mixseek.competition.program_teams import CallableTeam, CommandTeam
from mixseek.composition.catalogue import answers_at_once, is_waited_for
from mixseek.composition.compete_plans import CompetePlan, target_model
from mixseek.composition.live_parts import price_of
from mixseek.composition.nonces import key_id
from mixseek.composition.writing import JournalLines
from mixseek.domain.calls import LiveJudge, Usage
from mixseek.domain.judgments import Missing
from mixseek.domain.ports import ProgressSink
from mixseek.engine.asking import Desk
from mixseek.engine.budget import Budget
from mixseek.engine.caching import ReplyCache, RequestKeys
from mixseek.engine.journaling import GroupCommit
from mixseek.engine.limits import AdaptiveLimit, RateLimit
from mixseek.engine.questions import AnsweredBefore, Asker, Questions
from mixseek.engine.retries import RetryPolicy
from mixseek.engine.scheduling import Endpoint, Surroundings
from mixseek.engine.seats import LiveSeat, OfflineSeat, Seat
from mixseek.errors import ConfigurationError
from mixseek.round_controller.teams import Team
from mixseek.settings.judge_settings import JudgeSettings
from mixseek.settings.race import TeamTable
from mixseek.storage.journal import JournalFile, read_records
from mixseek.storage.records import OutcomeRecord, ReplyRecord, SampleRecord
from mixseek.templating.fence import fence_nonce

_NO_PROTOCOL = "0" * 64


def make_questions(
    plan: CompetePlan,
    journal: JournalFile,
    cache: ReplyCache,
    key: bytes,
    progress: ProgressSink,
    tell: Callable[[str], None],
) -> Questions:
    """Everybody of the race at one desk, with what the journal already holds."""
    request = plan.request
    desk = Desk(
        # Each question brings its own.
        protocol=FreeTextProtocol(""),
        encoder=JournalLines(),
        commits=GroupCommit(journal, progress),
        cache=cache,
        budget=Budget(request.max_calls, request.max_cost_usd),
        nonce_of=partial(fence_nonce, key),
    )
    return Questions(desk, make_seats(plan, key_id(key), tell), key_id(key), recall_answers(journal.path))


def make_seats(plan: CompetePlan, nonce_key_id: str, tell: Callable[[str], None]) -> list[Seat]:
    """Judges behind one address share its limits."""
    around = Surroundings(time.monotonic, asyncio.sleep, random.random, tell)
    policy = RetryPolicy(patience_seconds=plan.request.patience_seconds)
    live = [judge for judge in plan.judges if is_waited_for(judge)]
    endpoints = {
        name: Endpoint(
            name,
            AdaptiveLimit(max(concurrency_of(plan, judge) for judge in live if judge.endpoint == name)),
            policy,
            around,
        )
        for name in {judge.endpoint for judge in live}
    }
    seats: list[Seat] = [OfflineSeat(judge) for judge in plan.judges if answers_at_once(judge)]
    return seats + [make_seat(plan, judge, endpoints[judge.endpoint], nonce_key_id) for judge in live]


def check_prices(plan: CompetePlan) -> None:
    """Raises ConfigurationError where money is limited and the price of a judge is not known."""
    if plan.request.max_cost_usd is None:
        return
    for judge in plan.judges:
        if not is_waited_for(judge):
            continue
        price = price_of(judge, plan.configured.get(judge.name, JudgeSettings()))
        if price(Usage(1_000, 100), None) is None:
            raise ConfigurationError(
                f"--max-cost: nobody knows the price of {judge.name}; add price_input and price_output to its "
                "[judges.NAME] table, or use --max-calls"
            )


def make_seat(plan: CompetePlan, judge: LiveJudge, endpoint: Endpoint, nonce_key_id: str) -> LiveSeat:
    """A judge with its own limits."""
    settings = plan.configured.get(judge.name, JudgeSettings())
    return LiveSeat(
        judge=judge,
        endpoint=endpoint,
        keys=RequestKeys(_NO_PROTOCOL, judge.fingerprint, nonce_key_id),
        max_reasks=1 if settings.max_reasks is None else settings.max_reasks,
        price=price_of(judge, settings),
        requests=RateLimit(settings.rpm) if settings.rpm else None,
        tokens=RateLimit(settings.tpm) if settings.tpm else None,
    )


def concurrency_of(plan: CompetePlan, judge: LiveJudge) -> int:
    """The judge's own setting wins; a model in this process knows how many it can hold."""
    own = plan.configured.get(judge.name, JudgeSettings()).concurrency or getattr(judge, "concurrency", None)
    return own if isinstance(own, int) else plan.request.concurrency


def recall_answers(path: Path) -> AnsweredBefore:
    """All replies of an execution: a competition has thousands of them, not millions."""
    before = AnsweredBefore()
    for record in read_records(path):
        match record:
            case SampleRecord(key=key):
                before.introduced.add(key)
            case ReplyRecord(key=key, reply=reply):
                place = (key, reply.judge, reply.details.get("take", 1))
                before.replies[place] = (*before.replies.get(place, ()), reply)
            case OutcomeRecord(key=key, judge=judge, take=take, outcome=outcome):
                if not isinstance(outcome, Missing):
                    before.concluded.add((key, judge, take))
    return before


def make_teams(plan: CompetePlan, asker: Asker) -> list[Team]:
    """In the order of the race."""
    return [make_team(plan, table, asker) for table in plan.race.file.teams]


def make_team(plan: CompetePlan, table: TeamTable, asker: Asker) -> Team:
    """A model, a program or a function."""
    name, directory = table.name or table.id, plan.race.directory
    if table.command is not None:
        return CommandTeam(table.id, name, table.command, directory)
    if table.callable is not None:
        return CallableTeam(table.id, name, table.callable, directory)
    spec = str(table.model)
    instructions = plan.race.instructions[table.id]
    return ModelTeam(table.id, name, spec, plan.execution_id, asker, instructions, target_model(plan, spec))
