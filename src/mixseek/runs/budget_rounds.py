"""`--budget`: pairs judged in rounds, each chosen from what all earlier ones said.

The pairs of a round are written down before they are judged, so that a run that was killed goes on with the same
ones. What they are follows from the dataset, the seed and the answers: the same again gives the same.
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from mixseek.domain.judgments import Method, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError, StorageError
from mixseek.runs.requests.request import Plan
from mixseek.stats.pair_planning import Candidate, next_pairs
from mixseek.stats.strengths.model import Comparison
from mixseek.storage.durable import replacing
from mixseek.storage.journal.journal import damaged, read_lines
from mixseek.storage.journal.records import (
    OutcomeRecord,
    Record,
    decode_line,
    decode_record,
    decode_sample,
    encode_sample,
)

# Pairs in a round. How many does not depend on the budget, so that a larger one begins
# with the same pairs, whose replies are in the cache.
_FEWEST, _MOST = 16, 400
_READ_AT_ONCE = 512
# How a line begins that says what became of a pair; replies are longer, and not needed.
_OUTCOME = b'{"t":"outcome"'


def budget_rounds(plan: Plan) -> Iterator[Iterator[list[Sample]]]:
    """Batches of one round after the other; the next one is chosen when it is asked for."""
    budget = plan.request.budget
    assert budget is not None
    with tempfile.TemporaryFile() as kept:
        pool = CandidatePool(kept, plan)
        answers = Answers(plan.run.journal, pool.candidates)
        size = round_size(len(pool.names))
        rounds = read_rounds(plan.run.rounds)
        for number in range(len(pool.candidates)):
            if number == len(rounds):
                asked = {key for keys in rounds for key in keys}
                left = [candidate for key, candidate in pool.candidates.items() if key not in asked]
                count = min(size, budget.pairs - len(asked))
                chosen = next_pairs(answers.read(), left, count, top=budget.top, seed=plan.request.seed)
                if not chosen:
                    return
                rounds.append([candidate.key for candidate in chosen])
                with replacing(plan.run.rounds) as stream:
                    stream.write(json.dumps(rounds, ensure_ascii=False, indent=1).encode())
            yield pool.batches(rounds[number])


def round_size(systems: int) -> int:
    """Each two systems once, within limits."""
    return max(_FEWEST, min(_MOST, systems * (systems - 1) // 2))


def likely_batches(plan: Plan) -> Iterator[list[Sample]]:
    """Samples for an estimate: those chosen so far, and as many others as are still to be chosen."""
    chosen = {key for keys in read_rounds(plan.run.rounds) for key in keys}
    left = plan.samples - len(chosen)
    for batch in plan.dataset.batches(_READ_AT_ONCE):
        others = [sample for sample in batch if sample.id not in chosen][: max(0, left)]
        left -= len(others)
        yield [sample for sample in batch if sample.id in chosen] + others


class CandidatePool:
    """Every pair of the dataset, made and read once; its samples wait in a file, so that no more than a batch is held.

    Raises ConfigurationError where the dataset does not say who wrote the two.
    """

    def __init__(self, stream: IO[bytes], plan: Plan) -> None:
        self._stream = stream
        self._places: dict[str, int] = {}
        self.candidates: dict[str, Candidate] = {}
        for batch in plan.dataset.batches(_READ_AT_ONCE):
            for sample in batch:
                if not sample.target_model or not sample.target_b:
                    raise ConfigurationError(
                        f"--budget: sample {sample.id!r} does not say who wrote its two responses; it needs `target_a` "
                        "and `target_b`, because pairs of targets are what is chosen"
                    )
                if sample.target_model != sample.target_b:
                    key, question = sample.id, sample.question_id or sample.id
                    self.candidates[key] = Candidate(key, question, sample.target_model, sample.target_b)
                    self._places[key] = stream.tell()
                    stream.write(encode_sample(sample))
        self.names = {name for candidate in self.candidates.values() for name in (candidate.first, candidate.second)}

    def batches(self, chosen: Sequence[str]) -> Iterator[list[Sample]]:
        """Batches of the chosen samples, in the order of the dataset."""
        places = sorted(self._places[key] for key in chosen if key in self._places)
        for start in range(0, len(places), _READ_AT_ONCE):
            yield [self._read(place) for place in places[start : start + _READ_AT_ONCE]]

    def _read(self, place: int) -> Sample:
        self._stream.seek(place)
        return decode_sample(decode_line(self._stream.readline())["sample"])


class Answers:
    """What judges have said so far, the mean where several said something; a model on its own output has no say."""

    def __init__(self, journal: Path, candidates: Mapping[str, Candidate]) -> None:
        self._journal = journal
        self._candidates = candidates
        self._read_to = 0
        # By pair, then by judge and take: the last outcome counts.
        self._scores: defaultdict[str, dict[tuple[str, int], float | None]] = defaultdict(dict)

    def read(self) -> list[Comparison]:
        """All comparisons, with what the journal has gained since the last time."""
        for offset, line in read_lines(self._journal, self._read_to) if self._journal.is_file() else ():
            self._read_to = offset + len(line)
            if line.startswith(_OUTCOME):
                try:
                    self._take(decode_record(line))
                except ValueError as error:
                    raise damaged(self._journal, offset, error) from error
        comparisons = []
        for key, candidate in self._candidates.items():
            scores = [score for score in self._scores.get(key, {}).values() if score is not None]
            if scores:
                comparisons.append(
                    Comparison(candidate.question, candidate.first, candidate.second, sum(scores) / len(scores))
                )
        return comparisons

    def _take(self, record: Record) -> None:
        if isinstance(record, OutcomeRecord) and record.sample_id in self._candidates:
            outcome = record.outcome
            counts = isinstance(outcome, ValidJudgment) and outcome.method is not Method.SELF_JUDGE
            score = outcome.score if counts and isinstance(outcome, ValidJudgment) else None
            self._scores[record.sample_id][record.judge, record.take] = score


def read_rounds(path: Path) -> list[Sequence[str]]:
    """Those of an earlier start; none where there was none."""
    if not path.is_file():
        return []
    try:
        rounds: list[Sequence[str]] = json.loads(path.read_bytes())
    except ValueError as error:
        raise StorageError(f"{path}: not the rounds of a budget; remove it to have them chosen again") from error
    return rounds
