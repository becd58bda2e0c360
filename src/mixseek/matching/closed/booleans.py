"""Which words say yes and which say no, and to what kind of question: seed 001's table in three languages.

A family is the pair a question asks for. Words of another family in the same sentence are about something else.
"""

import re
from typing import NamedTuple

from mixseek.lazy_dataclass import dataclass
from mixseek.matching.phrases import Phrases, table
from mixseek.matching.readings import Decision, Reader, Reading


def _words(family: str, key: str) -> frozenset[str]:
    return frozenset(table(family)[key].split())


_NAMES = ("truth", "yes_no", "validity", "plausibility")
FAMILIES = {family: (_words(family, "yes"), _words(family, "no")) for family in _NAMES}
# The words a question of that family asks for; where one stands, looser words beside it do not count.
CORE = {family: _words(family, "core") for family in _NAMES}
# Japanese and Chinese: word to polarity.
UNSPACED = {
    family: {
        word: key == "unspaced_yes"
        for key in ("unspaced_yes", "unspaced_no")
        for word in _words("any_family", key) | _words(family, key)
    }
    for family in _NAMES
}
UNSPACED_CORE = {family: _words(family, "unspaced_core") for family in _NAMES}
# Polar only as the first word of an answer: elsewhere 是 is a verb.
FIRST_CHARACTERS = {"是": True, "对": True, "對": True, "否": False, "错": False, "錯": False}
_SAYS = Phrases("booleans")
_PLAUSIBILITY = ("plausib", "possible", "likely", "もっともらし", "可能", "合理", "自然", "あり得", "ありえ")
_NEGATORS = frozenset((*table("polarities")["negators"].split(), "far from"))
_ENGLISH = sorted({word for pair in FAMILIES.values() for words in pair for word in words} | _NEGATORS, key=len)
_GUARDED = {
    # "the correct option" says nothing about the question; "that is correct" does.
    "correct": r"correct(?!\s+\w)",
    "incorrect": r"incorrect(?!\s+\w)",
    "no": r"no(?!\s+doubt)",
    "doubt": r"(?<!no )(?<!without )(?<!without a )doubts?",
}
_WORD = {
    family: re.compile(
        r"(?<![A-Za-z0-9_-])(?:"
        + "|".join(_GUARDED.get(word, word) for word in reversed(_ENGLISH))
        + r")(?![A-Za-z0-9_-])|(?<![a-z])[a-z]{1,8}n't(?![a-z])|"
        + "|".join((*sorted(unspaced, key=len, reverse=True), *(f"^{word}" for word in FIRST_CHARACTERS)))
    )
    for family, unspaced in UNSPACED.items()
}
# A negation does not reach beyond these: "The sum isn't zero. No."
_CLAUSE_END = frozenset(",.;:!?\n")
_LONGEST_WORD = 8
_LEADING = re.compile(r"[\s*_\"'(`#-]*([a-z]+)[\"'*_)`]*\s*(?:[,.:;!\n(-]|$)", re.IGNORECASE)
# Up to here a sentence on validity may answer with another word: "Deductively valid? Yes."
_BRIEF = 30


def polarity_of(gold: str, question: str = "") -> tuple[bool, str] | None:
    """(truth, family) when a ground truth is two-valued."""
    word = gold.strip().strip("().").casefold()
    # "yes" and "no" are core words of plausibility as well, so their own family comes first.
    family = next((family for family, core in CORE.items() if word in core), None)
    if word in {"likely", "unlikely", "possible", "impossible"} or (
        family == "yes_no" and _asks_plausibility(question)
    ):
        family = "plausibility"
    if family is not None:
        return word in FAMILIES[family][0], family
    if word in FIRST_CHARACTERS:
        return FIRST_CHARACTERS[word], "truth"
    if word.isascii() or len(word) > _LONGEST_WORD:
        return None
    family = "plausibility" if _asks_plausibility(question) else "truth"
    words = BooleanReader(True, family).polar_words(word)
    return (words[0].value, family) if words and words[0].start == 0 else None


def _asks_plausibility(question: str) -> bool:
    return any(map(question.lower().__contains__, _PLAUSIBILITY))


_QUOTED = re.compile(r"\"[^\"\n]{6,}\"|`[^`\n]{6,}`")
_NEGATION_REACH = 25
_NOT_SIGN = re.compile(r"(?:^|[\s(`])[¬!~]$")
_STOP = re.compile(r"[.!?。\n](?:(?<=[。\n])|(?=\s))")


class PolarWord(NamedTuple):
    """A word, or a word with its negation, that says yes or no."""

    value: bool
    start: int
    end: int
    is_core: bool


_AROUND_LETTER = " \t\n*_\"'`()[]{}$.,!:;\\"


def _stands_alone(piece: str, place: int) -> bool:
    """Whether a single letter is all that the piece says, or leads it as a capital: in prose, t is a variable."""
    if piece[:place].strip(_AROUND_LETTER):
        return False
    return not piece[place + 1 :].strip(_AROUND_LETTER) or (
        piece[place].isupper() and piece[place + 1 : place + 2] in {".", ",", ";", ")", "\n"}
    )


@dataclass(frozen=True)
class BooleanReader(Reader):
    """One polarity, within a family of words."""

    truth: bool
    family: str
    kind = "boolean"

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """Behind a firm cue the first polar word counts; elsewhere all polar words must agree."""
        words = self._stated_words(piece) if firm else self._concluding_words(piece)
        if not words:
            return None
        first = words[0]
        if firm and len(words) > 1 and first.value != words[1].value:
            # "Yes and no", rather than yes and, later, no to something else.
            between = piece[first.end : words[1].start].strip(" \"'*")
            if len(between) <= _LONGEST_WORD and _SAYS.and_or.search(between):
                return Reading(Decision.UNDECIDED, first.start, words[1].end, "both_polarities")
        decision = Decision.CORRECT if first.value == self.truth else Decision.INCORRECT
        return Reading(decision, first.start, first.end, f"boolean_{self.family}")

    def _stated_words(self, piece: str) -> list[PolarWord]:
        """Those of the first sentence; of an expression in place of a value what it comes to."""
        sentence = _STOP.split(piece, maxsplit=1)[0]
        words = self.polar_words(sentence)
        if len({word.value for word in words}) > 1 and _SAYS.expression.match(sentence, words[0].end):
            return self._concluding_words(sentence) or words
        return words

    def _leading_word(self, piece: str) -> list[PolarWord]:
        """A sentence that opens with the bare word has answered: "Valid - there is no invalid step"."""
        lead = _LEADING.match(piece)
        return self.polar_words(piece[: lead.end(1)]) if lead and lead[1].lower() in CORE[self.family] else []

    def _counts(self, word: PolarWord, bare: str) -> bool:
        """Not what would be; and whether premises are true says nothing about an argument's validity."""
        if _SAYS.hypothetical.search(bare, max(0, word.start - 60), word.start):
            return False
        return word.is_core or self.family != "validity" or len(bare) <= _BRIEF

    def _concluding_words(self, piece: str) -> list[PolarWord]:
        """Polar words that all agree: in the whole sentence without its quotations, else behind its last verb."""
        if leading := self._leading_word(piece):
            return leading
        bare = _QUOTED.sub(lambda match: " " * len(match[0]), piece)
        verbs = [match.end() for match in _SAYS.verb.finditer(bare)]
        for shift in (0, *verbs[-1:]):
            placed = [
                word._replace(start=word.start + shift, end=word.end + shift) for word in self.polar_words(bare[shift:])
            ]
            words = [word for word in placed if self._counts(word, bare)]
            words = [word for word in words if word.is_core] or words
            if words and len({word.value for word in words}) == 1:
                return words
        return []

    def polar_words(self, piece: str) -> list[PolarWord]:
        """Words that say yes or no to a question of this family, negations taken in."""
        positive, negative = FAMILIES[self.family]
        polar_words: list[PolarWord] = []
        negator: tuple[int, int] | None = None
        lowered = piece.lower()
        for match in _WORD[self.family].finditer(lowered):
            word = match[0]
            if len(word) == 1 and word.isascii() and not _stands_alone(piece, match.start()):
                continue
            if (
                word in _NEGATORS
                or word.startswith("doubt")
                or word.endswith("n't")
                or _SAYS.denied.match(lowered, match.start())
                or (word == "no" and _SAYS.determiner.match(lowered, match.start()))
            ):
                # "unlikely to be true": the second word is denied by the first.
                negator = match.span()
            elif word in positive or word in negative:
                start = match.start()
                value = (word in positive) ^ (_NOT_SIGN.search(lowered, max(0, start - 2), start) is not None)
                # "not valid", "isn't plausible", "not deductively valid": a few words before turn it round.
                is_near = negator is not None and start - negator[1] < _NEGATION_REACH
                if negator and is_near and _CLAUSE_END.isdisjoint(piece[negator[1] : start]):
                    value, start = not value, negator[0]
                polar_words.append(PolarWord(value, start, match.end(), word in CORE[self.family]))
                negator = None
            elif not word.isascii():
                polar_words.append(self._unspaced_word(lowered, match))
        return polar_words

    def _unspaced_word(self, text: str, match: re.Match[str]) -> PolarWord:
        word = match[0]
        value = UNSPACED[self.family].get(word, FIRST_CHARACTERS.get(word, False))
        start, end = match.span()
        before = _SAYS.negated_before.search(text, max(0, start - 3), start)
        behind = _SAYS.negated_behind.match(text, end)
        value = value ^ (before is not None) ^ (behind is not None)
        is_core = word in UNSPACED_CORE[self.family]
        return PolarWord(value, before.start() if before else start, behind.end() if behind else end, is_core)

    def is_other(self, text: str, place: int) -> bool:
        words = self.polar_words(text[place : place + 24])
        return bool(words) and words[0].start <= 1 and words[0].value != self.truth


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
