"""A protocol as one JSON document, so that a run and its archive carry what they were judged by."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from mixseek.checks.declare import read_checks
from mixseek.checks.settled import NO_CHECKS, CheckSet, documents_of
from mixseek.domain.ports import JudgeProtocol, JudgingProtocol
from mixseek.errors import ConfigurationError, reason_of
from mixseek.protocols.declaration import PromptSource, ProtocolDeclaration
from mixseek.protocols.registry import describe, earlier_protocols, load_protocol, make_protocol
from mixseek.storage.documents import encode_document
from mixseek.storage.durable import replacing
from mixseek.storage.journal.manifest import Manifest
from mixseek.storage.workspace import RunDirectory
from mixseek.text.messages import Message, message


def protocol_record(protocol: JudgeProtocol) -> dict[str, Any]:
    """Everything that its hash covers; the order of dimensions and verdicts is part of it."""
    declaration: ProtocolDeclaration | None = getattr(protocol, "declaration", None)
    if declaration is None:
        raise ConfigurationError(f"protocol {protocol.name!r} is not declared in a file, so it cannot be kept")
    checks = declaration.checks
    # Only where there are some: what was kept before there were any stays what it was.
    checked = {
        "checks": {
            "gate": checks.is_gate,
            "protocol": documents_of(checks.checks),
            "beside": documents_of(checks.beside),
        }
    }
    return {
        "name": protocol.name,
        "version": protocol.version,
        "kind": declaration.kind,
        "language": protocol.language,
        "hash": protocol.hash,
        "parameters": protocol.parameters,
        "templates": {role: source.text for role, source in declaration.templates.items()},
        **(checked if checks else {}),
        **({"decisions": declaration.decisions} if declaration.decisions else {}),
    }


def restore_protocol(record: Mapping[str, Any], where: str) -> JudgingProtocol:
    """The protocol again; raises ConfigurationError for a record that holds none."""
    try:
        templates = {role: PromptSource(text, f"{where}: {role}") for role, text in record["templates"].items()}
        kept: dict[str, Any] = {name: record[name] for name in ("name", "version", "kind", "language", "parameters")}
        kept_checks = record.get("checks")
        checks = NO_CHECKS
        if kept_checks is not None:
            declared, beside = (read_checks(kept_checks[name]).checks for name in ("protocol", "beside"))
            checks = CheckSet(declared, kept_checks["gate"], beside)
        decisions = record.get("decisions", {})
        declaration = ProtocolDeclaration(**kept, templates=templates, where=where, checks=checks, decisions=decisions)
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{where}: not a protocol ({error})") from error
    return make_protocol(declaration)


def read_protocol_record(path: Path) -> Mapping[str, Any]:
    """Raises ConfigurationError where there is none."""
    try:
        record = orjson.loads(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {reason_of(error)}") from error
    except orjson.JSONDecodeError as error:
        raise ConfigurationError(f"{path}: not JSON ({error})") from error
    if not isinstance(record, dict):
        raise ConfigurationError(f"{path}: not a protocol")
    return record


def keep_protocol(run: RunDirectory, protocol: JudgeProtocol) -> None:
    """Keeps it beside the manifest: a user's file may be edited or gone by the time somebody checks the run."""
    if getattr(protocol, "declaration", None) is None:
        return
    with replacing(run.protocol) as stream:
        stream.write(encode_document(protocol_record(protocol)))


def protocol_of_run(run: RunDirectory, manifest: Manifest) -> JudgingProtocol:
    """The protocol as kept with the run; for runs that kept none, the built-in of that name in one of its versions."""
    entry = manifest.protocol
    if run.protocol.is_file():
        protocol = restore_protocol(read_protocol_record(run.protocol), str(run.protocol))
    else:
        now = load_protocol(entry.name, entry.language, entry.parameters)
        versions = (now, *earlier_protocols(now))
        protocol = next((version for version in versions if version.hash == entry.hash), now)
    if protocol.hash != entry.hash:
        raise ConfigurationError(
            f"run {run.name}: was judged by another version of the {entry.name} protocol than this mixseek has; "
            "judge the dataset anew to archive it"
        )
    return protocol


def document_protocol(protocol: JudgeProtocol) -> dict[str, Any]:
    """All that is asked and demanded, as data; `documentation` is None for one without dimensions."""
    # Not by its class: a report of verdicts does not pay for loading what scores.
    documentation: Callable[[], str] | None = getattr(protocol, "documentation", None)
    asked = protocol.question_set
    return {
        **describe(protocol),
        "documentation": None if documentation is None else documentation(),
        "questions": [asdict(question) for question in asked.questions],
        "no_questions": asked.refusal,
    }


def rubric_of_run(run: RunDirectory, manifest: Manifest) -> tuple[tuple[Message, str], ...]:
    """What is scored and what judges are told, by title; empty where another version of mixseek asked it."""
    try:
        document = document_protocol(protocol_of_run(run, manifest))
    except ConfigurationError:
        return ()
    instructions = [turn["content"] for turn in document["messages"] if turn["role"] == "system"]
    parts = (
        (message("word.rubric", "Rubric"), document["documentation"]),
        (message("report.what_judges_are_told", "What judges are told"), "\n\n".join(instructions)),
    )
    return tuple((title, text.strip()) for title, text in parts if text)
