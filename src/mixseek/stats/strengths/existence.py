"""When there is a maximum: a chain of wins from everyone to everyone.

Without one the maximum lies at infinity: that is a state, never a number (Ford 1957).
"""

from collections.abc import Collection, Mapping, Sequence

from mixseek.stats.strengths.model import StrengthState
from mixseek.text.messages import Message, message
from mixseek.text.phrases import listed


def find_existence(
    names: Sequence[str], wins: Mapping[tuple[str, str], float]
) -> tuple[StrengthState, Message, list[list[str]]]:
    """The state, why there are no strengths, and which groups stand against each other."""
    if not names:
        return StrengthState.NOTHING, message("board.nothing", "no strengths: nothing was compared"), []
    beats: dict[str, set[str]] = {name: set() for name in names}
    meets: dict[str, set[str]] = {name: set() for name in names}
    for (winner, loser), score in wins.items():
        meets[winner].add(loser)
        if score > 0:
            beats[winner].add(loser)
    islands = _parts(names, meets)
    if len(islands) > 1:
        groups = "; ".join(listed(part) for part in islands)
        why = "no strengths: these were never compared with each other: {groups}"
        return StrengthState.APART, message("board.apart", why, groups=groups), islands
    parts = _parts(names, beats)
    if len(parts) == 1:
        how = message("board.estimated", "strengths by Bradley and Terry, ties as half a win")
        return StrengthState.ESTIMATED, how, []
    # One that none of the rest ever took half a point from; there is one, as the parts have no cycle.
    first = next(part for part in parts if not any(beats[name] & set(part) for name in names if name not in part))
    words = "no strengths: {names} won everything against the rest, which no strength is great enough for"
    why = message("board.one_sided", words, names=listed(first))
    return StrengthState.ONE_SIDED, why, [first, *(part for part in parts if part is not first)]


def _parts(names: Sequence[str], edges: Mapping[str, Collection[str]]) -> list[list[str]]:
    """Groups in which everyone reaches everyone along edges, in the order of names."""
    backwards: dict[str, set[str]] = {name: set() for name in names}
    for name, targets in edges.items():
        for other in targets:
            backwards[other].add(name)
    groups: list[list[str]] = []
    placed: set[str] = set()
    for name in names:
        if name not in placed:
            together = _reached(name, edges) & _reached(name, backwards)
            placed |= together
            groups.append(sorted(together))
    return groups


def _reached(start: str, edges: Mapping[str, Collection[str]]) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        fresh = set(edges[waiting.pop()]) - reached
        reached |= fresh
        waiting += fresh
    return reached
