"""One run, one answer: whatever two commands can both say of a run, they say with the same number."""

import functools
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.flows.cross_material import outputs
from tests.flows.document_material import (
    COMPARISONS,
    CROSS,
    RUNS,
    WORKSPACE,
    differences,
    essays,
    make_runs,
    of_targets,
    sums,
)
from tests.flows.live import KEYS
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, write_jsonl
from tests.once import made_once

import mixseek
from mixseek.reports.statistics import statistics_document
from mixseek.testing.mock_server import MockOptions

Number = float | None
# Asked three times, by two judges: what is judged how.
REPEATED = {
    "twice-sem": (sums(9), ()),
    "twice-sem-targets": (of_targets(6, ("north", "south")), ()),
    "twice-cross": (outputs(questions=3), CROSS),
    "twice-rubric": (essays(4), ("--protocol", "rubric", "--rubric", "tea.md")),
}
OF_DEMO = ("demo-semantic", "demo-later", "cross-cross", "rubric-rubric", "pairs-pairwise", "audit-demo")


def add_runs(place: Path) -> None:
    """To the runs of the documents the demo's, and runs whose judges were asked three times."""
    mixseek_here("demo", "-w", WORKSPACE, cwd=place)
    with loopback(MockOptions()) as endpoint:
        judges = ("--judge", endpoint.spec, "--judge", endpoint.spec.replace("mock@", "other@"))
        for run, (rows, options) in REPEATED.items():
            write_jsonl(place / f"{run}.jsonl", rows)
            words = ("judge", f"{run}.jsonl", *judges, "--repeats", "3", "--run", run, "-w", WORKSPACE, "-q", *options)
            done = mixseek_here(*words, cwd=place, env=KEYS)
            assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(place: Path) -> None:
        shutil.copytree(made_once(tmp_path_factory, "documents", make_runs), place, dirs_exist_ok=True)
        add_runs(place)

    return made_once(tmp_path_factory, "doors", make)


@functools.cache
def ask(place: Path, *words: str) -> Any:
    """Nobody changes what is asked about: whoever asks again is given the same document."""
    done = mixseek_here(*words, "-w", WORKSPACE, "--json", cwd=place)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return json.loads(done.stdout)


def all_runs(place: Path) -> list[str]:
    return [line["run"] for line in ask(place, "runs")["runs"]]


def ends(interval: Mapping[str, Any] | None) -> list[Number]:
    return [interval["low"], interval["high"]] if interval else []


Said = Iterator[tuple[str, Any, Any]]


def means(report: Any, stats: Any) -> Said:
    """Of each judge: the mean of its valid judgments, its interval, and what both rest on."""
    judges = {judge["model"] or judge["judge"]: judge for judge in report["judges"]}
    for rater in stats["raters"]:
        judge = judges.get(rater["name"])
        if judge is not None and rater["mean"] is not None:
            yield f"mean of {rater['name']}", judge["mean_score"], rater["mean"]
            yield f"interval of {rater['name']}", ends(judge["interval"]), ends(rater["interval"])
            yield f"questions of {rater['name']}", judge["units"]["questions"], rater["questions"]


# The report's name of a coefficient, and that of `stats`.
OF_VERDICTS = {
    "raw_agreement": "raw",
    "fleiss_kappa": "fleiss_kappa",
    "alpha_nominal": "alpha_nominal",
    "gwet_ac1": "ac1",
}
OF_SCORES = {"alpha_ordinal": "alpha_ordinal", "alpha_interval": "alpha_interval", "gwet_ac2": "ac2_quadratic"}


def agreement(report: Any, stats: Any) -> Said:
    """Verdicts with verdicts and scores with scores."""
    between = report["agreement"]
    if between is None:
        return
    for section, names in (("verdict_agreement", OF_VERDICTS), ("agreement", OF_SCORES)):
        if section == "agreement" and len(stats["agreement"]["raters"]) != len(between["judges"]):
            # People are among the raters.
            continue
        for name, other in names.items():
            coefficient = between["coefficients"].get(name)
            if coefficient is not None and coefficient["value"] is not None:
                found = stats[section]["coefficients"][other]
                yield f"{section} {name}", coefficient["value"], found["value"]
                yield f"{section} {name} interval", ends(coefficient["interval"]), ends(found["interval"])


def headlines(place: Path, run: str, report: Any) -> Said:
    """Of the command that judged, the report, and Python."""
    judged = place / f"{run}.judged.json"
    headline = report["headline"]
    if judged.exists():
        yield "headline when judged", headline, json.loads(judged.read_text(encoding="utf-8"))["headline"]
    line = next(line for line in ask(place, "runs")["runs"] if line["run"] == run)
    if line["mean_score"] is not None:
        yield "mean in the list of runs", headline["mean_score"], line["mean_score"]


def differing(said: Said) -> list[str]:
    return [
        f"{what}{line}"
        for what, first, second in said
        for line in (*differences(first, second), *differences(second, first))
    ]


def test_there_are_thirty_runs_of_all_protocols(place: Path) -> None:
    names = all_runs(place)
    assert len(names) >= len(RUNS) + len(REPEATED) + len(OF_DEMO) >= 30


def test_report_and_stats_say_one_thing_of_every_run(place: Path) -> None:
    problems = []
    for run in all_runs(place):
        report, stats = ask(place, "report", run), ask(place, "stats", run)
        for said in (means(report, stats), agreement(report, stats), headlines(place, run, report)):
            problems += [f"{run}: {line}" for line in differing(said)]
    assert not problems, "\n".join(problems)


def test_a_board_and_a_report_say_one_thing_of_pairs(place: Path) -> None:
    problems = []
    for run in ("pairs-one", "pairs-panel"):
        targets = {line["target"]: line for line in ask(place, "report", run)["headline"]["targets"]}
        for standing in ask(place, "leaderboard", run)["standings"]:
            target = targets[standing["system"]]
            said = iter(
                [
                    (f"{run} {standing['system']}", target["mean_score"], standing["win_rate"]),
                    (f"{run} {standing['system']}", ends(target["interval"]), ends(standing["win_rate_interval"])),
                ]
            )
            problems += differing(said)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(("run", "drawing"), [("sem-random", "random"), ("sem-stratified", "stratified")])
def test_labels_correct_a_mean_alike_in_report_and_stats(tmp_path: Path, run: str, drawing: str) -> None:
    """In a workspace of its own: whoever says how labels were drawn says it of all of them."""
    RUNS[run](tmp_path)
    corrected = ask(tmp_path, "report", run)["corrected"]["corrected"]
    (line,) = ask(tmp_path, "stats", run, "--human", "zoe", "--labels", drawing)["corrected"]
    names = {"mean": "point", "low": "low", "high": "high", "state": "state", "labels": "labels"}
    said = ((name, corrected[name], line["corrected"][other]) for name, other in names.items())
    assert not differing(said)


@pytest.mark.parametrize("name", ["targets", "graded targets", "rubric targets", "own targets"])
def test_two_sides_differ_as_much_in_compare_as_in_the_means_of_the_report(place: Path, name: str) -> None:
    run, _, first, _, second = COMPARISONS[name]
    compared = ask(place, "compare", *COMPARISONS[name])
    targets = {line["target"]: line["mean_score"] for line in ask(place, "report", run)["headline"]["targets"]}
    said = [("A", targets[first], compared["mean_a"]), ("B", targets[second], compared["mean_b"])]
    assert not differing(iter(said))


def test_a_difference_is_one_number_in_compare_and_stats(place: Path) -> None:
    compared = ask(place, "compare", *COMPARISONS["targets"])
    line = ask(place, "stats", "sem-targets", "--compare", "south", "north")["comparison"]["raters"][0]
    tested = compared["test"]
    said = [
        ("difference", compared["difference"], line["difference"]),
        ("interval", ends(compared["interval"]), ends(line["interval"])),
        ("test", [tested["method"], tested["p_value"]], [line["test"], line["p"]]),
    ]
    assert not differing(iter(said))


@pytest.mark.parametrize("run", ["sem-panel", "cross-panel", "rubric-panel", "pairs-panel", "sem-random"])
def test_python_says_what_the_command_says(place: Path, run: str) -> None:
    workspace = place / WORKSPACE
    counted = statistics_document(mixseek.statistics(run, workspace=workspace))
    said = [
        ("headline", ask(place, "report", run)["headline"], mixseek.open_run(run, workspace).document()["headline"]),
        ("stats", ask(place, "stats", run), json.loads(json.dumps(counted))),
    ]
    assert not differing(iter(said))


def test_a_gate_holds_the_number_that_compare_shows(place: Path) -> None:
    gated = ask(place, "report", "sem-later", "--baseline", "sem-plain", "--max-drop", "50%")
    compared = ask(place, "compare", *COMPARISONS["runs"])
    said = [
        ("gate", compared["difference"], -gated["gates"][0]["actual"]),
        ("baseline", compared["difference"], gated["baseline"]["difference"]),
        ("interval", compared["interval"], gated["baseline"]["interval"]),
    ]
    assert not differing(iter(said))
