"""Tables of ratings: columns found or given, what counts where a rating repeats, and bad rows by their place."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from mixseek.analysis.ratings.relation import RatingColumns, Ratings, RatingSource
from mixseek.analysis.ratings.table import open_table
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.stats.raters import AgreementSums, Patterns

ROWS: Sequence[Mapping[str, Any]] = [
    {"item": "a", "judge": "j", "score": 1, "question_id": "q1", "system": "x"},
    {"item": "a", "judge": "k", "score": 0, "question_id": "q1", "system": "x"},
    {"item": "b", "judge": "j", "score": None, "question_id": "q1", "system": "y"},
    {"item": "b", "judge": "j", "score": 1, "question_id": "q1", "system": "y"},
    {"item": "b", "judge": "j", "score": 0, "question_id": "q1", "system": "y"},
    {"item": "b", "judge": "k", "score": True, "question_id": "q1", "system": "y"},
    {"item": "c", "judge": "k", "score": 1, "question_id": "q2", "system": "x"},
    {"item": "c", "judge": "l", "score": None, "question_id": "q2", "system": "x"},
]


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def values(ratings: Ratings) -> dict[str, tuple[int, int, float, float]]:
    return {one.name: (one.ratings, one.missing, one.least, one.greatest) for one in ratings.raters}


def load(path: Path, columns: RatingColumns | None = None, **more: Any) -> tuple[Any, ...]:
    with open_table(path, RatingSource(columns or RatingColumns(), **more)) as ratings:
        return ratings.count, ratings.items, ratings.questions, ratings.repeated, values(ratings)


def test_the_first_value_of_an_item_and_judge_counts_and_null_is_none(tmp_path: Path) -> None:
    """Booleans are 0 and 1; a judge that said nothing of any value is no rater."""
    count, items, questions, repeated, raters = load(write(tmp_path / "r.jsonl", ROWS))

    assert (count, items, questions, repeated) == (5, 3, 2, 1)
    assert raters == {"j": (2, 0, 1, 1), "k": (3, 0, 0, 1)}


def test_repeats_may_be_averaged_and_an_order_may_say_which_is_first(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", ROWS)

    assert load(path, uses_mean=True)[4]["j"] == (2, 0, 0.5, 1)
    assert load(path, RatingColumns(order="score"))[4]["j"] == (2, 0, 0, 1)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".json", ".ndjson"])
def test_every_kind_of_table_gives_the_same(suffix: str, tmp_path: Path) -> None:
    lines = write(tmp_path / "r.jsonl", [{**row, "score": row["score"] and int(row["score"])} for row in ROWS])
    path = tmp_path / f"other{suffix}"
    if suffix == ".ndjson":
        path.write_bytes(lines.read_bytes())
    else:
        form = {".csv": "HEADER", ".tsv": "HEADER, DELIMITER '\t'", ".parquet": "FORMAT parquet", ".json": "ARRAY true"}
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT * FROM read_json('{lines}')) TO '{path}' ({form[suffix]})")  # noqa: S608

    assert load(path) == load(lines)


def test_names_that_are_numbers_and_texts_are_as_they_are_written(tmp_path: Path) -> None:
    rows = [{"item": item, "judge": judge, "score": 1} for item in (1, "a", 2) for judge in (7, "j")]

    assert list(load(write(tmp_path / "r.jsonl", rows), human="j")[4]) == ["j", "7"]


def test_columns_may_be_expressions_and_odd_names(tmp_path: Path) -> None:
    """Also a path with a bracket, and an id that looks like a date and is none."""
    rows = [{"the text": f"2024-01-0{n}T00:00:00Z", "who": "j", "stars": n, "kind": "s"} for n in (1, 2, 3)]
    path = write(tmp_path / "odd [1].jsonl", rows)
    columns = RatingColumns(item="the text", judge="upper(who)", score="stars / 5", where="stars < 3 -- few")

    assert load(path, columns) == (2, 2, 2, 0, {"J": (2, 0, 0.2, 0.4)})


def test_texts_are_categories_and_numbers_in_quotes_are_numbers(tmp_path: Path) -> None:
    words = [
        {"item": str(n), "judge": j, "score": s} for n, j, s in ((1, "j", "B>A"), (1, "k", "A>B"), (2, "j", "tie"))
    ]
    with open_table(write(tmp_path / "w.jsonl", words), RatingSource()) as ratings:
        assert ratings.categories == ("A>B", "B>A", "tie")
    quoted = [{"item": str(n), "judge": "j", "score": str(n / 2)} for n in range(4)]
    assert load(write(tmp_path / "q.jsonl", quoted))[4] == {"j": (4, 0, 0, 1.5)}


def test_sums_by_groups_are_those_of_the_patterns(tmp_path: Path) -> None:
    """Three raters, items with one, two and three ratings."""
    said = {"a": (1, 1, 2), "b": (2, 3, None), "c": (3, None, None), "d": (1, 2, 2), "e": (3, 3, 3)}
    rows = [
        {"item": item, "judge": judge, "score": score, "question_id": item in "ab"}
        for item, scores in said.items()
        for judge, score in zip("jkl", scores, strict=True)
    ]
    patterns: Patterns = {tuple(scores): 1 for scores in said.values()}
    with open_table(write(tmp_path / "r.jsonl", rows), RatingSource()) as ratings:
        found = ratings.agreement(ratings.raters, 3)
    whole, expected = AgreementSums.total(found.groups), AgreementSums.of(patterns)

    assert len(found.groups) == 2
    assert whole.items == expected.items == 4
    assert AgreementSums.total(found.equal).items == 3
    for ours, theirs in zip(whole.parts, expected.parts, strict=True):
        assert {key: value for key, value in ours.items() if value} == pytest.approx(
            {key: value for key, value in theirs.items() if value}
        )


def test_labels_are_those_of_the_humans_rows_that_count(tmp_path: Path) -> None:
    rows = [
        {"item": str(n), "judge": judge, "score": n % 2, "question_id": str(n // 2), "drawn": n < 4}
        for n in range(10)
        for judge in ("j", "h")
        if judge == "j" or n < 8
    ]
    source = RatingSource(RatingColumns(labelled="drawn"), human="h")
    with open_table(write(tmp_path / "r.jsonl", rows), source) as ratings:
        human, judge = ratings.raters
        everything = ratings.pool(judge, human, only_rated=False)
        rated = ratings.pool(judge, human, only_rated=True)

    assert (human.name, everything.items, rated.items) == ("h", 10, 8)
    assert (everything.sums.labels, everything.known, everything.questions) == (4, 8, 5)
    assert everything.labels == {(0.0, 0.0): 2, (1.0, 1.0): 2}
    assert len(everything.parts) == len(everything.clusters) == 5


BAD_ROWS = {
    "NaN": ('{"item": "b", "judge": "j", "score": NaN}', "line 3: the score is nan"),
    "infinite": ('{"item": "b", "judge": "j", "score": 1e999}', "line 3"),
    "broken": ('{"item": "b", "judge": ', "line 3"),
    "no item": ('{"item": null, "judge": "j", "score": 1}', "line 3 has no item"),
    "no judge": ('{"item": "b", "score": 1}', "line 3 has no judge"),
    "a word among numbers": ('{"item": "b", "judge": "j", "score": "n/a"}', "line 3: the score 'n/a' is not a number"),
}


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_a_bad_row_is_named_by_its_line(kind: str, tmp_path: Path) -> None:
    """The second line is blank, and counted."""
    line, message = BAD_ROWS[kind]
    good = '{"item": "%s", "judge": "j", "score": 1}'
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join([good % "a", "", line, good % "c", good % "d"]) + "\n", encoding="utf-8")

    with pytest.raises(DatasetError, match=message) as raised:
        load(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


BAD_COLUMNS = {
    "unknown column": (RatingColumns(score="points"), '--score .points.: referenced column "points" not found'),
    "syntax": (RatingColumns(score="score +"), "--score .score [+].: syntax error"),
    "query": (RatingColumns(score="(SELECT 1)"), "not a query"),
    "file": (RatingColumns(where="item IN (SELECT content FROM read_text('/etc/hostname'))"), "not a query"),
    "two": (RatingColumns(score="score, item"), "a score is a number, a boolean or a word"),
    "statement": (RatingColumns(where="true); DROP TABLE rows; SELECT (1"), "write an SQL expression"),
    "aggregate": (RatingColumns(score="sum(score)"), "--score"),
    "nothing left": (RatingColumns(where="false"), "no row is left"),
    "two questions": (RatingColumns(question="score"), "stands under two questions"),
}


@pytest.mark.parametrize("kind", BAD_COLUMNS)
def test_an_expression_that_cannot_be_used_is_one_line(kind: str, tmp_path: Path) -> None:
    columns, message = BAD_COLUMNS[kind]

    with pytest.raises(ConfigurationError, match=message) as raised:
        load(write(tmp_path / "r.jsonl", ROWS), columns)
    assert "\n" not in str(raised.value)


def test_other_bad_input_is_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", ROWS)
    with pytest.raises(ConfigurationError, match="'nobody' has rated nothing; there is j, k, l"):
        load(path, human="nobody")
    with pytest.raises(DatasetError, match="there is no such file"):
        load(tmp_path / "none.jsonl")
    with pytest.raises(DatasetError, match="not a table"):
        load(tmp_path / "r.xlsx")
    with pytest.raises(
        DatasetError, match=r"no column for the judge; name one with --rater, or .*there is item, score"
    ):
        load(write(tmp_path / "n.jsonl", [{"item": "a", "score": 1}]))
    for far in (1e9, 1e-9):
        rows = [{"item": str(n), "judge": "j", "score": far + n * min(far, 1.0)} for n in range(5)]
        with pytest.raises(ConfigurationError, match="squares cannot be counted exactly; bring scores near 1"):
            load(write(tmp_path / "f.jsonl", rows))
    with pytest.raises(DatasetError, match="there is no row in it"):
        load(write(tmp_path / "e.jsonl", []))
    many = [{"item": str(n), "judge": "j", "score": f"text {n}"} for n in range(200)]
    with pytest.raises(ConfigurationError, match="different texts"):
        load(write(tmp_path / "m.jsonl", many))


def test_a_winner_may_be_a_column_for_each_verdict(tmp_path: Path) -> None:
    """As tables of Kaggle have it; a row with two winners has none."""
    path = tmp_path / "votes.csv"
    marks = ("1,0,0", "0,1,0", "0,0,1", "1,1,0")
    lines = [f"{n},owl,finch,{mark}" for n, mark in enumerate(marks)]
    path.write_text("\n".join(("id,model_a,model_b,winner_model_a,winner_model_b,winner_tie", *lines)))

    with open_table(path, RatingSource(RatingColumns(judge="'people'"))) as ratings:
        assert (ratings.count, ratings.categories) == (3, ("A", "B", "tie"))
