"""The three prompts of a competition: for a team, for the evaluator, for the judge of progress (seed 004)."""

import hashlib
import io
import json
import os
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from jinja2 import Environment

from mixseek.domain.rounds import LeaderBoardReader, RankedTeam, RoundState, to_utc
from mixseek.errors import ConfigurationError, TimeZoneError
from mixseek.prompt_builder.models import (
    DEFAULT_LANGUAGE,
    DEFAULT_TEMPLATES,
    LANGUAGES,
    PHRASES,
    EvaluatorPromptContext,
    PromptBuilderSettings,
    RoundPromptContext,
    compile_prompt,
    load_prompt_settings,
)
from mixseek.templating import fence, fence_nonce

# Rounds, ranks and times as prompts show them; whatever others wrote stands inside a fence or on one line.

# In a fifth of the time.
_AS_JSON_WRITES = orjson.OPT_INDENT_2 | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_NAME_CHARACTERS = 80
# Line breaks of any kind, and what reorders or hides its neighbours: a name is one visible line.
_UNFIT_FOR_A_NAME = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")


def read_clock() -> datetime:
    """The default of every `clock` argument here."""
    return datetime.now(UTC)


def get_current_datetime_with_timezone(
    clock: Callable[[], datetime] = read_clock, environment: Mapping[str, str] = os.environ
) -> str:
    """ISO 8601 with offset, in the zone that `TZ` names, or UTC; raises TimeZoneError, a ValueError, for another."""
    return to_utc(clock()).astimezone(time_zone(environment.get("TZ"))).isoformat()


def time_zone(name: str | None) -> tzinfo:
    """UTC for none; otherwise what `TZ` may hold: a zone of the IANA list, the path of a zone file, a POSIX rule."""
    # POSIX allows a colon before the name.
    plain = (name or "").removeprefix(":")
    if plain in ("", "UTC"):
        return UTC
    try:
        if plain.startswith("/"):
            with Path(plain).open("rb") as file:
                return ZoneInfo.from_file(file)
        return ZoneInfo(plain)
    # KeyError: no such zone; ValueError: neither a key nor a zone file; OSError: "Asia" is a directory of zones.
    except (KeyError, ValueError, OSError, EOFError, struct.error) as error:
        found = read_posix_zone(plain)
        if found is not None:
            return found
        raise TimeZoneError(
            f"Invalid timezone in TZ environment variable: {name!r}; valid examples: UTC, Asia/Tokyo, "
            "America/New_York, JST-9, /usr/share/zoneinfo/Asia/Tokyo"
        ) from error


def read_posix_zone(rule: str) -> tzinfo | None:
    """`JST-9` or `CET-1CEST,M3.5.0,M10.5.0/3`, as the end of the smallest zone file; None for anything else."""
    if not rule.isascii() or "/" in rule.partition(",")[0] or not rule.isprintable():
        return None
    # One type of local time, "UTC", and no transition: whatever the rule says holds for all times.
    header = b"TZif2" + bytes(15) + struct.pack(">6l", 0, 0, 0, 0, 1, 4)
    block = header + struct.pack(">lbb", 0, 0, 0) + b"UTC\0"
    try:
        zone = ZoneInfo.from_file(io.BytesIO(block + block + b"\n" + rule.encode() + b"\n"))
        # A rule may be read and still not be usable.
        datetime(2000, 1, 1, tzinfo=UTC).astimezone(zone)
    except (ValueError, OverflowError):
        return None
    return zone


def quoting_nonce(fence_key: bytes, kind: str, texts: Iterable[str]) -> str:
    """For the fences of one prompt: the same for the same texts, and in none of them: it is their digest."""
    digest = hashlib.sha256()
    for text in (kind, *texts):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    return fence_nonce(fence_key, digest.hexdigest())


def format_submission(
    submission: str, *, fence_key: bytes = b"", beside: Sequence[str] = (), language: str = DEFAULT_LANGUAGE
) -> str:
    """One submission inside its fence; `beside` are the other texts of the prompt."""
    nonce = quoting_nonce(fence_key, "submission", [submission, *beside])
    return f"{PHRASES[language]['fence_note'].format(nonce=nonce)}\n{fence(submission, 'SUBMISSION', nonce)}"


def format_submission_history(
    round_history: Sequence[RoundState],
    *,
    fence_key: bytes = b"",
    kind: str = "history",
    beside: Sequence[str] = (),
    language: str = DEFAULT_LANGUAGE,
) -> str:
    """Rounds with scores; submissions and remarks are fenced. `kind` keeps the nonces of different readers apart."""
    said = PHRASES[language]
    if not round_history:
        return said["no_history"]
    shown = [(state, _details_text(state.score_details)) for state in round_history]
    texts: list[str] = []
    for state, details in shown:
        texts += (f"{state.round_number} {state.evaluation_score}", state.submission_content, details)
    nonce = quoting_nonce(fence_key, kind, [*texts, *beside])
    lines = [said["fence_note"].format(nonce=nonce)]
    for state, details in shown:
        score = said["no_score"] if state.evaluation_score is None else f"{state.evaluation_score:.2f}/100"
        lines += [
            "",
            said["round_heading"].format(number=state.round_number),
            said["score_heading"].format(score=score),
        ]
        if details:
            lines += [said["details_heading"], fence(details, "SCORE_DETAILS", nonce)]
        lines += [said["submission_heading"], fence(state.submission_content, "SUBMISSION", nonce)]
    return "\n".join(lines)


def _details_text(details: Mapping[str, Any]) -> str:
    """JSON as far as it goes; what JSON does not know is shown as text, because a prompt is read and not parsed."""
    if not details:
        return ""
    try:
        return orjson.dumps(dict(details), default=str, option=_AS_JSON_WRITES).decode()
    except TypeError:
        # Keys that are no text, half a surrogate pair, a number beyond 64 bits.
        return json.dumps(dict(details), ensure_ascii=False, indent=2, default=str)


def format_ranking_table(
    ranking: Sequence[RankedTeam], team_id: str, *, own_label: str | None = None, language: str = DEFAULT_LANGUAGE
) -> str:
    """A Markdown table with the team in question marked; names of teams cannot break out of their cell."""
    said = PHRASES[language]
    if not ranking:
        return said["no_ranking"]
    lines = [said["ranking_header"], "|---:|---|---:|---:|---:|"]
    for team in ranking:
        name = one_line(team.team_name)
        if team.team_id == team_id:
            name = said["marked_team"].format(name=name, label=own_label or said["team_in_question"])
        lines.append(f"| {team.rank} | {name} | {team.best_score:.2f}/100 | {team.best_round} | {team.rounds} |")
    return "\n".join(lines)


def generate_position_message(
    position: int | None, total_teams: int, *, own_label: str | None = None, language: str = DEFAULT_LANGUAGE
) -> str:
    """One sentence; `position` None says that the team has no score yet."""
    said = PHRASES[language]
    label = own_label or said["team_in_question"]
    if position is None:
        return said["no_position"].format(label=label, total=total_teams)
    if not 1 <= position <= total_teams:
        raise ValueError(f"position must be 1 to {total_teams}, the number of ranked teams, not {position}")
    return said["position"].format(label=label, total=total_teams, position=position)


def one_line(name: str) -> str:
    """A name for a table's cell: one visible line, no column marks, not too long."""
    plain = _UNFIT_FOR_A_NAME.sub(" ", name).strip().replace("\\", "\\\\").replace("|", "\\|")
    return plain if len(plain) <= _NAME_CHARACTERS else plain[: _NAME_CHARACTERS - 1].rstrip("\\") + "…"


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
        """For one submission."""
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
        """For the team that is about to play the round."""
        return self._render_round("team", context, await self._ranking(context))

    async def build_judgment_prompt(self, context: RoundPromptContext) -> str:
        """For the judge who says whether the round is worth playing."""
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
    """With the default templates of that language; one that somebody wrote stands in whatever language it is in."""
    defaults = {text for templates in DEFAULT_TEMPLATES.values() for text in templates.values()}
    wanted = {
        field: text for field, text in DEFAULT_TEMPLATES[language].items() if getattr(settings, field) in defaults
    }
    is_same = all(getattr(settings, field) == text for field, text in wanted.items())
    return settings if is_same else settings.model_copy(update=wanted)
