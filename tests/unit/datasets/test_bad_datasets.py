"""Every way in which a dataset can be wrong: one line, with the place and the remedy."""

import errno
import gzip
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.storage.material import write_jsonl, write_parquet

from mixseek.datasets.reader import Dataset, open_dataset
from mixseek.errors import DatasetError


def opened(path: Path, **mapping: str) -> Dataset:
    return open_dataset(str(path), mapping=mapping, spool_directory=None)


BAD_FILES: dict[str, tuple[str, bytes, str]] = {
    "empty": ("x.jsonl", b"", "the dataset is empty; give it at least one row"),
    "only blank lines": ("x.jsonl", b"\n \n", "the dataset is empty"),
    "empty csv": ("x.csv", b"", "the dataset is empty"),
    "csv with a header only": ("x.csv", b"id,response\n", "the dataset is empty"),
    "empty list": ("x.json", b"[]", "the dataset is empty"),
    "binary": ("x.jsonl", b"\x7fELF\x02\0\0", "a binary file (byte 5 is zero), expected text in UTF-8"),
    "parquet by another name": ("x.jsonl", b"PAR1\0\0", "rename it to .parquet"),
    "utf-16": ("x.csv", "id,response\n".encode("utf-16"), "encoded as UTF-16; save it as UTF-8"),
    "invalid utf-8": (
        "x.jsonl",
        b'{"response": "a"}\n{"response": "\xff"}\n',
        "line 2 is not valid UTF-8 (byte 0xff at offset 32); convert the file to UTF-8",
    ),
    "invalid utf-8 in csv": ("x.csv", b"response\nab\xe9\n", "line 2 is not valid UTF-8 (byte 0xe9 at offset 11)"),
    "a list": ("x.jsonl", b'{"response": "a"}\n["b"]\n', "line 2 is a JSON list, expected an object"),
    "a number": ("x.jsonl", b"12\n", "line 1 is the JSON value 12, expected an object"),
    "a string": ("x.jsonl", b'"x"\n', "line 1 is a JSON string, expected an object"),
    "null": ("x.jsonl", b"null\n", "line 1 is null, expected an object"),
    "a list in a list": ("x.json", b"[[1]]", "item 1 is a JSON list, expected an object"),
    "broken json": (
        "x.jsonl",
        b'{"response": "a"}\n{"response": }\n',
        "line 2, column 14: invalid JSON: expecting value",
    ),
    "torn json": ("x.jsonl", b'{"response": "a', "line 1, column 14: invalid JSON: unterminated string"),
    "two objects": ("x.jsonl", b'{"response": "a"} {"response": "b"}\n', "line 1, column 19: invalid JSON: extra data"),
    "deep json": ("x.jsonl", b"[" * 100_000, "line 1"),
    "broken list": ("x.json", b'[{"response": "a"}, {"respo', "cannot be read"),
    "no response": ("x.jsonl", b'{"id": 1, "text": "a"}\n', "line 1: row has no `response`; columns are id, text"),
    "no response in csv": ("x.csv", b"id,text\n1,a\n", "line 2: row has no `response`; columns are id, text"),
    "nothing but null": (
        "x.jsonl",
        b'{"response": null}\n',
        "no row has a response: `response` is null in each of 1 rows",
    ),
    "a key twice": (
        "x.jsonl",
        b'{"response": "a", "id": 1, "response": "b"}\n',
        "line 1: the key `response` stands twice",
    ),
    "a key twice below": (
        "x.jsonl",
        b'{"response": "a", "m": {"k" : 1, "k" : 2}}\n',
        "line 1: the key `k` stands twice",
    ),
    "a key twice in a list": (
        "x.json",
        b'[{"response": "a", "response": "b"}]',
        "item 1: the key `response` stands twice",
    ),
    "nested 900 deep": (
        "x.jsonl",
        b'{"response": "a", "m": %b1%b}\n' % (b"[" * 900, b"]" * 900),
        "line 1 is nested more",
    ),
    "nested 900 deep in a list": (
        *("x.json", b'[{"response": "a", "m": %b1%b}]' % (b"[" * 900, b"]" * 900), "item 1 is nested more"),
    ),
    "nested 900 deep in a chat": (
        "x.jsonl",
        b'{"id": "a", "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}]}\n'
        b'{"id": "b", "messages": [{"role": "assistant", "content": "r"}], "m": %b1%b}\n' % (b"[" * 900, b"]" * 900),
        "sample 'b' is nested more than 200 levels deep",
    ),
    "an object without rows": (
        "x.json",
        b'{\n"cases": [{"a": 1}],\n"name": "x"\n}',
        "one JSON object with the keys cases, name",
    ),
    "an object around lists": ("x.json", b'{"data": [[1, 2]]}', "item 1 of `data` is a JSON list, expected an object"),
    "an object that is cut": ("x.json", b'{"data": [{"response": "a"}, {"resp', "the list `data` is cut short"),
    "ragged csv": ("x.csv", b"id,response\n1,a\n2,b,c\n", "line 3 has 3 cells, the header has 2"),
    "ragged after a long cell": ("x.csv", b'id,response\n1,"a\nb"\n2\n', "line 4 has 1 cells, the header has 2"),
    "open quote": ("x.csv", b'id,response\n1,"a\n2,b\n', "line 2: unexpected end of data; check the quotes"),
    "column twice": ("x.csv", b"response,response\na,b\n", "line 1: the column `response` appears twice"),
    "not parquet": ("x.parquet", b"id,response\n", "cannot be read"),
    "not gzip": ("x.jsonl.gz", b'{"response": "a"}\n', "not a complete gzip file"),
    "torn gzip": ("x.jsonl.gz", gzip.compress(b'{"response": "a"}\n' * 999)[:-9], "not a complete gzip file"),
    "unknown suffix": ("x.xlsx", b"x", "unknown suffix .xlsx; supported are .jsonl, .ndjson, .json, .csv, .tsv"),
    "unknown packed suffix": ("x.parquet.gz", b"x", "unknown suffix .parquet.gz; supported are"),
    "no suffix": ("answers", b"x", "no suffix; supported are"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_file_that_cannot_be_judged_is_named_with_place_and_remedy(case: str, tmp_path: Path) -> None:
    """One line, the path first."""
    name, content, message = BAD_FILES[case]
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(DatasetError) as caught:
        opened(path).survey()

    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_reading_a_bad_row_without_a_survey_names_it_too(tmp_path: Path) -> None:
    """Before anything is handed out: whether questions repeat is known of the whole file only."""
    batches = opened(write_jsonl(tmp_path / "x.jsonl", {"response": "a"}, {"text": "b"})).batches(1)

    with pytest.raises(DatasetError, match="line 2: row has no `response`"):
        next(batches)


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_duplicate_ids_are_named_with_both_places(suffix: str, tmp_path: Path) -> None:
    """The unit is the one in which the file is counted."""
    path = tmp_path / f"x.{suffix}"
    ids = ["a", "b", "c", "b"]
    if suffix == "jsonl":
        write_jsonl(path, *({"id": name, "response": "r"} for name in ids))
    elif suffix == "csv":
        path.write_text("id,response\n" + "".join(f"{name},r\n" for name in ids))
    else:
        write_parquet(path, "SELECT unnest(['a', 'b', 'c', 'b']) AS id, 'r' AS response")
    places = {"jsonl": "lines 2 and 4", "csv": "lines 3 and 5", "parquet": "rows 2 and 4"}[suffix]

    with pytest.raises(DatasetError, match=f"{places} have the same id 'b'; make ids unique, or name another column"):
        opened(path).survey()


def test_a_number_and_a_text_that_read_alike_are_the_same_id(tmp_path: Path) -> None:
    """Also the row number that stands in for an absent id."""
    path = write_jsonl(tmp_path / "x.jsonl", {"response": "r"}, {"id": "1", "response": "r"})

    with pytest.raises(DatasetError, match="lines 1 and 2 have the same id '1'"):
        opened(path).survey()


def test_ids_that_only_share_a_hash_are_not_duplicates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second pass compares the ids themselves."""
    import mixseek.datasets.reader as module

    monkeypatch.setattr(module, "hash", lambda text: 1, raising=False)
    path = write_jsonl(tmp_path / "x.jsonl", *({"id": name, "response": "r"} for name in "abc"))

    assert opened(path).survey().rows == 3
    write_jsonl(path, *({"id": name, "response": "r"} for name in "abca"))
    with pytest.raises(DatasetError, match="lines 1 and 4"):
        opened(path).survey()


def test_a_missing_file_is_answered_with_the_name_that_was_meant(tmp_path: Path) -> None:
    """A typo is the most frequent cause."""
    write_jsonl(tmp_path / "answers.jsonl", {"response": "a"})

    with pytest.raises(DatasetError, match=r"answer\.jsonl: no such file; did you mean .*answers\.jsonl\?"):
        opened(tmp_path / "answer.jsonl")
    with pytest.raises(DatasetError, match="no such file; check the path, or use - for stdin"):
        opened(tmp_path / "nowhere" / "zzz.jsonl")
    with pytest.raises(DatasetError, match="no such file"):
        opened(tmp_path / "answers.jsonl" / "below.jsonl")


def test_a_directory_a_pipe_and_an_impossible_name_are_refused(tmp_path: Path) -> None:
    """None of them is a file that can be read twice."""
    (tmp_path / "data.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")

    with pytest.raises(
        DatasetError, match=r"no \.jsonl, \.json, \.csv, \.tsv or \.parquet file is there; check the path"
    ):
        opened(tmp_path / "data.jsonl")
    with pytest.raises(DatasetError, match="not a regular file, so it cannot be read twice; pipe it in and use -"):
        opened(tmp_path / "pipe.jsonl")
    with pytest.raises(DatasetError, match="cannot be opened"):
        open_dataset("a\0b.jsonl", mapping={}, spool_directory=None)


def test_a_file_that_may_not_be_read_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run as root in containers, where no permission is ever denied: the refusal is played."""
    path = write_jsonl(tmp_path / "x.jsonl", {"response": "a"})
    dataset = opened(path)

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(DatasetError, match=r"x\.jsonl: cannot read: permission denied"):
        dataset.survey()


def test_a_mapped_column_that_does_not_exist_is_refused_before_judging(tmp_path: Path) -> None:
    """With the name that was meant."""
    path = write_jsonl(tmp_path / "x.jsonl", {"response": "a", "gold": "b"})

    with pytest.raises(DatasetError, match=r"x\.jsonl: no row has the column `godl` .*did you mean `gold`\?"):
        opened(path, ground_truth="godl").survey()


@settings(max_examples=25)
@given(content=st.binary(max_size=200), suffix=st.sampled_from(["jsonl", "csv", "tsv", "json", "parquet", "jsonl.gz"]))
def test_any_bytes_are_a_dataset_or_one_line(
    content: bytes, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No content of a file brings anything but a DatasetError."""
    path = tmp_path_factory.mktemp("bytes") / f"x.{suffix}"
    path.write_bytes(content)

    message = ""
    rows = 0
    try:
        rows = opened(path).survey().rows
    except DatasetError as error:
        message = str(error)

    assert bool(message) != bool(rows)
    assert "\n" not in message
