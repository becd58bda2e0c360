"""Dimensions, coverage, drift, evidence and agreement from the index, held against the same sums done by hand."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from tests.unit.storage.material import (
    CORRECT,
    INVALID,
    MISSING,
    judged_lines,
    make_manifest,
    make_run,
    make_sample,
    totals_of,
)
from tests.unit.storage.scored_material import UNUSABLE, output, quote, scored, scored_lines

from mixseek.domain.counts import FlagCount
from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Method, Outcome, Status, ValidJudgment
from mixseek.domain.panels import PanelRule
from mixseek.domain.samples import Sample
from mixseek.domain.scored_counts import (
    CoverageCell,
    DimensionBucket,
    DimensionCell,
    Disagreement,
    EvidenceCount,
    EvidenceProblem,
    ScoredCell,
    VariantSums,
)
from mixseek.index.run import RunIndex, open_run_index
from mixseek.index.totals import read_totals
from mixseek.storage.journal.manifest import ProtocolEntry, write_manifest

JUDGES = ("m1", "m2")


def asked(index: RunIndex) -> RunIndex:
    assert index.facts.has_scores
    return index


def random_run(seed: int, samples: int = 60) -> list[tuple[Sample, dict[str, Outcome]]]:
    """Outputs of three models to questions under three prompts, judged by two of them; a fifth is unusable."""
    rng = Random(seed)
    combinations = list(itertools.product((f"Q{n}" for n in range(8)), "ABC", ("m1", "m2", "m3")))
    run = []
    for question, variant, target in rng.sample(combinations, samples):
        outcomes: dict[str, Outcome] = {}
        for judge in JUDGES:
            method = Method.SELF_JUDGE if judge == target else Method.CROSS_JUDGE
            good = scored(rng.randrange(3), rng.randrange(3), method=method)
            outcomes[judge] = UNUSABLE if rng.random() < 0.2 else good
        run.append((output(question, variant, target), outcomes))
    return run


@contextmanager
def indexed(root: Path, run: list[tuple[Sample, dict[str, Outcome]]]) -> Iterator[RunIndex]:
    """The run, written and opened."""
    lines = [line for sample, outcomes in run for line in scored_lines(sample, outcomes)]
    workspace, directory = make_run(root, lines, JUDGES)
    with open_run_index(workspace, directory) as index:
        yield asked(index)


def test_a_protocol_without_dimensions_costs_and_shows_nothing(tmp_path: Path) -> None:
    """Nothing is filled, and nothing can be asked."""
    workspace, run = make_run(tmp_path, judged_lines(make_sample(1), {"rules": CORRECT}))

    with open_run_index(workspace, run) as index:
        assert not index.facts.has_scores


def test_a_run_in_which_nothing_is_valid_is_still_counted(tmp_path: Path) -> None:
    """Under a protocol that declares dimensions, whatever it is called; one without has none to miss."""
    declared = {"dimensions": {"clarity": {"title": "Clarity"}}}
    for protocol, is_scored in (("semantic", False), ("cross", True), ("mine", False), ("mine-scored", True)):
        workspace, run = make_run(tmp_path / protocol, judged_lines(make_sample(1), {"m1": INVALID}), ("m1",))
        parameters = declared if is_scored else {}
        entry = ProtocolEntry(name=protocol, version="1", language="zh", hash="cd" * 32, parameters=parameters)
        write_manifest(run.manifest, make_manifest(("m1",), protocol=entry))

        with open_run_index(workspace, run) as index:
            assert index.facts.has_scores == is_scored
            if is_scored:
                assert [(cell.status, cell.count) for cell in index.counts(ScoredCell)] == [(Status.INVALID, 1)]


@pytest.mark.parametrize("seed", range(3))
def test_cells_are_what_counting_by_hand_gives(tmp_path: Path, seed: int) -> None:
    """Every judgment stands in exactly one cell; sums are of valid ones."""
    run = random_run(seed)
    with indexed(tmp_path, run) as found:
        cells = found.counts(ScoredCell)
    by_hand: dict[tuple[str, str | None, str | None, bool, Status], list[float]] = defaultdict(list)
    for sample, outcomes in run:
        for judge, outcome in outcomes.items():
            status = Status.VALID if isinstance(outcome, ValidJudgment) else Status.INVALID
            score = outcome.score if isinstance(outcome, ValidJudgment) else 0.0
            by_hand[judge, sample.target_model, sample.prompt_variant, judge == sample.target_model, status].append(
                score
            )
    counted: dict[tuple[str, str | None, str | None, bool, Status], list[float]] = defaultdict(lambda: [0, 0.0])
    for cell in cells:
        own = counted[cell.judge, cell.target, cell.variant, cell.is_control, cell.status]
        own[0] += cell.count
        own[1] += cell.score_total

    # Quarters add up exactly.
    assert dict(counted) == {key: [len(scores), sum(scores)] for key, scores in by_hand.items()}


@pytest.mark.parametrize("seed", range(3))
def test_variants_are_paired_by_question_target_and_judge(tmp_path: Path, seed: int) -> None:
    """Sums over questions, from cross judgments that both variants have."""
    run = random_run(seed)
    with indexed(tmp_path, run) as found:
        all_sums = found.counts(VariantSums)
    scores = {
        (sample.question_id, sample.target_model, judge, sample.prompt_variant): outcome.score
        for sample, outcomes in run
        for judge, outcome in outcomes.items()
        if isinstance(outcome, ValidJudgment) and outcome.method is Method.CROSS_JUDGE
    }
    assert len({(sums.base, sums.other) for sums in all_sums}) == 3
    for sums in (sums for sums in all_sums if sums.measure is None):
        clusters: dict[str | None, list[float]] = defaultdict(list)
        for (question, target, judge, variant), score in scores.items():
            other = scores.get((question, target, judge, sums.other))
            if variant == sums.base and other is not None:
                clusters[question].append(other - score)

        assert (sums.questions, sums.pairs) == (len(clusters), sum(len(own) for own in clusters.values()))
        assert sums.total == pytest.approx(sum(sum(own) for own in clusters.values()))
        assert sums.total_of_squares == pytest.approx(sum(sum(own) ** 2 for own in clusters.values()))
        assert sums.total_of_products == pytest.approx(sum(len(own) * sum(own) for own in clusters.values()))
        assert sums.pairs_of_squares == sum(len(own) ** 2 for own in clusters.values())


def test_self_judgments_are_in_no_statistic_whatever_became_of_them(tmp_path: Path) -> None:
    """Valid ones by their method, unusable and missing ones by who judged whom; the headline has none of them."""
    mine = scored(2, 2, method=Method.SELF_JUDGE)
    lines = [
        *scored_lines(output("Q1", "A", "m1"), {"m1": mine, "m2": scored(1, 1)}),
        *scored_lines(output("Q2", "A", "m1"), {"m1": UNUSABLE, "m2": scored(0, 0)}),
        *scored_lines(output("Q3", "A", "m1"), {"m1": MISSING, "m2": UNUSABLE}),
    ]
    workspace, run = make_run(tmp_path, lines, JUDGES)

    with open_run_index(workspace, run) as index:
        controls = [(cell.judge, cell.status) for cell in asked(index).counts(ScoredCell) if cell.is_control]
        assert sorted(controls) == [("m1", Status.INVALID), ("m1", Status.MISSING), ("m1", Status.VALID)]
        assert [(total.judge, total.valid, total.invalid) for total in totals_of(index)] == [("m2", 2, 1)]
        whole = read_totals(run)
        assert whole is not None
        assert (whole.counts["valid"], whole.counts["invalid"], whole.mean_score) == (2, 1, 0.25)
        assert index.counts(FlagCount)[0].count == 1
        assert {cell.judge for cell in asked(index).counts(DimensionCell)} == {"m2"}
        assert index.settle(PanelRule.MEDIAN, JUDGES).ratings() is None
        rows = {(row.id, row.judge): row for row in index.rows()}
        assert rows["Q2-A-m1", "m1"].is_control
        assert not rows["Q2-A-m1", "m2"].is_control


def test_names_that_only_the_protocol_knows_to_be_one_model_are_followed(tmp_path: Path) -> None:
    """A valid judgment carries what the protocol's own table said; unusable ones of the same pair go with it."""
    lines = [
        *scored_lines(output("Q1", "A", "tuned"), {"house": scored(2, 2, method=Method.SELF_JUDGE)}),
        *scored_lines(output("Q2", "A", "tuned"), {"house": UNUSABLE}),
        *scored_lines(output("Q2", "A", "other"), {"house": UNUSABLE}),
    ]
    workspace, run = make_run(tmp_path, lines, ("house",))

    with open_run_index(workspace, run) as index:
        cells = {(cell.target, cell.status): cell.is_control for cell in asked(index).counts(ScoredCell)}

    assert cells == {
        ("tuned", Status.VALID): True,
        ("tuned", Status.INVALID): True,
        ("other", Status.INVALID): False,
    }


def test_a_recorded_reply_counts_for_the_model_that_gave_it(tmp_path: Path) -> None:
    """`replay:…` is nobody's model; a reply that is absent would have been of the same hand."""
    models = {"replay:x": "m1"}
    lines = [
        *scored_lines(output("Q1", "A", "m1"), {"replay:x": scored(2, 2, method=Method.SELF_JUDGE)}, models),
        *scored_lines(output("Q1", "A", "m2"), {"replay:x": scored(1, 2)}, models),
        *scored_lines(output("Q2", "A", "m1"), {"replay:x": MISSING}),
    ]
    workspace, run = make_run(tmp_path, lines, ("replay:x",))

    with open_run_index(workspace, run) as index:
        cells = asked(index).counts(ScoredCell)
        assert {cell.judge for cell in cells} == {"m1"}
        assert Counter(cell.is_control for cell in cells) == {True: 2, False: 1}
        assert index.judge_models() == models


def test_an_unnamed_recording_counts_for_whom_it_names_itself(tmp_path: Path) -> None:
    """A live judge's own name is not up to its reply."""
    judgment = scored(1, 2, identity={"judge_model": "m7"})
    for judge, known_as in (("replay", "m7"), ("replay:x", "m7"), ("openai:m9", "openai:m9")):
        lines = scored_lines(output("Q1", "A", "t"), {judge: judgment})
        workspace, run = make_run(tmp_path / judge.replace(":", "-"), lines, (judge,))

        with open_run_index(workspace, run) as index:
            assert [cell.judge for cell in asked(index).counts(ScoredCell)] == [known_as]


def test_marks_are_counted_in_steps_or_tenths(tmp_path: Path) -> None:
    """A scale of three marks as it is; one of sixty in tenths, full marks in the last."""
    short = [scored(0, 2), scored(1, 2), scored(2, 2)]
    long = [scored(60, 3, maxima=(60, 30)), scored(59, 0, maxima=(60, 30)), scored(6, 30, maxima=(60, 30))]
    buckets = {}
    for name, judgments in (("short", short), ("long", long)):
        lines = [
            line
            for number, judgment in enumerate(judgments)
            for line in scored_lines(output(f"Q{number}", "A", "t"), {"m1": judgment})
        ]
        workspace, run = make_run(tmp_path / name, lines, ("m1",))
        with open_run_index(workspace, run) as index:
            buckets[name] = [
                (part.dimension, part.low, part.high, part.count) for part in asked(index).counts(DimensionBucket)
            ]

    assert buckets["short"] == [
        ("FORMAT", 0, 0, 1), ("FORMAT", 1, 1, 1), ("FORMAT", 2, 2, 1), ("FIDELITY", 2, 2, 3),
    ]  # fmt: skip
    assert buckets["long"] == [
        ("FORMAT", 6, 12, 1), ("FORMAT", 54, 60, 2), ("FIDELITY", 0, 3, 1), ("FIDELITY", 3, 6, 1),
        ("FIDELITY", 27, 30, 1),
    ]  # fmt: skip


def test_coverage_names_every_hole(tmp_path: Path) -> None:
    """What the dataset lacks, what is unusable and what brought no reply; samples without a question are counted."""
    lines = [
        *scored_lines(output("Q1", "A", "t"), {"m1": scored(2, 2), "m2": UNUSABLE}),
        *scored_lines(output("Q1", "B", "t"), {"m1": scored(2, 2), "m2": MISSING}),
        *scored_lines(output("Q2", "A", "t"), {"m1": scored(2, 2), "m2": scored(1, 1)}),
        *scored_lines(output("Q9", "A", "t", question_id=None), {"m1": scored(2, 2), "m2": scored(1, 1)}),
    ]
    workspace, run = make_run(tmp_path, lines, JUDGES)

    with open_run_index(workspace, run) as index:
        coverage = asked(index).coverage()
        few = asked(index).coverage(holes=1)

    assert coverage is not None
    assert (coverage.expected, coverage.valid, coverage.unnamed, len(coverage.grid)) == (8, 4, 1, 8)
    assert coverage.holes == (
        CoverageCell("Q1", "A", "t", "m2", Status.INVALID),
        CoverageCell("Q1", "B", "t", "m2", Status.MISSING),
        CoverageCell("Q2", "B", "t", "m1", None),
        CoverageCell("Q2", "B", "t", "m2", None),
    )
    assert few is not None
    assert len(few.holes) == 1


def test_coverage_of_a_product_too_large_to_lay_out_lists_what_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No grid, and no list of what the dataset never held."""
    monkeypatch.setattr("mixseek.index.run._GRID_CELLS", 1)
    monkeypatch.setattr("mixseek.index.run._PRODUCT_CELLS", 1)
    lines = [
        *scored_lines(output("Q1", "A", "t"), {"m1": scored(2, 2), "m2": UNUSABLE}),
        *scored_lines(output("Q2", "B", "t"), {"m1": scored(2, 2), "m2": scored(1, 1)}),
    ]
    workspace, run = make_run(tmp_path, lines, JUDGES)

    with open_run_index(workspace, run) as index:
        coverage = asked(index).coverage()

    assert coverage is not None
    assert (coverage.expected, coverage.valid, coverage.grid) == (8, 3, ())
    assert coverage.holes == (CoverageCell("Q1", "A", "t", "m2", Status.INVALID),)


def test_quotes_are_counted_by_how_they_were_found_or_why_not(tmp_path: Path) -> None:
    """By judge and dimension; what is not in the response is listed."""
    good, bad = quote("FORMAT", "answers", [(3, 10)]), quote("FIDELITY", "invented", problem="not_found")
    lines = scored_lines(output("Q1", "A", "t"), {"m1": scored(2, 2, evidence=[good, bad]), "m2": scored(1, 1)})
    workspace, run = make_run(tmp_path, lines, JUDGES)

    with open_run_index(workspace, run) as index:
        counts = [
            (cell.judge, cell.dimension, cell.stage, cell.problem, cell.count)
            for cell in asked(index).counts(EvidenceCount)
        ]
        problems = asked(index).counts(EvidenceProblem)

    assert counts == [("m1", "FIDELITY", None, "not_found", 1), ("m1", "FORMAT", "exact", None, 1)]
    assert problems == [EvidenceProblem("Q1-A-t", "m1", "FIDELITY", "not_found", "invented")]


def test_quotes_of_invalid_judgments_count_and_those_not_looked_for_do_not(tmp_path: Path) -> None:
    """Otherwise a judge that invents its quotes would be left with the few that stand in the response."""
    invented = quote("FIDELITY", "invented", problem="not_found")
    refused = InvalidJudgment((Finding(Flag.PROTOCOL_VIOLATION, "not in it"),), fields={"evidence": [invented]})
    unseen = scored(1, 1, evidence=[quote("FORMAT", "unseen")])
    workspace, run = make_run(tmp_path, scored_lines(output("Q1", "A", "t"), {"m1": refused, "m2": unseen}), JUDGES)

    with open_run_index(workspace, run) as index:
        counts = asked(index).counts(EvidenceCount)

    assert counts == [EvidenceCount("m1", "FIDELITY", None, "not_found", 1)]


def test_disagreements_come_from_the_widest_on(tmp_path: Path) -> None:
    """With every judge's word, the strictest first; agreement is no disagreement."""
    lines = [
        *scored_lines(output("Q1", "A", "t"), {"m1": scored(2, 2), "m2": scored(2, 2)}),
        *scored_lines(output("Q2", "A", "t"), {"m1": scored(2, 2), "m2": scored(0, 0)}),
        *scored_lines(output("Q3", "A", "t"), {"m1": scored(1, 0), "m2": scored(1, 1)}),
        *scored_lines(output("Q4", "A", "t"), {"m1": scored(1, 0), "m2": UNUSABLE}),
    ]
    workspace, run = make_run(tmp_path, lines, JUDGES)

    with open_run_index(workspace, run) as index:
        panel = index.settle(PanelRule.MEDIAN, JUDGES)
        ratings = panel.ratings()
        total, items = panel.disagreements(10)

    assert total == 2
    assert items == [
        Disagreement("Q2-A-t", "t", "A", "Q2", 1.0, 2, [("m2", 0.0, "FAIL"), ("m1", 1.0, "PASS")]),
        Disagreement("Q3-A-t", "t", "A", "Q3", 0.25, 1, [("m1", 0.25, "PARTIAL"), ("m2", 0.5, "PARTIAL")]),
    ]
    assert ratings is not None
    assert (ratings.samples, ratings.counted, ratings.unanimous.total) == (3, 3, 2)
    assert ratings.mean_spread == pytest.approx(1.25 / 3)
    assert ratings.verdicts == ("FAIL", "PARTIAL", "PASS")
    assert [list(hand) for hand in ratings.verdict_groups] == [[(2.0, 2.0)], [(2.0, 0.0)], [(1.0, 1.0)]]
    assert [list(hand) for hand in ratings.score_groups] == [[(1.0, 1.0)], [(1.0, 0.0)], [(0.25, 0.5)]]


def test_critical_fails_are_known_by_their_gate_or_their_name(tmp_path: Path) -> None:
    """The rubric's flag and a protocol's own gates are one thing in a count."""
    fails = [
        scored(0, 0, critical_fail=True),
        scored(0, 0, gates={"safety": {"failed": True, "reason": "r"}, "other": {"failed": False, "reason": None}}),
        scored(0, 0, critical_fail=False, gates={"safety": {"failed": False, "reason": None}}),
        scored(0, 0),
    ]
    lines = [
        line
        for number, judgment in enumerate(fails)
        for line in scored_lines(output(f"Q{number}", "A", "t"), {"m1": judgment})
    ]
    workspace, run = make_run(tmp_path, lines, ("m1",))

    with open_run_index(workspace, run) as index:
        assert sum(cell.count for cell in asked(index).counts(ScoredCell) if cell.is_critical) == 2


def test_a_run_indexed_again_holds_everything_once(tmp_path: Path) -> None:
    """A resumed run replaces what the index knew about it."""
    lines = scored_lines(output("Q1", "A", "t"), {"m1": scored(2, 2, evidence=[quote("FORMAT", "x", [(0, 1)])])})
    workspace, run = make_run(tmp_path, lines, ("m1",))
    with open_run_index(workspace, run) as index:
        before = asked(index).counts(ScoredCell), asked(index).counts(DimensionCell), asked(index).counts(EvidenceCount)
    run.journal.touch()
    with open_run_index(workspace, run) as index:
        after = asked(index).counts(ScoredCell), asked(index).counts(DimensionCell), asked(index).counts(EvidenceCount)

    assert before == after
