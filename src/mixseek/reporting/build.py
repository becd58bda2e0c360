"""From counts and rows to the report's data; pure, so a report is the same wherever it is made."""

import hashlib
import heapq
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeVar

from mixseek.domain.calls import CallAccount
from mixseek.domain.counts import (
    NO_UNITS,
    FlagCount,
    OutcomeCount,
    ReaskCount,
    ReasonCount,
    ReasoningCount,
    RuleCount,
    UnitGroups,
    UnitSums,
    WarningCount,
)
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.reporting.model import (
    Detail,
    FlagSummary,
    GroupSummary,
    JudgeSummary,
    ReasoningBar,
    ReasoningSummary,
    ReasonSummary,
    ReportData,
    RuleUsage,
    RunHeader,
    ScoredReport,
    ScoreSummary,
    ShownCount,
    StatusCounts,
    Tally,
    Tone,
    is_critical,
    outcome_word,
    tone_of,
)
from mixseek.stats.intervals import unit_bounds, unit_interval

_Item = TypeVar("_Item")
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ReportUnits:
    """What every mean and interval rests on: samples, not judgments. By judge first."""

    judges: UnitGroups = field(default_factory=dict)
    controls: UnitGroups = field(default_factory=dict)  # judges on their own output
    tasks: UnitGroups = field(default_factory=dict)
    targets: UnitGroups = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportInput:
    """Counts that a database can group. `rows` may be any part that holds `row_limit` of each kind (see `kind_of`)."""

    run: RunHeader
    manifest: Mapping[str, Any]
    outcomes: Iterable[OutcomeCount]
    rows: Iterable[JudgedRow]
    units: ReportUnits = field(default_factory=ReportUnits)
    rules: Sequence[RuleCount] = ()
    flags: Sequence[FlagCount] = ()
    reasons: Sequence[ReasonCount] = ()
    warnings: Sequence[WarningCount] = ()
    reasoning: Sequence[ReasoningCount] = ()
    reasks: Sequence[ReaskCount] = ()
    judges: tuple[str, ...] = ()  # in the order to be shown; judges that only occur in the counts follow by name
    calls: Iterable[CallAccount] = ()  # what live judges were asked, in the order of the judges
    scored: ScoredReport | None = None  # under a protocol with dimensions
    models: Mapping[str, str] = field(default_factory=dict)  # judge to the model whose recorded replies it brings


# Which judgments a report lists when there are too many: first those that a person must look at.

ROW_LIMIT = 2_000
# Each kind keeps a tenth of the list if it has that many: 40,000 undecided samples must not hide every wrong answer.
_FLOOR_SHARE = 0.1

_Ranked = tuple[int, int, JudgedRow]  # draw, position in the dataset, row


class Kind(IntEnum):
    """In the order in which places are given out."""

    CRITICAL = 0
    INVALID = 1
    UNDECIDED = 2
    MISSING = 3
    LOW = 4
    HIGH = 5


def kind_of(status: Status, score: float | None, *, is_critical: bool = False) -> Kind:
    """A valid judgment is low below half marks: for right-or-wrong scores that is every wrong one."""
    if is_critical:
        return Kind.CRITICAL
    if status is not Status.VALID:
        return Kind[status.name]
    return Kind.LOW if score is not None and score < 0.5 else Kind.HIGH


def select_rows(rows: Iterable[JudgedRow], limit: int = ROW_LIMIT) -> tuple[JudgedRow, ...]:
    """At most `limit` rows, critical fails first, else in the order they came; the same for the same run, every time.

    Memory stays within a few times `limit` rows however many come in.
    """
    kept: dict[Kind, list[_Ranked]] = {kind: [] for kind in Kind}
    for position, row in enumerate(rows):
        heap = kept[kind_of(row.status, row.score, is_critical=is_critical(row.fields))]
        # Negated, so that the heap's smallest is the next one to go.
        entry = (-_draw(row), -position, row)
        if len(heap) < limit:
            heapq.heappush(heap, entry)
        elif heap and entry[:2] > heap[0][:2]:
            heapq.heapreplace(heap, entry)
    places = _places({kind: len(heap) for kind, heap in kept.items()}, limit)
    chosen: Iterator[_Ranked] = (
        entry for kind, heap in kept.items() for entry in heapq.nlargest(places[kind], heap, key=lambda item: item[:2])
    )
    return tuple(row for _, _, row in sorted(chosen, key=lambda item: (not is_critical(item[2].fields), -item[1])))


def _places(available: dict[Kind, int], limit: int) -> dict[Kind, int]:
    """First the floor of every kind, then the rest in order of kind."""
    floor = int(limit * _FLOOR_SHARE)
    places = {kind: min(count, floor) for kind, count in available.items()}
    left = limit - sum(places.values())
    for kind in Kind:
        more = min(left, available[kind] - places[kind])
        places[kind] += more
        left -= more
    return places


def _draw(row: JudgedRow) -> int:
    """A fair lot that does not depend on the clock, on a seed or on the order of the rows."""
    blob = f"{row.judge}\x1f{row.id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(blob, digest_size=8).digest(), "big")


# A wording that is unique to each row explains nothing in a table; the rows themselves carry it.
_DETAILS_SHOWN = 5


def build_report(source: ReportInput, row_limit: int = ROW_LIMIT) -> ReportData:
    """Scores are averaged over valid judgments only; everything else is counted beside them."""
    outcomes = tuple(source.outcomes)
    rows = select_rows(source.rows, row_limit)
    present = {cell.judge for cell in outcomes}
    ordered = [judge for judge in source.judges if judge in present]
    ordered += sorted(present.difference(ordered))
    return ReportData(
        run=source.run,
        manifest=source.manifest,
        judges=tuple(_summarise_judge(judge, source, outcomes) for judge in ordered),
        rows=rows,
        shown=_count_shown(outcomes, rows),
        calls=tuple(source.calls),
        scored=source.scored,
        models=source.models,
    )


def _summarise_judge(judge: str, source: ReportInput, outcomes: Sequence[OutcomeCount]) -> JudgeSummary:
    """A model on its own output is shown beside the statistics and is in none of them."""
    own = [cell for cell in outcomes if cell.judge == judge and not cell.is_control]
    control = [cell for cell in outcomes if cell.judge == judge and cell.is_control]
    units = source.units
    reasoning = [cell for cell in source.reasoning if cell.judge == judge]
    score = summarise_scores(own, units.judges.get((judge,), NO_UNITS))
    return JudgeSummary(
        judge=judge,
        score=score,
        verdicts=tally_verdicts(own),
        error_types=tally((cell.error_type, cell.count) for cell in own if cell.status is Status.VALID),
        tasks=_summarise_groups(judge, own, reasoning, "task", units.tasks),
        rules=_summarise_rules(cell for cell in source.rules if cell.judge == judge),
        flags=_summarise_flags([cell for cell in source.flags if cell.judge == judge]),
        reasons=_summarise_reasons([cell for cell in source.reasons if cell.judge == judge]),
        control=summarise_scores(control, units.controls.get((judge,), NO_UNITS)) if control else None,
        # Under a protocol with dimensions targets have a table of their own.
        targets=() if source.scored else _summarise_groups(judge, own, reasoning, "target", units.targets),
        warnings=tally(
            ((cell.warning, cell.count) for cell in source.warnings if cell.judge == judge), whole=score.counts.valid
        ),
        reasoning=summarise_reasoning(reasoning),
        first_replies=next((cell for cell in source.reasks if cell.judge == judge), None),
    )


def summarise_scores(cells: Iterable[OutcomeCount], units: UnitSums) -> ScoreSummary:
    """A mean over samples with its interval, its bounds and what stands beside it; judgments are only counted."""
    counts = dict.fromkeys((status.value for status in Status), 0)
    total = total_of_squares = 0.0
    unverified = 0
    for cell in cells:
        counts[cell.status] += cell.count
        unverified += cell.unverified
        total += cell.score_total
        total_of_squares += cell.score_total_of_squares
    return ScoreSummary(
        counts=StatusCounts(**counts),
        mean=units.mean,
        interval=unit_interval(units),
        bounds=unit_bounds(units),
        # In 0..1, a score equals its square for 0 and 1 only; sums of those are exact in floating point.
        is_binary=total == total_of_squares,
        samples=units.scored,
        questions=units.questions,
        unverified=unverified,
    )


def summarise_reasoning(cells: Sequence[ReasoningCount]) -> ReasoningSummary | None:
    """None where no judge assessed any reasoning: rules do not."""
    total = sum(cell.count for cell in cells)
    if not total:
        return None
    counts: dict[tuple[int, bool], int] = defaultdict(int)
    for cell in cells:
        counts[cell.score, cell.is_correct] += cell.count
    scores = range(min(1, *(cell.score for cell in cells)), max(5, *(cell.score for cell in cells)) + 1)
    bars = tuple(
        ReasoningBar(score, right := counts[score, True], wrong := counts[score, False], (right + wrong) / total)
        for score in scores
    )
    return ReasoningSummary(
        bars=bars,
        mean=sum(bar.score * bar.count for bar in bars) / total,
        mean_correct=_mean_reasoning([(bar.score, bar.correct) for bar in bars]),
        mean_incorrect=_mean_reasoning([(bar.score, bar.incorrect) for bar in bars]),
    )


def _mean_reasoning(counted: Sequence[tuple[int, int]]) -> float | None:
    total = sum(count for _, count in counted)
    return sum(score * count for score, count in counted) / total if total else None


def tally(counted: Iterable[tuple[str | None, int]], *, whole: int | None = None) -> tuple[Tally, ...]:
    """The most frequent first, as shares of `whole` or of all that have a name; what names nothing is no bar."""
    totals: dict[str, int] = defaultdict(int)
    for name, count in counted:
        if name is not None:
            totals[name] += count
    of = sum(totals.values()) if whole is None else whole
    ordered = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Tally(name, count, count / of) for name, count in ordered if count and of)


def tally_verdicts(cells: Iterable[OutcomeCount]) -> tuple[Tally, ...]:
    """Valid verdicts from best to worst score; what carries no verdict is not a bar here."""
    named = grouped((cell for cell in cells if cell.status is Status.VALID), lambda cell: cell.verdict or cell.status)
    counts = {name: sum(cell.count for cell in own) for name, own in named.items()}
    means = {name: sum(cell.score_total for cell in named[name]) / count for name, count in counts.items() if count}
    valid = sum(counts.values())
    return tuple(
        Tally(name, counts[name], counts[name] / valid, tone_of(Status.VALID, mean))
        for name, mean in sorted(means.items(), key=lambda item: (-item[1], item[0]))
    )


def grouped(items: Iterable[_Item], key_of: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """In the order in which the keys come first."""
    groups: dict[_Key, list[_Item]] = defaultdict(list)
    for item in items:
        groups[key_of(item)].append(item)
    return groups


def in_order(names: Iterable[str | None]) -> list[str | None]:
    """What names nothing comes last, whatever the others are called."""
    return sorted(names, key=lambda name: (name is None, name or ""))


def _summarise_groups(
    judge: str, cells: Iterable[OutcomeCount], reasoning: Sequence[ReasoningCount], column: str, units: UnitGroups
) -> tuple[GroupSummary, ...]:
    """By task or by target, whichever `column` of the counts names."""
    by_name: dict[str | None, list[OutcomeCount]] = grouped(cells, lambda cell: getattr(cell, column))
    return tuple(
        GroupSummary(
            name,
            summarise_scores(by_name[name], units.get((judge, name), NO_UNITS)),
            summarise_reasoning([cell for cell in reasoning if getattr(cell, column) == name]),
        )
        for name in in_order(by_name)
    )


def _summarise_rules(cells: Iterable[RuleCount]) -> tuple[RuleUsage, ...]:
    usages = []
    for rule, own in grouped(cells, lambda cell: cell.rule).items():
        valid = sum(cell.count for cell in own if cell.status is Status.VALID)
        score = sum(cell.score_total for cell in own)
        undecided = sum(cell.count for cell in own if cell.status is Status.UNDECIDED)
        count = sum(cell.count for cell in own)
        usages.append(RuleUsage(rule, count, valid, score / valid if valid else None, undecided))
    return tuple(sorted(usages, key=lambda usage: (-usage.count, usage.rule)))


def _summarise_flags(cells: Iterable[FlagCount]) -> tuple[FlagSummary, ...]:
    summaries = [FlagSummary(*_explain(own), flag) for flag, own in grouped(cells, lambda cell: cell.flag).items()]
    return tuple(sorted(summaries, key=lambda summary: (-summary.count, summary.flag)))


def _summarise_reasons(cells: Iterable[ReasonCount]) -> tuple[ReasonSummary, ...]:
    by_status = grouped(cells, lambda cell: cell.status)
    return tuple(ReasonSummary(*_explain(by_status[status]), status) for status in Status if status in by_status)


def _explain(cells: Sequence[FlagCount] | Sequence[ReasonCount]) -> tuple[int, tuple[Detail, ...], int]:
    """How many there are, the most frequent reasons, and how many reasons in all."""
    # One of several wordings is an example, and said to be one.
    details = [Detail(("" if cell.wordings == 1 else "such as: ") + cell.reason, cell.count) for cell in cells]
    details.sort(key=lambda detail: (-detail.count, detail.text))
    return sum(cell.count for cell in cells), tuple(details[:_DETAILS_SHOWN]), len(details)


def _count_shown(outcomes: Iterable[OutcomeCount], rows: Iterable[JudgedRow]) -> tuple[ShownCount, ...]:
    """Per outcome word, in the order good, mixed, bad, then what carries no score."""
    listed: dict[str, int] = defaultdict(int)
    for row in rows:
        listed[outcome_word(row.status, row.verdict)] += 1
    parts = []
    for name, own in grouped(outcomes, lambda cell: outcome_word(cell.status, cell.verdict)).items():
        total = sum(cell.count for cell in own)
        mean = sum(cell.score_total for cell in own) / total
        parts.append(ShownCount(name, tone_of(own[0].status, mean), listed[name], total))
    order = list(Tone)
    return tuple(sorted(parts, key=lambda part: (order.index(part.tone), part.outcome)))
