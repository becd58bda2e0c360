"""Who waits in vain is told what for; who waits for somebody at work goes on waiting."""

import asyncio
import os
import subprocess
import sys

import pytest
from tests.waiting import Watched, patiently, wait_for


def test_what_never_comes_is_named_in_the_words_of_the_test() -> None:
    requests = 3
    with pytest.raises(pytest.fail.Exception, match=r"waited 0\.01 s for .*requests > 5"):
        wait_for(lambda: requests > 5, seconds=0.01)
    with pytest.raises(pytest.fail.Exception, match=r"waited 0\.01 s for /api/runs"):
        asyncio.run(ask_in_vain())


async def ask_in_vain() -> None:
    async with patiently("/api/runs", 0.01):
        await asyncio.Event().wait()


def test_it_is_over_when_what_would_have_done_it_has_ended() -> None:
    assert wait_for(lambda: False, is_over=lambda: True) is False
    assert wait_for(lambda: True, is_over=lambda: True) is True


def test_a_process_at_work_is_told_from_one_that_stands_still() -> None:
    """By the CPU that it has had, however little a busy machine gives it in which time."""
    turns = "import time\nwhile time.process_time() < 1.5: pass\nprint(flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", turns], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as working:
        watched = Watched(working.pid)
        assert working.stdout is not None
        working.stdout.readline()

        assert watched.has_worked()
        assert not watched.has_worked()
        working.kill()
    assert not Watched(None).has_worked()
    assert not Watched(os.getpid()).has_worked()
