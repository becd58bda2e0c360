"""Names of the release before: understood, with one line that says today's."""

import warnings
from pathlib import Path

import pytest
from tests.flows.running import mixseek_here, sums, the_one_line, write_jsonl

import mixseek
from mixseek.api.old_keywords import renew_keywords
from mixseek.cli.app import command
from mixseek.cli.asking.job_file import read_jobs
from mixseek.cli.parsing.old_spellings import COMMANDS, RENAMED, renew


@pytest.mark.parametrize(
    ("name", "old", "new"), [(name, one.old, one.new) for name, all_of in RENAMED.items() for one in all_of]
)
def test_every_old_option_is_one_of_today(name: str, old: str, new: str) -> None:
    """It stands in no help, and its new name is an option of the command."""
    known = {flag for parameter in command().commands[name].params for flag in parameter.opts}

    assert new in known
    # Of `--on` of judge only two values have moved.
    assert old not in known or name == "judge"


@pytest.mark.parametrize(
    ("name", "words", "renewed"),
    [
        ("report", ("r", "--out", "x.html"), ["r", "--to", "x.html"]),
        ("report", ("r", "--out=x.html"), ["r", "--to=x.html"]),
        ("leaderboard", ("--html", "x", "--judge", "a"), ["--to", "x", "--rater", "a"]),
        ("stats", ("t.csv", "--repeats", "mean"), ["t.csv", "--takes", "mean"]),
        ("judge", ("d", "--on", "lower", "--on", "ray"), ["d", "--gate-on", "lower", "--on", "ray"]),
        ("judge", ("d", "--on=point", "--", "--on", "lower"), ["d", "--gate-on=point", "--", "--on", "lower"]),
        ("judge", ("d", "--repeats", "3", "--judge", "x"), ["d", "--repeats", "3", "--judge", "x"]),
        ("export", ("--out", "x"), ["--out", "x"]),
        ("report", ("--on",), ["--gate-on"]),
    ],
)
def test_words_are_renewed_where_they_are_options(name: str, words: tuple[str, ...], renewed: list[str]) -> None:
    """Of the command that had them, before `--`, and with its value as it stands."""
    assert renew(name, words, lambda old, new: None) == renewed


def test_an_old_option_is_noted_once(tmp_path: Path) -> None:
    """On stderr, however often it stands there; stdout and the exit code are those of the new name."""
    write_jsonl(tmp_path / "sums.jsonl", sums(4))
    mixseek_here("judge", "sums.jsonl", "--run", "r", "-q", cwd=tmp_path)
    old = mixseek_here("report", "r", "--out", "a.html", "--out", "b.html", "--json", cwd=tmp_path)
    new = mixseek_here("report", "r", "--to", "b.html", "--json", cwd=tmp_path)

    assert old.returncode == new.returncode == 0
    assert the_one_line(old) == "mixseek: --out is now --to; the old spelling goes with the next release"
    assert new.stderr == ""
    assert old.stdout == new.stdout
    assert not (tmp_path / "a.html").exists()


def test_an_old_command_answers_as_the_new_one(tmp_path: Path) -> None:
    """`mixseek plan` is no longer listed."""
    write_jsonl(tmp_path / "sums.jsonl", sums(4))
    mixseek_here("judge", "sums.jsonl", "--run", "r", "-q", cwd=tmp_path)
    old, new = (mixseek_here(*words, "r", "--json", cwd=tmp_path) for words in (("plan",), ("label", "plan")))

    assert old.stdout == new.stdout != ""
    assert the_one_line(old).startswith("mixseek: `mixseek plan` is now `mixseek label plan`;")
    assert new.stderr == ""
    assert all(command().commands[name.split()[1]].hidden for name in COMMANDS)


def test_an_audit_takes_its_old_order(tmp_path: Path) -> None:
    """`audit JUDGE --data DATA` with a note; half of either order is one clear line."""
    write_jsonl(tmp_path / "sums.jsonl", sums(4))
    more = ("--only", "retest", "--n", "4", "--dry-run", "--json")
    old = mixseek_here("audit", "rules", "--data", "sums.jsonl", *more, cwd=tmp_path)
    new = mixseek_here("audit", "sums.jsonl", "--judge", "rules", *more, cwd=tmp_path)
    nobody = mixseek_here("audit", "sums.jsonl", *more, cwd=tmp_path)
    both = mixseek_here("audit", "rules", "--judge", "rules", "--data", "sums.jsonl", *more, cwd=tmp_path)

    assert (old.returncode, new.returncode, nobody.returncode, both.returncode) == (0, 0, 2, 2), new.stderr
    assert old.stdout == new.stdout != ""
    assert "audit DATA --judge JUDGE" in the_one_line(old)
    assert "audit DATA --judge SPEC" in the_one_line(nobody)
    assert "audit DATA --judge SPEC" in the_one_line(both)


def test_a_job_file_of_before_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its keys are the names of options."""
    path = tmp_path / "job.toml"
    path.write_text('data = "x"\non = "lower"\nbaseline = "b"\nreport = { out = "a.html" }\n', encoding="utf-8")
    (job,) = read_jobs(path, (), frozenset()).jobs

    assert "--gate-on=lower" in job.arguments
    assert job.steps["report"][0] == f"--to={tmp_path / 'a.html'}"
    noted = capsys.readouterr().err.splitlines()
    assert [line.partition(";")[0] for line in noted] == [
        "mixseek: the key out of report is now to",
        "mixseek: --on is now --gate-on",
    ]


@pytest.mark.parametrize(
    ("caller", "old", "new"),
    [
        ("judge", {"on": "lower"}, {"gate_on": "lower", "on": None}),
        ("judge", {"on": ["ray", "point"]}, {"gate_on": "point", "on": "ray"}),
        ("audit", {"out": "card.json"}, {"to": "card.json"}),
    ],
)
def test_old_keywords_are_warned_of(caller: str, old: dict[str, object], new: dict[str, object]) -> None:
    """As any library does it."""
    with pytest.warns(DeprecationWarning, match="goes with the next release"):
        assert renew_keywords(old, caller) == new


def test_keywords_of_today_are_not_warned_of() -> None:
    """`on` itself is one of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert renew_keywords({"on": "ray", "gate_on": "lower"}, "judge") == {"on": "ray", "gate_on": "lower"}
    with pytest.raises(TypeError, match="no option 'out'"):
        mixseek.judge([], out="x")  # type: ignore[call-arg]  # the point of the test
