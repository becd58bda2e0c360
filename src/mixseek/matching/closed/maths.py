r"""Ground truths that are mathematics: what is cheap and certain is decided here, the rest by whoever compares algebra.

Certain are numbers in any writing, with units, and lists, sets, pairs and intervals of them. Everything else is handed
to a `MathsComparer`; without one it is undecided. Nothing is decided about LaTeX that was not read to its end.
"""

import re
import unicodedata
from fractions import Fraction
from typing import Final, NamedTuple

from mixseek.domain.ports import MathsComparer
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.numbers import read_numbers
from mixseek.matching.phrases import table
from mixseek.matching.readings import NEEDS_MATHS, Decision, Reader, Reading
from mixseek.matching.statements import firm_statements

_LONGEST: Final = 1_000
# Longer than any bare answer: a worked solution.
_WORKED: Final = 160
_FEW_WORDS: Final = 6

_LATEX: Final = re.compile(r"\\[A-Za-z({\[%]|\$[^$]+\$")
_PLAIN_NUMBER: Final = re.compile(r"[-+−]?[$€£¥]?\s?\d[\d,. ]*\s*(?:%|\\%|[A-Za-z°]{0,12}\.?)")
_DATE_OR_TIME: Final = re.compile(r"\d{1,4}([-/.:])\d{1,2}(?:\1\d{1,4})?(?:\s*[AaPp]\.?[Mm]\.?)?")
_PRODUCT: Final = re.compile(r"-?\d+[xyzn]")
_RANGE: Final = re.compile(r"(?<![\d,.])[\d,.]++(?:\s*+[-–]\s*+[\d,.]++)+")
_CODE_NAME: Final = re.compile(r"[A-Za-z]{1,10}-?\d+[A-Za-z]?|[A-Z]/[A-Z]|[nN]/[aA]")
_BRACKETS_ONLY: Final = re.compile(r"[()\[\]{}<>\s]+")
_SYMBOL: Final = re.compile("[√∛π∞≤≥≠±∪∩∈∅×÷·²³⁰¹⁴-⁹½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞ℝℤℕ]")
_OPERATION: Final = re.compile(r"[A-Za-z\d)\]}!]\s*(?:[-+*/^=<>]|<=|>=)\s*[-(\[{A-Za-z\d.]")
_TUPLE: Final = re.compile(r"[(\[{]\s*[^()\[\]{}]*\d[^()\[\]{}]*[,;][^()\[\]{}]*[)\]}]")
_POWER_OF_TEN: Final = re.compile(r"\d(?:\.\d+)?[eE][-+]?\d+")
_BASED: Final = re.compile(r"[0-9A-Fa-f]+_\{?\d{1,2}\}?")
_CALL: Final = re.compile(r"\b(?:sqrt|sin|cos|tan|log|ln|exp|abs)\s*\(")
_FACTORIAL: Final = re.compile(r"(?<!\d)\d++!$")
_WORD: Final = re.compile(r"[A-Za-z]{2,}")
_MATHS_WORDS: Final = frozenset(table("mathematics")["words"].split())
_SHORT_WORDS: Final = frozenset(table("mathematics")["short_words"].split())


def looks_like_maths(gold: str) -> bool:
    """Cheap, and meant for ground truths: a False only means that another comparer is the better one."""
    gold = gold.strip()
    if _LATEX.search(gold):
        return True
    if _BRACKETS_ONLY.fullmatch(gold) or len(gold) > 200:
        return False
    if _POWER_OF_TEN.fullmatch(gold) or _BASED.fullmatch(gold):
        return True
    if _PRODUCT.fullmatch(gold):
        return True
    if any(pattern.fullmatch(gold) for pattern in (_PLAIN_NUMBER, _RANGE, _CODE_NAME)):
        return False
    if _DATE_OR_TIME.fullmatch(gold) and not (gold.count("/") == 1 and "-" not in gold and ":" not in gold):
        return False
    words = [word for word in _WORD.findall(gold.lower()) if word not in _MATHS_WORDS]
    if any(len(word) > 2 or word in _SHORT_WORDS for word in words):
        return False
    if _SYMBOL.search(gold):
        return True
    return any(pattern.search(gold) for pattern in (_OPERATION, _TUPLE, _CALL, _FACTORIAL))


class PlainValue(NamedTuple):
    """One number, or several in brackets (""  for a bare list); exact, with what was written beside them."""

    numbers: tuple[Fraction, ...]
    brackets: str = ""
    percent: bool = False
    unit: str = ""
    # How many digits stand behind the point, where a decimal was written: as exact as that, and no more.
    digits: int | None = None


_DELIMITERS: Final = re.compile(r"^(?:\$\$?|\\\(|\\\[)\s*|(?<!\s)\s*+(?:\$\$?|\\\)|\\\])[.,;]?$|[.,;]$")
_LAYOUT: Final = re.compile(r"\\(?:left|right|displaystyle|[!,;: ])(?![a-zA-Z])|(?<!\\)~")
# 70,\!000 is LaTeX for 70,000.
_GROUPED: Final = re.compile(r"(?<=\d),\\!\s*(?=\d{3}(?!\d))|(?<=\d)\{,\}(?=\d{3}(?!\d))")
_DECIMAL_COMMA: Final = re.compile(r"\d,\d")
_TEXT_COMMAND: Final = re.compile(r"\\(?:text|mathrm|textrm|textnormal|mbox|mathbf|textbf|operatorname)\s*\{([^{}]*)\}")
_NAME: Final = re.compile(r"^[A-Za-z](?:_\{?\w\}?|\([a-z]\))?\s*=\s*(?=[-+\d\\({\[.$])")
_FRACTION: Final = re.compile(r"([-+]?)\s*(?:(\d+)\s*)?\\frac\s*(?:\{\s*(-?\d+)\s*\}\s*\{\s*(-?\d+)\s*\}|(\d)\s*(\d))")
_UNIT: Final = re.compile(
    r"\s*(\\?%|percent|\^?\{?\\circ\}?|°|(?:[A-Za-zμµ]+(?:\^?\{?[23]\}?|[²³])?(?:/[A-Za-z]+)?)?)\.?"
)
_RAISED: Final = re.compile("⁻?[⁰¹²³⁴-⁹]+")
_EXPONENT: Final = re.compile(r"\^\s?(-\d+|\d{2,})")
_INFINITE: Final = re.compile(r"[-+]?\s*(?:\\infty|∞|infinity|inf|oo)")
_MOST_DIGITS: Final = 400
# An end of an interval; no number that is read is as large.
_INFINITY: Final = Fraction(10) ** 999
# So many digits are as exact as a machine writes a fraction.
_EXACT_DIGITS: Final = 10
_LARGEST_DENOMINATOR: Final = 10**9


def plain_value(text: str) -> PlainValue | None:
    """None for whatever is not numbers to its last character."""
    text = _RAISED.sub(lambda match: f"^{{{unicodedata.normalize('NFKC', match[0])}}}", text)
    text = _GROUPED.sub("", text.strip()).replace("−", "-")
    text = _TEXT_COMMAND.sub(r" \1 ", _LAYOUT.sub("", text))
    for _ in range(2):
        text = _DELIMITERS.sub("", text.strip()).strip()
    text = _NAME.sub("", text.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac").replace("−", "-"))
    text = text.replace("{,}", ",").replace("\\$", "$").strip()
    if text.count("$") == 1 and text[:1] != "$":
        text = text.replace("$", "")  # "125$ miles": the opening one is gone
    if not text or len(text) > _MOST_DIGITS:
        return None
    return _one_number(text) or _several_numbers(text)


def _one_number(text: str) -> PlainValue | None:
    match = _FRACTION.match(text)
    if match is not None and (bottom := int(match[4] or match[6])):
        number = int(match[2] or 0) + Fraction(int(match[3] or match[5]), bottom)
        return _with_unit(text[match.end() :], PlainValue((-number if match[1] == "-" else number,)))
    tokens = read_numbers(text, words=False)
    if len(tokens) != 1 or len(tokens[0].values) != 1 or tokens[0].unscaled or text[: tokens[0].start].strip(" +$€£¥"):
        return None
    token = tokens[0]
    written = text[token.start : token.end]
    if _DECIMAL_COMMA.search(written) and token.values[0] != token.values[0].to_integral_value():
        return None  # 6,8 is a decimal to some and two numbers to others
    # A quotient and a power of ten do not say how many digits are exact.
    point = re.search(r"\d?\.(\d+)", written) if "/" not in written and "^" not in written else None
    exact = Fraction(token.values[0])
    if not written.isascii() or "/" in written:
        # A quotient was rounded to 28 digits on the way.
        exact = exact.limit_denominator(_LARGEST_DENOMINATOR)
    value = PlainValue((exact,), percent=token.percent, digits=len(point[1]) if point else None)
    return _with_unit(text[token.end :], value)


def _with_unit(rest: str, value: PlainValue) -> PlainValue | None:
    match = _UNIT.fullmatch(rest)
    if match is None:
        return None
    unit = match[1].lstrip("\\")
    if unit in {"%", "percent"}:
        return value._replace(percent=True)
    if len(unit) == 1 and unit.isalpha() and rest[:1] != " ":
        return None  # 2x is a product
    if "circ" in unit or unit == "°":
        unit = "degree"
    unit = unit.lower().replace("{", "").replace("}", "").replace("²", "^2").replace("³", "^3")
    return value._replace(unit=unit[:-1] if len(unit) > 2 and unit.endswith("s") and not unit.endswith("ss") else unit)


_BRACKETED: Final = re.compile(r"(\\?[({\[])(.*?)(\\?[)}\]])", re.DOTALL)


def _several_numbers(text: str) -> PlainValue | None:
    """A list, a set, a pair or an interval of plain numbers."""
    match = _BRACKETED.fullmatch(text)
    inner, brackets = (match[2], (match[1] + match[3]).replace("\\", "")) if match else (text, "")
    separator = r"[,;]|\band\b" if re.search(r";|,\s|,[-\\]|\band\b", inner) or brackets else r"\band\b"
    parts = [part for part in re.split(separator, inner) if part.strip()]
    if not 2 <= len(parts) <= 64 and not (brackets and parts):
        return None
    values = [_infinity_or_number(part.strip()) for part in parts]
    numbers = [value.numbers[0] for value in values if value and not (value.unit or value.percent or value.digits)]
    return PlainValue(tuple(numbers), brackets) if len(numbers) == len(values) else None


def _infinity_or_number(text: str) -> PlainValue | None:
    if _INFINITE.fullmatch(text):
        return PlainValue((-_INFINITY if text[0] == "-" else _INFINITY,))
    return _one_number(text)


def compare_plain(answer: PlainValue, gold: PlainValue) -> tuple[Decision, str]:
    """What two readings to the end say; undecided where people write one thing in the other's way."""
    if len(answer.numbers) == len(gold.numbers) == 1 and answer.brackets == gold.brackets:
        return _compare_numbers(answer, gold)
    brackets = {answer.brackets, gold.brackets}
    if set(answer.numbers) != set(gold.numbers):
        return Decision.INCORRECT, "numbers"
    if brackets <= {"", "{}"} or (len(brackets) == 1 and answer.numbers == gold.numbers):
        return Decision.CORRECT, "numbers"
    if len(brackets) == 1:
        return Decision.INCORRECT, "numbers"
    if any(abs(number) == _INFINITY for number in gold.numbers) and "{}" not in brackets:
        return Decision.INCORRECT, "interval_ends"  # no pair of numbers, so brackets are what they say
    return Decision.UNDECIDED, "brackets_differ"


def _compare_numbers(answer: PlainValue, gold: PlainValue) -> tuple[Decision, str]:
    ours, theirs = answer.numbers[0], gold.numbers[0]
    digits = max(answer.digits or 0, gold.digits or 0)
    if digits >= _EXACT_DIGITS and abs(ours - theirs) < Fraction(1, 10**digits):
        return Decision.CORRECT, "number"
    if answer.unit and gold.unit and answer.unit != gold.unit:
        return Decision.UNDECIDED, "units_differ"
    if ours == theirs:
        return Decision.CORRECT, "number"
    if answer.percent != gold.percent and (ours == theirs * 100 or ours * 100 == theirs):
        is_same = (ours == theirs * 100) is answer.percent
        return (Decision.CORRECT, "percent") if is_same else (Decision.UNDECIDED, "percent_or_fraction")
    scales = (Fraction(1), Fraction(100), Fraction(1, 100))
    if any(_is_rounding(ours * scale, theirs, answer, gold) for scale in scales):
        return Decision.UNDECIDED, "rounded"
    return Decision.INCORRECT, "number"


def _is_rounding(ours: Fraction, theirs: Fraction, answer: PlainValue, gold: PlainValue) -> bool:
    """Whether a decimal stands for a value it is not quite: 0.33 for 1/3, 3.1 for 3.14."""
    digits = [value.digits for value in (answer, gold) if value.digits is not None]
    if digits:
        return abs(ours - theirs) <= min(Fraction(1, 10 ** min(digits)), max(abs(theirs), Fraction(1)) / 50)
    if ours.denominator == theirs.denominator == 1:
        return False
    return abs(ours - theirs) <= min(Fraction(1, 2), abs(theirs) / 200)


_SEGMENT: Final = re.compile(
    r"\$\$(?P<a>[^$]+)\$\$|\$(?P<b>[^$]+)\$|\\\((?P<c>(?:(?!\\\().)+?)\\\)|\\\[(?P<d>(?:(?!\\\[).)+?)\\\]", re.DOTALL
)
_BARE_LETTER: Final = re.compile(r"\s*[A-Za-z](?:\([a-z]\)|_\{?\w\}?)?\s*")
_JOINT: Final = re.compile(r"[\s,;.*]*+(?:and|or)?[\s,;*]*+")
_PROSE: Final = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}(?:[\s,]+[A-Za-z]{2,})|[\u3040-\u30ff\u4e00-\u9fff]")
_SENTENCE_END: Final = re.compile(r"[.!](?=\s+[A-Z][a-z]*\b)|[。\n]\s*(?=\S)")
_HOLDS_VALUE: Final = re.compile(r"\d|\\|[√π∞]|(?<![A-Za-z])[B-HJ-Zb-z](?![A-Za-z])")
# One value in several writings: no list, no system of equations, no inequality.
_CHAIN: Final = re.compile(r"(?:[^=,;<>≤≥≠&]|\d,\d|\{,\})+(?:=(?:[^=,;<>≤≥≠&]|\d,\d|\{,\})+)+")
_NAMED: Final = re.compile(r"(?<![A-Za-z\\])([a-z])(?:_\{?\d\}?)?\s*=")
_CONCLUDES: Final = re.compile(r"(?:\b(?:is|are|equals)|:)\s*$")
_OPTION: Final = re.compile(r"\W*\(?[A-J]\)?\W*$|\s*\([A-J]\)")
_UNIT_BEHIND: Final = re.compile(r"(?<=[\d}])\s*[A-Za-z]{2,}\.?\s*$")
_COMMANDS: Final = re.compile(r"\\(?:text|mathrm|mbox|begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+")
_RESULT: Final = re.compile(r".*(?:(?<![<>!≤≥])=|≈|\b(?:is|are|be|equals)\b:?)\s*", re.DOTALL)
_FORM: Final = re.compile(
    r"\bsimplif(?:y|ied)|\bsimplest\b|\bfactor(?:i[sz]e|ed)?\b|\bexpand(?:ed)?\b|化简|因式分解|展开|簡単に|因数分解|展開",
    re.IGNORECASE,
)
# Behind what is more than a number: "16π cm²".
_LENGTH_UNIT: Final = re.compile(
    r"(?<=[\w)}])\s+(?:(?:square|cubic|sq\.?)\s+)?(?:[mckdn]?m|in|ft|yd|mi|units?|inch(?:es)?|feet|foot|met(?:er|re)s?"
    r"|(?:centi|milli|kilo)met(?:er|re)s?|miles?|yards?)(?:\^?\{?[23]\}?|[²³])?[\s.]*$"
)
_TRAILING_UNIT: Final = re.compile(r"\\(?:text|mathrm|mbox)\s*\{\s*([A-Za-z]+)[^{}]*\}[\s$.]*$")
_LOOSE: Final = re.compile(r"[\s{}*$.]|\\cdot(?![a-z])|\\left|\\right|\\[,;:! ]")
_SPACE: Final = re.compile(r"\s+|\\[,;:! ]|\\left|\\right|\$")


class Part(NamedTuple):
    """Mathematics cut out of a piece of text, or the boxes side by side that are the parts of one answer."""

    text: str
    start: int
    end: int
    boxes: int = 0


def stated_maths(piece: str, *, firm: bool) -> Part | None:
    """The mathematics that a piece states: its one marked run, else all of it where nothing in it is prose."""
    runs = [run for run in _runs(piece) if not _BARE_LETTER.fullmatch(run.text)]
    if runs:
        if len(runs) > 1 and not piece[runs[-1].end :].strip(" .*") and _CONCLUDES.search(piece, 0, runs[-1].start):
            return runs[-1]
        return runs[0] if len(runs) == 1 or (firm and not _PROSE.search(piece[: runs[0].start])) else None
    sentence = _SENTENCE_END.search(piece)
    bare = piece[: sentence.start() if sentence else len(piece)].strip().rstrip(".")
    start = piece.find(bare)
    if bare and not _holds_prose(bare):
        return Part(bare, start, start + len(bare))
    behind = _RESULT.match(bare)
    rest = bare[behind.end() :] if behind else ""
    if _HOLDS_VALUE.search(rest) and not _holds_prose(rest) and len(rest) < 80:
        return Part(rest, start + len(bare) - len(rest), start + len(bare))
    return None


def _holds_prose(text: str) -> bool:
    return _PROSE.search(_COMMANDS.sub(" ", text)) is not None


def _runs(piece: str) -> list[Part]:
    """Marked mathematics; neighbours with nothing but a comma or "and" between them are one list."""
    runs: list[Part] = []
    for match in _SEGMENT.finditer(piece):
        inner = (match["a"] or match["b"] or match["c"] or match["d"]).strip()
        if runs and _JOINT.fullmatch(piece, runs[-1].end, match.start()):
            runs[-1] = Part(f"{runs[-1].text}, {inner}", runs[-1].start, match.end())
        else:
            runs.append(Part(inner, match.start(), match.end()))
    return runs


_BETWEEN_BOXES: Final = re.compile(r"(?:[\s$,;]|\\q?quad|\\text\{\s*and\s*\}|\band\b|\\[()\[\]])*")


def joined_boxes(text: str) -> Part | None:
    """The last boxes of a text where nothing but commas or "and" stands between them; None for fewer than two."""
    boxes = [
        (place.start - 1, place.end + 1, text[place.start : place.end].strip())
        for place in firm_statements(text, text.lower(), max(0, len(text) - _WORKED * 12), len(text))
        if place.cue == "boxed"
    ]
    run = boxes[:1]
    for box in boxes[1:]:
        if not _BETWEEN_BOXES.fullmatch(text, box[1], text.rfind("\\", box[1], run[0][0])):
            break
        run.insert(0, box)
    if len({content for _, _, content in run}) < 2:
        return None
    return Part(", ".join(content for _, _, content in run), run[0][0], run[-1][1], len(run))


def gold_maths(gold: str) -> str | None:
    """The answer that a ground truth holds; None for a worked solution that does not say which of its values it is."""
    statements = list(firm_statements(gold, gold.lower(), 0, len(gold)))
    boxes = [gold[place.start : place.end] for place in statements if place.cue == "boxed"]
    if boxes:
        is_one = len({_SPACE.sub("", box) for box in boxes}) == 1
        joined = joined_boxes(gold)
        return boxes[0] if is_one else joined.text if joined and joined.boxes == len(boxes) else None
    if len(gold) <= _WORKED:
        return gold.strip()
    stated = [place for place in statements if place.cue in {"answer_cue", "hash_marks"}]
    part = stated_maths(gold[stated[0].start : stated[0].end], firm=True) if stated else None
    return part.text if part else None


_ONE_BOX: Final = re.compile(r"[\s$*]*\\(?:boxed|fbox)\s*\{((?:(?!boxed).)*)\}[\s$.*]*", re.DOTALL)
_ROOT: Final = re.compile(r"√\s*(?:\{([^{}]*)\}|\(([^()]*)\)|(\d+|[a-z]))")
_SIGNS: Final = {
    "π": r"\pi ", "×": r"\times ", "·": r"\cdot ", "÷": r"\div ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ",
    "∞": r"\infty ", "∪": r"\cup ", "∩": r"\cap ", "±": r"\pm ", "∈": r"\in ", "−": "-",
}  # fmt: skip


def _for_comparer(text: str, value: PlainValue | None) -> str:
    """A number in any writing as a plain fraction; the rest as LaTeX."""
    if value is not None and len(value.numbers) == 1 and value.digits is None and not value.percent and not value.unit:
        number = value.numbers[0]
        top, bottom = number.numerator, number.denominator
        return str(top) if bottom == 1 else rf"\frac{{{top}}}{{{bottom}}}"
    return _to_latex(text.replace("**", "^") if re.search(r"\w\*\*\w", text) else text)


def _to_latex(text: str) -> str:
    """Signs as commands: whoever reads LaTeX may not read them."""
    text = _ROOT.sub(lambda match: rf"\sqrt{{{match[1] or match[2] or match[3]}}}", text)
    text = _RAISED.sub(lambda match: f"^{{{unicodedata.normalize('NFKC', match[0])}}}", text)
    # In LaTeX an exponent without braces is one sign long.
    text = _EXPONENT.sub(r"^{\1}", text)
    return "".join(_SIGNS.get(character, character) for character in text)


def _written_form(text: str) -> str:
    """What stands behind the last equals sign, without what does not change its form."""
    return _LOOSE.sub("", _to_latex(text).rpartition("=")[2])


def _is_read(text: str) -> bool:
    """Whether a text is mathematics and no words, of which algebra would make products of letters."""
    if _OPTION.match(text) or not _HOLDS_VALUE.search(text):
        return False
    bare = _UNIT_BEHIND.sub("", _COMMANDS.sub(" ", _TEXT_COMMAND.sub(r" \1 ", text)).strip(" $."))
    return all(word.lower() in _MATHS_WORDS or len(word) == 2 for word in _WORD.findall(bare))


def compare_maths(answer: str, gold: str, question: str, maths: MathsComparer | None) -> tuple[Decision, str]:
    """Two texts that are mathematics and nothing else."""
    # Without a box around the whole of it.
    answer, gold = (match[1] if (match := _ONE_BOX.fullmatch(text)) else text for text in (answer, gold))
    if len(answer) > _LONGEST or len(gold) > _LONGEST:
        return Decision.UNDECIDED, "too_long"
    if _LENGTH_UNIT.search(gold) is None:
        answer = _LENGTH_UNIT.sub("", answer)
    ours, theirs = plain_value(answer), plain_value(gold)
    if ours is None and theirs is not None and _CHAIN.fullmatch(answer):
        # "2^{20} = 1,048,576" comes to its last value.
        last = plain_value(answer.rpartition("=")[2])
        if last is not None and compare_plain(last, theirs)[0] is Decision.CORRECT:
            return Decision.CORRECT, "number"
    if ours is not None and theirs is not None:
        decision, rule = compare_plain(ours, theirs)
        if decision is not Decision.UNDECIDED or rule != "brackets_differ":
            return decision, rule
    if len({_SPACE.sub("", _TEXT_COMMAND.sub(r"\1", text)) for text in (answer, gold)}) == 1:
        return Decision.CORRECT, "same_text"
    if not _is_read(answer) or not _is_read(gold):
        return Decision.UNDECIDED, "not_read"
    units = [match[1].lower().rstrip("s") for text in (answer, gold) if (match := _TRAILING_UNIT.search(text))]
    if len(set(units)) > 1:
        return Decision.UNDECIDED, "units_differ"
    named = {len(set(_NAMED.findall(text))) > 1 for text in (answer, gold)}
    if len(named) > 1 and any("\\{" in text for text in (answer, gold)):
        return Decision.UNDECIDED, "names_on_one_side"  # x = 1, y = 2 is more than {1, 2}
    if maths is None:
        return Decision.UNDECIDED, NEEDS_MATHS
    are_equal = maths.are_equal(_for_comparer(gold, theirs), _for_comparer(answer, ours))
    if are_equal is None:
        return Decision.UNDECIDED, "not_comparable"
    if are_equal and _FORM.search(question[-2_000:]) and len(set(map(_written_form, (answer, gold)))) > 1:
        return Decision.UNDECIDED, "form_asked"
    return (Decision.CORRECT if are_equal else Decision.INCORRECT), "math_verify"


@dataclass(frozen=True)
class MathsReader(Reader):
    """A mathematical ground truth, and who compares what is not plain."""

    gold: str
    asked: str
    maths: MathsComparer | None
    kind = "expression"

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """The mathematics that the piece states, compared; behind a firm cue what cannot be read is still an answer."""
        part = None if piece.rstrip().endswith("?") else stated_maths(piece, firm=firm)
        if part is None:
            return Reading(Decision.UNDECIDED, 0, len(piece), "not_read") if firm and piece.strip() else None
        reading = self._compared(part)
        if not firm and reading.decision is Decision.INCORRECT and not _CONCLUDES.search(piece, 0, part.start):
            # No cue says that this is the answer: another value in the closing words may be a step.
            return reading.left_open("not_stated")
        return reading

    def _compared(self, part: Part) -> Reading:
        decision, rule = compare_maths(part.text, self.gold, self.asked, self.maths)
        return Reading(decision, part.start, part.end, rule)

    def read_whole(self, text: str) -> Reading | None:
        """A response that is nothing but its mathematics, over however many lines, or ends in boxes side by side."""
        boxes = joined_boxes(text) if text.count("\\boxed") > 1 else None
        if boxes is not None and not text[boxes.end :].strip(" \n$.)]\\"):
            return self._compared(boxes)
        runs = _runs(text) if "\n" in text.strip() and len(text) <= _WORKED * 2 else []
        is_all = len(runs) == 1 and len(text.split()) <= _FEW_WORDS + len(runs[0].text.split())
        return self._compared(runs[0]) if is_all else None

    def is_other(self, text: str, place: int) -> bool:
        """Any further mathematics: whether it is equal is not asked again."""
        return text[place : place + 1] in {"$", "\\"} or text[place : place + 1].isdigit()
