"""Decision endpoints: questions about a text, answered with probabilities and without a word.

POST {base_url}/decisions (OpenAI and hosts alike) and POST {base_url}/systemone (local servers and several hosts). The
whole answer is the reply, to the letter: what is wrong with it is the protocol's to say.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from mixseek.domain.decisions import DECISION_API, AnswerOption, DecisionApi, DecisionQuestion, QuestionKind
from mixseek.domain.ports import Call, Message, Usage
from mixseek.judges.endpoint.address import Target
from mixseek.judges.endpoint.answers import Dialect, ReadAnswer, SchemaMode, count, encoded, mapping, text_or_none
from mixseek.judges.endpoint.openai_chat import error_in


class _DecisionWire:
    """What both have in common."""

    models_path = "/models"
    schema_modes = (SchemaMode.NONE,)
    headers: Mapping[str, str] = {}
    api: DecisionApi

    def usage(self, document: Mapping[str, Any]) -> Usage:
        """What the endpoint counted; nothing is written, so some count nothing."""
        usage = mapping(document.get("usage"))
        given = usage.get("input_tokens", usage.get("prompt_tokens"))
        written = usage.get("output_tokens", usage.get("completion_tokens"))
        cached = mapping(usage.get("input_tokens_details")).get("cached_tokens")
        return Usage(count(given), count(written), count(cached))

    def read(self, document: Mapping[str, Any]) -> ReadAnswer:
        """The answer as it is; raises NoReplyError for an error that names the status which it meant."""
        if document.get("error"):
            error = error_in(document)
            if error.status is not None:
                raise error
        names = text_or_none(document.get("model")), text_or_none(document.get("id"))
        extra = {DECISION_API: self.api.value}
        return ReadAnswer(encoded(document).decode(), "stop", self.usage(document), *names, extra)


class OpenAIDecisions(_DecisionWire):
    """POST {base_url}/decisions."""

    path = "/decisions"
    api = DecisionApi.DECISIONS
    _types: Mapping[QuestionKind, str] = {
        QuestionKind.PREDICATE: "predicate",
        QuestionKind.CHOICE: "choice",
        QuestionKind.LEVELS: "score",
    }

    def body(self, call: Call, target: Target, dialect: Dialect) -> dict[str, Any]:
        """The prompt as one text, and the protocol's questions about it."""
        questions = [self._question(question) for question in call.questions]
        body = {"model": target.model, "input": text_of_messages(call.messages), "questions": questions}
        return {**body, **target.settings.body}

    def _question(self, question: DecisionQuestion) -> dict[str, Any]:
        asked = {"type": self._types[question.kind], "name": question.name, "instructions": question.instructions}
        match question.kind:
            case QuestionKind.PREDICATE:
                described = [option for option in question.options if option.description]
                meanings = [f"{option.value}: {option.description}" for option in described]
                return {**asked, "instructions": " ".join([question.instructions, *meanings])}
            case QuestionKind.CHOICE:
                choices = [{"value": option.value, **_described(option)} for option in question.options]
                return {**asked, "choices": choices}
            case QuestionKind.LEVELS:
                levels = [{"label": option.value, **_described(option)} for option in question.options]
                return {**asked, "levels": levels}


class SystemOne(_DecisionWire):
    """POST {base_url}/systemone."""

    path = "/systemone"
    api = DecisionApi.SYSTEMONE
    _types: Mapping[QuestionKind, str] = {
        QuestionKind.PREDICATE: "noul",
        QuestionKind.CHOICE: "choice",
        QuestionKind.LEVELS: "score",
    }

    def body(self, call: Call, target: Target, dialect: Dialect) -> dict[str, Any]:
        """The prompt as the state, and the protocol's questions by their names."""
        questions = {question.name: self._question(question) for question in call.questions}
        body = {"model": target.model, "state": text_of_messages(call.messages), "questions": questions}
        return {**body, **target.settings.body}

    def _question(self, question: DecisionQuestion) -> dict[str, Any]:
        asked = {"type": self._types[question.kind], "instructions": question.instructions}
        meanings = {option.value: option.description or option.value for option in question.options}
        match question.kind:
            case QuestionKind.LEVELS:
                # Known by their places, from the lowest on.
                levels = [f"{value}: {meaning}" if meaning != value else value for value, meaning in meanings.items()]
                return {**asked, "criteria": levels}
            case QuestionKind.PREDICATE if not any(option.description for option in question.options):
                return asked
            case _:
                return {**asked, "criteria": meanings}


def _described(option: AnswerOption) -> dict[str, str]:
    return {"description": option.description} if option.description else {}


def text_of_messages(messages: Iterable[Message]) -> str:
    """What a chat would be told, one after the other; the judged text stays inside its fence."""
    return "\n\n".join(message.content for message in messages)
