"""A job file as command lines: its keys are the options of `mixseek judge`, read off the command itself.

Nothing about an option is written a second time here. A key is the long option with underscores; its type, range,
default and help are those of the command, whose own parser reads the value.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from pydantic import Field
from typer import TyperException

from mixseek.checks.declare import read_checks
from mixseek.cli.asking.answer import answer
from mixseek.cli.asking.judge import judge
from mixseek.cli.parsing.commands import Command
from mixseek.cli.parsing.old_spellings import renew, renew_key
from mixseek.cli.reading.label import import_sheet
from mixseek.cli.reading.report import archive, export, report
from mixseek.datasets.answer_runs import PREFIX as ANSWERS_PREFIX
from mixseek.errors import ConfigurationError, suggest
from mixseek.lazy_dataclass import dataclass
from mixseek.settings.load import explaining_failures
from mixseek.settings.models import SETTINGS_FILE, JudgeSettings, Table
from mixseek.settings.text_files import decode_text, parse_toml, read_bounded

# Tables of the file that are no options.
_JUDGES, _JOBS, _ANSWERS = "judges", "jobs", "answers"
# A table that is the option `check` by names, and that option.
_CHECKS, _CHECK = "checks", "check"
# In the table of answers: prompts by name, and the questions, which are DATA on a command line.
_VARIANTS, _QUESTIONS, _DATA = "variants", "questions", "data"
# Where jobs may stand beside the settings.
SETTINGS_PATH = Path(SETTINGS_FILE)
# A value that names a place; of a protocol's and a judge's name only some do.
_IS_PLACE = re.compile(r"\b(FILE|DIR|DATA|PATH)\b")
_NAME_OR_FILE, _SPEC, _PARAMETERS = "NAME|FILE", "SPEC", "KEY=VALUE"


def command_of(function: Callable[..., Any]) -> Any:
    """The parsed command; typed Any because typer's own class for it is private."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(cls=Command)(function)
    return typer.main.get_command(app)


def key_of(parameter: Any) -> str:
    """`--fail-under` is `fail_under`; an argument goes by its name."""
    long = [name for name in parameter.opts if name.startswith("--")]
    return (long[0].removeprefix("--") if long else str(parameter.name)).replace("-", "_")


@dataclass(frozen=True, slots=True)
class Step:
    """A command that a job runs after judging; `main` is the key that a plain value stands for."""

    function: Callable[..., Any]
    main: str
    # What the job itself knows.
    of_job: frozenset[str]
    writes: bool = True


STEPS = {
    "labels": Step(import_sheet, "file", frozenset({"workspace", "json"}), writes=False),
    "report": Step(report, "to", frozenset({"runs", "workspace", "json"})),
    "export": Step(export, "to", frozenset({"run", "workspace", "json"})),
    "archive": Step(archive, "to", frozenset({"run", "workspace", "json", "check"})),
}


@dataclass(frozen=True, slots=True)
class Job:
    """`arguments` are those of `mixseek judge`; `steps` hold those of the commands that come after it."""

    name: str
    arguments: tuple[str, ...]
    steps: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class AnswersJob:
    """The table of answers: `arguments` are those of `mixseek answer`, variants stand apart since they may be texts."""

    run: str
    arguments: tuple[str, ...]
    variants: Mapping[str, Any]

    @property
    def data(self) -> str:
        """What jobs judge that name no data."""
        return f"{ANSWERS_PREFIX}{self.run}"


@dataclass(frozen=True, slots=True)
class JobFile:
    """Every job with every value parsed once; `judges` are those of the file."""

    path: Path
    jobs: tuple[Job, ...]
    judges: Mapping[str, JudgeSettings]
    # Asked before any job begins; None where the file has none, or no chosen job is about them.
    answers: AnswersJob | None = None


class JudgesTable(Table):
    """The part of a job file that mixseek.toml has as well."""

    judges: dict[str, JudgeSettings] = Field(default_factory=dict)


def read_jobs(path: Path, names: Sequence[str], run_options: frozenset[str]) -> JobFile:
    """The jobs that are named, or all; `run_options` are those of `mixseek run`. Raises ConfigurationError."""
    with explaining_failures(path, JudgesTable):
        document = parse_toml(decode_text(read_bounded(path)))
        if path == SETTINGS_PATH:
            # The rest of it are settings, its judges among them, which every command reads by itself.
            document = {_JOBS: document.get(_JOBS)}
            if document[_JOBS] is None:
                raise ConfigurationError(f"{path}: no [jobs.NAME] in it; write one, or name a file: run JOB.toml")
        judge_tables = document.pop(_JUDGES, {})
        if isinstance(judge_tables, list | str):
            raise ConfigurationError(
                f'{path}: judges: these are tables, [judges.NAME]; who judges is judge = ["rules"] or judge = "NAME"'
            )
        judges = JudgesTable.model_validate({_JUDGES: judge_tables}).judges
    answers_table = document.pop(_ANSWERS, None)
    tables = document.pop(_JOBS, None)
    if tables is None:
        # A file may ask for answers and judge nothing yet.
        tables = {path.stem: {}} if answers_table is None or set(document) - {"workspace"} else {}
    if (
        not isinstance(tables, dict)
        or not (tables or answers_table)
        or not all(isinstance(table, dict) for table in tables.values())
    ):
        raise ConfigurationError(f"{path}: jobs: write each job as a table of its own, [jobs.NAME]")
    reader = JobReader(path, run_options)
    answers = None if answers_table is None else reader.read_answers(answers_table, document)
    if answers is not None:
        document.setdefault(_DATA, answers.data)
    reader.check_keys(document, None)
    for name, table in tables.items():
        reader.check_keys(table, name)
    jobs = tuple(reader.read(name, {**document, **tables[name]}, tables[name]) for name in chosen(path, tables, names))
    refuse_shared_targets(path, jobs)
    judges = {name: reader.place_model(settings) for name, settings in judges.items()}
    is_asked = answers is not None and (not jobs or any(answers.data in job.arguments for job in jobs))
    return JobFile(path, jobs, judges, answers if is_asked else None)


def find_file(word: Path | None, names: Sequence[str]) -> tuple[Path, tuple[str, ...]]:
    """The file and the names of its jobs: a first word that can be no file is a job of mixseek.toml."""
    if word is not None and (word.is_file() or looks_like_file(str(word)) or not SETTINGS_PATH.is_file()):
        return word, tuple(names)
    if not SETTINGS_PATH.is_file():
        raise ConfigurationError(
            f"no job file is named, and there is no {SETTINGS_PATH} here with [jobs.NAME]; `mixseek init` writes a job"
        )
    return SETTINGS_PATH, (*(() if word is None else (str(word),)), *names)


def chosen(path: Path, tables: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The jobs in the order of the file, each once."""
    for name in names:
        if name not in tables:
            meant = suggest(name, tables, f"there is {', '.join(tables)}")
            raise ConfigurationError(f"{path}: no job '{name}'; {meant}")
    return [name for name in tables if not names or name in names]


def refuse_shared_targets(path: Path, jobs: Sequence[Job]) -> None:
    """The second of two jobs that write one file would hide what the first wrote."""
    seen: dict[str, str] = {}
    for job in jobs:
        for step, arguments in job.steps.items():
            main = [text for text in arguments if STEPS[step].writes and text.startswith(f"--{STEPS[step].main}=")]
            for target in main:
                if seen.setdefault(target, job.name) != job.name:
                    file = target.partition("=")[2]
                    raise ConfigurationError(
                        f"{path}: jobs {seen[target]} and {job.name} both write {file}; give each a {step} of its own"
                    )


class JobReader:
    """Makes arguments of the tables of one file."""

    def __init__(self, path: Path, run_options: frozenset[str]) -> None:
        self.path, self.run_options = path, run_options
        self.command = command_of(judge)
        self.keys = {key_of(parameter): parameter for parameter in self.command.params}

    def check_keys(self, table: Mapping[str, Any], job: str | None) -> None:
        known = [key for key in (*self.keys, *STEPS, _CHECKS) if key not in self.run_options]
        for key in table:
            if key in self.run_options:
                raise ConfigurationError(f"{self.place(key, job)}: stands on the command line of `mixseek run`")
            if key not in known:
                raise self.unknown(key, job, known)

    def unknown(self, key: str, job: str | None, known: Sequence[str]) -> ConfigurationError:
        advice = suggest(key.replace("-", "_"), known, f"known keys here: {', '.join(sorted(known))}")
        table = "" if job is None else f"[jobs.{job}]: "
        return ConfigurationError(f"{self.path}: {table}unknown key '{key}'; {advice}")

    def place(self, key: str, job: str | None) -> str:
        """The place where a reader finds it."""
        return f"{self.path}: {'' if job is None else f'[jobs.{job}]: '}{key}"

    def read(self, name: str, values: Mapping[str, Any], own_table: Mapping[str, Any]) -> Job:
        """Every value goes through the parser of its command here, before any job runs."""

        def where(key: str) -> str:
            return self.place(key, name if key in own_table or key not in values else None)

        steps = {key: self.read_step(key, values[key], where(key)) for key in STEPS if key in values}
        options = {key: value for key, value in values.items() if key not in (*STEPS, _CHECKS, _CHECK)}
        if checks := [*self.read_checks(_CHECK, values, where), *self.read_checks(_CHECKS, values, where)]:
            options[_CHECK] = checks
        return Job(name, self.parse(self.command, options, where), steps)

    def read_checks(self, key: str, values: Mapping[str, Any], where: Callable[[str], str]) -> list[str]:
        """Lines, or a table of named checks, as the option takes them; schemas lie beside this file."""
        given = values.get(key, ())
        try:
            checks = read_checks(
                [given] if isinstance(given, str) else given,
                lambda name: decode_text(read_bounded(Path(self.beside(name)))),
            )
        except OSError as error:
            raise ConfigurationError(f"{where(key)}: {error.filename}: cannot be read ({error.strerror})") from error
        except ConfigurationError as error:
            raise ConfigurationError(f"{where(key)}: {error}") from error
        return [json.dumps(document, ensure_ascii=False) for document in checks.documents]

    def read_answers(self, table: Any, document: Mapping[str, Any]) -> AnswersJob:
        """What is asked before anything is judged; its name is the file's unless it has one."""
        if not isinstance(table, dict):
            raise ConfigurationError(f"{self.path}: {_ANSWERS}: a table, [{_ANSWERS}]")
        command = command_of(answer)
        values = dict(table)
        if _QUESTIONS in values:
            values[_DATA] = values.pop(_QUESTIONS)
        if "targets" in values:
            values["target"] = values.pop("targets")
        variants = self.read_variants(values.pop(_VARIANTS, {}))
        known = {key_of(parameter) for parameter in command.params} - {"variant"} - self.run_options
        shown = sorted((known - {_DATA}) | {_QUESTIONS, _VARIANTS})
        for key in values:
            if key not in known:
                meant = suggest(key, shown, f"known keys here: {', '.join(shown)}")
                raise ConfigurationError(f"{self.path}: [{_ANSWERS}]: unknown key '{key}'; {meant}")
        if "workspace" in document:
            values.setdefault("workspace", document["workspace"])
        run = values.setdefault("run", self.path.stem)
        place = f"{self.path}: [{_ANSWERS}]"
        arguments = self.parse(command, values, lambda key: f"{place}: {_QUESTIONS if key == _DATA else key}")
        return AnswersJob(str(run), arguments, variants)

    def read_variants(self, table: Any) -> dict[str, Any]:
        """Each by its name: a file beside this one, or the texts themselves."""
        place = f"{self.path}: [{_ANSWERS}]: {_VARIANTS}"
        if not isinstance(table, dict):
            raise ConfigurationError(f'{place}: a table, such as A = "prompts/a.md" or A = {{ system = "…" }}')
        return {name: self.beside(value) if isinstance(value, str) else value for name, value in table.items()}

    def read_step(self, key: str, value: Any, place: str) -> tuple[str, ...]:
        """A plain value is the file; a table has the options of the command behind it."""
        step = STEPS[key]
        command = command_of(step.function)
        inner_values = dict(value) if isinstance(value, dict) else {step.main: value}
        values = {renew_key(command.name, inner): inner_value for inner, inner_value in inner_values.items()}
        known = [key_of(parameter) for parameter in command.params if key_of(parameter) not in step.of_job]
        for inner in values:
            if inner not in known:
                advice = suggest(inner, known, f"known keys here: {', '.join(sorted(known))}")
                raise ConfigurationError(f"{place}: unknown key '{inner}'; {advice}")
        if key == "labels" and isinstance(values.get("file"), str):
            # mia.csv is the sheet that mia filled in.
            values.setdefault("rater", Path(values["file"]).stem)
        return self.parse(command, values, lambda inner: f"{place}.{inner}" if isinstance(value, dict) else place)

    def parse(self, command: Any, values: Mapping[str, Any], where: Callable[[str], str]) -> tuple[str, ...]:
        """The values as arguments that the command takes; raises ConfigurationError for one that it refuses."""
        keys = {key_of(parameter): parameter for parameter in command.params}
        for key, parameter in keys.items():
            if parameter.required and key not in values:
                raise ConfigurationError(f"{where(key)}: is missing")
        options: list[str] = []
        positional: list[str] = []
        for key, value in values.items():
            is_option = keys[key].param_type_name == "option"
            (options if is_option else positional).extend(self.arguments(keys[key], value, where(key)))
        arguments = (*renew(command.name, options), "--", *positional)
        try:
            command.make_context(command.name, list(arguments))
        except TyperException as error:
            parameter = getattr(error, "param", None)
            message = " ".join(str(getattr(error, "message", error)).split()).removeprefix("Value error, ")
            raise ConfigurationError(f"{where(key_of(parameter)) if parameter else self.path}: {message}") from error
        return arguments

    def arguments(self, parameter: Any, value: Any, place: str) -> Iterator[str]:
        """`--limit=5`; a list repeats the option; true is the option alone."""
        if getattr(parameter, "is_flag", False):
            if not isinstance(value, bool):
                raise ConfigurationError(f"{place}: write true or false")
            names = parameter.opts if value else parameter.secondary_opts
            yield from names[:1]
            return
        is_list = isinstance(value, list | dict)
        if is_list and not getattr(parameter, "multiple", False):
            raise ConfigurationError(f"{place}: one value, not {'a table' if isinstance(value, dict) else 'a list'}")
        if isinstance(value, dict) and "=" not in (parameter.metavar or ""):
            raise ConfigurationError(f"{place}: a value or a list of them, not a table")
        one_by_one = pairs(value, parameter.metavar) if isinstance(value, dict) else value if is_list else [value]
        for item_value in one_by_one:
            if isinstance(item_value, bool) or not isinstance(item_value, str | int | float):
                raise ConfigurationError(f"{place}: write a text or a number, not {item_value!r}")
            text = self.placed(str(item_value), parameter.metavar or "")
            yield text if parameter.param_type_name == "argument" else f"{parameter.opts[0]}={text}"

    # Paths in the file are relative to the file.

    def placed(self, text: str, metavar: str) -> str:
        """The path as it must be written from here."""
        if metavar == _SPEC:
            kind, colon, rest = text.partition(":")
            return f"{kind}:{self.beside(rest)}" if colon and names_file(kind, rest) else text
        is_name = metavar == _NAME_OR_FILE and not looks_like_file(text)
        is_name |= text.startswith(ANSWERS_PREFIX)
        return text if is_name or text == "-" or not _IS_PLACE.search(metavar) else self.beside(text)

    def place_model(self, judge: JudgeSettings) -> JudgeSettings:
        if judge.provider == "gguf" and judge.model and looks_like_file(judge.model):
            return judge.model_copy(update={"model": self.beside(judge.model)})
        return judge

    def beside(self, text: str) -> str:
        return str(self.path.parent / Path(text).expanduser())


def looks_like_file(text: str) -> bool:
    """Not a name of ours: those have neither an ending nor a directory."""
    return bool(Path(text).suffix) or len(Path(text).parts) > 1


def names_file(kind: str, rest: str) -> bool:
    return kind == "replay" or (kind == "gguf" and looks_like_file(rest))


def pairs(table: Mapping[str, Any], metavar: str | None, before: str = "") -> Iterator[str]:
    """`response=output` for each; parameters of a protocol may be nested, and keep their types."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from pairs(value, metavar, f"{before}{key}.")
        else:
            text = json.dumps(value, ensure_ascii=False, default=str) if metavar == _PARAMETERS else str(value)
            yield f"{before}{key}={text}"
