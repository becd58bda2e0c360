"""An answer run as rows: one for each answer that was asked for, in the order of questions, targets and repeats.

Two passes: where each record of the journal that counts begins, and then the rows, one in memory at a time.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.datasets.files import Row, RowSource
from mixseek.domain.judgments import Reply, Status
from mixseek.domain.ports import PLAIN
from mixseek.domain.response_states import RESPONSE_STATE, ResponseState
from mixseek.domain.samples import RESPONSE_ERROR
from mixseek.protocols.answers import MESSAGES, fill_turns, open_turns, read_response
from mixseek.storage.journal.journal import damaged, read_lines
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.journal.records import decode_line
from mixseek.storage.workspace import ANSWERS, RunDirectory, Workspace

# Before the name of an answer run, where a dataset is named.
PREFIX = f"{ANSWERS}:"
FORMAT = "answers"
# In the metadata of a prompt: the number of its question in the file, from 1.
NUMBER = "number"
# Of places that have no answer: refused for good, and those that the same command asks for again.
FAILED, OPEN = "failed", "open"
# In what order an account names them.
STATES = (*(state.value for state in ResponseState), FAILED)
# A byte for each state; nought is for what has none yet.
STATES_BY_CODE = (None, *STATES, OPEN)
_CODES = {state: code for code, state in enumerate(STATES_BY_CODE) if state is not None}
# Why there is no response, where an endpoint gave one without a text.
_WHY_NONE = {
    ResponseState.WITHHELD: "withheld: the provider's filter, or the model itself, refused (finish reason {reason})",
    ResponseState.EMPTY: "empty: the target answered without any text (finish reason {reason})",
}
NOT_ASKED = "not answered yet: the run stopped before; the same `mixseek answer` command goes on"


# Where what counts of a place begins: its reply, the replies of all its turns, or, as a negative number (its
# complement), an outcome that says why there is none.
Offsets = int | tuple[int, ...]


def names_answers(data: str) -> bool:
    """Whether a dataset is named by an answer run, and not by a path."""
    return data.startswith(PREFIX) and not Path(data).exists()


def resolve_answers(workspace: Workspace, data: str) -> RunDirectory:
    """The run that is meant; raises ConfigurationError where there is none."""
    return workspace.resolve_answers(data.removeprefix(PREFIX))


def answers_source(run: RunDirectory) -> RowSource:
    """The run as a dataset; more may be asked for meanwhile, which is another dataset then."""
    manifest = read_manifest(run.manifest)

    def notices() -> tuple[str, ...]:
        open_answers = sum(counts.get("open", 0) for counts in manifest.counts.values())
        if manifest.has_ended and not open_answers:
            return ()
        return (f"answers {run.name} are not complete; the same `mixseek answer` command goes on with them",)

    return RowSource(run.journal, FORMAT, "answer", partial(numbered_rows, run, manifest), notices=notices)


def numbered_rows(run: RunDirectory, manifest: Manifest) -> Iterator[tuple[int, Row]]:
    return enumerate(answer_rows(run, manifest), 1)


def answer_rows(run: RunDirectory, manifest: Manifest) -> Iterator[Row]:
    """Raises DamagedError for a journal that is none."""
    places = Places(manifest)
    note_records(run.journal, places.note)
    if not len(places):
        return
    cells = cells_of(manifest)
    seeds = seeds_of(manifest)
    # Not mapped into memory: a row or two at a time is all that is wanted of a file of many gigabytes.
    with run.journal.open("rb") as stream:

        def read(offset: int) -> dict[str, Any]:
            stream.seek(offset)
            return decode_line(stream.readline())

        for prompt_place in places.in_order():
            prompt = read(places.prompt_offset(prompt_place))["sample"]
            number = prompt["metadata"][NUMBER]
            for cell in cells.get(prompt["prompt_variant"], ()):
                for take, questions in enumerate(cell["takes"], 1):
                    offsets = places.find(prompt_place, cell["judge"], take)
                    if offsets is None and number > questions:
                        # Planned for other targets alone.
                        continue
                    came = answered(prompt, offsets, read)
                    yield answer_row(prompt, cell["target"], take, came, seeds.get(cell["judge"]))


def cells_of(manifest: Manifest) -> Mapping[str, list[Mapping[str, Any]]]:
    """What the plan has of each variant."""
    cells: dict[str, list[Mapping[str, Any]]] = {}
    for cell in manifest.dataset.get("cells", ()):
        cells.setdefault(cell["variant"], []).append(cell)
    return cells


def seeds_of(manifest: Manifest) -> Mapping[str, int]:
    """The seed of the first repeat of each target that has one."""
    seeds = {judge.name: judge.parameters.get("seed") for judge in manifest.judges}
    return {name: seed for name, seed in seeds.items() if isinstance(seed, int)}


def note_records(path: Path, note: Callable[[Mapping[str, Any], int], None], end: int | None = None) -> None:
    """Hands on every record of a journal, or of its first `end` bytes, with where it begins.

    Raises DamagedError for a line that is none, or that belongs to no such run.
    """
    for offset, line in read_lines(path):
        if end is not None and offset >= end:
            return
        try:
            note(decode_line(line), offset)
        except (ValueError, LookupError, TypeError) as error:
            raise damaged(path, offset, ValueError(str(error))) from error


class Places:
    """Where in a journal everything begins, and what became of it: prompts, and a slot for each answer to one.

    A few bytes for each answer that may be asked for, since there may be millions.
    """

    def __init__(self, manifest: Manifest) -> None:
        self._judges = {judge.name: number for number, judge in enumerate(manifest.judges)}
        self._variants = {name: number for number, name in enumerate(manifest.dataset.get("variants", ()))}
        self.takes = max((len(cell["takes"]) for cell in manifest.dataset.get("cells", ())), default=1)
        # Slots of a prompt: those of its first target with all repeats, then those of the next one.
        self.slots_of_prompt = len(self._judges) * self.takes
        # By key the place of a prompt in the order in which they were taken up; by place, its own and that in the plan.
        self._prompts: dict[bytes, int] = {}
        self._prompt_offsets = array("q")
        self._planned_places = array("q")
        # By slot: where its reply begins, or, as a negative number (its complement), an outcome that says why there is
        # none; nought where nothing has come. What has several turns has all of them aside.
        self._offsets = array("q")
        self.states = bytearray()
        self._turns: dict[int, tuple[int, ...]] = {}
        # Replies whose outcome is still to come, by turn.
        self._pending: dict[int, dict[int, int]] = {}

    def __len__(self) -> int:
        """How many prompts were taken up."""
        return len(self._prompt_offsets)

    def in_order(self) -> list[int]:
        """Prompts in the order of the questions, and the variants of each in that of the plan.

        The journal has them in the order in which somebody answered.
        """
        return sorted(range(len(self)), key=self._planned_places.__getitem__)

    def prompt_offset(self, prompt: int) -> int:
        return self._prompt_offsets[prompt]

    def planned_place(self, prompt: int) -> tuple[int, int]:
        """The number of its question, from 1, and that of its variant, from 0."""
        return divmod(self._planned_places[prompt], len(self._variants))

    def find(self, prompt: int, judge: str, take: int) -> Offsets | None:
        """None where nothing has come yet."""
        return self.offsets(self._slot(prompt, judge, take))

    def offsets(self, slot: int) -> Offsets | None:
        """The same by the slot."""
        return self._turns.get(slot) or self._offsets[slot] or None

    def state(self, slot: int) -> str | None:
        """None where nothing has come yet."""
        return STATES_BY_CODE[self.states[slot]]

    def slot_of(self, record: Mapping[str, Any]) -> int:
        """The slot of a reply or an outcome; raises LookupError or ValueError where the plan has none for it."""
        take = record["details"].get("take", 1) if record["t"] == "reply" else record.get("take", 1)
        return self._slot(self.prompt_of(record), record["judge"], take)

    def prompt_of(self, record: Mapping[str, Any]) -> int:
        """The prompt that a record is about."""
        return self._prompts[bytes.fromhex(record["key"])]

    def finish(self) -> None:
        """Nothing more is noted: keys, which take the most room, are needed no longer."""
        self._prompts.clear()
        self._pending.clear()

    def _slot(self, prompt: int, judge: str, take: int) -> int:
        if not 1 <= take <= self.takes:
            raise ValueError(f"repeat {take} of {self.takes}")
        return prompt * self.slots_of_prompt + self._judges[judge] * self.takes + take - 1

    def note(self, record: Mapping[str, Any], offset: int) -> None:
        """One more record of the journal, and where it begins."""
        if record["t"] == "sample":
            self._note_prompt(record, offset)
            return
        slot = self.slot_of(record)
        if record["t"] == "reply":
            # The last reply of each turn; it counts when its outcome says so.
            turn = number_of_turn(record["details"].get("presentation", PLAIN))
            self._pending.setdefault(slot, {})[turn] = offset
            return
        turns = self._pending.pop(slot, {})
        self.states[slot] = _CODES[state_of_outcome(record)]
        if record["status"] != Status.VALID:
            self._turns.pop(slot, None)
            self._offsets[slot] = ~offset
        elif turns:
            replies = (*self._turns_before(slot, min(turns)), *(turns[turn] for turn in sorted(turns)))
            self._turns.pop(slot, None)
            self._offsets[slot] = replies[-1]
            if len(replies) > 1:
                self._turns[slot] = replies

    def _note_prompt(self, record: Mapping[str, Any], offset: int) -> None:
        key, sample = bytes.fromhex(record["key"]), record["sample"]
        if key in self._prompts:
            return
        number, variant = sample["metadata"][NUMBER], self._variants[sample["prompt_variant"]]
        self._prompts[key] = len(self)
        self._planned_places.append(number * len(self._variants) + variant)
        self._prompt_offsets.append(offset)
        self._offsets.frombytes(bytes(self.slots_of_prompt * self._offsets.itemsize))
        self.states.extend(bytes(self.slots_of_prompt))

    def _turns_before(self, slot: int, turn: int) -> tuple[int, ...]:
        """What an earlier outcome rests on and this one as well: only the last turn was asked for again."""
        earlier = self._offsets[slot]
        known = self._turns.get(slot) or ((earlier,) if earlier > 0 else ())
        return known[: turn - 1]


def state_of_outcome(record: Mapping[str, Any]) -> str:
    """Finished, cut off, withheld, empty; failed for good, or open."""
    if record["status"] == Status.VALID:
        return str(record["fields"].get("state", ResponseState.FINISHED))
    if record["status"] == Status.MISSING and not record.get("permanent"):
        return OPEN
    return ResponseState.WITHHELD.value if record.get("withheld") else FAILED


def number_of_turn(presentation: str) -> int:
    """The first turn is 1; `engine.call.name_turn` names them."""
    return 1 if presentation == PLAIN else int(presentation.split(" ")[1])


def answer_row(
    prompt: Mapping[str, Any], target: str, take: int, came: Mapping[str, Any], seed: int | None = None
) -> Row:
    """Every column of the question, then who was asked how, and what became of it; each repeat has its own seed."""
    variant, question_id = prompt["prompt_variant"], prompt["question_id"]
    row_id = f"{question_id}/{target}/{variant}/{take}"
    return {
        **prompt["metadata"]["columns"],
        **{name: prompt[name] for name in _OF_PROMPT if prompt.get(name) is not None},
        "id": row_id,
        "question_id": question_id,
        "prompt_variant": variant,
        "target_model": target,
        "output_id": row_id,
        "repeat": take,
        "prompt_digest": prompt["output_id"],
        **came,
        "seed": None if seed is None else seed + take - 1,
    }


_OF_PROMPT = ("question", "ground_truth", "ground_truth_alternatives", "task_name", "task_type", "rubric")


_OF_ANSWER = (
    *("response", "reasoning", "finish_reason", "response_state", "usage", "cost_usd", "latency_seconds"),
    *("served_model", "request_id", "attempts", "refusal", RESPONSE_ERROR),
)


# What a row says of the answer: a column of the question that is called so gives way.
OWN_FIELDS = frozenset((*_OF_ANSWER, "prompt_variant", "target_model", "output_id", "repeat", "prompt_digest", "seed"))


def answered(prompt: Mapping[str, Any], offsets: Offsets | None, read: Callable[[int], dict[str, Any]]) -> Row:
    """What came; what has no answer says why, and has no response."""
    nothing: Row = dict.fromkeys(_OF_ANSWER)
    if offsets is None:
        return {**nothing, RESPONSE_ERROR: NOT_ASKED}
    if isinstance(offsets, int) and offsets < 0:
        outcome = read(~offsets)
        state = ResponseState.WITHHELD.value if outcome.get("withheld") else None
        return {**nothing, RESPONSE_STATE: state, RESPONSE_ERROR: outcome["reason"] or "no answer"}
    replies = [read(offset) for offset in ((offsets,) if isinstance(offsets, int) else offsets)]
    reply = Reply(**{name: replies[-1][name] for name in ("text", "judge", "attempt", "details")})
    response, details = read_response(reply), reply.details
    why = _WHY_NONE.get(response.state)
    row: Row = {
        **nothing,
        "response": None if why is not None else response.text,
        "reasoning": response.reasoning,
        "finish_reason": response.finish_reason,
        "response_state": response.state.value,
        "usage": details.get("usage"),
        "cost_usd": summed(replies, "cost_usd"),
        "latency_seconds": summed(replies, "latency_seconds"),
        "served_model": details.get("model"),
        "request_id": details.get("request_id"),
        "attempts": reply.attempt,
    }
    if why is not None:
        row[RESPONSE_ERROR] = why.format(reason=response.finish_reason or "not said")
        # What a filter or a model says in place of an answer.
        row["refusal"] = response.text or None
    if len(replies) > 1 and len(replies) == len(open_turns(prompt["metadata"][MESSAGES])):
        row["messages"] = whole_conversation(prompt["metadata"][MESSAGES], replies)
    return row


def summed(replies: list[dict[str, Any]], name: str) -> float | None:
    """The sum over all turns of a conversation; None where one of them is not known."""
    values = [reply["details"].get(name) for reply in replies]
    return None if None in values else sum(values)


def whole_conversation(messages: list[dict[str, Any]], replies: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Every turn as it was said, those that were filled in included."""
    responses = tuple(
        read_response(Reply(reply["text"], reply["judge"], details=reply["details"])).text for reply in replies
    )
    turns = [{"role": turn.role, "content": turn.content} for turn in fill_turns(messages, responses)]
    return turns if messages[-1]["role"] == "assistant" else [*turns, {"role": "assistant", "content": responses[-1]}]
