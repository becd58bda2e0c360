"""Whether the requests of a run can be left in batches at all, before anything is written."""

from mixseek.errors import ConfigurationError
from mixseek.runs.requests.request import Plan


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
