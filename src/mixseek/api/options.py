"""The options of judging from Python as a request, and work in a thread of its own for whoever calls."""

import asyncio
import concurrent.futures
import contextvars
import operator
import os
import reprlib
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from inspect import formatannotation
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

from pydantic import TypeAdapter, ValidationError

from mixseek.analysis.compare import Baseline, find_baseline
from mixseek.analysis.comparison import DropGate, GateEnd
from mixseek.analysis.gates import Gates
from mixseek.datasets.rows import IN_MEMORY, Rows, keep_rows
from mixseek.domain.panels import PanelRule
from mixseek.domain.ports import Judge, JudgeProtocol, LiveJudge
from mixseek.errors import ConfigurationError, suggest
from mixseek.judges.function import function_judge
from mixseek.runs.named import NamedJudge
from mixseek.runs.request import ClusterOptions, JudgeRequest, LiveOptions, PairBudget
from mixseek.settings.load import load_settings
from mixseek.settings.models import Settings
from mixseek.storage.workspace import Workspace

Choice = TypeVar("Choice", bound=StrEnum)
# A path as on the command line, dicts or samples, or a table that offers the Arrow stream interface.
Data = str | Path | Rows
# A spec as on the command line, a function of one's own, or a judge object.
JudgeLike = str | Callable[..., Any] | Judge | LiveJudge


class JudgeOptions(TypedDict, total=False):
    """Every option of `mixseek judge`; what is left out, or None, is as on the command line."""

    protocol: str | Path | JudgeProtocol | None
    """What is asked: a built-in, a .toml file, or what `load_protocol` gave. Default: semantic."""
    judges: JudgeLike | Sequence[JudgeLike] | None
    """One or several: specs, functions of your own, judge objects. Default: rules."""
    cascade: bool | None
    """Ask the next judge only where no judge before it gave a valid judgment."""
    panel: PanelRule | Literal["majority", "unanimous", "median", "mean"] | None
    """How several judges become one verdict."""
    workspace: str | Path | None
    """Where the run is kept, resumed and cached. Default: in memory, which leaves nothing behind."""
    run: str | None
    """Name of the run. Default: the same for the same request."""
    mapping: Mapping[str, str] | None
    """Where a field stands in the data: `{"response": "output"}`."""
    language: str | None
    """Of the prompt: en, ja or zh."""
    fail_under: float | None
    """Gate: the mean score, in 0..1, must not be lower."""
    max_invalid: float | None
    """Gate: no larger share may be invalid (of pairs, in either order) or missing."""
    max_undecided: float | None
    """Gate: no larger share may be undecided or split."""
    max_unverified: float | None
    """Gate: no larger share of the valid ones may call an answer correct that is not in the response."""
    require_card: str | Path | Sequence[str | Path] | None
    """Cards of `mixseek.audit` that must be of these judges and this protocol, with nothing failed; else GateError."""
    card_max_age: float | None
    """Days; an older card raises GateError."""
    baseline: str | None
    """A run of the same workspace that this one is compared with."""
    max_drop: float | None
    """Gate: the mean score must not be lower than the baseline's by more."""
    on: Literal["point", "lower", "ray"] | Sequence[Literal["point", "lower", "ray"]] | None
    """Whether the difference itself or the lower end of its interval is held against `max_drop`; and "ray" judges on a
    Ray cluster. A list for both."""
    address: str | None
    """Of the Ray cluster. Default: RAY_ADDRESS, else one that is started here."""
    shards: int | None
    """Parts of the data, each judged by one worker of the cluster."""
    workers: int | None
    """Processes for `rules`. Default: all cores if it pays."""
    limit: int | None
    """Judge the first so many samples only."""
    concurrency: int | None
    """Calls at once to an endpoint or a function, at most. Default: 32."""
    repeats: int | None
    """Independent replies of each model to each sample."""
    max_reasks: int | None
    """Ask again so often after an invalid reply. Default: 1."""
    max_calls: int | None
    """Stop after so many requests; resumable."""
    max_cost: float | None
    """Stop before more US dollars are spent; resumable."""
    cache: bool | None
    """False: ask again even where the workspace has the reply."""
    patience: float | None
    """Wait so many seconds for an endpoint that is down. Default: 600; 10 for one that has not answered yet."""
    timeout: float | None
    """Seconds for one whole call. Default: 120, or the judge's own; a function has none."""
    rubric: str | Path | None
    """Task rubrics in Markdown: one for all samples, or a directory with one for each task."""
    parameters: Mapping[str, Any] | None
    """Replace parameters of the protocol: `{"evidence": {"policy": "present"}}`."""
    retry_refused: bool | None
    """Ask again what a judge refused when this run was judged before."""
    retry_invalid: bool | None
    """Ask again where all replies of this run were invalid."""
    keep_going: bool | None
    """Do not stop where a judge refuses everything, or gives nothing valid."""
    bundles: bool | None
    """A recorded reply may be about many samples."""
    plan: str | Path | None
    """What was to be judged, as CSV or JSONL; holes are flagged."""
    pairs: str | int | None
    """Make pairs of single outputs: "all", "baseline:MODEL", or how many of each question."""
    seed: int | None
    """Of the pairs that are drawn."""
    budget: int | None
    """Judge so many pairs, chosen in rounds where they tell most about who is stronger."""
    top: int | None
    """`budget` is to tell who belongs to the first so many (3); 0 for the whole order."""
    allow_outside_files: bool | None
    """Let paths in rows lead out of the directory of the data."""
    progress: bool | None
    """False: show nothing while judging."""


# The least and the most that a number may be, as the command line has it.
RANGES: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(("fail_under", "max_invalid", "max_undecided", "max_unverified", "max_drop"), (0, 1)),
    "card_max_age": (0, float("inf")),
    "workers": (0, 256),
    **dict.fromkeys(("limit", "budget"), (1, float("inf"))),
    "top": (0, float("inf")),
    "concurrency": (1, 4096),
    "shards": (1, float("inf")),
    "repeats": (1, 100),
    "max_reasks": (0, 10),
    "max_calls": (1, float("inf")),
    "max_cost": (0, float("inf")),
    "patience": (1, float("inf")),
    "timeout": (0.1, float("inf")),
}
# Names of options that are others inside.
_LIVE = {"max_cost": "max_cost_usd", "cache": "use_cache", "patience": "patience_seconds", "timeout": "timeout_seconds"}
_LIVE |= {name: name for name in ("concurrency", "repeats", "max_reasks", "max_calls")}
_LIVE |= {name: name for name in ("retry_refused", "retry_invalid", "keep_going")}
_REQUEST = {"allow_outside_files": "allows_outside_files"}
_REQUEST |= {name: name for name in ("run", "mapping", "limit", "parameters", "bundles", "seed")}
_CHECKED_ELSEWHERE = ("judges", "protocol", "panel", "on", "evaluator")
_GATES = ("fail_under", "max_invalid", "max_undecided", "max_unverified")


class TemporaryWorkspace:
    """A directory that goes with this object, and at the latest with the process."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="mixseek-"))
        self._ending = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def remove(self) -> None:
        """At once, and not when the last reference is gone."""
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
    temporary = None if "workspace" in given else TemporaryWorkspace()
    root = Path(given["workspace"]) if temporary is None else temporary.path
    is_file = isinstance(data, str | os.PathLike)
    request = JudgeRequest(
        data=str(data) if is_file else str(keep_rows(data, Workspace(root).spool)),
        data_name=None if is_file else IN_MEMORY,
        workspace=root,
        gates={name: given[name] for name in (*_GATES, "max_drop") if name in given},
        command_line=("mixseek.judge",),
        keeps_empty_run=True,
        live=live_options(given),
        cluster=find_cluster(given),
        configured=settings.judges,
        environment=os.environ,
        **{inside: given[name] for name, inside in _REQUEST.items() if name in given},
        rubric=Path(given["rubric"]) if "rubric" in given else None,
        planned=str(given["plan"]) if "plan" in given else None,
        required_cards=tuple(map(Path, several(given.get("require_card", ())))),
        card_max_age=timedelta(days=given["card_max_age"]) if "card_max_age" in given else None,
        pairs=str(given["pairs"]) if "pairs" in given else None,
        budget=PairBudget(given["budget"], given.get("top", 3) or None) if "budget" in given else None,
        **what_judges(given, settings),
    )
    gates = Gates(**{name: given[name] for name in _GATES if name in given})
    baseline = find_against(request, given, is_kept=temporary is None)
    return JudgeOrder(request, gates, baseline, given.get("progress", True), temporary)


def several(given: Any) -> Sequence[Any]:
    """One is one, not its letters."""
    return given if isinstance(given, Sequence) and not isinstance(given, str) else (given,)


def live_options(given: Mapping[str, Any]) -> LiveOptions:
    """How endpoints are asked; what is not given is as on the command line."""
    return LiveOptions(**{inside: given[name] for name, inside in _LIVE.items() if name in given})


def find_cluster(given: Mapping[str, Any]) -> ClusterOptions | None:
    """None for this machine; options that mean nothing there are refused."""
    if "ray" in places_of(given):
        return ClusterOptions(given.get("address"), given.get("shards"))
    for name in ("address", "shards"):
        if name in given:
            raise ConfigurationError(f"{name}: only means something with on='ray'")
    return None


def places_of(given: Mapping[str, Any]) -> list[object]:
    """What `on` says, one or several."""
    on = given.get("on")
    return [] if on is None else [on] if isinstance(on, str) or not isinstance(on, Sequence) else list(on)


def check_options(
    options: Mapping[str, Any], known: Mapping[str, Any] = JudgeOptions.__annotations__, caller: str = "judge"
) -> dict[str, Any]:
    """Those that say something; TypeError for a name that is none, ConfigurationError for a number out of range."""
    # A whole number of numpy's is one.
    options = {
        name: operator.index(value) if name in RANGES and type(value).__name__.startswith(("int", "uint")) else value
        for name, value in options.items()
    }
    for name, value in options.items():
        if name not in known:
            meant = suggest(name, known, f"options are {', '.join(known)}")
            raise TypeError(f"mixseek.{caller} has no option {name!r}; {meant}")
        if value is None:
            continue
        if name not in RANGES:
            check_kind(name, value, known[name])
            continue
        least, most = RANGES[name]
        # Written so that NaN is refused too.
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            bounds = f"from {least:g} to {most:g}" if most < float("inf") else f"of at least {least:g}"
            raise ConfigurationError(f"{name}={value!r}: give a number {bounds}")
        check_kind(name, value, known[name])
    return {name: value for name, value in options.items() if value is not None}


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


def what_judges(given: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Protocol, judges and how they become one; the caller wins over the environment, that over mixseek.toml."""
    panel = choose(PanelRule, given["panel"], "panel") if "panel" in given else None
    if panel is not None and given.get("cascade"):
        raise ConfigurationError("panel: a cascade gives one verdict a sample already; choose one of both")
    protocol = given.get("protocol", settings.judge.protocol)
    is_loaded = not isinstance(protocol, str | os.PathLike)
    if is_loaded and not isinstance(protocol, JudgeProtocol):
        kind = type(protocol).__name__
        raise ConfigurationError(f"protocol: a value of type {kind}; give a name, a path, or what load_protocol gave")
    judges = given.get("judges", settings.judge.judges)
    return {
        "protocol": protocol if is_loaded else str(protocol),
        "language": given.get("language", None if is_loaded else settings.judge.language),
        "judges": tuple(map(name_judge, several(judges))),
        "cascade": given.get("cascade", settings.judge.cascade and panel is None),
        "panel": panel,
        "workers": given.get("workers", settings.judge.workers),
        "longest_line": settings.judge.longest_line,
    }


def name_judge(given: object) -> NamedJudge:
    """A spec or a judge as it is; a function as a judge of its name."""
    if isinstance(given, str):
        return given
    # By what they have: what a caller has made need not know our classes.
    if hasattr(given, "name") and (hasattr(given, "reply") or hasattr(given, "fingerprint")):
        found: Any = given
        judge: Judge | LiveJudge = found
        return judge
    if callable(given):
        return function_judge(given)
    raise ConfigurationError(
        f"judges: a value of type {type(given).__name__}; give a spec such as 'rules', a function, or a judge"
    )


def find_against(request: JudgeRequest, given: Mapping[str, Any], *, is_kept: bool) -> Baseline | None:
    """The baseline and its gate; options that mean nothing without each other are refused."""
    name, drop = given.get("baseline"), given.get("max_drop")
    held = [one for one in places_of(given) if one != "ray"]
    on = held[0] if len(held) == 1 else held or None
    if on is not None and drop is None:
        raise ConfigurationError("on: says what is held against max_drop; give that too")
    if on not in (None, "point", "lower"):
        raise ConfigurationError(f"on={on!r}: it is neither 'point' nor 'lower'")
    if name is None:
        if drop is not None:
            raise ConfigurationError("max_drop: needs a run to hold this one against; give baseline")
        return None
    if not is_kept:
        raise ConfigurationError("baseline: a run of a workspace; give workspace, or use run.compare(other)")
    return find_baseline(request, name, None if drop is None else DropGate(drop, GateEnd(on or "point")))


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


def run_to_end(make: Callable[[Callable[[], bool]], Coroutine[Any, Any, T]]) -> T:
    """The result of the coroutine that `make` gives; `make` gets what says whether to stop."""
    stop = threading.Event()
    return wait_for(in_thread(lambda: asyncio.run(make(stop.is_set))), stop)
