"""From counts to what a report says about dimensions: cross judgments in means, everything else beside them."""

from random import Random

import pytest
from tests.unit.reports.scored_material import CELLS, cell, invalid, scored_report, source

from mixseek.analysis.scored import build_scored
from mixseek.analysis.scored_model import InvalidSpread
from mixseek.domain.judgments import Status
from mixseek.domain.scored_counts import DimensionBucket, DimensionCell
from mixseek.stats.intervals import wilson_interval
from mixseek.stats.uneven import PValueMethod


def test_self_judgments_stand_in_the_control_table_and_nowhere_else() -> None:
    """Beside what the other judges say of the same model."""
    report = scored_report()
    (control,) = report.controls
    cells = {(row.judge, cell.target): cell for row in report.matrix for cell in row.cells}

    assert (control.judge, control.target, control.own.mean, control.own.counts.invalid) == ("m1", "m1", 1.0, 1)
    assert (control.others.mean, control.difference) == (0.5, 0.5)
    assert cells["m1", "m1"].is_own_output
    assert cells["m1", "m1"].score.counts.total == 0
    assert cells["m1", "m2"].score.mean == pytest.approx(0.5)
    assert cells["m2", "m1"].same_family
    assert cells["m2", "m1"].score.counts.unscored == 3
    assert [(profile.target, profile.total.mean) for profile in report.targets] == [("m1", 0.5), ("m2", 0.5)]


def test_a_control_without_anybody_else_has_no_difference() -> None:
    """Nought would be a claim."""
    report = scored_report(cells=[cell(1.0, target="m1", is_control=True)], variants=())

    assert report.controls[0].difference is None


def test_without_target_models_there_is_neither_matrix_nor_table_of_targets() -> None:
    """A rubric's samples may name none."""
    report = scored_report(cells=[cell(1.0, target=None)], variants=())

    assert (report.matrix, report.targets) == ((), ())


def test_critical_fails_are_a_headline() -> None:
    """Of cross judgments, and per judge."""
    report = scored_report()

    assert report.critical == 1
    assert {profile.judge: profile.critical for profile in report.judges} == {"m1": 1, "m2": 0}


def test_dimensions_are_shown_on_their_own_scale() -> None:
    """Every mark has a bar, noughts included; means are shares with the scale beside them."""
    report = scored_report()
    (form, fidelity) = report.judges[0].dimensions

    assert (form.dimension, form.score.maximum) == ("FORMAT", 2.0)
    assert form.score.mean == pytest.approx(2 / 3)
    assert [(bar.low, bar.count) for bar in form.bars] == [(0, 0), (1, 2), (2, 1)]
    assert [bar.count for bar in fidelity.bars] == [1, 2, 0]
    assert report.dimensions == ("FORMAT", "FIDELITY")


def test_samples_with_other_weights_meet_as_shares() -> None:
    """60 of 60 and 15 of 30 are 75 % of the maximum, and no scale is named."""
    report = scored_report(
        cells=[cell(1.0, task_type="fact"), cell(0.5, task_type="creative")],
        dimensions=[
            DimensionCell("m1", "m2", "A", "fact", "FORMAT", 60.0, 1, 60.0, 3600.0),
            DimensionCell("m1", "m2", "A", "creative", "FORMAT", 30.0, 1, 15.0, 225.0),
        ],
        buckets=[
            DimensionBucket("m1", "FORMAT", 60.0, 54.0, 60.0, 1),
            DimensionBucket("m1", "FORMAT", 30.0, 15.0, 18.0, 1),
        ],
        variants=(),
    )
    (form,) = report.judges[0].dimensions

    assert (form.score.mean, form.score.maximum) == (0.75, None)
    assert [bar.count for bar in form.bars] == [0, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert [(profile.task_type, profile.dimensions[0].score.maximum) for profile in report.task_types] == [
        ("creative", 30.0),
        ("fact", 60.0),
    ]


def test_drift_is_the_paired_difference_and_the_widest_comes_first() -> None:
    """With the number of pairs and questions, and both shares of invalid ones."""
    (comparison,) = scored_report().variants

    assert (comparison.base, comparison.other) == ("A", "B")
    assert comparison.total.difference.mean == pytest.approx(-0.25)
    assert (comparison.total.difference.pairs, comparison.total.difference.clusters) == (3, 3)
    assert [measure.measure for measure in comparison.dimensions] == ["FORMAT", "FIDELITY"]
    assert (comparison.base_invalid.invalid, comparison.other_invalid.invalid) == (1, 3)


def spread_of(*cells: object) -> InvalidSpread:
    return scored_report(cells=cells, variants=()).invalid


def test_an_uneven_spread_of_invalid_evaluations_is_found_and_corrected_for() -> None:
    """All in one judge's replies; Holm over the factors that could be tested."""
    spread = spread_of(cell(*[1.0] * 20), invalid(15, judge="m2"), cell(*[1.0] * 5, judge="m2"))
    (factor,) = spread.uneven

    assert (spread.whole.invalid, spread.whole.judged) == (15, 40)
    assert factor.factor == "judge"
    assert [(group.name, group.invalid, group.judged) for group in factor.groups] == [("m1", 0, 20), ("m2", 15, 20)]
    assert factor.groups[1].interval == wilson_interval(15, 20)
    assert factor.test is not None
    assert factor.test.method is PValueMethod.CHI_SQUARE
    assert [other.factor for other in spread.factors] == ["judge"]


def test_more_factors_make_the_same_finding_weaker() -> None:
    """5 of 6 against 0 of 6 is p = 0.015; with two factors tested, 0.03."""
    one = spread_of(cell(*[1.0] * 6), invalid(5, judge="m2"), cell(1.0, judge="m2"))
    two = spread_of(
        cell(*[1.0] * 6, variant="A"), invalid(5, judge="m2", variant="B"), cell(1.0, judge="m2", variant="B")
    )
    (alone,), (first, second) = one.factors, two.factors

    assert alone.test is not None
    assert alone.p_adjusted == pytest.approx(alone.test.p_value) == pytest.approx(12 / 792)
    assert (first.factor, second.factor) == ("judge", "variant")
    assert first.p_adjusted == pytest.approx(2 * 12 / 792)


def test_missing_replies_are_no_invalid_evaluations() -> None:
    """Nothing came that could have been unusable."""
    spread = spread_of(cell(1.0), invalid(4, status=Status.MISSING), invalid(1, judge="m2"))

    assert (spread.whole.invalid, spread.whole.judged) == (1, 2)


def test_evidence_is_summed_per_judge_and_then_by_dimension_in_the_protocols_order() -> None:
    """Found means: a stage and no problem."""
    lines = [(line.judge, line.dimension, line.found, line.quotes) for line in scored_report().evidence]

    assert lines == [("m1", None, 5, 6), ("m1", "FORMAT", 3, 3), ("m1", "FIDELITY", 2, 3)]


def test_agreement_has_a_share_a_spread_and_an_alpha() -> None:
    """And nothing where no sample has two judges."""
    panel = scored_report().panel

    assert panel is not None
    assert (panel.samples, panel.unanimous, panel.items[0].id) == (2, 1, "Q1-A-m3")
    assert panel.alpha == pytest.approx(1 - 0.125 / 0.125)
    assert scored_report(agreement=None).panel is None


def test_coverage_is_a_grid_with_its_holes() -> None:
    """Columns are target and judge; a product of one has nothing to cover."""
    coverage = scored_report().coverage

    assert coverage is not None
    assert (coverage.columns, coverage.holes_total) == ((("m2", "m1"),), 1)
    assert [(line.question, line.variant, line.statuses) for line in coverage.lines] == [
        ("Q1", "A", (Status.VALID,)),
        ("Q1", "B", (None,)),
    ]
    assert scored_report(coverage=None).coverage is None


def test_the_same_counts_give_the_same_report() -> None:
    """Permutation tests are seeded."""
    assert build_scored(source(), rng=Random(5)) == build_scored(source(), rng=Random(5))


def test_a_run_of_nothing_but_self_judgments_has_no_mean() -> None:
    """And is still a report."""
    report = scored_report(cells=[one for one in CELLS if one.is_control], dimensions=(), buckets=(), variants=())

    assert (report.maximum, report.critical, report.dimensions) == (None, 0, ())
    assert all(profile.total.mean is None for profile in report.targets)
