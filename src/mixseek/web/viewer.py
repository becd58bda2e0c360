"""What the handlers share: the workspace, what is slow to make, and how an answer is written, in which language."""

import asyncio
import itertools
import re
import time
import tomllib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

import orjson
from aiohttp import web
from jinja2 import ChoiceLoader, Environment, FunctionLoader
from markupsafe import Markup

from mixseek.analysis.index.loading import stat_journal
from mixseek.analysis.model import ReportData
from mixseek.composition.results.compare import LISTED, CompareRequest, load_comparison, read_listed
from mixseek.composition.results.report import load_report
from mixseek.composition.results.viewed import ViewedRun, find_exact_run
from mixseek.composition.reviewing import ReviewedRun
from mixseek.reporting.comparison import ChangedSample, Comparison
from mixseek.reporting.pages.html import asset_text, inert_json, page_environment, wrapped_script
from mixseek.reporting.wording import replace_unpaired_surrogates
from mixseek.storage.journal.records import make_plain, read_manifest
from mixseek.storage.journal.tail import JournalTail, TextSearches
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.web.security import Access

T = TypeVar("T")

# Slow things, done once in a thread and kept: whoever asks waits a moment, then is told that it is under way.

# A page answers within 0.3 s, whatever it shows.
_WAIT_SECONDS = 0.15
# What is older than the journal is shown for so long, or five times as long as it takes to make.
_PATIENCE_SECONDS = 3.0
_KEPT = 6
_THREADS = 4


@dataclass(frozen=True, slots=True)
class Pending:
    """Not there yet; begun so many seconds ago."""

    seconds: float


@dataclass(slots=True)
class _Entry:
    value: Any = None
    previous: Any = None
    version: Hashable = None
    has_value: bool = False
    made_at: float = 0.0
    took_seconds: float = 0.0
    began_at: float = 0.0
    task: "asyncio.Task[Any] | None" = None


class SlowWork(Generic[T]):
    """By key, the few used last; one that is left out is handed to `drop`."""

    def __init__(self, drop: Callable[[T], None] = lambda value: None) -> None:
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="mixseek-view")
        self._drop = drop

    async def get(
        self,
        key: Hashable,
        version: Hashable,
        make: Callable[[], T],
        *,
        is_growing: bool = False,
        is_late_enough: Callable[[Any], bool] = lambda version: True,
    ) -> T | Pending:
        """Of this version; while it grows, or an older one for a while; or Pending. Raises what `make` raises.

        `is_late_enough` says of a version whether whoever asks could find in it what they have seen already.
        """
        entry = self._entries.setdefault(key, _Entry())
        self._entries.move_to_end(key)
        now = time.monotonic()
        is_fresh = entry.has_value and entry.version == version
        is_recent = now - entry.made_at < max(_PATIENCE_SECONDS, 5 * entry.took_seconds)
        is_bearable = entry.has_value and is_growing and is_recent and is_late_enough(entry.version)
        if not is_fresh and not is_bearable and entry.task is None:
            entry.began_at = now
            entry.task = asyncio.create_task(self._make(entry, version, make))
        if entry.task is not None and not is_fresh:
            task = entry.task
            await asyncio.wait([task], timeout=_WAIT_SECONDS)
            if task.done():
                if entry.task is task:
                    entry.task = None
                task.result()
        self._forget()
        # What will not change any more is shown as it is, or not yet: nobody would look for a newer one.
        is_outdated = entry.version != version and not (is_growing and is_late_enough(entry.version))
        if not entry.has_value or is_outdated:
            return Pending(time.monotonic() - entry.began_at)
        value: T = entry.value
        return value

    async def _make(self, entry: _Entry, version: Hashable, make: Callable[[], T]) -> None:
        began = time.monotonic()
        value = await asyncio.get_running_loop().run_in_executor(self._threads, make)
        # Somebody may still be reading the one that is replaced: it goes when the next one comes.
        if entry.previous is not None:
            self._drop(entry.previous)
        entry.previous = entry.value if entry.has_value else None
        entry.value, entry.version, entry.has_value = value, version, True
        entry.made_at = time.monotonic()
        entry.took_seconds = entry.made_at - began

    def _forget(self) -> None:
        done = [key for key, entry in self._entries.items() if entry.task is None and entry.has_value]
        for key in done[:-_KEPT]:
            self._let_go(self._entries.pop(key))

    async def close(self) -> None:
        """Nobody waits for what is under way: it changes nothing that stays."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for entry in self._entries.values():
            if entry.task is not None:
                entry.task.cancel()
            self._let_go(entry)

    def _let_go(self, entry: _Entry) -> None:
        for value in (entry.previous, entry.value):
            if value is not None:
                self._drop(value)


# The words of the interface, by the English ones; a sentence that nobody has translated stays English.

LANGUAGES = {"en": "English", "ja": "日本語", "zh": "中文"}
_COOKIE = "mixseek-language"
_NUMBER = re.compile("[0-9](?:[0-9.,]*[0-9])?")


@cache
def read_words() -> Mapping[str, Mapping[str, str]]:
    """Language to English to word."""
    return tomllib.loads((resources.files("mixseek.web") / "words.toml").read_text(encoding="utf-8"))


def words_of(language: str) -> Mapping[str, str]:
    return {english: said[language] for english, said in read_words().items() if language in said}


@cache
def _sentences_with_names(language: str) -> Sequence[tuple[re.Pattern[str], Sequence[str], str]]:
    """Those with a star: as a pattern, what each of its groups is (a number or a name), and what is said."""
    found = []
    for english, said in words_of(language).items():
        if "*" in english:
            parts = re.split("([#*])", english)
            pattern = "".join({"#": f"({_NUMBER.pattern})", "*": "(.+)"}.get(part, re.escape(part)) for part in parts)
            found.append((re.compile(pattern, re.DOTALL), parts[1::2], said))
    return found


# Neither Japanese nor Chinese has a plural.
_SINGULAR = re.compile("(?<![0-9.,])1 ((?:labelled )?(?:sample|question|label|pair|text|call|judge))(?![a-z])")


def sayer(language: str) -> Callable[[str], str]:
    """What templates call with an English sentence; one with numbers (#) or names (*) is known by its other words.

    One that is not known as a whole is said clause by clause, if every clause is known.
    """
    words = words_of(language)

    def find(english: str, *marks: str) -> str | None:
        found = words.get(english) or words.get(_NUMBER.sub("#", english))
        parts = {"#": _NUMBER.findall(english)}
        if found is None and marks:
            # Before names: one that ends a clause would take all that follows.
            clauses = [find(clause, *marks[1:]) for clause in english.split(marks[0])]
            if all(clauses):
                return words[marks[0]].join(filter(None, clauses))
        if found is None:
            for pattern, kinds, said in _sentences_with_names(language):
                if match := pattern.fullmatch(english):
                    found = said
                    told = list(zip(kinds, match.groups(), strict=True))
                    parts = {one: [text for kind, text in told if kind == one] for one in "#*"}
                    break
        return re.sub("([#*])([0-9])", lambda place: parts[place[1]][int(place[2]) - 1], found) if found else None

    def say(english: str) -> str:
        plural = _SINGULAR.sub(r"1 \1s", english)
        if english.endswith(".") and (told := find(plural[:-1], "; ", ", ")):
            return f"{told}。"
        return (find(english) or find(plural, "; ", ", ") or english) if words else english

    return say


# The one that templates of the report, whose macros see no context, call while a page is made.
_SAYING: ContextVar[Callable[[str], str]] = ContextVar("saying", default=str)


def say_in_language(english: str) -> str:
    return _SAYING.get()(english)


@contextmanager
def saying(language: str) -> Iterator[None]:
    """Templates speak the language for as long as this lasts."""
    token = _SAYING.set(sayer(language))
    try:
        yield
    finally:
        _SAYING.reset(token)


def language_of(request: web.Request) -> str:
    """As asked for in the address, as chosen before, or as the browser prefers; else English."""
    accepted = request.headers.get("Accept-Language", "")
    preferred = [part.split(";")[0].strip().split("-")[0].lower() for part in accepted.split(",")]
    wanted = [request.query.get("lang"), request.cookies.get(_COOKIE), *preferred]
    return next((language for language in wanted if language in LANGUAGES), "en")


def keep_language(request: web.Request, response: web.Response) -> None:
    """Chosen once in the address, it stays."""
    if request.query.get("lang") in LANGUAGES:
        response.set_cookie(_COOKIE, request.query["lang"], path="/", httponly=True, samesite="Strict")


# The report's files in their order, and ours; what ends in .j2 is no asset.
_ASSETS: Mapping[str, tuple[str, ...]] = {
    "report.css": (
        "tokens.css", "page.css", "summary.css", "corrected.css", "scored.css", "panel.css", "browser.css",
        "print.css", "viewer.css", "review.css",
    ),
    "comparison.css": ("tokens.css", "page.css", "summary.css", "comparison.css", "viewer.css"),
    "leaderboard.css": ("tokens.css", "page.css", "summary.css", "leaderboard.css", "viewer.css"),
    "home.js": ("base.js", "leaderboard.js", "home.js"),
    "run.js": (
        "base.js", "text.js", "markdown.js", "state.js", "evidence.js", "detail.js", "list.js", "remote.js", "page.js",
        "live.js",
    ),
    "review.js": (
        "base.js", "text.js", "markdown.js", "state.js", "evidence.js", "detail.js", "leaderboard.js", "review_api.js",
        "review_form.js", "review_numbers.js", "review.js",
    ),
    "sample.js": (
        "base.js", "text.js", "markdown.js", "state.js", "evidence.js", "detail.js", "leaderboard.js", "sample.js",
    ),
    "comparison.js": ("base.js", "leaderboard.js", "comparison.js", "difference.js"),
    "leaderboard.js": ("base.js", "leaderboard.js", "watch.js"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CountedReport:
    """The numbers of a run, and when they were counted: a run that is judged has others a moment later."""

    data: ReportData
    at: datetime


class Viewer:
    """One workspace, seen through one server."""

    def __init__(self, root: Path, access: Access, scratch: Path) -> None:
        self.workspace, self.access = Workspace(root), access
        self._scratch = scratch
        self._numbers = itertools.count(1)
        self._runs: SlowWork[ViewedRun] = SlowWork(ViewedRun.close)
        self._reports: SlowWork[CountedReport] = SlowWork()
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

    async def judgments(self, run: RunDirectory, as_of: int = 0) -> ViewedRun | Pending:
        """The run with a list of its judgments, as its journal was a moment ago, or when it had `as_of` bytes."""
        directory = self._scratch / str(next(self._numbers))
        # A file that was put in the place of a journal is another one.
        file = run.journal.stat().st_ino
        if (run.name, file) not in self._searches:
            path = self._scratch / f"{next(self._numbers)}.folded"
            self._searches[run.name, file] = TextSearches(run.journal, path)
        make = partial(ViewedRun, self.workspace, run, self._searches[run.name, file], directory)
        return await self._runs.get(
            run.name,
            stat_journal(run.journal),
            make,
            is_growing=is_growing(run),
            is_late_enough=lambda version: version is not None and version.size_bytes >= as_of,
        )

    async def report(self, run: RunDirectory) -> CountedReport | Pending:
        """Its report as data, kept until a judgment or a label is added."""

        def make() -> CountedReport:
            at = datetime.now(UTC)
            return CountedReport(load_report(self.root, run.name)[0], at)

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
                base=viewer_of(request).access.base,
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
