"""A variant of a sample, or why there is none; and the marks that it carries."""

from typing import NamedTuple

from mixseek.domain.samples import Sample
from mixseek.stats.audits import Audit

PLAIN = "plain"
# In the metadata of a variant: whose it is, what it is for, and what was done.
ORIGINAL, AUDIT, KIND = "audit_original", "audit", "audit_kind"
OWN_NAME, OTHER_NAME = "own name", "another name"
CONFIDENT, APOLOGETIC = "confident", "apologetic"
# Behind the kind of an order that stands in a tool's result.
IN_A_STEP = " in a step"
# What an order to the judge is held against: as many characters at the same place, that ask for nothing.
NEUTRAL = "neutral text"


class Variant(NamedTuple):
    """What is shown to the judge. `original` is the id of the sample that it was made from."""

    original: str
    audit: Audit | None  # None for the plain text
    kind: str
    sample: Sample


class Inapplicable(NamedTuple):
    """Nothing of this audit can be done to this sample."""

    original: str
    audit: Audit
    reason: str
