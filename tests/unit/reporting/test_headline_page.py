"""The page opens with targets: their ranking drawn on one axis, with room for a second estimate beside each."""

import re
from dataclasses import replace

from tests.unit.reporting.scored_material import headline_of, page_report

from mixseek.reporting.html import render_html
from mixseek.reporting.model import Beside, Headline
from mixseek.stats.intervals import Interval, IntervalMethod


def with_corrected(headline: Headline) -> Headline:
    """Every target with what labels make of it."""
    interval = Interval(0.3, 0.6, 0.95, IntervalMethod.STUDENT)
    part = headline.columns[0]
    groups = tuple(replace(group, beside=(Beside("corrected", 0.45, interval),)) for group in part.groups)
    return replace(headline, columns=(replace(part, groups=groups),))


def test_targets_come_before_judges_and_each_is_drawn() -> None:
    page = render_html(page_report(headline=headline_of("first", "second")))
    summary = page[page.index('<section id="summary"') : page.index('<section id="judges"')]

    assert summary.index("first") < summary.index("second") < summary.index("all samples")
    assert len(re.findall(r'<svg class="plot range"', summary)) == 3
    assert "Judge <span" not in summary
    assert "2 samples" in summary
    assert "1 split" in summary
    assert "How far the judges can be trusted" in page


def test_a_corrected_value_stands_beside_the_judges_own() -> None:
    """Drawn below it, and told in words and in the unit of the mean."""
    plain = render_html(page_report(headline=headline_of("first", "second")))
    page = render_html(page_report(headline=with_corrected(headline_of("first", "second"))))

    assert (plain.count('class="beside-mean"'), page.count('class="beside-mean"')) == (0, 2)
    assert page.count('class="beside-interval"') == 2
    assert page.count("corrected 1.80 (1.20–2.40)") == 2


def test_no_style_is_written_into_an_element() -> None:
    """The page's policy would drop it: places are attributes of the drawing."""
    page = render_html(page_report(headline=with_corrected(headline_of("first"))))

    assert " style=" not in page
