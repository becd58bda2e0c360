"""Teams that are programs: an external command, or a Python function in a process of its own."""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.round_controller.programs import MAX_OUTPUT_BYTES, run_program
from mixseek.round_controller.team import FailedSubmission, Submission

_SHOWN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class CommandTeam:
    """The prompt on stdin, the submission on stdout; anything but exit code 0 is a failure."""

    team_id: str
    team_name: str
    command: tuple[str, ...]
    directory: Path
    target_model: str | None = None

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        command = resolve_program(self.command, self.directory)
        # Half a surrogate pair, which no pipe can carry, becomes a question mark.
        return await run_team(self.command[0], command, prompt.encode("utf-8", "replace"), self.directory)


@dataclass(frozen=True, slots=True)
class CallableTeam:
    """`function(prompt, round_number) -> text`, in a process of its own: only a process can be stopped."""

    team_id: str
    team_name: str
    path: str
    directory: Path
    target_model: str | None = None

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        stdin = json.dumps({"prompt": prompt, "round_number": round_number}).encode()
        # -P: a file beside the race that is called like a module of Python's must not take its place.
        child = (sys.executable, "-P", "-m", "mixseek.round_controller.callable_child")
        return await run_team(self.path, (*child, self.path, str(self.directory.resolve())), stdin, self.directory)


async def run_team(name: str, command: Sequence[str], stdin: bytes, directory: Path) -> Submission | FailedSubmission:
    """What the program wrote, without the last line's end; or what went wrong, with the end of its complaint."""
    try:
        program = await run_program(command, stdin, directory)
    except OSError as error:
        return FailedSubmission(f"{name} cannot be started ({error.strerror})")
    if program.is_cut:
        return FailedSubmission(f"{name} wrote more than {MAX_OUTPUT_BYTES >> 20} MB")
    if program.returncode != 0:
        how = f"exit code {program.returncode}" if program.returncode > 0 else f"signal {-program.returncode}"
        complaint = " ".join(program.errors.decode("utf-8", "replace").split())
        tail = complaint if len(complaint) <= _SHOWN_CHARACTERS else "…" + complaint[1 - _SHOWN_CHARACTERS :]
        return FailedSubmission(f"{name} ended with {how}" + (f": {tail}" if tail else ""))
    try:
        text = program.output.decode("utf-8")
    except UnicodeDecodeError as error:
        return FailedSubmission(f"{name} wrote what is not UTF-8 (byte {error.start})")
    text = text.removesuffix("\n").removesuffix("\r")
    if not text.strip():
        return FailedSubmission(f"{name} wrote nothing to stdout")
    return Submission(text)


def resolve_program(command: Sequence[str], directory: Path) -> list[str]:
    """The command with its program as a path: relative to the race's directory, or found on PATH."""
    program, *arguments = command
    if "/" in program:
        return [str(directory.resolve() / program), *arguments]
    return [shutil.which(program) or program, *arguments]


def check_command(command: Sequence[str], directory: Path, where: str) -> None:
    """Raises ConfigurationError for a program that is not there, or cannot be run."""
    program = resolve_program(command, directory)[0]
    if shutil.which(program) is None:
        state = "is not executable" if Path(program).is_file() else "is not there"
        raise ConfigurationError(
            f"{where}: command {command[0]!r} {state}; give a program on PATH, or a path beside the race file"
        )
