"""What a user may write after --judge."""

from pathlib import Path

import pytest

from mixseek.errors import ConfigurationError
from mixseek.judges.replay import DatasetReplayJudge, FileReplayJudge
from mixseek.judges.rules import RulesJudge
from mixseek.judges.specs import make_judge


def test_each_form_makes_its_judge_and_is_its_name(tmp_path: Path) -> None:
    replies = tmp_path / "a:b.jsonl"
    replies.write_text('{"id": 1, "reply": "x"}\n')
    specs = {"rules": RulesJudge, "replay": DatasetReplayJudge, f"replay:{replies}": FileReplayJudge}

    for spec, kind in specs.items():
        judge = make_judge(spec)
        assert isinstance(judge, kind)
        assert judge.name == spec


FORMS = "available: rules, replay, replay:FILE, PROVIDER:MODEL, PROVIDER:MODEL@BASE_URL, NAME"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("rule", f"unknown judge 'rule'; did you mean 'rules'? {FORMS}"),
        ("", f"unknown judge ''; {FORMS}"),
        ("gpt-x", f"unknown judge 'gpt-x'; {FORMS}"),
        ("opnai:gpt-x", "unknown judge 'opnai:gpt-x'; did you mean 'openai:gpt-x'?"),
        ("wherever:x", "unknown judge 'wherever:x'; providers: openai, anthropic, "),
        ("ollama", "unknown judge 'ollama'; write ollama:MODEL, or add [judges.ollama] to mixseek.toml"),
        ("rules:x", "unknown judge 'rules:x'; 'rules' takes nothing after the colon"),
        ("replay:", "unknown judge 'replay:'; give the file of replies after the colon"),
    ],
)
def test_an_unknown_judge_is_one_line_with_what_there_is(spec: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make_judge(spec)

    assert words in str(caught.value)


def test_a_replay_file_that_is_not_there_fails_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="recorded replies cannot be read"):
        make_judge(f"replay:{tmp_path / 'absent.jsonl'}")
