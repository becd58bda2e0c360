"""`mixseek protocol`: what is asked of a judge."""

from typing import Annotated

import typer

from mixseek.cli.exit_codes import ExitCode
from mixseek.cli.options import JsonOption

Name = Annotated[str, typer.Argument(metavar="NAME", help="A built-in protocol, e.g. semantic.")]
Language = Annotated[str, typer.Option("--language", metavar="en|ja|zh", help="Language of the prompt.")]


def show_protocol(name: Name, language: Language = "en", as_json: JsonOption = False) -> ExitCode:
    """Print a prompt and how replies are checked.

    Its parameters, the shape of a reply and its hash as well.

    \b
    Examples:
      mixseek protocol show semantic
      mixseek protocol show semantic --language ja --json
    """
    from mixseek.cli.documents import print_json
    from mixseek.cli.streams import print_result
    from mixseek.composition.catalogue import describe_protocol, protocol_document

    if as_json:
        print_json(protocol_document(name, language))
    else:
        print_result(describe_protocol(name, language))
    return ExitCode.OK


def protocol_hash(name: Name, language: Language = "en") -> ExitCode:
    """Print the hash over everything that is asked.

    Runs with different hashes are never averaged together.

    \b
    Examples:
      mixseek protocol hash semantic
      mixseek protocol hash semantic --language zh
    """
    from mixseek.cli.streams import print_result
    from mixseek.composition.catalogue import get_protocol

    print_result(get_protocol(name, language).hash)
    return ExitCode.OK
