"""What a run would send, before anything is sent: calls, tokens and cost, said to be estimates."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

from mixseek.domain.ports import PLAIN, Call, LiveJudge, Nonces, ReplyKey, Usage
from mixseek.engine.call import PendingSample, estimate_usage
from mixseek.engine.offline import refuse_incomplete
from mixseek.engine.replies import NoCache
from mixseek.engine.slots import LiveSlot
from mixseek.errors import DatasetError
from mixseek.runs.batches.check import share_of_price, takes_batches
from mixseek.runs.budget_rounds import likely_batches
from mixseek.runs.dry_run import DryRun, Forecast
from mixseek.runs.judge import first_batches
from mixseek.runs.live import Earlier, live_batches, live_slots, open_cache, panel_of
from mixseek.runs.requests.request import JudgeRequest, Plan, available_cores, make_plan
from mixseek.storage.journal.recall import recall_journal
from mixseek.storage.workspace_key import workspace_key
from mixseek.templating import fence_nonces

# Prompts are measured on the first so many; the rest is taken to be like them.
_MEASURED_SAMPLES = 2_000


def forecast_run(request: JudgeRequest) -> DryRun:
    """Reads the dataset, the journal and the cache; writes no run and sends nothing."""
    plan = make_plan(request, cores=available_cores())
    if not plan.is_live:
        return DryRun(plan.run.name, plan.samples, plan.samples, False, ())
    panel_of(plan).check_limits()
    key = workspace_key(plan.workspace.root)
    slots = panel_of(plan).make_slots(plan.protocol.hash, key, lambda _: None)
    journal, before = plan.run.journal, None
    if journal.is_file():
        before = Earlier(recall_journal(journal, plan.judge_names, plan.repeats), journal, request.live)
    with open_cache(plan.workspace.root, is_wanted=request.live.use_cache, notify=lambda _: None) as cache:
        shown = plan.protocol.presentations
        samples = first_batches(plan) if request.budget is None else likely_batches(plan)
        batches = live_batches(samples, slots, plan.request.cascade, before, cache or NoCache(), shown)
        pending = (pending_sample for batch in batches for pending_sample in batch.samples)
        return add_up(plan, live_slots(slots), partial(fence_nonces, key), pending)


def add_up(
    plan: Plan, slots: Sequence[LiveSlot], nonces_of: Callable[[str, str], Nonces], pending: Iterator[PendingSample]
) -> DryRun:
    """Count every request that is neither journaled nor cached."""
    calls, cached = Counter[str](), Counter[str]()
    measured = list(islice(pending, _MEASURED_SAMPLES))
    tokens = mean_tokens(plan, nonces_of, measured)
    count, shown = 0, plan.protocol.presentations
    for pending_sample in chain(measured, pending):
        count += 1
        if refuse_incomplete(pending_sample.sample, plan.protocol) is not None:
            continue
        for slot in slots:
            repeats = (ReplyKey(slot.name, repeat) for repeat in range(1, slot.repeats + 1))
            for wanted in (one_repeat._replace(presentation=name) for one_repeat in repeats for name in shown):
                if wanted._replace(presentation=PLAIN) in pending_sample.known or wanted in pending_sample.unread:
                    continue
                is_cached = slot.keys.key(pending_sample.key, wanted, 1) in pending_sample.cached
                (cached if is_cached else calls)[slot.name] += 1
    forecasts = []
    for slot in slots:
        expected = plan.protocol.expected_tokens
        each, requests = slot.price(Usage(round(tokens), expected), None), calls[slot.name]
        sizes = round(requests * tokens), requests * expected
        cost = None if each is None else each * requests
        forecasts.append(
            Forecast(slot.name, requests, cached[slot.name], *sizes, cost, batch_cost(plan, slot.judge, cost))
        )
    return DryRun(plan.run.name, plan.samples, count, plan.request.cascade and len(plan.judges) > 1, tuple(forecasts))


def batch_cost(plan: Plan, judge: LiveJudge, cost: float | None) -> float | None:
    """What the same calls cost in batches."""
    has_files = plan.request.live.batches.files is not None
    if cost is None or not (has_files or takes_batches(judge)):
        return None
    return cost * share_of_price(panel_of(plan).settings_of(judge), has_files=has_files)


def mean_tokens(plan: Plan, nonces_of: Callable[[str, str], Nonces], measured: list[PendingSample]) -> float:
    """Input tokens of one request, by characters."""
    counts: list[int] = []
    for pending_sample in measured:
        sample = pending_sample.sample
        try:
            messages = plan.protocol.messages(sample, nonces_of(pending_sample.key, sample.question))
        except DatasetError:
            continue
        counts.append(estimate_usage(Call(pending_sample.key, messages, plan.protocol.reply_schema)).input_tokens or 0)
    return sum(counts) / len(counts) if counts else 0.0
