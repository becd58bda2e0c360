"""How handlers get at things and answer."""

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import urlencode

import orjson
from aiohttp import web
from jinja2 import ChoiceLoader, Environment, FunctionLoader
from markupsafe import Markup

from mixseek.reports.pages.html import asset_text, inert_json, libraries_script, page_environment, wrapped_script
from mixseek.storage.journal.records import make_plain
from mixseek.storage.workspace import RunDirectory
from mixseek.text.visible import replace_unpaired_surrogates
from mixseek.web.languages import LANGUAGES, keep_language, language_of, say_in_language, saying, words_of
from mixseek.web.slow_work import Pending
from mixseek.web.viewer import ASSETS, VIEWER, Viewer


def viewer_of(request: web.Request) -> Viewer:
    return request.app[VIEWER]


def run_of(request: web.Request) -> RunDirectory:
    """The run that the address names; raises ConfigurationError for one that is not there."""
    return viewer_of(request).find_run(request.match_info["run"])


def answers_of(request: web.Request) -> RunDirectory:
    """The answer run that the address names; the same."""
    return viewer_of(request).find_answers(request.match_info["answers"])


def answer_json(document: Any, status: int = 200) -> web.Response:
    """What UTF-8 and JSON cannot hold is replaced."""
    body = orjson.dumps(make_plain(document, is_readable=True))
    return web.Response(status=status, body=body, content_type="application/json")


def answer_pending(pending: Pending) -> web.Response:
    """202: ask again, nothing has failed."""
    search = {"searched": pending.searched, "samples": pending.samples} if pending.samples is not None else None
    document = {"pending_seconds": round(pending.seconds, 1), **({"search": search} if search else {})}
    return answer_json(document, status=202)


@cache
def viewer_environment() -> Environment:
    """The report's, with templates of our own."""
    ours = FunctionLoader(own_asset)
    environment = page_environment().overlay(loader=ChoiceLoader([ours, FunctionLoader(asset_text)]))
    environment.globals = {**environment.globals, "say": say_in_language}
    return environment


def warm_templates() -> None:
    """Compiled before anybody asks: the first page would wait for that."""
    for directory in ("mixseek.web", "mixseek.reports"):
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
    if name == "libraries.js":
        return libraries_script()
    if name not in ASSETS:
        return None
    joined = "\n".join(own_asset(part) or asset_text(part) for part in ASSETS[name])
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
                query="".join(
                    f"{urlencode([parameter])}&" for parameter in request.query.items() if parameter[0] != "lang"
                ),
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
