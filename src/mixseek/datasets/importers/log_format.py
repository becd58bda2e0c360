"""What a format is: how its logs show in their first bytes, and what an opened one gives."""

from collections.abc import Callable, Iterator
from dataclasses import field
from functools import partial
from pathlib import Path

from mixseek.datasets.importers.reading.sniffing import Mark, Place, Sniffed
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.lazy_dataclass import dataclass

# Sentences about a log as a whole: what is cut off, what was left out.
Notices = list[str]
# What a log shows in its first bytes, all of it. The first is looked up, so it is the one that fewest other files have.
Signature = tuple[Mark, ...]


def in_row(*names: str) -> Signature:
    """Columns of the first row, in lines, a list or a table; `inputs.` stands for each that begins with it."""
    return tuple((Place.ROW, name) for name in names)


def in_item(*names: str) -> Signature:
    """Columns of the first object of a JSON list."""
    return tuple((Place.ITEM, name) for name in names)


def in_table(*names: str) -> Signature:
    """Columns of a CSV or TSV file."""
    return tuple((Place.TABLE, name) for name in names)


def in_object(*names: str) -> Signature:
    """Keys of a file that is one JSON object."""
    return tuple((Place.OBJECT, name) for name in names)


def in_zip(*names: str) -> Signature:
    """Members of a zip; `samples/` stands for each below it."""
    return tuple((Place.ZIP, name) for name in names)


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


def opening(read: Callable[[Sniffed, Notices], Iterator[LoggedSample]]) -> Callable[[Sniffed], Log]:
    """The opener of a format whose logs say nothing of themselves but their samples."""
    return lambda sniffed: Log(partial(read, sniffed))


@dataclass(frozen=True, slots=True)
class LogFormat:
    """`open` raises DatasetError for a log that is recognised and cannot be read, with what is missing."""

    name: str
    title: str
    # Whoever shows one of them may be a log of this format.
    signatures: tuple[Signature, ...]
    open: Callable[[Sniffed], Log]
    # Asked where names alone do not tell; the file shows a signature then.
    confirm: Callable[[Sniffed], bool] | None = None
    # Where its logs never hold a score, nobody has to look for what scores mean before samples are read.
    has_scores: bool = True


@dataclass(frozen=True, slots=True)
class Summary:
    """A file of the same tool that only sums up: what it is, how it shows, and what to give instead."""

    title: str
    signatures: tuple[Signature, ...]
    advice: str
