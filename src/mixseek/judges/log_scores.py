"""The scorer of another tool as a judge of its own: what it said is replayed, so that it can be held against ours."""

from mixseek.domain.judgments import InvalidJudgment, Undecided, ValidJudgment
from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.semantic import read_log_score


@dataclass(frozen=True, slots=True)
class LogScoreJudge:
    """Reads the score that stands in the sample's own row; it needs a protocol whose verdicts are correct and not."""

    name: str
    scorer: str

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> ValidJudgment | InvalidJudgment | Undecided:
        """An outcome at once: a score is no text that would have to be parsed."""
        return read_log_score(sample, self.scorer, protocol.name)
