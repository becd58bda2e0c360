"""What a question asks for, as far as its wording tells."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from mixseek.matching.short_text_lexicon import CARDINALS, FUNCTION_WORDS
from mixseek.matching.short_text_words import Words

_LONGEST_READ: Final = 2_000


class Asked(StrEnum):
    """The kind of thing that would answer the question."""

    PERSON = "person"
    TIME = "time"
    QUANTITY = "quantity"
    PLACE = "place"
    THING = "thing"
    REASON = "reason"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Question:
    """The question's words, and what they say about its answers."""

    asked: Asked
    words: frozenset[str]
    detail: int  # how many content words pin the answer down
    wanted_items: int  # 1 unless several are asked for; 2 for a plural without a number
    is_list: bool  # all of them are asked for
    is_open: bool  # any of several answers will do ("name some", "one of")
    is_choice: bool  # the question names its own answers ("X or Y")
    is_dated: bool  # the right answer changes with the day of asking ("current", "last year")


# All patterns are applied to lower case. Between "which" and its noun stand no verbs: "which town was the painter".
_ADJECTIVES: Final = r"(?:(?!(?:is|was|are|were|did|does|do|has|had|have|the|of|in|to)\b)[\w'-]+ )"
_QUANTITY: Final = re.compile(
    r"\bhow (?:many|much|old|long|tall|far|big|large|high|deep|fast|heavy|often|wide)\b"
    r"|\b(?:number|percentage|percent|amount) of\b|\bwhat (?:percent|percentage|number|age)\b"
    r"|\b(?:most|highest|fewest) \w+ (?:points|goals|runs)\b"
)
_TIME: Final = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:\w+ )?(?:year|date|day|month|decade|century|time|season)\b|\b(?:release|air) date\b"
)
_PERSON: Final = re.compile(r"\b(?:who|whom|whose)\b")
_PERSON_NOUN: Final = re.compile(
    rf"\b(?:which|what)(?:'s)? {_ADJECTIVES}{{0,3}}?(?:actor|actress|singer|president|author|writer|poet|player|king"
    r"|queen|man|woman|person|artist|composer|director|footballer|politician|character|scientist|philosopher|explorer"
    r"|comedian|novelist|painter|monarch|emperor|golfer|boxer|chef|minister|musician|driver|presenter|inventor|architect|leader"
    r"|general|cricketer|dramatist|playwright|detective|goddess|god|saint|pope|film star|star)\b"
)
_PLACE: Final = re.compile(
    rf"\bwhere\b|\b(?:which|what) {_ADJECTIVES}{{0,2}}?(?:country|city|state|town|county|continent|river|island|place"
    r"|capital|ocean|sea|mountain|lake|nation|region|village|area|venue|stadium|street|port|location)\b"
)
# A place that is asked for by one of its names is not asked for as a place.
_NAMING: Final = re.compile(r"\b(?:known as|called|named?|nickname|means?|stand for)\b")
_WHICH: Final = re.compile(r"\b(?:which|what)\b")
_MANNER: Final = re.compile(r"\b(?:why|how)\b")
_UNSPACED_ASKED: Final = (
    (re.compile("誰|だれ|谁|哪位"), Asked.PERSON),
    (re.compile("いつ|何年|何月|何日|什么时候|哪一年|哪年|何时"), Asked.TIME),
    (re.compile("どこ|哪里|哪儿|哪个国家|哪座城市"), Asked.PLACE),
    (re.compile("いくつ|何人|何個|何回|いくら|多少|几个|几次"), Asked.QUANTITY),
)
_SEVERAL: Final = re.compile(
    r"\b(?:what|which|name|list|who)\b(?: (?:are|were|is))?(?: the| all)?(?: \w+){0,2}?"
    r" (?P<count>two|three|four|five|six|seven|eight|nine|ten|\d{1,2})\b"
)
_PLURAL: Final = re.compile(
    r"\b(?:what|which|who|where) (?:are|were)\b|\bwhat \w+s (?:did|do|are|were|have|has)\b|^list\b|\btypes of\b"
)
_LIST: Final = re.compile(r"^list\b|\blist$|\blist (?:the|all)\b|\ball the\b")
_OPEN: Final = re.compile(
    r"\b(?:some|examples?|one of|list of|types? of|kinds? of|name an?|any|such as|ways?"
    r"|who (?:all )?(?:dies|died|stars?|starred|lives|lived) (?:in|at|on))\b"
)
_CHOICE: Final = re.compile(r"\bor\b|それとも|还是")
_DATED: Final = re.compile(
    r"\b(?:current|currently|now|latest|newest|next|present|recent|recently|today|upcoming|so far|going to|coming out"
    r"|(?:last|this|past) (?:year|season|week|month|night|summer|winter|time|episode)s?|the new|is new)\b"
)
# Won every year, or every four: without a year in the question the right answer changes.
_RECURRING: Final = re.compile(
    r"\b(?:won|wins?|winners?|champions?|mvp|of the year|hosts?|hosted|super bowl|world cup|award)\b"
)


@lru_cache(maxsize=2048)
def read_question(text: str) -> Question:
    """An empty question asks for OTHER, with no detail."""
    text = text[:_LONGEST_READ]
    words = frozenset(Words(text).text)
    lower = text.lower()
    return Question(
        asked=_asked(lower),
        words=words,
        detail=len(words - FUNCTION_WORDS),
        wanted_items=_wanted_items(lower),
        is_list=bool(_LIST.search(lower)),
        is_open=bool(_OPEN.search(lower)),
        is_choice=bool(_CHOICE.search(lower)),
        is_dated=bool(_DATED.search(lower)) or (bool(_RECURRING.search(lower)) and not any(map(str.isdigit, lower))),
    )


def _wanted_items(text: str) -> int:
    several = _SEVERAL.search(text)
    if several:
        count = several["count"]
        return max(1, CARDINALS[count] if count in CARDINALS else int(count))
    return 2 if _PLURAL.search(text) else 1


def _asked(text: str) -> Asked:
    """The interrogative decides; where there are several, the one that opens the question, else which/what."""
    if not text.isascii():
        for pattern, asked in _UNSPACED_ASKED:
            if pattern.search(text):
                return asked
    if _QUANTITY.search(text):
        return Asked.QUANTITY
    which = _WHICH.search(text)
    if which is None:
        return _asked_without_which(text)
    if _PERSON_NOUN.search(text):
        return Asked.PERSON
    opening = text.lstrip(" \"'")
    if _TIME.search(text, which.start(), which.start() + 30):
        return Asked.TIME
    is_place = not _NAMING.search(text) and _PLACE.search(text, which.start(), which.start() + 40)
    if is_place or opening.startswith("where"):
        return Asked.PLACE
    return Asked.PERSON if opening.startswith("who") else Asked.THING


def _asked_without_which(text: str) -> Asked:
    opening = text.lstrip(" \"'")
    is_person = _PERSON.search(text)
    if opening.startswith("when ") or (not is_person and _TIME.search(text)):
        return Asked.TIME
    if opening.startswith("where") or (not is_person and _PLACE.search(text)):
        return Asked.PLACE
    if is_person:
        return Asked.PERSON
    return Asked.REASON if _MANNER.search(text) else Asked.OTHER
