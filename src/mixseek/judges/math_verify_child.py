"""The child process behind `MathVerify`: one pair of texts a line in, one word a line out.

It must not outlive its parent, whatever it computes: a thread ends it when its input is closed, and where that thread
cannot get a word in, the alarm of each comparison does.
"""

import json
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

_MOST_BYTES = 2 * 1024**3
_DELIMITED = re.compile(r"\$|\\\(|\\\[|\\boxed")


def serve(seconds: float) -> None:
    """Answers until the input ends."""
    _limit_memory()
    compare = _load()
    # The first comparison builds the grammar; that is part of the start.
    compare("1", "x")
    requests: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    print("ready", flush=True)
    while True:
        gold, answer = json.loads(requests.get())
        _set_alarm(seconds)
        relation = compare(gold, answer)
        _set_alarm(0)
        print(relation, flush=True)


def _listen(requests: "SimpleQueue[bytes]") -> None:
    for line in sys.stdin.buffer:
        requests.put(line)
    os._exit(0)


def _set_alarm(seconds: float) -> None:
    """Counts time of the processor. Nobody handles it, so the system ends the process itself, and our parent knows."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:
        # Not on this system; the time is bounded all the same.
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = _MOST_BYTES if most == resource.RLIM_INFINITY else min(_MOST_BYTES, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _load() -> Callable[[str, str], str]:
    # It warns once that timeouts are off and logs every text it cannot read; both are expected here.
    logging.disable(logging.CRITICAL)
    from math_verify import parse, verify

    def read(text: str) -> list[Any]:
        marked = text if _DELIMITED.search(text) else f"${text}$"
        # A text that is not read comes back as itself, and two equal texts prove nothing.
        return [expression for expression in parse(marked, parsing_timeout=None) if not isinstance(expression, str)]

    def compare(gold: str, answer: str) -> str:
        try:
            theirs, ours = read(gold), read(answer)
            if not theirs or not ours:
                return "unread"
            options = {"timeout_seconds": None, "allow_set_relation_comp": True}
            if verify(theirs, ours, **options):
                return "equal"
            if not _may_differ(_kind(theirs[0]), _kind(ours[0])) and not _is_no_equation(theirs[0], ours[0]):
                return "unsure"
            return "close" if verify(theirs, ours, float_rounding=2, **options) else "different"
        except Exception:  # noqa: BLE001 - whatever algebra raises on judged text, it has no opinion
            return "unread"

    return compare


def _may_differ(gold_kind: str | None, answer_kind: str | None) -> bool:
    """Whether "not equal" means different: an inequality and a set, a triple and a column may be one answer."""
    return gold_kind is not None and (gold_kind == answer_kind or {gold_kind, answer_kind} == {"number", "formula"})


def _is_no_equation(gold: Any, answer: Any) -> bool:
    """Whether one is an equation between several letters and the other a mere value, which solves it for no letter."""
    from sympy import Eq, Symbol, simplify, solve

    equation, value = (gold, answer) if isinstance(gold, Eq) else (answer, gold)
    if not isinstance(equation, Eq) or _kind(value) not in {"number", "formula"} or isinstance(value, Eq):
        return False
    letters = equation.free_symbols
    if len(letters) < 2 or any(isinstance(side, Symbol) for side in equation.args):
        return False
    return not any(simplify(solution - value) == 0 for letter in letters for solution in solve(equation, letter))


def _kind(value: Any) -> str | None:
    """None for what people write in more ways than are compared: relations, systems, letters that are constants."""
    from sympy import Eq, Expr, FiniteSet, Interval, MatrixBase, Symbol, Tuple, Union

    if isinstance(value, Eq) and isinstance(value.lhs, Symbol):
        return _kind(value.rhs)
    if isinstance(value, MatrixBase):
        return "matrix"
    if isinstance(value, FiniteSet | Tuple):
        inner = {_kind(item) for item in value.args}
        return ("set" if isinstance(value, FiniteSet) else "tuple") if inner <= {"number", "formula", "tuple"} else None
    if isinstance(value, Interval | Union):
        return "set"
    if not isinstance(value, Expr):
        return None
    letters = {str(symbol) for symbol in value.free_symbols}
    return None if letters & {"i", "e"} else "formula" if letters else "number"


if __name__ == "__main__":
    serve(float(sys.argv[1]))
