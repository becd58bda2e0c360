"""A function of the user's as a judge: what it is given, what it may return, and what its failures become."""

import asyncio
import functools
import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import mixseek
from mixseek.errors import ConfigurationError

ROWS = [{"id": str(number), "response": f"It is {number}.", "ground_truth": str(number)} for number in range(6)]
REPLY = {"id": 1, "is_correct": True, "reasoning_score": 4, "error_type": "none", "comment": "as it should be"}


def correct(sample: mixseek.Sample) -> dict[str, Any]:
    return {**REPLY, "extracted_answer": sample.ground_truth}


async def awaited(sample: mixseek.Sample) -> dict[str, Any]:
    await asyncio.sleep(0)
    return correct(sample)


class Called:
    """An object that can be called."""

    def __call__(self, sample: mixseek.Sample) -> str:
        return f'{{"id": 1, "is_correct": true, "extracted_answer": "{sample.ground_truth}", "reasoning_score": 4, ' + (
            '"error_type": "none", "comment": ""}'
        )


@pytest.mark.parametrize("judge", [correct, awaited, Called(), functools.partial(awaited)])
def test_a_function_judges(judge: Any) -> None:
    """Sync or async, as text or as a dict; a plain list of judges is not needed."""
    run = mixseek.judge(ROWS, judges=judge)

    assert [(one.verdict, one.sample.id) for one in run] == [("correct", row["id"]) for row in ROWS]
    assert run.summary.calls[0].calls == 6


def test_what_it_returns_is_validated_like_any_reply() -> None:
    """A reply that breaks the protocol is invalid with its flags, and so is prose."""
    bad: dict[str, Any] = {"0": {**REPLY, "extracted_answer": "0", "reasoning_score": 9}, "1": "I cannot say.", "2": {}}
    run = mixseek.judge(ROWS, judges=lambda sample: bad.get(sample.id, correct(sample)))

    assert [one.status for one in run] == ["invalid"] * 3 + ["valid"] * 3
    (first, *_) = run.judgments("invalid")
    assert isinstance(first.outcome, mixseek.InvalidJudgment)
    assert "reasoning_score" in first.outcome.findings[0].detail


def test_what_it_raises_is_one_missing_judgment_and_never_the_end(tmp_path: Path) -> None:
    """However often: the reason stands in the cell. A run of that name and version asks again, and is complete then."""
    mended = False

    def fragile(sample: mixseek.Sample) -> Any:
        if not mended and sample.id in "1245":
            raise {"1": KeyError("no key"), "2": SystemExit(3)}.get(sample.id) or ZeroDivisionError("oh")
        return correct(sample)

    judge = mixseek.function_judge(fragile, version="1")
    run = mixseek.judge(ROWS, judges=judge, workspace=tmp_path)
    assert run.state is mixseek.RunState.INCOMPLETE
    reasons = {one.sample.id: one.outcome.reason for one in run if isinstance(one.outcome, mixseek.Missing)}
    assert reasons == {
        "1": "judge fragile: KeyError: 'no key'",
        "2": "judge fragile: RuntimeError: SystemExit: 3",
        "4": "judge fragile: ZeroDivisionError: oh",
        "5": "judge fragile: ZeroDivisionError: oh",
    }
    mended = True

    assert mixseek.judge(ROWS, judges=judge, workspace=tmp_path).ok


def test_a_function_that_always_fails_does_not_end_the_run() -> None:
    """Other judges, and the rest of the samples, are still asked."""
    rows = [{**row, "id": f"{row['id']}-{number}"} for row in ROWS for number in range(10)]
    run = mixseek.judge(rows, judges=["rules", lambda sample: 1 / 0])

    assert sum(one.status == "missing" for one in run) == 60
    assert sum(one.status == "valid" for one in run) == 60


@pytest.mark.parametrize("said", [3, True, {"x": object()}])
def test_what_is_no_reply_is_missing_with_the_reason(said: object) -> None:
    """Nothing is guessed from a number."""
    (one,) = mixseek.judge(ROWS[:1], judges=lambda sample: said)

    assert isinstance(one.outcome, mixseek.Missing)
    assert "judge lambda: " in one.outcome.reason


def test_none_declines_and_the_next_judge_is_asked() -> None:
    """A cascade may begin with a function that knows only what it knows."""
    run = mixseek.judge(
        ROWS[:2], judges=[lambda sample: correct(sample) if sample.id == "0" else None, "rules"], cascade=True
    )

    assert [(one.judge, one.status) for one in run] == [
        ("lambda", "valid"),
        ("lambda", "undecided"),
        ("rules", "valid"),
    ]


def test_a_second_parameter_gets_the_prompt() -> None:
    """For whoever has a client of his own, and wants our protocol."""
    asked: list[list[dict[str, str]]] = []

    def client(sample: mixseek.Sample, messages: list[dict[str, str]]) -> Any:
        asked.append(messages)
        return correct(sample)

    mixseek.judge(ROWS[:1], judges=client)

    assert [message["role"] for message in asked[0]] == ["system", "user"]
    assert "It is 0." in asked[0][1]["content"]


def test_sync_functions_run_beside_each_other_up_to_the_limit() -> None:
    """In threads, as many as calls to an endpoint would be."""
    at_once, most, lock, is_beside = 0, 0, threading.Lock(), threading.Event()

    def slow(sample: mixseek.Sample) -> Any:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
            if at_once > 1:
                is_beside.set()
        # The first one waits for a second, which is there only if they run beside each other.
        is_beside.wait(30)
        with lock:
            at_once -= 1
        return correct(sample)

    rows = [{**row, "id": f"{row['id']}-{number}"} for row in ROWS for number in range(4)]
    mixseek.judge(rows, judges=slow, concurrency=3)

    assert 1 < most <= 3


def test_a_function_that_takes_too_long_is_given_up() -> None:
    """By the option that holds for endpoints; the thread is left to itself."""
    (one,) = mixseek.judge(ROWS[:1], judges=lambda sample: time.sleep(30), timeout=0.1)

    assert one.outcome == mixseek.Missing("judge lambda: it returned nothing within 0.1 s")


def test_only_a_function_with_a_version_is_remembered(tmp_path: Path) -> None:
    """Nobody can see from outside that a function has become another one."""
    calls: list[str] = []

    def noted(sample: mixseek.Sample) -> Any:
        calls.append(sample.id)
        return correct(sample)

    counts = []
    for version in (None, None, "1", "1", "2"):
        judge = mixseek.function_judge(noted, version=version)
        mixseek.judge(ROWS[:2], judges=judge, workspace=tmp_path)
        counts.append(len(calls))

    assert counts == [2, 4, 6, 6, 8]
    # Another run of the same name and version is answered from the cache.
    mixseek.judge(ROWS[:2], judges=mixseek.function_judge(noted, version="1"), workspace=tmp_path, run="other")
    assert len(calls) == 8


@pytest.mark.parametrize("name", ["rules", "replay:x", "log", ""])
def test_a_name_that_says_something_else_is_refused(name: str) -> None:
    """`rules` in a report must be the rules."""
    with pytest.raises(ConfigurationError, match="that name is taken"):
        mixseek.function_judge(correct, name=name)


def test_two_functions_of_one_name_need_names() -> None:
    """They could not be told apart in the journal."""
    with pytest.raises(ConfigurationError, match="lambda is given twice"):
        mixseek.judge(ROWS, judges=[lambda sample: "", lambda sample: ""])


def test_runs_in_several_threads_do_not_disturb_each_other() -> None:
    """Nor what they change of the process: the collector's thresholds are as before when the last one has ended."""
    before = gc.get_threshold()
    with ThreadPoolExecutor(4) as threads:
        runs = list(threads.map(lambda _: mixseek.judge(ROWS, judges=["rules", awaited]), range(4)))

    assert all(run.ok for run in runs)
    assert gc.get_threshold() == before


async def cancelled(sample: mixseek.Sample) -> None:
    raise asyncio.CancelledError


async def leaves(sample: mixseek.Sample) -> None:
    raise SystemExit(3)


def finds_nothing(sample: mixseek.Sample) -> Any:
    return next(iter(()))


@pytest.mark.parametrize(
    ("judge", "reason"),
    [(cancelled, "CancelledError"), (leaves, "SystemExit: 3"), (finds_nothing, "StopIteration")],
)
def test_what_ends_a_task_a_process_or_a_loop_is_one_missing_judgment_too(judge: Any, reason: str) -> None:
    """None of them may end the run, and the one that no future takes may not be waited for without an end."""
    run = mixseek.judge(ROWS[:1], judges=judge, timeout=120)

    (one,) = run
    assert isinstance(one.outcome, mixseek.Missing)
    assert reason in one.outcome.reason


def test_a_partial_has_the_name_of_its_function_and_a_name_that_is_no_text_is_refused() -> None:
    """`partial` says nothing in a report, and two of them would be one judge."""
    assert mixseek.function_judge(functools.partial(correct)).name == "correct"
    name: Any = 5
    with pytest.raises(ConfigurationError, match="judge 5: its name is a text"):
        mixseek.function_judge(correct, name=name)


def test_a_function_that_declines_everything_is_named() -> None:
    """It is not the rules who decided nothing, and no model was meant to be asked."""

    def shy(_sample: mixseek.Sample) -> None:
        return None

    run = mixseek.judge([{"id": "1", "response": "4", "ground_truth": "4"}], judges=shy, progress=False)

    assert run.reasons == ("no valid judgment: the judges decided none of 1 sample",)
