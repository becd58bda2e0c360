"""What is cut off, withheld or empty is counted and shown wherever a mean is, and bounds hold every reading of it."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from tests.flows.running import mixseek_here, write_jsonl

import mixseek
from mixseek.datasets.endings import state_of_sample
from mixseek.domain.response_states import UNFINISHED, ResponseState

REAL = Path(__file__).parents[3] / "shared" / "data" / "matching_bbh_llama32.jsonl"
QUESTIONS = 40
RIGHT, WRONG, AMBIGUOUS = "The answer is 4.", "The answer is 5.", "It is 4 or 5, who knows."
FIRST, SECOND = "aster", "cedar"


def rows_of(target: str, shift: int = 0) -> list[dict[str, Any]]:
    """Of 40: six cut off (three inside their reasoning, one right, two undecided), two withheld, three empty, two
    undecided for another reason; the rest is finished."""
    texts: list[tuple[str, dict[str, Any]]] = [("<think>So 2 and 2", {})] * 3
    texts += [(RIGHT, {"finish_reason": "length"}), *[(AMBIGUOUS, {"stop_reason": "MAX_TOKENS"})] * 2]
    texts += [("I cannot say that.", {"finish_reason": "content_filter"})] * 2 + [("", {})] * 3 + [(AMBIGUOUS, {})] * 2
    finished = [RIGHT if (number + shift) % 3 else WRONG for number in range(QUESTIONS - len(texts))]
    return [
        {"id": f"{target}-{n}", "question_id": f"Q{n}", "question": "2+2?", "response": text, "ground_truth": "4"}
        | {"target_model": target, **metadata}
        for n, (text, metadata) in enumerate([*texts, *((text, {}) for text in finished)])
    ]


def finished_rows() -> list[dict[str, Any]]:
    """The same questions, and every response is finished; half of them are right."""
    rows = [{**row, "response": RIGHT if number % 2 else WRONG} for number, row in enumerate(rows_of(SECOND))]
    return [{name: value for name, value in row.items() if not name.endswith("_reason")} for row in rows]


ALL_FINISHED = finished_rows()


def judge(tmp_path: Path, rows: Sequence[Mapping[str, Any]], *more: str, run: str = "run") -> Any:
    data = write_jsonl(tmp_path / f"{run}.jsonl", [dict(row) for row in rows])
    return mixseek_here("judge", data, "--judge", "rules", "--workspace", "ws", "--run", run, "-q", *more, cwd=tmp_path)


def judge_json(tmp_path: Path, rows: Sequence[Mapping[str, Any]], *more: str, run: str = "run") -> dict[str, Any]:
    document: dict[str, Any] = json.loads(judge(tmp_path, rows, "--json", *more, run=run).stdout)
    return document


def expected_means(rows: Sequence[Mapping[str, Any]], judged: Mapping[str, str | None]) -> dict[str, float]:
    """The means by each choice, from the verdicts of the journal alone."""
    values: dict[str, list[float]] = {"incorrect": [], "leave-out": [], "undecided": [], "both": [], "finished": []}
    for row in rows:
        state, verdict = state_of_sample({**row, "metadata": row}), judged[row["id"]]
        value = None if verdict is None else float(verdict == "correct")
        is_cut = state is ResponseState.CUT_OFF
        if value is not None or is_cut:
            values["incorrect"].append(value or 0.0)
        if value is not None and not is_cut:
            values["leave-out"].append(value)
        values["undecided"].append(value or 0.0)
        if not is_cut:
            values["both"].append(value or 0.0)
        if value is not None and state is ResponseState.FINISHED:
            values["finished"].append(value)
    return {name: fmean(found) for name, found in values.items()}


def verdicts_of(tmp_path: Path, run: str = "run") -> dict[str, str | None]:
    return {
        judgment.sample.id: judgment.verdict if judgment.status == "valid" else None
        for judgment in mixseek.open_run(run, tmp_path / "ws")
    }


CHOICES: Mapping[str, tuple[str, ...]] = {
    "incorrect": (),
    "leave-out": ("--cut-off", "leave-out"),
    "undecided": ("--undecided", "incorrect"),
    "both": ("--cut-off", "leave-out", "--undecided", "incorrect"),
}


def test_every_choice_gives_its_mean_and_all_bounds_hold_all_of_them(tmp_path: Path) -> None:
    """Shares are the planted ones, target by target; the verdicts stay what they were."""
    rows = [*rows_of(FIRST), *ALL_FINISHED]
    documents = {name: judge_json(tmp_path, rows, *choice) for name, choice in CHOICES.items()}
    means = expected_means(rows, verdicts_of(tmp_path))
    targets = {target: [row for row in rows if row["target_model"] == target] for target in (FIRST, SECOND)}
    of_target = {target: expected_means(own, verdicts_of(tmp_path)) for target, own in targets.items()}

    for name, document in documents.items():
        headline = document["headline"]
        assert headline["mean_score"] == pytest.approx(means[name])

        ends = headline["bounds"]
        assert all(ends["worst"] <= mean <= ends["best"] for mean in means.values())
        assert headline["responses"]["total"] == 2 * QUESTIONS
        assert [headline["responses"][state.value]["count"] for state in UNFINISHED] == [6, 2, 3]
        assert headline["responses"]["cut_off"]["share"] == pytest.approx(6 / 80)
        by_target = {group["target"]: group for group in headline["targets"]}
        assert by_target[FIRST]["responses"]["cut_off"] == {"count": 6, "share": 6 / 40}
        assert by_target[SECOND]["responses"]["cut_off"] == {"count": 0, "share": 0.0}
        assert by_target[SECOND]["finished"] is None
        for target, own in of_target.items():
            assert by_target[target]["mean_score"] == pytest.approx(own[name])
            ends = by_target[target]["bounds"]
            assert all(ends["worst"] <= mean <= ends["best"] for mean in own.values())
        # One judge's own mean is the headline's, whatever was chosen.
        assert document["per_judge"]["rules"]["mean_score"] == pytest.approx(means[name])
        assert document["counts"] == documents["incorrect"]["counts"]
    usual = documents["incorrect"]["headline"]
    assert usual["finished"]["mean_score"] == pytest.approx(means["finished"])
    assert usual["counting"] == {"cut_off": "incorrect", "undecided": "leave-out"}
    assert documents["both"]["headline"]["counting"] == {"cut_off": "leave-out", "undecided": "incorrect"}


def test_the_first_three_lines_warn_and_the_headline_names_its_choice(tmp_path: Path) -> None:
    """Where more than 2 % were cut off, and only there."""
    told = judge(tmp_path, rows_of(FIRST), "--cut-off", "leave-out").stdout
    quiet = judge(tmp_path, ALL_FINISHED, run="finished").stdout
    first = "\n".join(told.splitlines()[:3])
    assert "15.0% of the responses were cut off (6 of 40): the mean of the finished ones is" in first
    assert "cut-off responses are left out" in told
    assert "cut off     6 (15.0%)" in told
    assert "withheld    2 (5.0%)" in told
    assert "empty       3 (7.5%)" in told
    assert "cut off" not in quiet
    assert not any(line.startswith("  finished ") for line in quiet.splitlines())
    report = mixseek_here("report", "run", "--workspace", "ws", cwd=tmp_path).stdout
    assert "were cut off" in "\n".join(report.splitlines()[:3])
    page = (tmp_path / "ws" / "runs" / "run" / "report.html").read_text("utf-8")
    assert "15.0% of the responses were cut off (6 of 40)" in page
    assert ">Mean of finished<" in page


@pytest.mark.parametrize(("limit", "code"), [("14%", 1), ("15%", 0)])
def test_a_gate_on_what_was_cut_off_decides_the_exit_code(limit: str, code: int, tmp_path: Path) -> None:
    """Of `judge`, of `report` and of both sides of `compare`."""
    rows = rows_of(FIRST)
    done = judge(tmp_path, rows, "--max-cut-off", limit, "--json")
    judge(tmp_path, ALL_FINISHED, run="finished")
    (gate,) = json.loads(done.stdout)["gates"]
    assert (done.returncode, gate["gate"], gate["actual"], gate["met"]) == (code, "max_cut_off", 0.15, code == 0)
    assert ("--max-cut-off not met: cut off 15.00%" in done.stderr) is (code == 1)
    report = mixseek_here("report", "run", "--workspace", "ws", "--max-cut-off", limit, "--json", cwd=tmp_path)
    assert (report.returncode, json.loads(report.stdout)["gates"]) == (code, [gate])
    both = ("compare", "finished", "run", "--workspace", "ws", "--max-cut-off", limit, "--json")
    compared = mixseek_here(*both, cwd=tmp_path)
    results = {result["judge"]: result["met"] for result in json.loads(compared.stdout)["gates"]}
    assert (compared.returncode, results) == (code, {"finished": True, "run": code == 0})


def test_a_run_keeps_the_choice_that_it_was_judged_with(tmp_path: Path) -> None:
    """Report, list and comparison show it, until somebody asks for another; two runs with two choices are refused."""
    rows = rows_of(FIRST)
    judge(tmp_path, rows, "--cut-off", "leave-out", run="without")
    judge(tmp_path, rows, run="usual")
    means = expected_means(rows, verdicts_of(tmp_path, "usual"))

    def report(*more: str) -> Any:
        done = mixseek_here("report", "without", "--workspace", "ws", "--json", *more, cwd=tmp_path)
        return json.loads(done.stdout)["headline"]["mean_score"]

    assert report() == pytest.approx(means["leave-out"])
    assert report("--cut-off", "incorrect") == pytest.approx(means["incorrect"])
    listed = json.loads(mixseek_here("runs", "--workspace", "ws", "--json", cwd=tmp_path).stdout)["runs"]
    shown = {line["run"]: line["headline"]["mean_score"] for line in listed}
    assert shown == {"without": pytest.approx(means["leave-out"]), "usual": pytest.approx(means["incorrect"])}
    refused = mixseek_here("compare", "usual", "without", "--workspace", "ws", cwd=tmp_path)
    assert refused.returncode == 2
    assert "name one choice for both: --cut-off incorrect" in refused.stderr
    both = ("compare", "usual", "without", "--workspace", "ws", "--json", "--cut-off", "leave-out")
    compared = json.loads(mixseek_here(*both, cwd=tmp_path).stdout)
    assert compared["counting"] == {"cut_off": "leave-out", "undecided": "leave-out"}
    assert compared["mean_a"] == compared["mean_b"] == pytest.approx(means["leave-out"])


def test_a_comparison_says_first_that_a_limit_cut_off_more_of_one_side(tmp_path: Path) -> None:
    """And the difference of the pairs that are finished on both sides, within its bounds."""
    judge(tmp_path, ALL_FINISHED, run="before")
    judge(tmp_path, rows_of(FIRST), run="after")
    both = ("compare", "before", "after", "--workspace", "ws")
    told = mixseek_here(*both, cwd=tmp_path).stdout
    first = told.splitlines()[:3]
    assert any("A –; B 6 cut off (15.0%), 2 withheld (5.0%), 3 empty (7.5%)" in line for line in first)
    document = json.loads(mixseek_here(*both, "--json", cwd=tmp_path).stdout)
    assert "A limit" not in document["warning"]
    assert document["warning"].endswith("The difference may be that of a limit.")
    assert document["responses"]["B"]["cut_off"] == {"count": 6, "share": 0.15}
    ends = document["bounds"]
    assert ends["worst"] <= document["finished"]["difference"] <= ends["best"]
    assert ends["worst"] <= document["difference"] <= ends["best"]
    assert document["finished"]["units"]["pairs"] == QUESTIONS - 11 - 2


def test_python_has_the_same_choices_and_numbers(tmp_path: Path) -> None:
    """The same words, and the same refusal of other ones."""
    rows = rows_of(FIRST)
    run = mixseek.judge(rows, cut_off="leave-out", undecided="incorrect", max_cut_off=0.1)
    document = judge_json(tmp_path, rows, *CHOICES["both"])
    assert run.document()["headline"]["mean_score"] == document["headline"]["mean_score"]
    assert run.document()["headline"]["responses"] == document["headline"]["responses"]
    assert not run.ok
    assert any("max_cut_off not met" in reason for reason in run.reasons)
    assert run.report(tmp_path / "page.html", cut_off="incorrect").exists()
    another: Any = "moon"
    with pytest.raises(mixseek.MixseekError, match="it is one of incorrect, leave-out"):
        mixseek.judge(rows, cut_off=another)


def test_a_job_file_has_the_options_too(tmp_path: Path) -> None:
    """As `mixseek judge` has them."""
    write_jsonl(tmp_path / "rows.jsonl", rows_of(FIRST))
    job = 'workspace = "ws"\n[jobs.first]\ndata = "rows.jsonl"\njudge = ["rules"]\n'
    (tmp_path / "job.toml").write_text(job + 'cut_off = "leave-out"\nundecided = "incorrect"\nmax_cut_off = "2%"\n')
    done = mixseek_here("run", "job.toml", "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert "--max-cut-off not met" in done.stderr


def test_of_pairs_each_target_has_its_own_ends(tmp_path: Path) -> None:
    """The outputs keep their ends in the pairs that are made of them, and bounds hold both readings."""
    rows = [*rows_of(FIRST), *ALL_FINISHED]
    data = write_jsonl(tmp_path / "rows.jsonl", rows)
    sides = Counter[tuple[str, str | None]]()

    def prefer(sample: Any) -> str:
        for target, state in (
            (sample.target_model, sample.metadata.get("response_state")),
            (sample.target_b, sample.metadata.get("response_state_b")),
        ):
            sides[target, state] += 1
        return "A"

    run = mixseek.judge(data, judges=prefer, protocol="pairwise", pairs="all", workspace=tmp_path / "ws")
    document = run.document()
    targets = {group["target"]: group for group in document["headline"]["targets"]}
    for state, count in (("cut_off", 6), ("withheld", 2), ("empty", 3)):
        assert targets[FIRST]["responses"][state]["count"] == count
        assert targets[SECOND]["responses"][state]["count"] == 0
        assert sides[FIRST, state] >= count
    assert targets[SECOND]["finished"]["units"]["samples"] == QUESTIONS - 11
    for group in targets.values():
        assert group["bounds"]["worst"] <= group["finished"]["mean_score"] <= group["bounds"]["best"]


@pytest.mark.skipif(not REAL.exists(), reason="no ../shared/data beside the project")
def test_on_a_real_file_the_summary_names_what_was_cut_off_and_bounds_hold_the_finished(tmp_path: Path) -> None:
    """Of outputs with an opened <think>, about a tenth end inside it."""
    lines = [line for line in REAL.read_text("utf-8").splitlines() if "<think>" in line][:600]
    (tmp_path / "real.jsonl").write_text("\n".join(lines), encoding="utf-8")
    asked = ("judge", "real.jsonl", "--judge", "rules", "--workspace", "ws", "--run", "real", "-q")
    told = mixseek_here(*asked, cwd=tmp_path).stdout
    document = json.loads(mixseek_here(*asked, "--json", cwd=tmp_path).stdout)["headline"]
    share, ends = document["responses"]["cut_off"]["share"], document["bounds"]
    assert 0.05 < share < 0.2
    assert f"{share:.1%} of the responses were cut off" in "\n".join(told.splitlines()[:3])
    finished = document["finished"]["mean_score"]
    assert f"the mean of the finished ones is {finished:.1%}" in told
    assert ends["worst"] <= document["mean_score"] < finished <= ends["best"]


def test_ratings_and_boards_of_a_run_say_first_whose_responses_did_not_end(tmp_path: Path) -> None:
    """By system, in words and for programs; nothing is said where all of them are finished."""
    judge(tmp_path, [*rows_of(FIRST), *ALL_FINISHED])
    judge(tmp_path, ALL_FINISHED, run="quiet")
    warning = f"Responses that did not come to their end: {FIRST} 6 cut off (15.0%), 2 withheld (5.0%), 3 empty (7.5%)."

    for command in ("stats", "leaderboard"):
        told = mixseek_here(command, "run", "-w", "ws", cwd=tmp_path).stdout
        assert warning in " ".join(told.splitlines()[1:3])
        document = json.loads(mixseek_here(command, "run", "-w", "ws", "--json", cwd=tmp_path).stdout)
        assert list(document["responses"]) == [FIRST]
        assert document["responses"][FIRST]["cut_off"] == {"count": 6, "share": 0.15}
    assert "did not come to their end" not in mixseek_here("stats", "quiet", "-w", "ws", cwd=tmp_path).stdout
