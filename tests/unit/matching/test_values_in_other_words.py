"""One value in other words is the same value, or left open; never called wrong."""

import pytest
from tests.cases import each

from mixseek.judges.math_verify import find_maths
from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision
from mixseek.reports.summary import needs_maths_text

SAME = [
    ("2.5M", "2.5 million"),
    ("2.5 million", "2.5M"),
    ("2,500,000", "2.5M"),
    ("$1.5B", "1.5 billion"),
    ("$1.5B", "$1,500,000,000"),
    ("€1.5 bn", "1.5 billion"),
    ("1.5e9", "1.5 billion"),
    ("10k", "10,000"),
    ("3万", "30000"),
    ("1.2億", "120000000"),
    ("1.2亿", "120000000"),
    ("one eighth", "1/8"),
    ("1/8", "one eighth"),
    ("one tenth", "0.1"),
    ("three quarters", "0.75"),
    ("two and a half", "2.5"),
    ("6.02 x 10^23", "6.02e23"),
    ("6.02e23", "6.02 x 10^23"),
    ("6.02 × 10²³", "6.02e23"),
    ("fifty percent", "50%"),
    ("1 1/2", "1.5"),
    ("1½", "1.5"),
    ("−5", "-5"),
    ("➖5", "-5"),
    ("a million", "1000000"),
    ("5 lakh", "500000"),
    ("five lakh", "500,000"),
    ("1.5 lakhs", "150000"),
    ("two crores", "20000000"),
    ("1 crore", "10 million"),
    ("5,00,000", "5 lakh"),
    (r"\frac{10}{9}", "10/9"),
    ("10/9", r"\frac{10}{9}"),
    # Beside a number that says how much, one that says for whom or which step.
    ("1人あたり34ドル", "34"),
    ("一人当たり34ドル", "34"),
    ("每1人34元", "34"),
    ("per 1 person, 34", "34"),
    ("each of the 3 gets 12", "12"),
    ("Step 3: 34", "34"),
    ("1千", "1000"),
    ("2百万", "2000000"),
    ("nineteen eighty-four", "1984"),
    ("50%", "50 percent"),
    # Emphasis and groups of digits in other signs; marks of writing direction.
    ("__42__", "42"),
    ("1_234", "1234"),
    (r"10\,000", "10,000"),
    ("\u200f42\u200f", "42"),
    ("负五", "-5"),
    ("マイナス五", "-5"),
    ("一億五千万", "150000000"),
    ("三千万亿", "3e15"),
]
OPEN = [
    ("0.3333", "1/3"), ("1/3", "0.3333"), ("two dozen", "24"), ("half", "0.5"), ("3:4", "3/4"), ("2.5M", "2.5"),
    ("half a million", "500000"), ("33.3%", "1/3"), ("1 in 10", "0.1"), ("1 out of 8", "1/8"),
    ("2.5 Mio", "2.5 million"),
    ("6.02*10**23", "6.02e23"), ("6.02 x 10 to the 23", "6.02e23"), ("twenty-five percent", "1/4"),
    ("10 grand", "10000"),
    ("0.5", "50 percent"), ("三分の一", "1/3"), ("二分之一", "1/2"), ("1億5千万", "150000000"),
    ("none", "0"), ("nil", "0"),
    ("3.14", "3.14159"), ("3.14159", "3.14"), ("1.23 million", "1234567"), ("6.022e23", "6.02e23"),
    ("6 * 7", "42"), ("84 ÷ 2", "42"), ("5!", "120"), ("log(100000)", "5"), ("1 ÷ 3", "1/3"), ("1:2", "0.5"),
    ("42nd", "42"), ("eighteen point five", "18.5"), ("三点一四", "3.14"), ("5割", "50%"), ("二割五分", "25%"),
    ("叁万", "30000"), ("⑧", "8"), ("一つ", "1"), ("ふたり", "2"), ("both", "2"), ("ゼロ", "0"),
    ("drei", "3"), ("みっつ", "3"), ("три", "3"),
    ("300,000 km/s", "3e8"), ("1776 BC", "1776"),
]  # fmt: skip
OTHER = [("2.5 million", "2.5 billion"), ("one eighth", "8"), ("5", "-5"), ("1.5B", "1.5M"), ("0.25", "1/3"),
         ("1 in 4", "5"), ("3 m", "7"), ("25 percent", "20"), ("5 in 2020", "7"), ("7", "0"), ("负五", "5"),
         ("1161", "1160"), ("4 * 1994", "997"), ("1/4", "1/3"), ("3.15", "3.14"), ("6.02e22", "6.02e23")]  # fmt: skip


@each("cue", ["{}", "The answer is {}."])
@each(("answer", "gold"), SAME)
def test_the_same_value(answer: str, gold: str, cue: str) -> None:
    assert match_answer(cue.format(answer), gold).decision is Decision.CORRECT


@each("cue", ["{}", "The answer is {}."])
@each(("answer", "gold"), OPEN)
def test_what_may_be_meant_is_left_open(answer: str, gold: str, cue: str) -> None:
    assert match_answer(cue.format(answer), gold).decision is Decision.UNDECIDED


@each(("answer", "gold"), OTHER)
def test_another_value(answer: str, gold: str) -> None:
    assert match_answer(f"The answer is {answer}.", gold).decision is Decision.INCORRECT


@pytest.mark.parametrize(
    ("response", "gold"),
    [
        ("42nd", "4"),
        ("四分の一", "4"),
        ("三分の二", "2"),
        ("五成", "5"),
        ("2020s", "2020"),
        ("8にはなりません。", "8"),
        ("half of 10", "10"),
        ("The answer is 42. No, wait: 40.", "42"),
    ],
)
def test_a_part_of_what_is_said_is_not_the_answer(response: str, gold: str) -> None:
    assert match_answer(response, gold).decision is not Decision.CORRECT


@pytest.mark.parametrize(
    ("response", "gold", "question"),
    [
        ("There are ten episodes in season 3.", "10", "How many episodes are in season 3?"),
        ("- 8", "8", "How many?"),
        ("The answer is 40. No, wait: 42.", "42", ""),
        ("10^-3", "0.001", ""),
    ],
)
def test_nor_does_a_part_make_it_wrong(response: str, gold: str, question: str) -> None:
    assert match_answer(response, gold, question=question, maths=find_maths()).decision is not Decision.INCORRECT


@pytest.mark.parametrize(
    ("question", "expected"),
    [("How many crates are there?", Decision.UNDECIDED), ("What percentage of them is left?", Decision.CORRECT)],
)
def test_a_percentage_answers_a_question_that_may_ask_for_one(question: str, expected: Decision) -> None:
    """Else 42 % is a share of something, and not 42 of it."""
    assert match_answer("The answer is 42%.", "42", question=question).decision is expected


def test_a_chain_of_equals_comes_to_its_last_value() -> None:
    """Also where nobody can compare mathematics."""
    assert match_answer("The answer is $2^{20} = 1,048,576$.", "1048576").decision is Decision.CORRECT


@pytest.mark.parametrize(
    ("response", "expected"), [("1982-04-17", Decision.CORRECT), ("1982-13-17", Decision.UNDECIDED)]
)
def test_a_date_in_figures_is_read_where_its_order_is_known(response: str, expected: Decision) -> None:
    assert match_answer(response, "April 17, 1982", question="When was she born?").decision is expected


@pytest.mark.parametrize("response", ["#### 3 people pay 34", "Answer: 3 people pay 34 each"])
def test_another_number_in_front_is_not_the_answer(response: str) -> None:
    assert match_answer(response, "34").decision is not Decision.INCORRECT


def test_the_summary_says_what_would_help() -> None:
    assert needs_maths_text(1) == (
        "1 answer is mathematics that only the extra `maths` can compare: pip install 'mixseek[maths]'"
    )
    assert needs_maths_text(1_200).startswith("1,200 answers are mathematics")
