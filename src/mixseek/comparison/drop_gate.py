"""Whether a run fell too far behind its baseline, in words."""

from typing import Any

from mixseek.comparison.model import Comparison, DropGate, DropResult, GateEnd
from mixseek.comparison.views.sections import difference_document, pair_document
from mixseek.comparison.views.words import difference_text, interval_sentence, state_sentence, units_text
from mixseek.stats.difference import DifferenceState
from mixseek.text.phrases import plural


def check_drop(gate: DropGate, comparison: Comparison) -> DropResult:
    """A baseline that cannot be compared with is no baseline that was kept."""
    difference, baseline = comparison.difference, comparison.a.name
    limit = f"the limit of {gate.limit:.2%}"
    if difference.mean is None:
        why = state_sentence(difference) or "nothing to compare"
        return DropResult("max_drop", gate.limit, None, False, gate.on, baseline, why)
    measured = f"mean score {difference_text(difference.mean, is_binary=comparison.is_binary)}"
    interval = difference.interval
    if gate.on is GateEnd.LOWER and difference.state is DifferenceState.ONE_QUESTION:
        why = f"{measured} over one question, which has no interval; {limit} is for its lower end (--gate-on lower)"
        return DropResult("max_drop", gate.limit, None, False, gate.on, baseline, why)
    end = difference.mean if gate.on is GateEnd.POINT or interval is None else interval.low
    # A drop of exactly the limit is allowed, in spite of rounding.
    is_met = -end <= gate.limit + 1e-12
    if interval is not None:
        measured += f" ({interval_sentence(interval, is_binary=comparison.is_binary)})"
    of = "" if gate.on is GateEnd.POINT else ", its lower end"
    relation = "within" if is_met else "over"
    over = plural(difference.sums.scored, "pair")
    why = f"{measured} over {over}; a drop of {max(0.0, -end):.2%}{of}, {relation} {limit}"
    return DropResult("max_drop", gate.limit, -end, is_met, gate.on, baseline, why)


def baseline_text(comparison: Comparison) -> str:
    """One line about a run and its baseline."""
    difference = comparison.difference
    if difference.mean is None:
        return f"{comparison.a.name}: {state_sentence(difference)}"
    mean = difference_text(difference.mean, is_binary=comparison.is_binary)
    interval = difference.interval
    within = f" ({interval_sentence(interval, is_binary=comparison.is_binary)})" if interval else ""
    sums = difference.sums
    return (
        f"{comparison.a.name}: {mean}{within}, {units_text(difference)}; {sums.better:,} better, {sums.worse:,} worse"
    )


def baseline_document(comparison: Comparison) -> dict[str, Any]:
    """The difference to a baseline, with the first ids that got worse; `mixseek compare` has the rest."""
    drift = comparison.drift
    return {
        "run": comparison.a.run,
        **difference_document(comparison.difference),
        "drift": {"same_texts": drift.same_texts, "changed": drift.changed, "part_of_difference": drift.part},
        "worse": [pair_document(pair) for pair in comparison.worse],
        "unpaired": {"baseline": comparison.a.unpaired, "run": comparison.b.unpaired},
        "notes": list(comparison.notes),
    }
