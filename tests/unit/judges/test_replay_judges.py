"""Recorded replies come back to the letter, by id, or are missing; a bad file is refused before the run."""

import hashlib
import json
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from mixseek.domain.judgments import Missing, Reply
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.judges.recorded_replies import REPLY_NAMES
from mixseek.judges.replay import DatasetReplayJudge, FileReplayJudge
from mixseek.protocols.registry import load_protocol

PROTOCOL = load_protocol("semantic")


def sample(sample_id: str, **metadata: Any) -> Sample:
    return Sample(sample_id, "response", metadata=metadata)


def judge_for(path: Path, *rows: Any) -> FileReplayJudge:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return FileReplayJudge.open(path, f"replay:{path.name}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "replies.jsonl"


def test_replies_are_matched_by_id_not_by_position(file: Path) -> None:
    judge = judge_for(file, {"id": "b", "reply": "second\n "}, {"id": "a", "reply": "答え"})

    assert judge.reply(sample("a"), PROTOCOL) == Reply("答え", "replay:replies.jsonl")
    assert judge.reply(sample("b"), PROTOCOL) == Reply("second\n ", "replay:replies.jsonl")
    assert judge.reply(sample("c"), PROTOCOL) == Missing("no recorded reply for id 'c'")


def test_an_integer_id_is_its_text(file: Path) -> None:
    assert judge_for(file, {"id": 19, "reply": "x"}).reply(sample("19"), PROTOCOL) == Reply("x", "replay:replies.jsonl")


@pytest.mark.parametrize("name", REPLY_NAMES)
def test_the_reply_may_have_any_of_the_usual_names(file: Path, name: str) -> None:
    outcome = judge_for(file, {"id": "a", name: "text"}).reply(sample("a"), PROTOCOL)

    assert isinstance(outcome, Reply)
    assert outcome.text == "text"


def test_the_most_explicit_name_wins(file: Path) -> None:
    outcome = judge_for(file, {"id": "a", "response": "judged text", "reply": "the reply"}).reply(sample("a"), PROTOCOL)

    assert isinstance(outcome, Reply)
    assert outcome.text == "the reply"


def test_a_reply_that_is_an_object_is_written_as_json_and_marked(file: Path) -> None:
    value = {"id": 1, "is_correct": True, "comment": "é"}
    outcome = judge_for(file, {"id": "a", "reply": value}).reply(sample("a"), PROTOCOL)

    assert isinstance(outcome, Reply)
    assert json.loads(outcome.text) == value
    assert outcome.details == {"reserialised": True}


def test_the_judging_model_is_kept_in_the_details(file: Path) -> None:
    judge = judge_for(file, {"id": "a", "reply": "x", "judge_model": "gpt-y"}, {"id": "b", "reply": "x", "judge": "z"})

    outcomes = [judge.reply(sample(sample_id), PROTOCOL) for sample_id in "ab"]
    assert [outcome.details for outcome in outcomes if isinstance(outcome, Reply)] == [
        {"judge_model": "gpt-y"},
        {"judge_model": "z"},
    ]


def test_a_recorded_null_is_missing(file: Path) -> None:
    assert judge_for(file, {"id": "a", "reply": None}).reply(sample("a"), PROTOCOL) == Missing(
        "no recorded reply for id 'a'"
    )


def test_an_empty_reply_is_a_reply(file: Path) -> None:
    """The judge was asked and said nothing: that is unparsable, not missing."""
    assert judge_for(file, {"id": "a", "reply": ""}).reply(sample("a"), PROTOCOL) == Reply("", "replay:replies.jsonl")


def test_blank_lines_byte_order_mark_and_carriage_returns_are_no_obstacle(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbf{"id": "a", "reply": "1"}\r\n\r\n  \n{"id": "b", "reply": "2"}')
    judge = FileReplayJudge.open(file, "replay")

    assert judge.reply(sample("a"), PROTOCOL) == Reply("1", "replay")
    assert judge.reply(sample("b"), PROTOCOL) == Reply("2", "replay")


BAD_FILES = {
    "not JSON": (b'{"id": 1, "reply": "x"}\n{oops\n', r"replies\.jsonl:2: not a JSON line"),
    "not UTF-8": (b'{"id": 1, "reply": "\xff"}\n', r"replies\.jsonl:1: not a JSON line"),
    "binary": (b"\x00\x01\x02\n", r"replies\.jsonl:1: not a JSON line"),
    "a list": (b"[1]\n", r"replies\.jsonl:1: a JSON object is expected, this is list"),
    "no id": (b'{"reply": "x"}\n', r"replies\.jsonl:1: no usable id"),
    "null id": (b'{"id": null, "reply": "x"}\n', r"replies\.jsonl:1: no usable id"),
    "boolean id": (b'{"id": true, "reply": "x"}\n', r"replies\.jsonl:1: no usable id"),
    "fractional id": (b'{"id": 1.5, "reply": "x"}\n', r"replies\.jsonl:1: no usable id"),
    "no reply": (b'\n{"id": 1, "rply": "x"}\n', r"replies\.jsonl:2: no reply; expected one of the columns reply, "),
    "empty": (b"", r"replies\.jsonl: holds no replies"),
    "blank": (b"\n\n", r"replies\.jsonl: holds no replies"),
    "same id twice": (
        b'{"id": 1, "reply": "x"}\n\n{"id": 2, "reply": "x"}\n{"id": "1", "reply": "y"}\n',
        r"replies\.jsonl:4: id '1' stood already at line 1",
    ),
}


@pytest.mark.parametrize(("content", "words"), BAD_FILES.values(), ids=list(BAD_FILES))
def test_a_bad_file_is_refused_with_its_line(file: Path, content: bytes, words: str) -> None:
    file.write_bytes(content)

    with pytest.raises(ConfigurationError, match=words):
        FileReplayJudge.open(file, "replay")


def test_a_file_that_is_not_there_or_is_a_directory_is_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.jsonl", tmp_path):
        with pytest.raises(ConfigurationError, match="recorded replies cannot be read"):
            FileReplayJudge.open(path, "replay")


def test_a_file_that_changes_under_the_run_is_noticed(file: Path) -> None:
    judge = judge_for(file, {"id": "a", "reply": "x"}, {"id": "b", "reply": "y"})
    file.write_text("gone\n")

    with pytest.raises(ConfigurationError, match="changed while it was being read"):
        judge.reply(sample("a"), PROTOCOL)


def test_the_judge_reopens_its_file_in_another_process(file: Path) -> None:
    judge = judge_for(file, {"id": "a", "reply": "x"})
    copy = pickle.loads(pickle.dumps(judge))  # noqa: S301 - our own bytes

    assert copy.reply(sample("a"), PROTOCOL) == Reply("x", judge.name)


def test_memory_does_not_grow_with_the_replies(file: Path) -> None:
    """4,000 replies of 5 kB: the index holds offsets, not texts."""
    with file.open("w") as out:
        out.writelines(json.dumps({"id": f"sample-{n:06}", "reply": "x" * 5_000}) + "\n" for n in range(4_000))

    tracemalloc.start()
    judge = FileReplayJudge.open(file, "replay")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 6_000_000
    assert judge.reply(sample("sample-003999"), PROTOCOL) == Reply("x" * 5_000, "replay")


def test_replies_in_the_dataset_stand_in_its_reply_column() -> None:
    judge = DatasetReplayJudge()

    assert judge.reply(sample("a", reply="text", judge="gpt-y"), PROTOCOL) == Reply(
        "text", "replay", details={"judge_model": "gpt-y"}
    )
    assert judge.reply(sample("a", output="not this"), PROTOCOL) == Missing("no recorded reply for id 'a'")
    assert judge.reply(sample("a", reply={"id": 1}), PROTOCOL) == Reply(
        '{"id":1}', "replay", details={"reserialised": True}
    )


@pytest.mark.parametrize("name", ["replies.jsonl", "replies.json"])
@pytest.mark.parametrize("rows", [[{"id": "a", "reply": "x"}], [[{"output_id": "a", "s": 1}, {"output_id": "b"}]]])
def test_the_digest_is_of_the_whole_file(tmp_path: Path, name: str, rows: list[Any]) -> None:
    """As sha256sum has it, blank lines and the byte-order mark included; lines and bundles alike."""
    path = tmp_path / name
    if name.endswith("l") and isinstance(rows[0], list):
        rows = [{"reply": json.dumps(rows[0])}]
    path.write_text("\ufeff\n" + "\n\n".join(map(json.dumps, rows)) + "\n\n", encoding="utf-8")
    judge = FileReplayJudge.open(path, "replay:r", takes_bundles=True)

    assert judge.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert judge.length_bytes == path.stat().st_size


BEFORE = '{"id": "a", "reply": "x"}\n{"id": "b", "reply": "y"}'


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (BEFORE, False),
        (BEFORE + "\n", True),
        (BEFORE + '\n{"id": "c", "reply": "z"}\n', True),
        (BEFORE.replace("x", "w") + '\n{"id": "c", "reply": "z"}\n', False),
        ('{"id": "c", "reply": "z"}\n' + BEFORE, False),
        ('{"id": "a", "reply": "x"}\n', False),
        (BEFORE + '\n{"reply": "[{\\"output_id\\": \\"a\\"}, {\\"output_id\\": \\"c\\"}]"}\n', False),
    ],
    ids=["same", "line break", "added", "corrected and added", "added in front", "cut", "bundle added"],
)
def test_a_file_has_grown_when_every_reply_is_where_it_was(file: Path, after: str, expected: bool) -> None:
    file.write_text(BEFORE)
    before = FileReplayJudge.open(file, "replay")
    file.write_text(after)

    now = FileReplayJudge.open(file, "replay", takes_bundles=True)
    assert now.has_grown_from(before.sha256, before.length_bytes) is expected
