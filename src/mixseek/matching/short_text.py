"""Compare a free-text answer with the names, places, titles or short phrases that would be right.

Few rules, each held against human judgments (`docs/decisions/0004-what-the-rules-may-decide.md`). No rule can see that
a gold is wrong or that another answer is as good; so another name than the gold's decides nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Final

from mixseek.domain.judgments import Span
from mixseek.matching.choice import commits_to_words
from mixseek.matching.gold import (
    FILLER_WORDS,
    FUNCTION_WORDS,
    ROMAN_NUMERALS,
    Asked,
    Gold,
    GoldAnswer,
    Kind,
    PartialDate,
    Question,
    Words,
    dates_in,
    is_unspaced,
    prepare_gold,
    read_question,
    relation_keys,
    stem,
)
from mixseek.matching.mentions import is_only_mentioned
from mixseek.matching.numbers import currency_of, unit_of, units_asked
from mixseek.matching.rivals import is_answered_otherwise
from mixseek.matching.statements import Comparison, Decision
from mixseek.matching.visible import Phrases

# One comparison in progress: what is compared, what was found, and the names of the rules that may decide it.


class Rule(StrEnum):
    """Every reason the short-text comparer gives."""

    # Correct: the gold is in the response, said in one of these ways.
    EXACT_ANSWER = "exact_answer"
    CONTAINED = "contained"
    SAME_DATE = "same_date"
    INFLECTED = "inflected"
    ALL_ITEMS = "all_items"

    # Incorrect: the response answers with nothing, or with something that leaves no room for the gold.
    NO_ANSWER = "no_answer"
    REFUSAL = "refusal"
    NONE_OF_THE_NAMES = "none_of_the_names"
    OTHER_NUMBER = "other_number"
    OTHER_DATE = "other_date"
    NO_DATE = "no_date"
    MISSING_ITEM = "missing_item"

    # Undecided: the gold is there, but is it meant?
    DENIED = "denied"
    HEDGED = "hedged"
    ECHOED = "echoed"
    LONGER_NAME = "longer_name"
    RIVAL_GOLDS = "rival_golds"
    TOO_FEW_ITEMS = "too_few_items"
    WRONG_KIND = "wrong_kind"
    FINER_DATE = "finer_date"
    COARSER_DATE = "coarser_date"
    IN_PASSING = "in_passing"
    ONE_OF_SEVERAL = "one_of_several"
    ONLY_MENTIONED = "only_mentioned"
    # Undecided: no rule speaks.
    NO_RULE = "no_rule"


@dataclass(frozen=True, slots=True)
class Found:
    """A rule that holds for the words from `first` to `last` of the response, both included."""

    rule: Rule
    first: int
    last: int
    answer: GoldAnswer | None = None


class Case:
    """The response, the golds and the question as folded words."""

    def __init__(self, response: str, gold: Gold, question: Question, is_cut: bool) -> None:
        self.words = Words(response)
        self.gold = gold
        self.question = question
        self.is_cut = is_cut  # only a part of the response was read, so nothing can be said about what is not in it
        self.padded = f" {' '.join(self.words.text)} "
        self.vocabulary = frozenset(self.words.text)
        self.lowered = self.words.folded_source.lower()  # with the same offsets

    @cached_property
    def dates(self) -> tuple[PartialDate, ...]:
        return tuple(dates_in(self.words))

    @cached_property
    def refusal(self) -> re.Match[str] | None:
        """The words with which the response declines to answer."""
        return _SAYS.refusal.search(self.lowered)

    def places_of(self, padded: str) -> Iterator[int]:
        """The index of the first word of each occurrence of padded words."""
        at = self.padded.find(padded)
        while at >= 0:
            yield self.padded.count(" ", 0, at)
            # The closing space of one occurrence may open the next.
            at = self.padded.find(padded, at + len(padded) - 1)


# The gold is in the response, but is it given as the answer? Each objection is a way in which it may not be.

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


def objection_to(case: Case, found: Found) -> Rule | None:
    """The first reason not to take what was found for the answer."""
    objection = _objection_from_gold(case, found)
    if objection is not None or found.rule is Rule.EXACT_ANSWER:
        return objection
    if found.rule is Rule.COARSER_DATE:
        return Rule.COARSER_DATE
    if _is_echo(case, found):
        return Rule.ECHOED
    is_list = found.answer is None or ("," in found.answer.written and found.answer.glued[0] != "#")
    if is_list and case.gold.item_lists and _has_other_items(case, found):
        return Rule.ONE_OF_SEVERAL
    if _is_part_of_longer_list(case, found):
        return Rule.ONE_OF_SEVERAL
    if _is_part_of_longer_name(case, found):
        return Rule.LONGER_NAME
    return Rule.ONE_OF_SEVERAL if _is_one_of_several(case, found) else _objection_from_context(case, found)


def _objection_from_gold(case: Case, found: Found) -> Rule | None:
    question, gold = case.question, case.gold
    if _differs_in_sign(case, found) or _differs_in_unit(case, found):
        return Rule.WRONG_KIND
    if _has_too_few_items(case, found):
        return Rule.TOO_FEW_ITEMS
    if not gold.dates:
        return Rule.RIVAL_GOLDS if _is_disputed(case, found) else None
    if _contradicts_finer_gold(case, found):
        return Rule.FINER_DATE
    if question.asked is Asked.TIME and gold.kind is not Kind.DATE and not _dates_at(case, found):
        return Rule.WRONG_KIND
    return Rule.RIVAL_GOLDS if _is_disputed(case, found) else None


def _is_disputed(case: Case, found: Found) -> bool:
    """Golds name different things, and the one that was found may not be what this question asks for.

    One of several acceptable answers is acceptable. What stays open is a gold that the question names itself or a
    bare number, which may stand there for another reason; a date beside others; and an answer that the question says
    there is only one of ("the most", "the first"), on which golds that differ contradict each other, unless a whole
    sentence says the question's words again with the gold in them.
    """
    question, gold, answer = case.question, case.gold, found.answer
    if question.is_open or question.wanted_items > 1:
        return False
    is_dated = question.asked is Asked.TIME and gold.has_rival_dates
    is_rival = answer is not None and answer.is_rival and question.detail < _DETAIL_OF_ONE_ANSWER
    if not is_rival and not is_dated:
        return False
    if answer is None or found.rule is Rule.SAME_DATE:
        return True
    is_number = all(word[0] == "#" for word in answer.words) and question.asked is not Asked.TIME
    if is_number or answer.content <= question.words:
        return True
    return _SAYS.superlative.search(question.text) is not None and not _restates_question(case, found)


def _restates_question(case: Case, found: Found) -> bool:
    """Whether the sentence around what was found says most of the question again: "The first mayor was Ada Marsh"."""
    if found.answer is None or found.rule is not Rule.CONTAINED:
        return False
    span = case.words.span(found.first, found.last)
    begin, stop = _sentence_around(case, span)
    if _SAYS.one_of.search(case.lowered, begin, span.start):
        return False
    asked = {word[:_WORD_STEM] for word in case.question.words - FUNCTION_WORDS - found.answer.content}
    repeated = asked.intersection(word[:_WORD_STEM] for word in Words(case.words.folded_source[begin:stop]).text)
    return len(repeated) >= _MOST_OF_A_QUESTION * len(asked) > 0


def _sentence_around(case: Case, span: Span) -> tuple[int, int]:
    begin = 0
    for end in _SENTENCE_END.finditer(case.words.folded_source, 0, span.start):
        begin = end.end()
    stop = _SENTENCE_END.search(case.words.folded_source, span.end)
    return begin, stop.start() if stop else len(case.words.folded_source)


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


def _differs_in_unit(case: Case, found: Found) -> bool:
    """An amount in another currency than the gold's, or a bare number in another unit than the question asks for."""
    if found.answer is None or found.answer.words[0][0] != "#":
        return False
    source, span = case.words.folded_source, case.words.span(found.first, found.last)
    wanted = currency_of(found.answer.written, 0, len(found.answer.written))
    given = currency_of(source, span.start, span.end)
    if wanted is not None and given is not None:
        return wanted != given
    unit, asked = unit_of(source, span.end), units_asked(case.question.text)
    return len(found.answer.words) == 1 and unit is not None and bool(asked) and unit not in asked


def _has_too_few_items(case: Case, found: Found) -> bool:
    """Several items are wanted, and the response is one of them, or names fewer than were wanted."""
    question, golds = case.question, case.gold.answers
    is_counted = question.wanted_items > 2
    is_alone = len(case.words) - (found.last - found.first + 1) <= _MOST_WORDS_AROUND
    if found.rule is Rule.ALL_ITEMS:
        return False
    if is_alone and (is_counted or (question.wanted_items > 1 and not question.is_open)):
        return True
    if len(golds) < 2 or not (is_counted or question.is_list):
        return False
    wanted = len(golds) if question.is_list else min(question.wanted_items, len(golds))
    return sum(answer.padded in case.padded for answer in golds) < wanted


def _dates_at(case: Case, found: Found) -> list[PartialDate]:
    return [date for date in case.dates if date.first <= found.last and found.first <= date.last]


def _contradicts_finer_gold(case: Case, found: Found) -> bool:
    """The response names a day or month of the gold's year, and it is not the one that a finer gold names."""
    golds = [wanted for wanted, _ in case.gold.dates]
    return any(
        any(wanted.year == date.year and wanted.contradicts(date) for wanted in golds)
        and not any(wanted.accepts(date) and wanted.is_as_fine_as(date) for wanted in golds)
        for date in _dates_at(case, found)
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
    for inner, outer in ((found.first, before), (found.last, after)):
        is_there = 0 <= outer < len(text) and is_unspaced(text[inner]) and is_unspaced(text[outer])
        if is_there and not words.gap(max(inner, outer)) and text[outer] not in _UNSPACED_PARTICLES:
            return not (outer == after and _is_whole_date(text, found))
    if before >= 0 and text[before] in _COMPASS and words.is_capitalised(before) and words.gap(found.first) == " ":
        return True
    if before >= 0 and words.gap(found.first) in {" ", "-"} and text[before] in _OTHER_THING:
        return True
    # "Prince's guitarist" is not Prince.
    if after < len(text) <= _SHORT_RESPONSE and words.written(found.last).endswith("'s"):
        return not (found.answer and found.answer.written.endswith("s"))
    if _is_compound(case, found):
        return True
    written = words.written(after) if after < len(text) and words.gap(after) == " " else ""
    if found.first < found.last and _names_somebody_else(case, found, written):
        return True
    return (written.isupper() and written.lower() in ROMAN_NUMERALS) or written == "Sr"


def _names_somebody_else(case: Case, found: Found, behind: str) -> bool:
    """Who was asked for, and the name goes on where the gold's has ended: "Martin Luther" in "Martin Luther King"."""
    is_name = found.answer is not None and found.answer.is_proper and behind[:1].isupper() and behind[1:].islower()
    if not is_name or not _WHO.search(case.question.text):
        return False
    return (case.question.words | case.gold.vocabulary | FUNCTION_WORDS).isdisjoint(Words(behind).text)


def _is_whole_date(text: Sequence[str], found: Found) -> bool:
    """1934年 in 1934年建成: the sign behind the figures ends them, unless the next one leaves them open, 1934年以降."""
    is_date = text[found.first][0] == "#" and text[found.last] in "年月日"
    return is_date and not "\u3040" <= text[found.last + 1] <= "\u309f" and text[found.last + 1] not in _OPEN_DATE


def _is_compound(case: Case, found: Found) -> bool:
    """Joined to another word by a hyphen, or a formula that goes on: "mother-in-law", "great-grandson", H2O2."""
    answer, words = found.answer, case.words
    if answer is None or not answer.glued.isascii() or answer.glued[0] == "#":
        return False
    is_formula = len(answer.written) <= _LONGEST_FORMULA
    for inner, outer in ((found.first, found.first - 1), (found.last + 1, found.last + 1)):
        if 0 <= outer < len(words) and words.text[outer].isascii():
            gap = words.gap(inner)
            if (gap == "-" and answer.written.islower()) or (not gap and is_formula):
                return True
    return False


def _is_one_of_several(case: Case, found: Found) -> bool:
    """One answer was asked for, and the response is a bare list of names, of which one is the gold."""
    source, question = case.words.folded_source, case.question
    if len(source) > _LONGEST_LIST or question.wanted_items > 1 or question.is_list or question.is_open:
        return False
    listed = _LIST_HEADING.sub("", source)
    items = [item for part in _ITEM_BREAK.split(listed) if (item := _BULLET.sub("", part).strip(" .\"'*"))]
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
    is_placed = len(items) == 2 and source.count(",") == 1 and _SAYS.asks_where.search(question.text) is not None
    return bool(others) and not is_placed


def _is_part_of_longer_list(case: Case, found: Found) -> bool:
    """The response parts by commas what the gold writes without any, and the list goes on: "zebra, apple, banana"."""
    if found.answer is None or found.first == found.last or "," in found.answer.written or case.gold.dates:
        return False
    words, after = case.words, found.last + 1
    if not any("," in words.gap(index) for index in range(found.first + 1, after)):
        return False
    goes_on = after < len(words) and ("," in words.gap(after) or words.text[after] in _JOINING)
    return goes_on or (found.first > 0 and "," in words.gap(found.first))


def _has_other_items(case: Case, found: Found) -> bool:
    """A bare list that holds all items of the gold and others as well, or takes one of them back."""
    span = case.words.span(found.first, found.last)
    if _SAYS.denial_anywhere.search(case.lowered, span.start, span.end):
        return True
    items = [Words(part).text for part in _ITEM_BREAK.split(case.words.folded_source)]
    told = {word for items in case.gold.item_lists for item in items for word in item.split()} | {"and"}
    is_bare = all(len(item) <= _LONGEST_NAME for item in items)
    return is_bare and any(item and told.isdisjoint(item) for item in items)


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
    if found.first > _FARTHEST_ANSWER or (found.answer is not None and len(found.answer.glued) == 1):
        return Rule.IN_PASSING
    ends = [end.end() for end in _SENTENCE_END.finditer(case.words.folded_source, 0, span.start)]
    if not ends:
        return None
    if _SAYS.denial_anywhere.search(before, conceded):
        return Rule.DENIED
    return None if _speaks_to_question(case, found, ends[-1]) else Rule.IN_PASSING


def _is_denied(case: Case, before: str) -> bool:
    """Words before the gold that set it aside, unless they are the question's: "the former name of", "defeated"."""
    denial = _SAYS.denial_before.search(before)
    if denial is None:
        return False
    word = _DENIAL_WORD.match(denial[0])
    return word is None or stem(word[0]) not in {stem(asked) for asked in case.question.words}


def _speaks_to_question(case: Case, found: Found, begin: int) -> bool:
    """Whether a later sentence that holds the gold is on what was asked; a common noun may stand there by chance."""
    answer = found.answer
    if answer is None or found.rule is Rule.SAME_DATE or answer.is_proper or len(answer.words) > 1:
        return True
    stop = _SENTENCE_END.search(case.words.folded_source, case.words.span(found.first, found.last).end)
    sentence = Words(case.words.folded_source[begin : stop.start() if stop else None])
    asked = {word[:_WORD_STEM] for word in case.question.words - FUNCTION_WORDS - answer.content}
    return not asked.isdisjoint(word[:_WORD_STEM] for word in sentence.text if word not in FUNCTION_WORDS)


# Answers stand at the beginning or at the end; what lies between in a very long response is not read.
_HEAD: Final = 4_000
_LAST_SENTENCE: Final = 600
# A later mention or a weaker likeness does not take these back; the others may be answered by another form of the gold.
_FINAL_OBJECTIONS: Final = frozenset({Rule.DENIED, Rule.HEDGED, Rule.IN_PASSING, Rule.ONLY_MENTIONED})
# A bare date or number may be one of several right ones; a sentence commits itself to what was asked.
_SHORT_RESPONSE: Final = 6
# So many names of one thing leave few ways of saying it without any of them.
_MANY_NAMES: Final = 4
# A longer sentence may describe the thing instead.
_LONGEST_NAMING: Final = 20
# Words between two items of an enumeration: "Tripathi (as Ishita Bhalla) and Patel".
_WIDEST_GAP: Final = 5
# A count this near the gold may be a later or an earlier count of the same thing.
_NEAR: Final = 0.1
_SMALLEST_NEAR: Final = 20
_LONGEST_VALUE: Final = 15
_VAGUE_TIME: Final = frozenset({"century", "centuries", "decade", "decades", "era", "period", "世", "紀", "纪", "代"})
_CONCESSION: Final = frozenset({"however", "but", "believed", "although", "though", "likely", "probably", "estimated"})


def compare_short_text(response: str, gold: Sequence[str], *, question: str = "") -> Comparison:
    """Whether the response, reasoning already dropped, gives one of the golds; undecided unless a rule is sure."""
    asked = read_question(question)
    prepared = prepare_gold(tuple(gold), asked.words)
    if response and prepared.has_wordless and response in (one.strip() for one in gold if not Words(one).text):
        return Comparison(Decision.CORRECT, Span(0, len(response)), (Rule.EXACT_ANSWER,))
    is_cut = len(response) > _HEAD
    head = _compare_part(response[:_HEAD], prepared, asked, is_cut=is_cut)
    if not is_cut or head.rules != (Rule.NO_RULE,):
        return head
    offset = _last_sentence(response)
    tail = _compare_part(response[offset:], prepared, asked, is_cut=True)
    if tail.decision is not Decision.CORRECT or tail.span is None:
        return head
    return tail._replace(span=Span(tail.span.start + offset, tail.span.end + offset))


def _last_sentence(response: str) -> int:
    """Where the last line or sentence of a long response begins; its end, if that is too far away to be one."""
    text = response.rstrip()
    begin = max(_HEAD, len(text) - _LAST_SENTENCE)
    at = max(text.rfind("\n", begin), text.rfind(". ", begin), text.rfind("。", begin, len(text) - 1))
    return at + 1 if at >= 0 else len(response)


def _compare_part(part: str, gold: Gold, question: Question, *, is_cut: bool) -> Comparison:
    case = Case(part, gold, question, is_cut)
    is_gold = any(answer.padded == case.padded for answer in gold.answers)
    if FILLER_WORDS.issuperset(case.vocabulary) and not (is_gold and case.vocabulary):
        is_open = is_cut or gold.has_wordless
        return Comparison(Decision.UNDECIDED if is_open else Decision.INCORRECT, None, (Rule.NO_ANSWER,))
    objection: Rule | None = None
    for found in _find_gold(case):
        objection = objection_to(case, found)
        if objection is None:
            return Comparison(Decision.CORRECT, case.words.span(found.first, found.last), (found.rule,))
        if objection in _FINAL_OBJECTIONS:
            break
    if _lacks_item(case):
        return Comparison(Decision.INCORRECT, None, (Rule.MISSING_ITEM,))
    other = _find_other(case) if objection is None else None
    if other is None:
        return Comparison(Decision.UNDECIDED, None, (objection or Rule.NO_RULE,))
    return Comparison(Decision.INCORRECT, case.words.span(other.first, other.last), (other.rule,))


# Is the gold in the response? Each finder knows one way of writing it; whether it is meant is for the objections.


def _find_gold(case: Case) -> Iterator[Found]:
    """Every sign of the gold in the response, the strongest first."""
    return chain(_contained(case), _dates(case), _plurals(case), _items(case))


def _contained(case: Case) -> Iterator[Found]:
    """The words of the gold in a row: the whole response, or somewhere in it."""
    for answer in case.gold.answers:
        if answer.padded not in case.padded:
            continue
        last = len(answer.words) - 1
        if answer.padded == case.padded:
            yield Found(Rule.EXACT_ANSWER, 0, last, answer)
            continue
        for first in case.places_of(answer.padded):
            yield Found(Rule.CONTAINED, first, first + last, answer)


def _dates(case: Case) -> Iterator[Found]:
    """The gold's date in another writing; whatever says less than the gold says too little."""
    if not case.gold.dates:
        return
    for date in case.dates:
        for wanted, answer in case.gold.dates:
            if wanted.is_same(date):
                yield Found(Rule.SAME_DATE, date.first, date.last, answer)
    for date in case.dates:
        if date.year is not None and any(not wanted.contradicts(date) for wanted, _ in case.gold.dates):
            yield Found(Rule.COARSER_DATE, date.first, date.last)


def _plurals(case: Case) -> Iterator[Found]:
    """ "rock" and "rocks". Names of several words are left out: the Roberts family is not named Robert."""
    padded = ""
    for answer in case.gold.answers:
        if answer.is_proper and len(answer.words) > 1:
            continue
        padded = padded or f" {' '.join(map(stem, case.words.text))} "
        wanted = f" {' '.join(map(stem, answer.words))} "
        if wanted in padded:
            first = padded.count(" ", 0, padded.find(wanted))
            yield Found(Rule.INFLECTED, first, first + len(answer.words) - 1, answer)


def _items(case: Case) -> Iterator[Found]:
    """A gold that enumerates, in any order."""
    for items in case.gold.item_lists:
        if all(item in case.padded for item in items):
            places = [next(case.places_of(item)) for item in items]
            ends = [place + item.strip().count(" ") for place, item in zip(places, items, strict=True)]
            # Items that are far apart are mentioned, not enumerated.
            if any(start - end > _WIDEST_GAP for start, end in zip(sorted(places)[1:], sorted(ends), strict=False)):
                continue
            yield Found(Rule.ALL_ITEMS, min(places), max(ends))


# Is something else in the response? Only where nothing of the gold is there, and only what leaves no room for it.


def _lacks_item(case: Case) -> bool:
    """A counted list was asked for ("the three …"), and the response names some of its items but not all."""
    lists = [items for items in case.gold.item_lists if len(items) == case.question.wanted_items > 2]
    named = sum(item in case.padded for item in lists[0]) if len(lists) == 1 and not case.is_cut else 0
    return 0 < named < case.question.wanted_items


def _find_other(case: Case) -> Found | None:
    """The rule under which the response cannot be right; None where that is not plain."""
    if case.is_cut or not case.gold.answers or not _share_a_script(case):
        return None
    whole = (0, len(case.words) - 1)
    # The "but" of "I'm sorry, but" concedes nothing.
    is_apology = case.padded.count(" but ") == 1 and " sorry but " in case.padded
    is_refused = case.refusal is not None and not case.vocabulary & _CONCESSION - ({"but"} if is_apology else set())
    # Numbers and dates have more writings than any list of them.
    has_many_names = (
        case.gold.kind is Kind.WORDS
        and len(case.gold.answers) >= _MANY_NAMES
        and (case.gold.names_one_thing or (case.gold.lists_aliases and _asks_for_one(case.question)))
        and len(case.words) <= _LONGEST_NAMING
    )
    if (is_refused or has_many_names) and not _is_related(case):
        return Found(Rule.REFUSAL if is_refused else Rule.NONE_OF_THE_NAMES, *whole)
    if is_refused or case.question.is_dated or len(case.words) <= _SHORT_RESPONSE:
        return None
    if case.gold.kind is Kind.DATE and case.question.asked is Asked.TIME:
        return _other_date(case)
    if case.gold.kind is Kind.NUMBER and case.question.asked is Asked.QUANTITY:
        return _other_number(case)
    return None


def _asks_for_one(question: Question) -> bool:
    return question.wanted_items == 1 and not question.is_open and not question.is_list


def _share_a_script(case: Case) -> bool:
    """A name in another alphabet cannot be compared letter by letter."""
    ours, golds = (
        {word[0] > "\u024f" for word in words if word[0] != "#"} for words in (case.vocabulary, case.gold.vocabulary)
    )
    return not ours or not golds or not ours.isdisjoint(golds)


def _is_related(case: Case) -> bool:
    """A word of the gold, or one that begins or ends like it, or its initials, somewhere in the response."""
    if not case.gold.keys.isdisjoint(relation_keys(case.words.text)):
        return True
    glued = "".join(case.words.text)
    initials = "".join(word[0] for word in case.words.text)
    return any(
        (len(answer.glued) > 3 and answer.glued in glued)
        or (answer.initials and answer.initials in case.vocabulary)
        or (1 < len(answer.glued) <= 5 and answer.written.isupper() and answer.glued in initials)
        for answer in case.gold.answers
    )


def _other_date(case: Case) -> Found | None:
    """No date at all, or every date of the response contradicts every date of the gold."""
    if not _VAGUE_TIME.isdisjoint(case.vocabulary):
        return None
    if not case.dates:
        is_timeless = not any(word[0] == "#" and word not in case.question.words for word in case.vocabulary)
        return Found(Rule.NO_DATE, 0, len(case.words) - 1) if is_timeless and not _is_related(case) else None
    for date in case.dates:
        is_decade = case.words.text[date.last + 1 : date.last + 2] == ["s"]
        if is_decade or not all(wanted.contradicts(date) for wanted, _ in case.gold.dates):
            return None
    told = [date for date in case.dates if date.year is not None and f"#{date.year}" not in case.question.words]
    if not told or _may_include_gold(case, told):
        return None
    return Found(Rule.OTHER_DATE, told[0].first, told[0].last)


def _may_include_gold(case: Case, told: list[PartialDate]) -> bool:
    """The response gives a stretch of time ("1946-47", "from 1990 to 1995"), or golds disagree and one is close."""
    years = [date.year for date in told if date.year is not None]
    wanted = [date.year for date, _ in case.gold.dates if date.year is not None]
    if any(min(years) < year < max(years) for year in wanted):
        return True
    if case.gold.is_disputed and any(abs(year - other) < 2 for year in years for other in wanted):
        return True
    source = case.words.folded_source
    return any(source.startswith("-", case.words.span(date.first, date.last).end) for date in told)


def _other_number(case: Case) -> Found | None:
    """The response counts, and no number in it is, or is near, a number of the gold."""
    gold, asked = case.gold, case.question.words
    if not gold.is_count or gold.numbers & asked or _VAGUE_TIME & case.vocabulary:
        return None
    told = {
        index: float(word[1:])
        for index, word in enumerate(case.words.text)
        if word[0] == "#" and len(word) < _LONGEST_VALUE and word not in asked
    }
    wanted = [float(number[1:]) for number in gold.numbers if len(number) < _LONGEST_VALUE]
    if not told or not wanted:
        return None
    for number in wanted:
        margin = _NEAR * number if number >= _SMALLEST_NEAR else 0
        if min(told.values()) - margin <= number <= max(told.values()) + margin:
            return None
    return Found(Rule.OTHER_NUMBER, min(told), min(told))
