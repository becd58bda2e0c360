"""Two-valued answers: true/false, yes/no, valid/invalid, plausible/implausible, in three languages."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from mixseek.matching.languages import Phrases, table
from mixseek.matching.outcome import Decision, Reader, Reading

# Which words say yes and which say no, and to what kind of question: seed 001's table in three languages.
#
# A family is the pair a question asks for. Words of another family in the same sentence are about something else, so
# "possible" answers a question of plausibility and no other.


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
# Before a Chinese word: 并不有效, 不太合理, 并非正确, 没有不合理的地方; and Japanese 非妥当.
NEGATED_BEFORE = re.compile(r"(?:不太|不够|不怎么|不那么|并不|並不|并非|並非|不是|没有|沒有|绝非|不|非)$")
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
        + r")(?![A-Za-z0-9_-])|[a-z]+n't(?![a-z])|"
        + "|".join((*sorted(unspaced, key=len, reverse=True), *(f"^{word}" for word in FIRST_CHARACTERS)))
    )
    for family, unspaced in UNSPACED.items()
}
# A negation does not reach beyond these: "The sum isn't zero. No."
_CLAUSE_END = frozenset(",.;:!?\n")
_LONGEST_WORD = 8
# "if they did, it would be valid", "could lead to a No": what would be is not what is.
_HYPOTHETICAL = re.compile(r"\b(?:would|could|might|may)\s+(?:\w+\s+)?(?:be|have been|lead)\b[^,;.]{0,25}$")
# "True and False, which is False": an expression in place of a value.
_EXPRESSION = re.compile(r"[\s)*`]*(?:and|or|xor|&|\||∧|∨)\s*[(`*]*(?:not\s+)?[(`*]*(?:true|false)\b", re.IGNORECASE)
_LEADING = re.compile(r"[\s*_\"'(`#-]*([a-z]+)[\"'*_)`]*\s*(?:[,.:;!\n(-]|$)", re.IGNORECASE)
# Up to here a sentence on validity may answer with another word: "Deductively valid? Yes."
_BRIEF = 30
_AND_OR = re.compile(r"\b(?:and|or)\b|[/和或也とか]")


def _asks_for_plausibility(question: str) -> bool:
    return any(map(question.lower().__contains__, _PLAUSIBILITY))


def polarity_of(gold: str, question: str = "") -> tuple[bool, str] | None:
    """(truth, family) when a ground truth is two-valued."""
    word = gold.strip().strip("().").casefold()
    for family, core in CORE.items():
        if word in core and (family != "plausibility" or word not in CORE["yes_no"]):
            if family == "yes_no" and _asks_for_plausibility(question):
                family = "plausibility"
            return word in FAMILIES[family][0], family
    if word in {"likely", "unlikely", "possible", "impossible"}:
        return word in FAMILIES["plausibility"][0], "plausibility"
    if word in FIRST_CHARACTERS:
        return FIRST_CHARACTERS[word], "truth"
    if word.isascii() or len(word) > _LONGEST_WORD:
        return None
    family = "plausibility" if _asks_for_plausibility(question) else "truth"
    words = BooleanReader(True, family).polar_words(word)
    return (words[0].value, family) if words and words[0].start == 0 else None


_QUOTED = re.compile(r"\"[^\"\n]{6,}\"|`[^`\n]{6,}`")
_VERB = re.compile(r"\b(?:is|are|be|as|to|becomes|gives|yields|equals|returns|remains)\b|[:=]")
_NEGATION_REACH = 25
_STOP = re.compile(r"[.!?](?=\s)|[。\n]")


def _first_sentence(piece: str) -> str:
    stop = _STOP.search(piece)
    return piece[: stop.start()] if stop else piece


def _behind_last_verb(piece: str) -> tuple[str, int]:
    ends = [found.end() for found in _VERB.finditer(piece)]
    return (piece[ends[-1] :], ends[-1]) if ends else ("", 0)


class PolarWord(NamedTuple):
    """A word, or a word with its negation, that says yes or no."""

    value: bool
    start: int
    end: int
    is_core: bool


@dataclass(frozen=True)
class BooleanReader(Reader):
    """One polarity, within a family of words."""

    truth: bool
    family: str
    kind = "boolean"

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """Behind a firm cue the first polar word counts; elsewhere all polar words must agree."""
        words = self._stated_words(_first_sentence(piece)) if firm else self._concluding_words(piece)
        if not words:
            return None
        if firm and len(words) > 1 and words[0].value != words[1].value and self._are_paired(piece, *words[:2]):
            return Reading(Decision.UNDECIDED, words[0].start, words[1].end, "both_polarities")
        decision = Decision.CORRECT if words[0].value == self.truth else Decision.INCORRECT
        return Reading(decision, words[0].start, words[0].end, f"boolean_{self.family}")

    @staticmethod
    def _are_paired(piece: str, first: PolarWord, second: PolarWord) -> bool:
        """Whether "yes and no" was said, rather than yes and, later, no to something else."""
        between = piece[first.end : second.start].strip(" \"'*")
        return len(between) <= _LONGEST_WORD and bool(_AND_OR.search(between))

    def _stated_words(self, sentence: str) -> list[PolarWord]:
        words = self.polar_words(sentence)
        if len({word.value for word in words}) > 1 and _EXPRESSION.match(sentence, words[0].end):
            return self._concluding_words(sentence) or words
        return words

    def _leading_word(self, piece: str) -> list[PolarWord]:
        """A sentence that opens with the bare word has answered: "Valid - there is no invalid step"."""
        lead = _LEADING.match(piece)
        return self.polar_words(piece[: lead.end(1)]) if lead and lead[1].lower() in CORE[self.family] else []

    def _counts(self, word: PolarWord, bare: str) -> bool:
        """Not what would be; and whether premises are true says nothing about an argument's validity."""
        if _HYPOTHETICAL.search(bare, max(0, word.start - 60), word.start):
            return False
        return word.is_core or self.family != "validity" or len(bare) <= _BRIEF

    def _concluding_words(self, piece: str) -> list[PolarWord]:
        """Polar words that all agree: in the whole sentence without its quotations, else behind its last verb."""
        if leading := self._leading_word(piece):
            return leading
        bare = _QUOTED.sub(lambda found: " " * len(found[0]), piece)
        for text, shift in ((bare, 0), _behind_last_verb(bare)):
            words = [
                placed
                for word in self.polar_words(text)
                if self._counts(
                    placed := PolarWord(word.value, word.start + shift, word.end + shift, word.is_core), bare
                )
            ]
            words = [word for word in words if word.is_core] or words
            if words and len({word.value for word in words}) == 1:
                return words
        return []

    def polar_words(self, piece: str) -> list[PolarWord]:
        """Words that say yes or no to a question of this family, negations taken in."""
        positive, negative = FAMILIES[self.family]
        found: list[PolarWord] = []
        negator: tuple[int, int] | None = None
        lowered = piece.lower()
        for match in _WORD[self.family].finditer(lowered):
            word = match[0]
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
                value, start = word in positive, match.start()
                # "not valid", "isn't plausible", "not deductively valid": a few words before turn it round.
                if (
                    negator is not None
                    and start - negator[1] < _NEGATION_REACH
                    and _CLAUSE_END.isdisjoint(piece[negator[1] : start])
                ):
                    value, start = not value, negator[0]
                found.append(PolarWord(value, start, match.end(), word in CORE[self.family]))
                negator = None
            elif not word.isascii():
                found.append(self._unspaced_word(lowered, match))
        return found

    def _unspaced_word(self, text: str, match: re.Match[str]) -> PolarWord:
        word = match[0]
        value = UNSPACED[self.family].get(word, FIRST_CHARACTERS.get(word, False))
        start, end = match.span()
        before = NEGATED_BEFORE.search(text, max(0, start - 3), start)
        behind = _SAYS.negated_behind.match(text, end)
        for negation in (before, behind):
            value = value if negation is None else not value
        is_core = word in UNSPACED_CORE[self.family]
        return PolarWord(value, before.start() if before else start, behind.end() if behind else end, is_core)

    def is_other(self, text: str, place: int) -> bool:
        """The opposite polarity, as the next word."""
        words = self.polar_words(text[place : place + 24])
        return bool(words) and words[0].start <= 1 and words[0].value != self.truth
