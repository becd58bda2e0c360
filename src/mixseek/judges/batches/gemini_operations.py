"""Gemini's batches: a file, an operation made of it, a file that comes back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from mixseek.judges.batches.door import BatchDoor, named
from mixseek.judges.batches.lines import LineFormat
from mixseek.judges.batches.wires import MOST_PAGES, PAGE, BatchView, Limits, Phase, Submission
from mixseek.judges.endpoint.answers import encoded, items, mapping, text_or_none
from mixseek.judges.endpoint.gemini_content import GeminiContent
from mixseek.judges.endpoint.judge import EndpointJudge
from mixseek.lazy_dataclass import dataclass

# Older answers say JOB_STATE_…, newer ones BATCH_STATE_….
_PHASES = {
    "SUCCEEDED": Phase.ENDED,
    "PARTIALLY_SUCCEEDED": Phase.ENDED,
    "CANCELLED": Phase.ENDED,
    "EXPIRED": Phase.ENDED,
    "FAILED": Phase.REFUSED,
}
_COUNTS = ("requestCount", "successfulRequestCount", "failedRequestCount", "pendingRequestCount")


@dataclass(frozen=True, slots=True)
class GeminiOperations:
    """POST /upload/v1beta/files, POST /v1beta/models/MODEL:batchGenerateContent."""

    name: str = "gemini"
    lines: LineFormat = LineFormat.GEMINI
    limits: Limits = Limits(1_000_000, 2_000_000_000)
    uploads_first: bool = True
    keeps_label: bool = True
    wire: GeminiContent = GeminiContent()

    def door(self, judge: EndpointJudge) -> BatchDoor:
        return BatchDoor(judge, google_key=True)

    def line(self, custom_id: str, body: Mapping[str, Any]) -> bytes:
        config = {"generation_config" if name == "generationConfig" else name: value for name, value in body.items()}
        return encoded({"key": custom_id, "request": config}) + b"\n"

    async def submit(self, door: BatchDoor, submission: Submission) -> str:
        address = await door.begin_upload(_root(door, "/files", "/upload"), submission.path, submission.label)
        file = mapping((await door.finish_upload(address, submission.path)).get("file"))
        name = named(file, "name")
        submission.note_upload(name)
        body = {"batch": {"display_name": submission.label, "input_config": {"file_name": name}}}
        model = submission.model.removeprefix("models/")
        made = await door.post(_root(door, f"/models/{model}:batchGenerateContent"), body)
        return named(made, "name")

    async def look(self, door: BatchDoor, batch: str) -> BatchView:
        document = await door.look(_root(door, f"/{batch}"))
        return BatchView(batch, Phase.GONE, "gone") if document is None else self._view(door, document)

    async def list(self, door: BatchDoor) -> list[BatchView]:
        views: list[BatchView] = []
        after = ""
        for _ in range(MOST_PAGES):
            document = await door.get(f"{_root(door, '/batches')}?pageSize={PAGE}{after}")
            views += [self._view(door, row) for row in items(document.get("operations") or document.get("batches"))]
            token = text_or_none(document.get("nextPageToken"))
            if token is None:
                break
            after = f"&pageToken={token}"
        return views

    async def cancel(self, door: BatchDoor, batch: str) -> None:
        await door.post(_root(door, f"/{batch}:cancel"))

    def _view(self, door: BatchDoor, document: Mapping[str, Any]) -> BatchView:
        # An operation, with what it is about among its metadata; or that alone.
        about = mapping(document.get("metadata")) or document
        response = mapping(document.get("response")) or about
        output = mapping(about.get("output") or about.get("dest"))
        state = (text_or_none(about.get("state")) or "unknown").removeprefix("JOB_STATE_").removeprefix("BATCH_STATE_")
        names = (response.get("responsesFile"), output.get("responsesFile"), output.get("fileName"))
        file = next(filter(None, map(text_or_none, names)), None)
        phase, error = _PHASES.get(state, Phase.RUNNING), mapping(document.get("error"))
        if phase is Phase.RUNNING and error and document.get("done"):
            phase = Phase.REFUSED
        stats = mapping(about.get("batchStats"))
        return BatchView(
            id=text_or_none(document.get("name")) or str(about.get("name")),
            phase=phase,
            state=state,
            results=() if file is None else (_root(door, f"/{file}:download", "/download") + "?alt=media",),
            counts={name: number for name in _COUNTS if (number := _number(stats.get(name))) is not None},
            succeeded=_number(stats.get("successfulRequestCount")),
            reason=text_or_none(error.get("message")) or "",
            code=text_or_none(error.get("status")) or str(error.get("code") or ""),
            label=text_or_none(about.get("displayName")) or text_or_none(about.get("display_name")),
            created_at=_moment(about.get("createTime")),
        )


def _number(value: Any) -> int | None:
    """Google writes large numbers as text."""
    return int(str(value)) if str(value).isdecimal() else None


def _root(door: BatchDoor, path: str, before: str = "") -> str:
    """Below the API's own version, not below the part of it that speaks as OpenAI does."""
    parts = urlsplit(door.target.base_url)
    version = parts.path.rstrip("/").removesuffix("/openai") or "/v1beta"
    return urlunsplit((parts.scheme, parts.netloc, f"{before}{version}{path}", parts.query, ""))


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except (ValueError, TypeError):
        return None
