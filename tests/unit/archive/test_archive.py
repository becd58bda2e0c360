"""What goes into an archive comes out of it the same, whatever judges write and whatever the disk does."""

import errno
import json
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.storage.material import MISSING, judged_lines, make_manifest, make_run, make_sample

from mixseek.archive.check import ArchiveCheck, read_marker
from mixseek.archive.write import (
    JudgeTally,
    describe_run_log,
    describe_temperature,
    label_judge,
    run_log,
    write_archive,
)
from mixseek.domain.judgments import Reply
from mixseek.domain.samples import Sample
from mixseek.engine.offline import judge_reply
from mixseek.errors import StorageError
from mixseek.protocols.registry import load_protocol
from mixseek.storage.journal.manifest import JudgeEntry, ProtocolEntry, write_manifest
from mixseek.storage.journal.records import encode_outcome, encode_reply, encode_sample
from mixseek.storage.workspace import RunDirectory

PROTOCOL = load_protocol("semantic")
READ = partial(judge_reply, protocol=PROTOCOL)
GOOD = {
    "id": 1,
    "is_correct": True,
    "extracted_answer": "B",
    "reasoning_score": 5,
    "error_type": "none",
    "comment": "結論は B。",
}
# Surrogates included: an endpoint may send what UTF-8 cannot hold.
TEXTS = st.text(st.characters(), max_size=40)
REPLIES = st.one_of(
    TEXTS,
    st.builds(lambda comment: json.dumps({**GOOD, "comment": comment}), TEXTS),
    st.builds(lambda comment: f"```json\n{json.dumps({**GOOD, 'comment': comment}, ensure_ascii=False)}\n```", TEXTS),
    st.builds(lambda score: json.dumps({**GOOD, "reasoning_score": score}), st.integers() | st.floats()),
    st.builds(lambda before: f"<think>{before}</think>{json.dumps(GOOD)}", TEXTS),
)
IDS = st.text(st.characters(), min_size=1, max_size=12)


def judged_run(root: Path, samples: Sequence[Sample], replies: Sequence[str]) -> RunDirectory:
    lines: list[bytes] = []
    for sample, text in zip(samples, replies, strict=True):
        reply = Reply(text, "j")
        outcome = judge_reply(reply, sample, PROTOCOL)
        key = sample.key()
        lines += [encode_sample(sample), encode_reply(key, reply), encode_outcome(sample, key, "j", outcome)]
    _, run = make_run(root, lines, ("j",))
    entry = ProtocolEntry(name="semantic", version="1", language="en", hash=PROTOCOL.hash)
    write_manifest(run.manifest, make_manifest(("j",), protocol=entry))
    return run


@settings(max_examples=8)
@given(said=st.lists(st.tuples(IDS, REPLIES), min_size=1, max_size=4, unique_by=lambda one: one[0]))
def test_whatever_was_said_is_read_again_to_the_same(
    said: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any text, any id; repaired replies too, which are archived without what was repaired."""
    root = tmp_path_factory.mktemp("archive")
    samples = [make_sample(1, id=sample_id, question_id=sample_id) for sample_id, _ in said]
    run = judged_run(root, samples, [text for _, text in said])

    archived = write_archive(run, {"name": "semantic"}, root / "out", READ)
    check = ArchiveCheck(root / "out", read_marker(root / "out"), PROTOCOL)

    assert list(check.problems()) == []
    assert archived["valid"] + archived["invalid"] == check.files == len(said)


def test_a_line_break_before_a_letter_is_not_read_again_as_latex(tmp_path: Path) -> None:
    """The judge wrote a real line break; `\\nabla` in the file would be another word."""
    comment = json.dumps({**GOOD, "comment": "x"}).replace('"x"', '"first\nabla"')
    run = judged_run(tmp_path, [make_sample(1)], [comment])

    write_archive(run, {}, tmp_path / "out", READ)

    (path,) = (tmp_path / "out" / "有效评测").rglob("*.json")
    text = path.read_text(encoding="utf-8")
    assert json.loads(text)["comment"] == "first\nabla"
    assert "\\u000aabla" in text
    assert list(ArchiveCheck(tmp_path / "out", read_marker(tmp_path / "out"), PROTOCOL).problems()) == []


def test_a_full_disk_leaves_the_old_archive_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = judged_run(tmp_path, [make_sample(1), make_sample(2)], [json.dumps(GOOD)] * 2)
    out = tmp_path / "out"
    write_archive(run, {}, out, READ)
    before = (out / "archive.json").read_bytes()
    write = Path.write_bytes

    def fail_late(path: Path, data: bytes) -> int:
        if path.name == "run_log.json":
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", fail_late)

    with pytest.raises(StorageError, match="cannot write the archive: the disk is full"):
        write_archive(run, {}, out, READ)

    assert (out / "archive.json").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nonce.key", "out", "runs"]


def test_an_archive_that_cannot_be_put_in_place_gives_the_old_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = judged_run(tmp_path, [make_sample(1)], [json.dumps(GOOD)])
    out = tmp_path / "out"
    write_archive(run, {}, out, READ)
    rename = Path.rename

    def refuse_new(path: Path, target: Path) -> Path:
        if path.suffix == ".tmp":
            raise PermissionError(errno.EACCES, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse_new)

    with pytest.raises(StorageError, match="permission denied"):
        write_archive(run, {}, out, READ)

    assert (out / "archive.json").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nonce.key", "out", "runs"]


def test_what_was_never_judged_is_listed_without_a_file(tmp_path: Path) -> None:
    lines = judged_lines(make_sample(1), {"a": MISSING}) + judged_lines(make_sample(2), {})
    _, run = make_run(tmp_path, lines, ("a",))

    archived = write_archive(run, {}, tmp_path / "out", READ)

    rows = [json.loads(line) for line in (tmp_path / "out" / "index.jsonl").read_bytes().splitlines()]
    assert archived == {"valid": 0, "invalid": 0, "unjudged": 2, "asked_again": 0}
    assert [(row["id"], row["status"], row["path"]) for row in rows] == [
        ("s1", "missing", None),
        ("s2", "missing", None),
    ]
    assert rows[1]["reason"]


def test_the_run_log_names_models_parameters_and_counts() -> None:
    """Seed 003 §8; a name with a bar in it does not break the table."""
    judge = JudgeEntry(name="a|b", kind="openai", model="m-1", parameters={"temperature": 0.2, "max_tokens": 512})
    manifest = make_manifest(judges=("x",)).model_copy(update={"judges": (judge,), "network_used": True})

    counts = Counter({"valid": 5, "invalid": 2, "missing": 1})
    tally = JudgeTally(counts, models={"m-1-2026": None}, takes=7, first_invalid=3, asked_again=2)
    log = run_log(manifest, {"a|b": tally})
    text = describe_run_log(log)

    assert log["judges"][0]["parameters"] == {"temperature": 0.2, "max_tokens": 512}
    assert '| a\\|b | m-1 | m-1-2026 | {"temperature": 0.2, "max_tokens": 512} | 0.2 | 5 | 2 | missing 1 | ' in text
    assert "| missing 1 | 3 of 7 (42.9%; 2 asked again) |" in text
    assert "| 联网 network | 是 yes |" in text


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        (JudgeEntry(name="j", kind="openai", parameters={"temperature": 0.7}), 0.7),
        (JudgeEntry(name="j", kind="openai", parameters={"body": {"temperature": 1}}), 1),
        (JudgeEntry(name="j", kind="openai"), "not sent: the endpoint's default was used"),
        (JudgeEntry(name="replay:r", kind="replay"), "not known: the replies were recorded elsewhere"),
        (JudgeEntry(name="rules", kind="rules"), None),
    ],
)
def test_the_run_log_says_what_the_temperature_was(judge: JudgeEntry, expected: object) -> None:
    """Or that the endpoint's default was used, which nobody knows."""
    assert describe_temperature(judge) == expected


@pytest.mark.parametrize(
    ("judge", "label"),
    [
        ("replay:dir/replies.v2.jsonl", "replies.v2"),
        ("replay:all.jsonl#model-a", "model-a"),
        ("replay", "replay"),
        ("rules", "rules"),
        ("openai:gpt-x", "openai:gpt-x"),
    ],
)
def test_a_judge_whose_model_nobody_knows_is_called_like_its_file(judge: str, label: str) -> None:
    assert label_judge(judge) == label


def test_the_prompts_stand_in_fences_that_they_cannot_end(tmp_path: Path) -> None:
    """Whatever a template of one's own holds."""
    run = judged_run(tmp_path, [make_sample(1)], [json.dumps(GOOD)])
    record = {"templates": {"system": "a\n````\nb"}, "parameters": {"x": 1}}

    write_archive(run, record, tmp_path / "out", READ)

    text = (tmp_path / "out" / "使用的提示词清单.md").read_text(encoding="utf-8")
    assert "`````jinja\na\n````\nb\n`````\n" in text
    assert f"`{PROTOCOL.hash}`" in text
    assert '"x": 1' in text


def test_a_sample_that_is_not_the_one_that_was_judged_is_not_archived(tmp_path: Path) -> None:
    """Where no seal says so, its own key does."""
    run = judged_run(tmp_path, [make_sample(1)], [json.dumps(GOOD)])
    run.journal.write_bytes(run.journal.read_bytes().replace(b'"response":"', b'"response":"not ', 1))

    with pytest.raises(StorageError, match="the sample 's1' is not the one that was judged"):
        write_archive(run, {}, tmp_path / "out", READ)
    assert not (tmp_path / "out").exists()
