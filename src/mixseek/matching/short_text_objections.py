"""The gold is in the response, but is it given as the answer? Each objection is a way in which it may not be."""

import re
from typing import Final

from mixseek.matching.commitment import commits_to_words
from mixseek.matching.short_text_case import Case, Found, Rule
from mixseek.matching.short_text_gold import Asked, Kind
from mixseek.matching.short_text_lexicon import FUNCTION_WORDS, ROMAN_NUMERALS, word_set
from mixseek.matching.short_text_words import Words, is_unspaced

# A question with this many content words has one answer, so golds without a common word are names of one thing.
_DETAIL_OF_ONE_ANSWER: Final = 7
# Words around a gold in a response that is nothing but the gold.
_MOST_WORDS_AROUND: Final = 2
# Words before the gold: an answer that comes later than this is seldom the one that was asked for.
_FARTHEST_ANSWER: Final = 40

_REFUSAL_WORDS: Final = word_set("sorry not no cannot unknown unclear unable depends ai")
# All patterns but the one for sentences are applied to lower case.
_REFUSAL: Final = re.compile(
    r"\b(?:sorry|(?:could|can|did|do|does|was|were|am|is|are)(?: not|n't|not)(?: \w+){0,2}"
    r" (?:find|know|provide|determine|answer|sure|confirm|identify|able|have (?:enough|any|access|information|the))"
    r"|unknown|unclear"
    r"|not (?:clear|specified|mentioned|known|enough|sure|certain|available|possible)"
    r"|no (?:information|definitive|specific|single|official|known|clear|record|evidence)"
    r"|unable to|depends on|as an ai)\b"
    r"|わかりません|分かりません|わからない|分からない|不明|不知道|不清楚|无法|無法",
)
_DENIAL_BEFORE: Final = re.compile(
    r"(?:\b(?:not|never|neither|nor|without|except|unlike|instead of|rather than|other than|no longer|contrary to"
    r"|defeat(?:s|ed|ing)?|beat(?:s|ing)?|against|replac(?:es|ed|ing)|succeed(?:s|ed|ing))|n't)\b[^.;,]{0,20}$"
    r"|\b(?:former|formerly|previous|previously|predecessor|took over from|death of)\b[^.;,]{0,50}$"
    r"|(?:不是|并非|並非)\W{0,2}$",
)
_DENIAL_AFTER: Final = re.compile(
    r"\W{0,3}(?:(?:is|was|are|were|did|does|do|has|had|can|could|would|will)(?: not|n't)|(?:never|no longer))\b"
    r"|(?:では|じゃ|で)(?:ない|ありません|なく)",
)
_CORRECTION_AFTER: Final = re.compile(r"\b(?:wait|correction|scratch that|on second thought|i mean)\b")
_DENIAL_ANYWHERE: Final = re.compile(r"\b(?:not|no|never|incorrect|false)\b|n't\b")
_SENTENCE_END: Final = re.compile(r"""[.!?]["')\d]*\s+(?=["'(]*[A-Z])|\n""")
# A guess between two: "maybe X, maybe Y", "it may have been X, or possibly Y", 可能是X，也可能是Y.
_HEDGE: Final = re.compile(
    r"\b(?:maybe|perhaps|possibly|may have|might have|may be|might be|could be)\b|かもしれ|可能是|也许|或许"
)
_CHOICE: Final = re.compile(r"\bor\b|\bmaybe\b.*\bmaybe\b|かもしれ.*かもしれ|もしくは|あるいは|也可能|也许.*也许|或者")
_SIGN: Final = re.compile(r"(?<=\w)[+#*]+|(?<![^\s(])-(?=\d)|(?<=[A-Z])-(?!\w)")
_LONGEST_DENIAL: Final = 80

# A list of names with nothing said about them.
_LONGEST_LIST: Final = 160
_LONGEST_NAME: Final = 4
_ITEM_BREAK: Final = re.compile(r"[,;|、，\n]|\s/\s|\s(?:and|&)\s")
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_NAME_PARTICLES: Final = frozenset(
    {"of", "the", "de", "da", "del", "della", "di", "la", "van", "von", "der", "al", "bin"}
)
_ASKS_WHERE: Final = re.compile(
    r"\b(?:where|city|town|village|place|located|location|setting|birthplace)\b|どこ|哪里|哪裡"
)

_COMPASS: Final = frozenset({"new", "north", "south", "east", "west"})
# Characters that join words of an unspaced script without belonging to a name.
_UNSPACED_PARTICLES: Final = frozenset(
    "はがをにへとでものやかだ是为為在于於即叫和与與的了也就年月日市県国國省은는이가을를에의로와과도입"
)


def refusal_in(case: Case) -> re.Match[str] | None:
    """The words with which the response declines to answer."""
    lowered = case.lowered
    if case.vocabulary.isdisjoint(_REFUSAL_WORDS) and "n't" not in lowered and lowered.isascii():
        return None
    return _REFUSAL.search(lowered)


def objection_to(case: Case, found: Found) -> Rule | None:
    """The first reason not to take what was found for the answer."""
    objection = _objection_from_gold(case, found)
    if objection is not None or found.rule is Rule.EXACT_ANSWER:
        return objection
    if found.rule is Rule.COARSER_DATE:
        return Rule.COARSER_DATE
    if _is_echo(case, found):
        return Rule.ECHOED
    if _is_part_of_longer_name(case, found):
        return Rule.LONGER_NAME
    if _is_one_of_several(case, found):
        return Rule.ONE_OF_SEVERAL
    return _objection_from_context(case, found)


def _objection_from_gold(case: Case, found: Found) -> Rule | None:
    question, gold = case.question, case.gold
    if _differs_in_sign(case, found):
        return Rule.WRONG_KIND
    if _has_too_few_items(case, found):
        return Rule.TOO_FEW_ITEMS
    may_vary = question.is_open or question.wanted_items > 1
    if found.answer and found.answer.is_rival and not may_vary and question.detail < _DETAIL_OF_ONE_ANSWER:
        return Rule.RIVAL_GOLDS
    if not gold.dates:
        return None
    if _contradicts_finer_gold(case, found):
        return Rule.FINER_DATE
    if question.asked is Asked.TIME:
        if gold.has_rival_dates:
            return Rule.RIVAL_GOLDS
        if gold.kind is not Kind.DATE and not _date_at(case, found):
            return Rule.WRONG_KIND
    return None


def _differs_in_sign(case: Case, found: Found) -> bool:
    """What the folded words do not show: C++ is not C, A+ is not A-, and minus five is not five."""
    if found.answer is None:
        return False
    signs = _SIGN.findall(found.answer.written)
    if not signs and not any(word[0] == "#" or len(word) < 3 for word in found.answer.words):
        return False
    span = case.words.span(found.first, found.last)
    around = case.words.folded_source[max(0, span.start - 2) : span.end + 2]
    return _SIGN.findall(around) != signs


def _has_too_few_items(case: Case, found: Found) -> bool:
    """Several items are wanted, and the response is one of them, or names fewer than were wanted."""
    question = case.question
    is_counted = question.wanted_items > 2
    is_alone = len(case.words) - (found.last - found.first + 1) <= _MOST_WORDS_AROUND
    if (
        is_alone
        and found.rule is not Rule.ALL_ITEMS
        and (is_counted or (question.wanted_items > 1 and not question.is_open))
    ):
        return True
    if found.rule is Rule.ALL_ITEMS or len(case.gold.answers) < 2 or not (is_counted or question.is_list):
        return False
    wanted = len(case.gold.answers) if question.is_list else min(question.wanted_items, len(case.gold.answers))
    return sum(answer.padded in case.padded for answer in case.gold.answers) < wanted


def _date_at(case: Case, found: Found) -> bool:
    return any(date.first <= found.last and found.first <= date.last for date in case.dates)


def _contradicts_finer_gold(case: Case, found: Found) -> bool:
    """The response names a day or month of the gold's year, and it is not the one that a finer gold names."""
    return any(
        wanted.year == date.year and wanted.contradicts(date)
        for date in case.dates
        if date.first <= found.last and found.first <= date.last
        if not any(wanted.accepts(date) and wanted.is_as_fine_as(date) for wanted, _ in case.gold.dates)
        for wanted, _ in case.gold.dates
    )


def _is_echo(case: Case, found: Found) -> bool:
    """The gold is in the question, and the response says nothing beyond it or had to choose from it."""
    if found.answer is None or not found.answer.content <= case.question.words:
        return False
    return case.question.is_choice or case.vocabulary - FUNCTION_WORDS <= case.question.words


def _is_part_of_longer_name(case: Case, found: Found) -> bool:
    """ "Guinea" in "New Guinea", "Elizabeth" in "Elizabeth II", "京都" in "東京都"."""
    words, text = case.words, case.words.text
    before, after = found.first - 1, found.last + 1
    if before >= 0:
        if is_unspaced(text[found.first]) and is_unspaced(text[before]) and not words.gap(found.first):
            if text[before] not in _UNSPACED_PARTICLES:
                return True
        elif text[before] in _COMPASS and words.is_capitalised(before) and words.gap(found.first) == " ":
            return True
    if after < len(text):
        if is_unspaced(text[found.last]) and is_unspaced(text[after]) and not words.gap(after):
            return text[after] not in _UNSPACED_PARTICLES
        written = words.written(after)
        is_numeral = (written.isupper() and written.lower() in ROMAN_NUMERALS) or written == "Sr"
        return is_numeral and words.gap(after) == " "
    return False


def _is_one_of_several(case: Case, found: Found) -> bool:
    """One answer was asked for, and the response is a bare list of names, of which one is the gold."""
    source, question = case.words.folded_source, case.question
    if len(source) > _LONGEST_LIST or question.wanted_items > 1 or question.is_list or question.is_open:
        return False
    items = [item for part in _ITEM_BREAK.split(source) if (item := _BULLET.sub("", part).strip(" .\"'*"))]
    if len(items) < 2 or not all(_is_name(item) for item in items):
        return False
    folded = [f" {' '.join(Words(item).text)} " for item in items]
    golds = {answer.padded for answer in case.gold.answers}
    if not golds.intersection(folded):
        return False
    others = [item for item in folded if item not in golds and not any(item in gold for gold in golds)]
    if found.rule is Rule.ALL_ITEMS or question.words.issuperset(word for item in others for word in item.split()):
        return False
    # A place and the one it lies in: "Lyon, France".
    is_placed = len(items) == 2 and source.count(",") == 1 and _ASKS_WHERE.search(question.text) is not None
    return bool(others) and not is_placed


def _is_name(item: str) -> bool:
    words = item.split()
    return (
        len(words) <= _LONGEST_NAME
        and all(not word[0].islower() or word in _NAME_PARTICLES for word in words)
        and _UNSPACED_PARTICLES.isdisjoint(item)
    )


def _objection_from_context(case: Case, found: Found) -> Rule | None:
    span = case.words.span(found.first, found.last)
    before, after = case.lowered[: span.start], case.lowered[span.end :]
    refusal = refusal_in(case)
    if refusal is not None and refusal.start() < span.start:
        return Rule.HEDGED
    if (
        _DENIAL_BEFORE.search(before[-_LONGEST_DENIAL:])
        or _DENIAL_AFTER.match(after)
        or _CORRECTION_AFTER.search(after)
    ):
        return Rule.DENIED
    if not commits_to_words(case.lowered, span.start, span.end):
        return Rule.HEDGED
    if _HEDGE.search(case.lowered) and _CHOICE.search(case.lowered):
        return Rule.HEDGED
    if found.answer is not None and len(found.answer.glued) == 1:
        return Rule.IN_PASSING
    if found.first > _FARTHEST_ANSWER:
        return Rule.IN_PASSING
    if _SENTENCE_END.search(case.words.folded_source, 0, span.start):
        if _DENIAL_ANYWHERE.search(before):
            return Rule.DENIED
        if found.answer is not None and found.rule is not Rule.SAME_DATE and not found.answer.is_proper:
            return Rule.IN_PASSING
    return None
