"""A sample's own words in a prompt: names on one line, texts between fences."""

import hashlib
import re
from typing import Any

from mixseek.domain.samples import Sample
from mixseek.templating import fence

_LONGEST_NAME = 200
# Controls, direction marks, line and paragraph separators.
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def shown_name(name: str) -> str:
    """One line, and no longer than a name is: names come with the judged text, so they could hold instructions."""
    line = " ".join(_UNSEEN.sub(" ", name).split())
    if len(line) <= _LONGEST_NAME:
        return line
    # The digest keeps two long names apart.
    return f"{line[: _LONGEST_NAME - 18].rstrip()}… {hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:16]}"


def fenced_question(sample: Sample, nonce: str) -> dict[str, Any]:
    """What a response is held against, for the templates."""
    truth = sample.ground_truth
    return {
        "question": fence(sample.question, "QUESTION", nonce),
        "ground_truth": "" if truth is None else fence(truth, "GROUND_TRUTH", nonce),
        "ground_truth_alternatives": [
            fence(text, f"GROUND_TRUTH_ALTERNATIVE_{number}", nonce)
            for number, text in enumerate(sample.ground_truth_alternatives, start=1)
        ],
    }
