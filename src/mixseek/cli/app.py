"""The tree of commands, each importing what it needs when it runs."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any

import typer

from mixseek.cli.audit import audit
from mixseek.cli.cache import prune, show_cache
from mixseek.cli.commands import Command, Commands, Wanted
from mixseek.cli.compare import compare
from mixseek.cli.compete import compete
from mixseek.cli.console import print_result
from mixseek.cli.evaluate import evaluate
from mixseek.cli.init import doctor, init
from mixseek.cli.judge import demo, import_log, judge
from mixseek.cli.judges import check, install_model, list_judges, serve_mock
from mixseek.cli.label import import_sheet, label_state, plan, sample_labels
from mixseek.cli.leaderboard import leaderboard
from mixseek.cli.protocol import lint_protocols, new_protocol, protocol_hash, show_protocol
from mixseek.cli.report import archive, export, report, show
from mixseek.cli.run import run
from mixseek.cli.runs import collect, move, remove, runs
from mixseek.cli.schema import schema
from mixseek.cli.stats import stats
from mixseek.cli.view import view

# Plain help: rich alone would cost 0.12 s of CPU before the first letter.
MARKUP = None
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def print_version(is_wanted: bool) -> None:
    """An eager option: nothing else runs."""
    if is_wanted:
        from importlib.metadata import version

        print_result(f"mixseek {version('mixseek')}")
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of a failure; may stand anywhere on the line.")
    ] = False,
) -> None:
    """Judge the outputs of language models with protocols that can be audited.

    \b
    Begin here:
      mixseek demo                                  the bundled samples, offline, and a report
      mixseek judge answers.jsonl --judge rules     a verdict for each of your answers
      mixseek report latest --to report.html        one file to send to a colleague

    \b
    Exit codes: 0 done, 1 a gate was not met or nothing is valid, 2 usage or input, 3 internal error,
    4 incomplete (run again to resume), 130 interrupted (run again to resume).
    """


Functions = Mapping[str, Callable[..., Any]]
# By what a person wants; the first eight are those that matter.
WANTED: Mapping[Wanted, tuple[Callable[..., Any], ...]] = {
    Wanted.FIRST: (demo, judge, report, view, compare, init, run, doctor),
    Wanted.JUDGE: (evaluate,),
    Wanted.READ: (show, stats),
    Wanted.TRUST: (audit,),
    Wanted.COMPETE: (compete, leaderboard),
    Wanted.SHARE: (export, archive),
}


def build_app() -> typer.Typer:
    """All commands, in the order a newcomer meets them."""
    app = typer.Typer(cls=Commands, rich_markup_mode=MARKUP, context_settings=CONTEXT, pretty_exceptions_enable=False)
    app.callback()(root)
    for heading, functions in WANTED.items():
        for function in functions:
            app.command(cls=Command, rich_help_panel=heading.value)(function)
    app.command("import", cls=Command, rich_help_panel=Wanted.JUDGE.value)(import_log)
    app.command(cls=Command, rich_help_panel=Wanted.TOOLS.value)(schema)
    app.command("serve-mock", cls=Command, rich_help_panel=Wanted.TOOLS.value)(serve_mock)
    app.command("plan", cls=Command, hidden=True)(plan)
    add_group(app, "runs", Wanted.READ, {"rm": remove, "mv": move, "gc": collect}, runs)
    labels: Functions = {"sample": sample_labels, "import": import_sheet, "status": label_state, "plan": plan}
    add_group(app, "label", Wanted.TRUST, labels, "What people say about judged texts: draw, fill in, take in.")
    protocols: Functions = {"show": show_protocol, "new": new_protocol, "lint": lint_protocols, "hash": protocol_hash}
    add_group(app, "protocol", Wanted.JUDGE, protocols, "What is asked of a judge: look at it, write your own.")
    add_group(app, "judges", Wanted.JUDGE, {"check": check}, list_judges)
    add_group(app, "models", Wanted.TOOLS, {"install": install_model}, "Weights for judging on this machine.")
    cache_commands: Functions = {"size": show_cache, "prune": prune}
    add_group(
        app, "cache", Wanted.TOOLS, cache_commands, "Replies that were paid for once, for all runs of a workspace."
    )
    return app


def add_group(
    app: typer.Typer,
    name: str,
    heading: Wanted,
    commands: Functions,
    what: str | Callable[..., Any],
) -> None:
    """Commands under one name; `what` says what they are about, or is what the name alone does."""
    if callable(what):
        group = typer.Typer(rich_markup_mode=MARKUP, invoke_without_command=True)
        group.callback()(what)
    else:
        group = typer.Typer(rich_markup_mode=MARKUP, help=what)
    for inner, function in commands.items():
        group.command(inner, cls=Command)(function)
    app.add_typer(group, name=name, rich_help_panel=heading.value)


@cache
def command() -> Any:
    """The parsed tree, ready to run, made once a process; typed Any because typer's own class for it is private."""
    return typer.main.get_command(build_app())
