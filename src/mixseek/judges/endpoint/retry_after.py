"""How long an endpoint asks to be left alone, in any of the ways in which endpoints say it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DURATION = re.compile(r"(?<!\d)(\d++(?:\.\d++)?)(ms|h|m|s)")
# float() would also read "nan", "inf", "1_0" and digits of other scripts.
_NUMBER = re.compile(r"[0-9]{1,16}(\.[0-9]{1,16})?")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
# Larger numbers are moments since 1970, not durations: nobody asks for a wait of thirty years.
_EPOCH_FROM = 1e9
_EPOCH_MILLISECONDS_FROM = 1e12


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from `now`, never negative; None where the endpoint named no time that can be read."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    seconds = _wait(headers.get("retry-after", ""), now)
    if seconds is not None:
        return seconds
    resets = {name.lower(): value.strip() for name, value in headers.items() if "ratelimit" in name.lower()}
    waits = {name: wait for name in resets if "reset" in name and (wait := _wait(resets[name], now)) is not None}
    # Only a limit that is used up has to be waited for; the others recover in the background.
    exhausted = [wait for name, wait in waits.items() if resets.get(name.replace("reset", "remaining"), "") == "0"]
    return max(exhausted) if exhausted else min(waits.values(), default=None)


def _wait(value: str, now: datetime) -> float | None:
    value = value.strip()
    if _NUMBER.fullmatch(value):
        number = float(value)
        if number >= _EPOCH_FROM:
            number = number / (1000 if number >= _EPOCH_MILLISECONDS_FROM else 1) - now.timestamp()
        return max(0.0, number)
    if value and _DURATION.sub("", value) == "":
        return sum(float(amount) * _UNIT_SECONDS[unit] for amount, unit in _DURATION.findall(value))
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - now).total_seconds())
    return None
