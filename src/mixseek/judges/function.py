"""A Python function of the user's as a judge: what it returns is read by the protocol like any reply."""

import asyncio
import contextlib
import contextvars
import functools
import hashlib
import inspect
import json
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any

from mixseek.domain.judgments import Reply
from mixseek.domain.ports import Answer, Call, Usage
from mixseek.errors import ConfigurationError, DeclinedError, FunctionJudgeError
from mixseek.lazy_dataclass import dataclass

# What the function is given: the sample, and the protocol's prompt where it has a second parameter.
JudgeFunction = Callable[..., Any]
PROVIDER = "function"
# Names that say what another kind of judge does.
_TAKEN = ("rules", "checks", "replay", "log")
_REASON_CHARACTERS = 500


@dataclass(frozen=True)
class FunctionJudge:
    """Waited for, limited and journaled like a model behind an endpoint."""

    function: JudgeFunction
    name: str
    # None: nobody says when the function has become another one, so nothing that it said is used again.
    version: str | None = None
    timeout_seconds: float | None = None
    _once: str = field(default_factory=lambda: uuid.uuid4().hex, repr=False)

    @property
    def endpoint(self) -> str:
        return f"{PROVIDER}:{self.name}"

    @property
    def fingerprint(self) -> str:
        identity = f"{PROVIDER}|{self.name}|{self._once if self.version is None else f'version {self.version}'}"
        return hashlib.sha256(identity.encode()).hexdigest()

    @property
    def description(self) -> Mapping[str, Any]:
        return {"provider": PROVIDER, "version": self.version}

    @functools.cached_property
    def _wants_messages(self) -> bool:
        return takes_two(self.function)

    async def call(self, call: Call) -> Answer:
        """Raises FunctionJudgeError for whatever the function raises, and DeclinedError where it returns None."""
        arguments: list[Any] = [call.sample]
        if self._wants_messages:
            arguments.append([{"role": message.role, "content": message.content} for message in call.messages])
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self.timeout_seconds):
                returned = await run_anywhere(self.function, arguments)
        except TimeoutError as error:
            late = self.timeout_seconds is not None and time.perf_counter() - started >= self.timeout_seconds
            why = f"it returned nothing within {self.timeout_seconds:g} s" if late else describe(error)
            raise FunctionJudgeError(f"judge {self.name}: {why}") from error
        # Somebody else's code may fail in any way there is; one sample without a judgment must not end a run.
        except Exception as error:
            raise FunctionJudgeError(f"judge {self.name}: {describe(error)}") from error
        if returned is None:
            raise DeclinedError(f"judge {self.name} declines: it returned None")
        return Answer(Reply(self._text(returned), self.name, call.ask), Usage(), time.perf_counter() - started)

    def _text(self, returned: object) -> str:
        if isinstance(returned, str):
            return returned
        if not isinstance(returned, Mapping):
            kind = type(returned).__name__
            raise FunctionJudgeError(
                f"judge {self.name}: it returned a value of type {kind}; return the reply as text or as a dict, or None"
            )
        try:
            return json.dumps(returned, ensure_ascii=False, default=plain_number)
        except (TypeError, ValueError, RecursionError) as error:
            raise FunctionJudgeError(f"judge {self.name}: its dict is no JSON: {error}") from error

    async def close(self) -> None:
        """There is nothing to give back."""


def function_judge(function: JudgeFunction, *, name: str | None = None, version: str | None = None) -> FunctionJudge:
    """A function as a judge, under a name and a version of its own.

    The function gets the `Sample`, and the protocol's prompt (a list of `{"role", "content"}`) if it has a second
    parameter. It may be `async`; one that is not runs in a thread. It returns the reply as the protocol wants it, as
    text or as a dict, or None to decline. What it raises makes that one judgment missing, with the reason.

    With a `version`, its replies are cached and its runs resumed, until the version is another one.

    >>> import mixseek
    >>> def says_so(sample):
    ...     is_right = sample.ground_truth in sample.response
    ...     return {"id": sample.id, "is_correct": is_right, "extracted_answer": sample.ground_truth,
    ...             "reasoning_score": 4, "error_type": "none", "comment": "looked for the text"}
    >>> rows = [{"response": "It is Paris.", "ground_truth": "Paris"}]
    >>> run = mixseek.judge(rows, judges=mixseek.function_judge(says_so, version="1"), progress=False)
    >>> [(one.judge, one.verdict) for one in run]
    [('says_so', 'correct')]
    """
    if not callable(function):
        raise ConfigurationError(f"a judge of your own is a function; got a value of type {type(function).__name__}")
    chosen = name if name is not None else name_of(function)
    if not isinstance(chosen, str):
        raise ConfigurationError(f"judge {chosen!r}: its name is a text")
    if not chosen or chosen in _TAKEN or chosen.startswith(tuple(f"{taken}:" for taken in _TAKEN)):
        raise ConfigurationError(f"judge {chosen!r}: that name is taken; give another: function_judge(f, name=…)")
    return FunctionJudge(function, chosen, version)


def name_of(function: JudgeFunction) -> str:
    """The name that its author gave it, also where some arguments are filled in already."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>")


def takes_two(function: JudgeFunction) -> bool:
    """Whether it has a second parameter that must, or may, be given by its place."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        # Something written in C that does not say what it takes.
        return False
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    wanted = [parameter for parameter in parameters if parameter.kind in by_place]
    # A second one with a default is a setting of the author's, unless it is called what it would get.
    return len(wanted) > 1 and (wanted[1].default is inspect.Parameter.empty or wanted[1].name == "messages")


def plain_number(value: Any) -> Any:
    """A number or truth value of numpy, which whoever computes with it returns without a thought."""
    if getattr(value, "ndim", None) == 0:
        return value.item()
    raise TypeError(f"a value of type {type(value).__name__}")


async def run_anywhere(function: JudgeFunction, arguments: list[Any]) -> Any:
    """Runs in this loop if it can be awaited, else in a thread that ends with the process: nobody waits for it then."""
    if inspect.iscoroutinefunction(function):
        return await await_harmless(function(*arguments))
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(returned: Any, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(returned)
        else:
            done.set_exception(error)

    def work() -> None:
        returned, error = None, None
        try:
            returned = context.run(function, *arguments)
        # Also what is meant to end a process: it would end this thread only, and the sample would be waited for.
        # And what no future takes: StopIteration, of a `next` that found nothing.
        except BaseException as raised:  # noqa: BLE001 - told to the loop, which makes a missing judgment of it
            is_told = isinstance(raised, Exception) and not isinstance(raised, StopIteration)
            error = raised if is_told else RuntimeError(describe(raised))
        # The loop is closed where the run did not wait for this.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, returned, error)

    threading.Thread(target=work, name="mixseek-function", daemon=True).start()
    returned = await done
    # An object that is called and then awaited, or a function that hands on what an async one has made.
    return await await_harmless(returned) if inspect.isawaitable(returned) else returned


async def await_harmless(awaitable: Awaitable[Any]) -> Any:
    """What is meant to end a task, a loop or a process is a failure of this one call, as it is in a thread."""
    try:
        return await awaitable
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # Nobody asked for it: something inside the function was cancelled.
        raise RuntimeError(describe(error)) from error
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(describe(error)) from error


def describe(error: BaseException) -> str:
    """One line: what kind of failure, and its words."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}"[:_REASON_CHARACTERS] if words else type(error).__name__
