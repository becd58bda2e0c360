"""The three prompts of a competition: for a team, for the evaluator, for the judge of progress (seed 004)."""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from jinja2 import Environment

from mixseek.domain.rounds import LeaderBoardReader, RankedTeam, RoundState
from mixseek.prompt_builder.formatters import (
    TEAM_IN_QUESTION,
    format_ranking_table,
    format_submission,
    format_submission_history,
    generate_position_message,
    get_current_datetime_with_timezone,
    read_clock,
    time_zone,
)
from mixseek.prompt_builder.models import (
    EvaluatorPromptContext,
    PromptBuilderSettings,
    RoundPromptContext,
    compile_prompt,
    load_prompt_settings,
)

YOUR_TEAM = "あなたのチーム"


class UserPromptBuilder:
    """Renders contexts with the configured templates; any failure of a template is a RuntimeError.

    `fence_key` makes the fences around submissions (the workspace's own key, where there is a workspace). With the
    same key, texts and time a prompt is the same to the letter, so that a repeated request hits the cache.
    """

    def __init__(
        self,
        workspace: Path | None = None,
        store: LeaderBoardReader | None = None,
        settings: PromptBuilderSettings | None = None,
        *,
        fence_key: bytes | None = None,
        clock: Callable[[], datetime] = read_clock,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.workspace = workspace
        self.store = store
        self.settings = load_prompt_settings(workspace) if settings is None else settings
        self._fence_key = fence_key or b""
        self._clock = clock
        self._environment = environment
        # Both are used with the first prompt; a mistake in them should not wait for it.
        time_zone(environment.get("TZ"))
        self._team = compile_prompt("team_user_prompt", self.settings.team_user_prompt)
        self._evaluator = compile_prompt("evaluator_user_prompt", self.settings.evaluator_user_prompt)
        self._judgment = compile_prompt("judgment_user_prompt", self.settings.judgment_user_prompt)

    @property
    def jinja_env(self) -> Environment:
        """Sandboxed and strict."""
        return self._evaluator.compiled.environment

    def build_evaluator_prompt(self, context: EvaluatorPromptContext, *, at: datetime | None = None) -> str:
        """For one submission; `at` stands for the present, for a prompt that has to be the same again."""
        return self._evaluator.render(
            {
                "user_query": context.user_query,
                "user_prompt": context.user_query,
                "submission": format_submission(
                    context.submission, fence_key=self._fence_key, beside=[context.user_query]
                ),
                "current_datetime": self._moment(at),
            }
        )

    async def build_team_prompt(self, context: RoundPromptContext, *, at: datetime | None = None) -> str:
        """For the team that is about to play the round."""
        return self._team.render(await self._round_variables(context, "team", YOUR_TEAM, at))

    async def build_judgment_prompt(self, context: RoundPromptContext, *, at: datetime | None = None) -> str:
        """For the judge who says whether the round is worth playing."""
        return self._judgment.render(await self._round_variables(context, "judgment", TEAM_IN_QUESTION, at))

    def try_templates(self, user_prompt: str) -> None:
        """Renders each template once; raises now what the first prompt of a competition would raise."""
        submission = "…"
        self.build_evaluator_prompt(EvaluatorPromptContext(user_query=user_prompt, submission=submission))
        context = RoundPromptContext(
            user_prompt=user_prompt, round_number=1, round_history=[], team_id="-", team_name="-", execution_id="-"
        )
        self._team.render(self._variables_with(context, "team", self._place_of((), "-", YOUR_TEAM), None))
        history = [RoundState(number, submission, 50.0) for number in (1, 2)]
        judged = context.model_copy(update={"round_number": 3, "round_history": history})
        ranking = (RankedTeam(1, "-", "-", 50.0, 2, 2),)
        self._judgment.render(
            self._variables_with(judged, "judgment", self._place_of(ranking, "-", TEAM_IN_QUESTION), None)
        )

    async def _round_variables(
        self, context: RoundPromptContext, kind: str, own_label: str, at: datetime | None
    ) -> dict[str, object]:
        return self._variables_with(context, kind, await self._standing(context, own_label), at)

    def _variables_with(
        self, context: RoundPromptContext, kind: str, standing: tuple[str, str], at: datetime | None
    ) -> dict[str, object]:
        ranking_table, position_message = standing
        return {
            "user_prompt": context.user_prompt,
            "round_number": context.round_number,
            "submission_history": format_submission_history(
                context.round_history,
                fence_key=self._fence_key,
                kind=kind,
                beside=[context.user_prompt, ranking_table],
            ),
            "ranking_table": ranking_table,
            "team_position_message": position_message,
            "current_datetime": self._moment(at),
        }

    async def _standing(self, context: RoundPromptContext, own_label: str) -> tuple[str, str]:
        """The leader board and the team's place on it; both empty where nobody keeps one."""
        store = self.store if context.store is None else context.store
        if store is None:
            return "", ""
        return self._place_of(await store.ranking(context.execution_id), context.team_id, own_label)

    def _place_of(self, ranking: Sequence[RankedTeam], team_id: str, own_label: str) -> tuple[str, str]:
        position = next((team.rank for team in ranking if team.team_id == team_id), None)
        return (
            format_ranking_table(ranking, team_id, own_label=own_label),
            generate_position_message(position, len(ranking), own_label=own_label),
        )

    def _moment(self, at: datetime | None) -> str:
        return get_current_datetime_with_timezone(self._clock if at is None else lambda: at, self._environment)
