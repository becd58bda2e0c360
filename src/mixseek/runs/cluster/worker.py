"""What runs on the nodes: one shard through the local engine, and the desk where all of them ask and tell."""

import asyncio
import importlib
import os
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mixseek.domain.judgments import Status
from mixseek.domain.ports import JudgeProtocol
from mixseek.engine.endings import Ending, RunEnd
from mixseek.engine.executor import judge_many
from mixseek.engine.gate import Entry, Pass, Report, SharedLimits, Turnstile
from mixseek.engine.live import LiveBatch
from mixseek.engine.offline import Assignment, Batch
from mixseek.engine.replies import NoCache
from mixseek.engine.retry import RetryPolicy
from mixseek.errors import ConfigurationError, JudgeCallError, MixseekError, WorkerError
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.first_manifest import package_versions
from mixseek.runs.live import Asking, Panel, encode_judged, fewer_collections, make_endpoint, open_tracer
from mixseek.runs.requests.manifest_entries import digest_rules
from mixseek.runs.requests.named import get_panel, is_remote
from mixseek.runs.requests.request import LiveOptions
from mixseek.settings.models import JudgeSettings
from mixseek.storage.journal.journal import JournalFile
from mixseek.storage.journal.recall import recall_journal
from mixseek.storage.journal.shards import part_path, seal_shard
from mixseek.storage.workspace_key import workspace_key

# How often a worker tells the desk what it has done, and hears whether to stop.
TELL_SECONDS = 0.5
# A message between processes costs a millisecond of CPU: what comes within so long goes together.
_GATHER_SECONDS = 0.005
# A question at the desk that brings nothing for so long is asked again.
_LISTEN_SECONDS = 5.0

AnyBatch = Batch | LiveBatch


def installed_software() -> dict[str, str]:
    """What decides a verdict, by version and by content: the same on all nodes, or the run is none."""
    versions = package_versions()
    named = {name: versions.get(name, "not installed") for name in ("mixseek", "math-verify")}
    return {**named, "rules of mixseek": digest_rules()[:12]}


def find_difference(wanted: Mapping[str, str]) -> str | None:
    """What is another here; None where a shard may be judged."""
    installed = installed_software()
    for name, version in wanted.items():
        if installed[name] != version:
            return f"has {name} {installed[name]}, and this command {version}; install the same on every node"
    return None


def look_around(wanted: Mapping[str, str], token: Path) -> str | None:
    """Why the node that runs this cannot be used; None where it can."""
    difference = find_difference(wanted)
    if difference is None and not token.is_file():
        return f"does not see {token.parent.parent.parent}; choose a --workspace on a path that all nodes share"
    return difference


@dataclass(frozen=True, slots=True)
class ShardOrder:
    """What is the same for all shards. No key is in it: each node has its own in its environment."""

    # Where shards are written, and the workspace that it is in.
    room: Path
    workspace: Path
    protocol: JudgeProtocol
    judges: tuple[str, ...]
    configured: Mapping[str, JudgeSettings]
    options: LiveOptions
    cascade: bool
    software: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ShardEnd:
    """A sealed shard, how it came to its end, and which judges have given something valid."""

    file: str
    end: RunEnd
    proven: frozenset[str] = frozenset()
    # What ends the whole run at once: a key that is missing or refused, another mixseek.
    error: MixseekError | None = None


def judge_shard(
    order: ShardOrder, number: int, attempt: int, batches: Sequence[AnyBatch], proven: frozenset[str], desk: Any
) -> ShardEnd:
    """Judged by the engine of one machine into a journal of its own, which is sealed in the end."""
    part = part_path(order.room, number, attempt)
    error: MixseekError | None = None
    end = RunEnd(Ending.STOPPED)
    with JournalFile(part) as journal, Post(desk, f"{number}-{attempt}") as post, fewer_collections:
        try:
            end = judge_batches(order, batches, journal, post, proven)
        except (ConfigurationError, JudgeCallError) as failure:
            error = failure
    sealed = seal_shard(part)
    if len(proven) < len(order.judges) and any(isinstance(batch, LiveBatch) for batch in batches):
        judged = recall_journal(sealed, order.judges, order.options.repeats).counts()
        proven |= {judge for judge, statuses in judged.items() if statuses[Status.VALID]}
    return ShardEnd(sealed.name, end, proven, error)


def judge_batches(
    order: ShardOrder, batches: Sequence[AnyBatch], journal: JournalFile, post: "Post", proven: frozenset[str]
) -> RunEnd:
    """The same as on one machine, but that limits are those of the desk."""
    difference = find_difference(order.software)
    if difference is not None:
        raise ConfigurationError(f"--on ray: a node {difference}")
    judges = get_panel(order.judges, order.configured, os.environ, order.options.timeout_seconds)
    live = (batch for batch in batches if isinstance(batch, LiveBatch))
    if not any(isinstance(batch, LiveBatch) for batch in batches):
        offline = tuple(judge for judge in judges if not is_remote(judge))
        assignment = Assignment(order.protocol, offline, order.cascade, encode_judged)
        whole = (batch for batch in batches if isinstance(batch, Batch))
        ended = judge_many(whole, assignment, journal, post, workers=1, stop=post.stop)
        return RunEnd(Ending.COMPLETE if ended else Ending.STOPPED)
    panel, key = Panel(judges, order.configured, order.options), workspace_key(order.workspace)
    with open_tracer(os.environ) as tracer:
        gate = DeskGate(post.desk, post.holder)
        slots = panel.make_slots(order.protocol.hash, key, post.notify, tracer, gate)
        asking = Asking(panel, order.protocol, order.cascade, key, slots, NoCache(), proven, is_gated=True)
        return asking.judge([live], journal, post, post.stop)


class Post:
    """The way between one shard and the desk: counts and sentences go there now and then, and come back with "stop"."""

    def __init__(self, desk: Any, holder: str) -> None:
        self.desk, self.holder = desk, holder
        self._ray: Any = importlib.import_module("ray")
        self._counts: Counter[str] = Counter()
        self._notices: list[str] = []
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._tell_again, name="post", daemon=True)

    def advance(self, counts: Mapping[str, int]) -> None:
        """What is on disk; the desk counts calls in flight itself."""
        with self._lock:
            self._counts.update({name: count for name, count in counts.items() if name != "in_flight"})

    def notify(self, sentence: str) -> None:
        self._notices.append(sentence)

    def stop(self) -> bool:
        return self._is_stopping

    def __enter__(self) -> "Post":
        self._tell()
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._thread.join()
        self._tell()

    def _tell_again(self) -> None:
        while not self._is_over.wait(TELL_SECONDS):
            self._tell()

    def _tell(self) -> None:
        with self._lock:
            counts, self._counts = self._counts, Counter()
            notices, self._notices = self._notices, []
        try:
            self._is_stopping = self._ray.get(self.desk.hear.remote(dict(counts), notices))
        except self._ray.exceptions.RayError:
            # The command is gone, and its workers follow; whoever comes next goes on from what is on disk.
            self._is_stopping = True


class DeskGate:
    """The gate of one shard: questions to the desk are gathered, and one question waits there for all answers."""

    def __init__(self, desk: Any, holder: str) -> None:
        self._desk, self._holder = desk, holder
        self._waiting: dict[int, asyncio.Future[Pass]] = {}
        self._entering: list[tuple[int, Entry]] = []
        self._leaving: list[tuple[int, Report]] = []
        self._tickets = 0
        self._is_gathering = False
        self._listening: asyncio.Task[None] | None = None

    async def enter(self, entry: Entry) -> Pass:
        self._tickets += 1
        waiting: asyncio.Future[Pass] = asyncio.get_running_loop().create_future()
        self._waiting[self._tickets] = waiting
        self._entering.append((self._tickets, entry))
        self._gather()
        if self._listening is None or self._listening.done():
            self._listening = asyncio.ensure_future(self._listen())
        return await waiting

    def leave(self, granted: Pass, report: Report) -> None:
        self._leaving.append((granted.ticket, report))
        self._gather()

    def _gather(self) -> None:
        if not self._is_gathering:
            self._is_gathering = True
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._send)

    def _send(self) -> None:
        entering, self._entering = self._entering, []
        leaving, self._leaving = self._leaving, []
        self._is_gathering = False
        self._desk.pass_on.remote(self._holder, entering, leaving)

    async def _listen(self) -> None:
        """Hands replies on as long as anybody waits."""
        while self._waiting:
            try:
                replies = await self._desk.replies.remote(self._holder)
            except importlib.import_module("ray").exceptions.RayError as error:
                gone = WorkerError(f"the desk that shares the limits is gone ({type(error).__name__})")
                replies = [(ticket, gone) for ticket in self._waiting]
            for ticket, reply in replies:
                waiting = self._waiting.pop(ticket)
                if waiting.done():
                    continue
                if isinstance(reply, Pass):
                    waiting.set_result(reply)
                else:
                    waiting.set_exception(reply)


class Desk:
    """One for a run, on the driver's node: limits, budget and breaker of every endpoint; and what is to be told."""

    def __init__(self, limits: SharedLimits, patience_seconds: float | None) -> None:
        self._counts: Counter[str] = Counter()
        self._notices: list[str] = []
        self._is_stopping = False
        self._shown_in_flight = 0
        policy = RetryPolicy.of_patience(patience_seconds)
        self._turnstile = Turnstile(
            limits, lambda name, limit: make_endpoint(name, limit, policy, self._notices.append)
        )

    async def hear(self, counts: Mapping[str, int], notices: Sequence[str]) -> bool:
        """Takes the news of a shard; says whether it is to stop."""
        self._counts.update(counts)
        self._notices.extend(notices)
        return self._is_stopping

    async def news(self) -> tuple[dict[str, int], list[str]]:
        """News for the driver: what was counted and said since it last asked."""
        counts, notices = self._counts, list(self._notices)
        in_flight = self._turnstile.in_flight
        counts["in_flight"] = in_flight - self._shown_in_flight
        self._counts, self._shown_in_flight = Counter(), in_flight
        self._notices.clear()
        return dict(counts), notices

    async def stop(self) -> None:
        self._is_stopping = True

    async def pass_on(
        self, holder: str, entering: Sequence[tuple[int, Entry]], leaving: Sequence[tuple[int, Report]]
    ) -> None:
        """Who has come back goes first: it makes room."""
        for ticket, report in leaving:
            self._turnstile.leave(holder, ticket, report)
        for ticket, entry in entering:
            self._turnstile.enter(holder, ticket, entry)

    async def replies(self, holder: str) -> list[tuple[int, Pass | MixseekError]]:
        """The replies, as soon as somebody may leave, or may not."""
        return await self._turnstile.replies(holder, _LISTEN_SECONDS)

    async def forget(self, holder: str) -> None:
        """Its shard is over, however."""
        self._turnstile.forget(holder)
