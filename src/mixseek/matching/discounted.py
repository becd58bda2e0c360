"""Answers that are named but not given: denied, supposed, asked about, checked, or described."""

import re

_SENTENCE_STARTS = (". ", "? ", "! ", "; ", "\n")
# How far before a cue its sentence is looked at.
_SENTENCE = 200
# "the answer cannot be (A)": the words between "answer" and its value.
_DENIED = re.compile(r"\b(?:not|never|cannot)\b|n't\b")
# "The answer to how many eggs she sells is 9": to a part of the question.
_PARTIAL = re.compile(r"\s+to (?:how|what|which|part|the first|the sub)\b")
# "if it had not been delayed, the answer would be (A)".
_COUNTERFACTUAL = re.compile(r"\b(?:if|had|were|without)\b")
_WOULD = re.compile(r"\b(?:would|were|might|could)\b")
# "You might think the answer is 26. However, …"; nothing is taken back where no objection follows.
_SUPPOSED = re.compile(
    r"\b(?:(?:one|you|we|some|it)\s+(?:might|may|could|would)\s+(?:\w+\s+){0,2}?(?:think|assume|say|guess|conclude|believe|seem|look|appear|suppose|expect)"
    r"|(?:i|we)\s+(?:had\s+)?(?:\w+\s+)?(?:initially|first|originally|previously|mistakenly|incorrectly|wrongly)\s"
    r"|(?:initially|at first|originally)\b|tempt\w*)"
)
_OBJECTION = re.compile(r"\b(?:but|however|yet|although|though|actually|in fact|instead)\b")
# "Let me verify the answer: 18 / 2 = 9", "each possible answer: (A) …", "my first answer (C)".
_CHECKED = re.compile(
    r"\b(?:(?:double-)?check\w*|verif\w+|validat\w+|each|every|other|wrong|incorrect|previous|initial|first|original|earlier)\s+"
    r"(?:(?:my|our|the|this|that|your|possible|potential|answer)\s+)*$"
)
_ASKED = re.compile(r"\b(?:is|could|can|might|would|should)\s+(?:the\s+|my\s+|our\s+)?(?:\w+\s+)?$")
_SOMEBODY = re.compile(r"\b(?:some|many|students|others)\s+(?:\w+\s+){0,2}$")
_ONLY_IF = re.compile(r"[^.!?\n]{0,40}\b(?:only if|if and only if|if it were|if there were|would be if|unless)\b")


_PLAIN_WORDS = frozenset(
    {
        "so",
        "the",
        "therefore",
        "therefore,",
        "thus",
        "thus,",
        "hence",
        "hence,",
        "final",
        "correct",
        "right",
        "my",
        "our",
    }
)
# The plainest of them, looked for first.
_PLAIN_CUE = re.compile(r"(?:[.?!;] |\n)(?:so |thus,? |hence,? )?the $")
_PLAIN_VERBS = frozenset({"is", "is:", ":", "is **", "**:", ":**"})


def is_discounted(lowered: str, start: int, position: int, value: int, end: int) -> bool:
    """Whether the answer announced at `position`, with its value from `value` on, is not the one that is given."""
    if lowered.startswith(" is ", position + 6) and _PLAIN_CUE.search(lowered, max(start, position - 16), position):
        # "So the answer is": most cues are of this kind, and nothing in them can discount.
        return False
    before = lowered[max(start, position - _SENTENCE) : position]
    for mark in _SENTENCE_STARTS:
        place = before.rfind(mark)
        if place >= 0:
            before = before[place + 1 :]
    between = lowered[position + 6 : value]
    if between.strip() in _PLAIN_VERBS and _PLAIN_WORDS.issuperset(before.split()):
        return False
    if _PARTIAL.match(between) or _DENIED.search(between) or _CHECKED.search(before) or _SOMEBODY.search(before):
        return True
    if _WOULD.search(between) and _COUNTERFACTUAL.search(before) and re.search(r"\bif\b|\bhad\b", before):
        return re.search(r"\b(?:had|were|was|without|not)\b|n't\b", before) is not None
    if _ASKED.search(before) and "?" in lowered[value : value + 40].partition("\n")[0]:
        return True
    return _SUPPOSED.search(before) is not None and _OBJECTION.search(lowered, value, min(end, value + 300)) is not None


def is_ruled_out(lowered: str, value: int, end: int) -> bool:
    """Whether the value from `value` on stands under a condition that is not met: it takes nothing else back."""
    return _ONLY_IF.match(lowered, value, end) is not None
