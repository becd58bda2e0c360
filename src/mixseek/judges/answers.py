"""An answer as the engine and the journal want it, for judges that no HTTP response stands behind."""

from typing import Any

from mixseek.domain.calls import Answer, Call
from mixseek.domain.judgments import Reply
from mixseek.judges.wire import Reading, SchemaMode


def make_answer(
    call: Call, judge: str, judge_model: str, reading: Reading, latency_seconds: float, schema: SchemaMode
) -> Answer:
    """`judge_model` says who judged, whatever the judge is called: self-judging is derived from it."""
    usage = reading.usage
    details: dict[str, Any] = {
        "take": call.take,
        "ask": call.ask,
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_input_tokens": usage.cached_input_tokens,
        },
        "latency_seconds": round(latency_seconds, 4),
        "finish_reason": reading.finish_reason,
        "request_id": reading.request_id,
        "model": reading.model,
        "judge_model": judge_model,
        "schema": schema.value,
        "requests": 1,
        **reading.extra,
    }
    reply = Reply(reading.text, judge, attempt=call.ask, details=details)
    return Answer(reply, usage, latency_seconds, reading.finish_reason, reading.request_id, reading.model)
