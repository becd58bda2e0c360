"""Several runs of one protocol: side by side, and as one."""

from mixseek.analysis.model import ScoreSummary
from mixseek.lazy_dataclass import dataclass


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
    def notes(self) -> tuple[str, ...]:
        """What the pooled number leaves unsaid."""
        notes = []
        digests = [run.dataset_digest for run in self.runs if run.dataset_digest is not None]
        if self.pooled.mean is None and self.pooled.counts.valid:
            notes.append("No mean over all runs: several judges gave these verdicts, and each has its own.")
        elif len(set(digests)) < len(digests):
            notes.append(
                "Some of these runs judge the same samples: in the mean over all runs each of them counts once."
            )
        control = sum(run.control.counts.total for run in self.runs)
        if control:
            noun = "self-judgment is" if control == 1 else "self-judgments are"
            notes.append(f"{control:,} {noun} left out of every mean.")
        return tuple(notes)
