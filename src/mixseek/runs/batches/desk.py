"""One judge's desk: what has come is given out, what is under way is waited for, everything else waits for a batch."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from mixseek.domain.ports import NOTHING_LOST, Answer, Call, LostRequests, Usage
from mixseek.engine.budget import Budget, BudgetSpentError
from mixseek.engine.call import estimate_usage
from mixseek.engine.desk import AwaitedError, Collected
from mixseek.engine.slots import Price
from mixseek.errors import JudgeCallError, PermanentJudgeError, TransientJudgeError
from mixseek.judges.batches.lines import LineFailure, ResultLine
from mixseek.judges.batches.registry import BatchJudge
from mixseek.runs.batches.results import Faults, Place, Results, custom_id_of, total_cost
from mixseek.runs.batches.spool import Spool
from mixseek.storage.batch_ledger import UNDER_WAY, BatchEntry

# A request that brought nothing in so many batches is given up for now.
MOST_TRIES = 5


class Bill(NamedTuple):
    """What the lines of a batch say: how many are answers, and of those that count tokens, how many and what."""

    answers: int
    counted: int
    input_tokens: int
    output_tokens: int
    # Those that say something, and what they were asked: what is billed and cannot be read was like them.
    spoken: int
    spoken_input_tokens: int
    # None where no price is known.
    cost_usd: float | None


class BatchDesk:
    """Implements `engine.desk.Desk` over the batches of one judge in one run."""

    def __init__(
        self,
        asked: BatchJudge,
        name: str,
        directory: Path,
        budget: Budget,
        price: Price,
        factor: float,
        *,
        asks_rest_live: bool,
    ) -> None:
        self.asked = asked
        self.name = name
        self.spool = Spool(directory)
        self.results = Results(directory, asked.wire.lines)
        self.budget = budget
        # Ids whose reply is in the journal, or that are given up, by this process.
        self.served: set[str] = set()
        # Why nothing more is left here; None where there is money for it.
        self.spent: str | None = None
        self._price = price
        self._factor = factor
        self._asks_rest_live = asks_rest_live
        self._under_way: set[str] = set()
        self._lost: dict[str, LostRequests] = {}
        self._batch_ids: dict[str, str] = {}

    def fetch(self, key: bytes, call: Call) -> Collected | None:
        """See the port."""
        custom_id = custom_id_of(key)
        if custom_id in self._under_way or custom_id in self.spool:
            raise AwaitedError(f"{custom_id} is under way")
        call = self.asked.put(call)
        failure: JudgeCallError | None = None
        lost = self.results.lost.get(custom_id, NOTHING_LOST)
        for place, line in self.results.lines(custom_id):
            try:
                answer = self._read(call, line)
            except JudgeCallError as error:
                failure = _seen_anew(error, place)
                lost = lost.plus(self._bill(error))
            else:
                self.served.add(custom_id)
                return self._collected(answer, place, self.results.tries[custom_id], lost)
        tries = self.results.tries[custom_id]
        if failure is None and tries:
            failure = TransientJudgeError(f"judge {self.name}: its batch brought nothing for it")
        if failure is not None:
            self._lost[custom_id] = lost._replace(tries=tries)
            if isinstance(failure, PermanentJudgeError) or tries >= MOST_TRIES:
                self.served.add(custom_id)
                raise failure
            if self._asks_rest_live:
                self.served.add(custom_id)
                return None
        self._leave(custom_id, call)
        raise AwaitedError(f"{custom_id} waits for its batch")

    def lost(self, key: bytes) -> LostRequests:
        """See the port."""
        return self._lost.pop(custom_id_of(key), NOTHING_LOST)

    def note_under_way(self, entries: Iterable[BatchEntry]) -> None:
        """All batches whose requests are not to be submitted again now."""
        self._under_way = {name for entry in entries if entry.stage in UNDER_WAY for name in entry.intent.requests}

    def take_results(self, entry: BatchEntry, *, is_old: bool) -> Faults:
        """What a batch brought is given out from now on."""
        # A file is known by its name, wherever this machine keeps it.
        self._batch_ids[entry.name] = entry.intent.label if entry.intent.wire == "files" else entry.id or entry.name
        return self.results.take(entry, is_old=is_old)

    def count_try(self, entry: BatchEntry) -> None:
        """A batch that brought nothing at all."""
        self.results.tries.update(entry.intent.requests)

    def bill_of(self, entry: BatchEntry) -> Bill:
        """What the provider bills for the lines that can be read, by what it says of tokens."""
        wire = self.asked.wire.wire
        answers = requests = sent = replied = spoken = spoken_sent = 0
        costs: list[float | None] = []
        for line in self.results.all_lines(entry):
            if line.document is None:
                continue
            answers += 1
            usage = wire.usage(line.document)
            if usage.input_tokens is not None and usage.output_tokens is not None:
                requests += 1
                sent, replied = sent + usage.input_tokens, replied + usage.output_tokens
                if usage.output_tokens:
                    spoken, spoken_sent = spoken + 1, spoken_sent + usage.input_tokens
                costs.append(self._price(usage, None))
        cost = total_cost(costs)
        bill = None if cost is None else cost * self._factor
        return Bill(answers, requests, sent, replied, spoken, spoken_sent, bill)

    def price_of(self, usage: Usage) -> float | None:
        """US dollars in a batch."""
        price = self._price(usage, None)
        return None if price is None else price * self._factor

    def is_awaited(self, custom_id: str) -> bool:
        """Whether another batch has it, or will have it."""
        return custom_id in self._under_way or custom_id in self.spool

    def _read(self, call: Call, line: ResultLine) -> Answer:
        judge, wire = self.asked.judge, self.asked.wire.wire
        if line.document is not None:
            answer = judge.read_document(call, line.document, wire)
            if not answer.reply.text and not answer.usage.output_tokens and answer.finish_reason in (None, "stop"):
                # What some hosts write for a request that failed: nobody has answered with nothing for nothing.
                words = f"judge {self.name}: an empty answer that no tokens were counted for"
                raise TransientJudgeError(words, billed_tokens=answer.usage)
            return answer
        failure = line.failure or LineFailure("no response")
        if failure.status is None:
            raise TransientJudgeError(judge.access.redaction.line(f"judge {self.name}: in its batch: {failure.words}"))
        raise judge.read_failure(call, failure.status, failure.body, wire)

    def _bill(self, error: JudgeCallError) -> LostRequests:
        billed = error.billed_tokens if isinstance(error, TransientJudgeError) else None
        if billed is None:
            return NOTHING_LOST
        cost = self._price(Usage(*billed), None)
        return LostRequests(0, billed[0] or 0, billed[1] or 0, (cost or 0.0) * self._factor)

    def _collected(self, answer: Answer, place: Place, tries: int, lost: LostRequests) -> Collected:
        live = self._price(answer.usage, answer.model)
        cost = None if live is None else live * self._factor
        return Collected(answer, self._batch_ids.get(place.batch, place.batch), cost, live, max(1, tries), lost)

    def _leave(self, custom_id: str, call: Call) -> None:
        expected = estimate_usage(call)
        live = self._price(expected, None)
        cost = None if live is None else live * self._factor
        try:
            if self.spent is None:
                self.budget.set_aside(cost or 0.0)
        except BudgetSpentError as error:
            # What has come is read all the same.
            self.spent = str(error)
        if self.spent is not None:
            raise AwaitedError(self.spent)
        body = self.asked.judge.prepare(call, self.asked.wire.wire).body
        line = self.asked.wire.line(custom_id, body)
        system = "\x1f".join(message.content for message in call.messages if message.role == "system")
        prefix = hashlib.blake2b(system.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        # Providers count their queues in tokens of prompts.
        self.spool.add(custom_id, line, expected.input_tokens or 0, (cost, live), prefix)

    def close(self) -> None:
        self.spool.close()


def _seen_anew(error: JudgeCallError, place: Place) -> JudgeCallError:
    """A key or a model that was refused in an earlier command may have been mended since: it is asked once more."""
    if place.is_old and isinstance(error, PermanentJudgeError) and error.concerns_everything:
        return TransientJudgeError(str(error))
    return error
