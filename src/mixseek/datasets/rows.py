"""One row of a dataset as a Sample: which column fills which field, and what each field accepts."""

import dataclasses
import difflib
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mixseek.checks.declare import row_checks
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.samples.messages import conversation_text, role_of
from mixseek.datasets.importers.samples.transcript import transcript_of
from mixseek.datasets.importers.samples.turns import Turn, Unread, turns_of
from mixseek.datasets.importers.samples.values import as_rows
from mixseek.datasets.step_columns import COLUMN_FIELDS, STEP_FIELDS, StepError, read_contexts, read_steps
from mixseek.domain.check_findings import ROW_CHECKS
from mixseek.domain.panels import MARKS, WINNER_COLUMNS, Preference, read_preference
from mixseek.domain.samples import HUMAN_PREFERENCE, LOG_SCORES, RESPONSE_ERROR, Sample
from mixseek.domain.steps import StepRole, StepStatus
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.lazy_dataclass import dataclass

# Read when the canonical column is absent and nothing is mapped; the first that is present wins.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "response": ("output", "completion", "prediction"),
    "question": ("input", "prompt"),
    "ground_truth": ("target", "answer", "gold", "reference"),
    "ground_truth_alternatives": ("alternatives", "aliases"),
    "task_name": ("task",),
    "target_model": ("model",),
    "contexts": ("retrieved_contexts", "retrieval_context"),
}
# The same for rows that hold two responses. A ground truth is no preference: `2` may be what 1 + 1 is.
PAIR_ALIASES: Mapping[str, tuple[str, ...]] = {
    "response": (
        *("response_a", "output_a", "answer_a", "response_1", "output_1", "answer_1", "conversation_a"),
        "chosen",
    ),
    "response_b": ("output_b", "answer_b", "response_2", "output_2", "answer_2", "conversation_b", "rejected"),
    "question": ("input", "prompt", "instruction"),
    "task_name": ("task",),
    "target_model": ("target_a", "model_a", "model_1", "generator_1"),
    "target_b": ("model_b", "model_2", "generator_2"),
    "steps": ("steps_a",),
    "contexts": ALIASES["contexts"],
    HUMAN_PREFERENCE: ("winner", "preference", "gold"),
}
PAIR_FIELDS = ("response_b", "target_b", "steps_b")
# What the first side of a pair may be called in a mapping.
_FIRST_SIDE = {"response_a": "response", "target_a": "target_model", "steps_a": "steps"}
_SIDE_NAMES = {inside: name for name, inside in _FIRST_SIDE.items()}
_BOTH_SIDES = ("response", "response_b")
SAMPLE_FIELDS = tuple(
    item.name for item in dataclasses.fields(Sample) if item.name != "metadata" and item.name not in PAIR_FIELDS
)
# Columns that name a file whose text becomes the field.
FILE_FIELDS = {"response_path": "response", "rubric_path": "rubric"}
READ_FIELDS = (*SAMPLE_FIELDS, *FILE_FIELDS)
_READ_OF_PAIRS = (*(name for name in SAMPLE_FIELDS if "ground_truth" not in name), *PAIR_FIELDS, HUMAN_PREFERENCE)
# Where a recorded reply may stand when no column is called `reply`.
REPLY_COLUMNS = ("reply", "raw_output", "raw")
# Marks a sample whose judged text nobody knows: only its recorded reply is there.
RESPONSE_UNKNOWN = "response_unknown"
# Marks a sample whose response the row says to be null, and why is not said.
RESPONSE_NULL = "response_null"
# What names a row and does not say what was asked or answered: its column may be a text's as well.
_NAMING_FIELDS = ("id", "question_id", "output_id", "prompt_variant", "target_model", "task_name", "task_type")
_TEXT_FIELDS = ("question", "response", "ground_truth")
# A dataset whose rows all look different must not fill the memory with plans.
_MAX_PLANS = 1_024
_COLUMNS_SHOWN = 12
_ALTERNATIVES = "ground_truth_alternatives"
# Fields whose text may be that of a list.
_LISTS = COLUMN_FIELDS | {_ALTERNATIVES}
_ALL_TEXT = {str}
# Columns that hold an object, where they hold what their name says.
_DOCUMENTS = {"metadata", LOG_SCORES}
# A conversation that may stand beside the response which it ends with.
_MESSAGES = "messages"
_ROLES = {"system", "developer", "user", "assistant", "tool"}
_TURN = ("user", "assistant")


class RowError(ValueError):
    """What is wrong with a row, without its place: the dataset knows that."""


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """How rows with one set of columns are read."""

    fields: tuple[str, ...]
    columns: tuple[str, ...]  # the one that fills each field
    extras: tuple[str, ...]  # columns nobody asked for: metadata
    # Every field takes text as it stands; others may be a list written as text.
    is_plain: bool

    @property
    def question(self) -> int | None:
        """Its place among the fields."""
        return self.fields.index("question") if "question" in self.fields else None


class RowReader:
    """Rows to the fields of samples. Each set of columns is thought about once: that is what makes it fast."""

    def __init__(self, mapping: Mapping[str, str], *, needs_response: bool = True, is_pair: bool = False) -> None:
        """A row may lack its response where `needs_response` is false.

        Recorded replies can be checked for all but their quotes.
        """
        self._mapping = {_FIRST_SIDE.get(name, name) if is_pair else name: of for name, of in mapping.items()}
        self._fields = _READ_OF_PAIRS if is_pair else READ_FIELDS
        check_fields(self._mapping, self._fields)
        self._needs_response = needs_response
        self._is_pair = is_pair
        self._plans: dict[tuple[str, ...], ColumnPlan] = {}
        # Whether the row that was read last has a column for its id, and nothing in it.
        self.is_blank_id = False
        # Every column met so far, in order of appearance.
        self.columns: dict[str, None] = {}
        # Which column filled which field, for the manifest.
        self.resolved: dict[str, str] = {}

    def values(self, row: Mapping[str, Any], number: int) -> dict[str, Any]:
        """The fields of a Sample, absent ones left out; raises RowError. `number` is the id of a row that has none."""
        shape = tuple(row)
        plan = self._plans.get(shape)
        if plan is None:
            plan = self._remember(shape)
        cells = [row[column] for column in plan.columns]
        unfolded = unfold_conversations(plan, cells) if self._is_pair else None
        if plan.question is not None and (talk := read_talk(cells[plan.question])):
            cells[plan.question] = conversation_text(talk)
        if plan.is_plain and "" not in cells and set(map(type, cells)) == _ALL_TEXT:
            values: dict[str, Any] = dict(zip(plan.fields, cells, strict=True))
        else:
            values = read_fields(plan, cells)
        if "id" in values and values["id"].isspace():
            del values["id"]
        # A column of ids with a hole in it is told; rows without such a column are numbered, as documented.
        self.is_blank_id = "id" not in values and "id" in plan.fields
        if "id" not in values:
            values["id"] = str(number)
        self._check_lists(values, plan)
        if plan.extras:
            self._read_extras(values, row, plan)
        if self._is_pair:
            if unfolded is not None and (unfolded.is_long or not values.get("question")):
                values["question"] = unfolded.text
            self._settle_pair(values, plan)
        if "response" not in plan.fields and "response_path" not in plan.fields and "steps" in values:
            answer_from_steps(values)
        if not values.get("response") and "response_path" in plan.fields:
            # CSV cannot say null: an empty cell beside a path is no response.
            values.pop("response", None)
        if "response" not in values and row.get(RESPONSE_ERROR):
            # The model failed: the sample is named and counted, and nobody is asked to judge it.
            values["response"] = ""
        elif "response" not in values and "response_path" not in values:
            if self._needs_response or not any(row.get(name) is not None for name in REPLY_COLUMNS):
                self._leave_hole(values, row, plan)
                return values
            values["response"] = ""
            values["metadata"] = {**values.get("metadata", {}), RESPONSE_UNKNOWN: True}
        return values

    def _read_extras(self, values: dict[str, Any], row: Mapping[str, Any], plan: ColumnPlan) -> None:
        """Columns that no field asked for: metadata, unless one is the conversation that led to the response."""
        extras = plan.extras
        if _MESSAGES in extras and "steps" not in plan.fields and not self._is_pair:
            read_messages(values, row[_MESSAGES], plan)
            extras = tuple(column for column in extras if column != _MESSAGES) if "steps" in values else extras
        values["metadata"] = {**read_metadata(row, extras), **values.get("metadata", {})}
        refuse_wrong_checks(values["metadata"])

    def _check_lists(self, values: Mapping[str, Any], plan: ColumnPlan) -> None:
        """What was mapped to steps or contexts is some; a column that only has their name stays what it was."""
        for field in COLUMN_FIELDS & self._mapping.keys():
            if field not in values and self._mapping[field] in values.get("metadata", {}):
                raise RowError(f"`{self._mapping[field]}` holds no {field}, which --map {field}= asks for")

    def _leave_hole(self, values: dict[str, Any], row: Mapping[str, Any], plan: ColumnPlan) -> None:
        """A null is no output, as after a failure: named and counted. A row without the column is a slip."""
        if "response" not in plan.fields or "response_path" in plan.fields:
            raise RowError(self._describe_missing_response(row))
        column = plan.columns[plan.fields.index("response")]
        values["response"] = ""
        hole = {RESPONSE_ERROR: f"`{column}` is null, without a reason in `{RESPONSE_ERROR}`", RESPONSE_NULL: True}
        values["metadata"] = {**values.get("metadata", {}), **hole}

    def _settle_pair(self, values: dict[str, Any], plan: ColumnPlan) -> None:
        """Two responses, one question of a name, and what people prefer beside them."""
        word = values.pop(HUMAN_PREFERENCE, None)
        if word is None and {"chosen", "rejected"} <= set(plan.columns) and not self._mapping.keys() & set(_BOTH_SIDES):
            # What the names of the two columns say.
            values["metadata"] = {**values.get("metadata", {}), HUMAN_PREFERENCE: Preference.A.value}
        elif word is None and (preference := read_winner_columns(values.get("metadata", {}))):
            rest = {name: cell for name, cell in values["metadata"].items() if name not in WINNER_COLUMNS}
            values["metadata"] = {**rest, HUMAN_PREFERENCE: preference.value}
        elif word is not None:
            column = plan.columns[plan.fields.index(HUMAN_PREFERENCE)]
            sides = {values.get("target_model"): Preference.A, values.get("target_b"): Preference.B}
            preference = read_preference(word) or (sides.get(word) if len(sides) == 2 else None)
            if preference is None and (column == HUMAN_PREFERENCE or HUMAN_PREFERENCE in self._mapping):
                raise RowError(f"`{column}` is {word[:60]!r}, which is no preference; write A, B or tie")
            # A column that only looked like one stays what it was.
            entry = {column: word} if preference is None else {HUMAN_PREFERENCE: preference.value}
            values["metadata"] = {**values.get("metadata", {}), **entry}
        if "response_b" not in values and "response" in values and "response_b" in plan.fields:
            # One of the two is null: there is nothing to compare.
            del values["response"]
            values["response_b"] = ""
        elif "response_b" not in values and "response" in values:
            mapped = self._mapping.get("response_b")
            wanted = f"`{mapped}`, which --map response_b={mapped} asks for" if mapped else "`response_b`"
            raise RowError(
                f"row has no {wanted}; a pair has `response_a` and `response_b`, and --pairs all makes pairs of single "
                f"outputs (columns are {list_names(self.columns)})"
            )
        if "question_id" not in values and values.get("question"):
            # Pairs of one question resemble each other, so intervals must know that they belong together.
            values["question_id"] = name_question(values["question"])

    def check_mapped_columns(self) -> None:
        """A mapped column that no row has is a slip, not an absent value."""
        for field, column in self._mapping.items():
            if column not in self.columns:
                raise RowError(f"no row has the column `{column}` of --map {field}={column}; {self._offer(column)}")

    def guesses(self) -> dict[str, str]:
        """Which fields were filled from a column of another name that nobody mapped."""
        spelled = {name: _SIDE_NAMES.get(name, name) if self._is_pair else name for name in self.resolved}
        return {
            spelled[field]: column
            for field, column in self.resolved.items()
            if field not in self._mapping and column not in (field, spelled[field])
        }

    def _remember(self, shape: tuple[str, ...]) -> ColumnPlan:
        if len(self._plans) >= _MAX_PLANS:
            self._plans.clear()
        self.columns.update(dict.fromkeys(shape))
        aliases = PAIR_ALIASES if self._is_pair else ALIASES
        plan = plan_columns(shape, self._mapping, self._fields, aliases)
        for field, column in zip(plan.fields, plan.columns, strict=True):
            self.resolved.setdefault(field, column)
        self._plans[shape] = plan
        return plan

    def _describe_missing_response(self, row: Mapping[str, Any]) -> str:
        column = self._mapping.get("response")
        if column is not None and column not in row:
            return f"row has no column `{column}`, which --map response={column} asks for; {self._offer(column)}"
        plan = self._plans[tuple(row)]
        if "response" in plan.fields:
            column_name = plan.columns[plan.fields.index("response")]
            other = "empty, and so is `response_path`" if "response_path" in plan.fields else "null"
            return (
                f"`{column_name}` is {other}; write the response's text (an empty one is allowed), or why there is "
                f"none into `{RESPONSE_ERROR}`"
            )
        if "response_path" in plan.fields:
            return "`response_path` is empty and there is no `response`; name the output's file or drop the row"
        if self._is_pair:
            return (
                f"row has no `response_a`; columns are {list_names(row)}; name both responses with "
                "--map response_a=COLUMN --map response_b=COLUMN"
            )
        return f"row has no `response`; columns are {list_names(row)}; map one with --map response=COLUMN"

    def _offer(self, column: str) -> str:
        close = difflib.get_close_matches(column, self.columns, n=1)
        meant = f"; did you mean `{close[0]}`?" if close else ""
        return f"columns are {list_names(self.columns)}{meant}"


def read_messages(values: dict[str, Any], cell: Any, plan: ColumnPlan) -> None:
    """A conversation beside a response gives its steps, and then the question of a row that has none."""
    messages = read_talk(cell)
    if not messages:
        return
    transcript = transcript_of(turns_of(messages, Unread()))
    if transcript.answer().text is None and values.get("response"):
        # It may end before the response.
        transcript.add(Turn(StepRole.ASSISTANT, _TURN[1], values["response"]))
    if transcript.steps:
        values["steps"] = transcript.steps
        if "question" not in plan.fields:
            values["question"] = transcript.question


def refuse_wrong_checks(metadata: Mapping[str, Any]) -> None:
    """Raises RowError for expectations that nobody could check."""
    if ROW_CHECKS not in metadata:
        return
    try:
        row_checks(metadata)
    except ConfigurationError as error:
        advice = f"`{ROW_CHECKS}` holds what is checked of the row; call the column otherwise where it holds more"
        raise RowError(f"`{ROW_CHECKS}`: {error} ({advice})") from error


def answer_from_steps(values: dict[str, Any]) -> None:
    """The last step is the final answer where the target says it there; else there is none."""
    last = values["steps"][-1]
    is_answer = last.role is StepRole.ASSISTANT and bool(last.text) and last.status is not StepStatus.ERROR
    values["response"] = last.text if is_answer else ""
    if not is_answer:
        reason = {RESPONSE_ERROR: "the steps end without an answer"}
        values["metadata"] = {**values.get("metadata", {}), **reason}


def name_question(*parts: str) -> str:
    """A `question_id` for a question that has none: the same text, the same name, in every file."""
    text = "\x1f".join(parts)
    return f"question-{hashlib.blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=5).hexdigest()}"


def asked_in(values: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells a question without an id: its text, and the right answer, since one text may have several.

    Nothing where the row names its question, or does not hold it.
    """
    question = values.get("question")
    if not question or "question_id" in values:
        return ()
    truth = values.get("ground_truth")
    return (question,) if truth is None else (question, truth)


@dataclass(frozen=True, slots=True)
class SharedQuestion:
    """What two conversations have in common: `is_long` where that is more than one message."""

    text: str
    is_long: bool


def unfold_conversations(plan: ColumnPlan, cells: list[Any]) -> SharedQuestion | None:
    """Two lists of messages: what both begin with was asked, the rest of each is its response, put into the cells.

    None where they are no such lists, which stay as they are.
    """
    places = [plan.fields.index(name) for name in _BOTH_SIDES if name in plan.fields]
    talks = [read_talk(cells[place]) for place in places]
    if plan.question is not None and len(talks) == 2 and not any(talks):
        talks = [join_turns(cells[plan.question], cells[place]) for place in places]
        if all(talks):
            cells[plan.question] = ""
    elif len(talks) == 2 and not all(talks):
        talks = answer_alike(cells, plan, places, talks)
    if len(talks) != 2 or not all(talks):
        return None
    for place, talk in zip(places, talks, strict=True):
        if role_of(talk[-1]) == "user":
            raise RowError(f"`{plan.columns[place]}` ends with what the user says, so there is no response in it")
    shared = 0
    while shared < min(map(len, talks)) - 1 and talks[0][shared] == talks[1][shared]:
        shared += 1
    for place, talk in zip(places, talks, strict=True):
        cells[place] = conversation_text(talk[shared:])
    return SharedQuestion(conversation_text(talks[0][:shared]), shared > 1) if shared else None


def answer_alike(
    cells: Sequence[Any], plan: ColumnPlan, places: Sequence[int], talks: list[list[Mapping[str, Any]]]
) -> list[list[Mapping[str, Any]]]:
    """A conversation beside a plain text: both answer its last question.

    As they are where the conversation is itself a text that says nothing of the question: a response may be JSON.
    """
    number = 0 if talks[0] else 1
    before, whole, plain = talks[number][:-1], cells[places[number]], cells[places[1 - number]]
    question = cells[plan.question] if plan.question is not None else None
    last_question = conversation_text(read_talk(question)) or question or ""
    is_certain = not (isinstance(whole, str) and before) or str(last_question).strip() in conversation_text(before)
    if not isinstance(plain, str) or not is_certain:
        return talks
    return [talk or [*before, {"role": _TURN[1], "content": plain}] for talk in talks]


def read_winner_columns(row: Mapping[str, Any]) -> Preference | None:
    """What the one that is marked says; None where it is not exactly one."""
    marked = [preference for name, preference in WINNER_COLUMNS.items() if str(row.get(name)).lower() in MARKS]
    return marked[0] if len(marked) == 1 else None


def read_talk(cell: Any) -> list[Mapping[str, Any]]:
    """A list of messages, or the text of one (CSV has nothing better); nothing where it is none."""
    if isinstance(cell, str) and not cell.startswith("[{"):
        return []
    talk = as_rows(read_cell(cell))
    roles = set(map(role_of, talk))
    # A text is more easily something else that has roles in it.
    return talk if all(roles) and (not isinstance(cell, str) or roles <= _ROLES) else []


def join_turns(*cells: Any) -> list[Mapping[str, Any]]:
    """What was asked and what was answered, each as the text of a list turn by turn, as tables of LMSYS have it."""
    questions, answers = (
        read_cell(cell) if isinstance(cell, str) and cell.startswith('["') else None for cell in cells
    )
    if not isinstance(questions, list) or not isinstance(answers, list) or len(questions) != len(answers):
        return []
    if not all(isinstance(turn, str) for turn in (*questions, *answers)):
        return []
    turns = zip(questions, answers, strict=True)
    return [{"role": role, "content": text} for turn in turns for role, text in zip(_TURN, turn, strict=True)]


def check_fields(mapping: Mapping[str, str], fields: Sequence[str] = READ_FIELDS) -> None:
    """Refuse a mapping of something that a sample does not have."""
    for field in mapping:
        if field not in fields:
            close = difflib.get_close_matches(field, fields, n=1)
            meant = f"did you mean `{close[0]}`?" if close else f"fields are {', '.join(fields)}"
            raise DatasetError(f"--map {field}={mapping[field]}: a sample has no field `{field}`; {meant}")


def plan_columns(
    shape: Sequence[str],
    mapping: Mapping[str, str],
    fields: Sequence[str] = READ_FIELDS,
    aliases_of: Mapping[str, tuple[str, ...]] = ALIASES,
) -> ColumnPlan:
    """Mapped column, else the canonical one, else the first alias; a column is guessed for one field only.

    A column that was mapped to what names a row may be a text as well: the question is often its own name.
    A name that nobody has may be there as spreadsheets write it: `Ground Truth`.
    """
    present = set(shape)
    spelled = {str(column).strip().lower().replace(" ", "_"): column for column in reversed(tuple(shape))}
    all_claimed = set(mapping.values())
    texts_claimed = {column for field, column in mapping.items() if field not in _NAMING_FIELDS}
    has_path = mapping.get("response_path", "response_path") in present
    chosen: dict[str, str] = {}
    for field in fields:
        claimed = texts_claimed if field in _TEXT_FIELDS else all_claimed
        if field in mapping:
            candidates: tuple[str, ...] = (mapping[field],)
        else:
            # Beside a file's path, `output` is no longer surely the judged text.
            aliases = () if field == "response" and has_path else aliases_of.get(field, ())
            candidates = tuple(name for name in (field, *aliases) if name not in claimed)
        column = next((name for name in candidates if name in present), None)
        if column is None and field not in mapping:
            spellings = (spelled[name] for name in candidates if name in spelled)
            column = next((name for name in spellings if name not in claimed | set(chosen.values())), None)
        if column is not None:
            chosen[field] = column
    used = set(chosen.values())
    extras = tuple(column for column in shape if column not in used)
    return ColumnPlan(tuple(chosen), tuple(chosen.values()), extras, _LISTS.isdisjoint(chosen))


def read_fields(plan: ColumnPlan, cells: Iterable[Any]) -> dict[str, Any]:
    """Each field by its own rule, absent ones left out."""
    values: dict[str, Any] = {}
    for field, column, cell in zip(plan.fields, plan.columns, cells, strict=True):
        if field in COLUMN_FIELDS:
            read = read_column(field, column, cell)
            if read is None and cell is not None:
                values["metadata"] = {**values.get("metadata", {}), column: cell}
            cell = read
        elif type(cell) is not str or not cell or field == _ALTERNATIVES:
            cell = read_field(field, column, cell)
        if cell is None:
            continue
        values[field] = cell
    if _ALTERNATIVES in values or isinstance(values.get("ground_truth"), list):
        settle_ground_truth(values)
    return values


def read_column(field: str, column: str, value: Any) -> tuple[Any, ...] | None:
    """Steps or contexts; None where the column holds something else."""
    try:
        return read_steps(value) if field in STEP_FIELDS else read_contexts(value)
    except StepError as error:
        raise RowError(f"`{column}`: {error}") from None


def read_field(field: str, column: str, value: Any) -> Any:
    """The value a sample holds; None is absent. An empty text is a value for responses and question only."""
    if field == _ALTERNATIVES:
        return read_alternatives(column, value)
    if field == "ground_truth" and isinstance(value, list):
        return [text for item in value if (text := read_text(column, item)) is not None] or None
    text = read_text(column, value)
    if text == "" and field not in ("response", "response_b", "question"):
        return None
    return text


def read_text(column: str, value: Any) -> str | None:
    """Numbers and booleans as people write them in a ground truth; lists and objects are refused, not guessed at."""
    match value:
        case str():
            return value
        case None:
            return None
        case bool() | int():
            return str(value)
        case float():
            return None if math.isnan(value) else str(value)
        case _:
            kind = "a list" if isinstance(value, list) else "an object"
            raise RowError(f"`{column}` is {kind}, expected text; map another column with --map FIELD=COLUMN")


def read_alternatives(column: str, value: Any) -> list[str] | None:
    """A list, or the JSON text of one (CSV has nothing better), or a single text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise RowError(f'`{column}` begins like a JSON list but is none; write ["first", "second"]') from None
    items = value if isinstance(value, list) else [value]
    return [text for item in items if (text := read_text(column, item))] or None


def settle_ground_truth(values: dict[str, Any]) -> None:
    """A list of right answers is one ground truth and its alternatives."""
    truth = values.get("ground_truth", [])
    answers = [*([truth] if isinstance(truth, str) else truth), *values.get(_ALTERNATIVES, [])]
    values["ground_truth"] = answers[0]
    values[_ALTERNATIVES] = tuple(answers[1:])


def read_metadata(row: Mapping[str, Any], extras: Iterable[str]) -> dict[str, Any]:
    """Unknown columns by name; a column called `metadata` that holds an object is unpacked into the rest."""
    # CSV cannot say that nothing went wrong but by an empty cell.
    metadata = {column: row[column] for column in extras if column != RESPONSE_ERROR or row[column] not in ("", None)}
    for name in _DOCUMENTS & metadata.keys():
        # Nor has it anything better than text for an object.
        metadata[name] = read_cell(metadata[name])
    nested = metadata.get("metadata")
    if isinstance(nested, dict):
        del metadata["metadata"]
        metadata = {**nested, **metadata}
    return metadata


def list_names(names: Iterable[str]) -> str:
    """Column names for a message: one line, and not the whole of a table with a thousand columns."""
    shown = [" ".join(str(name).split()) or "''" for name in names]
    more = f" and {len(shown) - _COLUMNS_SHOWN} more" if len(shown) > _COLUMNS_SHOWN else ""
    return (", ".join(shown[:_COLUMNS_SHOWN]) or "none") + more
