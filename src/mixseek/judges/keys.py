"""API keys: where they come from, and how they are kept out of everything that is written down."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from mixseek.errors import ConfigurationError

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
                spellings |= {value, quote(value, safe=""), json.dumps(value)[1:-1], value.replace("/", "\\/")}
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
