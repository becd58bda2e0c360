"""`make coverage`, fourth part: how often a gate on a drop alarms where nothing has changed.

Both sides are right in 80 % of questions, what makes a question hard correlated by .7, under `--max-drop 2%`. Known
figures, beside which a better rule has to be shown: on the point a quarter of small runs alarm, on the lower end of the
interval nearly all.
"""

import argparse
import math
from random import Random
from statistics import NormalDist

ACCURACY, CORRELATION, MOST_DROP = 0.8, 0.7, 0.02
QUESTIONS = (50, 100, 200, 500, 1_000)


def alarms(questions: int, replications: int, seed: int) -> tuple[float, float]:
    """Shares of runs that alarm on the point, and on the lower end of the interval."""
    rng, z, limit = Random(f"{seed}:{questions}"), NormalDist().inv_cdf(0.975), NormalDist().inv_cdf(ACCURACY)
    own = math.sqrt(1 - CORRELATION**2)
    on_point = on_end = 0
    for _ in range(replications):
        better = worse = 0
        for _ in range(questions):
            before = rng.gauss(0, 1)
            was_right, is_right = before < limit, CORRELATION * before + own * rng.gauss(0, 1) < limit
            better += is_right and not was_right
            worse += was_right and not is_right
        mean = (better - worse) / questions
        error = math.sqrt(max(0.0, (better + worse) / questions - mean * mean) / questions)
        on_point += mean < -MOST_DROP
        on_end += mean - z * error < -MOST_DROP
    return on_point / replications, on_end / replications


def main() -> None:
    """A line a number of questions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{'no change, --max-drop 2%: questions':44}  point    end")
    for questions in QUESTIONS:
        point, end = alarms(questions, options.replications, options.seed)
        print(f"{questions:<44} {point:6.3f} {end:6.3f}", flush=True)


if __name__ == "__main__":
    main()
