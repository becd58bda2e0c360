"""Mistral's batch jobs, written from its reference and its client's documentation.

POST, GET /v1/batch/jobs · GET /v1/batch/jobs/ID · POST /v1/batch/jobs/ID/cancel; files as OpenAI has them
"""

from collections.abc import Mapping
from typing import Any

import orjson
from aiohttp import web

from mixseek.testing.batches.endpoints import (
    BatchEndpoints,
    count_of,
    decoded_lines,
    json_response,
    make_request,
    read_object,
)
from mixseek.testing.batches.jobs import Batch, BatchRequest, Draft, Ending, Phase, Tally
from mixseek.testing.batches.outcomes import (
    Answered,
    Failed,
    Outcome,
    Refusal,
    Refused,
    Shelf,
    Unprocessed,
)
from mixseek.testing.mock_wire import OpenAIChat, WireFormat

_FORMAT = OpenAIChat()
_ENDPOINT = "/v1/chat/completions"
_STATUSES = {
    Ending.COMPLETED: "SUCCESS",
    Ending.FAILED: "FAILED",
    Ending.EXPIRED: "TIMEOUT_EXCEEDED",
    Ending.CANCELLED: "CANCELLED",
}


class MistralBatches(BatchEndpoints):
    """A job has one model, which its lines do not name; what was never processed leaves no line."""

    name = "mistral-batch"

    def add_routes(self, router: web.UrlDispatcher) -> None:
        path = "/{before:.*}batch/jobs"
        router.add_post(path, self.guarded(self._create))
        router.add_get(path, self.guarded(self._list))
        router.add_get(f"{path}/{{id}}", self.guarded(self._get))
        router.add_post(f"{path}/{{id}}/cancel", self.guarded(self._cancel))

    def error_body(self, status: int, message: str) -> Mapping[str, Any]:
        kind = {400: "invalid_request_error", 401: "unauthorized", 429: "rate_limited"}.get(status, "internal_error")
        return {"object": "error", "message": message, "type": kind, "param": None, "code": None}

    def format_of(self, batch: Batch) -> WireFormat:
        return _FORMAT

    def line(
        self, batch: Batch, custom_id: str, outcome: Outcome, number: int
    ) -> tuple[Shelf, Mapping[str, Any]] | None:
        line: dict[str, Any] = {"id": f"batch-{number:024x}", "custom_id": custom_id, "response": None, "error": None}
        match outcome:
            case Answered(document):
                return Shelf.OUTPUT, {**line, "response": {"status_code": 200, "body": document}}
            case Refused(status, message, is_among_answers):
                response = {"status_code": status, "body": self.error_body(status, message)}
                return Shelf.OUTPUT if is_among_answers else Shelf.ERRORS, {**line, "response": response}
            case Failed(code, message):
                return Shelf.ERRORS, {**line, "error": {"code": code, "message": message}}
            case Unprocessed():
                return None

    async def show(self, batch: Batch, request: web.Request, *, is_being_cancelled: bool = False) -> Mapping[str, Any]:
        now, results = self.store.clock(), batch.results
        phase = batch.phase(now)
        has_ended = phase is Phase.ENDED and not is_being_cancelled
        status = _STATUSES[batch.ending] if has_ended else "QUEUED" if phase is Phase.QUEUED else "RUNNING"
        done = succeeded = int(batch.total * batch.share(now)) if not batch.errors else 0
        if results is not None:
            succeeded = results.counts[Tally.SUCCEEDED]
            done = succeeded + results.counts[Tally.FAILED]
        shown = results if has_ended else None
        document = {
            "id": batch.id,
            "object": "batch",
            "input_files": batch.details["input_files"],
            "metadata": batch.details["metadata"],
            "endpoint": batch.details["endpoint"],
            "model": batch.model,
            "agent_id": None,
            "output_file": shown.output_file if shown else None,
            "error_file": shown.error_file if shown else None,
            "errors": [{"message": error.message, "count": 1} for error in batch.errors] if has_ended else [],
            "status": "CANCELLATION_REQUESTED" if is_being_cancelled else status,
            "created_at": batch.moment(0.0),
            "total_requests": batch.total,
            "completed_requests": done,
            "succeeded_requests": succeeded,
            "failed_requests": done - succeeded,
            "started_at": None if phase is Phase.QUEUED else batch.validated_shown,
            "completed_at": batch.ended_shown if has_ended else None,
        }
        if shown is not None and request.query.get("inline") == "true":
            document["outputs"] = await self._outputs(shown.output_file)
        return document

    async def _outputs(self, file_id: str | None) -> list[Any]:
        """The lines themselves, where somebody wants them with the job."""
        stored = None if file_id is None else self.store.files.get(file_id)
        if stored is None:
            return []
        return [line async for _, line in decoded_lines(await stored.content()) if line is not None]

    async def _create(self, request: web.Request) -> web.StreamResponse:
        document = await read_object(request)
        return await self.create(request, document if isinstance(document, Refusal) else await self._draft(document))

    async def _draft(self, document: Mapping[str, Any]) -> Draft | Refusal:
        model, endpoint, metadata = document.get("model"), document.get("endpoint"), document.get("metadata")
        if endpoint != _ENDPOINT:
            return Refusal(422, f"endpoint: Input should be '{_ENDPOINT}'")
        if not isinstance(model, str):
            return Refusal(422, "model: Field required")
        if metadata is not None and not isinstance(metadata, dict):
            return Refusal(422, "metadata: Input should be a valid dictionary")
        files, inline = document.get("input_files") or [], document.get("requests") or []
        if bool(files) == bool(inline):
            return Refusal(422, "Exactly one of input_files and requests must be given")
        requests: list[BatchRequest] = []
        ids: set[str] = set()
        contents = [b"\n".join(map(orjson.dumps, inline))] if inline else []
        for file_id in files:
            stored = self.store.files.get(str(file_id))
            if stored is None:
                return Refusal(404, f"File {file_id} not found")
            contents.append(await stored.content())
        for content in contents:
            async for number, line in decoded_lines(content):
                custom_id, body = (line or {}).get("custom_id"), (line or {}).get("body")
                if not isinstance(custom_id, str) or not isinstance(body, dict):
                    return Refusal(422, f"Line {number}: custom_id and body are required")
                if custom_id in ids:
                    return Refusal(422, f"Line {number}: duplicate custom_id '{custom_id}'")
                ids.add(custom_id)
                requests.append(make_request(custom_id, body))
        if not requests:
            return Refusal(422, "The input is empty")
        details = {"input_files": files, "metadata": metadata or {}, "endpoint": endpoint}
        return Draft(model, requests, details)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        batches = await self.store.newest(self)
        size = count_of(request.query.get("page_size"), 100, 1000)
        page = request.query.get("page", "0")
        start = size * int(page) if page.isdigit() else 0
        data = [await self.show(batch, request) for batch in batches[start : start + size]]
        return json_response(200, {"data": data, "object": "list", "total": len(batches)})

    async def _get(self, request: web.Request) -> web.StreamResponse:
        batch = await self.store.find(self, request.match_info["id"])
        if batch is None:
            return self.missing(request.match_info["id"])
        return json_response(200, await self.show(batch, request))

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        batch = await self.store.find(self, request.match_info["id"])
        if batch is None:
            return self.missing(request.match_info["id"])
        is_being_cancelled = await self.store.cancel(batch)
        return json_response(200, await self.show(batch, request, is_being_cancelled=is_being_cancelled))
