"""Asking more judges, or one of them again, adds no evidence: every interval counts samples and their questions."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.reports.counting import units_of
from tests.unit.storage.material import INVALID, UNDECIDED, make_manifest, make_run, make_sample
from tests.unit.storage.scored_material import UNUSABLE, output, quote, scored

from mixseek.analysis.labels.of_run import open_labelled
from mixseek.analysis.run.gates import Gates, check_gates
from mixseek.analysis.run.report import load_report
from mixseek.analysis.run.summarise import load_units, summarise_run
from mixseek.analysis.run.summary import RunSummary
from mixseek.domain.judgments import Method, Outcome, Reply, ValidJudgment
from mixseek.domain.labels import text_digest
from mixseek.domain.samples import Sample
from mixseek.domain.steps import Context, Step, StepRole, digest_of_steps
from mixseek.index.run import open_run_index
from mixseek.reports.documents import report_document
from mixseek.reports.summary import describe_summary, summary_document
from mixseek.storage.journal.manifest import ProtocolEntry, read_manifest, write_manifest
from mixseek.storage.journal.records import encode_outcome, encode_reply, encode_sample
from mixseek.storage.workspace import Workspace


def judged(*, right: bool, verified: bool | None = True, score: int = 5) -> ValidJudgment:
    """A valid judgment as the semantic protocol writes it."""
    fields = {
        "is_correct": right,
        "extracted_answer": "B",
        "reasoning_score": score,
        "error_type": "none" if right else "wrong_logic",
        "comment": "",
        "extraction_verified": verified,
        "warnings": ["extracted_answer_not_in_response"] if right and verified is False else [],
    }
    return ValidJudgment(float(right), "correct" if right else "incorrect", fields, Method.CROSS_JUDGE)


RIGHT, WRONG, COPIED = judged(right=True), judged(right=False, score=2), judged(right=True, verified=False)


def write(
    root: Path, samples: Sequence[tuple[Sample, Outcome]], judges: Sequence[str], repeats: int = 1, **changes: Any
) -> None:
    """Every judge says the same of every sample, as often as it is asked."""
    lines = []
    for sample, outcome in samples:
        key = sample.key()
        lines.append(encode_sample(sample, key))
        for judge, take in itertools.product(judges, range(1, repeats + 1)):
            lines.append(encode_reply(key, Reply("{}", judge, details={"cached": False, "ask": 1, "take": take})))
            lines.append(encode_outcome(sample, key, judge, outcome, take))
    _, run = make_run(root, lines, judges)
    write_manifest(run.manifest, make_manifest(judges, repeats=repeats, sample_count=len(samples), **changes))


def intervals(document: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every interval of a document, by where it stands."""
    if isinstance(document, Mapping):
        for name, value in document.items():
            if name == "interval":
                yield place, value
            else:
                yield from intervals(value, f"{place}.{name}")
    elif isinstance(document, list | tuple):
        for number, value in enumerate(document):
            yield from intervals(value, f"{place}[{number}]")


ENDS: tuple[Outcome, ...] = (RIGHT, RIGHT, WRONG, RIGHT, WRONG, COPIED, INVALID, RIGHT, UNDECIDED, WRONG)
SEMANTIC: list[tuple[Sample, Outcome]] = [
    (make_sample(number, target_model=f"m{number % 2}", question_id=f"q{number // 2}"), outcome)
    for number, outcome in enumerate(ENDS)
]
QUOTES = (quote("FORMAT", "answers", [(3, 10)]), quote("FIDELITY", "nowhere", problem="not_found"))
OUTPUTS: tuple[tuple[int, str, str, Outcome], ...] = (
    (1, "A", "t1", scored(2, 2, evidence=QUOTES)),
    (1, "B", "t1", scored(1, 2, evidence=QUOTES[:1])),
    (2, "A", "t1", scored(0, 1, evidence=QUOTES)),
    (2, "B", "t2", UNUSABLE),
    (3, "A", "t2", scored(2, 1, evidence=QUOTES[1:])),
    (3, "B", "t2", scored(1, 0)),
    (4, "A", "t2", scored(2, 2, evidence=QUOTES[:1])),
)
CROSS: list[tuple[Sample, Outcome]] = [
    (output(f"Q{number}", variant, target), outcome) for number, variant, target, outcome in OUTPUTS
]
PROTOCOLS = {"semantic": SEMANTIC, "cross": CROSS}


def documents(root: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    workspace = Workspace(root)
    run = workspace.run("trial")
    summary = summarise_run(workspace, run, read_manifest(run.manifest))
    return summary_document(summary), report_document(load_report(root, "trial")[0], None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_repeats_and_judges_that_say_the_same_change_no_interval(tmp_path: Path, protocol: str) -> None:
    """In the headline, by task, target, dimension, pair, variant, factor and judge.

    Each of four judges has the interval that one alone would have, and so has what is said of all of them.
    """
    entry = ProtocolEntry(name=protocol, version="1", language="en", hash="ab" * 32)
    write(tmp_path / "one", PROTOCOLS[protocol], ["a"], protocol=entry)
    write(tmp_path / "thrice", PROTOCOLS[protocol], ["a"], repeats=3, protocol=entry)
    write(tmp_path / "four", PROTOCOLS[protocol], ["a", "b", "c", "d"], protocol=entry)
    (one, shown), (four, panel) = documents(tmp_path / "one"), documents(tmp_path / "four")
    once = [dict(intervals(document)) for document in (one, shown)]
    thrice = [dict(intervals(document)) for document in documents(tmp_path / "thrice")]

    assert sum(value is not None for value in once[1].values()) >= 5
    for before, after in zip(once, thrice, strict=True):
        assert before.keys() == after.keys()
        for place, interval in before.items():
            assert after[place] == pytest.approx(interval, abs=1e-12), place
    for judge in "abcd":
        assert four["per_judge"][judge]["interval"] == one["interval"]
    # The panel's own: what the headline, the targets, the variants and the gates rest on.
    for name in ("mean_score", "interval", "bounds", "units", "unverified"):
        assert four[name] == one[name]
    for name in ("targets", "variants", "counts"):
        assert four["headline"][name] == one["headline"][name]
        assert panel["headline"][name] == shown["headline"][name]
    assert len(list(intervals(panel["headline"]))) >= 3
    for judge in panel["judges"]:
        assert dict(intervals({**judge, "judge": ""})) == dict(intervals({**shown["judges"][0], "judge": ""}))
    if protocol == "cross":
        alone, together = (document["scored"] for document in (shown, panel))
        for name in ("targets", "task_types", "variants"):
            assert list(intervals(together[name])) == list(intervals(alone[name]))
        assert together["invalid"]["whole"]["interval"] == alone["invalid"]["whole"]["interval"]
        assert [row["cells"][0]["score"]["interval"] for row in together["matrix"]] == [
            alone["matrix"][0]["cells"][0]["score"]["interval"]
        ] * 4


def test_the_spread_of_invalid_evaluations_is_tested_over_samples(tmp_path: Path) -> None:
    """Four judges who fail on the same outputs are no stronger evidence than one."""
    uneven = [(output(f"Q{n}", "AB"[n % 2], "t1"), UNUSABLE if n % 2 and n < 9 else scored(1, 1)) for n in range(12)]
    write(tmp_path / "one", uneven, ["a"])
    write(tmp_path / "four", uneven, list("abcd"))
    write(tmp_path / "thrice", uneven, ["a"], repeats=3)
    tests = [
        {factor["factor"]: factor["test"] for factor in documents(tmp_path / name)[1]["scored"]["invalid"]["factors"]}
        for name in ("one", "four", "thrice")
    ]

    assert tests[0]["variant"]["p_value"] == pytest.approx(0.0606, abs=1e-3)
    assert tests[2]["variant"] == tests[1]["variant"] == tests[0]["variant"]


def write_panel(root: Path, *said: tuple[Outcome, ...], judges: str = "ab", **changes: Any) -> None:
    """Samples of one question each, half of them by either target; every judge with its own word."""
    lines = []
    for number, outcomes in enumerate(said):
        sample = make_sample(number, target_model=f"m{number % 2}", question_id=f"q{number}")
        lines.append(encode_sample(sample, sample.key()))
        lines += [
            encode_outcome(sample, sample.key(), judge, outcome)
            for judge, outcome in zip(judges, outcomes, strict=True)
        ]
    _, run = make_run(root, lines, list(judges))
    write_manifest(run.manifest, make_manifest(list(judges), sample_count=len(said), **changes))


def test_a_mean_over_judges_who_disagree_is_no_headline(tmp_path: Path) -> None:
    """0 % and 100 % have no verdict between them: every sample is split, and none has a score."""
    write_panel(tmp_path, *[(RIGHT, WRONG)] * 6)
    summary = summarise(tmp_path)
    document = summary_document(summary)
    told = describe_summary(summary)

    assert (document["mean_score"], document["interval"]) == (None, None)
    assert document["bounds"] == {"worst": 0.0, "best": 1.0}
    assert document["headline"]["rule"] == "majority"
    assert document["headline"]["counts"] == {"valid": 0, "invalid": 0, "undecided": 0, "missing": 0, "split": 6}
    assert document["counts"]["valid"] == 12
    assert [document["per_judge"][judge]["mean_score"] for judge in "ab"] == [1.0, 0.0]
    assert "split       6: no verdict, because the judges cancel each other out" in told
    for gates in (Gates(fail_under=0.4), Gates(max_undecided=0.9)):
        assert [gate.is_met for gate in check_gates(gates, summary.headlines)] == [False]


def test_gates_apply_to_the_panel(tmp_path: Path) -> None:
    """Two judges carry a third that gives nothing usable and one that is too strict."""
    write_panel(tmp_path, *[(RIGHT, RIGHT, WRONG, INVALID)] * 5, (WRONG, WRONG, WRONG, INVALID), judges="abcd")
    summary = summarise(tmp_path)

    assert summary.headline.score.mean == pytest.approx(5 / 6)
    assert summary.by_judge["c"].mean == 0.0
    gates = check_gates(Gates(fail_under=0.8, max_invalid=0.0, max_undecided=0.0), summary.headlines)
    assert [(gate.name, gate.is_met, gate.judge) for gate in gates] == [
        ("fail_under", True, None),
        ("max_invalid", True, None),
        ("max_undecided", True, None),
    ]


def test_a_judge_that_is_asked_again_is_told_how_far_it_agrees_with_itself(tmp_path: Path) -> None:
    """Two of three samples alike every time; the rest of the variance is the judge's own."""
    lines = []
    for number, takes in enumerate([(RIGHT, RIGHT), (WRONG, WRONG), (RIGHT, WRONG)]):
        sample = make_sample(number)
        lines.append(encode_sample(sample, sample.key()))
        lines += [encode_outcome(sample, sample.key(), "m", outcome, take) for take, outcome in enumerate(takes, 1)]
    _, run = make_run(tmp_path, lines, ["m"])
    write_manifest(run.manifest, make_manifest(["m"], repeats=2, sample_count=3))
    report, _ = load_report(tmp_path, "trial")
    (own,) = report_document(report, None)["consistency"]

    assert (own["judge"], own["samples"], own["questions"], own["unanimous"]) == ("m", 3, 3, 2)
    assert own["unanimous_interval"]["low"] < 2 / 3 < own["unanimous_interval"]["high"]
    # Mean squares within and between: (1/2)/3 and 1/2.
    assert own["own_share"] == pytest.approx((1 / 6) / (1 / 6 + (1 / 2 - 1 / 6) / 2))


def test_judges_of_every_protocol_have_their_agreement_told(tmp_path: Path) -> None:
    """Under semantic as under cross: coefficients, the pair, and the samples they differ on."""
    write_panel(tmp_path, *[(RIGHT, RIGHT)] * 4, *[(WRONG, WRONG)] * 3, (RIGHT, WRONG), (WRONG, INVALID))
    document = report_document(load_report(tmp_path, "trial")[0], None)["agreement"]

    assert document["units"] == {"samples": 8, "questions": 8}
    assert document["coefficients"]["raw_agreement"]["value"] == pytest.approx(7 / 8)
    assert document["coefficients"]["cohen_kappa"]["value"] == pytest.approx(0.75)
    assert document["disagreements"]["total"] == 1
    (item,) = document["disagreements"]["items"]
    assert (item["id"], item["judges"]) == ("s7", [("b", 0.0, "incorrect"), ("a", 1.0, "correct")])


def summarise(root: Path) -> RunSummary:
    workspace = Workspace(root)
    run = workspace.run("trial")
    return summarise_run(workspace, run, read_manifest(run.manifest))


def test_the_query_and_the_yardstick_agree(tmp_path: Path) -> None:
    """Samples with several judges, takes, questions, tasks and targets."""
    write(tmp_path, SEMANTIC, ["a", "b"], repeats=2)
    workspace = Workspace(tmp_path)
    with open_run_index(workspace, workspace.run("trial")) as index:
        queried = load_units(index)
        counted = units_of(list(index.rows()))

    assert queried.judges.keys() == counted.judges.keys()
    assert queried == counted


def test_unverified_answers_are_counted_and_bound_the_headline(tmp_path: Path) -> None:
    """As if all of them were wrong, with what has no score."""
    write(tmp_path, SEMANTIC, ["m"])
    document, shown = documents(tmp_path)
    (judge,) = shown["judges"]

    assert document["unverified"] == document["per_judge"]["m"]["unverified"] == judge["unverified"] == 1
    assert document["mean_score"] == pytest.approx(5 / 8)
    assert document["bounds"] == {"worst": pytest.approx(4 / 10), "best": pytest.approx(7 / 10)}
    assert judge["warnings"] == {"extracted_answer_not_in_response": 1}
    assert document["units"] == {"samples": 8, "questions": 5, "effective_questions": pytest.approx(64 / 14)}
    # Reasoning scores by task and target, and crossed with correctness.
    reasoning = judge["reasoning"]
    assert reasoning["counts"]["5"] == {"correct": 5, "incorrect": 0}
    assert reasoning["counts"]["2"] == {"correct": 0, "incorrect": 3}
    assert reasoning["counts"]["1"] == {"correct": 0, "incorrect": 0}
    assert reasoning["mean"] == pytest.approx(31 / 8)
    assert (reasoning["mean_correct"], reasoning["mean_incorrect"]) == (5.0, 2.0)
    assert {part["task"]: part["reasoning"]["mean"] for part in judge["tasks"]} == {
        "task_0": pytest.approx(3.0),
        "task_1": pytest.approx(4.4),
    }
    assert [part["target"] for part in judge["targets"]] == ["m0", "m1"]
    assert judge["targets"][0]["reasoning"]["counts"]["2"] == {"correct": 0, "incorrect": 2}


def test_a_sample_without_a_question_is_a_question_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, [(replace(sample, question_id=None), outcome) for sample, outcome in SEMANTIC], ["m"])

    assert documents(tmp_path)[0]["units"] == {"samples": 8, "questions": 8, "effective_questions": 8}


def test_first_replies_that_were_invalid_stay_known(tmp_path: Path) -> None:
    """One asked again and then valid, one asked again in vain, one never asked again."""
    ends: tuple[tuple[int, Outcome], ...] = ((2, RIGHT), (2, INVALID), (1, INVALID), (1, WRONG))
    lines = []
    for number, (asks, outcome) in enumerate(ends):
        sample = make_sample(number)
        key = sample.key()
        lines.append(encode_sample(sample, key))
        lines += [
            encode_reply(key, Reply("{}", "m", attempt=ask, details={"cached": False, "ask": ask, "take": 1}))
            for ask in range(1, asks + 1)
        ]
        lines.append(encode_outcome(sample, key, "m", outcome))
    _, run = make_run(tmp_path, lines, ["m"])
    write_manifest(run.manifest, make_manifest(["m"], sample_count=4))
    document, shown = documents(tmp_path)

    assert document["asked_again"] == shown["judges"][0]["asked_again"] == 2
    assert document["per_judge"]["m"]["first_replies"] == {"replies": 4, "invalid": 3, "invalid_share": 0.75}
    assert shown["judges"][0]["first_replies"] == document["per_judge"]["m"]["first_replies"]


def test_labels_of_samples_with_steps_are_about_the_steps_too(tmp_path: Path) -> None:
    """The query names a text as `text_digest` does: the same answer after other steps is another text."""
    answer = make_sample(1, id="1")
    agent = replace(answer, id="2", steps=(Step(StepRole.TOOL, tool="look_up", arguments={"city": "Zürich"}),))
    grounded = replace(answer, id="3", contexts=(Context("1", "Das Museum ist zu."),))
    samples = [answer, agent, grounded]
    write(tmp_path, [(sample, RIGHT) for sample in samples], ["rules"])

    workspace = Workspace(tmp_path)
    with open_labelled(workspace, workspace.run("trial")) as units:
        named = units.named(["1", "2", "3"])

    digests = [digest_of_steps(sample.step_documents()) for sample in samples]
    assert {name: text.text for name, text in named.items()} == {
        sample.id: text_digest(sample.question, sample.response, sample.ground_truth, steps_digest=digest)
        for sample, digest in zip(samples, digests, strict=True)
    }
