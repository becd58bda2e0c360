"""The three prompts of a competition: for a team, for the evaluator, for the judge of progress (seed 004)."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from jinja2 import Environment

from mixseek.domain.rounds import LeaderBoardReader, RankedTeam, RoundState
from mixseek.errors import ConfigurationError
from mixseek.prompt_builder.constants import DEFAULT_LANGUAGE, DEFAULT_TEMPLATES, LANGUAGES, PHRASES
from mixseek.prompt_builder.formatters import (
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

# Of a long race: the first rounds, and its last one.
_TRIED_ROUNDS = 12
_TRIAL_TEAM = "-"


class UserPromptBuilder:
    """Renders contexts with the configured templates; any failure of a template is a RuntimeError.

    `fence_key` makes the fences around submissions (the workspace's own key, where there is a workspace). With the
    same key, texts and time a prompt is the same to the letter, so that a repeated request hits the cache.
    `language` is that of everything around the texts of others: default templates, history, board, position, fence.
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
        language: str = DEFAULT_LANGUAGE,
    ) -> None:
        if language not in LANGUAGES:
            raise ConfigurationError(f"language {language!r}: available are {', '.join(LANGUAGES)}")
        self._workspace = workspace
        self.store = store
        self._fence_key = fence_key or b""
        self._clock = clock
        self._environment = environment
        self._language = language
        # Used with the first prompt; a mistake in it should not wait for that.
        time_zone(environment.get("TZ"))
        self.settings = load_prompt_settings(workspace) if settings is None else settings

    @property
    def workspace(self) -> Path | None:
        """Where the settings came from. Not to be changed later: the settings of another workspace are others."""
        return self._workspace

    @property
    def language(self) -> str:
        return self._language

    @property
    def settings(self) -> PromptBuilderSettings:
        """The templates in use, in the builder's language; others may be set, and are compiled at once."""
        return self._settings

    @settings.setter
    def settings(self, settings: PromptBuilderSettings) -> None:
        spoken = in_language(settings, self._language)
        compiled = {field: compile_prompt(field, getattr(spoken, field)) for field in type(spoken).model_fields}
        # Only now: settings that are refused leave the ones before in force.
        self._settings, self._templates = spoken, compiled

    @property
    def jinja_env(self) -> Environment:
        """Sandboxed and strict."""
        return self._templates["evaluator_user_prompt"].compiled.environment

    def speaking(self, language: str) -> "UserPromptBuilder":
        """The same builder in another language; templates that somebody wrote stay as they are."""
        return UserPromptBuilder(
            self._workspace,
            self.store,
            self._settings,
            fence_key=self._fence_key,
            clock=self._clock,
            environment=self._environment,
            language=language,
        )

    def build_evaluator_prompt(self, context: EvaluatorPromptContext) -> str:
        """The prompt about one submission."""
        return self._templates["evaluator_user_prompt"].render(
            {
                "user_query": context.user_query,
                "user_prompt": context.user_query,
                "submission": format_submission(
                    context.submission,
                    fence_key=self._fence_key,
                    beside=[context.user_query],
                    language=self._language,
                ),
                "current_datetime": get_current_datetime_with_timezone(self._clock, self._environment),
            }
        )

    async def build_team_prompt(self, context: RoundPromptContext) -> str:
        """The prompt for the team that is about to play the round."""
        return self._render_round("team", context, await self._ranking(context))

    async def build_judgment_prompt(self, context: RoundPromptContext) -> str:
        """The prompt for the judge who says whether the round is worth playing."""
        return self._render_round("judgment", context, await self._ranking(context))

    def try_templates(self, user_prompt: str, max_rounds: int = 3) -> None:
        """Renders each template as every round would, with and without board, rank and scores: fails unpaid."""
        submission = "…"
        self.build_evaluator_prompt(EvaluatorPromptContext(user_query=user_prompt, submission=submission))
        details = {"metric": {"score": 50.0, "comment": submission}}
        played = [RoundState(number, submission, 50.0 if number % 2 else None, details) for number in (1, 2)]
        boards: tuple[tuple[RankedTeam, ...] | None, ...] = (
            None,
            (),
            (RankedTeam(1, "other", "other", 60.0, 1, 1),),
            (RankedTeam(1, "other", "other", 60.0, 1, 1), RankedTeam(2, _TRIAL_TEAM, _TRIAL_TEAM, 50.0, 1, 1)),
        )
        # After the last round the judge is asked about one that will not be played.
        for number in sorted({*range(1, min(max_rounds, _TRIED_ROUNDS) + 2), max_rounds, max_rounds + 1}):
            history = [replace(played[index % 2], round_number=index + 1) for index in range(number - 1)]
            context = RoundPromptContext(
                user_prompt=user_prompt,
                round_number=number,
                round_history=history,
                team_id=_TRIAL_TEAM,
                team_name=_TRIAL_TEAM,
                execution_id=_TRIAL_TEAM,
            )
            for ranking in boards:
                if number <= max_rounds:
                    self._render_round("team", context, ranking)
                if number > 1:
                    self._render_round("judgment", context, ranking)

    def _render_round(self, kind: str, context: RoundPromptContext, ranking: Sequence[RankedTeam] | None) -> str:
        """`ranking` None: nobody keeps a leader board, and neither it nor the team's place is shown."""
        table = message = ""
        if ranking is not None:
            label = PHRASES[self._language]["your_team" if kind == "team" else "team_in_question"]
            position = next((team.rank for team in ranking if team.team_id == context.team_id), None)
            table = format_ranking_table(ranking, context.team_id, own_label=label, language=self._language)
            message = generate_position_message(position, len(ranking), own_label=label, language=self._language)
        return self._templates[f"{kind}_user_prompt"].render(
            {
                "user_prompt": context.user_prompt,
                "round_number": context.round_number,
                "submission_history": format_submission_history(
                    context.round_history,
                    fence_key=self._fence_key,
                    kind=kind,
                    beside=[context.user_prompt, table],
                    language=self._language,
                ),
                "ranking_table": table,
                "team_position_message": message,
                "current_datetime": get_current_datetime_with_timezone(self._clock, self._environment),
            }
        )

    async def _ranking(self, context: RoundPromptContext) -> Sequence[RankedTeam] | None:
        store = self.store if context.store is None else context.store
        return None if store is None else await store.ranking(context.execution_id)


def in_language(settings: PromptBuilderSettings, language: str) -> PromptBuilderSettings:
    """The settings with the default templates of that language.

    One that somebody wrote stands in whatever language it is in.
    """
    defaults = {text for templates in DEFAULT_TEMPLATES.values() for text in templates.values()}
    wanted = {
        field: text for field, text in DEFAULT_TEMPLATES[language].items() if getattr(settings, field) in defaults
    }
    is_same = all(getattr(settings, field) == text for field, text in wanted.items())
    return settings if is_same else settings.model_copy(update=wanted)
