"""Several runs of one protocol: side by side, and as one."""

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixseek.reporting import wording
from mixseek.reporting.model import ScoreSummary
from mixseek.reporting.scored.terminal import fitted
from mixseek.reporting.wording import QUIET, make_visible


@dataclass(frozen=True, slots=True)
class RunScore:
    """One run; judgments of models on their own output are in `control` alone."""

    run_id: str
    dataset: str
    dataset_digest: str | None
    judges: tuple[str, ...]
    score: ScoreSummary
    control: ScoreSummary


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Runs under one protocol hash; `pooled` averages all their judgments."""

    protocol: str
    protocol_hash: str
    runs: tuple[RunScore, ...]
    pooled: ScoreSummary

    @property
    def shares_samples(self) -> bool:
        """Two runs judge the same dataset, so their judgments are not independent."""
        digests = [run.dataset_digest for run in self.runs if run.dataset_digest is not None]
        return len(set(digests)) < len(digests)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the pooled number leaves unsaid."""
        notes = []
        if self.pooled.mean is None and self.pooled.counts.valid:
            notes.append("No mean over all runs: several judges gave these verdicts, and each has its own.")
        elif self.shares_samples:
            notes.append(
                "Some of these runs judge the same samples: in the mean over all runs each of them counts once."
            )
        control = sum(run.control.counts.total for run in self.runs)
        if control:
            noun = "self-judgment is" if control == 1 else "self-judgments are"
            notes.append(f"{wording.count_text(control)} {noun} left out of every mean.")
        return tuple(notes)


def print_comparison(comparison: RunComparison, console: Console) -> None:
    """A line a run, then all of them as one."""
    title = f"{comparison.protocol} [{comparison.protocol_hash[:8]}]: {len(comparison.runs)} runs"
    console.print(Text(make_visible(title), style="bold"))
    console.print()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    table.add_column("run", overflow="fold")
    table.add_column("dataset", overflow="fold")
    table.add_column("judges", overflow="fold")
    for name in ("score", "95% interval", "valid", "und.", "inv.", "mis."):
        table.add_column(name, justify="right", no_wrap=True)
    for run in comparison.runs:
        names = (run.run_id, run.dataset, ", ".join(run.judges))
        table.add_row(*(Text(make_visible(name)) for name in names), *score_cells(run.score))
    table.add_row(Text("all runs", style="bold"), Text(""), Text(""), *score_cells(comparison.pooled))
    console.print(fitted(table, console, indent=0))
    bounds = wording.bounds_sentence(comparison.pooled)
    for line in (*([bounds] if bounds else []), *comparison.notes):
        console.print(Text(line, style=QUIET))


def score_cells(score: ScoreSummary) -> list[Text]:
    """The mean and what stands beside it."""
    counts = score.counts
    return [
        Text(wording.score_text(score), style="bold"),
        Text(wording.interval_text(score), style=QUIET),
        *(Text(wording.count_text(n)) for n in (counts.valid, counts.undecided, counts.invalid, counts.missing)),
    ]
