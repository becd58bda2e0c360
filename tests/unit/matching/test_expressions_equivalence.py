r"""Equivalence classes: within one, every pair is the same answer; between neighbours, never."""

from itertools import combinations, permutations

import pytest

from mixseek.matching.expressions.compare import compare_expressions
from mixseek.matching.outcome import Decision

# Each line is one value in several spellings.
NUMBERS = {
    "one half": [
        "1/2",
        "0.5",
        ".5",
        r"\frac{1}{2}",
        r"\frac12",
        r"\dfrac{1}{2}",
        r"\tfrac 1 2",
        "½",
        "50%",
        r"50\%",
        r"$\frac{2}{4}$",
    ],
    "one and a half": ["3/2", "1.5", r"1\frac{1}{2}", "1 1/2", "1½", "1,5"],
    "minus one third": [r"-\frac{1}{3}", r"\frac{-1}{3}", "-1/3", r"-0.\overline{3}", r"\frac{1}{-3}"],
    "root two over two": [
        r"\frac{\sqrt{2}}{2}",
        r"\frac{1}{\sqrt{2}}",
        "sqrt(2)/2",
        "√2/2",
        r"2^{-1/2}",
        r"\sin 45^\circ",
        r"\sqrt{\frac12}",
    ],
    "a thousand": [
        "1000",
        "1,000",
        r"1{,}000",
        r"1,\!000",
        r"10^3",
        "10^{3}",
        "1e3",
        r"1 \times 10^{3}",
        "1 000",
        "1000.00",
        r"\$1,000",
    ],
    "a million": ["1000000", "1,000,000", r"10^6", "1 million", r"1{,}000{,}000"],
    "list of two big ones": ["10,100", "100, 10"],
    "kilobyte": ["1024", "2^10", "2^{10}", "2**10", "2¹⁰", r"4^5"],
    "pi thirds": [r"\frac{\pi}{3}", r"\pi/3", "π/3", "pi/3", r"\frac13\pi"],
    "twelve": [
        "12",
        r"\text{12}",
        r"\boxed{12}",
        "12.",
        "**12**",
        r"3 \cdot 4",
        r"3\times4",
        r"\frac{24}{2}",
        r"\binom{12}{1}",
        r"\mathbf{12}",
        r"\left(12\right)",
    ],
    "120": ["5!", "120", r"\frac{6!}{6}"],
    "right angle": [r"90^\circ", r"90^{\circ}", "90°", "90 degrees", r"90\text{ degrees}", "90"],
    "three": [
        r"\log_2 8",
        r"\log_{2}{8}",
        r"\sqrt{9}",
        r"\sqrt[3]{27}",
        r"|-3|",
        r"\lfloor \pi \rfloor",
        r"\gcd(6, 9)",
        "3",
    ],
    "complex": ["3+4i", "4i+3", r"(2+i)^2", r"3 + 4\mathrm{i}"],
    "minus one": ["-1", r"i^2", r"e^{i\pi}", r"\cos \pi", "−1", "–1"],
    "thousandth": ["0.001", "1e-3", "10^{-3}", r"1 \times 10^{-3}", "1/1000", "0.1%"],
    "twelve cm": [r"12\text{ cm}", "12 cm", r"12\,\mathrm{cm}", r"$12$ cm", "0.12 meters", "120 mm"],
    "ratio": ["1:2", r"\frac12", "2:4"],
    "infinity": [r"\infty", "∞", r"+\infty", "infinity"],
}
FORMULAS = {
    "square": [
        "(x+1)^2",
        "x^2+2x+1",
        "1+2x+x²",
        r"\left(x+1\right)\left(1+x\right)",
        "y = (x+1)^2",
        "f(x) = x^2 + 2x + 1",
    ],
    "product": ["2xy", "2yx", r"2\cdot x\cdot y", "x \\times 2y", r"\frac{4xy}{2}"],
    "quotient": [r"\frac{x}{2}", "x/2", r"\frac{1}{2}x", "0.5x"],
    "exponential": [r"e^{x+y}", r"e^x e^y", r"e^{y} \cdot e^{x}"],
    "gauss": [r"\frac{n(n+1)}{2}", "n(n+1)/2", r"\frac{n^2+n}{2}", r"\binom{n+1}{2}"],
    "double angle": [r"\sin 2x", r"2\sin x\cos x", r"2 \sin(x) \cos(x)"],
    "subscripts": ["a_1 + a_{2}", "a_2+a_1", r"a_{1}+a_2"],
    "functional": ["f(x+1)", "f(1+x)"],
}
STRUCTURES = {
    "set of two": [
        r"\{1,2\}",
        r"\{2, 1\}",
        "{1,2}",
        "1, 2",
        "1 and 2",
        r"1 \text{ or } 2",
        "x=1 or x=2",
        "x = 1, 2",
        r"x_1 = 1, x_2 = 2",
    ],
    "signs": [r"\pm 2", r"\{-2, 2\}", "2, -2", r"x = \pm 2", r"x=2 \text{ or } x=-2", r"\pm\sqrt{4}"],
    "roots": [r"1 \pm \sqrt{2}", r"1+\sqrt2, 1-\sqrt2", r"\frac{2 \pm \sqrt{8}}{2}", r"x = 1 \pm \sqrt 2"],
    "triple": [
        "(1, 2, 3)",
        r"\left(1,2,3\right)",
        r"\langle 1, 2, 3\rangle",
        "(x,y,z)=(1,2,3)",
        "x=1, y=2, z=3",
        r"\begin{pmatrix}1\\2\\3\end{pmatrix}",
    ],
    "points": ["(1,2),(3,4)", r"\{(3,4),(1,2)\}", r"(3,4) \text{ and } (1,2)", "(1;2), (3;4)"],
    "matrix": [
        r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
        r"\begin{bmatrix}1&2\\3&4\end{bmatrix}",
        r"\left[\begin{array}{cc} 1 & 2 \\ 3 & 4 \end{array}\right]",
        r"\frac12\begin{pmatrix} 2 & 4 \\ 6 & 8 \end{pmatrix}",
    ],
    "half line": [
        "x > 3",
        "3 < x",
        r"(3, \infty)",
        r"x \in (3, \infty)",
        r"\{x \mid x > 3\}",
        r"(3,+\infty)",
        "2x > 6",
        "x>3.0",
    ],
    "segment": ["-1 \\le x < 2", "[-1, 2)", r"x \in [-1,2)", r"2 > x \geq -1", r"x \ge -1 \text{ and } x < 2"],
    "two rays": [
        r"(-\infty,-2)\cup(2,\infty)",
        "x<-2 or x>2",
        "|x| > 2",
        r"x^2 > 4",
        r"(2,\infty) \cup (-\infty,-2)",
        "(-∞,-2)U(2,∞)",
    ],
    "punctured": [r"x \neq 3", r"(-\infty,3)\cup(3,\infty)", r"\mathbb{R} \setminus \{3\}"],
    "everything": [r"\mathbb{R}", r"(-\infty,\infty)", r"\text{all real numbers}"],
    "nothing": [r"\emptyset", r"\varnothing", r"\{\}", r"\text{no solution}"],
    "line": ["2x+3y=6", "4x+6y=12", "2x + 3y - 6 = 0", r"y = 2 - \frac{2}{3}x", r"\frac{x}{3}+\frac{y}{2}=1"],
    "hyperbola": ["xy=1", r"y=\frac{1}{x}", "1 = yx"],
    "circle": ["x^2+y^2=4", r"\frac{x^2}{4}+\frac{y^2}{4}=1", "4 - x^2 - y^2 = 0"],
    "binary": ["1011_2", "1011_{2}", r"1011_{\text{two}}"],
    "order": ["a<b<c", "c>b>a"],
    "words": [r"\text{Evelyn}", "Evelyn", r"\mathrm{evelyn}"],
    "system": [
        r"\begin{cases} x = 1 \\ y = 2 \end{cases}",
        "x=1, y=2",
        r"\left\{\begin{array}{l} x=1 \\ y=2 \end{array}\right.",
    ],
}
CLASSES = NUMBERS | FORMULAS | STRUCTURES


@pytest.mark.parametrize("name", CLASSES)
def test_every_pair_of_one_class_is_the_same_answer(name: str) -> None:
    """Reordering, expanding, another notation: still correct, in both directions."""
    unequal = [
        (answer, gold, compare_expressions(answer, gold))
        for answer, gold in permutations(CLASSES[name], 2)
        if compare_expressions(answer, gold).decision is not Decision.CORRECT
    ]

    assert unequal == []


def test_no_pair_of_two_classes_is_the_same_answer() -> None:
    """The first two spellings of each class against those of every other: never correct."""
    exempt = {("one half", "ratio"), ("twelve", "twelve cm")}
    confused = [
        (answer, gold)
        for one, other in combinations(CLASSES, 2)
        if (one, other) not in exempt
        for answer in CLASSES[one][:2]
        for gold in CLASSES[other][:2]
        if compare_expressions(answer, gold).decision is Decision.CORRECT
    ]

    assert confused == []
