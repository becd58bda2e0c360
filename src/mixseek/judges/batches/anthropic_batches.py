"""Anthropic's message batches: requests in the body, results by their own address, and no name that we could give."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mixseek.judges.batches.door import BatchDoor, named
from mixseek.judges.batches.lines import LineFormat
from mixseek.judges.batches.wires import MOST_PAGES, PAGE, BatchView, Limits, Phase, Submission
from mixseek.judges.endpoint.answers import count, encoded, items, mapping, text_or_none
from mixseek.judges.endpoint.anthropic_messages import AnthropicMessages
from mixseek.judges.endpoint.judge import EndpointJudge
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class AnthropicBatches:
    """POST /v1/messages/batches."""

    name: str = "anthropic"
    lines: LineFormat = LineFormat.ANTHROPIC
    limits: Limits = Limits(100_000, 256_000_000)
    uploads_first: bool = False
    keeps_label: bool = False
    wire: AnthropicMessages = AnthropicMessages()

    def door(self, judge: EndpointJudge) -> BatchDoor:
        return BatchDoor(judge)

    def line(self, custom_id: str, body: Mapping[str, Any]) -> bytes:
        return encoded({"custom_id": custom_id, "params": body}) + b"\n"

    async def submit(self, door: BatchDoor, submission: Submission) -> str:
        url = door.target.url("/v1/messages/batches")
        made = await door.post_lines(url, b'{"requests":[', submission.path, b",", b"]}")
        return named(made)

    async def look(self, door: BatchDoor, batch: str) -> BatchView:
        document = await door.look(door.target.url(f"/v1/messages/batches/{batch}"))
        return BatchView(batch, Phase.GONE, "gone") if document is None else self._view(door, document)

    async def list(self, door: BatchDoor) -> list[BatchView]:
        views: list[BatchView] = []
        after = ""
        for _ in range(MOST_PAGES):
            url = f"{door.target.url('/v1/messages/batches')}?limit={PAGE}{after}"
            document = await door.get(url)
            rows = items(document.get("data"))
            views += [self._view(door, row) for row in rows]
            if not document.get("has_more") or not rows:
                break
            after = f"&after_id={rows[-1].get('id')}"
        return views

    async def cancel(self, door: BatchDoor, batch: str) -> None:
        await door.post(door.target.url(f"/v1/messages/batches/{batch}/cancel"))

    def _view(self, door: BatchDoor, document: Mapping[str, Any]) -> BatchView:
        state, name = text_or_none(document.get("processing_status")) or "unknown", str(document.get("id"))
        # Its own address of the results may be another host's, which has no business with our key.
        results = (door.target.url(f"/v1/messages/batches/{name}/results"),) if state == "ended" else ()
        return BatchView(
            id=name,
            phase=Phase.ENDED if state == "ended" else Phase.RUNNING,
            state=state,
            results=results,
            counts={kind: n for kind, n in mapping(document.get("request_counts")).items() if isinstance(n, int)},
            succeeded=count(mapping(document.get("request_counts")).get("succeeded")),
            created_at=_moment(document.get("created_at")),
        )


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except (ValueError, TypeError):
        return None
