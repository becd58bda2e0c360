"""Compare a free-text answer with the names, places, titles or short phrases that would be right.

Few rules, each held against human judgments (`docs/decisions/0004-what-the-rules-may-decide.md`). No rule can see that
a gold is wrong or that another answer is as good; so another name than the gold's decides nothing.
"""

from collections.abc import Sequence
from typing import Final

from mixseek.domain.judgments import Span
from mixseek.matching.open_text.gold import Gold, Question, prepare_gold, read_question
from mixseek.matching.open_text.gold_finders import find_gold
from mixseek.matching.open_text.objections import objection_to
from mixseek.matching.open_text.other_answers import find_other, lacks_item
from mixseek.matching.open_text.text_case import Case, Rule
from mixseek.matching.open_text.words import FILLER_WORDS, Words
from mixseek.matching.readings import Comparison, Decision

# Answers stand at the beginning or at the end; what lies between in a very long response is not read.
_HEAD: Final = 4_000
_LAST_SENTENCE: Final = 600
# A later mention or a weaker likeness does not take these back; the others may be answered by another form of the gold.
_FINAL_OBJECTIONS: Final = frozenset({Rule.DENIED, Rule.HEDGED, Rule.IN_PASSING, Rule.ONLY_MENTIONED})


def compare_short_text(response: str, gold: Sequence[str], *, question: str = "") -> Comparison:
    """Whether the response, reasoning already dropped, gives one of the golds; undecided unless a rule is sure."""
    asked = read_question(question)
    prepared = prepare_gold(tuple(gold), asked.words)
    if response and prepared.has_wordless and response in (answer.strip() for answer in gold if not Words(answer).text):
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
    for passage in find_gold(case):
        objection = objection_to(case, passage)
        if objection is None:
            return Comparison(Decision.CORRECT, case.words.span(passage.first, passage.last), (passage.rule,))
        if objection in _FINAL_OBJECTIONS:
            break
    if lacks_item(case):
        return Comparison(Decision.INCORRECT, None, (Rule.MISSING_ITEM,))
    other = find_other(case) if objection is None else None
    if other is None:
        return Comparison(Decision.UNDECIDED, None, (objection or Rule.NO_RULE,))
    return Comparison(Decision.INCORRECT, case.words.span(other.first, other.last), (other.rule,))
