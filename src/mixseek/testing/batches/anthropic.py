"""Anthropic's message batches, written from its reference and recorded files.

POST, GET /v1/messages/batches · GET /v1/messages/batches/ID · POST …/ID/cancel · GET …/ID/results
"""

import re
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from mixseek.testing.batches.endpoints import (
    BatchEndpoints,
    count_of,
    json_response,
    make_request,
    read_object,
    rfc3339,
)
from mixseek.testing.batches.jobs import WINDOW_SECONDS, Batch, BatchRequest, Draft, Phase, Tally
from mixseek.testing.batches.outcomes import (
    Answered,
    Failed,
    Outcome,
    Refusal,
    Refused,
    Shelf,
    Turn,
    Unprocessed,
)
from mixseek.testing.mock_wire import AnthropicMessages, WireFormat

_FORMAT = AnthropicMessages()
_CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
# What its reference calls the states of a request.
_COUNTS = {
    "succeeded": Tally.SUCCEEDED,
    "errored": Tally.FAILED,
    "canceled": Tally.CANCELLED,
    "expired": Tally.EXPIRED,
}
_WORDS = {tally: word for word, tally in _COUNTS.items()}


class AnthropicBatches(BatchEndpoints):
    """Requests come with the call itself, and a batch cannot fail: each of its requests does."""

    name = "anthropic-batch"
    key_header = "x-api-key"
    download_type = "application/x-jsonl"
    can_fail = False

    def add_routes(self, router: web.UrlDispatcher) -> None:
        path = "/{before:.*}messages/batches"
        router.add_post(path, self.guarded(self._create))
        router.add_get(path, self.guarded(self._list))
        router.add_get(f"{path}/{{id}}", self.guarded(self._get))
        router.add_post(f"{path}/{{id}}/cancel", self.guarded(self._cancel))
        router.add_get(f"{path}/{{id}}/results", self.guarded(self._results))

    def error_body(self, status: int, message: str) -> Mapping[str, Any]:
        return _FORMAT.error(status, message)

    def format_of(self, batch: Batch) -> WireFormat:
        return _FORMAT

    def line(self, batch: Batch, custom_id: str, outcome: Outcome, number: int) -> tuple[Shelf, Mapping[str, Any]]:
        result: dict[str, Any]
        match outcome:
            case Answered(document):
                usage = {**document["usage"], "service_tier": "batch"}
                result = {"type": "succeeded", "message": {**document, "usage": usage}}
            case Refused(status, message):
                error = {**_FORMAT.error(status, message), "request_id": f"req_{number:024x}"}
                result = {"type": "errored", "error": error}
            case Failed(_, message):
                error = {**_FORMAT.error(500, message), "request_id": f"req_{number:024x}"}
                result = {"type": "errored", "error": error}
            case Unprocessed(tally):
                result = {"type": _WORDS[tally]}
        return Shelf.OUTPUT, {"custom_id": custom_id, "result": result}

    async def show(self, batch: Batch, request: web.Request, *, is_being_cancelled: bool = False) -> Mapping[str, Any]:
        has_ended = batch.phase(self.store.clock()) is Phase.ENDED and not is_being_cancelled
        counts = {"processing": 0 if has_ended else batch.total, **dict.fromkeys(_COUNTS, 0)}
        if has_ended and batch.results is not None:
            counts |= {word: batch.results.counts[tally] for word, tally in _COUNTS.items()}
        created = batch.created + batch.skew
        batch_id = f"msgbatch_{batch.id}"
        before = request.path.partition("messages/batches")[0]
        results_url = f"{request.url.origin()}{before}messages/batches/{batch_id}/results"
        cancelled = None if batch.cancelled is None else rfc3339(batch.cancelled + batch.skew)
        return {
            "id": batch_id,
            "type": "message_batch",
            "processing_status": "canceling" if is_being_cancelled else "ended" if has_ended else "in_progress",
            "request_counts": counts,
            "ended_at": rfc3339(batch.ended + batch.skew) if has_ended else None,
            "created_at": rfc3339(created),
            "expires_at": rfc3339(created + WINDOW_SECONDS),
            "archived_at": None,
            "cancel_initiated_at": cancelled,
            "results_url": results_url if has_ended else None,
        }

    async def _create(self, request: web.Request) -> web.StreamResponse:
        document = await read_object(request)
        return await self.create(request, document if isinstance(document, Refusal) else await _draft(document))

    async def _list(self, request: web.Request) -> web.StreamResponse:
        batches = await self.store.newest(self)
        ids = [f"msgbatch_{batch.id}" for batch in batches]
        before, after = request.query.get("before_id"), request.query.get("after_id")
        limit = count_of(request.query.get("limit"), 20, 1000)
        # What is before an id is newer.
        stop = ids.index(before) if before in ids else len(ids)
        start = ids.index(after) + 1 if after in ids else max(0, stop - limit) if before in ids else 0
        shown = batches[start : min(stop, start + limit)]
        data = [await self.show(batch, request) for batch in shown]
        has_more = start > 0 if before in ids else start + limit < stop
        ends = {"first_id": data[0]["id"] if data else None, "last_id": data[-1]["id"] if data else None}
        return json_response(200, {"data": data, "has_more": has_more, **ends})

    async def _find(self, request: web.Request) -> Batch | web.Response:
        batch_id = request.match_info["id"].removeprefix("msgbatch_")
        batch = await self.store.find(self, batch_id)
        return self.missing(batch_id) if batch is None else batch

    async def _get(self, request: web.Request) -> web.StreamResponse:
        batch = await self._find(request)
        return json_response(200, await self.show(batch, request)) if isinstance(batch, Batch) else batch

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        batch = await self._find(request)
        if not isinstance(batch, Batch):
            return batch
        if not await self.store.cancel(batch):
            return self.refuse(400, f"Message batch msgbatch_{batch.id} has ended and cannot be canceled.")
        return json_response(200, await self.show(batch, request, is_being_cancelled=True))

    async def _results(self, request: web.Request) -> web.StreamResponse:
        batch = await self._find(request)
        if not isinstance(batch, Batch):
            return batch
        file_id = None if batch.results is None else batch.results.output_file
        stored = None if file_id is None else self.store.files.get(file_id)
        if batch.results is not None and file_id is None:
            # It has ended, and no line of it is left.
            return web.Response(content_type=self.download_type)
        if stored is None:
            return self.refuse(404, f"Message batch msgbatch_{batch.id} has no available results yet.")
        return await self.download(request, stored)


async def _draft(document: Mapping[str, Any]) -> Draft | Refusal:
    asked = document.get("requests")
    if not isinstance(asked, list) or not asked:
        return Refusal(400, "requests: Field required")
    requests: list[BatchRequest] = []
    ids: set[str] = set()
    turn = Turn()
    for index, item in enumerate(asked):
        await turn.give_way()
        custom_id, params = (item.get("custom_id"), item.get("params")) if isinstance(item, dict) else (None, None)
        if not isinstance(custom_id, str) or not _CUSTOM_ID.fullmatch(custom_id):
            return Refusal(400, f"requests.{index}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'")
        if not isinstance(params, dict):
            return Refusal(400, f"requests.{index}.params: Field required")
        if custom_id in ids:
            return Refusal(400, f"requests.{index}.custom_id: Duplicate custom_id '{custom_id}'")
        ids.add(custom_id)
        requests.append(make_request(custom_id, params))
    model = asked[0]["params"].get("model")
    return Draft(str(model), requests, {})
