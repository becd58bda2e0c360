"""Programs as teams: what they are given, what is taken from them, and that none of them outlives its time."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import patiently, wait_for

from mixseek.errors import ConfigurationError
from mixseek.round_controller import programs
from mixseek.round_controller.program_teams import CallableTeam, CommandTeam, check_command
from mixseek.round_controller.team import FailedSubmission, Submission


def submit(team: CommandTeam | CallableTeam, prompt: str = "a prompt", timeout: float = 120.0) -> object:
    async def work() -> object:
        async with asyncio.timeout(timeout):
            return await team.submit(prompt, 3)

    return asyncio.run(work())


def shell(script: str, directory: Path) -> CommandTeam:
    return CommandTeam("t", "T", ("sh", "-c", script), directory)


def python(code: str, directory: Path) -> CallableTeam:
    (directory / "own_team.py").write_text(code, encoding="utf-8")
    return CallableTeam("t", "T", "own_team:answer", directory)


def is_alive(pid: int) -> bool:
    """A zombie that nobody has reaped yet is dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_dead(*pids: int) -> None:
    wait_for(lambda: not any(map(is_alive, pids)))


def pids_in(path: Path) -> list[int]:
    """Of a line that is whole."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return [int(pid) for pid in text.split()] if text.endswith("\n") else []


def run_out_of_time(team: CommandTeam | CallableTeam, pids: Path) -> None:
    """Its time is over when it has said which processes it is, however long a busy machine takes to start them."""

    async def work() -> None:
        async with asyncio.timeout(None) as limit:
            submitting = asyncio.ensure_future(team.submit("a prompt", 3))
            while not pids_in(pids) and not submitting.done():
                await asyncio.sleep(0.002)
            limit.reschedule(0)
            await submitting

    asyncio.run(work())


def test_a_command_reads_the_prompt_and_writes_the_submission(tmp_path: Path) -> None:
    """UTF-8 both ways, in the race's directory; the last line's end is not part of the text."""
    team = shell("cat; echo; basename $(pwd)", tmp_path)

    assert submit(team, "俳句\n") == Submission(f"俳句\n\n{tmp_path.name}")


def test_a_command_need_not_read_its_prompt(tmp_path: Path) -> None:
    """A prompt larger than any pipe, and nobody at the other end."""
    assert submit(shell("echo done", tmp_path), "x" * 3_000_000) == Submission("done")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo half; echo what went wrong >&2; exit 3", "sh ended with exit code 3: what went wrong"),
        ("exit 1", "sh ended with exit code 1"),
        ("kill -SEGV $$", "sh ended with signal 11"),
        ("true", "sh wrote nothing to stdout"),
        ("printf ' \\n\\n'", "sh wrote nothing to stdout"),
        ("printf '\\377'", "sh wrote what is not UTF-8 (byte 0)"),
        ("cat /dev/zero", "sh wrote more than 4 MB"),
    ],
)
def test_a_command_that_fails_has_no_submission(script: str, reason: str, tmp_path: Path) -> None:
    """Whatever it wrote before."""
    assert submit(shell(script, tmp_path)) == FailedSubmission(reason)


def test_the_end_of_a_long_complaint_is_shown(tmp_path: Path) -> None:
    """That is where the reason stands, on one line."""
    failed = submit(shell("seq 100000 >&2; exit 1", tmp_path))

    assert isinstance(failed, FailedSubmission)
    assert failed.reason.endswith("99999 100000")
    assert len(failed.reason) < 400


def test_a_hanging_command_is_killed_with_its_children(tmp_path: Path) -> None:
    """Its own process group goes, grandchildren included."""
    team = shell("sleep 6000 & echo $$ $! > pids; sleep 6001", tmp_path)
    with pytest.raises(TimeoutError):
        run_out_of_time(team, tmp_path / "pids")

    wait_until_dead(*pids_in(tmp_path / "pids"))


def test_a_command_whose_time_is_over_while_it_is_started_is_killed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine may let it run before its start has come back to us: nobody else knows its children then."""
    team = shell("sleep 6000 & echo $$ $! > pids; sleep 6001", tmp_path)
    pids = tmp_path / "pids"

    async def work() -> None:
        loop, is_back = asyncio.get_running_loop(), asyncio.Event()
        start = loop.subprocess_exec

        async def start_late(*words: Any, **options: Any) -> Any:
            started = await start(*words, **options)
            await is_back.wait()
            return started

        monkeypatch.setattr(loop, "subprocess_exec", start_late)
        async with patiently("a command that is cancelled"):
            submitting = asyncio.ensure_future(team.submit("a prompt", 3))
            while not pids_in(pids):
                await asyncio.sleep(0.01)
            submitting.cancel()
            await asyncio.sleep(0)
            is_back.set()
            with pytest.raises(asyncio.CancelledError):
                await submitting

    asyncio.run(work())

    wait_until_dead(*pids_in(pids))


def test_children_that_stay_behind_hold_nobody_up(tmp_path: Path) -> None:
    """The submission is there when the program has left; who stayed is killed."""
    team = shell("sleep 6000 & echo $! > pids; echo done", tmp_path)

    assert submit(team) == Submission("done")
    wait_until_dead(*pids_in(tmp_path / "pids"))


def test_commands_die_with_us_however_we_die(tmp_path: Path) -> None:
    """kill -9 leaves no program behind."""
    code = (
        "import asyncio, sys; from pathlib import Path; from mixseek.round_controller.programs import run_program\n"
        "asyncio.run(run_program(['sh', '-c', 'sleep 6000 & echo $$ $! > pids; sleep 6001'], b'', Path('.')))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    pids = tmp_path / "pids"
    wait_for(lambda: pids_in(pids) != [])
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()

    wait_until_dead(*pids_in(pids))


def test_no_pipe_is_left_open(tmp_path: Path) -> None:
    """A competition of many rounds must not run out of them."""
    team = shell("echo done", tmp_path)

    async def work() -> tuple[int, int]:
        await team.submit("x", 1)
        before = len(list(Path("/proc/self/fd").iterdir()))
        await asyncio.gather(*(team.submit("x", 1) for _ in range(5)))
        return before, len(list(Path("/proc/self/fd").iterdir()))

    before, after = asyncio.run(work())

    assert after <= before


def test_a_function_gets_the_prompt_and_the_round(tmp_path: Path) -> None:
    """What it prints is not its submission."""
    team = python(
        "def answer(prompt, round_number):\n    print('noise')\n    return f'{prompt} in round {round_number}'",
        tmp_path,
    )

    assert submit(team) == Submission("a prompt in round 3")


def test_files_beside_a_race_hide_no_module_of_pythons(tmp_path: Path) -> None:
    """A team's notes may be called json.py."""
    (tmp_path / "json.py").write_text("raise RuntimeError('hidden')", encoding="utf-8")

    assert submit(python("import json\ndef answer(prompt, n):\n    return json.dumps(n)", tmp_path)) == Submission("3")


def test_a_coroutine_will_do(tmp_path: Path) -> None:
    """Many clients of models are written so."""
    assert submit(python("async def answer(prompt, n):\n    return 'later'", tmp_path)) == Submission("later")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def answer(prompt, n):\n    raise LookupError('nothing found')", "exit code 1: LookupError: nothing found"),
        ("def answer(prompt, n):\n    return 5", "exit code 1: TypeError: own_team:answer returned int, expected str"),
        ("def answer(prompt, n):\n    import os; os._exit(7)", "exit code 7"),
        ("answer = 5", "exit code 1: ConfigurationError: own_team:answer cannot be called"),
        ("import nowhere", "cannot import own_team (ModuleNotFoundError: No module named 'nowhere')"),
    ],
)
def test_a_function_that_fails_has_no_submission(code: str, reason: str, tmp_path: Path) -> None:
    """One line that says why; a process that dies takes nobody along."""
    failed = submit(python(code, tmp_path))

    assert isinstance(failed, FailedSubmission)
    assert reason in failed.reason


def test_a_hanging_function_is_killed(tmp_path: Path) -> None:
    """Which a thread could not be."""
    code = "import os, time, pathlib\ndef answer(p, n):\n    pathlib.Path('pid').write_text(f'{os.getpid()}\\n')\n"
    team = python(code + "    while True:\n        pass", tmp_path)
    with pytest.raises(TimeoutError):
        run_out_of_time(team, tmp_path / "pid")

    wait_until_dead(*pids_in(tmp_path / "pid"))


def test_a_program_that_is_not_there_is_named_beforehand(tmp_path: Path) -> None:
    """On PATH, or beside the race's file."""
    (tmp_path / "plain.txt").write_text("x", encoding="utf-8")
    check_command(("sh", "-c", "true"), tmp_path, "team t")

    for command, message in (("no-such-program", "is not there"), ("./plain.txt", "is not executable")):
        with pytest.raises(ConfigurationError, match=message):
            check_command((command,), tmp_path, "team t")


def test_a_program_in_the_races_directory_is_found(tmp_path: Path) -> None:
    """By a relative path, wherever the command is run from."""
    script = tmp_path / "own.sh"
    script.write_text("#!/bin/sh\necho own\n", encoding="utf-8")
    script.chmod(0o755)
    team = CommandTeam("t", "T", ("./own.sh",), tmp_path)
    check_command(team.command, tmp_path, "team t")

    assert submit(team) == Submission("own")


def test_a_program_that_vanished_is_a_failure_and_no_traceback(tmp_path: Path) -> None:
    """It was there when the race was checked."""
    failed = submit(CommandTeam("t", "T", ("./gone",), tmp_path))

    assert isinstance(failed, FailedSubmission)
    assert "exit code 127" in failed.reason
    assert programs.MAX_OUTPUT_BYTES == 4 << 20
