"""Teams that are programs: an external command, or a Python function in a process of its own."""

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mixseek.competition.processes import MAX_OUTPUT_BYTES, Finished, run_program
from mixseek.errors import ConfigurationError
from mixseek.round_controller.teams import FailedSubmission, Submission

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
        try:
            finished = await run_program(
                (*resolve_program(self.command, self.directory),), encode(prompt), self.directory
            )
        except OSError as error:
            return FailedSubmission(f"{self.command[0]} cannot be started ({error.strerror})")
        return read_submission(finished, self.command[0])


@dataclass(frozen=True, slots=True)
class CallableTeam:
    """`function(prompt, round_number) -> text`, in a process of its own: only a process can be stopped."""

    team_id: str
    team_name: str
    path: str
    directory: Path
    target_model: str | None = None

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        given = json.dumps({"prompt": prompt, "round_number": round_number}).encode()
        # -P: a file beside the race that is called like a module of Python's must not take its place.
        child = (sys.executable, "-P", "-m", "mixseek.competition.callable_child")
        command = (*child, self.path, str(self.directory.resolve()))
        try:
            finished = await run_program(command, given, self.directory)
        except OSError as error:
            return FailedSubmission(f"{self.path} cannot be started ({error.strerror})")
        return read_submission(finished, self.path)


def encode(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which no pipe can carry, becomes a question mark."""
    return text.encode("utf-8", "replace")


def read_submission(finished: Finished, name: str) -> Submission | FailedSubmission:
    """What the program wrote, without the last line's end; or what went wrong, with the end of its complaint."""
    if finished.is_cut:
        return FailedSubmission(f"{name} wrote more than {MAX_OUTPUT_BYTES >> 20} MB")
    if finished.returncode != 0:
        how = f"exit code {finished.returncode}" if finished.returncode > 0 else f"signal {-finished.returncode}"
        said = " ".join(finished.errors.split())
        tail = said if len(said) <= _SHOWN_CHARACTERS else "…" + said[1 - _SHOWN_CHARACTERS :]
        return FailedSubmission(f"{name} ended with {how}" + (f": {tail}" if tail else ""))
    try:
        text = finished.output.decode("utf-8")
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
