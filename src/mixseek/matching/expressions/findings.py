"""What a comparison of two parts says, and how parts add up to a whole."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from mixseek.matching.outcome import Decision


class Finding(NamedTuple):
    """A decision and the rule that made it."""

    decision: Decision
    rule: str


def same(rule: str) -> Finding:
    return Finding(Decision.CORRECT, rule)


def different(rule: str) -> Finding:
    return Finding(Decision.INCORRECT, rule)


def unsure(rule: str) -> Finding:
    return Finding(Decision.UNDECIDED, rule)


def all_of(findings: Iterable[Finding], rule: str) -> Finding:
    """Every part must agree; one part that differs settles it, one that is unsure leaves it open."""
    doubt: Finding | None = None
    for finding in findings:
        if finding.decision is Decision.INCORRECT:
            return different(rule)
        if finding.decision is Decision.UNDECIDED and doubt is None:
            doubt = finding
    return doubt or same(rule)


_ROUNDING: Final = re.compile(
    r"\bround(?:ed|ing)?\b|nearest|decimal (?:place|point)|significant (?:figure|digit)|approximat|estimate|四捨五入|"
    r"小数第|保留|精确到|to (?:one|two|three|four|1|2|3|4) decimal",
    re.IGNORECASE,
)
_INTERVAL: Final = re.compile(
    r"\binterval|\bdomain\b|\brange\b|inequalit|solution set|区间|范围|区間|範囲", re.IGNORECASE
)
_ORDER: Final = re.compile(
    r"ascending|descending|increasing order|decreasing order|\bin (?:that|this|the) order|respectively|\bin order\b|"
    r"(?:least|smallest) to (?:greatest|largest)|(?:greatest|largest) to (?:least|smallest)|"
    r"从小到大|从大到小|小さい順|大きい順",
    re.IGNORECASE,
)
_FORM: Final = re.compile(
    r"\bsimplif(?:y|ied)|\bsimplest\b|\bfactor(?:i[sz]e|ed)?\b|\bexpand(?:ed)?\b|化简|因式分解|展开|簡単に|因数分解|展開",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Hints:
    """What the question says about the form of the answer."""

    rounding: bool = False
    interval: bool = False
    order: bool = False  # "in ascending order", "respectively": a list is not a set
    form: bool = False  # "factor", "simplify": an equal formula in another form does not answer it


@lru_cache(maxsize=128)
def read_hints(question: str) -> Hints:
    """Only the end of a long question is read: that is where the form of the answer is asked for."""
    tail = question[-2_000:]
    if not tail:
        return Hints()
    return Hints(
        bool(_ROUNDING.search(tail)), bool(_INTERVAL.search(tail)), bool(_ORDER.search(tail)), bool(_FORM.search(tail))
    )
