"""Files that nobody here wrote, in whole, through every command; skipped where they are not beside the project."""

from pathlib import Path

import pytest
from bench.real_files import DATA, RealFile, many_rows, reading_commands, real_files
from tests.flows.running import mixseek_here

FILES = list(real_files()) if DATA.is_dir() else []
# Beyond this, only what reads every row: judging, the report and one export.
_SMALL_BYTES = 1 << 20

pytestmark = pytest.mark.skipif(not FILES, reason="the data is not beside the project")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path.stem)
def test_no_command_fails_on_a_real_file(file: RealFile, tmp_path: Path) -> None:
    """Whatever a judge made of it: replies that cannot be used are an outcome, and a failure of ours is not."""
    judged = mixseek_here(*file.judging(tmp_path), cwd=tmp_path)
    assert judged.returncode in ((0,) if file.judge == "rules" else (0, 1, 4)), judged.stderr

    is_small = file.path.stat().st_size <= _SMALL_BYTES
    for words in reading_commands(file, tmp_path):
        if not is_small and (words[0] in ("show", "archive") or words[-1].endswith((".jsonl", ".csv"))):
            continue
        done = mixseek_here(*words, cwd=tmp_path)
        assert done.returncode == 0, (words, done.stderr)

    # Whoever lists the runs finds it counted.
    listed = mixseek_here("runs", "--workspace", tmp_path, cwd=tmp_path)
    assert file.path.stem[:20] in listed.stdout
    assert listed.stderr == ""


@pytest.mark.optin
def test_no_command_fails_on_fifty_thousand_real_rows(tmp_path: Path) -> None:
    """All files one after the other, again and again; a minute or two, so not every time (`make test-all`)."""
    file = many_rows(tmp_path / "many.jsonl")
    for words in (file.judging(tmp_path), *reading_commands(file, tmp_path)):
        if words[0] != "archive":
            done = mixseek_here(*words, cwd=tmp_path)
            assert done.returncode == 0, (words, done.stderr)
