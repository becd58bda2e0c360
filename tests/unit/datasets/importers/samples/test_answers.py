"""What is no answer is never judged as one: a call of a tool, or what was said before it."""

from typing import Any

import pytest

from mixseek.datasets.importers.samples.answers import read_answer

CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"city": "Oslo"}'}}
USE = {"type": "tool_use", "id": "u1", "name": "look_up", "input": {"city": "Oslo"}}
SAID = {"role": "assistant", "content": "It is 7."}
HUMAN = {"type": "human", "content": "How many?"}
ASKS = {"type": "ai", "content": "Let me see.", "tool_calls": [{"name": "look_up", "args": {}, "type": "tool_call"}]}
RESULT = {"type": "tool", "content": '{"count": 7}', "name": "look_up"}
REPLIES = {"type": "ai", "content": "It is 7.", "tool_calls": []}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("It is 7.", "It is 7."),
        (7, "7"),
        ({"answer": "It is 7."}, "It is 7."),
        ({"output": {"text": "It is 7."}}, "It is 7."),
        ({"choices": [{"message": SAID, "finish_reason": "stop"}]}, "It is 7."),
        ([{"role": "user", "content": "How many?"}, SAID], "It is 7."),
        ({"messages": [HUMAN, ASKS, RESULT, REPLIES]}, "It is 7."),
        ({"output": [HUMAN, REPLIES]}, "It is 7."),
        (
            {"lc": 1, "type": "constructor", "id": ["messages", "AIMessage"], "kwargs": {"content": "It is 7."}},
            "It is 7.",
        ),
        (
            {"generations": [[{"text": "It is 7.", "message": {"type": "ai", "data": {"content": "It is 7."}}}]]},
            "It is 7.",
        ),
        ([{"type": "text", "text": "It is 7."}], "It is 7."),
        # What a model wrote as JSON is a text like any other, also where its keys are words that we know.
        ({"from": "Oslo", "to": "Rome"}, '{"from":"Oslo","to":"Rome"}'),
        ({"role": "clerk", "name": "Ann"}, '{"role":"clerk","name":"Ann"}'),
        (["a", "b"], '["a","b"]'),
    ],
)
def test_the_answer_is_what_the_assistant_said_last(value: Any, text: str) -> None:
    answer = read_answer(value)

    assert (answer.text, answer.withheld) == (text, None)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([CALL], "a call of the tool look_up"),
        ({"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}, "a call of the tool look_up"),
        (
            {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, USE]},
            "a call of the tool look_up",
        ),
        ([{"type": "text", "text": "Let me see."}, USE], "a call of the tool look_up"),
        ({"messages": [HUMAN, ASKS]}, "a call of the tool look_up"),
        ({"messages": [HUMAN, ASKS, RESULT]}, "ends with a message of 'tool'"),
        ([{"role": "user", "content": "How many?"}], "ends with a message of 'user'"),
    ],
)
def test_a_call_of_a_tool_and_what_stands_before_it_is_no_answer(value: Any, why: str) -> None:
    answer = read_answer(value)

    assert answer.text is None
    assert why in str(answer.withheld)


@pytest.mark.parametrize("value", [None, {}, [], {"answer": None}])
def test_nothing_is_no_text(value: Any) -> None:
    """`{}` was a response of two characters."""
    assert read_answer(value).text is None
