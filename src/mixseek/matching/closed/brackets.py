"""Dyck completions: a sequence of closing brackets, with or without spaces between them."""

import re

from mixseek.matching.readings import Decision, Reader, Reading

_ONLY_BRACKETS = re.compile(r"\s*[\[\](){}<>][\[\](){}<>\s]*")
_RUN = re.compile(r"[\[\](){}<>](?:[\s,\"'*`\\]*[\[\](){}<>])*")
# \texttt{…}: its braces and those of the answer cannot be told apart.
_LATEX = re.compile(r"\\(?:text|math)[a-z]*\s*\{")
_NOTHING = re.compile(r"[\s*\"'(]*(?:empty|nothing|none|no |already|balanced|complete)", re.IGNORECASE)
# What may stand around a sequence without belonging to it.
_AROUND = " .。*\"'`$"
_TOLD = re.compile(r"(?:\bis|:)[\s*\"'`$]*$")


def is_bracket_sequence(gold: str) -> bool:
    """Only brackets and spaces."""
    return _ONLY_BRACKETS.fullmatch(gold) is not None


def _brackets_of(text: str) -> str:
    return re.sub(r"[^\[\](){}<>]", "", text)


class BracketReader(Reader):
    """The closing brackets, and the opened sequence they complete."""

    kind = "brackets"

    def __init__(self, gold: str, question: str) -> None:
        self.sequence = _brackets_of(gold)
        opened = question.rpartition(":")[2]
        self.opened = _brackets_of(opened) if is_bracket_sequence(opened) else ""

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """The run of brackets in the piece: the completion alone, or the whole sequence ending in it."""
        if _LATEX.search(piece):
            return Reading(Decision.UNDECIDED, 0, len(piece), "brackets_in_latex")
        runs = list(_RUN.finditer(piece))
        if not runs and firm and (nothing := _NOTHING.match(piece)) is not None:
            return Reading(Decision.INCORRECT, *nothing.span(), "nothing_to_close")
        whole = [run for run in runs if run.start() <= 3 and len(piece.rstrip(_AROUND)) <= run.end() + 1]
        # "The closing sequence is: ) ]" says as much without a cue.
        is_told = (
            len(runs) == 1 and _TOLD.search(piece, 0, runs[0].start()) and not piece[runs[0].end() :].strip(_AROUND)
        )
        if not runs or not (whole or firm or is_told):
            return None
        run = whole[0] if whole else runs[0]
        given = _brackets_of(run[0])
        decision = Decision.CORRECT if given == self.sequence else Decision.INCORRECT
        reading = Reading(decision, *run.span(), "bracket_sequence")
        if not whole and len(runs) > 1:
            return reading.left_open("several_bracket_runs")
        if self.opened and given == self.opened + self.sequence:
            # The question asks for the rest; whether repeating the start is a fault is not for rules to say.
            return reading.left_open("whole_bracket_sequence")
        return reading

    def is_other(self, text: str, place: int) -> bool:
        run = _RUN.match(text, place)
        return run is not None and _brackets_of(run[0]) != self.sequence

    def is_absent(self, text: str) -> bool:
        return not any(_brackets_of(run[0]).endswith(self.sequence) for run in _RUN.finditer(text))
