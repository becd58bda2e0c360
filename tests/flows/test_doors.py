"""One run, one answer: whatever two commands can both say of a run, they say with the same number."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.flows.cross_material import TEA_RUBRIC, outputs
from tests.flows.document_material import (
    COMPARISONS,
    CROSS,
    DEMO_WORKSPACE,
    RUNS,
    WORKSPACE,
    Printed,
    ask,
    asked_once,
    differences,
    essays,
    of_targets,
    place_of_demo,
    place_of_runs,
    sums,
)
from tests.flows.live import KEYS
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, write_jsonl
from tests.once import made_once

import mixseek
from mixseek.reports.ratings.statistics import statistics_document
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


def judge_repeatedly(place: Path) -> None:
    """Runs whose judges were asked three times."""
    (place / "tea.md").write_text(TEA_RUBRIC, encoding="utf-8")
    with loopback(MockOptions()) as endpoint:
        judges = ("--judge", endpoint.spec, "--judge", endpoint.spec.replace("mock@", "other@"))
        for run, (rows, options) in REPEATED.items():
            write_jsonl(place / f"{run}.jsonl", rows)
            words = ("judge", f"{run}.jsonl", *judges, "--repeats", "3", "--run", run, "-w", WORKSPACE, "-q", *options)
            done = mixseek_here(*words, cwd=place, env=KEYS)
            assert done.returncode == 0, done.stderr


@dataclass(frozen=True, slots=True)
class Doors:
    """Three workspaces with runs that nobody changes, and what commands say of them."""

    factory: pytest.TempPathFactory
    place: Path

    def of(self, run: str) -> tuple[Path, str]:
        """Where a run is."""
        if run in RUNS:
            return self.place, WORKSPACE
        if run in REPEATED:
            return made_once(self.factory, "doors", judge_repeatedly), WORKSPACE
        return place_of_demo(self.factory), DEMO_WORKSPACE

    def ask(self, *words: str) -> Any:
        """About the runs of the documents, which others ask about, too."""
        return read_document(words, asked_once(self.factory, *words))

    def ask_of(self, run: str, command: str) -> Any:
        if run in RUNS:
            return self.ask(command, run)
        place, workspace = self.of(run)
        return read_document((command, run), ask(place, command, run, workspace=workspace))

    def list_runs(self) -> dict[str, Any]:
        """Every run by its name, with its line in the list of its workspace."""
        places = dict.fromkeys(self.of(run) for run in (*RUNS, *REPEATED, *OF_DEMO))
        lists = [read_document(("runs",), ask(place, "runs", workspace=name)) for place, name in places]
        return {line["run"]: line for document in lists for line in document["runs"]}


def read_document(words: tuple[str, ...], printed: Printed) -> Any:
    assert printed.code == 0, f"{words}: {printed.err}"
    return json.loads(printed.out)


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Doors:
    return Doors(tmp_path_factory, place_of_runs(tmp_path_factory))


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


def headlines(doors: Doors, line: Any, report: Any) -> Said:
    """Of the command that judged, the report, and Python."""
    judged = doors.of(line["run"])[0] / f"{line['run']}.judged.json"
    headline = report["headline"]
    if judged.exists():
        yield "headline when judged", headline, json.loads(judged.read_text(encoding="utf-8"))["headline"]
    if line["mean_score"] is not None:
        yield "mean in the list of runs", headline["mean_score"], line["mean_score"]


def differing(said: Said) -> list[str]:
    return [
        f"{what}{line}"
        for what, first, second in said
        for line in (*differences(first, second), *differences(second, first))
    ]


def test_there_are_thirty_runs_of_all_protocols(doors: Doors) -> None:
    assert len(doors.list_runs()) >= len(RUNS) + len(REPEATED) + len(OF_DEMO) >= 30


def test_report_and_stats_say_one_thing_of_every_run(doors: Doors) -> None:
    problems = []
    for run, line in doors.list_runs().items():
        report, stats = doors.ask_of(run, "report"), doors.ask_of(run, "stats")
        for said in (means(report, stats), agreement(report, stats), headlines(doors, line, report)):
            problems += [f"{run}: {difference}" for difference in differing(said)]
    assert not problems, "\n".join(problems)


def test_a_board_and_a_report_say_one_thing_of_pairs(doors: Doors) -> None:
    problems = []
    for run in ("pairs-one", "pairs-panel"):
        targets = {line["target"]: line for line in doors.ask("report", run)["headline"]["targets"]}
        for standing in doors.ask("leaderboard", run)["standings"]:
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
    report, stats = ("report", run), ("stats", run, "--human", "zoe", "--labels", drawing)
    corrected = read_document(report, ask(tmp_path, *report))["corrected"]["corrected"]
    (line,) = read_document(stats, ask(tmp_path, *stats))["corrected"]
    names = {"mean": "point", "low": "low", "high": "high", "state": "state", "labels": "labels"}
    said = ((name, corrected[name], line["corrected"][other]) for name, other in names.items())
    assert not differing(said)


@pytest.mark.parametrize("name", ["targets", "graded targets", "rubric targets", "own targets"])
def test_two_sides_differ_as_much_in_compare_as_in_the_means_of_the_report(doors: Doors, name: str) -> None:
    run, _, first, _, second = COMPARISONS[name]
    compared = doors.ask("compare", *COMPARISONS[name])
    targets = {line["target"]: line["mean_score"] for line in doors.ask("report", run)["headline"]["targets"]}
    said = [("A", targets[first], compared["mean_a"]), ("B", targets[second], compared["mean_b"])]
    assert not differing(iter(said))


def test_a_difference_is_one_number_in_compare_and_stats(doors: Doors) -> None:
    compared = doors.ask("compare", *COMPARISONS["targets"])
    line = doors.ask("stats", "sem-targets", "--compare", "south", "north")["comparison"]["raters"][0]
    tested = compared["test"]
    said = [
        ("difference", compared["difference"], line["difference"]),
        ("interval", ends(compared["interval"]), ends(line["interval"])),
        ("test", [tested["method"], tested["p_value"]], [line["test"], line["p"]]),
    ]
    assert not differing(iter(said))


@pytest.mark.parametrize("run", ["sem-panel", "cross-panel", "rubric-panel", "pairs-panel", "sem-random"])
def test_python_says_what_the_command_says(doors: Doors, run: str) -> None:
    workspace = doors.place / WORKSPACE
    counted = statistics_document(mixseek.statistics(run, workspace=workspace))
    said = [
        ("headline", doors.ask("report", run)["headline"], mixseek.open_run(run, workspace).document()["headline"]),
        ("stats", doors.ask("stats", run), json.loads(json.dumps(counted))),
    ]
    assert not differing(iter(said))


def test_a_gate_holds_the_number_that_compare_shows(doors: Doors) -> None:
    gated = doors.ask("report", "sem-later", "--baseline", "sem-plain", "--max-drop", "50%")
    compared = doors.ask("compare", *COMPARISONS["runs"])
    said = [
        ("gate", compared["difference"], -gated["gates"][0]["actual"]),
        ("baseline", compared["difference"], gated["baseline"]["difference"]),
        ("interval", compared["interval"], gated["baseline"]["interval"]),
    ]
    assert not differing(iter(said))
