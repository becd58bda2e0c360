"""Reads typed fields out of a reply's object and collects every objection; nothing is ever coerced."""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from mixseek.domain.judgments import Finding, Flag
from mixseek.protocols.replies.reply_json import excerpt

Kind = TypeVar("Kind")
Figure = TypeVar("Figure", int, float)


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with exactly these fields."""
    required = list(properties)
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


class FieldReader:
    """Each getter returns the value, or None after noting why not; seed 003 §6 says which flag is which."""

    def __init__(self, value: Mapping[str, Any], path: str = "", findings: list[Finding] | None = None) -> None:
        self._value = value
        self.path = path  # what stands before a field's name in messages
        self.findings: list[Finding] = [] if findings is None else findings

    def nested(self, name: str, missing: Flag = Flag.UNPARSABLE_OUTPUT) -> "FieldReader | None":
        """An object inside, whose objections join these; `missing` is what its absence means."""
        value = self._value.get(name)
        if isinstance(value, dict):
            return FieldReader(value, f"{self.path}{name}.", self.findings)
        if value is None:
            state = "is null" if name in self._value else "is missing"
            self.note(missing, f"{self.path}{name} {state}, expected an object")
        else:
            self._wrong_type(name, "an object", value)
        return None

    def array(self, name: str) -> list[Any] | None:
        """A list, possibly empty."""
        return self._of_kind(name, "an array", list)

    def has(self, name: str) -> bool:
        """The field is there, whatever it says."""
        return name in self._value

    def given(self, name: str) -> Any:
        """The value as it is; None where there is none. Notes nothing."""
        return self._value.get(name)

    def boolean(self, name: str) -> bool | None:
        """true or false; 0, 1 and "true" are not."""
        return self._of_kind(name, "true or false", bool)

    def integer(self, name: str, minimum: int, maximum: int) -> int | None:
        """An integer in the range; true is not 1 and 4.0 is not 4."""
        return self._in_range(name, self._of_kind(name, "an integer", int), minimum, maximum)

    def whole(self, name: str) -> int | None:
        """An integer of whatever size; true is not 1."""
        return self._of_kind(name, "an integer", int)

    def number(self, name: str, minimum: float, maximum: float) -> int | float | None:
        """A number in the range, whole or not; true is not 1."""
        return self._in_range(name, self._of_kind(name, "a number", int, float), minimum, maximum)

    def _in_range(self, name: str, value: Figure | None, minimum: float, maximum: float) -> Figure | None:
        if value is None or minimum <= value <= maximum:
            return value
        self.violation(f"{self.path}{name} is {excerpt(value)}, outside the scale {minimum} to {maximum}")
        return None

    def text(self, name: str) -> str | None:
        """A string, possibly empty."""
        return self._of_kind(name, "a string", str)

    def nullable_text(self, name: str) -> str | None:
        """A string or null; None also after an objection, see `is_null`."""
        return None if self.is_null(name) else self.text(name)

    def is_null(self, name: str) -> bool:
        """The field is there and says null."""
        return name in self._value and self._value[name] is None

    def choice(self, name: str, choices: Collection[str]) -> str | None:
        """One of the protocol's own words, spelled as in the protocol."""
        value = self.text(name)
        if value is None or value in choices:
            return value
        self.violation(f"{self.path}{name} is {excerpt(value)}, expected one of {', '.join(choices)}")
        return None

    def identifier(self, name: str) -> str | None:
        """A string or an integer, as text. Without it the reply cannot be aligned with a sample."""
        if self._value.get(name) is None:
            self.note(Flag.INCOMPLETE_COVERAGE, f"field missing: {self.path}{name}, which names the sample")
            return None
        value = self._of_kind(name, "a string or an integer", str, int)
        return None if value is None else str(value)

    def unknown_keys(self, known: Collection[str]) -> list[str]:
        """Keys that the protocol does not know, in the reply's order."""
        return [key for key in self._value if key not in known]

    def note(self, flag: Flag, detail: str) -> None:
        """One more objection."""
        self.findings.append(Finding(flag, detail))

    def violation(self, detail: str) -> None:
        """An objection to a reply that does not keep to the protocol."""
        self.note(Flag.PROTOCOL_VIOLATION, detail)

    def contradiction(self, detail: str) -> None:
        """An objection to a reply that disagrees with itself or with what is known."""
        self.note(Flag.INTERNAL_INCONSISTENCY, detail)

    def _of_kind(self, name: str, expected: str, *kinds: type[Kind]) -> Kind | None:
        value = self._value.get(name)
        if value is None:
            detail = f"{self.path}{name} is null" if name in self._value else f"field missing: {self.path}{name}"
            self.note(Flag.UNPARSABLE_OUTPUT, detail)
        elif isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds):
            return value
        else:
            self._wrong_type(name, expected, value)
        return None

    def _wrong_type(self, name: str, expected: str, value: object) -> None:
        self.note(Flag.UNPARSABLE_OUTPUT, f"{self.path}{name} is {excerpt(value)}, expected {expected}")
