"""From a coroutine to its result, wherever the caller is: a script, a notebook, a server's handler."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_to_end(make: Callable[[Callable[[], bool]], Coroutine[Any, Any, T]]) -> T:
    """The result of the coroutine that `make` gives; inside a running event loop, in a thread of its own.

    `make` gets what says whether to stop: there, an interrupt lets come home what is in flight before it is raised.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make(lambda: False))
    asked: list[bool] = []
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="mixseek") as thread:
        context = contextvars.copy_context()
        work = thread.submit(context.run, lambda: asyncio.run(make(lambda: bool(asked))))
        try:
            return work.result()
        except KeyboardInterrupt:
            asked.append(True)
            raise
