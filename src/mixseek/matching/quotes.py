"""Whether a quote that a judge gives as evidence stands in the judged response, and where.

    exact ── folded (case, width, radicals, spaces, quotation marks, emphasis)
          ── segments around an ellipsis, in order and near ── fuzzy (punctuation, articles)
          └─ nowhere: from the question, from the rubric, or simply not found

A stage forgives how something is written and never what it says: no number, no negation, no other word, and no quote
that ends where the response goes on to turn it round. Time is linear in the texts; nothing raises, whatever they hold.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from mixseek.domain.judgments import Span
from mixseek.matching.visible import CharacterTable, Phrases

# Folding of long texts for quotes, with the way back: every folded range knows where it stands in the original.
#
# PDF text and judges write the same words differently: radicals for ideographs (⽰ for 示), ligatures, line breaks,
# quotes, Markdown rendered away. Unlike `fold` this changes lengths; each pass knows its edits, so spans come back.

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
_CJK_CHARACTER = re.compile(f"[{CJK}]")
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
        for found in self.pattern.finditer(self.before):
            written = self.replacement if isinstance(self.replacement, str) else self.replacement(found)
            origins.append(found.span())
            starts.append(found.start() + shift)
            ends.append(starts[-1] + len(written))
            shift = ends[-1] - found.end()
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
    """Without case, width, radicals, quotation marks, emphasis, and spaces that separate nothing."""
    folded = _translated(text)
    if not folded.text.isascii():
        folded = folded.replaced(_COMPOSABLE, lambda found: unicodedata.normalize("NFC", found[0]))
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
    step = _Pass(text, re.compile(f"[{re.escape(resized)}]"), lambda found: _TABLE[ord(found[0])])
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
    return left.isalpha() and right.isalpha() and not (_CJK_CHARACTER.match(left) or _CJK_CHARACTER.match(right))


# Whether a quote ends where the response goes on to say something else: "ready" out of "!ready", "can" out of "can't".
# Only what touches it is looked at: a judge may quote half a sentence, but not leave its sign or its "not" behind.

# As far as anything attached may reach.
_REACH = 32
_SAYS = Phrases("quotes")
_EMPHASIS = frozenset('*`"“”„«»「」『』')
_NOT_SIGN_BEFORE = re.compile(r"(?<![\w!?.,)\]])!\Z|[¬￢]\Z|(?<!\w)[~−]\Z")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
# Signs and comparisons before a number; at the beginning of a line a hyphen is a bullet and > a quotation.
_SIGN = re.compile(r"(?:[^\s\w)\]]|\S[^\S\n])[-‐‑−–﹣－]\Z|[≤≥≠±≪≫＜＞]\s?\Z|(?:\S|\S[^\S\n])[<>]=?\s?\Z")
_FIRST_HALF = re.compile(r"\d[/:^~～–-]\Z")
_UNIT = re.compile(
    r"[%‰°℃℉²³⁴⁵⁶⁷⁸⁹½¼¾a-zµμ万萬億亿兆千百]|[/:^~～–-]\d|\s?[×x]\s?10|\s(?:hundred|thousand|[mbtr]+illion|dozen|per\s?cent)",
    re.IGNORECASE,
)
_CUT_UNIT = re.compile(r"\d\s?[a-zµμ]{1,6}\Z", re.IGNORECASE)


def turns_at_an_edge(text: str, start: int, end: int) -> bool:
    """Whether what stands right before or behind `text[start:end]` makes another statement of it."""
    if start >= end:
        return False
    before, behind = _attached(text[max(0, start - _REACH) : start]), _attached(text[end : end + _REACH])
    return _turns_before(before, text[start]) or _turns_behind(text[max(start, end - _REACH) : end], behind)


def _attached(context: str) -> str:
    """Without what is not seen or only emphasises."""
    return "".join(one for one in context if one not in _EMPHASIS and unicodedata.category(one) != "Cf")


def _turns_before(left: str, first: str) -> bool:
    if not left:
        return False
    if first == "=":
        return left[-1] in "!<>=≠:"
    if first.isdigit() and (_SIGN.search(left) or _FIRST_HALF.search(left)):
        return True
    if (first.isalnum() or first in "(_") and (_NOT_SIGN_BEFORE.search(left) or _SAYS.not_word.search(left)):
        return True
    if _HAN.match(first):
        return _SAYS.cjk_not.search(left) is not None
    return first.isalpha() and _SAYS.prefix.search(left) is not None


def _turns_behind(quoted: str, right: str) -> bool:
    last = quoted[-1]
    if not right:
        return False
    if last in "!<>=":
        return right[0] == "="
    if last.isdigit():
        return _UNIT.match(right) is not None
    if re.match(f"[{CJK}]", last):
        return _SAYS.kana_not.match(right) is not None
    is_cut = right[0].isalpha() and _CUT_UNIT.search(quoted) is not None
    return last.isalpha() and (is_cut or _SAYS.suffix.match(right) is not None)


# A quote may be punctuated otherwise or have lost an article. Never another word: judges are not trusted, and one
# changed digit, one "not" more or less, one other letter ("proscribed" for "prescribed") can turn a response round. So
# the distance is counted in words, and the only edits are words that carry nothing: nobody can tell a slip of the pen
# from another word without knowing all words.

# In characters, CJK ones counted twice. Shorter quotes get no edit; below the first not even other punctuation.
_MIN_FUZZY_WEIGHT = 10
_WEIGHT_PER_EDIT = 25
_MAX_EDITS = 4
_MAX_LENGTH = 2_000
_MAX_PLACES = 4
_TOKEN = re.compile(rf"[{CJK}]|\d+(?:[.,:/]\d+)*|{LETTER}+|\S")
# May come and go without anybody noticing.
_LIGHT = re.compile(rf"(?<!{LETTER})(?:an?|the|that)(?!{LETTER})|[的はがをの]")
_NEGATION = re.compile(
    rf"(?<!{LETTER})(?:no|not|non|none|never|nothing|nobody|nowhere|neither|nor|cannot|without|hardly|barely|scarcely"
    r"|lack(?:s|ing|ed)?|fail(?:s|ed|ing)?|unable"
    r"|(?:ca|wo|do|does|did|is|are|was|were|has|have|had|could|would|should|must|need|ai)nt)"
    rf"(?!{LETTER})|[不没沒未无無非否勿莫别別]|(?:ない|ません|なかっ|なく|ぬ|ず)"
)


def _without_light_words(text: str) -> FoldedText:
    return without_loose_spaces(FoldedText(text).replaced(_LIGHT, " "))


def _light_words(text: str) -> Counter[tuple[int, str]]:
    """How often each of them stands behind so many other words."""
    count = 0
    found: Counter[tuple[int, str]] = Counter()
    for token in _TOKEN.findall(text):
        if _LIGHT.fullmatch(token):
            found[count, token] += 1
        else:
            count += 1
    return found


# A longer "quote" is a copy of the response; it is only looked for to the letter.
_MAX_FOLDED_LENGTH = 20_000
_MAX_SEGMENTS = 16
_MAX_OCCURRENCES = 50
# In visible characters, a CJK one counting two: below, a quote could stand anywhere and proves nothing. "是的" and
# "Yes" are enough; "no", "42" and "OK" only as a whole word that the response holds once; a single character never.
_MIN_WEIGHT = 3
# Marks alone ("...", "**") are everywhere; a row of them, such as a table's rule, shows at least a format.
_MIN_MARKS = 5
# Up to here a quote must be whole words: "art" is not quoted from "smart".
_WHOLE_WORDS_WEIGHT = 8
# Pieces beside an ellipsis prove less: anything can be stitched from single words.
_MIN_SEGMENT_WEIGHT = 4
# What an ellipsis may leave out, in characters, a CJK one counting two: a sentence or two. Two sentences from two pages
# are two quotes.
_MAX_GAP = 400
# None of these begins with a repeat: a row of blanks would be looked through once for each of them.
_ELLIPSIS = re.compile(r"[\[(（【][ ]?(?:\.{3,}+|…++|⋯++)[ ]?[\])）】]|\.{3,}+|…++|⋯++|。{3,}+|・{3,}+")
# Fragments set side by side: by a bar, by lines, or by the numbers that they have in the response.
_LIST = re.compile(r"(?<=\s)[|｜](?=\s)|\n|\s(?=\d{1,2}[.、)）．][ ]?[^\s\d])")
# What assistants put behind a quote by themselves: "[cite: 3]", "【5†source】".
_CITATION = re.compile(r"\[cite[^\]\n]{0,40}\]|【\d{1,3}[^】\n]{0,40}】")
# Escaped once too often: a line break that was written down as a backslash and an n.
_ESCAPED = re.compile(r"\\[nrt\"]")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
# A line break alone is no end: PDF text breaks lines anywhere.
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]|\n[^\S\n]*+\n")


class QuoteStage(StrEnum):
    """Where the search ended: the later, the more was forgiven."""

    EXACT = "exact"
    FOLDED = "folded"
    SEGMENTS = "segments"
    FUZZY = "fuzzy"


class QuoteProblem(StrEnum):
    """Why a quote proves nothing."""

    NOT_FOUND = "not_found"
    FROM_QUESTION = "from_question"
    FROM_RUBRIC = "from_rubric"
    TOO_SHORT = "too_short"


@dataclass(frozen=True, slots=True)
class QuoteFinding:
    """Spans in the original response and the stage that found them; or no span and the problem."""

    spans: tuple[Span, ...] = ()
    stage: QuoteStage | None = None
    problem: QuoteProblem | None = None
    similarity: float = 0.0  # 1.0 unless fuzzy; 0.0 when not found


class QuoteLocator:
    """Locates many quotes in one response, which is folded once."""

    def __init__(self, response: str, question: str = "", rubric: str = "") -> None:
        self._response = _Haystack(response)
        self._others = {QuoteProblem.FROM_QUESTION: _Haystack(question), QuoteProblem.FROM_RUBRIC: _Haystack(rubric)}

    def locate(self, quote: str) -> QuoteFinding:
        """Never raises. A quote that the response holds is its own, also where it echoes the question."""
        if not weight_of(quote):
            return QuoteFinding(problem=QuoteProblem.TOO_SHORT)
        found = self._response.find(quote)
        if found is not None:
            is_proof = self._response.is_proof(quote, found.spans)
            return found if is_proof else QuoteFinding(problem=QuoteProblem.TOO_SHORT)
        for problem, text in self._others.items():
            if text.original and text.find(quote) is not None:
                return QuoteFinding(problem=problem)
        return QuoteFinding(problem=QuoteProblem.NOT_FOUND)


def locate_quote(quote: str, response: str, *, question: str = "", rubric: str = "") -> QuoteFinding:
    """Where `quote` stands in `response`, in original offsets, or why it proves nothing."""
    return _locator(response, question, rubric).locate(quote)


# A judgment's quotes come one after another and are about one response.
_locator = lru_cache(maxsize=8)(QuoteLocator)


def weight_of(text: str) -> int:
    """Visible characters, CJK ones counted twice; looked at no further than matters."""
    head = "".join(text.split())[:_WHOLE_WORDS_WEIGHT]
    return len(head) + len(_CJK_CHARACTER.findall(head))


class _Haystack:
    def __init__(self, original: str) -> None:
        self.original = original

    @cached_property
    def folded(self) -> FoldedText:
        return fold_quotable(self.original)

    @cached_property
    def unmarked(self) -> FoldedText:
        return without_sentence_marks(self.folded)

    @cached_property
    def bare(self) -> FoldedText:
        """Of `unmarked`, not of the original."""
        return _without_light_words(self.unmarked.text)

    def find(self, quote: str) -> QuoteFinding | None:
        exact = quote.strip()
        for span in self._places(FoldedText(self.original), exact):
            return QuoteFinding((span,), QuoteStage.EXACT, similarity=1.0)
        if len(quote) > _MAX_FOLDED_LENGTH:
            return None
        bare = _CITATION.sub("", _SAYS.label.sub("", exact))
        for variant in dict.fromkeys((exact, bare, _ESCAPED.sub(" ", bare))):
            for span in self._places(self.folded, fold_quotable(variant).text.strip()):
                return QuoteFinding((span,), QuoteStage.FOLDED, similarity=1.0)
        return self._find_segments(bare) or self._find_fuzzily(bare)

    def is_proof(self, quote: str, spans: tuple[Span, ...]) -> bool:
        """Long enough, or all that the response says, or one whole word that it says once."""
        if weight_of(quote) >= (_MIN_WEIGHT if _LETTER_OR_DIGIT.search(quote) else _MIN_MARKS):
            return True
        needle = without_sentence_marks(fold_quotable(quote)).text.strip()
        if needle == self.unmarked.text.strip():
            return True
        return len(needle) >= 2 and needle.isalnum() and self.folded.text.count(needle) == len(spans) == 1

    def _find_segments(self, quote: str) -> QuoteFinding | None:
        for separator in (_ELLIPSIS, _LIST):
            if separator.search(quote) is None:
                continue
            pieces = [piece for piece in separator.split(quote) if weight_of(piece)]
            if not 1 <= len(pieces) <= _MAX_SEGMENTS or any(weight_of(piece) < _MIN_SEGMENT_WEIGHT for piece in pieces):
                continue
            spans = self._in_order(pieces, elides=separator is _ELLIPSIS)
            if spans is not None:
                return QuoteFinding(spans, QuoteStage.SEGMENTS, similarity=1.0)
        return None

    def _in_order(self, pieces: list[str], *, elides: bool) -> tuple[Span, ...] | None:
        """Each piece behind the one before it, and no further than an ellipsis reaches."""
        chains: list[tuple[Span, ...]] = [()]
        for piece in pieces:
            spans = list(self._places(self.folded, fold_quotable(piece).text.strip()))
            chains = [(*chain, span) for span in spans if (chain := self._nearest(chains, span, elides)) is not None]
            if not chains:
                return None
        return chains[0]

    def _nearest(self, chains: list[tuple[Span, ...]], span: Span, elides: bool) -> tuple[Span, ...] | None:
        before = [chain for chain in chains if not chain or chain[-1].end <= span.start]
        chain = max(before, key=lambda one: one[-1].end if one else 0, default=None)
        if not chain:
            return chain
        gap = self.original[chain[-1].end : span.start]
        if elides and (len(gap) > _MAX_GAP or len(gap) + len(_CJK_CHARACTER.findall(gap)) > _MAX_GAP):
            return None
        # "It is … good" out of "It is not good": left out inside one sentence, a negation turns the quote round.
        gap = gap[:_MAX_GAP]
        return chain if _SENTENCE_END.search(gap) or not _NEGATION.search(fold_quotable(gap).text) else None

    def _find_fuzzily(self, quote: str) -> QuoteFinding | None:
        """The first place where the quote stands but for harmless edits, at most one in twenty-five characters.

        The similarity is the share of the quote's tokens that stand there as they are.
        """
        needle = without_sentence_marks(fold_quotable(quote)).text.strip()
        weight = len(needle) + len(_CJK_CHARACTER.findall(needle))
        bare = _without_light_words(needle)
        told = bare.text.strip()
        if weight < _MIN_FUZZY_WEIGHT or len(needle) > _MAX_LENGTH or not told:
            return None
        first = len(bare.text) - len(bare.text.lstrip())
        own = bare.span(first, first + len(told))
        before, behind = needle[: own.start], needle[own.end :]
        text, place = self.unmarked.text, -1
        for _ in range(_MAX_PLACES):
            place = self.bare.text.find(told, place + 1)
            if place < 0:
                return None
            there = self.bare.span(place, place + len(told))
            # With the quote's own light words at its edges, where the response has them too.
            start = there.start - (len(before) if text.endswith(before, 0, there.start) else 0)
            end = there.end + (len(behind) if text.startswith(behind, there.end) else 0)
            ours, theirs = _light_words(needle), _light_words(text[start:end])
            edits = ((ours - theirs) + (theirs - ours)).total()
            span = self.unmarked.span(start, end)
            is_cut = any(is_inside_word(text, edge) or is_inside_number(text, edge) for edge in (start, end))
            if edits <= min(_MAX_EDITS, weight // _WEIGHT_PER_EDIT) and not is_cut:
                if turns_at_an_edge(self.original, span.start, span.end):
                    return None
                return QuoteFinding((span,), QuoteStage.FUZZY, similarity=1 - edits / len(_TOKEN.findall(needle)))
        return None

    def _places(self, text: FoldedText, needle: str) -> Iterator[Span]:
        """Where the needle begins and ends with words; behind these, for a longer one, also where it does not.

        Nowhere inside a number, and nowhere that its edge cuts a negation, a sign or a unit off: "costs 12" is not
        what "costs 12.5 million" says.
        """
        inside: list[Span] = []
        place = -1
        for _ in range(_MAX_OCCURRENCES if needle else 0):
            place = text.text.find(needle, place + 1)
            if place < 0:
                break
            edges = (place, place + len(needle))
            span = text.span(*edges)
            if any(is_inside_number(text.text, edge) for edge in edges):
                continue
            if turns_at_an_edge(self.original, span.start, span.end):
                continue
            if any(is_inside_word(text.text, edge) for edge in edges):
                inside.append(span)
            else:
                yield span
        if weight_of(needle) >= _WHOLE_WORDS_WEIGHT:
            yield from inside
