"""Changing anything in a scored protocol's declaration changes its hash; nothing else does."""

import copy
import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.cases import each
from tests.unit.protocols.scored_replies import NAMES, SAMPLES, VALID, protocol_of

from mixseek.domain.judgments import Reply
from mixseek.errors import ConfigurationError
from mixseek.protocols.registry import load_protocol
from mixseek.protocols.scored import protocol as scored
from mixseek.protocols.scored.protocol import ScoredProtocol

PROTOCOLS = {name: protocol_of(name) for name in NAMES}


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    match value:
        case dict():
            for key, item in value.items():
                yield from leaves(item, (*path, key))
        case list():
            yield path
            for place, item in enumerate(value):
                yield from leaves(item, (*path, place))
        case _:
            yield path


def others(value: Any) -> list[Any]:
    """Different values of the same type, some of them words that the declaration knows."""
    match value:
        case bool():
            return [not value]
        case int() | float():
            return [value + 1, value - 1]
        case str():
            known = ["strict", "repair", "sum", "inside", "beside", "off", "present", "list", "map", "none", "declared"]
            roles = ["any", "id", "task_name", "lower_is_better", "integer", "number", "weighted_sum"]
            return [word for word in (*known, *roles, f"{value}x") if word != value]
        case list():
            return [value[:-1]] if value else [["x"]]
        case _:
            return ["x", 1]


def put(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    result = copy.deepcopy(value)
    node = result
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = new
    return result


def reloaded(protocol: ScoredProtocol, parameters: Any) -> ScoredProtocol | None:
    """None where the change makes no protocol any more, which nobody can confuse with the old one either."""
    try:
        return ScoredProtocol.from_declaration(replace(protocol.declaration, parameters=parameters))
    except ConfigurationError:
        return None


@pytest.mark.parametrize("name", NAMES)
def test_every_single_change_of_a_parameter_is_refused_or_changes_the_hash(name: str) -> None:
    protocol = PROTOCOLS[name]
    parameters = dict(protocol.parameters)
    hashes = [protocol.hash]
    for path in leaves(parameters):
        value = parameters
        for step in path:
            value = value[step]  # type: ignore[index] # a walk through nested JSON
        for new in others(value):
            changed = reloaded(protocol, put(parameters, path, new))
            if changed is not None:
                hashes.append(changed.hash)

    assert len(hashes) == len(set(hashes)) > 60


@each("name", NAMES)
@each("table", ["dimensions", "verdict.rules", "identity.fields", "gates", "task_types.types"])
def test_the_order_of_a_table_is_part_of_the_hash(name: str, table: str) -> None:
    """The first verdict whose rule holds counts, and a judge reads dimensions from top to bottom."""
    protocol = PROTOCOLS[name]
    path = tuple(table.split("."))
    value: Any = protocol.parameters
    for step in path:
        value = value[step]
    turned = put(dict(protocol.parameters), path, dict(reversed(list(value.items()))))
    changed = reloaded(protocol, turned)

    assert len(value) < 2 or changed is None or changed.hash != protocol.hash


@pytest.mark.parametrize("name", NAMES)
def test_names_templates_and_schema_are_part_of_the_hash(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = PROTOCOLS[name]
    declaration = protocol.declaration
    variants = [
        replace(declaration, name="other"),
        replace(declaration, version="9"),
        replace(declaration, kind="other"),
        replace(declaration, language="xx"),
        *(
            replace(declaration, templates={**declaration.templates, role: replace(source, text=source.text + " ")})
            for role, source in declaration.templates.items()
        ),
    ]
    hashes = [protocol.hash, *(replace(protocol, declaration=variant).hash for variant in variants)]
    monkeypatch.setattr(scored, "reply_schema", lambda _: {"type": "object"})
    hashes.append(replace(protocol).hash)

    assert len(set(hashes)) == len(hashes) == 8


@pytest.mark.parametrize("name", ["rubric", "cross"])
def test_languages_have_different_hashes(name: str) -> None:
    assert len({load_protocol(name, language).hash for language in ("en", "ja", "zh")}) == 3


@pytest.mark.parametrize("name", NAMES)
def test_where_the_files_lie_and_who_is_asked_do_not_count(name: str) -> None:
    protocol = PROTOCOLS[name]
    moved = replace(protocol.declaration, where="elsewhere.toml")

    assert replace(protocol, declaration=moved).hash == protocol.hash == protocol.for_judge("gpt-x").hash


@pytest.mark.parametrize("name", NAMES)
def test_pickling_keeps_the_hash_and_the_rules(name: str) -> None:
    protocol = PROTOCOLS[name]
    copied = pickle.loads(pickle.dumps(protocol))  # noqa: S301 - our own bytes
    reply = Reply(json.dumps(VALID[name]), "beta-large")

    assert copied == protocol
    assert copied.hash == protocol.hash
    assert copied.parse(reply, SAMPLES[name]) == protocol.parse(reply, SAMPLES[name])
