"""How long an endpoint asks to be left alone, in any of the ways in which endpoints say it."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
# Larger numbers are moments since 1970, not durations: nobody asks for a wait of thirty years.
_EPOCH_FROM = 1e9
_EPOCH_MILLISECONDS_FROM = 1e12


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from `now`, never negative; None where the endpoint named no time that can be read."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    if "retry-after" in headers:
        seconds = _wait(headers["retry-after"], now)
        if seconds is not None:
            return seconds
    waits = dict(_reset_waits(headers, now))
    # Only a limit that is used up has to be waited for; the others recover in the background.
    exhausted = [wait for limit, wait in waits.items() if _is_used_up(headers, limit)]
    if exhausted:
        return max(exhausted)
    return min(waits.values()) if waits else None


def _reset_waits(headers: Mapping[str, str], now: datetime) -> Iterator[tuple[str, float]]:
    for name, value in headers.items():
        lowered = name.lower()
        if "ratelimit" in lowered and "reset" in lowered:
            wait = _wait(value, now)
            if wait is not None:
                yield lowered, wait


def _is_used_up(headers: Mapping[str, str], reset_name: str) -> bool:
    return headers.get(reset_name.replace("reset", "remaining"), "").strip() == "0"


def _wait(value: str, now: datetime) -> float | None:
    value = value.strip()
    number = _number(value)
    if number is not None:
        if number >= _EPOCH_MILLISECONDS_FROM:
            number = number / 1000 - now.timestamp()
        elif number >= _EPOCH_FROM:
            number -= now.timestamp()
        return max(0.0, number)
    if value and _DURATION.sub("", value) == "":
        return sum(float(amount) * _UNIT_SECONDS[unit] for amount, unit in _DURATION.findall(value))
    moment = _moment(value)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def _number(value: str) -> float | None:
    value = value.strip()
    # float() would also read "nan", "inf", "1_0" and digits of other scripts.
    return float(value) if re.fullmatch(r"[0-9]{1,16}(\.[0-9]{1,16})?", value) else None


def _moment(value: str) -> datetime | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return None
