"""The page on which people label, and its endpoints; docs/review.md describes each of them."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from mixseek.composition.labels.reviewing import (
    MOST_LISTED,
    GivenLabel,
    NewDraw,
    Retraction,
    ReviewedRun,
    read_body,
)
from mixseek.composition.viewing import read_list_request
from mixseek.errors import ConfigurationError
from mixseek.reporting.html import inert_json
from mixseek.web.viewer import (
    Pending,
    answer_json,
    answer_page,
    answer_pending,
    in_thread,
    language_of,
    run_of,
    viewer_of,
)

# What the scripts of a judgment know before there is one.
_NOTHING = {"run": "", "judges": [], "labels": {}, "dimensions": [], "repeats": 1, "samples": [], "rows": []}


async def page(request: web.Request) -> web.Response:
    """Queues, or one of them to work through; everything in it comes from the endpoints below."""
    run = run_of(request)
    data = inert_json({**_NOTHING, "run": run.name})
    return answer_page(request, "review.html.j2", run_name=run.name, data=data)


async def _answer(request: web.Request, ask: Callable[[ReviewedRun], dict[str, Any]]) -> web.Response:
    reviewed = await viewer_of(request).reviewed(run_of(request))
    if isinstance(reviewed, Pending):
        return answer_pending(reviewed)
    return answer_json(await in_thread(ask, reviewed))


async def overview(request: web.Request) -> web.Response:
    """Every queue, and how far the rater has come."""
    return await _answer(request, lambda reviewed: reviewed.overview(request.query.get("rater", "")))


async def queue(request: web.Request) -> web.Response:
    """The texts of one queue, in its order."""
    name, rater = request.query.get("queue", ""), request.query.get("rater", "")
    samples = None
    if name.startswith("filter:"):
        asked = read_list_request(dict(parse_qsl(name.removeprefix("filter:"))))
        viewed = await viewer_of(request).judgments(run_of(request))
        if isinstance(viewed, Pending):
            return answer_pending(viewed)
        samples = await in_thread(viewed.sample_positions, asked, MOST_LISTED)
        if samples is None:
            return answer_pending(Pending(0.0))
    return await _answer(request, lambda reviewed: reviewed.queue(name, rater, samples))


async def item(request: web.Request) -> web.Response:
    """One text; what judges and others said of it only when the rater has."""
    query, language = request.query, language_of(request)
    names = query.get("queue", ""), query.get("text", ""), query.get("rater", "")
    is_open = query.get("open") == "yes"
    return await _answer(request, lambda reviewed: reviewed.item(*names, language, is_open=is_open))


async def numbers(request: web.Request) -> web.Response:
    """The corrected headline, and how many labels are still needed."""
    text = request.query.get("width", "0.05")
    try:
        half_width = float(text)
    except ValueError as error:
        raise ConfigurationError(f"width={text}: not a number; give 0.05 for plus or minus 5 points") from error
    viewer = viewer_of(request)
    reviewed = await viewer.reviewed(run_of(request))
    if isinstance(reviewed, Pending):
        return answer_pending(reviewed)
    found = await viewer.review_numbers(reviewed, half_width)
    return answer_pending(found) if isinstance(found, Pending) else answer_json(found)


async def give(request: web.Request) -> web.Response:
    """A label, on disk before it is answered."""
    given = read_body(GivenLabel, await request.read())
    language = language_of(request)
    return await _answer(request, lambda reviewed: reviewed.give(given, language))


async def retract(request: web.Request) -> web.Response:
    """Takes a label back."""
    asked = read_body(Retraction, await request.read())
    return await _answer(request, lambda reviewed: reviewed.retract(asked))


async def draw(request: web.Request) -> web.Response:
    """A random draw of texts: a queue whose labels correct the headline."""
    asked = read_body(NewDraw, await request.read())
    return await _answer(request, lambda reviewed: reviewed.draw(asked))
