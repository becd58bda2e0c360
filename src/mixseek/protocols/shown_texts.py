"""A sample's own words in a prompt: names on one line, texts between fences."""

import hashlib
import re
from typing import Any

from mixseek.domain.ports import Nonces
from mixseek.domain.samples import Sample
from mixseek.templating import StrictTemplate, fence

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


# A template that names it tells the question's own token; any other, as those of version 1, tells one for all sections.
QUESTION_NONCE = "question_nonce"


def nonces_told(template: StrictTemplate, nonces: Nonces) -> Nonces:
    """The nonces that the prompt tells its reader: fences of any other could be closed by nobody."""
    return nonces if QUESTION_NONCE in template.variables else Nonces(nonces.sample, nonces.sample)


def fenced_question(sample: Sample, nonces: Nonces) -> dict[str, Any]:
    """What a response is held against, for the templates: the same for all who answered the question."""
    truth, nonce = sample.ground_truth, nonces.question
    return {
        QUESTION_NONCE: nonce,
        "question": fence(sample.question, "QUESTION", nonce),
        "ground_truth": "" if truth is None else fence(truth, "GROUND_TRUTH", nonce),
        "ground_truth_alternatives": [
            fence(text, f"GROUND_TRUTH_ALTERNATIVE_{number}", nonce)
            for number, text in enumerate(sample.ground_truth_alternatives, start=1)
        ],
    }
