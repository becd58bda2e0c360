r"""Mathematical ground truths: what is certain without algebra, and what is handed over."""

import time
from dataclasses import dataclass, field

import pytest
from tests.cases import each

from mixseek.matching.closed.maths import compare_maths, gold_maths, joined_boxes, looks_like_maths, plain_value
from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision


@dataclass
class Algebra:
    """Says always the same, and remembers what it was asked."""

    answer: bool | None
    asked: list[tuple[str, str]] = field(default_factory=list)
    version: str = "stub"

    def are_equal(self, gold: str, answer: str) -> bool | None:
        self.asked.append((gold, answer))
        return self.answer


SAME = [
    (r"\frac{10}{9}", "10/9"),
    (r"$\dfrac{10}{9}$", "10/9"),
    ("10/9", r"\frac{10}{9}"),
    (r"\frac12", "0.5"),
    (r"1\frac{1}{2}", "1.5"),
    ("1 1/2", r"\frac{3}{2}"),
    ("½", r"\frac{1}{2}"),
    (r"-\frac{1}{4}", "-0.25"),
    ("−0.25", r"-\frac{1}{4}"),
    (r"70,\!000", "70000"),
    (r"70{,}000", "70000"),
    (r"50\%", "50%"),
    ("50%", r"\frac{1}{2}"),
    (r"12\text{ cm}", "12 cm"),
    (r"12\text{ cm}", "12"),
    (r"90^\circ", "90°"),
    ("x = 5", "5"),
    (r"6.02 \times 10^{23}", "6.02e23"),
    (r"\{1, 2, 3\}", r"\{3, 2, 1\}"),
    (r"\left(1, 2\right)", "(1,2)"),
    ("[0, 1)", r"[0,1)"),
    (r"6 \text{ and } 8", "8, 6"),
    ("0.0833333333333333", r"\frac{1}{12}"),
]
DIFFERENT = [
    (r"\frac{10}{9}", "9/10"),
    (r"\frac{3}{4}", r"\frac{1}{4}"),
    ("(1, 2)", "(2, 1)"),
    (r"\{1, 2\}", r"\{1, 3\}"),
    ("[0, 1)", "[0, 2)"),
    ("59/2", "27"),
]
OPEN = [
    ("0.3333", r"\frac{1}{3}"),
    ("0.33", "1/3"),
    ("12 cm", "12 m"),
    ("(0, 1)", "[0, 1]"),
    (r"\sqrt{2}", "2"),
    ("2x + 1", "1 + 2x"),
    (r"\frac{1}{2", "1/2"),
    ("6,8", "6.8"),
]


@each(("answer", "gold"), SAME)
def test_numbers_in_any_writing_are_the_same(answer: str, gold: str) -> None:
    assert compare_maths(answer, gold, "", None)[0] is Decision.CORRECT


@pytest.mark.parametrize(("answer", "gold"), DIFFERENT)
def test_other_numbers_are_different(answer: str, gold: str) -> None:
    assert compare_maths(answer, gold, "", None)[0] is Decision.INCORRECT


@each(("answer", "gold"), OPEN)
def test_what_is_not_certain_is_undecided_without_algebra(answer: str, gold: str) -> None:
    assert compare_maths(answer, gold, "", None)[0] is Decision.UNDECIDED


def test_the_rest_is_handed_over_and_believed() -> None:
    for said, decision in ((True, "correct"), (False, "incorrect"), (None, "undecided")):
        algebra = Algebra(said)
        assert compare_maths("2x + 1", "1 + 2x", "", algebra)[0].value == decision
        assert algebra.asked == [("1 + 2x", "2x + 1")]


def test_numbers_are_never_handed_over() -> None:
    algebra = Algebra(False)
    assert compare_maths(r"\frac{10}{9}", "10/9", "", algebra)[0] is Decision.CORRECT
    assert algebra.asked == []


def test_words_are_not_handed_over() -> None:
    """Algebra would read a word as a product of its letters."""
    algebra = Algebra(False)
    for answer in ("No", r"\text{necessary but not sufficient}", "(C)", "D"):
        assert compare_maths(answer, "x > 2", "", algebra)[0] is Decision.UNDECIDED
    assert algebra.asked == []


def test_an_equal_formula_in_a_form_that_was_asked_for_is_undecided() -> None:
    assert compare_maths("(x+1)^2", "x^2+2x+1", "Expand the square.", Algebra(True)) == (
        Decision.UNDECIDED,
        "form_asked",
    )


@pytest.mark.parametrize(
    ("response", "gold"),
    [
        (r"So the answer is $\frac{10}{9}$.", "10/9"),
        (r"So the answer is \boxed{\frac{10}{9}}.", "10/9"),
        ("So the answer is 10/9.", r"\frac{10}{9}"),
        ("Thus:\n\\[\n\\boxed{\\frac{1}{2}}\n\\]", r"$\frac{1}{2}$"),
        ("Final Answer: The largest $n$ is 34.", "$34$"),
        (r"We get $\boxed{2}$ and $\boxed{3}$.", r"\{2, 3\}"),
        ("The final answer is 14400. I hope it is correct.", "$14400$"),
    ],
)
def test_whole_responses(response: str, gold: str) -> None:
    assert match_answer(response, gold).decision is Decision.CORRECT


def test_without_algebra_the_rule_says_what_is_missing() -> None:
    result = match_answer(r"So the answer is $\sqrt{8}$.", r"$2\sqrt{2}$")
    assert (result.decision, result.rules[-1]) == (Decision.UNDECIDED, "needs_maths")
    assert match_answer(r"So the answer is $\sqrt{8}$.", r"$2\sqrt{2}$", maths=Algebra(True)).decision == "correct"


def test_two_formulas_are_handed_over_as_a_list() -> None:
    """Roots are written with "or": whether they are the ground truth is for algebra to say, of both."""
    algebra = Algebra(None)
    match_answer(r"The answer is $\sqrt{8}$ or $3$.", r"$2\sqrt{2}$", maths=algebra)
    assert algebra.asked[0][1] == r"\sqrt{8}, 3"


def test_a_worked_solution_says_its_answer_in_a_box() -> None:
    assert gold_maths("Some steps. " * 30 + r"\boxed{\frac{1}{2}}") == r"\frac{1}{2}"
    assert gold_maths("Some steps. " * 30 + r"\boxed{1} papers and \boxed{2} bins") is None
    assert gold_maths("Only steps, $x$ and $y$. " * 30) is None


def test_boxes_side_by_side_are_one_list() -> None:
    boxes = joined_boxes(r"so \boxed{(1, 2)}, \boxed{\frac{1}{\sqrt{2}}} \text{and} $\boxed{3}$.")
    assert boxes is not None
    assert boxes.text == r"(1, 2), \frac{1}{\sqrt{2}}, 3"
    assert joined_boxes(r"\boxed{1} or \boxed{2}") is None


@each("gold", ["red", "(A)", "12:30", "2021-05-01", "10-20", "B2", ") ]", "the answer", "N/A"])
def test_words_dates_and_codes_are_no_mathematics(gold: str) -> None:
    assert not looks_like_maths(gold)


@each("gold", ["2x+1", r"\frac{1}{2}", "$9$", "(1, 2)", "sqrt(2)", "x^2", "√2", "5!"])
def test_mathematics_is_recognised(gold: str) -> None:
    assert looks_like_maths(gold)


@each(
    "text",
    [
        "{" * 1000,
        "\\frac" * 200,
        "1," * 200,
        "$" * 999,
        "(" * 500 + "1" + ")" * 499,
        "-" * 1000,
        "\\boxed{" * 140,
        "9" * 390,
    ],
)
def test_no_text_takes_long_or_raises(text: str) -> None:
    began = time.thread_time()
    plain_value(text)
    compare_maths(text, "1/2", "", None)
    match_answer(text * 200, r"\frac{1}{2}")
    assert time.thread_time() - began < 1.0
