"""`--cascade FILE.toml` names a file, and `--cascade` alone is the switch that it always was."""

from tests.cases import each

from mixseek.cli.parsing.shorthands import expand


@each(
    ("typed", "meant"),
    [
        # A switch.
        (["rows.jsonl", "--cascade", "--judge", "rules"], ["rows.jsonl", "--cascade", "--judge", "rules"]),
        # A switch before the data.
        (["--cascade", "rows.jsonl"], ["--cascade", "rows.jsonl"]),
        # A switch at the end.
        (["rows.jsonl", "--cascade"], ["rows.jsonl", "--cascade"]),
        # A file.
        (["rows.jsonl", "--cascade", "c.toml"], ["rows.jsonl", "--cascade-file", "c.toml"]),
        # A file with a sign.
        (["--cascade=c.toml", "rows.jsonl"], ["--cascade-file=c.toml", "rows.jsonl"]),
        # Behind the options.
        (["--", "--cascade", "c.toml"], ["--", "--cascade", "c.toml"]),
    ],
)
def test_a_file_is_told_by_its_ending(typed: list[str], meant: list[str]) -> None:
    assert expand("judge", typed) == meant


def test_other_commands_have_no_such_word() -> None:
    assert expand("report", ["--cascade", "c.toml"]) == ["--cascade", "c.toml"]
