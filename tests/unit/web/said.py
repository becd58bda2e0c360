"""Every message that the sources say: found in functions, templates and scripts, with the English that stands there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import mixseek
from mixseek.text.messages import JOINT_IDS, count_id

SOURCES = Path(mixseek.__file__).parent
# `say("report.samples", "Samples")`; what is filled in may follow.
_SAID = re.compile(r'\bsay\("([^"]+)",\s*"((?:[^"\\]|\\.)*)"')
_COUNTED = re.compile(r'\bcounted\([^"]*, "([^"]+)"\)')


def said_messages() -> Iterator[tuple[str, str, str]]:
    """Id, English, and the file in which it is said."""
    for path in sorted(SOURCES.rglob("*.py")):
        for name, english in _in_functions(path):
            yield name, english, path.name
    for path in sorted((*SOURCES.rglob("assets/*.j2"), *SOURCES.rglob("assets/*.js"))):
        text = path.read_text(encoding="utf-8")
        for name, english in _SAID.findall(text):
            yield name, english, path.name
        for noun in _COUNTED.findall(text):
            yield count_id(noun), f"{{n}} {noun}s", path.name
    for name, joint in JOINT_IDS.items():
        yield name, joint, "messages.py"


def _in_functions(path: Path) -> Iterator[tuple[str, str]]:
    text = path.read_text(encoding="utf-8")
    # Others may have functions of these names.
    if "from mixseek.text.messages import" not in text:
        return
    tree = ast.parse(text)
    # A long sentence has a name of its own, on the lines above.
    sentences = sorted(
        (node.lineno, target.id, node.value.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    )

    def text_of(node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        assert isinstance(node, ast.Name), f"{path.name}:{node.lineno}: a message is a literal text"
        return next(text for line, name, text in reversed(sentences) if line < node.lineno and name == node.id)

    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        match node.func.id, node.args:
            case ("message", [name, english]):
                yield text_of(name), text_of(english)
            case ("partial", [ast.Name("message"), name, english]):
                yield text_of(name), text_of(english)
            case ("counted", [_, noun]):
                yield count_id(text_of(noun)), f"{{n}} {text_of(noun)}s"
            case ("counted", [_, noun, nouns]):
                yield count_id(text_of(noun)), f"{{n}} {text_of(nouns)}"
