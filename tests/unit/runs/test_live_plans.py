"""From a request for live judges to seats, keys and forecasts, without sending anything."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mixseek.domain.judgments import Reply
from mixseek.domain.ports import ReplyKey
from mixseek.domain.samples import Sample
from mixseek.engine.replies import NoCache
from mixseek.engine.slots import LiveSlot, OfflineSlot
from mixseek.errors import ConfigurationError
from mixseek.presentation.render.terminal import result_text
from mixseek.reports.dry_run import dry_run_document
from mixseek.runs.first_manifest import first_manifest
from mixseek.runs.forecast import forecast_run
from mixseek.runs.kept_replies import BufferedCache
from mixseek.runs.live import live_batches, live_slots, open_cache, panel_of
from mixseek.runs.requests.named import get_panel, is_remote
from mixseek.runs.requests.request import JudgeRequest, LiveOptions, Plan, make_plan
from mixseek.settings.models import JudgeSettings
from mixseek.storage.workspace_key import workspace_key

SPEC = "openai:mock@http://127.0.0.1:9/v1"
CANARY = "sk-canary-in-the-environment"
PRICED = JudgeSettings(
    model="m", provider="openai", base_url="http://127.0.0.1:9/v1", price_input=1.0, price_output=2.0, concurrency=7
)


def nobody(text: str) -> None:
    pass


@pytest.fixture
def request_for(tmp_path: Path) -> JudgeRequest:
    rows = [{"id": str(n), "response": f"It is {n}.", "ground_truth": str(n)} for n in range(30)]
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return JudgeRequest(str(data), tmp_path / "ws", judges=(SPEC,), run="r", environment={"OPENAI_API_KEY": CANARY})


def plan_of(request: JudgeRequest, **changes: Any) -> Plan:
    return make_plan(replace(request, **changes), cores=1)


def test_judges_of_both_kinds_sit_in_one_panel() -> None:
    """In the order of asking, told apart by what they are."""
    panel = get_panel(("rules", SPEC), {}, {"OPENAI_API_KEY": "k"})

    assert [is_remote(judge) for judge in panel] == [False, True]


def test_the_seats_follow_the_settings(request_for: JudgeRequest) -> None:
    """A judge's own settings win over the command line."""
    plan = plan_of(
        request_for,
        judges=("rules", "mine", SPEC),
        configured={"mine": PRICED.model_copy(update={"max_reasks": 3, "rpm": 60})},
        live=LiveOptions(concurrency=9, repeats=2, timeout_seconds=5.0),
    )
    panel = panel_of(plan)
    rules, mine, plain = panel.make_slots(plan.protocol.hash, b"k" * 32, nobody)

    assert isinstance(rules, OfflineSlot)
    assert isinstance(mine, LiveSlot)
    assert isinstance(plain, LiveSlot)
    assert (mine.repeats, mine.max_reasks, plain.max_reasks) == (2, 3, 1)
    assert mine.requests is not None
    assert plain.requests is None
    assert mine.endpoint is plain.endpoint
    assert panel.pending_samples == 2 * (7 + 9)
    assert panel.drain_seconds == 5.0


def test_a_limit_on_costs_needs_a_price(request_for: JudgeRequest) -> None:
    """Said before anything is sent."""
    with pytest.raises(ConfigurationError, match="nobody knows the price of openai:mock"):
        panel_of(plan_of(request_for, live=LiveOptions(max_cost_usd=1.0))).check_limits()

    known = plan_of(request_for, judges=("mine",), configured={"mine": PRICED}, live=LiveOptions(max_cost_usd=1.0))
    panel_of(known).check_limits()


def test_the_manifest_tells_who_and_how_but_never_a_key(request_for: JudgeRequest) -> None:
    """Model, address, fingerprint, prompts' hashes, network."""
    manifest = first_manifest(plan_of(request_for), datetime.now(UTC))
    entry = manifest.judges[0]

    assert (entry.kind, entry.model) == ("openai", "mock")
    assert entry.parameters["base_url"] == "http://127.0.0.1:9/v1"
    assert len(entry.parameters["fingerprint"]) == 64
    assert manifest.network_used
    assert set(manifest.protocol.prompt_hashes) == {"system", "user"}
    assert CANARY not in manifest.model_dump_json()
    assert CANARY not in repr(request_for)


def test_a_run_that_repeats_is_another_run(request_for: JudgeRequest) -> None:
    """And rules alone never repeat."""
    once = plan_of(request_for, run=None)
    thrice = plan_of(request_for, run=None, live=LiveOptions(repeats=3))
    rules = [plan_of(request_for, run=None, judges=("rules",), live=LiveOptions(repeats=n)) for n in (1, 3)]

    assert once.run.name != thrice.run.name
    assert rules[0].run.name == rules[1].run.name
    assert rules[1].repeats == 1


def test_a_dry_run_counts_what_is_not_cached(request_for: JudgeRequest) -> None:
    """Calls, tokens, cost; and no run is begun."""
    request = replace(request_for, judges=("mine",), configured={"mine": PRICED}, live=LiveOptions(repeats=2))
    plan = make_plan(request, cores=1)
    slots = panel_of(plan).make_slots(plan.protocol.hash, workspace_key(plan.workspace.root), nobody)
    batch = next(live_batches(iter([[Sample("0", "It is 0.", ground_truth="0")]]), slots, False, None, NoCache()))
    key = live_slots(slots)[0].keys.key(batch.samples[0].key, ReplyKey("mine", 2), 1)
    with open_cache(request.workspace, is_wanted=True, notify=nobody) as cache:
        assert cache is not None
        cache.put_many({key: Reply("x", "mine")})

    dry = forecast_run(request)
    document = dry_run_document(dry)

    assert (document["calls"], dry.forecasts[0].cached) == (59, 1)
    assert document["cost_usd"] == pytest.approx(
        (dry.forecasts[0].input_tokens * 1.0 + dry.forecasts[0].output_tokens * 2.0) / 1e6, rel=0.01
    )
    assert "estimated" in result_text(dry)
    assert not plan.run.path.exists()


def test_replies_that_wait_for_the_cache_can_be_found_there(request_for: JudgeRequest) -> None:
    """And are in the file after a flush, or with what comes a second later: a slow run that dies loses little."""
    request_for.workspace.mkdir()
    now = [100.0]
    with open_cache(request_for.workspace, is_wanted=True, notify=nobody) as file:
        assert file is not None
        cache = BufferedCache(file, lambda: now[0])
        key = b"k" * 32
        cache.put_many({key: Reply("x", "j")})

        assert cache.get_many([key])[key].text == "x"
        assert file.get_many([key]) == {}
        cache.flush()
        assert file.get_many([key])[key].text == "x"

        cache.put_many({b"l" * 32: Reply("y", "j")})
        assert file.get_many([b"l" * 32]) == {}
        now[0] += 1.5
        cache.put_many({b"m" * 32: Reply("z", "j")})
        assert {reply.text for reply in file.get_many([b"l" * 32, b"m" * 32]).values()} == {"y", "z"}
