r"""Whole responses: where the answer stands, in offsets of the response as given."""

import pytest

from mixseek.matching.expressions.compare import locate_and_compare
from mixseek.matching.outcome import Decision

LOCATED = [
    (r"So we get $x = 3$ and thus $\boxed{\frac{1}{2}}$.", "0.5", r"\boxed{\frac{1}{2}}"),
    (r"\[\boxed{\begin{pmatrix} 1 \\ 2 \end{pmatrix}}\]", r"\begin{pmatrix}1\\2\end{pmatrix}", None),
    (r"First \boxed{7}, but wait, I made a mistake. It is \boxed{8}.", "8", r"\boxed{8}"),
    (r"Thus $\boxed{2}$ and $\boxed{3}$.", r"\{2,3\}", None),
    (r"Hence $x = \boxed{3}$ and $y = \boxed{4}$.", "(3, 4)", None),
    (r"So \boxed{9}. Final answer: as above.", "9", r"\boxed{9}"),
    (r"We have $\boxed{(1,2)}$, $\boxed{(3,4)}$", "(3,4),(1,2)", None),
    (r"The share is $\boxed{28}$ percent.", r"28\%", None),
    (r"The final answer is $x = 5$. I hope it is correct.", "5", "$x = 5$"),
    ("Final Answer: The largest $n$ is 34.", "34", "34"),
    ("Adding up, the answer is 12.", r"\frac{24}{2}", "12"),
    ("Some steps.\n\nAnswer: \\frac{3}{4}", "0.75", "\\frac{3}{4}"),
    ("Answer: 2x + 1", "1+2x", "2x + 1"),
    ("Reasoning...\n**Answer:** $(-\\infty, 3)$", "x<3", None),
    (r"$\frac{6}{4}$", "1.5", None),
    (r"\( 9 + 1 \)", "10", None),
    (r"Therefore $x > 5$ is the solution.", r"(5,\infty)", "$x > 5$"),
    (r"It follows that $a=1$. Hence the roots are $1$, $2$ and $3$.", "3,2,1", None),
    ('{"reasoning": "add 1 and 2", "answer": "\\\\frac{1}{2}"}', "0.5", "\\\\frac{1}{2}"),
    ("<think>Maybe \\boxed{7}?</think> It is \\boxed{8}.", "8", r"\boxed{8}"),
    ("計算すると、答えは $\\sqrt{2}$ です。", r"\sqrt2", "$\\sqrt{2}$"),
    ("所以答案是 $\\frac{1}{3}$。", "1/3", "$\\frac{1}{3}$"),
    ("Adding gives 40 + 17 = 57.\n#### 57", "57", "57"),
    (r"Box it: \fbox{5}", "5", r"\fbox{5}"),
    ("The answer is $2$.\n\nQuestion: what is 3+3?\nThe answer is $6$.", "2", "$2$"),
]


@pytest.mark.parametrize(("response", "gold", "quoted"), LOCATED)
def test_the_final_answer_is_found_and_right(response: str, gold: str, quoted: str | None) -> None:
    """The span covers the statement; where `quoted` is given, exactly it."""
    comparison, span = locate_and_compare(response, gold)

    assert comparison.decision is Decision.CORRECT
    assert span is not None
    assert quoted is None or response[span.start : span.end] == quoted


@pytest.mark.parametrize(
    ("response", "gold"),
    [
        (r"So $\boxed{7}$.", "8"),
        (r"The answer is $2x-1$.", "2x+1"),
        (r"\boxed{1} was the first try and is wrong, so the final answer is \boxed{2}", "1"),
        ('{"answer": "41"}', "40"),
    ],
)
def test_a_stated_wrong_answer_is_incorrect(response: str, gold: str) -> None:
    """A marked statement that differs is decided."""
    assert locate_and_compare(response, gold)[0].decision is Decision.INCORRECT


@pytest.mark.parametrize(
    ("response", "gold"),
    [
        ("", "5"),
        ("<think>it must be \\boxed{5}", "5"),
        ("I would need more information about the 5 boxes.", "5"),
        ("total = 9\ngroups = 3\nprint(total / groups)", "3"),
        ("There are 3 red and 4 blue ones, then 2 more came, and somebody took a few of them away again.", "4"),
        ("No mathematics here.", "5"),
    ],
)
def test_without_a_statement_nothing_is_decided(response: str, gold: str) -> None:
    """A number that merely occurs is no answer."""
    assert locate_and_compare(response, gold)[0].decision is Decision.UNDECIDED
