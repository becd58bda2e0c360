"""Logs of other tools: what one holds, its samples as a file of our own, and its scorers as judges."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from mixseek.datasets.importers.counts import LogCounts
from mixseek.datasets.importers.open_log import OpenLog
from mixseek.datasets.importers.registry import FORMATS, recognise
from mixseek.datasets.reader import check_file
from mixseek.datasets.sample_files import check_suffix, write_rows
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.domain.panels import WITNESS_PREFIX
from mixseek.domain.ports import ProgressSink
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.text.phrases import plural

_SHOWN_ERRORS = 5
_COUNTED_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What a log holds, and where it was written to."""

    log: OpenLog
    counts: LogCounts
    notices: tuple[str, ...]
    target: Path | None

    def document(self) -> dict[str, Any]:
        """The summary for programs."""
        counts = self.counts
        return {
            "schema": schema_id(DocumentName.IMPORT),
            "file": str(self.log.path),
            "format": self.log.format.name,
            "tool_version": self.log.log.tool_version,
            "log_version": self.log.log.log_version,
            "samples": counts.samples,
            "questions": len(counts.questions),
            "responses": counts.responses,
            "empty_responses": counts.empty_responses,
            "targets": counts.targets,
            "errors": counts.errors,
            "withheld": counts.withheld,
            "with_steps": counts.with_steps,
            "with_contexts": counts.with_contexts,
            "repeats": counts.repeats,
            "scores": counts.scores,
            "stop_reasons": counts.stop_reasons,
            "target_models": counts.target_models,
            "first_errors": [{"id": name, "error": error} for name, error in counts.first_errors],
            "companions": [str(path) for path in self.log.log.companions],
            "notices": list(self.notices),
            "to": None if self.target is None else str(self.target),
        }

    def describe(self) -> str:
        """The summary for a person."""
        counts, log = self.counts, self.log
        versions = [
            f"{word} {known}" for word, known in (("tool", log.log.tool_version), ("log", log.log.log_version)) if known
        ]
        lines = [f"{log.path}: {log.format.title}" + (f" ({', '.join(versions)})" if versions else "")]
        rows = {
            "samples": f"{counts.samples:,} about {plural(len(counts.questions), 'question')}, "
            f"{plural(counts.repeats, 'repeat')} at most",
            "responses": f"{counts.responses:,}"
            + (f", {counts.empty_responses:,} empty" if counts.empty_responses else ""),
            "targets": f"{counts.targets:,}",
            "errors": f"{counts.errors:,}",
        }
        if counts.withheld:
            rows["withheld"] = f"{counts.withheld:,} without a text, though the log calls them no error"
        if counts.with_steps:
            rows["steps"] = f"{counts.steps:,} in {plural(counts.with_steps, 'sample')}"
        if counts.with_contexts:
            rows["contexts"] = f"in {plural(counts.with_contexts, 'sample')}"
        for name, tally in counts.scores.items():
            parts = [
                f"{tally[kind]:,} {kind}" for kind in ("correct", "incorrect", "graded", "unreadable") if tally[kind]
            ]
            rows[f"{WITNESS_PREFIX}{name}"] = f"{tally['scores']:,} scores: {', '.join(parts)}"
        width = max(map(len, rows))
        lines += [f"  {name:<{width}}  {value}" for name, value in rows.items()]
        lines += [f"  ! {name}: {error}" for name, error in counts.first_errors]
        return "\n".join([*lines, *([f"written to {self.target}"] if self.target is not None else [])])


def import_log(
    data: str,
    target: Path | None,
    show_progress: Callable[[None], AbstractContextManager[ProgressSink]],
    longest: int = LONGEST_LINE_BYTES,
) -> ImportSummary:
    """Read the log once; with a target, its samples are there when all of them could be read, and else not."""
    path = check_file(data)
    log = recognise(path, longest)
    if log is None:
        known = ", ".join(dict.fromkeys(log_format.title for log_format in FORMATS))
        raise DatasetError(
            f"{path}: not recognised as a log of another tool; known are: {known}. A plain dataset needs no import"
        )
    if target is not None:
        check_target(target, path)
    counts, notices = LogCounts(), list[str]()
    with show_progress(None) as progress:
        rows = counted(log.rows(notices), counts, progress)
        if target is None:
            for _ in rows:
                pass
        elif not write_rows(rows, target):
            raise DatasetError(describe_empty(log, (*log.log.notices, *notices)))
    return ImportSummary(log, counts, (*log.log.notices, *notices), target)


def describe_empty(log: OpenLog, notices: Sequence[str]) -> str:
    """Nothing is imported silently as empty."""
    remarks = "".join(f"; {notice}" for notice in notices)
    return f"{log.path}: {log.format.title} without a single sample{remarks}"


def check_target(target: Path, path: Path) -> None:
    """Only what can be read again as it was written; never over the log itself."""
    check_suffix(target)
    if target.is_dir() or (target.exists() and target.samefile(path)):
        raise ConfigurationError(f"--to {target}: this is {'a directory' if target.is_dir() else 'the log itself'}")
    if not target.parent.is_dir():
        raise ConfigurationError(f"--to {target}: there is no directory {target.parent}; make it first")


def counted(rows: Iterator[dict[str, Any]], counts: LogCounts, progress: ProgressSink) -> Iterator[Mapping[str, Any]]:
    """Rows on their way, counted."""
    for row in rows:
        counts.add(row, _SHOWN_ERRORS)
        if counts.samples % _COUNTED_AT_ONCE == 0:
            progress.advance({"samples": _COUNTED_AT_ONCE})
        yield row
