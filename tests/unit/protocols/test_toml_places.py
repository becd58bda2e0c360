"""Every complaint about a declaration names the line where its key stands."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.protocols.toml_lines import key_lines, line_of

FILE = '''name = "x"
text = """
[not.a.table]
key = 1
"""

[a.b]          # a comment
c = { d = 1, "e f" = 2 }
"q.r" = 'x'

[a."odd name".z]
h.i = [
  1,
]
[[list]]
k = 1
'''


@each(
    ("place", "line"),
    [
        (("name",), 1),
        (("text",), 2),
        (("a",), 7),
        (("a", "b"), 7),
        (("a", "b", "c"), 8),
        (("a", "b", "c", "d"), 8),
        (("a", "b", "c", "e f"), 8),
        (("a", "b", "q.r"), 9),
        (("a", "odd name"), 11),
        (("a", "odd name", "z", "h", "i"), 12),
        (("a", "odd name", "z", "h", "i", 3, "deeper"), 12),
        (("list", "k"), 16),
        (("a", "b", "unknown"), 7),
        (("not", "a", "table"), None),
        (("key",), None),
        (("a", "b", "c", "unknown"), 8),
        ((), None),
    ],
)
def test_the_line_is_that_of_the_key_or_of_the_table_around_it(place: tuple[object, ...], line: int | None) -> None:
    assert line_of(key_lines(FILE), place) == line


def test_every_key_of_a_file_is_found() -> None:
    def places(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
        if not isinstance(value, dict):
            return []
        return [place for key, item in value.items() for place in [(*path, key), *places(item, (*path, key))]]

    assert all(line_of(key_lines(FILE), place) for place in places(tomllib.loads(FILE)))


@given(st.text(alphabet="ab[]{}=\"'.#, \n", max_size=80))
def test_any_text_is_taken(text: str) -> None:
    lines = key_lines(text)

    assert all(1 <= number <= 1 + text.count("\n") for number in lines.values())
