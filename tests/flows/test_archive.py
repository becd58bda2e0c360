"""`mixseek archive`: files that say what the run says, and a check that notices every hand in them."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.flows.cross_material import cross_reply, outputs, recorded
from tests.flows.running import mixseek_here, read_jsonl, sums, the_one_line, write_jsonl

VALID, INVALID = "有效评测", "无效评测"


def judged(place: Path) -> Path:
    """A cross run with six valid and two invalid judgments."""
    rows = outputs()
    replies = [recorded(row, "model-a", cross_reply(row, "model-a")) for row in rows]
    wrong = cross_reply(rows[1], "model-a")
    wrong["scores"]["overall_score"] = 5
    replies[1] = recorded(rows[1], "model-a", wrong)
    replies[2] = recorded(rows[2], "model-a", "I cannot evaluate this.")
    write_jsonl(place / "outputs.jsonl", rows)
    write_jsonl(place / "replies.jsonl", replies)
    done = mixseek_here(
        *("judge", "outputs.jsonl", "--protocol", "cross", "--judge", "replay:replies.jsonl", "-w", "ws"), cwd=place
    )
    assert done.returncode == 0, done.stderr
    done = mixseek_here("archive", "-w", "ws", "--to", "out", cwd=place)
    assert done.returncode == 0, done.stderr
    return place / "out"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged(tmp_path_factory.mktemp("archive"))


@pytest.fixture
def archive(written: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(written, tmp_path / "out"))


def files_in(archive: Path, room: str) -> list[Path]:
    return sorted((archive / room).rglob("*.json"))


def found(archive: Path) -> list[tuple[str, str]]:
    """Kind and path of every problem."""
    done = mixseek_here("archive", "--check", archive, "--json", cwd=archive)
    document = json.loads(done.stdout)
    assert done.returncode == (1 if document["problems"] else 0)
    assert document["ok"] == (not document["problems"])
    return [(problem["kind"], problem["path"]) for problem in document["problems"]]


def test_replies_of_nobody_knows_whom_are_filed_under_the_name_of_their_file(tmp_path: Path) -> None:
    """In the folders and in both tables; not as a path made harmless, with a number behind it."""
    rows = outputs(questions=1)
    replies = [{**recorded(row, "", cross_reply(row, "model-a")), "judge_model": None} for row in rows]
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    write_jsonl(tmp_path / "march.jsonl", replies)
    words = ("judge", "outputs.jsonl", "--protocol", "cross", "--judge", "replay:march.jsonl", "-w", "ws")
    assert mixseek_here(*words, cwd=tmp_path).returncode == 0
    assert mixseek_here("archive", "-w", "ws", "--to", "out", cwd=tmp_path).returncode == 0

    assert {path.parent.name for path in files_in(tmp_path / "out", "有效评测")} == {"march"}
    assert {row["judge_model"] for row in read_jsonl(tmp_path / "out" / "index.jsonl")} == {"march"}
    with (tmp_path / "out" / "index.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert {row["judge_model"] for row in csv.DictReader(stream)} == {"march"}


def test_every_judgment_is_a_file_in_its_room(written: Path) -> None:
    valid, invalid = files_in(written, VALID), files_in(written, INVALID)

    assert len(valid) == 6
    assert len(invalid) == 2
    assert {path.parent.name for path in (*valid, *invalid)} == {"model-a"}
    assert valid[0].name.startswith("Q1_A_model-a_t1_")
    assert "不是一条低分结果" in (written / INVALID / "README.md").read_text(encoding="utf-8")


def test_a_valid_file_is_the_reply_in_wire_format(written: Path) -> None:
    """With the sample's id, and with who judged as the run knows it beside what the judge claims."""
    row = outputs()[0]
    said = cross_reply(row, "model-a")

    assert json.loads(files_in(written, VALID)[0].read_text(encoding="utf-8")) == {
        "sample_id": row["id"],
        **said,
        "meta": {**said["meta"], "judge_model_claimed": "model-a"},
    }


def test_an_invalid_file_says_whose_it_is_what_is_wrong_and_what_was_said(written: Path) -> None:
    document = json.loads(files_in(written, INVALID)[1].read_text(encoding="utf-8"))

    assert document["meta"] == {
        "judge": "replay:replies.jsonl",
        "judge_model": "model-a",
        "judge_model_claimed": None,
        "id": "Q1-B-model-a",
        "question_id": "Q1",
        "prompt_variant": "B",
        "target_model": "model-a",
        "output_id": "Q1_B_model-a.md",
        "task_name": None,
        "method": "self_judge",
        "timestamp": None,
        "take": 1,
        "attempt": 1,
    }
    assert document["flags"] == ["JUDGE_REFUSAL_OR_EVASION"]
    assert [finding["flag"] for finding in document["findings"]] == document["flags"]
    assert document["reply"] == "I cannot evaluate this."


def test_a_recorded_reply_carries_the_day_that_its_line_gives(tmp_path: Path) -> None:
    """Valid or not; what the judge said stands beside it. A line without a usable day leaves the judge its own."""
    rows = outputs(questions=1)
    wrong = {**cross_reply(rows[1], "model-a"), "verdict": "FAIL"}
    said = [cross_reply(rows[0], "model-a"), wrong, *(cross_reply(row, "model-a") for row in rows[2:])]
    days = ["2025-12-01", "2025-12-01T23:59:59Z", "12/01/25", None]
    lines = [
        {**recorded(row, "model-a", reply), "timestamp": day} for row, reply, day in zip(rows, said, days, strict=True)
    ]
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    write_jsonl(tmp_path / "replies.jsonl", lines)
    words = ("judge", "outputs.jsonl", "--protocol", "cross", "--judge", "replay:replies.jsonl", "-w", "ws")
    assert mixseek_here(*words, cwd=tmp_path).returncode == 0
    assert mixseek_here("archive", "-w", "ws", "--to", "out", cwd=tmp_path).returncode == 0
    index = {row["id"]: row for row in read_jsonl(tmp_path / "out" / "index.jsonl")}
    files = {
        name: json.loads((tmp_path / "out" / row["path"]).read_text(encoding="utf-8")) for name, row in index.items()
    }
    claimed = said[0]["meta"]["timestamp"]
    first, second, third, fourth = (files[row["id"]]["meta"] for row in rows)

    assert (first["timestamp"], first["timestamp_claimed"]) == ("2025-12-01", claimed)
    assert (second["timestamp"], second["method"]) == ("2025-12-01", "cross_judge")
    assert (third["timestamp"], fourth["timestamp"]) == (claimed, claimed)
    assert [index[row["id"]]["timestamp"] for row in rows] == ["2025-12-01", "2025-12-01", claimed, claimed]
    assert found(tmp_path / "out") == []


def test_the_index_lists_every_pair_twice_over(written: Path) -> None:
    """For programs and for spreadsheets."""
    lines = read_jsonl(written / "index.jsonl")
    with (written / "index.csv").open(encoding="utf-8-sig", newline="") as stream:
        table = list(csv.DictReader(stream))

    assert [row["path"] for row in table] == [line["path"] for line in lines]
    assert {line["status"] for line in lines} == {"valid", "invalid"}
    assert all((written / line["path"]).is_file() for line in lines)
    assert [line["flags"] for line in lines if line["flags"]] == [
        ["INTERNAL_INCONSISTENCY"],
        ["JUDGE_REFUSAL_OR_EVASION"],
    ]
    assert json.loads(table[0]["scores"])["FORMAT_COMPLIANCE"] == 2
    assert {row["method"] for row in table if row["status"] == "valid"} == {"self_judge", "cross_judge"}


def test_the_run_log_is_section_8_of_the_seed(written: Path) -> None:
    log = json.loads((written / "run_log.json").read_text(encoding="utf-8"))
    text = (written / "run_log.md").read_text(encoding="utf-8")

    assert log["judges"][0]["models_answering"] == ["model-a"]
    assert log["sample_count"] == 8
    assert log["counts"] == {"replay:replies.jsonl": {"valid": 6, "invalid": 2}}
    assert log["time_range"]["from"] <= log["time_range"]["to"]
    assert (log["tools_used"], log["network_used"]) == (False, False)
    assert all(word in text for word in ("解码参数", "联网", "样本数量", "评测时间范围", log["protocol"]["hash"]))


def test_an_untouched_archive_is_what_it_says(archive: Path) -> None:
    assert found(archive) == []


def edit(path: Path, change: Callable[[Any], object]) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def relative(archive: Path, path: Path) -> str:
    return path.relative_to(archive).as_posix()


def test_an_edited_total_is_found_twice(archive: Path) -> None:
    """By its digest, and because it no longer adds up."""
    path = files_in(archive, VALID)[0]
    edit(path, lambda reply: reply["scores"].update(overall_score=8))
    name = relative(archive, path)

    assert found(archive) == [("changed", name), ("not_valid", name)]


def test_edited_scores_that_add_up_are_found_against_the_index(archive: Path) -> None:
    path = files_in(archive, VALID)[0]
    edit(path, lambda reply: reply["scores"].update(COMPLETENESS=2, overall_score=8))
    name = relative(archive, path)

    assert found(archive) == [("changed", name), ("differs", name), ("differs", name)]


def test_an_edited_quote_is_verified_again(archive: Path) -> None:
    path = files_in(archive, VALID)[0]
    edit(path, lambda reply: [item.update(quote="从来没有写过的一句话") for item in reply["evidence"]])

    assert ("not_valid", relative(archive, path)) in found(archive)


def test_a_repaired_invalid_reply_is_not_invalid_any_more(archive: Path) -> None:
    path = files_in(archive, INVALID)[0]
    edit(
        path,
        lambda document: document.update(reply=document["reply"].replace('"overall_score": 5', '"overall_score": 7')),
    )
    name = relative(archive, path)

    assert found(archive) == [("changed", name), ("not_invalid", name)]


def test_an_invalid_reply_with_another_fault_differs_from_the_index(archive: Path) -> None:
    path = files_in(archive, INVALID)[1]
    edit(path, lambda document: document.update(reply="{"))
    name = relative(archive, path)

    assert found(archive) == [("changed", name), ("differs", name)]


def test_a_file_in_the_wrong_room_is_known_by_its_bytes(archive: Path) -> None:
    path = files_in(archive, VALID)[0]
    target = archive / INVALID / path.parent.name / "renamed.json"
    path.rename(target)

    assert found(archive) == [("moved", relative(archive, target))]


def test_a_file_that_was_moved_and_edited_is_known_by_its_name(archive: Path) -> None:
    path = files_in(archive, INVALID)[0]
    target = archive / VALID / path.parent.name / path.name
    path.rename(target)
    edit(target, lambda document: document.update(flags=[]))

    assert found(archive) == [("moved", relative(archive, target)), ("changed", relative(archive, target))]


def test_missing_and_extra_files_are_named(archive: Path) -> None:
    gone = files_in(archive, VALID)[0]
    gone.unlink()
    extra = gone.with_name("note.txt")
    extra.write_text("mine")
    (archive / VALID / ".DS_Store").write_text("left by a desktop")

    assert found(archive) == [("extra", relative(archive, extra)), ("missing", relative(archive, gone))]


def test_an_edited_index_does_not_vouch_for_edited_files(archive: Path) -> None:
    index = archive / "index.jsonl"
    index.write_text(
        index.read_text(encoding="utf-8").replace('"verdict":"PASS"', '"verdict":"FAIL"'), encoding="utf-8"
    )

    assert ("changed", "index.jsonl") in found(archive)
    assert [kind for kind, _ in found(archive)].count("differs") == 6


@pytest.mark.parametrize("name", ["index.csv", "run_log.json", "run_log.md"])
def test_what_people_read_is_sealed_too(archive: Path, name: str) -> None:
    """A table or a log that tells another story than the files is worse than none."""
    path = archive / name
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert found(archive) == [("changed", name)]

    path.unlink()
    assert found(archive) == [("missing", name)]


def test_an_edited_sample_is_found(archive: Path) -> None:
    """The text that quotes are verified in."""
    samples = archive / "samples.jsonl"
    samples.write_text(samples.read_text(encoding="utf-8").replace("先测量命中率", "先测量别的"), encoding="utf-8")

    kinds = found(archive)

    assert ("changed", "samples.jsonl") in kinds
    assert [kind for kind, path in kinds if path.startswith((VALID, INVALID))] == ["differs"] * 4


def test_another_protocol_is_found(archive: Path) -> None:
    edit(
        archive / "protocol.json",
        lambda protocol: protocol["parameters"]["verdict"]["rules"]["PASS"].update(at_least=8),
    )

    kinds = found(archive)

    assert ("changed", "protocol.json") in kinds
    assert ("differs", "protocol.json") in kinds
    assert "not_valid" in [kind for kind, _ in kinds]


def lead_outside(index: Path) -> None:
    """An index must not make a check read files elsewhere."""
    row = {**read_jsonl(index)[0], "path": f"{VALID}/../../outputs.jsonl"}
    write_jsonl(index, [row])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda archive: (archive / "archive.json").unlink(), "no archive"),
        (lambda archive: (archive / "archive.json").write_text("{}"), "damaged"),
        (lambda archive: (archive / "archive.json").write_text("["), "damaged"),
        (lambda archive: (archive / "protocol.json").unlink(), "protocol.json: cannot be read"),
        (lambda archive: (archive / "protocol.json").write_text("{}"), "not a protocol"),
        (lambda archive: (archive / "protocol.json").write_text("no"), "not JSON"),
        (lambda archive: (archive / "index.jsonl").write_text('{"path": "../x"}\n'), "line 1 is damaged"),
        (lambda archive: (archive / "index.jsonl").write_text("no\n"), "line 1 is damaged"),
        (lambda archive: lead_outside(archive / "index.jsonl"), "line 1 is damaged"),
        (shutil.rmtree, "no such directory"),
    ],
)
def test_what_cannot_be_checked_at_all_is_one_line(
    archive: Path, spoil: Callable[[Path], object], words: str, tmp_path: Path
) -> None:
    spoil(archive)

    done = mixseek_here("archive", "--check", archive, cwd=tmp_path)

    assert done.returncode == 2
    assert words in the_one_line(done)


def test_people_read_the_first_problems_and_their_number(archive: Path) -> None:
    for path in files_in(archive, VALID):
        path.unlink()

    done = mixseek_here("archive", "--check", archive, cwd=archive)

    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 7
    assert "missing: the valid judgment of sample 'Q1-A-model-a' by 'replay:replies.jsonl' is not there" in done.stdout
    assert "6 problems in 2 judgments" in done.stdout


def test_an_archive_is_replaced_by_the_same_run_only(tmp_path: Path) -> None:
    archive = judged(tmp_path)
    (archive / "note.txt").write_text("mine")
    again = mixseek_here("archive", "-w", "ws", "--to", "out", cwd=tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.md").write_text("mine")
    refused = mixseek_here("archive", "-w", "ws", "--to", "full", cwd=tmp_path)
    (tmp_path / "empty").mkdir()
    taken = mixseek_here("archive", "-w", "ws", "--to", "empty", cwd=tmp_path)

    assert again.returncode == 0
    assert not (archive / "note.txt").exists()
    assert refused.returncode == 2
    assert "not empty and no archive" in the_one_line(refused)
    assert (tmp_path / "full" / "thesis.md").read_text() == "mine"
    assert taken.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("empty", "full", "out", "outputs.jsonl", "replies.jsonl", "ws"),
    ]


def test_a_run_whose_protocol_was_edited_is_not_archived(tmp_path: Path) -> None:
    """Files that cannot be read again as they were read are no archive."""
    judged(tmp_path)
    (kept,) = (tmp_path / "ws" / "runs").glob("*/protocol.json")
    edit(kept, lambda protocol: protocol["parameters"]["verdict"]["rules"]["PASS"].update(at_least=8))

    done = mixseek_here("archive", "-w", "ws", "--to", "other", cwd=tmp_path)

    assert done.returncode == 2
    assert "was judged by another version of the cross protocol" in the_one_line(done)
    assert not (tmp_path / "other").exists()


def test_a_run_that_kept_no_protocol_is_archived_by_the_built_in(tmp_path: Path) -> None:
    judged(tmp_path)
    (kept,) = (tmp_path / "ws" / "runs").glob("*/protocol.json")
    kept.unlink()

    done = mixseek_here("archive", "-w", "ws", "--to", "other", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert found(tmp_path / "other") == []


def test_another_run_does_not_take_the_place(tmp_path: Path) -> None:
    judged(tmp_path)
    mixseek_here("judge", write_jsonl(tmp_path / "sums.jsonl", sums(5)), "-w", "ws", "--run", "other", cwd=tmp_path)

    done = mixseek_here("archive", "other", "-w", "ws", "--to", "out", cwd=tmp_path)

    assert done.returncode == 2
    assert "holds the archive of run 'outputs-cross-" in the_one_line(done)


def test_a_run_by_rules_is_archived_and_checked_too(tmp_path: Path) -> None:
    """Undecided samples have no judgment: they are listed, and have no file."""
    mixseek_here("judge", write_jsonl(tmp_path / "sums.jsonl", sums(10)), "-w", "ws", cwd=tmp_path)

    done = mixseek_here("archive", "-w", "ws", "--json", cwd=tmp_path)

    document = json.loads(done.stdout)
    assert (document["valid"], document["invalid"], document["unjudged"]) == (8, 0, 2)
    assert found(Path(tmp_path / document["directory"])) == []


@pytest.mark.parametrize("more", [("latest",), ("--to", "x")])
def test_a_check_takes_nothing_else(archive: Path, more: tuple[str, ...]) -> None:
    done = mixseek_here("archive", *more, "--check", archive, cwd=archive)

    assert done.returncode == 2
    assert "it only reads" in the_one_line(done)
