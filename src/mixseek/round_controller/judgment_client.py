"""Asks a model whether another round is worth it (seed 004)."""

from collections.abc import Sequence
from typing import assert_never

from mixseek.domain.judgments import InvalidJudgment, Missing, Undecided, ValidJudgment
from mixseek.domain.rounds import ImprovementJudgment, NoOpinion, RoundState
from mixseek.domain.samples import Sample
from mixseek.engine.questions import Asker
from mixseek.engine.scheduling import EndpointDownError
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.models import RoundPromptContext
from mixseek.round_controller.judgment_protocol import JudgmentProtocol, to_opinion
from mixseek.settings.race import JUDGMENT_NAME


class JudgmentClient:
    """One judge for all teams; who has no answer has no opinion, and what follows is not for this class to say."""

    def __init__(self, asker: Asker, prompts: UserPromptBuilder, judge: str, *, language: str = "en") -> None:
        self._asker = asker
        self._prompts = prompts
        self._judge = judge
        self._language = language
        # A language without prompts is said now.
        JudgmentProtocol("", "", language)

    async def judge_improvement_prospects(
        self,
        user_query: str,
        round_history: Sequence[RoundState],
        *,
        team_id: str,
        team_name: str,
        execution_id: str,
        asks_anew: bool = False,
    ) -> ImprovementJudgment | NoOpinion:
        """The model's opinion on the round after those of the history; raises what ends the whole competition.

        `asks_anew`: an invalid reply of an earlier process is no answer. Else it is one, so that a process which died
        before it could act on the reply leaves no trace.
        """
        prompt = await self._format_user_prompt(user_query, round_history, team_id, team_name, execution_id)
        protocol = JudgmentProtocol(prompt, self._prompts.settings.judgment_user_prompt, self._language)
        place = f"{team_id}/{len(round_history)}/{JUDGMENT_NAME}"
        latest = round_history[-1].submission_content if round_history else ""
        sample = Sample(place, response=latest, question=user_query)
        # By name: the prompt shows the leader board, which other teams change meanwhile.
        identity, take = f"{execution_id}/{place}", 1
        try:
            answered = await self._asker.ask(protocol, sample, self._judge, identity=identity)
            while asks_anew and answered.is_recalled and isinstance(answered.outcome, InvalidJudgment):
                take += 1
                answered = await self._asker.ask(protocol, sample, self._judge, take=take, identity=identity)
        except EndpointDownError as error:
            return NoOpinion(str(error))
        match answered.outcome:
            case ValidJudgment() as judgment:
                return to_opinion(judgment)
            case InvalidJudgment(findings=findings):
                said = "; ".join(f"{finding.flag}: {finding.detail}" for finding in findings)
                return NoOpinion(f"the judge's reply is invalid ({said})")
            case Undecided(reason=reason) | Missing(reason=reason):
                return NoOpinion(reason)
            case unexpected:
                assert_never(unexpected)

    async def _format_user_prompt(
        self, user_query: str, round_history: Sequence[RoundState], team_id: str, team_name: str, execution_id: str
    ) -> str:
        """Seed 004: the context is built here, and the round is the one that would come next."""
        context = RoundPromptContext(
            user_prompt=user_query,
            round_number=len(round_history) + 1,
            round_history=list(round_history),
            team_id=team_id,
            team_name=team_name,
            execution_id=execution_id,
            store=self._prompts.store,
        )
        return await self._prompts.build_judgment_prompt(context)
