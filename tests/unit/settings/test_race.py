"""`race.toml`: closed tables, one line for each mistake, the nearest key for each slip."""

from pathlib import Path

import pytest

from mixseek.errors import ConfigurationError
from mixseek.settings.race import Race, load_race

TEAM = '[[teams]]\nid = "a"\nmodel = "openai:x"\n'
METRIC = '[evaluator]\n[[evaluator.metrics]]\ntype = "Coverage"\n'
WHOLE = 'task = "t"\n' + TEAM + METRIC


def load(text: str, directory: Path) -> Race:
    path = directory / "race.toml"
    path.write_text(text, encoding="utf-8")
    return load_race(path)


def test_defaults_are_those_of_the_issue(tmp_path: Path) -> None:
    """Two to five rounds, no rule of no gain, no time limits, nobody who judges progress."""
    file = load(WHOLE, tmp_path).file

    assert (file.rounds.min, file.rounds.max, file.rounds.no_gain_rounds) == (2, 5, None)
    assert (file.rounds.round_timeout_seconds, file.rounds.team_timeout_seconds) == (None, None)
    assert file.judgment is None
    assert file.evaluator.on_missing == "continue"
    assert file.evaluator.metrics[0].shown_name == "Coverage"


def test_whole_numbers_are_numbers_wherever_a_number_is_asked_for(tmp_path: Path) -> None:
    """TOML tells 1 from 1.0; nobody who writes a weight does."""
    file = load(WHOLE + "weight = 1\n[rounds]\nround_timeout_seconds = 20\nmin_gain = 1", tmp_path).file

    assert file.evaluator.metrics[0].weight == 1.0
    assert (file.rounds.round_timeout_seconds, file.rounds.min_gain) == (20.0, 1.0)


def test_byte_order_marks_are_passed_over(tmp_path: Path) -> None:
    """Of the race and of the texts beside it."""
    (tmp_path / "task.md").write_text("\ufeffA task.", encoding="utf-8")

    assert load("\ufeff" + WHOLE, tmp_path).task == "t"
    assert load('\ufefftask_file = "task.md"\n' + TEAM + METRIC, tmp_path).task == "A task."


def test_long_texts_may_stand_in_files_beside_the_race(tmp_path: Path) -> None:
    """To the letter."""
    (tmp_path / "task.md").write_text("A long\ntask.", encoding="utf-8")
    (tmp_path / "role.md").write_text("A role.", encoding="utf-8")
    race = load('task_file = "task.md"\n' + TEAM + 'instructions_file = "role.md"\n' + METRIC, tmp_path)

    assert (race.task, race.instructions, race.name) == ("A long\ntask.", {"a": "A role."}, "race")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WHOLE + "[rounds]\nmim = 1", "unknown key 'rounds.mim'; did you mean 'min'?"),
        (WHOLE + "[round]\nmin = 1", "unknown key 'round'; did you mean 'rounds'?"),
        (WHOLE + "[rounds]\nxyz = 1", "unknown key 'rounds.xyz'; known keys here: max, min, "),
        (WHOLE + "wieght = 1", "unknown key 'evaluator.metrics.1.wieght'; did you mean 'weight'?"),
        ('task = "t"\n' + TEAM + 'modle = "x"\n' + METRIC, "unknown key 'teams.1.modle'; did you mean 'model'?"),
        (WHOLE + '[judgment]\njugde = "x"', "'judgment.judge' is missing"),
        (WHOLE + '[judges.x]\napi_key = "sk-secret"', "keys do not stand in files"),
        (WHOLE + "[judges.x]\ntemperatur = 1", "unknown key 'judges.x.temperatur'; did you mean 'temperature'?"),
        (WHOLE + "[rounds]\nmin = 6", "min is 6 and max is 5"),
        (WHOLE + "[rounds]\nmin = 0", "rounds.min: "),
        (WHOLE + '[rounds]\nmin = "two"', "rounds.min: "),
        (WHOLE + "[rounds]\nmin = true", "rounds.min: "),
        (WHOLE + '[rounds]\nmax = "5"', "rounds.max: "),
        (WHOLE + "[rounds]\nround_timeout_seconds = true", "rounds.round_timeout_seconds: "),
        (WHOLE + "weight = true", "evaluator.metrics.1.weight: "),
        (WHOLE + 'weight = "1"', "evaluator.metrics.1.weight: "),
        ('task = "t"\n' + TEAM + 'name = "  "\n' + METRIC, "team 'a': name is blank"),
        (WHOLE + "[rounds]\nround_timeout_seconds = 0", "rounds.round_timeout_seconds: "),
        (WHOLE + '[[evaluator.metrics]]\ntype = "Coverage"', "two metrics are called 'Coverage'"),
        (WHOLE + 'name = "judgment"', "give the metric another name"),
        (WHOLE + 'direction = "up"', "evaluator.metrics.1.direction: "),
        (TEAM + METRIC, "give the task either as task or as task_file"),
        ('task_file = "x"\n' + WHOLE, "give the task either as task or as task_file"),
        ('task = " "\n' + TEAM + METRIC, "the task is empty"),
        ('task = "t"\nteams = []\n' + METRIC, "teams: "),
        ('task = "t"\n' + TEAM, "'evaluator' is missing"),
        ('task = "t"\n' + TEAM + "[evaluator]\nmetrics = []", "evaluator.metrics: "),
        ('task = "t"\n' + TEAM + TEAM + METRIC, "two teams have the id 'a'"),
        ('task = "t"\n[[teams]]\nid = "a"\n' + METRIC, "needs exactly one of model, command and callable, not none"),
        ('task = "t"\n' + TEAM + 'command = ["x"]\n' + METRIC, "needs exactly one of model, command and callable"),
        ('task = "t"\n[[teams]]\nid = "a/b"\nmodel = "x"\n' + METRIC, "teams.1.id: "),
        ('task = "t"\n[[teams]]\nid = "a"\ncommand = ["x", ""]\n' + METRIC, "command has an empty part"),
        ('task = "t"\n[[teams]]\nid = "a"\ncommand = ["x"]\ninstructions = "y"\n' + METRIC, "are for a model"),
        ('task = "t"\n' + TEAM + 'instructions_file = "no.md"\n' + METRIC, "no.md: no such file"),
        ('task = "t', "not valid TOML"),
    ],
)
def test_every_mistake_is_one_line_that_names_its_place(text: str, message: str, tmp_path: Path) -> None:
    """And never repeats a value that might be a key."""
    with pytest.raises(ConfigurationError) as refusal:
        load(text, tmp_path)
    said = str(refusal.value)

    assert message in said
    assert "\n" not in said
    assert "sk-secret" not in said


def test_a_file_that_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    """One line each."""
    with pytest.raises(ConfigurationError, match="no such file"):
        load_race(tmp_path / "race.toml")
    (tmp_path / "race.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="not UTF-8 at byte 0"):
        load_race(tmp_path / "race.toml")
