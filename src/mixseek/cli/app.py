"""The tree of commands, each importing what it needs when it runs."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from mixseek.cli.parsing.commands import Command, Commands, Wanted
from mixseek.cli.terminal.console import print_result
from mixseek.lazy_dataclass import dataclass

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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command is written, as `subject.file:function` of this room: loaded when somebody wants just that one."""

    path: str

    def load(self) -> Callable[..., Any]:
        file, _, function = self.path.partition(":")
        command: Callable[..., Any] = getattr(import_module(f"mixseek.cli.{file}"), function)
        return command


@dataclass(frozen=True, slots=True)
class Single:
    """A command of its own."""

    heading: Wanted
    place: Place
    is_hidden: bool = False

    def add_to(self, app: typer.Typer, name: str) -> None:
        app.command(name, cls=Command, rich_help_panel=self.heading.value, hidden=self.is_hidden)(self.place.load())


@dataclass(frozen=True, slots=True)
class Family:
    """Commands under one name; `about` says what they are about, or is what the name alone does."""

    heading: Wanted
    about: str | Place
    places: Mapping[str, Place]

    def add_to(self, app: typer.Typer, name: str) -> None:
        if isinstance(self.about, Place):
            group = typer.Typer(rich_markup_mode=MARKUP, invoke_without_command=True)
            group.callback()(self.about.load())
        else:
            group = typer.Typer(rich_markup_mode=MARKUP, help=self.about)
        for inner, place in self.places.items():
            group.command(inner, cls=Command)(place.load())
        app.add_typer(group, name=name, rich_help_panel=self.heading.value)


def family(heading: Wanted, about: str | Place, **paths: str) -> Family:
    return Family(heading, about, {name: Place(path) for name, path in paths.items()})


# By what a person wants, in the order a newcomer meets them; the first eight are those that matter.
TREE: Mapping[str, Single | Family] = {
    "demo": Single(Wanted.FIRST, Place("asking.judge:demo")),
    "judge": Single(Wanted.FIRST, Place("asking.judge:judge")),
    "report": Single(Wanted.FIRST, Place("reading.report:report")),
    "view": Single(Wanted.FIRST, Place("reading.view:view")),
    "compare": Single(Wanted.FIRST, Place("reading.compare:compare")),
    "init": Single(Wanted.FIRST, Place("asking.init:init")),
    "run": Single(Wanted.FIRST, Place("asking.run:run")),
    "doctor": Single(Wanted.FIRST, Place("asking.init:doctor")),
    "answer": Single(Wanted.JUDGE, Place("asking.answer:answer")),
    "evaluate": Single(Wanted.JUDGE, Place("competition.evaluate:evaluate")),
    "show": Single(Wanted.READ, Place("reading.report:show")),
    "stats": Single(Wanted.READ, Place("reading.stats:stats")),
    "audit": Single(Wanted.TRUST, Place("asking.audit:audit")),
    "compete": Single(Wanted.COMPETE, Place("competition.compete:compete")),
    "leaderboard": Single(Wanted.COMPETE, Place("competition.leaderboard:leaderboard")),
    "export": Single(Wanted.SHARE, Place("reading.report:export")),
    "archive": Single(Wanted.SHARE, Place("reading.report:archive")),
    "import": Single(Wanted.JUDGE, Place("asking.judge:import_log")),
    "schema": Single(Wanted.TOOLS, Place("reading.schema:schema")),
    "serve-mock": Single(Wanted.TOOLS, Place("asking.judges:serve_mock")),
    "plan": Single(Wanted.TRUST, Place("reading.label:plan"), is_hidden=True),
    "batches": Single(Wanted.READ, Place("asking.batches:list_left")),
    "runs": family(
        Wanted.READ,
        Place("reading.runs:runs"),
        rm="reading.runs:remove",
        mv="reading.runs:move",
        gc="reading.runs:collect",
    ),
    "label": family(
        Wanted.TRUST,
        "What people say about judged texts: draw, fill in, take in.",
        **{"sample": "reading.label:sample_labels", "import": "reading.label:import_sheet"},
        status="reading.label:label_state",
        plan="reading.label:plan",
    ),
    "cascade": family(
        Wanted.TRUST,
        "Which judge may decide what without people, shown on labels and written down.",
        plan="reading.cascade:plan_tiers",
        watch="reading.cascade:watch",
    ),
    "protocol": family(
        Wanted.JUDGE,
        "What is asked of a judge: look at it, write your own.",
        show="asking.protocol:show_protocol",
        new="asking.protocol:new_protocol",
        lint="asking.protocol:lint_protocols",
        hash="asking.protocol:protocol_hash",
    ),
    "judges": family(Wanted.JUDGE, Place("asking.judges:list_judges"), check="asking.judges:check"),
    "models": family(Wanted.TOOLS, "Weights for judging on this machine.", install="asking.judges:install_model"),
    "cache": family(
        Wanted.TOOLS,
        "Replies that were paid for once, for all runs of a workspace.",
        size="asking.cache:show_cache",
        prune="asking.cache:prune",
    ),
}


def called(arguments: Sequence[str]) -> str | None:
    """The one command that a line asks for; None where it asks for help, for a version, or for what does not exist."""
    return arguments[0] if arguments and arguments[0] in TREE else None


@cache
def command(name: str | None = None) -> Any:
    """The parsed tree, or that one branch of it, ready to run; made once a process.

    A branch alone, because to load and parse the options of 35 commands takes a fifth of a short one's time. Typed Any
    because typer's own class for it is private.
    """
    app = typer.Typer(cls=Commands, rich_markup_mode=MARKUP, context_settings=CONTEXT, pretty_exceptions_enable=False)
    app.callback()(root)
    for entry in TREE if name is None else (name,):
        TREE[entry].add_to(app, entry)
    return typer.main.get_command(app)
