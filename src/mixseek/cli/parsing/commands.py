"""How our commands differ from typer's: headings in their help, and names of the release before understood."""

from enum import StrEnum
from typing import Any

from typer.core import TyperCommand, TyperGroup

from mixseek.cli.parsing.old_spellings import COMMANDS, note_old, renew
from mixseek.cli.parsing.shorthands import expand

_ARGUMENTS, _OPTIONS = "Arguments", "Options"
# A command with so few options of the table shows them all under one heading.
_FEW = 10


class Command(TyperCommand):
    """Any command of `mixseek`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments as typed, or as they would be typed today."""
        if ctx.command_path in COMMANDS:
            note_old(f"`{ctx.command_path}`", f"`{COMMANDS[ctx.command_path]}`")
        return super().parse_args(ctx, expand(self.name or "", renew(self.name or "", args)))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments first, then the groups of the table, then what has no group."""
        sections: dict[str, list[tuple[str, str]]] = {_ARGUMENTS: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_option = parameter.param_type_name == "option"
                heading = (getattr(parameter, "rich_help_panel", None) or _OPTIONS) if is_option else _ARGUMENTS
                sections.setdefault(heading, []).append(record)
        plain = sections.pop(_OPTIONS, [])
        grouped = [record for heading, records in sections.items() if heading != _ARGUMENTS for record in records]
        if len(grouped) <= _FEW:
            sections = {_ARGUMENTS: sections[_ARGUMENTS], _OPTIONS: [*grouped, *plain]}
        else:
            sections[_OPTIONS] = plain
        write_sections(formatter, sections)


class Wanted(StrEnum):
    """What a person wants: the headings of `mixseek --help`."""

    FIRST = "Begin with these"
    JUDGE = "Judge"
    READ = "Read what was judged"
    TRUST = "Know what a judge is worth"
    COMPETE = "Let systems compete"
    SHARE = "Share"
    TOOLS = "Tools"


class Commands(TyperGroup):
    """`mixseek` itself: its commands under the headings that they were given, in their order."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        width = formatter.width - 6 - max(map(len, commands))
        sections: dict[str, list[tuple[str, str]]] = {heading.value: [] for heading in Wanted}
        for name, command in commands.items():
            if command is not None and not command.hidden:
                heading = getattr(command, "rich_help_panel", None)
                # What was given no heading is a tool.
                place = heading if heading in sections else Wanted.TOOLS.value
                sections[place].append((name, command.get_short_help_str(width)))
        write_sections(formatter, sections)


def write_sections(formatter: Any, sections: dict[str, list[tuple[str, str]]]) -> None:
    """Those that have anything in them."""
    for heading, records in sections.items():
        if records:
            with formatter.section(heading):
                formatter.write_dl(records)
