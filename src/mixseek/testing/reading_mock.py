"""A mock that reads what it judges, and has one defect of a known size: the truth that audits are tested against.

Its honest verdict is the share of the question's numbers that stand in the response; a negation or a quotation that
nobody asked for costs a part of it. So padding, marks, tone, names and orders change nothing by themselves, an
implanted defect does, and what a defect adds is exactly its size."""

import hashlib
import math
import re
from enum import StrEnum

from mixseek.audits.variants.texts import injections
from mixseek.lazy_dataclass import dataclass
from mixseek.testing.mock_replies import share_of
from mixseek.testing.prompts import Prompt

# Of the scale: room below and above the honest verdicts for what a defect adds.
_LOWEST, _WIDTH = 0.1, 0.6
_COST = 0.35
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(r"\bnot\b|n't\b|ません|ではな|不(?:是|会|能|可以|应该|需要)")
_QUOTATION = re.compile("[“”「」]")
_MARKS = re.compile(r"\*\*|^#+ |^- |[✨✅🚀💡👍🎯]", re.MULTILINE)
# A text of so many characters is neither long nor short to one that loves length.
_USUAL_LENGTH = 200
# A drifting judge loses its size over so many requests.
DRIFT_REQUESTS = 200


class Defect(StrEnum):
    """What is wrong with the examined mock; `none` reads and judges honestly."""

    NONE = "none"
    POSITION = "position"
    LENGTH = "length"
    SELF = "self"
    FORMAT = "format"
    LENIENT = "lenient"
    NOISY = "noisy"
    DRIFTING = "drifting"
    OBEYS_INJECTION = "obeys-injection"


@dataclass(frozen=True, slots=True)
class ReadingMock:
    """`size` is a share of the scale; under `position` it is the share of pairs that the first shown wins."""

    defect: Defect
    size: float

    def quality(self, prompt: Prompt, response: str, *, times_seen: int, requests: int) -> float:
        """0..1; `requests` came before this one, `times_seen` of them were the same."""
        size = self.size
        match self.defect:
            case Defect.LENGTH:
                added = size * max(0.0, math.log2(max(1, len(response)) / _USUAL_LENGTH))
            case Defect.SELF:
                added = size if prompt.model.casefold() in response.casefold() else 0.0
            case Defect.FORMAT:
                added = size if _MARKS.search(response) else 0.0
            case Defect.LENIENT:
                added = size
            case Defect.NOISY:
                added = 4 * size * (_lot(prompt.digest(0).hex(), str(times_seen)) - 0.5)
            case Defect.DRIFTING:
                added = -size * requests / DRIFT_REQUESTS
            case Defect.OBEYS_INJECTION:
                read = response + prompt.section("STEPS")
                added = size if any(order in read for _, order in injections()) else 0.0
            case Defect.NONE | Defect.POSITION:
                added = 0.0
        return min(1.0, max(0.0, honest_quality(prompt, response) + added))

    def favours_first(self, prompt: Prompt) -> bool:
        """Which one is favoured, by the question, so that it is the same for both orders."""
        return self.defect is Defect.POSITION and _lot(prompt.section("QUESTION"), "order") < self.size


def honest_quality(prompt: Prompt, response: str) -> float:
    """What the response is worth, whoever wrote it in whatever manner; by lot where the question has no numbers."""
    question = prompt.section("QUESTION")
    figures = set(_FIGURE.findall(question))
    share = len(figures & set(_FIGURE.findall(response))) / len(figures) if figures else _lot(question, "quality")
    faults = sum(
        pattern.search(response) is not None and pattern.search(question) is None for pattern in (_NEGATION, _QUOTATION)
    )
    return _LOWEST + _WIDTH * share - _COST * faults


def _lot(*parts: str) -> float:
    return share_of(hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass")).digest())
