"""`--budget`: pairs judged in rounds, each chosen from what all earlier ones said.

The pairs of a round are written down before they are judged, so that a run that was killed goes on with the same ones.
What they are follows from the dataset, the seed and the answers: the same again gives the same.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mixseek.composition.request import Plan
from mixseek.domain.judgments import Method, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError, StorageError
from mixseek.stats.design import Candidate, next_pairs
from mixseek.stats.strengths import Comparison
from mixseek.storage.durable import replacing
from mixseek.storage.journal.journal import read_records
from mixseek.storage.journal.records import OutcomeRecord

# Pairs in a round: each two systems once, within limits. It does not depend on the budget, so that a larger one begins
# with the same pairs, whose replies are in the cache.
_FEWEST, _MOST = 16, 400
_READ_AT_ONCE = 512


def budget_rounds(plan: Plan) -> Iterator[Iterator[list[Sample]]]:
    """Batches of one round after the other; the next one is chosen when it is asked for."""
    budget = plan.request.budget
    assert budget is not None
    candidates = {one.key: one for one in read_candidates(plan)}
    names = {name for one in candidates.values() for name in (one.first, one.second)}
    size = max(_FEWEST, min(_MOST, len(names) * (len(names) - 1) // 2))
    rounds = read_rounds(plan.run.rounds)
    for number in range(len(candidates)):
        if number == len(rounds):
            asked = {key for one in rounds for key in one}
            left = [one for key, one in candidates.items() if key not in asked]
            count = min(size, budget.pairs - len(asked))
            told = read_comparisons(plan.run.journal, candidates)
            chosen = next_pairs(told, left, count, top=budget.top, seed=plan.request.seed)
            if not chosen:
                return
            rounds.append([one.key for one in chosen])
            with replacing(plan.run.rounds) as stream:
                stream.write(json.dumps(rounds, ensure_ascii=False, indent=1).encode())
        yield read_round(plan, set(rounds[number]))


def likely_batches(plan: Plan) -> Iterator[list[Sample]]:
    """For an estimate: what was chosen so far, and as many others as are still to be chosen."""
    chosen = {key for one in read_rounds(plan.run.rounds) for key in one}
    left = plan.samples - len(chosen)
    for batch in plan.dataset.batches(_READ_AT_ONCE):
        others = [sample for sample in batch if sample.id not in chosen][: max(0, left)]
        left -= len(others)
        yield [sample for sample in batch if sample.id in chosen] + others


def read_candidates(plan: Plan) -> Iterator[Candidate]:
    """Every pair of the dataset; raises ConfigurationError where it does not say who wrote the two."""
    for batch in plan.dataset.batches(_READ_AT_ONCE):
        for sample in batch:
            if not sample.target_model or not sample.target_b:
                raise ConfigurationError(
                    f"--budget: sample {sample.id!r} does not say who wrote its two responses; it needs `target_a` and "
                    "`target_b`, because pairs of targets are what is chosen"
                )
            if sample.target_model != sample.target_b:
                yield Candidate(sample.id, sample.question_id or sample.id, sample.target_model, sample.target_b)


def read_round(plan: Plan, chosen: set[str]) -> Iterator[list[Sample]]:
    """In the order of the dataset, read again: no more than a batch is held."""
    for batch in plan.dataset.batches(_READ_AT_ONCE):
        if samples := [sample for sample in batch if sample.id in chosen]:
            yield samples


def read_comparisons(journal: Path, candidates: Mapping[str, Candidate]) -> list[Comparison]:
    """What judges have said so far, the mean where several said something; a model on its own output has no say."""
    scores: dict[tuple[str, str, int], float | None] = {}
    for record in read_records(journal) if journal.is_file() else ():
        if isinstance(record, OutcomeRecord) and record.sample_id in candidates:
            outcome = record.outcome
            counts = isinstance(outcome, ValidJudgment) and outcome.method is not Method.SELF_JUDGE
            place = record.sample_id, record.judge, record.take
            scores[place] = outcome.score if counts and isinstance(outcome, ValidJudgment) else None
    told: defaultdict[str, list[float]] = defaultdict(list)
    for (key, _, _), score in scores.items():
        if score is not None:
            told[key].append(score)
    return [
        Comparison(one.question, one.first, one.second, sum(told[key]) / len(told[key]))
        for key, one in candidates.items()
        if key in told
    ]


def read_rounds(path: Path) -> list[Sequence[str]]:
    """Those of an earlier start; none where there was none."""
    if not path.is_file():
        return []
    try:
        rounds: list[Sequence[str]] = json.loads(path.read_bytes())
    except ValueError as error:
        raise StorageError(f"{path}: not the rounds of a budget; remove it to have them chosen again") from error
    return rounds
