"""The texts of an answer run as they are searched: questions, and responses without their reasoning."""

import orjson

from mixseek.protocols.replies.thought import without_thought
from mixseek.storage.journal.tail import FoldedTexts, folded_line

_ASKED = ("question_id", "question", "ground_truth")


class FoldedQuestions(FoldedTexts):
    """One line a prompt; what a template adds would be found in every one of them."""

    def fold_line(self, line: bytes) -> bytes:
        sample = orjson.loads(line)["sample"]
        texts = [text for name in _ASKED if (text := sample.get(name))]
        return folded_line([*texts, *sample.get("ground_truth_alternatives", ())])


class FoldedResponses(FoldedTexts):
    """One line a reply."""

    kind = b'{"t":"rep'

    def fold_line(self, line: bytes) -> bytes:
        return folded_line([without_thought(orjson.loads(line)["text"]).text])
