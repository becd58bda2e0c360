"""A leader board of systems that were compared two by two: as a JSON document, and as sections."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mixseek.analysis.votes.system_board import Board, SystemBoard
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.panels import PanelRule
from mixseek.domain.shown import shown_html, shown_text
from mixseek.presentation.pictures import Axis, Estimate, IntervalPlot
from mixseek.presentation.render.html import result_html
from mixseek.presentation.render.terminal import result_text
from mixseek.presentation.sections import (
    GAP,
    Cell,
    Fitting,
    Head,
    Listing,
    RangeRow,
    Ranges,
    Section,
    Sentence,
    Shaded,
    TableRows,
    Words,
    notes,
    number_head,
    sections_of,
)
from mixseek.reports.headline import rule_text
from mixseek.reports.ratings.statistics import interval_document
from mixseek.reports.responses import responses_document, unfinished_notes
from mixseek.reports.wording.numbers import (
    NOTHING,
    coefficient_text,
    ends_text,
    estimate_text,
    percent,
    strength_ends_text,
    strength_text,
)
from mixseek.stats.strengths.model import Standing, Strengths, StrengthState
from mixseek.stats.strengths.order import OrderAgreement
from mixseek.text.messages import Message, counted, join, message
from mixseek.text.phrases import listed, plural

# Beyond this many systems nobody reads who beat whom.
_MATRIX_SYSTEMS = 30


def board_document(board: Board) -> dict[str, Any]:
    """One JSON document; a number that cannot be had is null, and the state says why."""
    return {
        "schema": schema_id(DocumentName.BOARD),
        "kind": "comparisons",
        "source": board.source,
        "judges": list(board.judges),
        "panel": {"rule": board.panel, "split": board.split} if board.panel is not None else None,
        **_strengths_document(board.strengths),
        "certainty": {f"top_{count}": share for count, share in board.certainties.items()},
        "controlled": _strengths_document(board.controlled) if board.controlled else None,
        "human": _strengths_document(board.human) if board.human else None,
        "agreement": _agreement_document(board.agreement) if board.agreement else None,
        "responses": {name: responses_document(counts) for name, counts in board.responses.items()},
        "notes": list(board.notes),
    }


def _strengths_document(strengths: Strengths) -> dict[str, Any]:
    names = sorted(standing.name for standing in strengths.standings)
    return {
        "state": strengths.state.value,
        "sentence": strengths.sentence,
        "parts": [list(part) for part in strengths.parts],
        "comparisons": strengths.comparisons,
        "questions": strengths.questions,
        "standings": [_standing_document(standing) for standing in strengths.standings],
        "systems": names,
        "wins": [[strengths.wins.get((system, other), 0.0) for other in names] for system in names],
        "win_rates": [[win_share(strengths.wins, system, other) for other in names] for system in names],
        "win_rate_intervals": [
            [interval_document(strengths.win_intervals.get((system, other))) for other in names] for system in names
        ],
        "length": {"slope": strengths.length_slope, "se": strengths.length_se}
        if strengths.length_slope is not None
        else None,
    }


def _standing_document(standing: Standing) -> dict[str, Any]:
    return {
        "system": standing.name,
        "rank": standing.rank,
        "best_rank": standing.best,
        "worst_rank": standing.worst,
        "strength": standing.strength,
        "interval": interval_document(standing.interval),
        "se": standing.se,
        "se_fisher": standing.fisher_se,
        "win_rate": standing.win_rate,
        "win_rate_interval": interval_document(standing.win_interval),
        "won": standing.won,
        "ties": standing.ties,
        "comparisons": standing.comparisons,
        "questions": standing.questions,
    }


def _agreement_document(agreement: OrderAgreement) -> dict[str, Any]:
    return {
        "systems": agreement.names,
        "pairs": agreement.pairs,
        "same_order": agreement.same,
        "kendall_tau_b": agreement.tau_b,
    }


def board_sentences(board: Board) -> list[Message]:
    """How the numbers came about, and what stands beside them; a refusal is the first."""
    strengths, controlled, agreement = board.strengths, board.controlled, board.agreement
    sentences = [strengths.sentence]
    if strengths.state is StrengthState.ESTIMATED:
        ranks = "95% intervals over questions, and the ranks that are possible"
        sentences = [join((strengths.sentence, message("board.ranks_possible", ranks)), "; ")]
    if board.panel is not None:
        rule, judges = rule_text(PanelRule(board.panel)), str(len(board.judges))
        sentences.append(message("board.panel", "one verdict a pair: the {rule} of {n} judges", rule=rule, n=judges))
        if board.split:
            pairs = counted(board.split, "pair")
            split = "{pairs} on which the judges are split: half a win for each side"
            sentences.append(message("board.split", split, pairs=pairs))
    sentences += [
        message(
            "board.certain",
            "the first {n} are the strongest: at least {share}% certain",
            n=str(count),
            share=str(min(math.floor(100 * share), 99)),
        )
        for count, share in board.certainties.items()
        if count > 1
    ]
    if controlled is not None and controlled.length_slope is not None:
        worth = strength_text(controlled.length_slope * math.log(2))
        sentences.append(message("board.length", "at the same length (◇): twice as long is worth {worth}", worth=worth))
    elif controlled is not None and controlled.state is not strengths.state:
        sentences.append(controlled.sentence)
    if agreement is not None and agreement.pairs:
        pairs = counted(agreement.pairs, "pair of systems", "pairs of systems")
        same = "{same} of {pairs} stand in the same order as by people"
        order = message("board.same_order", same, same=str(agreement.same), pairs=pairs)
        if agreement.tau_b is not None:
            tau = message("board.tau_b", "Kendall's tau_b {tau}", tau=coefficient_text(agreement.tau_b))
            order = join((order, tau), ", ")
        sentences.append(order)
    return sentences


def board_axis(board: Board) -> Axis | None:
    """Half logits around everything that is drawn; None without strengths."""
    ends = [*board.strengths.values.values(), *(board.controlled.values.values() if board.controlled else ())]
    ends += [
        end
        for standing in board.strengths.standings
        if standing.interval
        for end in (standing.interval.low, standing.interval.high)
    ]
    if not board.strengths.values:
        return None
    step = 0.5 if max(ends) - min(ends) < 4 else 1.0 if max(ends) - min(ends) < 10 else 5.0
    low, high = math.floor(min(ends) / step), math.ceil(max(ends) / step)
    if low == high:
        # Equal strengths, on a mark: an axis has two ends all the same.
        low, high = low - 1, high + 1
    ticks = tuple(place * step for place in range(low, high + 1))
    return Axis(low * step, high * step, ticks, tuple(map(strength_text, ticks)))


def standing_sentence(standing: Standing) -> Message:
    """What the picture of a system shows."""
    name, strength = standing.name, strength_text(standing.strength)
    if standing.interval is None:
        return message("board.strength_of", "{name}: strength {strength}", name=name, strength=strength)
    ends = strength_ends_text(standing.interval)
    within = "{name}: strength {strength} ({ends})"
    return message("board.strength_within", within, name=name, strength=strength, ends=ends)


def won_text(standing: Standing) -> str:
    """`69.4% (60.2–77.4%)`: what it won of its comparisons, ties as half."""
    low, high = (standing.win_interval.low, standing.win_interval.high) if standing.win_interval else (None, None)
    return estimate_text(standing.win_rate, low, high, is_binary=True)


@sections_of.register
def board_sections(board: Board) -> Iterator[Section]:
    """What was compared, then ranks, then who beat whom."""
    strengths = board.strengths
    counts = [plural(len(strengths.standings), "system"), plural(strengths.comparisons, "comparison")]
    counts += [plural(strengths.questions, "question"), f"by {listed(board.judges)}"]
    lead = Sentence(f"{board.source}: {', '.join(counts)}", "")
    yield Section(None, (lead, *unfinished_notes(board.responses), *notes(board.notes)))
    yield from standing_sections(board)


def standing_sections(board: Board) -> Iterator[Section]:
    """Systems in the order of their strength, how the numbers came about, and who beat whom."""
    sentences = board_sentences(board)
    refusal = [Sentence(sentences.pop(0), "bold")] if not board.strengths.values else []
    title = message("word.leader_board", "Leader board")
    yield Section(title, [*refusal, standing_ranges(board), Listing(sentences)], name="board")
    yield from _win_sections(board.strengths)


shown_text.register(SystemBoard, result_text)
shown_html.register(SystemBoard, result_html)


def standing_ranges(board: Board) -> Ranges:
    """The systems, the strongest first, on one axis."""
    facts = (
        number_head(message("board.ranks_head", "ranks")),
        number_head(message("board.won_head", "won")),
        number_head(message("head.comparisons", "comparisons")),
        number_head(message("head.questions", "questions")),
        number_head(message("board.same_length", "same length")),
        number_head(message("board.people", "people")),
        "",
    )
    axis = board_axis(board)
    heads = message("board.system", "system"), message("board.strength", "strength"), facts
    return Ranges(heads, [_standing_row(standing, board, axis) for standing in board.strengths.standings], axis)


def _is_estimated(strengths: Strengths | None) -> bool:
    return strengths is not None and strengths.state is StrengthState.ESTIMATED


def _standing_row(standing: Standing, board: Board, axis: Axis | None) -> RangeRow:
    controlled = board.controlled.values.get(standing.name) if board.controlled is not None else None
    people = board.human.values.get(standing.name) if board.human is not None else None
    is_short = axis is not None and standing.interval is None
    facts: tuple[Cell, ...] = (
        rank_range(standing) if standing.best else "",
        won_text(standing),
        f"{standing.comparisons:,}",
        f"{standing.questions:,}",
        strength_text(controlled) if _is_estimated(board.controlled) else "",
        strength_text(people) if board.human is not None else "",
        message("board.too_few_for_an_interval", "too few for an interval") if is_short else "",
    )
    plot = IntervalPlot(
        standing.strength,
        (standing.interval.low, standing.interval.high) if standing.interval else None,
        axis or Axis(0.0, 1.0),
        beside=[Estimate(controlled)] if controlled is not None else [],
        label=standing_sentence(standing),
    )
    ends = strength_ends_text(standing.interval) if standing.interval else ""
    return RangeRow(standing.name, strength_text(standing.strength), ends, plot, facts, str(standing.rank or NOTHING))


def rank_range(standing: Standing) -> str:
    """The ranks that are possible."""
    if standing.best is None or standing.worst is None:
        return NOTHING
    return f"{standing.best}" if standing.best == standing.worst else f"{standing.best}–{standing.worst}"


def win_share(wins: Mapping[tuple[str, str], float], system: str, other: str) -> float | None:
    """What the first won against the second, ties as half; None where they never met."""
    won, lost = wins.get((system, other), 0.0), wins.get((other, system), 0.0)
    return won / (won + lost) if won + lost else None


def win_cell(strengths: Strengths, system: str, other: str) -> Shaded:
    """`73.3%`, and below it the ends of its interval over questions; a dash where they never met."""
    if system == other:
        return Shaded("")
    share, interval = win_share(strengths.wins, system, other), strengths.win_intervals.get((system, other))
    if share is None:
        return Shaded(NOTHING, 0.0)
    ends = [f"\n{ends_text(interval.low, interval.high, is_binary=True)}"] if interval else []
    return Shaded(Words([percent(share), *ends]), share)


def _win_sections(strengths: Strengths) -> Iterator[Section]:
    """Columns are numbered where their names would leave no room."""
    names = [standing.name for standing in strengths.standings]
    if not 1 < len(names) <= _MATRIX_SYSTEMS:
        return
    title = message("board.who_beat_whom", "Who beat whom")
    rows: list[Sequence[Cell]] = [
        (f"{number} {name}", *(win_cell(strengths, name, other) for other in names))
        for number, name in enumerate(names, 1)
    ]
    heads = [Head(f">{number}", f">{number}", page=f"{number} {name}") for number, name in enumerate(names, 1)]
    table = TableRows((message("board.system", "system"), *heads), rows, name="matrix", label=title)
    wider = "this terminal is too narrow for who beat whom: the page and --json have it"
    note = message("board.won_by_the_one_in_the_row", "won by the one in the row, ties as half")
    yield Section(title, [Fitting(table, GAP, (TableRows((), ()), Sentence(wider)))], note=note)
