"""`[judges.NAME]` tables: strict, and what judges are made of."""

from pathlib import Path

import pytest

from mixseek.errors import ConfigurationError
from mixseek.settings.load import load_settings


@pytest.fixture(autouse=True)
def _empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str) -> None:
    Path("mixseek.toml").write_text(text, encoding="utf-8")


def test_everything_in_a_table_arrives() -> None:
    """Under the name that stands after --judge."""
    write(
        """
        [judges.vllm]
        base_url = "http://gpu:8000/v1"
        model = "qwen3"
        temperature = 0.2
        max_tokens = 300
        rpm = 600
        concurrency = 128
        headers = { "X-Team" = "eval" }
        body = { chat_template_kwargs = { enable_thinking = false } }
        """
    )

    judge = load_settings().judges["vllm"]

    assert (judge.base_url, judge.model, judge.temperature) == ("http://gpu:8000/v1", "qwen3", 0.2)
    assert (judge.max_tokens, judge.rpm, judge.concurrency) == (300, 600, 128)
    assert judge.headers == {"X-Team": "eval"}
    assert judge.body == {"chat_template_kwargs": {"enable_thinking": False}}


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ('modle = "x"', "did you mean 'model'?"),
        ('api_key = "sk-secret"', "api_key_env"),
        ("timeout = 3", "did you mean 'timeout_seconds'?"),
        ("colour = 1", "known keys here:"),
    ],
)
def test_a_key_that_is_not_known_is_refused_with_the_nearest_one(line: str, advice: str) -> None:
    """And its value is not repeated."""
    write(f"[judges.mine]\n{line}\n")

    with pytest.raises(ConfigurationError) as caught:
        load_settings()

    assert f"unknown key 'judges.mine.{line.split()[0]}'" in str(caught.value)
    assert advice in str(caught.value)
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        "concurrency = 0",
        "rpm = -1",
        "timeout_seconds = 0",
        "top_p = 2",
        'wire = "sk-secret"',
        'headers = "sk-secret"',
        "max_reasks = -1",
    ],
)
def test_a_value_out_of_bounds_is_refused_without_repeating_it(line: str) -> None:
    """People put keys where they do not belong."""
    write(f"[judges.mine]\n{line}\n")

    with pytest.raises(ConfigurationError, match=rf"judges\.mine\.{line.split()[0]}") as caught:
        load_settings()

    assert "sk-secret" not in str(caught.value)
