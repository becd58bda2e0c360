"""Who is asked about a sample after whom, where a verdict counts only if its judge is sure enough of it.

A cascade by a certificate is a route: its tiers are asked one after the other, and the first that is as sure as it has
to be decides. What is not sure enough is handed on: it keeps its verdict, and counts as undecided.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mixseek.domain.confidence import read_confidence
from mixseek.domain.judgments import Method, Outcome, Undecided, ValidJudgment
from mixseek.domain.ports import ReplyKey
from mixseek.lazy_dataclass import dataclass

# The field of an undecided judgment that says what verdict was handed on.
HANDED_ON = "handed_on"
# The field of a valid one that no threshold let through: its judge is the last that there is.
LAST_WORD = "last_word"

# Fields that say the verdict once more: columns of an export, where one that was handed on must not be counted.
_IN_OTHER_WORDS = ("is_correct", "error_type")

# Several judges that decide as one are called so, with their tier's name behind it.
_PANEL = "panel:"


def joined_name(tier: str, judges: Sequence[str], repeats: int) -> str | None:
    """What several judges, or several takes of one, are called as one; None for one judge that is asked once."""
    return f"{_PANEL}{tier}" if len(judges) > 1 or repeats > 1 else None


@dataclass(frozen=True, slots=True)
class RouteTier:
    """Who is asked in a tier; `joined` is the name under which several of them decide as one."""

    judges: tuple[str, ...]
    joined: str | None = None


class Route(Protocol):
    """Tiers in their order, and what becomes of a sample in each of them."""

    @property
    def tiers(self) -> Sequence[RouteTier]: ...

    def settle(self, tier: int, heard: Mapping[ReplyKey, Outcome]) -> Mapping[ReplyKey, Outcome]:
        """What is written down of everybody in the tier, once all of them were heard; those before it were heard, too.

        At most one of them is valid: the verdict that counts.
        """


def hand_on(judgment: ValidJudgment, reason: str) -> Undecided:
    """The judgment as undecided, with all that a later tier, and a reader, want of it."""
    confidence = judgment.confidence
    verdict: dict[str, Any] = {
        "verdict": judgment.verdict,
        "score": judgment.score,
        "method": judgment.method.value,
        "confidence": None if confidence is None else confidence.document(),
        "expected_score": judgment.expected_score,
    }
    verdict["fields"] = {name: judgment.fields[name] for name in _IN_OTHER_WORDS if name in judgment.fields}
    answer = judgment.fields.get("extracted_answer")
    moved = ("extracted_answer", *_IN_OTHER_WORDS)
    fields = {name: value for name, value in judgment.fields.items() if name not in moved}
    return Undecided(reason, judgment.rules, judgment.span, answer, {**fields, HANDED_ON: verdict})


def heard_judgment(outcome: Outcome | None) -> ValidJudgment | None:
    """The judgment that an outcome is, or that was handed on; None where nobody gave a verdict."""
    if isinstance(outcome, ValidJudgment):
        return outcome
    verdict = outcome.fields.get(HANDED_ON) if isinstance(outcome, Undecided) else None
    if not isinstance(outcome, Undecided) or not isinstance(verdict, Mapping):
        return None
    fields = {name: value for name, value in outcome.fields.items() if name != HANDED_ON} | dict(verdict["fields"])
    if outcome.extracted_answer is not None:
        fields["extracted_answer"] = outcome.extracted_answer
    return ValidJudgment(
        verdict["score"],
        verdict["verdict"],
        fields,
        Method(verdict["method"]),
        outcome.span,
        outcome.rules,
        confidence=read_confidence(verdict["confidence"]),
        expected_score=verdict["expected_score"],
    )
