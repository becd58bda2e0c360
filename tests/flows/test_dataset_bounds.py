"""Rows that nobody expects, and messages that can be acted on."""

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import mixseek_here, sums, the_one_line, write_jsonl


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('{"id": 1, "response": "a", "ground_truth": ' + "7" * 5_000 + "}", "line 2: holds a number of thousands of"),
        ('{"id": 1, "response": "a", "more": ' + "7" * 5_000 + "}", "line 2: holds a number of thousands of digits"),
        ('{"id": 1, "response": "a", "more": ' + "[" * 100_000 + "]" * 100_000 + "}", "line 2: JSON nested too deeply"),
    ],
)
def test_numbers_and_nesting_beyond_all_measure_are_bad_input(row: str, words: str, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": 0, "response": "b", "ground_truth": "b"}\n' + row + "\n")
    done = mixseek_here("judge", data, "--workspace", "ws", cwd=tmp_path)

    assert done.returncode == 2
    assert words in the_one_line(done)


def test_nested_alternatives_in_a_table_are_bad_input(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("id,response,ground_truth,alternatives\n1,a,a," + "[" * 100_000 + "\n")
    done = mixseek_here("judge", data, "--workspace", "ws", cwd=tmp_path)

    assert done.returncode == 2
    assert "line 2: `alternatives` begins like a JSON list but is none" in the_one_line(done)


def test_blank_ids_and_empty_responses_are_said_once_with_their_lines(tmp_path: Path) -> None:
    """A number in place of an id, and an answer that is incorrect for being none, are no matter of course."""
    data = tmp_path / "data.csv"
    ids = {2: "", 5: " \t"}
    rows = [f"{ids.get(n, f'q{n}')},{('', '  ')[n > 6] if n % 2 else 'x'},x" for n in range(20)]
    data.write_text("id,response,ground_truth\n" + "\n".join(rows) + "\n")
    done = mixseek_here("judge", data, "--workspace", "ws", "--json", cwd=tmp_path)
    again = mixseek_here("judge", data, "--workspace", "ws", "--json", cwd=tmp_path)
    blank = f"{data}: blank `id` in lines 4, 7: the number of the row is taken instead"
    empty = f"{data}: empty response in lines 3, 5, 7, 9, 11 and 5 more: judged as no answer"

    assert done.stderr.count(blank) == done.stderr.count(empty) == 1
    assert json.loads(done.stdout)["notices"] == json.loads(again.stdout)["notices"] == [blank, empty]


def test_rows_without_a_column_of_ids_are_numbered_without_a_word(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("response,ground_truth\nx,x\n")
    done = mixseek_here("judge", data, "--workspace", "ws", "--json", cwd=tmp_path)

    assert json.loads(done.stdout)["notices"] == []


def test_a_row_does_not_lead_out_of_the_datasets_directory_unless_allowed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the answer is 7")
    (tmp_path / "data").mkdir()
    row = {"id": 1, "response_path": "../secret.txt", "ground_truth": "7"}
    data = write_jsonl(tmp_path / "data" / "d.jsonl", [row])
    refused = mixseek_here("judge", data, "--workspace", "ws", cwd=tmp_path)
    allowed = mixseek_here("judge", data, "--workspace", "ws", "--allow-outside-files", cwd=tmp_path)

    assert refused.returncode == 2
    assert "--allow-outside-files" in the_one_line(refused)
    assert allowed.returncode == 0, allowed.stderr


def test_commands_in_hints_can_be_pasted(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", sums(3))
    done = mixseek_here("judge", data, "--workspace", "my work $(x)", cwd=tmp_path)
    hint = next(line for line in done.stdout.splitlines() if "mixseek report" in line)

    assert shlex.split(hint)[-1] == "my work $(x)"
    (tmp_path / "my work").mkdir()
    written = mixseek_here("protocol", "new", "my work/a;b.toml", cwd=tmp_path)
    assert shlex.split(written.stderr)[-1] == "my work/a;b.toml"


@pytest.mark.parametrize(
    ("command", "hint"),
    [("diff", "mixseek compare A B"), ("baseline", "mixseek compare A B"), ("eval", "mixseek judge DATA")],
)
def test_commands_of_other_tools_get_a_hint(command: str, hint: str, tmp_path: Path) -> None:
    done = mixseek_here(command, "a", "b", cwd=tmp_path)

    assert done.returncode == 2
    assert hint in the_one_line(done)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("compete", "absent.toml"), "absent.toml"),
        (("judge", "x" * 300 + ".jsonl"), "x" * 300),
        (("judge", "broken.json"), "broken.json"),
        (("judge", "broken.parquet"), "broken.parquet"),
    ],
)
def test_a_file_is_named_once(arguments: tuple[str, ...], name: str, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("[1,2")
    (tmp_path / "broken.parquet").write_text("x")
    done = mixseek_here(*arguments, cwd=tmp_path)

    assert done.returncode == 2
    assert the_one_line(done).count(name) == 1


def test_files_that_a_shell_made_of_a_pattern_are_answered_with_quotes(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        write_jsonl(tmp_path / name, [{"id": name, "response": "x", "ground_truth": "x"}])
    done = mixseek_here("judge", "a.jsonl", "b.jsonl", "c.jsonl", cwd=tmp_path)
    quoted = mixseek_here("judge", "*.jsonl", "--workspace", "ws", "--json", cwd=tmp_path)
    slip = mixseek_here("judge", "a.jsonl", "whatever", cwd=tmp_path)

    assert done.returncode == slip.returncode == 2
    assert the_one_line(done).startswith("mixseek: 3 files where one is expected")
    assert the_one_line(done).endswith("stands in quotes, as in mixseek judge '*.jsonl'")
    assert json.loads(quoted.stdout)["samples"] == 3
    assert "unexpected extra argument" in the_one_line(slip)


def test_a_column_of_right_answers_that_is_empty_is_not_called_absent(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("id,response,ground_truth\n1,a,\n2,b,\n")
    done = mixseek_here("judge", data, cwd=tmp_path)

    assert done.returncode == 2
    assert "the column `ground_truth` is there and empty in every row" in the_one_line(done)


def test_a_baseline_that_is_not_there_is_answered_with_all_runs_the_nearest_first(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", [{"id": "a", "response": "x", "ground_truth": "x"}])
    for name in ("april", "march", "nothings"):
        assert mixseek_here("judge", data, "--run", name, "--workspace", "ws", "-q", cwd=tmp_path).returncode == 0
    done = mixseek_here("judge", data, "--baseline", "nothing-new", "--workspace", "ws", cwd=tmp_path)

    assert done.returncode == 2
    assert the_one_line(done) == "mixseek: ws: no run 'nothing-new'; there is nothings, april, march"


def test_the_length_of_a_line_is_a_setting(tmp_path: Path) -> None:
    row = {"id": "a", "response": "It is 7.", "ground_truth": "7", "more": "x" * (2 << 20)}
    data = write_jsonl(tmp_path / "data.jsonl", [row])
    plain = mixseek_here("judge", data, "--workspace", "ws", "-q", cwd=tmp_path)
    bounded = mixseek_here("judge", data, "--workspace", "ws", cwd=tmp_path, env={"MIXSEEK_JUDGE__MAX_LINE_MB": "1"})

    assert (plain.returncode, bounded.returncode) == (0, 2)
    assert "line 1 is longer than 1 MB" in the_one_line(bounded)


def test_a_column_whose_name_has_line_breaks_is_named_in_one_line(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text('id,"Answer\n\nbriefly"\n1,x\n')
    done = mixseek_here("stats", data, cwd=tmp_path)

    assert done.returncode == 2
    assert "Answer briefly" in the_one_line(done)


LONG_ANSWER = "x" * 1_500_000
RATINGS = [{"item": f"i{n}", "judge": "ann", "score": n % 2, "note": LONG_ANSWER if n == 2 else ""} for n in range(4)]


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def write_long_lines(place: Path) -> None:
    """In each file the third row is a line of one and a half megabytes."""
    notes = ["", "", LONG_ANSWER, ""]
    samples = [{"id": f"row {n}", "response": "4", "question": "2 + 2?", "ground_truth": "4"} for n in range(4)]
    write_jsonl(place / "short.jsonl", samples)
    write_jsonl(
        place / "data.jsonl", [{**row, "response": f"4{note}"} for row, note in zip(samples, notes, strict=True)]
    )
    ids = [row["id"] for row in samples]
    write_jsonl(place / "replies.jsonl", [{"id": name, "reply": note} for name, note in zip(ids, notes, strict=True)])
    labels = [{"id": name, "label": "correct", "note": note} for name, note in zip(ids, notes, strict=True)]
    write_jsonl(place / "labels.jsonl", labels)
    write_csv(place / "labels.csv", labels)
    write_jsonl(place / "ratings.jsonl", RATINGS)
    write_csv(place / "ratings.csv", RATINGS)
    write_jsonl(
        place / "board.jsonl", [{**row, "system": "ab"[n % 2], "question": "q"} for n, row in enumerate(RATINGS)]
    )


# Each with the file and the line that is too long.
READING = {
    "judge": (("judge", "data.jsonl"), "data.jsonl: line 3"),
    "replay": (("judge", "short.jsonl", "--judge", "replay:replies.jsonl"), "replies.jsonl: line 3"),
    "evaluate": (("evaluate", "data.jsonl", "--judge", "replay:replies.jsonl"), "data.jsonl: line 3"),
    "evaluate by replay": (("evaluate", "short.jsonl", "--judge", "replay:replies.jsonl"), "replies.jsonl: line 3"),
    "sheet": (("label", "import", "labels.csv", "--rater", "mia", "--run", "short"), "labels.csv: line 4"),
    "sheet of lines": (("label", "import", "labels.jsonl", "--rater", "mia", "--run", "short"), "labels.jsonl: line 3"),
    "stats": (("stats", "ratings.jsonl"), "ratings.jsonl: line 3"),
    "stats of a table": (("stats", "ratings.csv"), "ratings.csv: line 4"),
    "leaderboard": (("leaderboard", "board.jsonl"), "board.jsonl: line 3"),
}


@pytest.mark.parametrize("name", READING)
def test_one_limit_and_one_message_for_a_long_line_whoever_reads_it(name: str, tmp_path: Path) -> None:
    """`judge.max_line_mb` is not the dataset's alone."""
    words, place = READING[name]
    write_long_lines(tmp_path)
    if "label" in words:
        mixseek_here("judge", "short.jsonl", "--workspace", "ws", "--run", "short", "-q", cwd=tmp_path)
    bounded = mixseek_here(*words, "--workspace", "ws", cwd=tmp_path, env={"MIXSEEK_JUDGE__MAX_LINE_MB": "1"})
    allowed = mixseek_here(*words, "--workspace", "ws", cwd=tmp_path)

    assert bounded.returncode == 2
    assert f"{place} is longer than 1 MB; a row has a line of its own" in the_one_line(bounded)
    assert "judge.max_line_mb" in the_one_line(bounded)
    assert "longer than" not in allowed.stderr


def test_a_table_of_ratings_may_have_lines_that_are_longer_than_its_reader_likes(tmp_path: Path) -> None:
    """DuckDB alone stops at two megabytes a line."""
    rows = [{**row, "note": f"{row['note']}" * 3} for row in RATINGS]
    done = mixseek_here("stats", write_csv(tmp_path / "ratings.csv", rows), "--json", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ratings"] == 4
