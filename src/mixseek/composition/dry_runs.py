"""What a run would send, before anything is sent: calls, tokens and cost, said to be estimates."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

from mixseek.composition.judge import first_batches
from mixseek.composition.live import Earlier, live_batches, live_slots, open_cache, panel_of, workspace_key
from mixseek.composition.request import JudgeRequest, Plan, available_cores, make_plan
from mixseek.domain.calls import Call, ReplyKey, Usage
from mixseek.engine.caching import NoCache
from mixseek.engine.call import EXPECTED_OUTPUT_TOKENS, LiveSlot, PendingSample, estimate_usage
from mixseek.engine.offline import refuse_incomplete
from mixseek.errors import DatasetError
from mixseek.reporting.summary import DryRun, Forecast
from mixseek.storage.journal.recall import recall_journal
from mixseek.templating.fence import fence_nonce

# Prompts are measured on the first so many; the rest is taken to be like them.
_MEASURED_SAMPLES = 2_000


def forecast_run(request: JudgeRequest) -> DryRun:
    """Reads the dataset, the journal and the cache; writes no run and sends nothing."""
    plan = make_plan(request, cores=available_cores())
    if not plan.is_live:
        return DryRun(plan.run.name, plan.samples, plan.samples, False, ())
    panel_of(plan).check_limits()
    key = workspace_key(plan.workspace.root)
    slots = panel_of(plan).make_slots(plan.protocol.hash, key, silence)
    before: Earlier | None = None
    if plan.run.journal.is_file():
        judged = recall_journal(plan.run.journal, plan.judge_names, plan.repeats)
        before = Earlier(judged, plan.run.journal, request.live)
    with open_cache(plan.workspace.root, is_wanted=request.live.use_cache, notify=silence) as cache:
        batches = live_batches(first_batches(plan), slots, plan.cascade, before, cache or NoCache())
        pending = (one for batch in batches for one in batch.samples)
        return add_up(plan, live_slots(slots), partial(fence_nonce, key), pending)


def silence(text: str) -> None:
    """Nothing is sent, so there is nothing to tell."""


def add_up(
    plan: Plan, slots: Sequence[LiveSlot], nonce_of: Callable[[str], str], pending: Iterator[PendingSample]
) -> DryRun:
    """Count every request that is neither journaled nor cached."""
    calls = dict.fromkeys((slot.name for slot in slots), 0)
    cached = dict(calls)
    measured = list(islice(pending, _MEASURED_SAMPLES))
    tokens = mean_tokens(plan, nonce_of, measured)
    count = 0
    for one in chain(measured, pending):
        count += 1
        if refuse_incomplete(one.sample, plan.protocol) is not None:
            continue
        for slot in slots:
            for repeat in range(1, slot.repeats + 1):
                wanted = ReplyKey(slot.name, repeat)
                if wanted in one.known or wanted in one.unread:
                    continue
                if slot.keys.key(one.key, wanted, 1) in one.cached:
                    cached[slot.name] += 1
                else:
                    calls[slot.name] += 1
    forecasts = tuple(make_forecast(slot, calls[slot.name], cached[slot.name], tokens) for slot in slots)
    return DryRun(plan.run.name, plan.samples, count, plan.cascade and len(plan.judges) > 1, forecasts)


def mean_tokens(plan: Plan, nonce_of: Callable[[str], str], measured: list[PendingSample]) -> float:
    """Input tokens of one request, by characters."""
    counts: list[int] = []
    for one in measured:
        try:
            messages = plan.protocol.messages(one.sample, nonce_of(one.key))
        except DatasetError:
            continue
        counts.append(estimate_usage(Call(one.key, messages, plan.protocol.reply_schema)).input_tokens or 0)
    return sum(counts) / len(counts) if counts else 0.0


def make_forecast(slot: LiveSlot, calls: int, cached: int, tokens: float) -> Forecast:
    """One judge's share."""
    each = slot.price(Usage(round(tokens), EXPECTED_OUTPUT_TOKENS), None)
    return Forecast(
        judge=slot.name,
        calls=calls,
        cached=cached,
        input_tokens=round(calls * tokens),
        output_tokens=calls * EXPECTED_OUTPUT_TOKENS,
        cost_usd=None if each is None else each * calls,
    )
