"""`mixseek compete` where a judge is one of the teams: its own scores are shown apart and rank nobody (seed 003 §1)."""

import json
from pathlib import Path

import pytest
from tests.flows.arena import Arena, arena, compete, document, write
from tests.flows.live import KEYS
from tests.flows.running import mixseek_here, the_one_line

RACE = """
task = "Write something good."
language = "en"
[[teams]]
id = "player"
model = "{player}"
instructions = "You are team player."
[[teams]]
id = "other"
model = "{other}"
instructions = "You are team other."
[evaluator]
{allow}
[[evaluator.metrics]]
type = "Coverage"
judge = "{first}"
[[evaluator.metrics]]
type = "Relevance"
judge = "{second}"
[rounds]
min = 2
max = 2
"""
ALLOWED = "allow_self = true"


def race(first: str, second: str, *, player: str = "openai:m1", other: str = "openai:m2", allow: str = "") -> str:
    return RACE.format(first=first, second=second, player=player, other=other, allow=allow)


def at(endpoint: Arena, model: str) -> str:
    return f"openai:{model}@{endpoint.base_url}"


def played(endpoint: Arena, first: str, second: str, *, other: str = "m2", allow: str = "") -> str:
    """A race at the endpoint; the team `player` is the model m1."""
    names = (at(endpoint, model) for model in (first, second, "m1", other))
    first, second, player, other = names
    return race(first, second, player=player, other=other, allow=allow)


def test_a_team_that_judges_itself_is_shown_apart_and_not_ranked(tmp_path: Path) -> None:
    """One of its two judges is its own model: its score is kept, on every view, and takes no place."""
    with arena() as endpoint:
        write(tmp_path, played(endpoint, "m1", "m3"))
        done = compete(tmp_path)
        again = document(compete(tmp_path, "--json"))
        prompts = "\n".join(endpoint.texts)
    board = mixseek_here("leaderboard", "-w", "ws", "--to", "board.html", cwd=tmp_path)
    page = (tmp_path / "board.html").read_text(encoding="utf-8")
    teams = {team["team_id"]: team for team in again["teams"]}

    assert done.returncode == 0, done.stderr
    assert [team["team_id"] for team in again["teams"]] == ["other", "player"]
    assert (teams["other"]["rank"], teams["other"]["is_self_judged"]) == (1, False)
    assert (teams["player"]["rank"], teams["player"]["is_self_judged"]) == (None, True)
    assert teams["player"]["best_score"] == max(entry["score"] for entry in teams["player"]["rounds"])
    assert [
        (line["name"], line["is_self_judged"]) for entry in teams["player"]["rounds"] for line in entry["metrics"]
    ] == [("Coverage", True), ("Relevance", False)] * 2
    assert not any(line["is_self_judged"] for entry in teams["other"]["rounds"] for line in entry["metrics"])
    for shown in (done.stdout, board.stdout):
        ranked, _, apart = shown.partition("Scored by their own model  a control: shown apart, not ranked")
        assert "other" in ranked
        assert "player" not in ranked
        assert "player" in apart
    assert "rounds scored by the team's own model: 2; shown apart, not ranked" in done.stderr
    assert "by its own model: shown apart, not ranked" in done.stderr
    assert "a control: shown apart, not ranked" in page
    assert "scored by its own model, not ranked" in page
    # Nor does a team read in its prompt that it is beaten by a score of that kind.
    assert "| 1 | **other**" in prompts
    assert "| 1 | player" not in prompts
    assert "| 1 | **player**" not in prompts


def test_a_dry_run_says_who_judges_itself(tmp_path: Path) -> None:
    """By the models' names, whatever they are called here; and so does the race itself before it begins."""
    judges = '[judges.boss]\nprovider = "openai"\nmodel = "m1-2026-01-05"\n'
    write(tmp_path, race("boss", "openai:m3") + judges)
    done = compete(tmp_path, "--dry-run")
    found = document(compete(tmp_path, "--dry-run", "--json"))

    assert done.returncode == 0, done.stderr
    said = "team player: its own model judges Coverage; its scores are shown apart and rank nobody"
    assert f"note: {said}" in done.stdout
    assert found["self_judged"] == {"player": ["Coverage"]}
    assert found["remarks"] == [said]


@pytest.mark.parametrize("judges", [("openai:m1", "openai:m1"), ("openai:m1", "openai:m2")])
def test_a_race_whose_every_judge_is_a_team_is_refused(judges: tuple[str, str], tmp_path: Path) -> None:
    """Before anything is asked or written, with what would help; a declaration lifts it."""
    write(tmp_path, race(*judges))
    for more in (("--dry-run",), ()):
        done = compete(tmp_path, *more)

        assert done.returncode == 2
        assert "is itself a team (player" in the_one_line(done)
        assert "or write allow_self = true under [evaluator]" in the_one_line(done)
        assert not (tmp_path / "ws").exists()
    write(tmp_path, race(*judges, allow=ALLOWED))
    allowed = compete(tmp_path, "--dry-run")

    assert allowed.returncode == 0, allowed.stderr
    assert "team player: its own model judges Coverage" in allowed.stdout


def test_a_declared_self_judge_ranks_the_others(tmp_path: Path) -> None:
    """`allow_self` lets the race be played; what is the judge's own stays apart."""
    with arena() as endpoint:
        write(tmp_path, played(endpoint, "m1", "m1", allow=ALLOWED))
        teams = document(compete(tmp_path, "--json"))["teams"]

    assert [(team["team_id"], team["rank"], team["is_self_judged"]) for team in teams] == [
        ("other", 1, False),
        ("player", None, True),
    ]


def test_a_race_of_nothing_but_self_judges_has_scores_and_no_winner(tmp_path: Path) -> None:
    """Exit 0: it was declared. A gate on the best score has nothing to hold on to."""
    with arena() as endpoint:
        write(tmp_path, played(endpoint, "m1", "m1", other="m1", allow=ALLOWED))
        done = compete(tmp_path)
        gated = compete(tmp_path, "--fail-under", "5")
        teams = document(compete(tmp_path, "--json"))["teams"]
    page = mixseek_here("leaderboard", "-w", "ws", "--to", "board.html", cwd=tmp_path)

    assert done.returncode == page.returncode == 0, done.stderr
    assert [team["rank"] for team in teams] == [None, None]
    assert teams[0]["best_score"] >= teams[1]["best_score"] > 0
    assert "no round got a score" not in done.stderr
    assert gated.returncode == 1
    assert "gate --fail-under not met: no team is ranked, under the limit of 5" in gated.stderr
    assert "No team is ranked" in (tmp_path / "board.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "metric",
    ['type = "semantic"\njudge = "rules"\noptions.ground_truth = "x"', 'type = "own:Half"\nname = "Relevance"'],
)
def test_whoever_judges_beside_the_team_keeps_the_race_going(metric: str, tmp_path: Path) -> None:
    """Rules and a metric without a judge are no team; the team's own scores stay apart."""
    write(
        tmp_path,
        "from mixseek.evaluator.metrics import BaseMetric\n\n\n"
        "class Half(BaseMetric):\n    async def evaluate(self, request):\n        return self.scored(50)\n",
        "own.py",
    )
    text = race("openai:m1", "openai:m1")
    second = 'type = "Relevance"\njudge = "openai:m1"'
    assert second in text
    write(tmp_path, text.replace(second, metric))
    done = compete(tmp_path, "--dry-run")

    assert done.returncode == 0, done.stderr
    assert "team player: its own model judges Coverage" in done.stdout


def test_what_was_begun_before_goes_on_once_it_is_declared(tmp_path: Path) -> None:
    """The declaration changes nothing that is asked, so it is the same execution."""
    names = []
    for allow in ("", ALLOWED):
        write(tmp_path, race("openai:m1", "openai:m3", allow=allow))
        done = mixseek_here("compete", "race.toml", "-w", "ws", "--dry-run", "--json", cwd=tmp_path, env=KEYS)
        names.append(json.loads(done.stdout)["execution"])

    assert names[0] == names[1]


def test_a_program_that_is_called_like_the_judge_is_the_judge(tmp_path: Path) -> None:
    """A team that is no model is known by its name, here as in every other judgment."""
    text = race("openai:gpt-5-mini", "openai:m3")
    team = 'id = "other"\nmodel = "openai:m2"\ninstructions = "You are team other."'
    assert team in text
    write(tmp_path, text.replace(team, 'id = "gpt-5-mini"\ncommand = ["echo", "Hello."]'))

    assert document(compete(tmp_path, "--dry-run", "--json"))["self_judged"] == {"gpt-5-mini": ["Coverage"]}
