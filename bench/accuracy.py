"""How often the rules decide, how often they are right, and which of them earn their place: the ledger of rules.

Every file of labelled responses goes through the command line with its defaults, as a user would judge it. The data
lies beside the project (`../shared/data`), is not part of it, and is skipped when it is not there.
Run: make table
"""

import hashlib
import json
import math
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

from bench.parts import print_parts
from bench.stance import print_stances
from mixseek.stats.intervals import wilson_interval

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
# A rule that decides is right in so many of its decisions, or it does not decide.
RULE_FLOOR = 0.985
FOLDS = 5
# With fewer decisions even a rule without a single mistake has a lower bound below the floor.
ENOUGH = math.ceil(RULE_FLOOR / (1 - RULE_FLOOR) * NormalDist().inv_cdf(0.975) ** 2)

_TRUSTED = frozenset({"high", "high_no_answer_tag", "human", "maintainer"})
# What happens to a response before its answer is looked for; the kind of the ground truth stands behind these.
_PREPARATIONS = frozenset(
    {"reasoning_dropped", "unclosed_reasoning_dropped", "end_of_text", "special_tokens_removed", "reasoning_reopened"}
)


@dataclass(frozen=True, slots=True)
class Source:
    """Labelled responses, and the floor we hold ourselves to: shares of what is decided, and of all rows."""

    title: str
    files: tuple[str, ...]
    right_floor: float = 0.0
    decided_floor: float = 0.0

    @property
    def floor(self) -> str:
        return f"{self.right_floor:.1%} / {self.decided_floor:.1%}" if self.right_floor else "–"


_EVOUNA = "matching_evouna_human"
_NQ301 = "matching_nq301_human"
SOURCES = (
    Source("BBH, code-davinci-002", ("matching_bbh_davinci",), 0.999, 0.995),
    # 0.994 and not 0.995: a text that breaks off behind the right option or brackets is left open, and one was wrong.
    Source("BBH, Llama 3.2 3B", ("matching_bbh_llama32",), 0.999, 0.994),
    Source("GSM8K", ("matching_gsm8k_openai",), 0.995, 0.988),
    Source("MGSM in 10 languages + BBH, GPT-4", ("matching_gpt4_metaprompting",), 0.995, 0.988),
    Source("MMLU-Pro", ("matching_mmlupro",), 0.995, 0.988),
    Source("farel-bench", ("matching_farel",), 0.995, 0.988),
    # 0.987 and not 0.988: "9sqrt(2)" for 9 is left open; the labels call it right, and the rules called it wrong.
    Source("ZeroEval (JSON answers)", ("matching_zeroeval",), 0.997, 0.987),
    Source("Open QA, labelled by people", (_EVOUNA, _NQ301), 0.985, 0.535),
    # Shown apart, the second without a floor: its raters judged by the world rather than by the ground truth,
    # and call 3 % of the exact repetitions of it wrong.
    Source("– EVOUNA alone", (_EVOUNA,), 0.985, 0.57),
    Source("– NQ-301 alone", (_NQ301,)),
    Source("VerifyBench-Hard (whole solutions)", ("matching_verifybench_hard",)),
    Source("math-verify's own cases", ("matching_mathverify_cases",), 0.97, 0.90),
)


class Row(NamedTuple):
    """One labelled response and what the rules said of it; `verdict` is None where they left it undecided."""

    file: str
    split_key: str
    confidence: str
    label: bool
    verdict: bool | None
    rules: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return self.verdict is self.label

    @property
    def fold(self) -> int:
        """Rows of one question lie in one fold, and the same one in every run."""
        return int.from_bytes(hashlib.sha256(self.split_key.encode()).digest()[:8]) % FOLDS

    @property
    def trace(self) -> tuple[str, ...]:
        """The kind of the ground truth, where the answer stood, the rule that compared it."""
        return tuple(rule for rule in self.rules if rule not in _PREPARATIONS)


@dataclass(frozen=True, slots=True)
class Count:
    """Decisions, and how many of them agree with the label."""

    decisions: int
    right: int

    @property
    def share(self) -> float:
        return self.right / self.decisions if self.decisions else 0.0

    @property
    def lower_bound(self) -> float:
        """Wilson's, at 95 %."""
        return wilson_interval(self.right, self.decisions).low if self.decisions else 0.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger: all decisions of one rule with one verdict, and the same by folds."""

    rule: str
    verdict: str
    count: Count
    folds: tuple[Count, ...]  # without those in which it decided nothing

    @property
    def standing(self) -> str:
        """Few decisions prove nothing, neither when all are right nor when one is wrong."""
        if self.count.decisions < ENOUGH:
            return "too few decisions to say"
        return "holds" if self.count.share >= RULE_FLOOR else "**below**"


def judge_file(path: Path, workspace: Path) -> list[Row]:
    """Judge the file and export the run with the installed command, defaults throughout; then put labels beside."""
    exported = workspace / f"{path.stem}.export.jsonl"
    where = ("--workspace", str(workspace))
    _mixseek("judge", str(path), "--judge", "rules", *where, "--run", path.stem, "--quiet")
    _mixseek("export", path.stem, *where, "--to", str(exported))
    judged = {row["id"]: row for row in read_rows(exported)}
    rows = []
    for row in read_rows(path):
        said = judged[row["id"]]
        verdict = None if said["verdict"] is None else said["verdict"] == "correct"
        rules = tuple(said["rules"])
        rows.append(Row(path.stem, row["split_key"], row["label_confidence"], row["label"], verdict, rules))
    return rows


def _mixseek(*arguments: str) -> None:
    command = Path(sys.executable).with_name("mixseek")
    done = subprocess.run([str(command), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"mixseek {' '.join(arguments)}\nended with {done.returncode}:\n{done.stderr}")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def is_trusted(row: Row) -> bool:
    """Whether the source of the label says that it may be used for scoring."""
    return row.confidence in _TRUSTED


def count(rows: Iterable[Row]) -> Count:
    """What was decided, and how much of it is right."""
    decided = [row for row in rows if row.verdict is not None]
    return Count(len(decided), sum(row.is_right for row in decided))


def ledger(rows: Iterable[Row], name: Callable[[Row], str]) -> list[Entry]:
    """One entry for each name and verdict, those with most decisions first."""
    groups: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.verdict is not None:
            groups[name(row), "correct" if row.verdict else "incorrect"].append(row)
    entries = [Entry(rule, verdict, count(group), _folds(group)) for (rule, verdict), group in groups.items()]
    return sorted(entries, key=lambda entry: (-entry.count.decisions, entry.rule, entry.verdict))


def _folds(rows: Sequence[Row]) -> tuple[Count, ...]:
    counts = (count(row for row in rows if row.fold == fold) for fold in range(FOLDS))
    return tuple(found for found in counts if found.decisions)


def with_rare_together(entries: Sequence[Entry]) -> list[Entry]:
    """Rules too rare to be judged one by one are judged together, kind by kind, and held to the floor like one rule."""
    rare: defaultdict[str, list[Count]] = defaultdict(list)
    for entry in entries:
        if entry.count.decisions < ENOUGH:
            rare[entry.rule.partition(":")[0]].append(entry.count)
    together = [
        Entry(f"{kind}: all with too few", "both", _sum(counts), ()) for kind, counts in rare.items() if len(counts) > 1
    ]
    return [*entries, *together]


def _sum(counts: Sequence[Count]) -> Count:
    return Count(sum(one.decisions for one in counts), sum(one.right for one in counts))


def deciding_rule(row: Row) -> str:
    """The rule that compared, under the kind of ground truth it compared with."""
    trace = row.trace
    return f"{trace[0]}: {trace[-1]}" if len(trace) > 1 else "".join(trace)


def place(row: Row) -> str:
    """Where in the response the answer was found; empty for the kinds that look for none."""
    return " ".join(row.trace[1:-1])


def below_the_floor(entries: Iterable[Entry]) -> list[str]:
    """Rules that may not decide: enough decisions, and too many of them wrong."""
    return [f"{entry.rule} → {entry.verdict}" for entry in entries if entry.standing == "**below**"]


def main() -> int:
    """Print the tables; 1 when a floor is not held."""
    paths = sorted(DATA.glob("matching_*.jsonl"))
    if not paths:
        print("no ../shared/data beside the project: nothing to measure", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory(prefix="mixseek-table-") as folder:
        rows = {path.stem: judge_file(path, Path(folder)) for path in paths}
    trusted = [row for judged in rows.values() for row in judged if is_trusted(row)]
    below = _print_sources(rows)
    _print_other_labels(rows)
    print_stances(paths, _TRUSTED)
    print_parts(paths, _TRUSTED)
    below += _print_ledger("The ledger of rules", with_rare_together(ledger(trusted, deciding_rule)))
    below += _print_ledger("Where the answer stood", ledger((row for row in trusted if place(row)), place))
    if below:
        print(f"\nbelow the floor: {', '.join(below)}", file=sys.stderr)
    return 1 if below else 0


def _print_sources(rows: Mapping[str, Sequence[Row]]) -> list[str]:
    print("`mixseek judge FILE --judge rules`, rows whose labels are to be trusted:\n")
    print("| responses | rows | decided | right when decided | floor (right / decided) |")
    print("|---|---:|---:|---:|---:|")
    below = []
    for source in SOURCES:
        scored = [row for file in source.files for row in rows.get(file, ()) if is_trusted(row)]
        found = count(scored)
        decided = found.decisions / len(scored) if scored else 0.0
        holds = found.share >= source.right_floor and decided >= source.decided_floor
        if not holds:
            below.append(source.title)
        mark = "" if holds else "  **below**"
        print(f"| {source.title} | {len(scored):,} | {decided:.2%} | {found.share:.2%} | {source.floor}{mark} |")
    return below


def _print_other_labels(rows: Mapping[str, Sequence[Row]]) -> None:
    print("\nRows whose labels are doubtful, or false because the source could read no answer; no floor:\n")
    print("| file | label | rows | decided | agree with the label |")
    print("|---|---|---:|---:|---:|")
    for file, judged in rows.items():
        for confidence in sorted({row.confidence for row in judged if not is_trusted(row)}):
            group = [row for row in judged if row.confidence == confidence]
            found = count(group)
            name = file.removeprefix("matching_")
            decided = found.decisions / len(group)
            print(f"| {name} | {confidence} | {len(group):,} | {decided:.2%} | {found.share:.2%} |")


def _print_ledger(title: str, entries: Sequence[Entry]) -> list[str]:
    print(f"\n{title}, by {FOLDS} folds over split_key; floor {RULE_FLOOR:.1%}, {ENOUGH} decisions to say so:\n")
    print("| rule | verdict | decisions | right | share | 95 % lower bound | folds | |")
    print("|---|---|---:|---:|---:|---:|---:|---|")
    for entry in entries:
        found = entry.count
        shares = [fold.share for fold in entry.folds]
        folds = f"{min(shares):.1%}–{max(shares):.1%}" if shares else ""
        print(
            f"| {entry.rule} | {entry.verdict} | {found.decisions:,} | {found.right:,} | {found.share:.2%} "
            f"| {found.lower_bound:.1%} | {folds} | {entry.standing} |"
        )
    return below_the_floor(entries)


if __name__ == "__main__":
    sys.exit(main())
