"""Spans of OpenTelemetry in OTLP's JSON, whatever they say: ids, times, status, and attributes as plain values."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.datasets.importers.reading.json_stream import Steps, walk_file
from mixseek.datasets.importers.reading.sniffing import Shape, Sniffed
from mixseek.datasets.importers.samples.times import seconds_of
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.errors import DatasetError
from mixseek.lazy_dataclass import dataclass

# As JSON has it, as Python prints it, and as Tempo calls it.
RESOURCES = ("resourceSpans", "resource_spans", "batches")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_FAILED = (2, "2", "STATUS_CODE_ERROR", "ERROR")


@dataclass(frozen=True, slots=True)
class RawSpan:
    """One span, before anybody reads its attributes."""

    trace: str
    id: str
    parent: str | None
    name: str
    begin: float | None
    end: float | None
    error: str | None
    attributes: Mapping[str, Any]
    # Names and attributes.
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def read_spans(sniffed: Sniffed, notices: list[str]) -> Iterator[RawSpan]:
    """All spans of the file: one request, or one a line or an item."""
    for place, resource in read_resources(sniffed, notices):
        scopes = next((resource[name] for name in _SCOPES if name in resource), None)
        if not isinstance(scopes, list):
            raise DatasetError(f"{sniffed.path}: {place}: OpenTelemetry spans without `scopeSpans`")
        number = 0
        for scope in as_rows(scopes):
            for span in as_rows(scope.get("spans")):
                number += 1
                yield read_span(span, partial(describe_bad, sniffed, place, number))


def read_resources(sniffed: Sniffed, notices: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What one service sent at once, with its place in the file."""
    if sniffed.shape is Shape.OBJECT:
        wanted: dict[Steps, bool] = {(name,): True for name in RESOURCES}
        for number, (_, resource) in enumerate(walk_file(sniffed.path, wanted, notices), 1):
            yield f"resource {number}", as_table(resource)
        return
    unit = "line" if sniffed.shape is Shape.LINES else "item"
    for number, request in sniffed.rows(notices):
        name = next((name for name in RESOURCES if name in request), None)
        if name is None:
            raise DatasetError(f"{sniffed.path}: {unit} {number}: no `resourceSpans`, which every {unit} of traces has")
        for resource in as_rows(request[name]):
            yield f"{unit} {number}", resource


def describe_bad(sniffed: Sniffed, place: str, number: int, name: str) -> DatasetError:
    return DatasetError(f"{sniffed.path}: {place}, span {number}: an OpenTelemetry span without `{name}`")


def read_span(span: Mapping[str, Any], refuse: Any) -> RawSpan:
    def field(camel: str, snake: str) -> Any:
        return span[camel] if span.get(camel) is not None else span.get(snake)

    trace, identity = as_text(field("traceId", "trace_id")), as_text(field("spanId", "span_id"))
    if not trace:
        raise refuse("traceId")
    if not identity:
        raise refuse("spanId")
    status = as_table(span.get("status"))
    events = [
        (str(event.get("name")), plain_attributes(event.get("attributes"))) for event in as_rows(span.get("events"))
    ]
    error = None
    if status.get("code") in _FAILED:
        raised = next((about for name, about in events if name == "exception"), {})
        error = as_text(status.get("message")) or as_text(raised.get("exception.message")) or ""
    return RawSpan(
        trace=trace,
        id=identity,
        parent=as_text(field("parentSpanId", "parent_span_id")) or None,
        name=as_text(span.get("name")) or "",
        begin=seconds_of(field("startTimeUnixNano", "start_time_unix_nano")),
        end=seconds_of(field("endTimeUnixNano", "end_time_unix_nano")),
        error=error,
        attributes=plain_attributes(span.get("attributes")),
        events=tuple(events),
    )


def plain_attributes(listed: Any) -> dict[str, Any]:
    """Attributes as an object, which some exporters write already."""
    if isinstance(listed, Mapping):
        return dict(listed)
    return {str(item["key"]): plain_value(item.get("value")) for item in as_rows(listed) if "key" in item}


def plain_value(value: Any) -> Any:
    """`{"stringValue": "x"}` as what is in it; whole numbers are texts there."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    ((kind, inside),) = value.items()
    match kind:
        case "intValue" | "int_value":
            return int(inside) if str(inside).lstrip("-").isdecimal() else inside
        case "arrayValue" | "array_value":
            return [plain_value(item) for item in as_table(inside).get("values", [])]
        case "kvlistValue" | "kvlist_value":
            return plain_attributes(as_table(inside).get("values", []))
        case "stringValue" | "string_value" | "boolValue" | "bool_value" | "doubleValue" | "double_value":
            return inside
        case "bytesValue" | "bytes_value":
            return inside
        case _:
            return value


def unflatten(attributes: Mapping[str, Any], prefix: str) -> Any:
    """`prefix.0.role`, `prefix.1.role` and the like as lists and objects; None where there is none."""
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        if not name.startswith(f"{prefix}."):
            continue
        place = tree
        *path, last = name[len(prefix) + 1 :].split(".")
        for key in path:
            below = place.setdefault(key, {})
            if not isinstance(below, dict):
                break
            place = below
        else:
            place[last] = value
    return listed(tree) if tree else None


def listed(value: Any) -> Any:
    """Objects whose keys are numbers as lists."""
    if not isinstance(value, dict):
        return value
    if value and all(key.isdecimal() for key in value):
        return [listed(value[key]) for key in sorted(value, key=int)]
    return {key: listed(inside) for key, inside in value.items()}
