"""Numbers as people write them: separators by context, words, percent, currency, fractions, other scripts' digits."""

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from mixseek.matching.phrases import table

# Dates written in full, in one spelling: options are often dates, and nobody repeats them in the question's form.

MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"), start=1,
    )
    for name in names.split()
}  # fmt: skip
_NAME = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"\b({_NAME})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b"
    rf"|\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_NAME})\.?,?\s+(\d{{4}})\b"
    r"|(?<!\d)(\d{4})\s?[-年/]\s?(\d{1,2})\s?[-月/]\s?(\d{1,2})(?:\s?日)?(?!\d)"
    r"|(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)",
    re.IGNORECASE,
)
_ORDERS = ("mdy", "dmy", "ymd", "mdy")  # of the three groups in each of its alternatives
# Looked for first: the pattern above is dear, and most texts hold no year.
_YEAR = re.compile(r"\d{4}")


def with_plain_dates(text: str) -> str:
    """The text with every full date as MM/DD/YYYY; for comparing, not for showing: lengths change."""
    return _DATE.sub(_plain, text) if _YEAR.search(text) else text


def _plain(match: re.Match[str]) -> str:
    order = _ORDERS[((match.lastindex or 1) - 1) // 3]
    date = dict(zip(order, filter(None, match.groups()), strict=True))
    month = MONTHS.get(date["m"].lower()) or int(date["m"])
    # Spaces: in Japanese and Chinese a date stands without them, and words are looked up between spaces.
    return f" {month:02d}/{int(date['d']):02d}/{date['y']} "


_MONTH_BEFORE = re.compile(rf"(?:{_NAME})\.?\s+$", re.IGNORECASE)
_MONTH_BEHIND = re.compile(rf"(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_NAME})\b", re.IGNORECASE)


def is_day_of_month(text: str, start: int, end: int) -> bool:
    """Whether the number at [start, end) is the day beside a month's name: "3 March", "March 3rd"."""
    if end - start > len("31"):
        return False
    before, behind = text[max(0, start - 12) : start], text[end : end + 16]
    return bool(
        _MONTH_BEFORE.search(before)
        or _MONTH_BEHIND.match(behind)
        or (before.endswith("月") and behind.startswith("日"))
        or (before.endswith("年") and behind.startswith("月"))
    )


# Digits with group or decimal separators; a sign counts only where it cannot be a dash between words or a minus sign.
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9.])(?<![A-Za-z0-9)}\]]_)(?:(?P<sign>-\s?)|(?P<minus>(?:[Mm]inus|[Nn]egative)\s+|マイナス|负|負|零下))?"
    r"(?P<currency>\\?[$€£¥₹]\s?)?(?P<sign2>-)?"
    # 70{,}000, 70,\!000 and 70\,000 are LaTeX for 70,000, and 70_000 is Python's.
    r"(?P<body>\d+(?:(?:[,.']|\{,\}|,\\!)(?=\d)\d+|(?:[ \u202f_]|\\,)(?=\d{3}(?!\d))\d{3})*"
    r"|\.\d+|(?=[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]))"
    r"(?:\s?(?P<exponent>[eE][+-]?\d{1,3})(?!\w))?"
    r"(?:\s?(?:[×x*·]|\\times|\\cdot)\s?10\s?(?:\^\s?\{?\s?(?P<power>[+-]?\d{1,3})(?!\d)\s?\}?"
    r"|(?P<raised>[⁻-]?[⁰¹²³⁴-⁹]{1,3})))?"
    r"(?:(?:[\s-]|\sand\s)(?P<over>[1-9]\d?)/(?P<under>[1-9]\d?)(?![\d/-])|\s?(?P<vulgar>[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]))?"
    r"(?:\s*[/⁄]\s*(?P<denominator>\d+)(?![\d/]))?"
    r"(?:\s?(?P<scale>百万|千万|万|萬|千|億|亿|兆|[kK]\b|(?<=\d)[MBT]\b(?!\.?[A-Z])|(?:mn|bn|tn|mil|hundred|thousand|million"
    r"|billion|trillion|dozen|lakhs?|crores?)\b)(?P<rest>\d{1,4}(?!\d))?)?"
    r"(?P<percent>\s?(?:%|per ?cent\b))?"
    # Nor the 4 of 42nd.
    r"(?!\d*(?:st|nd|rd|th)\b)"
)
# Looked for first: no number is written in figures without one.
_FIGURE = re.compile(r"[\d½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")
# "7 - 5", "x-5" and "eggs - 5" subtract; "is -5" does not.
_OPERAND = re.compile(r"[\d)\]]\s*$|\w$")
_OPERAND_WORD = re.compile(r"\w\s*$")
_UNARY = re.compile(r"(?:^|\b(?:is|be|was|to|equals?|of|at|about|or)|[=:,(*\"'≈は是])\s{0,4}[*\"'(]{0,6}$")
_SCALE_SIGNS = {
    "k": 1_000, "m": 10**6, "b": 10**9, "t": 10**12, "mn": 10**6, "mil": 10**6, "bn": 10**9, "tn": 10**12, "dozen": 12,
    "lakh": 100_000, "crore": 10_000_000, "万": 10_000, "萬": 10_000, "億": 10**8, "亿": 10**8, "兆": 10**12,
    "千": 1_000, "百万": 10**6, "千万": 10**7,
}  # fmt: skip
UNITS = {word: value for value, word in enumerate(table("words")["cardinals"].split())}
TENS = {word: value for value, word in zip(range(20, 100, 10), table("words")["tens"].split(), strict=True)}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 10**12}
_BELOW_HUNDRED = UNITS | TENS | {"fourty": 40}
_SCALES = SCALES | {"lakh": 100_000, "lakhs": 100_000, "crore": 10_000_000, "crores": 10_000_000}
_NUMBER_WORD = "|".join([*_BELOW_HUNDRED, *_SCALES])
_WORDS = re.compile(
    rf"\b(?:(?:minus|negative)\s+)?(?:an?\s+(?=(?:{'|'.join(_SCALES)})\b))?(?:{_NUMBER_WORD})(?:(?:[\s-]+(?:and\s+)?)(?:{_NUMBER_WORD}))*\b",
    re.IGNORECASE,
)
_CJK_DIGITS = dict(zip("〇零一二两兩三四五六七八九", (0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_CJK_SCALES = {"十": 10, "百": 100, "千": 1_000}
_CJK_SECTIONS = {"万": 10_000, "萬": 10_000, "億": 10**8, "亿": 10**8, "兆": 10**12}
# Not a part of 四分の一, nor the tenths of 五成; the sign is read apart.
_CJK_RUN = "[" + "".join([*_CJK_DIGITS, *_CJK_SCALES, *_CJK_SECTIONS]) + "]++"
_CJK_NUMBER = re.compile(f"(?<!分[のノ之]){_CJK_RUN}(?!分[のノ之]|[成折])")
_CJK_MINUS = re.compile("(?:负|負|マイナス|零下)$")
# 百分之四十 and 四割 are both forty percent.
_PERCENT_OF = re.compile(f"百分之({_CJK_RUN})")
_TENTHS = re.compile(f"(?<!{_CJK_RUN[:-2]})({_CJK_RUN})割")
# A single letter is a name or a variable more often than a number.
_ROMAN = re.compile(r"[IVXLC](?<=\b.)[IVXLC]{1,6}\b")
_OF_A_FRACTION = re.compile(
    r"[\s-]+(?:and an? )?(?:half|third|quarter|halves|thirds|quarters|(?:four|fif|six|seven|eigh|nin|ten)ths?|dozen)\b"
)
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "hundredth": 100, "thousandth": 1_000,
}  # fmt: skip
_ENGLISH_WORD = re.compile(r"[a-z]+")
_COUNTING = frozenset(_BELOW_HUNDRED) | frozenset(_SCALES)
_DIVIDING = frozenset(_PARTS) | frozenset(f"{part}s" for part in _PARTS)
_UNITS_OR_ONE = "|".join(["an?", *UNITS])
# "three quarters", "two and a half"; a lone "third" may be a place in a row.
_WORD_FRACTION = re.compile(
    rf"\b(?:(?P<whole>{_NUMBER_WORD})\s+and\s+)?(?P<top>{_UNITS_OR_ONE})[\s-]+(?P<bottom>{'|'.join(_PARTS)})s?\b",
    re.IGNORECASE,
)


ROMAN = {
    ten + unit: 10 * high + low
    for high, ten in enumerate(("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC", "C"))
    for low, unit in enumerate(("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"))
    if ten + unit
}


class NumberToken(NamedTuple):
    """A number in a text with every value its writing allows: 10.000 is ten, or ten thousand."""

    values: tuple[Decimal, ...]
    start: int
    end: int
    percent: bool = False
    # Without its scale: a question in thousands may be answered "70 thousand" for 70.
    unscaled: tuple[Decimal, ...] = ()
    is_money: bool = False


def read_numbers(text: str, *, words: bool = True, once: bool = False) -> list[NumberToken]:
    """All numbers in order of appearance; `once`: a writing that comes again in the same surroundings only once."""
    places = list(_NUMBER.finditer(text)) if _FIGURE.search(text) else []
    if once:
        places = list(
            {text[max(0, match.start() - 12) : match.end() + 5]: match for match in reversed(places)}.values()
        )
    tokens = [token for match in places if (token := _token(text, match)) is not None]
    if not text.isascii():
        tokens += [
            NumberToken((Decimal(share * factor),), *match.span(), percent=True)
            for pattern, factor in ((_PERCENT_OF, 1), (_TENTHS, 10))
            for match in pattern.finditer(text)
            if (share := _cjk_number(match[1])) is not None
        ]
        tokens.sort(key=lambda token: token.start)
    # Where digits are written, words count other things: "the four birds are 51 years old".
    return tokens if tokens or not words else word_numbers(text)


def _token(text: str, match: re.Match[str]) -> NumberToken | None:
    values = _values(match["body"])
    bottom = Decimal(match["denominator"] or 1)
    if not values or not bottom:
        return None
    signed = match["sign"] or match["minus"] or match["sign2"]
    negative, start = _sign(text, match) if signed else (False, match.start())
    if match["over"] or match["vulgar"]:
        values = tuple(value + _part(match) for value in values[:1])
    raised = unicodedata.normalize("NFKC", match["raised"] or "").replace("−", "-")
    if power := match["power"] or raised or (match["exponent"] or "")[1:]:
        values = tuple(value * Decimal(10) ** int(power) for value in values)
    if match["denominator"]:
        values = tuple(value / bottom for value in values)
    is_bullet = negative and match["sign"] in {"- ", "-\t"} and not text[:start].rpartition("\n")[2].strip()
    # "- 8" on a line of its own is minus eight, or eight behind a bullet.
    unscaled = values if match["scale"] or is_bullet else ()
    if match["scale"]:
        scale = match["scale"].lower()
        factor = _SCALES.get(scale) or _SCALE_SIGNS[scale.removesuffix("s")]
        values = (values[0] * factor + int(match["rest"] or 0),)
    if negative:
        values = tuple(-value for value in values)
    is_money = bool(match["currency"]) or text.startswith(_CENTS, match.end())
    return NumberToken(values, start, match.end(), bool(match["percent"]), unscaled, is_money)


# Words and signs of a currency, each under its sign; ¥ stands for two of them.
_CURRENCY_WORD = re.compile(
    r"\s?(?:(?P<dollar>(?:u\.?s\.? ?)?dollars?\b|usd\b|bucks\b)|(?P<euro>euros?\b|eur\b|€)"
    r"|(?P<pound>pounds? sterling|gbp\b|£)"
    r"|(?P<yen>yen\b|円|jpy\b)|(?P<yuan>yuan\b|元|rmb\b|cny\b)|(?P<rupee>rupees?\b|inr\b|₹))",
    re.IGNORECASE,
)
_CURRENCY_SIGNS = {"$": "dollar", "€": "euro", "£": "pound", "₹": "rupee"}


def currency_of(text: str, start: int, end: int) -> str | None:
    """The currency of the amount at [start, end), by its sign or the word behind it; None where none is named."""
    sign = next((_CURRENCY_SIGNS[mark] for mark in text[max(0, start - 2) : end] if mark in _CURRENCY_SIGNS), None)
    word = _CURRENCY_WORD.match(text, end) if sign is None else None
    return sign or (word.lastgroup if word else None)


# Spellings of units, folded to one; plural forms are written out because folding happens before any stemming.
UNIT_SPELLINGS = {word: unit for unit, words in table("units").items() for word in words.split()}
_WORD_BEHIND = re.compile(r"[\s-]{0,2}([A-Za-z]{1,12})\b")
_HOW_MANY = re.compile(r"\bhow (?:many|much) (?:more |fewer |less )?([a-z]{1,12})\b")


def unit_of(text: str, end: int) -> str | None:
    """The unit of measure behind an amount that ends there; None where another word or nothing follows."""
    word = _WORD_BEHIND.match(text, end)
    return UNIT_SPELLINGS.get(word[1].lower()) if word else None


def units_asked(question: str) -> set[str]:
    """The units in which a question asks how many: miles in "How many miles did he walk in 3 days?"."""
    return {UNIT_SPELLINGS[word] for word in _HOW_MANY.findall(question.lower()) if word in UNIT_SPELLINGS}


_CENTS = ("¢", " cent", "cent", "-cent")


def _sign(text: str, match: re.Match[str]) -> tuple[bool, int]:
    """Whether the number is negative, and where it begins: a minus between operands is no sign."""
    start = match.start()
    if match["minus"]:
        unary = match["minus"].strip().lower() != "minus" or _UNARY.search(text, max(0, start - 12), start)
        return bool(unary), start if unary else start + len(match["minus"])
    if match["sign"]:
        operand = _OPERAND_WORD if len(match["sign"]) > 1 else _OPERAND
        if operand.search(text, max(0, start - 3), start):
            return bool(match["sign2"]), start + len(match["sign"])
    return bool(match["sign"] or match["sign2"]), start


def _part(match: re.Match[str]) -> Decimal:
    """The broken part of 1 1/2 and of 1½."""
    if match["over"]:
        return Decimal(match["over"]) / Decimal(match["under"])
    top, _, bottom = unicodedata.normalize("NFKC", match["vulgar"]).partition("⁄")
    return Decimal(top) / Decimal(bottom)


_UNSEEN_SEPARATOR = re.compile(r"[ \u202f'_]|\\,")


@lru_cache(maxsize=1024)
def _values(body: str) -> tuple[Decimal, ...]:
    """What a run of digits and separators can mean, the likeliest first; nothing for 1.2.34 and the like."""
    if len(body) > 60:
        return ()
    if body.isdigit() or not body:
        return (Decimal(body or 0),)
    plain = _UNSEEN_SEPARATOR.sub("", body.replace("{,}", ",").replace(",\\!", ","))
    if "." in plain and "," in plain:
        decimal_mark, group_mark = (".", ",") if plain.rfind(".") > plain.rfind(",") else (",", ".")
        plain = plain.replace(group_mark, "").replace(decimal_mark, ".")
        return (Decimal(plain),) if plain.count(".") == 1 else ()
    mark = "." if "." in plain else ","
    groups = plain.split(mark)
    if len(groups) == 1:
        return (Decimal(plain),)
    thousands = all(len(group) == 3 for group in groups[1:]) and 1 <= len(groups[0]) <= 3 and groups[0] != "0"
    if len(groups) > 2:
        lakhs = mark == "," and len(groups[-1]) == 3 and all(len(group) == 2 for group in groups[1:-1])
        return (Decimal("".join(groups)),) if thousands or lakhs else ()
    as_decimal = Decimal(plain.replace(",", "."))
    if not thousands:
        return (as_decimal,)
    as_group = Decimal("".join(groups))
    if mark == "," and groups[1] == "000":
        return (as_group,)
    return (as_group, as_decimal) if mark == "," else (as_decimal, as_group)


_PERCENT = re.compile(r"\s?(?:%|per ?cent\b)", re.IGNORECASE)


def word_numbers(text: str) -> list[NumberToken]:
    """Numbers in words, Roman numerals, and Japanese or Chinese characters."""
    numbers: list[tuple[re.Match[str], Decimal | int | None]] = []
    # Looked for first: most texts hold none of these words, and the patterns try each of them at each place.
    words_of_text = set(_ENGLISH_WORD.findall(text.lower())) if text.isascii() else _COUNTING | _DIVIDING
    if not words_of_text.isdisjoint(_COUNTING):
        numbers += [
            (words, _spoken(words[0]))
            for words in _WORDS.finditer(text)
            # "each one", "one of them": in a sentence a lone "one" is a pronoun.
            if words[0].lower() not in _SCALES
            and (words[0].lower() != "one" or len(text) < 25)
            and not _OF_A_FRACTION.match(text, words.end())
        ]
    if not words_of_text.isdisjoint(_DIVIDING):
        numbers += [(words, _fraction(words)) for words in _WORD_FRACTION.finditer(text)]
    numbers += [(numeral, ROMAN.get(numeral[0])) for numeral in _ROMAN.finditer(text)]
    if not text.isascii():
        numbers += [(characters, _signed_cjk(text, characters)) for characters in _CJK_NUMBER.finditer(text)]
    return [
        NumberToken((Decimal(value),), *place.span(), _PERCENT.match(text, place.end()) is not None)
        for place, value in numbers
        if value is not None
    ]


def _signed_cjk(text: str, match: re.Match[str]) -> int | None:
    value = _cjk_number(match[0])
    is_negative = value is not None and _CJK_MINUS.search(text, max(0, match.start() - 4), match.start())
    return -value if value is not None and is_negative else value


def _fraction(match: re.Match[str]) -> Decimal:
    top = 1 if match["top"].lower() in {"a", "an"} else _spoken(match["top"])
    whole = _spoken(match["whole"]) if match["whole"] else 0
    return whole + Decimal(top) / Decimal(_PARTS[match["bottom"].lower()])


def _spoken(phrase: str) -> int:
    total = current = 0
    negative = False
    for word in re.split(r"[\s-]+", phrase.lower()):
        if word in {"minus", "negative"}:
            negative = True
        elif (value := _BELOW_HUNDRED.get(word)) is not None:
            # "nineteen eighty-four" is a year.
            current = current * 100 + value if 10 <= current < 100 and value >= 10 else current + value
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total += max(current, 1) * _SCALES[word]
            current = 0
    return -(total + current) if negative else total + current


def _cjk_number(text: str) -> int | None:
    if text[0] in _CJK_SECTIONS:
        return None  # the end of a number whose beginning was not read
    if _CJK_SCALES.keys().isdisjoint(text) and _CJK_SECTIONS.keys().isdisjoint(text):
        # 二〇二四 is a year in digits; a single 一 is a word more often than a number.
        is_number = len(text) > 1 or text in "二两兩三四五六七八九"
        return int("".join(str(_CJK_DIGITS[character]) for character in text)) if is_number else None
    total = section = digit = 0
    for character in text:
        if character in _CJK_DIGITS:
            digit = _CJK_DIGITS[character]
        elif (scale := _CJK_SECTIONS.get(character)) is not None:
            # 一億五千万 adds a smaller section; 三千万亿 multiplies one.
            section += digit
            total = total + section * scale if total >= scale else (total + section) * scale
            section = digit = 0
        else:
            section, digit = section + (digit or 1) * _CJK_SCALES[character], 0
    return total + section + digit


_MOST_WORDS_OF_A_NUMBER = 16


@lru_cache(maxsize=2048)  # the responses of several models to one question stand near to each other
def plain_number(text: str) -> NumberToken | None:
    """The number when the whole text is one, with currency, percent or a short unit allowed around it."""
    stripped = text.strip().rstrip(".")
    if stripped.count(" ") > _MOST_WORDS_OF_A_NUMBER:
        return None
    tokens = read_numbers(stripped)
    if len(tokens) != 1:
        return None
    rest = (stripped[: tokens[0].start] + _PERCENT.sub("", stripped[tokens[0].end :])).strip(" $€£¥%")
    return tokens[0] if not rest else None
