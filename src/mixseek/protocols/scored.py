"""Protocols that score dimensions: `rubric` (seed 000), `cross` (seed 003) and users' own, from one kind of table."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.protocols.declaration import (
    DeclaredProtocol,
    PromptSource,
    ProtocolDeclaration,
    first_problem,
    read_template,
)
from mixseek.protocols.injected_verdict import repetitions
from mixseek.protocols.reply_bundles import IDENTITY_NAMES
from mixseek.protocols.reply_fields import FieldReader
from mixseek.protocols.reply_json import excerpt
from mixseek.protocols.reply_reader import read_reply
from mixseek.protocols.reply_repairs import Repair
from mixseek.protocols.scored_checks import contradictions, top_level_names
from mixseek.protocols.scored_parameters import EvidencePolicy, ScoredParameters
from mixseek.protocols.scored_prompt import VARIABLES, prompt_variables
from mixseek.protocols.scored_reply import CheckedReply, check_reply
from mixseek.protocols.scored_rules import maxima_of, score_of, total_range
from mixseek.protocols.scored_sample import facts_of, missing_names, refuse_unaskable
from mixseek.protocols.scored_schema import reply_schema
from mixseek.protocols.scored_words import missing_words
from mixseek.templating.template import StrictTemplate, compile_template

_ROLES = ("system", "user")
_DEFAULT_PROMPTS = Path(__file__).parent / "prompts"
DEFAULT_LANGUAGES = ("en", "ja", "zh")


@dataclass(frozen=True)
class ScoredProtocol(DeclaredProtocol):
    """Frozen and picklable: templates are kept as text and compiled where they are needed."""

    settings: ScoredParameters
    # Who is asked, where that is known; part of the prompt, not of the protocol.
    judge: str | None = None

    @classmethod
    def from_declaration(cls, declaration: ProtocolDeclaration) -> Self:
        """Everything that can be wrong with a declaration is found here, before the first sample."""
        try:
            settings = ScoredParameters.model_validate(declaration.parameters)
        except ValidationError as error:
            raise ConfigurationError(f"{declaration.where}: parameters.{first_problem(error)}") from error
        for problem in contradictions(settings):
            raise ConfigurationError(f"{declaration.where}: parameters.{problem}")
        for place in missing_words(settings, declaration.language):
            raise ConfigurationError(
                f"{declaration.where}: parameters.{place} has no text in language {declaration.language!r}; add it"
            )
        protocol = cls(_with_default_templates(declaration), settings)
        for role in _ROLES:
            protocol._template(role)
        return protocol

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        return self.settings.model_dump(mode="json")

    @cached_property
    def reply_schema(self) -> Mapping[str, Any]:
        return reply_schema(self.settings)

    @cached_property
    def hash(self) -> str:
        """As text: the order of dimensions and verdicts counts too."""
        return self.hash_with(
            json.dumps(self.parameters, ensure_ascii=False), json.dumps(self.reply_schema, ensure_ascii=False)
        )

    def for_judge(self, judge: str) -> Self:
        """The same protocol, which tells the judge its name and the method in the prompt."""
        return replace(self, judge=judge)

    def missing_names(self, sample: Sample) -> tuple[str, ...]:
        """Of the fields that place a sample in the grid, those that this one does not have."""
        return missing_names(facts_of(sample, self.settings), self.settings)

    def messages(self, sample: Sample, nonce: str) -> tuple[Message, ...]:
        """One nonce for all fences of a prompt; DatasetError where no reply about the sample could be valid."""
        facts = facts_of(sample, self.settings)
        refuse_unaskable(facts, self.settings, self.name)
        variables = prompt_variables(facts, nonce, self.judge, self.settings, self.language)
        return tuple(Message(role, self._template(role).render(variables)) for role in _ROLES)

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """All objections are collected: a judge that is asked again should hear them at once."""
        known = top_level_names(self.settings)
        reading = read_reply(reply.text, self.settings.reply_mode, known)
        if reading.value is None:
            return InvalidJudgment(reading.findings, reading.repairs)
        fields = FieldReader(reading.value)
        checked = check_reply(fields, reply, facts_of(sample, self.settings), self.settings)
        repairs = reading.repairs
        strangers = self._unknown_keys(reading.value)
        if reply.details.get("bundle"):
            # An entry must say which sample it is about; that is the bundle's label, not the judge's liberty.
            strangers = [key for key in strangers if key not in IDENTITY_NAMES]
        if strangers:
            repairs = (*repairs, Repair.EXTRA_KEYS_IGNORED)
            fields.findings.extend(_contradicting(reading.value, strangers, checked, self.settings))
        repeated = repetitions(reading.value, sample, [quote.text for quote in checked.evidence])
        findings = (*reading.findings, *fields.findings, *repeated)
        if findings or checked.scores is None or checked.total is None:
            # Quotes that do not stand in the response count against the judge; they are what often makes it invalid.
            quotes = [quote.document() for quote in checked.evidence]
            return InvalidJudgment(findings, repairs, {"evidence": quotes} if quotes else {})
        return self._judgment(checked, checked.scores, checked.total, reading.value, repairs)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        """There are no rules for quality: a judge has to be asked."""
        return Undecided(f"the {self.name} protocol has no rules; it needs a judge")

    def _template(self, role: str) -> StrictTemplate:
        source = self.declaration.templates[role]
        return compile_template(source.text, VARIABLES, source.where)

    def _unknown_keys(self, value: Mapping[str, Any]) -> list[str]:
        """At the top and beside the fields that name the sample; strangers among dimensions are objected to there."""
        identity = self.settings.identity
        known = (*top_level_names(self.settings), self.settings.evidence.field)
        strangers = [key for key in value if key not in known]
        inside = value.get(identity.place) if identity.place else None
        if isinstance(inside, Mapping):
            strangers += [f"{identity.place}.{key}" for key in inside if key not in identity.fields]
        return strangers

    def _judgment(
        self,
        checked: CheckedReply,
        scores: Mapping[str, int | float],
        total: int | float,
        value: Mapping[str, Any],
        repairs: tuple[Repair, ...],
    ) -> ValidJudgment:
        settings = self.settings
        lowest, highest = total_range(settings, checked.task_type)
        identity = checked.identity
        # The declaration's own names first: what every scored protocol has must keep its meaning.
        fields: dict[str, Any] = {**checked.words, **_flat_gates(checked, settings)}
        fields |= {
            "scores": dict(scores),
            "maxima": maxima_of(settings, checked.task_type),
            "total": total,
            "total_minimum": lowest,
            "total_maximum": highest,
            "same_family": identity.relation.same_family,
            "warnings": list(identity.warnings),
        }
        if settings.identity.fields:
            fields["identity"] = identity.named
        if settings.task_types.types:
            fields["task_type"] = checked.task_type
            fields["inferred_task_type"] = checked.inferred_task_type
        if settings.reasons.field:
            fields["reasons"] = dict(checked.reasons)
        if settings.evidence.policy is not EvidencePolicy.OFF:
            fields["evidence"] = [quote.document() for quote in checked.evidence]
        if settings.gates:
            fields["gates"] = {
                name: {"failed": failed, "reason": reason} for name, (failed, reason) in checked.gates.items()
            }
        fields["comment"] = _comment(checked)
        fields["reply"] = dict(value)
        return ValidJudgment(
            score_of(settings, total, checked.task_type),
            checked.verdict or "",
            fields,
            identity.relation.method,
            repairs=repairs,
        )


def _with_default_templates(declaration: ProtocolDeclaration) -> ProtocolDeclaration:
    unknown = set(declaration.templates) - set(_ROLES)
    if unknown:
        raise ConfigurationError(f"{declaration.where}: templates may only be: {', '.join(_ROLES)}")
    templates: dict[str, PromptSource] = dict(declaration.templates)
    for role, stem in (("system", "scored"), ("user", "scored_user")):
        if role in templates:
            continue
        if declaration.language not in DEFAULT_LANGUAGES:
            raise ConfigurationError(
                f"{declaration.where}: there is no prompt of our own in language {declaration.language!r} "
                f"({', '.join(DEFAULT_LANGUAGES)}); name a file in templates.{role}"
            )
        templates[role] = read_template(_DEFAULT_PROMPTS / f"{stem}.{declaration.language}.md.j2")
    return replace(declaration, templates=templates)


def _contradicting(
    value: Mapping[str, Any], strangers: list[str], checked: CheckedReply, settings: ScoredParameters
) -> list[Finding]:
    """Seed 003 §6: a dimension or total given once more, in a place where nobody asked for it, must say the same."""
    known: dict[str, int | float | None] = {**(checked.scores or {}), settings.total.field: checked.total}
    return [
        Finding(
            Flag.INTERNAL_INCONSISTENCY,
            f"{name} is {excerpt(known[name])} in its place, but {excerpt(value[name])} at the top",
        )
        for name in strangers
        if known.get(name) is not None and value[name] != known[name]
    ]


def _flat_gates(checked: CheckedReply, settings: ScoredParameters) -> dict[str, bool | str | None]:
    """As the reply names them: critical_fail, critical_fail_reason."""
    flat: dict[str, bool | str | None] = {}
    for name, gate in settings.gates.items():
        failed, reason = checked.gates[name]
        flat[name] = failed
        if gate.reason_field:
            flat[gate.reason_field] = reason
    return flat


def _comment(checked: CheckedReply) -> str:
    """One line for lists: why a gate failed, else the judge's notes."""
    for failed, reason in checked.gates.values():
        if failed and reason:
            return reason
    return checked.words.get("notes", "")
