"""Distributions that the closed forms need: beta limits, and exact tests on counts. Standard library only."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist

# Beyond this many degrees of freedom the four-term expansion is exact to eight digits, and the series costs time.
_SERIES_LIMIT = 200


def student_quantile(probability: float, degrees: int) -> float:
    """The t value that a share `probability` of the distribution lies below; `probability` in [0.5, 1)."""
    if degrees > _SERIES_LIMIT:
        return _expanded_quantile(probability, degrees)
    low, high = 0.0, 1.0
    while _student_cdf(high, degrees) < probability:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_cdf(middle, degrees) < probability else (low, middle)
    return high


def _student_cdf(t: float, degrees: int) -> float:
    """Abramowitz & Stegun 26.7.3 and 26.7.4: a finite series for whole degrees of freedom, t >= 0."""
    angle = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2 == 1
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for step in range(3 if odd else 2, degrees - 1, 2):
        term *= cosine * cosine * (step - 1) / step
        total += term
    inside = (angle + sine * total) * 2 / math.pi if odd else sine * total
    return 0.5 + inside / 2


def _expanded_quantile(probability: float, degrees: int) -> float:
    """Abramowitz & Stegun 26.7.5: the normal quantile with four corrections in 1/degrees."""
    x = NormalDist().inv_cdf(probability)
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / float(degrees) ** power for power, term in enumerate(terms, start=1))


# Terms of the continued fraction; it converges in a few dozen, and for millions of trials in about their square root.
_TERMS = 5_000
# Beyond so many throws binomial chances are the beta distribution's; whole numbers would have too many digits.
_MOST_THROWS = 1_000
_TINY = 1e-300
# Outcomes as unlikely as the observed one are counted with it, in spite of rounding.
_LOG_TOLERANCE = 1e-9
_NEGLIGIBLE = 1e-17


def beta_cdf(x: float, a: float, b: float) -> float:
    """The share of Beta(a, b) below x: the continued fraction of the incomplete beta function (Lentz)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    numerator, denominator = 1.0, 1 - (a + b) * x / (a + 1)
    denominator = 1 / (denominator if abs(denominator) > _TINY else _TINY)
    fraction = denominator
    for step in range(1, _TERMS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        before = fraction
        for term in (even, odd):
            denominator = 1 + term * denominator
            denominator = 1 / (denominator if abs(denominator) > _TINY else _TINY)
            numerator = 1 + term / numerator
            numerator = numerator if abs(numerator) > _TINY else _TINY
            fraction *= denominator * numerator
        if abs(fraction - before) < 1e-16 * abs(fraction):
            break
    return math.exp(log_front) * fraction / a


@lru_cache(maxsize=65_536)
def beta_quantile(probability: float, a: float, b: float) -> float:
    """The x that a share `probability` of Beta(a, b) lies below, by bisection to the last digit."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if beta_cdf(middle, a, b) < probability else (low, middle)
    return (low + high) / 2


def jeffreys_limits(hits: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Jeffreys' interval of a share; its lower end is 0 without hits and its upper end 1 without misses."""
    tail = (1 - level) / 2
    low = 0.0 if hits <= 0 else beta_quantile(tail, hits + 0.5, trials - hits + 0.5)
    high = 1.0 if hits >= trials else beta_quantile(1 - tail, hits + 0.5, trials - hits + 0.5)
    return low, high


def student_two_sided(t: float, degrees: float) -> float:
    """The chance of a t value at least as far from nought, also where it is tiny."""
    return min(1.0, beta_cdf(degrees / (degrees + t * t), degrees / 2, 0.5))


def binomial_two_sided(hits: int, trials: int) -> float:
    """The exact p-value of `hits` heads in `trials` throws of a fair coin; 1 without throws."""
    if trials == 0:
        return 1.0
    at_most, _ = _fewer_heads(min(hits, trials - hits), trials)
    return min(1.0, 2 * at_most)


def mid_p(hits: int, trials: int) -> float:
    """McNemar's mid-p: half of the observed outcome's own chance counts, so that the test is not too shy."""
    if trials == 0:
        return 1.0
    at_most, exactly = _fewer_heads(min(hits, trials - hits), trials)
    return min(1.0, 2 * at_most - exactly)


def _fewer_heads(heads: int, throws: int) -> tuple[float, float]:
    """The chances of at most so many heads, and of exactly so many."""
    if throws <= _MOST_THROWS:
        at_most = sum(math.comb(throws, k) for k in range(heads + 1))
        return at_most / 2**throws, math.comb(throws, heads) / 2**throws
    exactly = math.exp(log_choose(throws, heads) - throws * math.log(2))
    return beta_cdf(0.5, throws - heads, heads + 1), exactly


def hypergeometric_p(drawn: Sequence[float], pool: Sequence[int], effects: Sequence[float] = ()) -> float:
    """How likely a random draw of as many items strays from the pool's verdicts as far as this one did.

    `drawn[k]` of `pool[k]` items with verdict k. Exact with two verdicts; with more, every verdict against the rest
    and the smallest p-value times the number of verdicts (Bonferroni). `effects[k]`: how many labels are worth one,
    for verdict k, because whole questions were drawn.
    """
    each = effects or [1.0] * len(pool)
    sizes = [(n, total, effect) for n, total, effect in zip(drawn, pool, each, strict=True) if total]
    if len(sizes) < 2:
        return 1.0
    labels, items = sum(n for n, _, _ in sizes), sum(total for _, total, _ in sizes)
    tests = sizes[:1] if len(sizes) == 2 else sizes
    p_values = [
        _hypergeometric_two_sided(round(n / effect), round(labels / effect), total, items) for n, total, effect in tests
    ]
    return min(1.0, len(tests) * min(p_values))


def _hypergeometric_two_sided(observed: int, drawn: int, good: int, items: int) -> float:
    """The chance of outcomes that are no likelier than the observed one: its own tail, and the other from there on."""
    least, most = max(0, drawn - (items - good)), min(drawn, good)

    def log_chance(k: int) -> float:
        return log_choose(good, k) + log_choose(items - good, drawn - k) - log_choose(items, drawn)

    limit = log_chance(observed) + _LOG_TOLERANCE
    mode = min(most, max(least, (drawn + 1) * (good + 1) // (items + 2)))
    if log_chance(mode) <= limit:
        return 1.0
    step = 1 if observed < mode else -1
    # Chances fall from the mode on: the first outcome beyond it that is as unlikely, by bisection.
    near, far = mode, most if step == 1 else least
    if log_chance(far) > limit:
        return _tail(log_chance, observed, -step, least, most)
    while abs(far - near) > 1:
        middle = (near + far) // 2
        near, far = (middle, far) if log_chance(middle) > limit else (near, middle)
    return min(1.0, _tail(log_chance, observed, -step, least, most) + _tail(log_chance, far, step, least, most))


def _tail(log_chance: Callable[[int], float], start: int, step: int, least: int, most: int) -> float:
    """The sum from there outwards, for as long as there is anything to add."""
    total, k = 0.0, start
    while least <= k <= most:
        chance = math.exp(log_chance(k))
        total += chance
        if chance <= total * _NEGLIGIBLE:
            break
        k += step
    return total


def log_choose(n: int, k: int) -> float:
    """The logarithm of the number of ways to choose k of n."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
