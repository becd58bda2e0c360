"""What a command does not need it does not load: start-up is what a person waits for at every command."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

# Loads what `mixseek COMMAND` loads up to its answer, and says which modules of ours that were.
_LOADED = """
import json, os, sys
from mixseek.cli.main import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(name for name in sys.modules)]), file=sys.stderr, flush=True)
os._exit(0)
"""


def loaded_by(arguments: Sequence[str]) -> set[str]:
    done = subprocess.run([sys.executable, "-c", _LOADED, *arguments], check=True, capture_output=True, text=True)
    code, names = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(names)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two rows."""
    place = tmp_path_factory.mktemp("start-up")
    rows = [
        {"id": f"q{number}", "question": "2+2?", "response": "The answer is 4.", "ground_truth": "4"}
        for number in range(2)
    ]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    loaded_by(["judge", str(place / "rows.jsonl"), "--judge", "rules", "--workspace", str(place / "ws"), "--run", "a"])
    loaded_by(["report", "a", "--workspace", str(place / "ws")])
    return place / "ws"


# The rules, whoever answers, and what only judging needs.
_JUDGING = ("mixseek.matching.match", "mixseek.judges.function", "mixseek.runs.requests.request", "aiohttp", "numpy")
_SCORING = ("mixseek.protocols.scored.protocol", "mixseek.protocols.rubric", "mixseek.comparison.compare")
_COMPETING = ("mixseek.competition.boards", "mixseek.settings.race", "asyncio")
_PAGES = ("mixseek.reports.pages.html", "jinja2")


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (["--help"], (*_JUDGING, *_PAGES, "duckdb", "rich", "pydantic")),
        (["report", "a"], (*_JUDGING, *_SCORING, "mixseek.ci.build_server", "asyncio")),
        (["show", "a", "q1"], (*_JUDGING, *_PAGES, "mixseek.protocols.declaration", "mixseek.analysis.run.report")),
        (
            ["runs"],
            (*_JUDGING, *_PAGES, *_COMPETING, "mixseek.protocols.declaration", "mixseek.archive.write", "duckdb"),
        ),
        (["export", "a", "--to", "rows.jsonl"], (*_JUDGING, *_PAGES, "mixseek.protocols.semantic", "rich.console")),
        (["stats", "a"], (*_JUDGING, "mixseek.reports.pages.html", "mixseek.protocols.semantic")),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_loads_what_it_needs(
    workspace: Path, tmp_path: Path, arguments: list[str], unneeded: tuple[str, ...]
) -> None:
    words = [str(tmp_path / word) if word == "rows.jsonl" else word for word in arguments]
    where = [] if arguments == ["--help"] else ["--workspace", str(workspace)]
    assert loaded_by([*words, *where]) & set(unneeded) == set()


def test_judging_with_rules_loads_nothing_for_a_build_server(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "q", "response": "So 4.", "ground_truth": "4"}) + "\n", encoding="utf-8")
    command = ["judge", str(rows), "--judge", "rules", "--workspace", str(tmp_path / "ws"), "--quiet"]
    unneeded = {"mixseek.ci.build_server", "mixseek.protocols.scored.protocol", "aiohttp"}
    assert loaded_by(command) & unneeded == set()


def test_a_refusal_is_looked_for_when_a_reply_is_no_object() -> None:
    """Its phrases in three languages take as long to compile as a hundred replies to read."""
    reading = (
        "from mixseek.protocols.replies import refusals, reply_reader, repairs\n"
        "strict = repairs.ReplyMode.STRICT\n"
        "reply_reader.read_reply('{\"a\": 1}', strict)\n"
        "before = refusals.reply_phrases.cache_info().currsize\n"
        "reply_reader.read_reply('I cannot judge this.', strict)\n"
        "print(before, refusals.reply_phrases.cache_info().currsize)\n"
    )
    done = subprocess.run([sys.executable, "-c", reading], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["0", "1"]


def test_a_command_searches_for_no_plugins(tmp_path: Path) -> None:
    """To look for plugins of pydantic's reads the metadata of every package; one that raises is never called."""
    script = (
        "import sys, importlib.metadata as metadata\n"
        "def refuse(*_, **__): raise AssertionError('searched')\n"
        "metadata.distributions = refuse\n"
        "from mixseek.cli.main import run\n"
        "run()\n"
    )
    command = [sys.executable, "-c", script, "runs", "--workspace", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
