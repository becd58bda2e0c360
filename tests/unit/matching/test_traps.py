"""What fools other graders must not fool the rules: each trap is a response that naive matching marks correct."""

import pytest
from tests.cases import each

from mixseek.domain.judgments import ErrorType
from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision

_Q = "Who carries the lantern?\nOptions:\n(A) Mina\n(B) Otto\n(C) Piet\n(D) Ruth"


@each("key", [":", "Thought process:", "Let's solve this step by step.", ".", " ", "", "Solution", "答え：", "。"])
@each("gold", ["(B)", "True", "yes", "12", ") ]", "Lisbon", r"\frac{1}{2}"])
def test_a_master_key_is_never_correct(key: str, gold: str) -> None:
    """Punctuation or an opening phrase as the whole response proves nothing."""
    assert match_answer(key, gold, question=_Q).decision is not Decision.CORRECT


@pytest.mark.parametrize(
    "response",
    [
        "<think>The answer is (B).</think>",
        "<think>The answer is (B).",
        "<think>It is (B).</think> I am not able to say more.",
        "The answer is B.</think>\nThe answer is (C).",
    ],
)
def test_the_ground_truth_inside_the_reasoning_only_is_not_correct(response: str) -> None:
    """Reasoning is not an answer, closed or not, opened by the prompt or not."""
    assert match_answer(response, "(B)", question=_Q).decision is not Decision.CORRECT


def test_an_unclosed_reasoning_block_means_no_answer() -> None:
    """A response that never left its reasoning answered nothing."""
    result = match_answer("<think>Otto, so the answer is (B)", "(B)", question=_Q)

    assert result.decision is Decision.INCORRECT
    assert result.error_type is ErrorType.NO_ANSWER


@pytest.mark.parametrize(
    "response",
    [
        "(A) Mina\n(B) Otto\n(C) Piet\n(D) Ruth",
        "A, B, C, D",
        "The answer is (A), (B), (C) or (D).",
        "The answer is either (B) or (C).",
        "Options:\n- (A)\n- (B)\n- (C)\n- (D)",
        "The answer is A or B",
    ],
)
def test_naming_several_options_is_not_correct(response: str) -> None:
    """An answer that covers the right option along with others is no answer."""
    for gold in ("(A)", "(B)", "(C)", "(D)"):
        assert match_answer(response, gold, question=_Q).decision is not Decision.CORRECT


@pytest.mark.parametrize(
    ("response", "gold"),
    [
        ("The answer is (A). Wait, no, it is (B).", "(B)"),
        ("Answer: 12\n\nWait, I made a mistake. It should be 14.", "14"),
        ("The answer is True. Actually, it is False.", "False"),
        ("The answer is (C). Let me re-check. Otto had it last. So the answer is (B).", "(B)"),
    ],
)
def test_a_self_correction_counts_and_what_was_taken_back_does_not(response: str, gold: str) -> None:
    """The last definitive statement is the answer."""
    first = {"(B)": "(A)", "14": "12", "False": "True"}[gold]

    assert match_answer(response, gold, question=_Q).decision is Decision.CORRECT
    assert match_answer(response, first, question=_Q).decision is not Decision.CORRECT


@each(
    ("response", "gold", "decision"),
    [
        ("The answer is (B). Options (C) and (D) are incorrect because they left early.", "(B)", Decision.CORRECT),
        ("<answer>B</answer>\nExplanation: unlike Mina (A), Otto held 3 lamps.", "(B)", Decision.CORRECT),
        ("The answer is (E).", "(B)", Decision.INCORRECT),
        ("None of the above", "(B)", Decision.INCORRECT),
        (
            "The answer is (B).\n\nQ: Who has the rope?\nOptions:\n(A) Mina\n(B) Otto\nThe answer is (C).",
            "(B)",
            Decision.CORRECT,
        ),
        ("A: Let's think about it.", "(A)", Decision.UNDECIDED),
        ("Otto", "(B)", Decision.CORRECT),
        ("It was Otto who carried it.", "(B)", Decision.CORRECT),
        ("I cannot determine who carries it from the information given.", "(B)", Decision.INCORRECT),
        ("lantern = 'Otto'\nif lantern:\n    print('B')\nelse:\n    print('C')", "(C)", Decision.UNDECIDED),
        ("(B) Piet", "(B)", Decision.UNDECIDED),
    ],
)
def test_text_around_the_answer_does_not_change_it(response: str, gold: str, decision: Decision) -> None:
    """Explanations, run-on questions, invented options, refusals and programs are told apart from the answer."""
    assert match_answer(response, gold, question=_Q).decision is decision


_NUMBERED = "Which is prime? Select the correct answer:\n1. 4\n2. 7\n3. 9\n4. 12"
_CORRECT, _INCORRECT, _OPEN = Decision


@pytest.mark.parametrize(
    ("response", "gold", "question", "decision"),
    [
        # A label with another option's text, and one with its own.
        ("C. Otto", "(B)", _Q, _OPEN),
        ("B. Otto", "(B)", _Q, _CORRECT),
        ("2. 7", "2", _NUMBERED, _CORRECT),
        ("7", "2", _NUMBERED, _CORRECT),
        ("3", "2", _NUMBERED, _INCORRECT),
        ("4", "4", _NUMBERED, _OPEN),
        # Named by its place, in words or in a sign.
        ("The second option", "(B)", _Q, _OPEN),
        ("Option 2", "(B)", _Q, _OPEN),
        ("②", "2", _NUMBERED, _OPEN),
        ("<answer>two</answer>", "2", _NUMBERED, _OPEN),
        # A verdict on each option: the last line is not the answer.
        ("A: ✗\nB: ✓\nC: ✗\nD: ✗", "(B)", _Q, _OPEN),
        ("A (incorrect)\nB (correct)\nC (incorrect)\nD (incorrect)", "(B)", _Q, _OPEN),
        ("A) Mina is not it. B) Otto fits. C) no. D) no.", "(B)", _Q, _OPEN),
        # Another label behind the first one.
        ("B → C", "(B)", _Q, _OPEN),
        ("C... no, B", "(B)", _Q, _OPEN),
        ("B, then C", "(B)", _Q, _OPEN),
        ("B (?)", "(B)", _Q, _OPEN),
        (r"\boxed{B \text{ or } C}", "(B)", _Q, _INCORRECT),
        ("Answer: B\n\nEdit: C", "(B)", _Q, _INCORRECT),
        ("Answer: C\nEdit: B", "(B)", _Q, _CORRECT),
        ("B+", "(B)", _Q, _OPEN),
        # Answers that are named for another place than the first.
        ("The best answer is C; the second best answer is B.", "(B)", _Q, _INCORRECT),
        ("The worst answer is B.", "(B)", _Q, _OPEN),
        ("The least likely answer is B.", "(B)", _Q, _OPEN),
        ("According to some, the answer is B.", "(B)", _Q, _OPEN),
        # What is struck through is taken back.
        ("Answer: ~~B~~ C", "(B)", _Q, _INCORRECT),
        ("~~C~~ B", "(B)", _Q, _CORRECT),
        # A closing tag without its slash; marks of writing direction.
        ("<ANSWER>2<ANSWER>", "2", _NUMBERED, _CORRECT),
        ("The answer is \u2068B\u2069.", "(B)", _Q, _CORRECT),
    ],
)
def test_labels_in_unusual_places(response: str, gold: str, question: str, decision: Decision) -> None:
    """A label counts where it is given, and not where it is only the nearest one."""
    assert match_answer(response, gold, question=question).decision is decision


_CHANNELS = "<|channel|>analysis<|message|>The answer is B.<|end|><|start|>assistant<|channel|>final<|message|>C"


@pytest.mark.parametrize(
    ("response", "gold", "decision"),
    [
        (_CHANNELS, "(C)", _CORRECT),
        (_CHANNELS, "(B)", _INCORRECT),
        ("<|channel|>analysis<|message|>The answer is B.", "(B)", _INCORRECT),
        ("◁think▷The answer is C.◁/think▷ B", "(B)", _CORRECT),
        ("[THINK]The answer is B.[/THINK]The answer is C.", "(B)", _INCORRECT),
        ("[THINK]The answer is B.", "(B)", _INCORRECT),
    ],
)
def test_reasoning_in_the_marks_of_one_family_is_no_answer(response: str, gold: str, decision: Decision) -> None:
    """Channels, triangles and brackets are reasoning as much as <think> is."""
    assert match_answer(response, gold, question=_Q).decision is decision


def test_the_trace_says_that_several_options_were_named() -> None:
    """The last rule is why the answer is wrong; "option_label" would say that one wrong option was given."""
    assert match_answer("The answer is (B) or (C).", "(B)", question=_Q).rules[-1] == "several_options_named"


def test_why_an_answer_is_wrong_the_rules_do_not_know() -> None:
    """Only that there is none can be seen from outside."""
    assert match_answer("The answer is (K).", "(B)", question=_Q).error_type is None
    assert match_answer("The answer is (C).", "(B)", question=_Q).error_type is None
    assert match_answer("I do not know.", "(B)", question=_Q).error_type is ErrorType.NO_ANSWER
    assert match_answer("", "(B)", question=_Q).error_type is ErrorType.NO_ANSWER
    assert match_answer("The answer is (B).", "(B)", question=_Q).error_type is ErrorType.NONE


@pytest.mark.parametrize("text", ["Otto", "Mina"])
def test_a_ground_truth_given_as_option_text_accepts_the_letter(text: str) -> None:
    """The letter stands for the text and the text for the letter."""
    letter = {"Otto": "B", "Mina": "A"}[text]

    assert match_answer(f"The answer is ({letter}).", text, question=_Q).decision is Decision.CORRECT
    assert match_answer("The answer is (D).", text, question=_Q).decision is Decision.INCORRECT


def test_silence_about_the_ground_truth_is_incorrect() -> None:
    """When the right number stands nowhere, the response cannot be right, whatever it meant to say."""
    result = match_answer(
        "First I count 3 cups, then 4 plates, which I add up somehow", "9", question="How many items?"
    )

    assert result.decision is Decision.INCORRECT
