"""`mixseek demo`: what a newcomer runs first."""

import json
from pathlib import Path

from tests.flows.running import mixseek, mixseek_here


def test_the_demo_judges_compares_and_reports(tmp_path: Path) -> None:
    """Offline, in a moment; rules and labels agree everywhere, and the report is where it says."""
    done = mixseek("demo", cwd=tmp_path)
    (report,) = (tmp_path / "demo-workspace" / "runs").glob("*/report.html")

    assert done.returncode == 0, done.stdout[-3000:]
    assert done.stderr == ""
    assert "Rules and labels disagree: nowhere." in done.stdout
    assert str(report.relative_to(tmp_path)) in done.stdout
    assert "mixseek judge " in done.stdout


def test_the_demo_is_data_too(tmp_path: Path) -> None:
    """At least 60 samples, three languages, every judgment traced to a rule; a second run shows the same."""
    first = json.loads(mixseek_here("demo", "--workspace", "w", "--json", cwd=tmp_path).stdout)
    second = json.loads(mixseek_here("demo", "--workspace", "w", "--json", cwd=tmp_path).stdout)
    lines = first["lines"]

    assert len(lines) >= 60
    assert {line["language"] for line in lines} == {"en", "ja", "zh"}
    assert first["disagreements"] == [line["id"] for line in lines if not line["agrees"]]
    assert all((line["ending"] is not None) == (line["verdict"] == "undecided") for line in lines)
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


def test_the_demo_can_be_gone_on_with(tmp_path: Path) -> None:
    """The next steps that it prints are commands that work."""
    printed = mixseek_here("demo", cwd=tmp_path).stdout
    steps = [line.split()[1:] for line in printed.splitlines() if line.startswith("  mixseek ")]
    steps = [[word for word in step if word != "--open"] for step in steps if "your-answers.jsonl" not in step]

    assert [step[0] for step in steps] == ["report", "show"]
    assert [mixseek_here(*step, cwd=tmp_path).returncode for step in steps] == [0, 0]
