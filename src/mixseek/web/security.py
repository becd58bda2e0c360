"""The one place that decides who may ask what, and what every answer forbids a browser to do.

In the order of the checks: the Host header (a page elsewhere may point its name at this machine), Origin and
Sec-Fetch-Site (another page in the same browser), the method, and the secret of the link. A check that fails answers
with one sentence and nothing of the workspace.
"""

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import urlencode

from aiohttp import web
from aiohttp.typedefs import Middleware

from mixseek.errors import ConfigurationError

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
# The name of the environment variable that holds the token for other machines.
TOKEN_VARIABLE = "MIXSEEK_VIEW_TOKEN"  # noqa: S105 - its name, not its value
_SHORTEST_TOKEN = 20
# Anything else changes something.
_READING = frozenset({"GET", "HEAD"})
_FROM_HERE = frozenset({"same-origin", "none"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Judged texts are nobody's to keep.
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Who may look: whoever names `secret`, at an address of this machine."""

    host: str = "127.0.0.1"
    is_read_only: bool = False
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def is_remote(self) -> bool:
        return not is_loopback(self.host)

    def cookie_name(self, port: int) -> str:
        """Cookies do not know ports, and two viewers may run beside each other."""
        return f"mixseek-{port}"

    @property
    def cookie(self) -> str:
        """Not the secret itself: what a browser keeps opens no second browser by its link."""
        return hmac.digest(self.secret.encode(), b"cookie", "sha256").hex()


def is_loopback(host: str) -> bool:
    """An address, or the name that stands for it everywhere."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def decide_access(host: str, *, allows_remote: bool, is_read_only: bool, token: str | None) -> Access:
    """Raises ConfigurationError where others could reach the viewer without being meant to."""
    if is_loopback(host):
        return Access(host, is_read_only)
    if not allows_remote:
        raise ConfigurationError(
            f"--host {host}: other machines could ask; add --allow-remote and a token in ${TOKEN_VARIABLE}, "
            "or leave --host out"
        )
    if token is None or len(token) < _SHORTEST_TOKEN:
        raise ConfigurationError(
            f"--allow-remote: ${TOKEN_VARIABLE} must hold a token of at least {_SHORTEST_TOKEN} characters, "
            "such as `python -c 'import secrets; print(secrets.token_urlsafe(32))'` prints"
        )
    return Access(host, is_read_only, token)


def guard(access: Access) -> Middleware:
    """The middleware around every handler."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = find_refusal(request, access)
        if refused is not None:
            return refused
        try:
            return await handler(request)
        except web.HTTPException as error:
            # The router's own words are a page of aiohttp's.
            return refuse(error.status, f"{request.method} {request.path}: {(error.reason or '').lower()}")

    return check


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """On whatever is sent, streams included."""
    response.headers.update(HEADERS)
    response.headers.popall("Server", None)


def find_refusal(request: web.Request, access: Access) -> web.Response | None:
    """None for a request that may be answered; the answer to the secret link is the cookie."""
    if not is_own_host(request.headers.get("Host", ""), access, port_of(request)):
        return refuse(421, "this address is not the viewer's; open the link that `mixseek view` printed")
    key = request.query.get("key")
    has_key = key is not None and hmac.compare_digest(key.encode(), access.secret.encode())
    origin = request.headers.get("Origin")
    site = request.headers.get("Sec-Fetch-Site", "none")
    # A link may be followed from anywhere, by whoever knows the secret in it; nothing else may be asked from elsewhere.
    is_link = has_key and request.method == "GET" and origin is None
    is_from_here = (origin is None or origin == f"http://{request.headers['Host']}") and site in _FROM_HERE
    if not is_from_here and not is_link:
        return refuse(403, "asked for by a page of somebody else; open the link that `mixseek view` printed")
    if request.method not in _READING:
        if access.is_read_only:
            return refuse(403, "this viewer only reads (--read-only)")
        if origin is None:
            return refuse(403, "what changes something must say where it comes from (Origin)")
    if is_link:
        return welcome(request, access)
    return None if is_known(request, access) else refuse(403, "open the link that `mixseek view` printed")


def is_known(request: web.Request, access: Access) -> bool:
    """By the cookie, or, for programs, by `Authorization: Bearer SECRET`."""
    cookie = request.cookies.get(access.cookie_name(port_of(request)), "")
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    is_bearer = scheme.lower() == "bearer" and hmac.compare_digest(token.encode(), access.secret.encode())
    return is_bearer or hmac.compare_digest(cookie.encode(), access.cookie.encode())


def is_own_host(header: str, access: Access, port: int) -> bool:
    """Names can be pointed anywhere by their owner, so only addresses count, and the names that are this machine's."""
    name, colon, said = header.rpartition(":")
    if not colon or said != str(port):
        return False
    if is_loopback(name):
        return True
    if not access.is_remote:
        return False
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name.lower() in {access.host.lower(), socket.gethostname().lower()}
    return True


def port_of(request: web.Request) -> int:
    """Where this connection arrived."""
    place = request.transport.get_extra_info("sockname") if request.transport is not None else None
    return int(place[1]) if place else 0


def welcome(request: web.Request, access: Access) -> web.Response:
    """The cookie, and a page that moves on: a redirect would not carry it when the link was in another page."""
    rest = [(name, value) for name, value in request.query.items() if name != "key"]
    # Only the path counts: `//elsewhere` would be another machine.
    path = "/" + request.rel_url.raw_path.lstrip("/")
    target = (path + (f"?{urlencode(rest)}" if rest else "")).replace("&", "&amp;").replace('"', "&quot;")
    # Without an icon of its own, the browser would ask for one, and be told that there is none.
    head = '<!doctype html><title>mixseek</title><link rel="icon" href="data:,">'
    page = f'{head}<meta http-equiv="refresh" content="0;url={target}">'
    response = web.Response(text=page, content_type="text/html")
    response.set_cookie(access.cookie_name(port_of(request)), access.cookie, path="/", httponly=True, samesite="Strict")
    return response


def refuse(status: int, sentence: str) -> web.Response:
    """As text: a refusal is for whoever reads it, browser or program."""
    return web.Response(status=status, text=f"mixseek: {sentence}\n")
