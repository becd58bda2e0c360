"""Reads typed fields out of a reply's object and collects every objection; nothing is ever coerced."""

from collections.abc import Collection, Mapping
from typing import Any

from mixseek.domain.judgments import Finding, Flag
from mixseek.protocols.reply.json import excerpt


class FieldReader:
    """Each getter returns the value, or None after noting why not; seed 003 §6 says which flag is which."""

    def __init__(self, value: Mapping[str, Any], path: str = "", findings: list[Finding] | None = None) -> None:
        self._value = value
        self._path = path
        self.findings: list[Finding] = [] if findings is None else findings

    def nested(self, name: str, missing: Flag = Flag.UNPARSABLE_OUTPUT) -> "FieldReader | None":
        """An object inside, whose objections join these; `missing` is what its absence means."""
        if self._value.get(name) is None:
            said = "is null" if name in self._value else "is missing"
            self.note(missing, f"{self._path}{name} {said}, expected an object")
            return None
        value = self._value[name]
        if not isinstance(value, dict):
            self._wrong_type(name, "an object", value)
            return None
        return FieldReader(value, f"{self._path}{name}.", self.findings)

    def array(self, name: str) -> list[Any] | None:
        """A list, possibly empty."""
        value = self._present(name)
        if value is None or isinstance(value, list):
            return value
        self._wrong_type(name, "an array", value)
        return None

    def has(self, name: str) -> bool:
        """The field is there, whatever it says."""
        return name in self._value

    def given(self, name: str) -> Any:
        """The value as it is; None where there is none. Notes nothing."""
        return self._value.get(name)

    @property
    def path(self) -> str:
        """What stands before a field's name in messages."""
        return self._path

    def boolean(self, name: str) -> bool | None:
        """true or false; 0, 1 and "true" are not."""
        value = self._present(name)
        if value is None or isinstance(value, bool):
            return value
        self._wrong_type(name, "true or false", value)
        return None

    def integer(self, name: str, minimum: int, maximum: int) -> int | None:
        """An integer in the range; true is not 1 and 4.0 is not 4."""
        value = self._present(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            self._wrong_type(name, "an integer", value)
            return None
        if not minimum <= value <= maximum:
            self.note(
                Flag.PROTOCOL_VIOLATION,
                f"{self._path}{name} is {excerpt(value)}, outside the scale {minimum} to {maximum}",
            )
            return None
        return value

    def number(self, name: str, minimum: float, maximum: float) -> int | float | None:
        """A number in the range, whole or not; true is not 1."""
        value = self._present(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._wrong_type(name, "a number", value)
            return None
        if not minimum <= value <= maximum:
            self.note(
                Flag.PROTOCOL_VIOLATION,
                f"{self._path}{name} is {excerpt(value)}, outside the scale {minimum} to {maximum}",
            )
            return None
        return value

    def text(self, name: str) -> str | None:
        """A string, possibly empty."""
        value = self._present(name)
        if value is None or isinstance(value, str):
            return value
        self._wrong_type(name, "a string", value)
        return None

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
        self.note(
            Flag.PROTOCOL_VIOLATION, f"{self._path}{name} is {excerpt(value)}, expected one of {', '.join(choices)}"
        )
        return None

    def identifier(self, name: str) -> str | None:
        """A string or an integer, as text. Without it the reply cannot be aligned with a sample."""
        value = self._value.get(name)
        if value is None:
            self.note(Flag.INCOMPLETE_COVERAGE, f"field missing: {self._path}{name}, which names the sample")
            return None
        if isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        self._wrong_type(name, "a string or an integer", value)
        return None

    def unknown_keys(self, known: Collection[str]) -> list[str]:
        """Keys that the protocol does not know, in the reply's order."""
        return [key for key in self._value if key not in known]

    def note(self, flag: Flag, detail: str) -> None:
        """One more objection."""
        self.findings.append(Finding(flag, detail))

    def _present(self, name: str) -> Any:
        if name not in self._value:
            self.note(Flag.UNPARSABLE_OUTPUT, f"field missing: {self._path}{name}")
            return None
        value = self._value[name]
        if value is None:
            self.note(Flag.UNPARSABLE_OUTPUT, f"{self._path}{name} is null")
        return value

    def _wrong_type(self, name: str, expected: str, value: object) -> None:
        self.note(Flag.UNPARSABLE_OUTPUT, f"{self._path}{name} is {excerpt(value)}, expected {expected}")
