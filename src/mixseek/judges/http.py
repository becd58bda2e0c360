"""One connection pool for all judges of an event loop, and nothing between it and the socket."""

import asyncio
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp

CONNECT_TIMEOUT_SECONDS = 10.0
# Shorter than what servers keep an idle connection for: one closed under our hands costs a retry.
_KEEPALIVE_SECONDS = 30.0
_DNS_CACHE_SECONDS = 300
# More than any judgment; a stream without end must not fill the memory.
MAX_BODY_BYTES = 16 * 1024 * 1024


@dataclass(slots=True)
class _SharedSession:
    session: aiohttp.ClientSession
    users: int = 0


_SESSIONS: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _SharedSession]" = weakref.WeakKeyDictionary()


class Connection:
    """A judge's share of its loop's session: opened at the first use, closed with the last user's."""

    __slots__ = ("_loop", "_shared")

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._shared: _SharedSession | None = None

    def session(self) -> aiohttp.ClientSession:
        """The session of the running loop; a judge that moves to another loop takes that one's."""
        loop = asyncio.get_running_loop()
        if self._shared is None or self._loop is not loop:
            self._loop, self._shared = loop, _shared_session(loop)
        return self._shared.session

    async def close(self) -> None:
        """The last one out closes the session; a judge that is called again opens it anew."""
        shared, loop, self._shared, self._loop = self._shared, self._loop, None, None
        if shared is None or loop is None:
            return
        shared.users -= 1
        if shared.users == 0:
            _SESSIONS.pop(loop, None)
            await shared.session.close()


def _shared_session(loop: asyncio.AbstractEventLoop) -> _SharedSession:
    shared = _SESSIONS.get(loop)
    if shared is None:
        shared = _SESSIONS[loop] = _SharedSession(_open_session())
    shared.users += 1
    return shared


def _open_session() -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        # The engine limits what is in flight; a second limit here would only make calls wait inside their timeout.
        limit=0,
        ttl_dns_cache=_DNS_CACHE_SECONDS,
        keepalive_timeout=_KEEPALIVE_SECONDS,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        # Answers are small: unpacking them costs more than receiving them.
        headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "mixseek"},
        # The environment's proxies and .netrc are looked at by whoever asks for them, never behind a judge's back.
        trust_env=False,
    )


def connect_timeout(total_seconds: float) -> aiohttp.ClientTimeout:
    """For connecting alone; see `deadlines` for a call as a whole."""
    return aiohttp.ClientTimeout(total=None, sock_connect=min(CONNECT_TIMEOUT_SECONDS, total_seconds))


async def read_body(response: aiohttp.ClientResponse) -> bytes:
    """All of it at once; more than MAX_BODY_BYTES is given up on as aiohttp.ClientPayloadError."""
    length = response.content_length
    # The length of a packed answer says nothing about what it unpacks to.
    if length is not None and length <= MAX_BODY_BYTES and "Content-Encoding" not in response.headers:
        return await response.read()
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            response.close()
            raise aiohttp.ClientPayloadError(f"the answer is larger than {MAX_BODY_BYTES // 2**20} MiB")
        chunks.append(chunk)
    return b"".join(chunks)


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """What HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY say about `url`."""
    given = {name.lower(): value for name, value in environment.items() if name.lower().endswith("_proxy") and value}
    parts = urlsplit(url)
    if _is_exempt(parts.hostname or "", given.get("no_proxy", "")):
        return None
    return given.get(f"{parts.scheme}_proxy") or given.get("all_proxy")


def _is_exempt(host: str, no_proxy: str) -> bool:
    """`*`, a host, or a domain with all that is below it; ports are not looked at."""
    entries = [entry.strip().lower().lstrip(".").partition(":")[0] for entry in no_proxy.split(",")]
    return any(entry in ("*", host) or host.endswith(f".{entry}") for entry in entries if entry)
