"""How the response of a sample ended, as its row says it: the one rule of `domain.response_states`, applied to rows.

The index asks the same of millions of rows in SQL (`index/loading.sql`), with the same patterns.
"""

from collections.abc import Mapping
from typing import Any

from mixseek.datasets.rows import RESPONSE_NULL, RESPONSE_UNKNOWN
from mixseek.domain.response_states import (
    REASON_NAMES,
    RESPONSE_STATE,
    RESPONSE_STATE_B,
    ResponseState,
    read_state,
    response_state,
    state_of_reason,
)
from mixseek.domain.samples import PLANNED_WITHOUT_OUTPUT, RESPONSE_ERROR
from mixseek.matching.reasoning_tags import REASONING_MARKS

# With one of these in the metadata there is no response whose end could be known.
ABSENCES = (PLANNED_WITHOUT_OUTPUT, RESPONSE_UNKNOWN, RESPONSE_NULL, RESPONSE_ERROR)


def state_of_sample(sample: Mapping[str, Any], *, is_second: bool = False) -> ResponseState | None:
    """How the response of a sample ended, or the second of a pair, by its record; None where there is no response."""
    metadata, response = sample.get("metadata") or {}, sample.get("response_b" if is_second else "response")
    if is_second and response is None:
        return None
    given = read_state(metadata.get(RESPONSE_STATE_B if is_second else RESPONSE_STATE))
    if given is not None:
        return given
    reason = reason_of(metadata, "_b" if is_second else "_a" if sample.get("response_b") is not None else "")
    if any(metadata.get(name) not in (None, False) for name in ABSENCES):
        return state_of_reason(reason)
    return response_state(reason, response or "", REASONING_MARKS)


def reason_of(metadata: Mapping[str, Any], side: str = "") -> str | None:
    """Why the response ended, where the metadata say it; of a pair with the letter of the side."""
    for name in REASON_NAMES:
        reason = metadata.get(f"{name}{side}")
        # A list of one is that one: the marks around it are no letters.
        if isinstance(reason, str | list):
            return str(reason)
    return None
