"""Batches on their way: submitted after they are written down, found again after a crash, looked at, fetched."""

import asyncio
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path

from mixseek.errors import JudgeCallError, MixseekError, PermanentJudgeError, TransientJudgeError
from mixseek.judges.batches.door import BatchDoor, UncertainError
from mixseek.judges.batches.wires import MOST_LISTED, BatchView, Phase, Submission
from mixseek.judges.endpoint.errors import StatusError
from mixseek.runs.batches.bills import billed_unread
from mixseek.runs.batches.desk import BatchDesk, Bill
from mixseek.runs.batches.results import ends_whole, total_cost
from mixseek.runs.batches.spool import Waiting, Written
from mixseek.runs.batches.token_queue import TokenQueue
from mixseek.storage.batch_ledger import UNDER_WAY, BatchEntry, BatchLedger, Intent, Stage
from mixseek.storage.durable import replacing
from mixseek.storage.workspace import RunDirectory
from mixseek.text.phrases import plural

# After so long it is in the list, or will never be.
_SETTLED_AFTER = timedelta(minutes=10)
# Without a label, a batch is looked for among those that are not older than the intent by more than clocks differ.
_CLOCKS_DIFFER = timedelta(days=1)
# A provider may not find for a moment what it has.
_LOOKS_UNTIL_GONE = 3
# Looks in a row at which batches were refused as a whole, not for a full queue, and none brought anything.
_MOST_REFUSALS = 3
_DOWNLOADS = 3
# Rests between refusals of one more batch.
_FIRST_REST_SECONDS = 5.0
_QUEUE_IS_FULL = "token_limit_exceeded"
# What a provider calls a failure of its own: the same requests may be taken later, and no setting would change that.
_OF_THE_PROVIDER = frozenset({"server_error", "internal_error", "INTERNAL", "UNAVAILABLE", "13", "14"})
# What a host says of a key, or of an address: nothing about whether it has a list.
_ABOUT_ACCESS = frozenset({*range(300, 400), 401, 402, 403, 407})
_NOT_THERE = frozenset({404, 410})


class BatchHandler:
    """All batches of one judge in one run."""

    def __init__(
        self,
        run: RunDirectory,
        desk: BatchDesk,
        ledger: BatchLedger,
        *,
        secret: bytes,
        others: Callable[[], Collection[str]],
        notify: Callable[[str], None],
        most_tokens: int | None = None,
        most_requests: int | None = None,
    ) -> None:
        """`secret` makes an account's name of a key; `others` are ids of batches that other runs know."""
        self._run = run
        self._desk = desk
        self._ledger = ledger
        self._wire = desk.asked.wire
        self._door: BatchDoor = self._wire.door(desk.asked.judge)
        key = desk.asked.judge.target.key
        revealed = b"" if key is None else key.reveal().encode()
        self._account = blake2b(revealed, key=secret[:64], digest_size=6).hexdigest()
        self._others = others
        self._notify = notify
        self._queue = TokenQueue(most_tokens)
        limits = self._wire.limits
        most = limits.requests if most_requests is None else min(limits.requests, most_requests)
        self._limits = limits._replace(requests=most)
        self._missed: Counter[str] = Counter()
        # Since a batch brought results; why batches were refused at this look, and whether one brought any.
        self._refusals = 0
        self._refused: str | None = None
        self._has_brought = False
        # By batch in doubt, those without a label that turned out not to be it: they may be another one in doubt.
        self._foreign: defaultdict[str, set[str]] = defaultdict(set)
        self._unsure: dict[str, Sequence[Waiting]] = {}
        self._resting_until = 0.0
        self._rest_seconds = _FIRST_REST_SECONDS
        self._words_shown: set[str] = set()

    @property
    def entries(self) -> list[BatchEntry]:
        """This judge's."""
        return [entry for entry in self._ledger.entries() if entry.intent.judge == self._desk.name]

    @property
    def under_way(self) -> list[BatchEntry]:
        return [entry for entry in self.entries if entry.stage in UNDER_WAY]

    @property
    def waiting(self) -> int:
        """Requests that no batch has taken yet."""
        return len(self._desk.spool)

    @property
    def spent(self) -> str | None:
        """Why no more requests are left in batches; None where there is money for all."""
        return self._desk.spent

    def begin_pass(self) -> None:
        """Room for money is looked for anew."""
        self._desk.spent = None

    def begin(self) -> None:
        """What earlier commands left is known from now on."""
        for entry in self.entries:
            self._remove_unneeded(entry)
            if entry.stage is Stage.ENDED:
                self._desk.take_results(entry, is_old=True)
            if entry.stage in UNDER_WAY:
                self._desk.budget.hold_aside(entry.intent.expected_usd or 0.0)
            # Commands that do not wait see one refusal each, and would begin with all of it again.
            if entry.stage is Stage.DROPPED and _is_full_queue(entry.code, entry.reason):
                self._queue.refused(entry.intent.tokens, entry.reason)
            elif entry.stage in (Stage.ENDED, Stage.COLLECTED):
                self._queue.taken()
        self._desk.note_under_way(self.entries)

    async def look(self) -> bool:
        """Looks at everything under way; whether any of it is over."""
        is_over = self._has_brought = False
        self._refused = None
        for entry in self.under_way:
            if self._is_out_of_reach(entry):
                continue
            try:
                if entry.id is None:
                    is_over |= await self._find(entry)
                else:
                    is_over |= await self._follow(entry)
            except TransientJudgeError as error:
                self._tell_once(f"{entry.name}: {error}; looked at again later")
        self._desk.note_under_way(self.entries)
        self._count_refusals()
        return is_over

    def _count_refusals(self) -> None:
        """Raises what ends the run where batches are refused again and again, and never anything comes."""
        if self._has_brought:
            self._refusals = 0
        elif self._refused is not None:
            self._refusals += 1
            if self._refusals >= _MOST_REFUSALS:
                words = f"batches are refused: {self._refused}; correct its settings, or leave --batch out"
                raise PermanentJudgeError(f"judge {self._desk.name}: {words}", concerns_everything=True)

    def _is_out_of_reach(self, entry: BatchEntry) -> bool:
        """Whether a person has to say what becomes of it; one that its own key may find is looked for again."""
        return entry.stage is Stage.ORPHANED and (entry.id is None or entry.intent.account != self._account)

    # Finding what a crash has left.

    async def _find(self, entry: BatchEntry) -> bool:
        """Whether its requests are free again."""
        if self._wire.uploads_first and entry.upload is None:
            return self._withdraw(entry, "it stopped before anything was submitted")
        try:
            listed = await self._door_list()
        except PermanentJudgeError as error:
            if _status(error) in _ABOUT_ACCESS:
                raise
            return self._orphan(entry, f"its provider has no list to look into ({error})")
        view = self._pick(entry, listed)
        if view is not None:
            self._notify(f"batch {entry.name} was submitted before this command was started: it is {view.id}")
            self._unsure.pop(entry.name, None)
            is_guess = not self._wire.keeps_label
            self._ledger.note(entry.name, Stage.SUBMITTED, id=view.id, state=view.state, is_guess=is_guess)
            return await self._follow(self._ledger.entry(entry.name))
        if len(listed) >= MOST_LISTED and self._wire.name != "files":
            return self._orphan(entry, f"is not among the latest {len(listed):,} of its provider")
        self._missed[entry.name] += 1
        if self._missed[entry.name] > 1 or datetime.now(UTC) - entry.began_at > _SETTLED_AFTER:
            return self._withdraw(entry, "the provider has never heard of it")
        return False

    def _orphan(self, entry: BatchEntry, reason: str) -> bool:
        """A person has to say before anything is paid for again."""
        self._ledger.note(entry.name, Stage.ORPHANED, reason=reason)
        requests = plural(len(entry.intent.requests), "request")
        words = f"batch {entry.name} of {requests} may have been submitted, and {reason}"
        self._notify(f"{words}; `mixseek batches` says how to go on")
        return False

    @property
    def is_unsure(self) -> bool:
        """Whether a second look at a list is needed to know what was submitted."""
        return any(entry.id is None and entry.stage is not Stage.ORPHANED for entry in self.under_way)

    async def _door_list(self) -> list[BatchView]:
        return await self._wire.list(self._door)

    def _pick(self, entry: BatchEntry, listed: Sequence[BatchView]) -> BatchView | None:
        if self._wire.keeps_label:
            return next((view for view in listed if _is_of(entry, view)), None)
        taken = ids_taken(self._ledger.entries()) | set(self._others()) | self._foreign[entry.name]
        earliest = entry.began_at - _CLOCKS_DIFFER
        candidates = [
            view
            for view in listed
            if view.id not in taken
            and sum((view.counts or {}).values()) == len(entry.intent.requests)
            and (view.created_at is None or view.created_at >= earliest)
        ]
        # The nearest in time: what it really is, is known by the ids in its results.
        return min(
            candidates,
            key=lambda view: abs((view.created_at or entry.began_at) - entry.began_at),
            default=None,
        )

    def _withdraw(self, entry: BatchEntry, reason: str) -> bool:
        self._ledger.note(entry.name, Stage.WITHDRAWN, reason=reason)
        self._remove_requests(entry.name)
        if (requests := self._unsure.pop(entry.name, None)) is not None:
            self._desk.spool.put_back(requests)
        else:
            self._desk.budget.return_aside(entry.intent.expected_usd or 0.0)
        return True

    # What becomes of a batch.

    async def _follow(self, entry: BatchEntry) -> bool:
        """Whether it is over, one way or another."""
        assert entry.id is not None
        if entry.intent.account != self._account:
            self._tell_once(f"batch {entry.id} was submitted with another key; looked for with this one all the same")
        view = await self._wire.look(self._door, entry.id)
        match view.phase:
            case Phase.GONE:
                return await self._lose(entry)
            case Phase.REFUSED:
                return self._refuse(entry, view)
            case Phase.ENDED:
                return await self._fetch(entry, view)
        seen = Stage.SUBMITTED, view.state, dict(view.counts or {}), 0
        if seen != (entry.stage, entry.state, dict(entry.counts or {}), entry.missed):
            self._ledger.note(entry.name, Stage.SUBMITTED, state=view.state, counts=view.counts, missed=0)
        return False

    async def _lose(self, entry: BatchEntry) -> bool:
        if entry.intent.account != self._account:
            self._ledger.note(entry.name, Stage.ORPHANED, reason="submitted with another key")
            self._notify(
                f"batch {entry.id} is not known with this key, and was submitted with another: use that one again; "
                "`mixseek batches` says how to go on without it"
            )
            return False
        missed = entry.missed + 1
        if missed < _LOOKS_UNTIL_GONE:
            # Commands that do not wait look once each.
            self._ledger.note(entry.name, Stage.SUBMITTED, missed=missed)
            return False
        if self._wire.keeps_label and self._pick(entry, await self._door_list()) is not None:
            # It is in the list: it will be found again.
            return False
        self._notify(f"batch {entry.id} is gone: the provider does not know it any more; its requests are asked again")
        self._drop(entry, "gone", "the provider does not know it any more")
        self._desk.count_try(entry)
        return True

    def _refuse(self, entry: BatchEntry, view: BatchView) -> bool:
        words = view.reason or view.state
        self._notify(f"batch {entry.id} was refused as a whole ({words}); its requests wait for another one")
        self._drop(entry, view.state, words, view.code)
        if view.code in _OF_THE_PROVIDER:
            self._desk.count_try(entry)
        elif not _is_full_queue(view.code, view.reason):
            self._refused = words
        elif not self._queue.refused(entry.intent.tokens, view.reason):
            # Something else has the room.
            self._rest(None)
        return True

    def _drop(self, entry: BatchEntry, state: str, reason: str, code: str = "") -> None:
        self._ledger.note(entry.name, Stage.DROPPED, state=state, reason=reason, code=code)
        self._remove_requests(entry.name)
        self._desk.budget.return_aside(entry.intent.expected_usd or 0.0)

    async def _fetch(self, entry: BatchEntry, view: BatchView) -> bool:
        names = []
        for number, url in enumerate(view.results, start=1):
            names.append(f"{entry.name}.{number}.jsonl")
            try:
                is_here = await self._download(url, names[-1])
            except PermanentJudgeError as error:
                return self._lose_results(entry, error)
            if not is_here:
                self._tell_once(f"the results of batch {entry.id} broke off again; fetched again later")
                return False
        entry = replace(entry, stage=Stage.ENDED, state=view.state, counts=view.counts, results=tuple(names))
        faults = self._desk.take_results(entry, is_old=False)
        if entry.is_guess and faults.missing == len(entry.intent.requests) and (faults.unknown or not faults.torn):
            return self._disown(entry)
        self._settle_bill(entry, view)
        self._remove_requests(entry.name)
        self._has_brought |= bool(view.results)
        self._queue.taken()
        if words := faults.words():
            self._notify(f"batch {entry.id}: {words}; what is missing is asked again")
        if not view.results:
            self._notify(f"batch {entry.id} ended ({view.state}) without any results; its requests are asked again")
        return True

    def _lose_results(self, entry: BatchEntry, error: PermanentJudgeError) -> bool:
        """They are kept for some weeks. What was paid for once is not paid for again without a word."""
        if _status(error) not in _NOT_THERE:
            raise error
        missed = entry.missed + 1
        if missed < _LOOKS_UNTIL_GONE:
            self._ledger.note(entry.name, Stage.SUBMITTED, missed=missed)
            return False
        self._ledger.note(entry.name, Stage.ORPHANED, reason=f"its results are not there any more ({error})")
        self._tell_once(
            f"the results of batch {entry.id} are not there any more ({error}); "
            f"`mixseek batches --resubmit {self._run.name}/{entry.name}` asks its requests again, and pays again"
        )
        return False

    def _disown(self, entry: BatchEntry) -> bool:
        """A batch that was found without a label, and is about other requests."""
        self._desk.results.forget(entry)
        assert entry.id is not None
        self._foreign[entry.name].add(entry.id)
        for name in entry.results:
            (self._run.batch_files / name).unlink(missing_ok=True)
        words = f"{entry.id} is somebody else's"
        self._ledger.note(entry.name, Stage.INTENDED, id=None, results=[], is_guess=False, reason=words)
        return False

    def _settle_bill(self, entry: BatchEntry, view: BatchView) -> None:
        """What came is charged, and what was billed without coming is told of those that it did not come for.

        One event says that its results are here and what they cost: nobody reckons that up again after a crash.
        """
        budget, expected = self._desk.budget, entry.intent.expected_usd or 0.0
        budget.return_aside(expected)
        bill = self._desk.bill_of(entry)
        lost = billed_unread(bill, view, None if bill.spoken else self._like_bill(), entry.intent)
        lost_usd = (self._desk.price_of(lost.usage) if lost.estimated_usd is None else lost.estimated_usd) or 0.0
        details: dict[str, object] = {"state": entry.state, "counts": entry.counts, "results": entry.results}
        if lost.requests:
            details["lost"] = (lost.requests, lost.usage.input_tokens, lost.usage.output_tokens, lost_usd)
            words = plural(lost.requests, "answer was", "answers were")
            self._notify(f"batch {entry.id}: {words} billed and cannot be read; they are in the account")
        if bill.cost_usd is not None:
            budget.charge(expected, bill.cost_usd + lost_usd, is_lost=False)
            details["cost_usd"] = bill.cost_usd + lost_usd
        noted = self._ledger.note(entry.name, Stage.ENDED, **details)
        self._desk.results.share_lost(noted)

    def _like_bill(self) -> Bill | None:
        """The latest bill with anything in it, for a batch of which nothing can be read."""
        ended = reversed([entry for entry in self.entries if entry.stage is Stage.ENDED])
        return next((bill for entry in ended if (bill := self._desk.bill_of(entry)).spoken), None)

    async def _download(self, url: str, name: str) -> bool:
        path = self._run.batch_files / name
        for last in range(_DOWNLOADS):
            try:
                if self._wire.name == "files":
                    await asyncio.to_thread(_copy, url, path)
                else:
                    with replacing(path) as stream:
                        await self._door.download(url, stream.write)
            except TransientJudgeError:
                if last == _DOWNLOADS - 1:
                    return False
                continue
            if ends_whole(path):
                return True
        # Torn three times: that is how it is.
        return True

    # Submitting.

    async def submit(self) -> None:
        """All that waits, as far as the provider's queue goes. Raises what ends the run."""
        while len(self._desk.spool) and time.monotonic() >= self._resting_until:
            room = None
            if self._queue.most is not None:
                room = self._queue.most - sum(entry.intent.tokens for entry in self.under_way)
                if room <= 0:
                    break
            requests = self._desk.spool.cut(self._limits, room)
            if not requests and room is not None and not self.under_way:
                # One request alone is more than the queue holds by our count: the provider's may be another.
                requests = self._desk.spool.cut(self._limits._replace(requests=1), None)
            if not requests:
                break
            if not await self._submit(requests):
                break
        self._desk.note_under_way(self.entries)

    async def _submit(self, requests: Sequence[Waiting]) -> bool:
        """Whether another one may follow."""
        name = self._ledger.next_name()
        written = await asyncio.to_thread(self._desk.spool.write, requests, name)
        intent = self._intent_of(name, requests, written)
        entry = self._ledger.intend(intent)

        def note_upload(upload: str) -> None:
            self._ledger.note(name, Stage.UPLOADED, upload=upload)

        submission = Submission(written.path, intent.label, intent.model, len(requests), note_upload)
        try:
            batch = await self._wire.submit(self._door, submission)
        except UncertainError as error:
            self._unsure[name] = requests
            if self._wire.uploads_first and self._ledger.entry(name).upload is None:
                self._withdraw(entry, str(error))
                self._rest(None)
            else:
                self._notify(f"batch {name}: nobody knows whether it was taken ({error}); it is looked for")
            return False
        except TransientJudgeError as error:
            self._unsure[name] = requests
            self._withdraw(entry, str(error))
            self._tell_once(f"{error}; submitted again later")
            self._rest(error.retry_after_seconds)
            return False
        except JudgeCallError as error:
            self._unsure[name] = requests
            self._withdraw(entry, str(error))
            raise PermanentJudgeError(str(error), concerns_everything=True) from error
        except OSError as error:
            raise MixseekError(f"batch {name}: {error}") from error
        self._ledger.note(name, Stage.SUBMITTED, id=batch, state="submitted")
        self._remove_requests(name)
        self._rest_seconds = _FIRST_REST_SECONDS
        return True

    def _intent_of(self, name: str, requests: Sequence[Waiting], written: Written) -> Intent:
        target = self._desk.asked.judge.target
        # Files are looked at by people.
        is_file = self._wire.name == "files"
        return Intent(
            name=name,
            label=f"{self._run.name}-{name}" if is_file else f"mixseek-{secrets.token_hex(8)}",
            judge=self._desk.name,
            wire=self._wire.name,
            model=target.model,
            base_url=target.base_url,
            account=self._account,
            requests=tuple(request.custom_id for request in requests),
            sha256=written.sha256,
            bytes=written.bytes,
            tokens=sum(request.tokens for request in requests),
            expected_usd=total_cost([request.expected_usd for request in requests]),
            live_usd=total_cost([request.live_usd for request in requests]),
        )

    def _rest(self, seconds: float | None) -> None:
        wait = self._rest_seconds if seconds is None else seconds
        self._rest_seconds = min(self._rest_seconds * 2, 300.0)
        self._resting_until = time.monotonic() + wait

    # Afterwards.

    def mark_collected(self, *, is_all_done: bool) -> None:
        """Batches of which every request has been served; all of them when the run is at its end."""
        for entry in self.entries:
            if entry.stage is not Stage.ENDED:
                continue
            is_served = all(
                name in self._desk.served and not self._desk.is_awaited(name) for name in entry.intent.requests
            )
            if is_all_done or is_served:
                self._ledger.note(entry.name, Stage.COLLECTED)
                self._desk.results.forget(entry)
                self._remove_unneeded(self._ledger.entry(entry.name))

    def _remove_unneeded(self, entry: BatchEntry) -> None:
        """Files that no stage after this one reads."""
        if entry.stage not in (Stage.INTENDED, Stage.UPLOADED):
            self._remove_requests(entry.name)
        if entry.stage is Stage.COLLECTED:
            for name in entry.results:
                (self._run.batch_files / name).unlink(missing_ok=True)

    def _remove_requests(self, name: str) -> None:
        (self._run.batch_files / f"{name}.requests.jsonl").unlink(missing_ok=True)

    def _tell_once(self, words: str) -> None:
        if words not in self._words_shown:
            self._words_shown.add(words)
            self._notify(words)

    async def close(self) -> None:
        await self._door.close()
        self._desk.close()


def ids_taken(entries: Iterable[BatchEntry]) -> set[str]:
    """Batches that are known to be ours; of a guess that, nobody knows before its results are here."""
    return {entry.id for entry in entries if entry.id and not (entry.is_guess and entry.stage is Stage.SUBMITTED)}


def _is_full_queue(code: str, reason: str) -> bool:
    return _QUEUE_IS_FULL in (code, *reason.split(":"))


def _is_of(entry: BatchEntry, view: BatchView) -> bool:
    """Whether it bears our label; where it bears none, whether it was made of the file that was uploaded for it."""
    if view.label is not None:
        return view.label == entry.intent.label
    return entry.upload is not None and view.upload == entry.upload


def _status(error: JudgeCallError) -> int | None:
    """The HTTP status behind it."""
    return error.__cause__.status if isinstance(error.__cause__, StatusError) else None


def _copy(source: str, path: Path) -> None:
    """A result file that somebody has put beside its requests; theirs stays where it is."""
    with replacing(path) as stream, Path(source).open("rb") as given:
        while block := given.read(1 << 20):
            stream.write(block)
