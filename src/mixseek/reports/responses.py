"""How responses ended, for programs, and as a warning where scores are set against each other."""

from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.domain.counts import ResponseCounts
from mixseek.domain.response_states import UNFINISHED
from mixseek.presentation.sections import Sentence
from mixseek.reports.wording.responses import unfinished_sentence


def responses_document(responses: ResponseCounts) -> dict[str, Any]:
    """How responses ended: three names, three counts; and what a choice left out, or counts as incorrect."""
    ended = {state.value: {"count": responses.of(state), "share": responses.share(state)} for state in UNFINISHED}
    chosen = {"left_out": responses.left_out, "undecided_incorrect": responses.undecided_incorrect}
    return {"total": responses.total, **ended, **chosen}


def unfinished_notes(responses: Mapping[str, ResponseCounts]) -> Iterator[Sentence]:
    """A warning before the first number, where a score may be low because of a limit."""
    if sentence := unfinished_sentence(responses):
        yield Sentence(f"⚠ {sentence}", "yellow")
