"""API keys: where they come from, where they may not stand, and how they are kept out of all that is written down."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from urllib.parse import quote as quote_url

from mixseek.errors import ConfigurationError
from mixseek.settings.models import JudgeSettings

MASK = "[key]"
# Shorter values are words of the language ("none", "test"): masking them would garble every message.
_MIN_SECRET_LENGTH = 6
_CREDENTIAL_NAME = re.compile(
    r"authorization|api[-_]?key|secret|token(?!s|izer|_id)|password|passwd|credential|cookie|signature|(^|[-_])(key|auth|sig)$",
    re.IGNORECASE,
)
# In an address these are credentials, too; elsewhere they are words.
_CREDENTIAL_PARAMETER = re.compile(r"(?:code|pass|pat|pwd|sas)", re.IGNORECASE)
# How endpoints echo a key that they masked themselves: its ends still belong to nobody else. Begins where a word does,
# or every letter of a long one would begin another look at all of it.
_MASKED_ECHO = re.compile(r"(?<![\w-])[\w-]*+\*{3,}+[\w*-]*+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+|\s{2,}")
_WORD_AT_END = re.compile(r"(?<![\w*-])[\w*-]++\Z")
# More than anybody reads of a message, so that what is masked in it makes room for no half of a key.
_LOOKED_AT = 4


class Secret:
    """A value that does not show itself: not in a repr, a format, a comparison or a pickle."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself, for the request's header and for masking; nowhere else."""
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


# What a key looks like, by the name that it stands under or by itself.

# How providers begin theirs, a token of three parts, and what stands behind the name of a scheme. A digit, or a key
# would be seen in `sk-learn-server`; bounds, or a long text of beginnings would be looked through from each of them.
_KEY_SHAPE = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|pk|rk)-(?=[\w-]{0,200}\d)[\w-]{8,200}"
    r"|(?:gsk|csk|xai|pplx|nvapi|glpat)[-_](?=[\w-]{0,200}\d)[\w-]{12,200}"
    r"|(?:hf|r8|fw|tgp|gh[porsu]|github_pat)_(?=\w{0,200}\d)\w{12,200}"
    r"|AIza[\w-]{16,200}|A[KS]IA[A-Z0-9]{12,200}|ya29\.[\w-]{8,200}|eyJ[\w-]{8,2000}\.[\w-]{4,200}"
    r"|[Bb]earer\s{1,3}[\w.~+/=-]{8,200}|[Bb]asic\s{1,3}[\w+/]{6,200}={1,2})"
)
_LONG_RUN = re.compile(r"[A-Za-z0-9]{20,}")
# Of neighbouring characters in a random text of letters and digits, so many are of two kinds; in words, far fewer.
_MIXED_SHARE = 0.4
# What shells let stand before an equals sign.
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FROM_ENVIRONMENT = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
# Shorter values of the environment stand in texts by chance.
_MIN_KNOWN_LENGTH = 12


def looks_like_credential(name: str) -> bool:
    """True for names of headers, query parameters and body fields whose value is nobody's business."""
    return bool(_CREDENTIAL_NAME.search(name))


def looks_like_key(value: str) -> bool:
    """True for what begins as providers' keys do, and for long runs of letters and digits that no one has typed.

    Hexadecimal digits are not enough: accounts in addresses and digests of users are written with them.
    """
    return bool(_KEY_SHAPE.search(value)) or any(_is_random(run[0]) for run in _LONG_RUN.finditer(value))


def _is_random(run: str) -> bool:
    kinds = ["d" if letter.isdigit() else "u" if letter.isupper() else "l" for letter in run]
    changes = sum(kind != following for kind, following in pairwise(kinds))
    return len(set(kinds)) == 3 and changes >= _MIXED_SHARE * (len(run) - 1)


def names_variable(header: str) -> str | None:
    """The environment variable that a header's value `$NAME` stands for; None for a value that is sent as it is."""
    reference = _FROM_ENVIRONMENT.fullmatch(header)
    return None if reference is None else reference[1]


def without_credentials(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same document with credential-looking entries left out, at any depth."""

    def cleaned(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [cleaned(item) for item in value]
        return without_credentials(value) if isinstance(value, Mapping) else value

    return {str(name): cleaned(value) for name, value in document.items() if not looks_like_credential(str(name))}


# Keys where none may stand: what is in a file, or on a command line, is copied into manifests and reports.


def refuse_keys(name: str, settings: JudgeSettings, environment: Mapping[str, str]) -> None:
    """Raises ConfigurationError for a key in a judge's table; the message names its place and never repeats it."""
    where = f"[judges.{name}]"
    variable = settings.api_key_env
    if variable is not None and not is_variable_name(variable, environment):
        raise ConfigurationError(
            f"{where}: api_key_env is not the name of an environment variable (it is not repeated here, as it may be "
            "the key itself); put the key into a variable such as MY_API_KEY, and write that name"
        )
    for header, value in settings.headers.items():
        if names_variable(value) is None and (looks_like_credential(header) or _is_key(value, environment)):
            raise ConfigurationError(
                f"{where}: the header {header} holds a credential, and keys do not stand in files; set an environment "
                f'variable, and write {header} = "$NAME_OF_IT"'
            )
    for place, value in _texts_in(settings.body, ""):
        is_named = looks_like_credential(place.rpartition(".")[2]) and len(value) >= _MIN_SECRET_LENGTH
        if is_named or _is_key(value, environment):
            raise ConfigurationError(
                f"{where}: body{place} holds a credential, and keys do not stand in files; name an environment "
                "variable with api_key_env, or with $NAME in headers"
            )


CREDENTIAL_IN_URL = (
    "a judge's base URL holds a credential; put it into an environment variable and name that with api_key_env"
)


def holds_credential(url: str, environment: Mapping[str, str]) -> bool:
    """Whether it names a user, has a parameter that is a credential, or a part that looks like a key or is one."""
    if "@" in url.partition("?")[0].partition("://")[2].partition("/")[0]:
        return True
    parameters = parse_qsl(url.partition("?")[2].partition("#")[0], keep_blank_values=True)
    if any(looks_like_credential(name) or _CREDENTIAL_PARAMETER.fullmatch(name) for name, _ in parameters):
        return True
    try:
        parts = urlsplit(url)
    except ValueError:
        return looks_like_key(url)
    return any(_is_key(text, environment) for text in (parts.path, parts.query, parts.fragment))


def is_variable_name(text: str, environment: Mapping[str, str]) -> bool:
    """A name that is set is one; what is not, has to look like one, because it would be repeated as not set."""
    if text in environment:
        return True
    is_name = _VARIABLE_NAME.fullmatch(text) is not None and not looks_like_key(text)
    # Letters and digits without a break may be a key in any case; words of a name are short, or apart.
    return is_name and (len(text) < 20 or "_" in text.strip("_") or text.isalpha())


def _is_key(value: str, environment: Mapping[str, str]) -> bool:
    """Whether it looks like a key, or holds the value of a variable that is called like one."""
    return looks_like_key(value) or any(key in value for key in _known_keys(environment))


def _known_keys(environment: Mapping[str, str]) -> Iterator[str]:
    for variable, value in environment.items():
        if len(value.strip()) >= _MIN_KNOWN_LENGTH and looks_like_credential(variable):
            yield value.strip()


def _texts_in(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _texts_in(part, f"{place}.{name}")
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts_in(part, place)


# Keys where others may have put them.


class Redaction:
    """Masks known secrets in what others wrote, in every spelling in which an endpoint might echo them."""

    __slots__ = ("_escaped", "_texts")

    def __init__(self, secrets: Iterable[Secret]) -> None:
        spellings: set[str] = set()
        values: set[str] = set()
        for secret in secrets:
            value = secret.reveal()
            if len(value) >= _MIN_SECRET_LENGTH:
                values.add(value)
                spellings |= {value, quote_url(value, safe=""), json.dumps(value)[1:-1], value.replace("/", "\\/")}
        # The longest first, so that no spelling is cut in two by a shorter one.
        self._texts = sorted(spellings, key=len, reverse=True)
        longest_first = sorted(values, key=len, reverse=True)
        self._escaped = re.compile("|".join(map(_any_escape, longest_first))) if values else None

    def __repr__(self) -> str:
        return f"Redaction({len(self._texts)} spellings)"

    def reply(self, text: str) -> str:
        """Masks a reply: only what is a secret, once decoded, is touched; everything else stays as it was."""
        for spelling in self._texts:
            text = text.replace(spelling, MASK)
        # JSON in JSON: what reads the reply would decode the key that stands escaped in it.
        if self._escaped is not None and ("\\u" in text or "\\x" in text or "%" in text):
            text = self._escaped.sub(MASK, text)
        return text

    def document(self, value: Any) -> Any:
        """The same, of all texts of a decoded document, names too."""
        if isinstance(value, str):
            return self.reply(value)
        if isinstance(value, Mapping):
            return {self.document(name): self.document(part) for name, part in value.items()}
        return [self.document(part) for part in value] if isinstance(value, list | tuple) else value

    def line(self, text: str, limit: int = 300) -> str:
        """One printable line without secrets, and without keys that an endpoint masked in its own way.

        Known secrets are looked for in all of it, which takes no time, and the rest in what may be shown: a body of
        megabytes is read by nobody.
        """
        text = self.reply(text)
        most = _LOOKED_AT * limit
        is_cut = len(text) > most
        line = _CONTROLS.sub(" ", _MASKED_ECHO.sub(MASK, text[:most])).strip()
        if is_cut and len(line) < limit:
            # It was cut inside this word, which may be the beginning of a key whose end was masked.
            line = _WORD_AT_END.sub("", line) + "…"
        line = line.encode("utf-8", "replace").decode()
        return line if len(line) <= limit else line[: limit - 1] + "…"


def _any_escape(value: str) -> str:
    """Each character as it is, or escaped as in JSON or an address, once or inside a text that is escaped itself."""
    spelt = ((re.escape(letter), f"{ord(letter):02x}") for letter in value)
    return "".join(rf"(?:\\{{0,8}}{plain}|\\{{1,8}}(?i:u00{code}|x{code})|(?i:%{code}))" for plain, code in spelt)
