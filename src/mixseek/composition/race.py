"""A race checked and turned into parts before anything is asked or written; and competitions for readers."""

import asyncio
import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.composition.judging.live import Panel, open_cache, open_tracer
from mixseek.composition.judging.request import RULES, LiveOptions, describe_judge
from mixseek.composition.protocols import AnyJudge, get_panel, is_remote
from mixseek.domain.judgments import Method, Missing, Reply
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.domain.rounds import Execution, ExecutionStatus
from mixseek.engine.budget import Budget
from mixseek.engine.call import CallContext, NoCache
from mixseek.engine.journaling import GroupCommit
from mixseek.engine.questions import Answered, AnsweredBefore, Asker, Place, Question, Questions
from mixseek.errors import ConfigurationError
from mixseek.evaluator.evaluator import PROTOCOL_PREFIX, Evaluator, make_metric
from mixseek.evaluator.metrics import (
    BaseMetric,
    Direction,
    JudgeBench,
    LLMJudgeMetric,
    MetricSetting,
    ProtocolMetric,
    usage_of,
)
from mixseek.judges.replay import FileReplayJudge
from mixseek.prompt_builder.builder import UserPromptBuilder, in_language
from mixseek.prompt_builder.constants import DEFAULT_LANGUAGE
from mixseek.prompt_builder.models import PromptBuilderSettings, compile_prompt, find_omissions, load_prompt_settings
from mixseek.protocols.identity import relate
from mixseek.protocols.registry import protocol_names
from mixseek.reporting.leaderboard import CompetitionLine, LeaderBoard, build_leader_board
from mixseek.reporting.pages.leaderboard import render_leader_board
from mixseek.round_controller.controller import JudgmentClient, JudgmentProtocol
from mixseek.round_controller.orchestrator import FreeTextProtocol, check_command
from mixseek.settings.load import importable_from, is_import_path, load_object
from mixseek.settings.models import JudgeSettings
from mixseek.settings.race import JUDGMENT_NAME, MetricTable, Race, Scoring, TeamTable, load_race, read_text
from mixseek.storage.competition import AggregationStore, Patience
from mixseek.storage.durable import write_page
from mixseek.storage.journal import records
from mixseek.storage.journal.journal import JournalFile, is_being_written, read_records
from mixseek.storage.journal.records import ReplyRecord, SampleRecord, make_plain
from mixseek.storage.workspace import LATEST, Workspace, check_run_name, find_name
from mixseek.storage.workspace_key import key_id, workspace_key
from mixseek.templating import fence_nonce

# Competitions for readers: which one is meant, and its board.

# A glance at the board can wait for a writer, who holds the file for moments.
_PATIENCE_SECONDS = 15.0


def load_leader_board(root: Path, name: str | None) -> LeaderBoard:
    """The execution of that name or prefix, or the one started last; also while it is being played."""
    return asyncio.run(_load(root, name))


async def _load(root: Path, name: str | None) -> LeaderBoard:
    with open_store(root) as store:
        execution = as_it_stands(root, find_execution(root, await store.executions(), name))
        progress = await store.progress(execution.execution_id)
        ranking = await store.ranking(execution.execution_id)
    judging = read_judging(journal_path(root, execution.execution_id))
    return build_leader_board(execution, ranking, progress, judging)


def is_competition(root: Path, name: str | None) -> bool:
    """Whether a competition is meant; a run where none is called so, and a run is, or there are only runs."""
    with open_store(root) as store:
        names = [execution.execution_id for execution in asyncio.run(store.executions())]
    runs = [run.name for run in Workspace(root).runs()]
    if name is None or name == LATEST:
        return bool(names) or not runs
    is_run = any(run.startswith(name) for run in runs) or (bool(runs) and not names)
    return any(one.startswith(name) for one in names) or not is_run


def open_store(root: Path) -> "closing[AggregationStore]":
    """Read-only, and waiting for whoever writes just now."""
    return closing(AggregationStore(root, read_only=True, patience=Patience(_PATIENCE_SECONDS)))


def as_it_stands(root: Path, execution: Execution) -> Execution:
    """A process that died could not say so: what nobody is playing any more is interrupted, not running."""
    if execution.status is not ExecutionStatus.RUNNING:
        return execution
    lock = journal_path(root, execution.execution_id).with_suffix(".lock")
    return execution if is_being_written(lock) else replace(execution, status=ExecutionStatus.INTERRUPTED)


def list_competitions(root: Path) -> tuple[CompetitionLine, ...]:
    """The one started last comes first; empty where nobody ever competed."""
    return asyncio.run(_list_competitions(root))


async def _list_competitions(root: Path) -> tuple[CompetitionLine, ...]:
    with open_store(root) as store:
        lines = []
        for stored in await store.executions():
            execution = as_it_stands(root, stored)
            name, started_at = execution.execution_id, execution.started_at.isoformat()
            teams, ranking = (await store.progress(name)).values(), await store.ranking(name)
            rounds = sum(len(team.rounds) for team in teams)
            leader, best = (ranking[0].team_name, ranking[0].best_score) if ranking else (None, None)
            lines.append(CompetitionLine(name, execution.status, len(teams), rounds, leader, best, started_at))
        return tuple(lines)


def journal_path(root: Path, execution_id: str) -> Path:
    """Where every reply of an execution is."""
    return root / "competitions" / execution_id / "journal.jsonl"


def read_judging(journal: Path) -> dict[str, dict[str, Any]]:
    """By team: what the opinions on its progress took. The store keeps opinions, the journal what was paid for them."""
    teams: dict[str, str] = {}
    replies: dict[str, list[Reply]] = {}
    if not journal.is_file():
        return {}
    for record in read_records(journal):
        match record:
            case SampleRecord(key=key, sample=sample) if sample.id.endswith(f"/{JUDGMENT_NAME}"):
                teams[key] = sample.id.partition("/")[0]
            case ReplyRecord(key=key, reply=reply) if key in teams:
                replies.setdefault(teams[key], []).append(reply)
            case _:
                pass
    return {team: usage_of(paid) for team, paid in replies.items()}


def find_execution(root: Path, executions: Sequence[Execution], name: str | None) -> Execution:
    """Raises ConfigurationError with the names that are close, or with how to begin."""
    if not executions:
        raise ConfigurationError(f"{root}: no competitions here; start one with `mixseek compete`, or name --workspace")
    if name is None or name == LATEST:
        return executions[0]
    by_name = {execution.execution_id: execution for execution in executions}
    return by_name[find_name(name, list(by_name), root, "execution")]


def write_leader_board(board: LeaderBoard, path: Path) -> None:
    """One self-contained file, wholly there or not at all."""
    write_page(render_leader_board(board), path, "leaderboard.html")


_REPLAY = "replay:"


@dataclass(frozen=True, slots=True)
class CompeteRequest:
    """`mixseek compete` as data."""

    # A file, or a race that was made without one.
    race: Path | Race
    workspace: Path
    execution: str | None = None
    # `retry_invalid` asks again for metric replies that cannot be used.
    live: LiveOptions = field(default_factory=LiveOptions)
    configured: Mapping[str, JudgeSettings] = field(default_factory=dict)
    # Where keys are found; never to be shown.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    longest_line: int = LONGEST_LINE_BYTES


@dataclass(frozen=True, slots=True)
class CompetePlan:
    """Every part of a competition that can be made without asking anybody."""

    request: CompeteRequest
    race: Race
    execution_id: str
    configuration: Mapping[str, Any]
    judges: tuple[AnyJudge, ...]
    configured: Mapping[str, JudgeSettings]
    prompts: PromptBuilderSettings
    # By team: the metrics whose judge is the model that plays.
    self_judged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def journal(self) -> Path:
        return journal_path(self.request.workspace, self.execution_id)

    @property
    def remarks(self) -> list[str]:
        """What may be meant, but rarely is; a line each."""
        return [
            *(f"prompts.{omission}" for omission in find_omissions(self.prompts)),
            *(
                f"team {team}: its own model judges {', '.join(names)}; its scores are shown apart and rank nobody"
                for team, names in self.self_judged.items()
            ),
        ]


class NobodyToAsk:
    """Stands in while a race is only checked."""

    async def ask(self, question: Question) -> Answered:
        raise AssertionError("a check asks nobody")


def make_compete_plan(request: CompeteRequest) -> CompetePlan:
    """Raises ConfigurationError, in one line, for the first thing that cannot work."""
    race = load_race(request.race) if isinstance(request.race, Path) else request.race
    configured = {**request.configured, **race.file.judges}
    judgment = race.file.judgment
    named = [*(team.model for team in race.file.teams), *judges_of(race), None if judgment is None else judgment.judge]
    judges = make_judges(named, race.directory, configured, request.environment, request.longest_line)
    plan = CompetePlan(request, race, "", {}, judges, configured, read_prompts(race, request.workspace))
    with importable_from(race.directory):
        builder = UserPromptBuilder(
            settings=plan.prompts, environment=request.environment, language=race.file.team_language
        )
        for language in dict.fromkeys((builder.language, race.file.evaluator_language, race.file.judgment_language)):
            builder.speaking(language).try_templates(race.task, race.file.rounds.max)
        evaluator = make_evaluator(race, NobodyToAsk(), builder)
        make_judgment(plan, NobodyToAsk(), builder)
        for team in race.file.teams:
            check_team(team, race)
    plan = replace(plan, self_judged=find_self_judged(plan, evaluator))
    configuration = describe_race(plan, evaluator)
    digest = hashlib.sha256(json.dumps([race.task, configuration], sort_keys=True).encode()).hexdigest()
    execution = check_run_name(request.execution or f"{race.name}-{digest[:8]}")
    return replace(plan, execution_id=execution, configuration=configuration)


def judges_of(scoring: Scoring) -> list[str | None]:
    """Of each metric."""
    table = scoring.file.evaluator
    return [metric.judge or table.judge for metric in table.metrics]


def make_judges(
    named: Sequence[str | None],
    directory: Path,
    configured: Mapping[str, JudgeSettings],
    environment: Mapping[str, str],
    longest_line: int,
) -> tuple[AnyJudge, ...]:
    """Everybody who may be asked, once; files of recorded replies lie in the directory of the file that names them."""
    specs = list(dict.fromkeys(spec for spec in named if spec is not None))
    if "replay" in specs:
        raise ConfigurationError("judge 'replay': here is no dataset with replies in it; write replay:FILE")
    asked = [spec for spec in specs if not spec.startswith(_REPLAY)]
    replays: list[AnyJudge] = [
        FileReplayJudge.open(directory / spec.removeprefix(_REPLAY), spec, longest_line=longest_line)
        for spec in specs
        if spec not in asked
    ]
    return (*(get_panel(asked, configured, environment) if asked else ()), *replays)


def read_prompts(scoring: Scoring, workspace: Path) -> PromptBuilderSettings:
    """The file's own templates before those of the workspace; each is compiled."""
    settings = load_prompt_settings(workspace)
    given = scoring.file.prompts.model_dump(exclude_none=True)
    for name, text in given.items():
        if not text.strip():
            raise ConfigurationError(f"prompts.{name}: prompt template cannot be empty")
        compile_prompt(name, text)
    return settings.model_copy(update=given)


def make_evaluator(scoring: Scoring, asker: Asker, builder: UserPromptBuilder) -> Evaluator:
    """All metrics with their weights."""
    table = scoring.file.evaluator
    metrics = [make_one_metric(scoring, one, asker, builder) for one in table.metrics]
    weights = {one.shown_name: one.weight for one in table.metrics}
    return Evaluator(metrics, weights, metric_seconds=table.metric_timeout_seconds)


def make_one_metric(scoring: Scoring, table: MetricTable, asker: Asker, builder: UserPromptBuilder) -> BaseMetric:
    """A metric with its judge; rules can judge by a protocol that has some, and by nothing else."""
    judge = table.judge or scoring.file.evaluator.judge
    setting = MetricSetting(table.shown_name, read_options(scoring, table), Direction(table.direction))
    language = scoring.file.evaluator_language
    bench = JudgeBench(asker, builder.speaking(language), judge or "", language)
    metric = make_metric(beside_file(table.type, scoring), setting, bench, scoring.file.given_language)
    if isinstance(metric, LLMJudgeMetric | ProtocolMetric) and judge is None:
        raise ConfigurationError(
            f"metric {metric.name}: no judge; give it one, or name one for all of them with evaluator.judge"
        )
    if isinstance(metric, LLMJudgeMetric) and judge == RULES:
        raise ConfigurationError(f"metric {metric.name}: rules cannot judge {table.type}; name a model")
    return metric


def beside_file(kind: str, scoring: Scoring) -> str:
    """The metric's type, with the file of a protocol found where every other file of a race is: beside it."""
    file = kind.removeprefix(PROTOCOL_PREFIX)
    if file == kind or file in protocol_names():
        return kind
    return f"{PROTOCOL_PREFIX}{scoring.directory / file}"


def read_options(scoring: Scoring, table: MetricTable) -> dict[str, Any]:
    """A task rubric is a page of its own: `rubric_file` names it beside the race."""
    options = dict(table.options)
    if "rubric_file" in options and not is_import_path(table.type):
        path = scoring.directory / str(options.pop("rubric_file"))
        options["rubric"] = read_text(path, f"metric {table.shown_name}: rubric_file")
    return options


def make_judgment(plan: CompetePlan, asker: Asker, builder: UserPromptBuilder) -> JudgmentClient | None:
    """None where the race names nobody."""
    table = plan.race.file.judgment
    if table is None:
        return None
    if table.judge == RULES:
        raise ConfigurationError("judgment.judge: rules have no opinion; name a model, or use rounds.no_gain_rounds")
    language = plan.race.file.judgment_language
    return JudgmentClient(asker, builder.speaking(language), table.judge, language=language)


def check_team(team: TeamTable, race: Race) -> None:
    """That its program or function is there; a model cannot be asked without paying."""
    where = f"teams.{team.id}"
    if team.model == RULES:
        raise ConfigurationError(f"{where}: rules write no submissions; name a model")
    if team.command is not None:
        check_command(team.command, race.directory, where)
    if team.callable is not None and not callable(load_object(team.callable, where)):
        raise ConfigurationError(f"{where}: {team.callable} cannot be called")


def describe_race(plan: CompetePlan, evaluator: Evaluator) -> dict[str, Any]:
    """What makes a race another one. Not what teams are called, nor how long or how many at once they may work."""
    race, file = plan.race, plan.race.file
    who = {"id", "model", "command", "callable"}
    teams = [
        team.model_dump(include=who, exclude_none=True, mode="json") | {"instructions": race.instructions[team.id]}
        for team in file.teams
    ]
    hidden = {"round_timeout_seconds", "team_timeout_seconds", "parallel_teams"}
    languages = {"team": file.team_language, "evaluator": file.evaluator_language, "judgment": file.judgment_language}
    prompts = {
        (field := f"{reader}_user_prompt"): getattr(in_language(plan.prompts, language), field)
        for reader, language in languages.items()
    }
    judgment = None
    if file.judgment is not None:
        asked = JudgmentProtocol("", prompts["judgment_user_prompt"], file.judgment_language).hash
        judgment = file.judgment.model_dump(mode="json") | {"language": file.judgment_language, "asked": asked}
    return {
        # Japanese goes without saying: executions that were begun before there was a choice can be resumed.
        **({} if file.team_language == DEFAULT_LANGUAGE else {"language": file.team_language}),
        "teams": teams,
        "evaluator": {
            **file.evaluator.model_dump(mode="json", exclude={"allow_self", "metric_timeout_seconds", "metrics"}),
            "language": file.evaluator_language,
            "metrics": describe_metrics(race, evaluator),
        },
        "judgment": judgment,
        "rounds": file.rounds.model_dump(mode="json", exclude=hidden),
        "prompts": prompts,
        # Replies may be added to a file while the race is on; whoever corrects one names another execution.
        "judges": [describe_judge(judge).without_replies.model_dump(mode="json") for judge in plan.judges],
    }


def describe_metrics(scoring: Scoring, evaluator: Evaluator) -> list[dict[str, Any]]:
    """What makes a score another one."""
    return [
        table.model_dump(mode="json", exclude={"options"})
        # TOML knows dates and NaN; JSON does not.
        | {"options": make_plain(read_options(scoring, table))}
        # What its judge is asked, to the letter: scores of different prompts do not stand on one board.
        | {"asked": metric.protocol.hash if isinstance(metric, LLMJudgeMetric | ProtocolMetric) else None}
        for table, metric in zip(scoring.file.evaluator.metrics, evaluator.metrics, strict=True)
    ]


def find_self_judged(plan: CompetePlan, evaluator: Evaluator) -> dict[str, tuple[str, ...]]:
    """The identity rule of every judgment (seed 003 §1), before anything is asked; replies say it again for themselves.

    Raises ConfigurationError where every judge is a team and nobody said that this is meant.
    """
    table = plan.race.file.evaluator
    specs = [metric.judge or table.judge for metric in table.metrics]
    # None: the rules, a metric without a judge, or recorded replies, which name their judge themselves.
    judging = [
        (metric.name, spec, model_name(plan, spec) if spec is not None else None)
        if isinstance(metric, LLMJudgeMetric | ProtocolMetric)
        else (metric.name, None, None)
        for metric, spec in zip(evaluator.metrics, specs, strict=True)
    ]
    self_judged: dict[str, tuple[str, ...]] = {}
    judged_by_a_team: set[str] = set()
    for team in plan.race.file.teams:
        author = (model_name(plan, team.model) if team.model is not None else None) or team.id
        names = tuple(name for name, _, model in judging if relate(model, author).method is Method.SELF_JUDGE)
        if names:
            self_judged[team.id] = names
            judged_by_a_team.update(names)
    if not table.allow_self and judged_by_a_team.issuperset(name for name, _, _ in judging):
        who = ", ".join(dict.fromkeys(str(spec) for _, spec, _ in judging))
        teams = ", ".join(self_judged)
        raise ConfigurationError(
            f"evaluator.judge: {who} judges, and is itself a team ({teams}); what a model says of its own work ranks "
            "nobody: name a judge that does not play, or write allow_self = true under [evaluator] to play all the same"
        )
    return self_judged


def model_name(plan: CompetePlan, spec: str) -> str | None:
    """The model's own name; of recorded replies nobody knows who wrote them."""
    judge = next(judge for judge in plan.judges if judge.name == spec)
    if not is_remote(judge):
        return None
    model = judge.description.get("model")
    return model if isinstance(model, str) else spec


# Single questions of a competition or an evaluation: journaled before they count, cached, and asked for once.

_NO_PROTOCOL = "0" * 64


class Counting(Counter[str]):
    """What reached the disk."""

    def advance(self, counts: Mapping[str, int]) -> None:
        self.update(counts)

    @property
    def sent(self) -> dict[str, int | float]:
        """For programs: calls, replies that the cache had, and US dollars as far as prices are known."""
        return {"calls": self["calls"], "cached": self["cached"], "cost_usd": self["cost_millionths"] / 1_000_000}


def recall_answers(path: Path) -> AnsweredBefore:
    """All replies of an execution: a competition has thousands of them, not millions."""
    before = AnsweredBefore()
    for record in read_records(path):
        match record:
            case records.SampleRecord(key=key):
                before.introduced.add(key)
            case records.ReplyRecord(key=key, reply=reply):
                place = Place(key, reply.judge, reply.details.get("take", 1))
                before.replies[place] = (*before.replies.get(place, ()), reply)
            case records.OutcomeRecord(key=key, judge=judge, take=take, outcome=outcome):
                if not isinstance(outcome, Missing):
                    before.concluded.add(Place(key, judge, take))
    return before


@contextlib.asynccontextmanager
async def open_questions(
    panel: Panel,
    journal: JournalFile,
    root: Path,
    counting: Counting,
    *,
    environment: Mapping[str, str],
    notify: Callable[[str], None],
) -> AsyncIterator[Questions]:
    """The panel before its endpoints, with what the journal and the workspace know; connections are given back."""
    options, key = panel.options, workspace_key(root)
    with (
        # Reply by reply, unlike a run: there are few of them, and each has cost a round's time.
        open_cache(root, is_wanted=options.use_cache, notify=notify) as cache,
        open_tracer(environment) as tracer,
    ):
        context = CallContext(
            # Each question brings its own.
            protocol=FreeTextProtocol(""),
            encoder=records,
            commits=GroupCommit(journal, counting),
            cache=cache or NoCache(),
            budget=Budget(options.max_calls, options.max_cost_usd),
            nonce_of=partial(fence_nonce, key),
        )
        slots = panel.make_slots(_NO_PROTOCOL, key, notify, tracer)
        async with Questions(context, slots, key_id(key), recall_answers(journal.path)) as questions:
            yield questions
