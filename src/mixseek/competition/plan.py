"""A race checked and turned into parts before anything is asked or written."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from mixseek.competition.boards import journal_path
from mixseek.domain.judgments import Method
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.engine.questions import Answered, Asker, Question
from mixseek.errors import ConfigurationError
from mixseek.evaluator.evaluator import PROTOCOL_PREFIX, Evaluator, make_metric
from mixseek.evaluator.metrics import BaseMetric, JudgeBench, LLMJudgeMetric, MetricSetting, ProtocolMetric
from mixseek.evaluator.scores import Direction
from mixseek.judges.replay import FileReplayJudge
from mixseek.lazy_dataclass import dataclass
from mixseek.prompt_builder.builder import UserPromptBuilder, in_language
from mixseek.prompt_builder.constants import DEFAULT_LANGUAGE
from mixseek.prompt_builder.models import PromptBuilderSettings, compile_prompt, find_omissions, load_prompt_settings
from mixseek.protocols.identity import relate
from mixseek.protocols.registry import names_version, protocol_names
from mixseek.round_controller.judgment_client import JudgmentClient, JudgmentProtocol
from mixseek.round_controller.program_teams import check_command
from mixseek.runs.requests.manifest_entries import describe_judge
from mixseek.runs.requests.named import AnyJudge, get_panel, is_remote
from mixseek.runs.requests.request import RULES, LiveOptions
from mixseek.settings.load import importable_from, is_import_path, load_object
from mixseek.settings.models import JudgeSettings
from mixseek.settings.race import MetricTable, Race, Scoring, TeamTable, load_race, read_text
from mixseek.storage.journal.records import make_plain
from mixseek.storage.workspace import check_run_name

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
    """The judge of each metric."""
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
    live = [spec for spec in specs if not spec.startswith(_REPLAY)]
    replays: list[AnyJudge] = [
        FileReplayJudge.open(directory / spec.removeprefix(_REPLAY), spec, longest_line=longest_line)
        for spec in specs
        if spec not in live
    ]
    return (*(get_panel(live, configured, environment) if live else ()), *replays)


def read_prompts(scoring: Scoring, workspace: Path) -> PromptBuilderSettings:
    """The file's own templates before those of the workspace; each is compiled."""
    settings = load_prompt_settings(workspace)
    templates = scoring.file.prompts.model_dump(exclude_none=True)
    for name, text in templates.items():
        if not text.strip():
            raise ConfigurationError(f"prompts.{name}: prompt template cannot be empty")
        compile_prompt(name, text)
    return settings.model_copy(update=templates)


def make_evaluator(scoring: Scoring, asker: Asker, builder: UserPromptBuilder) -> Evaluator:
    """All metrics with their weights."""
    table = scoring.file.evaluator
    metrics = [make_one_metric(scoring, metric, asker, builder) for metric in table.metrics]
    weights = {metric.shown_name: metric.weight for metric in table.metrics}
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
    if file == kind or file in protocol_names() or names_version(file):
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
        protocol_hash = JudgmentProtocol("", prompts["judgment_user_prompt"], file.judgment_language).hash
        judgment = file.judgment.model_dump(mode="json") | {"language": file.judgment_language, "asked": protocol_hash}
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
