"""The page on which people label, and its endpoints; docs/review.md describes each of them."""

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from aiohttp import web
from multidict import MultiDict

from mixseek.errors import ConfigurationError
from mixseek.labels.intake import check_rater
from mixseek.labels.review import DISPUTES, KINDS, MOST_LISTED, GivenLabel, NewDraw, Retraction, ReviewedRun, read_body
from mixseek.reports.pages.html import inert_json
from mixseek.text.messages import end_sentence
from mixseek.web.answers import answer_json, answer_page, answer_pending, run_of, viewer_of
from mixseek.web.connections import read_body_bytes
from mixseek.web.languages import language_of, say_in
from mixseek.web.parameters import LISTING, ParameterError, read_list_request, read_name, refuse_unknown
from mixseek.web.slow_work import Pending

# What the scripts of a judgment know before there is one.
_NOTHING = {"run": "", "judges": [], "labels": {}, "dimensions": [], "repeats": 1, "samples": [], "rows": []}


async def review_page(request: web.Request) -> web.Response:
    """Queues, or one of them to work through; everything in it comes from the endpoints below."""
    run = run_of(request)
    data = inert_json({**_NOTHING, "run": run.name})
    return answer_page(request, "review.html.j2", run_name=run.name, data=data)


async def answer_reviewed(request: web.Request, ask: Callable[[ReviewedRun], dict[str, Any]]) -> web.Response:
    """What the run under review says, once it can be read."""
    reviewed = await viewer_of(request).reviewed(run_of(request))
    if isinstance(reviewed, Pending):
        return answer_pending(reviewed)
    return answer_json(await asyncio.to_thread(ask, reviewed))


async def review_overview(request: web.Request) -> web.Response:
    """Every queue, and how far the rater has come."""
    rater = read_rater(request)
    return await answer_reviewed(request, lambda reviewed: reviewed.overview(rater))


async def review_queue(request: web.Request) -> web.Response:
    """The texts of one queue, in its order."""
    name, rater = read_name(request.query, "queue", "one of the queues"), read_rater(request)
    kind, _, rest = name.partition(":")
    if name not in (*KINDS, DISPUTES) and kind not in ("draw", "filter"):
        raise ParameterError(f"queue={name}: there is {', '.join((*KINDS, DISPUTES, 'draw:NAME', 'filter:…'))}")
    samples = None
    if kind == "filter":
        narrowing = MultiDict(parse_qsl(rest))
        refuse_unknown(narrowing, LISTING)
        asked = read_list_request(narrowing)
        viewed = await viewer_of(request).judgments(run_of(request))
        if isinstance(viewed, Pending):
            return answer_pending(viewed)
        samples = await asyncio.to_thread(viewed.sample_positions, asked, MOST_LISTED)
        if samples is None:
            return answer_pending(Pending(0.0))
    return await answer_reviewed(request, lambda reviewed: reviewed.queue(name, rater, samples))


async def review_item(request: web.Request) -> web.Response:
    """One text; what judges and others said of it only when the rater has."""
    query, language = request.query, language_of(request)
    names = query.get("queue", ""), read_name(query, "text", "a text by its digest"), read_rater(request)
    is_open = query.get("open") == "yes"
    return await answer_reviewed(request, lambda reviewed: reviewed.item(*names, language, is_open=is_open))


async def review_numbers(request: web.Request) -> web.Response:
    """The corrected headline, and how many labels are still needed."""
    half_width = read_half_width(request.query.get("width") or "0.05")
    viewer = viewer_of(request)
    reviewed = await viewer.reviewed(run_of(request))
    if isinstance(reviewed, Pending):
        return answer_pending(reviewed)
    numbers = await viewer.review_numbers(reviewed, half_width)
    if isinstance(numbers, Pending):
        return answer_pending(numbers)
    sentence = end_sentence(numbers["sentence"])
    return answer_json({**numbers, "sentence_in_language": say_in(language_of(request), sentence)})


def read_half_width(text: str) -> float:
    """How far an interval may reach to either side."""
    try:
        half_width = float(text)
    except ValueError as error:
        raise ParameterError(f"width={text}: not a number; give 0.05 for plus or minus 5 points") from error
    if not 0 < half_width < 0.5:
        raise ParameterError(
            f"width={text}: give more than 0 and less than 0.5, such as 0.05 for plus or minus 5 points"
        )
    return half_width


def read_rater(request: web.Request) -> str:
    """Who labels; nobody yet where the address names none."""
    name = request.query.get("rater", "")
    try:
        return check_rater(name) if name else ""
    except ConfigurationError as error:
        raise ParameterError(f"rater={name}: not a name; use letters and digits, such as rater=mia") from error


async def give_label(request: web.Request) -> web.Response:
    """A label, on disk before it is answered."""
    given = read_body(GivenLabel, await read_body_bytes(request))
    language = language_of(request)
    return await answer_reviewed(request, lambda reviewed: reviewed.give(given, language))


async def retract_label(request: web.Request) -> web.Response:
    """Takes a label back."""
    asked = read_body(Retraction, await read_body_bytes(request))
    return await answer_reviewed(request, lambda reviewed: reviewed.retract(asked))


async def rater_link(request: web.Request) -> web.Response:
    """One address to send to a rater: it opens the viewer and names them."""
    read_name(request.query, "rater", "whom the link is for")
    rater = read_rater(request)
    access = viewer_of(request).access
    base = f"http://{request.host}" if access.public is None else access.public.origin + access.base
    wanted = {"rater": rater, "key": access.invitation(rater)}
    if request.query.get("queue"):
        wanted = {"queue": request.query["queue"], **wanted}
    run = quote(run_of(request).name, safe="")
    return answer_json({"rater": rater, "link": f"{base}/runs/{run}/review?{urlencode(wanted)}"})


async def draw_texts(request: web.Request) -> web.Response:
    """A random draw of texts: a queue whose labels correct the headline."""
    asked = read_body(NewDraw, await read_body_bytes(request))
    return await answer_reviewed(request, lambda reviewed: reviewed.draw(asked))
