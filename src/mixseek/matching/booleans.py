"""Two-valued answers: true/false, yes/no, valid/invalid, plausible/implausible, in three languages."""

import re
from dataclasses import dataclass

from mixseek.matching.outcome import Decision
from mixseek.matching.reading import Reading

# Seed 001's table. A family is the pair a question asks for: words of another family in the same sentence are about
# something else, so "possible" answers a question of plausibility and no other.
_FAMILIES = {
    "truth": ({"true", "yes", "correct", "valid", "t"}, {"false", "no", "incorrect", "invalid", "f"}),
    "yes_no": ({"yes", "true", "correct", "y"}, {"no", "false", "incorrect", "n"}),
    "validity": ({"valid", "yes", "true", "correct"}, {"invalid", "no", "false", "incorrect"}),
    "plausibility": (
        {"plausible", "likely", "possible", "yes", "true", "correct"},
        {"implausible", "unlikely", "impossible", "no", "false", "incorrect"},
    ),
}
# The words a question of that family asks for; where one stands, looser words beside it do not count.
_CORE = {
    "truth": {"true", "false"},
    "yes_no": {"yes", "no"},
    "validity": {"valid", "invalid"},
    "plausibility": {"plausible", "implausible", "yes", "no"},
}
# Japanese and Chinese; a word that begins with another one stands before it. Those of a single character
# are polar only as the first word of an answer: elsewhere 是 is a verb.
_CJK_NEGATIVE = (
    "いいえ", "正しくな", "間違", "誤り", "不正解", "無効", "妥当ではな", "妥当でな", "もっともらしくな", "偽",
    "不可能",
    "不正确", "不正確", "不成立", "不合理", "无效", "無效", "错误", "錯誤", "不是", "不对", "不對", "假的",
)  # fmt: skip
_CJK_POSITIVE = (
    "はい", "正しい", "有効", "妥当", "もっともらしい", "真", "可能",
    "是的", "正确", "正確", "成立", "合理", "有效", "对的",
)  # fmt: skip
_CJK_FIRST = {"是": True, "对": True, "對": True, "否": False, "错": False, "錯": False}
_PLAUSIBILITY = re.compile(r"plausib|possible|likely|もっともらしい|可能|合理", re.IGNORECASE)
_NEGATORS = {"not", "cannot", "never", "neither", "nor"}
_ENGLISH = sorted({word for pair in _FAMILIES.values() for words in pair for word in words} | _NEGATORS, key=len)
_WORD = re.compile(
    # "the correct option" says nothing about the question; "that is correct" does.
    r"(?<![A-Za-z0-9_-])(?:"
    + "|".join(rf"{word}(?!\s+\w)" if word in {"correct", "incorrect"} else word for word in reversed(_ENGLISH))
    + r")(?![A-Za-z0-9_-])|[a-z]+n't(?![a-z])|"
    + "|".join((*_CJK_NEGATIVE, *_CJK_POSITIVE, *(f"^{word}" for word in _CJK_FIRST)))
)
_DENIED = re.compile(
    r"(?:unlikely|impossible|implausible|incorrect|false|wrong)\s+(?:to be|that|to say|to call|to consider)\b"
)


def polarity_of(gold: str, question: str = "") -> tuple[bool, str] | None:
    """(truth, family) when a ground truth is two-valued."""
    word = gold.strip().strip("().").casefold()
    for family, core in _CORE.items():
        if word in core and (family != "plausibility" or word not in _CORE["yes_no"]):
            if family == "yes_no" and _PLAUSIBILITY.search(question):
                family = "plausibility"
            return word in _FAMILIES[family][0], family
    if word in {"likely", "unlikely", "possible", "impossible"}:
        return word in _FAMILIES["plausibility"][0], "plausibility"
    if word in _CJK_FIRST:
        return _CJK_FIRST[word], "truth"
    if word.isascii() or len(word) > _LONGEST_WORD:
        return None
    found = _WORD.match(word)
    return (_cjk_polarity(found[0]), "truth") if found and not found[0].isascii() else None


_LONGEST_WORD = 8


def _cjk_polarity(word: str) -> bool:
    return _CJK_FIRST.get(word, word not in _CJK_NEGATIVE)


_QUOTED = re.compile(r"\"[^\"\n]{6,}\"|`[^`\n]{6,}`")
_VERB = re.compile(r"\b(?:is|are|be|as|to|becomes|gives|yields|equals|returns|remains)\b|[:=]")
_STOP = re.compile(r"[.!?](?=\s)|\n")


def _first_sentence(piece: str) -> str:
    stop = _STOP.search(piece)
    return piece[: stop.start()] if stop else piece


def _behind_last_verb(piece: str) -> tuple[str, int]:
    ends = [found.end() for found in _VERB.finditer(piece)]
    return (piece[ends[-1] :], ends[-1]) if ends else ("", 0)


@dataclass(frozen=True, slots=True)
class BooleanReader:
    """One polarity, within a family of words."""

    truth: bool
    family: str
    kind: str = "boolean"
    spans_lines: bool = False

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """Behind a firm cue the first polar word counts; elsewhere all polar words must agree."""
        words = self._polar_words(_first_sentence(piece)) if firm else self._concluding_words(piece)
        if not words:
            return None
        value, start, end, _ = words[0]
        decision = Decision.CORRECT if value == self.truth else Decision.INCORRECT
        return Reading(decision, start, end, f"boolean_{self.family}")

    def _concluding_words(self, piece: str) -> list[tuple[bool, int, int, bool]]:
        """Polar words that all agree: in the whole sentence without its quotations, else behind its last verb."""
        bare = _QUOTED.sub(lambda found: " " * len(found[0]), piece)
        for text, shift in ((bare, 0), _behind_last_verb(bare)):
            words = [(value, start + shift, end + shift, core) for value, start, end, core in self._polar_words(text)]
            words = [word for word in words if word[3]] or words
            if words and len({word[0] for word in words}) == 1:
                return words
        return []

    def _polar_words(self, piece: str) -> list[tuple[bool, int, int, bool]]:
        positive, negative = _FAMILIES[self.family]
        found: list[tuple[bool, int, int, bool]] = []
        negator: tuple[int, int] | None = None
        lowered = piece.lower()
        for match in _WORD.finditer(lowered):
            word = match[0]
            if word in _NEGATORS or word.endswith("n't"):
                negator = match.span()
                continue
            if _DENIED.match(lowered, match.start()):
                # "unlikely to be true", "impossible that it is valid": the second word is denied by the first.
                negator = match.span()
                continue
            if word in positive or word in negative:
                value = word in positive
                start = match.start()
                # "not valid", "isn't plausible", "not deductively valid": a negator a few words before turns it round.
                if negator is not None and match.start() - negator[1] < 25 and "," not in piece[negator[1] : start]:
                    value, start = not value, negator[0]
                    # "not false" is no way to say yes that rules should trust with certainty.
                found.append((value, start, match.end(), word in _CORE[self.family]))
                negator = None
            elif not word.isascii():
                found.append((_cjk_polarity(word), match.start(), match.end(), True))
        return found

    def is_absent(self, text: str) -> bool:
        """Two-valued words are too common for their absence to be told apart from silence."""
        return False
