"""How sure a judge is of the verdict that its scores come to, and the mean of the total over what it might have scored.

The mean of a sum is the sum of the means, however the dimensions hang together. A verdict that several fields decide is
another matter: how likely it was follows from how likely each of them was only where that is known, and it is not.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mixseek.domain.confidence import (
    WRITTEN_WORDS,
    Confidence,
    ConfidenceSource,
    confidence_in,
    expected_value,
    written_confidence,
)
from mixseek.domain.judgments import Reply
from mixseek.protocols.certainty import NO_CONFIDENCE, UNKNOWN, Certainty, has_tokens, shares_of_field
from mixseek.protocols.replies.field_places import FieldPath
from mixseek.protocols.replies.token_shares import LOGPROBS, FieldShares, UnusableError, spelt_integers
from mixseek.protocols.scored.arithmetic import factors_of, maxima_of, score_of, total_of, verdict_of
from mixseek.protocols.scored.parameters import ScoredParameters

# A choice of this name says how sure the judge is.
_CONFIDENCE_CHOICE = "confidence"
_SPELT_GATE = {"true": "true", "false": "false"}
# By dimension, among a judgment's fields: the probability of each level.
SCORE_SHARES = "score_shares"


class GivenScores(NamedTuple):
    """What the judge gave: a level for each dimension, and which gates failed."""

    scores: Mapping[str, int | float]
    gates: Mapping[str, bool]
    task_type: str | None = None


class KnownShares(NamedTuple):
    """The probability of each level and of each gate, as far as it is known, and why some of it is not."""

    dimensions: Mapping[str, FieldShares]
    gates: Mapping[str, FieldShares]
    problem: str | None = None


def verdict_paths(settings: ScoredParameters) -> tuple[FieldPath, ...]:
    """Where a reply has the scores and the gates."""
    return (*(_path_of(settings, name) for name in settings.dimensions), *((name,) for name in settings.gates))


def _path_of(settings: ScoredParameters, dimension: str) -> FieldPath:
    return (settings.scores.field, dimension)


def read_token_shares(reply: Reply, settings: ScoredParameters, given: GivenScores) -> KnownShares:
    """What the tokens of a reply say of each field."""
    dimensions: dict[str, FieldShares] = {}
    gates: dict[str, FieldShares] = {}
    if missing := reply.details[LOGPROBS].get("problem"):
        return KnownShares({}, {}, str(missing))
    problems: list[str] = []
    for name, maximum in maxima_of(settings, given.task_type).items():
        options = levels_of(settings, maximum)
        if options is None:
            problems.append(f"{name} is scored by numbers, not by a few levels")
            continue
        try:
            dimensions[name] = shares_of_field(reply, _path_of(settings, name), options, str(given.scores[name]))
        except UnusableError as error:
            problems.append(str(error))
    for name, failed in given.gates.items():
        try:
            gates[name] = shares_of_field(reply, (name,), _SPELT_GATE, "true" if failed else "false")
        except UnusableError as error:
            problems.append(str(error))
    return KnownShares(dimensions, gates, next(iter(problems), None))


def levels_of(settings: ScoredParameters, maximum: float) -> Mapping[str, str] | None:
    """The levels of a dimension as they are written; None where it is scored by any number."""
    is_whole = settings.scale.values == "integer"
    return spelt_integers(int(settings.scale.minimum), int(maximum)) if is_whole else None


def certainty_of_reply(
    reply: Reply, settings: ScoredParameters, given: GivenScores, words: Mapping[str, str]
) -> Certainty:
    """How sure the judge is by the tokens where these are known, else by what it wrote of itself."""
    written = _written(settings, words)
    if not has_tokens(reply):
        return UNKNOWN._replace(confidence=written)
    known = read_token_shares(reply, settings, given)
    certainty = certainty_of_shares(settings, given, known, ConfidenceSource.LOGPROBS)
    return certainty if certainty.confidence is not None else certainty._replace(confidence=written)


def _written(settings: ScoredParameters, words: Mapping[str, str]) -> Confidence | None:
    choice = settings.choices.get(_CONFIDENCE_CHOICE)
    # Other words, or a part of these, are an order that nobody has told.
    if choice is None or set(choice.options) != set(WRITTEN_WORDS):
        return None
    return written_confidence(words.get(_CONFIDENCE_CHOICE, ""))


def certainty_of_shares(
    settings: ScoredParameters, given: GivenScores, known: KnownShares, source: ConfidenceSource
) -> Certainty:
    """What follows from the probabilities of levels and gates, and why no confidence does."""
    confidence = _confidence(settings, given, known, source)
    fields: dict[str, Any] = {SCORE_SHARES: {name: shares.document() for name, shares in known.dimensions.items()}}
    if confidence is None:
        together = f"{', '.join(deciding_fields(settings))} decide the verdict together"
        fields[NO_CONFIDENCE] = known.problem or f"{together}, and nobody knows how they hang together"
    return Certainty(confidence, _expected_score(settings, given, known), fields)


def deciding_fields(settings: ScoredParameters) -> tuple[str, ...]:
    """The dimensions and gates that the verdict depends on; without rules for one, what the score depends on."""
    rules = settings.verdict.rules.values()
    of_total = not rules or any(rule.at_most is not None or rule.at_least is not None for rule in rules)
    named = {name for rule in rules for name in (*rule.nonzero, rule.gate)}
    zeroing = {name for name, gate in settings.gates.items() if gate.effect == "all_zero"}
    gates = [name for name in settings.gates if name in named or (of_total and name in zeroing)]
    return (*(name for name in settings.dimensions if of_total or name in named), *gates)


def _confidence(
    settings: ScoredParameters, given: GivenScores, known: KnownShares, source: ConfidenceSource
) -> Confidence | None:
    """A verdict that one field decides is as likely as all the values that come to it."""
    deciding = deciding_fields(settings)
    if len(deciding) != 1:
        return None
    (name,) = deciding
    shares = known.dimensions.get(name) or known.gates.get(name)
    if shares is None:
        return None
    if not settings.verdict.rules:
        # The level is the verdict.
        return confidence_in(str(given.scores[name]), shares.shares, source, shares.outside)
    masses: dict[str, float] = {}
    for value, share in shares.shares.items():
        verdict = _verdict_with(settings, given, name, value)
        masses[verdict] = masses.get(verdict, 0.0) + share
    return confidence_in(_verdict_with(settings, given), masses, source, shares.outside)


def _verdict_with(settings: ScoredParameters, given: GivenScores, name: str = "", value: str = "") -> str:
    """The verdict, with another value of one field."""
    scores, gates = dict(given.scores), dict(given.gates)
    if name in scores:
        scores[name] = int(value)
    elif name:
        gates[name] = value == "true"
    failed = [gate for gate, is_failed in gates.items() if is_failed]
    return verdict_of(settings, scores, total_of(settings, scores, given.task_type), failed)


def _expected_score(settings: ScoredParameters, given: GivenScores, known: KnownShares) -> float | None:
    """None where a dimension that counts is not known, or where a gate may take all scores away."""
    factors = factors_of(settings, given.task_type)
    counted = [name for name, factor in factors.items() if factor]
    zeroing = any(gate.effect == "all_zero" for gate in settings.gates.values())
    if zeroing or not all(name in known.dimensions for name in counted):
        return None
    means = {name: _mean_level(known.dimensions[name]) if name in known.dimensions else 0.0 for name in factors}
    return score_of(settings, total_of(settings, means, given.task_type), given.task_type)


def _mean_level(shares: FieldShares) -> float:
    return expected_value(shares.shares, {level: int(level) for level in shares.shares})
