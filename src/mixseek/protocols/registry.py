"""From a name or a file to a protocol that can be asked."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mixseek.checks.declare import distinct
from mixseek.checks.settled import NO_CHECKS, CheckSet
from mixseek.domain.ports import JudgeProtocol, JudgingProtocol, Nonces
from mixseek.domain.samples import Sample, SampleNeeds
from mixseek.domain.steps import Context, Step, StepRole, StepStatus
from mixseek.errors import ConfigurationError
from mixseek.protocols.declaration import DeclaredProtocol, ProtocolDeclaration, read_declaration, unknown_among
from mixseek.protocols.earlier import earlier_versions

_DECLARATIONS = Path(__file__).parent / "declarations"


# A declaration names its kind; the kind's class knows the rules that a table cannot say.
KINDS = ("checks", "claims", "pairwise", "scored", "semantic")

# For showing a prompt: never sent anywhere, so its nonces need no secret.
_EXAMPLE = Sample(
    id="example-1",
    question="Is the following expression true? not ( False and True )",
    response="False and True is False, and not False is True. So the answer is True.",
    ground_truth="True",
    question_id="Q1",
    prompt_variant="A",
    target_model="example-model",
    output_id="q1_a_example.txt",
    task_name="boolean-expressions",
    rubric="task_type: fact\n\n## Critical Fail Conditions\n- Gives no answer at all.\n",
)
_EXAMPLE_STEPS = (
    Step(StepRole.USER, "Is the following expression true? not ( False and True )"),
    Step(
        StepRole.TOOL,
        tool="evaluate",
        arguments={"expression": "not (False and True)"},
        result="SyntaxError",
        status=StepStatus.ERROR,
    ),
    Step(
        StepRole.TOOL,
        tool="evaluate",
        arguments={"expression": "not (False and True)"},
        result="True",
        status=StepStatus.OK,
    ),
    Step(StepRole.ASSISTANT, "False and True is False, and not False is True. So the answer is True."),
)
_EXAMPLE_CONTEXTS = (
    Context("logic-1", "A conjunction is true only if both of its parts are true.", "A primer of logic"),
    Context("logic-2", "A negation is true if what it negates is false."),
)
_OTHER_RESPONSE = "The answer is False."
_EXAMPLE_NONCES = Nonces(question="89abcdef0123456701234567", sample="0123456789abcdef01234567")


def protocol_names() -> tuple[str, ...]:
    """The built-in protocols, sorted."""
    return tuple(sorted(path.stem for path in _DECLARATIONS.glob("*.toml")))


def load_protocol(
    name_or_path: str, language: str | None = None, parameters: Mapping[str, Any] | None = None
) -> JudgingProtocol:
    """A built-in by name, or a declaration by the path of its TOML file; `parameters` replace the file's.

    `semantic@1` is the built-in as its version 1 was: what earlier runs were judged by can be asked again.
    """
    name, _, version = name_or_path.partition("@")
    if not names_version(name_or_path):
        return make_protocol(read_declaration(declaration_path(name_or_path), language, parameters))
    declaration = read_declaration(declaration_path(name), language, parameters)
    known = {declared.version: declared for declared in (declaration, *earlier_versions(declaration))}
    if version not in known:
        raise ConfigurationError(f"the {name} protocol has no version {unknown_among(version, tuple(known))}")
    return make_protocol(known[version])


def names_version(name_or_path: str) -> bool:
    """Whether it is a built-in in one of its versions, as `semantic@1`."""
    name, _, version = name_or_path.partition("@")
    return bool(version) and name in protocol_names()


def earlier_protocols(protocol: JudgeProtocol) -> Iterator[JudgingProtocol]:
    """The same protocol as earlier versions of mixseek would have asked it, the latest first."""
    declaration = protocol.declaration if isinstance(protocol, DeclaredProtocol) else None
    return map(make_protocol, () if declaration is None else earlier_versions(declaration))


def checks_of(protocol: JudgeProtocol) -> CheckSet:
    """What is checked under it; nothing where it is not declared in a file."""
    return protocol.checks if isinstance(protocol, DeclaredProtocol) else NO_CHECKS


def with_checks(protocol: JudgeProtocol, checks: CheckSet) -> JudgeProtocol:
    """The protocol with more checks beside its own; ConfigurationError where two go by one name."""
    if not checks:
        return protocol
    if not isinstance(protocol, DeclaredProtocol):
        raise ConfigurationError(f"the {protocol.name} protocol is not declared in a file, so it takes no checks")
    declared = protocol.checks
    added = distinct((*declared.checks, *checks.checks))[len(declared.checks) :]
    return make_protocol(replace(protocol.declaration, checks=replace(declared, beside=added)))


def refuse_checks(protocol: JudgingProtocol) -> JudgingProtocol:
    """Raises ConfigurationError for checks that the protocol could not make anything of."""
    if not isinstance(protocol, DeclaredProtocol) or not protocol.checks:
        return protocol
    if protocol.needs.is_pair:
        raise ConfigurationError(
            f"checks: the {protocol.name} protocol compares two responses, and a check is about one; check them in a "
            "run of their own"
        )
    if protocol.checks.is_gate and protocol.check_words is None:
        raise ConfigurationError(
            f"{protocol.declaration.where}: checks.gate: the verdict of the {protocol.name} protocol is derived from "
            "its scores, so a failed check cannot change it; leave gate out, and use --max-failed-checks"
        )
    return protocol


def make_protocol(declaration: ProtocolDeclaration) -> JudgingProtocol:
    """The protocol that a declaration declares, wherever it was read from."""
    return refuse_checks(_make_kind(declaration))


def _make_kind(declaration: ProtocolDeclaration) -> JudgingProtocol:
    # Each kind is loaded when it is asked for: the matcher behind `semantic` and the checks behind `scored` are large.
    if declaration.kind == "semantic":
        from mixseek.protocols.semantic import SemanticProtocol

        return SemanticProtocol.from_declaration(declaration)
    if declaration.kind == "scored":
        from mixseek.protocols.scored.protocol import ScoredProtocol

        return ScoredProtocol.from_declaration(declaration)
    if declaration.kind == "pairwise":
        from mixseek.protocols.pairwise import PairwiseProtocol

        return PairwiseProtocol.from_declaration(declaration)
    if declaration.kind == "claims":
        from mixseek.protocols.claims import ClaimsProtocol

        return ClaimsProtocol.from_declaration(declaration)
    if declaration.kind == "checks":
        from mixseek.protocols.checks import ChecksProtocol

        return ChecksProtocol.from_declaration(declaration)
    raise ConfigurationError(f"{declaration.where}: unknown kind {unknown_among(declaration.kind, KINDS)}")


def describe(protocol: JudgeProtocol, sample: Sample | None = None) -> dict[str, Any]:
    """Everything that is asked and demanded, with the prompts as a judge would see them for `sample`."""
    # The example names a task type that the protocol knows.
    needs = protocol.needs if isinstance(protocol, DeclaredProtocol) else SampleNeeds()
    sample = sample or replace(
        _EXAMPLE,
        task_type=next(iter(needs.task_types), None),
        response_b=_OTHER_RESPONSE if needs.is_pair else None,
        steps=_EXAMPLE_STEPS if needs.steps else (),
        contexts=_EXAMPLE_CONTEXTS if needs.contexts else (),
    )
    return {
        "name": protocol.name,
        "version": protocol.version,
        "language": protocol.language,
        "hash": protocol.hash,
        "parameters": protocol.parameters,
        "reply_schema": protocol.reply_schema,
        "messages": [message.document for message in protocol.messages(sample, _EXAMPLE_NONCES)],
    }


def declaration_path(name_or_path: str) -> Path:
    """The file of a built-in, or the path itself; ConfigurationError for a word that is neither."""
    if name_or_path in protocol_names():
        return _DECLARATIONS / f"{name_or_path}.toml"
    path = Path(name_or_path)
    if path.suffix == ".toml" or len(path.parts) > 1:
        return path
    raise ConfigurationError(
        f"unknown protocol {unknown_among(name_or_path, protocol_names())}; or give the path of a .toml file"
    )
