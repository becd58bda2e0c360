"""Protocols and judges by name, and the files that hold a protocol."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

from mixseek.domain.documents import DocumentName, with_schema
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.domain.ports import Judge, LiveJudge
from mixseek.errors import ConfigurationError
from mixseek.judges.endpoint.address import DECIDER_PREFIX, PROVIDERS, settings_of_spec, split_spec
from mixseek.judges.function import FunctionJudge
from mixseek.judges.specs import is_live, make_judge, make_live_judge
from mixseek.protocols.registry import load_protocol
from mixseek.runs.requests.protocol_record import document_protocol
from mixseek.settings.models import JudgeSettings, WireFormat

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from mixseek.judges.replay import FileReplayJudge

AnyJudge = Judge | LiveJudge
# As a request names it: what may stand after --judge, or a judge itself.
NamedJudge = str | Judge | LiveJudge


def get_panel(
    judges: Sequence[NamedJudge],
    configured: Mapping[str, JudgeSettings],
    environment: Mapping[str, str],
    timeout_seconds: float | None = None,
    *,
    takes_bundles: bool = False,
    longest_line: int = LONGEST_LINE_BYTES,
) -> tuple[AnyJudge, ...]:
    """All kinds of judges, in order; nothing is sent yet."""
    check_specs([judge if isinstance(judge, str) else judge.name for judge in judges])

    def get(judge: NamedJudge) -> AnyJudge:
        if isinstance(judge, FunctionJudge):
            return judge if timeout_seconds is None else replace(judge, timeout_seconds=timeout_seconds)
        if not isinstance(judge, str):
            return judge
        if is_live(judge, configured):
            return make_live_judge(judge, with_timeout(judge, configured, timeout_seconds), environment)
        return make_judge(judge, configured, takes_bundles=takes_bundles, longest_line=longest_line)

    return tuple(map(get, judges))


def check_specs(specs: Sequence[str]) -> None:
    """At least one judge, and none twice."""
    if not specs:
        raise ConfigurationError("no judge; name one with --judge, e.g. --judge rules")
    # Two functions may have one name without anybody having given one of them twice.
    repeated = {spec for spec in specs if specs.count(spec) > 1}
    if repeated:
        raise ConfigurationError(
            f"--judge {sorted(repeated)[0]} is given twice; name each judge once (--repeats asks one several times; "
            "in Python, function_judge(f, name=…) gives a function a name)"
        )


def with_timeout(
    spec: str, configured: Mapping[str, JudgeSettings], timeout_seconds: float | None
) -> Mapping[str, JudgeSettings]:
    """The settings with the timeout of the command line, which wins over the file."""
    if timeout_seconds is None:
        return configured
    settings = settings_of_spec(spec, configured)
    if settings is None:
        asked = spec.removeprefix(DECIDER_PREFIX)
        if asked.partition(":")[0] not in PROVIDERS or not split_spec(asked)[1]:
            return configured
        provider, model, base_url = split_spec(asked)
        settings = JudgeSettings(model=model, provider=provider, base_url=base_url)
        if asked != spec:
            settings = settings.model_copy(update={"api": WireFormat.DECISIONS})
    return {**configured, spec: settings.model_copy(update={"timeout_seconds": timeout_seconds})}


def is_remote(judge: AnyJudge) -> "TypeIs[LiveJudge]":
    """Whether the judge is behind an endpoint or a model; rules and recorded replies answer at once."""
    return hasattr(judge, "fingerprint")


def replays_file(judge: AnyJudge) -> "TypeGuard[FileReplayJudge]":
    """Whether its replies stand in a file of their own; told without loading what reads such files."""
    return hasattr(judge, "matched_to")


def asks_questions(judge: AnyJudge) -> bool:
    """Whether it is a decision endpoint, which is asked a protocol's questions."""
    return bool(getattr(judge, "asks_questions", False))


def replays_rows(judge: AnyJudge) -> bool:
    """Whether its replies stand in the rows of the dataset."""
    return judge.name == "replay"


def protocol_document(name: str, language: str | None = None) -> dict[str, Any]:
    """Everything that is asked and demanded, as data."""
    return with_schema(DocumentName.PROTOCOL, document_protocol(load_protocol(name, language)))


def describe_protocol(name: str, language: str | None = None) -> str:
    """The same for a person: what is scored and checked, then the prompt as a judge sees it, with an example."""
    document = protocol_document(name, language)
    lines = [
        f"protocol    {document['name']} {document['version']} ({document['language']})",
        f"hash        {document['hash']}",
    ]
    if document["documentation"] is not None:
        # Its first two lines are the name and the hash again.
        lines += ["", document["documentation"].split("\n", 3)[3].strip()]
    for message in document["messages"]:
        lines += ["", f"--- {message['role']} message ---", message["content"].rstrip()]
    lines += ["", "--- questions for decision endpoints ---"]
    lines += [f"none: {document['no_questions']}"] if document["no_questions"] else []
    for question in document["questions"]:
        lines.append(f"{question['name']} ({question['kind']}): {question['instructions']}")
        lines += [
            f"  {option['value']}{': ' if option['description'] else ''}{option['description']}"
            for option in question["options"]
        ]
    for title, key in (("parameters", "parameters"), ("reply schema", "reply_schema")):
        lines += ["", f"--- {title} ---", json.dumps(document[key], ensure_ascii=False, indent=2)]
    return "\n".join(lines)
