"""Who watches a run, and who may stop it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from mixseek.domain.ports import ProgressSink

# Given the number of samples, something to be told about them while they are judged.
ProgressMaker = Callable[[int], AbstractContextManager[ProgressSink]]


@dataclass(frozen=True, slots=True)
class Told:
    """`tell` gets a sentence where a person would otherwise wonder; `stop` is asked now and then."""

    show_progress: ProgressMaker
    stop: Callable[[], bool]
    tell: Callable[[str], None]
