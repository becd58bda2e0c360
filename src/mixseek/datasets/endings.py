"""How a response ended: whether its writer was done with it, or it was cut off before.

Two things tell: the reason that an endpoint or a log gives for the end, and reasoning that is opened and never closed.
"""

import re
from collections.abc import Mapping
from typing import Any

from mixseek.matching.reasoning_tags import REASONING_CLOSES, REASONING_OPENS

# All that stands before the end of the last closed block.
REASONING_DONE = rf"(?is)^.*{REASONING_CLOSES}"
# What endpoints and logs call an end that the limit has brought; in small letters.
CUT_REASONS = (
    "length",
    "max_tokens",
    "max_output_tokens",
    "max_completion_tokens",
    "max_length",
    "model_length",
    "model_context_window_exceeded",
    "token_limit",
)
# Under which of these names samples carry the reason, in their metadata.
REASON_NAMES = ("stop_reason", "finish_reason")

_OPENS = re.compile(REASONING_OPENS, re.IGNORECASE)
_DONE = re.compile(REASONING_DONE)


def is_cut_off(response: str, reason: str | None) -> bool:
    """Whether more would have come: by the reason that is given, or because its reasoning has no end."""
    if reason is not None and reason.lower() in CUT_REASONS:
        return True
    return (
        "<" in response and _OPENS.search(response) is not None and _OPENS.search(_DONE.sub("", response)) is not None
    )


def is_cut_sample(sample: Mapping[str, Any]) -> bool:
    """The same of a sample as its record says it."""
    metadata = sample.get("metadata") or {}
    reasons = [metadata[name] for name in REASON_NAMES if isinstance(metadata.get(name), str)]
    return is_cut_off(sample.get("response") or "", reasons[0] if reasons else None)
