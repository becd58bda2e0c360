"""Compare a mathematical ground truth with an answer, or with a whole response."""

import re
from typing import Final

from mixseek.domain.judgments import Span
from mixseek.matching.expressions import math_verify_bridge, names
from mixseek.matching.expressions.findings import read_hints
from mixseek.matching.expressions.location import locate_answer
from mixseek.matching.expressions.statements import MAX_GOLD, compare_statements, stated_part
from mixseek.matching.outcome import Comparison, Decision

# Doubts of principle: another engine would only hide them.
_SETTLED_DOUBTS: Final = names.word_set(
    "rounded truncated units_conflict degrees_or_radians dot_may_group_thousands several_parts form_asked empty "
    "letters_renamed condition_on_one_side equation_not_solved constant_of_integration "
    "equal_at_whole_numbers equal_for_positive_only"
)
_LATEX: Final = re.compile(r"\\[A-Za-z({\[%]|\$[^$]+\$")
_PLAIN_NUMBER: Final = re.compile(r"[-+−]?[$€£¥]?\s?\d[\d,. ]*\s*(?:%|\\%|[A-Za-z°]{0,12}\.?)")
_DATE_OR_TIME: Final = re.compile(r"\d{1,4}([-/.:])\d{1,2}(?:\1\d{1,4})?(?:\s*[AaPp]\.?[Mm]\.?)?")
_RANGE: Final = re.compile(r"[\d,.]+(?:\s*[-–]\s*[\d,.]+)+")
_CODE_NAME: Final = re.compile(r"[A-Za-z]{1,10}-?\d+[A-Za-z]?|[A-Z]/[A-Z]|[nN]/[aA]")
_OPTION: Final = re.compile(r"[(\[]?[A-Za-z][)\].:]?")
_BRACKETS_ONLY: Final = re.compile(r"[()\[\]{}<>\s]+")
_SYMBOL: Final = re.compile("[√∛π∞≤≥≠±∪∩∈∅×÷·²³⁰¹⁴-⁹½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞ℝℤℕ]")
_OPERATION: Final = re.compile(r"[A-Za-z\d)\]}!]\s*(?:[-+*/^=<>]|<=|>=)\s*[-(\[{A-Za-z\d.]")
_TUPLE: Final = re.compile(r"[(\[{]\s*[^()\[\]{}]*\d[^()\[\]{}]*[,;][^()\[\]{}]*[)\]}]")
_POWER_OF_TEN: Final = re.compile(r"\d(?:\.\d+)?[eE][-+]?\d+")
_BASED: Final = re.compile(r"[0-9A-Fa-f]+_\{?\d{1,2}\}?")
_WORD: Final = re.compile(r"[A-Za-z]{2,}")
_CALL: Final = re.compile(r"\b(?:sqrt|sin|cos|tan|log|ln|exp|abs)\s*\(")
_FACTORIAL: Final = re.compile(r"\d+!$")
_DIGIT_OR_LETTER: Final = re.compile(r"\d|(?<![A-Za-z])[A-Za-z](?![A-Za-z])")


def looks_like_expression(text: str) -> bool:
    """Cheap, and meant for ground truths: a False only means that another comparer is the better one."""
    text = text.strip()
    if not text or len(text) > MAX_GOLD:
        return False
    if _LATEX.search(text):
        return True
    if _BRACKETS_ONLY.fullmatch(text) or _OPTION.fullmatch(text) or len(text) > 200:
        return False
    if _POWER_OF_TEN.fullmatch(text) or _BASED.fullmatch(text):
        return True
    if _PLAIN_NUMBER.fullmatch(text) or _RANGE.fullmatch(text) or _CODE_NAME.fullmatch(text):
        return False
    if _DATE_OR_TIME.fullmatch(text) and not _is_fraction(text):
        return False
    if any(not _is_mathematical(word) for word in _WORD.findall(text)):
        return False
    if not _DIGIT_OR_LETTER.search(text) and not _SYMBOL.search(text):
        return False
    return any(pattern.search(text) for pattern in (_SYMBOL, _OPERATION, _TUPLE, _CALL, _FACTORIAL))


def _is_fraction(text: str) -> bool:
    return text.count("/") == 1 and "-" not in text and ":" not in text


def _is_mathematical(word: str) -> bool:
    """sqrt, sin, pi, and, or, xy: words that can stand in an expression."""
    lowered = word.lower()
    return (
        lowered in names.FUNCTIONS
        or lowered in names.FUNCTION_SYNONYMS
        or lowered in names.CONSTANT_WORDS
        or lowered in names.GREEK
        or lowered in names.SEPARATOR_WORDS
        or (len(word) == 2 and lowered not in names.SHORT_WORDS)
    )


def compare_expressions(answer: str, gold: str, *, question: str = "", use_math_verify: bool = False) -> Comparison:
    """`answer` is a final answer already cut out of its response. Never raises."""
    finding = compare_statements(answer, gold, read_hints(question))
    if use_math_verify and finding.decision is Decision.UNDECIDED and finding.rule not in _SETTLED_DOUBTS:
        second = math_verify_bridge.compare(stated_part(answer), stated_part(gold))
        # What we cannot read, math-verify may misread: then only its "equal" is believed.
        if second is not None and (second.decision is Decision.CORRECT or finding.rule != "not_read"):
            finding = second
    return Comparison(finding.decision, finding.rule)


def locate_and_compare(
    response: str, gold: str, *, question: str = "", use_math_verify: bool = False
) -> tuple[Comparison, Span | None]:
    """Find the final answer of a whole response and compare it; the span is in the response as given."""
    located = locate_answer(response)
    if located is None:
        return Comparison(Decision.UNDECIDED, "no_answer_located"), None
    compared = compare_expressions(located.text, gold, question=question, use_math_verify=use_math_verify)
    if compared.decision is not Decision.UNDECIDED and not located.firm:
        return Comparison(Decision.UNDECIDED, f"{located.rule}:{compared.rule}"), located.span
    return Comparison(compared.decision, compared.rule), located.span
