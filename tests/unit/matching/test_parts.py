"""`make table` says what each part of the rules brings, and no part is there that nobody asks for."""

import re
from pathlib import Path

from bench.parts import TABLES, Part, part_by_part, phrase_tables

from mixseek import matching

_ROWS = [
    {"response": "The answer is about 42.", "ground_truth": "42", "label": True},
    {"response": "The answer is 42. Is that right? I fear not.", "ground_truth": "42", "label": False},
    {"response": "The answer is 42.", "ground_truth": "42", "label": True},
]


def test_a_part_is_measured_by_the_verdicts_that_change_without_it() -> None:
    """Right or wrong, an undecided row is neither; what changes nothing is shown as such."""
    parts = {part.name: part for part in part_by_part(_ROWS)}

    assert Part("hedges.bounded", 1, 1, 0, 1) == parts["hedges.bounded"]
    assert Part("stance.last_judgement", 2, 1, 0, 0) == parts["stance.last_judgement"]
    assert parts["stance.frame_before"].changed == 0


def test_measuring_leaves_the_rules_as_they_were() -> None:
    part_by_part(_ROWS)

    assert part_by_part(_ROWS) == part_by_part(_ROWS)
    assert all(
        isinstance(getattr(phrases, entry), re.Pattern) for phrases in phrase_tables() for entry in phrases.texts
    )


def test_every_pattern_of_these_tables_is_asked_for_or_part_of_one_that_is() -> None:
    room = Path(matching.__path__[0])
    sources = "".join(path.read_text(encoding="utf-8") for path in room.rglob("*.py"))
    tables = phrase_tables()

    assert sorted({phrases.table for phrases in tables}) == sorted(TABLES)
    for phrases in tables:
        whole = sources + "".join(phrases.texts.values())
        idle = [entry for entry in phrases.texts if f".{entry}" not in whole and f"{{{entry}}}" not in whole]
        assert idle == []
