"""The wire formats that the loopback judge speaks live, both ways: requests read, answers and errors written."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, Field

from mixseek.judges.endpoint.answers import mapping
from mixseek.judges.endpoint.openai_chat import text_of
from mixseek.testing.mock_gemini import GeminiContent
from mixseek.testing.mock_replies import MockReply
from mixseek.testing.prompts import AskedQuestion, Prompt, make_prompt


class _Turn(BaseModel):
    role: str
    content: Any = None


class _Request(BaseModel):
    """What both formats ask for; the mock does not stream."""

    model: str = Field(min_length=1)
    messages: Sequence[_Turn] = Field(min_length=1)
    stream: Literal[False] | None = None
    response_format: Any = None
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0, le=20)


class _ModelessRequest(_Request):
    """A line of a batch whose model is named beside it."""

    model: str = ""


class _ResponsesRequest(BaseModel):
    """What the Responses API asks for."""

    model: str = Field(min_length=1)
    input: str | Sequence[_Turn] = Field(min_length=1)
    instructions: str | None = None
    text: Any = None
    stream: Literal[False] | None = None


class _AnthropicTurn(_Turn):
    # The Messages API takes what the system says beside the messages.
    role: Literal["user", "assistant"]


class _AnthropicRequest(_Request):
    messages: Sequence[_AnthropicTurn] = Field(min_length=1)
    max_tokens: int
    system: Any = ""
    output_config: Any = None
    output_format: Any = None


class OpenAIChat:
    """POST /v1/chat/completions."""

    name = "openai"
    request_id_header = "x-request-id"
    key_header = "Authorization"
    # By status; what is not here is a server_error.
    _errors: Mapping[int, tuple[str, str | None]] = {
        400: ("invalid_request_error", None),
        401: ("invalid_request_error", "invalid_api_key"),
        429: ("rate_limit_exceeded", "rate_limit_exceeded"),
    }

    def read(self, body: bytes, model: str = "") -> Prompt:
        """Raises ValidationError when a request is not of this format; `model` is used where the body names none."""
        request = _Request.model_validate_json(body) if not model else _ModelessRequest.model_validate_json(body)
        form = mapping(request.response_format)
        schema = mapping(mapping(form.get("json_schema")).get("schema"))
        turns = [(_role(turn.role), text_of(turn.content)) for turn in request.messages]
        prompt = make_prompt(request.model or model, turns, schema if form.get("type") == "json_schema" else None)
        return replace(prompt, top_logprobs=request.top_logprobs or 0) if request.logprobs else prompt

    def answer(self, prompt: Prompt, reply: MockReply, number: int) -> dict[str, Any]:
        is_refusal = reply.finish_reason == "refusal"
        content, refusal = (None, reply.text) if is_refusal else (reply.text, None)
        message = {"role": "assistant", "content": content, "refusal": refusal}
        finish = "stop" if is_refusal else reply.finish_reason
        return {
            "id": f"chatcmpl-mock-{number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": prompt.model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": reply.logprobs}],
            "usage": {
                "prompt_tokens": reply.input_tokens,
                "completion_tokens": reply.output_tokens,
                "total_tokens": reply.input_tokens + reply.output_tokens,
                "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
            },
        }

    def error(self, status: int, message: str) -> dict[str, Any]:
        kind, code = self._errors.get(status, ("server_error", None))
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}


class OpenAIResponses(OpenAIChat):
    """POST /v1/responses."""

    name = "openai-responses"

    def read(self, body: bytes, model: str = "") -> Prompt:
        """Raises ValidationError when a request is not of this format; it names its model itself."""
        request = _ResponsesRequest.model_validate_json(body)
        form = mapping(mapping(request.text).get("format"))
        asked = [_Turn(role="user", content=request.input)] if isinstance(request.input, str) else request.input
        turns = [("system", request.instructions)] if request.instructions else []
        turns += [(_role(turn.role), text_of(turn.content)) for turn in asked]
        schema = mapping(form.get("schema")) if form.get("type") == "json_schema" else None
        return make_prompt(request.model, turns, schema)

    def answer(self, prompt: Prompt, reply: MockReply, number: int) -> dict[str, Any]:
        is_refusal, is_cut = reply.finish_reason == "refusal", reply.finish_reason == "length"
        content = (
            {"type": "refusal", "refusal": reply.text}
            if is_refusal
            else {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        )
        status = "incomplete" if is_cut else "completed"
        message = {"id": f"msg_mock_{number}", "type": "message", "status": status, "role": "assistant"}
        return {
            "id": f"resp_mock_{number}",
            "object": "response",
            "created_at": 1_700_000_000,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
            "model": prompt.model,
            "output": [{**message, "content": [content]}],
            "usage": {
                "input_tokens": reply.input_tokens,
                "input_tokens_details": {"cached_tokens": reply.cached_tokens},
                "output_tokens": reply.output_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": reply.input_tokens + reply.output_tokens,
            },
        }


class AnthropicMessages:
    """The wire format of POST /v1/messages."""

    name = "anthropic"
    request_id_header = "request-id"
    key_header = "x-api-key"
    _errors: Mapping[int, str] = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
    _stop_reasons: Mapping[str, str] = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}

    def read(self, body: bytes, model: str = "") -> Prompt:
        """Raises ValidationError when a request is not of this format; it names its model itself."""
        request = _AnthropicRequest.model_validate_json(body)
        form = mapping(request.output_format or mapping(request.output_config).get("format"))
        turns = [
            ("system", text_of(request.system)),
            *((turn.role, text_of(turn.content)) for turn in request.messages),
        ]
        return make_prompt(request.model, turns, mapping(form.get("schema")) if form else None)

    def answer(self, prompt: Prompt, reply: MockReply, number: int) -> dict[str, Any]:
        return {
            "id": f"msg_mock_{number}",
            "type": "message",
            "role": "assistant",
            "model": prompt.model,
            "content": [{"type": "text", "text": reply.text}],
            "stop_reason": self._stop_reasons[reply.finish_reason],
            "stop_sequence": None,
            "usage": {
                "input_tokens": reply.input_tokens,
                "output_tokens": reply.output_tokens,
                "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 0,
            },
        }

    def error(self, status: int, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": self._errors.get(status, "api_error"), "message": message}}


class _Choice(BaseModel):
    value: str


class _Level(BaseModel):
    label: str


class _Question(BaseModel):
    """One question in OpenAI's words."""

    type: Literal["predicate", "choice", "score"]
    name: str
    instructions: str
    choices: Sequence[_Choice] = Field(default=(), max_length=255)
    levels: Sequence[_Level] = Field(default=(), max_length=10)


class _DecisionRequest(BaseModel):
    model: str = Field(min_length=1)
    input: str = Field(min_length=1)
    questions: Sequence[_Question] = Field(min_length=1)


class OpenAIDecisions(OpenAIChat):
    """POST /v1/decisions."""

    name = "openai-decisions"

    def read(self, body: bytes, model: str = "") -> Prompt:
        """Raises ValidationError when a request is not of this format."""
        request = _DecisionRequest.model_validate_json(body)
        questions = tuple(
            AskedQuestion(
                question.name,
                tuple(choice.value for choice in question.choices)
                or tuple(level.label for level in question.levels)
                or _STATEMENT,
                is_scale=question.type == "score",
            )
            for question in request.questions
        )
        return replace(make_prompt(request.model, [("user", request.input)]), questions=questions)

    def answer(self, prompt: Prompt, reply: MockReply, number: int) -> dict[str, Any]:
        asked = {question.name: question for question in prompt.questions}
        answers = [{"name": name, **self._answer(asked[name], shares)} for name, shares in reply.answers.items()]
        return {"id": f"dec_mock_{number}", "model": prompt.model, "answers": answers, "usage": _decision_usage(reply)}

    def _answer(self, question: AskedQuestion, shares: Mapping[str, float]) -> dict[str, Any]:
        if question.options == _STATEMENT:
            return {"type": "predicate", "probability": shares["true"]}
        most = max(shares.values())
        if question.is_scale:
            levels = [
                {"label": label, "value": number, "probability": share}
                for number, (label, share) in enumerate(shares.items())
            ]
            return {"type": "score", "score": _mean(shares), "confidence": most, "probabilities": levels}
        choices = [{"value": value, "probability": share} for value, share in shares.items()]
        return {"type": "choice", "choice": _likeliest(shares), "confidence": most, "probabilities": choices}


class _StateQuestion(BaseModel):
    type: Literal["noul", "choice", "score"]
    instructions: str
    criteria: dict[str, str] | Sequence[str] | None = None


class _StateRequest(BaseModel):
    model: str = Field(min_length=1)
    state: str = Field(min_length=1)
    questions: dict[str, _StateQuestion] = Field(min_length=1)


class SystemOne(OpenAIDecisions):
    """POST /v1/systemone."""

    name = "systemone"

    def read(self, body: bytes, model: str = "") -> Prompt:
        """Raises ValidationError when a request is not of this format."""
        request = _StateRequest.model_validate_json(body)
        questions = tuple(
            AskedQuestion(
                name,
                # A scale says what its levels are called before what they mean.
                tuple(text.partition(":")[0] for text in question.criteria or _STATEMENT)
                if question.type != "noul"
                else _STATEMENT,
                is_scale=question.type == "score",
            )
            for name, question in request.questions.items()
        )
        return replace(make_prompt(request.model, [("user", request.state)]), questions=questions)

    def answer(self, prompt: Prompt, reply: MockReply, number: int) -> dict[str, Any]:
        asked = {question.name: question for question in prompt.questions}
        answers = {name: self._answer(asked[name], shares) for name, shares in reply.answers.items()}
        return {"model": prompt.model, "answers": answers, "usage": _decision_usage(reply)}

    def _answer(self, question: AskedQuestion, shares: Mapping[str, float]) -> dict[str, Any]:
        if question.options == _STATEMENT:
            return {"type": "noul", "noul": shares["true"]}
        most = max(shares.values())
        if question.is_scale:
            numbered = {str(number): share for number, share in enumerate(shares.values())}
            return {"type": "score", "score": _mean(shares), "confidence": most, "probabilities": numbered}
        return {"type": "choice", "choice": _likeliest(shares), "confidence": most, "probabilities": dict(shares)}


# The options of a statement.
_STATEMENT = ("true", "false")


def _mean(shares: Mapping[str, float]) -> float:
    return sum(number * share for number, share in enumerate(shares.values()))


def _likeliest(shares: Mapping[str, float]) -> str:
    return max(shares, key=lambda value: shares[value])


def _decision_usage(reply: MockReply) -> dict[str, Any]:
    """Nothing is written, and nothing of it is billed."""
    return {"input_tokens": reply.input_tokens, "output_tokens": 0, "total_tokens": reply.input_tokens}


def _role(name: str) -> str:
    """Newer models call what the system says the developer's."""
    return "system" if name == "developer" else name


WireFormat = OpenAIChat | AnthropicMessages | GeminiContent | OpenAIDecisions | SystemOne
# Those that answer with a text, by how the path of a request ends.
WIRE_FORMATS: Mapping[str, WireFormat] = {
    "/chat/completions": OpenAIChat(),
    "/responses": OpenAIResponses(),
    "/messages": AnthropicMessages(),
    ":generateContent": GeminiContent(),
}
# Those that answer questions.
DECISION_FORMATS: Mapping[str, WireFormat] = {"/decisions": OpenAIDecisions(), "/systemone": SystemOne()}
# GET /v1/models: any model name is answered, one is listed.
MODELS = {"object": "list", "data": [{"id": "mock", "object": "model", "owned_by": "mixseek"}]}
