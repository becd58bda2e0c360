"""A recorded reply as it stands in a row, whatever the column is called."""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from mixseek.domain.judgments import Missing, Reply

# In the order in which they are looked for: the most explicit name first.
REPLY_NAMES = ("reply", "raw_output", "raw", "text", "output", "response", "content")
JUDGE_NAMES = ("judge_model", "judge")
_KEPT = ("finish_reason", "reasoning")
_ISO_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:\Z|[T ])")
# What is wrong with the bundle that the reply was taken out of: {"flag": …, "detail": …}.
PROBLEM_NAME = "reply_problem"
# The reply was taken out of a bundle.
BUNDLED_NAME = "reply_bundled"


def recorded_reply(
    row: Mapping[str, Any], name: str, judge: str, sample_id: str, *, may_be_bundled: bool = False
) -> Reply | Missing:
    """The text in column `name`, to the letter; a value that is not text is written as JSON, and marked so."""
    value = row.get(name)
    if value is None:
        return Missing(f"no recorded reply for id {sample_id!r}")
    # A row that cannot have been made out of a bundle cannot say so of itself.
    problem = row.get(PROBLEM_NAME) if may_be_bundled else None
    details = {
        # The original bytes are lost: key order survives, spacing and duplicate keys do not.
        "reserialised": not isinstance(value, str) or None,
        "unusable": dict(problem) if problem and isinstance(problem, Mapping) else None,
        "bundle": (may_be_bundled and row.get(BUNDLED_NAME) is True) or None,
        "received_on": day_of(row),
        # Of a target's recorded answer: how it ended, and what it thought.
        **{kept: row[kept] for kept in _KEPT if isinstance(row.get(kept), str)},
    }
    if not isinstance(value, str):
        value = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS, default=str).decode()
    return Reply.by_model(judge_of(row), value, judge, details)


def day_of(row: Mapping[str, Any]) -> str | None:
    """When the reply came, where the row says so in a way that cannot be misread."""
    timestamp = row.get("timestamp")
    return timestamp[:10] if isinstance(timestamp, str) and _ISO_DAY.match(timestamp) else None


def judge_of(row: Mapping[str, Any]) -> str | None:
    """Who wrote the reply, where the row says so."""
    return next((row[key] for key in JUDGE_NAMES if isinstance(row.get(key), str)), None)
