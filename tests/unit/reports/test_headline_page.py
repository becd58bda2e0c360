"""The page opens with targets: their ranking drawn on one axis, with room for a second estimate beside each."""

import re
from dataclasses import replace

from tests.unit.reports.scored_material import headline_of, page_report

from mixseek.analysis.labels.corrected import CorrectedGroup, CorrectedReport, JudgeMean, LabelFacts
from mixseek.analysis.run.headline import with_corrected
from mixseek.analysis.run.model import Beside, Headline
from mixseek.reports.pages.html import render_html
from mixseek.stats.estimates import Corrected, Drawing, State


def with_marks(headline: Headline) -> Headline:
    """Every target with what labels make of it."""
    part = headline.columns[0]
    groups = tuple(replace(group, beside=(Beside("corrected", 0.45, 0.3, 0.6),)) for group in part.groups)
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
    page = render_html(page_report(headline=with_marks(headline_of("first", "second"))))

    assert (plain.count('class="beside-mean"'), page.count('class="beside-mean"')) == (0, 2)
    assert page.count('class="beside-interval"') == 2
    assert page.count("corrected 1.80 (1.20–2.40)") == 2


def test_no_style_is_written_into_an_element() -> None:
    """The page's policy would drop it: places are attributes of the drawing."""
    page = render_html(page_report(headline=with_marks(headline_of("first"))))

    assert " style=" not in page


def test_labels_that_give_a_number_stand_beside_their_target_and_refusals_do_not() -> None:
    """What a refusal says is told in the section of the labels, never as a number."""
    alone = JudgeMean(0.5, None, 2)
    told = Corrected(State.CORRECTED, point=0.4, low=0.2, high=0.6)
    refused = Corrected(State.BOUNDS, low=0.1, high=0.9)
    groups = tuple(
        CorrectedGroup(name, 3, 2, Drawing.RANDOM, alone, told, corrected)
        for name, corrected in ((None, told), ("first", told), ("second", refused))
    )
    headline = with_corrected(headline_of("first", "second"), CorrectedReport(LabelFacts(), groups))

    assert headline.beside == (Beside("corrected", 0.4, 0.2, 0.6),)
    assert {group.name: len(group.beside) for group in headline.columns[0].groups} == {"first": 1, "second": 0}
    assert with_corrected(headline_of("first"), None) == headline_of("first")
