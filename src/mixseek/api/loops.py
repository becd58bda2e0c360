"""Work in a thread of its own, wherever the caller is: a script, a notebook, a server's handler."""

import asyncio
import concurrent.futures
import contextvars
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def in_thread(work: Callable[[], T]) -> "concurrent.futures.Future[T]":
    """A thread that ends with the process, whatever it is at; what it shows goes where the caller's goes.

    In a thread, always: so it works inside a running event loop, and Ctrl-C finds somebody who is waiting.
    """
    done: concurrent.futures.Future[T] = concurrent.futures.Future()
    context = contextvars.copy_context()

    def carry() -> None:
        try:
            done.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            done.set_exception(error)

    threading.Thread(target=carry, name="mixseek", daemon=True).start()
    return done


def wait_for(
    work: "concurrent.futures.Future[T]", stop: threading.Event, tell: Callable[[str], None] = lambda _: None
) -> T:
    """The result; an interrupt lets come home what is in flight before it is raised."""
    try:
        return work.result()
    except KeyboardInterrupt:
        if work.done():
            raise
        stop.set()
        tell("stopping after what is in flight; interrupt once more to stop at once")
        # The second interrupt comes out of here; the thread then ends with the process.
        concurrent.futures.wait([work])
        raise


def run_to_end(make: Callable[[Callable[[], bool]], Coroutine[Any, Any, T]]) -> T:
    """The result of the coroutine that `make` gives; `make` gets what says whether to stop."""
    stop = threading.Event()
    return wait_for(in_thread(lambda: asyncio.run(make(stop.is_set))), stop)
