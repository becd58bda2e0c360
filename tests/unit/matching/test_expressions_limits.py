"""No text makes the comparer raise or take long."""

import time
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixseek.domain.judgments import Span
from mixseek.matching.expressions.compare import compare_expressions, locate_and_compare, looks_like_expression
from mixseek.matching.expressions.latex_text import plain_from_latex
from mixseek.matching.outcome import Comparison, Decision

PATHOLOGICAL = {
    "parentheses": "(" * 100_000,
    "braces": "{" * 100_000,
    "fractions": "\\frac" * 10_000,
    "powers": "^" * 100_000,
    "signs": "-" * 100_000,
    "dollars": "$" * 100_000,
    "money": "$1" * 50_000,
    "open boxes": "\\boxed{" * 20_000,
    "boxes": "\\boxed{1}" * 20_000,
    "open text": "\\text{a" * 20_000,
    "backslashes": "\\" * 100_000,
    "digits": "9" * 100_000,
    "commas": "1," * 50_000,
    "and": "1 and " * 20_000,
    "roots": "\\sqrt" * 20_000,
    "newlines": "\n" * 1_000_000,
    "spaces": " " * 1_000_000,
    "letters": "a" * 1_000_000,
    "cues": "the answer is " * 70_000,
    "final cues": "final answer " * 70_000,
    "openings": "\\(" * 50_000,
    "marks": "\n#### 5" * 50_000,
    "quotes": 'answer": "' * 50_000,
    "tower": "9^{9^{9^{9}}}",
    "flat tower": "2^" * 150 + "2",
    "factorial": "1000000!",
    "factorials": "((((5!)!)!)!)!",
    "bangs": "5" + "!" * 390,
    "big power": "10^{100000}",
    "big exponent": "1e9999",
    "binomial": "\\binom{100000}{50000}",
    "bars": "|" * 300,
    "builders": "\\{x|" * 90,
    "matrices": "\\begin{pmatrix}" * 90,
    "nested": "(" * 30 + "x" + ")" * 30,
    "nested fractions": "\\frac{1}{" * 35 + "2" + "}" * 35,
    "divisions": "1" + "/2" * 190,
    "calls": "f(" * 60 + "x" + ")" * 60,
    "sines": "\\sin " * 300 + "x",
    "unions": "(1,2)\\cup" * 60 + "(3,4)",
    "polynomial": "+".join(f"x^{power}" for power in range(80)),
    "list": ",".join(map(str, range(190))),
    "formula set": "\\{" + ",".join(f"\\sqrt{{x+{term}}}" for term in range(39)) + "\\}",
    "signs both": "\\pm 1" * 90,
    "halves": "½" * 1_000,
    "form feeds": "\x0c" * 100_000,
}
GOLDS = (r"\frac{1}{2}", "x^2+1", r"\{1,2\}", "(1,2)", "x>3", r"\text{east}", "y=2x")
# Far above what is measured (under 10 ms): a shared machine must not fail the test, a quadratic pass must.
SECONDS = 0.25


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_a_pathological_text_is_answered_at_once(name: str) -> None:
    """As answer, as ground truth, as response."""
    text = PATHOLOGICAL[name]
    started = time.process_time()
    for gold in GOLDS[:2]:
        compare_expressions(text, gold)
        compare_expressions(gold, text)
        locate_and_compare(text, gold)
    looks_like_expression(text)
    plain_from_latex(text)

    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("text", ["9^{9^{9^{9}}}", "1000000!", "10^{100000}", r"\binom{100000}{50000}"])
def test_a_number_too_big_to_compute_is_left_open(text: str) -> None:
    """Neither equal nor unequal without computing it."""
    assert compare_expressions(text, "2").decision is Decision.UNDECIDED


_WRITTEN = (
    r"\frac { } ( ) x 2 ^ _ \sqrt \text{a} $ , \cup [ ] | = < \pm \infty \pi ! % \boxed{ and \begin{pmatrix} "
    r"\end{pmatrix} \\ & - + / \{ \} \sin \log . 0.5 ½ \mathbb{R} \in : ; ' é 漢 or \left \right 1,000 e i"
)
FRAGMENTS = _WRITTEN.split(" ")
maths_like = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(answer=st.one_of(maths_like, st.text(max_size=60)), gold=st.one_of(maths_like, st.sampled_from(GOLDS)))
def test_any_pair_of_texts_gets_a_comparison(answer: str, gold: str) -> None:
    """Never raises; equal texts are never called different."""
    assert isinstance(compare_expressions(answer, gold), Comparison)
    assert compare_expressions(gold, gold).decision is not Decision.INCORRECT


@settings(max_examples=200, deadline=None)
@given(before=st.text(max_size=40), answer=maths_like, after=st.text(max_size=40))
def test_any_response_gets_a_span_inside_it(before: str, answer: str, after: str) -> None:
    """Offsets are those of the response as given."""
    response = f"{before} The final answer is ${answer}$ {after}"
    _, span = locate_and_compare(response, "5")

    assert span is None or (isinstance(span, Span) and 0 <= span.start <= span.end <= len(response))


@settings(max_examples=200, deadline=None)
@given(st.fractions(max_denominator=1_000), st.fractions(max_denominator=1_000))
def test_fractions_compare_exactly(one: Fraction, other: Fraction) -> None:
    """Correct exactly when the values are equal; no tolerance hides a difference."""
    answer = rf"\frac{{{one.numerator}}}{{{one.denominator}}}"
    comparison = compare_expressions(answer, f"{other.numerator}/{other.denominator}")

    assert comparison.decision is (Decision.CORRECT if one == other else Decision.INCORRECT)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-99, 99), min_size=1, max_size=6, unique=True), st.randoms(use_true_random=False))
def test_a_set_is_the_same_in_any_order(members: list[int], random: Random) -> None:
    """And not the same with one member more."""
    shuffled = random.sample(members, len(members))
    gold = rf"\{{{', '.join(map(str, members))}\}}"

    assert compare_expressions(rf"\{{{', '.join(map(str, shuffled))}\}}", gold).decision is Decision.CORRECT
    assert compare_expressions(rf"\{{{', '.join(map(str, [*shuffled, 100]))}\}}", gold).decision is Decision.INCORRECT


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9), st.integers(1, 9))
def test_a_product_of_roots_equals_its_expansion(roots: list[int], scale: int) -> None:
    """Polynomials are compared by value, whatever their form."""
    factored = str(scale) + "".join(f"(x-({root}))" for root in roots)
    coefficients = [scale]
    for root in roots:
        shifted = [*coefficients, 0]
        for place, coefficient in enumerate(coefficients):
            shifted[place + 1] -= root * coefficient
        coefficients = shifted
    degree = len(roots)
    expanded = "+".join(f"({value})x^{degree - place}" for place, value in enumerate(coefficients))

    assert compare_expressions(factored, expanded).decision is Decision.CORRECT
    assert compare_expressions(f"{factored}+1", expanded).decision is Decision.INCORRECT
