"""An answer run question by question: a page of it is read by places, however long its journal is."""

import threading
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, BinaryIO

from mixseek.datasets.answer_runs import (
    OPEN,
    STATES,
    STATES_BY_CODE,
    answer_row,
    answered,
    note_records,
    seeds_of,
)
from mixseek.datasets.files import Row
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.answers.cells import Cell, Cells
from mixseek.runs.answers.summary import JournalReading
from mixseek.storage.durable import storage_error
from mixseek.storage.journal.journal import opening_journal, verify_journal
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.journal.records import decode_line
from mixseek.storage.journal.tail import JudgmentSearch
from mixseek.storage.workspace import RunDirectory

# What stands at a place of the plan: an end, a request that brought nothing so far, or nothing at all.
NOT_ASKED = "not_asked"
PLACE_STATES = (*STATES, OPEN, NOT_ASKED)
_MATCHES_KEPT = 8


@dataclass(frozen=True, slots=True)
class AnswersQuery:
    """What narrows the questions of a run: answers in these columns, in that state, with all of these words."""

    columns: tuple[int, ...]
    state: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class FoundAnswers:
    """What a search has found: questions by their rows, and answers by their slots."""

    rows: Collection[int]
    slots: Collection[int]


@dataclass(frozen=True, slots=True)
class PagedAnswer:
    """An answer at its place; what it says is read for the first repeat alone."""

    take: int
    state: str
    row: Row | None = None


@dataclass(frozen=True, slots=True)
class PagedQuestion:
    """A question with the answers of the columns that are shown; empty for what was never planned."""

    number: int
    prompt: Mapping[str, Any]
    cells: Sequence[Sequence[PagedAnswer]]
    # Columns that are not shown and hold what was asked for.
    elsewhere: tuple[int, ...] = ()


class AnswerPages:
    """An answer run as its journal was a moment ago; texts are read from it as they are asked for."""

    def __init__(self, run: RunDirectory) -> None:
        """Raises DamagedError where the journal is not as it was sealed."""
        verify_journal(run)
        self.run = run
        # The manifest knows every target before its first answer: so it is read after the length, and not before.
        self.read_at = datetime.now(UTC)
        length = journal_bytes(run)
        self.manifest = read_manifest(run.manifest)
        reading = JournalReading(self.manifest)
        self._places = reading.places
        # By line of its kind: the prompt of a sample; where a reply begins, and its slot.
        self._prompts, self._reply_offsets, self._reply_slots = array("q"), array("q"), array("q")

        def note(record: Mapping[str, Any], offset: int) -> None:
            reading.note(record, offset)
            if record["t"] == "sample":
                self._prompts.append(self._places.prompt_of(record))
            elif record["t"] == "reply":
                self._reply_offsets.append(offset)
                self._reply_slots.append(self._places.slot_of(record))

        note_records(run.journal, note, length)
        self.summary = reading.summary(run)
        self._places.finish()
        self.columns: tuple[Cell, ...] = tuple(Cells.of_manifest(self.manifest).cells.values())
        self._variants = list(self.manifest.dataset.get("variants", ()))
        judges = [judge.name for judge in self.manifest.judges]
        self._column_places = [
            (judges.index(column.judge), self._variants.index(column.variant)) for column in self.columns
        ]
        # By target and variant; a column of nobody is none.
        self._columns_at = [-1] * (len(judges) * len(self._variants))
        for column, (judge, variant) in enumerate(self._column_places):
            self._columns_at[judge * len(self._variants) + variant] = column
        self._number_questions()
        self._matches: OrderedDict[AnswersQuery, Sequence[int]] = OrderedDict()
        self._lock = threading.Lock()

    def _number_questions(self) -> None:
        """A row for each question, with the prompt of each variant; questions that nobody took up yet have none."""
        width = len(self._variants)
        self._numbers, self._row_prompts = array("q"), array("q")
        self._prompt_rows = array("q", bytes(8 * len(self._places)))
        for prompt in self._places.in_order():
            number, variant = self._places.planned_place(prompt)
            if not self._numbers or self._numbers[-1] != number:
                self._numbers.append(number)
                self._row_prompts.extend([-1] * width)
            row = len(self._numbers) - 1
            self._row_prompts[row * width + variant] = prompt
            self._prompt_rows[prompt] = row

    @property
    def questions(self) -> int:
        """How many were taken up."""
        return len(self._numbers)

    @property
    def samples(self) -> int:
        """How many prompts a search has to go through."""
        return len(self._prompts)

    @property
    def replies(self) -> int:
        """How many replies a search has to go through, also those that no longer count."""
        return len(self._reply_offsets)

    def has_state(self, column: int, state: str) -> bool:
        """Whether any answer of a column ended so."""
        counts = self.summary.cells[column]
        return counts.open > 0 if state in (OPEN, NOT_ASKED) else bool(counts.states.get(state))

    def collect(self, search: JudgmentSearch) -> FoundAnswers:
        """What was found, by rows and slots; a reply that another one has replaced is no answer."""
        prompts = {self._prompts[place - 1] for place in ones(search.texts.bits(self.samples), self.samples)}
        written = search.written.bits(self.replies) if search.written is not None else ""
        slots = {
            self._reply_slots[place - 1]
            for place in ones(written, self.replies)
            if self._is_counted(self._reply_offsets[place - 1], self._reply_slots[place - 1])
        }
        return FoundAnswers({self._prompt_rows[prompt] for prompt in prompts}, slots)

    def _is_counted(self, offset: int, slot: int) -> bool:
        counted = self._places.offsets(slot)
        return offset in counted if isinstance(counted, tuple) else offset == counted

    def matching(self, query: AnswersQuery, hits: FoundAnswers | None) -> Sequence[int]:
        """Rows of the questions, in order; what was found belongs to the words of the query."""
        with self._lock:
            if (known := self._matches.get(query)) is not None:
                return known
        rows = self._planned_rows(query)
        if query.state:
            rows = sorted({row for row, _ in self._answers_in_state(query, hits)})
        elif hits is not None:
            in_columns = {row for row, _ in self._answers_found(query, hits)}
            rows = [row for row in rows if row in hits.rows or row in in_columns]
        with self._lock:
            self._matches[query] = rows
            while len(self._matches) > _MATCHES_KEPT:
                self._matches.popitem(last=False)
        return rows

    def _planned_rows(self, query: AnswersQuery) -> Sequence[int]:
        """Questions that any of the columns was meant to answer: a later target may have been asked a few of them."""
        most = max((self.columns[column].questions for column in query.columns), default=0)
        return range(bisect_right(self._numbers, most))

    def _answers_found(self, query: AnswersQuery, hits: FoundAnswers) -> Iterator[tuple[int, int]]:
        columns = frozenset(query.columns)
        for slot in hits.slots:
            row, column = self._locate(slot)
            if column in columns:
                yield row, column

    def _answers_in_state(self, query: AnswersQuery, hits: FoundAnswers | None) -> Iterator[tuple[int, int]]:
        """Row and column of every answer in that state that the words are in, or are asked with."""
        columns = frozenset(query.columns)
        for slot in self._slots_in(query.state):
            row, column = self._locate(slot)
            if column in columns and (hits is None or row in hits.rows or slot in hits.slots):
                yield row, column

    def _slots_in(self, state: str) -> Iterator[int]:
        code = 0 if state == NOT_ASKED else STATES_BY_CODE.index(state)
        states = self._places.states
        slot = states.find(code)
        while slot >= 0:
            if code or self._is_planned(slot):
                yield slot
            slot = states.find(code, slot + 1)

    def _locate(self, slot: int) -> tuple[int, int]:
        """Its row, and its column; less than nought for what no plan of the manifest has."""
        prompt, place = divmod(slot, self._places.slots_of_prompt)
        _, variant = self._places.planned_place(prompt)
        judge = place // self._places.takes
        return self._prompt_rows[prompt], self._columns_at[judge * len(self._variants) + variant]

    def _is_planned(self, slot: int) -> bool:
        row, column = self._locate(slot)
        if column < 0:
            return False
        takes, take = self.columns[column].takes, slot % self._places.takes
        return take < len(takes) and self._numbers[row] <= takes[take]

    def _slots_of(self, row: int, column: int) -> list[tuple[int, int]]:
        """The repeats of a cell that were planned or came, each with its slot."""
        judge, variant = self._column_places[column]
        prompt = self._row_prompts[row * len(self._variants) + variant]
        if prompt < 0:
            return []
        first = prompt * self._places.slots_of_prompt + judge * self._places.takes
        slots = range(first, first + self._places.takes)
        return [
            (take, slot) for take, slot in enumerate(slots, 1) if self._places.states[slot] or self._is_planned(slot)
        ]

    def state(self, slot: int) -> str:
        return self._places.state(slot) or NOT_ASKED

    def page(
        self, rows: Sequence[int], shown: Sequence[int], query: AnswersQuery, hits: FoundAnswers | None
    ) -> list[PagedQuestion]:
        """The questions of these rows."""
        with opening_journal(self.run.journal) as journal:
            return [self._question(journal, row, shown, query, hits) for row in rows]

    def _question(
        self, journal: BinaryIO, row: int, shown: Sequence[int], query: AnswersQuery, hits: FoundAnswers | None
    ) -> PagedQuestion:
        cells = []
        for column in shown:
            slots = self._slots_of(row, column)
            first = [self._read_answer(journal, row, column, take, slot) for take, slot in slots[:1]]
            cells.append([*first, *(PagedAnswer(take, self.state(slot)) for take, slot in slots[1:])])
        prompts = self._row_prompts[row * len(self._variants) : (row + 1) * len(self._variants)]
        prompt = read_record(journal, self._places.prompt_offset(next(place for place in prompts if place >= 0)))
        others = [column for column in query.columns if column not in shown]
        elsewhere = tuple(column for column in others if self._is_hit(row, column, query, hits))
        return PagedQuestion(self._numbers[row], prompt["sample"], cells, elsewhere)

    def _is_hit(self, row: int, column: int, query: AnswersQuery, hits: FoundAnswers | None) -> bool:
        """Whether a cell holds what was asked for; without a state or words nothing was."""
        if not query.state and hits is None:
            return False
        return any(
            (not query.state or self.state(slot) == query.state)
            and (hits is None or slot in hits.slots or (bool(query.state) and row in hits.rows))
            for _, slot in self._slots_of(row, column)
        )

    def _read_answer(self, journal: BinaryIO, row: int, column: int, take: int, slot: int) -> PagedAnswer:
        prompt = self._prompt_of(journal, row, column)
        came = answered(prompt, self._places.offsets(slot), lambda offset: read_record(journal, offset))
        cell = self.columns[column]
        whole = answer_row(prompt, cell.target, take, came, seeds_of(self.manifest).get(cell.judge))
        return PagedAnswer(take, self.state(slot), whole)

    def _prompt_of(self, journal: BinaryIO, row: int, column: int) -> Mapping[str, Any]:
        _, variant = self._column_places[column]
        place = self._row_prompts[row * len(self._variants) + variant]
        prompt: Mapping[str, Any] = read_record(journal, self._places.prompt_offset(place))["sample"]
        return prompt

    def answer(self, number: int, column: int, take: int) -> tuple[PagedAnswer, Mapping[str, Any]] | None:
        """One answer with all of its texts, and its prompt; None where there is no such place."""
        row = bisect_left(self._numbers, number)
        if row >= len(self._numbers) or self._numbers[row] != number:
            return None
        slot = dict(self._slots_of(row, column)).get(take)
        if slot is None:
            return None
        with opening_journal(self.run.journal) as journal:
            prompt = self._prompt_of(journal, row, column)
            return self._read_answer(journal, row, column, take, slot), prompt


def ones(bits: str, most: int) -> Iterator[int]:
    """Places of ones, from 1."""
    place = bits.find("1", 1)
    while 0 < place <= most:
        yield place
        place = bits.find("1", place + 1)


def read_record(journal: BinaryIO, offset: int) -> dict[str, Any]:
    journal.seek(offset)
    return decode_line(journal.readline())


def journal_bytes(run: RunDirectory) -> int:
    try:
        return run.journal.stat().st_size
    except OSError as error:
        raise storage_error("read the journal", run.journal, error) from error
