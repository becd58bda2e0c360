"""Runs get another name or go, by the same code as `mixseek runs mv` and `rm`, and refuse with the same sentences."""

import asyncio

from aiohttp import web
from pydantic import BaseModel, ConfigDict

from mixseek.domain.documents import DocumentName, with_schema
from mixseek.errors import ConfigurationError
from mixseek.labels.review import read_body
from mixseek.setup.upkeep import RUN, move_run, remove_runs
from mixseek.web.answers import answer_json, run_of, viewer_of
from mixseek.web.connections import read_body_bytes


class NewName(BaseModel):
    """What a run is to be called."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    new: str


class Removal(BaseModel):
    """The name of the run that is to go: an address alone, asked for twice by mistake, removes nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: str


async def rename_run(request: web.Request) -> web.Response:
    """The run under another name; its draws of labels and its archive follow."""
    viewer, run = viewer_of(request), run_of(request)
    asked = read_body(NewName, await read_body_bytes(request))
    moved = await asyncio.to_thread(move_run, viewer.root, run.name, asked.new, RUN)
    viewer.forget(run.name)
    return answer_json(with_schema(DocumentName.RUNS_MV, moved))


async def remove_run(request: web.Request) -> web.Response:
    """The run is gone for good, with its replies; labels stay, because they belong to texts."""
    viewer, run = viewer_of(request), run_of(request)
    asked = read_body(Removal, await read_body_bytes(request))
    if asked.run != run.name:
        raise ConfigurationError(
            f"run: {asked.run!r} is not the run of this address, {run.name!r}; nothing was removed"
        )
    removed = await asyncio.to_thread(remove_runs, viewer.root, [run.name], RUN)
    viewer.forget(run.name)
    return answer_json(with_schema(DocumentName.RUNS_RM, {"removed": removed}))
