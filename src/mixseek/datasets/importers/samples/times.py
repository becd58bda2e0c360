"""When something began, in whatever a log writes: ISO 8601, or a count since 1970."""

from datetime import UTC, datetime
from typing import Any

# By how many digits a count of our days has, what it counts.
_UNITS = {10: 1, 13: 1_000, 16: 1_000_000, 19: 1_000_000_000}


def utc_text(value: Any) -> str | None:
    """ISO 8601 in UTC; None for what is no time. A time without a zone is taken for UTC."""
    seconds = seconds_of(value)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def seconds_of(value: Any) -> float | None:
    """Seconds since 1970."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        return None
    if value.isdecimal():
        return int(value) / _UNITS[len(value)] if len(value) in _UNITS else None
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
