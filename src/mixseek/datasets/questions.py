"""A file of questions: whatever a dataset may be, read for what is asked and not for what was answered."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.datasets.files import RowSource
from mixseek.datasets.importers.samples.messages import content_text, role_of
from mixseek.datasets.reader import choose_rows_or_log, find_files, fingerprint
from mixseek.datasets.rows import FILE_FIELDS, ColumnPlan, RowError, list_names, plan_columns, read_fields, read_talk
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.errors import DatasetError, suggest
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.durable import digest_file

FIELDS = (
    *("id", "question", "ground_truth", "ground_truth_alternatives"),
    *("system", "rubric", "task_name", "task_type", "messages"),
)
# The names under which question files of others have these: Hugging Face, spreadsheets, OpenAI's chats.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("question_id", "qid", "uid"),
    "question": ("prompt", "instruction", "input", "problem", "query"),
    "ground_truth": ("answer", "target", "gold", "reference", "label", "solution"),
    "ground_truth_alternatives": ("alternatives", "aliases"),
    "system": ("system_prompt",),
    "task_name": ("task", "category"),
    "messages": ("conversation", "conversations"),
}
# The log format that a row with a conversation is to whoever judges.
_CHAT = "chat"
# What only a row has: a long one alone is told by them from an object around all rows.
_ROW_COLUMNS = ("question", *ALIASES["question"], "messages", *ALIASES["messages"])
# Of an instruction that has one, what it is about (the form of Alpaca).
_INSTRUCTION, _ITS_INPUT = "instruction", "input"
_ROLES = ("system", "user", "assistant")
_ROLE_NAMES = {"developer": "system"}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and what a judge will need to know of it."""

    id: str
    text: str
    ground_truth: str | None = None
    ground_truth_alternatives: tuple[str, ...] = ()
    system: str | None = None
    rubric: str | None = None
    task_name: str | None = None
    task_type: str | None = None
    # A conversation, whose turns with `content` null are to be filled in; empty where there is only a question.
    messages: tuple[Mapping[str, Any], ...] = ()
    # Every column by its name in the file: what templates may name.
    columns: Mapping[str, Any] = field(default_factory=dict)


class QuestionFile:
    """Streams a file of questions; reading it twice gives the same questions in the same order."""

    def __init__(self, name: str, source: RowSource, mapping: Mapping[str, str]) -> None:
        for wanted in mapping:
            if wanted not in FIELDS:
                meant = suggest(wanted, FIELDS, f"fields are {', '.join(FIELDS)}")
                raise DatasetError(f"--map {wanted}={mapping[wanted]}: a question has no field `{wanted}`; {meant}")
        self.name = name
        self._source, self._mapping = source, mapping
        self._plans: dict[tuple[str, ...], ColumnPlan] = {}
        # Which column filled which field.
        self.resolved: dict[str, str] = {}
        self._repeated = 0

    @property
    def stem(self) -> str:
        """A short name for runs over these questions."""
        return Path(self.name).name.partition(".")[0] or "questions"

    @property
    def format(self) -> str:
        return self._source.format

    def fingerprint(self) -> list[tuple[int, int]]:
        """Sizes and times of change, to see that nobody wrote meanwhile."""
        return fingerprint(self._source.files)

    def digest(self) -> str:
        """What tells these questions from others: of everything that rows come from."""
        digests = [digest_file(path) for path in (*self._source.files, *self._source.companions)]
        return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()

    def __iter__(self) -> Iterator[tuple[str, Question]]:
        """Each question with its place in words. The same question in several rows is asked once."""
        seen: dict[int, tuple[int, int]] = {}
        self._repeated = 0
        for number, (place, row) in enumerate(self._source.rows(), 1):
            try:
                question = self._read(row, number)
            except RowError as error:
                raise DatasetError(f"{self._source.where(self.name, place)}: {error}") from error
            content = hash((question.text, question.system, repr(question.messages)))
            first = seen.setdefault(hash(question.id), (content, place))
            if first == (content, place):
                yield self._source.where(self.name, place), question
            elif first[0] == content:
                self._repeated += 1
            else:
                raise DatasetError(
                    f"{self.name}: {self._source.unit}s {first[1]} and {place} have the same id {question.id!r} and "
                    "ask different things; make ids unique, or name another column with --map id=COLUMN"
                )

    def notices(self) -> tuple[str, ...]:
        """What a person should know, after all rows were read."""
        guesses = [f"{name}={column}" for name, column in self.resolved.items() if column != name]
        ids = [] if "id" in self.resolved else [f"ids by {self._source.unit}"]
        read_as = [f"read as {', '.join([*guesses, *ids])}"] if guesses or ids else []
        repeated = [f"{self._repeated:,} rows ask what another row of the same id asks: once"] if self._repeated else []
        return tuple(f"{self.name}: {notice}" for notice in (*read_as, *self._source.notices(), *repeated))

    @property
    def columns(self) -> frozenset[str]:
        """Every column that a row had, of those that were read."""
        return frozenset(column for shape in self._plans for column in shape)

    def check_mapped_columns(self) -> None:
        """A mapped column that no row has is a slip, not an absent value."""
        columns = self.columns
        for wanted, column in self._mapping.items():
            if column not in columns:
                raise DatasetError(
                    f"{self.name}: no row has the column `{column}` of --map {wanted}={column}; columns are "
                    f"{list_names(columns)}"
                )

    def _read(self, row: Mapping[str, Any], number: int) -> Question:
        shape = tuple(row)
        plan = self._plans.get(shape)
        if plan is None:
            plan = self._plans[shape] = plan_columns(shape, self._mapping, FIELDS, ALIASES)
            reserved = next((column for column in shape if column in FILE_FIELDS), None)
            if reserved is not None:
                raise RowError(f"`{reserved}` is a file to whoever judges the answers; call the column something else")
            for name, column in zip(plan.fields, plan.columns, strict=True):
                self.resolved.setdefault(name, column)
        cells = [row[column] for column in plan.columns]
        talk = take_talk(plan, cells)
        values = read_fields(plan, cells)
        text = values.get("question") or ""
        if plan.fields and _INSTRUCTION in plan.columns and isinstance(about := row.get(_ITS_INPUT), str) and about:
            text = f"{text}\n\n{about}" if text != about else text
        if talk and talk[-1]["role"] == "assistant" and all(turn["content"] is not None for turn in talk):
            # A conversation that has its last word already, as files for training have it: that one is the truth.
            *before, last = talk
            talk = tuple(before)
            values.setdefault("ground_truth", last["content"])
        if talk and talk[0]["content"] is None:
            raise RowError("the conversation begins with a turn to be filled in; let the user say something first")
        mapped = self._mapping.get("question")
        if not text and not talk and mapped is not None and mapped not in row:
            raise RowError(
                f"row has no column `{mapped}`, which --map question={mapped} asks for; columns are {list_names(row)}"
            )
        if not text and not talk:
            raise RowError(
                f"no question in it; columns are {list_names(row)}; name its column with --map question=COLUMN"
            )
        if not text:
            text = next((turn["content"] for turn in reversed(talk) if turn["role"] == "user"), "")
        optional = {
            name: values[name] for name in ("ground_truth", "rubric", "task_name", "task_type") if name in values
        }
        alternatives = tuple(values.get("ground_truth_alternatives", ()))
        return Question(
            id=str(values.get("id") or number).strip() or str(number),
            text=text,
            ground_truth_alternatives=alternatives,
            system=values.get("system"),
            messages=talk,
            columns=row,
            **optional,
        )


def take_talk(plan: ColumnPlan, cells: list[Any]) -> tuple[Mapping[str, Any], ...]:
    """The conversation of a row, out of the cells; OpenAI's chats have it in `messages`, others in `prompt`."""
    for name in ("messages", "question"):
        if name not in plan.fields:
            continue
        place = plan.fields.index(name)
        if talk := read_talk(cells[place]):
            cells[place] = None
            return tuple(plain_turn(message, plan.columns[place]) for message in talk)
        if name == "messages" and cells[place] not in (None, ""):
            raise RowError(f"`{plan.columns[place]}` is no list of messages, each with a role and its content")
    return ()


def plain_turn(message: Mapping[str, Any], column: str) -> Mapping[str, Any]:
    """Role and text; only what the assistant is to say may be null."""
    role = role_of(message)
    role = _ROLE_NAMES.get(role, role)
    content = message.get("content", message.get("value"))
    check_parts(content, column)
    text = content_text(content)
    if role not in _ROLES:
        raise RowError(f"`{column}`: a turn of {role or 'nobody'!r}; turns are of {', '.join(_ROLES)}")
    if text is None and (role != "assistant" or content is not None):
        raise RowError(
            f"`{column}`: a turn of the {role} has no text; only the assistant's may be null, to be filled in"
        )
    return {"role": role, "content": text}


def check_parts(content: Any, column: str) -> None:
    """Raises RowError for a part that would be left out: a question about a picture is another one without it."""
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    other = next((part.get("type") for part in parts if not isinstance(part.get("text"), str)), None)
    if other is not None:
        raise RowError(f"`{column}`: a part of type {other!r}; only text can be asked")


def open_questions(
    path: str,
    mapping: Mapping[str, str],
    spool_directory: Path | None,
    longest_line: int = LONGEST_LINE_BYTES,
    name: str | None = None,
) -> QuestionFile:
    """Whatever `judge` reads; DatasetError where nothing can be read."""
    # Here a conversation says what is to be asked.
    choose = partial(choose_rows_or_log, row_columns=_ROW_COLUMNS, rows_of=_CHAT)
    source = find_files(path, spool_directory).chosen_by(choose, longest_line)
    return QuestionFile(name or path, source, mapping)
