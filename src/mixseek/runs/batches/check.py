"""Whether the requests of a run can be left in batches at all, and at what price: before anything is written."""

from mixseek.domain.ports import LiveJudge
from mixseek.errors import ConfigurationError
from mixseek.judges.endpoint.address import PROVIDERS
from mixseek.judges.prices import BATCH_SHARE
from mixseek.runs.requests.request import Plan
from mixseek.settings.models import JudgeSettings


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
    if not batched:
        return
    # Late: whoever judges by rules alone loads nothing of endpoints.
    from mixseek.judges.batches.registry import batch_judge

    for judge in batched:
        batch_judge(judge, options.files)
