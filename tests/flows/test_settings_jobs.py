"""Jobs and prompts in mixseek.toml: one file less for whoever has one already."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import mixseek_here, sums, the_one_line, write_jsonl

TWO_JOBS = """
workspace = "ws"
[judge]
judges = ["rules"]
[jobs.few]
data = "sums.jsonl"
limit = 3
[jobs.all]
data = "sums.jsonl"
fail_under = "99%"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "sums.jsonl", sums(10))
    (tmp_path / "mixseek.toml").write_text(TWO_JOBS, encoding="utf-8")
    return tmp_path


def run_json(place: Path, *words: str) -> tuple[int, dict[str, Any]]:
    done = mixseek_here("run", *words, "--json", "-q", cwd=place)
    return done.returncode, json.loads(done.stdout)


def test_run_needs_no_file(place: Path) -> None:
    """All jobs in the order of mixseek.toml, with its other settings."""
    code, document = run_json(place)

    assert (code, document["file"]) == (1, "mixseek.toml")
    assert [(job["name"], job["summary"]["samples"]) for job in document["jobs"]] == [("few", 3), ("all", 10)]
    assert document["jobs"][0]["summary"]["workspace"] == "ws"


def test_a_name_alone_is_a_job_of_mixseek_toml(place: Path) -> None:
    """And a file that is named is that file, whatever it holds."""
    code, document = run_json(place, "few")
    (place / "other.toml").write_text('data = "sums.jsonl"\nlimit = 2\n', encoding="utf-8")
    _, other = run_json(place, "other.toml")

    assert (code, [job["name"] for job in document["jobs"]]) == (0, ["few"])
    assert [(job["name"], job["summary"]["samples"]) for job in other["jobs"]] == [("other", 2)]


def test_other_commands_do_not_mind_jobs(place: Path) -> None:
    """The table is one of the settings."""
    done = mixseek_here("judge", "sums.jsonl", "--json", "-q", cwd=place)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("settings", "words", "line"),
    [
        (TWO_JOBS, ("fwe",), "mixseek.toml: no job 'fwe'; did you mean 'few'?"),
        (TWO_JOBS + "limits = 3\n", (), "mixseek.toml: [jobs.all]: unknown key 'limits'; did you mean 'limit'?"),
        ('workspace = "ws"\n', (), "mixseek.toml: no [jobs.NAME] in it; write one, or name a file"),
        ("[jobs]\nfew = 3\n", (), "mixseek.toml: jobs: write each job as a table of its own, [jobs.NAME]"),
        (None, (), "no job file is named, and there is no mixseek.toml here"),
        (None, ("few",), "few: "),
        (TWO_JOBS, ("absent.toml",), "absent.toml: "),
    ],
)
def test_a_slip_is_one_line(settings: str | None, words: tuple[str, ...], line: str, tmp_path: Path) -> None:
    """With the file and what to do."""
    if settings is not None:
        (tmp_path / "mixseek.toml").write_text(settings, encoding="utf-8")
    done = mixseek_here("run", *words, cwd=tmp_path)

    assert done.returncode == 2
    assert line in the_one_line(done)
