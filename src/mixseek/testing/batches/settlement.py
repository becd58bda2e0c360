"""The end of a batch: every request is answered, or not, and the lines are written, with what goes wrong with them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from pydantic import ValidationError

from mixseek.testing.batches.faults import BatchFault, FaultPlan, Moment
from mixseek.testing.batches.files import FileStore
from mixseek.testing.batches.jobs import Batch, BatchRequest, Ending, Results, Tally
from mixseek.testing.batches.outcomes import (
    Answered,
    Failed,
    Outcome,
    Refusal,
    Refused,
    Shelf,
    Turn,
    Unprocessed,
    Wire,
)
from mixseek.testing.ledger import Ledger, Tokens
from mixseek.testing.mock_replies import MockReply
from mixseek.testing.prompts import Prompt, digest_of

# What is done of a batch when it expires.
_DONE_AT_EXPIRY = 0.6
# Words, as they stand where others expect a number.
_LINE_ERRORS = (
    Failed("server_error", "The server had an error while processing this request."),
    Failed("rate_limit_exceeded", "Rate limit reached while processing this request."),
)
_REFUSALS = (
    (429, "Rate limit reached."),
    (500, "The server had an error while processing your request."),
    (503, "The engine is currently overloaded, please try again later."),
)
_ALL_FAILED = Failed("server_error", "The batch could not be processed. Please try again.")
_UNREADABLE = (BatchFault.TORN_LINE, BatchFault.MISSING_LINE)


class Settlement:
    """`reply` is what the mock says to a prompt, or why it does not."""

    def __init__(
        self, files: FileStore, plan: FaultPlan, ledger: Ledger, reply: Callable[[Prompt], MockReply | Refusal]
    ) -> None:
        self._files = files
        self._plan = plan
        self._ledger = ledger
        self._reply = reply
        self._number = 0

    async def settle(self, wire: Wire, batch: Batch) -> None:
        """Answers the requests, writes the files and bills what was answered; gives way to others in between."""
        written = _WrittenLines()
        if batch.ending is not Ending.FAILED:
            done, turn = _processed(wire, batch), Turn()
            for index, request in enumerate(batch.requests):
                await turn.give_way()
                self._number += 1
                outcome, fault = self._outcome(wire, batch, request, is_processed=index < done)
                line = wire.line(batch, request.custom_id, outcome, self._number)
                written.add(index, line, outcome, fault)
                if isinstance(outcome, Answered) and not batch.is_foreign:
                    self._ledger.bill(wire.name, outcome.tokens, is_readable=fault not in _UNREADABLE)
            self._disturb(wire, batch, written)
        ids = {
            shelf: (
                await self._files.add(b"".join(lines), f"{batch.id}_{shelf}.jsonl", f"batch_{shelf}", **_kind(wire))
            ).id
            for shelf, lines in written.finished().items()
            if lines
        }
        if not batch.is_foreign:
            self._ledger.close_batch(batch.id, written.has_answer)
        batch.results = Results(ids.get(Shelf.OUTPUT), ids.get(Shelf.ERRORS), written.counts)
        # What was asked is long, and no longer needed.
        batch.requests = []

    def _outcome(
        self, wire: Wire, batch: Batch, request: BatchRequest, *, is_processed: bool
    ) -> tuple[Outcome, BatchFault | None]:
        if not is_processed:
            return Unprocessed(Tally.EXPIRED if batch.ending is Ending.EXPIRED else Tally.CANCELLED), None
        form = wire.format_of(batch)
        if batch.is_foreign:
            reply = MockReply("This answer is for someone else.", "stop", 10, 8, None)
            return _answered(form.answer(Prompt(batch.model, ()), reply, self._number), reply), None
        if batch.fate in (BatchFault.ERROR_FILE_ONLY, BatchFault.FAILED_BATCH, BatchFault.FAILED_HOLDS_QUEUE):
            return _ALL_FAILED, None
        fault = self._plan.draw(Moment.LINE, request.digest)
        pick = request.digest[0]
        if fault is BatchFault.LINE_ERRORS:
            return _LINE_ERRORS[pick % len(_LINE_ERRORS)], fault
        if fault is BatchFault.REFUSED_LINES:
            return Refused(*_REFUSALS[pick % len(_REFUSALS)], is_among_answers=pick % 2 == 0), fault
        try:
            prompt = form.read(request.body, batch.model)
        except ValidationError as error:
            first = error.errors()[0]
            return Refused(400, f"{'.'.join(map(str, first['loc'])) or 'body'}: {first['msg']}"), None
        result = self._reply(prompt)
        if isinstance(result, Refusal):
            return Refused(*result), None
        reply = result
        if fault is BatchFault.EMPTY_TEXT:
            reply = reply._replace(text="", output_tokens=0)
        return _answered(form.answer(prompt, reply, self._number), reply), fault

    def _disturb(self, wire: Wire, batch: Batch, written: "_WrittenLines") -> None:
        """Brings the lines out of order, or adds one that nobody asked for."""
        fault = None if batch.is_foreign else self._plan.draw(Moment.ORDER, batch.content)
        if fault is BatchFault.SHUFFLED:
            written.shuffle(batch.content)
        elif fault is BatchFault.UNKNOWN_LINE and written.last_answer is not None:
            self._number += 1
            custom_id = f"unknown-{batch.content.hex()[:12]}"
            written.add_line(wire.line(batch, custom_id, written.last_answer, self._number))


class _WrittenLines:
    """The lines of both files, in the order in which they will stand there, and what they count as."""

    def __init__(self) -> None:
        self._lines: dict[Shelf, list[bytes]] = {shelf: [] for shelf in Shelf}
        self._repeated: list[tuple[Shelf, bytes]] = []
        self.counts: Counter[Tally] = Counter()
        # By place in the batch: whether there is an answer that a client can read.
        self.has_answer: dict[int, bool] = {}
        self.last_answer: Answered | None = None

    def add(
        self, index: int, line: tuple[Shelf, Mapping[str, Any]] | None, outcome: Outcome, fault: BatchFault | None
    ) -> None:
        self.counts[_tally(outcome)] += 1
        if isinstance(outcome, Answered):
            self.last_answer = outcome
            self.has_answer[index] = not outcome.is_empty and fault not in _UNREADABLE
        if fault is not BatchFault.MISSING_LINE:
            self.add_line(line, is_torn=fault is BatchFault.TORN_LINE, is_repeated=fault is BatchFault.TWICE)

    def add_line(
        self, line: tuple[Shelf, Mapping[str, Any]] | None, *, is_torn: bool = False, is_repeated: bool = False
    ) -> None:
        if line is None:
            return
        shelf, document = line
        data = orjson.dumps(document)
        whole = data[: len(data) * 2 // 3] + b"\n" if is_torn else data + b"\n"
        self._lines[shelf].append(whole)
        if is_repeated:
            self._repeated.append((shelf, whole))

    def shuffle(self, key: bytes) -> None:
        for lines in self._lines.values():
            lines.sort(key=lambda line: hashlib.blake2b(line, key=key, digest_size=16).digest())

    def finished(self) -> dict[Shelf, list[bytes]]:
        """The files' lines; what comes twice comes again at the end."""
        for shelf, line in self._repeated:
            self._lines[shelf].append(line)
        self._repeated = []
        return self._lines


def _processed(wire: Wire, batch: Batch) -> int:
    """How many requests had their turn, from the first on."""
    match batch.ending:
        case Ending.COMPLETED:
            return batch.total
        case Ending.EXPIRED if wire.keeps_partial_results:
            return int(batch.total * _DONE_AT_EXPIRY)
        case Ending.CANCELLED if wire.keeps_partial_results:
            return int(batch.total * batch.share(batch.ended))
        case _:
            return 0


def _answered(document: Mapping[str, Any], reply: MockReply) -> Answered:
    return Answered(document, Tokens(reply.input_tokens, reply.cached_tokens, reply.output_tokens), not reply.text)


def _tally(outcome: Outcome) -> Tally:
    match outcome:
        case Answered():
            return Tally.SUCCEEDED
        case Unprocessed(tally):
            return tally
        case _:
            return Tally.FAILED


def _kind(wire: Wire) -> dict[str, str]:
    return {"prefix": wire.file_prefix}


def content_digest(wire: str, requests: list[BatchRequest]) -> bytes:
    """The same for the same requests under the same ids, in whatever order."""
    return digest_of(wire, *sorted(f"{request.custom_id} {request.digest.hex()}" for request in requests))
