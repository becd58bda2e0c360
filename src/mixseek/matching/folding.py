"""Character folding that keeps every offset: spans are promised in the original response, so nothing here may change a
length. What needs more than one character (ligatures, NFKC in general) is done later, on short pieces."""

import re
import unicodedata
from collections.abc import Callable

_NAMED = {
    **dict.fromkeys("‘’‚‛′", "'"),
    **dict.fromkeys("“”„‟″«»「」『』", '"'),
    **dict.fromkeys("−˗➖⁃", "-"),
    # 。 not to a full stop: one that needs no space behind it still ends a sentence. And str.lower() turns İ into two
    # characters, which would shift every span behind it.
    **dict(zip("｡、【】〔〕⟨〈⟩〉İ", "。,[]()<<>>I", strict=True)),
    # Invisible characters separate nothing a reader sees, and must not hide a letter.
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\u061c", " "),
    # So do the marks of writing direction, which stand around Latin letters in Arabic and Hebrew.
    **dict.fromkeys("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", " "),
}


class CharacterTable(dict[int, str]):
    """A table for `str.translate`, filled as characters are met: a whole one would cost every start 0.2 s."""

    def __init__(self, fold_character: Callable[[str], str]) -> None:
        super().__init__()
        self._fold_character = fold_character

    def __missing__(self, code: int) -> str:
        folded = self[code] = self._fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    category, code = unicodedata.category(character), ord(character)
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category in {"Zs", "Pd"}:
        return " " if category == "Zs" else "-"
    if 0xFF01 <= code <= 0xFF5E or 0x1D400 <= code <= 0x1D6A3 or 0x24B6 <= code <= 0x24CF:
        # Full-width, mathematical and circled letters: all name an option as well as plain ones do.
        return unicodedata.normalize("NFKC", character)
    return character


_TABLE = CharacterTable(_fold_character)
_FOREIGN = re.compile(r"[^\x00-\x7f]+")


def fold(text: str) -> str:
    """The text with widths, digits, quotes, dashes and spaces in ASCII; same length, same offsets."""
    # Only what is not ASCII is translated: a few quotation marks in a page of English cost what they are.
    return text if text.isascii() else _FOREIGN.sub(lambda match: match[0].translate(_TABLE), text)
