"""How checks are written: lines and tables are one thing, and what could not be obeyed is refused in one line."""

import json
from typing import Any

import pytest

from mixseek.checks.declare import FORMS, given_check, read_checks, row_checks
from mixseek.errors import ConfigurationError


@pytest.mark.parametrize(
    ("line", "table"),
    [
        ("uses:get_weather", {"kind": "uses", "tool": "get_weather"}),
        ("uses:mcp:search", {"kind": "uses", "tool": "mcp:search"}),
        ("not-uses:delete_order", {"kind": "not-uses", "tool": "delete_order"}),
        ("order:search,book", {"kind": "order", "tools": ["search", "book"]}),
        ("order: search , book", {"kind": "order", "tools": ["search", "book"]}),
        ("count:search<=2", {"kind": "count", "tool": "search", "most": 2}),
        ("count:search>=1", {"kind": "count", "tool": "search", "least": 1}),
        ("count:search=1", {"kind": "count", "tool": "search", "least": 1, "most": 1}),
        ('arguments:a:{"city":"Oslo: x"}', {"kind": "arguments", "tool": "a", "contain": {"city": "Oslo: x"}}),
        ("arguments:a:b.c~^x:~y", {"kind": "arguments", "tool": "a", "field": "b.c", "pattern": "^x:~y"}),
        ("answer-contains:Oslo, 7<=8", {"kind": "answer-contains", "text": "Oslo, 7<=8"}),
        (r"answer-matches:^\d+$", {"kind": "answer-matches", "pattern": r"^\d+$"}),
        ("answer-json", {"kind": "answer-json"}),
        ('answer-json:{"type":"object"}', {"kind": "answer-json", "schema": {"type": "object"}}),
        ("no-unhandled-errors", {"kind": "no-unhandled-errors"}),
        ("steps<=12", {"kind": "steps", "most": 12}),
        ("tool-calls <= 5", {"kind": "tool-calls", "most": 5}),
        ("tokens<=5000", {"kind": "tokens", "most": 5000}),
        ("cost<=0.05", {"kind": "cost", "most": 0.05}),
        ("latency<=30", {"kind": "latency", "most": 30}),
    ],
)
def test_a_line_is_a_table(line: str, table: dict[str, Any]) -> None:
    check = given_check(line)

    assert check.document == {"name": line, **table}
    assert given_check({"name": line, **table}) == check
    assert given_check(json.dumps(check.document)) == check


def test_every_kind_has_a_form() -> None:
    files = {"schema.json": "{}"}
    kinds = {given_check(form, files.__getitem__).document["kind"] for form, _ in FORMS.values()}

    assert kinds == set(FORMS)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("used:search", "unknown check 'used:search'; did you mean 'uses'"),
        ("frobnicate", "unknown check 'frobnicate'; write one of"),
        ("uses:", "write uses:TOOL"),
        ("uses", "check uses: write uses:TOOL"),
        ("order:search", "tools: at least two names"),
        ("count:search", "write count:TOOL<=2"),
        ("count:search<=2.5", "whole number"),
        ("count:search<=x", "'x' is no number"),
        ("steps>=3", "a limit is written steps<="),
        ("steps<=-1", "most: a number from 0 on"),
        ("steps<=nan", "most: a number from 0 on"),
        ("steps:12", "write steps<=12"),
        ("arguments:a", "write arguments:TOOL"),
        ("arguments:a:{b}", "not JSON"),
        ("arguments:a:b~(c+)+d", "possessive"),
        ("answer-matches:(", "no regular expression"),
        ("answer-json:x.json", "'x.json': a file cannot be named here"),
        ('answer-json:{"oneOf":[]}', "the keyword 'oneOf' is not known"),
        ("{not json", "not JSON"),
        ({"kind": "uses"}, "tool: is missing"),
        ({"kind": "use", "tool": "a"}, "kind 'use' is not known; did you mean 'uses'"),
        ({"kind": "uses", "tool": "a", "tools": "b"}, "unknown key 'tools'; did you mean 'tool'"),
        ({"kind": "uses", "tool": 1}, "tool: a text, not 1"),
        ({"kind": "no-unhandled-errors", "most": 1}, "no-unhandled-errors has no keys"),
        ({"kind": "count", "tool": "a", "least": 3, "most": 1}, "more than most"),
        ({"kind": "arguments", "tool": "a", "field": "b"}, "write one of: contain; field and pattern; schema"),
        ({"kind": "arguments", "tool": "a", "contain": [1]}, "contain: an object"),
        (12, "a line such as uses:TOOL, or a table; not 12"),
    ],
)
def test_what_could_not_be_obeyed_is_refused_in_one_line(given: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        given_check(given)

    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_of_named_checks_may_be_a_gate_in_a_protocol_only() -> None:
    table = {"gate": True, "weather": "uses:get_weather", "short": {"kind": "steps", "most": 3}}
    checks = read_checks(table, takes_gate=True)

    assert [check.name for check in checks.checks] == ["weather", "short"]
    assert checks.is_gate
    with pytest.raises(ConfigurationError, match=r"only the \[checks\] of a protocol"):
        read_checks(table)
    with pytest.raises(ConfigurationError, match="gate: write true or false"):
        read_checks({"gate": "yes"}, takes_gate=True)


def test_one_name_is_one_check() -> None:
    assert len(read_checks(["uses:a", "uses:a"]).checks) == 1
    with pytest.raises(ConfigurationError, match="two checks are called 'x'"):
        read_checks([{"name": "x", "kind": "steps", "most": 1}, {"name": "x", "kind": "steps", "most": 2}])


@pytest.mark.parametrize("given", ["uses:a", 5, None])
def test_checks_are_a_list_or_a_table(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="a list or a table"):
        read_checks(given)


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        (["uses:a", "steps<=2"], ["uses:a", "steps<=2"]),
        ('["uses:a"]', ["uses:a"]),
        ("uses:a", ["uses:a"]),
        ({"expected": "uses:a"}, ["expected"]),
        ([], []),
        ("", []),
        (None, []),
    ],
)
def test_a_row_may_have_a_list_a_table_a_line_or_nothing(cell: Any, names: list[str]) -> None:
    assert [check.name for check in row_checks({"checks": cell})] == names


def test_a_schema_stands_in_the_document_wherever_it_was_read_from() -> None:
    check = given_check("answer-json:schema.json", {"schema.json": '{"type": "array"}'}.__getitem__)

    assert check.document == {"name": "answer-json:schema.json", "kind": "answer-json", "schema": {"type": "array"}}
