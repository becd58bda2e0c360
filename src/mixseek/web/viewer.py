"""What the handlers share: the workspace, what is slow to make, and how an answer is written."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

import orjson
from aiohttp import web
from jinja2 import ChoiceLoader, Environment, FunctionLoader
from markupsafe import Markup

from mixseek.composition.compare import LISTED, CompareRequest, load_comparison, read_listed
from mixseek.composition.labels.reviewing import ReviewedRun
from mixseek.composition.report import load_report
from mixseek.composition.viewing import ViewedRun, find_exact_run
from mixseek.reporting.comparison import ChangedSample, Comparison
from mixseek.reporting.html import asset_text, inert_json, page_environment, wrapped_script
from mixseek.reporting.model import ReportData
from mixseek.reporting.wording import replace_unpaired_surrogates
from mixseek.storage.index.loading import stat_journal
from mixseek.storage.index.search import TextSearches
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.journal.records import make_plain
from mixseek.storage.journal.tail import JournalTail
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.web.security import Access
from mixseek.web.words import LANGUAGES, keep_language, language_of, say_in_language, saying, words_of
from mixseek.web.work import Pending, SlowWork

T = TypeVar("T")
# The report's files in their order, and ours; what ends in .j2 is no asset.
_ASSETS: Mapping[str, tuple[str, ...]] = {
    "report.css": (
        "tokens.css", "page.css", "summary.css", "corrected.css", "scored.css", "panel.css", "browser.css",
        "print.css", "viewer.css", "review.css",
    ),
    "comparison.css": ("tokens.css", "page.css", "summary.css", "comparison.css", "viewer.css"),
    "leaderboard.css": ("tokens.css", "page.css", "summary.css", "leaderboard.css", "viewer.css"),
    "home.js": ("leaderboard.js", "home.js"),
    "run.js": (
        "text.js", "markdown.js", "state.js", "evidence.js", "detail.js", "list.js", "remote.js", "page.js", "live.js",
    ),
    "review.js": (
        "text.js", "markdown.js", "state.js", "evidence.js", "detail.js", "leaderboard.js", "review_api.js",
        "review_form.js", "review_numbers.js", "review.js",
    ),
    "sample.js": ("text.js", "markdown.js", "state.js", "evidence.js", "detail.js", "leaderboard.js", "sample.js"),
    "comparison.js": ("leaderboard.js", "comparison.js", "difference.js"),
    "leaderboard.js": ("leaderboard.js", "watch.js"),
}  # fmt: skip


class Viewer:
    """One workspace, seen through one server."""

    def __init__(self, root: Path, access: Access, scratch: Path) -> None:
        self.workspace, self.access = Workspace(root), access
        self._scratch = scratch
        self._numbers = itertools.count(1)
        self._runs: SlowWork[ViewedRun] = SlowWork(ViewedRun.close)
        self._reports: SlowWork[ReportData] = SlowWork()
        self._reviewed: SlowWork[ReviewedRun] = SlowWork(ReviewedRun.close)
        self._numbers_of_labels: SlowWork[dict[str, Any]] = SlowWork()
        self._comparisons: SlowWork[tuple[Comparison, list[ChangedSample]]] = SlowWork()
        self._tails: dict[str, JournalTail] = {}
        self._searches: dict[tuple[str, int], TextSearches] = {}

    @property
    def root(self) -> Path:
        return self.workspace.root

    def find_run(self, name: str) -> RunDirectory:
        return find_exact_run(self.workspace, name)

    async def judgments(self, run: RunDirectory) -> ViewedRun | Pending:
        """The run with a list of its judgments, as its journal was a moment ago."""
        directory = self._scratch / str(next(self._numbers))
        # A file that was put in the place of a journal is another one.
        file = run.journal.stat().st_ino
        if (run.name, file) not in self._searches:
            path = self._scratch / f"{next(self._numbers)}.folded"
            self._searches[run.name, file] = TextSearches(run.journal, path)
        make = partial(ViewedRun, self.workspace, run, self._searches[run.name, file], directory)
        return await self._runs.get(run.name, stat_journal(run.journal), make, is_growing=is_growing(run))

    async def report(self, run: RunDirectory) -> ReportData | Pending:
        """The numbers of the run."""

        def make() -> ReportData:
            return load_report(self.root, run.name)[0]

        version = (stat_journal(run.journal), LabelStore(self.workspace).state())
        return await self._reports.get(run.name, version, make, is_growing=is_growing(run))

    async def reviewed(self, run: RunDirectory) -> ReviewedRun | Pending:
        """The run for people who label; labels are read anew at each question."""
        make = partial(ReviewedRun, self.workspace, run)
        return await self._reviewed.get(run.name, stat_journal(run.journal), make, is_growing=is_growing(run))

    async def review_numbers(self, reviewed: ReviewedRun, half_width: float) -> dict[str, Any] | Pending:
        """What the labels of this moment make of the headline."""
        # In the key: an older answer would hide the label that was just given.
        key = (reviewed.run.name, stat_journal(reviewed.run.journal), LabelStore(self.workspace).state(), half_width)
        return await self._numbers_of_labels.get(key, None, partial(reviewed.numbers, half_width))

    async def comparison(
        self, runs: Sequence[RunDirectory], request: CompareRequest, start: int = 0
    ) -> tuple[Comparison, list[ChangedSample]] | Pending:
        """Two runs, or two parts of one, with the texts of the pairs that changed; of each kind from `start` on."""

        def make() -> tuple[Comparison, list[ChangedSample]]:
            comparison = load_comparison(request, start + LISTED)
            return comparison, read_listed(self.root, comparison, start=start)

        version = tuple(stat_journal(run.journal) for run in runs)
        key = (tuple(run.name for run in runs), tuple(request.targets), tuple(request.variants), start)
        return await self._comparisons.get(key, version, make, is_growing=any(map(is_growing, runs)))

    def tail(self, run: RunDirectory) -> JournalTail:
        """One for all who watch a run."""
        return self._tails.setdefault(run.name, JournalTail(run))

    async def close(self) -> None:
        for work in (self._runs, self._reports, self._comparisons, self._reviewed, self._numbers_of_labels):
            await work.close()
        for searches in self._searches.values():
            searches.close()


def is_growing(run: RunDirectory) -> bool:
    """Whether somebody may be judging on; a run that was broken off is one as well."""
    return not read_manifest(run.manifest).has_ended


VIEWER = web.AppKey("viewer", Viewer)


# How handlers get at things and answer.


def viewer_of(request: web.Request) -> Viewer:
    return request.app[VIEWER]


def run_of(request: web.Request) -> RunDirectory:
    """The run that the address names; raises ConfigurationError for one that is not there."""
    return viewer_of(request).find_run(request.match_info["run"])


async def in_thread(call: Callable[..., T], *arguments: Any) -> T:
    """Disk and DuckDB wait elsewhere: the server goes on answering."""
    return await asyncio.get_running_loop().run_in_executor(None, partial(call, *arguments))


def answer_json(document: Any, status: int = 200) -> web.Response:
    """What UTF-8 and JSON cannot hold is replaced."""
    body = orjson.dumps(make_plain(document, is_readable=True))
    return web.Response(status=status, body=body, content_type="application/json")


def answer_pending(pending: Pending) -> web.Response:
    """202: ask again, nothing has failed."""
    return answer_json({"pending_seconds": round(pending.seconds, 1)}, status=202)


@cache
def viewer_environment() -> Environment:
    """The report's, with templates of our own."""
    ours = FunctionLoader(own_asset)
    environment = page_environment().overlay(loader=ChoiceLoader([ours, FunctionLoader(asset_text)]))
    environment.globals = {**environment.globals, "say": say_in_language}
    return environment


def warm_templates() -> None:
    """Compiled before anybody asks: the first page would wait for that."""
    for directory in ("mixseek.web", "mixseek.reporting"):
        for item in (resources.files(directory) / "assets").iterdir():
            if item.name.endswith(".j2"):
                viewer_environment().get_template(item.name)


@cache
def own_asset(name: str) -> str | None:
    """None for what is not ours: the next loader is asked."""
    path = resources.files("mixseek.web") / "assets" / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


@cache
def served_asset(name: str) -> str | None:
    """A style sheet or a script, joined of the files that it is made of; None for a name that is in no list."""
    if name not in _ASSETS:
        return None
    joined = "\n".join(own_asset(part) or asset_text(part) for part in _ASSETS[name])
    return wrapped_script(joined) if name.endswith(".js") else joined


def answer_page(request: web.Request, template: str, status: int = 200, **context: Any) -> web.Response:
    """A page in the reader's language; everything in it that is not ours is escaped."""
    language = language_of(request)
    with saying(language):
        page = (
            viewer_environment()
            .get_template(template)
            .render(
                lang=language,
                languages=LANGUAGES,
                words_json=inert_json(words_of(language)),
                here=request.path,
                query="".join(f"{urlencode([one])}&" for one in request.query.items() if one[0] != "lang"),
                is_read_only=viewer_of(request).access.is_read_only,
                policy="",
                style=Markup(),
                script=Markup(),
                **context,
            )
        )
    response = web.Response(
        status=status, text=replace_unpaired_surrogates(page.lstrip()), content_type="text/html", charset="utf-8"
    )
    keep_language(request, response)
    return response


Page = Callable[[web.Request], Awaitable[web.StreamResponse]]
