"""Mistral's batches: a file, a job with one model, a file of outputs and one of errors."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mixseek.judges.batches.door import BatchDoor, named
from mixseek.judges.batches.lines import LineFormat
from mixseek.judges.batches.wires import MOST_PAGES, PAGE, BatchView, Limits, Phase, Submission
from mixseek.judges.endpoint.answers import count, encoded, items, mapping, text_or_none
from mixseek.judges.endpoint.judge import EndpointJudge
from mixseek.judges.endpoint.openai_chat import OpenAIChat
from mixseek.lazy_dataclass import dataclass

_LABEL = "mixseek"
_PHASES = {
    "SUCCESS": Phase.ENDED,
    "TIMEOUT_EXCEEDED": Phase.ENDED,
    "CANCELLED": Phase.ENDED,
    "FAILED": Phase.REFUSED,
}
_COUNTS = ("total_requests", "succeeded_requests", "failed_requests", "completed_requests")


@dataclass(frozen=True, slots=True)
class MistralJobs:
    """POST /files, POST /batch/jobs."""

    name: str = "mistral"
    lines: LineFormat = LineFormat.OPENAI
    # A file may have 512 MB.
    limits: Limits = Limits(1_000_000, 512_000_000)
    uploads_first: bool = True
    keeps_label: bool = True
    wire: OpenAIChat = OpenAIChat()

    def door(self, judge: EndpointJudge) -> BatchDoor:
        return BatchDoor(judge)

    def line(self, custom_id: str, body: Mapping[str, Any]) -> bytes:
        # The job names the model.
        return encoded({"custom_id": custom_id, "body": {k: v for k, v in body.items() if k != "model"}}) + b"\n"

    async def submit(self, door: BatchDoor, submission: Submission) -> str:
        fields = {"purpose": "batch"}
        file = await door.post_file(door.target.url("/files"), submission.path, f"{submission.label}.jsonl", fields)
        upload = named(file)
        submission.note_upload(upload)
        body = {
            "input_files": [upload],
            "model": submission.model,
            "endpoint": "/v1/chat/completions",
            "metadata": {_LABEL: submission.label},
            "timeout_hours": 24,
        }
        made = await door.post(door.target.url("/batch/jobs"), body)
        return named(made)

    async def look(self, door: BatchDoor, batch: str) -> BatchView:
        document = await door.look(door.target.url(f"/batch/jobs/{batch}"))
        return BatchView(batch, Phase.GONE, "gone") if document is None else self._view(door, document)

    async def list(self, door: BatchDoor) -> list[BatchView]:
        views: list[BatchView] = []
        for page in range(MOST_PAGES):
            url = f"{door.target.url('/batch/jobs')}?page={page}&page_size={PAGE}"
            rows = items((await door.get(url)).get("data"))
            views += [self._view(door, row) for row in rows]
            if len(rows) < PAGE:
                break
        return views

    async def cancel(self, door: BatchDoor, batch: str) -> None:
        await door.post(door.target.url(f"/batch/jobs/{batch}/cancel"))

    def _view(self, door: BatchDoor, document: Mapping[str, Any]) -> BatchView:
        state = text_or_none(document.get("status")) or "unknown"
        files = filter(None, (text_or_none(document.get(name)) for name in ("output_file", "error_file")))
        results = tuple(door.target.url(f"/files/{name}/content") for name in files)
        phase = _PHASES.get(state, Phase.RUNNING)
        # A job that failed on the way has what it finished.
        phase = Phase.ENDED if phase is Phase.REFUSED and results else phase
        errors = items(document.get("errors"))
        return BatchView(
            id=str(document.get("id")),
            phase=phase,
            state=state,
            results=results,
            counts={name: n for name in _COUNTS if isinstance(n := document.get(name), int)},
            succeeded=count(document.get("succeeded_requests")),
            reason="; ".join(str(error.get("message")) for error in errors[:3]),
            label=text_or_none(mapping(document.get("metadata")).get(_LABEL)),
            created_at=_moment(document.get("created_at")),
        )


def _moment(value: Any) -> datetime | None:
    """Seconds since 1970, or ISO 8601."""
    try:
        return datetime.fromtimestamp(value).astimezone() if isinstance(value, int) else datetime.fromisoformat(value)
    except (ValueError, TypeError, OverflowError, OSError):
        return None
