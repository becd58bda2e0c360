"""The server from which tests fork their commands ends with whoever started it."""

import subprocess
import sys
from pathlib import Path

import pytest

STARTER = """
from tests.flows.warm import Begun, warm_command
from pathlib import Path
process = Begun(["--version"], Path.cwd(), {})
out, err = process.communicate()
print(warm_command(), process.returncode, err)
"""


@pytest.mark.thorough
def test_a_server_is_gone_without_a_word_when_its_starter_ends() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", STARTER],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    directory, code = done.stdout.split()

    assert (code, done.stderr) == ("0", "")
    assert not Path(directory).exists()
