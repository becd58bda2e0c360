"""Compare a free-text answer with the names, places, titles or short phrases that would be right.

The rules were measured on human judgments of open question answering; a rule that was not right almost always
was dropped or made an objection. What they cannot see is that a gold is wrong or that another answer is as good.
"""

from collections.abc import Sequence
from typing import Final

from mixseek.domain.judgments import Span
from mixseek.matching.outcome import Comparison, Decision
from mixseek.matching.short_text_absence import find_other
from mixseek.matching.short_text_case import Case, Rule
from mixseek.matching.short_text_gold import Gold, prepare_gold
from mixseek.matching.short_text_lexicon import FILLER_WORDS
from mixseek.matching.short_text_objections import objection_to
from mixseek.matching.short_text_presence import find_gold
from mixseek.matching.short_text_question import Question, read_question
from mixseek.matching.short_text_words import Words

# Answers stand at the beginning or at the end; what lies between in a very long response is not read.
_HEAD: Final = 4_000
_LAST_SENTENCE: Final = 600
# A later mention or a weaker likeness does not take these back; the others may be answered by another form of the gold.
_FINAL_OBJECTIONS: Final = frozenset({Rule.DENIED, Rule.HEDGED, Rule.IN_PASSING})


def compare_short_text(response: str, gold: Sequence[str], *, question: str = "") -> Comparison:
    """Whether the response gives one of the golds; undecided unless a named rule is sure.

    Args:
        response: the final part of an answer, reasoning already dropped.
        gold: every acceptable answer; one string that joins several with " | " is taken apart.
    """
    asked = read_question(question)
    prepared = prepare_gold(tuple(gold), asked.words)
    is_cut = len(response) > _HEAD
    head = _compare_part(response[:_HEAD], prepared, asked, is_cut=is_cut)
    if not is_cut or head.decision is not Decision.UNDECIDED or head.rule != Rule.NO_RULE:
        return head
    offset = _last_sentence(response)
    tail = _compare_part(response[offset:], prepared, asked, is_cut=True)
    if tail.decision is not Decision.CORRECT or tail.span is None:
        return head
    return Comparison(tail.decision, tail.rule, Span(tail.span.start + offset, tail.span.end + offset))


def _last_sentence(response: str) -> int:
    """Where the last line or sentence of a long response begins; its end, if that is too far away to be one."""
    text = response.rstrip()
    begin = max(_HEAD, len(text) - _LAST_SENTENCE)
    at = max(text.rfind("\n", begin), text.rfind(". ", begin), text.rfind("。", begin, len(text) - 1))
    return at + 1 if at >= 0 else len(response)


def _compare_part(part: str, gold: Gold, question: Question, *, is_cut: bool) -> Comparison:
    words = Words(part)
    case = Case(words, gold, question, is_cut)
    if not case.vocabulary or (FILLER_WORDS.issuperset(case.vocabulary) and not _is_gold(case)):
        return Comparison(Decision.UNDECIDED if is_cut else Decision.INCORRECT, Rule.NO_ANSWER)
    objection: Rule | None = None
    for found in find_gold(case):
        objection = objection_to(case, found)
        if objection is None:
            return Comparison(Decision.CORRECT, found.rule, words.span(found.first, found.last))
        if objection in _FINAL_OBJECTIONS:
            break
    if _lacks_item(case):
        return Comparison(Decision.INCORRECT, Rule.MISSING_ITEM)
    if objection is not None:
        return Comparison(Decision.UNDECIDED, objection)
    other = find_other(case)
    if other is None:
        return Comparison(Decision.UNDECIDED, Rule.NO_RULE)
    return Comparison(Decision.INCORRECT, other.rule, words.span(other.first, other.last))


def _lacks_item(case: Case) -> bool:
    """A counted list was asked for ("the three …"), and the response names some of its items but not all."""
    wanted = case.question.wanted_items
    lists = [items for items in case.gold.item_lists if len(items) == wanted > 2]
    if len(lists) != 1 or case.is_cut:
        return False
    named = sum(item in case.padded for item in lists[0])
    return 0 < named < wanted


def _is_gold(case: Case) -> bool:
    return any(answer.padded == case.padded for answer in case.gold.answers)
