"""A mark that is set under an answer, over it or beside it is a verdict on it, whatever form it has."""

from tests.cases import each

from mixseek.matching.stance.marks import is_mark, marked_before, marked_behind
from mixseek.matching.stance.sentences import Setting

TEXT, NUMBER, POLARITY = Setting("text"), Setting("number"), Setting("boolean", value="wrong incorrect correct right")


@each("line", ["grade: incorrect", "0/10", "✗", "❌ ❌", "[wrong]", "(incorrect)", "no points", "採点:不正解"])
def test_nothing_but_a_mark_is_one(line: str) -> None:
    assert is_mark(line, TEXT)
    assert is_mark(f"  **{line}**  ", TEXT)


@each("line", ["", "   ", "***", "✓", "10/10", "grade: correct", "[right]", "the capital is ghent", "採点:正解"])
def test_a_line_that_is_empty_or_praises_or_says_something_else_is_none(line: str) -> None:
    assert not is_mark(line, TEXT)


def test_a_mark_is_short() -> None:
    mark = "grade: incorrect, " + "very " * 12

    assert len(mark.strip()) <= 80
    assert is_mark(mark.strip(), TEXT) == is_mark("grade: incorrect, very", TEXT)
    assert not is_mark("grade: incorrect " + "." + "a" * 80, TEXT)


def test_a_share_of_points_may_be_a_number_that_was_asked_for() -> None:
    assert is_mark("0/10", POLARITY)
    assert not is_mark("0/10", NUMBER)


@each(
    ("text", "is_marked"),
    [
        ("it is ghent.\ngrade: incorrect", True),
        ("it is ghent. (wrong)", True),
        ("it is ghent.\ngrade: correct", False),
        ("it is ghent.\n\nthank you for asking", False),
    ],
)
def test_a_mark_behind_an_answer_is_about_it(text: str, is_marked: bool) -> None:
    end = text.index("ghent") + len("ghent")

    assert marked_behind(text, end, len(text), TEXT) == is_marked


@each(
    ("text", "is_marked"),
    [
        ("✗ ghent", True),
        ("✗ ghent, ✓ bruges", False),
        ("✗ ghent, ✗ bruges", False),
        ("[wrong] ghent", True),
        ("[right] ghent", False),
        ("grade: incorrect\nghent", True),
        ("grade: correct\nghent", False),
    ],
)
def test_a_mark_before_an_answer_is_about_it_unless_several_are_weighed(text: str, is_marked: bool) -> None:
    assert marked_before(text, text.index("ghent"), "text") == is_marked
