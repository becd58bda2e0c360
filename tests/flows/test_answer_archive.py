"""Answers as files that can be checked again, and by the name that datasets have for them."""

import json
from pathlib import Path

from tests.flows.running import mixseek_here, read_jsonl, the_one_line, write_jsonl

QUESTIONS = [
    {"id": "tea", "question": "Is tea hot?", "ground_truth": "yes"},
    {"id": "ice", "question": "Is ice hot?", "ground_truth": "no"},
]
RECORDED = [
    {"id": "tea/A", "reply": "Yes."},
    {"id": "ice/A", "reply": "<think>Ice is", "finish_reason": "length"},
    {"id": "tea/B", "reply": "", "finish_reason": "content_filter"},
]


def ask(place: Path) -> None:
    """Four answers: one is finished, one cut off, one withheld, one not on record."""
    write_jsonl(place / "q.jsonl", QUESTIONS)
    write_jsonl(place / "wren.jsonl", RECORDED)
    (place / "a.md").write_text("{{ question }}")
    (place / "b.md").write_text("{{ question }} Say yes or no.")
    words = ("answer", "q.jsonl", "--target", "replay:wren.jsonl", "--variant", "A=a.md", "--variant", "B=b.md")
    mixseek_here(*words, "--run", "spring", "-w", "ws", "--quiet", cwd=place)


def test_an_archive_of_answers_holds_rows_prompts_and_how_they_were_asked(tmp_path: Path) -> None:
    """And tells when a file was changed, taken away or added; given again it is replaced."""
    ask(tmp_path)
    done = mixseek_here("archive", "answers:spring", "-w", "ws", "--to", "kept", cwd=tmp_path)
    exported = mixseek_here("export", "answers:spring", "-w", "ws", "--to", "rows.jsonl", cwd=tmp_path)
    kept = tmp_path / "kept"

    assert (done.returncode, exported.returncode) == (0, 0), done.stderr
    assert "answers spring: 4 answers to 4 prompts" in done.stdout
    assert (kept / "answers.jsonl").read_bytes() == (tmp_path / "rows.jsonl").read_bytes()
    prompts = {row["id"]: row["messages"] for row in read_jsonl(kept / "prompts.jsonl")}
    assert prompts["tea/B"] == [{"role": "user", "content": "Is tea hot? Say yes or no."}]
    log = (kept / "run_log.md").read_text(encoding="utf-8")
    assert "| target / variant | cut_off | finished | no answer | withheld |" in log.replace("模型 / 提示词 ", "")
    assert "| wren / A | 1 | 1 | 0 | 0 |" in log
    assert "| wren / B | 0 | 0 | 1 | 1 |" in log
    assert json.loads((kept / "manifest.json").read_bytes())["run"] == "spring"

    def check() -> list[tuple[str, str]]:
        checked = mixseek_here("archive", "--check", "kept", "--json", cwd=tmp_path)
        document = json.loads(checked.stdout)
        assert checked.returncode == (0 if document["ok"] else 1)
        return [(problem["path"], problem["kind"]) for problem in document["problems"]]

    assert check() == []
    (kept / "answers.jsonl").write_text((kept / "answers.jsonl").read_text().replace("Yes.", "No."))
    (kept / "run_log.md").unlink()
    (kept / "more.jsonl").write_text("{}")
    assert check() == [("answers.jsonl", "changed"), ("run_log.md", "missing"), ("more.jsonl", "extra")]
    assert mixseek_here("archive", "answers:spring", "-w", "ws", "--to", "kept", cwd=tmp_path).returncode == 0
    assert check() == []


def test_answers_are_renamed_and_removed_by_the_name_that_datasets_have_for_them(tmp_path: Path) -> None:
    """`answers:NAME` is one thing, whatever else is called NAME."""
    ask(tmp_path)
    mixseek_here("judge", "answers:spring", "--judge", "rules", "--run", "spring", "-w", "ws", "-q", cwd=tmp_path)
    both = mixseek_here("runs", "rm", "spring", "-w", "ws", cwd=tmp_path)
    mixseek_here("archive", "answers:spring", "-w", "ws", cwd=tmp_path)
    moved = mixseek_here("runs", "mv", "answers:spring", "autumn", "-w", "ws", cwd=tmp_path)
    again = mixseek_here("archive", "answers:autumn", "-w", "ws", cwd=tmp_path)
    removed = mixseek_here("runs", "rm", "answers:autumn", "-w", "ws", cwd=tmp_path)

    assert "say which with --kind run or --kind answers" in the_one_line(both)
    assert [done.returncode for done in (moved, again, removed)] == [0, 0, 0], moved.stderr + again.stderr
    assert [path.name for path in (tmp_path / "ws" / "runs").iterdir()] == ["spring"]
    assert [path for path in (tmp_path / "ws" / "answers").iterdir() if path.is_dir()] == []
