"""Answers that are not of the kind of the ground truth: a number where yes or no was asked for."""

import re
from enum import StrEnum

from mixseek.matching.closed.options import OptionReader
from mixseek.matching.phrases import Phrases
from mixseek.matching.readings import Reader

_SAYS = Phrases("other_kinds")
_BRACKETS = re.compile(r"[\[\](){}<>\s]+")
_LONGEST = 40
_TRIM = " \t\n*_`\"'$.。!,;:"


class StatedKind(StrEnum):
    """What a bare value is, whatever the ground truth."""

    NUMBER = "number"
    LETTER = "letter"
    POLARITY = "polarity"
    BRACKETS = "brackets"


def stated_kind(piece: str) -> StatedKind | None:
    """The kind of a piece that is nothing but one value; None for words, which may say anything."""
    bare = piece.strip(_TRIM)
    if not bare or len(bare) > _LONGEST:
        return None
    if _BRACKETS.fullmatch(bare):
        return StatedKind.BRACKETS
    if _SAYS.number.fullmatch(bare):
        return StatedKind.NUMBER
    if _SAYS.letter.fullmatch(bare):
        return StatedKind.LETTER
    return StatedKind.POLARITY if _SAYS.polarity.fullmatch(bare) else None


def is_of_another_kind(piece: str, reader: Reader, question: str) -> bool:
    """Whether a stated value cannot be the answer because it is not what was asked for."""
    kind = stated_kind(piece)
    if kind is None:
        return False
    if kind is StatedKind.LETTER and (not question.strip() or _SAYS.lists_options.search(question)):
        return False  # the letter of an option that is not shown, or is listed without one
    match reader.kind:
        case "boolean":
            # To a machine 1 is true and 0 is false.
            return kind is not StatedKind.POLARITY and piece.strip(_TRIM) not in {"0", "1"}
        case "number":
            is_count = not _SAYS.zero_or_one.fullmatch(str(getattr(reader, "value", "")))
            return kind is StatedKind.LETTER or (kind in {StatedKind.POLARITY, StatedKind.BRACKETS} and is_count)
        case "brackets" | "word_list":
            return kind in {StatedKind.NUMBER, StatedKind.POLARITY} or (
                kind is StatedKind.LETTER or (kind is StatedKind.BRACKETS and reader.kind == "word_list")
            )
        case "option" if isinstance(reader, OptionReader):
            text = reader.options.get(reader.label, "")
            return kind is StatedKind.NUMBER and bool(text) and not _SAYS.counts.search(text)
        case _:
            return False
