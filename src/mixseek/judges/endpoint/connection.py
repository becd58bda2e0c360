"""The connection to an endpoint: its session, the proxy before it, and how much of a body is read."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import aiohttp

CONNECT_TIMEOUT_SECONDS = 10.0
# More than any judgment; a stream without end must not fill the memory.
MAX_BODY_BYTES = 16 * 1024 * 1024


def open_session() -> aiohttp.ClientSession:
    """Nothing between it and the socket: no cookies, and no proxies or .netrc that nobody asked for."""
    connector = aiohttp.TCPConnector(
        # The engine limits what is in flight; a second limit here would only make calls wait inside their timeout.
        limit=0,
        ttl_dns_cache=300,
        # Shorter than what servers keep an idle connection for: one closed under our hands costs a retry.
        keepalive_timeout=30.0,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        # Answers are small: unpacking them costs more than receiving them.
        headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "mixseek"},
        trust_env=False,
    )


async def read_body(response: aiohttp.ClientResponse) -> bytes:
    """More than MAX_BODY_BYTES, once unpacked, is given up on as aiohttp.ClientPayloadError."""
    length = response.content_length
    if length is not None and length <= MAX_BODY_BYTES and "Content-Encoding" not in response.headers:
        return await response.read()
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise aiohttp.ClientPayloadError(f"the answer is larger than {MAX_BODY_BYTES // 2**20} MiB")
    return bytes(body)


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """What HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY say about `url`."""
    given = {name.lower(): value for name, value in environment.items() if value}
    parts = urlsplit(url)
    # `*`, a host, or a domain with all that is below it; ports are not looked at.
    exempt = [entry.strip().lower().lstrip(".").partition(":")[0] for entry in given.get("no_proxy", "").split(",")]
    if "*" in exempt or any(f".{parts.hostname}".endswith(f".{entry}") for entry in exempt if entry):
        return None
    return given.get(f"{parts.scheme}_proxy") or given.get("all_proxy")
