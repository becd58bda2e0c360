"""The table of options, and every door held against it: command line, Python, job files, reference."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each
from typer import TyperException

import mixseek
from mixseek.api.options import check_options, kinds_of, wording_of
from mixseek.cli.app import command
from mixseek.cli.asking.job_file import command_of, key_of, read_jobs
from mixseek.cli.asking.judge import judge
from mixseek.cli.parsing.options import option_of
from mixseek.errors import ConfigurationError
from mixseek.runs.requests.request import JudgeRequest, LiveOptions
from mixseek.settings.declared import SHARE, Declared, declarations, kind_on_command_line
from mixseek.settings.options import TABLES

ROOT = Path(__file__).parents[3]
TYPED = [
    (name, option, declared)
    for name, (_, table) in TABLES.items()
    for option, declared in declarations(table).items()
    if declared.is_typed
]
PYTHON = [
    (name, option, declared) for name, (table, _) in TABLES.items() for option, declared in declarations(table).items()
]


def flag_of(option: str, declared: Declared) -> str:
    return declared.flags[0].partition("/")[0] if declared.flags else f"--{option.replace('_', '-')}"


def parameters_of(name: str) -> dict[str, Any]:
    """Of the command, by their flag."""
    return {parameter.opts[0]: parameter for parameter in command().commands[name].params}


@each(("name", "option", "declared"), TYPED)
def test_the_command_line_has_it_as_declared(name: str, option: str, declared: Declared) -> None:
    """Flag, help, how a value is written, range, default and heading."""
    parameter = parameters_of(name)[flag_of(option, declared)]

    assert parameter.help == declared.help
    assert parameter.metavar == declared.metavar
    assert parameter.rich_help_panel == declared.group.value
    assert parameter.default in (declared.default, False)
    for beyond in () if declared.bounds is None else (declared.bounds[0] - 1, declared.bounds[1] + 1):
        if abs(beyond) < float("inf"):
            with pytest.raises(TyperException, match=r"less than|greater than|outside"):
                command().commands[name].make_context(name, [f"{flag_of(option, declared)}={beyond:g}", "x"])
    is_list = str(kind_on_command_line(TABLES[name][1], option)).startswith("list")
    assert parameter.multiple == is_list


@each("name", TABLES)
def test_the_command_line_has_nothing_else(name: str) -> None:
    """But for what names the data and whom to audit."""
    declared = {flag_of(option, one) for command_name, option, one in TYPED if command_name == name}
    flags = {flag for flag, parameter in parameters_of(name).items() if flag.startswith("--") and not parameter.hidden}

    assert flags - declared == ({"--judge"} if name == "audit" else set())


@each(("name", "option", "declared"), PYTHON)
def test_python_takes_it_as_declared(name: str, option: str, declared: Declared) -> None:
    """A number beyond its range is refused with the range; None is left out; the type is one that can be resolved."""
    table, _ = TABLES[name]

    assert option in kinds_of(table)
    assert check_options({option: None}, table, name) == {}
    if declared.bounds is None:
        return
    least, most = declared.bounds
    for beyond in (least - 1, most + 1 if most < float("inf") else float("nan")):
        with pytest.raises(ConfigurationError, match=f"{option}={beyond!r}: give a number"):
            check_options({option: beyond}, table, name)


def test_the_signature_of_judge_is_the_table() -> None:
    """For help() and notebooks."""
    assert list(inspect.signature(mixseek.judge).parameters) == ["data", *declarations(TABLES["judge"][0])]


@each(("option", "declared"), [(option, declared) for name, option, declared in TYPED if name == "judge"])
def test_a_job_file_has_it_as_declared(option: str, declared: Declared, tmp_path: Path) -> None:
    """Its key is the flag with underscores, and a value beyond the range is refused."""
    key = flag_of(option, declared).removeprefix("--").replace("-", "_")
    assert key in {key_of(parameter) for parameter in command_of(judge).params}

    if declared.least is not None:
        path = tmp_path / "job.toml"
        path.write_text(f'data = "x"\n{key} = {declared.least - 1}\n', encoding="utf-8")
        with pytest.raises(ConfigurationError, match=f"{key}: .*greater than or equal"):
            read_jobs(path, (), frozenset())


@each(("name", "option", "declared"), TYPED)
def test_the_reference_of_commands_has_it(name: str, option: str, declared: Declared) -> None:
    """With its words, which the page may wrap."""
    section = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").split(f"## `mixseek {name}`")[1].split("\n## ")[0]

    assert flag_of(option, declared) in section
    assert "".join(declared.help.split()) in "".join(section.split())


@each(("name", "option", "declared"), [one for one in PYTHON if one[0] in ("judge", "audit")])
def test_the_reference_of_python_has_it(name: str, option: str, declared: Declared) -> None:
    """In words without flags."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    section = page.split(f"### `{name.capitalize()}Options`")[1].split("\n### ")[0]

    assert f"| `{option}` |" in section
    assert wording_of(declared).replace("|", "\\|") in section
    assert "--" not in wording_of(declared)


@each(("name", "option", "declared"), PYTHON)
def test_where_a_value_goes_is_a_field(name: str, option: str, declared: Declared) -> None:
    """A slip there would lose what was asked for."""
    assert declared.live is None or declared.live in LiveOptions.__dataclass_fields__
    assert declared.request is None or declared.request in JudgeRequest.__dataclass_fields__


@each(("name", "option", "declared"), [one for one in PYTHON if one[2].live and one[2].default is not None])
def test_defaults_are_those_of_the_request(name: str, option: str, declared: Declared) -> None:
    """Who leaves an option out gets the same through every door."""
    assert getattr(LiveOptions(), str(declared.live)) == declared.default


def test_an_option_is_declared_in_one_file() -> None:
    """No other file of the source has its name as a parameter of a command, a key of a TypedDict or a flag."""
    for option in ("concurrency", "patience", "max_calls", "max_cost", "timeout", "max_reasks", "cascade"):
        pattern = re.compile(rf"^    {option}: Annotated|\"--{option.replace('_', '-')}\"", re.MULTILINE)
        files = [
            path.name
            for path in (ROOT / "src").rglob("*.py")
            if path.parent.name in ("cli", "api", "settings") and pattern.search(path.read_text(encoding="utf-8"))
        ]
        assert files == ["options.py"], option


def test_a_command_may_word_an_option_in_its_own_way() -> None:
    """And has all the rest of it from the table."""
    own = option_of(TABLES["judge"][0], "max_drop", "In other words.")

    assert (own.help, own.metavar) == ("In other words.", SHARE)
