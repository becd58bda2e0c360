"""What stands around an object, and what a reply without one is: a refusal, an endpoint's error, or just prose."""

import re

# Only the neighbourhood of the object is looked at, so a megabyte of prose costs nothing.
_NEAR = 80
_FENCE_BEFORE = re.compile(r"(?:`{3,}|~{3,})[ \t]*[A-Za-z0-9_+.-]{0,20}\s*\Z")
_FENCE_AFTER = re.compile(r"\s*(?:`{3,}|~{3,})")

# A refusal opens the reply; further on, the words are as likely to be about the judged response.
_OPENING_LENGTH = 400

# A quoted refusal is the judged response's.
_QUOTED = re.compile(r"「[^」]{0,200}」|『[^』]{0,200}』|“[^”]{0,200}”|\"[^\"]{0,200}\"|(?<!\w)'[^\n]{0,200}?'(?!\w)")
_I = r"(?<!\w)I"
_NOT_ABLE = r"(?:cannot|can['’]?t|can not|could ?n['’o]t|won['’]?t|will not|(?:am|['’]m) (?:unable|not able))"
_DUTIES = (
    r"(?:evaluat|judg|assess|grad|scor|rat|determin|decid|verif|provid|assist|help|compl|fulfil|answer|respond|engag"
    r"|continu|giv|offer|mak|process|perform|participat|do|say)(?:e|es|ing|y|l|ely|)\b"
)
_REFUSALS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"{_I} ?{_NOT_ABLE}\b.{{0,25}}?\b{_DUTIES}",
        rf"{_I} (?:must |have to |will )?(?:respectfully |politely )?(?:decline|refuse)\b",
        rf"(?:\A|[.!?\n] ?)(?:I(?:['’]m| am) )?(?:very |so |really )?sorry\b.{{0,40}}?{_I} ?{_NOT_ABLE}",
        rf"\bas an? (?:AI|artificial intelligence|(?:large )?language model)\b"
        rf".{{0,60}}?{_I} ?(?:{_NOT_ABLE}|do(?: not|n['’]t))",
        r"(?:申し訳|恐れ入り|恐縮|すみません|ごめん).{0,120}?(?:できません|できかね|致しかね|いたしかね|お断り|控え)",
        r"(?<!な)(?:評価|判定|採点|回答|対応|お手伝い|判断|お答え)(?:する|を行う)?(?:こと)?(?:は|が|を)?"
        r"(?:できません|できかね|いたしかね|致しかね|お断り|控えさせ)",
        r"(?:抱歉|对不起|對不起|很遗憾|很遺憾|不好意思).{0,80}?(?:无法|無法|不能|不便|拒绝|拒絕)",
        r"我(?:无法|無法|不能|不便|拒绝|拒絕).{0,20}?(?:评|評|判|打分|回答|协助|協助|提供|完成|满足|滿足|处理|處理|帮|幫)",
    )
)

_ENDPOINT_ERROR = re.compile(
    r"\A\W*(?:"
    r"(?:\w+\s?)?error(?::|\b.{0,60}?\b[1-5]\d\d\b)"
    r"|(?:http[/ ]?\S{0,4} ?)?[45]\d\d\b.{0,40}?"
    r"(?:error|too many|bad|gateway|unavailable|timeout|forbidden|unauthorized|not found)"
    r"|(?:request|connection) (?:failed|error|reset|refused|timed out|aborted)"
    r"|(?:read )?time(?:d )?-?out\b|rate.?limit|too many requests"
    r"|service (?:temporarily )?unavailable|internal server error|bad gateway"
    r"|traceback \(|<!doctype html|<html)",
    re.IGNORECASE,
)

# Python's or JavaScript's notation, or JSON in full-width marks. Reading them would be guessing at what was meant.
_LOOKALIKE = re.compile(
    r"\A(?:(?:`{3,}|~{3,})[^\n]{0,20}\n)?\s*[{｛]\s*"
    r"(?:'[^'\n]{1,100}'\s*:|[A-Za-z_]\w{0,100}\s*:|[“”＂「『‘][^\n]{0,100}[“”＂」』’]\s*[:：]|\"[^\"\n]{0,100}\"\s*[：，])"
    r"|\A\s*｛"
)


def without_fence_before(prefix: str) -> tuple[str, bool]:
    """The text before an object without the opening fence that it ends with, and whether there was one."""
    found = _FENCE_BEFORE.search(prefix[-_NEAR:])
    if found is None:
        return prefix, False
    return prefix[: len(prefix) - len(found[0])], True


def without_fence_after(suffix: str) -> tuple[str, bool]:
    """The text after an object without the closing fence that it begins with, and whether there was one."""
    found = _FENCE_AFTER.match(suffix[:_NEAR])
    return (suffix[found.end() :], True) if found else (suffix, False)


def is_refusal(text: str) -> bool:
    """The judge declines, in English, Japanese or Chinese."""
    opening = _QUOTED.sub("", text.strip().strip('"“”「」')[:_OPENING_LENGTH])
    return any(pattern.search(opening) for pattern in _REFUSALS)


def is_endpoint_error(text: str) -> bool:
    """An HTTP client's complaint or an error page that was stored where a reply should be."""
    return _ENDPOINT_ERROR.match(text.strip()[:_OPENING_LENGTH]) is not None


def is_lookalike(text: str) -> bool:
    """Begins like an object whose keys or marks are not JSON's."""
    return _LOOKALIKE.match(text[:_OPENING_LENGTH]) is not None
