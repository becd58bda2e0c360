"""Several options at once: the ground truth is a set of letters, "A, B, D"."""

import re
from functools import cached_property

from mixseek.lazy_dataclass import dataclass
from mixseek.matching.closed.options import lettered_options
from mixseek.matching.phrases import Phrases
from mixseek.matching.readings import Decision, Reader, Reading

_SAYS = Phrases("multi_select")
_LABEL = r"[(\[]?[A-Z][)\]]?"
_GOLD = re.compile(rf"{_LABEL}(?:(?:\s*[,;&/、]\s*(?:and\s+)?|\s+and\s+|\s*[和と]\s*){_LABEL})+\.?")
_LETTER = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_GLUED = re.compile(r"[A-Z]{2,10}")
_LEAST = 2


def several_labels(gold: str) -> frozenset[str] | None:
    """The letters of a ground truth that is nothing but two or more of them; None for any other."""
    if not _GOLD.fullmatch(gold):
        return None
    labels = frozenset(_LETTER.findall(gold))
    return labels if len(labels) >= _LEAST else None


@dataclass(frozen=True)
class MultiSelectReader(Reader):
    """The gold labels; a set is compared with a set, in whatever order it is written."""

    labels: frozenset[str]
    question: str
    kind = "options"

    @cached_property
    def _offered(self) -> frozenset[str]:
        """Every label that may be named; without a list in sight, those up to J."""
        return frozenset(lettered_options(self.question)) or self.labels | frozenset("ABCDEFGHIJ")

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """A run of labels that leads the piece or ends it; a single one only behind a firm cue."""
        run = _SAYS.run.match(piece) if firm else None
        run = run or _SAYS.closing_run.search(piece)
        if run is None:
            none = _SAYS.none.match(piece) if firm else None
            return Reading(Decision.INCORRECT, *none.span(), "none_of_the_options") if none else None
        start, end = run.span("labels")
        written = run["labels"]
        named = {label.upper() for label in _LETTER.findall(written)} if not _GLUED.fullmatch(written) else set(written)
        if not named or not named <= self._offered or (len(named) < _LEAST and not firm):
            return None
        decision = Decision.CORRECT if named == self.labels else Decision.INCORRECT
        reading = Reading(decision, start, end, "option_labels")
        # "A, B or D", "A, B and maybe D", "A and B, not C": more is said than a list.
        is_open = _SAYS.offers.search(written) or _SAYS.goes_on.match(piece, end)
        return reading.left_open("several_options_named") if is_open else reading

    def is_other(self, text: str, place: int) -> bool:
        """Another label right there."""
        match = _LETTER.match(text.upper(), place)
        return match is not None and match[0] in self._offered and match[0] not in self.labels
