"""A number below nought has a minus before people, and a hyphen before programs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cases import each

import mixseek
from mixseek.competition.views.words import points_text, scale_text
from mixseek.domain.labels import LabelScale
from mixseek.reports.labels import on_scale, scale_tick
from mixseek.reports.wording.numbers import coefficient_text, lead_text, score_number, strength_text
from mixseek.reports.wording.scales import signed_text
from mixseek.text.phrases import plain_number

SOURCES = Path(mixseek.__file__).parent
SCALE = LabelScale(-2.0, 2.0, is_binary=False)
TEXTS: tuple[tuple[Callable[[], str], str], ...] = (
    (lambda: plain_number(-2.5), "−2.5"),
    (lambda: score_number(-0.25, is_binary=False), "−0.250"),
    (lambda: lead_text(-0.25, is_binary=True), "−25.0 points"),
    (lambda: signed_text(-0.25, 8), "−2.00"),
    (lambda: coefficient_text(-0.1), "−0.10"),
    (lambda: strength_text(-1.5), "−1.50"),
    (lambda: on_scale(0.25, SCALE), "−1.00"),
    (lambda: scale_tick(0.0, SCALE), "−2"),
    (lambda: points_text(-3.0), "−3.00"),
    (lambda: scale_text((-1.0, 1.0)), "−1 to 1"),
)
# Digits of a script that may stand before people: all go through one function.
_WRITTEN = re.compile(r"(withMinus\()?[\w.]*\b(?:mean|alpha|kappa|score|value)\.toFixed\(")


@each(("make", "expected"), TEXTS)
def test_a_minus_is_no_hyphen(make: Callable[[], str], expected: str) -> None:
    assert make() == expected


def test_scripts_write_numbers_with_a_minus() -> None:
    scripts = [path for path in SOURCES.rglob("assets/*.js") if "vendor" not in path.parts]

    written = [(path.name, guard) for path in scripts for guard in _WRITTEN.findall(path.read_text(encoding="utf-8"))]

    assert written
    assert [name for name, guard in written if not guard] == []


@pytest.mark.parametrize("name", ["evidence.js", "matrix.js", "detail.js"])
def test_rounded_scores_are_written_by_the_same(name: str) -> None:
    script = (SOURCES / "reports" / "assets" / name).read_text(encoding="utf-8")

    assert re.findall(r"String\(Math\.round", script) == []
