"""The tree of commands, each importing what it needs when it runs."""

from functools import cache
from typing import Annotated, Any

import typer

from mixseek.cli.audit import audit
from mixseek.cli.cache import prune, show_cache
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


def print_version(asked: bool) -> None:
    """An eager option: nothing else runs."""
    if asked:
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
      mixseek report latest --out report.html       one file to send to a colleague

    \b
    Exit codes: 0 done, 1 a gate was not met or nothing is valid, 2 usage or input, 3 internal error,
    4 incomplete (run again to resume), 130 interrupted (run again to resume).
    """


def build_app() -> typer.Typer:
    """All commands, in the order a newcomer meets them."""
    app = typer.Typer(rich_markup_mode=MARKUP, context_settings=CONTEXT, pretty_exceptions_enable=False)
    app.callback()(root)
    first = (demo, judge, audit, run, report, view, compare, show, export, archive)
    for function in (*first, stats, compete, leaderboard, evaluate):
        app.command()(function)
    app.command("import")(import_log)
    kept = typer.Typer(rich_markup_mode=MARKUP, invoke_without_command=True)
    kept.callback()(runs)
    kept.command("rm")(remove)
    kept.command("mv")(move)
    kept.command("gc")(collect)
    app.add_typer(kept, name="runs")
    labels = typer.Typer(rich_markup_mode=MARKUP, help="What people say about judged texts: draw, fill in, take in.")
    labels.command("sample")(sample_labels)
    labels.command("import")(import_sheet)
    labels.command("status")(label_state)
    app.add_typer(labels, name="label")
    app.command()(plan)
    protocols = typer.Typer(rich_markup_mode=MARKUP, help="What is asked of a judge: look at it, write your own.")
    protocols.command("show")(show_protocol)
    protocols.command("new")(new_protocol)
    protocols.command("lint")(lint_protocols)
    protocols.command("hash")(protocol_hash)
    app.add_typer(protocols, name="protocol")
    judges = typer.Typer(rich_markup_mode=MARKUP, invoke_without_command=True)
    judges.callback()(list_judges)
    judges.command("check")(check)
    app.add_typer(judges, name="judges")
    models = typer.Typer(rich_markup_mode=MARKUP, help="Weights for judging on this machine.")
    models.command("install")(install_model)
    app.add_typer(models, name="models")
    cache = typer.Typer(rich_markup_mode=MARKUP, help="Replies that were paid for once, for all runs of a workspace.")
    cache.command("size")(show_cache)
    cache.command("prune")(prune)
    app.add_typer(cache, name="cache")
    app.command()(init)
    app.command()(doctor)
    app.command()(schema)
    app.command("serve-mock")(serve_mock)
    return app


@cache
def command() -> Any:
    """The parsed tree, ready to run, made once a process; typed Any because typer's own class for it is private."""
    return typer.main.get_command(build_app())
