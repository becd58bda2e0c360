"""What judged text may hide: whatever cannot be seen, or changes how its neighbours are seen, shown by its code point.

The page does the same in `assets/text.js`; a test holds the two character lists together.
"""

import re

# C0 and C1 controls (an escape sequence would drive the reader's terminal), bidirectional controls (they reorder what
# is read), zero-width and other invisible formats, unpaired surrogates, and the tag block that hides ASCII.
# Joiners U+200C/D and variation selectors stay: scripts and emoji need them.
INVISIBLE = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)
_INVISIBLE_RUN = re.compile(f"[{INVISIBLE}]+")
# A word that is too long for a narrow column, and where its parts end; a date or a number is one.
_LONG_WORD = re.compile(r"[^\s<>&]{12,}")
_END_OF_PART = re.compile(r"(?<=[/\\_.:=@-])(?=[^/\\_.:=@-])(?!(?<=\d[.:-])\d)")
_CODES_SHOWN = 3
_TAGS_SHOWN = 40


def make_visible(text: str) -> str:
    """Safe to print on a terminal and to read in any direction; line breaks and tabs are kept."""
    return _INVISIBLE_RUN.sub(lambda run: f"⟨{_describe(run.group())}⟩", text.replace("\r\n", "\n"))


def with_breaks(markup: str) -> str:
    """Escaped text in whose long words, names and paths mostly, a line may end where one of their parts does."""
    return _LONG_WORD.sub(lambda word: _END_OF_PART.sub("<wbr>", word.group()), markup)


def replace_unpaired_surrogates(text: str) -> str:
    """The last resort before a file is written: UTF-8 has no bytes for half a character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _describe(run: str) -> str:
    codes = [ord(character) for character in run]
    if all(0xE0020 <= code <= 0xE007E for code in codes):
        hidden = "".join(chr(code - 0xE0000) for code in codes[:_TAGS_SHOWN])
        return f"hidden: {hidden}{'…' if len(codes) > _TAGS_SHOWN else ''}"
    shown = " ".join(f"U+{code:04X}" for code in codes[:_CODES_SHOWN])
    return shown if len(codes) <= _CODES_SHOWN else f"{shown} +{len(codes) - _CODES_SHOWN:,}"
