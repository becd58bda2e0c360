"""The other side of a CallableTeam: one call of one function, its text on stdout and everything else on stderr."""

import asyncio
import inspect
import json
import os
import sys
from pathlib import Path

from mixseek.errors import ConfigurationError
from mixseek.settings.load import importable_from, load_object


def call_function(path: str, directory: Path, prompt: str, round_number: int) -> str:
    """What the function returns; raises TypeError where that is not text."""
    with importable_from(directory):
        function = load_object(path, "team")
        if not callable(function):
            raise ConfigurationError(f"{path} cannot be called")
        text = function(prompt, round_number)
        if inspect.iscoroutine(text):
            text = asyncio.run(text)
    if not isinstance(text, str):
        raise TypeError(f"{path} returned {type(text).__name__}, expected str")
    return text


def main() -> int:
    """Exit code 1 with one line on stderr for whatever the function raises."""
    path, directory = sys.argv[1:]
    request = json.loads(sys.stdin.buffer.read())
    # What the function prints is not its submission.
    answer = os.dup(1)
    os.dup2(2, 1)
    try:
        text = call_function(path, Path(directory), request["prompt"], request["round_number"])
    except Exception as error:  # noqa: BLE001 - a user's function may fail in any way there is; the parent shows it
        sys.stdout.flush()
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    sys.stdout.flush()
    with os.fdopen(answer, "wb") as stream:
        stream.write(text.encode("utf-8", "replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
