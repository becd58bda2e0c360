"""A leader board of systems that were compared two by two: as data, as JSON, on a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from mixseek.reporting.statistics import interval_document
from mixseek.reporting.tables import QUIET, Cell, as_text, number_cell, print_section, table_of
from mixseek.reporting.wording import NOTHING, make_visible, plural
from mixseek.stats.strengths import OrderAgreement, Standing, Strengths, StrengthState

# Systems whose matrix fits on a terminal.
_MATRIX_SYSTEMS = 10
# The firsts whose certainty is told.
_TOPS = (1, 3)


@dataclass(frozen=True, slots=True)
class Board:
    """Strengths of systems; beside them with length taken out, and by people, where there is what that needs."""

    source: str
    judges: Sequence[str]
    strengths: Strengths
    controlled: Strengths | None = None
    human: Strengths | None = None
    agreement: OrderAgreement | None = None
    notes: Sequence[str] = ()

    @property
    def certainties(self) -> dict[int, float]:
        """How certain it is that the first ones are the strongest, in whatever order."""
        known = self.strengths.certainties
        return {count: known[count - 1] for count in _TOPS if count <= len(known)}

    def __str__(self) -> str:
        return as_text(lambda console: print_board(self, console))


# For programs.


def board_document(board: Board) -> dict[str, Any]:
    """One JSON document; a number that cannot be had is null, and the state says why."""
    return {
        "kind": "comparisons",
        "source": board.source,
        "judges": list(board.judges),
        **_strengths_document(board.strengths),
        "certainty": {f"top_{count}": share for count, share in board.certainties.items()},
        "controlled": _strengths_document(board.controlled) if board.controlled else None,
        "human": _strengths_document(board.human) if board.human else None,
        "agreement": _agreement_document(board.agreement) if board.agreement else None,
        "notes": list(board.notes),
    }


def _strengths_document(found: Strengths) -> dict[str, Any]:
    names = sorted(one.name for one in found.standings)
    return {
        "state": found.state.value,
        "sentence": found.sentence,
        "parts": [list(part) for part in found.parts],
        "comparisons": found.comparisons,
        "questions": found.questions,
        "standings": [_standing_document(one) for one in found.standings],
        "systems": names,
        "wins": [[found.wins.get((one, other), 0.0) for other in names] for one in names],
        "length": {"slope": found.length_slope, "se": found.length_se} if found.length_slope is not None else None,
    }


def _standing_document(one: Standing) -> dict[str, Any]:
    return {
        "system": one.name,
        "rank": one.rank,
        "best_rank": one.best,
        "worst_rank": one.worst,
        "strength": one.strength,
        "interval": interval_document(one.interval),
        "se": one.se,
        "se_fisher": one.fisher_se,
        "win_rate": one.win_rate,
        "won": one.won,
        "ties": one.ties,
        "comparisons": one.comparisons,
        "questions": one.questions,
    }


def _agreement_document(found: OrderAgreement) -> dict[str, Any]:
    return {"systems": found.names, "pairs": found.pairs, "same_order": found.same, "kendall_tau_b": found.tau_b}


# For people.


def print_board(board: Board, console: Console) -> None:
    """Ranks first, then who beat whom, then what people say."""
    found = board.strengths
    told = [plural(len(found.standings), "system"), plural(found.comparisons, "comparison")]
    told += [plural(found.questions, "question"), f"by {', '.join(board.judges)}"]
    console.print(Text(make_visible(f"{board.source}: {', '.join(told)}")))
    for note in board.notes:
        console.print(Text(make_visible(note), style=QUIET))
    sentences = [found.sentence]
    if board.controlled is not None and board.controlled.state is StrengthState.SEPARATED:
        sentences.append(board.controlled.sentence)
    sentences += [
        f"the first {count} are the strongest: at least {share:.0%} certain"
        for count, share in board.certainties.items()
        if count > 1
    ]
    print_section(
        console,
        "Leader board",
        table_of(_heads(board), _rows(board)),
        *(Text(make_visible(one), style=QUIET) for one in sentences),
    )
    _print_wins(found, console)
    if board.agreement is not None:
        _print_agreement(board.agreement, console)


def _heads(board: Board) -> list[str]:
    heads = [">rank", "system", ">strength", ">95 %", ">ranks", ">won", ">questions"]
    return [
        *heads,
        *([">same length"] if _is_estimated(board.controlled) else []),
        *([">people"] if board.human else []),
    ]


def _is_estimated(found: Strengths | None) -> bool:
    return found is not None and found.state is StrengthState.ESTIMATED


def _rows(board: Board) -> list[Sequence[Cell]]:
    rows: list[Sequence[Cell]] = []
    for one in board.strengths.standings:
        cells: list[Cell] = [
            str(one.rank or NOTHING),
            one.name,
            _signed(one.strength),
            f"{one.interval.low:+.2f} … {one.interval.high:+.2f}" if one.interval else NOTHING,
            rank_range(one),
            f"{one.win_rate:.0%}",
            number_cell(one.questions),
        ]
        if board.controlled is not None and _is_estimated(board.controlled):
            cells.append(_signed(board.controlled.values.get(one.name)))
        if board.human is not None:
            cells.append(_signed(board.human.values.get(one.name)))
        rows.append(cells)
    return rows


def _signed(value: float | None) -> str:
    return NOTHING if value is None else f"{value:+.2f}"


def rank_range(one: Standing) -> str:
    """The ranks that are possible."""
    if one.best is None or one.worst is None:
        return NOTHING
    return f"{one.best}" if one.best == one.worst else f"{one.best}–{one.worst}"


def win_share(wins: Mapping[tuple[str, str], float], one: str, other: str) -> float | None:
    """What the first won against the second, ties as half; None where they never met."""
    won, lost = wins.get((one, other), 0.0), wins.get((other, one), 0.0)
    return won / (won + lost) if won + lost else None


def _print_wins(found: Strengths, console: Console) -> None:
    names = [one.name for one in found.standings]
    if not 2 < len(names) <= _MATRIX_SYSTEMS:
        return
    rows: list[Sequence[Cell]] = []
    for number, name in enumerate(names, 1):
        shares = [win_share(found.wins, name, other) for other in names]
        told = [
            "" if other == name else f"{share:.0%}" if share is not None else NOTHING
            for other, share in zip(names, shares, strict=True)
        ]
        rows.append((f"{number} {name}", *told))
    heads = ("", *(f">{number}" for number in range(1, len(names) + 1)))
    print_section(console, "Who beat whom: won by the one in the row", table_of(heads, rows))


def _print_agreement(found: OrderAgreement, console: Console) -> None:
    if not found.pairs:
        return
    tau = f", Kendall's tau_b {found.tau_b:.2f}" if found.tau_b is not None else ""
    told = f"{found.same} of {plural(found.pairs, 'pair')} of systems stand in the same order as by people{tau}"
    print_section(console, "Beside people", Text(told))
