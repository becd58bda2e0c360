"""A sample's own words in a prompt: names on one line, texts between fences."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from mixseek.domain.ports import Message, Nonces
from mixseek.domain.samples import Sample
from mixseek.domain.steps import Context
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


def with_constant_part(
    message: Message, template: StrictTemplate, nonces: Nonces, identity: str = "", rubric: str = ""
) -> Message:
    """The message, and how much of it is there before anything of the sample's own."""
    text = message.content
    if "nonce" in template.variables and QUESTION_NONCE not in template.variables:
        # As version 1 asked: it begins with the sample.
        return message
    particular = [text.find(part) for part in (*nonces, identity) if part]
    ends = min((place for place in particular if place >= 0), default=len(text))
    begins = text.find(rubric) if rubric else -1
    return replace(message, run_constant=min(ends, begins) if begins >= 0 else ends, rubric_constant=ends)


def fenced_contexts(sample: Sample, nonces: Nonces) -> list[dict[str, Any]]:
    """The documents, each in a fence of its own with the question's nonce; ids stand outside as JSON, on one line."""
    return [
        {
            "id": json.dumps(shown_name(context.id), ensure_ascii=False),
            "source": "" if context.source is None else json.dumps(shown_name(context.source), ensure_ascii=False),
            "label": f"CONTEXT_{number}",
            "text": fence(context.text, f"CONTEXT_{number}", nonces.question),
        }
        for number, context in enumerate(sample.contexts, start=1)
    ]


def context_texts(contexts: Iterable[Context]) -> Iterator[str]:
    """Everything that documents bring into a prompt: none of it may hold a nonce."""
    for context in contexts:
        yield from (context.id, context.text, context.source or "")


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
