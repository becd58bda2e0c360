"""Files of rows as samples, and every way in which a file can be wrong."""

import gzip
import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.storage.material import write_jsonl, write_parquet

from mixseek.datasets.reader import Dataset, open_dataset
from mixseek.domain.samples import Sample
from mixseek.errors import DatasetError

ROWS = [
    {"id": "a", "response": "The answer is (B).", "ground_truth": "(B)", "note": "x"},
    {"id": "b", "response": "多分 42 です\nつまり 42", "ground_truth": "42", "note": "y"},
    {"id": "c", "response": 'She said "no", then left.', "ground_truth": "no", "note": "z"},
]


def opened(path: Path, **mapping: str) -> Dataset:
    return open_dataset(str(path), mapping=mapping, spool_directory=None)


def samples_of(dataset: Dataset, size: int = 2) -> list[Sample]:
    return [sample for batch in dataset.batches(size) for sample in batch]


def write_csv(path: Path, delimiter: str = ",") -> Path:
    quoted = [[f'"{str(cell).replace(chr(34), chr(34) * 2)}"' for cell in row.values()] for row in ROWS]
    lines = [delimiter.join(ROWS[0]), *(delimiter.join(row) for row in quoted)]
    path.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8", newline="")
    return path


def write_list(path: Path) -> Path:
    path.write_text(json.dumps(ROWS, indent=2))
    return path


def write_packed(path: Path) -> Path:
    path.write_bytes(gzip.compress(write_jsonl(path.with_suffix(".plain"), *ROWS).read_bytes()))
    return path


def write_table(path: Path) -> Path:
    plain = write_jsonl(path.with_suffix(".plain"), *ROWS)
    return write_parquet(path, f"FROM read_json('{plain}', format = 'newline_delimited')")


FORMATS: dict[str, Callable[[Path], Path]] = {
    "x.jsonl": lambda path: write_jsonl(path, *ROWS),
    "x.ndjson": lambda path: write_jsonl(path, *ROWS),
    "lines.json": lambda path: write_jsonl(path, *ROWS),
    "list.json": write_list,
    "x.jsonl.gz": write_packed,
    "X.JSONL": lambda path: write_jsonl(path, *ROWS),
    "x.csv": write_csv,
    "semicolon.csv": lambda path: write_csv(path, ";"),
    "x.tsv": lambda path: write_csv(path, "\t"),
    "x.parquet": write_table,
    "odd [name]*?.parquet": write_table,
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_samples_each_time_it_is_read(name: str, tmp_path: Path) -> None:
    """Order, texts and metadata do not depend on how a dataset is stored."""
    dataset = opened(FORMATS[name](tmp_path / name))
    expected = [
        Sample(row["id"], row["response"], ground_truth=row["ground_truth"], metadata={"note": row["note"]})
        for row in ROWS
    ]

    assert samples_of(dataset) == expected
    assert samples_of(dataset, 100) == expected
    assert dataset.survey().rows == 3


def test_the_survey_describes_the_dataset_for_the_manifest(tmp_path: Path) -> None:
    """Digest of the bytes on disk, rows, and which column filled which field."""
    path = write_jsonl(tmp_path / "answers.v2.jsonl", {"output": "x", "gold": 1}, {"output": "y"})
    dataset = opened(path, ground_truth="gold")

    survey = dataset.survey()

    assert (survey.rows, survey.rows_without_ground_truth, survey.columns) == (2, 1, ("output", "gold"))
    assert dataset.description == {
        "path": str(path),
        "format": "jsonl",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "bytes": path.stat().st_size,
        "rows": 2,
        "mapping": {"response": "output", "ground_truth": "gold"},
    }
    assert dataset.stem == "answers"


def test_batches_hold_at_most_the_asked_number(tmp_path: Path) -> None:
    """The last one may be shorter; none is empty."""
    dataset = opened(write_jsonl(tmp_path / "x.jsonl", *({"response": str(n)} for n in range(7))))

    assert [len(batch) for batch in dataset.batches(3)] == [3, 3, 1]
    assert [sample.id for sample in samples_of(dataset)] == ["1", "2", "3", "4", "5", "6", "7"]


def test_blank_lines_and_a_byte_order_mark_are_tolerated(tmp_path: Path) -> None:
    """Ids count rows; messages count lines."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf\n{"response": "a"}\r\n   \n\n{"response": "b"}')

    assert [(sample.id, sample.response) for sample in samples_of(opened(path))] == [("1", "a"), ("2", "b")]

    path.write_bytes(path.read_bytes() + b'\n\n{"id": 3}\n')
    with pytest.raises(DatasetError, match=r"x\.jsonl: line 7: row has no `response`"):
        opened(path).survey()


def test_a_csv_cell_keeps_its_leading_zeros_hashes_and_line_breaks(tmp_path: Path) -> None:
    """Cells are text: nothing is guessed, and nothing is a comment."""
    path = tmp_path / "x.csv"
    path.write_text('id, response,ground_truth\n007,"# Heading\n\nline",1.50\n008,,True\n\n#9,x,\n')

    samples = samples_of(opened(path))

    assert [(s.id, s.response, s.ground_truth) for s in samples] == [
        ("007", "# Heading\n\nline", "1.50"),
        ("008", "", "True"),
        ("#9", "x", None),
    ]


def test_a_cell_of_five_megabytes_is_read(tmp_path: Path) -> None:
    """Long responses are what is judged."""
    text = "x" * 5_000_000
    (tmp_path / "x.csv").write_text(f'response\n"{text}"\n')
    write_jsonl(tmp_path / "x.jsonl", {"response": text})

    assert samples_of(opened(tmp_path / "x.csv"))[0].response == text
    assert samples_of(opened(tmp_path / "x.jsonl"))[0].response == text


def test_json_that_is_not_quite_json_is_read_where_the_meaning_is_clear(tmp_path: Path) -> None:
    """NaN is how data frames write an absent cell; unpaired surrogates and huge integers survive as they are."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(
        b'{"id": 1, "response": "a\\ud800b", "ground_truth": NaN}\n'
        b'{"id": 123456789012345678901234567890, "response": "x", "weight": 0.25}\n'
    )

    first, second = samples_of(opened(path))

    assert (first.response, first.ground_truth) == ("a\ud800b", None)
    assert (second.id, second.metadata) == ("123456789012345678901234567890", {"weight": 0.25})
    assert opened(path).survey().rows == 2


def test_parquet_types_that_python_has_no_word_for_arrive_as_text(tmp_path: Path) -> None:
    """Dates, decimals, lists and structs need neither numpy nor pytz."""
    path = write_parquet(
        tmp_path / "x.parquet",
        """SELECT 7 AS id, 'r' AS response, ['a', 'b'] AS ground_truth, DATE '2026-03-01' AS day,
        TIMESTAMPTZ '2026-03-01 09:12:00+00' AS moment, 1.50::DECIMAL(4, 2) AS price, {'k': [1, 2]} AS nested,
        'bytes'::BLOB AS raw, true AS flag, NULL::VARCHAR AS nothing, 1e0 AS number""",
    )

    (sample,) = samples_of(opened(path))

    assert (sample.id, sample.ground_truth, sample.ground_truth_alternatives) == ("7", "a", ("b",))
    assert str(sample.metadata["moment"]).startswith("2026-03-01")
    assert {name: sample.metadata[name] for name in ("day", "price", "nested", "raw", "flag", "nothing", "number")} == {
        "day": "2026-03-01",
        "price": "1.50",
        "nested": {"k": [1, 2]},
        "raw": "bytes",
        "flag": True,
        "nothing": None,
        "number": 1.0,
    }


def test_a_file_that_changes_while_it_is_judged_is_noticed(tmp_path: Path) -> None:
    """What was surveyed is what must be judged."""
    path = write_jsonl(tmp_path / "x.jsonl", {"response": "a"}, {"response": "b"})
    dataset = opened(path)
    dataset.survey()
    batches = dataset.batches(1)
    next(batches)

    write_jsonl(path, {"response": "a"}, {"response": "b"}, {"response": "c"})

    with pytest.raises(DatasetError, match="changed while it was being judged"):
        list(batches)


@settings(max_examples=25)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"response": st.text(max_size=20)},
            optional={"ground_truth": st.none() | st.text(max_size=5) | st.booleans(), "x": st.text(max_size=3)},
        ),
        min_size=1,
        max_size=6,
    )
)
def test_jsonl_round_trip_keeps_every_response(rows: list[dict[str, Any]]) -> None:
    """Line separators of Unicode are no line breaks, and nothing is stripped."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "x.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        dataset = opened(path)

        assert [sample.response for sample in samples_of(dataset)] == [row["response"] for row in rows]
        assert dataset.survey().rows == len(rows)


def test_a_batch_of_long_texts_has_fewer_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory follows the batch: what counts is how long it is, whichever text is."""
    monkeypatch.setattr("mixseek.datasets.reader._BATCH_CHARACTERS", 100)
    rows = [{"id": "a", "response": "x"}, {"id": "b", "response": "x" * 200}, {"id": "c", "response": "x" * 60}]
    rows += [{"id": "d", "response": "x", "question": "x" * 60}, {"id": "e", "response": "x"}]
    dataset = opened(write_jsonl(tmp_path / "d.jsonl", *rows))

    assert [[sample.id for sample in batch] for batch in dataset.batches(512)] == [["a", "b"], ["c", "d"], ["e"]]


def test_a_folder_and_a_glob_are_one_dataset_in_the_order_of_their_names(tmp_path: Path) -> None:
    """Whatever their formats, folder below folder; what other tools leave beside them is passed over."""
    folder = tmp_path / "answers"
    for name in ("b/late", "_temporary", ".cache"):
        (folder / name).mkdir(parents=True)
        write_jsonl(folder / name / "part.jsonl", {"id": f"in {name}", "response": "x"})
    write_jsonl(folder / "a-2.jsonl", {"id": "2", "response": "x"}, {"response": "x"})
    (folder / "a-1.csv").write_text("id,response\n1,x\n")
    (folder / "README.md").write_text("no rows")

    def ids(data: Path | str) -> list[str]:
        return [sample.id for batch in opened(Path(data)).batches(2) for sample in batch]

    assert ids(folder) == ["1", "2", "3", "in b/late"]
    assert ids(folder / "a-*") == ["1", "2", "3"]
    assert ids(folder / "**/*.jsonl")[-1] == "in b/late"
    one, all_of_it = opened(folder / "a-1.csv"), opened(folder)
    assert opened(folder / "?-1.csv").survey().sha256 == one.survey().sha256
    assert (all_of_it.description["format"], all_of_it.survey().rows, all_of_it.stem) == ("csv+jsonl", 4, "answers")
    assert all_of_it.survey().size_bytes == sum(
        (folder / name).stat().st_size for name in ("a-1.csv", "a-2.jsonl", "b/late/part.jsonl")
    )


def test_what_is_wrong_in_a_folder_is_said_with_its_file_and_line(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "1.jsonl", {"id": "1", "response": "x"}, {"id": "2", "response": "x"})
    other = write_jsonl(tmp_path / "2.jsonl", {"id": "3", "response": "x"}, {"id": "2", "response": "x"})

    with pytest.raises(DatasetError, match=r"1\.jsonl: line 2 and .*2\.jsonl: line 2 have the same id '2'"):
        opened(tmp_path).survey()
    write_jsonl(other, {"id": "3", "response": "x"}, {"id": "4", "text": "x"})
    with pytest.raises(DatasetError, match=r"^\S+2\.jsonl: line 2: row has no `response`"):
        opened(tmp_path).survey()
    write_jsonl(other, {"id": "3", "response": "x"})
    dataset = opened(tmp_path)
    dataset.survey()
    write_jsonl(other, {"id": "30", "response": "x"})
    with pytest.raises(DatasetError, match="changed while it was being judged"):
        list(dataset.batches(10))
    with pytest.raises(DatasetError, match="file is there; check the path"):
        opened(tmp_path / "*.parquet")
