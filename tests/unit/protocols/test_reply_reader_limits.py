"""No text makes the reader raise, and none makes it slow."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import many

from mixseek.protocols.replies.repairs import ReplyMode
from mixseek.protocols.replies.reply_reader import ReplyReading, read_reply

MEGABYTE = 1_000_000
OBJECT = '{"a": 1}'

# Pieces that mean something to the reader: text made of them reaches its corners far more often than random text.
PIECES = st.sampled_from(
    [
        *("{", "}", "[", "]", '"', "'", ",", ":", "\\", "\n", " ", "\x00", "\ud800", "\ufeff", "a", "1", "true", "NaN"),
        *(
            "<think>",
            "</think>",
            "</thinking>",
            "```",
            "```json\n",
            "\\frac",
            "\\u00",
            '\\"',
            "{}",
            '{"a": 1}',
            '{"a":',
        ),
        *("I cannot evaluate", "ERROR: 429", "1e999", "答えは", "："),
    ]
)


def assert_well_formed(reading: ReplyReading) -> None:
    assert (reading.value is None) <= bool(reading.findings)
    assert all(finding.detail.encode() for finding in reading.findings)


@given(text=st.text(alphabet=st.characters()), mode=st.sampled_from(ReplyMode))
def test_any_text_gives_a_value_or_findings(text: str, mode: ReplyMode) -> None:
    assert_well_formed(read_reply(text, mode))


@many(150)
@given(pieces=st.lists(PIECES, max_size=30), mode=st.sampled_from(ReplyMode))
def test_any_mixture_of_meaningful_pieces_does_too(pieces: list[str], mode: ReplyMode) -> None:
    assert_well_formed(read_reply("".join(pieces), mode))


PATHOLOGICAL = {
    "open braces": "{" * 100_000,
    "open brackets": "[" * MEGABYTE,
    "close braces": "}" * MEGABYTE,
    "nested objects never closed": '{"a":' * 100_000,
    "nested objects closed": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "nested arrays inside": '{"a":' + "[" * 100_000 + "]" * 100_000 + "}",
    "many small objects": OBJECT * 100_000,
    "many different objects": "".join(f'{{"a": {n}}}' for n in range(50_000)),
    "quotes": '"' * MEGABYTE,
    "escaped quotes never closed": '{"a": "' + '\\"' * 400_000,
    "backslashes": '{"a": "' + "\\" * MEGABYTE,
    "LaTeX": '{"a": "' + "\\frac" * 150_000 + '"}',
    "commas": '{"a": 1' + "," * MEGABYTE + "}",
    "commas and spaces": '{"a": [1' + ", " * 400_000 + "]}",
    "spaces inside braces": "{" + " " * MEGABYTE + '"a',
    "braces and spaces": "{   " * 250_000,
    "keys without end": '{"aaaa' * 150_000,
    "opening tags": "<think>" * 100_000,
    "closing tags": "<think>" + "</think>" * 100_000,
    "tags and objects": "x" + f"</think>{OBJECT}" * 50_000,
    "fences": "```json\n" * 100_000,
    "one long string": '{"a": "' + "x" * MEGABYTE + '"}',
    "prose": "The answer is (B). " * 50_000,
    "prose around": "I think " * 60_000 + OBJECT + " so it is" * 60_000,
    "whitespace": " " * MEGABYTE + "x",
    "sorry": "I am sorry, sorry " * 50_000,
    "duplicate keys": "{" + ", ".join(['"a": {"b": [1, 2]}'] * 50_000) + "}",
}


@pytest.mark.parametrize("text", PATHOLOGICAL.values(), ids=list(PATHOLOGICAL))
def test_a_megabyte_of_anything_is_read_in_linear_time(text: str) -> None:
    """Quadratic work on these would take minutes; the limit only leaves room for a slow machine."""
    started = time.process_time()
    reading = read_reply(text, ReplyMode.REPAIR)
    seconds = time.process_time() - started

    assert_well_formed(reading)
    assert seconds < 3
