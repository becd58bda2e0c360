r"""LaTeX as plain text, and which ground truths are mathematics."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixseek.matching.expressions.compare import looks_like_expression
from mixseek.matching.expressions.latex_text import plain_from_latex


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"\boxed{\text{(B)}}", "(B)"),
        (r"$\boxed{True}$", "True"),
        (r"\mathbf{No}", "No"),
        (r"\textbf{(A)}\ 5", "(A) 5"),
        (r"\left( 1, 2 \right)", "( 1, 2 )"),
        (r"90^\circ", "90°"),
        (r"\frac{1}{2}", "1/2"),
        (r"\dfrac12", "1/2"),
        (r"50\%", "50%"),
        (r"\$5", "$5"),
        (r"\(x\)", "x"),
        (r"\[ \text{yes} \]", "yes"),
        (r"\{a,b\}", "{a,b}"),
        (r"a \\ b", "a b"),
        (r"3 \times 4", "3 ×4"),
        (r"x \le 5", "x ≤5"),
        (r"\alpha", r"\alpha"),
        (r"\mathrm{Thursday}", "Thursday"),
        ("plain text", "plain text"),
        ("$5$", "5"),
        ("", ""),
    ],
)
def test_dress_goes_and_content_stays(latex: str, plain: str) -> None:
    """Formatting commands and delimiters vanish; unknown commands are kept."""
    assert plain_from_latex(latex) == plain


@given(st.text(alphabet="\\{}$^_ abtext1()[]~,;!%", max_size=80))
def test_plain_text_is_never_longer_and_never_raises(text: str) -> None:
    """Except a command that is drawn as one character, everything only shrinks."""
    assert len(plain_from_latex(text)) <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "3/4", "x=5", "(1, 2)", "[0,1)", "2x+1", "sqrt(2)/2", "sin(x)", "π", "½", "1e-3", "10_8", "x > 3", "{1,2}",
        r"\frac12", "$5$", r"\text{east}", "2^10", "a+b", "x^2", "-x+1", "f(x)=2", "5!", r"28\%", "x²", "2 + 2 = 4",
        "(-∞, 3]", "1 ± √2",
    ],
)  # fmt: skip
def test_mathematics_is_recognised(text: str) -> None:
    """LaTeX, operators between terms, brackets with items, mathematical characters."""
    assert looks_like_expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "42", "1,000", "-3.5", "$1,000", "28%", "5 cm", "(A)", "A", "x", "True", "and/or", "N/A", "05/01/2021",
        "2021-05-01", "10:30", "1990-1995", "COVID-19", "I-95", "B2", "] ) }", "word, another", "apple", "(B) foo",
        "AC/DC", "Yes", "12 apples and 3 pears", "The capital of France", "well-known", "1-800-555",
    ],
)  # fmt: skip
def test_words_options_dates_and_plain_numbers_are_left_to_others(text: str) -> None:
    """Other comparers read these better."""
    assert not looks_like_expression(text)
