"""Options that several commands share, worded once."""

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixseek.domain.panels import PanelRule

if TYPE_CHECKING:
    from mixseek.reports.build_server import CiTargets


def ci_targets(junit: Path | None, summary_file: Path | None, *, github_summary: bool) -> "CiTargets | None":
    """None where no build server is to be told anything, which is nearly always."""
    if junit is None and summary_file is None and not github_summary:
        return None
    from mixseek.reports.build_server import find_targets

    return find_targets(junit, summary_file, os.environ, github_summary=github_summary)


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


def parse_value(text: str) -> Any:
    """A number, boolean, list or quoted text as TOML has them; anything else is the text itself."""
    from mixseek.settings.text_files import parse_toml

    try:
        return parse_toml(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def share_option(help_text: str) -> Any:
    """Written 0.8 or 80%; read by `parse_share`."""
    return typer.Option(metavar="SHARE", parser=parse_share, help=help_text)


WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        metavar="DIR",
        help="Where runs are kept. Default: $MIXSEEK_WORKSPACE, then mixseek.toml, then .mixseek.",
        show_default=False,
    ),
]
PanelOption = Annotated[
    PanelRule | None,
    typer.Option(
        "--panel",
        metavar="RULE",
        help="How several judges become one verdict: majority, unanimous, median or mean. Default: majority where "
        "answers are right or wrong, else median.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
RunArgument = Annotated[
    str | None, typer.Argument(metavar="RUN", help="A run's name, or `latest`; may be left out when there is only one.")
]
JUnitOption = Annotated[
    Path | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        help="Write JUnit XML for a build server: a test case for each gate and each sample that failed.",
    ),
]
GithubSummaryOption = Annotated[
    bool,
    typer.Option(
        "--github-summary", help="Add headline, gates and the worst five as Markdown to $GITHUB_STEP_SUMMARY."
    ),
]
SummaryFileOption = Annotated[
    Path | None, typer.Option("--summary-file", metavar="FILE", help="Write the same Markdown to this file instead.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Concurrency = Annotated[int, typer.Option(metavar="N", min=1, max=4096, help="Calls at once to an endpoint, at most.")]
Patience = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=1.0,
        help="Wait so long for an endpoint that is down. Default: 600; 10 for one that has not answered yet.",
    ),
]
MaxCalls = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Stop after so many requests of this command; resumable.")
]
MaxCost = Annotated[
    float | None, typer.Option(metavar="USD", min=0.0, help="Stop before this command has spent more; resumable.")
]
