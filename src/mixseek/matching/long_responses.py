"""Responses of which only the beginning and the end are read: no verdict rests on what lies between."""

from collections.abc import Callable

from mixseek.matching.company import without_company
from mixseek.matching.readings import Comparison, Decision
from mixseek.matching.statements import firm_statements
from mixseek.matching.visible import WINDOW, Visible, part_before, visible_part, without_reasoning

# What states an answer in so many words or signs; the last of these counts, wherever the response goes on.
_FIRM = frozenset(
    {"answer_cue", "answer_line", "answer_behind", "hash_marks", "boxed", "answer_tag", "json_field", "self_correction"}
)
_LONGEST_MIDDLE = 200_000


def match_long(
    response: str, tail: Visible, question: str, decide: Callable[[Visible], Comparison]
) -> tuple[Visible, Comparison]:
    """The part that decides, and its decision; undecided where what was not read may say otherwise."""
    at_end = decide(tail)
    if _is_firm(at_end):
        return tail, at_end
    shown = part_before(response, tail)
    if not shown.strip():
        return tail, at_end
    if _may_state_answer(shown[WINDOW:]):
        return tail, _left_open(at_end)
    head = without_company(visible_part(shown[:WINDOW]), question)
    at_head = decide(head)
    says_nothing = at_end.span is None or at_end.decision is Decision.UNDECIDED
    if at_head.decision is not Decision.UNDECIDED and (_is_firm(at_head) or at_head.decision is Decision.CORRECT):
        agrees = says_nothing or at_end.decision is at_head.decision
        return head, at_head if agrees else _left_open(at_head)
    return tail, _left_open(at_end) if says_nothing or _is_firm(at_head) else at_end


def _may_state_answer(middle: str) -> bool:
    """Whether something between the two parts states an answer, or is too long to be looked through."""
    if len(middle) > _LONGEST_MIDDLE:
        return True
    text = without_reasoning(middle)
    return next(firm_statements(text, text.lower(), 0, len(text)), None) is not None


def _is_firm(comparison: Comparison) -> bool:
    return comparison.span is not None and not _FIRM.isdisjoint(comparison.rules)


def _left_open(comparison: Comparison) -> Comparison:
    return Comparison(Decision.UNDECIDED, None, (comparison.rules[0], "not_read_as_a_whole"))
