"""What holds for every test: no clock of Hypothesis on a busy machine, and no test that hangs for ever."""

import gc
import signal
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType

import hypothesis
import pytest
from tests.figures import watch

# Nothing that is collected with the tests is garbage: see `pytest_collection_finish`.
gc.disable()
# A machine that has more to do than our tests is no failure of theirs.
hypothesis.settings.register_profile("mixseek", parent=hypothesis.settings.default, deadline=None, max_examples=15)
hypothesis.settings.load_profile("mixseek")
# What `make test-thorough` asks for: properties have as many examples as are counted beside them (`tests.examples`).
hypothesis.settings.register_profile("patient", parent=hypothesis.settings.get_profile("mixseek"))
# What `make test-all` asks for: properties are looked at more closely where nobody waits.
hypothesis.settings.register_profile("thorough", parent=hypothesis.settings.default, deadline=None, max_examples=150)

# What hangs, hangs for longer than a host that takes nine tenths of the machine away.
SECONDS_PER_TEST = 480.0
# Those who fetch a model wait for a network, too.
SECONDS_WITH_DOWNLOAD = 1_800.0
# An exception that was raised where Python drops exceptions (in a destructor, say) is raised once more.
_RINGS_AGAIN_SECONDS = 30.0


@contextmanager
def at_most(seconds: float, name: str) -> Iterator[None]:
    """What hangs fails, and says where it hung. An alarm wakes the main thread only, where pytest-xdist runs tests."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_signum: int, _frame: FrameType | None) -> None:
        pytest.fail(f"{name} was not over after {seconds:g} s")

    began = time.monotonic()
    before = signal.signal(signal.SIGALRM, ring)
    left, again = signal.setitimer(signal.ITIMER_REAL, seconds, _RINGS_AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            # A part of a test has its own time within that of the test.
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 0.001), again)


def pytest_configure(config: pytest.Config) -> None:
    watch(config)


def pytest_collection_finish() -> None:
    """Ten thousand cases are there until the end: the collector need not walk over them again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """What is frozen is not taken down at the end: DuckDB's binding calls that a leak, a page for each worker."""
    gc.unfreeze()


def limit_of(item: pytest.Item) -> float:
    """A thorough test may be asked for at a size that takes longer."""
    thorough = item.get_closest_marker("thorough")
    if thorough is not None and "seconds" in thorough.kwargs:
        return float(thorough.kwargs["seconds"])
    return SECONDS_WITH_DOWNLOAD if item.get_closest_marker("optin") else SECONDS_PER_TEST


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """What a fixture makes for several tests has a time of its own."""
    with at_most(limit_of(item), f"the setup of {item.nodeid}"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    with at_most(limit_of(item), item.nodeid):
        return (yield)
