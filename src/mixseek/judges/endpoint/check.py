"""One cheap call that says whether a judge can be used, and if not, what to change."""

import difflib
from dataclasses import dataclass

from mixseek.domain.calls import Answer, Call, LiveJudge
from mixseek.domain.ports import Message
from mixseek.errors import JudgeCallError, TransientJudgeError
from mixseek.judges.endpoint.errors import StatusError, mishap_of
from mixseek.judges.endpoint.judge import EndpointJudge
from mixseek.judges.endpoint.wire import SchemaMode

SLOW_SECONDS = 20.0
_SHOWN_MODELS = 12
_SHAPE = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
_CALL = Call(
    "check",
    (
        Message("system", "You answer with one JSON object and nothing else."),
        Message("user", 'Answer with the JSON object {"ok": true}.'),
    ),
    reply_schema=_SHAPE,
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`problem` is None when the judge answered; `advice` may stand beside an answer that is usable but not good."""

    judge: str
    endpoint: str
    problem: str | None
    advice: tuple[str, ...]
    latency_seconds: float | None = None
    # The model that answered, and how the reply's shape could be asked for: json_schema, json_object or none.
    model: str | None = None
    schema: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def is_usable(self) -> bool:
        return self.problem is None


async def check_judge(judge: LiveJudge) -> CheckResult:
    """Makes one call (and, when the model is unknown, one request for the list of models); never raises."""
    try:
        answer = await judge.call(_CALL)
    except JudgeCallError as error:
        return CheckResult(judge.name, judge.endpoint, str(error), (await _advice_on(error, judge),))
    # What must be said wherever this judge is shown, such as that its model judges at chance.
    warning = judge.description.get("warning")
    advice = (*([warning] if isinstance(warning, str) else []), *_remarks(answer))
    schema = answer.reply.details.get("schema")
    seconds, (spent, written, _) = answer.latency_seconds, answer.usage
    return CheckResult(judge.name, judge.endpoint, None, advice, seconds, answer.model, schema, spent, written)


def _remarks(answer: Answer) -> list[str]:
    remarks = []
    if answer.reply.details.get("schema") == SchemaMode.NONE:
        remarks.append("no JSON mode: the endpoint does not constrain replies; expect more invalid ones")
    if not answer.reply.text.strip():
        reason = answer.finish_reason or "no reason given"
        remarks.append(f"the reply was empty (finish reason: {reason}); raise max_tokens or choose another model")
    elif answer.finish_reason == "length":
        remarks.append("the reply was cut off at max_tokens; raise it")
    elif answer.finish_reason in ("refusal", "content_filter"):
        remarks.append(f"the judge refused a harmless request (finish reason: {answer.finish_reason})")
    if answer.latency_seconds > SLOW_SECONDS:
        remarks.append(f"slow: {answer.latency_seconds:.0f} s for one short reply; a run will take long")
    if answer.usage.output_tokens is None:
        remarks.append("the endpoint reports no token counts: cost and tokens per minute cannot be followed")
    return remarks


async def _advice_on(error: JudgeCallError, judge: LiveJudge) -> str:
    cause = error.__cause__
    if isinstance(cause, StatusError):
        return await _advice_on_status(cause, judge)
    known = None if cause is None else mishap_of(cause).advice
    if known is None and isinstance(error, TransientJudgeError):
        return "this may pass; if it stays, check that the base URL is that of the API (it often ends in /v1)"
    return known or "correct the judge's settings"


async def _advice_on_status(cause: StatusError, judge: LiveJudge) -> str:
    refusal = cause.refusal
    if refusal.is_about("out_of_money"):
        return "the account has no credit left: top it up, or use another key"
    if cause.status == 401:
        return "the key was refused or is missing: set the variable that api_key_env or the provider names"
    if cause.status == 403 and not refusal.names_model:
        return "the key is valid but not allowed to do this: check its project, region and permissions"
    if cause.status in (403, 404, 405) or refusal.names_model:
        return await _models_advice(judge)
    if cause.status == 429:
        return "the endpoint limits its rate: set rpm, tpm or concurrency for this judge"
    if cause.status >= 500:
        return "the endpoint is up but failing: try again later, or look into its log"
    return "the endpoint refuses the request as it was put: remove the parameter that it names"


async def _models_advice(judge: LiveJudge) -> str:
    wrong_path = "the path may be wrong: a base URL often ends in /v1"
    if not isinstance(judge, EndpointJudge):
        return wrong_path
    try:
        models = await judge.list_models()
    except JudgeCallError:
        return f"no list of models could be had either; {wrong_path}"
    if not models:
        return "the endpoint lists no models; load one first"
    wanted = judge.target.model
    if wanted in models:
        return f"the model is listed there, so {wrong_path}"
    close = difflib.get_close_matches(wanted, models, n=3, cutoff=0.5)
    shown = [*close, *(name for name in sorted(models) if name not in close)][:_SHOWN_MODELS]
    more = f" and {len(models) - len(shown)} more" if len(models) > len(shown) else ""
    return f"model {wanted!r} is not served there; available: {', '.join(shown)}{more}"
