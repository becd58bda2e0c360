"""What the README says: everything can be tried on `serve-mock`, from the command line, without a key."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.flows.live import KEYS
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here

from mixseek.testing.mock_replies import Fault
from mixseek.testing.mock_server import MockOptions

RUBRIC = "task_type: fact\n\n## Critical Fail Conditions\n- Names no river.\n"
ROWS = [
    {
        "id": f"s{number}",
        "question": f"Why is the sea salty ({number})?",
        "response": f"Rivers carry salt into the sea, and it stays when water leaves it; that is reason {number}.",
        "ground_truth": "rivers carry salt into it",
        "question_id": f"Q{number}",
        "prompt_variant": "A",
        "target_model": "writer-1",
        "output_id": f"o{number}",
        "task_name": "sea",
        "rubric": RUBRIC,
    }
    for number in range(8)
]
RACE = """
task = "Why is the sea salty?"
language = "{language}"
[[teams]]
id = "brief"
model = "{spec}"
instructions = "You are brief."
[[teams]]
id = "plain"
model = "{spec}"
[evaluator]
judge = "{judge}"
[[evaluator.metrics]]
type = "Coverage"
[[evaluator.metrics]]
type = "semantic"
options = {{ground_truth = "rivers carry salt into it"}}
[[evaluator.metrics]]
type = "cross"
options = {{question_id = "Q1", prompt_variant = "A"}}
[[evaluator.metrics]]
type = "rubric"
options = {{rubric_file = "rubric.md", task_name = "sea"}}
[[evaluator.metrics]]
type = "protocol:helpdesk.toml"
[judgment]
judge = "{spec}"
[rounds]
min = 1
max = 3
"""


def run(cwd: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = mixseek_here(*arguments, "-w", "ws", "--json", cwd=cwd, env=KEYS)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
@pytest.mark.parametrize("protocol", ["semantic", "cross", "rubric", "helpdesk.toml"])
def test_every_protocol_can_be_tried_on_the_mock(protocol: str, language: str, tmp_path: Path) -> None:
    """Every reply is valid, over either wire format, in every language, for a protocol of one's own as well."""
    without = {} if protocol == "rubric" else {"rubric": None}
    text = "".join(json.dumps({**row, **without}) + "\n" for row in ROWS)
    (tmp_path / "data.jsonl").write_text(text, encoding="utf-8")
    mixseek_here("protocol", "new", "helpdesk.toml", cwd=tmp_path)
    declared = tmp_path / "helpdesk.toml"
    text = declared.read_text(encoding="utf-8").replace('languages = ["en"]', 'languages = ["en", "ja", "zh"]')
    declared.write_text(text, encoding="utf-8")
    wire = "anthropic" if language == "ja" else "openai"
    with loopback() as mock:
        how = ("--protocol", protocol, "--language", language, "--judge", f"{wire}:mock@{mock.base_url}")
        code, document = run(tmp_path, "judge", "data.jsonl", *how)

    assert (code, document["counts"]) == (0, {"valid": len(ROWS), "invalid": 0, "undecided": 0, "missing": 0}), document


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_a_race_with_every_kind_of_metric_can_be_tried_on_the_mock(language: str, tmp_path: Path) -> None:
    """Teams, metrics, protocols and opinions, in the language of the race; again elsewhere, the same first round.

    Once is enough for that: no language makes it another.
    """
    mixseek_here("protocol", "new", "helpdesk.toml", cwd=tmp_path)
    (tmp_path / "rubric.md").write_text(RUBRIC, encoding="utf-8")
    boards = []
    with loopback() as mock:
        spec, judge = f"openai:mock@{mock.base_url}", f"openai:critic@{mock.base_url}"
        text = RACE.format(spec=spec, judge=judge, language=language)
        (tmp_path / "race.toml").write_text(text, encoding="utf-8")
        for name in ("first", "second") if language == "en" else ("first",):
            done = mixseek_here("compete", "race.toml", "-w", name, "--json", cwd=tmp_path, env=KEYS)
            assert done.returncode == 0, done.stderr
            boards.append(json.loads(done.stdout))
    teams, again = boards[0]["teams"], boards[-1]["teams"]

    assert boards[0]["evaluations"]["invalid"] == boards[0]["evaluations"]["missing"] == 0
    assert [team["rank"] for team in teams] == [1, 2]
    assert all(entry["opinion"]["reasoning"] for team in teams for entry in team["rounds"])
    # Later rounds show the leader board, and with it who was quicker.
    assert {team["team_id"]: first_round(team) for team in teams} == {
        team["team_id"]: first_round(team) for team in again
    }


def first_round(team: dict[str, Any]) -> tuple[float, str]:
    return team["rounds"][0]["score"], team["rounds"][0]["submission"]


def test_a_judge_that_contradicts_itself_leaves_rounds_unscored_until_it_is_asked_again(tmp_path: Path) -> None:
    """Exit 1 with the reason, and not 4; then the same race on a judge that has come to its senses."""
    mixseek_here("protocol", "new", "helpdesk.toml", cwd=tmp_path)
    (tmp_path / "rubric.md").write_text(RUBRIC, encoding="utf-8")
    with loopback(MockOptions(fault_rate=1.0, faults=(Fault.INCONSISTENT,))) as broken:
        port, spec = broken.server.port, f"openai:mock@{broken.base_url}"
        text = RACE.format(spec=spec, judge=f"openai:critic@{broken.base_url}", language="en")
        (tmp_path / "race.toml").write_text(text, encoding="utf-8")
        done = mixseek_here("compete", "race.toml", "-w", "ws", cwd=tmp_path, env=KEYS)
    with loopback(port=port):
        healed = mixseek_here("compete", "race.toml", "-w", "ws", "--retry-invalid", "--json", cwd=tmp_path, env=KEYS)

    assert done.returncode == 1
    assert "no round got a score; the commonest reason: the judge's reply is invalid (INTERNAL_INCONS" in done.stderr
    assert "run the same command again" not in done.stderr
    assert healed.returncode == 0, healed.stderr
    assert json.loads(healed.stdout)["evaluations"]["invalid"] == 0
