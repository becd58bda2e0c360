"""Archives of runs that were asked for: repeats, repairs, invalid replies and a cascade, all read again to the same."""

import json
from collections import Counter
from pathlib import Path

from tests.flows.live import judge, riddles
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, read_jsonl, write_jsonl

from mixseek.judges.mock_answers import Fault
from mixseek.judges.mock_server import MockOptions

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
