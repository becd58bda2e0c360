"""The options of judging from Python as a request, and work in a thread of its own for whoever calls."""

import asyncio
import concurrent.futures
import contextvars
import numbers
import os
import reprlib
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cache
from inspect import Parameter, Signature, formatannotation
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from mixseek.analysis.run.gates import Gates
from mixseek.api.old_keywords import renew_keywords
from mixseek.api.words import without_flags
from mixseek.comparison.baseline import Baseline, find_baseline
from mixseek.comparison.model import DropGate, GateEnd
from mixseek.datasets.answer_runs import PREFIX
from mixseek.datasets.memory import IN_MEMORY, Rows, keep_rows
from mixseek.domain.panels import PanelRule
from mixseek.domain.ports import Judge, JudgeLike, JudgeProtocol, LiveJudge
from mixseek.errors import ConfigurationError, suggest
from mixseek.judges.function import function_judge
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.requests.given_options import GATES, make_request, several
from mixseek.runs.requests.named import NamedJudge
from mixseek.runs.requests.request import BatchOptions, JudgeRequest
from mixseek.settings.declared import Declared, declarations
from mixseek.settings.load import load_settings
from mixseek.settings.models import JudgeSettings, Language
from mixseek.settings.options import JudgeOptions
from mixseek.settings.race import EvaluationFile
from mixseek.storage.workspace import Workspace

Choice = TypeVar("Choice", bound=StrEnum)
# A path as on the command line, dicts or samples, or a table that offers the Arrow stream interface.
Data = str | Path | Rows
_CHECKED_ELSEWHERE = ("judges", "targets", "protocol", "panel", "cut_off", "undecided", "evaluator")
# Names in the table that it does not import itself.
_NAMES = {
    "JudgeLike": JudgeLike,
    "JudgeProtocol": JudgeProtocol,
    "Language": Language,
    "EvaluationFile": EvaluationFile,
}


@cache
def kinds_of(table: type) -> Mapping[str, Any]:
    """The types that Python may pass, by the names of the options."""
    return get_type_hints(table, localns=_NAMES)


def signature_of(table: type, first: str) -> Signature:
    """The signature for help() and for notebooks: names and defaults as if they had been written out."""
    kinds = kinds_of(table)
    named = [Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kinds[name]) for name in kinds]
    return Signature([Parameter(first, Parameter.POSITIONAL_OR_KEYWORD, annotation=Data), *named])


class TemporaryWorkspace:
    """A directory that goes with this object, and at the latest with the process."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="mixseek-"))
        self._ending = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def remove(self) -> None:
        """Removes it at once, and not when the last reference is gone."""
        self._ending()


@dataclass(frozen=True, slots=True)
class JudgeOrder:
    """A request with what must hold in the end, and how it is told."""

    request: JudgeRequest
    gates: Gates
    baseline: Baseline | None
    shows_progress: bool
    # None where the run is kept in a workspace of the user's.
    temporary: TemporaryWorkspace | None
    # Sentences for a person, in the order in which they were said.
    notices: list[str] = field(default_factory=list)


def make_order(data: Data, options: Mapping[str, Any]) -> JudgeOrder:
    """Raises MixseekError for whatever cannot work; rows in memory are copied, and a generator is used up."""
    given = check_options(options)
    settings = load_settings()
    answers = kept_answers(data)
    temporary = None if "workspace" in given or answers is not None else TemporaryWorkspace()
    root = Path(given["workspace"]) if "workspace" in given else temporary.path if temporary is not None else Path()
    if answers is not None and "workspace" not in given:
        # They are judged where they are, for as long as somebody holds either of them.
        temporary, root = answers.temporary, answers.workspace
    if answers is not None and root.resolve() == answers.workspace.resolve():
        data = f"{PREFIX}{answers.name}"
    is_file = isinstance(data, str | os.PathLike)
    refuse_contradictions(given)
    route: dict[str, Any] = {}
    if "cascade_file" in given:
        # Late: few runs follow one.
        from mixseek.cascades.following import follow_given

        given, route = follow_given(given, root)
    judges = several(given.pop("judges", settings.judge.judges))
    panel = choose(PanelRule, given.pop("panel"), "panel") if "panel" in given else None
    request = make_request(
        str(data) if is_file else str(keep_rows(data, Workspace(root).spool)),
        {**given, **({} if panel is None else {"panel": panel})},
        settings,
        data_name=None if is_file else IN_MEMORY,
        workspace=root,
        **{"judges": tuple(map(name_judge, judges)), **route},
        command_line=("mixseek.judge",),
        keeps_empty_run=True,
        environment=os.environ,
    )
    if temporary is not None:
        refuse_batches_nobody_keeps(request.live.batches, request.judges, request.configured)
    gates = Gates(**{name: limit for name, limit in request.gates.items() if name in GATES})
    baseline = find_against(request, given, is_kept=temporary is None)
    return JudgeOrder(request, gates, baseline, given.get("progress", True), temporary)


def refuse_batches_nobody_keeps(
    batches: BatchOptions, judges: Sequence[NamedJudge], configured: Mapping[str, JudgeSettings]
) -> None:
    """Raises ConfigurationError for requests left with a provider by a run whose workspace goes with the process."""
    settings = (configured.get(judge) for judge in judges if isinstance(judge, str))
    if batches.is_for_all or any(judge.batch for judge in settings if judge is not None):
        raise ConfigurationError("batch: nothing would be left of what is paid for; give workspace")


class KeptAnswers(NamedTuple):
    """Where answers are, by which a run can judge them without a copy."""

    name: str
    workspace: Path
    temporary: TemporaryWorkspace | None


def kept_answers(data: object) -> KeptAnswers | None:
    """None for what is not the answers of `mixseek.answer`; told by what it has, since that module is above this."""
    kept = getattr(data, "kept", None)
    return kept if isinstance(kept, KeptAnswers) else None


def refuse_contradictions(given: Mapping[str, Any]) -> None:
    """Raises ConfigurationError for options that mean nothing with, or without, each other."""
    protocol = given.get("protocol", "")
    if not isinstance(protocol, str | os.PathLike | JudgeProtocol):
        kind = type(protocol).__name__
        raise ConfigurationError(f"protocol: a value of type {kind}; give a name, a path, or what load_protocol gave")
    if "panel" in given and given.get("cascade"):
        raise ConfigurationError("panel: a cascade gives one verdict a sample already; choose one of both")
    if "audit_share" in given and "cascade_file" not in given:
        raise ConfigurationError("audit_share: only means something with cascade_file")
    for name in ("address", "shards") if "on" not in given else ():
        if name in given:
            raise ConfigurationError(f"{name}: only means something with on='ray'")


def check_options(options: Mapping[str, Any], table: type = JudgeOptions, caller: str = "judge") -> dict[str, Any]:
    """Those that say something; TypeError for a name that is none, ConfigurationError for a number out of range."""
    known, kinds = declarations(table), kinds_of(table)
    given: dict[str, Any] = {}
    for name, value in renew_keywords(options, caller).items():
        if name not in known:
            meant = suggest(name, known, f"options are {', '.join(known)}")
            raise TypeError(f"mixseek.{caller} has no option {name!r}; {meant}")
        if value is not None:
            given[name] = check_value(name, value, known[name].bounds, kinds[name])
    return given


def wording_of(declared: Declared) -> str:
    """What an option does, in the words of Python."""
    default = "" if declared.default is None else f" Default: {declared.default}."
    return (declared.in_python or without_flags(declared.help)) + default


def check_value(name: str, value: Any, bounds: tuple[float, float] | None, kind: Any) -> Any:
    """The value, a whole number of numpy's as one of Python's."""
    if bounds is not None:
        if not isinstance(value, bool) and isinstance(value, numbers.Integral):
            value = int(value)
        least, most = bounds
        # Written so that NaN is refused too.
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            within = f"from {least:g} to {most:g}" if most < float("inf") else f"of at least {least:g}"
            raise ConfigurationError(f"{name}={value!r}: give a number {within}")
    check_kind(name, value, kind)
    return value


def check_kind(name: str, value: object, kind: Any) -> None:
    """Raises ConfigurationError for a value of another type than the option's; paths may be of anybody's class."""
    if name in _CHECKED_ELSEWHERE or isinstance(value, os.PathLike):
        return
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError:
        wanted = formatannotation(kind).replace("collections.abc.", "").removesuffix(" | None")
        raise ConfigurationError(f"{name}={reprlib.repr(value)}: it takes {wanted}") from None


def choose(kind: type[Choice], value: object, option: str) -> Choice:
    """The member of that value; ConfigurationError with the ones there are."""
    try:
        return kind(str(value))
    except ValueError:
        known = ", ".join(str(member.value) for member in kind)
        raise ConfigurationError(f"{option}={value!r}: it is one of {known}") from None


def name_judge(candidate: object) -> NamedJudge:
    """A spec or a judge as it is; a function as a judge of its name."""
    if isinstance(candidate, str):
        return candidate
    # By what they have: what a caller has made need not know our classes.
    if hasattr(candidate, "name") and (hasattr(candidate, "reply") or hasattr(candidate, "fingerprint")):
        untyped: Any = candidate
        judge: Judge | LiveJudge = untyped
        return judge
    if callable(candidate):
        return function_judge(candidate)
    raise ConfigurationError(
        f"judges: a value of type {type(candidate).__name__}; give a spec such as 'rules', a function, or a judge"
    )


def find_against(request: JudgeRequest, given: Mapping[str, Any], *, is_kept: bool) -> Baseline | None:
    """The baseline and its gate; options that mean nothing without each other are refused."""
    name, drop, gate_on = given.get("baseline"), given.get("max_drop"), given.get("gate_on")
    if gate_on is not None and drop is None:
        raise ConfigurationError("gate_on: says what is held against max_drop; give that too")
    if name is None:
        if drop is not None:
            raise ConfigurationError("max_drop: needs a run to hold this one against; give baseline")
        return None
    if not is_kept:
        raise ConfigurationError("baseline: a run of a workspace; give workspace, or use run.compare(other)")
    return find_baseline(request, name, None if drop is None else DropGate(drop, GateEnd(gate_on or "point")))


# Work in a thread of its own, wherever the caller is: a script, a notebook, a server's handler.

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


async def await_stopping(work: "concurrent.futures.Future[T]", stop: threading.Event) -> T:
    """The result, awaited; whoever cancels waits for what is in flight."""
    waiting = asyncio.wrap_future(work)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([waiting])
        if not waiting.cancelled():
            # Looked at, so that it is not reported as forgotten.
            waiting.exception()
        raise


def run_to_end(make: Callable[[Callable[[], bool]], Coroutine[Any, Any, T]]) -> T:
    """The result of the coroutine that `make` gives; `make` gets what says whether to stop."""
    stop = threading.Event()
    return wait_for(in_thread(lambda: asyncio.run(make(stop.is_set))), stop)
