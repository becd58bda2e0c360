"""Answer runs for tests: questions, targets at a loopback endpoint, the command, and the rows that it leaves."""

import json
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.flows.live import KEYS
from tests.flows.running import mixseek_here, read_jsonl, write_jsonl
from tests.flows.target_server import PRICE_INPUT, PRICE_OUTPUT

from mixseek.datasets.answer_runs import answer_rows
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.workspace import RunDirectory, Workspace

RUN = "spring"


def write_questions(path: Path, count: int) -> Path:
    """Every question is of its own, and has a ground truth and a column for templates."""
    return write_jsonl(
        path,
        (
            {
                "id": f"q-{number}",
                "question": f"Riddle {number}: who walks first on {number} legs?",
                "ground_truth": f"traveller {number}",
                "topic": f"topic {number % 7}",
            }
            for number in range(count)
        ),
    )


def write_variants(directory: Path, count: int) -> list[str]:
    """Options for so many prompts, each with the question and a column in it."""
    words = []
    for name in "ABCDEFG"[:count]:
        (directory / f"{name}.md").write_text(f"Style {name}, about {{{{ topic }}}}.\n{{{{ question }}}}\n")
        words += ["--variant", f"{name}={name}.md"]
    return words


def write_targets(directory: Path, base_url: str, targets: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Options for targets that are tables in mixseek.toml: model and seed of their own, prices of the test server."""
    tables = []
    for name, settings in targets.items():
        table = {
            "provider": "openai",
            "model": f"model-{name}",
            "base_url": base_url,
            "seed": 100,
            "price_input": PRICE_INPUT,
            "price_output": PRICE_OUTPUT,
            **settings,
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in table.items() if value is not None]
        tables.append("\n".join([f"[judges.{name}]", *lines]))
    (directory / "mixseek.toml").write_text("\n\n".join(tables), encoding="utf-8")
    return [word for name in targets for word in ("--target", name)]


def answer_words(data: Path | str, *more: str | Path, run: str = RUN) -> list[str]:
    return ["answer", str(data), "--workspace", "ws", "--run", run, "--json", *map(str, more)]


def answer(data: Path | str, *more: str | Path, cwd: Path, run: str = RUN) -> "subprocess.CompletedProcess[str]":
    """To the end, with the canary as key."""
    return mixseek_here(*answer_words(data, *more, run=run), cwd=cwd, env=KEYS)


def succeed(data: Path | str, *more: str | Path, cwd: Path, run: str = RUN) -> dict[str, Any]:
    """The document of a command that came to its end."""
    done = answer(data, *more, cwd=cwd, run=run)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def run_of(cwd: Path, run: str = RUN) -> RunDirectory:
    return Workspace(cwd / "ws").answers(run)


def manifest_of(cwd: Path, run: str = RUN) -> Manifest:
    return read_manifest(run_of(cwd, run).manifest)


def rows_of(cwd: Path, run: str = RUN) -> list[dict[str, Any]]:
    """What the run is to whoever reads it."""
    return [dict(row) for row in answer_rows(run_of(cwd, run), manifest_of(cwd, run))]


def records_of(cwd: Path, kind: str, run: str = RUN) -> list[dict[str, Any]]:
    return [record for record in read_jsonl(run_of(cwd, run).journal) if record["t"] == kind]


def states_of(rows: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """How many rows ended how; what failed for good has no state."""
    return Counter(row["response_state"] or "failed" for row in rows)
