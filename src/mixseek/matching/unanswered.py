"""Responses that come to no answer: refusals, programs, texts that break off or turn in circles."""

import re

from mixseek.domain.judgments import Span

# A response this short is all closing words; of a longer one only the last sentence is.
_CLOSING = 300
_REFUSAL = re.compile(
    r"(?:can(?:no|')t|cannot|could not|unable to|impossible to|not possible to|difficult to|hard to)\s+(?:\w+\s+){0,3}?"
    r"(?:be\s+)?(?:definitively\s+|accurately\s+)?(?:determine|answer|provide|tell|identify|confirm|calculate|comply|help|assist|respond)"
    r"|(?:not|n't) (?:have )?(?:enough|sufficient) (?:information|context|details?|data)"
    r"|insufficient (?:information|context|data)"
    r"|(?:need|require)s? (?:more|additional|further) (?:information|context|details?)"
    r"|i (?:don't|do not) know|i'm not sure|i am not sure|as an ai\b"
    r"|わかりません|分かりません|判断できません|お答えできません|答えられません|特定できません"
    r"|无法(?:确定|判断|回答|得出)|無法(?:確定|判斷|回答)|不知道|不确定"
)
# "As an AI I have no access to news. However, …": an answer follows.
_CONCESSION = re.compile(r"\b(?:however|but|that said|nevertheless|still,)|しかし|ただし|但是|不过")
_CODE_LINE = re.compile(
    r"^\s*(?:import \w|from \w+ import |def \w+\(|class \w+|return\b|print\(|for \w+ in |while |"
    r"(?:el)?if .*:\s*$|else:\s*$|"
    r"[A-Za-z_][\w.\[\]'\"]* ?[-+*/]?= ?\S|#|[\]})],?\s*$|[A-Za-z_]\w*\(.*\)\s*$)"
)
# A response whose last word is to print something says what it would answer only when it is run.
_PRINTS = re.compile(r"\s*print\(.*\)\s*$")
_CODE_HINT = re.compile(r"print\(|\bimport \w|\bdef \w+\(|^\w+ = ", re.MULTILINE)


# Openings that announce an answer; as a whole response they fool graders that compare with a reference.
_OPENING = re.compile(
    r"\W*(?:(?:my |the |final )*(?:thought process|thinking|reasoning|solution|answer|explanation|step 1)|"
    r"let(?:'s| us) (?:solve|think|work|break|analyze|start)[^.\n]{0,60}|答え|解答|回答|答案|解|思考过程|思考過程)?\W*"
)


def is_opening(text: str) -> bool:
    """Nothing but punctuation or the announcement of an answer that never comes."""
    return len(text) < _CLOSING and _OPENING.fullmatch(text.strip().lower()) is not None


def find_refusal(lowered: str) -> Span | None:
    """Where the closing words decline to answer, or None."""
    text = lowered.rstrip()
    begin = len(text) - len(text.lstrip())
    if len(text) - begin > _CLOSING:
        begin = max(
            text.rfind(". ", 0, len(text) - 1),
            text.rfind("。", 0, len(text) - 1),
            text.rfind("\n"),
            len(text) - _CLOSING,
        )
    found = _REFUSAL.search(text, begin)
    if found is None or _CONCESSION.search(text, found.end()):
        return None
    return Span(*found.span())


def is_code(text: str) -> bool:
    """A program in place of an answer; it is never run, so what it would print is not known."""
    if "=" not in text and "print(" not in text:
        return False
    if _CODE_HINT.search(text) is None:
        return False
    lines = [line for line in text[:8_000].split("\n") if line.strip()]
    if lines and _PRINTS.match(lines[-1]):
        return True
    return len(lines) >= 2 and sum(bool(_CODE_LINE.match(line)) for line in lines) * 10 >= len(lines) * 7


_DIGITS = re.compile(r"\d+")
_SHORTEST_PERIOD = 4
_LONGEST_PERIOD = 120
_REPEATED = 80


def breaks_off(text: str) -> bool:
    """Whether a long response ends in mid-sentence or turns in a circle: the model never came to an answer."""
    tail = text[-400:].rstrip()
    if len(text) < 800 or not tail:
        return False
    last_line = tail.rpartition("\n")[2]
    return (len(last_line) > 25 and (tail[-1].isalpha() or tail[-1] in ",-")) or turns_in_circles(text)


def turns_in_circles(text: str) -> bool:
    """Whether the end of the text repeats one unit over and over, counters aside."""
    shape = _DIGITS.sub("0", text[-240:].rstrip())
    if len(shape) <= 200:
        return False
    # A text with such a period repeats its last characters one period earlier: only those places are tried.
    unit = shape[-_REPEATED:]
    place = shape.rfind(unit, 0, len(shape) - _SHORTEST_PERIOD)
    while place >= 0 and (period := len(shape) - _REPEATED - place) < _LONGEST_PERIOD:
        if shape[period:] == shape[:-period]:
            return True
        place = shape.rfind(unit, 0, place + _REPEATED - 1)
    return False
