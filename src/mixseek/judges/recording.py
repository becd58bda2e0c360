"""A recorded reply as it stands in a row, whatever the column is called."""

from collections.abc import Mapping
from typing import Any

import orjson

from mixseek.domain.judgments import Missing, Reply

# In the order in which they are looked for: the most explicit name first.
REPLY_NAMES = ("reply", "raw_output", "raw", "text", "output", "response", "content")
JUDGE_NAMES = ("judge_model", "judge")
# What is wrong with the bundle that the reply was taken out of: {"flag": …, "detail": …}.
PROBLEM_NAME = "reply_problem"
# The reply was taken out of a bundle.
BUNDLED_NAME = "reply_bundled"


def recorded_reply(
    row: Mapping[str, Any], name: str, judge: str, sample_id: str, *, may_be_bundled: bool = False
) -> Reply | Missing:
    """The text in column `name`, to the letter; a value that is not text is written as JSON, and marked so.

    `may_be_bundled`: the row may have been made out of a bundle; otherwise it cannot say so of itself.
    """
    value = row.get(name)
    if value is None:
        return Missing(f"no recorded reply for id {sample_id!r}")
    details: dict[str, Any] = {}
    if not isinstance(value, str):
        # The original bytes are lost: key order survives, spacing and duplicate keys do not.
        value = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS, default=str).decode()
        details["reserialised"] = True
    problem = row.get(PROBLEM_NAME)
    if may_be_bundled and isinstance(problem, Mapping):
        details["unusable"] = dict(problem)
    if may_be_bundled and row.get(BUNDLED_NAME) is True:
        details["bundle"] = True
    model = judge_of(row)
    if model is not None:
        details["judge_model"] = model
    return Reply(value, judge, details=details)


def judge_of(row: Mapping[str, Any]) -> str | None:
    """Who wrote the reply, where the row says so."""
    return next((row[key] for key in JUDGE_NAMES if isinstance(row.get(key), str)), None)
