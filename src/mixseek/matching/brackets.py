"""Dyck completions: a sequence of closing brackets, with or without spaces between them."""

import re
from dataclasses import dataclass

from mixseek.matching.outcome import Decision
from mixseek.matching.reading import Reading

_RUN = re.compile(r"[\[\](){}<>](?:[\s,\"'*`\\]*[\[\](){}<>])*")
# \texttt{…}: its braces and those of the answer cannot be told apart.
_LATEX = re.compile(r"\\(?:text|math)[a-z]*\s*\{")
_NOTHING = re.compile(r"[\s*\"'(]*(?:empty|nothing|none|no |already|balanced|complete)", re.IGNORECASE)


def is_bracket_sequence(gold: str) -> bool:
    """Only brackets and spaces."""
    return bool(gold.strip()) and not re.sub(r"[\[\](){}<>\s]", "", gold)


@dataclass(frozen=True, slots=True)
class BracketReader:
    """The closing brackets, and the opened sequence they complete."""

    sequence: str
    opened: str
    kind: str = "brackets"
    spans_lines: bool = False

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """The run of brackets in the piece: the completion alone, or the whole sequence ending in it."""
        if _LATEX.search(piece):
            return Reading(Decision.UNDECIDED, 0, len(piece), "brackets_in_latex")
        runs = list(_RUN.finditer(piece))
        if not runs:
            nothing = _NOTHING.match(piece) if firm else None
            return Reading(Decision.INCORRECT, nothing.start(), nothing.end(), "nothing_to_close") if nothing else None
        whole = [run for run in runs if run.start() <= 3 and len(piece.rstrip(" .。*\"'`$")) <= run.end() + 1]
        if not whole and not firm:
            return None
        run = whole[0] if whole else runs[0]
        if not whole and len(runs) > 1:
            return Reading(Decision.UNDECIDED, run.start(), run.end(), "several_bracket_runs")
        given = re.sub(r"[^\[\](){}<>]", "", run[0])
        if given == self.sequence:
            return Reading(Decision.CORRECT, run.start(), run.end(), "bracket_sequence")
        if self.opened and given == self.opened + self.sequence:
            # The question asks for the rest; whether repeating the start is a fault is not for rules to say.
            return Reading(Decision.UNDECIDED, run.start(), run.end(), "whole_bracket_sequence")
        return Reading(Decision.INCORRECT, run.start(), run.end(), "bracket_sequence")

    def is_other(self, text: str, place: int) -> bool:
        """Any run of brackets that is not the completion."""
        run = _RUN.match(text, place)
        return run is not None and re.sub(r"[^\[\](){}<>]", "", run[0]) != self.sequence

    def is_absent(self, text: str) -> bool:
        """No run of brackets ends in the completion."""
        return not any(re.sub(r"[^\[\](){}<>]", "", run[0]).endswith(self.sequence) for run in _RUN.finditer(text))


def bracket_reader(gold: str, question: str) -> BracketReader:
    """Takes the opened sequence from behind the question's last colon."""
    tail = question.rpartition(":")[2]
    opened = re.sub(r"\s", "", tail)
    return BracketReader(re.sub(r"\s", "", gold), opened if is_bracket_sequence(opened) else "")
