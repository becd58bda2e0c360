"""What a wire format must say: how a call is written down, and what an answer's document holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from mixseek.domain.calls import Call, Usage
from mixseek.judges.endpoints import Target

_NO_MORE: Mapping[str, Any] = {}


class SchemaMode(StrEnum):
    """How the reply's shape is asked for, from the strictest to none."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one model behind one endpoint turned out to understand."""

    schema: SchemaMode
    limit_parameter: str


class Reading(NamedTuple):
    """An answer's document, read. `extra` goes to the reply's details."""

    text: str
    finish_reason: str | None
    usage: Usage
    model: str | None
    request_id: str | None
    extra: Mapping[str, Any] = _NO_MORE


class NoReplyError(Exception):
    """The document is well-formed and holds no reply; `status` is the HTTP status it would have deserved."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Wire(Protocol):
    """One way of speaking to endpoints; without state."""

    @property
    def path(self) -> str:
        """Of calls, below the base URL."""
        ...

    @property
    def models_path(self) -> str:
        """Where the endpoint lists its models."""
        ...

    def headers(self, target: Target) -> dict[str, str]:
        """Sent with every call; the key is among them."""
        ...

    def body(self, call: Call, target: Target, dialect: Dialect) -> dict[str, Any]:
        """The request; extra body entries of the settings win."""
        ...

    def schema_modes(self) -> tuple[SchemaMode, ...]:
        """In the order in which they are tried."""
        ...

    def usage(self, document: Mapping[str, Any]) -> Usage:
        """What the endpoint counted, also where the document holds no reply."""
        ...

    def read(self, document: Mapping[str, Any]) -> Reading:
        """Raises NoReplyError when there is no choice, no content, or an error instead."""
        ...


def count(value: Any) -> int | None:
    """A number of tokens as an endpoint wrote it; None for everything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_or_none(value: Any) -> str | None:
    """None for what is not text or is empty."""
    return value if isinstance(value, str) and value else None


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is an object, else an empty one: endpoints write null, lists and text in its place."""
    return value if isinstance(value, dict) else {}
