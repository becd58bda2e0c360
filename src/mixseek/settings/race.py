"""What race.toml may say (task, teams, evaluator with metrics, judgment, rounds, prompts, judges), and reading it.

Its part that scores submissions may stand alone: that is an evaluation without a race.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.settings.load import explaining_failures
from mixseek.settings.models import JudgeSettings, Language, Table
from mixseek.settings.text_files import decode_text, parse_toml, read_bounded

# In the names of replies it stands where a metric's name would.
JUDGMENT_NAME = "judgment"
# What happens when a judge that should have spoken is out.
OutagePolicy = Literal["continue", "stop"]
_DEFAULT_LANGUAGE: Language = "ja"
_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"


class TeamTable(Table):
    """One `[[teams]]` table: exactly one of `model`, `command` and `callable` says who answers."""

    id: str = Field(pattern=_NAME, max_length=80)
    name: str | None = Field(default=None, min_length=1, max_length=200)
    # A judge spec, or the name of a [judges.NAME] table.
    model: str | None = None
    instructions: str | None = None
    instructions_file: str | None = None
    # A program and its arguments; the prompt is on its stdin.
    command: tuple[str, ...] | None = Field(default=None, min_length=1)
    # package.module:function, called with the prompt and the number of the round.
    callable: str | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [name for name in ("model", "command", "callable") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"team {self.id!r} needs exactly one of model, command and callable, not {given or 'none'}"
            )
        if self.model is None and (self.instructions is not None or self.instructions_file is not None):
            raise ValueError(f"team {self.id!r}: instructions are for a model; a {given[0]} has its own")
        if self.instructions is not None and self.instructions_file is not None:
            raise ValueError(f"team {self.id!r}: give instructions or instructions_file, not both")
        if self.name is not None and not self.name.strip():
            raise ValueError(f"team {self.id!r}: name is blank; give it one, or none")
        if self.command is not None and not all(self.command):
            raise ValueError(f"team {self.id!r}: command has an empty part")
        return self


class MetricTable(Table):
    """One `[[evaluator.metrics]]` table."""

    # A built-in, a protocol, or package.module:Class.
    type: str = Field(min_length=1)
    # Tells two metrics of one type apart; the type's own name otherwise.
    name: str | None = Field(default=None, pattern=_NAME, max_length=80)
    weight: float | None = Field(default=None, strict=True)
    judge: str | None = None
    direction: Literal["higher", "lower"] = "higher"
    options: dict[str, Any] = Field(default_factory=dict)

    @property
    def shown_name(self) -> str:
        return self.name or self.type.rpartition(":")[2]


class EvaluatorTable(Table):
    """`[evaluator]`: the judge of all metrics that name none of their own."""

    judge: str | None = None
    # None: the race's own.
    language: Language | None = None
    # What becomes of a team whose round got no score because a metric is missing.
    on_missing: OutagePolicy = "continue"
    # Whether a race may be played whose every judge is one of the teams; their own scores rank nobody, then as ever.
    allow_self: bool = Field(default=False, strict=True)
    # For metrics that are not ours: a judge has its own timeout.
    metric_timeout_seconds: float = Field(default=600.0, strict=True, gt=0)
    metrics: tuple[MetricTable, ...] = Field(min_length=1)

    @field_validator("metrics")
    @classmethod
    def _names_are_unique(cls, metrics: tuple[MetricTable, ...]) -> tuple[MetricTable, ...]:
        names = [metric.shown_name for metric in metrics]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two metrics are called {name!r}; give one of them a name")
        if JUDGMENT_NAME in names:
            raise ValueError(f"{JUDGMENT_NAME!r} is the judge of progress; give the metric another name")
        return metrics


class JudgmentTable(Table):
    """`[judgment]`: who says whether another round is worth it; without this table nobody is asked."""

    judge: str
    # None: the race's own.
    language: Language | None = None
    on_outage: OutagePolicy = "continue"
    # Its opinion on a round that will not be played changes nothing, and is still worth reading.
    after_last_round: bool = True


class RoundsTable(Table):
    """`[rounds]`: how long it may take. The last three change nothing about what is asked."""

    min: int = Field(default=2, strict=True, ge=1, le=1000)
    max: int = Field(default=5, strict=True, ge=1, le=1000)
    # Stop after so many rounds without a better score; needs no model.
    no_gain_rounds: int | None = Field(default=None, strict=True, ge=1)
    min_gain: float = Field(default=0.0, strict=True, ge=0, le=100)
    # Of the team's own time, in seconds.
    round_timeout_seconds: float | None = Field(default=None, strict=True, gt=0)
    team_timeout_seconds: float | None = Field(default=None, strict=True, gt=0)
    parallel_teams: int = Field(default=8, strict=True, ge=1, le=256)

    @model_validator(mode="after")
    def _minimum_is_below_maximum(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min is {self.min} and max is {self.max}; expected min <= max")
        return self


class PromptsTable(Table):
    """`[prompts]`: templates for this race; they win over those of the workspace and the environment."""

    team_user_prompt: str | None = None
    evaluator_user_prompt: str | None = None
    judgment_user_prompt: str | None = None


class EvaluationFile(Table):
    """What scores submissions: the file of `mixseek evaluate --evaluator`, and a part of every race."""

    # Of everything that teams and judges are shown around the texts of others; None: the evaluator's, else Japanese.
    language: Language | None = None
    evaluator: EvaluatorTable
    prompts: PromptsTable = PromptsTable()
    # Beside those of mixseek.toml, and before them.
    judges: dict[str, JudgeSettings] = Field(default_factory=dict)

    @property
    def given_language(self) -> Language | None:
        """The language for metrics that are protocols: those have their own, unless somebody asks for another."""
        return self.evaluator.language or self.language

    @property
    def evaluator_language(self) -> Language:
        return self.given_language or _DEFAULT_LANGUAGE


class RaceFile(EvaluationFile):
    """All of `race.toml`."""

    task: str | None = None
    task_file: str | None = None
    teams: tuple[TeamTable, ...] = Field(min_length=1)
    judgment: JudgmentTable | None = None
    rounds: RoundsTable = RoundsTable()

    @property
    def team_language(self) -> Language:
        return self.language or self.evaluator.language or _DEFAULT_LANGUAGE

    @property
    def judgment_language(self) -> Language:
        language = None if self.judgment is None else self.judgment.language
        return language or self.team_language

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.task is None) == (self.task_file is None):
            raise ValueError("give the task either as task or as task_file")
        ids = [team.id for team in self.teams]
        for team_id in ids:
            if ids.count(team_id) > 1:
                raise ValueError(f"two teams have the id {team_id!r}")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """What scores submissions; paths in it are relative to `directory`."""

    directory: Path
    file: EvaluationFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Race(Scoring):
    """A race with its texts read."""

    name: str
    task: str
    file: RaceFile
    instructions: Mapping[str, str]  # by team id


def load_race(path: Path) -> Race:
    """Raises ConfigurationError naming the file, the key, and the nearest key that exists."""
    with explaining_failures(path, RaceFile):
        document = parse_toml(decode_text(read_bounded(path)))
    return make_race(document, name=path.stem, directory=path.resolve().parent, where=str(path))


def make_race(document: Mapping[str, Any] | RaceFile, *, name: str, directory: Path, where: str) -> Race:
    """A race that is given as it would stand in a file; `where` is what messages call it."""
    with explaining_failures(where, RaceFile):
        file = RaceFile.model_validate(document)
    task = read_text(directory / file.task_file, "task_file") if file.task_file is not None else str(file.task)
    if not task.strip():
        raise ConfigurationError(f"{where}: the task is empty")
    # Empty where a model is to be left alone.
    instructions = {team.id: team.instructions or "" for team in file.teams}
    for team in file.teams:
        if team.instructions_file is not None:
            key = f"teams.{team.id}.instructions_file"
            instructions[team.id] = read_text(directory / team.instructions_file, key)
    return Race(name=name, directory=directory, task=task, file=file, instructions=instructions)


def load_scoring(path: Path) -> Scoring:
    """The scoring of a file with an `[evaluator]`; a whole race is one, too, and then its task comes with it."""
    with explaining_failures(path, EvaluationFile):
        document = parse_toml(decode_text(read_bounded(path)))
    directory = path.resolve().parent
    if "teams" in document:
        return make_race(document, name=path.stem, directory=directory, where=str(path))
    return make_scoring(document, directory=directory, where=str(path))


def make_scoring(document: Mapping[str, Any] | EvaluationFile, *, directory: Path, where: str) -> Scoring:
    """The scoring as it would stand in a file; `where` is what messages call it."""
    with explaining_failures(where, EvaluationFile):
        return Scoring(directory=directory, file=EvaluationFile.model_validate(document))


def read_text(path: Path, where: str) -> str:
    """UTF-8, to the letter but for a byte-order mark; `where` is the key that names the file."""
    with explaining_failures(f"{where}: {path}"):
        return decode_text(read_bounded(path))
