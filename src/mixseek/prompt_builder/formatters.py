"""Rounds, ranks and times as prompts show them; whatever others wrote stands inside a fence or on one line."""

import hashlib
import io
import json
import os
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from mixseek.domain.rounds import RankedTeam, RoundState, to_utc
from mixseek.errors import TimeZoneError
from mixseek.prompt_builder.constants import DEFAULT_LANGUAGE, PHRASES
from mixseek.templating import fence, fence_nonce

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
        zone = read_posix_zone(plain)
        if zone is not None:
            return zone
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
    """A nonce for the fences of one prompt: the same for the same texts, and in none of them: it is their digest."""
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
    phrases = PHRASES[language]
    if not round_history:
        return phrases["no_history"]
    shown = [(state, _details_text(state.score_details)) for state in round_history]
    texts: list[str] = []
    for state, details in shown:
        texts += (f"{state.round_number} {state.evaluation_score}", state.submission_content, details)
    nonce = quoting_nonce(fence_key, kind, [*texts, *beside])
    lines = [phrases["fence_note"].format(nonce=nonce)]
    for state, details in shown:
        score = phrases["no_score"] if state.evaluation_score is None else f"{state.evaluation_score:.2f}/100"
        lines += [
            "",
            phrases["round_heading"].format(number=state.round_number),
            phrases["score_heading"].format(score=score),
        ]
        if details:
            lines += [phrases["details_heading"], fence(details, "SCORE_DETAILS", nonce)]
        lines += [phrases["submission_heading"], fence(state.submission_content, "SUBMISSION", nonce)]
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
    phrases = PHRASES[language]
    if not ranking:
        return phrases["no_ranking"]
    lines = [phrases["ranking_header"], "|---:|---|---:|---:|---:|"]
    for team in ranking:
        name = one_line(team.team_name)
        if team.team_id == team_id:
            name = phrases["marked_team"].format(name=name, label=own_label or phrases["team_in_question"])
        lines.append(f"| {team.rank} | {name} | {team.best_score:.2f}/100 | {team.best_round} | {team.rounds} |")
    return "\n".join(lines)


def generate_position_message(
    position: int | None, total_teams: int, *, own_label: str | None = None, language: str = DEFAULT_LANGUAGE
) -> str:
    """One sentence; `position` None says that the team has no score yet."""
    phrases = PHRASES[language]
    label = own_label or phrases["team_in_question"]
    if position is None:
        return phrases["no_position"].format(label=label, total=total_teams)
    if not 1 <= position <= total_teams:
        raise ValueError(f"position must be 1 to {total_teams}, the number of ranked teams, not {position}")
    return phrases["position"].format(label=label, total=total_teams, position=position)


def one_line(name: str) -> str:
    """A name for a table's cell: one visible line, no column marks, not too long."""
    plain = _UNFIT_FOR_A_NAME.sub(" ", name).strip().replace("\\", "\\\\").replace("|", "\\|")
    return plain if len(plain) <= _NAME_CHARACTERS else plain[: _NAME_CHARACTERS - 1].rstrip("\\") + "…"
