"""Rows that belong together and stand apart: the spans of a trace, the traces of a conversation."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def grouped(
    read: Callable[[], Iterable[Item]], trace_of: Callable[[Item], str], thread_of: Callable[[Item], str | None]
) -> Iterator[list[Item]]:
    """The items of each thread, or of each trace without one, as soon as its last one was read.

    Two passes: the first counts, so that the second holds no more than what is still open. Of a trace the first thread
    counts that one of its items names.
    """
    counts: Counter[str] = Counter()
    threads: dict[str, str] = {}
    for item in read():
        trace, thread = trace_of(item), thread_of(item)
        counts[trace] += 1
        if thread is not None:
            threads.setdefault(trace, thread)
    # A thread may have the name of a trace.
    groups = {trace: ("thread", threads[trace]) if trace in threads else ("trace", trace) for trace in counts}
    missing: Counter[tuple[str, str]] = Counter()
    for trace, count in counts.items():
        missing[groups[trace]] += count
    waiting: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in read():
        group = groups.get(trace_of(item))
        if group is None:
            # The file grew meanwhile; whoever reads it to judge notices.
            continue
        waiting[group].append(item)
        missing[group] -= 1
        if missing[group] <= 0 and group in waiting:
            yield waiting.pop(group)
