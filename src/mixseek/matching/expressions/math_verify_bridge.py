"""Ask math-verify, when it is installed and the built-in comparer declines; small inputs only.

Its timeouts use signals, which fail outside the main thread, so they are off and the size of the input is bounded
instead.
"""

import logging
import re
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

from mixseek.matching.expressions.findings import Finding, different, same

MAX_LENGTH: Final = 300
MAX_DEPTH: Final = 8
MAX_FUNCTIONS: Final = 6
MAX_OPERATIONS: Final = 40
# With variables in it, simplification can take minutes; our own comparer has dealt with formulas by value before this.
MAX_OPERATIONS_WITH_VARIABLES: Final = 12
# What makes a symbolic engine search without end: towers, long powers of sums, big factorials, sums, integrals.
_HEAVY: Final = re.compile(
    r"\^\s*\{?[^{}]{0,20}\^|\d{3,}\s*!|\^\s*\{?\s*-?\d{3,}|\)\s*\^\s*\{?\s*\d{2,}|\\int|\\sum|\\prod|\\lim|!!|\d{40,}"
)
_FUNCTIONS: Final = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc|arc\w{3}|log|ln|exp)")
_VARIABLE: Final = re.compile(r"(?<![\\A-Za-z])[a-df-hj-zA-Z](?![A-Za-z])")
_SLOW_WITH_VARIABLES: Final = re.compile(r"\\sqrt|\||\^\s*\{?\s*(?:\d\d|[4-9]|[^\d\s{])|!|\be\b")
_OPERATIONS: Final = re.compile(r"[-+*/^=<>(),]|\\(?:frac|sqrt|sin|cos|tan|log|ln|cdot|times)")
_PROSE: Final = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}[\s,]+[A-Za-z]{3,}|\\begin\{(?:cases|aligned|align|array)")
_DELIMITED: Final = re.compile(r"\$|\\\(|\\\[|\\boxed")


@cache
def is_installed() -> bool:
    """True when the extra `maths` is there; nothing is imported to find out."""
    return find_spec("math_verify") is not None


def compare(answer: str, gold: str) -> Finding | None:
    """None when math-verify is absent, the input is too big, or either side stays unread."""
    if not is_installed() or not (_is_light(answer) and _is_light(gold)):
        return None
    parse, verify = _load()
    ours, theirs = _parse(parse, answer), _parse(parse, gold)
    if not ours or not theirs:
        return None
    return same("math_verify") if verify(theirs, ours, timeout_seconds=None) else different("math_verify")


def _is_light(text: str) -> bool:
    if not 0 < len(text) <= MAX_LENGTH or _HEAVY.search(text) or _PROSE.search(text) or _depth(text) > MAX_DEPTH:
        return False
    functions, operations = len(_FUNCTIONS.findall(text)), len(_OPERATIONS.findall(text))
    if not _VARIABLE.search(text):
        return functions <= MAX_FUNCTIONS and operations <= MAX_OPERATIONS
    return not functions and operations <= MAX_OPERATIONS_WITH_VARIABLES and not _SLOW_WITH_VARIABLES.search(text)


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "({[":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")}]":
            depth -= 1
    return deepest


def _parse(parse: Any, text: str) -> list[Any]:
    """What math-verify reads, without its string fallbacks: two equal strings prove nothing about mathematics."""
    wrapped = text if _DELIMITED.search(text) else f"${text}$"
    return list(parse(wrapped, fallback_mode="no_fallback", parsing_timeout=None))


@cache
def _load() -> tuple[Any, Any]:
    # It warns once that timeouts are off and logs every text it cannot read; both are expected here.
    for name in ("math_verify", "latex2sympy2_extended"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    from math_verify import parse, verify

    return parse, verify
