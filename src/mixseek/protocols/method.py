"""How a judged verdict came about, derived from who judged whom."""

from mixseek.domain.judgments import Method, Reply
from mixseek.domain.samples import Sample


def method_of(reply: Reply, sample: Sample) -> Method:
    """`self_judge` when judge and judged are one model; a recorded reply names its judge in the details."""
    judge = reply.details.get("judge_model", reply.judge)
    if sample.target_model is None or not isinstance(judge, str):
        return Method.CROSS_JUDGE
    return Method.SELF_JUDGE if _is_same_model(judge, sample.target_model) else Method.CROSS_JUDGE


def _is_same_model(judge: str, target: str) -> bool:
    """`openai:gpt-x@http://host` and `GPT-x` are one; `llama3:8b` and `qwen3:8b` are not, whatever they share."""
    judge, target = (name.split("@", 1)[0].strip().casefold() for name in (judge, target))
    return target in {judge, _without_provider(judge)} or judge == _without_provider(target)


def _without_provider(name: str) -> str:
    return name.split(":", 1)[-1]
