"""`mixseek judges`: who can be asked from here, and whether they answer."""

from typing import Annotated

import typer

from mixseek.cli.console import ExitCode
from mixseek.cli.options import JsonOption

Name = Annotated[str, typer.Argument(metavar="JUDGE", help="A name from mixseek.toml, or what stands after --judge.")]


def list_judges(context: typer.Context, as_json: JsonOption = False) -> ExitCode | None:
    """List the judges of mixseek.toml and the providers that are known.

    \b
    Examples:
      mixseek judges
      mixseek judges check openai:gpt-5-mini
    """
    if context.invoked_subcommand is not None:
        return None
    import os

    from mixseek.cli.console import print_json, print_result
    from mixseek.composition.judges import describe_judges, judges_document, list_configured, list_providers
    from mixseek.settings.load import load_settings

    configured = list_configured(load_settings().judges, os.environ)
    providers = list_providers(os.environ)
    if as_json:
        print_json(judges_document(configured, providers))
    else:
        print_result(describe_judges(configured, providers))
    return ExitCode.OK


def check(judge: Name, as_json: JsonOption = False) -> ExitCode:
    """Make one cheap call and explain what is wrong if it fails.

    DNS, TLS, a refused key, an unknown model, no JSON mode. Exit 2 when the judge cannot be used.

    \b
    Examples:
      mixseek judges check vllm
      mixseek judges check anthropic:claude-sonnet-4-5 --json
    """
    import os

    from mixseek.cli.console import print_json, print_result
    from mixseek.composition.judges import check_one
    from mixseek.settings.load import load_settings

    checked = check_one(judge, load_settings().judges, os.environ)
    if as_json:
        print_json(checked.document)
    else:
        print_result(checked.text)
    return ExitCode.OK if checked.is_usable else ExitCode.USAGE
