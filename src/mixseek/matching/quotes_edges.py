"""Whether a quote ends where the response goes on to say something else: "ready" out of "!ready", "can" out of "can't".

Only what touches the quote is looked at: a judge may quote half a sentence, but not leave its sign or its "not" behind.
"""

import re
import unicodedata

from mixseek.matching.quotes_folding import CJK

# As far as anything attached may reach.
_REACH = 32

_EMPHASIS = frozenset('*`"“”„«»「」『』')

# Inside a word: "lawful" out of "unlawful". With a hyphen only what always negates: "in-house" does not.
_PREFIX = re.compile(
    r"(?<![^\W_])(?:(?:un|in|im|il|ir|dis|non|mis|anti|counter|de|a)|(?:non|un|anti|counter|dis)[-‐‑])\Z", re.IGNORECASE
)
_NOT_SIGN = re.compile(r"(?<![\w!?.,)\]])!\Z|[¬￢]\Z|(?<!\w)[~−]\Z")
# Of 1,200 quotes that real judges took from English and Japanese responses, not one begins right behind a negation.
_NOT_WORD = re.compile(
    r"(?<![^\W_])(?:not|never|no|nor|neither|cannot|without|hardly|\w{1,8}n['’]t)\s{1,3}\Z", re.IGNORECASE
)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
# 沉没 is to sink, 南非 is a country, 是非 is right and wrong.
_CJK_NOT = re.compile(r"(?:不|(?<![沉淹埋出吞覆隐隱])[没沒]有?|未|[无無]|(?<![南是東东西北中])非|勿)\Z")
# Signs and comparisons before a number; at the beginning of a line a hyphen is a bullet and > a quotation.
_SIGN = re.compile(r"(?:[^\s\w)\]]|\S[^\S\n])[-‐‑−–﹣－]\Z|[≤≥≠±≪≫＜＞]\s?\Z|(?:\S|\S[^\S\n])[<>]=?\s?\Z")
_FIRST_HALF = re.compile(r"\d[/:^~～–-]\Z")

_SUFFIX = re.compile(r"(?:n?['’]t|not|-?less(?:ly|ness)?|-free)(?![^\W_])", re.IGNORECASE)
_UNIT = re.compile(
    r"[%‰°℃℉²³⁴⁵⁶⁷⁸⁹½¼¾a-zµμ万萬億亿兆千百]|[/:^~～–-]\d|\s?[×x]\s?10|\s(?:hundred|thousand|[mbtr]+illion|dozen|per\s?cent)",
    re.IGNORECASE,
)
_CUT_UNIT = re.compile(r"\d\s?[a-zµμ]{1,6}\Z", re.IGNORECASE)
_KANA_NOT = re.compile(r"ない|ません|なかっ|なく|なけれ|ず(?!つ)|ぬ|ではな|でな|じゃな|とは限|わけではな")


def turns_at_an_edge(text: str, start: int, end: int) -> bool:
    """Whether what stands right before or behind `text[start:end]` makes another statement of it."""
    if start >= end:
        return False
    return _turns_before(_attached(text[max(0, start - _REACH) : start]), text[start]) or _turns_behind(
        text[max(start, end - _REACH) : end], _attached(text[end : end + _REACH])
    )


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
    if (first.isalnum() or first in "(_") and (_NOT_SIGN.search(left) or _NOT_WORD.search(left)):
        return True
    if _HAN.match(first):
        return _CJK_NOT.search(left) is not None
    return first.isalpha() and _PREFIX.search(left) is not None


def _turns_behind(quoted: str, right: str) -> bool:
    last = quoted[-1]
    if not right:
        return False
    if last in "!<>=":
        return right[0] == "="
    if last.isdigit():
        return _UNIT.match(right) is not None
    if re.match(f"[{CJK}]", last):
        return _KANA_NOT.match(right) is not None
    if not last.isalpha():
        return False
    if _SUFFIX.match(right):
        return True
    return right[0].isalpha() and _CUT_UNIT.search(quoted) is not None
