"""Character folding that keeps every offset: one character in, one character out.

Spans are promised in the original response, so nothing here may change a length. What needs more than
one character (ligatures, NFKC in general) is done later, on short pieces that are compared and thrown away.
"""

import re
import unicodedata

_NAMED = {
    **dict.fromkeys("‘’‚‛′", "'"),
    **dict.fromkeys("“”„‟″«»「」『』", '"'),
    **dict.fromkeys("−˗➖⁃", "-"),
    # Not to a full stop: one that needs no space behind it still ends a sentence.
    "｡": "。",
    "、": ",",
    "【": "[",
    "】": "]",
    "〔": "(",
    "〕": ")",
    **dict.fromkeys("⟨〈", "<"),
    **dict.fromkeys("⟩〉", ">"),
    # str.lower() turns this one into two characters, which would shift every span behind it.
    "İ": "I",
    # Invisible characters separate nothing a reader sees, and must not hide a letter.
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", " "),
}


class _FoldingTable(dict[int, str]):
    """Filled as characters are met: the whole table would cost every start of the program 0.2 s."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    match unicodedata.category(character):
        case "Nd":
            return str(unicodedata.digit(character))
        case "Zs":
            return " "
        case "Pd":
            return "-"
        case _:
            code = ord(character)
            if 0xFF01 <= code <= 0xFF5E or 0x1D400 <= code <= 0x1D6A3 or 0x24B6 <= code <= 0x24CF:
                # Full-width, mathematical and circled letters: all name an option as well as plain ones do.
                plain = unicodedata.normalize("NFKC", character)
                return plain if len(plain) == 1 else character
            return character


_TABLE = _FoldingTable()


def fold(text: str) -> str:
    """The text with widths, digits, quotes, dashes and spaces in ASCII; same length, same offsets."""
    return text if text.isascii() else _FOREIGN.sub(_fold_run, text)


_FOREIGN = re.compile(r"[^\x00-\x7f]+")


def _fold_run(found: re.Match[str]) -> str:
    # Only what is not ASCII is translated: a few quotation marks in a page of English cost what they are.
    return found[0].translate(_TABLE)
