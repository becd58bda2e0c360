"""Compiled templates are kept as Python keeps bytecode: used while they are current, and never needed."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from jinja2 import DictLoader, Environment

from mixseek.reports.pages.compiled import CompiledTemplates
from mixseek.reports.pages.html import page_environment


@pytest.fixture
def words(tmp_path: Path) -> ModuleType:
    """A module whose function a template calls."""
    module = ModuleType("words")
    module.__file__ = str(tmp_path / "words.py")
    Path(module.__file__).write_text("as it was", encoding="utf-8")
    return module


@pytest.fixture(autouse=True)
def _writes_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


def render(folder: Path, words: ModuleType, source: str = "Hello {{ 'you' | greet }}", greeting: str = "dear") -> str:
    environment = Environment(
        loader=DictLoader({"page.j2": source}), autoescape=True, bytecode_cache=CompiledTemplates(folder, [words])
    )
    environment.filters["greet"] = lambda name: f"{greeting} {name}"
    return environment.get_template("page.j2").render()


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("*")) if (folder / "__pycache__").is_dir() else []


def test_a_template_is_compiled_once(tmp_path: Path, words: ModuleType) -> None:
    """The second environment takes the bytecode: the constant in it is still that of the first."""
    assert render(tmp_path, words) == "Hello dear you"
    assert len(kept(tmp_path)) == 1
    assert render(tmp_path, words, greeting="other") == "Hello dear you"


def test_a_changed_template_is_compiled_again(tmp_path: Path, words: ModuleType) -> None:
    render(tmp_path, words)
    assert render(tmp_path, words, source="Bye {{ 'you' | greet }}") == "Bye dear you"


def test_a_changed_module_of_words_compiles_templates_again(tmp_path: Path, words: ModuleType) -> None:
    """A function of a constant is called while compiling: its new answer must be seen."""
    render(tmp_path, words)
    assert words.__file__ is not None
    Path(words.__file__).write_text("as it is now", encoding="utf-8")
    assert render(tmp_path, words, greeting="other") == "Hello other you"


@pytest.mark.parametrize("content", [b"", b"\x00" * 200, None], ids=["empty", "zeros", "cut"])
def test_a_broken_file_is_as_good_as_none(tmp_path: Path, words: ModuleType, content: bytes | None) -> None:
    render(tmp_path, words)
    (file,) = kept(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if content is None else content)
    assert render(tmp_path, words) == "Hello dear you"
    assert file.read_bytes() == whole


def test_where_nothing_may_be_written_pages_are_made_all_the_same(tmp_path: Path, words: ModuleType) -> None:
    """A file in the folder's place refuses every write, whoever runs this."""
    (tmp_path / "__pycache__").write_text("in the way", encoding="utf-8")
    assert render(tmp_path, words) == "Hello dear you"


def test_nothing_is_kept_where_python_keeps_no_bytecode(
    tmp_path: Path, words: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert render(tmp_path, words) == "Hello dear you"
    assert kept(tmp_path) == []


def test_no_home_and_no_workspace_is_asked_for_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytecode that somebody laid into a shared home would be executed: only the package's own folder counts."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    page_environment.cache_clear()
    page_environment().get_template("macros.html.j2")
    assert list(tmp_path.iterdir()) == []
