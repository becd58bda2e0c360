"""B against A on the command line: a planted difference, a planted drift, and everything that must not be a number."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.flows.cross_material import cross_reply, outputs, recorded
from tests.flows.running import mixseek_here, the_one_line, write_jsonl

QUESTIONS = 40


def answers(right: set[int], *, count: int = QUESTIONS, per_question: int = 1, **more: Any) -> list[dict[str, Any]]:
    """A sum for each number, right or wrong; every other sample is of the task `small`."""
    return [
        {
            "id": f"s{n}",
            "question_id": f"q{n // per_question}",
            "question": f"What is {n} + 1?",
            "response": f"The answer is {n + 1 if n in right else n + 7}.",
            "ground_truth": str(n + 1),
            "task_name": "small" if n % 2 else "large",
            **more,
        }
        for n in range(count)
    ]


def judge(place: Path, run: str, rows: list[dict[str, Any]], *more: str) -> subprocess.CompletedProcess[str]:
    write_jsonl(place / f"{run}.jsonl", rows)
    return mixseek_here("judge", f"{run}.jsonl", "-w", "ws", "--run", run, "-q", "--workers", "1", *more, cwd=place)


def compare(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return mixseek_here("compare", *arguments, "-w", "ws", cwd=place)


def compared(place: Path, *arguments: str) -> dict[str, Any]:
    done = compare(place, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def ids(pairs: list[dict[str, Any]]) -> set[str]:
    return {pair["id"] for pair in pairs}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """B is right where A was, on ten samples more, and wrong on two that A had right."""
    place = tmp_path_factory.mktemp("judged")
    judge(place, "a", answers(set(range(20))))
    judge(place, "b", answers(set(range(2, 30))))
    return place


@pytest.fixture
def two_runs(judged: Path, tmp_path: Path) -> Path:
    """A copy of the same two for whoever changes them."""
    return shutil.copytree(judged, tmp_path, dirs_exist_ok=True)


def test_a_planted_difference_is_found_with_its_samples(two_runs: Path) -> None:
    found = compared(two_runs, "a", "b")

    assert found["difference"] == pytest.approx(8 / 40)
    assert (found["mean_a"], found["mean_b"]) == (0.5, 0.7)
    assert found["direction"] == "better"
    assert found["interval"]["low"] > 0
    assert found["test"]["method"] == "McNemar mid-p"
    assert found["test"]["p_value"] == pytest.approx((2 * (1 + 12 + 66) - 66) / 2**12)
    assert ids(found["better"]) == {f"s{n}" for n in range(20, 30)}
    assert ids(found["worse"]) == {"s0", "s1"}
    assert found["ids"]["better"] == [f"s{n}" for n in range(20, 30)]
    assert found["ids"]["worse"] == ["s0", "s1"]
    assert found["paired_by"] == ["id"]
    tasks = {task["name"]: task["difference"] for task in found["groups"]["task"]}
    assert tasks == {"large": pytest.approx(4 / 20), "small": pytest.approx(4 / 20)}


def test_the_terminal_says_the_same_and_writes_a_page(two_runs: Path) -> None:
    done = compare(two_runs, "a", "b", "--to", "page.html")

    assert done.returncode == 0, done.stderr
    assert "b scores higher than a; interval and test agree." in done.stdout
    assert "difference  +20.0 points (95% Student t interval" in done.stdout
    assert "10 better, 2 worse, 28 equal" in done.stdout
    movement = compared(two_runs, "a", "b")["movement"]
    assert re.fullmatch(r"50\.0% → 70\.0% \(\+20\.0 points, \+\d+\.\d to \+\d+\.\d\)", movement)
    assert done.stdout.splitlines()[1] == movement
    page = (two_runs / "page.html").read_text(encoding="utf-8")
    heads = ("name", "run", "judges", "dataset", "score", "samples", "unpaired", "no verdict", "questions", "no score")
    assert [head for head in heads if f">{head.capitalize()}</th>" not in page] == []
    assert f'<p class="movement">{movement}</p>' in page
    assert "b scores higher than a" in page
    assert page.count('<details class="change"') == 12
    assert "The answer is <mark>7</mark>." in page
    assert not re.search(r'(?:src|href)="https?:', page)


def test_a_page_of_many_changes_shows_some_and_says_of_how_many(tmp_path: Path) -> None:
    """At most 250 of a kind with their texts; a program gets the ids of all."""
    judge(tmp_path, "a", answers(set(), count=300))
    judge(tmp_path, "b", answers(set(range(290)), count=300))
    compare(tmp_path, "a", "b", "--to", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")

    assert page.count('<details class="change"') == 250
    assert "250 of 290 better" in page
    assert len(page) < 1_000_000
    assert len(compared(tmp_path, "a", "b")["ids"]["better"]) == 290


def test_without_a_name_the_page_stands_beside_the_journal_of_b(two_runs: Path) -> None:
    done = compare(two_runs, "a", "b")

    assert "compare-a.html" in done.stdout
    assert (two_runs / "ws" / "runs" / "b" / "compare-a.html").is_file()


def test_a_run_against_itself_is_exactly_nought(two_runs: Path) -> None:
    """No difference, no regression, no drift, no width: it is not a measurement."""
    found = compared(two_runs, "a", "a")

    assert (found["state"], found["difference"], found["interval"]) == ("itself", 0, None)
    assert (found["better"], found["worse"], found["unscored"]) == ([], [], [])
    assert (found["drift"]["same_texts"], found["drift"]["changed"]) == (40, 0)
    assert found["bounds"] == {"worst": 0, "best": 0}
    assert compare(two_runs, "a", "a", "--max-drop", "0", "--gate-on", "lower").returncode == 0


def test_pairs_of_one_question_widen_the_interval(tmp_path: Path) -> None:
    """The same verdicts, once as 40 questions and once as 8 that are asked five times."""
    right_a, right_b = set(range(10, 40)), set(range(40)) - {38, 39}
    for name, per_question in (("apart", 1), ("together", 5)):
        judge(tmp_path, f"{name}-a", answers(right_a, per_question=per_question))
        judge(tmp_path, f"{name}-b", answers(right_b, per_question=per_question))
    apart, together = compared(tmp_path, "apart-a", "apart-b"), compared(tmp_path, "together-a", "together-b")

    assert apart["difference"] == together["difference"] == pytest.approx(8 / 40)
    assert together["units"] == {"pairs": 40, "questions": 8}
    width = {name: one["interval"]["high"] - one["interval"]["low"] for name, one in (("a", apart), ("t", together))}
    assert width["t"] > 1.5 * width["a"]
    assert together["test"]["method"].startswith("sign flips")
    assert together["test"]["p_value"] > apart["test"]["p_value"]


def test_targets_of_one_run_are_paired_by_question(tmp_path: Path) -> None:
    """Their ids differ; a name may be shortened."""
    rows = [
        {**row, "id": f"{row['id']}-{target}"}
        for target, right in (("model-x", set(range(10))), ("model-y", set(range(20))))
        for row in answers(right, count=30, target_model=target)
    ]
    judge(tmp_path, "r", rows)
    found = compared(tmp_path, "r", "--target", "model-x", "--target", "model-y")

    assert found["difference"] == pytest.approx(10 / 30)
    assert found["paired_by"] == ["question_id"]
    assert (found["a"]["name"], found["b"]["name"]) == ("model-x", "model-y")
    assert found["better"][0]["id_a"].endswith("-model-x")
    assert found["better"][0]["id_b"].endswith("-model-y")
    assert len(found["better"]) == 10
    page = compare(tmp_path, "r", "--target", "model-x", "--target", "model-y")
    assert "compare-model-x-model-y.html" in page.stdout


def test_variants_may_be_compared_within_one_target(tmp_path: Path) -> None:
    rows = outputs(questions=3)
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    replies = [recorded(row, "judge-1", cross_reply(row, "judge-1", marks(row))) for row in rows]
    write_jsonl(tmp_path / "replies.jsonl", replies)
    done = mixseek_here(
        *("judge", "outputs.jsonl", "--protocol", "cross", "--judge", "replay:replies.jsonl", "-w", "ws"),
        *("--run", "r", "-q"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    both = compared(tmp_path, "r", "--variant", "A", "--variant", "B")
    one = compared(tmp_path, "r", "--variant", "A", "--variant", "B", "--target", "model-a")

    assert both["paired_by"] == ["question_id", "target_model"]
    assert both["difference"] == pytest.approx(-2 / 8)
    assert (both["state"], both["units"]) == ("all_alike", {"pairs": 6, "questions": 3})
    assert [group["name"] for group in both["groups"]["target"]] == ["model-a", "model-b"]
    assert one["units"] == {"pairs": 3, "questions": 3}


def marks(row: dict[str, Any]) -> tuple[int, int, int, int]:
    return (2, 2, 2, 1) if row["prompt_variant"] == "A" else (2, 1, 1, 1)


@pytest.fixture
def drifted(tmp_path: Path) -> Path:
    """Two runs of one judge. Three of eight outputs are new in B and all better; of the other five, two fell."""
    rows = outputs(targets=("model-a",), questions=4)
    later = [{**row, "response": row["response"] + "\n新版"} if n < 3 else row for n, row in enumerate(rows)]
    scores = {n: (2, 2, 2, 2) if n < 3 else (2, 1, 1, 1) if n < 5 else (2, 2, 2, 1) for n in range(8)}
    for name, own, given in (("before", rows, dict.fromkeys(range(8), (2, 2, 2, 1))), ("after", later, scores)):
        write_jsonl(tmp_path / f"{name}.jsonl", own)
        replies = [recorded(row, "judge-1", cross_reply(row, "judge-1", given[n])) for n, row in enumerate(own)]
        write_jsonl(tmp_path / f"{name}-replies.jsonl", replies)
        done = mixseek_here(
            *("judge", f"{name}.jsonl", "--protocol", "cross", "--judge", f"replay:{name}-replies.jsonl"),
            *("-w", "ws", "--run", name, "-q"),
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
    return tmp_path


def test_a_planted_drift_is_the_judges_doing(drifted: Path) -> None:
    """Without it the difference is what the new outputs are worth."""
    found = compared(drifted, "before", "after")

    assert found["difference"] == pytest.approx((3 / 8 - 4 / 8) / 8)
    assert found["drift"]["same_texts"] == 5
    assert found["drift"]["changed"] == 2
    assert ids(found["drift"]["pairs"]) == {"Q2-B-model-a", "Q3-A-model-a"}
    assert found["drift"]["part_of_difference"] == pytest.approx(-4 / 8 / 8)
    assert found["drift"]["shift"]["difference"] == pytest.approx(-4 / 8 / 5)
    assert found["drift"]["without"]["difference"] == pytest.approx(3 / 8 / 6)
    assert found["drift"]["without"]["counts"]["worse"] == 0
    shown = " ".join(compare(drifted, "before", "after").stdout.split())
    assert "That is the judge's doing, not the target's." in shown


def test_a_few_flips_without_a_direction_are_not_called_a_shift(drifted: Path) -> None:
    """Two of five texts fell: that may be noise, and the page says so."""
    sentences = " ".join(compared(drifted, "before", "after")["drift"]["sentences"])

    assert "no clear direction" in sentences
    assert "the judge has shifted" not in sentences


def test_the_same_text_is_known_under_another_name(drifted: Path) -> None:
    """Ids, targets and variants are not read by a judge as part of the text."""
    rows = [
        {**row, "id": f"copy-{row['id']}", "target_model": "model-z"}
        for row in outputs(targets=("model-a",), questions=4)
    ]
    write_jsonl(drifted / "copies.jsonl", rows)
    replies = [recorded(row, "judge-1", cross_reply(row, "judge-1")) for row in rows]
    write_jsonl(drifted / "copies-replies.jsonl", replies)
    mixseek_here(
        *("judge", "copies.jsonl", "--protocol", "cross", "--judge", "replay:copies-replies.jsonl"),
        *("-w", "ws", "--run", "copies", "-q"),
        cwd=drifted,
    )
    found = compared(drifted, "before", "copies")

    assert found["paired_by"] == ["question_id", "prompt_variant"]
    assert (found["drift"]["same_texts"], found["drift"]["changed"]) == (8, 0)


def test_what_has_no_score_is_counted_and_bounded(tmp_path: Path) -> None:
    """Undecided, for want of a truth, in A, in B, in both with one text, and in both with two texts."""
    sides = {name: answers(set(range(20)), count=20) for name in "ab"}
    for name, rows in sides.items():
        for n in {"a": (0, 2, 3), "b": (1, 2, 3)}[name]:
            rows[n] |= {"ground_truth": None, "response": rows[n]["response"] + (name if n == 3 else "")}
        judge(tmp_path, name, rows)
    found = compared(tmp_path, "a", "b")

    assert found["counts"]["unscored"] == 4
    assert found["counts"]["scored"] == 16
    assert ids(found["unscored"]) == {"s0", "s1", "s2", "s3"}
    # s0: B is right, A open; s1: the other way round; s2 is one text; s3 may be anything.
    assert found["bounds"] == {"worst": pytest.approx(-2 / 20), "best": pytest.approx(2 / 20)}
    assert found["difference"] == 0
    assert found["state"] == "all_equal"


def test_samples_of_one_side_only_are_named_and_in_no_number(two_runs: Path) -> None:
    judge(two_runs, "c", answers(set(range(2, 30)), count=30))
    found = compared(two_runs, "a", "c")

    assert found["counts"]["pairs"] == 30
    assert (found["a"]["unpaired"], found["b"]["unpaired"]) == (10, 0)
    assert found["a"]["unpaired_ids"] == found["ids"]["only_a"] == [f"s{n}" for n in range(30, 40)]
    assert "Only in A (10 of 40 samples)" in compare(two_runs, "a", "c").stdout


def test_without_common_samples_there_is_a_sentence_and_no_number(two_runs: Path) -> None:
    strangers = [{**row, "id": f"x{row['id']}", "question_id": f"x{row['question_id']}"} for row in answers(set())]
    judge(two_runs, "x", strangers)
    without_gate = compare(two_runs, "a", "x", "--json")
    found = json.loads(without_gate.stdout)
    plain = compare(two_runs, "a", "x")
    shown = compare(two_runs, "a", "x", "--max-drop", "2%")

    assert (found["state"], found["difference"], found["interval"]) == ("no_pairs", None, None)
    assert found["a"]["unpaired"] == found["b"]["unpaired"] == 40
    assert "no sample in common" in shown.stdout
    assert (without_gate.returncode, plain.returncode, shown.returncode) == (1, 1, 1)
    assert "no sample in common" in the_one_line(shown)
    assert "have no id and no question_id in common" in the_one_line(plain)
    assert "Page" not in plain.stdout
    assert list((two_runs / "ws" / "runs" / "x").glob("compare-*.html")) == []


def test_two_models_in_one_table_without_ids_are_compared_question_by_question(tmp_path: Path) -> None:
    """Question texts are the same for both, and nothing else says what belongs together."""
    rows = [("A", n, n + 1) for n in range(12)] + [("B", n, n + 1 if n % 3 else 0) for n in range(12)]
    lines = [f"What is {n} + 1?,{n + 1},{model},The answer is {said}." for model, n, said in rows]
    (tmp_path / "two.csv").write_text("\n".join(["input,target,model,output", *lines]) + "\n")
    done = mixseek_here("judge", "two.csv", "--run", "two", "-w", "ws", "--json", cwd=tmp_path)
    summary = json.loads(done.stdout)
    again = mixseek_here("judge", "two.csv", "--run", "two", "-w", "ws", "--json", cwd=tmp_path)
    found = compared(tmp_path, "two", "--target", "A", "--target", "B")

    assert (summary["units"]["samples"], summary["units"]["questions"]) == (24, 12)
    assert summary["notices"] == json.loads(again.stdout)["notices"]
    assert (
        "read as response=output, question=input, ground_truth=target, target_model=model, ids by line" in done.stderr
    )
    assert done.stderr.count("12 questions stand in several rows") == 1
    assert (found["a"]["unpaired"], found["b"]["unpaired"]) == (0, 0)
    assert len(found["worse"]) == 4
    assert found["difference"] == pytest.approx(-4 / 12)


def test_one_question_has_no_interval_and_meets_no_gate_on_it(tmp_path: Path) -> None:
    for name, right in (("a", {0, 1}), ("b", {0, 1, 2})):
        judge(tmp_path, name, answers(right, count=4, per_question=4))
    found = compared(tmp_path, "a", "b")
    gate = compare(tmp_path, "a", "b", "--max-drop", "50%", "--gate-on", "lower")

    assert (found["state"], found["difference"], found["interval"], found["test"]) == ("one_question", 0.25, None, None)
    assert gate.returncode == 1
    assert "no interval" in the_one_line(gate)


def test_other_protocols_are_refused_with_what_differs(two_runs: Path) -> None:
    judge(two_runs, "policy", answers(set()), "--parameter", "extraction_policy=off")
    done = compare(two_runs, "a", "policy")

    assert done.returncode == 2
    line = the_one_line(done)
    assert "run a and run policy are judged under different protocols" in line
    assert "parameters.extraction_policy: record, off" in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a",), "name a second run"),
        (("a", "b", "a"), "a comparison is of two"),
        (("a", "zz"), "no run 'zz'; there is a, b"),
        (("a", "b", "--target", "x"), "no sample names its target_model"),
        (("a", "b", "--max-drop", "-1"), "outside 0..1"),
        (("a", "b", "--max-drop", "nan"), "outside 0..1"),
        (("a", "b", "--max-drop", "a lot"), "is not a share"),
        (("a", "b", "--max-drop", "2%", "--gate-on", "upper"), "neither `point` nor `lower`"),
        (("a", "b", "--gate-on", "lower"), "--max-drop"),
        (("a", "b", "--panel", "loudest"), "'loudest' is not one of 'majority'"),
        (("a", "b", "--to", "nowhere/page.html"), "there is no directory nowhere"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_meant_is_one_line(two_runs: Path, arguments: tuple[str, ...], said: str) -> None:
    done = compare(two_runs, *arguments)

    assert done.returncode == 2
    assert said in the_one_line(done)


def test_a_missing_partner_is_helped_with_the_names_there_are(tmp_path: Path) -> None:
    rows = [{**row, "id": f"{row['id']}-{t}"} for t in ("x1", "x2") for row in answers(set(), count=3, target_model=t)]
    judge(tmp_path, "r", rows)
    alone, unknown = compare(tmp_path, "r"), compare(tmp_path, "r", "--target", "x1", "--target", "y")

    assert "--target x1 --target x2 (there is x1, x2)" in the_one_line(alone)
    assert "run r: no target 'y'; there is x1, x2" in the_one_line(unknown)


# Gates: a run against a baseline.


@pytest.mark.parametrize(
    ("command", "limit", "on", "code"),
    [
        ("judge", "20%", "point", 0),
        ("judge", "19%", "point", 1),
        ("judge", "20%", "lower", 1),
        ("judge", "50%", "lower", 0),
        ("report", "20%", "point", 0),
        ("report", "19%", "point", 1),
        ("report", "20%", "lower", 1),
        ("compare", "0.2", "point", 0),
        ("compare", "0.19", "point", 1),
        ("compare", "0.2", "lower", 1),
    ],
)
def test_a_drop_is_held_against_its_limit(two_runs: Path, command: str, limit: str, on: str, code: int) -> None:
    """A fell behind B by exactly 20 points; the lower end of the interval is further away."""
    gate = ("--max-drop", limit, "--gate-on", on)
    words = {
        "judge": ("judge", "a.jsonl", "--run", "a", "-q", "--baseline", "b"),
        "report": ("report", "a", "--baseline", "b"),
        "compare": ("compare", "b", "a"),
    }
    done = mixseek_here(*words[command], *gate, "-w", "ws", cwd=two_runs)

    assert done.returncode == code, done.stderr
    assert "−20.0 points" in done.stdout
    if code:
        assert "gate --max-drop not met against b: mean score −20.0 points" in the_one_line(done)


def test_a_baseline_alone_is_only_shown_and_is_in_the_json(two_runs: Path) -> None:
    shown = judge(two_runs, "a", answers(set(range(20))), "--baseline", "b", "--json")
    gated = judge(two_runs, "a", answers(set(range(20))), "--baseline", "b", "--json", "--max-drop", "1%")

    assert shown.returncode == 0
    document = json.loads(shown.stdout)
    assert document["baseline"]["run"] == "b"
    assert document["baseline"]["difference"] == pytest.approx(-0.2)
    assert document["gates"] == []
    (gate,) = json.loads(gated.stdout)["gates"]
    assert (gate["gate"], gate["met"], gate["actual"], gate["on"]) == ("max_drop", False, pytest.approx(0.2), "point")


def test_a_baseline_is_refused_before_anything_is_judged(two_runs: Path) -> None:
    """No such run, another protocol, the run itself, a limit without a baseline."""
    rows = answers(set())
    refusals = {
        "no run 'zz'": ("--baseline", "zz"),
        "parameters.extraction_policy": ("--baseline", "a", "--parameter", "extraction_policy=off"),
        "its own baseline": ("--baseline", "new"),
        "--baseline RUN": ("--max-drop", "2%"),
    }
    judge(two_runs, "new", answers({1}))
    for said, options in refusals.items():
        name = "new" if said == "its own baseline" else "other"
        done = judge(two_runs, name, rows, *options)
        assert (done.returncode, said in the_one_line(done)) == (2, True), done.stderr
    assert not (two_runs / "ws" / "runs" / "other").exists()
