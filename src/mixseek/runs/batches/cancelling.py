"""Stopping a batch at its provider; what is finished there is collected by the run's next command."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from mixseek.errors import ConfigurationError, JudgeCallError, MixseekError
from mixseek.judges.batches.door import UncertainError
from mixseek.judges.batches.registry import batch_judge, wire_named
from mixseek.judges.specs import make_live_judge
from mixseek.runs.batches.listed import find_batch
from mixseek.settings.models import JudgeSettings
from mixseek.storage.batch_ledger import Stage


def cancel_batch(root: Path, name: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> str:
    """Asks the provider to stop it; returns its id. Raises ConfigurationError where there is nothing to stop."""
    run, entry = find_batch(root, name)
    if entry.stage is not Stage.SUBMITTED or entry.id is None:
        raise ConfigurationError(f"batch {name!r} is {entry.stage.value}: there is nothing to cancel")
    if entry.is_guess:
        raise ConfigurationError(
            f"batch {entry.id} was found by its size and time alone, and may be somebody else's until its results are "
            "here: it is not cancelled from here"
        )
    judge = make_live_judge(entry.intent.judge, configured, environment)
    files = Path(entry.id).parent if entry.intent.wire == "files" else None
    asked = batch_judge(judge, files)
    wire = wire_named(entry.intent.wire, files)

    async def cancel() -> None:
        door = wire.door(asked.judge)
        try:
            await wire.cancel(door, entry.id or "")
        finally:
            await door.close()

    try:
        asyncio.run(cancel())
    except (JudgeCallError, UncertainError) as error:
        raise MixseekError(f"batch {entry.id} of run {run.name} could not be cancelled: {error}") from error
    return entry.id
