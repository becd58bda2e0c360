"""Files that nobody here wrote, in whole, through every command; skipped where they are not beside the project."""

import json
from pathlib import Path

import pytest
from bench.accuracy import below_the_floor, deciding_rule, is_trusted, judge_file, ledger, read_rows
from bench.real_files import DATA, RealFile, many_rows, reading_commands, real_files
from tests.flows.running import mixseek_here

FILES = list(real_files()) if DATA.is_dir() else []
# Beyond this, a part of the answers is judged, all files together, and read by what reads every row.
_SMALL_BYTES = 1 << 20
_SMALL = [file for file in FILES if file.judge != "rules" or file.path.stat().st_size <= _SMALL_BYTES]

pytestmark = pytest.mark.skipif(not FILES, reason="the data is not beside the project")


@pytest.mark.thorough
@pytest.mark.parametrize("file", _SMALL, ids=lambda file: file.path.stem)
def test_no_command_fails_on_a_real_file(file: RealFile, tmp_path: Path) -> None:
    """Whatever a judge made of it: replies that cannot be used are an outcome, and a failure of ours is not."""
    judged = mixseek_here(*file.judging(tmp_path), cwd=tmp_path)
    assert judged.returncode in ((0,) if file.judge == "rules" else (0, 1, 4)), judged.stderr

    for words in reading_commands(file, tmp_path):
        done = mixseek_here(*words, cwd=tmp_path)
        assert done.returncode == 0, (words, done.stderr)

    # Whoever lists the runs finds it counted.
    listed = mixseek_here("runs", "--workspace", tmp_path, cwd=tmp_path)
    assert file.path.stem[:20] in listed.stdout
    assert listed.stderr == ""


@pytest.mark.thorough
def test_answers_of_all_files_are_judged_and_no_rule_is_below_its_floor(tmp_path: Path) -> None:
    """Every fourth question with all columns, by the installed command; `make table` and `make bench` take them all."""
    path = tmp_path / "answers.jsonl"
    seen: dict[str, int] = {}
    with path.open("w", encoding="utf-8") as chosen:
        for file in FILES:
            for row in read_rows(file.path) if file.judge == "rules" else ():
                if seen.setdefault(row["split_key"], len(seen)) % 4 == 0:
                    chosen.write(json.dumps({**row, "id": f"{file.path.stem} {row['id']}"}) + "\n")
    trusted = [row for row in judge_file(path, tmp_path) if is_trusted(row)]
    entries = ledger(trusted, deciding_rule)

    assert len(trusted) > 4_000
    assert below_the_floor(entries) == []
    assert {"text: contained", "option: option_label"} <= {entry.rule for entry in entries if entry.standing == "holds"}
    for words in (("report", "answers", "--to", "answers.html"), ("export", "answers", "--to", "answers.parquet")):
        done = mixseek_here(*words, "--workspace", tmp_path, cwd=tmp_path)
        assert done.returncode == 0, (words, done.stderr)


@pytest.mark.optin
def test_no_command_fails_on_fifty_thousand_real_rows(tmp_path: Path) -> None:
    """All files one after the other, again and again; a minute or two, so not every time (`make test-all`)."""
    file = many_rows(tmp_path / "many.jsonl")
    for words in (file.judging(tmp_path), *reading_commands(file, tmp_path)):
        if words[0] != "archive":
            done = mixseek_here(*words, cwd=tmp_path)
            assert done.returncode == 0, (words, done.stderr)
