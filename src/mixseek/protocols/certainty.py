"""How sure a judge is of the verdict that its reply gives, and the mean of the score over what it might have given.

From the tokens of the fields that hold the verdict, where they are known. Several fields that make one verdict together
say how likely each of their values was, and nothing of how these hang together: then there is an expected score, which
is a sum of means, and no confidence.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mixseek.domain.confidence import Confidence, ConfidenceSource, expected_value
from mixseek.domain.judgments import Reply
from mixseek.protocols.replies.field_places import FieldPath
from mixseek.protocols.replies.token_shares import LOGPROBS, FieldShares, UnusableError, read_shares

# Among the fields of a judgment whose tokens were asked for: why they say nothing of how sure the judge is.
NO_CONFIDENCE = "no_confidence"


class Certainty(NamedTuple):
    """What is known of how sure a judge is; `fields` go to those of its judgment."""

    confidence: Confidence | None = None
    expected_score: float | None = None
    fields: Mapping[str, Any] = {}


UNKNOWN = Certainty()


def has_tokens(reply: Reply) -> bool:
    """Whether the probabilities of tokens were asked for."""
    return isinstance(reply.details.get(LOGPROBS), Mapping)


def why_unsure(reply: Reply) -> dict[str, str]:
    """The field of a judgment that says why tokens which were asked for say nothing; none where nobody asked."""
    return {NO_CONFIDENCE: str(reply.details[LOGPROBS].get("problem"))} if has_tokens(reply) else {}


def shares_of_field(reply: Reply, path: FieldPath, options: Mapping[str, str], given: str) -> FieldShares:
    """The probability of each option of a field; raises UnusableError, whose words name the field."""
    known = reply.details[LOGPROBS]
    if problem := known.get("problem"):
        raise UnusableError(str(problem))
    name = ".".join(path)
    fields = known.get("fields")
    document = fields.get(name) if isinstance(fields, Mapping) else None
    if not isinstance(document, Mapping):
        raise UnusableError(f"the tokens of {name} are not known")
    try:
        return read_shares(document, options, given)
    except UnusableError as error:
        raise UnusableError(f"{name} {error}") from None


def certainty_of_tokens(
    reply: Reply, path: FieldPath, options: Mapping[str, str], verdict: str, scores: Mapping[str, float]
) -> Certainty:
    """How sure a judge is of a verdict that one field gives: `options` as they are written there, and their scores."""
    if not has_tokens(reply):
        return UNKNOWN
    try:
        known = shares_of_field(reply, path, options, verdict)
    except UnusableError as error:
        return Certainty(fields={NO_CONFIDENCE: str(error)})
    confidence = Confidence(known.shares[verdict], ConfidenceSource.LOGPROBS, known.shares, known.outside)
    return Certainty(confidence, expected_value(known.shares, scores))
