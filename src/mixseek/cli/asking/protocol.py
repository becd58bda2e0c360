"""`mixseek protocol`: what is asked of a judge, and writing one's own."""

from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument, Option

from mixseek.cli.parsing.options import JsonOption
from mixseek.cli.terminal.console import ExitCode, print_answer, print_json, print_notice, print_result
from mixseek.domain.documents import DocumentName, with_schema

Name = Annotated[
    str, Argument(metavar="NAME_OR_FILE", help="A built-in such as trajectory, or a .toml file of your own.")
]
Language = Annotated[
    str | None, Option(metavar="en|ja|zh", help="Language of the prompt. Default: the protocol's own.")
]


def show_protocol(name: Name, language: Language = None, as_json: JsonOption = False) -> ExitCode:
    """Print a prompt and how replies are checked.

    Its parameters, the shape of a reply and its hash as well.

    \b
    Examples:
      mixseek protocol show semantic
      mixseek protocol show cross --language ja --json
      mixseek protocol show my.toml
    """
    from mixseek.runs.requests.named import describe_protocol, protocol_document

    return print_answer(protocol_document(name, language), describe_protocol(name, language), as_json=as_json)


def new_protocol(
    file: Annotated[Path, Argument(metavar="FILE", help="The .toml file to write; it must not exist.")],
    as_json: JsonOption = False,
) -> ExitCode:
    """Write a protocol of your own to begin with.

    A commented declaration with weights, a gate, verdicts and evidence, which works as it stands.

    \b
    Examples:
      mixseek protocol new my.toml
      mixseek protocol new judging/helpdesk.toml --json
    """
    from mixseek.setup.protocol_files import write_starter

    name = write_starter(file)
    if as_json:
        print_json(with_schema(DocumentName.PROTOCOL_NEW, {"file": str(file), "name": name}))
    else:
        shown = quote(str(file))
        print_notice(f"mixseek: protocol {name!r} written to {file}; edit it, then: mixseek protocol lint {shown}")
    return ExitCode.OK


def lint_protocols(
    targets: Annotated[
        list[str],
        Argument(
            metavar="NAME_OR_FILE...", help="Protocols (a name or .toml), task rubrics (.md) or directories of these."
        ),
    ],
    as_json: JsonOption = False,
) -> ExitCode:
    """Say what is wrong with protocols and task rubrics.

    One line for each problem: file, line, what, what to do. Exit 1 if there is any; hints alone are no problem.

    \b
    Examples:
      mixseek protocol lint my.toml
      mixseek protocol lint rubric tasks/
      mixseek protocol lint my.toml tasks/poem.md --json
    """
    from mixseek.setup.protocol_files import lint_files
    from mixseek.text.phrases import plural

    lint = lint_files(targets)
    problems, hints = len(lint.problems), len(lint.complaints) - len(lint.problems)
    if as_json:
        names = {"file": "where", "line": "line", "what": "what", "advice": "advice", "is_hint": "is_hint"}
        complaints = [{key: getattr(complaint, name) for key, name in names.items()} for complaint in lint.complaints]
        document = {"files": list(lint.files), "problems": problems, "complaints": complaints}
        print_json(with_schema(DocumentName.PROTOCOL_LINT, document))
    else:
        for complaint in lint.complaints:
            print_result(str(complaint))
        sentence = (plural(problems, "problem") if problems else "no problem") + (
            f" and {plural(hints, 'hint')}" if hints else ""
        )
        print_notice(f"mixseek: {sentence} in {plural(len(lint.files), 'file')}")
    return ExitCode.GATE_NOT_MET if problems else ExitCode.OK


def protocol_hash(name: Name, language: Language = None) -> ExitCode:
    """Print the hash over everything that is asked.

    Runs with different hashes are never averaged together.

    \b
    Examples:
      mixseek protocol hash semantic
      mixseek protocol hash my.toml --language zh
    """
    from mixseek.protocols.registry import load_protocol

    print_result(load_protocol(name, language).hash)
    return ExitCode.OK
