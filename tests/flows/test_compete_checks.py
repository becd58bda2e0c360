"""What `mixseek compete` refuses before it asks anybody: with `--dry-run` and without, in one line."""

import zoneinfo
from pathlib import Path

import pytest
from tests.flows.arena import compete, document, race_text, write
from tests.flows.live import KEYS
from tests.flows.running import mixseek_here, the_one_line

TEAMS = 3


def test_a_dry_run_counts_calls_and_leaves_no_trace(tmp_path: Path) -> None:
    """Three teams, two metrics and a judge: at least for two rounds, at most for five."""
    write(tmp_path, race_text("openai:x", TEAMS))
    done = compete(tmp_path, "--dry-run")
    calls = document(compete(tmp_path, "--dry-run", "--json"))["calls"]

    assert done.returncode == 0, done.stderr
    assert calls == [
        {"judge": "openai:x", "least": 3 * 2 + 3, "most": 3 * 5 + 3 * 4},
        {"judge": "openai:judge-x", "least": 3 * 2 * 2, "most": 3 * 5 * 2},
    ]
    assert "9 to 27 calls" in done.stdout
    assert not (tmp_path / "ws").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("weight = 0.6", "weight = 0.5", "weight sums to 0.9, expected 1.0"),
        ("weight = 0.6", "", "Coverage has no weight while others have"),
        ('type = "Coverage"', 'type = "Coverag"', "did you mean 'Coverage'?"),
        ('type = "Coverage"', 'type = "nowhere:Metric"', "cannot import nowhere"),
        ('model = "openai:x"', 'model = "opnai:x"', "did you mean 'openai:x'?"),
        ('model = "openai:x"', 'model = "rules"', "rules write no submissions"),
        ('model = "openai:x"\ninstructions = "You are team t0."', 'command = ["no-such-thing"]', "is not there"),
        ('model = "openai:x"\ninstructions = "You are team t0."', 'callable = "nowhere:f"', "cannot import nowhere"),
        ('model = "openai:x"\ninstructions = "You are team t0."', 'callable = "json:__name__"', "cannot be called"),
        ("[rounds]", '[prompts]\nteam_user_prompt = "{{ user_promt }}"\n[rounds]', "did you mean 'user_prompt'?"),
        ("[rounds]", '[prompts]\nevaluator_user_prompt = "{% if %}"\n[rounds]', "Jinja2 template error"),
        ("[rounds]", '[prompts]\nteam_user_prompt = "{{ user_prompt.x }}"\n[rounds]', "has no attribute 'x'"),
        ('type = "Coverage"', 'type = "leaves:Metric"', "cannot import leaves (SystemExit: 0)"),
        ("[rounds]", '[prompts]\njudgment_user_prompt = " "\n[rounds]', "cannot be empty"),
        ('[evaluator]\njudge = "openai:judge-x"', '[evaluator]\njudge = "rules"', "rules cannot judge Coverage"),
        ('[evaluator]\njudge = "openai:judge-x"', "[evaluator]", "metric Coverage: no judge"),
        ('[judgment]\njudge = "openai:x"', '[judgment]\njudge = "rules"', "rules have no opinion"),
        ('[judgment]\njudge = "openai:x"', '[judgment]\njudge = "replay:none.jsonl"', "none.jsonl"),
        ("max = 5", "max = 1", "min is 2 and max is 1"),
        ('type = "Relevance"', 'type = "Coverage"', "two metrics are called 'Coverage'; give one of them a name"),
        ('id = "t0"', 'id = ""', "teams.1.id: "),
        ("[rounds]", '[prompts]\nevaluator_user_prompt = "Rate it."\n[rounds]', "{{ submission }} is not in it"),
        (
            "[rounds]",
            '[prompts]\nteam_user_prompt = "{% if round_number == 2 %}{{ user_prompt.x }}{% endif %}"\n[rounds]',
            "has no attribute 'x'",
        ),
        (
            "[rounds]",
            '[prompts]\njudgment_user_prompt = "{{ submission_history[:99999] * 99999999 }}"\n[rounds]',
            "judgment_user_prompt",
        ),
    ],
)
def test_a_dry_run_finds_everything_that_cannot_work(old: str, new: str, message: str, tmp_path: Path) -> None:
    """One line, exit 2, no call, nothing written; the real run refuses the same before it begins."""
    text = race_text("openai:x", 1)
    write(tmp_path, "import sys; sys.exit(0)", "leaves.py")
    assert old in text
    write(tmp_path, text.replace(old, new, 1))
    for more in (("--dry-run",), ()):
        done = compete(tmp_path, *more)

        assert done.returncode == 2
        assert message in the_one_line(done)
        assert not (tmp_path / "ws").exists()


@pytest.mark.parametrize("zone", ["JST-9", "FILE", ":Asia/Tokyo", ""])
def test_whatever_tz_may_hold_refuses_no_race(zone: str, tmp_path: Path) -> None:
    """A rule, the path of a zone file, a name; what is none of these is one line."""
    write(tmp_path, race_text("openai:x", 1))
    if zone == "FILE":
        found = [Path(root) / "Asia" / "Tokyo" for root in zoneinfo.TZPATH]
        zone = next((str(file) for file in found if file.is_file()), "UTC")
    words = ("compete", "race.toml", "-w", "ws", "--dry-run")
    done = mixseek_here(*words, cwd=tmp_path, env={**KEYS, "TZ": zone})
    bad = mixseek_here(*words, cwd=tmp_path, env={**KEYS, "TZ": "Mars/Base"})

    assert done.returncode == 0, done.stderr
    assert bad.returncode == 2
    assert "TZ environment variable: 'Mars/Base'; valid examples: " in the_one_line(bad)


def test_a_price_that_nobody_knows_is_said_before_anything_is_written(tmp_path: Path) -> None:
    """--max-cost cannot be kept without it."""
    write(tmp_path, race_text("openai:nameless@http://127.0.0.1:9/v1", 1))
    for more in (("--dry-run",), ()):
        done = compete(tmp_path, "--max-cost", "1", *more)

        assert done.returncode == 2
        assert "nobody knows the price of openai:nameless" in the_one_line(done)
        assert not (tmp_path / "ws").exists()


def test_a_protocol_of_ones_own_lies_beside_the_race(tmp_path: Path) -> None:
    """Like every other file of a race, wherever the command is given."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert mixseek_here("protocol", "new", "own.toml", cwd=tmp_path).returncode == 0
    write(tmp_path, race_text("openai:x", 1).replace('type = "Coverage"', 'type = "protocol:own.toml"'))
    done = mixseek_here("compete", "../race.toml", "-w", "ws", "--dry-run", cwd=elsewhere, env=KEYS)

    assert done.returncode == 0, done.stderr


def test_templates_of_the_workspace_are_checked_too(tmp_path: Path) -> None:
    """They are read where the race names none."""
    write(tmp_path, race_text("openai:x", 1))
    configs = tmp_path / "ws" / "configs"
    configs.mkdir(parents=True)
    write(configs, 'team_user_prompt = "{{ nothing }}"', "prompt_builder.toml")
    done = compete(tmp_path, "--dry-run")

    assert done.returncode == 2
    assert "unknown variable 'nothing'" in the_one_line(done)
