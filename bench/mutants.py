"""Lines of `src`, broken one at a time: which of them no test near them notices.

`make mutants` draws lines by a seed, changes each a little (a comparison turned round, a number one more, a condition
denied), runs the tests nearest to its module on a copy of the tree, and prints those that passed. A survivor is a
behaviour that nobody has pinned down; fewer than one in eight may survive.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
# One in so many may survive.
TOLERATED = 8
# A mutant may loop, or the machine be busy: which of the two it was, nobody knows.
_SECONDS = 600
NOTICED, SURVIVED, UNENDED = "noticed", "SURVIVED", "unended"
# Nearest first: more would be `make test` forty times. Those of the module's own room are all asked, as they are quick.
_MOST_FILES = 14
# What holds every number that a command prints is near to whatever computes or says one.
_PIN = ("tests/flows/test_documents.py", "tests/flows/test_doors.py")
_PINNED = frozenset({"analysis", "index", "reports", "runs", "stats"})
_COPIED = ("src", "tests", "docs", "bench", "scripts", "README.md", "CHANGELOG.md", "pyproject.toml", "constraints.txt")

_TURNED: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: the text between two offsets of a file, in bytes, becomes another."""

    path: Path
    line: int
    start: int
    end: int
    text: str
    kind: str

    def broken(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]


class Finder(ast.NodeVisitor):
    """Every change of one file that a test could notice; annotations and docstrings are none."""

    def __init__(self, path: Path, source: bytes) -> None:
        self.found: list[Mutant] = []
        self._path, self._source = path, source
        self._starts = [0]
        for line in source.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def _add(self, node: ast.expr, text: str, kind: str) -> None:
        if node.end_lineno is not None and node.end_col_offset is not None:
            start = self._starts[node.lineno - 1] + node.col_offset
            end = self._starts[node.end_lineno - 1] + node.end_col_offset
            self.found.append(Mutant(self._path, node.lineno, start, end, text, kind))

    def _text(self, node: ast.expr) -> str:
        return ast.get_source_segment(self._source.decode(), node) or ast.unparse(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1 and (turned := _TURNED.get(type(node.ops[0]))):
            text = f"{self._text(node.left)} {turned} {self._text(node.comparators[0])}"
            self._add(node, f"({text})", "comparison turned round")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = " or " if isinstance(node.op, ast.And) else " and "
        self._add(node, "(" + word.join(f"({self._text(value)})" for value in node.values) + ")", "and for or")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self._add(node.test, f"not ({self._text(node.test)})", "condition denied")
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._add(node.test, f"not ({self._text(node.test)})", "condition denied")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(node, str(not node.value), "the other truth")
        elif isinstance(node.value, int):
            self._add(node, f"{node.value + 1}", "one more")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._add(node.value, "None", "nothing returned")
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.args.defaults, *(value for value in node.args.kw_defaults if value), *node.body):
            self.visit(part)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        for part in node.body:
            self.visit(part)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)


def find_mutants(path: Path) -> list[Mutant]:
    source = path.read_bytes()
    finder = Finder(path, source)
    finder.visit(ast.parse(source))
    return finder.found


def draw(count: int, seed: int) -> list[Mutant]:
    """By line: a line with five changes is drawn no more often than one with one."""
    chosen = random.Random(seed)
    by_line: dict[tuple[Path, int], list[Mutant]] = defaultdict(list)
    for path in sorted((ROOT / "src").rglob("*.py")):
        for mutant in find_mutants(path):
            by_line[path, mutant.line].append(mutant)
    lines = chosen.sample(sorted(by_line), min(count, len(by_line)))
    return [chosen.choice(by_line[line]) for line in lines]


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> set[str]:
    """Modules of ours that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mixseek"):
            found.add(node.module or "")
            found.update(f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
    return found


class Nearness:
    """Which test files are near a module: those that import it, then those that import whoever imports it."""

    def __init__(self) -> None:
        self._tests = {path: imports_of(path) for path in sorted((ROOT / "tests").rglob("test_*.py"))}
        self._users: dict[str, set[str]] = defaultdict(set)
        for path in (ROOT / "src").rglob("*.py"):
            for name in imports_of(path):
                self._users[name].add(module_of(path))

    def of(self, module: str) -> list[Path]:
        room = module.split(".")[1] if "." in module else ""
        pins = [ROOT / name for name in _PIN] if room in _PINNED else []
        nearest: dict[Path, None] = {}
        for tests in self._rings(module):
            if len(nearest) >= _MOST_FILES:
                break
            # A test of one subject says more than a flow through all of them; of flows the smallest are quickest.
            ranked = sorted(
                tests, key=lambda path: ("flows" in path.parts, "browser" in path.parts, len(self._tests[path]))
            )
            nearest.update(dict.fromkeys(ranked[:_MOST_FILES]))
        own_room = [path for path in self._tests if path.is_relative_to(ROOT / "tests" / "unit" / room)] if room else []
        return list(dict.fromkeys([*nearest, *own_room, *pins]))

    def _rings(self, module: str) -> Iterator[Sequence[Path]]:
        names, seen = {module}, {module}
        for ring in range(3):
            yield [path for path, imported in self._tests.items() if names & imported]
            if ring == 0:
                stem = module.rpartition(".")[2]
                yield [path for path in self._tests if stem in path.stem or path.stem.removeprefix("test_") in stem]
            names = {user for name in names for user in self._users[name]} - seen
            seen |= names
        yield [path for path in self._tests if "flows" in path.parts]


def try_out(mutant: Mutant, copy: Path, tests: Sequence[Path]) -> str:
    """What became of it; the copy is mended afterwards."""
    place = copy / mutant.path.relative_to(ROOT)
    source = place.read_bytes()
    place.write_bytes(mutant.broken(source))
    # In front of the installed project, whose path stands further behind.
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-n", str(os.cpu_count() or 1), "--dist", "worksteal"]
    try:
        named = [str(path.relative_to(ROOT)) for path in tests]
        ended = subprocess.run(
            [*command, *named], cwd=copy, env=environment, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return UNENDED
    finally:
        place.write_bytes(source)
    return NOTICED if ended.returncode else SURVIVED


def describe(mutant: Mutant) -> str:
    """Where it is, and the line before and after."""
    source = mutant.path.read_bytes()
    before = source.split(b"\n")[mutant.line - 1].decode().strip()
    after = mutant.broken(source).split(b"\n")[mutant.line - 1].decode().strip()
    return f"{mutant.path.relative_to(ROOT)}:{mutant.line}  {mutant.kind}\n      - {before}\n      + {after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    nearness, endings = Nearness(), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        copy = Path(directory) / "project"
        copy.mkdir()
        for name in _COPIED:
            place = ROOT / name
            (shutil.copytree if place.is_dir() else shutil.copy)(place, copy / name)
        mutants = draw(asked.count, asked.seed)
        for number, mutant in enumerate(mutants, 1):
            ending = try_out(mutant, copy, nearness.of(module_of(mutant.path)))
            print(f"{number:3} {ending:8} {describe(mutant)}", flush=True)
            endings[ending] += 1
    tried = len(mutants) - endings[UNENDED]
    left_out = f"; {endings[UNENDED]} did not end and are not counted" if endings[UNENDED] else ""
    survived = endings[SURVIVED]
    print(f"{survived} of {tried} survived (seed {asked.seed}); fewer than one in {TOLERATED} may{left_out}")
    return int(survived * TOLERATED >= tried)


if __name__ == "__main__":
    sys.exit(main())
