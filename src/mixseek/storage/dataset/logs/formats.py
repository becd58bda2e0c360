"""What a format is: how its logs are recognised, and what an opened one gives."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mixseek.storage.dataset.logs.reading import Sniffed
from mixseek.storage.dataset.logs.record import LoggedSample

# Sentences about a log as a whole: what is cut off, what was left out.
Notices = list[str]


@dataclass(frozen=True, slots=True)
class Log:
    """One log, recognised. Reading its samples again gives the same ones; what is remarkable goes to the notices."""

    samples: Callable[[Notices], Iterator[LoggedSample]]
    # Of the tool that wrote it, where the log says so.
    tool_version: str | None = None
    # Of the shape of the log, where it has one.
    log_version: str | None = None
    # Files beside it that were read with it.
    companions: tuple[Path, ...] = ()
    notices: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class LogFormat:
    """`open` raises DatasetError for a log that is recognised and cannot be read, with what is missing."""

    name: str
    title: str
    recognise: Callable[[Sniffed], bool]
    open: Callable[[Sniffed], Log]
