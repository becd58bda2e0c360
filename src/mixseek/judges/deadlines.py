"""How long a call may take as a whole: one alarm for all calls of a judge; a timer each costs a sixth of a call."""

import asyncio


class Deadlines:
    """Calls that may all take equally long, so the one that began first is due first."""

    __slots__ = ("_alarm", "_due", "_loop", "_overdue", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        # In the order of their beginning; a task makes one call at a time.
        self._due: dict[asyncio.Task[object], float] = {}
        self._overdue: set[asyncio.Task[object]] = set()
        self._alarm: asyncio.TimerHandle | None = None

    def begin(self) -> "asyncio.Task[object]":
        """The running task's call begins; `end` must follow."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a call is made by a task")
        loop = task.get_loop()
        if loop is not self._loop:
            # Calls of a loop that is gone are nobody's any more.
            self._loop, self._alarm, self._due, self._overdue = loop, None, {}, set()
        self._due[task] = loop.time() + self._seconds
        if self._alarm is None:
            self._alarm = loop.call_later(self._seconds, self._ring)
        return task

    def end(self, task: "asyncio.Task[object]") -> None:
        """Whatever became of it."""
        self._due.pop(task, None)
        if task in self._overdue:
            # It ended in another way than by our cancelling, which must not count against its next call.
            self._overdue.discard(task)
            task.uncancel()

    def was_reached(self, task: "asyncio.Task[object]") -> bool:
        """Asked when the task was cancelled: True where only the time was up, and nobody else wants it to stop."""
        if task not in self._overdue:
            return False
        self._overdue.discard(task)
        return task.uncancel() == 0

    def _ring(self) -> None:
        self._alarm = None
        loop = self._loop
        if loop is None:
            return
        now = loop.time()
        while self._due:
            task, due = next(iter(self._due.items()))
            if due > now:
                self._alarm = loop.call_at(due, self._ring)
                return
            del self._due[task]
            self._overdue.add(task)
            task.cancel()
