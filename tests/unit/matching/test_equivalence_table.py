"""Every row of seed 001's equivalence table, in the bare form and in the wrappings that models use."""

from tests.cases import each

from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision

_OPTIONS = "Which lamp is lit?\nOptions:\n(A) the red lamp\n(B) the blue lamp\n(C) the green lamp"
_PLAUSIBLE = 'Is the following sentence plausible? "The goalkeeper hit a home run."'
_ARGUMENT = "Is the argument, given the premises, deductively valid or invalid?\nOptions:\n- valid\n- invalid"

_ROWS = [
    *[
        ("(A)", form, _OPTIONS)
        for form in ("A", "Option A", "[A]", r"\boxed{A}", "Answer: A", "**A**", "(A)", "A.", "a)")
    ],
    *[("True", form, "not False is") for form in ("true", "TRUE", "yes", "correct", "valid", "True.")],
    *[("False", form, "not True is") for form in ("false", "FALSE", "no", "incorrect", "invalid", "No.</s>")],
    *[("yes", form, _PLAUSIBLE) for form in ("plausible", "likely", "possible", "Yes", "The sentence is plausible.")],
    *[("no", form, _PLAUSIBLE) for form in ("implausible", "unlikely", "impossible", "No", "not plausible")],
    *[("42", form, "How many beads are there?") for form in ("42", "forty-two", "42.0", "４２", "42 beads", "$42")],
    *[("valid", form, _ARGUMENT) for form in ("valid", "The argument is deductively valid.", "So, it is valid.")],
    *[("invalid", form, _ARGUMENT) for form in ("invalid", "It isn't valid.", "The argument is not valid.")],
]


@each(("gold", "response", "question"), _ROWS)
def test_an_acceptable_equivalent_is_correct(gold: str, response: str, question: str) -> None:
    """What the table lists as equivalent is decided as correct, and the span points at it."""
    result = match_answer(response, gold, question=question)

    assert result.decision is Decision.CORRECT, result.rules
    assert result.span is not None
    assert result.extracted_answer == response[result.span.start : result.span.end]


@each(("gold", "response", "question"), _ROWS)
def test_the_same_words_are_incorrect_for_the_opposite_ground_truth(gold: str, response: str, question: str) -> None:
    """No equivalent passes for the other value: the table is a partition."""
    opposite = {
        "(A)": "(B)", "True": "False", "False": "True", "yes": "no", "no": "yes", "42": "24",
        "valid": "invalid", "invalid": "valid",
    }[gold]  # fmt: skip

    assert match_answer(response, opposite, question=question).decision is Decision.INCORRECT


_CUES = [
    "Let us see. The answer is {}.",
    "Answer: {}",
    "**Answer:** {}",
    "So, the final answer is {}.",
    "Therefore, the correct answer is: {}",
    "The correct answer is:\n\n{}",
    "<answer>{}</answer>",
    "#### {}",
    '{{"reasoning": "I looked at both.", "answer": "{}"}}',
    r"Therefore \boxed{{{}}}",
    "A: {}",
    "<think>It might be something else.</think>\n{}",
    "<think>Perhaps the answer is no. Perhaps (C).</think>The answer is {}",
    "答えは{}です。",
    "正解は{}。",
    "答案是{}。",
    "答案：{}",
]


@each("cue", _CUES)
@each(
    ("gold", "other", "question"),
    [
        ("(B)", "(C)", _OPTIONS),
        ("True", "False", "not False is"),
        ("17", "71", "How many are left?"),
        ("invalid", "valid", _ARGUMENT),
    ],
)
def test_every_cue_leads_to_the_answer_of_every_closed_kind(cue: str, gold: str, other: str, question: str) -> None:
    """Cue and kind are independent: each cue works for each kind, right and wrong alike."""
    assert match_answer(cue.format(gold), gold, question=question).decision is Decision.CORRECT
    assert match_answer(cue.format(other), gold, question=question).decision is Decision.INCORRECT
