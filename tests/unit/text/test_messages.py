"""A message is its English text wherever a text is wanted, and remembers enough to be said in another language."""

import copy
import json
from collections.abc import Callable

import orjson
import pytest

from mixseek.text.messages import Message, counted, join, message, say, translate, verbatim

TABLE = {
    "tea.cups": "{brand} を {cups}",
    "tea.cold": "冷めた",
    "count.cup": "{n} 杯",
    "joint.comma": "、",
    "joint.semicolon": "。",
}
CUPS = message("tea.cups", "{cups} of {brand}", cups=counted(1_200, "cup"), brand="{n} oolong")
COLD = message("tea.cold", "cold")


def test_a_message_is_its_english_text() -> None:
    """Byte for byte, in documents too; what is filled in is not looked at again."""
    assert CUPS == "1,200 cups of {n} oolong"
    assert isinstance(CUPS, str)
    assert json.dumps({"said": CUPS}) == '{"said": "1,200 cups of {n} oolong"}'
    assert orjson.dumps(CUPS) == b'"1,200 cups of {n} oolong"'
    assert (counted(1, "cup"), counted(2, "reply", "replies")) == ("1 cup", "2 replies")
    assert say("tea.cold", "cold") == "cold"
    assert say(CUPS) is CUPS


def test_a_message_is_said_in_another_language_with_what_it_holds() -> None:
    assert translate(CUPS, TABLE) == "{n} oolong を 1,200 杯"
    assert translate(join((CUPS, COLD, "p < 0.001"), "; "), TABLE) == "{n} oolong を 1,200 杯。冷めた。p < 0.001"
    assert translate(join((COLD, COLD), ", "), TABLE) == "冷めた、冷めた"
    assert join((COLD, COLD), ", ") == "cold, cold"


def test_a_name_is_shown_as_it_stands_and_a_message_without_words_is_named() -> None:
    assert translate(verbatim("cold"), TABLE) == "cold"
    with pytest.raises(KeyError, match=r"tea\.hot"):
        translate(join((COLD, message("tea.hot", "hot")), ", "), TABLE)


@pytest.mark.parametrize("carry", [copy.copy, copy.deepcopy])
def test_a_copy_knows_what_the_message_knew(carry: Callable[[Message], Message]) -> None:
    """Results are copied field by field and sent to other processes; a copy without its id would stay English."""
    assert translate(carry(CUPS), TABLE) == translate(CUPS, TABLE)
