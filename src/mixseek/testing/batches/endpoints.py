"""What the batch interfaces of all providers share over HTTP: how calls are refused, answered late, or cut."""

import asyncio
import hashlib
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson
from aiohttp import web

from mixseek.lazy_dataclass import dataclass
from mixseek.testing.batches.faults import BatchFault, Moment
from mixseek.testing.batches.files import StoredFile
from mixseek.testing.batches.jobs import Batch, BatchRequest, Draft
from mixseek.testing.batches.outcomes import Refusal, Turn, Wire
from mixseek.testing.batches.store import BatchStore, Creation
from mixseek.testing.ledger import canonical

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class CallManners:
    """How calls are answered, whatever they ask for."""

    retry_after_seconds: float = 1.0
    # What a batch's creator waits for an answer that comes late.
    slow_seconds: float = 2.0
    refuses_keys: bool = False


class BatchEndpoints(Wire):
    """A provider's batch interface: `add_routes` puts it into an application."""

    key_header = "Authorization"
    # What downloads are called.
    download_type = "application/octet-stream"

    def __init__(self, store: BatchStore, manners: CallManners) -> None:
        self.store = store
        self._manners = manners
        self._tasks: set[asyncio.Task[Any]] = set()

    @abstractmethod
    def add_routes(self, router: web.UrlDispatcher) -> None:
        """Adds the provider's paths; what stands before them is the client's affair."""

    @abstractmethod
    def error_body(self, status: int, message: str) -> Mapping[str, Any]:
        """An error as this provider writes it."""

    @abstractmethod
    async def show(self, batch: Batch, request: web.Request, *, is_being_cancelled: bool = False) -> Mapping[str, Any]:
        """The batch as this provider writes it."""

    def guarded(self, handler: Handler) -> Handler:
        """The same handler behind the check of the key."""

        async def answer(request: web.Request) -> web.StreamResponse:
            if self._manners.refuses_keys:
                key = request.headers.get(self.key_header, "").removeprefix("Bearer ")
                return self.refuse(401, f"Incorrect API key provided: {key}.")
            return await handler(request)

        return answer

    def refuse(self, status: int, message: str) -> web.Response:
        later = {"Retry-After": f"{self._manners.retry_after_seconds:g}"} if status == 429 else None
        return json_response(status, self.error_body(status, message), later)

    def missing(self, batch_id: str) -> web.Response:
        """The answer to an id that nobody has heard of: 404, or an error that is called a success."""
        words = f"No batch found with id '{batch_id}'."
        is_quiet = self.store.is_gone(batch_id) and ord(batch_id[-1]) % 2 == 0
        return json_response(200 if is_quiet else 404, self.error_body(404, words))

    async def create(self, request: web.Request, draft: Draft | Refusal) -> web.StreamResponse:
        """Creates the batch whether or not the client stays to hear of it, and tells it so."""
        if isinstance(draft, Refusal):
            return self.refuse(*draft)
        creation = await self.complete(self.store.create(self, draft))
        match creation:
            case Refusal(status, message):
                return self.refuse(status, message)
            case Creation(batch, BatchFault.LOST_ANSWER):
                return _hang_up(request)
            case Creation(batch, fault):
                if fault is BatchFault.SLOW_POST:
                    await asyncio.sleep(self._manners.slow_seconds)
                return json_response(200, await self.show(batch, request))

    async def complete(self, work: Awaitable[Result]) -> Result:
        """Does the work to its end, though its client be gone."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    def refusal_of_upload(self, content: bytes) -> Refusal | None:
        """Why a file is not taken."""
        fault = self.store.plan.draw(Moment.UPLOAD, hashlib.blake2b(content, digest_size=16).digest())
        is_refused = fault is BatchFault.TOO_MANY or self.store.is_busy(self)
        return Refusal(429, "Too many files at once for this key.") if is_refused else None

    async def download(self, request: web.Request, stored: StoredFile) -> web.StreamResponse:
        """The file's content; under a fault, the first half of what was announced."""
        kind = self.download_type
        content = await stored.content()
        if self.store.plan.draw(Moment.DOWNLOAD, stored.digest) is not BatchFault.CUT_DOWNLOAD:
            return web.Response(body=content, content_type=kind)
        response = web.StreamResponse(headers={"Content-Length": str(len(content))})
        response.content_type = kind
        await response.prepare(request)
        await response.write(content[: len(content) // 2])
        return _hang_up(request)


def _hang_up(request: web.Request) -> web.Response:
    """Cuts the connection; the response goes nowhere."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def json_response(status: int, document: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> web.Response:
    body = orjson.dumps(document)
    return web.Response(status=status, body=body, headers=headers, content_type="application/json")


async def read_object(request: web.Request) -> dict[str, Any] | Refusal:
    """The body where it is an object."""
    document = decoded(await request.read() or b"{}")
    return Refusal(400, "The body of this request is not a JSON object.") if document is None else document


def decoded(data: bytes) -> dict[str, Any] | None:
    """The object; None for what is none."""
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return document if isinstance(document, dict) else None


async def decoded_lines(content: bytes) -> AsyncIterator[tuple[int, dict[str, Any] | None]]:
    """Lines that are not blank, counted from 1, while others have their turn."""
    turn = Turn()
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            yield number, decoded(line)
            await turn.give_way()


def make_request(custom_id: str, body: Any) -> BatchRequest:
    data = canonical(body)
    return BatchRequest(custom_id, data, hashlib.blake2b(data, digest_size=16).digest())


def rfc3339(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def count_of(text: str | None, default: int, most: int) -> int:
    """How many a list shall show: what the query says, within what is allowed."""
    return min(most, max(1, int(text))) if text is not None and text.isdigit() else default
