"""`mixseek protocol`: what is asked of a judge, and writing one's own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixseek.cli.console import ExitCode
from mixseek.cli.options import JsonOption

if TYPE_CHECKING:
    from mixseek.composition.protocols import Lint

# What a lint found, for programs and for people.


def lint_document(lint: "Lint") -> dict[str, Any]:
    """Everything, hints included."""
    return {
        "files": list(lint.files),
        "problems": len(lint.problems),
        "complaints": [
            {
                "file": complaint.where,
                "line": complaint.line,
                "what": complaint.what,
                "advice": complaint.advice,
                "is_hint": complaint.is_hint,
            }
            for complaint in lint.complaints
        ],
    }


def lint_summary(lint: "Lint") -> str:
    """The last line."""
    problems, hints = len(lint.problems), len(lint.complaints) - len(lint.problems)
    said = "no problem" if problems == 0 else f"{problems} problem{'s' if problems > 1 else ''}"
    if hints:
        said += f" and {hints} hint{'s' if hints > 1 else ''}"
    return f"mixseek: {said} in {len(lint.files)} file{'s' if len(lint.files) > 1 else ''}"


Name = Annotated[
    str, typer.Argument(metavar="NAME_OR_FILE", help="semantic, rubric, cross, or a .toml file of your own.")
]
Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME_OR_FILE...", help="Protocols (a name or .toml), task rubrics (.md) or directories of these."
    ),
]
New = Annotated[Path, typer.Argument(metavar="FILE", help="The .toml file to write; it must not exist.")]
Language = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="en|ja|zh",
        help="Language of the prompt. Default: the protocol's own.",
        show_default=False,
    ),
]


def new_protocol(file: New, as_json: JsonOption = False) -> ExitCode:
    """Write a protocol of your own to begin with.

    A commented declaration with weights, a gate, verdicts and evidence, which works as it stands.

    \b
    Examples:
      mixseek protocol new my.toml
      mixseek protocol new judging/helpdesk.toml --json
    """
    from mixseek.cli.console import print_json, print_notice
    from mixseek.composition.protocols import write_starter

    name = write_starter(file)
    if as_json:
        print_json({"file": str(file), "name": name})
    else:
        print_notice(f"mixseek: protocol {name!r} written to {file}; edit it, then: mixseek protocol lint {file}")
    return ExitCode.OK


def show_protocol(name: Name, language: Language = None, as_json: JsonOption = False) -> ExitCode:
    """Print a prompt and how replies are checked.

    Its parameters, the shape of a reply and its hash as well.

    \b
    Examples:
      mixseek protocol show semantic
      mixseek protocol show cross --language ja --json
      mixseek protocol show my.toml
    """
    from mixseek.cli.console import print_json, print_result
    from mixseek.composition.protocols import describe_protocol, protocol_document

    if as_json:
        print_json(protocol_document(name, language))
    else:
        print_result(describe_protocol(name, language))
    return ExitCode.OK


def lint_protocols(targets: Targets, as_json: JsonOption = False) -> ExitCode:
    """Say what is wrong with protocols and task rubrics.

    One line for each problem: file, line, what, what to do. Exit 1 if there is any; hints alone are no problem.

    \b
    Examples:
      mixseek protocol lint my.toml
      mixseek protocol lint rubric tasks/
      mixseek protocol lint my.toml tasks/poem.md --json
    """
    from mixseek.cli.console import print_json, print_notice, print_result
    from mixseek.composition.protocols import lint_files

    found = lint_files(targets)
    if as_json:
        print_json(lint_document(found))
    else:
        for complaint in found.complaints:
            print_result(str(complaint))
        print_notice(lint_summary(found))
    return ExitCode.GATE_NOT_MET if found.problems else ExitCode.OK


def protocol_hash(name: Name, language: Language = None) -> ExitCode:
    """Print the hash over everything that is asked.

    Runs with different hashes are never averaged together.

    \b
    Examples:
      mixseek protocol hash semantic
      mixseek protocol hash my.toml --language zh
    """
    from mixseek.cli.console import print_result
    from mixseek.composition.protocols import get_protocol

    print_result(get_protocol(name, language).hash)
    return ExitCode.OK
