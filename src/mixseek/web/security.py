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
from dataclasses import field
from urllib.parse import SplitResult, urlencode, urlsplit

from aiohttp import web
from aiohttp.typedefs import Middleware

from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
# The name of the environment variable that holds the token for other machines.
TOKEN_VARIABLE = "MIXSEEK_VIEW_TOKEN"  # noqa: S105 - its name, not its value
_SHORTEST_TOKEN = 20
# Anything else changes something.
READING = frozenset({"GET", "HEAD"})
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
class PublicUrl:
    """Where others reach the viewer, through a proxy: `origin` as browsers write it, `path` without its last slash."""

    origin: str
    path: str = ""

    @property
    def host(self) -> str:
        """The Host header as a proxy sends it that hands it on."""
        return self.origin.partition("://")[2]

    @property
    def is_encrypted(self) -> bool:
        return self.origin.startswith("https:")


def read_public_url(text: str) -> PublicUrl:
    """Raises ConfigurationError for what is no address of a page."""
    words = f"--public-url {text}: write the address that others open, such as https://judging.example.org/mixseek"
    try:
        parts: SplitResult = urlsplit(text.strip())
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        # Asking for the port raises where it is none.
        port = parts.port
    except ValueError as error:
        raise ConfigurationError(words) from error
    if not is_address or parts.query or parts.fragment:
        raise ConfigurationError(words)
    # A browser leaves out the port that everybody expects.
    usual = {"http": 80, "https": 443}[parts.scheme]
    name = (parts.hostname or "").lower()
    shown = f"[{name}]" if ":" in name else name
    host = shown if port in (None, usual) else f"{shown}:{port}"
    return PublicUrl(f"{parts.scheme}://{host}", "/".join(["", *filter(None, parts.path.split("/"))]))


@dataclass(frozen=True, slots=True)
class Access:
    """Who may look: whoever names `secret`, at an address of this machine, or at `public` where a proxy stands."""

    host: str = "127.0.0.1"
    is_read_only: bool = False
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    public: PublicUrl | None = None

    @property
    def is_remote(self) -> bool:
        return not is_loopback(self.host)

    @property
    def base(self) -> str:
        """What stands before every path, as a browser sees it."""
        return "" if self.public is None else self.public.path

    def invitation(self, rater: str) -> str:
        """The key of a link for one rater: it opens the viewer, and says nothing of the secret."""
        return hmac.digest(self.secret.encode(), b"rater\n" + rater.encode(), "sha256").hex()

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


def is_every_address(host: str) -> bool:
    """Whether it means all addresses of this machine, and none that could be opened."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


def decide_access(
    host: str, *, allows_remote: bool, is_read_only: bool, token: str | None, public_url: str | None = None
) -> Access:
    """Raises ConfigurationError where others could reach the viewer without being meant to.

    Behind a proxy the viewer itself still listens on loopback; a token, where there is one, keeps links valid through
    a restart.
    """
    public = None if public_url is None else read_public_url(public_url)
    if is_loopback(host):
        if public is None or token is None:
            return Access(host, is_read_only, public=public)
        return Access(host, is_read_only, check_token(token), public)
    if not allows_remote:
        raise ConfigurationError(
            f"--host {host}: other machines could ask; add --allow-remote and a token in ${TOKEN_VARIABLE}, "
            "or leave --host out"
        )
    return Access(host, is_read_only, check_token(token), public)


def check_token(token: str | None) -> str:
    """Raises ConfigurationError for one that could be guessed."""
    if token is None or len(token) < _SHORTEST_TOKEN:
        raise ConfigurationError(
            f"--allow-remote: ${TOKEN_VARIABLE} must hold a token of at least {_SHORTEST_TOKEN} characters, "
            "such as `python -c 'import secrets; print(secrets.token_urlsafe(32))'` prints"
        )
    return token


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
            return refuse(error.status, f"{request.method} {request.path}: {error.reason}")

    return check


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Whatever is sent carries the headers, streams included."""
    response.headers.update(HEADERS)
    response.headers.popall("Server", None)


def find_refusal(request: web.Request, access: Access) -> web.Response | None:
    """None for a request that may be answered; the answer to the secret link is the cookie."""
    host = request.headers.get("Host", "")
    if not is_own_host(host, access, port_of(request)):
        return refuse(421, "this address is not the viewer's; open the link that `mixseek view` printed")
    has_key = is_key(request.query.get("key"), request.query.get("rater"), access)
    origin = request.headers.get("Origin")
    site = request.headers.get("Sec-Fetch-Site", "none")
    # A link may be followed from anywhere, by whoever knows the secret in it; nothing else may be asked from elsewhere.
    is_link = has_key and request.method == "GET" and origin is None
    is_from_here = (origin is None or origin in own_origins(host, access)) and site in _FROM_HERE
    if not is_from_here and not is_link:
        return refuse(403, "asked for by a page of somebody else; open the link that `mixseek view` printed")
    if request.method not in READING:
        if access.is_read_only:
            return refuse(403, "this viewer only reads (--read-only)")
        if origin is None:
            return refuse(403, "what changes something must say where it comes from (Origin)")
    if is_link:
        return welcome(request, access)
    return None if is_known(request, access) else refuse(403, "open the link that `mixseek view` printed")


def own_origins(host: str, access: Access) -> list[str]:
    """Our origins for a request with that Host: a proxy may hand it on, or ask by the address of this machine."""
    direct = f"http://{host}"
    if access.public is None:
        return [direct]
    return [access.public.origin] if host.lower() == access.public.host else [access.public.origin, direct]


def is_key(key: str | None, rater: str | None, access: Access) -> bool:
    """The secret of the link, or what stands for it in the link of that rater."""
    if key is None:
        return False
    keys = [access.secret, *([] if rater is None else [access.invitation(rater)])]
    return any(hmac.compare_digest(key.encode(), good.encode()) for good in keys)


def is_known(request: web.Request, access: Access) -> bool:
    """Whoever asks is known by the cookie, or, for programs, by `Authorization: Bearer SECRET`."""
    cookie = request.cookies.get(access.cookie_name(port_of(request)), "")
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    is_bearer = scheme.lower() == "bearer" and hmac.compare_digest(token.encode(), access.secret.encode())
    return is_bearer or hmac.compare_digest(cookie.encode(), access.cookie.encode())


def is_own_host(header: str, access: Access, port: int) -> bool:
    """Names can be pointed anywhere by their owner, so only addresses count, and the names that are this machine's.

    The name of the public address is ours because whoever started the viewer says so.
    """
    if access.public is not None and header.lower() == access.public.host:
        return True
    name, colon, given_port = header.rpartition(":")
    if not colon or given_port != str(port):
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
    # Only the path counts: `//elsewhere` would be another machine. A proxy hands it on with its own part, or without.
    path = "/" + request.rel_url.raw_path.lstrip("/").removeprefix(f"{access.base[1:]}/" if access.base else "")
    wanted = access.base + path + (f"?{urlencode(rest)}" if rest else "")
    target = wanted.replace("&", "&amp;").replace('"', "&quot;")
    # Without an icon of its own, the browser would ask for one, and be told that there is none.
    head = '<!doctype html><title>mixseek</title><link rel="icon" href="data:,">'
    page = f'{head}<meta http-equiv="refresh" content="0;url={target}">'
    response = web.Response(text=page, content_type="text/html")
    response.set_cookie(
        access.cookie_name(port_of(request)),
        access.cookie,
        path=f"{access.base}/",
        secure=access.public is not None and access.public.is_encrypted,
        httponly=True,
        samesite="Strict",
    )
    return response


def refuse(status: int, sentence: str) -> web.Response:
    """A refusal is text, for whoever reads it, browser or program."""
    return web.Response(status=status, text=f"mixseek: {sentence}\n")
