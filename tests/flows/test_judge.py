"""`mixseek judge` and what reads its results: the contract for programs, gates, inputs, panel and cascade."""

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import COMMAND, environment, mixseek, mixseek_here, read_jsonl, sums, the_one_line, write_jsonl

SUMMARY_KEYS = {
    "checks",
    "confidences",
    "route",
    "responses",
    "finished",
    "pairs",
    "needs_maths",
    "headline",
    "corrected",
    "baseline",
    "notices",
    "run",
    "workspace",
    "protocol",
    "protocol_hash",
    "dataset",
    "samples",
    "judges",
    "cascade",
    "repeats",
    "calls",
    "spreads",
    "counts",
    "per_judge",
    "mean_score",
    "interval",
    "gates",
    "complete",
    "journal",
    "manifest",
    "seconds",
    "control",
    "unusable",
    "unmatched_replies",
    "unusable_reasons",
    "unverified",
    "bounds",
    "units",
    "schema",
    "asked_again",
}
EXPORT_KEYS = {
    "id",
    "judge",
    "status",
    "score",
    "verdict",
    "is_correct",
    "extracted_answer",
    "error_type",
    "span",
    "rules",
    "flags",
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "data.jsonl", sums(50))


def judge(data: Path | str, *more: str | Path, cwd: Path, **rest: Any) -> subprocess.CompletedProcess[str]:
    arguments = ("--protocol", "semantic", "--workspace", "ws", "--run", "r", "--json")
    return mixseek_here("judge", data, *arguments, *more, cwd=cwd, **rest)


def export(cwd: Path, run: str = "r", name: str = "out.jsonl") -> list[dict[str, Any]]:
    done = mixseek_here("export", run, "--workspace", "ws", "--to", name, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return read_jsonl(cwd / name)


def test_stdout_is_exactly_one_json_summary(data: Path, tmp_path: Path) -> None:
    """The contract for programs, to the letter, by the real command."""
    arguments = ("--protocol", "semantic", "--judge", "rules", "--workspace", "ws", "--run", "r", "--json")
    done = mixseek("judge", data, *arguments, cwd=tmp_path)
    summary = json.loads(done.stdout)

    assert done.returncode == 0
    assert set(summary) == SUMMARY_KEYS
    assert summary["run"] == "r"
    assert summary["samples"] == 50
    assert summary["judges"] == ["rules"]
    assert set(summary["counts"]) == {"valid", "invalid", "undecided", "missing"}
    assert sum(summary["counts"].values()) == 50
    assert summary["per_judge"]["rules"]["counts"] == summary["counts"]
    assert 0 < summary["mean_score"] < 1
    assert summary["interval"]["low"] < summary["mean_score"] < summary["interval"]["high"]
    assert summary["complete"] is True
    assert (tmp_path / summary["journal"]).is_file()
    assert (tmp_path / summary["manifest"]).is_file()


def test_an_export_has_a_row_for_each_sample_and_judge_in_dataset_order(data: Path, tmp_path: Path) -> None:
    """With the span that decided, inside the response."""
    judge(data, "--judge", "rules", cwd=tmp_path)
    rows = export(tmp_path)
    responses = {row["id"]: row["response"] for row in sums(50)}

    assert [row["id"] for row in rows] == [f"sum-{n}" for n in range(50)]
    for row in rows:
        assert set(row) >= EXPORT_KEYS
        assert row["judge"] == "rules"
        assert row["status"] in ("valid", "undecided")
        assert row["is_correct"] == {"correct": True, "incorrect": False, None: None}[row["verdict"]]
        assert row["score"] == {True: 1.0, False: 0.0, None: None}[row["is_correct"]]
        if row["status"] == "valid" and row["span"]:
            start, end = row["span"] if isinstance(row["span"], list) else (row["span"]["start"], row["span"]["end"])
            assert row["extracted_answer"] in responses[row["id"]][start:end] or start < end


def test_the_summary_and_the_export_agree(data: Path, tmp_path: Path) -> None:
    """Two roads from one journal."""
    summary = json.loads(judge(data, "--judge", "rules", cwd=tmp_path).stdout)
    rows = export(tmp_path)
    scores = [row["score"] for row in rows if row["status"] == "valid"]

    assert summary["counts"]["valid"] == len(scores)
    assert summary["mean_score"] == pytest.approx(sum(scores) / len(scores))


def test_a_finished_run_is_shown_again_without_judging(data: Path, tmp_path: Path) -> None:
    """The journal does not grow, and the summary is the same."""
    first = json.loads(judge(data, cwd=tmp_path).stdout)
    before = (tmp_path / first["journal"]).read_bytes()
    again = judge(data, cwd=tmp_path)

    second = json.loads(again.stdout)
    assert again.returncode == 0
    assert (tmp_path / first["journal"]).read_bytes() == before
    assert {k: v for k, v in first.items() if k != "seconds"} == {k: v for k, v in second.items() if k != "seconds"}


def test_without_a_name_the_same_request_is_the_same_run(data: Path, tmp_path: Path) -> None:
    """And another request is another run."""
    arguments = ("judge", data, "--workspace", "ws", "--json")
    runs = [
        json.loads(mixseek_here(*arguments, *more, cwd=tmp_path).stdout)["run"]
        for more in ((), (), ("--limit", "10"), ("--language", "ja"))
    ]

    assert runs[0] == runs[1]
    assert len(set(runs)) == 3


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ("dataset", "dataset"),
        ("--language ja", "protocol"),
        ("--judge rules --judge replay:replies.jsonl", "judges"),
        ("--limit 5", "number of samples"),
    ],
)
def test_a_run_is_not_continued_with_another_request(change: str, word: str, data: Path, tmp_path: Path) -> None:
    """One line says what differs and what to do; nothing is written."""
    write_jsonl(tmp_path / "replies.jsonl", [{"id": "sum-0", "reply": "{}"}])
    journal = tmp_path / json.loads(judge(data, cwd=tmp_path).stdout)["journal"]
    before = journal.read_bytes()
    if change == "dataset":
        write_jsonl(data, sums(51))

    done = judge(data, *(change.split() if change.startswith("--") else ()), cwd=tmp_path)

    assert done.returncode == 2
    assert word in the_one_line(done)
    assert "--run" in the_one_line(done)
    assert journal.read_bytes() == before


@pytest.mark.parametrize(
    ("gate", "code", "words"),
    [
        (("--fail-under", "10%"), 0, ()),
        (("--fail-under", "0.99"), 1, ("--fail-under", "99.00%")),
        (("--max-undecided", "0.5"), 0, ()),
        (("--max-undecided", "1%"), 1, ("--max-undecided", "1.00%")),
        (("--max-invalid", "0"), 0, ()),
    ],
)
def test_gates_decide_the_exit_code_and_name_the_numbers(
    gate: tuple[str, str], code: int, words: tuple[str, ...], data: Path, tmp_path: Path
) -> None:
    """The JSON is printed either way."""
    done = judge(data, *gate, cwd=tmp_path)
    (result,) = json.loads(done.stdout)["gates"]

    assert done.returncode == code
    assert result["met"] is (code == 0)
    assert all(word in done.stderr for word in words)


def test_stdin_is_a_dataset_too(data: Path, tmp_path: Path) -> None:
    """And gives what the file gives."""
    judge(data, cwd=tmp_path)
    from_file = export(tmp_path)
    done = mixseek_here(
        "judge", "-", "--workspace", "ws", "--run", "piped", "--json", cwd=tmp_path, stdin=data.read_text("utf-8")
    )

    assert done.returncode == 0, done.stderr
    assert export(tmp_path, "piped") == from_file


def test_csv_with_other_column_names_gives_the_same_verdicts(data: Path, tmp_path: Path) -> None:
    """--map says where each field stands."""
    columns = {"id": "nr", "question": "prompt", "response": "output", "ground_truth": "target", "task_name": "part"}
    with (tmp_path / "data.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns.values())
        writer.writerows([[row[field] or "" for field in columns] for row in sums(50)])
    mapping = [part for field, column in columns.items() for part in ("--map", f"{field}={column}")]
    judge(data, cwd=tmp_path)
    from_jsonl = export(tmp_path)

    done = mixseek_here("judge", "data.csv", "--workspace", "ws", "--run", "csv", "--json", *mapping, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    same = ("id", "status", "verdict", "span", "rules")
    assert [[row[key] for key in same] for row in export(tmp_path, "csv")] == [
        [row[key] for key in same] for row in from_jsonl
    ]


TRUTHS = {row["id"]: row["ground_truth"] for row in sums(50)}


def reply(sample_id: str, is_correct: bool) -> dict[str, Any]:
    body = {
        "id": sample_id,
        "is_correct": is_correct,
        "extracted_answer": TRUTHS.get(sample_id, "7") if is_correct else None,
        "reasoning_score": 5 if is_correct else 1,
        "error_type": "none" if is_correct else "no_answer",
        "comment": "recorded",
    }
    return {"id": sample_id, "reply": json.dumps(body)}


def test_a_cascade_asks_the_second_judge_only_where_the_first_declined(data: Path, tmp_path: Path) -> None:
    """Counts are of samples; per judge they say who judged how many."""
    replies = [reply(row["id"], is_correct=False) for row in sums(50)]
    write_jsonl(tmp_path / "replies.jsonl", replies)
    judges = ("--cascade", "--judge", "rules", "--judge", "replay:replies.jsonl")

    done = judge(data, *judges, cwd=tmp_path)

    summary = json.loads(done.stdout)
    undecided = summary["per_judge"]["rules"]["counts"]["undecided"]
    replay = next(name for name in summary["judges"] if name.startswith("replay"))
    assert done.returncode == 0, done.stderr
    assert undecided > 0
    assert sum(summary["per_judge"][replay]["counts"].values()) == undecided
    assert summary["counts"] == {"valid": 50, "invalid": 0, "undecided": 0, "missing": 0}
    assert len(export(tmp_path)) == 50 + undecided


def test_a_panel_lets_every_judge_judge_everything_and_missing_replies_leave_it_incomplete(
    data: Path, tmp_path: Path
) -> None:
    """Exit 4: a reply that could not be had is never a judgment. With the replies there, the same command completes."""
    replies = [reply(row["id"], is_correct=False) for row in sums(50)]
    write_jsonl(tmp_path / "replies.jsonl", replies[:49])
    judges = ("--judge", "rules", "--judge", "replay:replies.jsonl")

    done = judge(data, *judges, cwd=tmp_path)

    summary = json.loads(done.stdout)
    assert done.returncode == 4
    assert summary["counts"]["missing"] == 1
    assert summary["complete"] is False
    assert len(export(tmp_path)) == 100
    assert "run the same command again" in done.stderr

    write_jsonl(tmp_path / "replies.jsonl", replies)
    completed = judge(data, *judges, cwd=tmp_path)
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout)["counts"]["missing"] == 0
    assert len(export(tmp_path)) == 100


def test_rules_do_not_say_why_an_answer_is_wrong(data: Path, tmp_path: Path) -> None:
    """They cannot know that its logic is; that there is no answer, they can see."""
    empty = {"id": "none", "question": "What is 2 + 2?", "response": "", "ground_truth": "4"}
    write_jsonl(data, [*sums(50), empty])
    assert judge(data, cwd=tmp_path).returncode == 0
    kinds = {(row["is_correct"], row["error_type"]) for row in export(tmp_path) if row["status"] == "valid"}

    assert kinds == {(True, "none"), (False, None), (False, "no_answer")}


def test_algebra_is_decided_without_an_option(tmp_path: Path) -> None:
    """The extra `maths` serves every command where it is installed."""
    pytest.importorskip("math_verify")
    row = {
        "id": "a",
        "question": "What is it?",
        "ground_truth": r"$\frac{1}{2}+x$",
        "response": r"The answer is $x+0.5$.",
    }
    data = write_jsonl(tmp_path / "data.jsonl", [row])
    assert judge(data, "--judge", "rules", cwd=tmp_path).returncode == 0

    assert [row["verdict"] for row in export(tmp_path)] == ["correct"]


def test_judges_that_say_the_same_are_no_more_samples(data: Path, tmp_path: Path) -> None:
    """Four judges in one voice have the interval that one of them has, and so has each of them."""
    replies = [reply(row["id"], is_correct=number % 3 > 0) for number, row in enumerate(sums(50))]
    names = [f"replay:{name}.jsonl" for name in "abcd"]
    for name in "abcd":
        write_jsonl(tmp_path / f"{name}.jsonl", replies)
    one = json.loads(judge(data, "--judge", names[0], "--run", "one", cwd=tmp_path).stdout)
    four = json.loads(judge(data, *(word for name in names for word in ("--judge", name)), cwd=tmp_path).stdout)

    assert one["interval"] is not None
    assert [four["per_judge"][name]["interval"] for name in names] == [one["interval"]] * 4


def test_running_again_is_advised_only_where_it_can_help(data: Path, tmp_path: Path) -> None:
    """A file without the reply will not have it the next time either, unless somebody adds it."""
    write_jsonl(tmp_path / "replies.jsonl", [reply(row["id"], is_correct=False) for row in sums(49)])
    recorded = judge(data, "--judge", "replay:replies.jsonl", cwd=tmp_path)
    complete = judge(data, "--judge", "rules", "--run", "rules", cwd=tmp_path)

    assert recorded.returncode == 4
    assert "add the replies to the file, then run the same command again" in recorded.stderr
    assert "to ask for them" not in recorded.stderr
    assert complete.returncode == 0
    assert "again" not in complete.stderr


def test_a_corrected_reply_is_judged_again(data: Path, tmp_path: Path) -> None:
    """As another run; under the name of the old one it is refused in one line, complete or not."""
    replies = [reply(row["id"], is_correct=False) for row in sums(50)]
    arguments = ("judge", data, "--workspace", "ws", "--json", "--judge", "replay:replies.jsonl")
    runs = []
    for corrected in (False, True, True):
        write_jsonl(tmp_path / "replies.jsonl", [reply("sum-0", is_correct=corrected), *replies[1:]])
        runs.append(json.loads(mixseek_here(*arguments, cwd=tmp_path).stdout))
    write_jsonl(tmp_path / "replies.jsonl", replies)

    done = mixseek_here(*arguments, "--run", runs[1]["run"], cwd=tmp_path)

    assert [one["mean_score"] * 50 for one in runs] == [0, 1, 1]
    assert len({one["run"] for one in runs}) == 2
    assert done.returncode == 2
    assert "was started with another version of replay:replies.jsonl; choose a new name" in the_one_line(done)


SEVENS: list[dict[str, Any]] = [
    {"id": f"s{n}", "question": "How much?", "response": "It is 7.", "ground_truth": "7", "level": "easy" if n else 3}
    for n in range(10)
]


def recorded(tmp_path: Path, **judges: bool) -> list[str]:
    """Options for judges that call everything right, or everything wrong."""
    options = []
    for name, is_correct in judges.items():
        write_jsonl(tmp_path / f"{name}.jsonl", [reply(row["id"], is_correct=is_correct) for row in SEVENS])
        options += ["--judge", f"replay:{name}.jsonl"]
    return options


def test_a_gate_is_kept_by_the_panel(tmp_path: Path) -> None:
    """No mean over judges that differ: one at 0 % and one at 100 % do not pass 50 % together; two against one do."""
    data = write_jsonl(tmp_path / "sevens.jsonl", SEVENS)
    two = recorded(tmp_path, strict=False, lenient=True)
    three = [*two, *recorded(tmp_path, kind=True)]

    tied = judge(data, *two, "--fail-under", "50%", "--run", "two", cwd=tmp_path)
    kept = judge(data, *three, "--fail-under", "50%", "--run", "three", cwd=tmp_path)

    summary = json.loads(tied.stdout)
    assert tied.returncode == 1
    assert (summary["mean_score"], summary["interval"]) == (None, None)
    assert summary["headline"]["counts"]["split"] == 10
    assert [score["mean_score"] for score in summary["per_judge"].values()] == [0.0, 1.0]
    assert "gate --fail-under not met: mean score no valid verdict, under the limit of 50.00%" in tied.stderr
    assert (kept.returncode, json.loads(kept.stdout)["mean_score"]) == (0, 1.0)


def test_the_rule_of_a_panel_can_be_named_when_judging_and_when_reading(tmp_path: Path) -> None:
    """The run keeps the rule it was judged with; a report may ask for another; a cascade has no use for one."""
    data = write_jsonl(tmp_path / "sevens.jsonl", SEVENS)
    judges = recorded(tmp_path, strict=False, lenient=True, kind=True)
    where = ("--workspace", "ws", "--json")

    done = judge(data, *judges, "--panel", "unanimous", "--run", "p", cwd=tmp_path)
    kept = json.loads(mixseek_here("report", "p", *where, cwd=tmp_path).stdout)["headline"]
    other = json.loads(mixseek_here("report", "p", *where, "--panel", "majority", cwd=tmp_path).stdout)["headline"]
    refused = judge(data, *judges, "--cascade", "--panel", "majority", cwd=tmp_path)
    judge(data, *judges, "--cascade", "--run", "c", cwd=tmp_path)
    unread = mixseek_here("report", "c", "--panel", "mean", "--workspace", "ws", cwd=tmp_path)
    unknown = mixseek_here("report", "p", "--panel", "vote", "--workspace", "ws", cwd=tmp_path)

    assert json.loads(done.stdout)["headline"]["counts"]["split"] == 10
    assert (kept["rule"], kept["counts"]["split"]) == ("unanimous", 10)
    assert (other["rule"], other["mean_score"], other["counts"]["valid"]) == ("majority", 1.0, 10)
    assert (refused.returncode, unread.returncode, unknown.returncode) == (2, 2, 2)
    assert "run c: a cascade gives one verdict a sample already; leave out --panel mean" in the_one_line(unread)
    assert "majority" in unknown.stderr


def test_what_is_unverified_bounds_the_headline_and_can_be_a_gate(tmp_path: Path) -> None:
    """A judge that "extracts" the ground truth from responses that never say it."""
    rows = [
        {"id": f"q{number}", "question": "How much is it?", "ground_truth": "7", "response": response}
        for number, response in enumerate(["It is 7.", "It is seven.", "I like tea.", "<think>7</think> I like tea."])
    ]
    write_jsonl(tmp_path / "tea.jsonl", rows)
    write_jsonl(tmp_path / "replies.jsonl", [reply(row["id"], is_correct=True) for row in rows])
    arguments = ("tea.jsonl", "--workspace", "ws", "--judge", "replay:replies.jsonl", "--run", "r")

    done = mixseek_here("judge", *arguments, "--max-unverified", "49%", "--json", cwd=tmp_path)
    met = mixseek_here("judge", *arguments, "--max-unverified", "50%", cwd=tmp_path)
    report = mixseek_here("report", "r", "--workspace", "ws", cwd=tmp_path)
    shown = mixseek_here("show", "r", "q3", "--workspace", "ws", cwd=tmp_path)

    summary = json.loads(done.stdout)
    assert (done.returncode, met.returncode) == (1, 0)
    assert (summary["mean_score"], summary["unverified"]) == (1.0, 2)
    assert summary["bounds"] == {"worst": 0.5, "best": 1.0}
    assert "gate --max-unverified not met: unverified 50.00%, over the limit of 49.00%" in done.stderr
    for text in (met.stdout, report.stdout):
        assert "If the 2 unverified were wrong: 50.0%." in text
    assert "Reasoning scores  mean 5.00" in report.stdout
    assert "not in the response: unverified" in shown.stdout
    assert "reasoning score   5" in shown.stdout


@pytest.mark.parametrize(
    ("policy", "valid", "invalid", "unverified"), [("record", 2, 0, 1), ("verified", 1, 1, 0), ("off", 2, 0, 0)]
)
def test_the_extraction_policy_says_what_becomes_of_an_answer_that_is_not_there(
    policy: str, valid: int, invalid: int, unverified: int, tmp_path: Path
) -> None:
    """Counted by default, refused where every answer must be there, and not looked for where nobody wants to."""
    rows = [
        {"id": f"q{number}", "question": "How much is it?", "ground_truth": "7", "response": response}
        for number, response in enumerate(["It is 7.", "I like tea."])
    ]
    write_jsonl(tmp_path / "tea.jsonl", rows)
    write_jsonl(tmp_path / "replies.jsonl", [reply(row["id"], is_correct=True) for row in rows])
    more = ("--judge", "replay:replies.jsonl", "--parameter", f"extraction_policy={policy}")
    summary = json.loads(judge("tea.jsonl", *more, cwd=tmp_path).stdout)
    report = json.loads(mixseek_here("report", "r", "--workspace", "ws", "--json", cwd=tmp_path).stdout)

    assert (summary["counts"]["valid"], summary["counts"]["invalid"]) == (valid, invalid)
    assert [own["unverified"] for own in summary["per_judge"].values()] == [unverified]
    assert [own["unverified"] for own in report["judges"]] == [unverified]


def test_rules_that_decide_nothing_end_well_and_say_so(tmp_path: Path) -> None:
    """Declining is what rules are for; what is missing is a model to ask."""
    write_jsonl(
        tmp_path / "open.jsonl", [{"id": "1", "question": "Why?", "ground_truth": "because", "response": "Tea."}]
    )

    done = mixseek_here("judge", "open.jsonl", "--workspace", "ws", "--judge", "rules", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "rules decided none of 1 sample; ask a model for them: --cascade --judge rules" in done.stderr
    assert ": 1 sample, " in done.stdout


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_other_formats_hold_the_same_rows(ending: str, data: Path, tmp_path: Path) -> None:
    """A table for a spreadsheet, a table for a database."""
    import duckdb

    judge(data, cwd=tmp_path)
    done = mixseek_here("export", "r", "--workspace", "ws", "--to", f"out.{ending}", "--json", cwd=tmp_path)
    with duckdb.connect() as connection:
        rows = connection.sql(f"select id, status, verdict from '{tmp_path}/out.{ending}'").fetchall()  # noqa: S608

    assert json.loads(done.stdout)["rows"] == 50
    assert rows == [(row["id"], row["status"], row["verdict"]) for row in export(tmp_path)]


def test_reading_commands_find_the_only_run_and_the_latest(data: Path, tmp_path: Path) -> None:
    """RUN may be left out when there is one, and `latest` always works."""
    judge(data, cwd=tmp_path)
    place = ("--workspace", "ws")

    shown = json.loads(mixseek_here("show", "sum-3", *place, "--json", cwd=tmp_path).stdout)
    reported = mixseek_here("report", *place, cwd=tmp_path)
    mixseek_here("judge", data, *place, "--run", "second", "--limit", "5", cwd=tmp_path)
    latest = json.loads(mixseek_here("report", "latest", *place, "--json", cwd=tmp_path).stdout)
    ambiguous = mixseek_here("show", "sum-3", *place, cwd=tmp_path)
    listed = json.loads(mixseek_here("runs", *place, "--json", cwd=tmp_path).stdout)

    assert shown["judgments"][0]["id"] == "sum-3"
    assert reported.returncode == 0, reported.stderr
    assert (tmp_path / "ws" / "runs" / "r" / "report.html").is_file()
    assert latest["run"] == "second"
    assert ambiguous.returncode == 2
    assert "second" in the_one_line(ambiguous)
    assert [line["run"] for line in listed["runs"]] == ["second", "r"]


def test_the_workspace_comes_from_option_then_environment_then_file(data: Path, tmp_path: Path) -> None:
    """In that order."""
    (tmp_path / "mixseek.toml").write_text('workspace = "from-file"\n', encoding="utf-8")
    arguments = ("judge", data, "--run", "r", "--json")

    from_file = json.loads(mixseek_here(*arguments, cwd=tmp_path).stdout)
    from_env = json.loads(mixseek_here(*arguments, cwd=tmp_path, env={"MIXSEEK_WORKSPACE": "from-env"}).stdout)
    given = json.loads(mixseek_here(*arguments, "--workspace", "given", cwd=tmp_path).stdout)

    assert [Path(found["workspace"]).name for found in (from_file, from_env, given)] == [
        "from-file",
        "from-env",
        "given",
    ]


def test_settings_of_the_directory_are_the_defaults_of_the_command(data: Path, tmp_path: Path) -> None:
    """And an option on the command line wins over them."""
    replies = [reply(row["id"], is_correct=False) for row in sums(50)]
    write_jsonl(tmp_path / "replies.jsonl", replies)
    (tmp_path / "mixseek.toml").write_text(
        'workspace = "ws"\n[judge]\njudges = ["rules", "replay:replies.jsonl"]\ncascade = true\nlanguage = "zh"\n',
        encoding="utf-8",
    )

    by_settings = json.loads(mixseek_here("judge", data, "--json", cwd=tmp_path).stdout)
    by_options = json.loads(
        mixseek_here("judge", data, "--json", "--no-cascade", "--judge", "rules", cwd=tmp_path).stdout
    )

    assert by_settings["judges"] == ["rules", "replay:replies.jsonl"]
    assert by_settings["cascade"] is True
    assert by_options["judges"] == ["rules"]
    assert by_options["cascade"] is False
    assert by_options["protocol_hash"] == by_settings["protocol_hash"]


def test_a_reader_that_leaves_early_is_no_failure(data: Path, tmp_path: Path) -> None:
    """`mixseek report | head -1` is quiet."""
    judge(data, cwd=tmp_path)
    done = subprocess.run(  # noqa: S602 - the pipe is what is tested
        f"'{COMMAND}' show r sum-1 --workspace ws --json | head -c 1",
        shell=True,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""


def test_texts_of_megabytes_are_shown_in_part_and_said_so(tmp_path: Path) -> None:
    """Laying out megabytes would take minutes, and nobody reads them in a terminal."""
    row = {
        "id": "a",
        "question": "How many?",
        "response": "word " * 600_000 + "The answer is 42.",
        "ground_truth": "42",
    }
    judge(write_jsonl(tmp_path / "long.jsonl", [row]), cwd=tmp_path)

    shown = mixseek_here("show", "a", "--workspace", "ws", cwd=tmp_path)
    whole = mixseek_here("show", "a", "--workspace", "ws", "--json", cwd=tmp_path)

    assert "⟦42⟧" in shown.stdout
    assert len(shown.stdout) < 300_000
    assert "shown in part" in shown.stderr
    assert json.loads(whole.stdout)["judgments"][0]["response"] == row["response"]
