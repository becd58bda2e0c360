"""The manifest of a run as it stands before the first call, and what of a later start may differ from it."""

import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from importlib import metadata
from typing import Any

from mixseek.protocols.registry import checks_of
from mixseek.runs.requests.manifest_entries import describe_judge, describe_protocol
from mixseek.runs.requests.named import AnyJudge, is_remote, replays_file
from mixseek.runs.requests.request import Plan
from mixseek.storage.journal.manifest import REPLIES_BYTES, REPLIES_SHA256, Environment, JudgeEntry, Manifest, RunStatus

# What decides a verdict or the shape of a file; anything else can be looked up from these.
PACKAGES = ("mixseek", "aiohttp", "duckdb", "jinja2", "orjson", "pydantic", "math-verify")


def first_manifest(plan: Plan, now: datetime) -> Manifest:
    """What is about to be run."""
    return Manifest(
        run=plan.run.name,
        status=RunStatus.RUNNING,
        created_at=now,
        started_at=now,
        dataset={**plan.dataset.description, **beside_dataset(plan)},
        sample_count=plan.samples,
        protocol=describe_protocol(plan.protocol),
        judges=tuple(describe_judge(judge) for judge in plan.judges),
        cascade=plan.request.cascade,
        route=None if plan.request.route is None else plan.request.route.document,
        repeats=plan.repeats,
        network_used=any(is_remote(judge) and "base_url" in judge.description for judge in plan.judges),
        gates=plan.request.gates,
        checks=tuple(checks_of(plan.protocol).documents),
        panel=plan.request.panel,
        cut_off=plan.request.cut_off,
        undecided=plan.request.undecided,
        environment=Environment(
            command_line=tuple(plan.request.command_line),
            command=shlex.join(plan.request.command_line),
            package_versions=package_versions(),
            python=platform.python_version(),
            platform=f"{sys.platform} {platform.machine()}",
        ),
    )


def beside_dataset(plan: Plan) -> dict[str, Any]:
    """What else says which samples there are."""
    request, facts = plan.request, dict[str, Any]()
    if plan.grid is not None:
        facts["plan"] = plan.grid.description
    if request.budget is not None:
        facts["budget"] = {"pairs": request.budget.pairs, "top": request.budget.top, "seed": request.seed}
    return facts


def allow_appended_replies(request: Manifest, before: Manifest, judges: Sequence[AnyJudge]) -> Manifest:
    """The request as if files of replies had not grown: who adds missing ones goes on, who corrects one begins anew."""
    begun = {entry.name: entry for entry in before.judges}

    def overlook(judge: AnyJudge, entry: JudgeEntry) -> JudgeEntry:
        known = begun.get(judge.name, entry)
        digest, length_bytes = known.parameters.get(REPLIES_SHA256), known.parameters.get(REPLIES_BYTES)
        if not replays_file(judge) or not isinstance(digest, str) or not isinstance(length_bytes, int):
            return entry
        return known if judge.has_grown_from(digest, length_bytes) else entry

    entries = tuple(overlook(judge, entry) for judge, entry in zip(judges, request.judges, strict=True))
    return request.model_copy(update={"judges": entries})


@cache
def package_versions() -> Mapping[str, str]:
    """Installed versions; an extra that is not there is left out."""
    versions = {}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions
