"""Real traces of thirteen formats, when they stand beside the project: their own checker finds nothing wrong.

It imports each file with the command line, and compares with what the tools' libraries were told to do.
"""

import importlib.util
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import mixseek_here

TRACES = Path(__file__).resolve().parents[3] / "shared" / "data" / "traces"

pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason="no ../shared/data/traces beside the project")


def test_every_file_is_read_as_its_truth_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = importlib.util.spec_from_file_location("check_import", TRACES / "check_import.py")
    assert spec is not None
    assert spec.loader is not None
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        return mixseek_here(*command[1:], cwd=Path(options["cwd"]))

    monkeypatch.setattr(checker, "subprocess", type("Here", (), {"run": staticmethod(run)}))
    monkeypatch.setattr("sys.argv", ["check_import.py", "mixseek", str(TRACES)])
    wrong = checker.main()
    last = capsys.readouterr().out.splitlines()[-1]

    assert (wrong, last) == (0, "36 files, 0 not as the truth says")
