"""Runs get another name or go, by the same code as `mixseek runs mv` and `rm`, and refuse with the same sentences."""

import asyncio

from aiohttp import web
from pydantic import BaseModel, ConfigDict

from mixseek.domain.documents import DocumentName, with_schema
from mixseek.errors import ConfigurationError
from mixseek.labels.review import read_body
from mixseek.setup.upkeep import ANSWERS, RUN, move_run, remove_runs
from mixseek.storage.workspace import RunDirectory
from mixseek.web.answers import answer_json, answers_of, run_of, viewer_of
from mixseek.web.connections import read_body_bytes


class NewName(BaseModel):
    """What a run is to be called."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    new: str


class Removal(BaseModel):
    """The name of the run that is to go: an address alone, asked for twice by mistake, removes nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: str


def named_of(request: web.Request) -> tuple[str, RunDirectory]:
    """The kind that the address names, and which run or answers."""
    return (ANSWERS, answers_of(request)) if "answers" in request.match_info else (RUN, run_of(request))


async def rename_run(request: web.Request) -> web.Response:
    """The run or the answers under another name; draws of labels and an archive follow."""
    viewer, (kind, run) = viewer_of(request), named_of(request)
    asked = read_body(NewName, await read_body_bytes(request))
    moved = await asyncio.to_thread(move_run, viewer.root, run.name, asked.new, kind)
    viewer.forget(run.name)
    return answer_json(with_schema(DocumentName.RUNS_MV, moved))


async def remove_run(request: web.Request) -> web.Response:
    """The run or the answers are gone for good, with their replies; labels stay, because they belong to texts."""
    viewer, (kind, run) = viewer_of(request), named_of(request)
    asked = read_body(Removal, await read_body_bytes(request))
    if asked.run != run.name:
        raise ConfigurationError(
            f"run: {asked.run!r} is not the run of this address, {run.name!r}; nothing was removed"
        )
    removed = await asyncio.to_thread(remove_runs, viewer.root, [run.name], kind)
    viewer.forget(run.name)
    return answer_json(with_schema(DocumentName.RUNS_RM, {"removed": removed}))
