"""Archives of runs that were asked for: repeats, repairs, invalid replies and a cascade, all read again to the same."""

import json
import shlex
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from tests.flows.live import judge, riddles
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, read_jsonl, write_jsonl

from mixseek.testing.mock_replies import Fault
from mixseek.testing.mock_server import MockOptions

REPLY_FAULTS = (Fault.PROSE, Fault.FENCED, Fault.TRUNCATED, Fault.WRONG_SCHEMA, Fault.REFUSAL, Fault.INCONSISTENT)


def archived(place: Path) -> tuple[Path, list[dict[str, object]]]:
    done = mixseek_here("archive", "-w", "ws", "--to", "out", cwd=place)
    assert done.returncode == 0, done.stderr
    return place / "out", read_jsonl(place / "out" / "index.jsonl")


def test_every_take_of_a_faulty_judge_is_archived_and_read_again_to_the_same(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", riddles(40))
    with loopback(MockOptions(fault_rate=0.5, faults=REPLY_FAULTS, seed=5)) as endpoint:
        done = judge(data, endpoint.spec, "--repeats", "2", "--max-reasks", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    archive, index = archived(tmp_path)
    checked = mixseek_here("archive", "--check", archive, cwd=tmp_path)

    assert Counter(row["take"] for row in index) == {1: 40, 2: 40}
    assert {row["status"] for row in index} == {"valid", "invalid"}
    assert len({row["path"] for row in index}) == 80
    assert checked.returncode == 0, checked.stdout
    log = json.loads((archive / "run_log.json").read_text(encoding="utf-8"))
    assert log["network_used"] is True
    assert log["judges"][0]["model"] == "mock"
    assert log["judges"][0]["models_answering"]
    assert log["judges"][0]["parameters"]


def test_what_was_asked_for_carries_the_day_of_the_reply_and_how_it_was_judged(tmp_path: Path) -> None:
    """Whatever the judge says of the day, in either room."""
    rows = [{**row, "target_model": target} for row, target in zip(riddles(24), ("mock", "other") * 12, strict=True)]
    data = write_jsonl(tmp_path / "data.jsonl", rows)
    days = set()
    with loopback(MockOptions(fault_rate=0.5, faults=(Fault.PROSE, Fault.REFUSAL), seed=5)) as endpoint:
        days.add(datetime.now(UTC).date().isoformat())
        done = judge(data, endpoint.spec, "--max-reasks", "0", cwd=tmp_path)
        days.add(datetime.now(UTC).date().isoformat())
    assert done.returncode == 0, done.stderr

    archive, index = archived(tmp_path)
    files = [json.loads((archive / str(row["path"])).read_text(encoding="utf-8")) for row in index]
    checked = mixseek_here("archive", "--check", archive, cwd=tmp_path)
    known = {document.get("meta", document)["timestamp"] for document in files}
    invalid = [document["meta"] for document in files if "meta" in document]

    assert known <= days
    assert {row["timestamp"] for row in index} <= days
    assert {(meta["target_model"], meta["method"]) for meta in invalid} == {
        ("mock", "self_judge"),
        ("other", "cross_judge"),
    }
    assert checked.returncode == 0, checked.stdout


def test_a_cascade_is_archived_judge_by_judge(tmp_path: Path) -> None:
    """What rules decided is decided again; what a model said is read again."""
    rows = [{**row, "response": "It could be 5, or perhaps 7.", "ground_truth": "5"} for row in riddles(10)]
    rows += [{"id": "easy", "question": "2+2?", "response": "The answer is 4.", "ground_truth": "4"}]
    data = write_jsonl(tmp_path / "data.jsonl", rows)
    with loopback(MockOptions(fault_rate=0.5, faults=(Fault.FENCED, Fault.REFUSAL), seed=2)) as endpoint:
        done = judge(data, "rules", "--judge", endpoint.spec, "--cascade", "--max-reasks", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    archive, index = archived(tmp_path)
    checked = mixseek_here("archive", "--check", archive, cwd=tmp_path)

    assert [row["judge"] for row in index if row["id"] == "easy"] == ["rules"]
    assert {row["status"] for row in index if row["judge"] == "rules"} == {"valid", "undecided"}
    assert checked.returncode == 0, checked.stdout


def test_every_reply_that_was_asked_for_again_is_archived_as_invalid(tmp_path: Path) -> None:
    """With its flags and its words; the run log says how often the first reply could not be used."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(40))
    with loopback(MockOptions(fault_rate=0.5, faults=(Fault.PROSE, Fault.REFUSAL), seed=5)) as endpoint:
        done = judge(data, endpoint.spec, "--max-reasks", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    replies = [line for line in read_jsonl(tmp_path / "ws" / "runs" / "r" / "journal.jsonl") if line["t"] == "reply"]
    first_invalid = {reply["key"] for reply in replies if reply["attempt"] == 2}
    unusable = json.loads(done.stdout)["counts"]["invalid"]

    archive, index = archived(tmp_path)
    checked = mixseek_here("archive", "--check", archive, cwd=tmp_path)

    again = [row for row in index if not row["is_final"]]
    assert len(replies) == len(index)
    assert len(again) == len(replies) - 40 > 0
    assert {row["status"] for row in again} == {"invalid"}
    for row in again:
        document = json.loads((archive / str(row["path"])).read_text(encoding="utf-8"))
        assert document["meta"]["attempt"] == row["attempt"]
        assert document["flags"]
        assert any(document["reply"] == reply["text"] for reply in replies)
    assert len(list((archive / "无效评测").rglob("*.json"))) == len(again) + unusable
    assert {path.name for room in ("有效评测", "无效评测") for path in (archive / room).iterdir()} <= {
        "mock",
        "README.md",
    }
    assert checked.returncode == 0, checked.stdout
    log = json.loads((archive / "run_log.json").read_text(encoding="utf-8"))["judges"][0]
    assert log["attempts"] == {
        "takes": 40,
        "first_invalid": len(first_invalid),
        "asked_again": len(again),
        "first_invalid_rate": len(first_invalid) / 40,
    }
    assert log["temperature"] == "not sent: the endpoint's default was used"
    rate = f"{len(first_invalid) / 40:.1%}"
    shown = mixseek_here("report", "-w", "ws", "--to", "page.html", cwd=tmp_path)
    assert f"First replies: {len(first_invalid)} of 40 invalid ({rate})." in shown.stdout
    assert f"First replies: {len(first_invalid)} of 40 invalid ({rate})." in (tmp_path / "page.html").read_text("utf-8")
    reported = json.loads(mixseek_here("report", "-w", "ws", "--json", cwd=tmp_path).stdout)
    assert [judge["first_replies"]["invalid"] for judge in reported["judges"]] == [len(first_invalid)]
    text = (archive / "run_log.md").read_text(encoding="utf-8")
    assert f"{len(first_invalid)} of 40 ({len(first_invalid) / 40:.1%}; {len(again)} asked again)" in text


def test_an_archived_semantic_judgment_names_its_sample(tmp_path: Path) -> None:
    """The prompt calls every sample 1, and so do replies."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(2))
    with loopback() as endpoint:
        done = judge(data, endpoint.spec, cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    archive, _ = archived(tmp_path)

    documents = [json.loads(path.read_text(encoding="utf-8")) for path in (archive / "有效评测").rglob("*.json")]
    assert {document["id"] for document in documents} == {"riddle-0", "riddle-1"}
    assert {document["sample_id"] for document in documents} == {"riddle-0", "riddle-1"}
    assert all(document["reasoning_score"] in range(6) for document in documents)


def test_the_command_can_be_pasted(tmp_path: Path) -> None:
    """From the manifest, and from the run log."""
    data = write_jsonl(tmp_path / "my data $(x).jsonl", riddles(1))
    done = mixseek_here("judge", data.name, "--judge", "rules", "-w", "ws", "--run", "it's  one", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "ws" / "runs" / "it's  one" / "manifest.json").read_text(encoding="utf-8"))

    archive, _ = archived(tmp_path)

    command = manifest["environment"]["command"]
    assert shlex.split(command) == manifest["environment"]["command_line"]
    assert "'my data $(x).jsonl'" in command
    assert f"\n{command}\n" in (archive / "run_log.md").read_text(encoding="utf-8")


def test_the_prompts_that_were_used_are_listed(tmp_path: Path) -> None:
    """Seed 003 §9: templates, parameters and the protocol's hash."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(1))
    with loopback() as endpoint:
        done = judge(data, endpoint.spec, "--protocol", "semantic", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    archive, _ = archived(tmp_path)

    text = (archive / "使用的提示词清单.md").read_text(encoding="utf-8")
    protocol = json.loads((archive / "protocol.json").read_text(encoding="utf-8"))
    assert f"`{protocol['hash']}`" in text
    assert protocol["templates"]
    for role, template in protocol["templates"].items():
        assert f"## {role} (sha256 `" in text
        assert template.rstrip("\n") in text
    assert "cross_judge 与 self_judge" in text
