"""Promises about the repository itself: sizes, names, and documents that cannot lie."""

import ast
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from tests.conftest import SECONDS_PER_TEST, at_most

ROOT = Path(__file__).parent.parent
PYTHON_FILES = sorted(
    path for part in ("src", "tests", "scripts", "bench") for path in (ROOT / part).rglob("*.py") if path.is_file()
)
SOURCE_FILES = [path for path in PYTHON_FILES if path.is_relative_to(ROOT / "src")]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MAX_FUNCTION_LINES = 50
# Longer on purpose; each with the reason.
LONG_FUNCTIONS: dict[str, str] = {
    **dict.fromkeys(
        (
            "judge",
            "compete",
            "evaluate",
            "serve_mock",
            "report",
            "compare",
            "stats",
            "statistics",
            "leaderboard",
            "audit",
            "plan_tiers",
            "plan_cascade",
        ),
        "a command's signature is its list of options",
    ),
}
BANNED_NAMES = re.compile(r"(^|_)(utils?|helpers?|common|manager|misc)($|_)|^base_")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """At any depth. Expressions, which hold none, are nine of ten nodes: to walk over them takes seconds."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        held = getattr(tree, part, ())
        for node in held if isinstance(held, list) else ():
            if isinstance(node, ast.stmt):
                yield node
            yield from statements(node)


# Endpoints, models, teams and functions of users that take their time: that is what these are for.
SLOW_THINGS = {
    "tests/flows/arena.py",
    "tests/unit/judges/loopback.py",
    "tests/unit/judges/test_embedded.py",
    "tests/unit/judges/test_function.py",
    "tests/unit/round_controller/memory_store.py",
    "tests/unit/testing/test_mock_http.py",
}


def long_functions(path: Path) -> list[str]:
    """Functions that do not fit on a screen."""
    return [
        f"{name_of(path)}: {node.name} has {(node.end_lineno or 0) - node.lineno + 1} lines"
        for node in statements(ast.parse(read(path)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION_LINES
        and node.name not in LONG_FUNCTIONS
    ]


def test_functions_stay_small_enough_to_read() -> None:
    """A function fits on a screen. A file is one subject, as long as that subject needs: lines are no measure of it."""
    assert [line for path in PYTHON_FILES for line in long_functions(path)] == []


def test_modules_are_named_after_what_they_hold() -> None:
    """A drawer called `utils` fills itself."""
    assert [name_of(path) for path in SOURCE_FILES if BANNED_NAMES.search(path.stem)] == []


def test_nothing_is_left_for_later_and_no_machine_is_named() -> None:
    """An open point is an issue, not a comment; a path of one machine is broken on all others."""
    later = re.compile(r"\b(TO" + r"DO|FIX" + r"ME)\b")
    machine = re.compile(r"(/wo" + r"rk/|/ho" + r"me/\w|/Us" + r"ers/\w|/ro" + r"ot/)")
    texts = [*PYTHON_FILES, *DOCUMENTS, ROOT / "Makefile", ROOT / "pyproject.toml"]

    assert [name_of(path) for path in texts if later.search(read(path)) or machine.search(read(path))] == []


def test_packages_offer_no_second_home_for_a_name() -> None:
    """An __init__.py is one docstring line; two offer names: mixseek's, lazily, and seed 004's."""
    offering = {"mixseek", "prompt_builder"}
    inits = [path for path in SOURCE_FILES if path.name == "__init__.py" and path.parent.name not in offering]
    trees = {name_of(path): ast.parse(read(path)) for path in inits}

    assert [name for name, tree in trees.items() if len(tree.body) != 1 or not ast.get_docstring(tree)] == []


def test_every_connection_is_opened_in_one_place() -> None:
    """DuckDB draws a bar on stdout at a prompt, in notebooks and under `python -c`, unless it is told not to."""
    opening = [name_of(path) for path in SOURCE_FILES if "duckdb.connect(" in read(path)]

    assert opening == ["src/mixseek/storage/duckdb_session.py"]


def test_comments_name_only_what_exists() -> None:
    """`domain.panels` or `panel.sql` in a comment leads there: what moves takes its name along."""
    package = ROOT / "src" / "mixseek"
    modules = {
        ".".join(path.relative_to(package).with_suffix("").parts).replace("__init__", "mixseek"): path
        for path in SOURCE_FILES
    }
    rooms = "|".join({"mixseek", *(name.split(".")[0] for name in modules)})
    files = [path for part in ("src", "docs", "bench", "scripts") for path in (ROOT / part).rglob("*.*")]
    called = re.compile(rf"`((?:{rooms})(?:\.\w+)+|(?:\w+/)*\w+\.(?:py|sql|j2|js|css))`")

    def is_there(name: str) -> bool:
        dotted = name.removeprefix("mixseek.")
        above, _, last = dotted.rpartition(".")
        home = modules.get(above or "mixseek", modules.get(f"{above}.mixseek"))
        return (
            dotted in modules
            or f"{dotted}.mixseek" in modules
            or (home is not None and re.search(rf"\b{last}\b", read(home)) is not None)
            or any(str(path).endswith(f"/{name}") for path in files)
        )

    ours = [path for path in files if path.is_relative_to(package) and path.suffix in (".py", ".sql", ".js", ".j2")]
    named = {(name_of(path), name) for path in ours for name in called.findall(read(path))}

    assert sorted(pair for pair in named if not is_there(pair[1]) and pair[1] != "mixseek.toml") == []


def make_verbs() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", read(ROOT / "Makefile"), re.MULTILINE))


def test_documents_name_only_verbs_that_exist() -> None:
    """`make something` in a document is a promise."""
    verb = re.compile(r"(?:^|[`$ ])make ([a-z][a-z-]*)(?=`|$|\s+#)", re.MULTILINE)
    unknown = {name_of(path): set(verb.findall(read(path))) - make_verbs() for path in DOCUMENTS}

    assert {name: verbs for name, verbs in unknown.items() if verbs} == {}


def test_documents_name_only_commands_that_exist() -> None:
    """A command line that a document shows is one that we parse."""
    known = set(command_names())
    unknown = {name_of(path): commands_shown(read(path)) - known for path in DOCUMENTS}

    assert {name: commands for name, commands in unknown.items() if commands} == {}


def commands_shown(text: str) -> set[str]:
    blocks = "\n".join(re.findall(r"^```[a-z]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    return set(re.findall(r"^\s*(?:\$ )?mixseek ([a-z][a-z-]*)", blocks, re.MULTILINE))


def command_names() -> list[str]:
    from mixseek.cli.app import command

    return [name for name, one in command().commands.items() if not one.hidden]


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "docs" / "tour.md"], ids=name_of)
def test_paths_in_documents_exist(path: Path) -> None:
    """A tour that leads to a wall is worse than none."""
    if not path.exists():
        pytest.skip(f"{path.name} is not written yet")
    named = re.findall(r"`((?:src|tests|docs|bench|scripts)/[\w./-]+)`", read(path))

    assert [place for place in named if not (ROOT / place).exists()] == []


def sleeps_of(path: Path) -> list[str]:
    """Where a test lets time pass, but in a loop that looks again and again for what it waits for."""
    source = read(path)
    if "sleep" not in source:
        return []
    tree = ast.parse(source)
    looking = {id(inner) for loop in ast.walk(tree) if isinstance(loop, ast.While) for inner in ast.walk(loop)}
    return [
        f"{name_of(path)}:{node.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("time.sleep", "asyncio.sleep")
        and ast.unparse(node.args[0]) != "0"
        and id(node) not in looking
    ]


def test_no_test_waits_for_a_time() -> None:
    """It waits for an event: a busy machine is later than any time, and an idle one waits for nothing."""
    paths = [path for path in PYTHON_FILES if name_of(path).startswith("tests/") and "optin" not in path.parts]

    assert [line for path in paths for line in sleeps_of(path) if line.split(":")[0] not in SLOW_THINGS] == []


def test_what_make_test_leaves_out_is_run_in_ci() -> None:
    """A test that nobody runs is a wish."""
    options = tomllib.loads(read(ROOT / "pyproject.toml"))["tool"]["pytest"]["ini_options"]
    commands = read(ROOT / ".ci" / "run").splitlines()

    assert "-m 'not optin and not thorough'" in options["addopts"]
    assert "-m '(thorough or many) and not optin'" in read(ROOT / "Makefile")
    assert "$(if $(THOROUGH),-m 'not optin' --hypothesis-profile patient)" in read(ROOT / "Makefile")
    assert "make test THOROUGH=1 || tested=$?" in commands


def wait_in_parts() -> None:
    """A part that ends well, and then for ever."""
    with at_most(60, "a part"):
        pass
    signal.pause()


def test_a_test_that_hangs_fails_and_none_fails_for_being_slow() -> None:
    """The alarm of tests/conftest.py rings; Hypothesis has no clock."""
    with pytest.raises(pytest.fail.Exception, match=r"sleeping was not over after 0\.05 s"), at_most(0.05, "sleeping"):
        signal.pause()
    # A part of a test has its own time; that of the test goes on.
    with (
        pytest.raises(pytest.fail.Exception, match=r"a part was not over"),
        at_most(60, "all"),
        at_most(0.05, "a part"),
    ):
        signal.pause()
    with pytest.raises(pytest.fail.Exception, match=r"all was not over"), at_most(0.1, "all"):
        wait_in_parts()

    assert 60 <= SECONDS_PER_TEST <= 600
    assert settings().deadline is None


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
