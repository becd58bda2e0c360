"""Direction of imports, seen where import-linter does not look: inside functions, and module by module."""

import ast
import functools
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.test_repo import statements

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SOURCE / "mixseek").rglob("*.py"))
}


def read_layers() -> dict[str, int]:
    """Room to height, from the same table that import-linter reads: 0 is the top."""
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return {
        room.strip(): height for height, line in enumerate(tables["contracts"][0]["layers"]) for room in line.split("|")
    }


LAYERS = read_layers()


@functools.cache
def import_nodes(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """At any depth; every file is walked once for all tests here."""
    nodes = statements(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def imports_of(path: Path) -> Iterator[tuple[str, int]]:
    """Every import of ours in a file, at any depth, with its line."""
    for node in import_nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name.startswith("mixseek"))
        elif (node.module or "").startswith("mixseek"):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield (full if full in MODULES else str(node.module)), node.lineno


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def test_every_room_is_a_layer() -> None:
    """A new directory must find its place in pyproject.toml."""
    rooms = {room_of(module) for module in MODULES} - {""}

    assert rooms <= set(LAYERS)


def test_imports_go_downward_even_inside_functions() -> None:
    """A late import is still an import; rooms on one line do not know each other."""
    wrong = [
        f"{module}, line {line}, imports {imported}"
        for module, path in MODULES.items()
        if (room := room_of(module))  # mixseek/__init__ offers names from below, lazily
        for imported, line in imports_of(path)
        if room_of(imported) != room and LAYERS.get(room_of(imported), -1) <= LAYERS[room]
    ]

    assert wrong == []


def test_no_module_takes_part_in_a_cycle() -> None:
    """Late imports included: a cycle that is hidden in a function is still one thing in two files."""
    graph = {
        module: {imported for imported, _ in imports_of(path) if imported in MODULES and imported != module}
        for module, path in MODULES.items()
    }
    while leaves := [module for module, imported in graph.items() if not imported & graph.keys()]:
        for module in leaves:
            del graph[module]

    assert graph == {}


def test_every_module_can_be_imported_without_a_warning() -> None:
    """Each in the order of its imports, so none waits for one that comes later.

    That none needs another to have been imported before it follows from this: there is no cycle, mypy knows every
    attribute of a module, and what is not imported by name is not used (`import mixseek.x` would allow that).
    """
    plain = [
        f"{module}, line {node.lineno}"
        for module, path in MODULES.items()
        for node in import_nodes(path)
        if isinstance(node, ast.Import) and any(alias.name.startswith("mixseek") for alias in node.names)
    ]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import sys; [__import__(name) for name in sys.argv[1:]]", *MODULES],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert plain == []
    assert done.returncode == 0, done.stderr
