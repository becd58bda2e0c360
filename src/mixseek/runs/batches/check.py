"""Whether the requests of a run can be left in batches at all, and at what price: before anything is written."""

from collections.abc import Mapping

from mixseek.domain.ports import LiveJudge
from mixseek.errors import ConfigurationError
from mixseek.judges.endpoint.address import PROVIDERS
from mixseek.judges.prices import BATCH_SHARE
from mixseek.runs.requests.request import Plan
from mixseek.settings.models import JudgeSettings
from mixseek.storage.batch_ledger import UNDER_WAY, Stage, read_ledger

# Its answers are paid for, or may be, and are not in the journal.
_NOT_COLLECTED = UNDER_WAY | {Stage.ENDED}


def share_of_price(settings: JudgeSettings, *, has_files: bool) -> float:
    """What an answer out of a batch costs, as a part of its price at once."""
    usual = 1.0 if has_files else BATCH_SHARE
    return usual if settings.price_batch is None else settings.price_batch


def takes_batches(judge: LiveJudge) -> bool:
    """Whether its provider is known to take them."""
    provider = PROVIDERS.get(str(judge.description.get("provider")))
    return "wire" in judge.description and provider is not None and provider.batch is not None


def check_batches(plan: Plan) -> None:
    """Raises ConfigurationError for what cannot wait, or for nobody who could."""
    options = plan.request.live.batches
    batched = plan.batched_judges
    if options.is_for_all and not batched:
        raise ConfigurationError("--batch: no judge here is behind an endpoint, so nothing can be left there")
    if batched and plan.request.cluster is not None:
        raise ConfigurationError("--batch waits with a provider, and not on a cluster; leave --on ray out")
    wires: dict[str, str] = {}
    if batched:
        # Late: whoever judges by rules alone loads nothing of endpoints.
        from mixseek.judges.batches.registry import batch_judge

        wires = {judge.name: batch_judge(judge, options.files).wire.name for judge in batched}
    elif options.waits or options.asks_rest_live:
        raise ConfigurationError("--wait and --batch-rest are about batches, and nothing is left in one; add --batch")
    _check_earlier(plan, wires)


def _check_earlier(plan: Plan, wires: Mapping[str, str]) -> None:
    """Raises ConfigurationError where this command would ask again what an earlier one has left in a batch."""
    left = [entry for entry in read_ledger(plan.run.batches) if entry.stage in _NOT_COLLECTED]
    for entry in left:
        judge = entry.intent.judge
        if judge not in plan.judge_names or wires.get(judge) == entry.intent.wire:
            continue
        place = f"run {plan.run.name}: batch {entry.id or entry.name} of judge {judge!r} is not collected yet"
        if judge not in wires:
            raise ConfigurationError(
                f"{place}, and its requests would be paid for twice; add --batch (with --batch-rest live, what it does "
                "not bring is asked at once)"
            )
        how = "with --batch-files" if entry.intent.wire == "files" else f"at {entry.intent.wire}"
        raise ConfigurationError(f"{place}; it was left {how}: collect it in the same way first")
