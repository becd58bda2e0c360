"""The JSON endpoints that the pages use themselves; docs/view.md describes each of them."""

import asyncio

import orjson
from aiohttp import web

from mixseek.comparison.views.sections import comparison_document
from mixseek.competition.boards import load_leader_board
from mixseek.competition.views.board import leader_board_document
from mixseek.reports.documents import report_document
from mixseek.storage.journal.manifest import read_manifest
from mixseek.web.answers import answer_json, answer_pending, run_of, viewer_of
from mixseek.web.pages import LONGEST_JOURNAL, compare_request, refuse_one_side
from mixseek.web.parameters import read_list_request, read_name, read_number
from mixseek.web.slow_work import Pending
from mixseek.web.viewed import expected_judgments, list_workspace

_EVENT_SECONDS = 1.0


async def workspace(request: web.Request) -> web.Response:
    """Runs and competitions with their state."""
    listed = await asyncio.to_thread(list_workspace, viewer_of(request).root)
    return answer_json(listed.document())


async def run(request: web.Request) -> web.Response:
    """The numbers of a run, as `mixseek report --json` prints them."""
    report = await viewer_of(request).report(run_of(request))
    return answer_pending(report) if isinstance(report, Pending) else answer_json(report_document(report.data, None))


async def judgments(request: web.Request) -> web.Response:
    """A page of judgments, filtered, searched and sorted."""
    asked = read_list_request(request.query)
    # What a live page has just shown is asked for by how long the journal was then.
    as_of = read_number(request.query, "as_of", 0, LONGEST_JOURNAL)
    viewed = await viewer_of(request).judgments(run_of(request), as_of)
    return (
        answer_pending(viewed)
        if isinstance(viewed, Pending)
        else answer_json(await asyncio.to_thread(viewed.page, asked))
    )


async def choices(request: web.Request) -> web.Response:
    """What the judgments can be filtered by."""
    viewed = await viewer_of(request).judgments(run_of(request))
    return (
        answer_pending(viewed) if isinstance(viewed, Pending) else answer_json(await asyncio.to_thread(viewed.choices))
    )


async def sample(request: web.Request) -> web.Response:
    """One sample under every judge, with every reply."""
    name = read_name(request.query, "id", "a sample by its id")
    viewed = await viewer_of(request).judgments(run_of(request))
    if isinstance(viewed, Pending):
        return answer_pending(viewed)
    return answer_json(await asyncio.to_thread(viewed.sample, name))


async def prompt(request: web.Request) -> web.Response:
    """What a judge was shown of a sample."""
    names = read_name(request.query, "id", "a sample by its id"), read_name(request.query, "judge", "one of its judges")
    viewer = viewer_of(request)
    viewed = await viewer.judgments(run_of(request))
    if isinstance(viewed, Pending):
        return answer_pending(viewed)
    return answer_json(await asyncio.to_thread(viewed.prompt, viewer.root, *names))


async def live(request: web.Request) -> web.StreamResponse:
    """A run as it grows: an event a second until it ends."""
    directory = run_of(request)
    expected = expected_judgments(read_manifest(directory.manifest))
    tail = viewer_of(request).tail(directory)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    while True:
        progress = {**await asyncio.to_thread(tail.look), "expected": expected}
        name = b"progress" if progress["is_running"] or progress["is_behind"] else b"end"
        await response.write(b"event: " + name + b"\ndata: " + orjson.dumps(progress) + b"\n\n")
        if name == b"end":
            return response
        await asyncio.sleep(0.05 if progress["is_behind"] else _EVENT_SECONDS)


async def compare(request: web.Request) -> web.Response:
    """B against A, as `mixseek compare --json` prints it."""
    runs, asked = compare_request(request)
    refuse_one_side(asked)
    comparison = await viewer_of(request).comparison(runs, asked)
    return (
        answer_pending(comparison)
        if isinstance(comparison, Pending)
        else answer_json(comparison_document(comparison[0]))
    )


async def competition(request: web.Request) -> web.Response:
    """A leader board, as `mixseek leaderboard --json` prints it."""
    board = await asyncio.to_thread(load_leader_board, viewer_of(request).root, request.match_info["execution"])
    return answer_json(leader_board_document(board))
