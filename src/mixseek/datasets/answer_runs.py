"""An answer run as rows: one for each answer that was asked for, in the order of questions, targets and repeats.

Two passes: where each record of the journal that counts begins, and then the rows, one in memory at a time.
"""

import mmap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
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
_OFFSET_BITS = 48
_OFFSET = (1 << _OFFSET_BITS) - 1
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
    places = Places(run.journal, [judge.name for judge in manifest.judges], list(manifest.dataset.get("variants", ())))
    if not places.prompts:
        return
    cells = cells_of(manifest)
    seeds = {judge.name: judge.parameters.get("seed") for judge in manifest.judges}
    with run.journal.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as journal:

        def read(offset: int) -> dict[str, Any]:
            end = journal.find(b"\n", offset)
            return decode_line(journal[offset : end if end >= 0 else len(journal)])

        for key, offset in places.in_order():
            prompt = read(offset)["sample"]
            number = prompt["metadata"][NUMBER]
            for cell in cells.get(prompt["prompt_variant"], ()):
                for take, questions in enumerate(cell["takes"], 1):
                    offsets = places.find(key, cell["judge"], take)
                    if offsets is None and number > questions:
                        # Planned for other targets alone.
                        continue
                    came = answered(prompt, offsets, read)
                    seed = seeds.get(cell["judge"])
                    came["seed"] = seed + take - 1 if isinstance(seed, int) else None
                    yield answer_row(prompt, cell["target"], take, came)


def cells_of(manifest: Manifest) -> Mapping[str, list[Mapping[str, Any]]]:
    """What the plan has of each variant."""
    cells: dict[str, list[Mapping[str, Any]]] = {}
    for cell in manifest.dataset.get("cells", ()):
        cells.setdefault(cell["variant"], []).append(cell)
    return cells


class Places:
    """Where in a journal everything begins: prompts, and what became of them.

    One short key and one number for each answer, since there may be millions.
    """

    def __init__(self, path: Path, judges: Sequence[str], variants: Sequence[str]) -> None:
        # By key the place among all prompts, and below it the offset: one number.
        self.prompts: dict[bytes, int] = {}
        self._numbers = {judge: number for number, judge in enumerate(judges)}
        self._variants = {variant: number for number, variant in enumerate(variants)}
        self._offsets: dict[bytes, Offsets] = {}
        # Replies whose outcome is still to come, by turn.
        self._pending: dict[bytes, dict[int, int]] = {}
        for offset, line in read_lines(path):
            try:
                self._note(decode_line(line), offset)
            except (ValueError, LookupError, TypeError) as error:
                raise damaged(path, offset, ValueError(str(error))) from error

    def in_order(self) -> Iterator[tuple[bytes, int]]:
        """Keys and offsets in the order of the questions, and the variants of each in that of the plan.

        The journal has them in the order in which somebody answered.
        """
        for key, place in sorted(self.prompts.items(), key=itemgetter(1)):
            yield key, place & _OFFSET

    def find(self, key: bytes, judge: str, take: int) -> Offsets | None:
        """None where nothing has come yet."""
        return self._offsets.get(self._place(key, judge, take))

    def _place(self, key: bytes, judge: str, take: int) -> bytes:
        return key + self._numbers[judge].to_bytes(2) + take.to_bytes(2)

    def _note(self, record: Mapping[str, Any], offset: int) -> None:
        kind, key = record["t"], bytes.fromhex(record["key"])
        if kind == "sample":
            sample = record["sample"]
            place = sample["metadata"][NUMBER] * len(self._variants) + self._variants[sample["prompt_variant"]]
            self.prompts.setdefault(key, place << _OFFSET_BITS | offset)
        elif kind == "reply":
            # The last reply of each turn; it counts when its outcome says so.
            details = record["details"]
            place = self._place(key, record["judge"], details.get("take", 1))
            self._pending.setdefault(place, {})[number_of_turn(details.get("presentation", PLAIN))] = offset
        else:
            place = self._place(key, record["judge"], record.get("take", 1))
            turns = self._pending.pop(place, {})
            if record["status"] != Status.VALID:
                self._offsets[place] = ~offset
            elif turns:
                replies = (*self._turns_before(place, min(turns)), *(turns[turn] for turn in sorted(turns)))
                self._offsets[place] = replies[0] if len(replies) == 1 else replies

    def _turns_before(self, place: bytes, turn: int) -> tuple[int, ...]:
        """What an earlier outcome rests on and this one as well: only the last turn was asked for again."""
        earlier = self._offsets.get(place, ())
        known = (earlier,) if isinstance(earlier, int) else earlier
        return known[: turn - 1] if known and known[0] >= 0 else ()


def number_of_turn(presentation: str) -> int:
    """The first turn is 1; `engine.call.name_turn` names them."""
    return 1 if presentation == PLAIN else int(presentation.split(" ")[1])


def answer_row(prompt: Mapping[str, Any], target: str, take: int, came: Mapping[str, Any]) -> Row:
    """Every column of the question, then who was asked how, and what became of it."""
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
    }


_OF_PROMPT = ("question", "ground_truth", "ground_truth_alternatives", "task_name", "task_type", "rubric")


_OF_ANSWER = (
    *("response", "reasoning", "finish_reason", "response_state", "usage", "cost_usd", "latency_seconds"),
    *("served_model", "request_id", "attempts", "refusal", RESPONSE_ERROR),
)


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
