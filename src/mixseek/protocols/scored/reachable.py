"""Which verdicts of a scored protocol can come out at all; a word that never can is a slip in its thresholds."""

import math
from collections.abc import Iterator
from itertools import chain, combinations

from mixseek.protocols.scored.arithmetic import factors_of, maxima_of, total_range, verdict_of
from mixseek.protocols.scored.parameters import ScoredParameters

# Gates that fail together: all subsets up to this many gates, single ones beyond.
_MAX_GATES = 6
# Between totals of decimal scores.
_STEP = 1e-6
# A total and the dimensions that are not zero, of those that a rule asks about.
_State = tuple[int | float, frozenset[str]]


def unreachable_verdicts(parameters: ScoredParameters) -> dict[str, str]:
    """Each word that no reply can lead to, with the reason."""
    rules, gates = parameters.verdict.rules, tuple(parameters.gates)
    sizes = range(len(gates) + 1) if len(gates) <= _MAX_GATES else (0, 1)
    reached: set[str] = set()
    for task_type in parameters.task_types.types or (None,):
        states = list(_states(parameters, task_type))
        for failed in chain.from_iterable(combinations(gates, size) for size in sizes):
            is_zeroed = any(parameters.gates[name].effect == "all_zero" for name in failed)
            for total, nonzero in [(0, frozenset[str]())] if is_zeroed else states:
                scores = {key: int(key in nonzero) for key in parameters.dimensions}
                reached.add(verdict_of(parameters, scores, total, failed))
    return {word: _why(parameters, word) for word in rules if word not in reached}


def _states(parameters: ScoredParameters, task_type: str | None) -> Iterator[_State]:
    """Totals at and beside each threshold and end, for every set of dimensions that can be zero."""
    scale, rules = parameters.scale, parameters.verdict.rules.values()
    factors, maxima = factors_of(parameters, task_type), maxima_of(parameters, task_type)
    # Whole scores make totals that are multiples of what all weights have in common.
    whole = [factor for factor in factors.values() if isinstance(factor, int)]
    step = math.gcd(*whole) if scale.values == "integer" and len(whole) == len(factors) else _STEP
    ends = {*total_range(parameters, task_type), *(end for rule in rules for end in (rule.at_least, rule.at_most))}
    bases = {end if step == _STEP else math.floor(end / step) * step for end in ends if end is not None}
    tried = {base + shift for base in bases for shift in (-step, 0, step)}
    least = 1 if scale.values == "integer" else _STEP / 100
    asked = sorted({key for rule in rules for key in rule.nonzero})
    may_be_zero = scale.minimum <= 0 <= (scale.maximum if scale.maximum is not None else 0)
    for size in range(len(asked) + 1 if may_be_zero else 1):
        for zeros in combinations(asked, size):
            nonzero = frozenset(asked) - set(zeros)
            lowest = {key: least if key in nonzero and scale.minimum == 0 else scale.minimum for key in factors}
            low = sum(factors[key] * lowest[key] for key in factors if key not in zeros)
            high = sum(factors[key] * maxima[key] for key in factors if key not in zeros)
            totals = (total for total in {low, high, *tried} if low - _STEP / 2 <= total <= high + _STEP / 2)
            yield from ((total, nonzero) for total in totals)


def _why(parameters: ScoredParameters, word: str) -> str:
    rule, rules = parameters.verdict.rules[word], list(parameters.verdict.rules)
    lowest, highest = total_range(parameters, None)
    if rule.at_least is not None and rule.at_least > highest:
        return f"at_least {rule.at_least:g} is above the highest total {highest:g}"
    if rule.at_most is not None and rule.at_most < lowest:
        return f"at_most {rule.at_most:g} is below the lowest total {lowest:g}"
    if rule.at_least is not None and rule.at_most is not None and rule.at_least > rule.at_most:
        return f"at_least {rule.at_least:g} is above its own at_most {rule.at_most:g}"
    earlier = " or ".join(rules[: rules.index(word)])
    return f"whatever it would match is matched by {earlier} before it" if earlier else "no reply can meet it"
