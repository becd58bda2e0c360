"""The relation that headlines, gates, labels and comparisons share: one row a sample."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.unit.storage.material import CORRECT, INCORRECT, INVALID, MISSING, UNDECIDED, make_run, make_sample
from tests.unit.storage.scored_material import output, scored

from mixseek.domain.judgments import Method, Outcome
from mixseek.domain.panels import PanelRule
from mixseek.domain.samples import Sample
from mixseek.index.panel import panel_units
from mixseek.index.run import RunIndex, open_run_index
from mixseek.storage.journal.records import encode_outcome, encode_sample

Judged = Mapping[str, Sequence[Outcome]]


def lines_of(sample: Sample, judged: Judged) -> list[bytes]:
    """Every judge with its takes in order."""
    key = sample.key()
    lines = [encode_sample(sample, key)]
    for judge, takes in judged.items():
        lines += [encode_outcome(sample, key, judge, outcome, take) for take, outcome in enumerate(takes, 1)]
    return lines


def units(tmp_path: Path, judged: Sequence[tuple[Sample, Judged]], rule: PanelRule | None, **how: Any) -> list[Any]:
    """(id, question, target, value, state, verdict), in dataset order."""
    lines = [line for sample, own in judged for line in lines_of(sample, own)]
    workspace, run = make_run(tmp_path, lines, list(judged[0][1]), **how)
    with open_run_index(workspace, run) as index:
        return asked(index, rule)


def asked(index: RunIndex, rule: PanelRule | None) -> list[Any]:
    panel = index.settle(rule)
    query = "SELECT id, question, target, value, state, verdict FROM units ORDER BY sample"
    return panel.ask(query)


def test_three_judges_become_one_verdict_a_sample(tmp_path: Path) -> None:
    judged: list[tuple[Sample, Judged]] = [
        (make_sample(1, question_id="q", target_model="t"), {"a": [CORRECT], "b": [CORRECT], "c": [INCORRECT]}),
        (make_sample(2, question_id="q", target_model="u"), {"a": [CORRECT], "b": [INCORRECT], "c": [INVALID]}),
        (make_sample(3), {"a": [INVALID], "b": [UNDECIDED], "c": [MISSING]}),
    ]

    assert units(tmp_path, judged, PanelRule.MAJORITY) == [
        ("s1", "q", "t", 1.0, "valid", "correct"),
        ("s2", "q", "u", None, "split", None),
        ("s3", make_sample(3).key(), None, None, "invalid", None),
    ]


def test_repeats_are_one_opinion_of_their_judge(tmp_path: Path) -> None:
    """One judge that says five times what two others deny has one vote; divided against itself it has none."""
    judged: list[tuple[Sample, Judged]] = [
        (make_sample(1), {"a": [CORRECT] * 5, "b": [INCORRECT], "c": [INCORRECT]}),
        (make_sample(2), {"a": [CORRECT, INCORRECT], "b": [CORRECT], "c": [CORRECT]}),
        (make_sample(3), {"a": [CORRECT, INCORRECT], "b": [CORRECT], "c": [INVALID]}),
    ]

    told = units(tmp_path, judged, PanelRule.MAJORITY)
    assert [row[3:] for row in told] == [
        (0.0, "valid", "incorrect"),
        (1.0, "valid", "correct"),
        (None, "split", None),
    ]


def test_a_cascade_is_told_by_its_last_judge_and_one_judge_by_the_mean_of_its_repeats(tmp_path: Path) -> None:
    cascade: list[tuple[Sample, Judged]] = [
        (make_sample(1), {"rules": [UNDECIDED], "m": [CORRECT, INCORRECT]}),
        (make_sample(2), {"rules": [CORRECT]}),
        (make_sample(3), {"rules": [UNDECIDED], "m": [INVALID]}),
    ]
    told = units(tmp_path / "cascade", cascade, None, cascade=True)
    assert [row[3:] for row in told] == [
        (0.5, "valid", None),
        (1.0, "valid", "correct"),
        (None, "invalid", None),
    ]

    alone: list[tuple[Sample, Judged]] = [(make_sample(1), {"m": [CORRECT, CORRECT, INCORRECT, INVALID]})]
    ((_, _, _, value, state, _),) = units(tmp_path / "alone", alone, None)
    assert (value, state) == (2 / 3, "valid")


def test_a_model_has_no_say_about_its_own_output(tmp_path: Path) -> None:
    """Where nobody else has judged, its word does not take their place."""
    own = scored(2, 2, method=Method.SELF_JUDGE)
    judged: list[tuple[Sample, Judged]] = [
        (output("Q1", "A", "a"), {"a": [own], "b": [scored(1, 1)]}),
        (output("Q2", "A", "b"), {"a": [scored(0, 0)], "b": [own]}),
        (output("Q3", "A", "b"), {"b": [own]}),
    ]

    told = units(tmp_path, judged, PanelRule.MEDIAN)
    assert [(row[0], row[3]) for row in told] == [("Q1-A-a", 0.5), ("Q2-A-b", 0.0), ("Q3-A-b", None)]


def test_the_relation_can_be_asked_of_an_attached_index() -> None:
    """Comparisons open two runs at once."""
    text = panel_units(PanelRule.MAJORITY, "run_1", has_repeats=False)

    assert "run_1.judged" in text
    assert "run_1.samples" in text
    assert "main." not in text


def test_what_does_not_fit_into_memory_is_spilled_beside_the_runs_and_taken_away(tmp_path: Path) -> None:
    """Temporary tables of a million samples are larger than what a reader may take."""
    workspace, run = make_run(tmp_path, lines_of(make_sample(1), {"rules": [CORRECT]}))
    with open_run_index(workspace, run) as index:
        panel = index.settle(None, ("rules",))
        panel.ask("SET memory_limit = '24MB'; SET threads = 1")
        panel.ask("CREATE TEMP TABLE large AS SELECT range AS n, md5(range::VARCHAR) AS t FROM range(1200000)")
        spilled = [path for path in (tmp_path / "tmp").rglob("*") if path.is_file()]
        assert panel.ask("SELECT count(*), max(n) FROM large") == [(1_200_000, 1_199_999)]

    assert spilled
    assert not (tmp_path / "tmp").exists()
