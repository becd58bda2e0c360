"""The command's side of a run on Ray: shards out, sealed shards into the run's journal, in the order of the dataset."""

import contextlib
import importlib
import math
import os
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.domain.ports import PLAIN, ProgressSink, ReplyKey
from mixseek.domain.samples import Sample
from mixseek.engine.call import PendingSample
from mixseek.engine.endings import Ending, RunEnd
from mixseek.engine.live import LiveBatch
from mixseek.engine.offline import is_settled, pending_batches
from mixseek.engine.replies import ReplyCache
from mixseek.engine.slots import LiveSlot
from mixseek.engine.stop_signals import stop_signals
from mixseek.errors import ConfigurationError, MixseekError
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.answers import AnswerProtocol
from mixseek.protocols.declaration import DeclaredProtocol
from mixseek.runs.cluster.worker import (
    AnyBatch,
    Desk,
    ShardEnd,
    ShardOrder,
    installed_software,
    judge_shard,
    look_around,
)
from mixseek.runs.live import BATCH_SAMPLES, RunObserver, asking_live, live_slots, panel_of
from mixseek.runs.requests.named import replays_file
from mixseek.runs.requests.request import ClusterOptions, Plan
from mixseek.storage.durable import make_directory
from mixseek.storage.journal.journal import JournalFile, read_records
from mixseek.storage.journal.recall import JudgedBefore, recall_journal
from mixseek.storage.journal.records import ReplyRecord
from mixseek.storage.journal.shards import append_shard, part_path, seal_torn
from mixseek.text.phrases import plural

ATTEMPTS = 3
# Samples of a shard: what one costs beside them must vanish, and what waits in the object store be small.
_MOST_OFFLINE, _MOST_LIVE, _FEWEST = 16_384, 2_048, 64
_SHARDS_PER_WORKER = 4
_SHARD_CHARACTERS = 32 << 20
# How long a glance at the workers waits for one of them to be ready.
_GLANCE_SECONDS = 0.25
# A node that says nothing for so long is of no use.
_NODE_SECONDS = 60.0
# Ray talks to its makers, to a browser and to our terminal unless somebody asks for that.
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_LOG_TO_DRIVER": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def judge_on_ray(
    plan: Plan,
    cluster: ClusterOptions,
    read: Callable[[int], Iterator[list[Sample]]],
    journal: JournalFile,
    before: JudgedBefore | None,
    observer: RunObserver,
) -> RunEnd:
    """Judge on a cluster what is not in the journal; `read` gives the samples in batches of the size it is told."""
    refuse_bound_parts(plan)
    with connecting(cluster.address) as ray, making_room(plan) as room:
        order = make_order(plan, room)
        check_nodes(ray, order)
        cpus = int(ray.cluster_resources().get("CPU", 1))
        workers = plan.request.workers or cpus
        rows = rows_per_shard(plan, cluster.shards, workers)
        # Whole batches, so that shards are as many as were asked for.
        parts = math.ceil(rows / BATCH_SAMPLES)
        source = read(math.ceil(rows / parts))
        # One more where all CPUs are taken: Ray lets it wait, and nobody waits for the next one.
        crew = Crew(ray, order, make_desk(ray, plan), workers + (workers >= cpus), journal, observer)
        if plan.is_live:
            with asking_live(plan, journal.path, before, observer.notify) as (asking, pending_of):
                crew.proven = frozenset(asking.proven)
                crew.remember = partial(cache_replies, slots=live_slots(asking.slots), cache=asking.cache)
                with contextlib.closing(pending_of(source)) as live:
                    return crew.judge(cut_shards(live, parts), plan.samples)
        recall = before.statuses if before is not None else None
        batches = pending_batches(source, plan.judge_names, plan.request.cascade, recall)
        return crew.judge(cut_shards(batches, parts), plan.samples)


def refuse_bound_parts(plan: Plan) -> None:
    """What cannot leave this machine: a file, or an object."""
    for judge, named in zip(plan.judges, plan.request.judges, strict=True):
        if not isinstance(named, str) or replays_file(judge):
            raise ConfigurationError(
                f"--on ray: judge {judge.name} is bound to this machine; name judges that every node can make "
                "(rules, a model behind an endpoint), or judge without --on ray"
            )
    if not isinstance(plan.protocol, DeclaredProtocol | AnswerProtocol):
        raise ConfigurationError(f"--on ray: the {plan.protocol.name} protocol is declared in no file")


@contextlib.contextmanager
def connecting(address: str | None) -> Iterator[Any]:
    """Ray, connected, as quiet as it can be; a program that is connected already stays so."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    with warnings.catch_warnings():
        # Those of another project; with -W error they would be ours.
        warnings.simplefilter("ignore")
        ray: Any = importlib.import_module("ray")
        if ray.is_initialized():
            yield ray
            return
        where = address or os.environ.get("RAY_ADDRESS") or "local"
        options: dict[str, Any] = {"include_dashboard": False} if where == "local" else {}
        handlers = {signum: signal.getsignal(signum) for signum in stop_signals()}
        try:
            ray.init(address=where, logging_level="CRITICAL", **options)
        except (OSError, RuntimeError, ValueError, TimeoutError) as error:
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
            raise ConfigurationError(
                f"--address {where}: no Ray cluster to be used ({reason}); start one with `ray start --head`, or leave "
                "--address out for one on this machine"
            ) from error
        finally:
            # Ray takes SIGTERM for itself; ours drain.
            if threading.current_thread() is threading.main_thread():
                for signum, handler in handlers.items():
                    signal.signal(signum, handler)
        try:
            yield ray
        finally:
            ray.shutdown()


@contextlib.contextmanager
def making_room(plan: Plan) -> Iterator[Path]:
    """A directory for the shards of this command alone: a worker of a killed one finds its own gone, and dies."""
    room = plan.run.shards.absolute() / f"{time.time_ns():x}"
    make_directory(room, "make room for shards")
    token_path(room).touch()
    yield room
    # Not where something failed: the next command takes over what is left.
    shutil.rmtree(plan.run.shards, ignore_errors=True)


def token_path(room: Path) -> Path:
    """A file that a node sees if it sees the workspace."""
    return room / "here"


def make_order(plan: Plan, room: Path) -> ShardOrder:
    """What a worker has to know, without anything that is a secret."""
    specs = tuple(spec for spec in plan.request.judges if isinstance(spec, str))
    configured = {name: settings for name, settings in plan.request.configured.items() if name in specs}
    return ShardOrder(
        room,
        plan.workspace.root.absolute(),
        plan.protocol,
        specs,
        configured,
        plan.request.live,
        plan.request.cascade,
        installed_software(),
    )


def check_nodes(ray: Any, order: ShardOrder) -> None:
    """Raises ConfigurationError for the first node that has another mixseek, or does not see the workspace."""
    affinity = importlib.import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    look = ray.remote(look_around)
    nodes = {node["NodeID"]: node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
    asked = {
        node: look.options(num_cpus=0, scheduling_strategy=affinity(node, soft=False)).remote(
            order.software, token_path(order.room)
        )
        for node in nodes
    }
    for node, answer in asked.items():
        try:
            problem = ray.get(answer, timeout=_NODE_SECONDS)
        except ray.exceptions.GetTimeoutError:
            problem = f"did not answer within {_NODE_SECONDS:.0f} s; remove it from the cluster"
        except ray.exceptions.RayError as error:
            problem = f"cannot run mixseek ({describe_failure(error)}); install the same on every node"
        if problem is not None:
            raise ConfigurationError(f"--on ray: node {nodes[node]} {problem}")


def make_desk(ray: Any, plan: Plan) -> Any:
    """A desk on this node, so that it lives as long as the command does."""
    affinity = importlib.import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    here = affinity(ray.get_runtime_context().get_node_id(), soft=False)
    name = f"mixseek {plan.run.name}"
    options = plan.request.live
    return (
        ray.remote(Desk)
        .options(name=name, num_cpus=0, scheduling_strategy=here, max_concurrency=10_000)
        .remote(panel_of(plan).shared_limits(), options.patience_seconds)
    )


def rows_per_shard(plan: Plan, shards: int | None, workers: int) -> int:
    """Rows by the caller's number of shards; else several shards a worker, so that all end together, none too large."""
    if shards is not None:
        return max(1, math.ceil(plan.samples / shards))
    most = _MOST_LIVE if plan.is_live else _MOST_OFFLINE
    return min(most, max(_FEWEST, math.ceil(plan.samples / (workers * _SHARDS_PER_WORKER))))


def cut_shards(batches: Iterable[AnyBatch], parts: int) -> Iterator[list[AnyBatch]]:
    """So many batches a shard; fewer where their texts are long."""
    shard: list[AnyBatch] = []
    characters = 0
    for batch in batches:
        shard.append(batch)
        characters += sum(sample.characters for sample in samples_of(batch))
        if len(shard) >= parts or characters >= _SHARD_CHARACTERS:
            yield shard
            shard, characters = [], 0
    if shard:
        yield shard


def samples_of(batch: AnyBatch) -> Sequence[Any]:
    """The samples without the keys that a batch for endpoints carries beside them."""
    return [pending.sample for pending in batch.samples] if isinstance(batch, LiveBatch) else batch.samples


@dataclass(slots=True)
class Shard:
    """Consecutive samples that are judged together; `files` is what attempts at it have brought, in order."""

    number: int
    batches: Any  # a reference: the samples are in the object store
    samples: int
    first_id: str
    last_id: str
    attempt: int = 1
    files: list[Path] = field(default_factory=list)
    is_over: bool = False

    @property
    def holder(self) -> str:
        """The name by which the desk knows who judges it."""
        return f"{self.number}-{self.attempt}"


@dataclass(slots=True)
class Crew:
    """Workers, the shards that they are at, and those that wait for their turn to become part of the journal."""

    ray: Any
    order: ShardOrder
    desk: Any
    at_once: int
    journal: JournalFile
    observer: RunObserver
    # Told of each sealed shard before it goes into the journal.
    remember: Callable[[Path], None] | None = None
    proven: frozenset[str] = frozenset()
    _running: dict[Any, Shard] = field(default_factory=dict)
    _open: dict[int, Shard] = field(default_factory=dict)
    _begun: int = 0
    _taken_over: int = 0
    _end: RunEnd | None = None
    _error: MixseekError | None = None
    _failed: list[str] = field(default_factory=list)
    _submit: Callable[..., Any] = field(init=False)
    _progress: ProgressSink = field(init=False)

    def judge(self, shards: Iterator[list[AnyBatch]], samples: int) -> RunEnd:
        """Until all shards are over, or something says stop; what was begun is in the journal either way."""
        with self.observer.show_progress(samples) as self._progress:
            self._judge_all(shards)
        if self._error is not None:
            raise self._error
        if self._end is None and self._failed:
            again = "run the same command again to go on with the rest"
            return RunEnd(Ending.SHARD_FAILED, f"{'; '.join(self._failed)}; {again}")
        return self._end or RunEnd(Ending.COMPLETE)

    def _judge_all(self, shards: Iterator[list[AnyBatch]]) -> None:
        order = self.ray.put(self.order)
        task = self.ray.remote(judge_shard).options(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")
        self._submit = lambda *arguments: task.remote(order, *arguments, self.proven, self.desk)
        while self._feed(shards) or self._running:
            done, _ = self.ray.wait(list(self._running), timeout=_GLANCE_SECONDS)
            for answer in done:
                self._finish(self._running.pop(answer), answer)
            self._tell_news()
            self._take_over()
            if self.observer.stop():
                self._stop(RunEnd(Ending.STOPPED))
        self._tell_news()

    def _feed(self, shards: Iterator[list[AnyBatch]]) -> bool:
        """Gives out as many shards as may run at once; False when there is none left."""
        while self._end is None and len(self._running) < self.at_once:
            try:
                batches = next(shards, None)
            except MixseekError as error:
                # The dataset broke midway; what was read before is judged.
                self._stop(RunEnd(Ending.STOPPED), error)
                return False
            if batches is None:
                return False
            samples = [sample for batch in batches for sample in samples_of(batch)]
            if not samples:
                self._progress.advance({"samples": 0, "skipped": sum(batch.skipped for batch in batches)})
                continue
            names = samples[0].id, samples[-1].id
            shard = Shard(self._begun, self.ray.put(batches), len(samples), *names)
            self._begun += 1
            self._open[shard.number] = shard
            self._begin(shard)
        return self._end is None

    def _begin(self, shard: Shard) -> None:
        self._running[self._submit(shard.number, shard.attempt, shard.batches)] = shard

    def _finish(self, shard: Shard, answer: Any) -> None:
        self.desk.forget.remote(shard.holder)
        try:
            ended: ShardEnd = self.ray.get(answer)
        except self.ray.exceptions.RayError as error:
            self._retry(shard, describe_failure(error))
            return
        shard.files.append(self.order.room / ended.file)
        shard.is_over = True
        self.proven |= ended.proven
        if ended.error is not None or ended.end.ending is not Ending.COMPLETE:
            self._stop(ended.end, ended.error)

    def _retry(self, shard: Shard, why: str) -> None:
        """What it had written stands; the rest is given to another worker, unless this was the last time."""
        torn = seal_torn(part_path(self.order.room, shard.number, shard.attempt))
        if torn is not None:
            shard.files.append(torn)
        if shard.attempt == ATTEMPTS:
            shard.is_over = True
            named = f"{shard.number} ({plural(shard.samples, 'sample')}, {shard.first_id!r} to {shard.last_id!r})"
            self._failed.append(f"shard {named} failed {ATTEMPTS} times, the last time because {why}")
            return
        if torn is not None:
            judged = recall_journal(torn, self.order.judges, self.order.options.repeats)
            shard.batches = self.ray.put(rest_of(self.ray.get(shard.batches), judged, self.order))
        shard.attempt += 1
        self._begin(shard)

    def _stop(self, end: RunEnd, error: MixseekError | None = None) -> None:
        """The first reason counts."""
        if self._end is None:
            self._end, self._error = end, error
            self.desk.stop.remote()

    def _tell_news(self) -> None:
        counts, notices = self.ray.get(self.desk.news.remote())
        self._progress.advance(counts)
        for notice in dict.fromkeys(notices):
            self.observer.notify(notice)

    def _take_over(self) -> None:
        """Shards are taken over in the order of the dataset: tables keep that order."""
        while (shard := self._open.get(self._taken_over)) is not None and shard.is_over:
            for file in shard.files:
                if self.remember is not None:
                    self.remember(file)
                append_shard(file, self.journal)
            del self._open[shard.number]
            self._taken_over += 1


def rest_of(batches: Sequence[AnyBatch], judged: JudgedBefore, order: ShardOrder) -> list[AnyBatch]:
    """The batches without what an attempt that died had settled, which the progress has counted already."""
    repeats = dict.fromkeys(order.judges, order.options.repeats)

    def still_due(pending: PendingSample) -> PendingSample:
        known = {**pending.known, **judged.statuses(pending.key)}
        unread = {**pending.unread, **judged.unread_replies(pending.key)}
        return pending._replace(known=known, unread=unread, lost={**pending.lost, **judged.lost(pending.key)})

    rest: list[AnyBatch] = []
    for batch in batches:
        if isinstance(batch, LiveBatch):
            due = map(still_due, batch.samples)
            rest.append(
                LiveBatch([pending for pending in due if not is_settled(pending.known, repeats, order.cascade)])
            )
            continue
        before = {sample.key(): batch.known.get(place, {}) for place, sample in enumerate(batch.samples)}

        def recall(key: str, before: Mapping[str, Mapping[ReplyKey, Any]] = before) -> Mapping[ReplyKey, Any]:
            return {**before[key], **judged.statuses(key)}

        left = pending_batches([batch.samples], order.judges, order.cascade, recall)
        rest += [replace(unsettled, skipped=0) for unsettled in left]
    return rest


def cache_replies(shard: Path, slots: Sequence[LiveSlot], cache: ReplyCache) -> None:
    """Puts the replies of a sealed shard into the workspace's cache, which only this process writes to."""
    keys = {slot.name: slot.keys for slot in slots}
    for record in read_records(shard):
        if not isinstance(record, ReplyRecord) or record.reply.details.get("cached", True):
            continue
        reply, details = record.reply, record.reply.details
        place = ReplyKey(reply.judge, details.get("take", 1), details.get("presentation", PLAIN))
        cache.put_many({keys[reply.judge].key(record.key, place, reply.attempt): reply})


def describe_failure(error: Exception) -> str:
    """The last line says what happened; the lines before it say where."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, Exception):
        notes = "".join(f" ({note})" for note in getattr(cause, "__notes__", ()))
        return f"{type(cause).__name__}: {cause}{notes}".splitlines()[0]
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
