"""Batches as files in a directory: for closed networks, and for vLLM's `run-batch`, which reads and writes OpenAI's."""

import os
import shutil
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mixseek.judges.batches.door import BatchDoor
from mixseek.judges.batches.lines import LineFormat
from mixseek.judges.batches.openai_files import OpenAIFiles
from mixseek.judges.batches.wires import BatchView, Limits, Phase, Submission
from mixseek.judges.endpoint.judge import EndpointJudge
from mixseek.judges.endpoint.openai_chat import OpenAIChat
from mixseek.lazy_dataclass import dataclass

# What comes back has one of these names; the second one are failures, as OpenAI keeps them apart.
_RESULTS = (".output.jsonl", ".error.jsonl")
# A file that is shorter than it should be may still be growing.
_QUIET_SECONDS = 60.0
_OPENAI = OpenAIFiles()


@dataclass(frozen=True, slots=True)
class BatchFiles:
    """NAME.jsonl is written there, and NAME.output.jsonl is waited for."""

    directory: Path
    name: str = "files"
    lines: LineFormat = LineFormat.OPENAI
    limits: Limits = Limits(50_000, 200_000_000)
    uploads_first: bool = False
    keeps_label: bool = True
    wire: OpenAIChat = OpenAIChat()

    def door(self, judge: EndpointJudge) -> BatchDoor:
        return BatchDoor(judge)

    def line(self, custom_id: str, body: Mapping[str, Any]) -> bytes:
        return _OPENAI.line(custom_id, body)

    async def submit(self, door: BatchDoor, submission: Submission) -> str:
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.directory / f"{submission.label}.jsonl"
        # Under its last name only when it is whole: somebody may be looking.
        begun = path.with_suffix(".part")
        shutil.copyfile(submission.path, begun)
        begun.replace(path)
        return str(path)

    async def look(self, door: BatchDoor, batch: str) -> BatchView:
        sent = Path(batch)
        there = [path for path in (sent.with_suffix(suffix) for suffix in _RESULTS) if path.is_file()]
        if not there:
            # Somebody may have moved it to where it is answered.
            return BatchView(batch, Phase.RUNNING, "written" if sent.is_file() else "taken away")
        came, wanted = sum(map(_count_lines, there)), _count_lines(sent) if sent.is_file() else 0
        is_quiet = time.time() - max(path.stat().st_mtime for path in there) > _QUIET_SECONDS
        phase = Phase.ENDED if 0 < wanted <= came or is_quiet else Phase.RUNNING
        return BatchView(batch, phase, "answered", tuple(map(str, there)), {"came": came})

    async def list(self, door: BatchDoor) -> list[BatchView]:
        return [
            BatchView(str(path), Phase.RUNNING, "written", label=path.stem, created_at=_written_at(path))
            for path in sorted(self.directory.glob("*.jsonl"))
            if not path.name.endswith(_RESULTS)
        ]

    async def cancel(self, door: BatchDoor, batch: str) -> None:
        sent = Path(batch)
        sent.unlink(missing_ok=True)
        answers = sent.with_suffix(_RESULTS[0])
        if not answers.exists():
            # Nothing came, and nothing will.
            answers.touch()
            os.utime(answers, (0, 0))


def _count_lines(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(1 for line in stream if line.strip())


def _written_at(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
