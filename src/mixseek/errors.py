"""Every exception mixseek raises on purpose.

    MixseekError
    ├── ConfigurationError        usage, settings, input data; never retried; exit code 2
    │   ├── DatasetError          a row or file that cannot be judged, named by place
    │   ├── TimeZoneError         TZ names no time zone; also a ValueError, as seed 004 asks
    │   └── TemplateRenderError   a prompt template failed on its data; also a RuntimeError, as seed 004 asks
    ├── StorageError              the workspace cannot be read or written; exit code 3 unless it is the user's to mend
    │   ├── BusyError             another process is writing there; exit code 4, because the same command works later
    │   └── DamagedError          a file is not what was written; exit code 2, because only its owner can restore it
    ├── GateError                 what must hold before judging does not; nothing was asked; exit code 1
    ├── WorkerError               a judging process died; the run is resumable; exit code 4
    ├── AfterRoundError           a caller's own function failed after a round; the competition is resumable
    └── JudgeCallError            an endpoint gave no reply
        ├── TransientJudgeError   timeout, 429, 5xx, dropped connection: worth another try
        ├── PermanentJudgeError   401, 400, unknown model, context overflow: asking again changes nothing
        ├── FunctionJudgeError    a function of the user's failed: not now, but when the run is resumed
        └── DeclinedError         the judge has looked and does not decide: undecided, not missing

A bad judge reply is not here: it is an `InvalidJudgment`, a value.
"""

from collections.abc import Iterable


def reason_of(error: OSError) -> str:
    """What the system says, as part of a sentence."""
    return (error.strerror or str(error)).lower()


def suggest(written: str, known: Iterable[str], otherwise: str = "") -> str:
    """The nearest of what is known, as a question; `otherwise` where nothing is near."""
    # Late: nothing is misspelt as a rule. Cut: looking for what is near takes the square of the length.
    import difflib

    close = difflib.get_close_matches(written[:60], list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else otherwise


class MixseekError(Exception):
    """One line for a person: what, where, what to do."""


class ConfigurationError(MixseekError):
    """The request cannot be carried out as written; asking again changes nothing."""


class DatasetError(ConfigurationError):
    """The dataset holds something that cannot be judged; the message names the place."""


class TimeZoneError(ConfigurationError, ValueError):
    """The environment's `TZ` cannot be read; the message names values that can."""


class TemplateRenderError(ConfigurationError, RuntimeError):
    """A template that compiled could not be rendered; the message names its file."""


class GateError(MixseekError):
    """A condition of the user's is not met, so nothing was judged."""


class StorageError(MixseekError):
    """The workspace could not be read or written; what was on disk before is still there."""


class BusyError(StorageError):
    """Another process holds the run or the index; nothing is wrong with either."""


class DamagedError(StorageError):
    """A journal or a manifest was cut or changed after it was written; no number from it can be trusted."""


class WorkerError(MixseekError):
    """A process that was judging died; everything journaled is kept and the same command resumes."""


class AfterRoundError(MixseekError):
    """The function that a caller wanted to be told by raised; what it raised is the cause of this."""


class JudgeCallError(MixseekError):
    """No reply could be had; never a judgment."""

    # The run that keeps what was judged before that; None where nothing was.
    run: str | None = None


class TransientJudgeError(JudgeCallError):
    """Worth another try, at the earliest after `retry_after_seconds` where the endpoint named a time."""

    def __init__(
        self,
        message: str,
        *,
        retry_after_seconds: float | None = None,
        is_overload: bool = False,
        billed_tokens: tuple[int | None, ...] | None = None,
    ) -> None:
        super().__init__(message)
        # Input, output and cached input of an answer that held no reply and is on the bill all the same.
        self.billed_tokens = billed_tokens
        self.retry_after_seconds = retry_after_seconds
        # 429 and 503 mean "too many at once": the number of calls in flight is lowered, not only this one repeated.
        self.is_overload = is_overload


class PermanentJudgeError(JudgeCallError):
    """Asking again changes nothing.

    `concerns_everything`: a bad key or an unknown model stops the run; a prompt that is too long only loses its sample.
    `is_withheld`: a filter refuses what was asked, or what would have been the reply.
    """

    def __init__(self, message: str, *, concerns_everything: bool = False, is_withheld: bool = False) -> None:
        super().__init__(message)
        self.concerns_everything = concerns_everything
        self.is_withheld = is_withheld


class FunctionJudgeError(JudgeCallError):
    """A function of the user's raised, or returned what is no reply; only its sample is missing."""


class DeclinedError(JudgeCallError):
    """A judge that need not decide has not decided."""
