"""Shares, means, differences, coefficients, p-values and their ends: so every result writes them, once.

Nought has no sign (`z`): what rounding left of it is no direction.
"""

from typing import TYPE_CHECKING

from mixseek.text.messages import Message, message, verbatim
from mixseek.text.phrases import with_minus

if TYPE_CHECKING:
    from mixseek.stats.intervals import Interval

NOTHING = "–"


def percent(share: float) -> str:
    """One decimal; 0 % and 100 % are said only of exactly none and all."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share * 100:.1f}%"


def score_number(value: float | None, *, is_binary: bool) -> str:
    """A share of right answers as per cent, a graded mean as a number, nothing as a dash."""
    if value is None:
        return NOTHING
    return percent(value) if is_binary else with_minus(f"{value:z.3f}")


def ends_text(low: float | None, high: float | None, *, is_binary: bool) -> str:
    """`59.8–77.1%`, `0.612–0.751`: the unit once, and no dash beside a minus."""
    if low is None or high is None:
        return NOTHING
    if is_binary:
        return f"{low * 100:.1f}–{high * 100:.1f}%"
    return ("–" if low >= 0 else " to ").join(with_minus(f"{end:z.3f}") for end in (low, high))


def estimate_text(point: float | None, low: float | None, high: float | None, *, is_binary: bool) -> str:
    """`68.5% (61.2–75.1%)`; where there are only bounds, `between 12.0 and 41.5%`."""
    ends = ends_text(low, high, is_binary=is_binary)
    if point is None:
        return NOTHING if low is None else f"between {ends.replace('–', ' and ').replace(' to ', ' and ')}"
    number = score_number(point, is_binary=is_binary)
    return number if ends == NOTHING else f"{number} ({ends})"


def lead_text(share: float | None, *, is_binary: bool) -> str:
    """A difference: of shares in points, of graded scores on their scale; with a true minus: a hyphen is overlooked."""
    if share is None:
        return NOTHING
    # What is rounded to nought has still a sign.
    sign = "+" if share > 0 else "−" if share < 0 else "±"
    return f"{sign}{abs(share) * 100:.1f} points" if is_binary else f"{sign}{abs(share):.3f}"


def lead_ends_text(low: float | None, high: float | None, *, is_binary: bool) -> str:
    """`+9.3 to +48.1 points`: the unit once."""
    if low is None or high is None:
        return NOTHING
    return f"{lead_text(low, is_binary=is_binary).removesuffix(' points')} to {lead_text(high, is_binary=is_binary)}"


def coefficient_text(value: float | None) -> str:
    """Two digits with a true minus; raw agreement too, so that all can be compared."""
    return NOTHING if value is None else with_minus(f"{value:z.2f}")


def range_between(low: str, high: str) -> Message:
    """The two ends of an interval; a dash between them would stand beside a minus."""
    return message("number.ends", "{low} to {high}", low=low, high=high)


def coefficient_ends_text(interval: "Interval | None") -> Message:
    if interval is None:
        return verbatim(NOTHING)
    return range_between(coefficient_text(interval.low), coefficient_text(interval.high))


def strength_text(value: float | None) -> str:
    """A strength or a slope, in logits or points: two digits, always with a sign."""
    return NOTHING if value is None else with_minus(f"{value:+z.2f}")


def strength_ends_text(interval: "Interval | None") -> Message:
    if interval is None:
        return verbatim(NOTHING)
    return range_between(strength_text(interval.low), strength_text(interval.high))


def p_text(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def p_number(p_value: float | None) -> str:
    """`0.028`, `< 0.001`: the head of the column says what it is."""
    return NOTHING if p_value is None else p_text(p_value).removeprefix("p ").removeprefix("= ")


def part_text(part: int, whole: int) -> str:
    return percent(part / whole) if whole else NOTHING
