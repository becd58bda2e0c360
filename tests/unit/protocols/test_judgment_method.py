"""Who judged whom is derived from identities, never asked."""

from typing import Any

from tests.cases import each

from mixseek.domain.judgments import Method, Reply
from mixseek.domain.samples import Sample
from mixseek.protocols.identity import Families, Relation, judge_identity, method_of, relate


@each(
    ("judge", "details", "target", "method"),
    [
        ("openai:gpt-x", {}, "gpt-x", Method.SELF_JUDGE),
        ("openai:gpt-x@http://127.0.0.1:8000/v1", {}, "GPT-X", Method.SELF_JUDGE),
        ("gpt-x", {}, "openai:gpt-x", Method.SELF_JUDGE),
        ("replay", {"judge_model": "gpt-x"}, "gpt-x", Method.SELF_JUDGE),
        ("replay", {"judge_model": "gpt-y"}, "gpt-x", Method.CROSS_JUDGE),
        ("house", {"judge_model": "endpoint:alpha-7b"}, "alpha-7b", Method.SELF_JUDGE),
        ("house", {"judge_model": "endpoint:gpt-x"}, "gpt-y", Method.CROSS_JUDGE),
        ("openai:gpt-x", {}, "gpt-y", Method.CROSS_JUDGE),
        ("ollama:llama3:8b", {}, "qwen3:8b", Method.CROSS_JUDGE),
        ("openai:gpt-x", {}, None, Method.CROSS_JUDGE),
        ("gpt-x", {"judge_model": " "}, "gpt-x", Method.SELF_JUDGE),
        ("gpt-x", {"judge_model": 5}, "gpt-x", Method.SELF_JUDGE),
    ],
)
def test_the_same_model_is_a_self_judge(judge: str, details: Any, target: str | None, method: Method) -> None:
    assert method_of(Reply("{}", judge, details=details), Sample("1", "r", target_model=target)) is method


def test_a_protocols_own_names_decide_who_is_who() -> None:
    """An alias that only its table knows."""
    reply, sample = Reply("{}", "house-model"), Sample("1", "r", target_model="gpt-x")

    assert method_of(reply, sample) is Method.CROSS_JUDGE
    table = Families(aliases={"house-model": "gpt-x"})
    assert relate(judge_identity(reply), sample.target_model, table) == Relation(Method.SELF_JUDGE)
