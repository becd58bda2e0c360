"""A series as a line beside its values: a step without a value is a gap, and a small change looks small."""

import re

from mixseek.presentation.pictures import Series, Step
from mixseek.presentation.render.drawings import series_svg
from mixseek.presentation.render.html import sections_html
from mixseek.presentation.render.markdown import sections_markdown
from mixseek.presentation.sections import Section, TableRows


def series_of(*shares: float | None, is_drawn: bool = True) -> Series:
    return Series([Step(f"run {n}", share, f"{share}") for n, share in enumerate(shares)], is_drawn)


def heights(drawn: str) -> list[float]:
    return [float(place) for place in re.findall(r'cy="([\d.]+)"', drawn)]


def test_a_line_is_broken_where_a_step_has_no_value() -> None:
    drawn = series_svg(series_of(0.1, 0.5, None, 0.7, 0.9))

    assert drawn.count("<line") == 2
    assert heights(drawn) == sorted(heights(drawn), reverse=True)
    assert len(heights(drawn)) == 4
    assert series_svg(series_of(None, None)).count("<circle") == 0


def test_a_hair_s_breadth_does_not_look_like_a_gulf() -> None:
    """A change of a hundredth is less than a tenth of the height; large ones fill it, and stay inside."""
    small, large = (heights(series_svg(series_of(*shares))) for shares in ((0.51, 0.52), (0.0, 1.0)))

    assert 0 < small[0] - small[1] < 3
    assert large == [25.0, 5.0]


def test_the_values_stand_beside_the_line_as_text() -> None:
    """Whoever cannot see it is told nothing less; characters are all there is elsewhere."""
    section = Section(None, [TableRows(("name", "trend"), [("sums", series_of(0.25, 0.5))])])
    page = sections_html([section])

    assert 'aria-hidden="true"' in page
    assert re.findall(r">([\d.]+)</span>", page) == ["0.25", "0.5"]
    assert "<svg" not in sections_html(
        [Section(None, [TableRows(("name", "trend"), [("sums", series_of(0.25, is_drawn=False))])])]
    )
    assert "| sums | `2 ▃▅` |" in sections_markdown([section])


def test_a_movement_is_plain_in_markdown() -> None:
    """A sign before a number and an arrow can do nothing there; what could is code still."""
    plain, odd = "51.3% → 52.5% (+1.2 points, −0.1 to ±2.3)", "+ item"
    table = TableRows(("row",), [(plain,), (odd,)])

    assert f"| {plain} |\n| `{odd}` |" in sections_markdown([Section(None, [table])])
