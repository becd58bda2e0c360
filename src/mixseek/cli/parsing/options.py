"""Options of the table on a command line: their flags, how what is typed is read, and how a command gets them."""

import functools
import inspect
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixseek.cli.terminal.console import ExitCode
from mixseek.domain.panels import PanelRule
from mixseek.settings.declared import (
    MAPPING,
    PARAMETERS,
    POINTS,
    SHARE,
    VARIANT,
    Declared,
    declarations,
    kind_on_command_line,
)
from mixseek.settings.options import BuildServerOptions, CallOptions, JudgeOptions, ShownOptions

if TYPE_CHECKING:
    from mixseek.ci.build_server import CiTargets


def ci_targets(junit: Path | None, summary_file: Path | None, *, github_summary: bool) -> "CiTargets | None":
    """None where no build server is to be told anything, which is nearly always."""
    if junit is None and summary_file is None and not github_summary:
        return None
    from mixseek.ci.build_server import find_targets

    return find_targets(junit, summary_file, os.environ, github_summary=github_summary)


def refuse_place(on: str | None, *, has_place: bool) -> None:
    """Raises BadParameter for a place that is none, or is only half named."""
    if on not in (None, "ray"):
        raise typer.BadParameter(f"{on!r} is no place to judge at; it is `ray`, or this machine", param_hint="'--on'")
    if on is None and has_place:
        raise typer.BadParameter("only means something with --on ray", param_hint="'--address' / '--shards'")


def workspace_path(given: Path | None) -> Path:
    """The option, or else what the settings say; settings are not even read when the option is there."""
    if given is not None:
        return given
    from mixseek.settings.load import load_settings

    return load_settings().workspace


def parse_share(given: str | float) -> float:
    """0.95 and 95% are the same share; anything outside 0..1 is a slip."""
    # A default goes through here as well, and is a number already.
    text = str(given)
    try:
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a share; write 0.95 or 95%") from None
    # Written so that NaN is refused too.
    if not 0 <= share <= 1:
        raise typer.BadParameter(f"{text!r} is outside 0..1; write 0.95 or 95%")
    return share


def parse_mapping(pairs: list[str]) -> dict[str, str]:
    """`response=output` for each; the left side is ours, the right side is the dataset's column."""
    mapping: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not (field and equals and column):
            raise typer.BadParameter(f"{pair!r} is not FIELD=COLUMN, as in response=output", param_hint="'--map'")
        if mapping.get(field, column) != column:
            raise typer.BadParameter(f"{field!r} is mapped twice", param_hint="'--map'")
        mapping[field] = column
    return mapping


def parse_parameters(pairs: list[str]) -> dict[str, Any]:
    """`evidence.policy=present` for each: a dot goes one table deeper, the right side is TOML or plain text."""
    parameters: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        names = key.split(".")
        if not equals or not all(names):
            raise typer.BadParameter(
                f"{pair!r} is not KEY=VALUE, as in evidence.policy=present", param_hint="'--parameter'"
            )
        table = parameters
        for name in names[:-1]:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise typer.BadParameter(f"{key!r} is set both as a value and as a table", param_hint="'--parameter'")
        if names[-1] in table:
            raise typer.BadParameter(f"{key!r} is set twice", param_hint="'--parameter'")
        table[names[-1]] = parse_value(text)
    return parameters


def parse_variants(pairs: list[str]) -> dict[str, str]:
    """`A=prompts/a.md` for each; a file alone is called by its stem."""
    variants: dict[str, str] = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        name, path = (name, path) if equals else (Path(pair).stem, pair)
        if not (name and path):
            raise typer.BadParameter(f"{pair!r} is not NAME=FILE, as in A=prompts/a.md", param_hint="'--variant'")
        if name in variants:
            raise typer.BadParameter(f"{name!r} is given twice; name each variant once", param_hint="'--variant'")
        variants[name] = path
    return variants


def parse_value(text: str) -> Any:
    """A number, boolean, list or quoted text as TOML has them; anything else is the text itself."""
    from mixseek.settings.text_files import parse_toml

    try:
        return parse_toml(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def parse_points(given: str | float) -> float:
    """80 and 80% are the same points of 100; 0.8 could be meant either way."""
    text = str(given)
    try:
        points = float(text.removesuffix("%"))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number of points; write 80 or 80%") from None
    # Written so that NaN is refused too.
    if not 0 <= points <= 100:
        raise typer.BadParameter(f"{text!r} is outside 0..100, the scale of scores; write 80 or 80%")
    if 0 < points <= 1 and not text.endswith("%"):
        raise typer.BadParameter(f"{text!r} could be points or a share; write {points * 100:g} or {points:g}%")
    return points


# How a single value is read by the way it is written, and how all values of an option become one.
_PARSERS = {SHARE: parse_share, POINTS: parse_points}
_COLLECTORS: Mapping[str | None, Callable[[list[str]], Any]] = {
    MAPPING: parse_mapping,
    PARAMETERS: parse_parameters,
    VARIANT: parse_variants,
}


def share_option(help_text: str) -> Any:
    """Written 0.8 or 80%; read by `parse_share`."""
    return typer.Option(metavar=SHARE, parser=parse_share, help=help_text)


def option_of(table: type, name: str, help_text: str | None = None) -> Any:
    """What typer is told of an option of the table; a command may have its own words for it."""
    declared = declarations(table)[name]
    # typer would give every switch a second flag that is nowhere described.
    flags = declared.flags or (f"--{name.replace('_', '-')}",)
    return typer.Option(
        *flags,
        metavar=declared.metavar,
        parser=_PARSERS.get(declared.metavar or ""),
        min=None if declared.metavar == SHARE else declared.least,
        max=None if declared.metavar == SHARE else declared.most,
        help=help_text or declared.help,
        show_default=declared.default is not None,
        rich_help_panel=declared.group.value,
    )


def with_options(table: type) -> Callable[[Callable[..., ExitCode]], Callable[..., ExitCode]]:
    """Gives a command that takes `**options` every option of the table, and the command what was typed of them."""

    def equip(function: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
        @functools.wraps(function)
        def command(**typed: Any) -> ExitCode:
            known = declarations(table)
            given = {name: value for name, value in typed.items() if name not in known}
            return function(**given, **read_options(table, typed))

        own_parameters = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        parameters = [*own_parameters, *map(functools.partial(parameter_of, table), typed_names(table))]
        # Set by name, because a checker knows no such attribute of a function; typer reads both.
        setattr(command, "__signature__", inspect.Signature(parameters))  # noqa: B010 - see above
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return equip


def typed_names(table: type) -> list[str]:
    """The options that a command line has, in the order of their groups."""
    known = {name: declared for name, declared in declarations(table).items() if declared.is_typed}
    groups = list(type(next(iter(known.values())).group))
    return sorted(known, key=lambda name: groups.index(known[name].group))


def parameter_of(table: type, name: str) -> inspect.Parameter:
    """The parameter as if it stood in the signature of the command."""
    declared, kind = declarations(table)[name], kind_on_command_line(table, name)
    is_switch = kind is bool and not has_two_flags(declared)
    default = False if is_switch else declared.default
    # Not a type that a checker could follow: it is made here, for typer to read.
    annotated: Any = Annotated
    annotation = annotated[kind if default is not None else kind | None, option_of(table, name)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def has_two_flags(declared: Declared) -> bool:
    """Whether it may be switched on, switched off, or left to the settings."""
    return any("/" in flag for flag in declared.flags)


def read_options(table: type, typed: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed, as Python has it: without what was left out, and with pairs as one mapping."""
    given: dict[str, Any] = {}
    for name, declared in declarations(table).items():
        value = typed.get(name)
        if value is None or value == [] or (value is False and not has_two_flags(declared)):
            continue
        collect = _COLLECTORS.get(declared.metavar)
        given[name] = not declared.is_switched_off if value is True else collect(value) if collect else value
    return given


# For commands that have some of them only.
WorkspaceOption = Annotated[Path | None, option_of(CallOptions, "workspace")]
PanelOption = Annotated[PanelRule | None, option_of(JudgeOptions, "panel")]
CutOffOption = Annotated[str | None, option_of(JudgeOptions, "cut_off")]
UndecidedOption = Annotated[str | None, option_of(JudgeOptions, "undecided")]
MaxCutOffOption = Annotated[float | None, option_of(JudgeOptions, "max_cut_off")]
BaselineOption = Annotated[str | None, option_of(JudgeOptions, "baseline")]
MaxDropOption = Annotated[float | None, option_of(JudgeOptions, "max_drop")]
GateOnOption = Annotated[str | None, option_of(JudgeOptions, "gate_on")]
JsonOption = Annotated[bool, option_of(ShownOptions, "as_json")]
Quiet = Annotated[bool, option_of(ShownOptions, "quiet")]
JUnitOption = Annotated[Path | None, option_of(BuildServerOptions, "junit")]
GithubSummaryOption = Annotated[bool, option_of(BuildServerOptions, "github_summary")]
SummaryFileOption = Annotated[Path | None, option_of(BuildServerOptions, "summary_file")]
RunArgument = Annotated[
    str | None, typer.Argument(metavar="RUN", help="A run's name, or `latest`; may be left out when there is only one.")
]
