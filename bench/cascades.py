"""`make coverage`, fifth part: how often a cascade's certificate promises more agreement than there is.

Judges, the cheap one first, whose errors are as much alike within a question as the ICC says: judges that are as
often wrong whatever their confidence, judges that are the less wrong the surer they are, one at the very edge of what
was asked for, and ones that would spoil what those before them decide. 200 labels, drawn row by row or as whole
questions. A draw misses where the decided items agree less often than the certificate says; the most that is allowed
is delta and a point.
"""

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from random import Random
from statistics import NormalDist

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.cascades import CascadeItem, CascadePlan, Reading, plan_cascade

AGREE, DELTA, LABELS, QUESTIONS, ROWS = 0.95, 0.1, 200, 300, 4
LIKENESSES = (0.0, 0.1, 0.3, 0.5)


@dataclass(frozen=True, slots=True)
class Shape:
    """How often each tier is wrong in the mean, and how much less so where it is sure (0: not at all)."""

    name: str
    wrong: tuple[float, ...]
    slopes: tuple[float, ...]

    def wrong_at(self, tier: int, confidence: float) -> float:
        return self.wrong[tier] * (1 + self.slopes[tier] * (1 - 2 * confidence))


SHAPES = (
    Shape("never surer", (0.051, 0.051), (0.0, 0.0)),
    Shape("surer, less wrong", (0.1, 0.05), (0.9, 0.9)),
    Shape("at the edge", (0.052, 0.03), (0.0, 0.9)),
    # What the first decides is right often enough; what the second would add makes it too little.
    Shape("sure, then not", (0.04, 0.09), (1.0, 0.0)),
    Shape("three, ever surer", (0.05, 0.09, 0.06), (1.0, 0.0, 0.5)),
)


def draw_items(rng: Random, shape: Shape, likeness: float, *, whole_questions: bool) -> list[CascadeItem]:
    """A population, of which so many rows are labelled."""
    normal = NormalDist()
    rows = []
    for question in range(QUESTIONS):
        common = rng.gauss(0, 1)
        for _ in range(ROWS):
            readings = []
            for tier in range(len(shape.wrong)):
                confidence = rng.random()
                own = math.sqrt(likeness) * common + math.sqrt(1 - likeness) * rng.gauss(0, 1)
                is_wrong = own < normal.inv_cdf(shape.wrong_at(tier, confidence))
                readings.append((confidence, float(is_wrong)))
            rows.append((str(question), readings))
    if whole_questions:
        drawn = set(map(str, rng.sample(range(QUESTIONS), LABELS // ROWS)))
        labelled = {place for place, (question, _) in enumerate(rows) if question in drawn}
    else:
        labelled = set(rng.sample(range(len(rows)), LABELS))
    return [
        CascadeItem(
            question,
            tuple(Reading(confidence, wrong if place in labelled else None) for confidence, wrong in readings),
            is_labelled=place in labelled,
        )
        for place, (question, readings) in enumerate(rows)
    ]


def is_missed(plan: CascadePlan, shape: Shape) -> bool:
    """Whether the decided ones disagree too often, in all populations of this shape."""
    decided = wrong = 0.0
    left = 1.0
    for number, tier in enumerate(plan.tiers):
        if tier.threshold is None:
            continue
        share = left * (1 - tier.threshold)
        decided += share
        wrong += share * shape.wrong_at(number, (1 + tier.threshold) / 2)
        left *= tier.threshold
    return decided > 0 and wrong / decided > 1 - AGREE


def simulate(shape: Shape, likeness: float, whole_questions: bool, draws: int, seed: int) -> tuple[float, float]:
    """Shares of draws that miss, and of items that are decided without people."""
    rng = Random(f"{seed}:{shape.name}:{likeness}:{whole_questions}")
    missed, decided = 0, 0.0
    for _ in range(draws):
        plan = plan_cascade(draw_items(rng, shape, likeness, whole_questions=whole_questions), AGREE, DELTA)
        missed += is_missed(plan, shape)
        decided += plan.decided_share
    return missed / draws, decided / draws


def main() -> int:
    """A line a setting; exit code 1 where one misses too often, by more than chance explains."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    most = DELTA + 0.01
    # What chance adds to a share of so few draws.
    slack = 2 * math.sqrt(most * (1 - most) / options.replications) if options.replications < 2_000 else 0.0
    failed = 0
    settings = [(shape, likeness, whole) for likeness in LIKENESSES for whole in (False, True) for shape in SHAPES]
    print(f"{'cascade, 95 % at delta .1: likeness, labels, judges':58} missed decided")
    with ProcessPoolExecutor() as processes:
        results = [processes.submit(simulate, *setting, options.replications, options.seed) for setting in settings]
        for (shape, likeness, whole), result in zip(settings, results, strict=True):
            missed, decided = result.result()
            is_over = missed > most + slack
            failed += is_over
            name = f"{likeness:.1f}, {'whole questions' if whole else 'row by row'}, {shape.name}"
            print(f"{name:58} {missed:6.3f} {decided:7.3f}{f'  OVER {most:.2f}' if is_over else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
