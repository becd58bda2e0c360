"""The cross protocol on the command line: outputs as rows and as files, replies beside them, in them and in bundles."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.flows.cross_material import RESPONSES, cross_reply, outputs, recorded
from tests.flows.running import COMMAND, environment, mixseek_here, read_jsonl, the_one_line, write_jsonl
from tests.unit.storage.pdf_files import make_pdf


def judge(place: Path, data: str, *more: str) -> subprocess.CompletedProcess[str]:
    return mixseek_here("judge", data, "--protocol", "cross", "-w", "ws", "--run", "r", *more, cwd=place)


def exported(place: Path) -> dict[str, dict[str, Any]]:
    done = mixseek_here("export", "r", "-w", "ws", "--to", "out.jsonl", cwd=place)
    assert done.returncode == 0, done.stderr
    return {row["id"]: row for row in read_jsonl(place / "out.jsonl")}


def test_a_model_on_its_own_output_is_told_from_a_model_on_another(tmp_path: Path) -> None:
    """Each judge's replies in a file of their own; the judge's name in a column."""
    rows = outputs()
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    for name in ("model-a", "model-c"):
        write_jsonl(tmp_path / f"{name}.jsonl", [recorded(row, name, cross_reply(row, name)) for row in rows])

    done = judge(tmp_path, "outputs.jsonl", "--judge", "replay:model-a.jsonl", "--judge", "replay:model-c.jsonl")

    assert done.returncode == 0, done.stderr
    mixseek_here("export", "r", "-w", "ws", "--to", "out.jsonl", cwd=tmp_path)
    methods = {(row["judge"], row["target_model"], row["method"]) for row in read_jsonl(tmp_path / "out.jsonl")}
    assert methods == {
        ("replay:model-a.jsonl", "model-a", "self_judge"),
        ("replay:model-a.jsonl", "model-b", "cross_judge"),
        ("replay:model-c.jsonl", "model-a", "cross_judge"),
        ("replay:model-c.jsonl", "model-b", "cross_judge"),
    }


def test_judges_of_one_file_are_taken_apart_by_name(tmp_path: Path) -> None:
    rows = outputs(questions=1)
    names = ("model-a", "model-c")
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    write_jsonl(tmp_path / "all.jsonl", [recorded(row, name, cross_reply(row, name)) for row in rows for name in names])

    together = judge(tmp_path, "outputs.jsonl", "--judge", "replay:all.jsonl")
    apart = judge(
        tmp_path, "outputs.jsonl", *(word for name in names for word in ("--judge", f"replay:all.jsonl#{name}"))
    )

    assert together.returncode == 2
    assert "--judge replay:all.jsonl#model-a --judge replay:all.jsonl#model-c" in the_one_line(together)
    assert apart.returncode == 0, apart.stderr


@pytest.mark.parametrize("column", ["question_id", "prompt_variant", "target_model"])
def test_a_missing_column_is_named_before_anything_is_judged(tmp_path: Path, column: str) -> None:
    """With the option that names it, and the columns there are."""
    rows = outputs()
    write_jsonl(tmp_path / "outputs.jsonl", [{**row, column: None} for row in rows])
    write_jsonl(tmp_path / "replies.jsonl", [recorded(row, "j", cross_reply(row, "j")) for row in rows])

    done = judge(tmp_path, "outputs.jsonl", "--judge", "replay:replies.jsonl")

    assert done.returncode == 2
    said = the_one_line(done)
    assert f"outputs.jsonl: no row has a `{column}`, which the cross protocol needs" in said
    assert f"--map {column}=COLUMN (columns: id, question, " in said
    assert not (tmp_path / "ws").exists()


def test_another_name_for_the_column_is_mapped(tmp_path: Path) -> None:
    rows = outputs()
    write_jsonl(tmp_path / "replies.jsonl", [recorded(row, "j", cross_reply(row, "j")) for row in rows])
    write_jsonl(tmp_path / "outputs.jsonl", [{**row, "style": row.pop("prompt_variant")} for row in map(dict, rows)])

    done = judge(tmp_path, "outputs.jsonl", "--judge", "replay:replies.jsonl", "--map", "prompt_variant=style")

    assert done.returncode == 0, done.stderr


def test_rules_are_refused_where_there_are_none(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "outputs.jsonl", outputs())

    done = judge(tmp_path, "outputs.jsonl")

    assert done.returncode == 2
    assert "the cross protocol has no rules to decide by; name who judges with --judge" in the_one_line(done)


def test_outputs_may_be_files_and_quotes_are_found_in_them(tmp_path: Path) -> None:
    """A text and a PDF; the second quote is in neither."""
    row = {"question_id": "Q1", "prompt_variant": "A", "question": "?"}
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.md").write_text(RESPONSES["A"], encoding="utf-8")
    (tmp_path / "out" / "b.pdf").write_bytes(make_pdf("Measure the hit rate first, then size the cache."))
    rows = [
        {"id": "1", **row, "target_model": "model-a", "response_path": "out/a.md"},
        {"id": "2", **row, "target_model": "model-b", "response_path": "out/b.pdf"},
        {"id": "3", **row, "target_model": "model-c", "response_path": "out/b.pdf"},
    ]
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    replies = []
    for one, quote in zip(rows, ("先测量命中率", "size the cache", "restart every night"), strict=True):
        reply = cross_reply({**one, "output_id": one["response_path"][4:]}, "j")
        for item in reply["evidence"]:
            item["quote"] = quote
        replies.append(recorded(one, "j", reply))
    write_jsonl(tmp_path / "replies.jsonl", replies)

    done = judge(tmp_path, "outputs.jsonl", "--judge", "replay:replies.jsonl")

    assert done.returncode == 0, done.stderr
    rows_out = exported(tmp_path)
    assert [rows_out[key]["status"] for key in "123"] == ["valid", "valid", "invalid"]
    assert set(rows_out["3"]["flags"]) == {"PROTOCOL_VIOLATION"}
    assert "1 invalid: PROTOCOL_VIOLATION: " in done.stderr
    assert "(sample 3)" in done.stderr
    manifest = json.loads((tmp_path / "ws" / "runs" / "r" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["dataset"]["response_files"]["count"] == 3


def test_a_changed_output_is_another_run(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(RESPONSES["A"], encoding="utf-8")
    row = {**outputs()[0], "response": None, "response_path": "a.md", "output_id": "a.md"}
    write_jsonl(tmp_path / "outputs.jsonl", [row])
    write_jsonl(tmp_path / "replies.jsonl", [recorded(row, "j", cross_reply(row, "j"))])
    first = judge(tmp_path, "outputs.jsonl", "--judge", "replay:replies.jsonl")
    (tmp_path / "a.md").write_text("别的内容，先测量命中率。", encoding="utf-8")

    again = judge(tmp_path, "outputs.jsonl", "--judge", "replay:replies.jsonl")

    assert first.returncode == 0, first.stderr
    assert again.returncode == 2
    assert "was started with another dataset" in the_one_line(again)


def test_what_is_wrong_is_said_for_each_record(tmp_path: Path) -> None:
    """At the end of the run, in JSON, by show and in the export."""
    rows = outputs()
    replies = [recorded(row, "j", cross_reply(row, "j")) for row in rows]
    replies[0] = recorded(rows[0], "j", "对不起，我无法评价这个回答。")
    replies[1] = recorded(rows[1], "j", {**cross_reply(rows[1], "j"), "verdict": "FAIL"})
    del replies[2]
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    write_jsonl(tmp_path / "replies.jsonl", replies)

    done = judge(tmp_path, "outputs.jsonl", "--judge", "replay:replies.jsonl", "--json")

    assert done.returncode == 4
    unusable = json.loads(done.stdout)["unusable"]
    assert [(one["id"], one["status"]) for one in unusable] == [
        (rows[0]["id"], "invalid"),
        (rows[1]["id"], "invalid"),
        (rows[2]["id"], "missing"),
    ]
    assert unusable[0]["why"][0].startswith("JUDGE_REFUSAL_OR_EVASION: ")
    assert unusable[1]["why"][0].startswith("INTERNAL_INCONSISTENCY: ")
    assert unusable[2]["why"] == [f"no recorded reply for id {rows[2]['id']!r}"]
    assert "1 invalid: INTERNAL_INCONSISTENCY: " in done.stderr
    assert f"(sample {rows[1]['id']})" in done.stderr
    # Asking a file again brings nothing: what helps is said instead.
    assert "1 reply is missing: nothing is recorded for these samples; add the replies to the file" in done.stderr
    shown = mixseek_here("show", rows[1]["id"], "-w", "ws", cwd=tmp_path)
    assert "INTERNAL_INCONSISTENCY" in shown.stdout
    assert exported(tmp_path)[rows[1]["id"]]["flag_details"] == [unusable[1]["why"][0].split(": ", 1)[1]]


def test_what_is_wrong_for_one_reason_is_one_line_and_a_run_without_a_number_is_no_success(tmp_path: Path) -> None:
    """Before the result, which comes last; and in one line even where nobody wants to hear of progress."""
    rows = outputs(questions=8)
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    write_jsonl(tmp_path / "replies.jsonl", [recorded(row, "j", "no") for row in rows])

    done = judge(tmp_path, "outputs.jsonl", "--judge", "replay:replies.jsonl")
    quiet = judge(tmp_path, "outputs.jsonl", "--judge", "replay:replies.jsonl", "--quiet")

    (line,) = [line for line in done.stderr.splitlines() if line.startswith(f"mixseek: {len(rows)} invalid: ")]
    assert line.endswith(f"(such as {rows[0]['id']})")
    assert len(done.stderr.splitlines()) <= 4
    assert f"no valid judgment among {len(rows)} judgments; the commonest reason: {len(rows)} invalid: " in quiet.stderr
    assert len(quiet.stderr.splitlines()) == 1
    assert (done.returncode, quiet.returncode) == (1, 1)


def test_the_result_is_the_last_thing_on_a_terminal(tmp_path: Path) -> None:
    """What could not be used is said before it, in few lines: nobody scrolls up to find out how it went."""
    rows = outputs(questions=8)
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    texts = ["no" if number % 2 else json.dumps(cross_reply(row, "j")) for number, row in enumerate(rows)]
    write_jsonl(tmp_path / "replies.jsonl", [recorded(row, "j", text) for row, text in zip(rows, texts, strict=True)])
    words = ("judge", "outputs.jsonl", "--protocol", "cross", "--judge", "replay:replies.jsonl", "-w", "ws")
    done = subprocess.run(
        [COMMAND, *words], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True
    )
    lines = done.stdout.decode().splitlines()

    assert lines[0].startswith("mixseek: 16 invalid: UNPARSABLE_OUTPUT: ")
    assert "32 samples" in lines[1]
    assert all(line.startswith("  ") for line in lines[2:])
    assert any(line.split()[:2] == ["invalid", "16"] for line in lines[2:])


def test_replies_without_their_outputs_need_another_policy(tmp_path: Path) -> None:
    """Quotes cannot be verified in a text that nobody has; that they are there can."""
    rows = outputs()
    replies = [{"id": row["id"], "judge_model": "j", "reply": json.dumps(cross_reply(row, "j"))} for row in rows]
    bare = cross_reply(rows[1], "j")
    bare["evidence"] = bare["evidence"][:2]
    replies[1]["reply"] = json.dumps(bare)
    write_jsonl(tmp_path / "replies.jsonl", replies)

    refused = judge(tmp_path, "replies.jsonl", "--judge", "replay")
    done = judge(tmp_path, "replies.jsonl", "--judge", "replay", "--parameter", "evidence.policy=present", "--json")

    assert refused.returncode == 2
    said = the_one_line(refused)
    assert "replies.jsonl: line 1: no `response`, and the cross protocol looks for every quote in it" in said
    assert "--parameter evidence.policy=present" in said
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert [one["id"] for one in summary["unusable"]] == [rows[1]["id"]]
    assert exported(tmp_path)[rows[0]["id"]]["target_model"] == rows[0]["target_model"]


def test_a_bundle_is_checked_entry_by_entry(tmp_path: Path) -> None:
    """As the dataset itself, and beside the outputs it is about."""
    rows = outputs()
    entries = [cross_reply(row, "j") for row in rows]
    entries[1]["scores"]["overall_score"] = 1
    entries.append({**cross_reply(rows[0], "j"), "meta": {**entries[0]["meta"], "output_id": "Q9.md"}})
    (tmp_path / "bundle.json").write_text(json.dumps({"per_file": entries}, ensure_ascii=False), encoding="utf-8")
    write_jsonl(tmp_path / "outputs.jsonl", [*rows, {**rows[0], "id": "alone", "output_id": "alone.md"}])

    beside = judge(tmp_path, "outputs.jsonl", "--judge", "replay:bundle.json", "--bundles", "--json")
    assert beside.returncode == 4, beside.stderr
    found = exported(tmp_path)
    itself = mixseek_here(
        *("judge", "bundle.json", "--protocol", "cross", "--judge", "replay", "--bundles", "-w", "ws", "--json"),
        *("--parameter", "evidence.policy=present"),
        cwd=tmp_path,
    )

    assert [found[row["id"]]["status"] for row in rows] == ["valid", "invalid", *["valid"] * 6]
    assert (found["alone"]["status"], found["alone"]["reason"]) == (
        "missing",
        "no entry of the bundle is about id 'alone'",
    )
    assert "replay:bundle.json: 1 reply is about no sample here: 'Q9.md' (bundle.json)" in beside.stderr
    assert json.loads(beside.stdout)["unmatched_replies"] == {
        "replay:bundle.json": {"count": 1, "first": ["'Q9.md' (bundle.json)"]}
    }
    assert itself.returncode == 0, itself.stderr
    assert json.loads(itself.stdout)["counts"]["valid"] == 8
    assert [one["id"] for one in json.loads(itself.stdout)["unusable"]] == ["Q1_A_model-b.md"]


def test_an_entry_that_was_matched_without_case_is_accepted(tmp_path: Path) -> None:
    """By the rule that brought entry and sample together; a reply that is no bundle has to keep to the letter."""
    rows = outputs()

    def shouted(entry: dict[str, Any]) -> dict[str, Any]:
        names = {name: entry["meta"][name].upper() for name in ("output_id", "question_id", "prompt_variant")}
        return {**entry, "meta": {**entry["meta"], **names, "target_model": entry["meta"]["target_model"].title()}}

    entries = [shouted(cross_reply(row, "j")) for row in rows]
    (tmp_path / "bundle.json").write_text(json.dumps({"per_file": entries}, ensure_ascii=False), encoding="utf-8")
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    write_jsonl(tmp_path / "lines.jsonl", [recorded(row, "j", one) for row, one in zip(rows, entries, strict=True)])

    bundled = judge(tmp_path, "outputs.jsonl", "--judge", "replay:bundle.json", "--bundles", "--json")
    found = exported(tmp_path)
    checked = mixseek_here("archive", "-w", "ws", "--to", "out", cwd=tmp_path)
    again = mixseek_here("archive", "--check", "out", cwd=tmp_path)
    lines = judge(tmp_path, "outputs.jsonl", "--judge", "replay:lines.jsonl", "--run", "lines", "--json")

    assert bundled.returncode == 0, bundled.stderr
    assert {found[row["id"]]["status"] for row in rows} == {"valid"}
    assert checked.returncode == again.returncode == 0, again.stdout
    assert json.loads(lines.stdout)["counts"]["valid"] == 0


def test_semantic_entries_are_accepted_without_case_too(tmp_path: Path) -> None:
    good = {"is_correct": True, "extracted_answer": "4", "reasoning_score": 5, "error_type": "none", "comment": "ok"}
    (tmp_path / "batch.json").write_text(json.dumps([{"id": "Sum 1", **good}]), encoding="utf-8")
    row = {"id": "sum_1", "question": "2+2?", "response": "The answer is 4.", "ground_truth": "4"}
    write_jsonl(tmp_path / "data.jsonl", [row])
    done = mixseek_here(
        *("judge", "data.jsonl", "--judge", "replay:batch.json", "--bundles", "-w", "ws", "--json"), cwd=tmp_path
    )

    assert json.loads(done.stdout)["counts"]["valid"] == 1, done.stdout


def test_a_wrong_parameter_is_one_line(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "outputs.jsonl", outputs())

    done = judge(tmp_path, "outputs.jsonl", "--judge", "replay", "--parameter", "evidence.polcy=off")

    assert done.returncode == 2
    assert "evidence.polcy" in the_one_line(done)


def test_parameters_are_part_of_the_hash(tmp_path: Path) -> None:
    """Runs under other thresholds are never mixed."""
    rows = outputs()
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    write_jsonl(tmp_path / "replies.jsonl", [recorded(row, "j", cross_reply(row, "j")) for row in rows])
    judge(tmp_path, "outputs.jsonl", "--judge", "replay:replies.jsonl")

    other = judge(
        *(tmp_path, "outputs.jsonl", "--judge", "replay:replies.jsonl"), "--parameter", "verdict.rules.PASS.at_least=8"
    )

    assert other.returncode == 2
    assert "was started with another protocol" in the_one_line(other)


def test_a_list_of_semantic_replies_is_checked_without_its_responses(tmp_path: Path) -> None:
    """The second protocol that looks into the judged text has a word for not looking, too."""
    good = {"is_correct": True, "extracted_answer": "4", "reasoning_score": 5, "error_type": "none", "comment": "ok"}
    entries = [{"id": 1, **good}, {"id": 2, **good, "reasoning_score": 3}]
    (tmp_path / "batch.json").write_text(json.dumps(entries), encoding="utf-8")
    arguments = ("judge", "batch.json", "--judge", "replay", "--bundles", "-w", "ws", "--json")

    refused = mixseek_here(*arguments, cwd=tmp_path)
    done = mixseek_here(*arguments, "--parameter", "extraction_policy=off", cwd=tmp_path)

    assert refused.returncode == 2
    assert "--parameter extraction_policy=off" in the_one_line(refused)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["valid"] == 1
    assert [one["id"] for one in json.loads(done.stdout)["unusable"]] == ["2"]


WRAPPERS = {
    "a list of one": lambda reply: [reply],
    "results": lambda reply: {"results": [reply]},
    "a bundle": lambda reply: {"per_file": [reply, {**reply, "meta": {**reply["meta"], "output_id": "Q9.md"}}]},
}


@pytest.mark.parametrize("protocol", ["cross", "semantic"])
@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=list(WRAPPERS))
def test_replay_judges_a_wrapped_reply_as_a_live_judge_would_be_judged(
    tmp_path: Path, wrap: Any, protocol: str
) -> None:
    """Exactly one object is asked for, by itself; and no reply gives another sample a verdict."""
    first, second = outputs()[:2]
    verdict = {"meta": {}, "id": 1, "is_correct": True, "extracted_answer": "4", "reasoning_score": 5}
    verdict |= {"error_type": "none", "comment": "", "output_id": second["output_id"]}
    reply = cross_reply(second, "j") if protocol == "cross" else verdict
    write_jsonl(tmp_path / "outputs.jsonl", [{**row, "ground_truth": "4"} for row in (first, second)])
    write_jsonl(tmp_path / "r.jsonl", [{"id": first["id"], "reply": json.dumps(wrap(reply)), "judge_model": "j"}])

    done = mixseek_here(
        *("judge", "outputs.jsonl", "--protocol", protocol, "--judge", "replay:r.jsonl", "-w", "ws", "--run", "r"),
        "--json",
        cwd=tmp_path,
    )

    assert done.returncode == 4, done.stderr
    assert json.loads(done.stdout)["counts"] == {"valid": 0, "invalid": 1, "undecided": 0, "missing": 1}
    found = exported(tmp_path)
    assert found[first["id"]]["flags"][0] == "PROTOCOL_VIOLATION"
    assert found[second["id"]]["status"] == "missing"


def test_replies_with_unknown_ids_are_counted_and_named(tmp_path: Path) -> None:
    """On stderr, the first few; in the JSON with their number; again when the finished run is shown."""
    rows = outputs()
    replies = [{"id": row["id"], "reply": json.dumps(cross_reply(row, "j")), "judge_model": "j"} for row in rows]
    strangers = [{"id": f"nobody-{n}", "reply": "{}"} for n in range(7)]
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    write_jsonl(tmp_path / "r.jsonl", [*strangers[:4], *replies, *strangers[4:]])

    done = judge(tmp_path, "outputs.jsonl", "--judge", "replay:r.jsonl", "--limit", "3", "--json")
    again = judge(tmp_path, "outputs.jsonl", "--judge", "replay:r.jsonl", "--limit", "3", "--json")

    assert done.returncode == again.returncode == 0, done.stderr
    first = [f"'nobody-{n}'" for n in range(5)]
    for one in (done, again):
        assert f"replay:r.jsonl: 7 replies are about no sample here: {', '.join(first)} and 2 more" in one.stderr
        assert json.loads(one.stdout)["unmatched_replies"] == {"replay:r.jsonl": {"count": 7, "first": first}}
