"""How far the judges can be trusted: the words of agreement, self-consistency and pairs, and what programs read."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mixseek.analysis.agreement import Agreement, SelfConsistency
from mixseek.reports import wording
from mixseek.stats.intervals import Interval
from mixseek.stats.raters import Coefficient, Measure
from mixseek.text import phrases

# With the key of each in documents of a report, which is longer than that of `mixseek stats`.
_NAMES = {
    Measure.RAW: ("raw_agreement", "raw agreement"),
    Measure.KAPPA: ("cohen_kappa", "Cohen's kappa"),
    Measure.KAPPA_QUADRATIC: ("weighted_kappa", "weighted kappa (quadratic)"),
    Measure.FLEISS: ("fleiss_kappa", "Fleiss' kappa"),
    Measure.ALPHA_NOMINAL: ("alpha_nominal", "Krippendorff's alpha, nominal"),
    Measure.ALPHA_ORDINAL: ("alpha_ordinal", "Krippendorff's alpha, ordinal"),
    Measure.ALPHA_INTERVAL: ("alpha_interval", "Krippendorff's alpha, interval"),
    Measure.AC1: ("gwet_ac1", "Gwet's AC1"),
    Measure.AC2_QUADRATIC: ("gwet_ac2", "Gwet's AC2 (quadratic)"),
}


def measure_text(measure: Measure) -> str:
    return _NAMES[measure][1]


def raw_measure() -> Measure:
    """For templates, which know functions by name."""
    return Measure.RAW


def pair_measure(agreement: Agreement) -> Measure:
    """What the matrix of judges shows: near misses count where scores are graded."""
    return Measure.KAPPA_QUADRATIC if agreement.is_graded else Measure.KAPPA


def coefficient_interval_text(one: Coefficient) -> str:
    """The interval, or why there is none."""
    return wording.coefficient_ends_text(one.interval) if one.interval else one.why or wording.NOTHING


def compared_text(one: Coefficient) -> str:
    """What was compared, and on which samples where a coefficient cannot use all of them."""
    over = wording.equal_items_text(one.over, "sample")
    return one.of if over is None else f"{one.of}; {over}"


def agreement_sentence(agreement: Agreement, maximum: float | None) -> str:
    """On how many samples judges give one verdict, and how far they are apart where scores are graded."""
    samples = phrases.plural(agreement.samples, "sample")
    over = "" if agreement.questions == agreement.samples else f" of {phrases.plural(agreement.questions, 'question')}"
    interval = _range(agreement.unanimous_interval)
    said = (
        f"One verdict on {agreement.unanimous:,} of {samples}{over} with several judges "
        f"({wording.percent(agreement.unanimous / agreement.samples)}{interval})"
    )
    if agreement.is_graded:
        apart = f"{wording.scale_text(agreement.mean_spread, maximum)} {wording.maximum_text(maximum)}"
        said += f"; highest and lowest score lie {apart} apart on average"
    return f"{said}."


def opinion_text(score: float, verdict: str, agreement: Agreement, maximum: float | None) -> str:
    """`6.00 PARTIAL`; where answers are right or wrong, the verdict says it all."""
    return f"{wording.scale_text(score, maximum)} {verdict}".strip() if agreement.is_graded else verdict


def counted_sentence(agreement: Agreement) -> str | None:
    """None where every sample is counted."""
    if agreement.counted == agreement.samples:
        return None
    return f"Coefficients are computed from {agreement.counted:,} of the samples, drawn by the digests of their texts."


def _range(interval: Interval | None) -> str:
    return f", {wording.range_text(interval)}" if interval else ""


def consistency_sentence(one: SelfConsistency) -> str:
    """How often a judge says the same again, and how much of the variance of its scores is its own."""
    said = (
        f"{one.judge}: one verdict on {one.unanimous:,} of {phrases.plural(one.samples, 'sample')} "
        f"judged several times ({wording.percent(one.unanimous / one.samples)}{_range(one.unanimous_interval)})"
    )
    if one.own_share is None:
        return f"{said}; its scores do not vary."
    interval = f" ({wording.range_text(one.own_interval)})" if one.own_interval else ""
    return f"{said}; {wording.percent(one.own_share)}{interval} of the variance of its scores is its own."


# Documents for programs.


def agreement_document(agreement: Agreement | None) -> dict[str, Any] | None:
    """Null where no sample has two judges. Coefficients by name, each with its interval or why it has none."""
    if agreement is None:
        return None
    return {
        "judges": list(agreement.judges),
        "units": {"samples": agreement.samples, "questions": agreement.questions},
        "counted": agreement.counted,
        "unanimous": agreement.unanimous,
        "unanimous_share": agreement.unanimous / agreement.samples,
        "unanimous_interval": asdict(agreement.unanimous_interval) if agreement.unanimous_interval else None,
        "mean_spread": agreement.mean_spread,
        "coefficients": _coefficient_documents(agreement.coefficients),
        "pairs": [
            {
                "judges": [pair.first, pair.second],
                "samples": pair.samples,
                "coefficients": _coefficient_documents(pair.coefficients),
            }
            for pair in agreement.pairs
        ],
        "disagreements": {"total": agreement.disagreements, "items": [asdict(item) for item in agreement.items]},
    }


def _coefficient_documents(coefficients: Sequence[Coefficient]) -> dict[str, Any]:
    return {
        _NAMES[one.measure][0]: {
            "value": one.value,
            "interval": asdict(one.interval) if one.interval else None,
            "of": one.of,
            "why": one.why,
            "over": asdict(one.over) if one.over else None,
        }
        for one in coefficients
    }


def consistency_documents(found: Sequence[SelfConsistency]) -> list[dict[str, Any]]:
    return [{**asdict(one), "unanimous_share": one.unanimous / one.samples} for one in found]
