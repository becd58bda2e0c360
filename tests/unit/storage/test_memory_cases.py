"""Runs that once ended in "out of memory" are indexed and exported with the usual memory."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.storage.material import CORRECT, make_run, make_sample
from tests.unit.storage.scored_material import output, quote, scored, scored_lines

from mixseek.domain.judgments import Method, Outcome, Reply, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.storage.journal.records import encode_outcome, encode_reply, encode_sample

pytestmark = pytest.mark.thorough

# Indexing and exporting in a process of their own; the second attempt with more memory is taken away from it.
CHILD = """
import re, sys
from pathlib import Path
from mixseek.storage import duckdb_session
from mixseek.index.export import export_run
from mixseek.storage.workspace import Workspace
duckdb_session._LARGEST_SHARE = duckdb_session._USUAL_BYTES / duckdb_session.usable_memory_bytes()
workspace = Workspace(Path(sys.argv[1]))
run = workspace.run("trial")
rows = [export_run(workspace, run, run.path / f"out{suffix}") for suffix in (".csv", ".jsonl", ".parquet")]
# Of this program alone: what getrusage tells begins with the size of whoever started it.
print(*rows, int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) >> 10)
"""


def commented(length: int) -> ValidJudgment:
    fields = {"is_correct": True, "extracted_answer": "B", "comment": "c" * length, "error_type": "none"}
    return ValidJudgment(score=1.0, verdict="correct", fields=fields, method=Method.CROSS_JUDGE)


def judged(sample: Sample, outcome: Outcome, takes: int = 1) -> list[bytes]:
    key = sample.key()
    lines = [encode_sample(sample, key)]
    for take in range(1, takes + 1):
        lines.append(encode_reply(key, Reply("a reply", "rules", details={"take": take})))
        lines.append(encode_outcome(sample, key, "rules", outcome, take))
    return lines


def quoted(number: int) -> list[bytes]:
    said = [quote("FORMAT", f"quote {number} {part} " * 20, [(0, 4)]) for part in range(3)]
    return scored_lines(output(f"q{number}", "A", "m"), {"rules": scored(1, 2, evidence=said)})


CASES: dict[str, tuple[Callable[[int], list[bytes]], int, int]] = {
    "600 rows with comments of 1 KB": (lambda n: judged(make_sample(n), commented(1_000)), 600, 600),
    "60 rows with comments of 10 KB": (lambda n: judged(make_sample(n), commented(10_000)), 60, 60),
    "60 rows with 100 repeats": (lambda n: judged(make_sample(n), CORRECT, takes=100), 60, 6_000),
    "2,000 rows with 200 columns": (
        lambda n: judged(make_sample(n, metadata={f"column {c}": f"value {n}" for c in range(200)}), CORRECT),
        2_000,
        2_000,
    ),
    "2,000 scored rows with three quotes": (quoted, 2_000, 2_000),
    "30 responses of 5 MB": (lambda n: judged(make_sample(n, response=f"{n} {'word ' * (1 << 20)}"), CORRECT), 30, 30),
}


# The texts that are largest take half a minute.
_SLOW = "30 responses of 5 MB"


@pytest.mark.parametrize(
    "case", [*(one for one in CASES if one != _SLOW), pytest.param(_SLOW, marks=pytest.mark.optin)]
)
def test_a_run_that_ran_out_of_memory_is_indexed_and_exported(case: str, tmp_path: Path) -> None:
    """With the usual limit and without a second attempt; the peak stays below 500 MB."""
    make_lines, samples, rows = CASES[case]
    _, run = make_run(tmp_path, [])
    with run.journal.open("wb") as journal:
        for number in range(samples):
            journal.writelines(make_lines(number))

    done = subprocess.run([sys.executable, "-c", CHILD, str(tmp_path)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    *exported, peak_megabytes = map(int, done.stdout.split())
    assert exported == [rows] * 3
    assert peak_megabytes < 500
