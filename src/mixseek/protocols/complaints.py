"""What pydantic says about a declaration, as complaints with a line and the key that was probably meant."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from mixseek.errors import suggest
from mixseek.protocols.declaration import Complaint
from mixseek.protocols.toml_lines import Place, ProtocolFile


def complaints_of(
    error: ValidationError, model: type[BaseModel], given: Mapping[str, Any], file: "ProtocolFile", prefix: Place = ()
) -> Iterator[Complaint]:
    """One for each place; `prefix` is where in the file the validated table stands."""
    objections: dict[Place, list[str]] = {}
    for problem in error.errors(include_url=False, include_context=False):
        kind = problem["type"]
        place = _place_in_file(problem["loc"], given, is_missing=kind == "missing")
        whole = (*prefix, *place)
        if kind == "extra_forbidden":
            advice = _meant(place[-1], fields_at(model, place))
            yield file.complaint(whole, f"unknown key {'.'.join(whole)}", advice)
        elif kind == "missing":
            yield file.complaint(whole, f"{'.'.join(whole)} is missing", "add it")
        else:
            objections.setdefault(whole, []).append(problem["msg"].removeprefix("Value error, "))
    for whole, messages in objections.items():
        # A choice of types objects once for each of them.
        text = " or ".join(dict.fromkeys(messages))
        yield file.complaint(whole, f"{'.'.join(whole)}: {text}" if whole else text)


def fields_at(model: type[BaseModel], place: Sequence[str]) -> tuple[str, ...]:
    """The keys that the table around a place may have; none where any key will do."""
    current: Any = model
    for part in place[:-1]:
        if isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(part)
            current = None if field is None else field.annotation
        elif get_origin(current) is dict:
            current = get_args(current)[1]
    if isinstance(current, type) and issubclass(current, BaseModel):
        return tuple(current.model_fields)
    return ()


def _meant(key: str, known: Sequence[str]) -> str:
    return suggest(key, known, f"remove it; known here: {', '.join(known[:12])}" if known else "remove it")


def _place_in_file(location: Sequence[int | str], given: Any, *, is_missing: bool) -> Place:
    """The place without what pydantic adds behind it to tell the branches of a union apart."""
    place: list[str] = []
    for part in location:
        if isinstance(given, Mapping) and (part in given or (is_missing and part == location[-1])):
            given = given.get(str(part))
        elif isinstance(given, list | tuple) and isinstance(part, int) and part < len(given):
            given = given[part]
        else:
            break
        place.append(str(part))
    return tuple(place)
