"""What a newcomer and a script see before anything is judged."""

import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import COMMAND, environment, mixseek_here, the_one_line

from mixseek.cli.app import TREE
from mixseek.cli.app import command as whole_command
from mixseek.cli.parsing.commands import Wanted
from mixseek.settings.declared import Group

COMMANDS = (
    "demo",
    "judge",
    "run",
    "init",
    "doctor",
    "report",
    "runs",
    "show",
    "export",
    "compare",
    "stats",
    "protocol show",
    "protocol hash",
    "protocol new",
    "protocol lint",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command: str, tmp_path: Path) -> None:
    """Two at least, and they begin with the command itself."""
    done = mixseek_here(*command.split(), "--help", cwd=tmp_path)

    assert done.returncode == 0
    assert done.stdout.count(f"\n    mixseek {command}") >= 2


def test_help_is_instant(tmp_path: Path) -> None:
    """Under 0.3 s of CPU, or a few times what Python itself needs here to start: a busy machine counts slower."""

    def used(*command: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    bare, ours = zip(
        *((used(sys.executable, "-c", "import asyncio"), used(COMMAND, "--help")) for _ in range(3)), strict=True
    )

    assert min(ours) < max(0.3, 4 * min(bare))


def test_a_command_loads_no_other(tmp_path: Path) -> None:
    """A fifth of what a short command took was loading and parsing the options of all the others."""
    code = (
        "import sys; from mixseek.cli.main import main; main(['runs', '--workspace', '.']); "
        "names = ('reading.runs', 'asking.judge', 'asking.audit'); "
        "print([name for name in names if f'mixseek.cli.{name}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "['reading.runs']"


@pytest.mark.parametrize("name", sorted(TREE))
def test_a_branch_is_the_same_command_as_in_the_whole_tree(name: str) -> None:
    alone, among_all = (whole_command(tree).commands[name] for tree in (name, None))

    assert list(whole_command(name).commands) == [name]
    assert described(alone) == described(among_all)


def described(command: Any) -> dict[str, Any]:
    """All that typer tells of a command: its options, their defaults, those of commands below it."""
    below = {name: described(inner) for name, inner in getattr(command, "commands", {}).items()}
    return {
        "help": command.help,
        "is_hidden": command.hidden,
        "heading": command.rich_help_panel,
        "options": [(option.name, option.opts, option.default, option.help) for option in command.params[:]],
        "below": below,
    }


def test_commands_stand_under_what_a_person_wants(tmp_path: Path) -> None:
    """The eight that matter first, then every other one, each once; an old name is not listed."""
    shown = mixseek_here("--help", cwd=tmp_path).stdout.partition("Begin with these:")[2]
    headings = [heading.value for heading in Wanted]
    sections = re.split(rf"^(?:{'|'.join(map(re.escape, headings))}):$", f"\n{shown}", flags=re.MULTILINE)
    listed = [re.findall(r"^  ([a-z-]+)", section, re.MULTILINE) for section in sections]

    assert listed[0] == ["demo", "judge", "report", "view", "compare", "init", "run", "doctor"]
    assert len(listed) == len(headings)
    names = [name for section in listed for name in section]
    assert sorted(names) == sorted(name for name, one in whole_command().commands.items() if not one.hidden)


def test_every_command_says_what_it_does(tmp_path: Path) -> None:
    """A name alone tells nobody anything."""
    shown = mixseek_here("--help", cwd=tmp_path).stdout.partition("Begin with these:")[2]

    assert re.findall(r"^  [a-z-]+\s*$", shown, re.MULTILINE) == []


def test_many_options_stand_under_headings(tmp_path: Path) -> None:
    """Those of the table; a command with few has one list."""
    judge, show = (mixseek_here(name, "--help", cwd=tmp_path).stdout for name in ("judge", "show"))

    places = [judge.index(f"\n{group.value}:\n") for group in Group if group is not Group.TARGETS]
    assert places == sorted(places)
    assert "\nOptions:\n" in show
    assert not any(f"\n{group.value}:\n" in show for group in Group)


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    """What keeps it instant."""
    script = (
        "import sys; from mixseek.cli.main import main; main(['--help']); "
        "print([name for name in ('duckdb', 'pydantic', 'rich', 'jinja2', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


def test_importing_the_package_imports_nothing_at_all() -> None:
    """`import mixseek` is free until a name is used."""
    script = "import sys, typing; before = set(sys.modules); import mixseek; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "['mixseek']"


def test_the_version_is_one_line(tmp_path: Path) -> None:
    """For bug reports."""
    assert mixseek_here("--version", cwd=tmp_path).stdout == "mixseek 0.1.0\n"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("jduge",), "judge"),
        (("judge",), "DATA"),
        (("judge", "x.jsonl", "--protocl", "semantic"), "--protocol"),
        (("export", "r"), "--to"),
        (("show",), "ID"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_usage_error_is_one_line_with_a_hint(arguments: tuple[str, ...], word: str, tmp_path: Path) -> None:
    """Exit 2, and where to look."""
    done = mixseek_here(*arguments, cwd=tmp_path)

    assert done.returncode == 2
    assert word in the_one_line(done)
    assert "--help" in the_one_line(done)


def test_without_arguments_help_is_shown(tmp_path: Path) -> None:
    """Typing the bare name is how people begin."""
    done = mixseek_here(cwd=tmp_path)

    assert done.returncode == 0
    assert done.stdout.startswith("Usage: mixseek")
