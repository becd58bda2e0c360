"""Sentences that know their name.

A `Message` is an English sentence like any other string, for terminals, documents and reports; it also remembers its id
and what was filled in, so that a page in another language says it from a table instead of guessing from the English.
"""

import re
from collections.abc import Iterable, Mapping

from mixseek.text.phrases import plural

_PLACE = re.compile(r"\{(\w+)\}")
# Between clauses and parts of a list; what joins them is a word of the language, too.
_JOINTS = {", ": "joint.comma", "; ": "joint.semicolon"}
JOINT_IDS: Mapping[str, str] = {name: joint for joint, name in _JOINTS.items()}


class Message(str):
    """The English text, with the id under which other languages have it; no id is text that is nobody's to translate.

    `parts` are what stands in the places of the sentence: names, numbers as they are written, or other messages.
    """

    __slots__ = ("id", "parts")

    id: str
    parts: Mapping[str, str]

    def __new__(cls, text: str, key: str = "", parts: Mapping[str, str] | None = None) -> "Message":
        """The id and parts may be left out, because copies are made from the text alone and filled in after."""
        made = super().__new__(cls, text)
        made.id, made.parts = key, parts or {}
        return made


def message(key: str, english: str, /, **parts: str | int) -> Message:
    """`message("labels.drawn_from", "drawn from run {run}", run=name)`; a count is written with thousands."""
    filled = {name: part if isinstance(part, str) else f"{part:,}" for name, part in parts.items()}
    return Message(_PLACE.sub(lambda place: filled[place[1]], english) if filled else english, key, filled)


def counted(count: int, noun: str, nouns: str | None = None) -> Message:
    """`1 sample`, `2 samples`, under the id of the noun."""
    return Message(plural(count, noun, nouns), count_id(noun), {"n": f"{count:,}"})


def count_id(noun: str) -> str:
    """Where a table has the words for so many of a thing."""
    return f"count.{noun.replace(' ', '_').replace('-', '_')}"


def verbatim(text: str) -> Message:
    """A name or a quote: what it says is not ours, so it is shown as it stands in every language."""
    return Message(text)


def join(messages: Iterable[str], joint: str) -> Message:
    """Clauses as one message; `joint` is one of `, ` and `; `."""
    parts = {str(place): part for place, part in enumerate(messages)}
    return Message(joint.join(parts.values()), _JOINTS[joint], parts)


# Between pieces that stand apart, because each has its own look.
COMMA = join(("", ""), ", ")


def end_sentence(words: str) -> Message:
    """The words as a sentence of their own; its end is a sign of the language, too."""
    return message("joint.sentence", "{words}.", words=words)


def say(text: str, english: str | None = None, /, **parts: str | int) -> str:
    """What templates call, with an id and its English or with a message; here in English."""
    return text if english is None else message(text, english, **parts)


def begins_with_a_name(text: str) -> bool:
    """Whether a message begins with what was filled in, and so with something whose letters are not ours to change."""
    if not isinstance(text, Message):
        return False
    first = next((part for part in text.parts.values() if part and text.startswith(part)), None)
    if first is None or (isinstance(first, Message) and first.id):
        return first is not None and begins_with_a_name(first)
    return True


def translate(text: str, table: Mapping[str, str]) -> str:
    """The text in the words of a table of ids; KeyError names an id that the table does not have.

    Whatever is no message is a name or a number.
    """
    if not isinstance(text, Message) or not text.id:
        return str(text)
    words = table[text.id]
    parts = {name: translate(part, table) for name, part in text.parts.items()}
    if text.id in JOINT_IDS:
        return words.join(parts.values())
    return _PLACE.sub(lambda place: parts[place[1]], words)
