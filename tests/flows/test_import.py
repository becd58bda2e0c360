"""`mixseek import` and `mixseek judge` on logs of other tools: what is written, what is judged, what is refused."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import mixseek_here
from tests.unit.datasets.importers import log_files


def exported(directory: Path, run: str) -> dict[tuple[str, str], dict[str, Any]]:
    """By sample and judge."""
    target = directory / "out.jsonl"
    done = mixseek_here("export", run, "--workspace", directory / "ws", "--to", target, cwd=directory)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    return {(row["id"], row["judge"]): row for row in rows}


def judge(directory: Path, data: Path, *judges: str) -> dict[tuple[str, str], dict[str, Any]]:
    options = [word for name in judges for word in ("--judge", name)]
    done = mixseek_here("judge", data, *options, "--workspace", directory / "ws", "--run", "r", "--json", cwd=directory)
    assert done.returncode == 0, done.stderr
    return exported(directory, "r")


def test_a_log_is_judged_as_it_is_and_its_scorer_stands_beside_ours(tmp_path: Path) -> None:
    """An error is filed under INCOMPLETE_COVERAGE by every judge, a degree and an unreadable grade are invalid."""
    rows = judge(tmp_path, log_files.inspect_zstandard(tmp_path), "rules", "log")
    told = {key: (row["verdict"], row["flags"]) for key, row in rows.items()}

    assert told == {
        ("a", "rules"): ("correct", []),
        ("a", "log:match"): ("correct", []),
        ("a#2", "rules"): (None, ["INCOMPLETE_COVERAGE"]),
        ("a#2", "log:match"): (None, ["INCOMPLETE_COVERAGE"]),
        ("b", "rules"): ("correct", []),
        ("b", "log:match"): (None, ["UNPARSABLE_OUTPUT"]),
        ("b#2", "rules"): ("correct", []),
        ("b#2", "log:match"): (None, ["PROTOCOL_VIOLATION"]),
    }
    assert rows["a#2", "rules"]["flag_details"] == ["the model gave no response: boom"]
    assert {row["question_id"] for row in rows.values()} == {"a", "b"}


def test_scorers_of_a_log_have_no_vote_beside_ours(tmp_path: Path) -> None:
    """Two scorers that agree would outvote the rules, and nothing would be left to hold them against."""
    wrong = {name: {"value": "I"} for name in ("first", "second")}
    samples = [log_files.inspect_sample(name, scores=wrong) for name in "abc"]
    path = log_files.write_json(tmp_path / "log.json", {**log_files.INSPECT_HEADER, "samples": samples})
    beside = mixseek_here("judge", path, "--judge", "rules", "--judge", "log", "--workspace", "ws", cwd=tmp_path)
    alone = mixseek_here("judge", path, "--judge", "log", "--workspace", "ws", cwd=tmp_path)

    assert "Judged by rules; a log's own scorers are held against it, without a vote." in beside.stdout
    assert "mean score  100.0%" in beside.stdout
    assert "log:second: mean 0.0%, 3 valid" in beside.stdout
    assert "mean score  0.0%" in alone.stdout


def test_an_archive_with_scores_of_a_log_checks_without_a_problem(tmp_path: Path) -> None:
    judge(tmp_path, log_files.inspect_json(tmp_path), "rules", "log")
    written = mixseek_here("archive", "r", "--workspace", tmp_path / "ws", "--to", tmp_path / "a", cwd=tmp_path)
    checked = mixseek_here("archive", "--check", tmp_path / "a", cwd=tmp_path)

    assert (written.returncode, checked.returncode) == (0, 0), checked.stderr + checked.stdout


def test_imported_samples_are_judged_like_the_log_they_come_from(tmp_path: Path) -> None:
    target = tmp_path / "samples.jsonl"
    done = mixseek_here("import", log_files.inspect_json(tmp_path), "--to", target, cwd=tmp_path)
    rows = judge(tmp_path, target, "rules", "log:match")

    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == f"written to {target}"
    assert rows["a", "log:match"]["verdict"] == "correct"
    assert rows["a#2", "rules"]["flags"] == ["INCOMPLETE_COVERAGE"]


def test_the_summary_counts_everything_by_its_name(tmp_path: Path) -> None:
    path = log_files.inspect_deflated(tmp_path)
    document = json.loads(mixseek_here("import", path, "--json", cwd=tmp_path).stdout)

    assert document == {
        "schema": "mixseek.import/1",
        "file": str(path),
        "format": "inspect",
        "tool_version": "0.3.99",
        "log_version": "2",
        "samples": 4,
        "questions": 2,
        "responses": 3,
        "empty_responses": 0,
        "targets": 4,
        "errors": 1,
        "withheld": 0,
        "repeats": 2,
        "scores": {"match": {"scores": 3, "correct": 1, "incorrect": 0, "graded": 1, "unreadable": 1}},
        "stop_reasons": {"stop": 3},
        "target_models": {"openai/model-x": 4},
        "first_errors": [{"id": "a#2", "error": "boom"}],
        "companions": [],
        "notices": [],
        "with_steps": 0,
        "with_contexts": 0,
        "to": None,
    }


def test_failed_samples_are_named_and_counted_before_anything_is_judged(tmp_path: Path) -> None:
    path = log_files.langsmith(tmp_path)
    done = mixseek_here("judge", path, "--workspace", tmp_path / "ws", cwd=tmp_path)

    assert "1 of 2 samples have no response, because their model gave none (e1#2)" in done.stderr


def test_a_batch_that_was_asked_to_judge_serves_as_recorded_replies(tmp_path: Path) -> None:
    reply = {"id": 1, "is_correct": True, "extracted_answer": "7", "reasoning_score": 5, "error_type": "none"}
    body = {"choices": [{"message": {"content": json.dumps({**reply, "comment": "same"})}, "finish_reason": "stop"}]}
    row = {"custom_id": "s1", "response": {"status_code": 200, "body": body}, "error": None}
    batch = log_files.write_lines(tmp_path / "judged.jsonl", [row])
    answers = log_files.write_lines(tmp_path / "answers.jsonl", [{"id": "s1", "response": "7", "ground_truth": "7"}])
    replies = tmp_path / "replies.jsonl"
    assert mixseek_here("import", batch, "--to", replies, "--quiet", cwd=tmp_path).returncode == 0
    rows = judge(tmp_path, answers, f"replay:{replies}")

    assert [row["verdict"] for row in rows.values()] == ["correct"]


# What cannot be read is one line that names the file, what was recognised and what is missing.


def write_bomb(directory: Path) -> Path:
    path = directory / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(log_files.INSPECT_HEADER))
        archive.writestr("samples/a_epoch_1.json", b" " * (65 << 20))
    return path


def write_lying_bomb(directory: Path) -> Path:
    """Its directory says that it is small."""
    sample = json.dumps({"id": "a", "padding": "x" * (70 << 20)})
    name = "samples/a_epoch_1.json"
    members = {"header.json": json.dumps(log_files.INSPECT_HEADER), name: sample}
    return log_files.write_zstandard(directory / "bomb.eval", members, {name: 100})


def write_deep(directory: Path) -> Path:
    path = directory / "deep.json"
    path.write_text('{"version": 2, "status": "success", "eval": ' + "[" * 50_000 + "]" * 50_000 + "}")
    return path


def write_deep_sample(directory: Path) -> Path:
    path = log_files.inspect_json(directory)
    deep = "[" * 50_000 + "]" * 50_000
    path.write_text(path.read_text().replace('"samples": [', f'"samples": [ {{"id": "x", "input": {deep}}},'))
    return path


def write_version(directory: Path) -> Path:
    return log_files.write_json(directory / "log.json", {**log_files.INSPECT_HEADER, "version": 9, "samples": []})


def write_header_only(directory: Path) -> Path:
    return log_files.write_json(directory / "log.json", log_files.INSPECT_HEADER)


def write_promptfoo_version(directory: Path) -> Path:
    return log_files.write_json(directory / "r.json", {"evalId": "e", "results": {"version": 17, "results": []}})


def write_promptfoo_without_results(directory: Path) -> Path:
    return log_files.write_json(directory / "r.json", {"evalId": "e", "results": {"version": 3, "table": {}}})


def write_empty_run(directory: Path) -> Path:
    return log_files.write_json(directory / "run.json", {"testCases": [], "metricsScores": []})


def write_requests(directory: Path) -> Path:
    row = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": []}}
    return log_files.write_lines(directory / "batch_input.jsonl", [row, row])


def write_broken_line(directory: Path) -> Path:
    path = log_files.promptfoo_lines(directory)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:40], *lines[2:]]))
    return path


def write_strange(directory: Path) -> Path:
    return log_files.write_json(directory / "strange.json", {"some": "thing"})


REFUSED: dict[Callable[[Path], Path], str] = {
    write_bomb: "samples/a_epoch_1.json unpacks to 65 MB, too large for a sample",
    write_deep: "JSON nested",
    write_deep_sample: "JSON nested",
    write_version: "an Inspect log of version 9; known are 1 and 2",
    write_header_only: "an Inspect log without `samples`",
    write_promptfoo_version: "promptfoo results of version 17; known are 2, 3, 4",
    write_promptfoo_without_results: "promptfoo results without the list `results.results`",
    write_empty_run: "DeepEval test run without a single sample",
    write_requests: "requests of a batch (OpenAI), without a response",
    write_broken_line: "line 2 is no JSON",
    write_strange: "not recognised as a log of another tool",
}


@pytest.mark.parametrize("write", REFUSED, ids=lambda write: write.__name__)
def test_what_cannot_be_read_is_one_line_and_leaves_no_file(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path, target = write(tmp_path), tmp_path / "samples.jsonl"
    done = mixseek_here("import", path, "--to", target, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert str(path) in line
    assert REFUSED[write] in line
    assert not target.exists()


def test_a_bomb_that_lies_about_its_size_is_left_out_and_told(tmp_path: Path) -> None:
    done = mixseek_here("import", write_lying_bomb(tmp_path), cwd=tmp_path)

    assert done.returncode == 2
    assert "samples/a_epoch_1.json is damaged and left out" in done.stderr


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("log:matsch", "the log has no such scorer; did you mean 'match'? it has match"),
        ("log:", "the log has no such scorer"),
    ],
)
def test_a_scorer_that_the_log_does_not_have_is_refused_by_name(spec: str, words: str, tmp_path: Path) -> None:
    path = log_files.inspect_json(tmp_path)
    done = mixseek_here("judge", path, "--judge", spec, "--workspace", tmp_path / "ws", cwd=tmp_path)

    assert done.returncode == 2
    assert words in done.stderr or "unknown judge" in done.stderr


def test_scores_of_other_tools_are_no_judgments_by_a_protocol_with_degrees(tmp_path: Path) -> None:
    path = log_files.inspect_json(tmp_path)
    options = ("--judge", "log:match", "--protocol", "cross", "--workspace", tmp_path / "ws")
    done = mixseek_here("judge", path, *options, cwd=tmp_path)

    assert done.returncode == 2
    assert "no judgment by the cross protocol" in done.stderr


def test_a_dataset_without_scores_has_no_such_judge(tmp_path: Path) -> None:
    data = log_files.write_lines(tmp_path / "a.jsonl", [{"id": "1", "response": "7", "ground_truth": "7"}])
    done = mixseek_here("judge", data, "--judge", "log", "--workspace", tmp_path / "ws", cwd=tmp_path)

    assert done.returncode == 2
    assert "holds no scores of another tool" in done.stderr


@pytest.mark.parametrize(("name", "words"), [("samples.xlsx", ".parquet"), ("no/s.jsonl", "there is no directory")])
def test_a_target_that_cannot_be_written_is_said_before_the_log_is_read(name: str, words: str, tmp_path: Path) -> None:
    done = mixseek_here("import", log_files.inspect_json(tmp_path), "--to", tmp_path / name, cwd=tmp_path)

    assert done.returncode == 2
    assert words in done.stderr


def test_a_log_is_never_written_over_itself(tmp_path: Path) -> None:
    path = log_files.promptfoo_lines(tmp_path)
    before = path.read_bytes()
    done = mixseek_here("import", path, "--to", path, cwd=tmp_path)

    assert done.returncode == 2
    assert "the log itself" in done.stderr
    assert path.read_bytes() == before


def test_a_scorer_that_gives_words_or_lengths_does_not_fail_the_command(tmp_path: Path) -> None:
    """It grades and gives no verdict: undecided, also beside a sample without a response, and never a mean of 100 %."""
    row = {"request": {"question": "How many?"}, "response": "It is 7.", "expected_response/value": "7"}
    told = [{"tone/value": "formal", "length/value": 1.0}, {"tone/value": "casual", "length/value": 8.0}]
    rows = [{"trace_id": f"t{number}", **row, **one} for number, one in enumerate(told)]
    failed = {**row, "trace_id": "t2", "response": None, "state": "ERROR", "tone/value": "formal", "length/value": 0}
    path = log_files.write_lines(tmp_path / "results.jsonl", [*rows, failed])
    words = ("judge", path, "--judge", "rules", "--judge", "log", "--workspace", "ws", "--json")
    done = mixseek_here(*words, cwd=tmp_path)
    summary = json.loads(done.stdout)
    alone = mixseek_here("judge", path, "--judge", "log:length", "--workspace", "ws", "--json", cwd=tmp_path)

    assert (done.returncode, alone.returncode) == (0, 0)
    assert json.loads(alone.stdout)["mean_score"] is None
    for name in ("log:tone", "log:length"):
        counts = summary["per_judge"][name]["counts"]
        assert (counts["valid"], counts["undecided"], counts["invalid"]) == (0, 2, 1), name
