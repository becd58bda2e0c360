"""How names and docstrings read, in every room."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.cases import each
from tests.test_repo import statements

SOURCE = Path(__file__).parents[1] / "src" / "mixseek"
FINISHED_ROOMS = (
    "analysis",
    "api",
    "archive",
    "audits",
    "cascades",
    "checks",
    "ci",
    "cli",
    "comparison",
    "competition",
    "datasets",
    "domain",
    "engine",
    "evaluator",
    "index",
    "judges",
    "labels",
    "matching",
    "presentation",
    "prompt_builder",
    "protocols",
    "reports",
    "round_controller",
    "runs",
    "schemas",
    "settings",
    "setup",
    "stats",
    "storage",
    "testing",
    "text",
    "web",
)
FINISHED_FILES = ("errors.py", "pytest_plugin.py", "templating.py")
# They say of a value that it was met, and nothing of what it is.
EMPTY_NAMES = frozenset({"one", "told", "said", "found", "own", "hand", "hands"})
# A docstring that begins so says something of a thing that it does not name.
_FRAGMENT = re.compile(
    r"(After|And|As|Before|Beside|Between|By|For|From|In|Into|Late|Of|On|Over|To|Under|With|Without)\b"
)
_FEWEST_WORDS = 3
# Fields of documents and of dataclasses that are written as JSON: their keys are a contract.
_CONTRACTS = {
    *("ControlRow.own", "Dispute.said", "EvidenceSupport.found", "Finding.said", "ListQuery.found"),
    "MatrixQuery.found",
}


def files_of(room: str) -> list[Path]:
    return [SOURCE / room] if room.endswith(".py") else sorted((SOURCE / room).rglob("*.py"))


def bindings(tree: ast.AST, owner: str = "") -> Iterator[tuple[int, str]]:
    """Every name that a file binds, with its line; fields of a class as `Class.field`."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.ClassDef(name=name):
                yield node.lineno, name.lower()
                yield from bindings(node, f"{name}.")
                continue
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name.strip("_")
                yield from bindings(node)
                continue
            case ast.AnnAssign(target=ast.Name(id=name)) if owner:
                yield node.lineno, f"{owner}{name}"
                continue
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name.strip("_")
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name.strip("_")
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name.strip("_")
            case _:
                pass
        yield from bindings(node, owner)


@cache
def read_findings(source: str) -> tuple[list[str], list[str]]:
    """Empty names and fragments; a file is parsed once for both."""
    tree = ast.parse(source)
    return list(empty_names(tree)), list(fragments(tree))


def empty_names(tree: ast.Module) -> Iterator[str]:
    """Bindings that are called by a word which says nothing of the thing."""
    for line, name in bindings(tree):
        if name.rpartition(".")[2] in EMPTY_NAMES and name not in _CONTRACTS:
            yield f"line {line}: {name}"


def fragments(tree: ast.Module) -> Iterator[str]:
    """Docstrings of functions and classes that begin in the middle of a sentence, or are hardly one."""
    for node in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            text = ast.get_docstring(node)
            if text and (_FRAGMENT.match(text) or len(re.findall(r"\w+", text)) < _FEWEST_WORDS):
                yield f"line {node.lineno}: {text.splitlines()[0]}"


@each("room", (*FINISHED_ROOMS, *FINISHED_FILES))
def test_a_name_is_the_noun_of_its_thing(room: str) -> None:
    """A loop variable, a local or a parameter says what it holds."""
    problems = {str(path.relative_to(SOURCE)): read_findings(path.read_text("utf-8"))[0] for path in files_of(room)}

    assert {path: lines for path, lines in problems.items() if lines} == {}


@each("room", (*FINISHED_ROOMS, *FINISHED_FILES))
def test_a_docstring_has_a_subject(room: str) -> None:
    """Whoever reads it alone, in an editor or in the reference, knows what it is about."""
    problems = {str(path.relative_to(SOURCE)): read_findings(path.read_text("utf-8"))[1] for path in files_of(room)}

    assert {path: lines for path, lines in problems.items() if lines} == {}


def test_every_room_is_gone_through() -> None:
    """A room that is made anew, too, and at once."""
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}

    assert rooms == set(FINISHED_ROOMS)


def test_the_words_are_found_wherever_they_are_bound() -> None:
    """In loops, comprehensions, lambdas, parameters, matches, attributes and functions; not in what is only read."""
    source = (
        "def f(told):\n    for one in told: pass\n    return [own for own in told], (lambda said: said)\n"
        "class A:\n    def _found(self): self._own = self.one\n    own: int\n"
        "match x:\n    case [one, *found]: pass\n"
    )

    assert [line.partition(": ")[2] for line in read_findings(source)[0]] == [
        "told", "one", "own", "said", "found", "own", "A.own", "one", "found"
    ]  # fmt: skip
    assert read_findings('def f():\n    """Late, as above."""\nclass A:\n    """One judge."""\n')[1] == [
        "line 1: Late, as above.",
        "line 3: One judge.",
    ]
