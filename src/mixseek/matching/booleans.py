"""Two-valued answers: true/false, yes/no, valid/invalid, plausible/implausible, in three languages."""

import re
from dataclasses import dataclass

from mixseek.matching.outcome import Decision
from mixseek.matching.reading import Reading

# Every word that can state a polarity; seed 001's table plus what other languages write.
_POSITIVE = {
    "true", "yes", "correct", "valid", "plausible", "likely", "possible", "right", "accurate", "proper", "t", "y",
    "はい", "正しい", "真", "有効", "妥当", "可能", "もっともらしい", "是", "是的", "对", "對", "正确", "正確", "有效", "成立", "合理",
    "sí", "oui", "ja", "да", "verdadero", "vrai", "wahr",
}  # fmt: skip
_NEGATIVE = {
    "false", "no", "incorrect", "invalid", "implausible", "unlikely", "impossible", "wrong", "inaccurate", "improper", "f", "n",
    "いいえ", "誤り", "間違い", "偽", "無効", "不可能", "不正解", "否", "不是", "错", "錯", "错误", "錯誤", "无效", "無效", "不对", "不對", "不正确", "不正確", "不成立", "不合理", "假",
    "non", "nein", "нет", "falso", "faux", "falsch",
}  # fmt: skip
# A family is the pair a question asks for; words of other families in the same sentence are about something else.
_FAMILIES = {
    "truth": ({"true", "yes", "correct", "valid", "t"}, {"false", "no", "incorrect", "invalid", "f"}),
    "yes_no": ({"yes", "true", "correct", "y"}, {"no", "false", "incorrect", "n"}),
    "validity": ({"valid", "yes", "true", "correct"}, {"invalid", "no", "false", "incorrect"}),
    "plausibility": ({"plausible", "likely", "possible", "yes", "true", "correct"}, {"implausible", "unlikely", "impossible", "no", "false", "incorrect"}),
}  # fmt: skip
_CORE = {
    "truth": {"true", "false"},
    "yes_no": {"yes", "no"},
    "validity": {"valid", "invalid"},
    "plausibility": {"plausible", "implausible", "yes", "no"},
}
_PLAUSIBILITY = re.compile(r"plausib|possible|likely|もっともらしい|可能|合理", re.IGNORECASE)
_WORD = re.compile(
    r"(?<![A-Za-z0-9_-])(?:true|false|yes|no|(?:in)?correct(?!\s+\w)|valid|invalid|plausible|implausible|likely|unlikely|possible|impossible|not|cannot|never|neither|nor|t|f|y|n)(?![A-Za-z0-9_-])"
    r"|[a-z]+n't(?![a-z])"
    r"|はい|いいえ|正しくな|正しい|間違|誤り|不正解|有効|無効|妥当ではな|妥当でな|妥当|もっともらしくな|もっともらしい|不可能|可能|真|偽"
    r"|不正确|不正確|正确|正確|不成立|成立|不合理|合理|无效|無效|有效|错误|錯誤|不是|不对|不對|是的|^是|^否|^对|^對|^错"
)
_CJK_NEGATIVE = {
    "いいえ",
    "正しくな",
    "間違",
    "誤り",
    "不正解",
    "無効",
    "妥当ではな",
    "妥当でな",
    "もっともらしくな",
    "不可能",
    "偽",
    "不正确",
    "不正確",
    "不成立",
    "不合理",
    "无效",
    "無效",
    "错误",
    "錯誤",
    "不是",
    "不对",
    "不對",
    "否",
    "错",
}
_DENIED = re.compile(
    r"(?:unlikely|impossible|implausible|incorrect|false|wrong)\s+(?:to be|that|to say|to call|to consider)\b"
)
_NEGATORS = {"not", "cannot", "never", "neither", "nor"}
_ALL_POSITIVE = {"true", "yes", "correct", "valid", "plausible", "likely", "possible", "t", "y"}


def polarity_of(gold: str, question: str = "") -> tuple[bool, str] | None:
    """(truth, family) when a ground truth is two-valued."""
    word = gold.strip().strip("().").casefold()
    if word in {"true", "false"}:
        return word == "true", "truth"
    if word in {"yes", "no"}:
        return word == "yes", "plausibility" if _PLAUSIBILITY.search(question) else "yes_no"
    if word in {"valid", "invalid"}:
        return word == "valid", "validity"
    if word in {"plausible", "implausible", "likely", "unlikely", "possible", "impossible"}:
        return word in {"plausible", "likely", "possible"}, "plausibility"
    if word in _POSITIVE and not word.isascii():
        return True, "truth"
    if word in _NEGATIVE and not word.isascii():
        return False, "truth"
    return None


_QUOTED = re.compile(r"\"[^\"\n]{6,}\"|`[^`\n]{6,}`")
_VERB = re.compile(r"\b(?:is|are|be|as|to|becomes|gives|yields|equals|returns|remains)\b|[:=]")
_STOP = re.compile(r"[.!?](?=\s)|\n")


def _first_sentence(piece: str) -> str:
    stop = _STOP.search(piece)
    return piece[: stop.start()] if stop else piece


def _behind_last_verb(piece: str) -> tuple[str, int]:
    last = None
    for last in _VERB.finditer(piece):
        pass
    return (piece[last.end() :], last.end()) if last else ("", 0)


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
                found.append((word not in _CJK_NEGATIVE, match.start(), match.end(), True))
        return found

    def is_absent(self, text: str) -> bool:
        """Two-valued words are too common for their absence to be told apart from silence."""
        return False
