"""Answers with several parts: lists of words, brackets, and what fits either of two kinds."""

import re
from dataclasses import dataclass
from functools import cached_property

from mixseek.matching.outcome import Decision, Reader, Reading

# A two-valued question with lettered options: "(B)" and "No" say the same.


@dataclass(frozen=True)
class EitherReader(Reader):
    """The first reader that finds a value; both know the same ground truth."""

    first: Reader
    second: Reader
    question: str
    kind = "option"

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        return self.first.read(piece, firm=firm) or self.second.read(piece, firm=firm)

    def is_other(self, text: str, place: int) -> bool:
        return self.first.is_other(text, place) or self.second.is_other(text, place)

    def is_absent(self, text: str) -> bool:
        return self.first.is_absent(text) and self.second.is_absent(text)


# Dyck completions: a sequence of closing brackets, with or without spaces between them.

_ONLY_BRACKETS = re.compile(r"\s*[\[\](){}<>][\[\](){}<>\s]*")
_RUN = re.compile(r"[\[\](){}<>](?:[\s,\"'*`\\]*[\[\](){}<>])*")
# \texttt{…}: its braces and those of the answer cannot be told apart.
_LATEX = re.compile(r"\\(?:text|math)[a-z]*\s*\{")
_NOTHING = re.compile(r"[\s*\"'(]*(?:empty|nothing|none|no |already|balanced|complete)", re.IGNORECASE)


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
        whole = [run for run in runs if run.start() <= 3 and len(piece.rstrip(" .。*\"'`$")) <= run.end() + 1]
        if not runs or not (whole or firm):
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


# Ordered word lists: the same words in the same order, however they are separated.

_ITEM = re.compile(r"[^\s,;:<>|→\"*\[\](){}、，：。]+")
_NUMBERING = re.compile(r"\d{1,3}[.):]*|[-•>.:]+")
# Words that join the items of a list without being one.
_JOINING = {
    "and",
    "then",
    "followed",
    "by",
    "comes",
    "next",
    "finally",
    "last",
    "lastly",
    "first",
    "second",
    "third",
    "step",
    "&",
    "と",
    "和",
}
_TRIM = ".:'`!?"


@dataclass(frozen=True)
class WordListReader(Reader):
    """The words in order."""

    words: tuple[str, ...]
    given: tuple[str, ...]  # as the question lists them
    kind = "word_list"
    spans_lines = True

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.words)

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """The last run of list words that is long enough to be the answer and not a mention of a few."""
        plain = piece.strip().removesuffix(".")
        if plain.casefold() == " ".join(self.words) and plain.replace(" ", "").isalnum():
            # Nothing but the list: most answers are, and need no looking through.
            start = piece.index(plain[0])
            return Reading(Decision.CORRECT, start, start + len(plain), "word_list")
        enough = min(max(2, (len(self.words) * 3 + 4) // 5), len(self.words))
        runs = [run for run in self._runs(piece) if sum(word in self._known for word, *_ in run) >= enough]
        if not runs:
            return None
        # "(The original list was …)" behind the answer repeats the question.
        fresh = [run for run in runs if tuple(word for word, *_ in run) != self.given]
        run = (fresh or runs)[-1]
        given = tuple(word for word, *_ in run)
        decision = Decision.CORRECT if given == self.words else Decision.INCORRECT
        reading = Reading(decision, run[0][1], run[-1][2], "word_list")
        # "… therefrom Done": a word of the list, or a word about it?
        is_open = given[:-1] == self.words and given[-1] not in self._known
        return reading.left_open("word_list") if is_open else reading

    def _runs(self, piece: str) -> list[list[tuple[str, int, int]]]:
        """Stretches of known words; one foreign word inside a stretch is an error in the list, two end it."""
        runs: list[list[tuple[str, int, int]]] = []
        run: list[tuple[str, int, int]] = []
        foreign: list[tuple[str, int, int]] = []
        known = self._known
        for found in _ITEM.finditer(piece):
            word = found[0].casefold()
            if word not in known:
                word = word.strip(_TRIM)
            if word in known:
                start = found.start()
                run += [*foreign, (word, start, start + len(found[0].rstrip(_TRIM)))]
                foreign = []
                continue
            # Before the first word of the list, other words are only prose.
            if not run or not word or word in _JOINING or _NUMBERING.fullmatch(word):
                continue
            foreign.append((word, found.start(), found.end()))
            # "Explanation: …" begins something else.
            if len(foreign) > 1 or (len(word) > 1 and piece.startswith(":", found.end())):
                runs.append(run)
                run, foreign = [], []
        if run:
            # A foreign last word in the same line belongs to the list as well.
            is_last = len(foreign) == 1 and not piece[foreign[0][2] :].strip()
            runs.append(run + foreign if is_last and piece[run[-1][2] : foreign[0][1]] in {" ", ", "} else run)
        return runs

    def is_other(self, text: str, place: int) -> bool:
        """Any of the words again: a second list."""
        return any(text.startswith(word, place) for word in self.words)

    def is_absent(self, text: str) -> bool:
        """The last words of the list that the text mentions are not the list in order."""
        words = (found[0].casefold().strip(_TRIM) for found in _ITEM.finditer(text))
        mentioned = [word for word in words if word in self._known]
        return f" {' '.join(self.words)} " not in f" {' '.join(mentioned)} "
