"""`make coverage`, second part: how surely audits find a judge's defect at its size, and how often a sound one alarms.

A judge scores 0..8 with a noise of .7 points, people label with one of .9, and a sound judge contradicts itself in 6 %
of pairs. All nine audits are of one card, so that Holm has nine p-values to correct.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from random import Random

from mixseek.stats.audits import (
    Audit,
    AuditResult,
    AuditState,
    AuditValue,
    beyond_retest,
    jump,
    kindness_to_own,
    settle_audits,
)

NOISE, LABEL_NOISE, INCONSISTENT = 0.7, 0.9, 0.06
LENGTH, FORMAT, OWN, LENIENT, NOISY, DRIFT = 0.5, 0.43, 0.53, 0.5, 1.7, -0.46
FLIPPED, OBEYED, KEPT_WIDTH = 0.2, 0.23, 0.35
# Items of each audit; the defect of each is named by the audit that is to find it.
SIZES: Mapping[Audit, int] = {
    Audit.ORDER: 100,
    Audit.PADDING: 90,
    Audit.OWN: 400,
    Audit.FORMAT: 110,
    Audit.LENIENT: 130,
    Audit.RETEST: 75,
    Audit.DRIFT: 80,
    Audit.RESCALED: 180,
    Audit.INJECTION: 120,
}


@dataclass(frozen=True, slots=True)
class SimulatedJudge:
    """A judge with one defect, or none."""

    rng: Random
    defect: Audit | None = None

    def has(self, defect: Audit) -> bool:
        return self.defect is defect

    def score(self, quality: float, more: float = 0.0) -> float:
        """One asking, as a share of the scale."""
        noise = NOISY if self.has(Audit.RETEST) else NOISE
        lenient = LENIENT if self.has(Audit.LENIENT) else 0.0
        return min(8, max(0, round(quality + lenient + more + self.rng.gauss(0, noise)))) / 8

    def label(self, quality: float) -> float:
        return min(8, max(0, round(quality + self.rng.gauss(0, LABEL_NOISE)))) / 8

    def quality(self) -> float:
        return self.rng.uniform(1.5, 6.5)

    def values(self, sizes: Mapping[Audit, int] = SIZES) -> dict[Audit, list[AuditValue]]:
        """What each audit would be given."""
        drawn: dict[Audit, Callable[[], float]] = {
            Audit.ORDER: self.follow_order,
            Audit.PADDING: partial(self.change, LENGTH if self.has(Audit.PADDING) else 0.0),
            Audit.FORMAT: partial(self.change, FORMAT if self.has(Audit.FORMAT) else 0.0),
            Audit.LENIENT: partial(self.beside_label, 0.0),
            Audit.RETEST: lambda: abs(self.change(0.0)),
            Audit.DRIFT: self.drift,
            Audit.RESCALED: self.rescale,
            Audit.INJECTION: self.obey,
        }
        found = {
            audit: [AuditValue(str(item), draw()) for item in range(sizes[audit])] for audit, draw in drawn.items()
        }
        kind = OWN if self.has(Audit.OWN) else 0.0
        groups = [
            [AuditValue(f"{kindness}:{item}", self.beside_label(kindness)) for item in range(sizes[Audit.OWN] // 2)]
            for kindness in (kind, 0.0)
        ]
        return found | {Audit.OWN: kindness_to_own([*groups[0]], [*groups[1]])}

    def change(self, shift: float) -> float:
        quality = self.quality()
        return self.score(quality, shift) - self.score(quality)

    def beside_label(self, kindness: float) -> float:
        quality = self.quality()
        return self.score(quality, kindness) - self.label(quality)

    def follow_order(self) -> float:
        if self.has(Audit.ORDER) and self.rng.random() < FLIPPED:
            return 1.0
        return self.rng.choice((1.0, -1.0)) if self.rng.random() < INCONSISTENT else 0.0

    def drift(self) -> float:
        quality = self.quality()
        before = (self.score(quality) + self.score(quality)) / 2
        return self.score(quality, DRIFT if self.has(Audit.DRIFT) else 0.0) - before

    def rescale(self) -> float:
        """The defect uses a part of the scale's width; its mean stays."""
        quality = self.quality()
        now = 4 + KEPT_WIDTH * (quality - 4) if self.has(Audit.RESCALED) else quality
        return beyond_retest(self.score(now), self.score(quality), self.score(quality))

    def obey(self) -> float:
        """Of texts that people call bad: what obeys gives them two points more, or up to four.

        Held against as much neutral text: a judge that loves length likes both of them.
        """
        quality = self.rng.uniform(0.5, 3.5)
        longer = LENGTH if self.has(Audit.PADDING) else 0.0
        lifted = self.rng.uniform(2, 4) if self.has(Audit.INJECTION) and self.rng.random() < OBEYED else 0.0
        return jump(self.score(quality, longer + lifted) - self.score(quality, longer))


def flagged(results: Mapping[Audit, AuditResult]) -> set[Audit]:
    return {audit for audit, one in results.items() if one.state is AuditState.FAIL}


def alarms(defect: Audit | None, judges: int, seed: int = 1) -> tuple[Counter[Audit], int]:
    """How many of so many judges each audit flags, and how many judges are flagged by any but the one to find them."""
    counted, astray = Counter[Audit](), 0
    for number in range(judges):
        found = flagged(settle_audits(SimulatedJudge(Random(f"{seed}:{defect}:{number}"), defect).values()))
        counted.update(found)
        astray += bool(found - {defect})
    return counted, astray


def power_line(defect: Audit | None, judges: int, seed: int) -> str:
    counted, astray = alarms(defect, judges, seed)
    others = ", ".join(f"{name.value} {times / judges:.3f}" for name, times in counted.most_common() if name != defect)
    if defect is None:
        return f"{'none':12} {'–':>6} {'–':>6}  false alarms {astray / judges:.3f} of {judges} ({others or 'none'})"
    return f"{defect.value:12} {SIZES[defect]:6} {counted[defect] / judges:6.3f}  others: {others or 'silent'}"


def main() -> None:
    """A line a defect, and one for sound judges."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judges", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{'defect':12} {'items':>6} {'found':>6}", flush=True)
    with ProcessPoolExecutor() as pool:
        told = partial(power_line, judges=options.judges, seed=options.seed)
        for line in pool.map(told, [None, *SIZES]):
            print(line, flush=True)


if __name__ == "__main__":
    main()
