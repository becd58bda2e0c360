"""A list as a file: what its filters and its search leave, as `mixseek export` writes it."""

import asyncio
import tempfile
from pathlib import Path
from urllib.parse import quote

from aiohttp import web

from mixseek.index.export import SUFFIXES, ExportedRows, export_run
from mixseek.web.answers import answer_pending, run_of, viewer_of
from mixseek.web.parameters import ListRequest, ParameterError, read_list_request
from mixseek.web.slow_work import Pending
from mixseek.web.viewed import ViewedRun

# A search goes through all texts before it is known what belongs to the file.
_LOOK_EVERY_SECONDS = 0.05
_CHUNK_BYTES = 1 << 18


async def download(request: web.Request) -> web.StreamResponse:
    """The rows of a list in the order of the dataset, with every column; sent from the disk, piece by piece."""
    suffix = f".{request.query.get('format') or 'csv'}"
    if suffix not in SUFFIXES:
        raise ParameterError(f"format={suffix[1:]}: there is {', '.join(known[1:] for known in SUFFIXES)}")
    asked, run = read_list_request(request.query), run_of(request)
    viewer = viewer_of(request)
    viewed = await viewer.judgments(run)
    if isinstance(viewed, Pending):
        return answer_pending(viewed)
    chosen = await chosen_outcomes(viewed, asked)
    with tempfile.TemporaryDirectory(dir=viewer.scratch, ignore_cleanup_errors=True) as directory:
        path = Path(directory) / f"{run.name}{suffix}"
        rows = ExportedRows(viewed.people, chosen)
        await asyncio.to_thread(export_run, viewer.workspace, run, path, rows)
        response = web.StreamResponse()
        response.content_type = {".csv": "text/csv", ".jsonl": "application/x-ndjson"}.get(
            suffix, "application/vnd.apache.parquet"
        )
        response.content_length = path.stat().st_size
        response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(path.name, safe='')}"
        await response.prepare(request)
        with path.open("rb") as file:
            while chunk := await asyncio.to_thread(file.read, _CHUNK_BYTES):
                await response.write(chunk)
    return response


async def chosen_outcomes(viewed: ViewedRun, asked: ListRequest) -> list[int] | None:
    """Which judgments the filters mean, once the search has been through all texts; None for all of them."""
    if not (asked.filters or asked.words.split() or asked.metadata):
        return None
    while (chosen := await asyncio.to_thread(viewed.outcome_positions, asked)) is None:
        await asyncio.sleep(_LOOK_EVERY_SECONDS)
    return chosen
