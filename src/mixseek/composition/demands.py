"""What a request demands of every row, worked out from its protocol and judges before a row is read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mixseek.composition.catalogue import AnyJudge, replays_rows
from mixseek.domain.judgments import Method
from mixseek.domain.ports import JudgeProtocol
from mixseek.errors import ConfigurationError
from mixseek.storage.attachments import Demands
from mixseek.storage.rubric_files import RubricShelf

# The evidence policy under which a quote is held against the judged text.
VERIFIED = "verified"
# Seed 003 §0. The output's own id is not among them: a sample's id is one.
_GRID_FIELDS = ("question_id", "prompt_variant", "target_model")


def demands_of(protocol: JudgeProtocol, judges: Sequence[AnyJudge], rubric: Path | None) -> Demands:
    """Raises ConfigurationError for rubrics that cannot be read."""
    # Only replies that stand in the rows themselves can do without the judged text.
    is_recorded = all(replays_rows(judge) for judge in judges)
    return Demands(
        protocol=protocol.name,
        response=not is_recorded,
        response_reason=why_response_is_needed(protocol) if is_recorded else None,
        fields=needed_fields(protocol),
        rubric=bool(read_table(protocol, "task_rubric").get("required")),
        task_types=tuple(read_table(protocol, "task_types", "types")),
        shelf=RubricShelf.open(rubric) if rubric is not None else None,
    )


def needed_fields(protocol: JudgeProtocol) -> tuple[str, ...]:
    """Fields of a sample that the reply must repeat: without them nothing could be aligned."""
    identity = read_table(protocol, "identity", "fields")
    roles = [field.get("equals") for field in identity.values() if field.get("required")]
    return tuple(role for role in roles if role in _GRID_FIELDS)


def read_table(protocol: JudgeProtocol, *names: str) -> Mapping[str, Any]:
    """A table of the protocol's parameters; empty where it has none, as a protocol of another kind."""
    table: Any = protocol.parameters
    for name in names:
        table = table.get(name) if isinstance(table, Mapping) else None
    return table if isinstance(table, Mapping) else {}


def why_response_is_needed(protocol: JudgeProtocol) -> str | None:
    """None where a reply can be checked without the text that it is about."""
    if read_table(protocol, "evidence").get("policy") == VERIFIED:
        return (
            f"no `response`, and the {protocol.name} protocol looks for every quote in it; give `response` or "
            "`response_path`, or check only that quotes are there with --parameter evidence.policy=present"
        )
    if protocol.parameters.get("extraction_policy", "off") != "off":
        return (
            f"no `response`, and the {protocol.name} protocol looks for the extracted answer in it; give `response` or "
            "`response_path`, or do not look with --parameter extraction_policy=off"
        )
    return None


def refuse_absent_rules(protocol: JudgeProtocol, judges: Sequence[AnyJudge]) -> None:
    """A protocol that only a model can judge would leave every sample undecided."""
    if any(judge.name == Method.RULES for judge in judges) and not has_rules(protocol):
        raise ConfigurationError(
            f"the {protocol.name} protocol has no rules to decide by; name who judges with --judge PROVIDER:MODEL, "
            "or --judge replay:FILE for recorded replies"
        )


def has_rules(protocol: JudgeProtocol) -> bool:
    """Only comparing with a ground truth can be done by rules."""
    declaration: Any = getattr(protocol, "declaration", None)
    return declaration is None or declaration.kind == "semantic"
