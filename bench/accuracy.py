"""How often the rules decide, and how often they are right, on responses labelled by others.

The data lies beside the project (`../shared/data`), is not part of it, and is skipped when it is not there.
Run: make table
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixseek.judges.math_verify import find_maths
from mixseek.matching.match import match_answer
from mixseek.matching.outcome import Decision

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True, slots=True)
class Source:
    """Labelled responses, and the floor we hold ourselves to: shares of what is decided, and of all rows."""

    title: str
    files: tuple[str, ...]
    confidences: frozenset[str]
    right_floor: float = 0.0
    decided_floor: float = 0.0


_HIGH = frozenset({"high", "high_no_answer_tag"})
_HUMAN = frozenset({"human"})
_EVOUNA = "matching_evouna_human.jsonl"
_NQ301 = "matching_nq301_human.jsonl"
SOURCES = (
    Source("BBH, code-davinci-002", ("matching_bbh_davinci.jsonl",), _HIGH, 0.999, 0.995),
    Source("BBH, Llama 3.2 3B", ("matching_bbh_llama32.jsonl",), _HIGH, 0.999, 0.995),
    Source("GSM8K", ("matching_gsm8k_openai.jsonl",), _HIGH, 0.995, 0.988),
    Source("MGSM in 10 languages + BBH, GPT-4", ("matching_gpt4_metaprompting.jsonl",), _HIGH, 0.995, 0.988),
    Source("MMLU-Pro", ("matching_mmlupro.jsonl",), _HIGH, 0.995, 0.988),
    Source("farel-bench", ("matching_farel.jsonl",), _HIGH, 0.995, 0.988),
    Source("ZeroEval (JSON answers)", ("matching_zeroeval.jsonl",), _HIGH, 0.995, 0.988),
    Source("Open QA, labelled by people", (_EVOUNA, _NQ301), _HUMAN, 0.985, 0.55),
    # Shown apart, without a floor: raters of the second set judged by the world rather than by the ground truth,
    # and call 3 % of the exact repetitions of it wrong.
    Source("– EVOUNA alone", (_EVOUNA,), _HUMAN),
    Source("– NQ-301 alone", (_NQ301,), _HUMAN),
    Source("math-verify's own cases", ("matching_mathverify_cases.jsonl",), frozenset({"maintainer"}), 0.97, 0.90),
)


@dataclass(frozen=True, slots=True)
class Score:
    """Counts over the rows of one source."""

    rows: int
    decided: int
    right: int

    @property
    def decided_share(self) -> float:
        return self.decided / self.rows if self.rows else 0.0

    @property
    def right_share(self) -> float:
        return self.right / self.decided if self.decided else 0.0


def measure(source: Source) -> Score:
    """Every row with a trusted label, matched by the rules alone."""
    rows = decided = right = 0
    maths = find_maths()
    for row in (row for file in source.files for row in _rows(DATA / file)):
        if row["label_confidence"] not in source.confidences:
            continue
        rows += 1
        result = match_answer(
            row["response"] or "",
            str(row["ground_truth"]),
            question=row.get("question") or "",
            alternatives=row.get("ground_truth_alternatives") or (),
            maths=maths,
        )
        if result.decision is not Decision.UNDECIDED:
            decided += 1
            right += (result.decision is Decision.CORRECT) == row["label"]
    return Score(rows, decided, right)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def main() -> int:
    """Print the table; 1 when a floor is not held."""
    if not DATA.is_dir():
        print("no ../shared/data beside the project: nothing to measure", file=sys.stderr)
        return 0
    print("| responses | rows | decided | right when decided | floor (right / decided) |")
    print("|---|---:|---:|---:|---:|")
    below = []
    for source in SOURCES:
        score = measure(source)
        holds = score.right_share >= source.right_floor and score.decided_share >= source.decided_floor
        if not holds:
            below.append(source.title)
        floor = f"{source.right_floor:.1%} / {source.decided_floor:.1%}" if source.right_floor else "–"
        print(
            f"| {source.title} | {score.rows:,} | {score.decided_share:.2%} | {score.right_share:.2%} "
            f"| {floor}{'' if holds else '  **below**'} |"
        )
    if below:
        print(f"\nbelow the floor: {', '.join(below)}", file=sys.stderr)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
