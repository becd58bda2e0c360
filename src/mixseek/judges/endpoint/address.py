"""Where judges live: the provider table, what a spec means, and the one target that comes out of it."""

import ipaddress
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any
from unicodedata import normalize
from urllib.parse import parse_qsl, urlsplit, urlunsplit
from urllib.parse import quote as quote_url

from pydantic import TypeAdapter

from mixseek.errors import ConfigurationError, suggest
from mixseek.settings.models import JudgeSettings, WireFormat

# API keys: where they come from, and how they are kept out of everything that is written down.

MASK = "[key]"
# Shorter values are words of the language ("none", "test"): masking them would garble every message.
_MIN_SECRET_LENGTH = 6
_CREDENTIAL_NAME = re.compile(
    r"authorization|api[-_]?key|secret|token(?!s|izer|_id)|password|passwd|credential|cookie|signature|(^|[-_])(key|auth|sig)$",
    re.IGNORECASE,
)
# How endpoints echo a key that they masked themselves: its ends still belong to nobody else.
_MASKED_ECHO = re.compile(r"[\w-]*\*{3,}[\w*-]*")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+|\s{2,}")


class Secret:
    """A value that does not show itself: not in a repr, a format, a comparison or a pickle."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """For the request's header, and for masking; nowhere else."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    __str__ = __repr__

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("a key is not pickled; read it from the environment where it is needed")


def read_key(variable: str, environment: Mapping[str, str]) -> Secret | None:
    """None when the variable is unset or blank; a value that no header can carry is refused without showing it."""
    value = environment.get(variable, "").strip()
    if not value:
        return None
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise ConfigurationError(f"{variable}: holds characters that no API key has; set it again without them")
    return Secret(value)


def looks_like_credential(name: str) -> bool:
    """True for names of headers, query parameters and body fields whose value is nobody's business."""
    return bool(_CREDENTIAL_NAME.search(name))


def without_credentials(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same document with credential-looking entries left out, at any depth."""

    def cleaned(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [cleaned(item) for item in value]
        return without_credentials(value) if isinstance(value, Mapping) else value

    return {str(name): cleaned(value) for name, value in document.items() if not looks_like_credential(str(name))}


class Redaction:
    """Masks known secrets in what others wrote, in every spelling in which an endpoint might echo them."""

    __slots__ = ("_bytes", "_texts")

    def __init__(self, secrets: Iterable[Secret]) -> None:
        spellings: set[str] = set()
        for secret in secrets:
            value = secret.reveal()
            if len(value) >= _MIN_SECRET_LENGTH:
                spellings |= {value, quote_url(value, safe=""), json.dumps(value)[1:-1], value.replace("/", "\\/")}
        # The longest first, so that no spelling is cut in two by a shorter one.
        self._texts = sorted(spellings, key=len, reverse=True)
        self._bytes = [text.encode() for text in self._texts]

    def __repr__(self) -> str:
        return f"Redaction({len(self._texts)} spellings)"

    def text(self, text: str) -> str:
        """Known secrets, and keys that an endpoint masked in its own way, replaced by a mark."""
        for spelling in self._texts:
            text = text.replace(spelling, MASK)
        return _MASKED_ECHO.sub(MASK, text)

    def body(self, body: bytes) -> bytes:
        """For replies: only what equals a secret is touched, everything else stays byte for byte."""
        for spelling in self._bytes:
            body = body.replace(spelling, MASK.encode())
        return body

    def line(self, text: str, limit: int = 300) -> str:
        """One printable line; masked before it is cut, so that no half of a key survives."""
        line = _CONTROLS.sub(" ", self.text(text)).strip()
        line = line.encode("utf-8", "replace").decode()
        return line if len(line) <= limit else line[: limit - 1] + "…"


@dataclass(frozen=True, slots=True)
class Provider:
    """What is known of an endpoint before it is asked; what the fields mean is said in providers.toml."""

    wire: WireFormat = WireFormat.OPENAI
    base_url: str | None = None
    key_variables: tuple[str, ...] = ()
    key_required: bool = True
    key_header: str = "Authorization"
    url_variable: str | None = None
    url_suffix: str = ""
    limit_parameter: str = "max_tokens"
    escapes_control_tokens: bool = False
    model_prefixes: tuple[str, ...] = ()


PROVIDERS = TypeAdapter(dict[str, Provider]).validate_python(
    tomllib.loads((Path(__file__).parent / "providers.toml").read_text(encoding="utf-8"))
)
# Where the address of `provider:model@base_url` begins.
_ADDRESS_BEGINS = re.compile(r"@(?=https?://)", re.IGNORECASE)
# What was meant as one, however it is misspelt: an at sign, a scheme, this machine, a host's number.
_ADDRESS_MEANT = re.compile(
    r"@|[a-z][a-z0-9+.-]*:?//|\bbase_url\b|(?<![\w.-])(?:localhost|(?:\d{1,3}\.){3}\d{1,3})(?![\w.-])", re.IGNORECASE
)
# What no address holds. `urlsplit` drops line ends and tabs in silence, and hosts end at a backslash for some.
_NEVER_IN_ADDRESS = re.compile(r"[\s\x00-\x1f\x7f\\]")
# What a table's extra body may not say: the prompt and the model are ours to name, and answers are read whole.
_RESERVED_BODY = ("model", "messages", "stream")
_CREDENTIAL_IN_URL = (
    "a judge's base URL holds a credential; put it into an environment variable and name that with api_key_env"
)


@dataclass(frozen=True, slots=True)
class Target:
    """One judge, resolved: all that is needed to speak to it."""

    name: str
    provider: str
    wire: WireFormat
    base_url: str
    model: str
    settings: JudgeSettings
    key_header: str
    limit_parameter: str
    key: Secret | None = field(default=None, repr=False, compare=False)
    # What to say when the endpoint asks for a key: which variable was looked at, and what came of it.
    key_hint: str = ""
    # Whether control tokens of chat templates in a message are text there; where not, they are split before sending.
    escapes_control_tokens: bool = False

    @property
    def endpoint(self) -> str:
        """Scheme, host and port."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"

    def url(self, path: str) -> str:
        """`path` below the base URL; a query such as ?api-version=… stays at the end."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + path, parts.query, ""))


def split_spec(spec: str) -> tuple[str, str, str | None]:
    """Provider, model and base URL of `provider:model@base_url`; a model may hold colons, and at signs before one.

    Raises ConfigurationError for what was meant as an address and is none: taken for a part of the model's name, it
    would send data and key to the provider's public host.
    """
    provider, _, rest = spec.partition(":")
    model, *address = _ADDRESS_BEGINS.split(rest, maxsplit=1)
    if not address and means_address(rest):
        raise refuse_address(provider, rest)
    return provider, model, address[0] if address else None


def means_address(text: str) -> bool:
    """Also in full-width characters, as keyboards for Japanese and Chinese write them."""
    return _ADDRESS_MEANT.search(normalize("NFKC", text)) is not None


def refuse_address(provider: str, rest: str) -> ConfigurationError:
    """What to write instead; more than one at sign may be a password, which is not repeated."""
    plain = normalize("NFKC", rest)
    found = _ADDRESS_MEANT.search(plain)
    written, model, address = f"{provider}:…", "MODEL", "http://HOST:PORT/v1"
    if found is not None and plain.count("@") <= 1:
        written, model = f"{provider}:{rest}", plain[: found.start()].rstrip(" :,;|#=/") or model
        host = re.split(r":?/{2}|=|@", plain[found.start() :])[-1].strip().lstrip("/")
        address = _with_scheme(host) if host else address
    return ConfigurationError(
        f"judge {written!r}: after the @ stands an address that begins with http:// or https://; "
        f"write {quote(f'{provider}:{model}@{address}')} "
        f'(a model whose own name holds an @ needs a [judges.NAME] table with model = "…" in mixseek.toml)'
    )


def resolve_target(spec: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> Target:
    """The judge that `spec` means; raises ConfigurationError that says what to add."""
    if spec in configured:
        label, settings = _checked_label(spec, configured[spec]), configured[spec]
    else:
        label, model, address = split_spec(spec)
        if not model:
            raise ConfigurationError(f"judge {spec!r}: no model; write {label}:MODEL or {label}:MODEL@BASE_URL")
        settings = JudgeSettings(model=model, base_url=address)
    # Without a provider: anything that speaks chat completions, or what `wire` says.
    provider = PROVIDERS.get(label, Provider(key_required=False))
    base_url = _find_url(spec, provider, settings, environment)
    wire = settings.wire or provider.wire
    if wire is WireFormat.ANTHROPIC:
        # The wire format brings its own /v1; people paste either form.
        base_url = base_url.removesuffix("/v1")
    # A provider without an address of its own is whatever its user says it is.
    is_own_host = urlsplit(provider.base_url or base_url).netloc == urlsplit(base_url).netloc
    key, hint = _find_key(spec, provider, settings, base_url, environment)
    if key is None and (settings.api_key_env is not None or (provider.key_required and is_own_host)):
        raise ConfigurationError(f"judge {spec!r}: no API key; {hint}")
    return Target(
        name=spec,
        provider=label,
        wire=wire,
        base_url=base_url,
        model=settings.model or "",
        settings=settings,
        key_header="x-api-key" if wire is WireFormat.ANTHROPIC else provider.key_header,
        limit_parameter=provider.limit_parameter if is_own_host else "max_tokens",
        key=key,
        key_hint=hint,
        escapes_control_tokens=provider.escapes_control_tokens and is_own_host,
    )


def _checked_label(name: str, settings: JudgeSettings) -> str:
    label = settings.provider or (name if name in PROVIDERS else None)
    reserved = [key for key in _RESERVED_BODY if key in settings.body]
    if label is not None and label not in PROVIDERS:
        advice = suggest(label, PROVIDERS, f"one of {', '.join(PROVIDERS)}")
        problem = f"provider {label!r} is not known; {advice}"
    elif not settings.model:
        problem = 'no model; add model = "…"'
    elif reserved:
        problem = f"body cannot hold {reserved[0]!r}; remove it"
    else:
        return label or "endpoint"
    raise ConfigurationError(f"[judges.{name}]: {problem}")


def _find_url(name: str, provider: Provider, settings: JudgeSettings, environment: Mapping[str, str]) -> str:
    """The table's or the spec's, the environment's, or the provider's own: an empty one is none of them."""
    if settings.base_url is not None:
        return checked_url(settings.base_url, f"judge {name!r}: the base URL")
    variable = provider.url_variable
    value = environment.get(variable, "").strip() if variable else ""
    if variable and value:
        return checked_url(value, f"the environment variable {variable}", provider.url_suffix)
    if provider.base_url is not None:
        return provider.base_url
    where = f" or set {variable}" if variable else ""
    raise ConfigurationError(f"judge {name!r}: no base_url; add one{where}, or name a provider that has one")


def _find_key(
    name: str, provider: Provider, settings: JudgeSettings, base_url: str, environment: Mapping[str, str]
) -> tuple[Secret | None, str]:
    named = settings.api_key_env
    names = (named,) if named is not None else provider.key_variables
    variables = " or ".join(names)
    if not names:
        return None, f"no key was sent; name its environment variable with api_key_env in [judges.{name}]"
    if named is None and urlsplit(base_url).scheme == "http" and not is_loopback(base_url):
        # A provider's usual key is not put on a network in clear text unless the user names it for this judge.
        return None, f"{variables} is not sent over plain http; name it with api_key_env in mixseek.toml to send it"
    found = ((key, f"the key is read from {one}") for one in names if (key := read_key(one, environment)))
    return next(found, (None, f"set the environment variable {variables}"))


def checked_url(base_url: str, place: str, suffix: str = "") -> str:
    """http or https with a host and nothing secret in it: the URL stands in manifests and messages."""
    base_url = base_url.strip()
    if "@" in base_url.partition("?")[0].partition("://")[2].partition("/")[0]:
        # The name itself may hold the password here: it is not repeated.
        raise ConfigurationError(_CREDENTIAL_IN_URL)
    try:
        parts = urlsplit(base_url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, is_usable = urlsplit(""), False
    if not is_usable or _NEVER_IN_ADDRESS.search(base_url):
        # A host that only lacks its scheme is offered with it; anything else is not worth guessing at.
        is_host = re.fullmatch(r"[\w.-]+(:\d+)?(/[\w./-]*)?", base_url)
        offer = f", for instance to {_with_scheme(base_url)}" if is_host else ""
        raise ConfigurationError(f"{place} is not http(s)://host[:port]/path; correct it{offer}")
    if any(looks_like_credential(key) for key, _ in parse_qsl(parts.query, keep_blank_values=True)):
        raise ConfigurationError(_CREDENTIAL_IN_URL)
    return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path.rstrip("/") + suffix, parts.query, ""))


def _with_scheme(host: str) -> str:
    """What leaves the machine had better be encrypted."""
    return f"http://{host}" if is_loopback(f"http://{host}") else f"https://{host}"


def is_loopback(url: str) -> bool:
    """True when what is sent to `url` does not leave the machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
