"""Prompt templates: checked when they are loaded, sandboxed when they run, and blind to what data contains.

A template may come from anybody, so none can hang or eat the machine: what multiplies texts does not exist, loops and
filters have a budget, and nothing is longer than a prompt could be. What exceeds it is a mistake in the template.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any

from jinja2 import Environment, StrictUndefined, Template, TemplateError, TemplateSyntaxError, meta, nodes
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.runtime import Context, new_context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import pass_environment

from mixseek.domain.ports import Nonces
from mixseek.errors import ConfigurationError, TemplateRenderError, suggest
from mixseek.lazy_dataclass import dataclass

_MAX_SOURCE = 200_000
# A prompt may show what it is about a few times over.
_MAX_LENGTH = 10_000_000
_MAX_COPIES = 20
_MAX_TURNS = 100_000
# Characters and items that filters look at in one rendering, beside so many passes through its texts.
_MAX_WORK = 2_000_000
_MAX_NUMBER = 10**18
_MAX_WIDTH = 1_000

# Filters that neither multiply texts nor reach for anything outside. `format`, `center` and `random` are not missed.
_FILTER_NAMES = (
    "abs attr capitalize count d default dictsort e escape first float int items last length list lower map max min "
    "reject rejectattr reverse safe select selectattr sort string sum title tojson trim truncate unique upper wordcount"
)
_METHODS: tuple[tuple[tuple[type, ...], str], ...] = (
    (
        (str,),
        "capitalize casefold count endswith find index isalnum isalpha isdigit islower isspace isupper lower lstrip "
        "partition removeprefix removesuffix rpartition rsplit rstrip split splitlines startswith strip title upper",
    ),
    ((dict,), "get items keys values"),
    ((list, tuple), "count index"),
    ((int, float, bytes), ""),
)
_REFUSED_BLOCKS: dict[type[nodes.Node], str] = {
    nodes.Macro: "macro",
    nodes.CallBlock: "call",
    nodes.FilterBlock: "the filter block",
    nodes.AssignBlock: "the block form of set",
}
# What a template may provoke inside the sandbox; a bug of ours (AssertionError, ImportError) is not hidden.
_PROVOKED = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RuntimeError)


@dataclass(slots=True)
class _Budget:
    """What one rendering may still take."""

    length: int
    work: int
    turns: int = _MAX_TURNS

    def check_length(self, length: int) -> None:
        if length > self.length:
            raise SecurityError(f"makes a text of more than {self.length:,} characters")

    def spend_work(self, amount: int) -> None:
        self.work -= amount
        if self.work < 0:
            raise SecurityError("works through its texts too often; use fewer filters inside loops")


_budget: ContextVar[_Budget] = ContextVar("_budget")


@dataclass(frozen=True, slots=True)
class StrictTemplate:
    """A compiled template; `where` names its file in every message."""

    compiled: Template
    where: str
    # The names that it takes from outside.
    variables: frozenset[str] = frozenset()

    def render(self, variables: Mapping[str, object]) -> str:
        """Values are inserted as they are: template syntax inside them stays text."""
        return self._render(variables) if variables else _render_alone(self)

    def _render(self, variables: Mapping[str, object]) -> str:
        shown = sum([len(value) for value in variables.values() if isinstance(value, str)])
        budget = _Budget(_MAX_LENGTH + _MAX_COPIES * shown, _MAX_WORK + _MAX_COPIES * shown)
        token = _budget.set(budget)
        pieces, length = [], 0
        try:
            # What `generate` would do, without the globals, of which there are none, and a second generator around it.
            template = self.compiled
            context = new_context(template.environment, template.name, template.blocks, dict(variables), shared=True)
            for piece in template.root_render_func(context):
                length += len(piece)
                if length > budget.length:
                    budget.check_length(length)
                pieces.append(piece)
        except _PROVOKED as error:
            # The opening words are seed 004's.
            raise TemplateRenderError(f"Jinja2 template error: {self.where}: {error}") from error
        finally:
            _budget.reset(token)
        return "".join(pieces)


# A system's message is the same for every sample.
@lru_cache(maxsize=64)
def _render_alone(template: StrictTemplate) -> str:
    return template._render({})


def compile_template(source: str, allowed_variables: Collection[str], where: str) -> StrictTemplate:
    """Refuses at load what would otherwise surface at the first rendering, after samples have been read."""
    return _compile(source, frozenset(allowed_variables), where)


# Protocols hold sources, because compiled templates cannot be pickled; the cache makes asking again free.
@lru_cache(maxsize=256)
def _compile(source: str, allowed: frozenset[str], where: str) -> StrictTemplate:
    if len(source) > _MAX_SOURCE:
        raise ConfigurationError(f"{where}: {len(source):,} characters; a template has at most {_MAX_SOURCE:,}")
    environment = _environment()
    try:
        tree = environment.parse(source, name=where)
        if list(meta.find_referenced_templates(tree)):
            unavailable = "include, import and extends are not available; put the text into this file"
            raise ConfigurationError(f"{where}: {unavailable}")
        for line, problem in _undeclared(tree, allowed):
            raise ConfigurationError(f"{where}:{line}: {problem}")
        variables = frozenset(meta.find_undeclared_variables(tree))
        compiled = environment.from_string(_bounded(tree))
    except TemplateSyntaxError as error:
        raise ConfigurationError(f"{where}:{error.lineno}: not a valid Jinja2 template: {error.message}") from error
    except (RecursionError, MemoryError, SyntaxError, ValueError, OverflowError) as error:
        # Python's own compiler comes last: nesting that Jinja2 still follows may be too deep for it.
        too_deep = "it is nested too deeply; write it without that many brackets or blocks inside each other"
        why = error if isinstance(error, ValueError | OverflowError) else too_deep
        raise ConfigurationError(f"{where}: not a usable Jinja2 template: {why}") from error
    return StrictTemplate(compiled, where, variables)


def _bounded(tree: nodes.Template) -> nodes.Template:
    """The same template, whose loops and joined texts count against the budget."""
    for kind, name in _REFUSED_BLOCKS.items():
        if (block := tree.find(kind)) is not None:
            raise TemplateSyntaxError(f"{name} is not available in prompts; write the text out", block.lineno)
    for loop in list(tree.find_all(nodes.For)):
        if loop.recursive:
            raise TemplateSyntaxError("recursive loops are not available in prompts", loop.lineno)
        loop.iter = _filtered(loop.iter, "_counted")
    for joined in list(tree.find_all(nodes.Concat)):
        joined.nodes = [_filtered(nodes.List(joined.nodes, lineno=joined.lineno), "_joined")]
    return tree


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class _Environment(ImmutableSandboxedEnvironment):
    # Each of these can multiply: texts by numbers, numbers by numbers, formats by their width.
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        numbers = all(isinstance(operand, int | float) for operand in (left, right))
        if operator == "**" or (operator != "+" and not numbers):
            raise SecurityError(f"{operator} is only for numbers, and ** is not available in prompts")
        if not numbers and hasattr(left, "__len__") and hasattr(right, "__len__"):
            _budget.get().check_length(len(left) + len(right))
        result = super().call_binop(context, operator, left, right)
        if isinstance(result, int) and abs(result) > _MAX_NUMBER:
            raise SecurityError("a number grows beyond any that a prompt needs")
        return result

    def wrap_str_format(self, value: Any) -> None:
        """None leaves `format` to the list of methods, which it is not on: a width may be a billion."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        for kinds, names in _METHODS:
            if isinstance(obj, kinds) and callable(value):
                return attr in names.split()
        return super().is_safe_attribute(obj, attr, value)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = _Environment(
        undefined=StrictUndefined,
        # A prompt is not HTML: escaping would change the judged text.
        autoescape=False,
        keep_trailing_newline=True,
        # Constants are computed where everything else is: within a budget.
        optimized=False,
    )
    # Without globals, a variable that is not declared is always reported as such.
    environment.globals.clear()
    environment.filters = {
        **{name: _charged(FILTERS[name]) for name in _FILTER_NAMES.split()},
        "_counted": _counted,
        "_joined": _join,
        "join": _join,
        "replace": _replace,
        "indent": _indent,
        "batch": _charged(FILTERS["batch"], most=_MAX_WIDTH),
        "slice": _charged(FILTERS["slice"], most=_MAX_WIDTH),
        "round": _charged(FILTERS["round"], most=15),
    }
    return environment


def _charged(function: Callable[..., Any], most: int | None = None) -> Callable[..., Any]:
    """A filter of Jinja2's, what it looks at counted, and with a limit where it makes as much as it is told to."""

    @wraps(function)
    def charged(*arguments: Any, **named: Any) -> Any:
        sizes = (len(argument) if isinstance(argument, str | list | tuple | dict) else 1 for argument in arguments)
        _budget.get().spend_work(sum(sizes))
        numbers = [argument for argument in (*arguments[1:], *named.values()) if isinstance(argument, int)]
        if most is not None and any(abs(number) > most for number in numbers):
            raise SecurityError(f"{function.__name__.removeprefix('do_')} takes a number of at most {most:,}")
        return function(*arguments, **named)

    return charged


def _counted(items: Iterable[Any]) -> Iterator[Any]:
    budget = _budget.get()
    for item in items:
        budget.turns -= 1
        if budget.turns < 0:
            raise SecurityError(f"loops more than {_MAX_TURNS:,} times")
        yield item


@pass_environment
def _join(environment: Environment, pieces: Iterable[Any], separator: str = "", attribute: str | None = None) -> str:
    """Jinja2's `join`, whose length is known before it is made."""
    budget = _budget.get()
    texts, length = [], 0
    for piece in pieces:
        # A value that is undefined says so here.
        texts.append(str(piece if attribute is None else environment.getitem(piece, attribute)))
        length += len(texts[-1]) + len(separator)
        budget.check_length(length)
    budget.spend_work(length)
    return str(separator).join(texts)


def _replace(text: str, old: str, new: str, count: int | None = None) -> str:
    budget = _budget.get()
    text, old, new = str(text), str(old), str(new)
    budget.spend_work(len(text))
    occurrences = len(text) + 1 if not old else text.count(old)
    budget.check_length(len(text) + occurrences * len(new))
    return text.replace(old, new, -1 if count is None else count)


def _indent(text: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    lead = width if isinstance(width, str) else " " * min(max(width, 0), _MAX_WIDTH)
    lines = str(text).splitlines(keepends=True)
    budget = _budget.get()
    budget.spend_work(len(text))
    budget.check_length(len(text) + len(lead) * (len(lines) + 1))
    return "".join(
        line if (number == 0 and not first) or not (blank or line.strip()) else lead + line
        for number, line in enumerate(lines)
    )


def _undeclared(tree: nodes.Template, allowed: frozenset[str]) -> list[tuple[int, str]]:
    """Unknown variables in the order of the alphabet; each name once, where it stands first."""
    complaints = []
    known = ", ".join(sorted(allowed)) or "none"
    for name in sorted(meta.find_undeclared_variables(tree) - allowed):
        line = min((node.lineno for node in tree.find_all(nodes.Name) if node.name == name), default=1)
        complaints.append(
            (line, f"unknown variable {name!r}; " + f"{suggest(name, allowed)} available: {known}".lstrip())
        )
    return complaints


def undeclared_variables(source: str, allowed_variables: Collection[str]) -> list[tuple[int, str]]:
    """All at once, for a lint: the line and what is wrong; nothing for a source that does not parse."""
    return _undeclared(_parse(source), frozenset(allowed_variables))


def used_variables(source: str) -> frozenset[str]:
    """The names that a template takes from outside; none for a source that does not parse."""
    return frozenset(meta.find_undeclared_variables(_parse(source)))


class _AnyFilter(dict[str, Any]):
    """A filter of any name, for finding variables: an unknown filter is another mistake, told by compiling."""

    def get(self, key: str, default: Any = None) -> Any:
        return super().get(key, str)


def _parse(source: str) -> nodes.Template:
    environment = _environment()
    environment.filters = _AnyFilter(environment.filters)
    environment.tests = _AnyFilter(environment.tests)
    try:
        return environment.parse(source if len(source) <= _MAX_SOURCE else "")
    except (TemplateSyntaxError, RecursionError, ValueError):
        return environment.parse("")


# Fences around judged text: whoever wrote the text cannot know the nonce, so cannot close the fence.

# 96 bits: not to be guessed, and still short enough for a judge to copy and compare.
NONCE_LENGTH = 24
_LABEL = re.compile(r"[A-Z][A-Z0-9_]*")
_DIGITS = re.compile(r"[0-9]+")


def fence_nonce(workspace_key: bytes, sample_key: str) -> str:
    """The same for a sample in every run of a workspace, so that requests hit the cache; unknown outside of it."""
    return _digest(workspace_key, b"fence\x00", sample_key)


def fence_nonces(workspace_key: bytes, sample_key: str, question: str) -> Nonces:
    """The same, and one for the question that all of its samples share, so that their prompts begin alike."""
    return Nonces(_digest(workspace_key, b"question\x00", question), fence_nonce(workspace_key, sample_key))


def _digest(workspace_key: bytes, purpose: bytes, text: str) -> str:
    digest = _begin_nonce(workspace_key, purpose).copy()
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:NONCE_LENGTH]


# Begun once: to begin takes longer than the rest.
@lru_cache(maxsize=16)
def _begin_nonce(workspace_key: bytes, purpose: bytes) -> hmac.HMAC:
    # The purpose keeps these digests apart from each other and from whatever else the workspace key may sign.
    return hmac.new(workspace_key, purpose, "sha256")


def unused_nonce(nonce: str, texts: Iterable[str]) -> str:
    """`nonce`, or, should it stand in a text, the first of its descendants that stands in none of them."""
    # A nonce holds no line break, so it cannot stand across two of them. Whatever its case: a judge may read any.
    text = "\n".join(texts)
    # Folding a long text takes most of the time, and nothing folds to a digit: without the nonce's digits it is unused.
    if _longest_digits(nonce) not in text:
        return nonce
    text = text.casefold()
    while nonce.casefold() in text:
        nonce = hashlib.sha256(nonce.encode()).hexdigest()[:NONCE_LENGTH]
    return nonce


def unused_nonces(nonces: Nonces, texts: Iterable[str]) -> Nonces:
    """Both, neither of which stands in any of the texts: a response that learnt its question's closes no fence."""
    text = "\n".join(texts)
    return Nonces(unused_nonce(nonces.question, (text,)), unused_nonce(nonces.sample, (text,)))


# Each text of a prompt is asked for the same nonce, and hundreds of prompts are under way.
@lru_cache(maxsize=1024)
def _longest_digits(nonce: str) -> str:
    return max(_DIGITS.findall(nonce), key=len, default="")


def fence(text: str, label: str, nonce: str, *, has_headings: bool = False) -> str:
    """The text, to the letter, between two lines that only the nonce's holder could have written.

    `has_headings`: the text is a transcript, whose headings hold this very nonce, and nothing else in it does.
    """
    if not _LABEL.fullmatch(label) or not (nonce.isascii() and nonce.isalnum()):
        raise ValueError(f"a fence needs an upper-case label and an alphanumeric nonce, not {label!r} and {nonce!r}")
    nonce = nonce if has_headings else unused_nonce(nonce, (text,))
    return f"<<<{label} {nonce}>>>\n{text}\n<<<END {label} {nonce}>>>"
