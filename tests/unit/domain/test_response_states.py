"""How a response ended, for every spelling of every provider that we know of."""

from tests.cases import each

from mixseek.datasets.endings import state_of_sample
from mixseek.domain.response_states import ResponseState, plain_reason, read_state, response_state, state_of_reason
from mixseek.matching.reasoning_tags import REASONING_MARKS

FINISHED, CUT_OFF, WITHHELD, EMPTY = ResponseState
# Whose word it is, and what it means.
REASONS: tuple[tuple[str, str, ResponseState | None], ...] = (
    ("OpenAI chat", "length", CUT_OFF),
    ("OpenAI chat", "content_filter", WITHHELD),
    ("OpenAI chat", "stop", None),
    ("OpenAI chat", "tool_calls", None),
    ("OpenAI responses", "max_output_tokens", CUT_OFF),
    ("OpenAI responses", "incomplete", CUT_OFF),
    ("OpenAI responses", "completed", None),
    ("Anthropic", "max_tokens", CUT_OFF),
    ("Anthropic", "model_context_window_exceeded", CUT_OFF),
    ("Anthropic", "refusal", WITHHELD),
    ("Anthropic", "end_turn", None),
    ("Anthropic", "stop_sequence", None),
    ("Anthropic", "pause_turn", None),
    ("Gemini", "MAX_TOKENS", CUT_OFF),
    ("Gemini", "FinishReason.MAX_TOKENS", CUT_OFF),
    ("Gemini", "FINISH_REASON_MAX_TOKENS", CUT_OFF),
    ("Gemini", "SAFETY", WITHHELD),
    ("Gemini", "RECITATION", WITHHELD),
    ("Gemini", "BLOCKLIST", WITHHELD),
    ("Gemini", "PROHIBITED_CONTENT", WITHHELD),
    ("Gemini", "SPII", WITHHELD),
    ("Gemini", "FinishReason.SAFETY", WITHHELD),
    ("Gemini", "STOP", None),
    ("Gemini", "OTHER", None),
    ("Mistral", "model_length", CUT_OFF),
    ("Mistral", "length", CUT_OFF),
    ("Bedrock", "content_filtered", WITHHELD),
    ("Bedrock", "guardrail_intervened", WITHHELD),
    ("Bedrock Titan", "LENGTH", CUT_OFF),
    ("Bedrock Titan", "FINISH", None),
    ("Cohere", "ERROR_LIMIT", CUT_OFF),
    ("Cohere", "ERROR_TOXIC", WITHHELD),
    ("Cohere", "COMPLETE", None),
    ("Azure", "content-filter", WITHHELD),
    ("Vercel", "content-filter", WITHHELD),
    ("a camel", "maxTokens", CUT_OFF),
    ("a camel", "contentFilter", WITHHELD),
    ("vLLM list", '["length"]', CUT_OFF),
    ("TGI", "eos_token", None),
    ("llama.cpp", "stopped_limit", CUT_OFF),
    ("Zhipu", "sensitive", WITHHELD),
    ("DeepSeek", "insufficient_system_resource", CUT_OFF),
    ("nobody", "", None),
    ("nobody", "moon", None),
)
# A text without a reason, and how it ended.
TEXTS: tuple[tuple[str, ResponseState], ...] = (
    ("So 4.", FINISHED),
    ("1 < 2, says <thinker>", FINISHED),
    ("", EMPTY),
    (" \n\t\u3000\u00a0", EMPTY),
    ("<think>First", CUT_OFF),
    ("<THINK>First\nsecond", CUT_OFF),
    ("<seed:think budget=1>First", CUT_OFF),
    ("<think>First</think>So 4.", FINISHED),
    ("<think>First</think>So <reasoning>second", CUT_OFF),
    ("First</think>So 4.", FINISHED),
    ("<think>First</think>\n", EMPTY),
    ("<think>First</think> So 4. <think>Second</think>", FINISHED),
    ("<think></think><scratchpad>Second</scratchpad>", EMPTY),
    ("◁think▷First", CUT_OFF),
    ("◁think▷First◁/think▷So 4.", FINISHED),
    ("[THINK]First", CUT_OFF),
    ("[THINK]First[/THINK]So 4.", FINISHED),
    ("<|begin_of_thought|>First", CUT_OFF),
    ("<|channel|>analysis<|message|>First", CUT_OFF),
    ("<|channel|>analysis<|message|>First<|channel|>final<|message|>So 4.", FINISHED),
    ("analysisWe need the sum", CUT_OFF),
    ("analysisWe need the sumassistantfinalSo 4.", FINISHED),
    ("analysis of the sum: 4", FINISHED),
)


@each(("whose", "reason", "state"), REASONS)
def test_every_spelling_of_a_reason_is_one_of_the_states_or_tells_nothing(
    whose: str, reason: str, state: ResponseState | None
) -> None:
    """In small and in capital letters, with whatever stands between the words."""
    del whose
    assert [state_of_reason(spelling) for spelling in (reason, reason.upper(), reason.lower())] == [state] * 3


@each(("text", "state"), TEXTS)
def test_a_text_without_a_reason_tells_by_itself_how_it_ended(text: str, state: ResponseState) -> None:
    """And with a reason that tells nothing; one that tells something wins over any text."""
    assert response_state(None, text, REASONING_MARKS) is state
    assert response_state("stop", text, REASONING_MARKS) is state
    for reason in (CUT_OFF, WITHHELD):
        word = {CUT_OFF: "length", WITHHELD: "content_filter"}[reason]
        assert response_state(word, text, REASONING_MARKS) is reason


@each(
    ("given", "state"),
    [
        *((state.value, state) for state in ResponseState),
        ("cut off", CUT_OFF),
        ("CUT-OFF", CUT_OFF),
        ("moon", None),
        ("", None),
        (None, None),
        (True, None),
    ],
)
def test_a_state_that_the_data_give_is_taken(given: object, state: ResponseState | None) -> None:
    """However it is written, and before reason and text; what is no state is not."""
    assert read_state(given) is state
    sample = {"response": "So 4.", "metadata": {"response_state": given, "finish_reason": "stop"}}
    assert state_of_sample(sample) is (state or FINISHED)


@each(
    ("metadata", "state"),
    [
        ({"planned_without_output": True}, None),
        ({"response_unknown": True}, None),
        ({"response_null": True, "response_error": "null"}, None),
        ({"response_error": "the endpoint is down"}, None),
        ({"response_error": "stopped", "stop_reason": "tool_calls"}, None),
        ({"response_error": "stopped", "stop_reason": "SAFETY"}, WITHHELD),
        ({"response_error": "stopped", "stop_reason": "max_tokens"}, CUT_OFF),
        ({"response_error": "stopped", "response_state": "empty"}, EMPTY),
        ({"response_unknown": False}, EMPTY),
        ({"finishReason": "MAX_TOKENS"}, CUT_OFF),
        ({"done_reason": "length"}, CUT_OFF),
        ({"finish_reason": ["length"]}, CUT_OFF),
        ({"stop_reason": "end_turn", "finish_reason": "length"}, EMPTY),
    ],
)
def test_a_response_that_is_not_there_has_no_state_but_one_that_is_told(
    metadata: dict[str, object], state: ResponseState | None
) -> None:
    """An error is no empty answer."""
    assert state_of_sample({"response": "", "metadata": metadata}) is state


@each(
    ("metadata", "states"),
    [
        ({}, (FINISHED, CUT_OFF)),
        ({"finish_reason": "length"}, (FINISHED, CUT_OFF)),
        ({"finish_reason_a": "length", "finish_reason_b": "SAFETY"}, (CUT_OFF, WITHHELD)),
        ({"response_state": "withheld", "response_state_b": "finished"}, (WITHHELD, FINISHED)),
    ],
)
def test_each_response_of_a_pair_has_its_own_state(
    metadata: dict[str, object], states: tuple[ResponseState, ResponseState]
) -> None:
    """A reason that names no side is nobody's."""
    sample = {"response": "So 4.", "response_b": "<think>First", "metadata": metadata}
    assert (state_of_sample(sample), state_of_sample(sample, is_second=True)) == states
    assert state_of_sample({"response": "So 4."}, is_second=True) is None


def test_a_reason_has_one_spelling() -> None:
    assert {plain_reason(word) for word in ("FinishReason.MAX_TOKENS", "max-tokens", "maxTokens")} == {"maxtokens"}
