"""Where judges live: the provider table, what a spec means, and the one target that comes out of it."""

import ipaddress
import re
import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from shlex import quote
from unicodedata import normalize
from urllib.parse import urlsplit, urlunsplit

from pydantic import TypeAdapter

from mixseek.errors import ConfigurationError, suggest
from mixseek.judges.keys.refusal import CREDENTIAL_IN_URL, holds_credential, refuse_keys
from mixseek.judges.keys.secret import Secret, read_key
from mixseek.judges.keys.shapes import looks_like_key
from mixseek.lazy_dataclass import dataclass
from mixseek.settings.models import JudgeSettings, WireFormat

# Alternatives of a token that every host with logprobs gives.
FEWEST_TOP_LOGPROBS = 5


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
    marks_prefix: bool = False
    batch: str | None = None
    top_logprobs: int = FEWEST_TOP_LOGPROBS


PROVIDERS = TypeAdapter(dict[str, Provider]).validate_python(
    tomllib.loads((Path(__file__).parent / "providers.toml").read_text(encoding="utf-8"))
)
# Where the address of `provider:model@base_url` begins.
_ADDRESS_BEGINS = re.compile(r"@(?=https?://)", re.IGNORECASE)
# What was meant as one, however it is misspelt: an at sign, a scheme, this machine, a host's number.
_ADDRESS_MEANT = re.compile(
    r"@|(?<![a-z0-9+.-])[a-z0-9+.-]*+:?//|\bbase_url\b"
    r"|(?<![\w.-])(?:localhost|(?:\d{1,3}\.){3}\d{1,3})(?![\w.-])",
    re.IGNORECASE,
)
# What no address holds. `urlsplit` drops line ends and tabs in silence, and hosts end at a backslash for some.
_NEVER_IN_ADDRESS = re.compile(r"[\s\x00-\x1f\x7f\\]")
# What a request adds itself, and people paste with the rest.
_METHOD_IN_PATH = re.compile(
    r"/(?:chat/completions|completions|messages|responses|decisions|systemone)\Z", re.IGNORECASE
)
# What a table's extra body may not say: the prompt and the model are ours to name, and answers are read whole.
_RESERVED_BODY = ("model", "messages", "stream")
_RESERVED_QUESTIONS = ("model", "input", "state", "questions")
# What only a judge that writes has.
_OF_TEXTS = ("wire", "temperature", "top_p", "max_tokens", "seed", "reasoning_effort", "system", "images", "logprobs")
# Before a spec or a table's name: its endpoint answers questions with probabilities.
DECIDER_PREFIX = "decisions:"
DECISION_WIRES = (WireFormat.DECISIONS, WireFormat.SYSTEMONE)


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
    # Whether the endpoint is told which part of a prompt is constant.
    marks_prefix: bool = False
    # How many alternatives of each token the endpoint is asked for; 0 where nobody asks for probabilities.
    top_logprobs: int = 0

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
    meant = _ADDRESS_MEANT.search(plain)
    written, model, address = f"{provider}:…", "MODEL", "http://HOST:PORT/v1"
    if meant is not None and plain.count("@") <= 1 and not looks_like_key(plain):
        written, model = f"{provider}:{rest}", plain[: meant.start()].rstrip(" :,;|#=/") or model
        host = re.split(r":?/{2}|=|@", plain[meant.start() :])[-1].strip().lstrip("/")
        address = _with_scheme(host) if host else address
    return ConfigurationError(
        f"judge {written!r}: after the @ stands an address that begins with http:// or https://; "
        f"write {quote(f'{provider}:{model}@{address}')} "
        f'(a model whose own name holds an @ needs a [judges.NAME] table with model = "…" in mixseek.toml)'
    )


def resolve_target(spec: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> Target:
    """The judge that `spec` means; raises ConfigurationError that says what to add."""
    settings = settings_of_spec(spec, configured)
    if settings is not None:
        label = _checked_label(spec, settings)
    else:
        asked = spec.removeprefix(DECIDER_PREFIX)
        label, model, address = split_spec(asked)
        if not model:
            known = spec.removesuffix(asked)
            raise ConfigurationError(
                f"judge {spec!r}: no model; write {known}{label}:MODEL or {known}{label}:MODEL@BASE_URL"
            )
        settings = JudgeSettings(model=model, base_url=address, api=None if asked == spec else WireFormat.DECISIONS)
    refuse_keys(spec, settings, environment)
    # Without a provider: anything that speaks chat completions, or what `wire` says.
    provider = PROVIDERS.get(label, Provider(key_required=False))
    base_url = _find_url(spec, provider, settings, environment)
    wire = settings.api or settings.wire or provider.wire
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
        # Wherever it is: who does not know the words says so once.
        marks_prefix=settings.cache and _marks_prefix(provider, wire),
        top_logprobs=_count_top_logprobs(spec, settings, wire, provider if is_own_host else Provider()),
    )


def _marks_prefix(provider: Provider, wire: WireFormat) -> bool:
    """Whether the format has words for which part of a prompt is constant, and the provider reads them."""
    return wire is WireFormat.ANTHROPIC or (wire is WireFormat.OPENAI and provider.marks_prefix)


def settings_of_spec(spec: str, configured: Mapping[str, JudgeSettings]) -> JudgeSettings | None:
    """The table that a spec names, by itself or behind `decisions:`; None where it names none."""
    if spec in configured:
        return configured[spec]
    name = spec.removeprefix(DECIDER_PREFIX)
    settings = configured.get(name) if name != spec else None
    if settings is None:
        return None
    return settings if settings.api is not None else settings.model_copy(update={"api": WireFormat.DECISIONS})


def _count_top_logprobs(spec: str, settings: JudgeSettings, wire: WireFormat, host: Provider) -> int:
    """How many were asked for, or what the host is known to give; none in a format that has none."""
    if settings.top_logprobs is not None and not settings.logprobs:
        raise ConfigurationError(f"judge {spec!r}: top_logprobs is for judges with logprobs = true; add that")
    if not settings.logprobs or wire is not WireFormat.OPENAI:
        return 0
    return settings.top_logprobs or host.top_logprobs


def _checked_label(name: str, settings: JudgeSettings) -> str:
    name = name.removeprefix(DECIDER_PREFIX)
    label = settings.provider or (name if name in PROVIDERS else None)
    ours = _RESERVED_BODY if settings.api is None else _RESERVED_QUESTIONS
    reserved = [key for key in ours if key in settings.body]
    # A temperature of nought is one.
    written = [key for key in _OF_TEXTS if getattr(settings, key) is not None and getattr(settings, key) is not False]
    of_texts = [] if settings.api is None else written
    if label is not None and label not in PROVIDERS:
        advice = suggest(label, PROVIDERS, f"one of {', '.join(PROVIDERS)}")
        problem = f"provider {label!r} is not known; {advice}"
    elif not settings.model:
        problem = 'no model; add model = "…"'
    elif of_texts:
        problem = f"a decision endpoint writes nothing, so {of_texts[0]} means nothing to it; remove it"
    elif reserved:
        problem = f"body cannot hold {reserved[0]!r}; remove it"
    else:
        return label or "endpoint"
    raise ConfigurationError(f"[judges.{name}]: {problem}")


def _find_url(name: str, provider: Provider, settings: JudgeSettings, environment: Mapping[str, str]) -> str:
    """The table's or the spec's, the environment's, or the provider's own: an empty one is none of them."""
    if settings.base_url is not None:
        return checked_url(settings.base_url, f"judge {name!r}: the base URL", environment)
    variable = provider.url_variable
    value = environment.get(variable, "").strip() if variable else ""
    if variable and value:
        return checked_url(value, f"the environment variable {variable}", environment, provider.url_suffix)
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
    keys = ((key, f"the key is read from {variable}") for variable in names if (key := read_key(variable, environment)))
    return next(keys, (None, f"set the environment variable {variables}"))


def checked_url(base_url: str, place: str, environment: Mapping[str, str], suffix: str = "") -> str:
    """http or https with a host and nothing secret in it: the URL stands in manifests and messages."""
    base_url = base_url.strip()
    if holds_credential(base_url, environment):
        # The name itself may hold it here: it is not repeated.
        raise ConfigurationError(CREDENTIAL_IN_URL)
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
    path = parts.path.rstrip("/")
    if (pasted := _METHOD_IN_PATH.search(path)) is not None:
        begun = urlunsplit((parts.scheme, parts.netloc, path[: pasted.start()], parts.query, ""))
        raise ConfigurationError(f"{place} ends in {pasted[0]}, which is added to it; write {begun}")
    return urlunsplit((parts.scheme, parts.netloc.lower(), path + suffix, parts.query, ""))


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
