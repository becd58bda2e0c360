"""B against A as sections, and as a document for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mixseek.analysis.run.gates import GateResult
from mixseek.comparison.model import Comparison, DropResult, GroupDifference
from mixseek.comparison.views.words import (
    bare,
    bounds_text,
    choices_of_comparison,
    conclusion,
    cut_off_sentence,
    difference_text,
    drift_sentences,
    factor_text,
    finished_text,
    group_note,
    id_text,
    interval_sentence,
    judges_text,
    movement_text,
    pair_name,
    pairing_text,
    range_text,
    score_text,
    state_sentence,
    tested_text,
    units_text,
)
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.pair_counts import Pair
from mixseek.domain.shown import shown_html, shown_text
from mixseek.presentation.pictures import Axis, IntervalPlot
from mixseek.presentation.render.html import result_html
from mixseek.presentation.render.terminal import result_text
from mixseek.presentation.sections import (
    QUIET,
    Cell,
    Facts,
    Head,
    RangeRow,
    Ranges,
    Section,
    Sentence,
    TableRows,
    notes,
    number_cell,
    number_head,
    sections_of,
)
from mixseek.reports.responses import responses_document
from mixseek.reports.wording.names import name_text
from mixseek.reports.wording.numbers import NOTHING, p_number
from mixseek.stats.difference import Difference
from mixseek.text.messages import join, message
from mixseek.text.phrases import plural


def gate_document(gate: DropResult | GateResult) -> dict[str, Any]:
    fields = asdict(gate)
    return {"gate": fields.pop("name"), "met": fields.pop("is_met"), **fields}


_GROUPS_SHOWN, _GROUPS_ON_PAGE = 30, 300
# So many groups are read at a glance; of more, those that moved stand first, or so many of the largest changes.
_GROUPS_AT_A_GLANCE, _LARGEST_CHANGES = 8, 5
# Ends of an axis that are easily read.
_ROUND_ENDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
# Characters from which a terminal shows all columns, as a page does.
_ROOMY = 150


@sections_of.register
def comparison_sections(comparison: Comparison) -> Iterator[Section]:
    """The difference, what limits it, where it comes from, and the samples behind it."""
    difference = comparison.difference
    title = Sentence(f"{comparison.b.name} against {comparison.a.name}", "bold")
    how = Sentence(f"{comparison.protocol} [{comparison.protocol_hash[:8]}], {pairing_text(comparison)}")
    movement = movement_text(comparison)
    ended = cut_off_sentence(comparison)
    warned = [Sentence(f"⚠ {ended}", "yellow")] if ended else []
    first = (title, *([Sentence(movement, "bold")] if movement else []), *warned, how)
    yield Section(None, (*first, Sentence(""), side_table(comparison), Sentence("")))
    facts = [*headline(comparison), *(("note", note) for note in comparison.notes)]
    yield Section(None, (Sentence(conclusion(comparison), "bold"), *([Facts(facts)] if facts else [])))
    yield Section("The judge", [Sentence(line, "") for line in drift_sentences(comparison)])
    yield from group_sections(comparison)
    lists = (
        ("Better", comparison.better, difference.sums.better),
        ("Worse", comparison.worse, difference.sums.worse),
        ("Without a score on a side", comparison.unscored, difference.unscored),
        ("Same text, other score", comparison.drift.pairs, comparison.drift.changed),
    )
    for head, pairs, count in lists:
        if count:
            names = id_text([pair_name(pair) for pair in pairs], count)
            yield Section(f"{head} ({count:,})", [Sentence(names, "")])
    for side in (comparison.a, comparison.b):
        if side.unpaired:
            head = f"Only in {side.letter} ({side.unpaired:,} of {plural(side.samples, 'sample')})"
            yield Section(head, [Sentence(id_text(side.unpaired_ids, side.unpaired), "")])


shown_text.register(Comparison, result_text)
shown_html.register(Comparison, result_html)


def headline(comparison: Comparison) -> list[tuple[str, str]]:
    """The lines of the result: a word and what it says."""
    difference, is_binary = comparison.difference, comparison.is_binary
    sums = difference.sums
    lines = []
    if difference.mean is not None:
        interval = f" ({interval_sentence(difference.interval, is_binary=is_binary)})" if difference.interval else ""
        mean = difference_text(difference.mean, is_binary=is_binary)
        lines.append(("difference", f"{mean}{interval}, {units_text(difference)}"))
        if difference.test is not None:
            lines.append(("test", tested_text(difference)))
        lines.append(("pairs", f"{sums.better:,} better, {sums.worse:,} worse, {difference.equal:,} equal"))
    lines += [("finished", finished)] if (finished := finished_text(comparison)) else []
    if bounds := bounds_text(comparison):
        lines.append(("bounds", bounds))
    lines += [("counted", choices)] if (choices := choices_of_comparison(comparison)) else []
    return lines


def brief(comparison: Comparison) -> list[tuple[str, str]]:
    """The result and the judge's part in it, in as few lines as there can be."""
    drift, is_binary = comparison.drift, comparison.is_binary
    facts = dict(headline(comparison))
    if "test" in facts:
        facts["pairs"] = f"{facts['pairs']}; {facts.pop('test')}"
    lines = list(facts.items())
    if drift.changed and drift.part is not None:
        part = difference_text(drift.part, is_binary=is_binary)
        texts = f"{drift.changed:,} of {drift.same_texts:,} unchanged texts were judged differently: {part} of it"
        lines.append(("judge", texts))
        if drift.without.mean is not None:
            interval = drift.without.interval
            within = f" ({range_text(interval, is_binary=is_binary)})" if interval else ""
            lines.append(("without", f"{difference_text(drift.without.mean, is_binary=is_binary)}{within}"))
    return lines


def side_table(comparison: Comparison) -> TableRows:
    """Means over the same pairs, so that their difference is the difference."""
    is_binary, difference = comparison.is_binary, comparison.difference
    heads = (
        "|",
        message("head.name", "name"),
        message("head.run", "run"),
        message("head.judges", "judges"),
        Head(message("head.dataset", "dataset")),
        number_head(message("head.score", "score")),
        number_head(message("head.samples", "samples")),
        number_head(message("head.unpaired", "unpaired")),
        number_head(message("word.no_verdict", "no verdict")),
    )
    rows: list[Sequence[Cell]] = []
    for side, mean in ((comparison.a, difference.mean_a), (comparison.b, difference.mean_b)):
        counts: dict[str, int] = {}
        for transition in comparison.statuses:
            status = transition.status_a if side.letter == "A" else transition.status_b
            counts[status] = counts.get(status, 0) + transition.pairs
        unscored = sum(count for status, count in counts.items() if status != "valid")
        rows.append(
            (
                (side.letter, "blue"),
                (side.name, "bold"),
                side.run,
                judges_text(side, comparison.labels),
                side.dataset,
                (score_text(mean, is_binary=is_binary), "bold"),
                f"{side.samples:,}",
                f"{side.unpaired:,}",
                f"{unscored:,}",
            )
        )
    return TableRows(heads, rows, wide=_ROOMY, name="sides", label=message("compare.the_two_sides", "The two sides"))


def difference_axis(differences: Sequence[Difference], steps: Sequence[float], *, is_binary: bool) -> Axis:
    """The ends are as far to the left as to the right, so that nought is in the middle, and easily read."""
    intervals = [difference.interval for difference in differences if difference.interval]
    ends = [abs(end) for interval in intervals for end in (interval.low, interval.high)]
    ends += [abs(difference.mean) for difference in differences if difference.mean is not None]
    end = next((end for end in _ROUND_ENDS if end >= max(ends, default=_ROUND_ENDS[0])), _ROUND_ENDS[-1])
    ticks = tuple(end * step for step in steps)
    return Axis(-end, end, ticks, tuple(bare(difference_text(tick, is_binary=is_binary)) for tick in ticks))


def difference_plot(name: str, difference: Difference, axis: Axis, *, is_binary: bool) -> IntervalPlot:
    """The difference with its ends, and how far it could lie where a side has no score."""
    interval, bounds = difference.interval, difference.bounds if difference.unscored else None
    value = difference_text(difference.mean, is_binary=is_binary)
    label = message("compare.drawn", "{name}: {difference}", name=name, difference=value)
    if interval is not None:
        label = join((label, interval_sentence(interval, is_binary=is_binary)), ", ")
    return IntervalPlot(
        difference.mean,
        (interval.low, interval.high) if interval else None,
        axis,
        (bounds.worst, bounds.best) if bounds and difference.mean is not None else None,
        references=(0.0,),
        label=label,
    )


def difference_ranges(comparison: Comparison) -> Ranges:
    """All pairs, and those that are left where the judge did not change its mind."""
    named = [(message("compare.all_pairs", "all pairs"), comparison.difference)]
    if comparison.drift.changed:
        name = message("compare.without_the_judge_s_changes", "without the judge's changes")
        named.append((name, comparison.drift.without))
    differences = [difference for _, difference in named]
    axis = difference_axis(differences, (-1, -0.5, 0, 0.5, 1), is_binary=comparison.is_binary)
    rows = [
        RangeRow(
            name,
            difference_text(difference.mean, is_binary=comparison.is_binary),
            range_text(difference.interval, is_binary=comparison.is_binary) if difference.interval else "",
            difference_plot(name, difference, axis, is_binary=comparison.is_binary),
            (units_text(difference),),
        )
        for name, difference in named
    ]
    return Ranges((message("head.pairs", "pairs"), message("head.difference", "difference"), ("",)), rows, axis)


def group_sections(comparison: Comparison) -> Iterator[Section]:
    """What the pairs come to group by group, for each column that groups them."""
    differences = [group.difference for groups in comparison.groups.values() for group in groups]
    axis = difference_axis(differences, (-1, 0, 1), is_binary=comparison.is_binary)
    for factor, groups in comparison.groups.items():
        name = factor_text(factor)
        leading, others = split_groups(groups)
        table = group_table(name, leading, axis, is_binary=comparison.is_binary)
        remarks = [group_note(factor, groups)]
        if len(groups) > _GROUPS_ON_PAGE:
            remarks.append(message("compare.has_all", "--json has all {n}.", n=len(groups)))
        yield Section(message("word.by_column", "By {column}", column=name), (table, *notes(remarks)))
        if others:
            more = "By {column}: {n} more without a clear change"
            rest = group_table(name, others, axis, is_binary=comparison.is_binary)
            title = message("compare.more_groups", more, column=name, n=len(others))
            yield Section(title, (rest,), is_folded=True)


def split_groups(groups: Sequence[GroupDifference]) -> tuple[list[GroupDifference], list[GroupDifference]]:
    """Those that moved, the largest change first, and the others; where none did, the largest changes lead.

    A group has moved when its interval leaves out nought. A few groups stay together.
    """

    def has_moved(group: GroupDifference) -> bool:
        return group.difference.interval is not None and group.difference.interval.leaves_out_nought

    # Nothing to compare comes last; equals stay in the order of their names.
    ranked = sorted(groups, key=lambda group: (not has_moved(group), -abs(group.difference.mean or 0.0)))
    if len(ranked) <= _GROUPS_AT_A_GLANCE:
        return ranked, []
    leading = sum(map(has_moved, ranked)) or _LARGEST_CHANGES
    return ranked[:leading], ranked[leading:]


def group_table(factor: str, groups: Sequence[GroupDifference], axis: Axis, *, is_binary: bool) -> TableRows:
    """A row for each group; pages draw the differences, too."""
    rows: list[Sequence[Cell]] = [
        (
            name_text(group.name),
            f"{group.difference.sums.scored:,}",
            f"{group.difference.sums.questions:,}",
            score_text(group.difference.mean_a, is_binary=is_binary),
            score_text(group.difference.mean_b, is_binary=is_binary),
            (difference_text(group.difference.mean, is_binary=is_binary), "bold"),
            (
                range_text(group.difference.interval, is_binary=is_binary) if group.difference.interval else NOTHING,
                QUIET,
            ),
            difference_plot(name_text(group.name), group.difference, axis, is_binary=is_binary),
            p_number(group.p_adjusted),
            number_cell(group.difference.sums.better, "green"),
            number_cell(group.difference.sums.worse, "red"),
            number_cell(group.difference.unscored, "yellow"),
        )
        for group in groups
    ]
    heads = (
        factor,
        number_head(message("head.pairs", "pairs")),
        Head(number_head(message("head.questions", "questions"))),
        *(">A", ">B", ">B − A"),
        number_head(message("word.interval_95", "95% interval")),
        Head(None, axis=axis, page=message("word.interval_drawn", "Interval, drawn")),
        ">p (Holm)",
        number_head(message("compare.better_word", "better")),
        number_head(message("compare.worse_word", "worse")),
        Head(number_head(message("head.no_score", "no score"))),
    )
    label = message("compare.differences_by", "Differences by {factor}", factor=factor)
    return TableRows(heads, rows, _GROUPS_SHOWN, wide=_ROOMY, name="groups", label=label, page_limit=_GROUPS_ON_PAGE)


def comparison_document(
    comparison: Comparison, html: Path | None = None, gates: Sequence[DropResult | GateResult] = ()
) -> dict[str, Any]:
    """The contract for programs: keys are never renamed, only added."""
    drift = comparison.drift
    return {
        "schema": schema_id(DocumentName.COMPARE),
        "protocol": comparison.protocol,
        "protocol_hash": comparison.protocol_hash,
        "a": asdict(comparison.a),
        "b": asdict(comparison.b),
        "responses": {side.letter: responses_document(side.responses) for side in (comparison.a, comparison.b)},
        "counting": comparison.counting.document(),
        "warning": cut_off_sentence(comparison),
        "finished": difference_document(comparison.finished) if comparison.finished else None,
        "paired_by": list(comparison.paired_by) or ["id"],
        "conclusion": conclusion(comparison),
        "movement": movement_text(comparison),
        **difference_document(comparison.difference),
        "statuses": [asdict(transition) for transition in comparison.statuses],
        "groups": {
            factor: [
                {"name": group.name, **difference_document(group.difference), "p_adjusted": group.p_adjusted}
                for group in groups
            ]
            for factor, groups in comparison.groups.items()
        },
        "drift": {
            "same_texts": drift.same_texts,
            "changed": drift.changed,
            "lost_scores": drift.lost_scores,
            "part_of_difference": drift.part,
            "shift": difference_document(drift.shift) if drift.shift else None,
            "without": difference_document(drift.without),
            "sentences": drift_sentences(comparison),
            "pairs": [pair_document(pair) for pair in drift.pairs],
        },
        "better": [pair_document(pair) for pair in comparison.better],
        "worse": [pair_document(pair) for pair in comparison.worse],
        "unscored": [pair_document(pair) for pair in comparison.unscored],
        "ids": {kind: list(names) for kind, names in comparison.ids.items()},
        # Where people labelled samples of both sides; nothing is corrected yet.
        "corrected": None,
        "notes": list(comparison.notes),
        "gates": [gate_document(gate) for gate in gates],
        "html": str(html) if html is not None else None,
    }


def difference_document(difference: Difference) -> dict[str, Any]:
    """B minus A with what limits it; null where there is no number, and `state` says why."""
    sums = difference.sums
    return {
        "state": difference.state.value,
        "why": state_sentence(difference),
        "difference": difference.mean,
        "interval": asdict(difference.interval) if difference.interval else None,
        "test": asdict(difference.test) if difference.test else None,
        "direction": difference.direction.value,
        "bounds": asdict(difference.bounds) if difference.bounds else None,
        "mean_a": difference.mean_a,
        "mean_b": difference.mean_b,
        "units": {"pairs": sums.scored, "questions": sums.questions},
        "counts": {
            "pairs": sums.pairs,
            "scored": sums.scored,
            "unscored": difference.unscored,
            "better": sums.better,
            "worse": sums.worse,
            "equal": difference.equal,
        },
    }


def pair_document(pair: Pair) -> dict[str, Any]:
    return {
        "id": pair_name(pair),
        "id_a": pair.id_a,
        "id_b": pair.id_b,
        "question_id": pair.question,
        "task": pair.task,
        "a": pair.score_a,
        "b": pair.score_b,
        "difference": pair.difference,
        "status_a": pair.status_a,
        "status_b": pair.status_b,
        "same_text": pair.is_same_text,
        "samples_a": pair.samples_a,
        "samples_b": pair.samples_b,
    }
