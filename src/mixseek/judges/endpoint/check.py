"""One cheap call that says whether a judge can be used, and if not, what to change."""

import orjson

from mixseek.domain.decisions import DECISION_API, FALSE, TRUE, AnswerOption, DecisionQuestion, QuestionKind
from mixseek.domain.ports import Answer, Call, LiveJudge, Message
from mixseek.domain.response_states import ResponseState, state_of_reason
from mixseek.errors import JudgeCallError, TransientJudgeError
from mixseek.judges.endpoint.answers import SchemaMode
from mixseek.judges.endpoint.errors import StatusError, mishap_of
from mixseek.judges.endpoint.judge import models_advice
from mixseek.lazy_dataclass import dataclass

SLOW_SECONDS = 20.0
# The prompt says nothing of the second property: only a schema that is obeyed brings it into the reply.
_SHAPE_NAMES = ("ok", "shape")
_SHAPE = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}, "shape": {"type": "string", "enum": ["obeyed"]}},
    "required": list(_SHAPE_NAMES),
    "additionalProperties": False,
}
_CALL = Call(
    "check",
    (
        Message("system", "You answer with one JSON object and nothing else."),
        Message("user", 'Answer with the JSON object {"ok": true}.'),
    ),
    reply_schema=_SHAPE,
    # What a decision endpoint is asked instead.
    questions=(
        DecisionQuestion(
            "ok",
            QuestionKind.PREDICATE,
            "The input asks for a JSON object.",
            (AnswerOption(TRUE), AnswerOption(FALSE)),
        ),
    ),
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
    # Whether the reply has the shape that was asked for; None where it was not asked for, or there is no whole reply.
    is_schema_obeyed: bool | None = None

    @property
    def is_usable(self) -> bool:
        return self.problem is None


async def check_judge(judge: LiveJudge) -> CheckResult:
    """Makes one call (and, when the model is unknown, one request for the list of models); never raises."""
    try:
        answer = await judge.call(_CALL)
    except JudgeCallError as error:
        advice = await _advice_on(error, judge)
        # A run says both in one line.
        return CheckResult(judge.name, judge.endpoint, str(error).removesuffix(f"; {advice}"), (advice,))
    # What must be said wherever this judge is shown, such as that its model judges at chance.
    warning = judge.description.get("warning")
    schema, is_obeyed = answer.reply.details.get("schema"), _is_shape_obeyed(answer)
    remarks = (*([warning] if isinstance(warning, str) else []), *_remarks(answer, is_obeyed))
    seconds, (spent, written, *_) = answer.latency_seconds, answer.usage
    counted = (seconds, answer.model, schema, spent, written, is_obeyed)
    return CheckResult(judge.name, judge.endpoint, None, remarks, *counted)


def _is_shape_obeyed(answer: Answer) -> bool | None:
    schema = answer.reply.details.get("schema")
    if schema == SchemaMode.NONE or not answer.reply.text.strip() or answer.finish_reason not in (None, "stop"):
        return None
    try:
        document = orjson.loads(answer.reply.text)
    except orjson.JSONDecodeError:
        return False
    wanted = _SHAPE_NAMES if schema == SchemaMode.JSON_SCHEMA else ()
    return isinstance(document, dict) and all(name in document for name in wanted)


def _remarks(answer: Answer, is_obeyed: bool | None) -> list[str]:
    remarks = []
    is_decision = DECISION_API in answer.reply.details
    if is_decision and "answers" not in answer.reply.text:
        remarks.append("it answered without any answers; check that the model is one that decides")
    if not is_decision and answer.reply.details.get("schema") == SchemaMode.NONE:
        remarks.append("no JSON mode: the endpoint does not constrain replies; expect more invalid ones")
    if is_obeyed is False:
        mode = answer.reply.details.get("schema")
        remarks.append(
            f"{mode} is taken without a complaint and not obeyed: nothing constrains replies; expect more invalid ones"
        )
    if not answer.reply.text.strip():
        reason = answer.finish_reason or "no reason given"
        remarks.append(f"the reply was empty (finish reason: {reason}); raise max_tokens or choose another model")
    elif state_of_reason(answer.finish_reason) is ResponseState.CUT_OFF:
        remarks.append("the reply was cut off at max_tokens; raise it")
    elif state_of_reason(answer.finish_reason) is ResponseState.WITHHELD:
        remarks.append(f"the judge refused a harmless request (finish reason: {answer.finish_reason})")
    if answer.latency_seconds is not None and answer.latency_seconds > SLOW_SECONDS:
        remarks.append(f"slow: {answer.latency_seconds:.0f} s for one short reply; a run will take long")
    if answer.usage.output_tokens is None and not is_decision:
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
        return await models_advice(judge)
    if cause.status == 429:
        return "the endpoint limits its rate: set rpm, tpm or concurrency for this judge"
    if cause.status >= 500:
        return "the endpoint is up but failing: try again later, or look into its log"
    return "the endpoint refuses the request as it was put: remove the parameter that it names"
