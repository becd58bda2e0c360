"""Each objection says where, what stands there, and what was expected."""

from collections.abc import Callable
from typing import Any

from tests.cases import each

from mixseek.domain.judgments import Finding, Flag
from mixseek.protocols.replies.reply_fields import FieldReader

Ask = Callable[[FieldReader], Any]


@each(
    ("ask", "value", "flag", "detail"),
    [
        (lambda at: at.nested("a"), {}, Flag.UNPARSABLE_OUTPUT, "top.a is missing, expected an object"),
        (lambda at: at.nested("a"), {"a": None}, Flag.UNPARSABLE_OUTPUT, "top.a is null, expected an object"),
        (lambda at: at.nested("a"), {"a": [1]}, Flag.UNPARSABLE_OUTPUT, "top.a is [1], expected an object"),
        (lambda at: at.array("a"), {"a": "x"}, Flag.UNPARSABLE_OUTPUT, 'top.a is "x", expected an array'),
        (lambda at: at.boolean("a"), {"a": 1}, Flag.UNPARSABLE_OUTPUT, "top.a is 1, expected true or false"),
        (lambda at: at.integer("a", 0, 2), {"a": 2.0}, Flag.UNPARSABLE_OUTPUT, "top.a is 2.0, expected an integer"),
        (lambda at: at.integer("a", 0, 2), {"a": 3}, Flag.PROTOCOL_VIOLATION, "top.a is 3, outside the scale 0 to 2"),
        (lambda at: at.number("a", 0, 2), {"a": True}, Flag.UNPARSABLE_OUTPUT, "top.a is true, expected a number"),
        (lambda at: at.number("a", 0, 2), {"a": -1}, Flag.PROTOCOL_VIOLATION, "top.a is -1, outside the scale 0 to 2"),
        (lambda at: at.text("a"), {"a": 5}, Flag.UNPARSABLE_OUTPUT, "top.a is 5, expected a string"),
        (lambda at: at.text("a"), {}, Flag.UNPARSABLE_OUTPUT, "field missing: top.a"),
        (lambda at: at.text("a"), {"a": None}, Flag.UNPARSABLE_OUTPUT, "top.a is null"),
        (
            lambda at: at.choice("a", ("low", "high")),
            {"a": "High"},
            Flag.PROTOCOL_VIOLATION,
            'top.a is "High", expected one of low, high',
        ),
        (
            lambda at: at.identifier("a"),
            {"a": None},
            Flag.INCOMPLETE_COVERAGE,
            "field missing: top.a, which names the sample",
        ),
        (
            lambda at: at.identifier("a"),
            {"a": True},
            Flag.UNPARSABLE_OUTPUT,
            "top.a is true, expected a string or an integer",
        ),
    ],
)
def test_an_objection_can_be_acted_on(ask: Ask, value: dict[str, Any], flag: Flag, detail: str) -> None:
    fields = FieldReader(value, "top.")

    assert ask(fields) is None
    assert fields.findings == [Finding(flag, detail)]
