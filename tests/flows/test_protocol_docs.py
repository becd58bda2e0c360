"""What docs/protocols.md shows is run here, and what it lists is complete."""

import re
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel
from tests.flows.pages import blocks, read_page, run_script, section
from tests.flows.running import mixseek_here, read_jsonl
from tests.unit.protocols.prompt_attacks import ATTACKS

from mixseek.protocols.rubric import lint_task_rubric
from mixseek.protocols.scored.parameters import ScoredParameters
from mixseek.protocols.scored.prompt import VARIABLES

PAGE = read_page("docs/protocols.md")


def test_the_example_runs_as_written_and_gives_what_the_table_says(tmp_path: Path) -> None:
    """A protocol with a gate, weights and evidence: new, edit, lint, judge."""
    (script,) = blocks(PAGE, "sh")
    run_script(script, tmp_path)

    assert (tmp_path / "report.html").is_file()
    rows = {row["id"]: row for row in read_jsonl(tmp_path / "judgments.jsonl")}
    promised = re.findall(r"^\| (q\d) \| (\w+), `?(\w+)`?(?:, score ([\d.]+))? \|", PAGE, re.MULTILINE)
    assert len(promised) == len(rows) == 5
    for name, status, word, score in promised:
        row = rows[name]
        assert row["status"] == status
        assert word in ((row["verdict"],) if status == "valid" else row["flags"])
        assert row["score"] == (float(score) if score else None)
    assert "repeats a verdict that stands in the judged text" in str(rows["q5"])
    assert "the scores add up to 94" in str(rows["q3"])


def test_every_template_variable_is_explained() -> None:
    named = set(re.findall(r"`(\w+)`", section(PAGE, "Templates").split("| holds |")[1]))

    assert set(VARIABLES) <= named


def test_questions_are_declared_as_the_page_shows(tmp_path: Path) -> None:
    """And `protocol show` has them in the words of the declaration, below the prompt."""
    mixseek_here("protocol", "new", "helpdesk.toml", cwd=tmp_path)
    file = tmp_path / "helpdesk.toml"
    (declared,) = [block for block in blocks(PAGE, "toml") if "[decisions." in block]
    dimension = re.findall(r"^\[parameters\.dimensions\.(\w+)\]", file.read_text(encoding="utf-8"), re.MULTILINE)[0]
    # Evidence is demanded in the file to begin with.
    text = re.sub(r'^policy = "\w+"', 'policy = "off"', file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    file.write_text(f"{text}\n{declared.replace('tone', dimension)}", encoding="utf-8")
    linted = mixseek_here("protocol", "lint", "helpdesk.toml", cwd=tmp_path)
    shown = mixseek_here("protocol", "show", "helpdesk.toml", cwd=tmp_path)

    assert linted.returncode == 0, linted.stdout
    assert f"{dimension} (levels): How kind is the letter to its reader?" in shown.stdout
    assert "  2: warm" in shown.stdout


def keys_of(annotation: Any) -> set[str]:
    """Every key that a table may have, also inside tables of tables."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields
        return set(fields).union(*(keys_of(field.annotation) for field in fields.values()))
    if get_origin(annotation) is dict:
        return keys_of(get_args(annotation)[1])
    return set()


def test_every_key_of_a_declaration_is_explained() -> None:
    text = section(PAGE, "What can be declared")
    families = keys_of(ScoredParameters.model_fields["families"].annotation)

    assert sorted(key for key in keys_of(ScoredParameters) - families if not re.search(rf"\b{key}\b", text)) == []


def test_the_task_rubric_that_is_shown_lints_clean() -> None:
    (rubric,) = blocks(PAGE, "markdown")

    assert lint_task_rubric(rubric, "tea.md") == []


def test_the_number_of_attacks_is_the_one_that_is_told() -> None:
    assert len(ATTACKS) == 94
    assert "Ninety-four attacks" in PAGE


FAULTS = {
    "maximum = 4": "maximun = 4",
    "clarity = 4 }": "clarity = 5 }",
    "at_most = 40": "at_most = 74",
}


@pytest.mark.parametrize("old", FAULTS)
def test_the_complaints_that_are_shown_are_those_of_the_lint(old: str, tmp_path: Path) -> None:
    """Line numbers included."""
    file = tmp_path / "helpdesk.toml"
    mixseek_here("protocol", "new", "helpdesk.toml", cwd=tmp_path)
    file.write_text(file.read_text(encoding="utf-8").replace(old, FAULTS[old]), encoding="utf-8")
    done = mixseek_here("protocol", "lint", "helpdesk.toml", cwd=tmp_path)
    shown = [line for line in blocks(PAGE, "text")[0].splitlines() if line in done.stdout.splitlines()]

    assert done.returncode == 1
    assert len(shown) == 1
