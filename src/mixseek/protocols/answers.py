"""Asking a target for an answer: the prompt as it was rendered, and the reply taken apart into response and reasoning.

Nothing is judged here. What a target says is no claim about anything, so it has neither score nor verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Self

from mixseek.domain.judgments import Reply, Responded, Undecided
from mixseek.domain.ports import EXPECTED_ANSWER_TOKENS, MathsComparer, Message, Nonces, PlainProtocol
from mixseek.domain.response_states import ResponseState, response_state
from mixseek.domain.samples import Sample
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.reasoning_tags import REASONING_MARKS
from mixseek.protocols.replies.reply_json import hash_of
from mixseek.protocols.replies.thought import without_thought

# In the metadata of a sample that is to be answered: its turns, those to be filled in with `content` null.
MESSAGES = "messages"
_ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Response:
    """A reply as judges will see it, and what the target thought before it."""

    text: str
    reasoning: str | None
    state: ResponseState
    finish_reason: str | None


def read_response(reply: Reply) -> Response:
    """Reasoning stands apart, whether the endpoint or the text itself kept it so."""
    spoken = without_thought(reply.text)
    text = spoken.text.strip() if spoken.had_thought else reply.text
    apart = reply.details.get("reasoning")
    reasoning = apart if isinstance(apart, str) and apart else spoken.thought
    finish_reason = reply.details.get("finish_reason")
    finish_reason = finish_reason if isinstance(finish_reason, str) else None
    state = response_state(finish_reason, reply.text, REASONING_MARKS)
    if state is ResponseState.FINISHED and not text.strip():
        state = ResponseState.EMPTY
    return Response(text, reasoning or None, state, finish_reason)


@dataclass(frozen=True)
class AnswerProtocol(PlainProtocol):
    """What is asked stands in the sample, word for word; so its key, and not this hash, tells requests apart."""

    responses: tuple[str, ...] = ()
    name: str = "answers"
    version: str = "1"
    language: str = "any"
    # Nothing to constrain: the reply is the answer.
    reply_schema: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def hash(self) -> str:
        return hash_of({"name": self.name, "version": self.version})

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        """The turns up to the one that is to be filled in, with what was answered before."""
        return fill_turns(sample.metadata[MESSAGES], self.responses)

    @property
    def expected_tokens(self) -> int:
        return EXPECTED_ANSWER_TOKENS

    @property
    def done_words(self) -> str:
        return "prompts have been answered"

    def turns(self, sample: Sample) -> int:
        return max(1, len(open_turns(sample.metadata[MESSAGES])))

    def after(self, responses: tuple[str, ...]) -> Self:
        return replace(self, responses=responses)

    def parse(self, reply: Reply, sample: Sample) -> Responded:
        """Whatever it is: a refusal is an answer, and an empty text is one of a kind of its own."""
        response = read_response(reply)
        return Responded({"state": response.state.value}, response.text)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        return Undecided("rules write no answers")


def open_turns(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """Where turns of the assistant are to be filled in; a conversation that ends with its user asks for one more."""
    places = [place for place, message in enumerate(messages) if is_open(message)]
    return places if messages and messages[-1]["role"] == _ASSISTANT else [*places, len(messages)]


def is_open(message: Mapping[str, Any]) -> bool:
    """Whether the assistant is still to say it."""
    return message["role"] == _ASSISTANT and message["content"] is None


def fill_turns(messages: Sequence[Mapping[str, Any]], responses: Sequence[str]) -> tuple[Message, ...]:
    """What comes before the turn that follows these responses."""
    places = open_turns(messages)
    given = dict(zip(places, responses, strict=False))
    end = places[len(responses)] if len(responses) < len(places) else len(messages)
    return tuple(
        Message(message["role"], given[place] if place in given else message["content"])
        for place, message in enumerate(messages[:end])
    )
