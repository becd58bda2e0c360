"""The quick way through a plain reply says exactly what the careful way says, or nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.protocols.replies.reply_json import Decoded, canonical, decode_object, decode_plain

_texts = st.text(st.sampled_from(list('ab:"\\/{}[],\n\té示\ud800')), max_size=8)
_scalars = st.none() | st.booleans() | st.integers() | st.floats() | _texts
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3), max_leaves=8
)


def _written(pairs: list[tuple[str, Any]], ensure_ascii: bool) -> str:
    members = (f"{json.dumps(key, ensure_ascii=ensure_ascii)}: {json.dumps(value)}" for key, value in pairs)
    return "{" + ", ".join(members) + "}"


def _agrees(text: str) -> None:
    plain = decode_plain(text)
    if plain is not None:
        careful = decode_object(text)

        assert isinstance(careful, Decoded)
        assert careful.repairs == ()
        assert canonical(careful.value) == canonical(plain)


@given(st.lists(st.tuples(_texts, _values), max_size=4), st.booleans())
def test_both_ways_agree_on_objects(pairs: list[tuple[str, Any]], ensure_ascii: bool) -> None:
    """Repeated keys, NaN, huge numbers, escapes and surrogates included."""
    _agrees(_written(pairs, ensure_ascii))


@given(
    st.lists(
        st.sampled_from(['{"', '"a"', ":", ",", "}", "{", "[", "]", "1", "\\u003a", "\\n", "\\frac", '"']), max_size=14
    )
)
def test_both_ways_agree_on_pieces(pieces: list[str]) -> None:
    """Whether they make JSON or not."""
    _agrees('{"' + "".join(pieces) + "}")


@each(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 2}}',
        '{"a": [{"b": 1, "b": 1}]}',
        '{"a": "\\u003a", "b": 1, "b": 1}',
        '{"a": 100000000000000000000000}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": "\\frac{1}{2}"}',
        '{"a": "\\neq"}',
        '{"a": "\\ud800"}',
        '{"a": 1,}',
        '{"a": 1} {"a": 1}',
        '["a"]',
        '{"a": ' + "[" * 80 + "]" * 80 + "}",
    ],
)
def test_what_needs_a_second_look_is_left_to_the_careful_way(text: str) -> None:
    """A key given twice above all: it would be lost in silence."""
    assert decode_plain(text) is None


@pytest.mark.parametrize(
    "text", ['{"a": 1}', '{"a": "1:2", "b:c": [0.5, {"d": "line\\nline \\"x\\" C:\\\\temp"}], "e": null}']
)
def test_the_usual_reply_takes_the_quick_way(text: str) -> None:
    """Else it would be no use."""
    assert json.loads(text) == decode_plain(text)
