"""Pairs made of a dataset of single outputs: two responses to one question, by different targets."""

import difflib
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from itertools import combinations
from typing import Any

from mixseek.datasets.endings import reason_of, state_of_sample
from mixseek.datasets.files import Row, Rows, RowSource
from mixseek.datasets.rows import PAIR_ALIASES, RowError, RowReader
from mixseek.domain.response_states import (
    REASON_NAMES,
    RESPONSE_STATE,
    RESPONSE_STATE_B,
    UNFINISHED,
    state_of_reason,
)
from mixseek.domain.samples import HUMAN_PREFERENCE
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.text.phrases import listed

ALL, BASELINE = "all", "baseline"
# Of one output; a pair has them where both outputs say the same.
_SHARED = ("question", "question_id", "prompt_variant", "task_name", "task_type", "rubric", "ground_truth")
# What is said of one output says nothing about two of them.
_NOT_OF_PAIRS = (HUMAN_PREFERENCE, *PAIR_ALIASES[HUMAN_PREFERENCE])

Output = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PairChoice:
    """Which pairs of a question: all of them, those with one target, or so many, drawn by the seed."""

    text: str
    baseline: str | None = None
    count: int | None = None
    seed: int = 0

    @property
    def description(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {"choice": self.text, "seed": self.seed}

    def draw(self, *parts: str) -> bytes:
        """A fair lot for that name under the seed: the same whenever it is asked, whatever else is in the dataset."""
        blob = "\x1f".join((str(self.seed), *parts)).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(blob, digest_size=8).digest()


def read_choice(text: str, seed: int = 0) -> PairChoice:
    """`all`, `baseline:MODEL` or a number; ConfigurationError for anything else."""
    kind, colon, name = text.partition(":")
    if text == ALL:
        return PairChoice(text, seed=seed)
    if kind == BASELINE and colon and name.strip():
        return PairChoice(text, baseline=name.strip(), seed=seed)
    if text.isascii() and text.isdigit() and int(text) > 0:
        return PairChoice(text, count=int(text), seed=seed)
    raise ConfigurationError(f"--pairs {text!r}: it is all, baseline:MODEL, or how many pairs of each question")


@dataclass
class PairMaker:
    """One dataset's outputs as pairs. All responses are in memory while they are paired; pairs are made one by one."""

    source: RowSource
    mapping: Mapping[str, str]
    choice: PairChoice
    _alone: list[str] = field(default_factory=list)
    _silent: list[str] = field(default_factory=list)

    def paired_source(self) -> RowSource:
        return replace(self.source, rows=self.rows, notices=self.notices)

    def rows(self) -> Rows:
        """Place of the first output and the pair's row, with the names that samples have; question by question."""
        groups = self._group()
        self._alone = []
        targets = {output["target_model"] for group in groups.values() for _, output in group}
        baseline = self.choice.baseline
        if baseline is not None and baseline not in targets:
            close = difflib.get_close_matches(baseline, targets, n=1)
            meant = f"did you mean {close[0]!r}?" if close else f"targets are {listed(sorted(targets))}"
            raise DatasetError(f"{self.source.path}: --pairs {self.choice.text}: no output is by {baseline!r}; {meant}")
        for name, group in groups.items():
            pairs = list(self._choose(name, group))
            if not pairs:
                self._alone.append(name)
            yield from pairs

    def notices(self) -> tuple[str, ...]:
        """What is, after all rows were read, in no pair, by name."""
        notices = list(self.source.notices())
        if self._silent:
            clause = (
                "output has no response, so it is"
                if len(self._silent) == 1
                else "outputs have no response, so they are"
            )
            notices.append(f"{len(self._silent):,} {clause} in no pair: {listed(self._silent)}")
        if self._alone:
            clause = "question has" if len(self._alone) == 1 else "questions have"
            whom = f"outputs of {self.choice.baseline} and of another target" if self.choice.baseline else "two targets"
            notices.append(f"{len(self._alone):,} {clause} no pair, because {whom} are needed: {listed(self._alone)}")
        return tuple(notices)

    def _group(self) -> dict[str, list[tuple[int, Output]]]:
        """Outputs by question and prompt variant, in the order of the file."""
        reader, groups = RowReader(self.mapping), dict[str, list[tuple[int, Output]]]()
        self._silent = []
        for number, (place, row) in enumerate(self.source.rows(), 1):
            try:
                output = self._read(reader, row, number)
            except RowError as error:
                raise DatasetError(f"{self.source.where(str(self.source.path), place)}: {error}") from error
            name = str(output.get("question_id") or output.get("question"))
            variant = output.get("prompt_variant")
            group = groups.setdefault(f"{name} / {variant}" if variant else name, [])
            if output["response"] or "response_error" not in output.get("metadata", {}):
                group.append((place, output))
            else:
                self._silent.append(output["id"])
        reader.check_mapped_columns()
        return groups

    def _read(self, reader: RowReader, row: Row, number: int) -> Output:
        output = reader.values(row, number)
        if "response" not in output:
            raise RowError("--pairs takes responses from the rows; put the text of `response_path` into `response`")
        if not output.get("target_model"):
            raise RowError(
                "row has no `target_model`, so nobody knows whom it is paired for; --map target_model=COLUMN"
            )
        if not output.get("question_id") and not output.get("question"):
            raise RowError("row has neither `question_id` nor `question`, so nothing says what it answers")
        return output

    def _choose(self, name: str, group: list[tuple[int, Output]]) -> Iterator[tuple[int, Row]]:
        """Which of the two is A is drawn, so that a judge that likes a place likes no target by it."""
        baseline, count = self.choice.baseline, self.choice.count
        pairs = [
            (left, right)
            for left, right in combinations(group, 2)
            if left[1]["target_model"] != right[1]["target_model"]
            if baseline is None or baseline in (left[1]["target_model"], right[1]["target_model"])
        ]
        if count is not None:
            lots = [self.choice.draw("pair", name, left["id"], right["id"]) for (_, left), (_, right) in pairs]
            chosen = set(sorted(lots)[:count])
            pairs = [pair for pair, lot in zip(pairs, lots, strict=True) if lot in chosen]
        for left, right in pairs:
            is_turned = self.choice.draw("side", name, left[1]["id"], right[1]["id"])[0] % 2 == 1
            first, second = (right, left) if is_turned else (left, right)
            yield left[0], _pair_row(first[1], second[1])


def with_opponents(rows: Rows) -> Rows:
    """Samples of a log in which two responses were compared, as the pairs that they were."""
    for place, row in rows:
        beside = row.get("metadata", {})
        if row.get("response") is not None and beside.get("opponent_response") is not None:
            shared = {name: value for name, value in row.items() if name not in ("response", "target_model")}
            pair = {"response_a": beside["opponent_response"], "response_b": row["response"]}
            names = {"target_a": beside.get("opponent"), "target_b": row.get("target_model")}
            rest = {name: value for name, value in beside.items() if not name.startswith("opponent")}
            # What the log says of the end is said of its own response, which is B.
            ended = state_of_reason(reason_of(row))
            rest |= {RESPONSE_STATE_B: ended.value} if ended is not None else {}
            row = {**shared, **pair, **names, "metadata": rest}
        yield place, row


def _pair_row(first: Output, second: Output) -> Row:
    shared = {name: first[name] for name in _SHARED if name in first and first[name] == second.get(name)}
    beside, other = first.get("metadata", {}), second.get("metadata", {})
    same = {name: value for name, value in beside.items() if name in other and other[name] == value}
    # A reason that both give for their end says the same of both, and of neither which one it is.
    ends = {RESPONSE_STATE: state_of_sample(first), RESPONSE_STATE_B: state_of_sample(second)}
    return {
        **{name: value for name, value in same.items() if name not in (*_NOT_OF_PAIRS, *REASON_NAMES)},
        **{name: state.value for name, state in ends.items() if state in UNFINISHED},
        **shared,
        "id": f"{first['id']} vs {second['id']}",
        "response": first["response"],
        "target_model": first["target_model"],
        "response_b": second["response"],
        "target_b": second["target_model"],
    }
