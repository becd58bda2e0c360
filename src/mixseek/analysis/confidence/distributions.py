"""Probabilities of levels as people write them: a list in the order of the levels, or a mapping of level to number."""

import json
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from mixseek.analysis.confidence.found import Malformed
from mixseek.domain.confidence import SUM_TOLERANCE, is_share, renormalise
from mixseek.domain.labels import RIGHT, WRONG

Shares = Mapping[float, float]


def read_shares(text: str, levels: Sequence[float], categories: Sequence[str] = ()) -> Shares | Malformed:
    """The probability of each level; of texts, levels are their places among the categories.

    A number by itself is the probability of 1, where right is 1 and wrong is 0.
    """
    try:
        given = json.loads(text)
    except ValueError:
        return Malformed.UNREADABLE
    match given:
        case bool():
            return Malformed.UNREADABLE
        case int() | float():
            return {1.0: float(given), 0.0: 1.0 - given} if is_share(given) else Malformed.OUTSIDE
        case list():
            if len(given) != len(levels):
                return Malformed.WRONG_LENGTH
            return _checked(dict(zip(levels, given, strict=True)))
        case dict():
            named = {_level_of(name, categories): share for name, share in given.items() if share is not None}
            return Malformed.UNKNOWN_LEVEL if None in named else _checked(named)
        case _:
            return Malformed.UNREADABLE


def _level_of(name: str, categories: Sequence[str]) -> float | None:
    if categories:
        return float(categories.index(name)) if name in categories else None
    word = name.strip().lower()
    if word in RIGHT or word in WRONG:
        return 1.0 if word in RIGHT else 0.0
    try:
        level = float(word)
    except ValueError:
        return None
    return level if math.isfinite(level) else None


def _checked(shares: Mapping[float | None, object]) -> Shares | Malformed:
    """Every part by itself, then their sum; what is rounded is brought back to 1."""
    parts: dict[str, float] = {}
    for level, share in shares.items():
        if isinstance(share, bool) or not isinstance(share, int | float) or not math.isfinite(share):
            return Malformed.NOT_A_NUMBER
        if share < 0:
            return Malformed.NEGATIVE
        parts[repr(level)] = float(share)
    if abs(math.fsum(parts.values()) - 1) > SUM_TOLERANCE:
        return Malformed.NOT_SUMMING
    whole = renormalise(parts) or {}
    return {float(level): share for level, share in whole.items()}


def list_length(texts: Collection[str]) -> int | None:
    """How long lists of probabilities are; the commonest length, None where there is no list."""
    lengths: Counter[int] = Counter()
    for text in texts:
        try:
            given = json.loads(text)
        except ValueError:
            continue
        if isinstance(given, list) and given:
            lengths[len(given)] += 1
    return lengths.most_common(1)[0][0] if lengths else None


def levels_of_list(length: int, values: Collection[float], scale: tuple[float, float] | None) -> list[float] | None:
    """What a list of so many numbers is about, from the lowest level to the highest; None where nobody can know.

    The whole numbers of the scale that was given; else the scores themselves, where there are as many; else 1 to n or
    0 to n − 1, where scores fit one of the two only.
    """
    if scale is not None:
        least, greatest = scale
        steps = (greatest - least) / (length - 1) if length > 1 else 0.0
        return [least + steps * number for number in range(length)]
    if len(values) == length:
        return sorted(values)
    fitting = [
        [float(number + first) for number in range(length)]
        for first in (1, 0)
        if all(value in range(first, first + length) for value in values)
    ]
    return fitting[0] if len(fitting) == 1 else None
