"""Nobody's configuration file may eat the machine: it is refused in one line, before a parser sees it."""

import tomllib
from pathlib import Path

import pytest
from tests.cases import each

from mixseek.errors import ConfigurationError
from mixseek.protocols.lint import lint_protocol
from mixseek.protocols.registry import load_protocol
from mixseek.settings.race import load_race
from mixseek.settings.text_files import MAX_BYTES, parse_toml, read_bounded

BOMBS = {
    "a dotted key of 50,000 parts": "a" + ".a" * 50_000 + " = 1\n",
    "with blanks": "a" + " . a" * 50_000 + " = 1\n",
    "quoted": '"a"' + '."a"' * 50_000 + " = 1\n",
    "a header of 50,000 parts": "[a" + ".a" * 50_000 + "]\n",
    "an inline table's key": "x = {a" + ".a" * 50_000 + " = 1}\n",
    "100,000 brackets": "x = " + "[" * 100_000 + "]" * 100_000 + "\n",
    "100,000 tables": "x = " + "{a = " * 100_000 + "1" + "}" * 100_000 + "\n",
    "open brackets": "[" * 100_000,
    "5,000 digits": "x = " + "9" * 5_000 + "\n",
    "behind a text": 's = """\n[[[ a.b.c\n"""\nt' + ".a" * 50_000 + " = 1\n",
}


@each("text", BOMBS.values())
def test_what_a_parser_would_choke_on_is_not_valid_toml(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        parse_toml(text)


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_every_reader_of_toml_says_so_in_one_line(text: str, tmp_path: Path) -> None:
    """Protocols, races and the lint; settings and prompts go the same way."""
    path = tmp_path / "bomb.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigurationError, match="not valid TOML"):
        load_protocol(str(path))
    with pytest.raises(ConfigurationError, match="not valid TOML"):
        load_race(path)
    assert ["not valid TOML" in complaint.what for complaint in lint_protocol(path, "bomb.toml")] == [True]


@each(
    "text",
    [
        "a.b.c = 1",
        'text = """\n' + "a.b.c. [[[[ {{{{ " * 100 + '\n"""',
        "text = '''\n" + "a.b. [[[ \\" * 100 + "\n'''",
        'text = "' + "one. two. [" * 50 + '"  # ' + "." * 500,
        "numbers = [" + "1.5, " * 500 + "]",
        "x = " + "[" * 20 + "1" + "]" * 20,
        '"a.b" = "it\\"s. # no comment"',
        'when = 2024-01-01T10:00:00.5\nquotes = """a "quoted" word""""',
    ],
)
def test_what_people_write_is_read_as_ever(text: str) -> None:
    """Dots and brackets inside texts, comments and lists of numbers mean nothing."""
    assert parse_toml(text) == tomllib.loads(text)


def test_a_file_is_not_read_further_than_a_configuration_is_long(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    path.write_text("# " + "x" * MAX_BYTES, encoding="utf-8")

    with pytest.raises(ConfigurationError, match=r"large\.toml: larger than 1,000,000 bytes"):
        read_bounded(path)
    with pytest.raises(ConfigurationError, match=r"large\.toml: larger than"):
        load_protocol(str(path))
    with pytest.raises(ConfigurationError, match="larger than"):
        read_bounded(Path("/dev/zero"))
