"""What `mixseek answer` would send, before anything is sent: one request of each kind, calls, tokens and cost."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from mixseek.domain.ports import PLAIN
from mixseek.engine.replies import NoCache
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.answers import fill_turns
from mixseek.runs.answers.plan_cells import cells_of_plan
from mixseek.runs.answers.request import AnswerRequest, plan_answers
from mixseek.runs.answers.targets import describe_target
from mixseek.runs.dry_run import Forecast
from mixseek.runs.forecast import add_up
from mixseek.runs.judge import first_batches
from mixseek.runs.live import Earlier, live_batches, live_slots, open_cache, panel_of
from mixseek.runs.requests.named import is_remote
from mixseek.runs.requests.request import Plan
from mixseek.storage.journal.recall import recall_journal
from mixseek.storage.workspace_key import workspace_key
from mixseek.templating import fence_nonces

_DECODING = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")


@dataclass(frozen=True, slots=True)
class RenderedRequest:
    """What is sent about the first question in one way, and to whom with the same settings."""

    variant: str
    question_id: str
    messages: Sequence[Mapping[str, str]]
    targets: Sequence[str]
    settings: str


@dataclass(frozen=True, slots=True)
class AnswerDryRun:
    """Nothing was written and nothing was sent."""

    run: str
    questions: int
    planned: int
    forecasts: tuple[Forecast, ...]
    requests: tuple[RenderedRequest, ...]


def forecast_answers(request: AnswerRequest) -> AnswerDryRun:
    """Reads the questions, the journal and the cache."""
    plan = plan_answers(request)
    cells = cells_of_plan(plan)
    questions = next(iter(cells.cells.values())).questions
    return AnswerDryRun(
        plan.run.name, questions, cells.planned, forecast_calls(plan) if plan.is_live else (), rendered(plan)
    )


def forecast_calls(plan: Plan) -> tuple[Forecast, ...]:
    """Each request that is neither journaled nor cached; of a conversation its first turn."""
    panel_of(plan).check_limits()
    key = workspace_key(plan.workspace.root)
    slots = panel_of(plan).make_slots(plan.protocol.hash, key, lambda _: None)
    journal, before = plan.run.journal, None
    if journal.is_file():
        recalled = recall_journal(journal, plan.judge_names, plan.repeats)
        before = Earlier(recalled, journal, plan.request.live)
    with open_cache(plan.workspace.root, is_wanted=plan.request.live.use_cache, notify=lambda _: None) as cache:
        batches = live_batches(first_batches(plan), slots, False, before, cache or NoCache(), (PLAIN,))
        pending = (sample for batch in batches for sample in batch.samples)
        return add_up(plan, live_slots(slots), partial(fence_nonces, key), pending).forecasts


def rendered(plan: Plan) -> tuple[RenderedRequest, ...]:
    """One of each variant and of each way in which targets are asked."""
    by_settings: dict[tuple[str, str | None], list[str]] = {}
    for target in plan.judges:
        description = target.description if is_remote(target) else {}
        decoding = [f"{name} {description[name]}" for name in _DECODING if name in description]
        system = description.get("system")
        by_settings.setdefault((", ".join(decoding) or "the endpoint's own settings", system), []).append(
            describe_target(target)
        )
    variants: Mapping[str, Any] = plan.dataset.description["variants"]
    samples = next(plan.dataset.batches(len(variants)), [])
    requests = []
    for sample in islice(samples, len(variants)):
        turns = [{"role": turn.role, "content": turn.content} for turn in fill_turns(sample.metadata["messages"], ())]
        for (settings, system), targets in by_settings.items():
            has_system = any(turn["role"] == "system" for turn in turns)
            messages = turns if system is None or has_system else [{"role": "system", "content": system}, *turns]
            requests.append(
                RenderedRequest(
                    sample.prompt_variant or "", sample.question_id or "", messages, tuple(targets), settings
                )
            )
    return tuple(requests)
