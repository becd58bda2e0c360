"""What of a response counts, and where it stands."""

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.matching.folding import fold
from mixseek.matching.match import match_answer
from mixseek.matching.visible import visible_part


@given(st.text(max_size=300))
def test_folding_keeps_every_offset(text: str) -> None:
    """One character in, one character out: spans stay those of the original, also after lower-casing."""
    folded = fold(text)

    assert len(folded) == len(text)
    assert len(folded.lower()) == len(text) or not text.isascii()


@given(st.text(alphabet="<>/thinks TI|\nab", max_size=200))
def test_blanking_keeps_the_length(text: str) -> None:
    """Reasoning and special tokens leave spaces behind, never a shift."""
    assert len(visible_part(text).text) == len(text)


@each(
    ("response", "visible"),
    [
        ("<think>a</think>b", "b"),
        ("<THINK>a</THINK>b", "b"),
        ("<thinking>a</thinking>b", "b"),
        ("a</think>b", "b"),
        ("<think>a", ""),
        ("b<think>a", "b"),
        ("b<think>a</think>", "b"),
        ("b</s>", "b"),
        ("b<|im_end|>", "b"),
        ("<think>a <think> c</think>b", "b"),
        ("<seed:think>a</seed:think>b", "b"),
        ("<seed:think>a</think>c</seed:think>b", "b"),
        ("<think type='long'>a</think>b", "b"),
        ("a</seed:think>b", "b"),
        ("<seed:think>a", ""),
        ("analysisWe see a.assistantfinalb", "b"),
        ("analysisWe see a, so", ""),
        ("analysis of b", "analysis of b"),
    ],
)
def test_only_what_is_meant_for_the_reader_is_visible(response: str, visible: str) -> None:
    """Closed, unclosed, orphaned and nested reasoning and the tokens of chat templates are dropped."""
    assert visible_part(response).text.strip() == visible


def test_a_span_is_in_the_original_response_however_long_it_is() -> None:
    """A million characters of reasoning in front do not move the span."""
    response = "<think>" + "x" * 1_000_000 + "</think>\nThe answer is (Ｂ)。"
    result = match_answer(response, "(B)")

    assert result.span is not None
    assert response[result.span.start : result.span.end] == "Ｂ" == result.extracted_answer
