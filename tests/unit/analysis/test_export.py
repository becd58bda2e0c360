"""A row for each sample and judge, in three formats that agree."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.storage.material import (
    CORRECT,
    INCORRECT,
    INVALID,
    MISSING,
    OUTCOMES,
    SCORED,
    UNDECIDED,
    append_lines,
    judged_lines,
    make_run,
    make_sample,
)
from tests.unit.storage.test_records import ANY_OUTCOME, SAMPLES

from mixseek.domain.confidence import Confidence, ConfidenceSource
from mixseek.domain.judgments import Missing, Outcome, Reply, status_of
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError, StorageError
from mixseek.index.export import COLUMNS, export_run
from mixseek.index.loading import NOT_JUDGED
from mixseek.index.run import open_run_index
from mixseek.storage.journal.records import encode_outcome, encode_reply, encode_sample
from mixseek.storage.workspace import RunDirectory, Workspace


def workspace_of(run: RunDirectory) -> Workspace:
    return Workspace(run.path.parent.parent)


def exported(run: RunDirectory, name: str = "out.jsonl") -> list[dict[str, Any]]:
    target = run.path / name
    rows = export_run(workspace_of(run), run, target)
    if target.suffix == ".jsonl":
        read: list[dict[str, Any]] = [json.loads(line) for line in target.read_bytes().splitlines()]
    elif target.suffix == ".csv":
        with target.open(encoding="utf-8", newline="") as stream:
            read = list(csv.DictReader(stream))
    else:
        with duckdb.connect() as connection:
            cursor = connection.execute(f"FROM '{target}'")
            names = [column[0] for column in cursor.description or ()]
            read = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    assert rows == len(read)
    return read


def every_outcome(tmp_path: Path) -> RunDirectory:
    lines = [
        line
        for number, outcome in enumerate(OUTCOMES, 1)
        for line in judged_lines(
            make_sample(number, ground_truth_alternatives=("B", "b, or c")), {"rules": outcome}, reply="raw"
        )
    ]
    return make_run(tmp_path, lines)[1]


def test_how_sure_a_judge_is_stands_beside_the_word_that_it_wrote(tmp_path: Path) -> None:
    """In all three formats, and in the rows that pages and `show` are made of; a judgment without is empty there."""
    shares = {"PASS": 0.75, "FAIL": 0.25}
    sure = replace(
        SCORED,
        confidence=Confidence(0.75, ConfidenceSource.LOGPROBS, shares, 0.125),
        expected_score=0.625,
        fields={**SCORED.fields, "is_unexplained": True},
    )
    lines = [*judged_lines(make_sample(1), {"rules": sure}), *judged_lines(make_sample(2), {"rules": SCORED})]
    run = make_run(tmp_path, lines)[1]
    names = ("confidence", "confidence_value", "confidence_source", "expected_score", "is_unexplained")
    in_files = {name: [[row[column] for column in names] for row in exported(run, name)]
                for name in ("a.jsonl", "a.csv", "a.parquet")}  # fmt: skip
    with open_run_index(workspace_of(run), run) as index:
        first, second = index.rows()

    known, unknown = ["medium", 0.75, "logprobs", 0.625, True], ["medium", None, None, None, False]
    assert in_files == {
        "a.jsonl": [known, unknown],
        "a.csv": [["medium", "0.75", "logprobs", "0.625", "true"], ["medium", "", "", "", "false"]],
        "a.parquet": [known, unknown],
    }
    assert (first.confidence_value, first.confidence_source, first.expected_score) == (0.75, "logprobs", 0.625)
    assert (first.confidence_shares, first.confidence_outside, first.is_unexplained) == (shares, 0.125, True)
    assert (second.confidence_value, second.confidence_shares, second.is_unexplained) == (None, {}, False)


def test_every_outcome_becomes_a_row_with_every_column(tmp_path: Path) -> None:
    """In dataset order; what has no meaning for a status is null or empty."""
    rows = exported(every_outcome(tmp_path))

    assert all(list(row) == list(COLUMNS) for row in rows)
    assert [(row["id"], row["judge"], row["status"]) for row in rows] == [
        (f"s{number}", "rules", status_of(outcome)) for number, outcome in enumerate(OUTCOMES, 1)
    ]
    correct, incorrect, invalid, undecided, missing = rows
    assert (correct["score"], correct["verdict"], correct["is_correct"]) == (1.0, "correct", True)
    assert (correct["span"], correct["rules"]) == ([14, 15], ["answer_is", "option_letter"])
    assert (incorrect["reasoning_score"], incorrect["error_type"]) == (2, "wrong_logic")
    assert (incorrect["method"], incorrect["repairs"]) == ("cross_judge", ["code_fence"])
    assert (invalid["score"], invalid["is_correct"]) == (None, None)
    assert invalid["flags"] == ["UNPARSABLE_OUTPUT", "INCOMPLETE_COVERAGE"]
    assert invalid["flag_details"] == ["no JSON object in the reply", "comment is absent"]
    assert (undecided["extracted_answer"], undecided["reason"], undecided["span"]) == ("B or C", "two answers", [0, 3])
    assert (missing["reason"], missing["rules"], missing["span"]) == ("no recorded reply", [], None)


def test_csv_and_parquet_say_what_jsonl_says(tmp_path: Path) -> None:
    """CSV writes a span as start:end and names with arrows between them."""
    run = every_outcome(tmp_path)
    rows = exported(run)

    assert exported(run, "out.parquet") == rows
    for row, cells in zip(rows, exported(run, "out.csv"), strict=True):
        assert cells["span"] == ("" if row["span"] is None else f"{row['span'][0]}:{row['span'][1]}")
        assert cells["rules"] == " > ".join(row["rules"])
        assert cells["flags"] == " > ".join(row["flags"])
        assert json.loads(cells["ground_truth_alternatives"]) == row["ground_truth_alternatives"]
        assert json.loads(cells["flag_details"] or "[]") == row["flag_details"]
        for name in set(COLUMNS) - {"span", "rules", "flags", "repairs", "flag_details", "ground_truth_alternatives"}:
            plain = row[name]
            assert cells[name] == (
                "" if plain is None else str(plain).lower() if isinstance(plain, bool) else str(plain)
            )


def test_what_any_protocol_read_is_exported(tmp_path: Path) -> None:
    """Common words in columns of their own, all of it as JSON; a word used for another thing is only in the JSON."""
    _, run = make_run(tmp_path, judged_lines(make_sample(1, output_id="a.pdf"), {"j": SCORED}), ("j",))

    row = exported(run)[0]

    assert (row["total"], row["total_maximum"], row["confidence"]) == (3.5, 4, "medium")
    assert (row["critical_fail"], row["same_family"], row["method"]) == (False, True, "cross_judge")
    assert json.loads(row["scores"]) == {"FORMAT": 2, "COMPLETENESS": 1.5}
    assert json.loads(row["fields"]) == SCORED.fields
    assert (row["comment"], row["output_id"], row["take"]) == (None, "a.pdf", 1)
    assert exported(run, "out.parquet") == [row]
    assert json.loads(exported(run, "out.csv")[0]["scores"]) == json.loads(row["scores"])


def test_every_take_is_a_row(tmp_path: Path) -> None:
    """Numbered, in order, the last outcome of each; a judge that is asked once has one row."""
    sample = make_sample(1)
    key = sample.key()
    lines = judged_lines(sample, {"a": CORRECT, "b": CORRECT})
    lines += [encode_outcome(sample, key, "a", outcome, take) for take, outcome in ((3, INVALID), (2, MISSING))]
    lines += judged_lines(make_sample(2), {"a": CORRECT, "b": CORRECT})
    _, run = make_run(tmp_path, lines, ("a", "b"))
    append_lines(run, [encode_outcome(sample, key, "a", Missing('ends with "take":7}'), 2)])

    rows = exported(run)

    assert [(row["judge"], row["take"], row["status"]) for row in rows] == [
        ("a", 1, "valid"),
        ("a", 2, "missing"),
        ("a", 3, "invalid"),
        ("b", 1, "valid"),
        ("a", 1, "valid"),
        ("b", 1, "valid"),
    ]
    assert rows[1]["reason"] == 'ends with "take":7}'


def test_a_take_is_found_in_a_line_that_utf8_cannot_hold(tmp_path: Path) -> None:
    """Such a line carries itself once more, behind its end."""
    sample = make_sample(1)
    lines = [*judged_lines(sample, {"a": CORRECT}), encode_outcome(sample, sample.key(), "a", Missing("\ud800"), 2)]
    _, run = make_run(tmp_path, lines, ("a",))

    assert [(row["take"], row["status"]) for row in exported(run)] == [(1, "valid"), (2, "missing")]


def test_an_outcome_comes_with_the_reply_it_rests_on(tmp_path: Path) -> None:
    """Of its own take, and the last that was asked for."""
    sample = make_sample(1)
    key = sample.key()
    replies = [
        Reply("first", "a", details={"take": 1}),
        Reply("again", "a", attempt=2, details={"take": 1}),
        Reply("other", "a", details={"take": 2}),
        Reply('says "take": 9', "b"),
    ]
    lines = [encode_sample(sample), *(encode_reply(key, reply) for reply in replies)]
    lines += [encode_outcome(sample, key, judge, INVALID, take) for judge, take in (("a", 1), ("a", 2), ("b", 1))]
    _, run = make_run(tmp_path, lines, ("a", "b", "c"))

    with open_run_index(workspace_of(run), run) as index:
        takes = list(index.takes())

    assert [(one.judge, one.take, one.reply and one.reply["text"]) for one in takes] == [
        ("a", 1, "again"),
        ("a", 2, "other"),
        ("b", 1, 'says "take": 9'),
        ("c", 1, None),
    ]


def test_rows_come_in_dataset_order_with_the_last_outcome(tmp_path: Path) -> None:
    """However often the run was resumed."""
    _, run = make_run(tmp_path, judged_lines(make_sample(1), {"a": MISSING, "b": CORRECT}), ("b", "a"))
    append_lines(run, judged_lines(make_sample(2), {"a": CORRECT, "b": UNDECIDED}))
    append_lines(run, judged_lines(make_sample(1), {"a": INCORRECT}))

    assert [(row["id"], row["judge"], row["verdict"]) for row in exported(run)] == [
        ("s1", "b", "correct"),
        ("s1", "a", "incorrect"),
        ("s2", "b", None),
        ("s2", "a", "correct"),
    ]


def test_a_pair_that_was_never_judged_is_missing(tmp_path: Path) -> None:
    """Nothing is left out because a run was stopped."""
    lines = judged_lines(make_sample(1), {"a": CORRECT, "b": CORRECT}) + judged_lines(make_sample(2), {"b": INVALID})
    _, run = make_run(tmp_path, lines + judged_lines(make_sample(3), {}), ("a", "b"))

    rows = exported(run)

    assert [(row["id"], row["judge"], row["status"]) for row in rows] == [
        ("s1", "a", "valid"),
        ("s1", "b", "valid"),
        ("s2", "a", "missing"),
        ("s2", "b", "invalid"),
        ("s3", "a", "missing"),
        ("s3", "b", "missing"),
    ]
    assert rows[2]["reason"] == NOT_JUDGED
    assert exported(run, "out.parquet") == rows


def test_a_cascade_has_rows_for_the_judges_that_were_due(tmp_path: Path) -> None:
    """Nobody is asked after a valid judgment."""
    lines = judged_lines(make_sample(1), {"a": CORRECT}) + judged_lines(make_sample(2), {"a": INVALID, "b": CORRECT})
    _, run = make_run(tmp_path, lines + judged_lines(make_sample(3), {"a": UNDECIDED}), ("a", "b"), cascade=True)

    assert [(row["id"], row["judge"], row["status"]) for row in exported(run)] == [
        ("s1", "a", "valid"),
        ("s2", "a", "invalid"),
        ("s2", "b", "valid"),
        ("s3", "a", "undecided"),
        ("s3", "b", "missing"),
    ]


# In every export, because chance rarely brings them.
AWKWARD = ("\ud800", "a\udfffb", "\0", '"', "'", "a\r\nb", "\u2028", "a,b;c\td", "\\", "\x1b[0m", "\ufeff", "")


# Many texts in each of a few exports: what costs time is DuckDB and three files, not a row.
@settings(max_examples=3, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(judged=st.lists(st.tuples(SAMPLES, ANY_OUTCOME), min_size=8, max_size=24, unique_by=lambda one: one[0].key()))
def test_any_text_can_be_exported(
    judged: list[tuple[Sample, Outcome]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Unpaired surrogates, quotes, NUL and line breaks; three formats, the same number of rows and the same ids."""
    judged = [*judged, *((make_sample(number, response=text), CORRECT) for number, text in enumerate(AWKWARD))]
    lines = [line for sample, outcome in judged for line in judged_lines(sample, {"rules": outcome})]
    _, run = make_run(tmp_path_factory.mktemp("ws"), lines)

    rows = exported(run)

    assert [row["response"] for row in exported(run, "out.parquet")] == [row["response"] for row in rows]
    assert export_run(workspace_of(run), run, run.path / "out.csv") == len(judged)
    assert [row["status"] for row in rows] == [status_of(outcome) for _, outcome in judged]


def test_a_response_of_many_megabytes_is_exported(tmp_path: Path) -> None:
    """Beyond DuckDB's default limit for an object."""
    long = make_sample(1, response='"長い"\n' * 1_800_000)
    _, run = make_run(tmp_path, judged_lines(long, {"rules": CORRECT}))

    assert exported(run, "out.parquet")[0]["response"] == long.response


def test_an_export_is_whole_or_not_there(tmp_path: Path) -> None:
    """A damaged journal leaves the old file and nothing beside it."""
    lines = judged_lines(make_sample(1), {"rules": CORRECT})
    _, run = make_run(tmp_path, lines)
    target = tmp_path / "out"
    target.mkdir()
    for name in ("x.jsonl", "x.csv", "x.parquet"):
        (target / name).write_text("old")
        run.journal.write_bytes(b"".join(lines) + b'{"t":"outcome","key":"' + b"0" * 32 + b'","judge":"rules",\n')
        with pytest.raises(StorageError, match=f"damaged at byte {len(b''.join(lines))} "):
            export_run(workspace_of(run), run, target / name)
        assert (target / name).read_text() == "old"

    assert sorted(path.name for path in target.iterdir()) == ["x.csv", "x.jsonl", "x.parquet"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.xlsx", "unknown suffix .xlsx; the export is one of .jsonl, .csv, .parquet"),
        ("out", "unknown suffix (none)"),
        ("nowhere/out.csv", "there is no directory"),
        ("folder.csv", "a directory; name a file in it"),
    ],
)
def test_a_target_that_cannot_be_is_refused_before_any_work(tmp_path: Path, name: str, message: str) -> None:
    """With what would work."""
    _, run = make_run(tmp_path, [])
    (tmp_path / "folder.csv").mkdir()

    with pytest.raises(ConfigurationError) as caught:
        export_run(workspace_of(run), run, tmp_path / name)

    assert message in str(caught.value)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a directory that takes no files")
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_target_that_cannot_be_written_is_one_line(tmp_path: Path, suffix: str) -> None:
    """/proc takes no files, not even from root."""
    _, run = make_run(tmp_path, judged_lines(make_sample(1), {"rules": CORRECT}))

    with pytest.raises(StorageError) as caught:
        export_run(workspace_of(run), run, Path(f"/proc/out.{suffix}"))

    assert str(caught.value).startswith(f"/proc/out.{suffix}: cannot write: ")


def test_an_empty_run_is_an_empty_table(tmp_path: Path) -> None:
    """With its header where the format has one."""
    _, run = make_run(tmp_path, [])

    assert exported(run) == []
    assert exported(run, "out.parquet") == []
    assert exported(run, "out.csv") == []
    assert (run.path / "out.csv").read_text().startswith("id,judge,status,score")


def test_no_spreadsheet_computes_a_cell_of_a_csv_file(tmp_path: Path) -> None:
    """Formulas get an apostrophe before them; plain numbers stay, and so does everything in the other formats."""
    texts = ['=HYPERLINK("http://x")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-5", "+3.25e2", ".5", "a=b"]
    lines = [
        line
        for number, text in enumerate(texts)
        for line in judged_lines(make_sample(number, response=text, ground_truth=text), {"rules": CORRECT})
    ]
    _, run = make_run(tmp_path, lines)

    cells = exported(run, "out.csv")

    assert [row["response"] for row in cells] == [f"'{text}" for text in texts[:6]] + texts[6:]
    assert [row["ground_truth"] for row in cells] == [row["response"] for row in cells]
    assert [row["response"] for row in exported(run)] == texts
    assert [row["response"] for row in exported(run, "out.parquet")] == texts


def test_a_long_journal_is_exported_part_by_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, one header, a sample that was taken up twice once, whatever the parts are."""
    lines = [line for number in range(8) for line in judged_lines(make_sample(number), {"a": CORRECT, "b": INVALID})]
    lines += judged_lines(make_sample(3), {"a": INCORRECT}) + judged_lines(make_sample(8), {})
    _, run = make_run(tmp_path, lines, ("a", "b"))
    whole = exported(run)

    monkeypatch.setattr("mixseek.index.export._PART_BYTES", 1_000)

    assert [(row["id"], row["judge"]) for row in whole] == [(f"s{n}", judge) for n in range(9) for judge in "ab"]
    assert exported(run) == whole
    assert exported(run, "out.parquet") == whole
    assert [row["id"] for row in exported(run, "out.csv")] == [row["id"] for row in whole]


def test_a_row_group_is_bounded_by_its_bytes_and_keeps_the_order(tmp_path: Path) -> None:
    """Memory must not follow the longest texts: many long rows are several groups, not one."""
    lines = [
        line
        for number in range(40)
        for line in judged_lines(make_sample(number, response=f"{number} " * 700_000), {"rules": CORRECT})
    ]
    _, run = make_run(tmp_path, lines)

    rows = exported(run, "out.parquet")

    groups = duckdb.execute(
        "SELECT count(DISTINCT row_group_id) FROM parquet_metadata($path)", {"path": str(run.path / "out.parquet")}
    )
    assert [row["id"] for row in rows] == [f"s{number}" for number in range(40)]
    assert groups.fetchall()[0][0] >= 2
