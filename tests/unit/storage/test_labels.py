"""Labels on disk: the digest in SQL and in Python, sheets that survive a spreadsheet, and files that were damaged."""

import csv
import io
import json
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.domain.labels import Draw, DrawnRow, Label, Stratum, text_digest
from mixseek.domain.samples import Sample
from mixseek.errors import DamagedError, DatasetError
from mixseek.labels.sheets import SheetText, is_same_text, names_of, neutralise, read_sheet, write_sheet
from mixseek.storage.duckdb_session import read_statements
from mixseek.storage.journal.records import encode_sample
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import Workspace

TEXT = st.text(st.characters(codec=None), max_size=40)


@given(st.lists(st.tuples(TEXT, TEXT, st.none() | TEXT), min_size=1, max_size=20))
def test_sql_and_python_give_a_text_the_same_digest(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str, str | None]]
) -> None:
    """Whatever it holds: nothing, NUL, half of a surrogate pair, emoji."""
    place = tmp_path_factory.mktemp("texts")
    samples = [Sample(str(n), response, question, truth) for n, (question, response, truth) in enumerate(texts)]
    (place / "journal.jsonl").write_bytes(b"".join(map(encode_sample, samples)))
    statement = read_statements("mixseek.analysis.labels", "labels.sql")["texts"]
    with duckdb.connect() as connection:
        connection.execute(
            statement,
            {"journal": str(place / "journal.jsonl"), "object_bytes": 1 << 22, "target": str(place / "texts.parquet")},
        )
        rows = connection.execute("SELECT key, text FROM read_parquet(?)", [str(place / "texts.parquet")]).fetchall()

    expected = {one.key(): text_digest(one.question, one.response, one.ground_truth) for one in samples}
    assert dict(rows) == expected


def test_a_planned_output_that_is_not_there_is_no_text(tmp_path: Path) -> None:
    """Nobody can label it; it stays in the bounds."""
    sample = Sample("planned: x", "", metadata={"planned_without_output": True, "label": 1})
    (tmp_path / "journal.jsonl").write_bytes(encode_sample(sample))
    statement = read_statements("mixseek.analysis.labels", "labels.sql")["texts"]
    with duckdb.connect() as connection:
        target = str(tmp_path / "texts.parquet")
        parameters = {"journal": str(tmp_path / "journal.jsonl"), "object_bytes": 1 << 22, "target": target}
        connection.execute(statement, parameters)

        assert connection.execute("FROM read_parquet(?)", [target]).fetchall() == [(sample.key(), None, "1")]


@each("text", ["=1+1", "+1", "-cmd", "@x", "\tx", "007", "1/2", "3-4", "0.50", "(5)", "TRUE", "Mar 1", "5 May"])
def test_what_a_spreadsheet_would_compute_or_rewrite_is_written_as_text(text: str) -> None:
    assert neutralise(text) == f"'{text}"


@pytest.mark.parametrize("text", ["What is 2 + 2?", "The answer is 5.", "sum-1", "Marta 1 and 2", "", "yes"])
def test_other_texts_are_written_as_they_are(text: str) -> None:
    assert neutralise(text) == text


@given(TEXT, TEXT)
def test_a_sheet_brings_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, question: str, response: str
) -> None:
    """Through CSV, with other line ends inside cells: still the same text."""
    path = tmp_path_factory.mktemp("sheet") / "sheet.csv"
    write_sheet(path, [SheetText("d1-1", "an id", question, None, response, "correct or incorrect", "0" * 64)])
    (row,) = csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""))

    for cell, original in ((row["question"], question), (row["response"], response)):
        assert is_same_text(cell, original)
        assert is_same_text(cell.replace("\r\n", "\n"), original)
        assert not is_same_text(cell + "!", original)


def test_a_cell_that_a_spreadsheet_cut_is_still_its_text() -> None:
    """Cells end after 32,767 characters; anything shorter was changed by somebody."""
    original = "word " * 10_000

    assert is_same_text(original[:32_767], original)
    assert not is_same_text(original[:20_000], original)


def test_an_id_may_come_back_with_its_apostrophe() -> None:
    assert "007" in names_of("'007")
    assert "'quoted'" in names_of("'quoted'")


def test_a_workbook_is_not_read_as_text(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="save the sheet as CSV"):
        read_sheet(tmp_path / "sheet.xlsx")


def label(text: str, share: float = 1.0, rater: str = "mia") -> Label:
    return Label(text=text, protocol="semantic", rater=rater, share=share, given="yes")


def test_labels_come_back_in_order_and_a_torn_end_is_cut(tmp_path: Path) -> None:
    """A process that died while writing leaves half a line: it was never promised."""
    store = LabelStore(Workspace(tmp_path))
    store.append([label("a"), label("b", 0.5)])
    with store.path.open("ab") as stream:
        stream.write(b'{"text":"c","proto')

    before = store.read()
    store.append([label("d", rater="noah")])

    assert before == [label("a"), label("b", 0.5)]
    assert store.read() == [label("a"), label("b", 0.5), label("d", rater="noah")]
    assert store.read("cross") == []


@pytest.mark.parametrize("line", ["[]", "{}", "no", '{"text":"a","protocol":"p","rater":"r","given":"","share":7}'])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    store = LabelStore(Workspace(tmp_path))
    store.append([label("a")])
    with store.path.open("a") as stream:
        stream.write(line + "\n")

    with pytest.raises(DamagedError, match=r"labels\.jsonl: line 2 is no label; restore it from a copy"):
        store.read()


def test_a_draw_comes_back_with_its_probabilities_beside_it(tmp_path: Path) -> None:
    store = LabelStore(Workspace(tmp_path))
    draw = Draw(
        draw="d1", run="r", protocol="semantic", protocol_hash="h", seed=3, columns=("verdict",), texts=10,
        population="p", strata=(Stratum(("correct",), 8, 2), Stratum(("incorrect",), 2, 1)),
        rows=(DrawnRow("d1-1", "x", "t", 1),), at="2026-01-01", earlier=("d0",),
    )  # fmt: skip
    path = store.write_draw(draw)

    kept = json.loads(path.read_text())
    assert store.draws("r") == [draw]
    assert store.draws("other") == []
    assert [one["probability"] for one in kept["strata"]] == [0.25, 0.5]
    assert kept["rows"][0]["probability"] == 0.5
    path.write_text("{}")
    with pytest.raises(DamagedError, match="not a draw"):
        store.draws()
