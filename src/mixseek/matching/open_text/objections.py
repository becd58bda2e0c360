"""The gold is in the response, but is it given as the answer? Each objection is a way in which it may not be."""

import re
from collections.abc import Sequence
from typing import Final

from mixseek.domain.judgments import Span
from mixseek.matching.commitment import commits_to_words
from mixseek.matching.numbers import currency_of, unit_of, units_asked
from mixseek.matching.open_text.dates import PartialDate
from mixseek.matching.open_text.gold import Asked, Kind
from mixseek.matching.open_text.mentions import is_only_mentioned
from mixseek.matching.open_text.rivals import is_answered_otherwise
from mixseek.matching.open_text.text_case import SHORT_RESPONSE, Case, Passage, Rule
from mixseek.matching.open_text.words import FUNCTION_WORDS, ROMAN_NUMERALS, Words, is_unspaced, stem
from mixseek.matching.phrases import Phrases

# A question with this many content words has one answer, so golds without a common word are names of one thing.
_DETAIL_OF_ONE_ANSWER: Final = 7
# Words around a gold in a response that is nothing but the gold.
_MOST_WORDS_AROUND: Final = 2
# Words before the gold: an answer that comes later than this is seldom the one that was asked for.
_FARTHEST_ANSWER: Final = 40
_SAYS = Phrases("short_text")
_SENTENCE_END: Final = re.compile(r"""[.!?]["')\d]*\s+(?=["'(]*[A-Z])|\n""")
_SIGN: Final = re.compile(r"(?<=\w)[+#*^²³]+|(?<![^\s(])-(?=\d|[a-z](?!\w))|(?<=[A-Z])-(?!\w)")
_LONGEST_DENIAL: Final = 80
# This share of the question's words in one sentence says the question again.
_MOST_OF_A_QUESTION: Final = 0.6
# So much of a word is left where it is inflected: "love" and "loved".
_WORD_STEM: Final = 4
_DENIAL_WORD: Final = re.compile(r"[a-z]+")
# "It was made in 1920. However, use did not begin until 1950": which of the two was asked for?
_NOT_UNTIL: Final = re.compile(r"\b(?:however|but|though)\b[^.]{0,120}\b(?:not|n't)\b[^.]{0,40}\buntil\b")
_JOINING: Final = frozenset({"and", "or"})
# A list of names with nothing said about them.
_LONGEST_LIST: Final = 160
_LONGEST_NAME: Final = 4
_ITEM_BREAK: Final = re.compile(r"[,;|、，\n]|\s/\s|\s(?:and|or|&)\s")
# "Candidates: …", "It could be …": what stands before names that are offered.
_LIST_HEADING: Final = re.compile(
    r"^\W*(?:[^\W\d_]+ ){0,4}?[^\W\d_]+:\s*|^\W*It (?:could|might|may) be ", re.IGNORECASE
)
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_NAME_PARTICLES: Final = {"of", "the", "de", "da", "del", "della", "di", "la", "van", "von", "der", "al", "bin"}
_WHO: Final = re.compile(r"\bwhom?\b")
_COMPASS: Final = frozenset({"new", "north", "south", "east", "west"})
# Before a word, these make another thing of it: "vice president", "non-metal", "great uncle".
_OTHER_THING: Final = frozenset({"anti", "ex", "half", "non", "pseudo", "quasi", "semi", "step", "vice"})
# Formulas are short, and what is glued to one is part of it: H2O2 is not H2O. Behind a name it is a citation mark.
_LONGEST_FORMULA: Final = 4
# Signs behind a date that make another time of it, or none: 1934年以降, 1934年代.
_OPEN_DATE: Final = frozenset("以前後后頃代左上下来多初末半中間间度")
# Characters that join words of an unspaced script without belonging to a name.
_UNSPACED_PARTICLES: Final = frozenset(
    "はがをにへとでものやかだ是为為在于於即叫和与與的了也就年月日市県国國省은는이가을를에의로와과도입"
)


def objection_to(case: Case, passage: Passage) -> Rule | None:
    """The first reason not to take what was found for the answer."""
    objection = _objection_from_gold(case, passage)
    if objection is not None or passage.rule is Rule.EXACT_ANSWER:
        return objection
    if passage.rule is Rule.COARSER_DATE:
        return Rule.COARSER_DATE
    if _is_echo(case, passage):
        return Rule.ECHOED
    is_list = passage.answer is None or ("," in passage.answer.written and passage.answer.glued[0] != "#")
    if is_list and case.gold.item_lists and _has_other_items(case, passage):
        return Rule.ONE_OF_SEVERAL
    if _is_part_of_longer_list(case, passage):
        return Rule.ONE_OF_SEVERAL
    if _is_part_of_longer_name(case, passage):
        return Rule.LONGER_NAME
    return Rule.ONE_OF_SEVERAL if _is_one_of_several(case, passage) else objection_from_context(case, passage)


def _objection_from_gold(case: Case, passage: Passage) -> Rule | None:
    question, gold = case.question, case.gold
    if _differs_in_sign(case, passage) or _differs_in_unit(case, passage):
        return Rule.WRONG_KIND
    if _has_too_few_items(case, passage):
        return Rule.TOO_FEW_ITEMS
    if not gold.dates:
        return Rule.RIVAL_GOLDS if _is_disputed(case, passage) else None
    if _contradicts_finer_gold(case, passage):
        return Rule.FINER_DATE
    if question.asked is Asked.TIME and gold.kind is not Kind.DATE and not dates_at(case, passage):
        return Rule.WRONG_KIND
    return Rule.RIVAL_GOLDS if _is_disputed(case, passage) else None


def _is_disputed(case: Case, passage: Passage) -> bool:
    """Golds name different things, and the one that was found may not be what this question asks for.

    One of several acceptable answers is acceptable. What stays open is a gold that the question names itself or a
    bare number, which may stand there for another reason; a date beside others; and an answer that the question says
    there is only one of ("the most", "the first"), on which golds that differ contradict each other, unless a whole
    sentence says the question's words again with the gold in them.
    """
    question, gold, answer = case.question, case.gold, passage.answer
    if question.is_open or question.wanted_items > 1:
        return False
    is_dated = question.asked is Asked.TIME and gold.has_rival_dates
    is_rival = answer is not None and answer.is_rival and question.detail < _DETAIL_OF_ONE_ANSWER
    if not is_rival and not is_dated:
        return False
    if answer is None or passage.rule is Rule.SAME_DATE:
        return True
    is_number = all(word[0] == "#" for word in answer.words) and question.asked is not Asked.TIME
    if is_number or answer.content <= question.words:
        return True
    return _SAYS.superlative.search(question.text) is not None and not _restates_question(case, passage)


def _restates_question(case: Case, passage: Passage) -> bool:
    """Whether the sentence around what was found says most of the question again: "The first mayor was Ada Marsh"."""
    if passage.answer is None or passage.rule is not Rule.CONTAINED:
        return False
    span = case.words.span(passage.first, passage.last)
    begin, stop = sentence_around(case, span)
    if _SAYS.one_of.search(case.lowered, begin, span.start):
        return False
    asked = {word[:_WORD_STEM] for word in case.question.words - FUNCTION_WORDS - passage.answer.content}
    repeated = asked.intersection(word[:_WORD_STEM] for word in Words(case.words.folded_source[begin:stop]).text)
    return len(repeated) >= _MOST_OF_A_QUESTION * len(asked) > 0


def sentence_around(case: Case, span: Span) -> tuple[int, int]:
    begin = 0
    for end in _SENTENCE_END.finditer(case.words.folded_source, 0, span.start):
        begin = end.end()
    stop = _SENTENCE_END.search(case.words.folded_source, span.end)
    return begin, stop.start() if stop else len(case.words.folded_source)


def _differs_in_sign(case: Case, passage: Passage) -> bool:
    """What the folded words do not show: C++ is not C, A+ is not A-, and minus five is not five."""
    if passage.answer is None:
        return False
    signs = _SIGN.findall(passage.answer.written)
    if not signs and not any(word[0] == "#" or len(word) < 3 for word in passage.answer.words):
        return False
    span = case.words.span(passage.first, passage.last)
    around = case.words.folded_source[max(0, span.start - 2) : span.end + 2]
    return _SIGN.findall(around) != signs


def _differs_in_unit(case: Case, passage: Passage) -> bool:
    """An amount in another currency than the gold's, or a bare number in another unit than the question asks for."""
    if passage.answer is None or passage.answer.words[0][0] != "#":
        return False
    source, span = case.words.folded_source, case.words.span(passage.first, passage.last)
    wanted = currency_of(passage.answer.written, 0, len(passage.answer.written))
    given = currency_of(source, span.start, span.end)
    if wanted is not None and given is not None:
        return wanted != given
    unit, asked = unit_of(source, span.end), units_asked(case.question.text)
    return len(passage.answer.words) == 1 and unit is not None and bool(asked) and unit not in asked


def _has_too_few_items(case: Case, passage: Passage) -> bool:
    """Several items are wanted, and the response is one of them, or names fewer than were wanted."""
    question, golds = case.question, case.gold.answers
    is_counted = question.wanted_items > 2
    is_alone = len(case.words) - (passage.last - passage.first + 1) <= _MOST_WORDS_AROUND
    if passage.rule is Rule.ALL_ITEMS:
        return False
    if is_alone and (is_counted or (question.wanted_items > 1 and not question.is_open)):
        return True
    if len(golds) < 2 or not (is_counted or question.is_list):
        return False
    wanted = len(golds) if question.is_list else min(question.wanted_items, len(golds))
    return sum(answer.padded in case.padded for answer in golds) < wanted


def dates_at(case: Case, passage: Passage) -> list[PartialDate]:
    return [date for date in case.dates if date.first <= passage.last and passage.first <= date.last]


def _contradicts_finer_gold(case: Case, passage: Passage) -> bool:
    """The response names a day or month of the gold's year, and it is not the one that a finer gold names."""
    golds = [wanted for wanted, _ in case.gold.dates]
    return any(
        any(wanted.year == date.year and wanted.contradicts(date) for wanted in golds)
        and not any(wanted.accepts(date) and wanted.is_as_fine_as(date) for wanted in golds)
        for date in dates_at(case, passage)
    )


def _is_echo(case: Case, passage: Passage) -> bool:
    """The gold is in the question, and the response says nothing beyond it or had to choose from it."""
    if passage.answer is None or not passage.answer.content <= case.question.words:
        return False
    return case.question.is_choice or case.vocabulary - FUNCTION_WORDS <= case.question.words


def _is_part_of_longer_name(case: Case, passage: Passage) -> bool:
    """ "Guinea" in "New Guinea", "Elizabeth" in "Elizabeth II", "京都" in "東京都"."""
    words, text = case.words, case.words.text
    before, after = passage.first - 1, passage.last + 1
    for inner, outer in ((passage.first, before), (passage.last, after)):
        is_there = 0 <= outer < len(text) and is_unspaced(text[inner]) and is_unspaced(text[outer])
        if is_there and not words.gap(max(inner, outer)) and text[outer] not in _UNSPACED_PARTICLES:
            return not (outer == after and _is_whole_date(text, passage))
    if before >= 0 and text[before] in _COMPASS and words.is_capitalised(before) and words.gap(passage.first) == " ":
        return True
    if before >= 0 and words.gap(passage.first) in {" ", "-"} and text[before] in _OTHER_THING:
        return True
    # "Prince's guitarist" is not Prince.
    if after < len(text) <= SHORT_RESPONSE and words.written(passage.last).endswith("'s"):
        return not (passage.answer and passage.answer.written.endswith("s"))
    if _is_compound(case, passage):
        return True
    written = words.written(after) if after < len(text) and words.gap(after) == " " else ""
    if passage.first < passage.last and _names_somebody_else(case, passage, written):
        return True
    return (written.isupper() and written.lower() in ROMAN_NUMERALS) or written == "Sr"


def _names_somebody_else(case: Case, passage: Passage, behind: str) -> bool:
    """Who was asked for, and the name goes on where the gold's has ended: "Martin Luther" in "Martin Luther King"."""
    is_name = passage.answer is not None and passage.answer.is_proper and behind[:1].isupper() and behind[1:].islower()
    if not is_name or not _WHO.search(case.question.text):
        return False
    return (case.question.words | case.gold.vocabulary | FUNCTION_WORDS).isdisjoint(Words(behind).text)


def _is_whole_date(text: Sequence[str], passage: Passage) -> bool:
    """1934年 in 1934年建成: the sign behind the figures ends them, unless the next one leaves them open, 1934年以降."""
    is_date = text[passage.first][0] == "#" and text[passage.last] in "年月日"
    return is_date and not "\u3040" <= text[passage.last + 1] <= "\u309f" and text[passage.last + 1] not in _OPEN_DATE


def _is_compound(case: Case, passage: Passage) -> bool:
    """Joined to another word by a hyphen, or a formula that goes on: "mother-in-law", "great-grandson", H2O2."""
    answer, words = passage.answer, case.words
    if answer is None or not answer.glued.isascii() or answer.glued[0] == "#":
        return False
    is_formula = len(answer.written) <= _LONGEST_FORMULA
    for inner, outer in ((passage.first, passage.first - 1), (passage.last + 1, passage.last + 1)):
        if 0 <= outer < len(words) and words.text[outer].isascii():
            gap = words.gap(inner)
            if (gap == "-" and answer.written.islower()) or (not gap and is_formula):
                return True
    return False


def _is_one_of_several(case: Case, passage: Passage) -> bool:
    """One answer was asked for, and the response is a bare list of names, of which one is the gold."""
    source, question = case.words.folded_source, case.question
    if len(source) > _LONGEST_LIST or question.wanted_items > 1 or question.is_list or question.is_open:
        return False
    listed = _LIST_HEADING.sub("", source)
    items = [item for part in _ITEM_BREAK.split(listed) if (item := _BULLET.sub("", part).strip(" .\"'*"))]
    if len(items) < 2 or not all(is_name(item) for item in items):
        return False
    folded = [f" {' '.join(Words(item).text)} " for item in items]
    golds = {answer.padded for answer in case.gold.answers}
    if not golds.intersection(folded):
        return False
    others = [item for item in folded if item not in golds and not any(item in gold for gold in golds)]
    if passage.rule is Rule.ALL_ITEMS or question.words.issuperset(word for item in others for word in item.split()):
        return False
    # A place and the one it lies in: "Lyon, France".
    is_placed = len(items) == 2 and source.count(",") == 1 and _SAYS.asks_where.search(question.text) is not None
    return bool(others) and not is_placed


def _is_part_of_longer_list(case: Case, passage: Passage) -> bool:
    """The response parts by commas what the gold writes without any, and the list goes on: "zebra, apple, banana"."""
    if passage.answer is None or passage.first == passage.last or "," in passage.answer.written or case.gold.dates:
        return False
    words, after = case.words, passage.last + 1
    if not any("," in words.gap(index) for index in range(passage.first + 1, after)):
        return False
    goes_on = after < len(words) and ("," in words.gap(after) or words.text[after] in _JOINING)
    return goes_on or (passage.first > 0 and "," in words.gap(passage.first))


def _has_other_items(case: Case, passage: Passage) -> bool:
    """A bare list that holds all items of the gold and others as well, or takes one of them back."""
    span = case.words.span(passage.first, passage.last)
    if _SAYS.denial_anywhere.search(case.lowered, span.start, span.end):
        return True
    items = [Words(part).text for part in _ITEM_BREAK.split(case.words.folded_source)]
    gold_words = {word for items in case.gold.item_lists for item in items for word in item.split()} | {"and"}
    is_bare = all(len(item) <= _LONGEST_NAME for item in items)
    return is_bare and any(item and gold_words.isdisjoint(item) for item in items)


def is_name(item: str) -> bool:
    words = item.split()
    return (
        len(words) <= _LONGEST_NAME
        and all(not word[0].islower() or word in _NAME_PARTICLES for word in words)
        and _UNSPACED_PARTICLES.isdisjoint(item)
    )


def objection_from_context(case: Case, passage: Passage) -> Rule | None:
    span = case.words.span(passage.first, passage.last)
    before, after = case.lowered[: span.start], case.lowered[span.end :]
    conceded = 0
    if case.refusal is not None and case.refusal.start() < span.start:
        # "As an AI I have no access to news. However, it was …": what follows is answered all the same.
        concession = _SAYS.conceded.search(case.lowered, case.refusal.end(), span.start)
        if concession is None or _SAYS.one_of.search(case.lowered, concession.end(), span.start):
            return Rule.HEDGED
        conceded = concession.end()
    if _is_denied(case, before[-_LONGEST_DENIAL:]) or _SAYS.denial_after.match(after):
        return Rule.DENIED
    if _SAYS.correction_after.search(after):
        return Rule.DENIED
    source = case.words.folded_source
    if is_only_mentioned(source, case.lowered, span, case.question):
        return Rule.ONLY_MENTIONED
    if is_answered_otherwise(source, case.lowered, span, case.question, case.gold):
        return Rule.ONLY_MENTIONED
    if case.question.asked is Asked.TIME and "until" in after and _NOT_UNTIL.search(after):
        return Rule.HEDGED
    is_choice = _SAYS.hedge.search(case.lowered) and _SAYS.choice.search(case.lowered)
    if is_choice or not commits_to_words(case.lowered, span.start, span.end):
        return Rule.HEDGED
    if passage.first > _FARTHEST_ANSWER or (passage.answer is not None and len(passage.answer.glued) == 1):
        return Rule.IN_PASSING
    ends = [end.end() for end in _SENTENCE_END.finditer(case.words.folded_source, 0, span.start)]
    if not ends:
        return None
    if _SAYS.denial_anywhere.search(before, conceded):
        return Rule.DENIED
    return None if speaks_to_question(case, passage, ends[-1]) else Rule.IN_PASSING


def _is_denied(case: Case, before: str) -> bool:
    """Words before the gold that set it aside, unless they are the question's: "the former name of", "defeated"."""
    denial = _SAYS.denial_before.search(before)
    if denial is None:
        return False
    word = _DENIAL_WORD.match(denial[0])
    return word is None or stem(word[0]) not in {stem(asked) for asked in case.question.words}


def speaks_to_question(case: Case, passage: Passage, begin: int) -> bool:
    """Whether a later sentence that holds the gold is on what was asked; a common noun may stand there by chance."""
    answer = passage.answer
    if answer is None or passage.rule is Rule.SAME_DATE or answer.is_proper or len(answer.words) > 1:
        return True
    stop = _SENTENCE_END.search(case.words.folded_source, case.words.span(passage.first, passage.last).end)
    sentence = Words(case.words.folded_source[begin : stop.start() if stop else None])
    asked = {word[:_WORD_STEM] for word in case.question.words - FUNCTION_WORDS - answer.content}
    return not asked.isdisjoint(word[:_WORD_STEM] for word in sentence.text if word not in FUNCTION_WORDS)
