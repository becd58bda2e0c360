"""Whether the words around a value leave it open: alternatives, ranges, inequalities, negations, questions.

Asked only of a value that equals the ground truth, so it can take a "correct" back and never make one. The last word
before a verdict, for every kind of answer: seed 001 calls an ambiguous answer incorrect.
"""

import re
from collections.abc import Callable

# Says whether at a place of the response a value of the same kind begins that is not the ground truth.
OtherValue = Callable[[int], bool]

_BEFORE = 80
_BEHIND = 120
# Where the clause of a value begins: an objection before it is not about the value.
_CLAUSE_START = re.compile(
    r"</?[a-z_]+>|(?<!\bc)(?<!\bca)(?<!\bapprox)[.!?](?=\s)|[;。!?\n]|,(?!\s*(?:or|and|but|maybe|perhaps|possibly)\b)|:(?!\s*$)"
)
# Markup, quotes and brackets that stand around a value, LaTeX included.
_MARKUP = r"(?:[\s*_\"'`()\[\]{}$:]|\\(?:boxed|fbox|text|mathrm|mathbf|textbf|left|right|quad|[,;!()\[\] ]))*"
_NOT_QUITE = (
    r"(?:anything|everything|nothing|all|any(?:one|where|body)?|every\w*) (?:but|except(?: for)?|besides)|far from"
    r"|nowhere near|(?:other|rather|less|more|greater|larger|bigger|smaller|fewer|lower|higher|better|worse) than"
    r"|instead of|except(?: for)?|(?:only )?(?:partly|partially|somewhat|mostly|largely|sometimes|questionably"
    r"|rarely|seldom)|not (?:entirely|fully|quite|exactly|really)"
    r"|half|sort of|kind of|more or less|neither|nor|rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)|used to be"
    r"|by no means|in no way|no way (?:that )?(?:it|the answer) (?:is|could be|can be)|不一定(?:是)?"
    r"|未必(?:是)?|并不(?:是)?"
)
_NEGATION = r"not|\w+n't|never|hardly|scarcely|barely|neither|nor|no longer|cannot be|without|isnt"
_AMOUNT = (
    r"at (?:least|most)|up to|over|under|above|below|beyond|exceed(?:s|ing)?|around|roughly|nearly|almost|close to"
    r"|some(?:where|thing) (?:like|near|around|in)|near|not? (?:more|less|fewer|greater) than|between|from|before|after"
    r"|about|approximately|approx\.?|circa|c\.|ca\b\.?|since|until|as (?:many|much|few|little) as|upwards? of"
    r"|a minimum of|a maximum of|in the (?:range|neighbou?rhood|vicinity|region|ballpark) of|on the order of"
    r"|(?:north|south|short|shy) of"
)
_AMOUNT_SIGN = (
    r"[~≈<>≤≥≠±∼]=?|!=|\\(?:leq?|geq?|lt|gt|neq?|approx|sim|pm|leqslant|geqslant)(?![a-z])|大于|小于|多于|少于|超过"
    r"|超過|不到|至少"
    r"|最多|至多|大约|大約|大概|接近|将近|约|約|およそ|おおよそ|ほぼ|だいたい|少なくとも|せいぜい|最大|最低|介于"
    r"|不足|不超过|不少于|不等于"
)
_UNSURE = (
    r"maybe|perhaps|possibly|either|might be|could be|may be|could also be|(?:some|others)(?: people)? (?:say|think"
    r"|believe)"
    r"|也许是?|或许是?|可能是|或是|要么是?|たぶん|おそらく"
)
_DENIED = re.compile(rf"(?:\b(?:{_NOT_QUITE})|(?:不一定是?|未必是?))\W*(?:an?|the)?{_MARKUP}$")
_NEGATED = re.compile(
    rf"\b(?:{_NEGATION})\b\s*(?:(?:be|the|an?|option|choice|answer|equal|to|necessarily)\s+)*{_MARKUP}$"
)
_NEITHER = re.compile(r"\bneither\b.*\bnor\b")
_BOUNDED = re.compile(rf"(?:\b(?:{_AMOUNT})|{_AMOUNT_SIGN})\s*(?:the year |year )?{_MARKUP}[€£¥]?\s*$")
_GUESSED = re.compile(rf"(?:\b|(?<=[は是]))(?:{_UNSURE})\s*(?:the |an? |option )?{_MARKUP}$")
# A value before this one, joined to it by a word that offers both.
_JOINED_BEFORE = re.compile(
    r"(?:\b(?:or|and|vs\.?|versus|and/or|or rather|or maybe|or perhaps|or possibly|or even)|[/&]|或者?|还是|還是"
    r"|または|もしくは"
    rf"|あるいは|[和与]){_MARKUP}$"
)
# A whole answer that only says what the place is near to.
_NEARBY = re.compile(
    r"\W*(?:just )?(?:near|outside(?: of)?|close to|next to|(?:north|south|east|west) of)\s+(?:the )?\W*"
)
# Behind a value. Words that lead to another one of its kind: the gap may hold nothing else.
_LEAD_ON = (
    r"(?:or|and|but|maybe|perhaps|possibly|it|could|might|may|also|be|even|is|no|nope|i mean|rather|then again|wait"
    r"|if not"
    r"|alternatively|vs\.?|versus|option|choice|the|an?|answer|equally|well|as well as|otherwise|else|actually|sorry)"
)
_UNSPACED_LEAD_ON = r"(?:或者?|还是|還是|也可能是?|也许是?|和|与|または|もしくは|あるいは|とも|か|や|と|いや|いえ|も)"
_GAP = re.compile(
    rf"(?:[\s*_\"'`()\[\]{{}}$.,;:!?…/&+|\\-]|\\(?:boxed|fbox|text|quad)|\b{_LEAD_ON}\b|{_UNSPACED_LEAD_ON})*"
)
_OFFERS = re.compile(
    r"\b(?:or|maybe|perhaps|possibly|could|might|may|also|no|nope|i mean|rather|then again|alternatively|vs|versus"
    r"|if not"
    r"|and|as well as|actually|wait|sorry)\b|[/&?+]|或|还是|還是|也可能|也许|和|与|または|もしくは|あるいは|か|や|と"
    r"|いや|いえ"
)
# Free text is full of joints that offer nothing ("Kygo and Selena Gomez", "5% or 0.05"): only these leave a name open.
_TEXT_OFFERS = re.compile(
    r"\b(?:maybe|perhaps|possibly|nope|i mean|or rather|then again|alternatively|if not|wait|sorry|vs|versus)\b"
    r"|,\s*no\b"
    r"|[.!?]\s*(?:no|actually|or)\b|^[\"']?\s?/|[?;|]|或|还是|還是|也可能|也许|または|もしくは|あるいは|か|いや|いえ"
)
_WORD = re.compile(r"\w+")
_FIGURES = re.compile(r"\d{1,4}(?:[-/.:]\d{1,4}){1,2}")
_YEAR = re.compile(r"[12]\d{3}")
_PLAIN_OR = re.compile(r"\bor\b")
# Behind a verb the "or" is the subject's: "the stick or prod is called a goad".
_OR_BEFORE = re.compile(r"\bor\b(?:(?!\b(?:is|was|are|were|called|named|known)\b|[):]).)*$")
_LISTED = re.compile(r"[\s\"']*[,;|][\s,;|\"']*")
# Two boxes side by side, or two tags with an "or": one answer each.
_BOX_BEFORE = re.compile(r"\\boxed\{([^{}]*)\}[\s$,;.]*(?:\\text\{\s*(?:or|and)\s*\}|or|and)?[\s$,]*\\boxed\{[\s$]*$")
_TAG_BEFORE = re.compile(r"(?:\bor|[/,])\s*<(?:final_?)?answer>\s*$")
# "But C is also correct": another option is called right as well.
_ALSO_RIGHT = re.compile(
    r"[\s\W]*(?:(?:but|and|though|although|however),?\s+)?[(\[*\"']*(?=[a-z][)\]*\"']*\s+"
    r"(?:is|could be|may be|might be|would be|can be)\s+(?:(?:also|equally|just as)\s+)?(?:correct|right|possible"
    r"|valid)\b)"
)
# Up to here a response is a name with a few words around it.
_NAME_ALONE = 80
_UNIT = re.compile(r"(?:\s*(?:%|°|[a-z]+)){1,2}(?=[\s,;(.]*\b(?:or|maybe|perhaps|possibly|to|alternatively)\b)")
_RANGE = re.compile(
    r"\s*(?:-|to\b|~|through\b|until\b|〜|~|から|到|至|\\(?:text\{\s*)?(?:to|sim)\b)\s*[$€£¥*(]*\s*(?=\d)"
)
_OPEN_AMOUNT = re.compile(
    r"\s*(?:%|[a-z]{1,12})?[\s,(]*(?:or|and) (?:more|less|fewer|greater|higher|lower|above|below|over|under|so"
    r"|thereabouts|"
    r"older|younger|later|earlier|longer|shorter|up|beyond)\b(?! (?:precisely|exactly|accurately|simply|specifically"
    r"|than))"
    r"|\+(?!\s*[\d(a-z\\])|-?ish\b|\s*(?:±|\\pm|[>≤≥≠]|<[=\s]|\\(?:leq?|geq?|lt|gt)(?![a-z]))"
    r"|(?:\s*[a-z]{1,12})?[\s,]*(?:at (?:the (?:very )?)?(?:least|most|earliest|latest)|give or take"
    r"|minimum\b|maximum\b|max\b|tops\b|plus\b(?!\s*[\d(a-z\\]))"
    r"|\s*[a-z%人個円元点分度]{0,3}(?:以上|以下|以内|以外|未満|未滿|くらい|ぐらい|程度|前後|ほど|より|左右|上下"
    r"|多[个個]?|来[个個]|几|幾|之间|之間|之内|かもしれ|強|弱|余|を(?:超|越|上回|下回)|に満た)"
)
_UNSURE_BEHIND = re.compile(
    r"[^。.!?\n,]{0,6}(?:かもしれ|以外|ではな|じゃな|でな[いく])|[^。.!?\n,]{0,4}(?:吗|嗎|么\?)"
)
# A polarity that is not quite given: はいとも言えない, はいでもありいいえでもある, "valid in some cases".
_POLARITY_IN_PART = re.compile(
    r"とも|でもあ|でもな|とは限|と(?:は)?(?:言|い)(?:い切れ|えなくも)"
    r"|\s+(?:only\s+)?(?:(?:in|under|for|at) (?:some|certain|most|many|specific|particular)\b|in part\b|partly\b"
    r"|sometimes\b|to (?:some|an|a certain) (?:extent|degree)|up to a point)"
)
_AS_LIKELY = re.compile(
    r"\b(?:equally|just as|every bit as|no less) (?:plausible|likely|possible|probable|valid|good)\b"
)
_ASKED = re.compile(r"[\s*_\"'`)\]}$.]*(?:\\[)\]][\s.]*)?\?")
_TAKEN_BACK = re.compile(
    r"[\s*_\"'`()\]}$,.!;-]*(?:no,? wait\b|not (?:sure|certain)\b|wait,? no\b|or is it\b|or not\b|not sure\b|i(?:'m"
    r"| am) not (?:sure|certain)"
    r"|but i(?:'m| am) (?:not|un)\s?(?:sure|certain)|actually,? i(?:'m| am) not|then again\b|on second thought\b)"
)
# Said anywhere in a short response, these leave all of it open; a long one may weigh first and settle then.
_SHORT_RESPONSE = 240
_NONCOMMITTAL = re.compile(
    r"\b(?:who knows|(?:hard|difficult|impossible) to (?:say|tell|know|be sure)|no idea|beats me|toss-?up|flip a coin"
    r"|(?:can't|cannot|can not|couldn't|could not) (?:say|tell|decide|be (?:sure|certain))"
    r"|(?:not|isn't|aren't) (?:entirely |completely |totally |quite |so |too |very )?(?:sure|certain|clear)"
    r"|un(?:sure|certain|clear|decided)"
    r"|(?:first|initially|originally|previously|once|always) (?:thought|believed|assumed|guessed)"
    r"|(?:my|a|wild|best) guess|i(?:'d| would)? guess|on second thoughts?|your guess"
    r"|(?:might|may|could) (?:also |well |instead |just as well )?(?:be|have been)|depend(?:s|ing) on"
    r"|up for debate|debatable|(?:many|some|most|people|others)(?: people)? (?:believe|think|say|assume|claim)"
    r"|neither (?:true|false|yes|no|valid|invalid|plausible|implausible))\b"
    r"|(?:わか|分か|判)(?:ら|りませ)|はっきりしな|断言でき|言い切れ|かもしれ|と思って(?:い)?(?:た|まし)"
    r"|でも[^。]{1,8}でも(?:な|あ)|不确定|不確定|不好说|说不准|很难说|难说|无法确定|不清楚|原以为|本来以为|起初以为|也可能|猜"
)
# A sentence that settles what was weighed before it.
_CONCLUDES = re.compile(
    r"\W*(?:so|therefore|thus|hence|then|consequently|in conclusion|(?:the|my) (?:final )?answer|finally)\b"
    r"|\W*(?:因此|所以|故|答案|综上|したがって|従って|よって|ゆえに|だから|答え|結論)"
)
# Called wrong right behind it: "(B) is tempting but wrong".
_CALLED_WRONG = re.compile(
    r"[\s*_\"'`)\]}$]*(?:,? (?:which|that))? ?(?:is|was|are|were|would be|seems?|looks?|sounds?)\b[^.,;!?\n]{0,40}?"
    r"\b(?:wrong|incorrect|mistaken|tempting|a trap|a (?:common |frequent )?mis\w+"
    r"|not (?:it|right|correct|the answer))\b"
)
_EXAMPLE_OR_NEAR = re.compile(
    r"(?:\b(?:e\.g\.|for (?:example|instance)|such as),?|\b(?:near|outside|close to|next to)) (?:the )?\W*$"
)


def leaves_open(text: str, start: int, end: int, cut: int, kind: str, is_other: OtherValue) -> bool:
    """Whether the value at [start, end) of a lower-case text is hedged, as a rule by what stands right around it."""
    if len(text.strip()) <= _SHORT_RESPONSE and _is_noncommittal(text, start, end, cut):
        return True
    begin, finish = max(0, start - _BEFORE), min(cut, end + _BEHIND)
    box = _BOX_BEFORE.search(text, begin, start)
    if _TAG_BEFORE.search(text, begin, start) or (box is not None and is_other(box.start(1))):
        return True
    for mark in _CLAUSE_START.finditer(text, begin, start):
        begin = mark.end()
    return _is_open_before(text, begin, start, end, kind, is_other) or _is_open_behind(
        text, start, end, finish, kind, is_other
    )


def _is_noncommittal(text: str, start: int, end: int, cut: int) -> bool:
    """Words of doubt outside the value itself: "unclear" may be the answer."""
    if _EXAMPLE_OR_NEAR.search(text, max(0, start - _BEFORE), start):
        return True
    begin = max(text.rfind(mark, 0, start) for mark in ".!?。\n") + 1
    if not _CONCLUDES.match(text, begin, start):
        begin = 0
    return any(mark.end() <= start or mark.start() >= end for mark in _NONCOMMITTAL.finditer(text, begin, cut))


def _is_open_before(text: str, begin: int, start: int, end: int, kind: str, is_other: OtherValue) -> bool:
    before = text[begin:start]
    if _DENIED.search(before) or _GUESSED.search(before):
        return True
    # A polarity takes its negation in, but not two of them.
    if _NEITHER.search(text, begin, end + 24) if kind == "boolean" else _NEGATED.search(before):
        return True
    if (
        kind in {"number", "expression", "text"}
        and _BOUNDED.search(before)
        and (kind != "text" or _is_bounded_year(text, before, start))
    ):
        return True
    if _YEAR.fullmatch(text, start, start + 4) and before.endswith("by "):
        return True
    if kind == "text":
        if _NEARBY.fullmatch(text, 0, start):
            return True
        return len(text.strip()) <= _NAME_ALONE and _OR_BEFORE.search(before) is not None
    joint = _JOINED_BEFORE.search(before)
    return joint is not None and _other_before(text, begin, begin + joint.start(), is_other)


def _is_bounded_year(text: str, before: str, start: int) -> bool:
    """Free text is bounded where it is a date: "after 1987"; "over Paris" is a place, "since 1988" when it began."""
    return text[start : start + 1].isdigit() and not before.rstrip().endswith(("since", "from"))


def _other_before(text: str, begin: int, end: int, is_other: OtherValue) -> bool:
    """Whether the last word before a joint is another value."""
    end = begin + len(text[begin:end].rstrip(" *_\"'`)]}$,;"))
    place = max(text.rfind(mark, begin, end) for mark in " ({[*\"'$,は是") + 1
    return begin <= max(begin, place) < end and is_other(max(begin, place))


def _is_followed_by_date(text: str, start: int, end: int, finish: int) -> bool:
    """A date in figures with another one behind it: "05/01/2021 - 05/03/2021"."""
    value = text[start:end]
    if not _FIGURES.fullmatch(value):
        return False
    shape = re.sub(r"\d+", r"\\d+", re.escape(value))
    behind = re.compile(rf"[\s*\"']*(?:[-,;/&~]|to\b|and\b|until\b)[\s*\"']*({shape})").match(text, end, finish)
    return behind is not None and behind[1] != value


def _is_open_behind(text: str, start: int, end: int, finish: int, kind: str, is_other: OtherValue) -> bool:
    # What is wrong with a polarity is part of it: "valid is wrong" is read where booleans are.
    if kind != "boolean" and _CALLED_WRONG.match(text, end, finish):
        return True
    if _ASKED.match(text, end, finish) or _TAKEN_BACK.match(text, end, finish):
        return True
    if _AS_LIKELY.search(text, end, finish):
        return True
    if (_POLARITY_IN_PART if kind == "boolean" else _UNSURE_BEHIND).match(text, end, finish):
        return True
    if kind == "option" and (also := _ALSO_RIGHT.match(text, end, finish)) is not None:
        return is_other(also.end())
    if kind == "text" and _is_followed_by_date(text, start, end, finish):
        return True
    if kind in {"number", "expression", "boolean"}:
        if _OPEN_AMOUNT.match(text, end, finish):
            return True
        span = _RANGE.match(text, end, finish)
        if span is not None and is_other(span.end()):
            return True
    place = end
    if kind == "number" and (unit := _UNIT.match(text, end, finish)) is not None:
        place = unit.end()
    gap = _GAP.match(text, place, finish)
    if gap is None:
        return False
    if kind == "text":
        offers = _TEXT_OFFERS.search(gap[0]) or (len(text.strip()) <= _NAME_ALONE and _PLAIN_OR.search(gap[0]))
        return bool(offers) and is_other(gap.end())
    is_listed = kind in {"number", "option", "boolean"} and bool(_LISTED.fullmatch(gap[0]))
    if not is_listed and not _OFFERS.search(gap[0]):
        return False
    # "Yes, or maybe no": there the word that leads on is itself a value.
    inside = [word.start() for word in _WORD.finditer(text, gap.start(), gap.end())] if kind == "boolean" else []
    return any(map(is_other, (*inside, gap.end())))
