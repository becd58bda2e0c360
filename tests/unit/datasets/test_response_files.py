"""Outputs that are files: four kinds, one line for each thing that can be wrong, a digest that is part of the run."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.storage.material import write_jsonl
from tests.unit.storage.pdf_files import make_pdf

from mixseek.datasets.attachments import RowRequirements
from mixseek.datasets.reader import Dataset, open_dataset
from mixseek.datasets.response_files import MAX_FILE_BYTES
from mixseek.domain.samples import Sample
from mixseek.errors import DatasetError


def dataset_of(path: Path, **mapping: str) -> Dataset:
    return open_dataset(str(path), mapping=mapping, spool_directory=None)


def samples_of(dataset: Dataset) -> list[Sample]:
    dataset.survey()
    return [sample for batch in dataset.batches(10) for sample in batch]


def one_sample(tmp_path: Path, name: str, data: bytes, **row: Any) -> Sample:
    (tmp_path / "out").mkdir(exist_ok=True)
    (tmp_path / "out" / name).write_bytes(data)
    return samples_of(dataset_of(write_jsonl(tmp_path / "d.jsonl", {"id": 1, "response_path": f"out/{name}", **row})))[
        0
    ]


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.json", "A.TXT", "q3 基準.md"])
def test_a_text_file_is_its_text_to_the_letter(tmp_path: Path, name: str) -> None:
    """Broken JSON is an output like any other: judging it is the point."""
    data = '{"half": "結果"\r\n  '.encode()

    sample = one_sample(tmp_path, name, data)

    assert sample.response == data.decode()
    assert sample.output_id == name
    assert sample.metadata == {
        "response_path": f"out/{name}",
        "response_sha256": hashlib.sha256(data).hexdigest(),
    }


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    assert one_sample(tmp_path, "a.txt", b"\xef\xbb\xbfyes").response == "yes"


def test_an_empty_file_is_an_empty_response(tmp_path: Path) -> None:
    """A model that wrote nothing wrote an output."""
    assert one_sample(tmp_path, "a.txt", b"").response == ""


def test_a_pdf_is_the_text_of_its_pages(tmp_path: Path) -> None:
    sample = one_sample(tmp_path, "q3.pdf", make_pdf("First page.", "Second page."))

    assert sample.response == "First page.\n\nSecond page."
    assert sample.output_id == "q3.pdf"


def test_a_row_may_name_its_output_otherwise(tmp_path: Path) -> None:
    assert one_sample(tmp_path, "a.txt", b"x", output_id="run-7/a").output_id == "run-7/a"


def test_files_outside_the_datasets_directory_are_read_only_where_the_user_allows_it(tmp_path: Path) -> None:
    """A dataset that somebody else wrote must not send this machine's files to a judge; links are resolved first."""
    (tmp_path / "a.txt").write_text("judged")
    (tmp_path / "data" / "in").mkdir(parents=True)
    (tmp_path / "data" / "b.txt").write_text("judged")
    (tmp_path / "data" / "link.txt").symlink_to(tmp_path / "a.txt")
    (tmp_path / "data" / "in" / "link.txt").symlink_to(tmp_path / "data" / "b.txt")
    outside = ["../a.txt", str(tmp_path / "a.txt"), "link.txt", "in/../../a.txt"]
    inside = ["b.txt", "in/../b.txt", str(tmp_path / "data" / "b.txt"), "in/link.txt"]
    rows = [{"id": n, "response_path": path} for n, path in enumerate([*outside, *inside])]
    path = write_jsonl(tmp_path / "data" / "d.jsonl", *rows)

    allowed = open_dataset(
        str(path), mapping={}, spool_directory=None, requirements=RowRequirements(allows_outside_files=True)
    )
    assert [sample.response for sample in samples_of(allowed)] == ["judged"] * 8
    for row in rows[:4]:
        with pytest.raises(DatasetError, match=r"lies outside the dataset's directory.*--allow-outside-files"):
            samples_of(dataset_of(write_jsonl(path, row)))
    assert len(samples_of(dataset_of(write_jsonl(path, *rows[4:])))) == 4


def test_the_column_may_have_another_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("judged")
    path = write_jsonl(tmp_path / "d.jsonl", {"id": 1, "file": "a.txt"})

    assert samples_of(dataset_of(path, response_path="file"))[0].response == "judged"


def test_rows_with_text_and_rows_with_files_stand_together(tmp_path: Path) -> None:
    """CSV has empty cells where JSON has null."""
    (tmp_path / "a.txt").write_text("from the file")
    (tmp_path / "d.csv").write_text("id,response,response_path\n1,from the row,\n2,,a.txt\n")

    samples = samples_of(dataset_of(tmp_path / "d.csv"))

    assert [sample.response for sample in samples] == ["from the row", "from the file"]
    assert [sample.output_id for sample in samples] == [None, "a.txt"]


def test_beside_a_path_no_other_column_is_taken_for_the_response(tmp_path: Path) -> None:
    """`output` next to `response_path` is anything: a label, a length."""
    assert one_sample(tmp_path, "a.txt", b"judged", output="short").response == "judged"


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "absent": ({"response_path": "no.txt"}, "`response_path` 'no.txt': no such file in "),
    "a directory": ({"response_path": "dir.txt"}, "`response_path` 'dir.txt' is a directory; name a file"),
    "a pipe": ({"response_path": "pipe.txt"}, "`response_path` 'pipe.txt' is not a regular file"),
    "another kind": (
        {"response_path": "a.docx"},
        "'a.docx' has suffix .docx; outputs are read from .txt, .md, .json, .pdf",
    ),
    "no kind": ({"response_path": "a"}, "'a' has no suffix"),
    "through a file": ({"response_path": "good.txt/b.txt"}, "'good.txt/b.txt': no such file"),
    "not UTF-8": ({"response_path": "latin.txt"}, "'latin.txt' is not valid UTF-8 (byte 0xe9 at offset 2)"),
    "too large": ({"response_path": "large.txt"}, "'large.txt' has 32 MB, at most 32 MB are read"),
    "NUL": ({"response_path": "a\0.txt"}, "not a path"),
    "both": ({"response_path": "good.txt", "response": "x"}, "both `response` and `response_path` are given"),
    "neither": ({"response_path": None}, "`response_path` is empty and there is no `response`"),
    "both empty": ({"response_path": "", "response": ""}, "`response` is empty, and so is `response_path`"),
    "no PDF": ({"response_path": "bad.pdf"}, "'bad.pdf' cannot be read as a PDF ("),
    "cut PDF": ({"response_path": "cut.pdf"}, "'cut.pdf' "),
    "scanned PDF": ({"response_path": "scan.pdf"}, "'scan.pdf' holds no text: a scan?"),
}


@pytest.mark.parametrize(("row", "message"), WRONG.values(), ids=list(WRONG))
def test_a_file_that_cannot_be_judged_is_one_line_with_its_row(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    (tmp_path / "good.txt").write_text("x")
    (tmp_path / "dir.txt").mkdir()
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9"[1:])
    with (tmp_path / "large.txt").open("wb") as large:
        large.truncate(MAX_FILE_BYTES + 1)
    (tmp_path / "bad.pdf").write_bytes(b"hello, I am not a PDF")
    (tmp_path / "cut.pdf").write_bytes(make_pdf("A page.")[:200])
    (tmp_path / "scan.pdf").write_bytes(make_pdf(""))
    path = write_jsonl(tmp_path / "d.jsonl", {"id": 1, "response": "fine"}, {"id": 2, **row})

    with pytest.raises(DatasetError) as caught:
        dataset_of(path).survey()

    assert str(caught.value).startswith(f"{path}: line 2: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_the_extra_a_pdf_names_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(DatasetError, match=r'line 1: .*is a PDF, which needs an extra: pip install "mixseek\[pdf\]"$'):
        one_sample(tmp_path, "q3.pdf", make_pdf("x"))


def test_a_changed_file_is_another_run(tmp_path: Path) -> None:
    """The dataset's own bytes are the same; its digest is not."""
    (tmp_path / "a.txt").write_text("first")
    path = write_jsonl(tmp_path / "d.jsonl", {"id": 1, "response_path": "a.txt"})
    before = dataset_of(path)
    first = before.description
    (tmp_path / "a.txt").write_text("other")
    second = dataset_of(path).description

    assert first["sha256"] != second["sha256"]
    assert first["response_files"]["count"] == 1
    assert first["response_files"]["bytes"] == 5
    assert first["response_files"]["sha256"] != second["response_files"]["sha256"]
    with pytest.raises(DatasetError, match="files that its rows name changed meanwhile"):
        list(before.batches(10))


def test_a_dataset_without_files_keeps_the_digest_of_its_bytes(tmp_path: Path) -> None:
    """Runs that were begun before files could be named resume."""
    path = write_jsonl(tmp_path / "d.jsonl", {"id": 1, "response": "x"})

    described = dataset_of(path).description

    assert described["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert "response_files" not in described


def test_pdf_text_is_taken_out_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dataset is read twice; a slow file is not."""
    from mixseek.datasets import pdf, response_files

    asked: list[str] = []
    extract = pdf.extract_text

    def count(given: str, data: bytes) -> str:
        asked.append(given)
        return extract(given, data)

    monkeypatch.setattr(response_files, "extract_text", count)

    one_sample(tmp_path, "q3.pdf", make_pdf("x"))

    assert asked == ["out/q3.pdf"]


def test_without_the_extra_everything_but_a_pdf_is_read(tmp_path: Path) -> None:
    """A plain installation has no pypdf: it is named when a PDF is met, and not missed before."""
    data = tmp_path / "answers.jsonl"
    data.write_text('{"id": "1", "response": "B", "ground_truth": "B"}\n')
    block = "import sys; sys.modules['pypdf'] = None; from mixseek.cli.main import run; run()"
    command = [sys.executable, "-c", block, "judge", str(data), "--judge", "rules", "--workspace", str(tmp_path)]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
