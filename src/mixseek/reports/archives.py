"""Judgments as files in words: what an archive holds, and what is no longer as its index says."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mixseek.archive.write import INVALID_ROOM, VALID_ROOM
from mixseek.presentation.sections import Section, unbroken_lines
from mixseek.text.phrases import plural


def archived_sections(written: Mapping[str, Any]) -> Iterator[Section]:
    """What was written, and where."""
    if "answers" in written:
        rows, prompts = plural(written["answers"], "answer"), plural(written["prompts"], "prompt")
        yield unbroken_lines(f"answers {written['run']}: {rows} to {prompts} in {written['directory']}")
        return
    directory, repeated, unjudged = Path(written["directory"]), written["asked_again"], written["unjudged"]
    replies = plural(repeated, "reply that was", "replies that were")
    again = f" and {replies} invalid and asked for again" if repeated else ""
    rest = f"; {unjudged:,} without a judgment, listed in the index" if unjudged else ""
    yield unbroken_lines(
        f"{written['run']}: {written['valid']:,} in {directory / VALID_ROOM}, {written['invalid']:,} in "
        f"{directory / INVALID_ROOM}{again}{rest}"
    )


def checked_sections(checked: Mapping[str, Any], limit: int) -> Iterator[Section]:
    """The first problems that a check found, and how many there are."""
    where, problems, kind = checked["directory"], checked["problems"], checked["kind"]
    counted = plural(checked["files"], "judgment" if kind == "run" else "file")
    if not problems:
        verb = "is" if checked["files"] == 1 else "are"
        source = "the index says" if kind == "run" else "was written"
        yield unbroken_lines(f"{where}: {counted} of {kind} {checked['run']} {verb} what {source}")
        return
    lines = [f"{problem['path']}: {problem['kind']}: {problem['detail']}" for problem in problems[:limit]]
    hidden = len(problems) - limit
    lines += [f"and {hidden:,} more; --json lists them all"] if hidden > 0 else []
    yield unbroken_lines(*lines, f"{where}: {plural(len(problems), 'problem')} in {counted}")
