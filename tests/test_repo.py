"""Promises about the repository itself: sizes, names, and documents that cannot lie."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYTHON_FILES = sorted(
    path for part in ("src", "tests", "scripts", "bench") for path in (ROOT / part).rglob("*.py") if path.is_file()
)
SOURCE_FILES = [path for path in PYTHON_FILES if path.is_relative_to(ROOT / "src")]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MAX_FILE_LINES = 700
MAX_FUNCTION_LINES = 50
# Longer on purpose; each with the reason.
LONG_FUNCTIONS: dict[str, str] = {
    "judge": "a command's signature is its list of options; the body is four lines",
}
BANNED_NAMES = re.compile(r"(^|_)(utils?|helpers?|common|manager|misc)($|_)|^base_")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PYTHON_FILES, ids=name_of)
def test_files_and_functions_stay_small_enough_to_read(path: Path) -> None:
    """A file is a chapter, not a book; a function fits on a screen."""
    text = read(path)
    long = [
        f"{node.name} has {(node.end_lineno or 0) - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION_LINES
        and node.name not in LONG_FUNCTIONS
    ]

    assert len(text.splitlines()) <= MAX_FILE_LINES
    assert long == []


@pytest.mark.parametrize("path", SOURCE_FILES, ids=name_of)
def test_modules_are_named_after_what_they_hold(path: Path) -> None:
    """A drawer called `utils` fills itself."""
    assert not BANNED_NAMES.search(path.stem)


@pytest.mark.parametrize("path", [*PYTHON_FILES, *DOCUMENTS, ROOT / "Makefile", ROOT / "pyproject.toml"], ids=name_of)
def test_nothing_is_left_for_later_and_no_machine_is_named(path: Path) -> None:
    """An open point is an issue, not a comment; a path of one machine is broken on all others."""
    text = read(path)

    assert not re.search(r"\b(TO" + r"DO|FIX" + r"ME)\b", text)
    assert not re.search(r"(/wo" + r"rk/|/ho" + r"me/\w|/Us" + r"ers/\w|/ro" + r"ot/)", text)


@pytest.mark.parametrize("path", SOURCE_FILES, ids=name_of)
def test_packages_offer_no_second_home_for_a_name(path: Path) -> None:
    """An __init__.py is one docstring line; mixseek/__init__.py alone offers names, lazily."""
    if path.name == "__init__.py" and path.parent.name != "mixseek":
        tree = ast.parse(read(path))

        assert len(tree.body) == 1
        assert ast.get_docstring(tree)


def make_verbs() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", read(ROOT / "Makefile"), re.MULTILINE))


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_documents_name_only_verbs_that_exist(path: Path) -> None:
    """`make something` in a document is a promise."""
    named = set(re.findall(r"(?:^|[`$ ])make ([a-z][a-z-]*)(?=`|$|\s+#)", read(path), re.MULTILINE))

    assert named <= make_verbs()


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_documents_name_only_commands_that_exist(path: Path) -> None:
    """A command line that a document shows is one that we parse."""
    blocks = "\n".join(re.findall(r"^```[a-z]*\n(.*?)^```", read(path), re.MULTILINE | re.DOTALL))
    named = set(re.findall(r"^\s*(?:\$ )?mixseek ([a-z][a-z-]*)", blocks, re.MULTILINE))

    assert named <= set(command_names())


def command_names() -> list[str]:
    from mixseek.cli.app import command

    return list(command().commands)


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "docs" / "tour.md"], ids=name_of)
def test_paths_in_documents_exist(path: Path) -> None:
    """A tour that leads to a wall is worse than none."""
    if not path.exists():
        pytest.skip(f"{path.name} is not written yet")
    named = re.findall(r"`((?:src|tests|docs|bench|scripts)/[\w./-]+)`", read(path))

    assert [place for place in named if not (ROOT / place).exists()] == []


def test_the_version_has_a_changelog_entry() -> None:
    """What a user notices is said where users look."""
    changelog = ROOT / "CHANGELOG.md"
    if not changelog.exists():
        pytest.skip("CHANGELOG.md is not written yet")
    version = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["version"]

    assert re.search(rf"^## .*{re.escape(version)}", read(changelog), re.MULTILINE)


def test_every_command_is_documented() -> None:
    """docs/cli.md is generated, so a command cannot be forgotten in it, only not regenerated."""
    text = read(ROOT / "docs" / "cli.md")

    assert [name for name in command_names() if f"`mixseek {name}" not in text] == []


def test_the_command_reference_is_what_the_commands_say() -> None:
    """Help text changed? Run `make docs`."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.write_cli_reference", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stdout + done.stderr
