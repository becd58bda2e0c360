"""How checks are written, wherever: one reader for protocols, jobs, the command line, Python and rows of a dataset.

A check is a line (`count:search<=2`) or a table of its kind and parameters; both become the same document, which is
what runs and archives keep. Whatever could not be obeyed to the letter is refused here, before anything is judged.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from mixseek.checks.json_schema import check_schema, show
from mixseek.checks.patterns import safe_pattern
from mixseek.checks.rules import (
    AnswerContains,
    AnswerJson,
    AnswerMatches,
    Arguments,
    Count,
    FieldPattern,
    MostDollars,
    MostSeconds,
    MostSteps,
    MostTokens,
    MostToolCalls,
    NotUses,
    NoUnhandledErrors,
    Order,
    Rule,
    SchemaOfArguments,
    Subset,
    Uses,
)
from mixseek.checks.settled import Check, CheckSet
from mixseek.domain.check_findings import ROW_CHECKS
from mixseek.errors import ConfigurationError, suggest

# What stands at the place of a schema: its text, by the name of its file.
ReadFile = Callable[[str], str]
# What reads checks may be given: lines, tables, checks, or a table of named ones.
Given = str | Mapping[str, Any] | Check

_LIMITS: Mapping[str, Callable[[float], Rule]] = {
    "steps": MostSteps,
    "tool-calls": MostToolCalls,
    "tokens": MostTokens,
    "cost": MostDollars,
    "latency": MostSeconds,
}
# By kind: how a line of it is written, and the keys of its table.
FORMS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "uses": ("uses:TOOL", ("tool",)),
    "not-uses": ("not-uses:TOOL", ("tool",)),
    "order": ("order:TOOL,TOOL", ("tools",)),
    "count": ("count:TOOL<=2", ("tool", "least", "most")),
    "arguments": ('arguments:TOOL:{"city":"Oslo"}', ("tool", "contain", "field", "pattern", "schema")),
    "answer-contains": ("answer-contains:TEXT", ("text",)),
    "answer-matches": ("answer-matches:REGEX", ("pattern",)),
    "answer-json": ("answer-json:schema.json", ("schema",)),
    "no-unhandled-errors": ("no-unhandled-errors", ()),
    **{kind: (f"{kind}<=12", ("most",)) for kind in _LIMITS},
}
# In a table of checks: a failed one changes the verdict.
GATE = "gate"
_COUNT = re.compile(r"(?P<tool>[^<>=]+)(?P<sign><=|>=|==?)(?P<number>[^<>=]+)\Z")
_LONGEST_NAME = 120
_MOST_CHECKS = 200


def refuse_file(name: str) -> str:
    """Raises ConfigurationError: checks that come from no place of their own name no files."""
    raise ConfigurationError(f"{name!r}: a file cannot be named here; write the schema itself")


def read_checks(given: Any, read_file: ReadFile = refuse_file, *, takes_gate: bool = False) -> CheckSet:
    """The checks of a table of named ones, or of a list; raises ConfigurationError with the name of the wrong one."""
    has_gate = False
    if isinstance(given, Mapping):
        gate = given.get(GATE, False) if takes_gate else False
        if not isinstance(gate, bool):
            raise ConfigurationError(f"{GATE}: write true or false")
        if GATE in given and not takes_gate:
            raise ConfigurationError(f"{GATE}: only the [checks] of a protocol can change a verdict")
        has_gate = gate
        checks = [
            given_check(value, read_file, str(name))
            for name, value in given.items()
            if not (takes_gate and name == GATE)
        ]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        checks = [given_check(value, read_file) for value in given]
    else:
        raise ConfigurationError(f"checks are a list or a table, not {show(given)}")
    return CheckSet(distinct(checks), has_gate)


def distinct(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Each once; raises ConfigurationError where two go by one name."""
    by_name: dict[str, Check] = {}
    for check in checks:
        if by_name.setdefault(check.name, check).document != check.document:
            raise ConfigurationError(f"two checks are called {check.name!r}; give them different names")
    if len(by_name) > _MOST_CHECKS:
        raise ConfigurationError(f"{len(by_name)} checks; at most {_MOST_CHECKS} are taken")
    return tuple(by_name.values())


def given_check(value: Any, read_file: ReadFile = refuse_file, name: str | None = None) -> Check:
    """One check, as a line, a table, or already a check; without a name its line is its name."""
    if isinstance(value, Check):
        return value
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("{"):
            try:
                value = json.loads(text)
            except ValueError as error:
                raise ConfigurationError(f"check {text[:_LONGEST_NAME]!r}: not JSON: {error}") from error
        else:
            value, name = document_of_line(text), name or text
    if not isinstance(value, Mapping):
        raise ConfigurationError(
            f"check {name or show(value)}: a line such as uses:TOOL, or a table; not {show(value)}"
        )
    document = dict(value)
    given_name = document.pop("name", None)
    name = name or (None if given_name is None else str(given_name)) or name_of(document)
    if len(name) > _LONGEST_NAME:
        name = f"{name[: _LONGEST_NAME - 1]}…"
    try:
        document = settle_document(document, read_file)
        return Check(name, rule_of(document), {"name": name, **document})
    except ConfigurationError as error:
        raise ConfigurationError(f"check {name}: {error}") from error


def name_of(document: Mapping[str, Any]) -> str:
    """What a table without a name is called: its kind and what it says."""
    rest = [show(value) if not isinstance(value, str) else value for key, value in document.items() if key != "kind"]
    return ":".join([str(document.get("kind", "check")), *rest])


def document_of_line(line: str) -> dict[str, Any]:
    """The table that says the same; raises ConfigurationError for what is no line of ours."""
    kind, colon, rest = line.partition(":")
    if not colon or kind not in FORMS:
        limit = _COUNT.match(line)
        if limit is not None and limit["tool"].strip() in _LIMITS:
            if limit["sign"] != "<=":
                raise ConfigurationError(f"check {line}: a limit is written {limit['tool'].strip()}<={limit['number']}")
            return {"kind": limit["tool"].strip(), "most": read_number(limit["number"], line)}
        if line in ("no-unhandled-errors", "answer-json"):
            return {"kind": line}
        if line in FORMS or (colon and kind in FORMS):
            raise ConfigurationError(f"check {line}: write {FORMS[kind][0]}")
        written = re.split("[:<>=]", line, maxsplit=1)[0].strip()
        forms = "; ".join(form for form, _ in FORMS.values())
        raise ConfigurationError(f"unknown check {line[:80]!r}; {suggest(written, FORMS, f'write one of {forms}')}")
    if not rest.strip() or kind in _LIMITS or kind == "no-unhandled-errors":
        raise ConfigurationError(f"check {line}: write {FORMS[kind][0]}")
    match kind:
        case "uses" | "not-uses":
            return {"kind": kind, "tool": rest.strip()}
        case "order":
            return {"kind": kind, "tools": [tool.strip() for tool in rest.split(",")]}
        case "count":
            return {"kind": kind, **count_of_line(rest, line)}
        case "arguments":
            return {"kind": kind, **arguments_of_line(rest, line)}
        case "answer-contains":
            return {"kind": kind, "text": rest}
        case "answer-matches":
            return {"kind": kind, "pattern": rest}
        case _:
            return {"kind": kind, "schema": json_or_file(rest.strip(), line)}


def count_of_line(rest: str, line: str) -> dict[str, Any]:
    """`search<=2`, `search>=1` or `search=1`."""
    parts = _COUNT.match(rest)
    if parts is None:
        raise ConfigurationError(f"check {line}: write count:TOOL<=2, count:TOOL>=1 or count:TOOL=1")
    number = read_number(parts["number"], line)
    names = {"<=": ("most",), ">=": ("least",)}.get(parts["sign"], ("least", "most"))
    return {"tool": parts["tool"].strip(), **dict.fromkeys(names, number)}


def arguments_of_line(rest: str, line: str) -> dict[str, Any]:
    """`TOOL:{…}`, `TOOL:FIELD~REGEX` or `TOOL:FILE.json`."""
    tool, colon, wanted = (part.strip() for part in rest.partition(":"))
    if not colon or not wanted:
        raise ConfigurationError(
            f'check {line}: write arguments:TOOL:{{"NAME":VALUE}}, arguments:TOOL:FIELD~REGEX or '
            "arguments:TOOL:schema.json"
        )
    if wanted.startswith("{"):
        return {"tool": tool, "contain": json_or_file(wanted, line)}
    field, tilde, pattern = wanted.partition("~")
    if tilde:
        return {"tool": tool, "field": field.strip(), "pattern": pattern}
    return {"tool": tool, "schema": wanted}


def json_or_file(text: str, line: str) -> Any:
    """An object as it stands, or the name of a file with one."""
    if not text.startswith("{"):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"check {line}: not JSON: {error}") from error


def read_number(text: str, line: str) -> float:
    try:
        number = float(text)
    except ValueError as error:
        raise ConfigurationError(f"check {line}: {text.strip()!r} is no number") from error
    return int(number) if number == number and abs(number) < 1e15 and number == int(number) else number


def settle_document(document: Mapping[str, Any], read_file: ReadFile) -> dict[str, Any]:
    """The table with nothing left to look up; raises ConfigurationError for keys that its kind does not have."""
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in FORMS:
        known = ", ".join(FORMS)
        raise ConfigurationError(f"kind {kind!r} is not known; {suggest(str(kind), FORMS, f'there are {known}')}")
    keys = FORMS[kind][1]
    for key in document:
        if key != "kind" and key not in keys:
            there = f"{kind} has {', '.join(keys)}" if keys else f"{kind} has no keys"
            raise ConfigurationError(f"unknown key {key!r}; {suggest(str(key), keys, there)}")
    settled = {name: value for name, value in document.items() if value is not None}
    if isinstance(settled.get("schema"), str):
        settled["schema"] = read_schema_file(settled["schema"], read_file)
    return settled


def read_schema_file(name: str, read_file: ReadFile) -> Any:
    text = read_file(name)
    try:
        return json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"{name}: not JSON: {error}") from error


def rule_of(document: Mapping[str, Any]) -> Rule:
    """The rule that a settled table declares; raises ConfigurationError for a value that it cannot have."""
    kind = document["kind"]
    if kind in _LIMITS:
        return _LIMITS[kind](limit_of(document, "most"))
    match kind:
        case "uses":
            return Uses(text_of(document, "tool"))
        case "not-uses":
            return NotUses(text_of(document, "tool"))
        case "order":
            return Order(tools_of(document))
        case "count":
            return count_rule(document)
        case "arguments":
            return arguments_rule(document)
        case "answer-contains":
            return AnswerContains(text_of(document, "text"))
        case "answer-matches":
            return AnswerMatches(safe_pattern(text_of(document, "pattern")))
        case "answer-json":
            schema = document.get("schema", True)
            check_schema(schema)
            return AnswerJson(schema)
        case _:
            return NoUnhandledErrors()


def text_of(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"{key}: a text, not {show(value)}" if key in document else f"{key}: is missing")
    return value


def limit_of(document: Mapping[str, Any], key: str) -> float:
    value = document.get(key)
    is_limit = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    if value is None or not is_limit:
        raise ConfigurationError(f"{key}: a number from 0 on" + ("" if value is None else f", not {show(value)}"))
    return float(value)


def tools_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    tools = document.get("tools")
    if (
        not isinstance(tools, list | tuple)
        or len(tools) < 2
        or not all(isinstance(tool, str) and tool for tool in tools)
    ):
        raise ConfigurationError(f"tools: at least two names of tools, not {show(tools)}")
    return tuple(tools)


def count_rule(document: Mapping[str, Any]) -> Count:
    limits = {name: limit_of(document, name) for name in ("least", "most") if name in document}
    if not limits or any(limit != int(limit) for limit in limits.values()):
        raise ConfigurationError("least, most: at least one of them, as a whole number")
    least, most = (None if name not in limits else int(limits[name]) for name in ("least", "most"))
    if least is not None and most is not None and least > most:
        raise ConfigurationError(f"least is {least}, which is more than most, {most}")
    return Count(text_of(document, "tool"), least, most)


def arguments_rule(document: Mapping[str, Any]) -> Arguments:
    tool = text_of(document, "tool")
    ways = [way for way in ("contain", "pattern", "schema") if way in document]
    if len(ways) != 1 or ("field" in document) != ("pattern" in document):
        raise ConfigurationError("write one of: contain; field and pattern; schema")
    match ways[0]:
        case "contain":
            if not isinstance(document["contain"], Mapping):
                raise ConfigurationError(f"contain: an object, not {show(document['contain'])}")
            return Arguments(tool, Subset(document["contain"]))
        case "pattern":
            return Arguments(tool, FieldPattern(text_of(document, "field"), safe_pattern(text_of(document, "pattern"))))
        case _:
            check_schema(document["schema"])
            return Arguments(tool, SchemaOfArguments(document["schema"]))


def row_checks(metadata: Mapping[str, Any]) -> tuple[Check, ...]:
    """What a row of a dataset expects of itself alone; raises ConfigurationError."""
    given = metadata.get(ROW_CHECKS)
    if given is None or given == "":
        return ()
    # The same expectations stand in many rows.
    return _checks_of_text(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))


@lru_cache(maxsize=4_096)
def _checks_of_text(text: str) -> tuple[Check, ...]:
    try:
        given = json.loads(text)
    except ValueError:
        # A cell of a table may hold one line and no list.
        given = [text]
    return read_checks(given if isinstance(given, list | dict) else [given]).checks
