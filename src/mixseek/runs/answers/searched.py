"""The texts of an answer run as they are searched: questions, and responses without their reasoning."""

import orjson

from mixseek.domain.judgments import Reply
from mixseek.protocols.answers import read_response
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
        record = orjson.loads(line)
        return folded_line([read_response(Reply(record["text"], record["judge"], details=record["details"])).text])
