"""Prompt templates: checked when they are loaded, sandboxed when they run, and blind to what data contains."""

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from mixseek.errors import ConfigurationError, TemplateRenderError


@dataclass(frozen=True, slots=True)
class StrictTemplate:
    """A compiled template; `where` names its file in every message."""

    compiled: Template
    where: str

    def render(self, variables: Mapping[str, object]) -> str:
        """Values are inserted as they are: template syntax inside them stays text."""
        try:
            return self.compiled.render(variables)
        # What a template may provoke inside the sandbox; a bug of ours (AssertionError, ImportError) is not hidden.
        except (
            TemplateError,
            TypeError,
            ValueError,
            ArithmeticError,
            LookupError,
            AttributeError,
            RuntimeError,
        ) as error:
            # The opening words are seed 004's.
            raise TemplateRenderError(f"Jinja2 template error: {self.where}: {error}") from error


def compile_template(source: str, allowed_variables: Collection[str], where: str) -> StrictTemplate:
    """Refuses at load what would otherwise surface at the first rendering, after samples have been read."""
    return _compile(source, frozenset(allowed_variables), where)


# Protocols hold sources, because compiled templates cannot be pickled; the cache makes asking again free.
@lru_cache(maxsize=256)
def _compile(source: str, allowed: frozenset[str], where: str) -> StrictTemplate:
    environment = _environment()
    try:
        tree = environment.parse(source, name=where)
        compiled = environment.from_string(tree)
    except TemplateSyntaxError as error:
        raise ConfigurationError(f"{where}:{error.lineno}: not a valid Jinja2 template: {error.message}") from error
    _refuse_references(tree, where)
    _refuse_undeclared(tree, allowed, where)
    return StrictTemplate(compiled, where)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        # A prompt is not HTML: escaping would change the judged text.
        autoescape=False,
        keep_trailing_newline=True,
    )
    # Without globals, a variable that is not declared is always reported as such.
    environment.globals.clear()
    return environment


def _refuse_references(tree: nodes.Template, where: str) -> None:
    if any(True for _ in meta.find_referenced_templates(tree)):
        raise ConfigurationError(f"{where}: include, import and extends are not available; put the text into this file")


def _refuse_undeclared(tree: nodes.Template, allowed: frozenset[str], where: str) -> None:
    for line, problem in _undeclared(tree, allowed):
        raise ConfigurationError(f"{where}:{line}: {problem}")


def _undeclared(tree: nodes.Template, allowed: frozenset[str]) -> list[tuple[int, str]]:
    """In the order of the alphabet; each name once, where it stands first."""
    found = []
    for name in sorted(meta.find_undeclared_variables(tree) - allowed):
        line = min((node.lineno for node in tree.find_all(nodes.Name) if node.name == name), default=1)
        close = difflib.get_close_matches(name, allowed, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        known = ", ".join(sorted(allowed)) or "none"
        found.append((line, f"unknown variable {name!r}; {hint}available: {known}"))
    return found


def undeclared_variables(source: str, allowed_variables: Collection[str]) -> list[tuple[int, str]]:
    """All at once, for a lint: the line and what is wrong; nothing for a source that does not parse."""
    tree = _parse(source)
    return [] if tree is None else _undeclared(tree, frozenset(allowed_variables))


def used_variables(source: str) -> frozenset[str]:
    """The names that a template takes from outside; none for a source that does not parse."""
    tree = _parse(source)
    return frozenset() if tree is None else frozenset(meta.find_undeclared_variables(tree))


def _parse(source: str) -> nodes.Template | None:
    try:
        return _environment().parse(source)
    except TemplateSyntaxError:
        return None
