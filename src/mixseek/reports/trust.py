"""How far the judges can be trusted: the words of agreement, self-consistency and pairs, and what programs read."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mixseek.analysis.run.agreement import Agreement, SelfConsistency
from mixseek.reports.wording.names import verdict_text
from mixseek.reports.wording.numbers import NOTHING, coefficient_ends_text, percent
from mixseek.reports.wording.scales import of_maximum_text, range_text, scale_text
from mixseek.reports.wording.scores import equal_items_text
from mixseek.stats.intervals import Interval
from mixseek.stats.raters import Coefficient, Measure
from mixseek.text.messages import Message, counted, end_sentence, join, message, verbatim

# With the key of each in documents of a report, which is longer than that of `mixseek stats`.
_NAMES = {
    Measure.RAW: ("raw_agreement", message("trust.raw_agreement", "raw agreement")),
    Measure.KAPPA: ("cohen_kappa", message("measure.cohen_kappa", "Cohen's kappa")),
    Measure.KAPPA_QUADRATIC: ("weighted_kappa", message("measure.weighted_kappa", "weighted kappa (quadratic)")),
    Measure.FLEISS: ("fleiss_kappa", message("measure.fleiss_kappa", "Fleiss' kappa")),
    Measure.ALPHA_NOMINAL: ("alpha_nominal", message("measure.alpha_nominal", "Krippendorff's alpha, nominal")),
    Measure.ALPHA_ORDINAL: ("alpha_ordinal", message("measure.alpha_ordinal", "Krippendorff's alpha, ordinal")),
    Measure.ALPHA_INTERVAL: ("alpha_interval", message("measure.alpha_interval", "Krippendorff's alpha, interval")),
    Measure.AC1: ("gwet_ac1", message("measure.ac1", "Gwet's AC1")),
    Measure.AC2_QUADRATIC: ("gwet_ac2", message("measure.ac2", "Gwet's AC2 (quadratic)")),
}


def measure_text(measure: Measure) -> Message:
    """Coefficients keep the names under which they are published."""
    return _NAMES[measure][1]


def pair_measure(agreement: Agreement) -> Measure:
    """What the matrix of judges shows: near misses count where scores are graded."""
    return Measure.KAPPA_QUADRATIC if agreement.is_graded else Measure.KAPPA


# Why there is no interval, as the analysis says it.
_WHY: Mapping[str, str] = {
    why: why
    for why in (
        message("measure.one_question", "no interval: one question"),
        message(
            "measure.every_question_alike",
            "no interval: every question says the same, or without one of them there is no value",
        ),
        message("measure.nobody_twice", "not defined: nobody rated twice"),
        message("measure.verdicts_alike", "not defined: all verdicts are the same, which chance alone explains"),
        message("measure.scores_alike", "not defined: all scores are the same, which chance alone explains"),
    )
}


def coefficient_interval_text(coefficient: Coefficient) -> str:
    """The interval, or why there is none."""
    if coefficient.interval:
        return coefficient_ends_text(coefficient.interval)
    return NOTHING if coefficient.why is None else _WHY.get(coefficient.why, coefficient.why)


def compared_text(coefficient: Coefficient) -> Message:
    """What was compared, and on which samples where a coefficient cannot use all of them."""
    compared = {
        "verdicts": message("word.verdicts", "verdicts"),
        "scores": message("word.scores", "scores"),
    }
    of = compared.get(coefficient.of) or verbatim(coefficient.of)
    over = equal_items_text(coefficient.over, "sample")
    return of if over is None else join((of, over), "; ")


def agreement_sentence(agreement: Agreement, maximum: float | None) -> Message:
    """How many samples get one verdict from all judges, and how far they are apart where scores are graded."""
    samples = counted(agreement.samples, "sample")
    if agreement.questions != agreement.samples:
        questions = counted(agreement.questions, "question")
        samples = message("score.units", "{samples} of {questions}", samples=samples, questions=questions)
    clauses = [
        message(
            "trust.one_verdict",
            "One verdict on {unanimous} of {samples} with several judges ({share})",
            unanimous=agreement.unanimous,
            samples=samples,
            share=_share(agreement.unanimous / agreement.samples, agreement.unanimous_interval),
        )
    ]
    if agreement.is_graded:
        spread = of_maximum_text(scale_text(agreement.mean_spread, maximum), maximum)
        apart = "highest and lowest score lie {spread} apart on average"
        clauses.append(message("trust.apart", apart, spread=spread))
    return end_sentence(join(clauses, "; "))


def opinion_text(score: float, verdict: str, agreement: Agreement, maximum: float | None) -> Message:
    """`6.00 PARTIAL`; where answers are right or wrong, the verdict says it all."""
    if not agreement.is_graded:
        return verdict_text(verdict)
    total = scale_text(score, maximum)
    if not verdict:
        return verbatim(total)
    return message("trust.opinion", "{score} {verdict}", score=total, verdict=verdict_text(verdict))


def counted_sentence(agreement: Agreement) -> Message | None:
    """None where every sample is counted."""
    if agreement.counted == agreement.samples:
        return None
    drawn = "Coefficients are computed from {n} of the samples, drawn by the digests of their texts."
    return message("trust.counted", drawn, n=agreement.counted)


def _share(share: float, interval: Interval | None) -> Message:
    """`95.0%, 76.4–99.1%`."""
    return join((percent(share), *([range_text(interval)] if interval else [])), ", ")


def consistency_sentence(consistency: SelfConsistency) -> Message:
    """How often a judge says the same again, and how much of the variance of its scores is its own."""
    same = message(
        "trust.same_again",
        "{judge}: one verdict on {unanimous} of {samples} judged several times ({share})",
        judge=consistency.judge,
        unanimous=consistency.unanimous,
        samples=counted(consistency.samples, "sample"),
        share=_share(consistency.unanimous / consistency.samples, consistency.unanimous_interval),
    )
    if consistency.own_share is None:
        variance = message("trust.no_variance", "its scores do not vary")
    else:
        interval = f" ({range_text(consistency.own_interval)})" if consistency.own_interval else ""
        share = f"{percent(consistency.own_share)}{interval}"
        variance = message("trust.own_variance", "{share} of the variance of its scores is its own", share=share)
    return end_sentence(join((same, variance), "; "))


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
        _NAMES[coefficient.measure][0]: {
            "value": coefficient.value,
            "interval": asdict(coefficient.interval) if coefficient.interval else None,
            "of": coefficient.of,
            "why": coefficient.why,
            "over": asdict(coefficient.over) if coefficient.over else None,
        }
        for coefficient in coefficients
    }


def consistency_documents(consistencies: Sequence[SelfConsistency]) -> list[dict[str, Any]]:
    return [
        {**asdict(consistency), "unanimous_share": consistency.unanimous / consistency.samples}
        for consistency in consistencies
    ]
