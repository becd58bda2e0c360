"""The judge that needs no model: what the protocol's own rules can say."""

from dataclasses import dataclass

from mixseek.domain.judgments import Undecided, ValidJudgment
from mixseek.domain.ports import JudgeProtocol, MathsComparer
from mixseek.domain.samples import Sample


@dataclass(frozen=True, slots=True)
class RulesJudge:
    """Offline and without cost; undecided where the rules decline."""

    name: str = "rules"
    # Who compares mathematics that is more than numbers; without, such answers are undecided.
    maths: MathsComparer | None = None

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> ValidJudgment | Undecided:
        """An outcome at once: rules write no text that would have to be parsed."""
        return protocol.decide(sample, self.maths)
