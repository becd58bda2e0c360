"""Regular expressions that others write, on texts that models write: none of them may hang a run.

Python's engine tries one way after another, so a pattern is measured before it is used: in how many ways its repeats
can share a text. One that has them without bound, such as `(a+)*`, is refused where it is declared; any other is tried
on texts up to a length at which all its ways together are surely quick, and on longer ones not at all.
"""

import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass

# Steps of the engine that take a second or a few.
MOST_STEPS = 200_000_000
# A pattern that cannot be tried on so short a text is of no use.
FEWEST_CHARACTERS = 500
MOST_CHARACTERS = 1_000_000
LONGEST_PATTERN = 2_000
_LENGTHS = (MOST_CHARACTERS, 200_000, 100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, FEWEST_CHARACTERS)
# What re.compile itself goes by; it has no public form.
_parser: Any = importlib.import_module("re._parser")
_BACKTRACKING = ("MAX_REPEAT", "MIN_REPEAT")
_UNBOUNDED = int(_parser.MAXREPEAT)
# Every letter of Unicode's first planes that a category takes; ranges and negations are taken to overlap with anything.
_CATEGORIES = {
    f"CATEGORY_{name}": frozenset(map(ord, re.findall(pattern, "".join(map(chr, range(0x3_000))))))
    for name, pattern in (("DIGIT", r"\d"), ("SPACE", r"\s"), ("WORD", r"\w"))
}
_ADVICE = "make what repeats inside possessive (`\\d++` instead of `\\d+`), or bound it (`{0,20}`)"


class UnboundedWaysError(Exception):
    """A repeat can share one text in more ways than anybody can try."""


class Cost(NamedTuple):
    """The ways in which a part can match from one place, and the steps that it takes to try them all."""

    ways: float
    steps: float


_ONE_LETTER = Cost(1.0, 1.0)


@dataclass(frozen=True, slots=True)
class SafePattern:
    """A pattern with the most characters of a text on which it is tried."""

    text: str
    most_characters: int

    def search(self, text: str) -> bool | None:
        """Whether it stands somewhere in the text; None where the text is too long to be tried."""
        if len(text) > self.most_characters:
            return None
        return re.search(self.text, text) is not None


@lru_cache(maxsize=1_024)
def safe_pattern(text: str) -> SafePattern:
    """Raises ConfigurationError for what is no pattern, and for one that no text is short enough for."""
    if len(text) > LONGEST_PATTERN:
        raise ConfigurationError(f"the pattern has {len(text):,} characters; write at most {LONGEST_PATTERN:,}")
    try:
        re.compile(text)
        parsed = _parser.parse(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ConfigurationError(f"{text[:80]!r} is no regular expression: {error}") from error
    for length in _LENGTHS:
        try:
            cost = measure(parsed, length)
        except UnboundedWaysError:
            break
        # From every place of the text, unless it begins at the first.
        places = 1 if is_anchored(parsed) else length
        if places * cost.steps <= MOST_STEPS:
            return SafePattern(text, length)
    raise ConfigurationError(f"{text[:80]!r} could take for ever on a text that a model wrote; {_ADVICE}")


def is_anchored(parsed: Iterable[tuple[Any, Any]]) -> bool:
    """Whether it can match at the beginning of the text only."""
    first = next(iter(parsed), None)
    return first is not None and str(first[0]) == "AT" and str(first[1]) in ("AT_BEGINNING", "AT_BEGINNING_STRING")


def measure(parsed: Iterable[tuple[Any, Any]], length: int) -> Cost:
    """A sequence of parts on a text of that length; raises UnboundedWaysError."""
    parts = list(without_groups(parsed))
    ways, steps, sharing = 1.0, 0.0, 0
    for place, (operation, argument) in enumerate(parts):
        part = measure_part(str(operation), argument, length)
        if str(operation) in _BACKTRACKING and ends_itself(argument, parts[place + 1 :]):
            part = Cost(1.0, part.steps)
        elif part.ways >= length:
            # So many repeats share one text: what the first takes is no longer there for the second.
            sharing += 1
            part = Cost(part.ways / sharing, part.steps / sharing)
        steps += ways * part.steps
        ways *= part.ways
    return Cost(ways, steps)


def without_groups(parsed: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """The parts as they follow each other, whatever is put in parentheses."""
    for operation, argument in parsed:
        if str(operation) == "SUBPATTERN":
            yield from without_groups(argument[-1])
        else:
            yield operation, argument


def ends_itself(repeat: tuple[int, int, Any], rest: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a repeat of single letters must end where what follows begins, as `\\d+,` does: one way, not many."""
    least_taken, following = repeat[2], next(iter(rest), None)
    if len(least_taken) != 1 or following is None:
        return False
    operation, argument = following
    if str(operation) in (*_BACKTRACKING, "POSSESSIVE_REPEAT"):
        if argument[0] < 1 or len(argument[2]) != 1:
            return False
        operation, argument = argument[2][0]
    letters = letters_of(*least_taken[0]), letters_of(str(operation), argument)
    return all(letters) and not frozenset.intersection(*letters)


def letters_of(operation: Any, argument: Any) -> frozenset[int]:
    """The letters that a part takes, of those that tell sets apart; empty where it is no single letter."""
    match str(operation):
        case "LITERAL":
            # In either case: a pattern may be told not to mind.
            return frozenset({argument, ord(chr(argument).lower()[0]), ord(chr(argument).upper()[0])})
        case "IN" if not any(str(kind) == "NEGATE" for kind, _ in argument):
            letters: set[int] = set()
            for kind, item in argument:
                if str(kind) == "LITERAL":
                    letters |= letters_of("LITERAL", item)
                elif str(kind) == "CATEGORY" and str(item) in _CATEGORIES:
                    letters |= _CATEGORIES[str(item)]
                else:
                    # A range may hold anything.
                    return frozenset()
            return frozenset(letters)
        case _:
            return frozenset()


def measure_part(operation: str, argument: Any, length: int) -> Cost:
    match operation:
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, body = argument
            return measure_repeat(operation, (least, most), body, length)
        case "BRANCH":
            return measure_branches(argument[1], length)
        case "ATOMIC_GROUP":
            return Cost(1.0, measure(argument, length).steps)
        case "ASSERT" | "ASSERT_NOT":
            return Cost(1.0, measure(argument[1], length).steps)
        case "GROUPREF":
            return Cost(1.0, length)
        case "GROUPREF_EXISTS":
            return measure_branches([part for part in argument[1:] if part is not None], length)
        case _:
            return _ONE_LETTER


def measure_repeat(operation: str, bounds: tuple[int, int], body: Sequence[Any], length: int) -> Cost:
    least, most = bounds
    inner = measure(body, length)
    span = float(min(most, length))
    # All turns together take no more letters than there are.
    steps = min(span * inner.steps, 2.0 * length + inner.steps)
    if operation not in _BACKTRACKING:
        # It gives nothing back, so only what is tried within one turn counts.
        return Cost(1.0, steps)
    if inner.ways > 1:
        if most == _UNBOUNDED:
            raise UnboundedWaysError
        try:
            ways = inner.ways**most * max(1.0, span - least)
        except OverflowError:
            raise UnboundedWaysError from None
        return Cost(ways, ways * inner.steps)
    return Cost(max(1.0, span - least + 1), steps)


def measure_branches(branches: Sequence[Any], length: int) -> Cost:
    """Where every branch begins with a letter of its own, one text goes one way."""
    costs = [measure(branch, length) for branch in branches]
    beginnings = [first_letter(branch) for branch in branches]
    steps = sum(cost.steps for cost in costs)
    if None not in beginnings and len(set(beginnings)) == len(beginnings):
        return Cost(max((cost.ways for cost in costs), default=1.0), steps)
    return Cost(sum(cost.ways for cost in costs), steps)


def first_letter(branch: Iterable[tuple[Any, Any]]) -> int | None:
    """The letter that a branch begins with; None where it may be one of several."""
    first = next(iter(branch), None)
    return first[1] if first is not None and str(first[0]) == "LITERAL" else None
