"""What each part of the rules brings: rows whose verdict changes when it is away, and how many are right with it.

A part is a pattern of `phrases.toml` that takes a verdict away, or a place where stance is looked for. `make table`
prints those that change a verdict and names the others.
"""

import importlib
import json
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import mixseek.matching
from mixseek.matching.match import match_answer
from mixseek.matching.phrases import Phrases
from mixseek.matching.readings import Decision
from mixseek.matching.stance import stance as stances
from mixseek.matching.stance.before import UNFRAMED

# Their entries leave a reading open or take a "correct" away.
TABLES = ("commitment", "hedges", "stance_unspaced", "stance_within")
# The places where stance is looked for, and what each says when there is nothing.
_PLACES = {
    "frame_before": UNFRAMED,
    "last_judgement": None,
    "said_of_another": None,
    "named_within": None,
    "left_open": None,
    "ill_spoken_before": None,
    "ill_spoken_behind": None,
    "ill_spoken_aside": None,
}
_NEVER = re.compile(r"(?!)")

Row = Mapping[str, Any]


class Part(NamedTuple):
    """A part, rows in which it was found, those whose verdict it changes, and how many of these are right."""

    name: str
    rows: int
    changed: int
    right_with: int
    right_without: int


class _Watched:
    """A pattern that notes when it is asked for and when it is found."""

    def __init__(self, name: str, pattern: re.Pattern[str], asked: set[str], found: set[str]) -> None:
        self._name, self._pattern, self._asked, self._found = name, pattern, asked, found

    def _noted(self, matches: Sequence[re.Match[str] | None]) -> None:
        self._asked.add(self._name)
        if any(match is not None for match in matches):
            self._found.add(self._name)

    def search(self, *where: Any) -> re.Match[str] | None:
        match: re.Match[str] | None = self._pattern.search(*where)
        self._noted([match])
        return match

    def match(self, *where: Any) -> re.Match[str] | None:
        match: re.Match[str] | None = self._pattern.match(*where)
        self._noted([match])
        return match

    def fullmatch(self, *where: Any) -> re.Match[str] | None:
        match: re.Match[str] | None = self._pattern.fullmatch(*where)
        self._noted([match])
        return match

    def finditer(self, *where: Any) -> Iterator[re.Match[str]]:
        matches = list(self._pattern.finditer(*where))
        self._noted(matches)
        return iter(matches)

    def sub(self, replacement: str, text: str) -> str:
        self._noted([self._pattern.search(text)])
        return self._pattern.sub(replacement, text)


def phrase_tables() -> list[Phrases]:
    """Those of TABLES that modules of the matcher hold."""
    names = [module.name for module in pkgutil.walk_packages(mixseek.matching.__path__, "mixseek.matching.")]
    values = [value for name in names for value in vars(importlib.import_module(name)).values()]
    tables = {id(value): value for value in values if isinstance(value, Phrases) and value.table in TABLES}
    return sorted(tables.values(), key=lambda phrases: phrases.table)


def verdict(row: Row) -> Decision:
    """What the rules say of a row."""
    return match_answer(
        row["response"],
        row["ground_truth"],
        question=row.get("question") or "",
        alternatives=row.get("ground_truth_alternatives") or (),
    ).decision


def part_by_part(rows: Sequence[Row]) -> list[Part]:
    """Each pattern that is asked for, judged without it where it was found; then each place of stance."""
    asked: set[str] = set()
    found: set[str] = set()
    held = {f"{phrases.table}.{entry}": (phrases, entry) for phrases in phrase_tables() for entry in phrases.texts}
    verdicts, by_part = [], defaultdict(list)
    for name, (phrases, entry) in held.items():
        setattr(phrases, entry, _Watched(name, getattr(phrases, entry), asked, found))
    try:
        for place, row in enumerate(rows):
            found.clear()
            verdicts.append(verdict(row))
            for name in found:
                by_part[name].append(place)
    finally:
        for phrases, entry in held.values():
            delattr(phrases, entry)
    parts = []
    for name in sorted(asked):
        with _replaced(*held[name], _NEVER):
            parts.append(_part(name, rows, verdicts, by_part[name]))
    undecided = [place for place, decision in enumerate(verdicts) if decision is Decision.UNDECIDED]
    for name, nothing in _PLACES.items():
        with patch.object(stances, name, return_value=nothing):
            parts.append(_part(f"stance.{name}", rows, verdicts, undecided))
    return parts


@contextmanager
def _replaced(phrases: Phrases, entry: str, pattern: re.Pattern[str]) -> Iterator[None]:
    setattr(phrases, entry, pattern)
    try:
        yield
    finally:
        delattr(phrases, entry)


def _part(name: str, rows: Sequence[Row], verdicts: Sequence[Decision], places: Iterable[int]) -> Part:
    where = list(places)
    without = {place: verdict(rows[place]) for place in where}
    changed = [place for place in where if without[place] is not verdicts[place]]
    right_with = sum(_is_right(verdicts[place], rows[place]) for place in changed)
    return Part(name, len(where), len(changed), right_with, sum(_is_right(without[at], rows[at]) for at in changed))


def _is_right(decision: Decision, row: Row) -> bool:
    return decision is (Decision.CORRECT if row["label"] else Decision.INCORRECT)


def print_parts(paths: Iterable[Path], trusted: frozenset[str]) -> None:
    """One line a part that changes a verdict; the others by name, for they may go unless a test needs them."""
    rows = [row for path in paths for row in _labelled(path) if row["label_confidence"] in trusted]
    parts = part_by_part(rows)
    print("\nWhat each part brings: rows whose verdict changes when it is away, and how many of these are right:\n")
    print("| part | rows with it | changed | right with it | right without |")
    print("|---|---:|---:|---:|---:|")
    for part in sorted(parts, key=lambda part: -part.changed):
        if part.changed:
            print(f"| {part.name} | {part.rows:,} | {part.changed} | {part.right_with} | {part.right_without} |")
    idle = [part.name for part in parts if not part.changed]
    print(f"\nNo verdict changes without these, which tests alone hold: {', '.join(idle)}")


def _labelled(path: Path) -> list[Row]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
