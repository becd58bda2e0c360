"""OpenAI's batches, and those of the hosts that speak alike: a file, a batch made of it, two files that come back."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mixseek.domain.ports import Usage
from mixseek.judges.batches.door import BatchDoor, named
from mixseek.judges.batches.lines import LineFormat
from mixseek.judges.batches.wires import MOST_PAGES, PAGE, BatchView, Limits, Phase, Submission
from mixseek.judges.endpoint.answers import count, encoded, items, mapping, text_or_none
from mixseek.judges.endpoint.judge import EndpointJudge
from mixseek.judges.endpoint.openai_chat import OpenAIChat
from mixseek.lazy_dataclass import dataclass

_ENDPOINT = "/v1/chat/completions"
_LABEL = "mixseek"
# Expired and cancelled ones have what was finished, and that is billed.
_ENDED = frozenset({"completed", "expired", "cancelled"})


@dataclass(frozen=True, slots=True)
class OpenAIFiles:
    """POST /files, POST /batches."""

    name: str = "openai"
    lines: LineFormat = LineFormat.OPENAI
    limits: Limits = Limits(50_000, 200_000_000)
    uploads_first: bool = True
    # On the batch itself; where a host keeps no metadata, the file that it was made of has a name, too.
    keeps_label: bool = True
    wire: OpenAIChat = OpenAIChat()
    # What is particular to a host.
    files_path: str = "/files"
    purpose: str = "batch"
    wants_file_name: bool = False
    takes_metadata: bool = True

    def door(self, judge: EndpointJudge) -> BatchDoor:
        return BatchDoor(judge)

    def line(self, custom_id: str, body: Mapping[str, Any]) -> bytes:
        return encoded({"custom_id": custom_id, "method": "POST", "url": _ENDPOINT, "body": body}) + b"\n"

    async def submit(self, door: BatchDoor, submission: Submission) -> str:
        name = f"{submission.label}.jsonl"
        fields = {"purpose": self.purpose} | ({"file_name": name} if self.wants_file_name else {})
        upload = named(await door.post_file(door.target.url(self.files_path), submission.path, name, fields))
        submission.note_upload(upload)
        body: dict[str, Any] = {"input_file_id": upload, "endpoint": _ENDPOINT, "completion_window": "24h"}
        if self.takes_metadata:
            body["metadata"] = {_LABEL: submission.label}
        made = await door.post(door.target.url("/batches"), body)
        # Together wraps it.
        return named(mapping(made.get("job")) or made)

    async def look(self, door: BatchDoor, batch: str) -> BatchView:
        document = await door.look(door.target.url(f"/batches/{batch}"))
        return BatchView(batch, Phase.GONE, "gone") if document is None else self._view(door, document)

    async def list(self, door: BatchDoor) -> list[BatchView]:
        views: list[BatchView] = []
        after = ""
        for _ in range(MOST_PAGES):
            document = await door.get(_with_query(door.target.url("/batches"), f"limit={PAGE}{after}"))
            rows = items(document.get("data"))
            views += [self._view(door, row) for row in rows]
            if not document.get("has_more") or not rows:
                break
            after = f"&after={rows[-1].get('id')}"
        return views

    async def cancel(self, door: BatchDoor, batch: str) -> None:
        await door.post(door.target.url(f"/batches/{batch}/cancel"))

    def _view(self, door: BatchDoor, document: Mapping[str, Any]) -> BatchView:
        state = (text_or_none(document.get("status")) or "unknown").lower()
        files = filter(None, (text_or_none(document.get(name)) for name in ("output_file_id", "error_file_id")))
        results = tuple(door.target.url(f"/files/{name}/content") for name in files)
        errors = items(mapping(document.get("errors")).get("data"))
        reasons = [f"{error.get('code')}: {error.get('message')}" for error in errors[:3]]
        created = document.get("created_at")
        return BatchView(
            id=str(document.get("id")),
            phase=Phase.ENDED if state in _ENDED else Phase.REFUSED if state == "failed" else Phase.RUNNING,
            state=state,
            results=results,
            counts={name: n for name, n in mapping(document.get("request_counts")).items() if isinstance(n, int)},
            succeeded=count(mapping(document.get("request_counts")).get("completed")),
            usage=_usage(mapping(document.get("usage"))),
            reason="; ".join(reasons) or text_or_none(document.get("error")) or "",
            code=next((str(error.get("code")) for error in errors), ""),
            label=text_or_none(mapping(document.get("metadata")).get(_LABEL)),
            upload=text_or_none(document.get("input_file_id")),
            created_at=datetime.fromtimestamp(created, UTC) if isinstance(created, int) else None,
        )


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    """What all answers took; batches of before autumn 2025, and of most other hosts, do not say."""
    sent, replied = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    if not sent or replied is None:
        return None
    return Usage(sent, replied, count(mapping(usage.get("input_tokens_details")).get("cached_tokens")))


def _with_query(url: str, query: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{query}"
