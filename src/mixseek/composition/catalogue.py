"""Protocols and judges by name."""

import json
from collections.abc import Sequence
from typing import Any

from mixseek.domain.ports import Judge, JudgeProtocol
from mixseek.errors import ConfigurationError
from mixseek.judges.specs import make_judge
from mixseek.protocols.registry import describe, load_protocol


def get_protocol(name: str, language: str | None = None) -> JudgeProtocol:
    """A built-in or declared protocol in the language asked for."""
    return load_protocol(name, language)


def get_judges(specs: Sequence[str]) -> tuple[Judge, ...]:
    """The judges in order; two of one name could not be told apart in the journal."""
    if not specs:
        raise ConfigurationError("no judge; name one with --judge, e.g. --judge rules")
    repeated = {spec for spec in specs if specs.count(spec) > 1}
    if repeated:
        raise ConfigurationError(f"--judge {sorted(repeated)[0]} is given twice; name each judge once")
    return tuple(make_judge(spec) for spec in specs)


def protocol_document(name: str, language: str | None = None) -> dict[str, Any]:
    """Everything that is asked and demanded, as data."""
    return describe(get_protocol(name, language))


def describe_protocol(name: str, language: str | None = None) -> str:
    """The same for a person: the prompt as a judge sees it, with an example filled in."""
    document = protocol_document(name, language)
    lines = [
        f"protocol    {document['name']} {document['version']} ({document['language']})",
        f"hash        {document['hash']}",
    ]
    for message in document["messages"]:
        lines += ["", f"--- {message['role']} message ---", message["content"].rstrip()]
    for title, key in (("parameters", "parameters"), ("reply schema", "reply_schema")):
        lines += ["", f"--- {title} ---", json.dumps(document[key], ensure_ascii=False, indent=2)]
    return "\n".join(lines)
