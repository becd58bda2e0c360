r"""What must not be called correct, and what must be left open."""

import pytest

from mixseek.matching.expressions.compare import compare_expressions
from mixseek.matching.outcome import Decision

NEAR_MISSES = [
    # numbers
    ("0.5", "0.05"),
    ("1/2", "1/3"),
    ("50%", "5"),
    ("0.28", "28"),
    ("5", "-5"),
    ("7.38", "7"),
    ("7", "7.38"),
    ("2.0176", "2"),
    ("1,234", "1,243"),
    ("12, 345", "12345"),
    ("1e3", "1e4"),
    ("2^{10}", "10^2"),
    (r"1\frac{1}{2}", r"\frac12"),
    (r"\sqrt{2}", r"\sqrt{3}"),
    (r"4\sqrt{2}", "4"),
    (r"\frac{1+\sqrt5}{2}", "2"),
    (r"\pi", r"2\pi"),
    (r"60^\circ", r"30^\circ"),
    ("3+4i", "3-4i"),
    ("12 cm", "13 cm"),
    ("1011_2", "1101_2"),
    ("1011_2", "1011_3"),
    ("2:1", "1:2"),
    ("5 million", "5"),
    # formulas
    ("2x+1", "2x-1"),
    ("2x+1", "2y-1"),
    ("(x+1)^2", "x^2+1"),
    ("x^2", "x^3"),
    ("2x", "3"),
    ("y = 2x+1", "y = 2x"),
    (r"\sin x", r"\cos x"),
    (r"\frac{x}{y}", r"\frac{y}{x}"),
    # structures
    ("[0,1)", "(0,1)"),
    ("(0,1]", "[0,1)"),
    ("[0, 1)", "[0, 2)"),
    (r"\{1,2\}", r"\{1,3\}"),
    ("1, 2", "1, 2, 3"),
    ("1, 2, 3", "1, 2"),
    ("x=1", "x=1 or x=2"),
    ("x=1 or x=2", "1"),
    (r"\pm 2", "2"),
    ("(1,2)", "(2,1)"),
    ("(1,2,3)", "(1,2)"),
    ("(1,2),(3,4)", "(1,2),(4,3)"),
    ("x=1, y=2", "x=2, y=1"),
    ("x > 3", r"x \ge 3"),
    ("x > 3", "x < 3"),
    ("x > 3", "3"),
    ("5", r"x \ge 5"),
    (r"(-\infty, 2)", r"(-\infty, 2]"),
    (r"(1,2)\cup(3,4)", "(1,4)"),
    (r"\mathbb{R}", r"(0,\infty)"),
    (r"\emptyset", r"\mathbb{R}"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&2\\3&5\end{pmatrix}"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}"),
    ("7", r"\begin{pmatrix}1\\2\end{pmatrix}"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", "(2,1)"),
    ("2x+3y=6", "2x+3y=7"),
    ("y=2x", "y=-2x"),
    ("xy=1", "xy=2"),
    (r"\text{A}", r"\text{B}"),
]

# answer, gold, rule that names the doubt
DOUBTS = [
    ("0.33", r"\frac13", "rounded"),
    ("3.14", r"\pi", "rounded"),
    (r"\pi", "3.14", "rounded"),
    ("1.41", r"\sqrt2", "rounded"),
    ("0.66", r"\frac23", "truncated"),
    ("(0.33, 1)", r"(\frac13, 1)", "rounded"),
    (r"\frac{\pi}{2}", r"90^\circ", "degrees_or_radians"),
    ("12 cm", "12 meters", "units_conflict"),
    ("12 apples", "12 pears", "units_differ"),
    ("5m", "5", "unit_or_variable"),
    ("10.000", "10000", "dot_may_group_thousands"),
    (r"\log 2", r"\ln 2", "logarithm_base"),
    ("1/2x", r"\frac{1}{2x}", "ambiguous_notation"),
    ("2k+1", "2n+1", "letters_renamed"),
    (r"\sqrt{x^2}", "x", "equal_for_positive_only"),
    (r"\cos(n\pi)", "(-1)^n", "equal_at_whole_numbers"),
    (r"\ln(2x)+C", r"\ln x+C", "constant_of_integration"),
    ("x=1", "y=1", "names_differ"),
    ("2x=4", "2", "equation_not_solved"),
    ("1", "2x+z=1", "equation_or_value"),
    (r"\{1,2\}", "(1,2)", "set_or_tuple"),
    ("2, 1", "(1, 2)", "order"),
    ("(1,2)", "1, 2", "interval_or_pair"),
    ("[1,2]", "(1,2)", "interval_or_pair"),
    (r"\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}", "row_or_column"),
    ("11", "1011_2", "other_base"),
    ("a=2, b=3, a+b=5", "5", "several_values"),
    (r"\text{cannot be determined}", "7", "words"),
    (r"\int_0^1 x\,dx", r"\frac12", "not_read"),
    ("5 is wrong", "5", "not_read"),
    ("12 minus 3", "12", "not_read"),
    ("", "5", "empty"),
    ("5", "", "empty"),
]


@pytest.mark.parametrize(("answer", "gold"), NEAR_MISSES)
def test_a_near_miss_is_incorrect(answer: str, gold: str) -> None:
    """One sign, one bracket, one member, one exponent off."""
    assert compare_expressions(answer, gold).decision is Decision.INCORRECT


@pytest.mark.parametrize(("answer", "gold", "rule"), DOUBTS)
def test_a_doubt_is_named_and_left_open(answer: str, gold: str, rule: str) -> None:
    """Undecided, with the rule that says why."""
    comparison = compare_expressions(answer, gold)

    assert (comparison.decision, comparison.rule) == (Decision.UNDECIDED, rule)


@pytest.mark.parametrize(
    ("answer", "gold", "question", "expected"),
    [
        ("3.14", r"\pi", "Round to two decimal places.", Decision.CORRECT),
        ("3.14159", "3.14", "Give the answer to the nearest hundredth.", Decision.CORRECT),
        ("3.15", r"\pi", "Round to two decimal places.", Decision.INCORRECT),
        ("7.38", "7", "Round to the nearest whole number.", Decision.UNDECIDED),
        ("[1,2]", "(1,2)", "Write the domain as an interval.", Decision.INCORRECT),
        ("(x-1)(x+1)", "x^2-1", "Expand the product.", Decision.UNDECIDED),
        ("-1+x^2", "x^2-1", "Expand the product.", Decision.CORRECT),
        ("1+2x", "2x+1", "Simplify.", Decision.CORRECT),
        ("3, 1, 2", "1, 2, 3", "List them in ascending order.", Decision.UNDECIDED),
        ("3, 1, 2", "1, 2, 3", "Find all roots.", Decision.CORRECT),
    ],
)
def test_the_question_settles_what_the_texts_cannot(answer: str, gold: str, question: str, expected: Decision) -> None:
    """Rounding, intervals, order and form are conventions of the question."""
    assert compare_expressions(answer, gold, question=question).decision is expected


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        (r"First $x = 3$, so the area is $\boxed{9\pi}$.", r"9\pi", Decision.CORRECT),
        (r"The values are \boxed{1} and \boxed{2}.", "1, 2", Decision.CORRECT),
        ("Forty and ten and seven, in that order, as everybody knows.\n#### 57", "57", Decision.CORRECT),
        (
            r"(1) The period of the function, found from the coefficient of x by the usual rule, is $\boxed{\pi}$. "
            r"(2) By the same token, and after some more work, the greatest value it takes is $\boxed{3}$.",
            "3",
            Decision.UNDECIDED,
        ),
    ],
)  # fmt: skip
def test_a_worked_solution_serves_as_ground_truth(gold: str, answer: str, expected: Decision) -> None:
    """Its box is the answer; a solution in several parts leaves open which part was asked for."""
    assert compare_expressions(answer, gold).decision is expected
