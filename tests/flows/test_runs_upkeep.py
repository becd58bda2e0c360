"""Runs as objects: removed, renamed and swept by the commands a person types."""

import json
import os
import shlex
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest
from tests.flows.arena import arena, race_text
from tests.flows.live import KEYS, begin, riddles, wait_until
from tests.flows.loopback import Loopback, loopback
from tests.flows.pages import blocks, read_page, run_script, section
from tests.flows.running import COMMAND, environment, mixseek_here, sums, the_one_line, write_jsonl

from mixseek.storage.journal.lock import holding_lock
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import Workspace
from mixseek.testing.mock_server import MockOptions

_OLD = time.time() - 7200


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    data = write_jsonl(tmp_path / "data.jsonl", sums(20))
    done = mixseek_here("judge", data, "--run", "march", "-w", "ws", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    return tmp_path


def asked_more_than(endpoint: Loopback, times: int) -> bool:
    return endpoint.requests > times


def names(place: Path) -> list[str]:
    document = json.loads(mixseek_here("runs", "-w", "ws", "--json", cwd=place).stdout)
    return sorted([run["run"] for run in document["runs"]] + [one["execution"] for one in document["competitions"]])


def test_a_renamed_run_is_the_same_run_with_its_draws_and_its_archive(judged: Path) -> None:
    """Reports, draws, the archive and resuming all know it under the new name alone."""
    assert mixseek_here("archive", "march", "-w", "ws", cwd=judged).returncode == 0
    drawn = mixseek_here("label", "sample", "march", "--n", "5", "--to", "s.csv", "-w", "ws", cwd=judged)
    assert drawn.returncode == 0, drawn.stderr
    moved = mixseek_here("runs", "mv", "march", "spring", "-w", "ws", "--json", cwd=judged)
    again = mixseek_here("judge", "data.jsonl", "--run", "spring", "-w", "ws", cwd=judged)
    archive = judged / "ws" / "runs" / "spring" / "archive"

    assert json.loads(moved.stdout) == {
        "schema": "mixseek.runs-mv/1",
        "kind": "run",
        "name": "march",
        "new_name": "spring",
    }
    assert names(judged) == ["spring"]
    assert json.loads((archive.parent / "manifest.json").read_text())["run"] == "spring"
    assert "nothing was judged again" in again.stderr
    assert [draw.run for draw in LabelStore(Workspace(judged / "ws")).draws()] == ["spring"]
    assert mixseek_here("archive", "spring", "-w", "ws", cwd=judged).returncode == 0
    assert json.loads(mixseek_here("report", "spring", "-w", "ws", "--json", cwd=judged).stdout)["run"] == "spring"


def test_a_rename_that_was_cut_short_is_told_and_finished_by_the_same_command(judged: Path) -> None:
    """After the one step that counts, the run is whole under its new name; what follows is made up for."""
    mixseek_here("label", "sample", "march", "--n", "5", "--to", "s.csv", "-w", "ws", cwd=judged)
    (judged / "ws" / "runs" / "march").rename(judged / "ws" / "runs" / "spring")
    listed = mixseek_here("runs", "-w", "ws", cwd=judged)
    finished = mixseek_here("runs", "mv", "march", "spring", "-w", "ws", cwd=judged)

    assert "`mixseek runs mv march spring` finishes it" in the_one_line(listed)
    assert finished.returncode == 0, finished.stderr
    assert mixseek_here("runs", "-w", "ws", cwd=judged).stderr == ""
    assert [draw.run for draw in LabelStore(Workspace(judged / "ws")).draws()] == ["spring"]


def test_removing_takes_exact_names_only_and_keeps_labels_and_draws(judged: Path) -> None:
    """One name that is none, and nothing is removed; a run of the same name later is not taken for the old one."""
    mixseek_here("label", "sample", "march", "--n", "5", "--to", "s.csv", "-w", "ws", cwd=judged)
    prefix = mixseek_here("runs", "rm", "march", "mar", "-w", "ws", cwd=judged)
    left = names(judged)
    removed = mixseek_here("runs", "rm", "march", "-w", "ws", "--json", cwd=judged)
    (draw,) = LabelStore(Workspace(judged / "ws")).draws()

    assert (prefix.returncode, left) == (2, ["march"])
    assert "no run, answers or competition is called exactly 'mar'; there is march" in the_one_line(prefix)
    assert json.loads(removed.stdout)["removed"][0]["bytes"] > 1000
    assert names(judged) == []
    assert list((judged / "ws" / "runs").iterdir()) == []
    assert draw.run.startswith("march (removed ")


def test_a_run_that_is_being_written_is_neither_removed_nor_renamed(judged: Path) -> None:
    """Exit 4: the same command works when the writer has ended."""
    script = "import signal,sys;from pathlib import Path;from mixseek.storage.journal.lock import holding_lock\n"
    script += "with holding_lock(Path(sys.argv[1])):\n print('held', flush=True)\n signal.pause()"
    lock = judged / "ws" / "runs" / "march" / "journal.lock"
    python = str(Path(COMMAND).parent / "python")
    with subprocess.Popen([python, "-c", script, str(lock)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        refused = [
            mixseek_here("runs", *words, "-w", "ws", cwd=judged) for words in (("rm", "march"), ("mv", "march", "x"))
        ]
        swept = mixseek_here("runs", "gc", "-w", "ws", cwd=judged)
        other.kill()

    assert [done.returncode for done in refused] == [4, 4]
    assert all(f"being written by process {other.pid}" in the_one_line(done) for done in refused)
    assert (swept.returncode, names(judged)) == (0, ["march"])


def test_a_name_that_is_taken_is_refused(judged: Path) -> None:
    """In one line, and both runs stay."""
    mixseek_here("judge", "data.jsonl", "--run", "april", "--limit", "5", "-w", "ws", cwd=judged)
    done = mixseek_here("runs", "mv", "march", "april", "-w", "ws", cwd=judged)

    assert (done.returncode, names(judged)) == (2, ["april", "march"])
    assert "run 'april' is there already" in the_one_line(done)


def test_sweeping_takes_what_nobody_needs_and_never_a_reply(judged: Path) -> None:
    """Copies of stdin, torn directories and temporary files go; a journal that says something stays."""
    root = judged / "ws"
    piped = (judged / "data.jsonl").read_text()
    assert mixseek_here("judge", "-", "--run", "piped", "-w", "ws", cwd=judged, stdin=piped).returncode == 0
    (copy,) = (root / "spool").iterdir()
    os.utime(copy, (_OLD, _OLD))
    for name in ("torn", "lost"):
        (root / "runs" / name).mkdir()
    (root / "runs" / "lost" / "journal.jsonl").write_bytes((root / "runs" / "march" / "journal.jsonl").read_bytes())
    (root / "runs" / "torn" / "index.duckdb").write_bytes(b"x" * 100)
    os.utime(root / "runs" / "torn", (_OLD, _OLD))
    (root / "runs" / "march" / ".manifest.json.999999999.tmp").write_bytes(b"half")
    (root / "spool" / ".data.999999999-140000.tmp").write_bytes(b"half")
    looked = mixseek_here("runs", "gc", "-w", "ws", "--dry-run", "--json", cwd=judged)
    is_there = copy.exists()
    swept = json.loads(mixseek_here("runs", "gc", "-w", "ws", "--json", cwd=judged).stdout)
    expected = {**json.loads(looked.stdout), "dry_run": False}

    assert is_there
    assert swept == expected
    assert sorted(one["kind"] for one in swept["removed"]) == ["run", "spool", "temporary", "temporary"]
    assert swept["bytes"] == len(piped.encode()) + 100 + 4 + 4
    assert [Path(sentence.partition(":")[0]).name for sentence in swept["kept"]] == ["lost"]
    assert names(judged) == ["march", "piped"]
    assert json.loads(mixseek_here("runs", "gc", "-w", "ws", "--json", cwd=judged).stdout)["removed"] == []


def test_a_copy_of_stdin_stays_while_a_run_may_need_it(judged: Path) -> None:
    """Its run is not over, or it was written a moment ago by somebody who is about to begin one."""
    spool = judged / "ws" / "spool"
    piped = (judged / "data.jsonl").read_text()
    assert mixseek_here("judge", "-", "--run", "piped", "-w", "ws", cwd=judged, stdin=piped).returncode == 0
    (needed,) = spool.iterdir()
    manifest = judged / "ws" / "runs" / "piped" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"complete"', '"interrupted"'))
    fresh = spool / "stdin-0000000000000000.jsonl"
    fresh.write_text("{}")
    os.utime(needed, (_OLD, _OLD))

    swept = json.loads(mixseek_here("runs", "gc", "-w", "ws", "--json", cwd=judged).stdout)

    assert swept["removed"] == []
    assert {Path(sentence.partition(":")[0]).name for sentence in swept["kept"]} == {needed.name, fresh.name}
    assert needed.exists()
    assert fresh.exists()


def test_competitions_are_listed_renamed_resumed_and_removed_like_runs(tmp_path: Path) -> None:
    """A renamed competition is over as it was: nobody is asked again."""
    with arena() as judge:
        (tmp_path / "race.toml").write_text(race_text(judge.spec, 2, rounds="min = 1\nmax = 2"))
        played = mixseek_here("compete", "race.toml", "--execution", "a", "-w", "ws", cwd=tmp_path, env=KEYS)
        asked = judge.requests
        moved = mixseek_here("runs", "mv", "a", "b", "-w", "ws", cwd=tmp_path)
        listed = json.loads(mixseek_here("runs", "-w", "ws", "--json", cwd=tmp_path).stdout)["competitions"]
        again = mixseek_here("compete", "race.toml", "--execution", "b", "-w", "ws", cwd=tmp_path, env=KEYS)

        assert [played.returncode, moved.returncode, again.returncode] == [0, 0, 0]
        assert judge.requests == asked
    board = listed[0]
    assert (board["execution"], board["status"], board["teams"], board["rounds"]) == ("b", "finished", 2, 4)
    assert board["best_score"] > 0
    assert sorted(path.name for path in (tmp_path / "ws" / "competitions").iterdir()) == ["b"]
    assert mixseek_here("runs", "rm", "b", "-w", "ws", cwd=tmp_path).returncode == 0
    assert names(tmp_path) == []
    assert list((tmp_path / "ws" / "competitions").iterdir()) == []


def test_a_start_that_fails_leaves_no_name_taken(tmp_path: Path) -> None:
    """A refused key, a bad dataset, a kill before the first reply: another request may have the name at once."""
    write_jsonl(tmp_path / "data.jsonl", riddles(3))
    other = write_jsonl(tmp_path / "other.jsonl", sums(3))
    (tmp_path / "bad.jsonl").write_text("{no")
    with loopback(MockOptions(refuses_keys=True)) as refusing:
        judge = ("judge", "data.jsonl", "--run", "r", "-w", "ws", "--judge")
        assert mixseek_here(*judge, refusing.spec, cwd=tmp_path, env=KEYS).returncode == 2
        assert mixseek_here("judge", "bad.jsonl", "--run", "r", "-w", "ws", cwd=tmp_path).returncode == 2
        (tmp_path / "race.toml").write_text(race_text(refusing.spec, 1))
        compete = ("compete", "race.toml", "--execution", "c", "-w", "ws")
        mixseek_here(*compete, cwd=tmp_path, env=KEYS)
    with loopback() as slow:
        slow.hold()
        (tmp_path / "slow.toml").write_text(race_text(slow.spec, 2))
        for words in ([*judge, slow.spec], ["compete", "slow.toml", "--execution", "c", "-w", "ws"]):
            told = slow.requests
            process = begin(*words, cwd=tmp_path)
            wait_until(partial(asked_more_than, slow, told), process)
            process.send_signal(signal.SIGKILL)
            process.communicate()
    assert (tmp_path / "ws" / "runs" / "r" / "manifest.json").exists()
    anew = mixseek_here("judge", other, "--run", "r", "-w", "ws", cwd=tmp_path)
    with arena() as judge_of_teams:
        (tmp_path / "race.toml").write_text(race_text(judge_of_teams.spec, 1, rounds="min = 1\nmax = 1"))
        played = mixseek_here(*compete, cwd=tmp_path, env=KEYS)

    assert anew.returncode == 0, anew.stderr
    assert played.returncode == 0, played.stderr


@pytest.mark.parametrize("name", ["plain", "with space", 'it\'s "quoted"', "zwei\nzeilen", "日本語", "$HOME;#&"])
def test_the_command_in_a_manifest_can_be_pasted(name: str, tmp_path: Path) -> None:
    """Whatever the file is called, a shell reads the same words."""
    write_jsonl(tmp_path / f"{name}.jsonl", sums(2))
    done = mixseek_here("judge", f"{name}.jsonl", "--run", "r", "-w", "my ws", cwd=tmp_path)
    command = json.loads((tmp_path / "my ws" / "runs" / "r" / "manifest.json").read_text())["environment"]["command"]
    words = subprocess.run(
        ["bash", "-c", f"mixseek() {{ printf '%s\\0' \"$@\"; }}; {command}"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")[:-1]

    assert done.returncode == 0, done.stderr
    assert words == ["judge", f"{name}.jsonl", "--run", "r", "-w", "my ws"]
    assert shlex.split(command) == ["mixseek", *words]


def test_a_lock_held_here_is_given_back(tmp_path: Path) -> None:
    """Also by the same process."""
    for _ in range(2):
        with holding_lock(tmp_path / "journal.lock"):
            pass


def test_the_page_about_runs_runs_as_written(tmp_path: Path) -> None:
    """Every command of it, in order."""
    write_jsonl(tmp_path / "answers.jsonl", sums(5))
    (script,) = blocks(section(read_page("docs/files.md"), "Runs as objects"), "sh")
    printed = run_script(script, tmp_path)

    assert "run march is now spring" in printed
    assert "removed run spring (" in printed
