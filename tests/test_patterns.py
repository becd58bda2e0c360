"""No regular expression of ours takes the square of its text: others write the text, and one body would hang a run."""

import ast
import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import mixseek
from mixseek.matching.phrases import Phrases

pytestmark = pytest.mark.thorough

ANSWER = "\nThe answer is (B), so 42.\n"
# What people and models repeat without end; more is made from each pattern.
UNITS = (" ", "\n", "a", "1", "*", "-", ".", "(", "\\", "answer ", "> ", '"', "日")
MOST_UNITS_OF_ONE = 16
# Each text is four times as long as the one before: 4 is a line, 16 a square.
SIZES = (1_000, 4_000, 16_000, 64_000, 200_000)
# Of all patterns, so that several workers look: to list them takes seconds, and is not for those who collect tests.
SHARES = 60
MEASURABLE_SECONDS, MOST_GROWTH, DOUBTFUL_GROWTH = 0.001, 8.0, 5.5
# A square that shows late: where a line takes 4 times as long, one that is a third of the time already takes 5.
BRIEF_SECONDS, CLEAR_GROWTH, LOOKED_BEFORE = 0.000_04, 5.0, 16_000


class Held(NamedTuple):
    """A pattern, and what it is called in which module."""

    module: str
    name: str
    pattern: re.Pattern[str]


@cache
def sources() -> dict[str, str]:
    """Of every module, by its name."""
    root = Path(mixseek.__path__[0])
    names = [module.name for module in pkgutil.walk_packages(mixseek.__path__, "mixseek.")]
    files = {name: root.joinpath(*name.split(".")[1:]) for name in names if not name.endswith("__main__")}
    paths = {name: file / "__init__.py" if file.is_dir() else file.with_suffix(".py") for name, file in files.items()}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items()}


@cache
def used_entries() -> frozenset[str]:
    """What any module takes out of something that is written in capitals: `CUES.final`. One search for all of them."""
    return frozenset(re.findall(r"\b[A-Z_]{2,}\.(\w+)", "\n".join(sources().values())))


def held_in(value: Any, name: str, seen: set[int]) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Patterns in what a module holds, at any depth; called like the nearest attribute or key."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield name, value
        return
    if id(value) in seen:
        return
    if isinstance(value, Phrases):
        # Compiled when first used, here all of them: what is only a part of others is tried within those.
        used = [entry for entry in value.texts if entry in used_entries()]
        parts = [(entry, getattr(value, entry)) for entry in used]
    elif isinstance(value, dict):
        parts = [(key if isinstance(key, str) else name, part) for key, part in value.items()]
        parts += [(name, key) for key in value if not isinstance(key, str)]
    elif isinstance(value, list | tuple | set | frozenset):
        parts = [(name, part) for part in value]
    elif is_dataclass(value):
        parts = [(field.name, getattr(value, field.name, None)) for field in fields(value)]
    elif (value if isinstance(value, type) else type(value)).__module__.startswith("mixseek"):
        slots = [(slot, getattr(value, slot, None)) for slot in getattr(type(value), "__slots__", ())]
        parts = [*getattr(value, "__dict__", {}).items(), *slots]
    else:
        return
    seen.add(id(value))
    for part_name, part in parts:
        yield from held_in(part, part_name, seen)


def written_in(source: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Patterns that stand in the call that uses them: `re.sub("…", …)`."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        first, owner = node.args[0], node.func.value
        if not (isinstance(owner, ast.Name) and owner.id == "re") or node.func.attr == "compile":
            continue
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            flags = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute) and part.attr.isupper()}
            yield f"re.{node.func.attr}", re.compile(first.value, sum(getattr(re, flag) for flag in flags))


@cache
def modules() -> dict[str, tuple[Held, ...]]:
    """Every pattern once, under the first module that holds it; modules of an extra that is not installed have none."""
    known: set[tuple[str, int]] = set()
    by_module: dict[str, tuple[Held, ...]] = {}
    for name, source in sources().items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        held = [*held_in(dict(vars(module)), name, set()), *written_in(source)]
        fresh = {(pattern.pattern, pattern.flags): Held(name, called, pattern) for called, pattern in held}
        by_module[name] = tuple(pattern for key, pattern in fresh.items() if key not in known)
        known |= fresh.keys()
    return {name: held for name, held in by_module.items() if held}


# Which texts a pattern is likely to stumble over, read from the pattern itself.

_parser = importlib.import_module("re._parser")
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_MANY = 50


def sample(items: Iterable[Any]) -> str:
    """A short text that a parsed pattern fits, more or less."""
    return "".join(sample_item(str(operation), argument) for operation, argument in items)


def sample_item(operation: str, argument: Any) -> str:
    match operation:
        case "LITERAL":
            return chr(argument)
        case "NOT_LITERAL":
            return "a" if argument != ord("a") else "b"
        case "ANY":
            return "a"
        case "IN":
            return sample_class(argument)
        case "BRANCH":
            return sample(argument[1][0])
        case "SUBPATTERN":
            return sample(argument[-1])
        case "ATOMIC_GROUP":
            return sample(argument)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return sample(argument[2]) * max(1, min(int(argument[0]), 3))
    return ""


def sample_class(members: Any) -> str:
    if str(members[0][0]) == "NEGATE":
        excluded = {sample_class([member]) for member in members[1:]}
        return next((letter for letter in "a1 -\n.日(" if letter not in excluded), "")
    operation, argument = str(members[0][0]), members[0][1]
    if operation == "RANGE":
        return chr(argument[0])
    letters = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a", "CATEGORY_NOT_WORD": "-"}
    return letters.get(str(argument), "a") if operation == "CATEGORY" else chr(argument)


def units_of(pattern: re.Pattern[str]) -> list[str]:
    """What it repeats itself, alone and behind what stands before it; then its beginnings."""
    repeated: list[str] = []
    whole: list[str] = []

    def walk(items: Any, before: str) -> None:
        for place, (operation, argument) in enumerate(items):
            name = str(operation)
            if name in _REPEATS and argument[1] >= _MANY:
                body, previous = sample(argument[2]), sample(items[place - 1 : place]) if place else ""
                repeated.extend((body, previous + body, before + body))
                whole.append(before)
            for part in parts_of(name, argument):
                walk(part, before)
            before += sample_item(name, argument)
        whole.append(before)

    walk(_parser.parse(pattern.pattern, pattern.flags), "")
    units = [unit for unit in dict.fromkeys((*repeated, *whole)) if unit and len(unit) <= 100 and unit not in UNITS]
    return units[:MOST_UNITS_OF_ONE]


def parts_of(operation: str, argument: Any) -> list[Any]:
    match operation:
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [argument[2]]
        case "BRANCH":
            return list(argument[1])
        case "SUBPATTERN":
            return [argument[-1]]
        case "ATOMIC_GROUP":
            return [argument]
        case "ASSERT" | "ASSERT_NOT":
            return [argument[1]]
    return []


@cache
def uses_of(module: str, name: str) -> frozenset[str]:
    """How it is held against texts, in its module or anywhere; searched for, where nobody uses it by its name."""
    if name.startswith("re."):
        return frozenset({name.removeprefix("re.")})
    # Also where one of two is chosen: `(A.letter if … else A.number).match`.
    chosen = r" if [^()\n]* else [\w.]+"
    uses = re.compile(rf"\b{re.escape(name)}(?:\[[^\]\n]*\]|{chosen})?\)?\.(\w+)")
    # Phrases of two tables may have one name: whoever uses it at home is asked first.
    home = uses.findall(sources()[module])
    places = [sources()[module]] if name.startswith("_") or home else sources().values()
    methods = {use for source in places for use in uses.findall(source)}
    return frozenset(methods & {"match", "fullmatch", *_SEARCHES}) or frozenset({"search"})


# How long it takes.

_SEARCHES = ("search", "finditer", "findall", "sub", "subn", "split")


def looking(held: Held, text: str) -> float:
    """CPU seconds of this thread, for all that there is to find."""
    uses = uses_of(held.module, held.name)
    begun = time.thread_time()
    if not uses.isdisjoint(_SEARCHES):
        for _ in held.pattern.finditer(text):
            pass
    if "match" in uses:
        held.pattern.match(text)
    if "fullmatch" in uses:
        held.pattern.fullmatch(text)
    return time.thread_time() - begun


def takes_square(measure: Callable[[int], float]) -> bool:
    """Whether four times the text takes more than eight times as long, as soon as it takes long enough to tell."""
    before = shorter = 0.0
    for place, size in enumerate(SIZES[:-1]):
        seconds = measure(size)
        if seconds >= MEASURABLE_SECONDS:
            # Once is enough to see a line; what is not one is looked at again, as others use the machine too.
            if before and seconds / before < DOUBTFUL_GROWTH:
                return False
            short, long = (min(measure(one) for _ in range(3)) for one in (size, SIZES[place + 1]))
            if long / short < DOUBTFUL_GROWTH or long / short > MOST_GROWTH:
                return long / short > MOST_GROWTH
        elif size == LOOKED_BEFORE and shorter >= BRIEF_SECONDS and is_clear(measure, seconds, SIZES[place - 1]):
            return False
        before = seconds if seconds >= MEASURABLE_SECONDS / 5 else 0.0
        shorter = seconds
    return False


def is_clear(measure: Callable[[int], float], seconds: float, shorter: int) -> bool:
    """Whether a line is to be seen before the next size is looked at, which would take two thirds of the time."""
    # What disturbs a measurement makes it longer: the shorter text, in whose favour that would be, is looked at again.
    return seconds / min(measure(shorter) for _ in range(3)) < CLEAR_GROWTH


def square_of(held: Held) -> str | None:
    """The first unit whose repetition, before and behind an answer, takes the square of the text."""

    def measure(unit: str) -> Callable[[int], float]:
        def seconds(size: int) -> float:
            half = unit * (size // (2 * len(unit)))
            return looking(held, half + ANSWER + half + "\x00")

        return seconds

    def is_always_square(unit: str) -> bool:
        """Whatever else the machine does disturbs a measurement, but not three of them."""
        return all(takes_square(measure(unit)) for _ in range(3))

    return next((unit for unit in (*UNITS, *units_of(held.pattern)) if is_always_square(unit)), None)


@pytest.mark.parametrize("share", range(SHARES))
def test_no_pattern_takes_the_square_of_its_text(share: int) -> None:
    patterns = [held for held_here in modules().values() for held in held_here][share::SHARES]
    squares = {(held.module, held.name): (held.pattern.pattern, unit) for held in patterns if (unit := square_of(held))}

    assert squares == {}


@pytest.mark.parametrize(
    "pattern", [r"[\w-]*\*{3,}[\w*-]*", r"<title>(.*?)</title>", r"\n\W*answer", r"(?:a|b)*c", r"\s+$"]
)
def test_a_pattern_that_takes_the_square_is_recognised(pattern: str) -> None:
    assert square_of(Held("", "re.search", re.compile(pattern, re.DOTALL)))


@pytest.mark.parametrize("pattern", [r"(?<![\w-])[\w-]*+\*{3,}[\w*-]*+", r"<[^<>]*>", r"\s{2,}", r"answer|final", r"."])
def test_a_pattern_that_does_not_is_not(pattern: str) -> None:
    assert not square_of(Held("", "re.search", re.compile(pattern)))


@pytest.mark.parametrize("line", [1e-8, 3e-8, 1e-7])
@pytest.mark.parametrize("start", [0.0, 3e-6])
def test_a_square_is_recognised_behind_a_line_that_takes_longer_at_first(line: float, start: float) -> None:
    """One that takes as long as the line at 16,000 letters; not one that takes a fiftieth of it at the longest text."""
    late, later = (line / letters for letters in (16_000, 10_000_000))

    assert takes_square(lambda size: start + line * size + late * size**2)
    assert not takes_square(lambda size: start + line * size + later * size**2)
