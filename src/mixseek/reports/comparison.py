"""Two sides of a comparison in words, as sections and for programs; the page is in `pages`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mixseek.analysis.comparing.comparison import ComparedSide, Comparison, DropResult, GroupDifference
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.pair_counts import Pair
from mixseek.domain.shown import shown_html, shown_text
from mixseek.reports.render.html import result_html
from mixseek.reports.render.terminal import result_text
from mixseek.reports.sections import QUIET, Cell, Facts, Head, Section, Sentence, TableRows, number_cell, sections_of
from mixseek.reports.wording.names import name_text
from mixseek.reports.wording.numbers import NOTHING, lead_ends_text, lead_text, p_number, p_text, score_number
from mixseek.reports.wording.scores import level_text
from mixseek.stats.difference import Difference, DifferenceState, Direction
from mixseek.stats.intervals import Bounds, Interval
from mixseek.text.phrases import plural
from mixseek.text.visible import make_visible


def gate_document(gate: DropResult) -> dict[str, Any]:
    fields = asdict(gate)
    return {"gate": fields.pop("name"), "met": fields.pop("is_met"), **fields}


NO_GROUP = "(none named)"
_FACTORS = {"task": "task", "target": "target", "variant": "prompt variant"}
_PAIRED_BY = {"question_id": "question", "prompt_variant": "prompt variant", "target_model": "target"}


def difference_text(share: float | None, *, is_binary: bool) -> str:
    """A difference of shares in points, of graded scores on 0..1; with a true minus: a hyphen is overlooked."""
    return lead_text(share, is_binary=is_binary)


def bare(text: str) -> str:
    """The text without its unit, where a head says it."""
    return text.removesuffix(" points")


def score_text(mean: float | None, *, is_binary: bool) -> str:
    return score_number(mean, is_binary=is_binary)


def range_text(interval: Interval | Bounds, *, is_binary: bool) -> str:
    """The unit once."""
    ends = (interval.worst, interval.best) if isinstance(interval, Bounds) else (interval.low, interval.high)
    return lead_ends_text(*ends, is_binary=is_binary)


def interval_sentence(interval: Interval, *, is_binary: bool) -> str:
    return f"{level_text(interval)} {range_text(interval, is_binary=is_binary)}"


def units_text(difference: Difference) -> str:
    """What the interval counts."""
    pairs = plural(difference.sums.scored, "pair")
    same = difference.sums.questions == difference.sums.scored
    return pairs if same else f"{pairs} of {plural(difference.sums.questions, 'question')}"


def tested_text(difference: Difference) -> str:
    """The p-value with the test that gave it."""
    test = difference.test
    return NOTHING if test is None else f"{p_text(test.p_value)} ({test.method})"


def state_sentence(difference: Difference) -> str | None:
    """Why there is no more to say; None where there is."""
    sums = difference.sums
    match difference.state:
        case DifferenceState.ESTIMATED:
            return None
        case DifferenceState.NO_PAIRS:
            return "A and B have no sample in common: they share neither an id nor a question_id"
        case DifferenceState.NOTHING_SCORED:
            return f"none of the {plural(sums.pairs, 'pair')} has a score on both sides"
        case DifferenceState.ONE_QUESTION:
            return "one question has no spread: there is a difference, but no interval and no test"
        case DifferenceState.ITSELF:
            return "A and B are the same judgments: the difference is nought by itself, not by measurement"
        case DifferenceState.ALL_EQUAL:
            return f"no difference: {units_text(difference)} with the same score on both sides"
        case DifferenceState.ALL_ALIKE:
            return "every question moved by the same amount; the interval says how few questions there are"


def conclusion(comparison: Comparison) -> str:
    """One sentence that a reader may repeat."""
    difference, (a, b) = comparison.difference, (comparison.a.name, comparison.b.name)
    if difference.state not in (DifferenceState.ESTIMATED, DifferenceState.ALL_ALIKE):
        sentence = state_sentence(difference) or ""
        return f"{sentence[:1].upper()}{sentence[1:]}."
    match difference.direction:
        case Direction.BETTER:
            return f"{b} scores higher than {a}; interval and test agree."
        case Direction.WORSE:
            return f"{b} scores lower than {a}; interval and test agree."
        case Direction.UNCLEAR:
            return f"No clear difference between {a} and {b}."
        case Direction.BORDERLINE:
            return f"Between {a} and {b} it is a close call: {borderline_text(difference)}."


def borderline_text(difference: Difference) -> str:
    """Two methods that differ at the edge: say which says what, and let nobody choose the one he likes."""
    interval, test = difference.interval, difference.test
    if interval is None or test is None:
        return "there is no interval"
    level = f"{1 - interval.level:.2g}"
    p_value = p_text(test.p_value)
    if not interval.leaves_out_nought:
        return f"the test finds a difference at {level} ({p_value}), but the interval, which t makes wider, holds 0"
    return f"the interval leaves out 0, but the test finds no difference at {level} ({p_value})"


def bounds_text(comparison: Comparison) -> str | None:
    """None where every pair has two scores."""
    difference = comparison.difference
    if difference.bounds is None or not difference.unscored:
        return None
    over = f"over all {plural(difference.sums.pairs, 'pair')}, {difference.unscored:,} without a score on a side"
    return f"{range_text(difference.bounds, is_binary=comparison.is_binary)} {over}"


def judges_text(side: ComparedSide) -> str:
    """The judges of a side, with the rule where they are a panel."""
    return ", ".join(side.judges) + (f" ({side.panel})" if side.panel else "")


def pairing_text(comparison: Comparison) -> str:
    if not comparison.paired_by:
        return "paired by sample id"
    return f"paired by {', '.join(_PAIRED_BY[column] for column in comparison.paired_by)}"


def drift_sentences(comparison: Comparison) -> list[str]:
    """What of the difference is the judge's doing; a few flips without a direction are noise, not a drift."""
    drift, is_binary = comparison.drift, comparison.is_binary
    if drift.shift is None:
        return ["No judged text is the same on both sides, so nothing can be said about the judge."]
    texts = plural(drift.same_texts, "pair has", "pairs have")
    if not drift.changed:
        return [f"{texts} the same text on both sides, and each got the same score: no sign of drift."]
    sums = drift.shift.sums
    lost = f", {drift.lost_scores:,} with a score on one side only" if drift.lost_scores else ""
    lines = [
        f"{texts} the same text on both sides; {drift.changed:,} of them were judged differently "
        f"({sums.better:,} better, {sums.worse:,} worse{lost}). That is the judge's doing, not the target's."
    ]
    if drift.shift.mean is not None:
        amount = difference_text(drift.shift.mean, is_binary=is_binary)
        tested = f"; {tested_text(drift.shift)}" if drift.shift.test else ""
        is_shift = drift.shift.direction in (Direction.BETTER, Direction.WORSE)
        kind = "the judge has shifted" if is_shift else "no clear direction, as noise would have"
        lines.append(f"On these texts the scores moved by {amount}{tested}: {kind}.")
    if drift.part is not None:
        lines.append(f"Of the difference, {difference_text(drift.part, is_binary=is_binary)} comes from them.")
    without = drift.without
    if without.mean is None:
        lines.append("Without them there is nothing to compare.")
    else:
        interval = f" ({interval_sentence(without.interval, is_binary=is_binary)})" if without.interval else ""
        amount = difference_text(without.mean, is_binary=is_binary)
        lines.append(f"Without them: {amount}{interval}, {units_text(without)}.")
    return lines


def factor_text(factor: str) -> str:
    return _FACTORS[factor]


def group_note(factor: str, groups: Sequence[GroupDifference]) -> str:
    """What the two columns of a table are; and where interval and test alone would say different things."""
    tests = plural(sum(group.p_adjusted is not None for group in groups), "test")
    note = f"Intervals are for each {factor_text(factor)} alone; p-values are Holm's over {tests}."
    close = [group.name or NO_GROUP for group in groups if group.difference.direction is Direction.BORDERLINE]
    if close:
        names = id_text(close, len(close))
        note += f" A close call, where the interval and the test before Holm's correction disagree: {names}."
    return note


# As sections.

_IDS_SHOWN = 10
_GROUPS_SHOWN = 30
# Characters from which a terminal shows all columns, as a page does.
_ROOMY = 150


@sections_of.register
def comparison_sections(comparison: Comparison) -> Iterator[Section]:
    """The difference, what limits it, where it comes from, and the samples behind it."""
    difference, is_binary = comparison.difference, comparison.is_binary
    title = Sentence(f"{comparison.b.name} against {comparison.a.name}", "bold")
    how = Sentence(f"{comparison.protocol} [{comparison.protocol_hash[:8]}], {pairing_text(comparison)}")
    yield Section(None, (title, how, Sentence(""), side_table(comparison), Sentence("")))
    facts = [*headline(comparison), *(("note", note) for note in comparison.notes)]
    yield Section(None, (Sentence(conclusion(comparison), "bold"), *([Facts(facts)] if facts else [])))
    yield Section("The judge", [Sentence(line, "") for line in drift_sentences(comparison)])
    for factor, groups in comparison.groups.items():
        table = group_table(factor, groups, is_binary=is_binary)
        yield Section(f"By {_FACTORS[factor]}", (table, Sentence(group_note(factor, groups))))
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
    if bounds := bounds_text(comparison):
        lines.append(("bounds", bounds))
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
    names = ("|", "name", "run", "judges", Head("dataset"))
    heads = (*names, ">score", ">samples", ">unpaired", ">no verdict")
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
                judges_text(side),
                side.dataset,
                (score_text(mean, is_binary=is_binary), "bold"),
                f"{side.samples:,}",
                f"{side.unpaired:,}",
                f"{unscored:,}",
            )
        )
    return TableRows(heads, rows, wide=_ROOMY)


def group_table(
    factor: str, groups: Sequence[GroupDifference], *, is_binary: bool, limit: int = _GROUPS_SHOWN
) -> TableRows:
    rows = [
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
            p_number(group.p_adjusted),
            number_cell(group.difference.sums.better, "green"),
            number_cell(group.difference.sums.worse, "red"),
            number_cell(group.difference.unscored, "yellow"),
        )
        for group in groups
    ]
    counted = (factor, ">pairs", Head(">questions"))
    heads = (*counted, ">A", ">B", ">B − A", ">95% interval", ">p (Holm)", ">better", ">worse", Head(">no score"))
    return TableRows(heads, rows, limit, wide=_ROOMY)


def pair_name(pair: Pair) -> str:
    """One id where both sides have it, else both."""
    return pair.id_b if pair.id_a == pair.id_b else f"{pair.id_a} → {pair.id_b}"


def id_text(ids: Sequence[str], count: int) -> str:
    """The first ones, and how many more there are."""
    more = f" and {count - _IDS_SHOWN:,} more" if count > _IDS_SHOWN else ""
    return ", ".join(make_visible(name) for name in ids[:_IDS_SHOWN]) + more


# For programs.


def comparison_document(
    comparison: Comparison, html: Path | None = None, gates: Sequence[DropResult] = ()
) -> dict[str, Any]:
    """The contract for programs: keys are never renamed, only added."""
    drift = comparison.drift
    return {
        "schema": schema_id(DocumentName.COMPARE),
        "protocol": comparison.protocol,
        "protocol_hash": comparison.protocol_hash,
        "a": asdict(comparison.a),
        "b": asdict(comparison.b),
        "paired_by": list(comparison.paired_by) or ["id"],
        "conclusion": conclusion(comparison),
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
