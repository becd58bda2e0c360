"""Checks from outside: alone, beside other judges, as a gate, and declared in every place."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.agent_traces import Fault, PlantedTrace, write_traces
from tests.flows.live import export, judge, riddles
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, read_jsonl, write_jsonl

import mixseek
from mixseek.domain.steps import context_documents, step_documents
from mixseek.errors import ConfigurationError

TRACES = write_traces()
CALL = {"tool": "calc", "arguments": {"x": "2+2"}, "result": "4", "status": "ok"}
ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "2+2?", "response": "4", "ground_truth": "4", "target_model": "m", "steps": [CALL]},
    {
        "id": "b",
        "question": "3+3?",
        "response": "6",
        "ground_truth": "6",
        "target_model": "m",
        "steps": [{"role": "user", "text": "3+3?"}],
    },
    {"id": "c", "question": "3+4?", "response": "8", "ground_truth": "7", "target_model": "n"},
]
SEMANTIC = Path(mixseek.__file__).parent / "protocols" / "declarations" / "semantic.toml"


def row_of(trace: PlantedTrace) -> dict[str, Any]:
    sample = trace.sample
    return {
        "id": sample.id,
        "question": sample.question,
        "response": sample.response or None,
        "target_model": sample.target_model,
        "steps": step_documents(sample.steps),
        "contexts": context_documents(sample.contexts),
        **sample.metadata,
        "checks": dict(trace.checks),
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "data.jsonl", ROWS)


def judged(cwd: Path, *arguments: str, run: str = "r") -> dict[str, dict[str, Any]]:
    """The rows of a run, by id; with more judges, those of the last one."""
    done = mixseek_here("judge", "data.jsonl", *arguments, "--run", run, cwd=cwd)

    assert done.returncode == 0, done.stderr
    mixseek_here("export", run, "--to", f"{run}.jsonl", cwd=cwd)
    return {row["id"]: row for row in read_jsonl(cwd / f"{run}.jsonl")}


def test_three_hundred_traces_are_judged_by_what_was_planted_in_them(tmp_path: Path) -> None:
    """Those without a final answer among them; what a column expects is found in report, export and gate."""
    write_jsonl(tmp_path / "data.jsonl", map(row_of, TRACES))
    rows = judged(tmp_path, "--judge", "checks")
    failed = {
        name: {item["check"] for item in json.loads(row["check_findings"]) if item["state"] == "failed"}
        for name, row in rows.items()
    }
    report = json.loads(mixseek_here("report", "r", "--json", cwd=tmp_path).stdout)
    planted = [trace for trace in TRACES if "errors" in trace.failing]
    errors = next(check for check in report["checks"] if check["check"] == "errors")
    gate = mixseek_here("judge", "data.jsonl", "--judge", "checks", "--max-failed-checks", "9%", cwd=tmp_path)

    assert failed == {trace.sample.id: trace.failing for trace in TRACES}
    assert {row["verdict"] for row in rows.values()} == {"passed", "failed"}
    assert {name for name, row in rows.items() if row["score"] == 0} == {
        trace.sample.id for trace in TRACES if trace.failing
    }
    assert rows[next(trace.sample.id for trace in TRACES if trace.fault is Fault.NO_ANSWER)]["status"] == "valid"
    assert (errors["failed"], errors["applied"]) == (len(planted), 300)
    assert {group["target"]: group["failed"] for group in errors["targets"]} == {
        name: sum(trace.sample.target_model == name for trace in planted) for name in ("alpha", "beta")
    }
    assert gate.returncode == 1
    assert "--max-failed-checks not met: arguments failed in 45 of 300 samples (15.00%), over" in gate.stderr


def test_findings_stand_beside_a_verdict_and_leave_it_alone(data: Path, tmp_path: Path) -> None:
    plain, checked = judged(tmp_path, "--judge", "rules"), judged(tmp_path, "--check", "uses:calc", run="checked")
    findings = {name: json.loads(row["check_findings"])[0]["state"] for name, row in checked.items()}
    page = tmp_path / "page.html"
    mixseek_here("report", "checked", "--to", page, cwd=tmp_path)
    shown = mixseek_here("show", "checked", "b", cwd=tmp_path).stdout

    assert findings == {"a": "passed", "b": "failed", "c": "not_applicable"}
    assert {name: row["verdict"] for name, row in checked.items()} == {
        name: row["verdict"] for name, row in plain.items()
    }
    assert plain["a"]["check_findings"] is None
    assert "Checks without a judge" in page.read_text(encoding="utf-8")
    assert "calc was not called" in shown


def test_a_check_does_not_change_how_runs_are_compared_and_is_part_of_which_run_it_is(
    data: Path, tmp_path: Path
) -> None:
    first = json.loads(mixseek_here("judge", data, "--json", cwd=tmp_path).stdout)
    second = json.loads(mixseek_here("judge", data, "--json", "--check", "uses:calc", cwd=tmp_path).stdout)
    refused = mixseek_here("judge", data, "--check", "uses:calc", "--run", first["run"], cwd=tmp_path)

    assert first["protocol_hash"] == second["protocol_hash"]
    assert first["run"] != second["run"]
    assert refused.returncode == 2
    assert "was started with another list of checks" in refused.stderr


def test_a_live_judge_has_findings_too_and_is_not_asked_again_for_a_check(tmp_path: Path) -> None:
    rows = [{**row, "steps": [CALL] if number % 2 else [{"role": "user"}]} for number, row in enumerate(riddles(8))]
    data = write_jsonl(tmp_path / "data.jsonl", rows)
    with loopback() as endpoint:
        judge(data, endpoint.spec, cwd=tmp_path)
        asked = endpoint.requests
        done = mixseek_here(
            *("judge", data, "--judge", endpoint.spec, "--workspace", "ws", "--check", "uses:calc", "--run", "s"),
            cwd=tmp_path,
            env={"OPENAI_API_KEY": "k"},
        )
        after = endpoint.requests
    mixseek_here("export", "s", "--workspace", "ws", "--to", "s.jsonl", cwd=tmp_path)
    states = {row["id"]: json.loads(row["check_findings"])[0]["state"] for row in read_jsonl(tmp_path / "s.jsonl")}

    assert done.returncode == 0, done.stderr
    assert asked == after == 8
    assert len(export(tmp_path)) == 8
    assert states == {f"riddle-{n}": "passed" if n % 2 else "failed" for n in range(8)}


def test_a_judge_that_had_no_reply_leaves_the_findings(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", [{**ROWS[0], "response": None, "response_error": "withheld"}])
    done = mixseek_here("judge", data, "--judge", "rules", "--check", "uses:calc", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)

    assert document["counts"]["invalid"] == 1
    assert document["checks"][0]["applied"] == 1


def gated(place: Path, *lines: str) -> str:
    """A semantic protocol of one's own with checks."""
    text = SEMANTIC.read_text(encoding="utf-8").replace('name = "semantic"', 'name = "mine"')
    text = text.replace("../prompts/", f"{SEMANTIC.parent.parent / 'prompts'}/")
    (place / "mine.toml").write_text("\n".join([text, "[checks]", *lines, ""]), encoding="utf-8")
    return "mine.toml"


def test_a_gate_of_the_protocol_changes_the_verdict_and_the_archive_knows(data: Path, tmp_path: Path) -> None:
    protocol = gated(tmp_path, "gate = true", 'calculated = "uses:calc"')
    rows = judged(tmp_path, "--protocol", protocol, "--check", "answer-contains:nowhere")
    mixseek_here("archive", "r", "--to", "archive", cwd=tmp_path)
    check = mixseek_here("archive", "--check", "archive", cwd=tmp_path)
    fields = json.loads(rows["b"]["fields"])

    # What --check adds fails everywhere and changes nothing.
    assert {name: row["verdict"] for name, row in rows.items()} == {"a": "correct", "b": "incorrect", "c": "incorrect"}
    assert (rows["b"]["score"], rows["b"]["is_correct"]) == (0, False)
    assert (fields["verdict_before_checks"], fields["score_before_checks"]) == ("correct", 1)
    assert "verdict_before_checks" not in json.loads(rows["a"]["fields"])
    assert check.returncode == 0, check.stdout + check.stderr


def test_only_checks_of_a_gate_are_part_of_the_hash(tmp_path: Path) -> None:
    hashes = {
        mixseek.load_protocol(str(tmp_path / gated(tmp_path, *lines))).hash
        for lines in ([], ['a = "uses:calc"'], ["gate = true", 'a = "uses:calc"'], ["gate = true", 'a = "uses:x"'])
    }

    assert len(hashes) == 3


def test_an_archive_of_checks_holds_and_notices_what_was_changed(data: Path, tmp_path: Path) -> None:
    judged(tmp_path, "--judge", "checks", "--check", "uses:calc")
    mixseek_here("archive", "r", "--to", "archive", cwd=tmp_path)
    held = mixseek_here("archive", "--check", "archive", cwd=tmp_path)
    protocol = tmp_path / "archive" / "protocol.json"
    protocol.write_text(protocol.read_text(encoding="utf-8").replace("calc", "other"), encoding="utf-8")
    changed = mixseek_here("archive", "--check", "archive", cwd=tmp_path)

    assert held.returncode == 0, held.stdout
    assert changed.returncode == 1, changed.stdout


def test_a_job_declares_checks_with_a_schema_beside_it(data: Path, tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "number.json").write_text('{"type": "integer", "maximum": 5}', encoding="utf-8")
    job = tmp_path / "jobs" / "job.toml"
    job.write_text(
        'data = "../data.jsonl"\njudge = "checks"\nworkspace = "../ws"\nrun = "r"\ncheck = "steps<=3"\n'
        '[checks]\nnumber = "answer-json:number.json"\ncalculated = {kind = "uses", tool = "calc"}\n',
        encoding="utf-8",
    )
    done = mixseek_here("run", job, "--json", cwd=tmp_path)
    checks = json.loads(done.stdout)["jobs"][0]["summary"]["checks"]

    assert done.returncode == 0, done.stderr
    assert {check["check"]: (check["failed"], check["applied"]) for check in checks} == {
        "number": (2, 3),
        "calculated": (1, 2),
        "steps<=3": (0, 2),
    }


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--judge", "checks"], "there is nothing to check"),
        (["--judge", "checks", "--protocol", "cross", "--check", "uses:calc"], "no verdict for a failed check"),
        (["--judge", "rules", "--protocol", "checks", "--check", "uses:calc"], "has no rules to decide by"),
        (["--judge", "replay", "--protocol", "checks", "--check", "uses:calc"], "is decided by checks alone"),
        (["--judge", "replay", "--protocol", "pairwise", "--check", "uses:calc"], "a check is about one"),
        (["--judge", "checks:all"], "'checks' takes nothing after the colon"),
        (["--check", "used:calc"], "did you mean 'uses'"),
        (["--check", "answer-json:none.json"], "none.json: cannot be read"),
        (["--check", "answer-matches:(a+)+b"], "could take for ever"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_one_line(
    data: Path, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    done = mixseek_here("judge", data, *arguments, cwd=tmp_path)

    assert done.returncode == 2
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_gate_belongs_to_protocols_with_a_verdict(tmp_path: Path) -> None:
    cross = SEMANTIC.with_name("cross.toml").read_text(encoding="utf-8")
    cross = cross.replace("../prompts/", f"{SEMANTIC.parent.parent / 'prompts'}/")
    path = tmp_path / "mine.toml"
    path.write_text(f'{cross}\n[checks]\ngate = true\na = "uses:calc"\n', encoding="utf-8")

    with pytest.raises(ConfigurationError, match=r"checks\.gate: the verdict of the cross protocol is derived"):
        mixseek.load_protocol(str(path))


def test_a_wrong_row_is_named_by_its_line(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", [ROWS[0], {**ROWS[1], "checks": ["used:calc"]}])
    done = mixseek_here("judge", data, "--judge", "checks", cwd=tmp_path)

    assert done.returncode == 2
    assert "line 2: `checks`: unknown check 'used:calc'; did you mean 'uses'?" in done.stderr


def test_a_gate_without_anything_that_applies_is_not_met(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", [ROWS[2]])
    done = mixseek_here("judge", data, "--check", "uses:calc", "--max-failed-checks", "50%", cwd=tmp_path)

    assert done.returncode == 1
    assert "no check applied to any sample" in done.stderr


def test_from_python_a_check_is_a_line_or_a_table() -> None:
    checks = {"calculated": "uses:calc", "short": {"kind": "steps", "most": 3}}
    run = mixseek.judge(ROWS, judges="checks", checks=checks, progress=False)
    one = mixseek.judge(ROWS, judges="checks", checks="uses:calc", progress=False)

    assert [judged.verdict for judged in run] == ["passed", "failed", None]
    assert [judged.verdict for judged in one] == ["passed", "failed", None]
    with pytest.raises(ConfigurationError, match="did you mean 'uses'"):
        mixseek.judge(ROWS, checks=["used:calc"], progress=False)


def test_several_processes_check_alike(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "data.jsonl", map(row_of, TRACES[:60]))
    alone = judged(tmp_path, "--judge", "checks", "--workers", "1", run="alone")
    together = judged(tmp_path, "--judge", "checks", "--workers", "2", run="together")

    assert alone == together
