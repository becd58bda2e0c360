"""Which verdicts of a scored protocol can come out at all; a word that never can is a slip in its thresholds."""

from collections.abc import Iterator
from itertools import combinations, product

from mixseek.protocols.scored_parameters import GateEffect, Scale, ScoredParameters, TotalRule, ValueKind, VerdictRule
from mixseek.protocols.scored_rules import maxima_of, total_range, verdict_of, weights_of

# Whole totals up to here are enumerated; beyond, and for decimals, the thresholds and their neighbours are tried.
_MAX_STATES = 20_000
# Gates that fail together: all subsets up to this many gates, single ones beyond.
_MAX_GATES = 6
_STEP = 1e-6

# A total and the dimensions that are not zero, of those that a rule asks about.
_State = tuple[int | float, frozenset[str]]


def unreachable_verdicts(parameters: ScoredParameters) -> dict[str, str]:
    """Each word that no reply can lead to, with the reason."""
    rules = parameters.verdict.rules
    reached: set[str] = set()
    for task_type in parameters.task_types.types or (None,):
        for failed in _failed_gates(parameters):
            if len(reached) == len(rules):
                return {}
            for total, nonzero in _states(parameters, task_type, failed):
                scores = {key: int(key in nonzero) for key in parameters.dimensions}
                reached.add(verdict_of(parameters, scores, total, failed))
    return {word: _why(parameters, word) for word in rules if word not in reached}


def _failed_gates(parameters: ScoredParameters) -> Iterator[frozenset[str]]:
    gates = tuple(parameters.gates)
    sizes = range(len(gates) + 1) if len(gates) <= _MAX_GATES else (0, 1)
    for size in sizes:
        for failed in combinations(gates, size):
            yield frozenset(failed)


def _states(parameters: ScoredParameters, task_type: str | None, failed: frozenset[str]) -> Iterator[_State]:
    if any(parameters.gates[name].effect is GateEffect.ALL_ZERO for name in failed):
        yield 0, frozenset()
        return
    asked = {key for rule in parameters.verdict.rules.values() for key in rule.nonzero}
    whole = _whole_states(parameters, task_type, asked) if parameters.scale.values is ValueKind.INTEGER else None
    yield from whole if whole is not None else _sampled_states(parameters, task_type, asked)


def _factors(parameters: ScoredParameters, task_type: str | None) -> dict[str, int | float]:
    if parameters.total.rule is TotalRule.WEIGHTED_SUM:
        return dict(weights_of(parameters, task_type))
    return dict.fromkeys(parameters.dimensions, 1)


def _whole_states(parameters: ScoredParameters, task_type: str | None, asked: set[str]) -> set[_State] | None:
    """Every state, dimension by dimension: many score vectors share one, so this stays small where vectors explode."""
    factors, maxima = _factors(parameters, task_type), maxima_of(parameters, task_type)
    states: set[_State] = {(0, frozenset())}
    for key in parameters.dimensions:
        values = range(int(parameters.scale.minimum), int(maxima[key]) + 1)
        if len(states) * len(values) > _MAX_STATES * 20:
            return None
        states = {
            (total + factors[key] * value, nonzero | {key} if value and key in asked else nonzero)
            for (total, nonzero), value in product(states, values)
        }
        if len(states) > _MAX_STATES:
            return None
    return states


def _sampled_states(parameters: ScoredParameters, task_type: str | None, asked: set[str]) -> Iterator[_State]:
    """Totals at, just below and just above each threshold and end, for every set of dimensions that can be zero."""
    scale, factors, maxima = parameters.scale, _factors(parameters, task_type), maxima_of(parameters, task_type)
    tried = {edge + shift for edge in _edges(parameters, task_type) for shift in (-_STEP, 0, _STEP)}
    for size in range(len(asked) + 1):
        for zeros in combinations(sorted(asked), size):
            ranges = [
                (0, 0) if key in zeros else (factors[key] * _lowest(scale, key in asked), factors[key] * maxima[key])
                for key in parameters.dimensions
            ]
            low, high = sum(low for low, _ in ranges), sum(high for _, high in ranges)
            if zeros and not _holds_zero(scale):
                continue
            for total in sorted(tried):
                if low - _STEP / 2 <= total <= high + _STEP / 2:
                    yield total, frozenset(asked - set(zeros))


def _lowest(scale: Scale, is_nonzero: bool) -> float:
    return _STEP / 100 if is_nonzero and scale.minimum == 0 else scale.minimum


def _holds_zero(scale: Scale) -> bool:
    return scale.minimum <= 0 <= (scale.maximum if scale.maximum is not None else 0)


def _edges(parameters: ScoredParameters, task_type: str | None) -> set[int | float]:
    edges: set[int | float] = set(total_range(parameters, task_type))
    for rule in parameters.verdict.rules.values():
        edges |= {edge for edge in (rule.at_least, rule.at_most) if edge is not None}
    return edges


def _why(parameters: ScoredParameters, word: str) -> str:
    rule = parameters.verdict.rules[word]
    types: tuple[str | None, ...] = tuple(parameters.task_types.types) or (None,)
    lowest = min(total_range(parameters, name)[0] for name in types)
    highest = max(total_range(parameters, name)[1] for name in types)
    if rule.at_least is not None and rule.at_least > highest:
        return f"at_least {rule.at_least:g} is above the highest total {highest:g}"
    if rule.at_most is not None and rule.at_most < lowest:
        return f"at_most {rule.at_most:g} is below the lowest total {lowest:g}"
    if rule.at_least is not None and rule.at_most is not None and rule.at_least > rule.at_most:
        return f"at_least {rule.at_least:g} is above its own at_most {rule.at_most:g}"
    earlier = _names_before(parameters.verdict.rules, word)
    return f"whatever it would match is matched by {earlier} before it" if earlier else "no reply can meet it"


def _names_before(rules: dict[str, VerdictRule], word: str) -> str:
    names = list(rules)
    return " or ".join(names[: names.index(word)])
