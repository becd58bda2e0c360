"""A team that is one model with instructions."""

from dataclasses import dataclass
from typing import assert_never

from mixseek.competition.free_text import FreeTextProtocol
from mixseek.domain.judgments import InvalidJudgment, Missing, Undecided, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.engine.questions import Asker
from mixseek.engine.scheduling import EndpointDownError
from mixseek.errors import PermanentJudgeError
from mixseek.evaluator.models import usage_of
from mixseek.round_controller.teams import FailedSubmission, Submission


@dataclass(frozen=True, slots=True)
class ModelTeam:
    """Asked by name of execution, team and round: its prompt shows the leader board, which changes meanwhile."""

    team_id: str
    team_name: str
    judge: str
    execution_id: str
    asker: Asker
    instructions: str = ""
    target_model: str | None = None

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        """An endpoint that refuses or is gone ends this team; the others have theirs."""
        place = f"{self.team_id}/{round_number}"
        protocol = FreeTextProtocol(prompt, self.instructions)
        sample = Sample(place, response="", question=prompt)
        take = 1
        try:
            while True:
                answered = await self.asker.ask(
                    protocol, sample, self.judge, take=take, identity=f"{self.execution_id}/{place}", asks_again=False
                )
                if not (isinstance(answered.outcome, InvalidJudgment) and answered.is_recalled):
                    break
                # It failed this round in an earlier process; whoever starts again gives it another try.
                take += 1
        except (EndpointDownError, PermanentJudgeError) as error:
            return FailedSubmission(str(error))
        match answered.outcome:
            case ValidJudgment(fields=fields):
                usage = usage_of(answered.replies)
                return Submission(fields["text"], usage)
            case InvalidJudgment(findings=findings):
                return FailedSubmission("; ".join(finding.detail for finding in findings))
            case Undecided(reason=reason) | Missing(reason=reason):
                return FailedSubmission(reason)
            case unexpected:
                assert_never(unexpected)
