"""What docs/jobs.md and docs/ci.md show is run here, to the letter."""

import json
import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

from tests.flows.live import KEYS
from tests.flows.pages import blocks, read_page, run_script, write_files
from tests.flows.running import mixseek_here

JOBS, CI = read_page("docs/jobs.md"), read_page("docs/ci.md")


def test_the_jobs_run_as_written_and_print_the_table(tmp_path: Path) -> None:
    write_files(JOBS, tmp_path)
    (table,) = blocks(JOBS, "text")
    printed = run_script("\n".join(blocks(JOBS, "sh")), tmp_path)

    def plain(text: str) -> list[list[str]]:
        return [line.split() for line in text.splitlines()]

    rows = plain(printed)
    assert all(row in rows for row in plain(table))
    assert (tmp_path / "april.html").is_file()
    assert len(ElementTree.fromstring((tmp_path / "junit.xml").read_bytes())) == 1  # noqa: S314 - our own file
    told = json.loads((tmp_path / "april.json").read_text(encoding="utf-8"))
    assert told["jobs"][0]["summary"]["baseline"] is not None


def test_every_key_and_command_of_the_page_is_valid(tmp_path: Path) -> None:
    """The example of a model, that of answers, and the two tables."""
    answers, model = blocks(JOBS, "toml")
    (tmp_path / "answers.toml").write_text(answers, encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text('{"question": "2 + 2?"}\n', encoding="utf-8")
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "a.md").write_text("{{ question }}", encoding="utf-8")
    asked = mixseek_here("run", "answers.toml", "--dry-run", cwd=tmp_path, env=KEYS)

    assert asked.returncode == 0, asked.stderr
    assert "8 answers to 1 question" in asked.stdout
    (tmp_path / "model.toml").write_text(model, encoding="utf-8")
    (tmp_path / "answers.jsonl").write_text('{"id": "a", "response": "4", "ground_truth": "4"}\n', encoding="utf-8")
    done = mixseek_here("run", "model.toml", "--dry-run", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    for cell in re.findall(r"\| `(map|parameter|judge|cascade) = ([^`]+)`", JOBS):
        tomllib.loads(" = ".join(cell))


def test_the_gate_and_its_summary_are_as_shown(tmp_path: Path) -> None:
    write_files(CI, tmp_path)
    run_script(blocks(CI, "sh")[0], tmp_path)
    shown = CI.split("````markdown\n", 1)[1].split("````", 1)[0]

    assert (tmp_path / "summary.md").read_text(encoding="utf-8").strip() == shown.strip()


def test_the_scripts_of_the_build_servers_work(tmp_path: Path) -> None:
    """GitLab's line and GitHub's job file, as their examples have them."""
    write_files(CI, tmp_path)
    gitlab = re.findall(r"^    - (mixseek .*)$", CI, re.MULTILINE)
    github = re.findall(r"^      - run: (mixseek .*)$", CI, re.MULTILINE)
    run_script("\n".join(gitlab), tmp_path)
    done = mixseek_here(*github[0].split()[1:], cwd=tmp_path, env={"GITHUB_STEP_SUMMARY": str(tmp_path / "step.md")})

    assert (len(gitlab), len(github)) == (1, 1)
    assert (tmp_path / "junit.xml").is_file()
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "step.md").read_text(encoding="utf-8").startswith("## ✅ mixseek: `answers`")
