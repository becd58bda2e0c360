"""The way to a host for everything about batches: headers, proxy and words for failures are those of its judge."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from multidict import CIMultiDict
from yarl import URL

from mixseek.errors import MixseekError, PermanentJudgeError, TransientJudgeError
from mixseek.judges.endpoint.connection import CONNECT_TIMEOUT_SECONDS, open_session, read_body
from mixseek.judges.endpoint.errors import FOREIGN_ERRORS, map_exception, map_status
from mixseek.judges.endpoint.judge import EndpointJudge, Received

# Results of a whole batch take longer to begin than a reply does.
_READ_SECONDS = 300.0
_CHUNK_BYTES = 1 << 18
# Whoever gives one of these has not taken the request, whatever else it means.
_NOT_TAKEN = range(400, 500)
_TAKEN_PERHAPS = frozenset({408, 499})
# Every provider's batch has one of these.
_NAMES = frozenset({"id", "name"})
_NEVER_LEFT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientProxyConnectionError)


class UncertainError(MixseekError):
    """A request has left, and nobody knows whether the provider has taken it."""


class BatchDoor:
    """Opened by the first request, and closed by whoever made it."""

    def __init__(self, judge: EndpointJudge, *, google_key: bool = False) -> None:
        """`google_key`: the key stands in Google's own header, and not where other hosts look for it."""
        self.target = judge.target
        self._access = judge.access
        self._headers = CIMultiDict(self._access.headers)
        if google_key and judge.target.key is not None:
            self._headers.pop("Authorization", None)
            self._headers["x-goog-api-key"] = judge.target.key.reveal()
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, url: str) -> Mapping[str, Any]:
        """The document there; raises Transient- or PermanentJudgeError."""
        received = await self._ask("GET", url)
        if received.status != 200:
            raise self._failure(received)
        return self._document(received)

    async def look(self, url: str) -> Mapping[str, Any] | None:
        """The same of a batch; None where it is gone, however the host says that."""
        received = await self._ask("GET", url)
        if received.status in (404, 410):
            return None
        if received.status != 200:
            raise self._failure(received)
        document = self._document(received)
        # Whatever else an error says, and in whose form: it names no batch.
        is_error = "error" in (document.get("object"), document.get("type"))
        return document if document.keys() & _NAMES and not is_error else None

    async def post(self, url: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """What came of it; UncertainError where nobody knows."""
        return await self._send(url, data=orjson.dumps(body or {}))

    async def post_lines(self, url: str, before: bytes, path: Path, between: bytes, after: bytes) -> Mapping[str, Any]:
        """A body that holds a whole file of lines, which need not fit into memory."""
        return await self._send(url, data=_framed_lines(path, before, between, after))

    async def post_file(self, url: str, path: Path, name: str, fields: Mapping[str, str]) -> Mapping[str, Any]:
        """A file as a form with these fields."""
        form = aiohttp.FormData()
        for field, value in fields.items():
            form.add_field(field, value)
        with path.open("rb") as stream:
            form.add_field("file", stream, filename=name, content_type="application/jsonl")
            return await self._send(url, data=form, without=("Content-Type",))

    async def begin_upload(self, url: str, path: Path, name: str) -> str:
        """Where Google wants the bytes of a file."""
        size = str(path.stat().st_size)
        headers = {
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": size,
            "X-Goog-Upload-Header-Content-Type": "application/jsonl",
        }
        received = await self._ask("POST", url, data=orjson.dumps({"file": {"display_name": name}}), headers=headers)
        if received.status != 200:
            raise self._failure(received)
        address = received.headers.get("x-goog-upload-url", "")
        if not address:
            raise TransientJudgeError(self._access.place.line("gave no address to upload a batch to"))
        return address

    async def finish_upload(self, address: str, path: Path) -> Mapping[str, Any]:
        """Sends all bytes there. The address is permission enough: it may be another host's, and gets no key."""
        headers = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize"}
        with path.open("rb") as stream:
            length = {"Content-Length": str(path.stat().st_size)}
            received = await self._ask("POST", address, data=stream, headers=headers | length, is_bare=True)
        if received.status != 200:
            raise self._failure(received)
        return self._document(received)

    async def download(self, url: str, write: Callable[[bytes], Any]) -> None:
        """All of a file, chunk by chunk; raises TransientJudgeError where it breaks off."""
        try:
            async with self._open(url, "GET", None, self._headers) as response:
                if response.status != 200:
                    raise self._failure(Received(response.status, response.headers, await read_body(response)))
                async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
                    write(chunk)
        except FOREIGN_ERRORS as error:
            raise map_exception(error, self._access.place, _READ_SECONDS) from error

    async def _send(self, url: str, *, data: Any, without: tuple[str, ...] = ()) -> Mapping[str, Any]:
        headers = CIMultiDict(self._headers)
        for name in without:
            headers.pop(name, None)
        try:
            async with self._open(url, "POST", data, headers) as response:
                received = Received(response.status, response.headers, await read_body(response))
        except FOREIGN_ERRORS as error:
            failure = map_exception(error, self._access.place, _READ_SECONDS)
            if isinstance(error, _NEVER_LEFT):
                raise failure from error
            raise UncertainError(str(failure)) from error
        if received.status in (200, 201):
            try:
                return self._document(received)
            except TransientJudgeError as error:
                raise UncertainError(str(error)) from error
        failure = self._failure(received)
        if received.status in _NOT_TAKEN and received.status not in _TAKEN_PERHAPS:
            raise failure
        raise UncertainError(str(failure))

    async def _ask(
        self,
        method: str,
        url: str,
        *,
        data: Any = None,
        headers: Mapping[str, str] | None = None,
        is_bare: bool = False,
    ) -> Received:
        sent = CIMultiDict({} if is_bare else self._headers)
        sent.update(headers or {})
        try:
            async with self._open(url, method, data, sent) as response:
                return Received(response.status, response.headers, await read_body(response))
        except FOREIGN_ERRORS as error:
            raise map_exception(error, self._access.place, _READ_SECONDS) from error

    def _open(self, url: str, method: str, data: Any, headers: Mapping[str, str]) -> Any:
        if self._session is None:
            self._session = open_session()
        connect = min(CONNECT_TIMEOUT_SECONDS, self.target.settings.timeout_seconds)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=_READ_SECONDS)
        return self._session.request(
            method,
            URL(url, encoded=True),
            data=data,
            headers=headers,
            timeout=timeout,
            allow_redirects=False,
            proxy=self._access.proxy,
        )

    def _failure(self, received: Received) -> TransientJudgeError | PermanentJudgeError:
        return map_status(*received, self._access.place, parameters=(), now=datetime.now(UTC))

    def _document(self, received: Received) -> Mapping[str, Any]:
        try:
            document = orjson.loads(received.body)
        except orjson.JSONDecodeError as error:
            raise TransientJudgeError(self._access.place.line("answered 200 about a batch, without JSON")) from error
        # A list of batches may stand for itself.
        return document if isinstance(document, dict) else {"data": document}


def named(document: Mapping[str, Any], field: str = "id") -> str:
    """What the provider calls what it has made; UncertainError where its answer does not say."""
    name = document.get(field)
    if not isinstance(name, str) or not name:
        raise UncertainError(f"its answer has no {field!r}")
    return name


async def _framed_lines(path: Path, before: bytes, between: bytes, after: bytes) -> AsyncIterator[bytes]:
    """The lines of a file with something around and between them."""
    yield before
    with path.open("rb") as stream:
        gathered, is_first = bytearray(), True
        for line in stream:
            if not is_first:
                gathered += between
            is_first = False
            gathered += line.rstrip(b"\n")
            if len(gathered) >= _CHUNK_BYTES:
                yield bytes(gathered)
                gathered.clear()
                # Others get their turn while a large file leaves.
                await asyncio.sleep(0)
        yield bytes(gathered)
    yield after
