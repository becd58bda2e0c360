"""OpenAI's batches, which Azure, Together, Groq and others speak alike; written from its reference and recorded files.

POST /v1/files · GET, DELETE /v1/files/ID · GET /v1/files/ID/content
POST, GET /v1/batches · GET /v1/batches/ID · POST /v1/batches/ID/cancel
"""

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from mixseek.testing.batches.endpoints import (
    BatchEndpoints,
    count_of,
    decoded_lines,
    json_response,
    make_request,
    read_object,
)
from mixseek.testing.batches.jobs import WINDOW_SECONDS, Batch, BatchError, BatchRequest, Draft, Ending, Phase, Tally
from mixseek.testing.batches.outcomes import Answered, Failed, Outcome, Refusal, Refused, Shelf, Unprocessed
from mixseek.testing.mock_wire import OpenAIChat, OpenAIResponses, WireFormat

_FORMATS: Mapping[str, WireFormat] = {"/chat/completions": OpenAIChat(), "/responses": OpenAIResponses()}
_CHAT = OpenAIChat()
_MOST_METADATA = 16
_LONGEST_LABEL, _LONGEST_VALUE = 64, 512
_UNPROCESSED = {
    Tally.EXPIRED: ("batch_expired", "This request could not be executed before the completion window expired."),
    Tally.CANCELLED: ("batch_cancelled", "This request was not executed because the batch was cancelled."),
}


class OpenAIBatches(BatchEndpoints):
    """A batch that is refused as a whole is created, and fails."""

    name = "openai-batch"
    fails_late = True

    def add_routes(self, router: web.UrlDispatcher) -> None:
        batch = "/{before:.*}batches"
        router.add_post(batch, self.guarded(self._create))
        router.add_get(batch, self.guarded(self._list))
        router.add_get(f"{batch}/{{id}}", self.guarded(self._get))
        router.add_post(f"{batch}/{{id}}/cancel", self.guarded(self._cancel))

    def error_body(self, status: int, message: str) -> Mapping[str, Any]:
        return _CHAT.error(status, message)

    def format_of(self, batch: Batch) -> WireFormat:
        return next(form for end, form in _FORMATS.items() if batch.details["endpoint"].endswith(end))

    def line(self, batch: Batch, custom_id: str, outcome: Outcome, number: int) -> tuple[Shelf, Mapping[str, Any]]:
        shelf, response, error = Shelf.ERRORS, None, None
        request_id = f"{number:032x}"
        match outcome:
            case Answered(document):
                shelf, response = Shelf.OUTPUT, {"status_code": 200, "request_id": request_id, "body": document}
            case Refused(status, message, is_among_answers):
                shelf = Shelf.OUTPUT if is_among_answers else shelf
                response = {"status_code": status, "request_id": request_id, "body": self.error_body(status, message)}
            case Failed(code, message):
                error = {"code": code, "message": message}
            case Unprocessed(tally):
                code, message = _UNPROCESSED[tally]
                error = {"code": code, "message": message}
        return shelf, {
            "id": f"batch_req_{number:024x}",
            "custom_id": custom_id,
            "response": response,
            "error": error,
        }

    async def show(self, batch: Batch, request: web.Request, *, is_being_cancelled: bool = False) -> Mapping[str, Any]:
        now, ending, results = self.store.clock(), batch.ending, batch.results
        phase = batch.phase(now)
        status = "cancelling" if is_being_cancelled else _status(phase, ending)
        has_ended = phase is Phase.ENDED
        is_past = {Phase.QUEUED: 0, Phase.RUNNING: 1, Phase.FINISHING: 2, Phase.ENDED: 2}[phase]
        is_worked_on = ending is not Ending.FAILED
        errors = [{"code": e.code, "line": e.line, "message": e.message, "param": None} for e in batch.errors]
        done = int(batch.total * batch.share(now)) if is_worked_on and not has_ended else 0
        counts = {"total": batch.total if is_worked_on else 0, "completed": done, "failed": 0}
        if results is not None and is_worked_on:
            counts["completed"] = results.counts[Tally.SUCCEEDED]
            counts["failed"] = results.counts.total() - counts["completed"]
        shown_end = {
            f"{state}_at": batch.ended_shown if has_ended and ending is state and not is_being_cancelled else None
            for state in (Ending.COMPLETED, Ending.FAILED, Ending.EXPIRED, Ending.CANCELLED)
        }
        return {
            "id": f"batch_{batch.id}",
            "object": "batch",
            "endpoint": batch.details["endpoint"],
            "errors": {"object": "list", "data": errors} if has_ended and errors else None,
            "input_file_id": batch.details["input_file_id"],
            "completion_window": "24h",
            "status": status,
            "output_file_id": results.output_file if results and not is_being_cancelled else None,
            "error_file_id": results.error_file if results and not is_being_cancelled else None,
            "created_at": batch.moment(0.0),
            "in_progress_at": batch.validated_shown if is_past >= 1 and is_worked_on else None,
            "expires_at": batch.moment(0.0) + WINDOW_SECONDS,
            "finalizing_at": batch.gathered_shown if is_past == 2 and is_worked_on else None,
            **shown_end,
            "cancelling_at": None if batch.cancelled is None else int(batch.cancelled) + batch.skew,
            "request_counts": counts,
            "metadata": batch.details["metadata"],
        }

    async def _create(self, request: web.Request) -> web.StreamResponse:
        document = await read_object(request)
        return await self.create(request, document if isinstance(document, Refusal) else await self._draft(document))

    async def _draft(self, document: Mapping[str, Any]) -> Draft | Refusal:
        endpoint, metadata = document.get("endpoint"), document.get("metadata")
        if not isinstance(endpoint, str) or not endpoint.endswith(tuple(_FORMATS)):
            return Refusal(400, f"Invalid value: '{endpoint}'. Supported values are: {', '.join(_FORMATS)}.")
        if document.get("completion_window") != "24h":
            return Refusal(400, "Invalid value for 'completion_window'. Supported values are: '24h'.")
        problem = _metadata_problem(metadata)
        if problem is not None:
            return Refusal(400, problem)
        stored = self.store.files.get(str(document.get("input_file_id")))
        if stored is None:
            return Refusal(400, f"No such File object: {document.get('input_file_id')}")
        if stored.purpose != "batch":
            return Refusal(400, f"Invalid file purpose: '{stored.purpose}'. Expected 'batch'.")
        requests, model, errors = await _read_lines(await stored.content(), endpoint)
        details = {"endpoint": endpoint, "input_file_id": stored.id, "metadata": metadata}
        return Draft(model, requests, details, errors)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        batches = await self.store.newest(self)
        after = request.query.get("after")
        ids = [f"batch_{batch.id}" for batch in batches]
        start = ids.index(after) + 1 if after in ids else 0
        stop = start + count_of(request.query.get("limit"), 20, 100)
        data = [await self.show(batch, request) for batch in batches[start:stop]]
        ends = {"first_id": data[0]["id"] if data else None, "last_id": data[-1]["id"] if data else None}
        return json_response(200, {"object": "list", "data": data, **ends, "has_more": stop < len(batches)})

    async def _get(self, request: web.Request) -> web.StreamResponse:
        batch_id = request.match_info["id"].removeprefix("batch_")
        batch = await self.store.find(self, batch_id)
        return self.missing(batch_id) if batch is None else json_response(200, await self.show(batch, request))

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        batch_id = request.match_info["id"].removeprefix("batch_")
        batch = await self.store.find(self, batch_id)
        if batch is None:
            return self.missing(batch_id)
        if not await self.store.cancel(batch):
            return self.refuse(409, f"Cannot cancel a batch with status '{batch.ending}'.")
        return json_response(200, await self.show(batch, request, is_being_cancelled=True))


def _status(phase: Phase, ending: Ending) -> str:
    match phase:
        case Phase.QUEUED:
            return "validating"
        case Phase.RUNNING:
            return "in_progress"
        case Phase.FINISHING:
            return "finalizing"
        case Phase.ENDED:
            return ending.value


def _metadata_problem(metadata: Any) -> str | None:
    if metadata is None:
        return None
    if not isinstance(metadata, dict) or len(metadata) > _MOST_METADATA:
        return f"Invalid 'metadata': expected an object with at most {_MOST_METADATA} pairs."
    for name, value in metadata.items():
        if not isinstance(value, str) or len(value) > _LONGEST_VALUE or len(name) > _LONGEST_LABEL:
            return f"Invalid 'metadata.{name}': expected a string of at most {_LONGEST_VALUE} characters."
    return None


async def _read_lines(content: bytes, endpoint: str) -> tuple[list[BatchRequest], str, tuple[BatchError, ...]]:
    """The requests, their one model, and what is wrong with the file as a whole."""
    requests: list[BatchRequest] = []
    ids: set[str] = set()
    model: str | None = None
    async for number, line in decoded_lines(content):
        error = _line_problem(line, endpoint, ids, model)
        if line is None or error is not None:
            code, message = error or ("invalid_json_line", "This line is not parseable as valid JSON.")
            return [], model or "", (BatchError(code, message, number),)
        custom_id, body = line["custom_id"], line["body"]
        ids.add(custom_id)
        model = body["model"]
        requests.append(make_request(custom_id, body))
    if not requests:
        return [], "", (BatchError("empty_file", "The input file is empty."),)
    return requests, model or "", ()


def _line_problem(
    line: Mapping[str, Any] | None, endpoint: str, ids: set[str], model: str | None
) -> tuple[str, str] | None:
    """The code and the words for a line that voids its file."""
    if line is None:
        return "invalid_json_line", "This line is not parseable as valid JSON."
    for name in ("custom_id", "method", "url", "body"):
        if name not in line:
            return "missing_required_parameter", f"Missing required parameter: '{name}'."
    custom_id, body = line["custom_id"], line["body"]
    if not isinstance(custom_id, str) or not isinstance(body, dict):
        return "invalid_request", "Invalid type: 'custom_id' is a string, and 'body' an object."
    if line["method"] != "POST":
        return "invalid_method", f"Invalid method: '{line['method']}'. Only 'POST' is supported."
    if line["url"] != endpoint:
        return "mismatched_endpoint", f"The URL '{line['url']}' does not match the batch's endpoint '{endpoint}'."
    if custom_id in ids:
        return "duplicate_custom_id", f"The custom_id '{custom_id}' has already been used in this file."
    if not isinstance(body.get("model"), str):
        return "missing_required_parameter", "Missing required parameter: 'body.model'."
    if model is not None and body["model"] != model:
        return "model_mismatch", f"The model '{body['model']}' differs from '{model}' in the lines before."
    return None
