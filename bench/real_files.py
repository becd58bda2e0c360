"""Every command on every file of the data beside the project that fits it, through the command line, in whole.

The data (`../shared/data`) is not part of the project; without it there is nothing to do.
Run: python -m bench.real_files (also part of `make bench`)
"""

import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
COMMAND = str(Path(sys.executable).parent / "mixseek")
MANY_ROWS = 50_000
# A judgment may be missing, invalid or short of a gate; what must not be is a failure of ours.
EXPECTED_CODES = (0, 1, 4)


@dataclass(frozen=True, slots=True)
class RealFile:
    """A dataset and the judge that suits it."""

    path: Path
    judge: str
    columns: tuple[str, ...] = ()

    def judging(self, workspace: Path) -> list[str]:
        """The words of `mixseek judge`."""
        words = ["judge", str(self.path), "--judge", self.judge, "--workspace", str(workspace), "--run", self.path.stem]
        return words + [word for column in self.columns for word in ("--map", column)]


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended, and what it took."""

    words: Sequence[str]
    code: int
    seconds: float
    output: str


def real_files() -> Iterator[RealFile]:
    """Answers with a ground truth for the rules; recorded replies that stand beside what they are about."""
    for path in sorted(DATA.glob("matching_*.jsonl")):
        yield RealFile(path, "rules")
    for path in sorted(DATA.glob("judge_outputs_*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            row = json.loads(lines.readline())
        if "response" in row:
            yield RealFile(path, "replay")
        elif "response_tail" in row:
            yield RealFile(path, "replay", ("response=response_tail",))


def run(words: Sequence[str]) -> Done:
    """One command in a process of its own."""
    began = time.perf_counter()
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, env={**os.environ})
    return Done(words, done.returncode, time.perf_counter() - began, done.stdout + done.stderr)


def reading_commands(file: RealFile, workspace: Path) -> Iterator[list[str]]:
    """Everything that reads a run."""
    name, place = file.path.stem, ["--workspace", str(workspace)]
    yield ["report", name, *place, "--to", str(workspace / f"{name}.html")]
    for suffix in ("jsonl", "csv", "parquet"):
        yield ["export", name, *place, "--to", str(workspace / f"{name}.{suffix}")]
    with file.path.open(encoding="utf-8") as lines:
        yield ["show", name, str(json.loads(lines.readline())["id"]), *place]
    yield ["archive", name, *place]


def many_rows(target: Path, count: int = MANY_ROWS) -> RealFile:
    """All answers one after the other, again and again, under ids of their own."""
    paths = sorted(DATA.glob("matching_*.jsonl"))
    with target.open("w", encoding="utf-8") as written:
        for number, line in zip(range(count), itertools.chain.from_iterable(map(lines_of, paths * 10)), strict=False):
            row = json.loads(line)
            kept = {name: row[name] for name in ("question", "response", "ground_truth") if row.get(name) is not None}
            written.write(json.dumps({**kept, "id": f"{number}"}, ensure_ascii=False) + "\n")
    return RealFile(target, "rules")


def lines_of(path: Path) -> list[str]:
    """In whole: the largest file has six megabytes."""
    return path.read_text(encoding="utf-8").splitlines()


def main() -> None:
    """Time of every command, and the most memory that any of them took."""
    if not DATA.is_dir():
        print(f"real files: {DATA} is not there; nothing to read")
        return
    with tempfile.TemporaryDirectory() as place:
        workspace = Path(place)
        files = [*real_files(), many_rows(workspace / "many_rows.jsonl")]
        failures = sum(tell(run(words)) for file in files for words in commands(file, workspace))
        tell(run(["runs", "--workspace", str(workspace)]))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1_024
    print(f"real files: {len(files)} read, {failures} commands failed, {peak:.0f} MB at most")


def commands(file: RealFile, workspace: Path) -> Iterator[list[str]]:
    """Judging first."""
    yield file.judging(workspace)
    yield from reading_commands(file, workspace)


def tell(done: Done) -> bool:
    """A line; the output too where it failed. True for a failure."""
    is_failure = done.code not in EXPECTED_CODES
    print(f"{done.seconds:7.1f} s  exit {done.code}  {' '.join(done.words[:2])}", flush=True)
    if is_failure:
        print(done.output)
    return is_failure


if __name__ == "__main__":
    main()
