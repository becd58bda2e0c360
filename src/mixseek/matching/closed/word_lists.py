"""Ordered word lists: the same words in the same order, however they are separated."""

import re
from functools import cached_property

from mixseek.lazy_dataclass import dataclass
from mixseek.matching.phrases import table
from mixseek.matching.readings import Decision, Reader, Reading

_ITEM = re.compile(r"[^\s,;:<>|→\"*\[\](){}、，：。]+")
_NUMBERING = re.compile(r"\d{1,3}[.):]*|[-•>.:]+")
# Words that join the items of a list without being one.
_JOINED = "and then followed by comes next finally last lastly first second third step & と 和"
_JOINING = frozenset(_JOINED.split())
_TRIM = ".:'`!?"
# Words before a list that announce it.
_ANNOUNCING = frozenset(
    ["list", "lists", "sorted", "ordered", "order", "alphabetical", "alphabetically", "words", "output", "here"]
    + [word for key in ("filler", "function") for word in table("words")[key].split()]
    + table("company_words")["greeting"].split()
)
_MARKER = r"(?:\d{1,3}[.)]|[-*•])"
_NAMED = r"[ \t*\"'`]{0,6}([^\W\d_][\w'-]{0,30})"
_ITEM_BEFORE = re.compile(
    rf"(?:^|[\n:;,])[ \t]{{0,8}}{_MARKER}?{_NAMED}[\"'`*]{{0,3}}(?:,\s{{0,3}}|[ \t]{{1,3}})[\"'`*]{{0,3}}$"
)
_LINE_BEFORE = re.compile(
    rf"(?:^|\n)[ \t]{{0,8}}{_MARKER}{_NAMED}[\"'`*. ]{{0,6}}\n\s{{0,8}}{_MARKER}[ \t*\"'`]{{0,6}}$"
)
_ITEM_REACH = 80


def _is_led(piece: str, start: int) -> bool:
    """Whether one more word stands before the first word of a list, as an item of it."""
    before = piece[max(0, start - _ITEM_REACH) : start]
    match = _ITEM_BEFORE.search(before) or _LINE_BEFORE.search(before)
    return match is not None and match[1].casefold() not in _ANNOUNCING


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
        is_open = is_open or (decision is Decision.CORRECT and _is_led(piece, run[0][1]))
        return reading.left_open("word_list") if is_open else reading

    def _runs(self, piece: str) -> list[list[tuple[str, int, int]]]:
        """Stretches of known words; one foreign word inside a stretch is an error in the list, two end it."""
        runs: list[list[tuple[str, int, int]]] = []
        run: list[tuple[str, int, int]] = []
        foreign: list[tuple[str, int, int]] = []
        known = self._known
        for match in _ITEM.finditer(piece):
            word = match[0].casefold()
            if word not in known:
                word = word.strip(_TRIM)
            if word in known:
                start = match.start()
                run += [*foreign, (word, start, start + len(match[0].rstrip(_TRIM)))]
                foreign = []
                continue
            # Before the first word of the list, other words are only prose; "(s)" behind a word is a note on it.
            is_note = piece[match.start() - 1 : match.start()] == "(" and piece.startswith(")", match.end())
            if not run or not word or is_note or word in _JOINING or _NUMBERING.fullmatch(word):
                continue
            foreign.append((word, match.start(), match.end()))
            # "Explanation: …" begins something else.
            if len(foreign) > 1 or (len(word) > 1 and piece.startswith(":", match.end())):
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
        words = (match[0].casefold().strip(_TRIM) for match in _ITEM.finditer(text))
        mentioned = [word for word in words if word in self._known]
        return f" {' '.join(self.words)} " not in f" {' '.join(mentioned)} "
