"""Keywords of the release before: still understood, with a warning that says the new name."""

import warnings
from collections.abc import Mapping
from typing import Any

from mixseek.runs.requests.given_options import several

_ENDS = ("point", "lower")


def renew_keywords(options: Mapping[str, Any], caller: str) -> dict[str, Any]:
    """`on="lower"` is `gate_on="lower"`, and `out` of an audit is `to`."""
    renewed = dict(options)
    if caller == "audit" and "out" in renewed:
        note("out", "to")
        renewed["to"] = renewed.pop("out")
    if caller == "judge" and renewed.get("on") not in (None, "ray"):
        places = several(renewed["on"])
        ends = [place for place in places if place in _ENDS]
        others = [place for place in places if place not in _ENDS]
        if ends:
            note(f"on={ends[0]!r}", f"gate_on={ends[0]!r}")
            renewed["gate_on"] = ends[0]
        renewed["on"] = others[0] if others else None
    return renewed


def note(old: str, new: str) -> None:
    """Tells whoever listens to warnings, as for any library."""
    warnings.warn(f"{old} is now {new}; the old spelling goes with the next release", DeprecationWarning, stacklevel=6)
