"""Where judges live: the provider table, what a spec means, and the one target that comes out of it."""

import difflib
import ipaddress
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from unicodedata import normalize
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from mixseek.errors import ConfigurationError
from mixseek.judges.keys import Secret, looks_like_credential, read_key
from mixseek.settings.models import JudgeSettings, WireFormat


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


_TABLE = tomllib.loads((Path(__file__).parent / "providers.toml").read_text(encoding="utf-8"))
PROVIDERS: Mapping[str, Provider] = {
    name: Provider(
        wire=WireFormat(said.pop("wire", WireFormat.OPENAI)), key_variables=tuple(said.pop("key_variables", ())), **said
    )
    for name, said in _TABLE.items()
}
# Where the address of `provider:model@base_url` begins.
_ADDRESS_BEGINS = re.compile(r"@https?://", re.IGNORECASE)
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
    found = _ADDRESS_BEGINS.search(rest)
    if found is not None:
        return provider, rest[: found.start()], rest[found.start() + 1 :]
    if means_address(rest):
        raise refuse_address(provider, rest)
    return provider, rest, None


def means_address(text: str) -> bool:
    """Also in full-width characters, as keyboards for Japanese and Chinese write them."""
    return _ADDRESS_MEANT.search(normalize("NFKC", text)) is not None


def refuse_address(provider: str, rest: str) -> ConfigurationError:
    """What to write instead; more than one at sign may be a password, which is not repeated."""
    plain = normalize("NFKC", rest)
    found = _ADDRESS_MEANT.search(plain)
    if found is None or plain.count("@") > 1:
        written, offered = f"{provider}:…", f"{provider}:MODEL@http://HOST:PORT/v1"
    else:
        model = plain[: found.start()].rstrip(" :,;|#=/") or "MODEL"
        host = re.split(r":?/{2}|=|@", plain[found.start() :])[-1].strip().lstrip("/") or "HOST:PORT/v1"
        # What leaves the machine had better be encrypted.
        scheme = "http" if is_loopback(f"http://{host}") or host.startswith("HOST") else "https"
        written, offered = f"{provider}:{rest}", f"{provider}:{model}@{scheme}://{host}"
    return ConfigurationError(
        f"judge {written!r}: after the @ stands an address that begins with http:// or https://; "
        f"write {quote(offered)} "
        f'(a model whose own name holds an @ needs a [judges.NAME] table with model = "…" in mixseek.toml)'
    )


def resolve_target(spec: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> Target:
    """The judge that `spec` means; raises ConfigurationError that says what to add."""
    if spec in configured:
        return _from_settings(spec, configured[spec], environment)
    provider, model, base_url = split_spec(spec)
    if not model:
        raise ConfigurationError(f"judge {spec!r}: no model; write {provider}:MODEL or {provider}:MODEL@BASE_URL")
    return _target(spec, provider, PROVIDERS[provider], JudgeSettings(model=model, base_url=base_url), environment)


def _from_settings(name: str, settings: JudgeSettings, environment: Mapping[str, str]) -> Target:
    place = f"[judges.{name}]"
    label = settings.provider or (name if name in PROVIDERS else None)
    if label is not None and label not in PROVIDERS:
        close = difflib.get_close_matches(label, PROVIDERS, n=1)
        advice = f"did you mean {close[0]!r}?" if close else f"one of {', '.join(PROVIDERS)}"
        raise ConfigurationError(f"{place}: provider {label!r} is not known; {advice}")
    if not settings.model:
        raise ConfigurationError(f'{place}: no model; add model = "…"')
    reserved = [key for key in _RESERVED_BODY if key in settings.body]
    if reserved:
        raise ConfigurationError(f"{place}: body cannot hold {reserved[0]!r}; remove it")
    # Without a provider: anything that speaks chat completions, or what `wire` says.
    provider = Provider(key_required=False) if label is None else PROVIDERS[label]
    return _target(name, label or "endpoint", provider, settings, environment)


def _target(
    name: str, label: str, provider: Provider, settings: JudgeSettings, environment: Mapping[str, str]
) -> Target:
    base_url = _find_url(name, provider, settings, environment)
    wire = settings.wire or provider.wire
    if wire is WireFormat.ANTHROPIC:
        # The wire format brings its own /v1; people paste either form.
        base_url = base_url.removesuffix("/v1")
    # A provider without an address of its own is whatever its user says it is.
    own_host = urlsplit(provider.base_url or base_url).netloc
    is_own_host = own_host == urlsplit(base_url).netloc
    key, hint = _find_key(name, provider, settings, base_url, environment)
    if key is None and provider.key_required and is_own_host:
        raise ConfigurationError(f"judge {name!r}: no API key; {hint}")
    return Target(
        name=name,
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
    if settings.api_key_env is not None:
        key = read_key(settings.api_key_env, environment)
        if key is None:
            raise ConfigurationError(f"judge {name!r}: no API key; set the environment variable {settings.api_key_env}")
        return key, f"the key is read from {settings.api_key_env}"
    if not provider.key_variables:
        return None, f"no key was sent; name its environment variable with api_key_env in [judges.{name}]"
    variables = " or ".join(provider.key_variables)
    if urlsplit(base_url).scheme == "http" and not is_loopback(base_url):
        # A provider's usual key is not put on a network in clear text unless the user names it for this judge.
        return None, f"{variables} is not sent over plain http; name it with api_key_env in mixseek.toml to send it"
    for variable in provider.key_variables:
        key = read_key(variable, environment)
        if key is not None:
            return key, f"the key is read from {variable}"
    return None, f"set the environment variable {variables}"


def checked_url(base_url: str, place: str, suffix: str = "") -> str:
    """http or https with a host and nothing secret in it: the URL stands in manifests and messages.

    `place` says whose address it is, where it has to be refused; `suffix` is added to its path.
    """
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
        raise ConfigurationError(f"{place} is not http(s)://host[:port]/path; correct it{_offer_scheme(base_url)}")
    query = [key for key, _ in parse_qsl(parts.query, keep_blank_values=True)]
    if any(looks_like_credential(key) for key in query):
        raise ConfigurationError(_CREDENTIAL_IN_URL)
    return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path.rstrip("/") + suffix, parts.query, ""))


def _offer_scheme(base_url: str) -> str:
    """A host that only lacks its scheme is offered with it; anything else is not worth guessing at."""
    if not re.fullmatch(r"[\w.-]+(:\d+)?(/[\w./-]*)?", base_url):
        return ""
    return f", for instance to {'http' if is_loopback(f'http://{base_url}') else 'https'}://{base_url}"


def is_loopback(url: str) -> bool:
    """True when what is sent to `url` does not leave the machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
