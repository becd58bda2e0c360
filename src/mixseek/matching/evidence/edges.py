"""Whether a quote ends where the response goes on to say something else: "ready" out of "!ready", "can" out of "can't".
Only what touches it is looked at: a judge may quote half a sentence, but not leave its sign or its "not" behind."""

import re
import unicodedata

from mixseek.matching.evidence.folding import CJK
from mixseek.matching.phrases import Phrases

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
    """The context without what is not seen or only emphasises."""
    return "".join(
        character for character in context if character not in _EMPHASIS and unicodedata.category(character) != "Cf"
    )


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
