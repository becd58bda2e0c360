"""What an answer run holds: by target and variant, what came, what did not and why, and what it cost."""

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from mixseek.datasets.answer_runs import FAILED, OPEN, STATES, STATES_BY_CODE, Places, note_records
from mixseek.domain.counts import StatusCounts
from mixseek.domain.ports import Latency
from mixseek.domain.response_states import ResponseState
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.answers.cells import Cell, Cells
from mixseek.storage.journal.manifest import Manifest, RunStatus
from mixseek.storage.workspace import RunDirectory

_PERCENTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class CellCounts:
    """One target asked in one way: how many answers were planned, and how those that came ended."""

    cell: Cell
    states: Mapping[str, int]

    @property
    def planned(self) -> int:
        return self.cell.planned

    @property
    def answered(self) -> int:
        """Those with a text; a part of one, where it was cut off, is one."""
        return self.states.get(ResponseState.FINISHED, 0) + self.states.get(ResponseState.CUT_OFF, 0)

    @property
    def came(self) -> int:
        """Everything that has an outcome which stands."""
        return sum(self.states.get(state, 0) for state in STATES)

    @property
    def open(self) -> int:
        return max(0, self.planned - self.came)


@dataclass(frozen=True, slots=True)
class TargetAccount:
    """Calls and cost of one target; sums are over what is known."""

    judge: str
    target: str
    calls: int
    cached: int
    recorded: int
    tries: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced: int
    latency: Latency | None
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """Everything that is shown of an answer run."""

    run: RunDirectory
    manifest: Manifest
    cells: tuple[CellCounts, ...]
    accounts: tuple[TargetAccount, ...]
    # The commonest reasons why there is no answer, with how often.
    reasons: tuple[tuple[str, int], ...] = ()
    asked_longer: int = 0
    notices: tuple[str, ...] = ()
    seconds: float | None = None

    @property
    def planned(self) -> int:
        return sum(cell.planned for cell in self.cells)

    @property
    def open(self) -> int:
        return sum(cell.open for cell in self.cells)

    def count(self, state: str) -> int:
        """How many ended so, in all cells."""
        return sum(cell.states.get(state, 0) for cell in self.cells)

    @property
    def is_complete(self) -> bool:
        """Nothing is left that asking again could bring."""
        return self.open == 0

    @property
    def all_by_judge(self) -> Mapping[str, StatusCounts]:
        counts: dict[str, StatusCounts] = {}
        for cell in self.cells:
            known = counts.get(cell.cell.judge, StatusCounts())
            answered, failed = cell.came - cell.states.get(FAILED, 0), cell.states.get(FAILED, 0) + cell.open
            counts[cell.cell.judge] = StatusCounts(valid=known.valid + answered, missing=known.missing + failed)
        return counts

    def counts_by_judge(self) -> Mapping[str, Mapping[str, int]]:
        """What the manifest keeps of it."""
        by_judge: dict[str, Counter[str]] = {}
        for cell in self.cells:
            by_judge.setdefault(cell.cell.judge, Counter()).update({**cell.states, OPEN: cell.open})
        return by_judge

    @property
    def cost_usd(self) -> float | None:
        """None where no call has a known price."""
        priced = [account for account in self.accounts if account.calls > account.unpriced]
        return sum(account.cost_usd for account in priced) if priced else None

    @property
    def state(self) -> RunStatus:
        return RunStatus.COMPLETE if self.is_complete else RunStatus.INCOMPLETE


@dataclass(slots=True)
class Tally:
    """One judge's replies, added up."""

    counts: Counter[str] = field(default_factory=Counter)
    cost: float = 0.0
    latencies: "array[float]" = field(default_factory=lambda: array("f"))
    models: Counter[str] = field(default_factory=Counter)

    def add(self, details: Mapping[str, Any]) -> None:
        if details.get("cached") or "latency_seconds" not in details:
            # Had before, in this workspace or in a file: nobody was asked.
            self.counts["cached" if details.get("cached") else "recorded"] += 1
            return
        usage = details.get("usage") or {}
        self.counts["calls"] += 1
        self.counts["tries"] += details.get("tries", 1)
        for name in ("input_tokens", "output_tokens"):
            self.counts[name] += usage.get(name) or 0
        cost = details.get("cost_usd")
        self.counts["unpriced"] += cost is None
        self.cost += cost or 0.0
        if (seconds := details.get("latency_seconds")) is not None:
            self.latencies.append(seconds)
        if model := details.get("model"):
            self.models[model] += 1

    def lose(self, record: Mapping[str, Any]) -> None:
        """Requests that brought no reply, as the last outcome of their place tells them."""
        self.counts["tries"] += record.get("lost_tries", 0)
        bill = record.get("lost_bill", {})
        self.cost += bill.get("cost_usd", 0.0)
        for name in ("input_tokens", "output_tokens"):
            self.counts[name] += bill.get(name, 0)


def summarise_answers(run: RunDirectory, manifest: Manifest) -> AnswerSummary:
    """Reads the journal once; the last word about each place counts."""
    reading = JournalReading(manifest)
    note_records(run.journal, reading.note)
    return reading.summary(run)


class JournalReading:
    """What a journal says of places, kept small: some bytes for each, and a reason for those without an answer."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.places = Places(manifest)
        self._tallies: dict[str, Tally] = {}
        self._asked_longer = 0
        self._reasons: dict[int, str] = {}
        self._lost: dict[int, Mapping[str, Any]] = {}

    def note(self, record: Mapping[str, Any], offset: int) -> None:
        """One more record of the journal, and where it begins."""
        self.places.note(record, offset)
        if record["t"] == "reply":
            self._tally_of(record["judge"]).add(record["details"])
            self._asked_longer += record["attempt"] == 2
        elif record["t"] == "outcome":
            slot = self.places.slot_of(record)
            self._reasons.pop(slot, None)
            if reason := record["reason"]:
                self._reasons[slot] = reason
            # An outcome tells all that was lost before it, over all processes.
            if record.get("lost_tries"):
                self._lost[slot] = record

    def summary(self, run: RunDirectory) -> AnswerSummary:
        """What all of it comes to; asked for once."""
        for record in self._lost.values():
            self._tally_of(record["judge"]).lose(record)
        self._lost.clear()
        cells, states = Cells.of_manifest(self.manifest), self._states()
        counts = tuple(CellCounts(cell, states.get(place, {})) for place, cell in cells.cells.items())
        targets = {cell.judge: cell.target for cell in cells.cells.values()}
        accounts = tuple(account_of(judge, target, self._tallies.get(judge)) for judge, target in targets.items())
        reasons = tuple(Counter(self._reasons.values()).most_common(5))
        return AnswerSummary(run, self.manifest, counts, accounts, reasons, self._asked_longer)

    def _tally_of(self, judge: str) -> Tally:
        tally = self._tallies.get(judge)
        if tally is None:
            tally = self._tallies[judge] = Tally()
        return tally

    def _states(self) -> dict[tuple[str, str], Counter[str]]:
        """Counts by target and variant."""
        places, variants = self.places, list(self.manifest.dataset.get("variants", ()))
        counted: dict[tuple[int, int], Counter[int]] = {}
        for prompt in range(len(places)):
            _, variant = places.planned_place(prompt)
            for judge in range(len(self.manifest.judges)):
                first = prompt * places.slots_of_prompt + judge * places.takes
                counted.setdefault((judge, variant), Counter()).update(places.states[first : first + places.takes])
        return {
            (self.manifest.judges[judge].name, variants[variant]): Counter(
                {state: codes[code] for code, state in enumerate(STATES_BY_CODE) if state is not None and codes[code]}
            )
            for (judge, variant), codes in counted.items()
        }


def account_of(judge: str, target: str, tally: Tally | None) -> TargetAccount:
    tally = tally or Tally()
    ordered = sorted(tally.latencies)
    latency = Latency(*(ordered[int(share * (len(ordered) - 1))] for share in _PERCENTILES)) if ordered else None
    counts = tally.counts
    return TargetAccount(
        judge,
        target,
        calls=counts["calls"],
        cached=counts["cached"],
        recorded=counts["recorded"],
        tries=counts["tries"],
        input_tokens=counts["input_tokens"],
        output_tokens=counts["output_tokens"],
        cost_usd=round(tally.cost, 9),
        unpriced=counts["unpriced"],
        latency=latency,
        models=tuple(model for model, _ in tally.models.most_common()),
    )
