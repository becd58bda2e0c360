"""How a response ended: its writer was done, a limit cut it off, a filter withheld it, or nothing came.

Two things tell: the reason that an endpoint or a log gives for the end, in whatever spelling, and the text itself.
How a response ended is no verdict on it: a judge may say anything of one that was cut off.
"""

import re
from enum import StrEnum
from typing import NamedTuple


class ResponseState(StrEnum):
    """The four ends of a response; one that is not there at all has none of them."""

    FINISHED = "finished"
    CUT_OFF = "cut_off"
    WITHHELD = "withheld"
    EMPTY = "empty"


# What is counted and shown beside every mean, in this order.
UNFINISHED = (ResponseState.CUT_OFF, ResponseState.WITHHELD, ResponseState.EMPTY)

# In the metadata of a sample: its state, where the data say it, and that of the other response of a pair.
RESPONSE_STATE, RESPONSE_STATE_B = "response_state", "response_state_b"
# Under which of these names samples carry the reason for the end, in their metadata; the first that is there counts.
REASON_NAMES = ("stop_reason", "finish_reason", "stopReason", "finishReason", "done_reason")

# What leaves one spelling of many: FinishReason.MAX_TOKENS, max-tokens, maxTokens and ["max_tokens"] are one reason. It
# is asked in SQL, too, and so are all texts below: they are written in what Python and RE2 read alike.
REASON_MARKS = r"^.*\.|[^a-z0-9]+"
_REASON_MARKS = re.compile(REASON_MARKS, re.DOTALL)
# A limit of the writer, its context or its time ended it.
CUT_OFF_REASONS = frozenset(
    {
        *("length", "limit", "maxlength", "maxtokens", "maxtoken", "maxoutputtokens", "maxcompletiontokens"),
        *("maxnewtokens", "maxtokensreached", "tokenlimit", "tokenlimitreached", "outputlimit", "tokens"),
        *("modellength", "contextlength", "contextwindow", "contextwindowexceeded", "modelcontextwindowexceeded"),
        *("contextlengthexceeded", "contextfull", "stoppedlimit", "errorlimit", "truncated", "cutoff", "incomplete"),
        *("timeout", "timelimit", "insufficientsystemresource", "finishreasonmaxtokens", "finishreasonlength"),
    }
)
# A filter ended it: what stands there is the filter's word, or what nobody was to see.
FILTER_REASONS = frozenset(
    {
        *("contentfilter", "contentfiltered", "filtered", "filter", "safety", "recitation", "blocklist", "blocked"),
        *("prohibitedcontent", "spii", "language", "imagesafety", "imageprohibitedcontent", "imagerecitation"),
        *("guardrail", "guardrails", "guardrailintervened", "sensitive", "moderation", "errortoxic", "withheld"),
        *("finishreasonsafety", "finishreasonrecitation", "finishreasonblocklist"),
    }
)
# Where the writer's own endpoint declines, its words stand in place of an answer.
WITHHELD_REASONS = FILTER_REASONS | {"refusal", "refused"}
# Nothing but white space, of any script.
BLANK = "^[\t-\r \x85\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]*$"
_BLANK = re.compile(BLANK)
_GIVEN_MARKS = re.compile("[^a-z]+")


class ReasoningMarks(NamedTuple):
    """How reasoning is told from the answer: what opens it, all up to its last end, and a whole block of it."""

    opens: re.Pattern[str]
    done: re.Pattern[str]
    block: re.Pattern[str]


def plain_reason(reason: str) -> str:
    """The reason in the one spelling that the sets above have."""
    return _REASON_MARKS.sub("", reason.lower())


def state_of_reason(reason: str | None) -> ResponseState | None:
    """What the reason for an end tells about it; None where it tells nothing."""
    if reason is None:
        return None
    name = plain_reason(reason)
    if name in CUT_OFF_REASONS:
        return ResponseState.CUT_OFF
    return ResponseState.WITHHELD if name in WITHHELD_REASONS else None


def read_state(given: object) -> ResponseState | None:
    """A state as data write it: `cut_off`, `cut off` or `CUT-OFF`; None for what is none."""
    if not isinstance(given, str):
        return None
    name = _GIVEN_MARKS.sub("_", given.lower())
    return ResponseState(name) if name in set(ResponseState) else None


def response_state(reason: str | None, response: str, marks: ReasoningMarks) -> ResponseState:
    """How a response ended: by the reason that is given, else by its text.

    Reasoning that is opened and never closed was cut off, and what holds nothing but closed reasoning is empty.
    """
    if (known := state_of_reason(reason)) is not None:
        return known
    if marks.opens.search(response) is None:
        return ResponseState.EMPTY if _BLANK.match(response) else ResponseState.FINISHED
    if marks.opens.search(marks.done.sub("", response)) is not None:
        return ResponseState.CUT_OFF
    return ResponseState.EMPTY if _BLANK.match(marks.block.sub("", response)) else ResponseState.FINISHED
