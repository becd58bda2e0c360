"""Environment > mixseek.toml > default, and every slip named."""

from pathlib import Path

import pytest

from mixseek.errors import ConfigurationError
from mixseek.settings.load import load_settings


@pytest.fixture(autouse=True)
def _empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MIXSEEK_WORKSPACE", raising=False)


def write(text: str) -> None:
    Path("mixseek.toml").write_text(text, encoding="utf-8")


def test_defaults_need_no_file() -> None:
    """A first-time user sets nothing."""
    settings = load_settings()

    assert settings.workspace == Path(".mixseek")
    assert settings.judge.judges == ("rules",)


def test_the_file_is_really_read() -> None:
    """`toml_file=` alone reads nothing in pydantic-settings; the source must be added."""
    write('workspace = "ws"\n[judge]\nlanguage = "ja"\njudges = ["rules", "replay:r.jsonl"]\n')

    settings = load_settings()

    assert settings.workspace == Path("ws")
    assert settings.judge.language == "ja"
    assert settings.judge.judges == ("rules", "replay:r.jsonl")


def test_a_byte_order_mark_is_passed_over() -> None:
    """Windows editors write one; a second one is a mistake, and a place in the file counts the first."""
    write('\ufeffworkspace = "ws"\n')

    assert load_settings().workspace == Path("ws")
    write('\ufeff\ufeffworkspace = "ws"\n')
    with pytest.raises(ConfigurationError, match=r"mixseek\.toml: not valid TOML"):
        load_settings()
    Path("mixseek.toml").write_bytes(b"\xef\xbb\xbf# \xff")
    with pytest.raises(ConfigurationError, match="not UTF-8 at byte 5"):
        load_settings()


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """And an empty variable counts as unset."""
    write('workspace = "from-file"\n')
    monkeypatch.setenv("MIXSEEK_WORKSPACE", "from-environment")
    monkeypatch.setenv("MIXSEEK_JUDGE__WORKERS", "3")

    assert load_settings().workspace == Path("from-environment")
    assert load_settings().judge.workers == 3
    monkeypatch.setenv("MIXSEEK_WORKSPACE", "")
    assert load_settings().workspace == Path("from-file")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('workspce = "x"\n', "mixseek.toml: unknown key 'workspce'; did you mean 'workspace'?"),
        ("[judge]\nworker = 2\n", "mixseek.toml: unknown key 'judge.worker'; did you mean 'workers'?"),
        (
            "[judge]\nzzz = 2\n",
            "unknown key 'judge.zzz'; known keys here: cascade, judges, language, max_line_mb, protocol, workers",
        ),
        ('[judge]\nworkers = "many"\n', "judge.workers"),
        ('[judge]\nlanguage = "fr"\n', "judge.language"),
        ("workspace = \n", "mixseek.toml: not valid TOML"),
        ("judge = 3\n", "judge"),
    ],
)
def test_a_slip_in_the_file_is_one_line_that_names_the_key(text: str, expected: str) -> None:
    """A setting that is silently ignored is worse than none."""
    write(text)

    with pytest.raises(ConfigurationError) as caught:
        load_settings()

    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_text_is_named() -> None:
    """Saved as UTF-16 by an editor, say."""
    Path("mixseek.toml").write_bytes(b"\xff\xfew\x00")

    with pytest.raises(ConfigurationError, match="not UTF-8 at byte 0"):
        load_settings()


def test_a_bad_variable_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists in the environment are JSON; a bare word is not."""
    monkeypatch.setenv("MIXSEEK_JUDGE__JUDGES", "rules")

    with pytest.raises(ConfigurationError) as caught:
        load_settings()

    assert "MIXSEEK_" in str(caught.value)
