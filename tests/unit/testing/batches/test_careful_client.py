"""A careful client, written for this test from the providers' references, against every fault at once.

It loses nothing and pays for nothing twice: so the provider's faults can be survived, and its ledger blames nobody
who is careful.
"""

import json
from collections.abc import Sequence
from typing import Any

from tests.unit.testing.batches.provider_calls import CHAT, Provider, live_text, openai_line, play

from mixseek.testing.batches.faults import BatchFault
from mixseek.testing.batches.jobs import BatchOptions

ENOUGH_ROUNDS = 40
ENDED = ("completed", "failed", "expired", "cancelled")


class CarefulClient:
    """Keeps what it was told, and asks again for what it has no answer to."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.answers: dict[int, str] = {}
        self.labels = 0

    async def ask(self, numbers: Sequence[int]) -> None:
        for _ in range(ENOUGH_ROUNDS):
            left = [number for number in numbers if number not in self.answers]
            if not left:
                return
            await self.collect(await self.create(left))
        raise AssertionError(f"no answer to {left}")

    async def create(self, numbers: Sequence[int]) -> str:
        """The id of a batch, which the list gives where the answer to its creation was lost."""
        lines = [openai_line(number) for number in numbers]
        stored = await self.upload(lines)
        self.labels += 1
        label = {"label": str(self.labels)}
        fields = {"endpoint": CHAT, "completion_window": "24h", "metadata": label, "input_file_id": stored["id"]}
        for _ in range(ENOUGH_ROUNDS):
            status, created = await self.provider.call("POST", "/v1/batches", fields)
            if status == 200:
                return str(created["id"])
            orphans = [batch["id"] for batch in await self.listed() if batch["metadata"] == label]
            if orphans:
                return str(orphans[0])
            if status == 0:
                # Made, and gone since: another file of the same is another batch.
                return ""
        raise AssertionError("never created")

    async def upload(self, lines: Sequence[Any]) -> Any:
        for _ in range(ENOUGH_ROUNDS):
            status, stored = await self.provider.upload(lines)
            if status == 200:
                return stored
        raise AssertionError("never uploaded")

    async def listed(self) -> list[Any]:
        return list((await self.provider.get("/v1/batches?limit=100"))["data"])

    async def collect(self, batch_id: str) -> None:
        for _ in range(ENOUGH_ROUNDS):
            self.provider.let_pass(5)
            _, batch = await self.provider.call("GET", f"/v1/batches/{batch_id}")
            if "error" in batch:
                return
            if batch["status"] in ENDED:
                break
        if batch["output_file_id"] is not None:
            for line in await self.download(batch["output_file_id"]):
                self.keep(line)

    async def download(self, file_id: str) -> list[bytes]:
        for _ in range(ENOUGH_ROUNDS):
            status, body, _ = await self.provider.raw("GET", f"/v1/files/{file_id}/content")
            if status == 200:
                return body.splitlines()
        raise AssertionError("never downloaded")

    def keep(self, line: bytes) -> None:
        try:
            document = json.loads(line)
        except json.JSONDecodeError:
            return
        custom_id, response = document["custom_id"], document["response"]
        if custom_id.startswith("r") and response is not None and response["status_code"] == 200:
            text = response["body"]["choices"][0]["message"]["content"]
            if text:
                self.answers[int(custom_id[1:])] = text


def test_a_careful_client_loses_nothing_and_asks_for_nothing_twice() -> None:
    """Against every fault at once; what it has in the end is what it would have been told live."""

    async def scenario(provider: Provider) -> None:
        client = CarefulClient(provider)
        for start in range(0, 120, 8):
            await client.ask(range(start, start + 8))
        ledger = await provider.ledger()

        assert sorted(ledger["faults"]) == sorted(BatchFault)
        assert client.answers == {number: await live_text(provider, number) for number in range(120)}
        assert ledger["submitted_again_after_success"] == []
        assert ledger["in_flight_twice"] == []
        assert ledger["strangers_cancelled"] == []

    play(scenario, BatchOptions(seconds=10, faults=tuple(BatchFault), fault_rate=0.5))
