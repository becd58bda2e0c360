"""Folding of long texts for quotes, with the way back: every folded range knows where it stands in the original.

PDF text and judges write the same words differently: radicals for ideographs (⽰ for 示), ligatures, line breaks,
quotes, Markdown rendered away. Unlike `fold` this changes lengths; each pass knows its edits, so spans come back."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property

from mixseek.domain.judgments import Span
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.folding import CharacterTable

# CJK radicals supplement: shapes that PDF fonts put in the place of the whole character. NFKC folds the Kangxi
# block (U+2F00) and leaves this one (U+2E80) alone.
_RADICALS = dict(
    zip(
        "⺁⺅⺈⺉⺊⺌⺏⺒⺓⺕⺖⺘⺙⺛⺝⺟⺠⺡⺣⺤⺥⺨⺩⺪⺫⺬⺭⺯⺰⺲⺶⺸⺹⺻⺼⺽⺾⺿⻁⻂⻃⻄⻅⻆⻇⻈⻉⻊⻋⻌⻏⻐⻑⻒⻓⻔⻖⻗⻘⻙⻚⻛⻜⻝⻞⻠⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳",
        "厂亻刀刂卜小兀巳幺彐忄扌攵旡月母民氵灬爪爫犭王疋目示礻糹纟罒羊羋耂聿肉臼艹艹虎衤覀西见角角讠贝足车辶阝钅長镸长门阝雨青韦页风飞食飠饣马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀龟",
        strict=True,
    )
)
_DROP = "\x00"
_NAMED = {
    **dict.fromkeys("\"'`´‘’‚‛′“”„‟″«»‹›「」『』﹁﹂﹃﹄〝〞〟", _DROP),
    **_RADICALS,
    **dict.fromkeys("\n\v\f\x85\u2028\u2029", "\n"),
    **dict.fromkeys("\t\r", " "),
    **dict(zip("−。、【】〔〕", "-.,[]()", strict=True)),
}
# "10²" is not "102", and "1½" is not "11/2": what NFKC would bring down to the line stays where it is.
_NOT_ON_THE_LINE = ("<super>", "<sub>", "<fraction>", "<circle>")
CJK = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
LETTER = rf"[^\W\d_{CJK}]"
CJK_CHARACTER = re.compile(f"[{CJK}]")
_SPACED = rf"[^\W_{CJK}]"
# Half-width kana and decomposed text (as macOS writes it) leave marks behind their letters.
_COMPOSABLE = re.compile(r"[^\W_][\u0300-\u036f\u3099\u309a]+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?")
# Each of the following begins with one character, which is what makes a search through a megabyte cheap.
_DROPPED = re.compile(_DROP)
# Where a line begins: bullets, headings, quotations. "-5" is a number.
_LINE_MARK = re.compile(r"\n *(?:[#>]+|[-•·◦▪*])(?= )")
_FIRST_MARK = re.compile(r"\A *(?:[#>]+|[-•·◦▪*])(?= )")
# Emphasis goes; 2*3 and snake_case stay.
_STAR = re.compile(r"\*(?:(?!\d)|(?<!\d\*))")
_UNDERSCORE = re.compile(r"_(?:(?!\w)|(?<!\w_))")
_REPEATED_SPACE = re.compile(r" (?= )")
# A space is kept between words and between digits, nowhere else: PDF text breaks and spaces CJK at will.
_LOOSE_SPACE = re.compile(rf" (?:(?!{_SPACED})|(?<!{_SPACED} )|(?<=\d )(?!\d)|(?<!\d )(?=\d))")
# Between letters it may be a hyphenation at a line's end; before a digit it is a sign or a range. At most three in a
# row: a rule of 20,000 hyphens must not be looked through once for each of them.
_HYPHEN = re.compile(rf"-(?=-{{0,2}}{LETTER})(?:(?<={LETTER}-)|(?<={LETTER}--)|(?<={LETTER}---))")
# "!ready" and "a != b" say no; "Ready!" does not.
_NOT_SIGN = re.compile(r"!(?==)|(?<![\w!?.,)\]])!(?=[\w(])")
# What a reader would not miss: the marks of a sentence. Not those of a number, none that calculate, none that ask.
_OPERATOR = r"[-+*/^=<>&|~¬%\\]"
_SENTENCE_MARK = re.compile(
    r"(?:[,.;:!·•]|[()\[\]{}](?<!" + _OPERATOR + r".)(?!" + _OPERATOR + r")|\|(?<!\|\|)(?!\|))(?:(?!\d)|(?<!\d.))",
    re.DOTALL,
)


def _fold_character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    category = unicodedata.category(character)
    if category in {"Zs", "Pd"}:
        return " " if category == "Zs" else "-"
    # Format characters (zero width, soft hyphen, direction) and variation selectors are not seen.
    if category in {"Cf", "Cc"} or "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        return _DROP
    if unicodedata.decomposition(character).startswith(_NOT_ON_THE_LINE):
        return character
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
    return _NAMED.get(folded, folded)


_TABLE = CharacterTable(_fold_character)
Replacement = str | Callable[[re.Match[str]], str]


@dataclass(frozen=True)
class _Pass:
    """One rewriting of a text. Where a character of the result comes from is worked out when a span is asked for."""

    before: str
    pattern: re.Pattern[str]
    replacement: Replacement

    @cached_property
    def _edits(self) -> tuple[list[int], list[int], list[tuple[int, int]]]:
        starts, ends, origins = [], [], []
        shift = 0
        for match in self.pattern.finditer(self.before):
            written = self.replacement if isinstance(self.replacement, str) else self.replacement(match)
            origins.append(match.span())
            starts.append(match.start() + shift)
            ends.append(starts[-1] + len(written))
            shift = ends[-1] - match.end()
        return starts, ends, origins

    def original(self, position: int) -> tuple[int, int]:
        starts, ends, origins = self._edits
        index = bisect_right(starts, position) - 1
        if index < 0:
            return position, position + 1
        if position < ends[index]:
            return origins[index]
        start = position - ends[index] + origins[index][1]
        return start, start + 1


class FoldedText:
    """A text as it is compared. Linear to make; the way back is worked out on the first span asked for."""

    def __init__(self, text: str, passes: tuple[_Pass, ...] = ()) -> None:
        self.text = text
        self._passes = passes

    def span(self, start: int, end: int) -> Span:
        """Where the folded characters from `start` to `end` stand in the original."""
        last = end - 1
        for step in reversed(self._passes):
            start, last = step.original(start)[0], step.original(last)[1] - 1
        return Span(start, last + 1)

    def without(self, *patterns: re.Pattern[str]) -> "FoldedText":
        """One pass for each pattern."""
        folded = self
        for pattern in patterns:
            folded = folded.replaced(pattern, "")
        return folded

    def replaced(self, pattern: re.Pattern[str], replacement: Replacement) -> "FoldedText":
        """Every match of the pattern replaced."""
        after = pattern.sub(replacement, self.text)
        return (
            self if after == self.text else FoldedText(after, (*self._passes, _Pass(self.text, pattern, replacement)))
        )

    def respelled(self, after: str) -> "FoldedText":
        """`after` has the same length, character by character."""
        return FoldedText(after, self._passes)


def fold_quotable(text: str) -> FoldedText:
    """The text without case, width, radicals, quotation marks, emphasis, and spaces that separate nothing."""
    folded = _translated(text)
    if not folded.text.isascii():
        folded = folded.replaced(_COMPOSABLE, lambda match: unicodedata.normalize("NFC", match[0]))
    # The mark at the beginning while the blanks still tell what it belongs to.
    folded = folded.without(_DROPPED).replaced(_LINE_MARK, "\n").without(_FIRST_MARK)
    folded = folded.respelled(_NOT_SIGN.sub("¬", folded.text)).without(_STAR, _UNDERSCORE)
    folded = folded.respelled(folded.text.replace("\n", " "))
    return folded.without(_REPEATED_SPACE, _LOOSE_SPACE, _HYPHEN)


def without_sentence_marks(folded: FoldedText) -> FoldedText:
    """Words, numbers and signs only, for a comparison that forgives punctuation."""
    return without_loose_spaces(folded.respelled(_SENTENCE_MARK.sub(" ", folded.text)))


def without_loose_spaces(folded: FoldedText) -> FoldedText:
    return folded.without(_REPEATED_SPACE, _LOOSE_SPACE)


def _translated(text: str) -> FoldedText:
    resized = "".join(character for character in set(text) if len(_TABLE[ord(character)]) != 1)
    if not resized:
        # Same length, so that positions are the same.
        return FoldedText(text.translate(_TABLE))
    step = _Pass(text, re.compile(f"[{re.escape(resized)}]"), lambda match: _TABLE[ord(match[0])])
    return FoldedText(text.translate(_TABLE), (step,))


def is_inside_number(text: str, place: int) -> bool:
    """Digits on both sides, or only the mark of a decimal or of a thousand between them."""
    if not 0 < place < len(text):
        return False
    left, right = text[place - 1], text[place]
    if left.isdigit():
        return right.isdigit() or (right in ".," and text[place + 1 : place + 2].isdigit())
    return left in ".," and right.isdigit() and text[max(0, place - 2) : place - 1].isdigit()


def is_inside_word(text: str, place: int) -> bool:
    """Letters on both sides; a CJK character is a word of its own, and folding joins figures to letters."""
    if not 0 < place < len(text):
        return False
    left, right = text[place - 1], text[place]
    return left.isalpha() and right.isalpha() and not (CJK_CHARACTER.match(left) or CJK_CHARACTER.match(right))
