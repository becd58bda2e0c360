"""Whoever meets the faults of batches and asks again comes to an end, the same in every run."""

import json
from collections.abc import Sequence
from typing import Any

from tests.unit.testing.batches.provider_calls import (
    NUMBERS,
    Provider,
    always,
    openai_line,
    output_of,
    play,
)

from mixseek.testing.batches.faults import BatchFault, FaultPlan, Moment
from mixseek.testing.ledger import Ledger


def test_whoever_asks_again_comes_to_an_end() -> None:
    """Each fault that loses answers, alone and always: after a few batches of what is left, nothing is."""

    async def scenario(provider: Provider) -> None:
        open_numbers = set(NUMBERS)
        rounds = 0
        while open_numbers:
            rounds += 1
            assert rounds < 12
            status, created = await provider.create_openai([openai_line(number) for number in sorted(open_numbers)])
            if status != 200:
                continue
            provider.let_pass(10)
            _, batch = await provider.call("GET", f"/v1/batches/{created['id']}")
            if batch.get("output_file_id"):
                open_numbers -= await answered(provider, batch)

    for fault in BatchFault:
        if fault not in (BatchFault.TOO_MANY, BatchFault.LOST_ANSWER, BatchFault.CUT_DOWNLOAD):
            play(scenario, always(fault))


async def answered(provider: Provider, batch: Any) -> set[int]:
    """The numbers of requests that have a text."""
    numbers = set()
    for line in (await output_of(provider, batch)).splitlines():
        try:
            document = json.loads(line)
        except json.JSONDecodeError:
            continue
        body = (document["response"] or {}).get("body") or {}
        if body.get("choices") and body["choices"][0]["message"]["content"]:
            numbers.add(int(document["custom_id"].removeprefix("r"))) if document["custom_id"].startswith("r") else None
    return numbers


def test_faults_are_the_same_in_every_run_of_a_seed() -> None:
    """Content and seed decide, not the order of calls."""
    contents = [bytes([number]) * 16 for number in range(60)]

    def drawn(seed: int, order: Sequence[bytes]) -> dict[bytes, BatchFault | None]:
        plan = FaultPlan(seed, 0.3, tuple(BatchFault), Ledger())
        return {content: plan.draw(Moment.LINE, content) for content in order}

    first = drawn(1, contents)

    assert first == drawn(1, contents[::-1])
    assert first != drawn(2, contents)
    assert 0 < sum(fault is not None for fault in first.values()) < 40
