"""Gemini's batches, native; written from its reference, its guide and recorded answers.

POST /v1beta/models/M:batchGenerateContent · GET /v1beta/batches · GET, DELETE /v1beta/batches/ID · POST …/ID:cancel
POST /upload/v1beta/files (resumable) · GET, DELETE /v1beta/files/ID · GET /download/v1beta/files/ID:download?alt=media
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from mixseek.judges.endpoint.answers import mapping
from mixseek.testing.batches.endpoints import (
    BatchEndpoints,
    count_of,
    decoded_lines,
    json_response,
    make_request,
    read_object,
    rfc3339,
)
from mixseek.testing.batches.files import StoredFile
from mixseek.testing.batches.jobs import WINDOW_SECONDS, Batch, BatchRequest, Draft, Ending, Phase, Tally
from mixseek.testing.batches.outcomes import (
    Answered,
    Failed,
    Outcome,
    Refusal,
    Refused,
    Shelf,
    Unprocessed,
)
from mixseek.testing.mock_gemini import GeminiContent, snake_cased
from mixseek.testing.mock_wire import WireFormat

_FORMAT = GeminiContent()
_TYPE = "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch"
_STATES = {
    Ending.COMPLETED: "BATCH_STATE_SUCCEEDED",
    Ending.FAILED: "BATCH_STATE_FAILED",
    Ending.EXPIRED: "BATCH_STATE_EXPIRED",
    Ending.CANCELLED: "BATCH_STATE_CANCELLED",
}
# Numbers of gRPC, which are no HTTP statuses.
_INTERNAL, _CANCELLED, _DEADLINE = 13, 1, 4
_GRPC_BY_STATUS = {400: 3, 429: 8, 500: 13, 503: 14}
# Requests without a key are told by their place.
_KEYLESS = "#"
# Before what its paths begin with, anything may stand.
_ROOT = "/{before:(?:.*/)?}v1beta"


class GeminiBatches(BatchEndpoints):
    """Batches are operations; one that expired or was cancelled leaves no results."""

    name = "gemini-batch"
    key_header = "x-goog-api-key"
    file_prefix = "files/"
    keeps_partial_results = False

    def add_routes(self, router: web.UrlDispatcher) -> None:
        uploads = _Uploads(self)
        router.add_post("/{before:.*}models/{model}:batchGenerateContent", self.guarded(self._create))
        router.add_get(f"{_ROOT}/batches", self.guarded(self._list))
        router.add_get(f"{_ROOT}/batches/{{id}}", self.guarded(self._get))
        router.add_post(f"{_ROOT}/batches/{{id}}:cancel", self.guarded(self._cancel))
        router.add_post(f"{_ROOT}/files", self.guarded(uploads.receive))
        router.add_get(f"{_ROOT}/files/{{id:[^/:]+}}:download", self.guarded(self._download))
        router.add_get(f"{_ROOT}/files/{{id:[^/:]+}}", self.guarded(self._get_file))
        router.add_delete(f"{_ROOT}/files/{{id:[^/:]+}}", self.guarded(self._delete_file))

    def error_body(self, status: int, message: str) -> Mapping[str, Any]:
        return _FORMAT.error(status, message)

    def format_of(self, batch: Batch) -> WireFormat:
        return _FORMAT

    def line(self, batch: Batch, custom_id: str, outcome: Outcome, number: int) -> tuple[Shelf, Mapping[str, Any]]:
        match outcome:
            case Answered(document):
                return Shelf.OUTPUT, {"key": custom_id, "response": document}
            case Refused(status, message):
                error = {"code": _GRPC_BY_STATUS.get(status, _INTERNAL), "message": message}
            case Failed(_, message):
                error = {"code": _INTERNAL, "message": message}
            case Unprocessed(tally):
                code = _CANCELLED if tally is Tally.CANCELLED else _DEADLINE
                error = {"code": code, "message": f"The request was {tally}."}
        return Shelf.OUTPUT, {"key": custom_id, "error": error}

    async def show(self, batch: Batch, request: web.Request, *, is_being_cancelled: bool = False) -> Mapping[str, Any]:
        operation = self._operation(batch)
        if batch.phase(self.store.clock()) is not Phase.ENDED or batch.ending is not Ending.COMPLETED:
            return operation
        output = await self._output(batch)
        operation["metadata"]["output"] = output
        return {**operation, "response": {"@type": f"{_TYPE}Output", **output}}

    def _operation(self, batch: Batch) -> dict[str, Any]:
        """The operation without its results, as lists have it."""
        now = self.store.clock()
        phase, ending = batch.phase(now), batch.ending
        has_ended = phase is Phase.ENDED
        running = "BATCH_STATE_PENDING" if phase is Phase.QUEUED else "BATCH_STATE_RUNNING"
        metadata: dict[str, Any] = {
            "@type": _TYPE,
            "model": f"models/{batch.model}",
            "displayName": batch.details["display_name"],
            "createTime": rfc3339(batch.created + batch.skew),
            "updateTime": rfc3339((batch.ended if has_ended else now) + batch.skew),
            "batchStats": _stats(batch, has_ended=has_ended),
            "state": _STATES[ending] if has_ended else running,
            "name": f"batches/{batch.id}",
        }
        if batch.details["file"] is not None:
            metadata["inputConfig"] = {"fileName": batch.details["file"]}
        operation: dict[str, Any] = {"name": f"batches/{batch.id}", "metadata": metadata}
        if not has_ended:
            return operation
        metadata["endTime"] = rfc3339(batch.ended + batch.skew)
        match ending:
            case Ending.COMPLETED:
                return {**operation, "done": True}
            case Ending.FAILED:
                error = {"code": _INTERNAL, "message": batch.errors[0].message}
            case Ending.CANCELLED:
                error = {"code": _CANCELLED, "message": "The operation was cancelled."}
            case _:
                error = {"code": _DEADLINE, "message": "The batch expired before it was processed."}
        return {**operation, "done": True, "error": error}

    async def _output(self, batch: Batch) -> dict[str, Any]:
        """The results: in a file where the requests came in one, else in the operation itself."""
        file_id = None if batch.results is None else batch.results.output_file
        if batch.details["file"] is not None:
            return {"responsesFile": file_id}
        stored = None if file_id is None else self.store.files.get(file_id)
        responses = []
        if stored is not None:
            async for _, line in decoded_lines(await stored.content()):
                if line is not None:
                    key = line.pop("key")
                    responses.append(line if key.startswith(_KEYLESS) else {**line, "metadata": {"key": key}})
        return {"inlinedResponses": {"inlinedResponses": responses}}

    async def _create(self, request: web.Request) -> web.StreamResponse:
        document = await read_object(request)
        model = request.match_info["model"]
        draft = document if isinstance(document, Refusal) else await self._draft(document, model)
        return await self.create(request, draft)

    async def _draft(self, document: Mapping[str, Any], model: str) -> Draft | Refusal:
        batch = snake_cased(mapping(document.get("batch")))
        display_name = batch.get("display_name")
        source = snake_cased(mapping(batch.get("input_config")))
        if not isinstance(display_name, str):
            return Refusal(400, "batch.display_name: a name is required")
        if "file_name" in source:
            stored = self.store.files.get(str(source["file_name"]))
            if stored is None:
                return Refusal(404, f"File {source['file_name']} is not found")
            lines = [(line or {}).items() for _, line in [pair async for pair in decoded_lines(await stored.content())]]
            asked = [dict(line) for line in lines]
            keys = [line.get("key") for line in asked]
        else:
            asked = mapping(source.get("requests")).get("requests") or []
            keys = [mapping(mapping(line).get("metadata")).get("key") for line in asked]
        requests: list[BatchRequest] = []
        for index, (key, line) in enumerate(zip(keys, asked, strict=True)):
            if not isinstance(line, dict) or not isinstance(line.get("request"), dict):
                return Refusal(400, f"Request {index} has no 'request'.")
            requests.append(make_request(key if isinstance(key, str) else f"{_KEYLESS}{index}", line["request"]))
        if not requests:
            return Refusal(400, "The batch has no requests.")
        return Draft(model, requests, {"display_name": display_name, "file": source.get("file_name")})

    async def _list(self, request: web.Request) -> web.StreamResponse:
        batches = await self.store.newest(self)
        size = count_of(request.query.get("pageSize"), 50, 1000)
        token = request.query.get("pageToken", "")
        start = int(token) if token.isdigit() else 0
        operations = [self._operation(batch) for batch in batches[start : start + size]]
        more = {"nextPageToken": str(start + size)} if start + size < len(batches) else {}
        return json_response(200, {"operations": operations, **more})

    async def _get(self, request: web.Request) -> web.StreamResponse:
        batch = await self.store.find(self, request.match_info["id"])
        if batch is None:
            return self.missing(request.match_info["id"])
        return json_response(200, await self.show(batch, request))

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        batch = await self.store.find(self, request.match_info["id"])
        if batch is None:
            return self.missing(request.match_info["id"])
        if not await self.store.cancel(batch):
            return self.refuse(400, f"batches/{batch.id} has ended and cannot be cancelled.")
        return json_response(200, {})

    def _file(self, request: web.Request) -> StoredFile | None:
        return self.store.files.get(f"{self.file_prefix}{request.match_info['id']}")

    async def _get_file(self, request: web.Request) -> web.StreamResponse:
        stored = self._file(request)
        return self._no_file(request) if stored is None else json_response(200, _show_file(stored, request))

    async def _download(self, request: web.Request) -> web.StreamResponse:
        stored = self._file(request)
        if stored is None:
            return self._no_file(request)
        if request.query.get("alt") != "media":
            return self.refuse(400, "A download needs alt=media.")
        return await self.download(request, stored)

    async def _delete_file(self, request: web.Request) -> web.StreamResponse:
        is_there = self.store.files.remove(f"{self.file_prefix}{request.match_info['id']}")
        return json_response(200, {}) if is_there else self._no_file(request)

    def _no_file(self, request: web.Request) -> web.Response:
        return self.refuse(404, f"File files/{request.match_info['id']} is not found.")


class _Uploads:
    """The resumable protocol: a start that names an address, then pieces, the last of which finalizes."""

    def __init__(self, provider: GeminiBatches) -> None:
        self._provider = provider
        self._pieces: dict[str, bytearray] = {}
        self._started: dict[str, tuple[str, str]] = {}
        self._lock = asyncio.Lock()

    async def receive(self, request: web.Request) -> web.StreamResponse:
        commands = {word.strip() for word in request.headers.get("X-Goog-Upload-Command", "").split(",")}
        upload = request.query.get("upload_id", "")
        if "start" in commands:
            return await self._start(request)
        if upload not in self._pieces:
            return self._provider.refuse(404, "There is no such upload.")
        async with self._lock:
            return await self._continue(request, upload, commands)

    async def _start(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("X-Goog-Upload-Protocol") != "resumable":
            return self._provider.refuse(400, "Only X-Goog-Upload-Protocol: resumable is known.")
        document = await read_object(request)
        if isinstance(document, Refusal):
            return self._provider.refuse(*document)
        name = snake_cased(mapping(document.get("file"))).get("display_name") or ""
        mime_type = request.headers.get("X-Goog-Upload-Header-Content-Type", "application/octet-stream")
        upload = f"upload-{len(self._started) + 1}"
        self._started[upload] = (str(name), mime_type)
        self._pieces[upload] = bytearray()
        url = request.url.update_query(upload_id=upload, upload_protocol="resumable")
        return json_response(200, {}, {"X-Goog-Upload-URL": str(url), "X-Goog-Upload-Status": "active"})

    async def _continue(self, request: web.Request, upload: str, commands: set[str]) -> web.StreamResponse:
        pieces = self._pieces[upload]
        if "upload" in commands:
            if request.headers.get("X-Goog-Upload-Offset") != str(len(pieces)):
                return self._provider.refuse(400, f"The next piece begins at {len(pieces)}.")
            pieces += await request.read()
        if "finalize" not in commands:
            received = {"X-Goog-Upload-Status": "active", "X-Goog-Upload-Size-Received": str(len(pieces))}
            return json_response(200, {}, received)
        content, (name, mime_type) = bytes(pieces), self._started[upload]
        refusal = self._provider.refusal_of_upload(content)
        if refusal is not None:
            # The piece may come again.
            pieces.clear()
            return self._provider.refuse(*refusal)
        del self._pieces[upload]
        prefix = self._provider.file_prefix
        stored = await self._provider.store.files.add(content, name, "batch", prefix=prefix, mime_type=mime_type)
        return json_response(200, {"file": _show_file(stored, request)}, {"X-Goog-Upload-Status": "final"})


def _stats(batch: Batch, *, has_ended: bool) -> dict[str, str]:
    """Counts, which are texts here; those that are zero are left out."""
    counts = {"requestCount": batch.total, "pendingRequestCount": 0 if has_ended else batch.total}
    if has_ended and batch.results is not None:
        counts["successfulRequestCount"] = batch.results.counts[Tally.SUCCEEDED]
        counts["failedRequestCount"] = batch.total - batch.results.counts[Tally.SUCCEEDED]
    return {name: str(count) for name, count in counts.items() if count}


def _show_file(stored: StoredFile, request: web.Request) -> Mapping[str, Any]:
    return {
        "name": stored.id,
        "displayName": stored.name,
        "mimeType": stored.mime_type,
        "sizeBytes": str(stored.size),
        "createTime": rfc3339(stored.created),
        "updateTime": rfc3339(stored.created),
        "expirationTime": rfc3339(stored.created + 2 * WINDOW_SECONDS),
        "uri": f"{request.url.origin()}/v1beta/{stored.id}",
        "state": "ACTIVE",
        "source": "UPLOADED" if stored.purpose == "batch" else "GENERATED",
    }
