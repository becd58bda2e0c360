"""Protocols that score dimensions: `rubric` (seed 000), `cross` (seed 003) and users' own, from one kind of table."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from jinja2 import StrictUndefined
from jinja2.sandbox import SandboxedEnvironment
from pydantic import ValidationError

from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.protocols.declaration.declaration import (
    DeclaredProtocol,
    PromptSource,
    ProtocolDeclaration,
    first_problem,
    read_template,
)
from mixseek.protocols.reply.bundles import IDENTITY_NAMES
from mixseek.protocols.reply.fields import FieldReader
from mixseek.protocols.reply.injected import repetitions
from mixseek.protocols.reply.json import Repair, excerpt
from mixseek.protocols.reply.reader import read_reply
from mixseek.protocols.scored.parameters import (
    SCORED,
    EvidenceForm,
    EvidencePolicy,
    GateConditions,
    GateEffect,
    IdentityRole,
    ScoredParameters,
    TotalPlace,
    TotalRule,
    ValueKind,
    maxima_of,
    missing_words,
    score_of,
    total_range,
)
from mixseek.protocols.scored.prompt import VARIABLES, declared_variables, prompt_variables, reply_schema
from mixseek.protocols.scored.reply import CheckedReply, check_reply
from mixseek.protocols.scored.sample import facts_of, missing_names, refuse_unaskable
from mixseek.templating.template import StrictTemplate, compile_template

# What in a scored protocol's table contradicts itself; all of it, one line each.

# As str() writes whole numbers: 01 and +1 are no names of a value.
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


def contradictions(parameters: ScoredParameters) -> tuple[str, ...]:
    """Each begins with its place inside [parameters]; none means that every sample can be judged."""
    numbers = (*_about_scale(parameters), *_about_weights(parameters))
    return (
        *numbers,
        # Totals are about numbers that are not settled then.
        *(() if numbers else _about_total(parameters)),
        *_about_gates(parameters),
        *_about_verdicts(parameters),
        *_about_texts(parameters),
        *_about_names(parameters),
    )


def _about_scale(parameters: ScoredParameters) -> Iterator[str]:
    scale = parameters.scale
    if scale.maximum is not None and scale.minimum >= scale.maximum:
        yield f"scale: minimum {scale.minimum} is not below maximum {scale.maximum}"
    if scale.maximum is None and not parameters.task_types.types:
        yield "scale: no maximum; give one, or weights by task type in task_types.types, which are then the maxima"
    ends = [end for end in (scale.minimum, scale.maximum) if end is not None]
    if scale.values is ValueKind.INTEGER and any(isinstance(end, float) for end in ends):
        yield 'scale: values = "integer" needs whole numbers at both ends'
    for value in scale.labels:
        if not _is_on_scale(value, parameters):
            yield f"scale.labels.{value}: not a value of the scale"


def _is_on_scale(label: str, parameters: ScoredParameters) -> bool:
    scale = parameters.scale
    if scale.maximum is None or not _WHOLE.fullmatch(label):
        return False
    return scale.minimum <= int(label) <= scale.maximum


def _about_weights(parameters: ScoredParameters) -> Iterator[str]:
    types = parameters.task_types
    if not types.types:
        for field in ("field", "inferred_field", "weights_field"):
            if getattr(types, field):
                yield f"task_types.{field}: there are no task types; declare them in task_types.types"
        if parameters.total.rule is TotalRule.WEIGHTED_SUM:
            yield 'total.rule: "weighted_sum" needs weights; declare them in task_types.types'
        return
    if types.inferred_field and not types.field:
        yield "task_types.inferred_field: needs task_types.field as well"
    if (parameters.total.rule is TotalRule.WEIGHTED_SUM) == (parameters.scale.maximum is None):
        yield (
            'total.rule: with weights, either scale.maximum is left out (the weights are the maxima, rule "sum") '
            'or the rule is "weighted_sum"'
        )
    dimensions = set(parameters.dimensions)
    for name, task_type in types.types.items():
        place = f"task_types.types.{name}.weights"
        for key in sorted(dimensions ^ set(task_type.weights)):
            yield f"{place}: {'no weight for' if key in dimensions else 'no such dimension:'} {key}"
        if any(weight < 0 for weight in task_type.weights.values()) or not sum(task_type.weights.values()) > 0:
            yield f"{place}: weights must not be negative, and not all zero"
        minimum = parameters.scale.minimum
        if parameters.scale.maximum is None and any(weight < minimum for weight in task_type.weights.values()):
            yield f"{place}: a weight is the dimension's maximum here, so it cannot be below the minimum {minimum}"
        if parameters.scale.values is ValueKind.INTEGER and any(
            isinstance(w, float) for w in task_type.weights.values()
        ):
            yield f'{place}: values = "integer" needs whole weights'


def _about_total(parameters: ScoredParameters) -> Iterator[str]:
    declared = parameters.total.maximum
    for name in parameters.task_types.types or ("",):
        bottom, top = total_range(parameters, name or None)
        if not bottom < top:
            yield f"task_types.types.{name}.weights: the highest total {top:g} is not above the lowest"
        if declared is not None and abs(top - declared) > 1e-9:
            place = f"task_types.types.{name}.weights" if name else "total.maximum"
            yield f"{place}: the highest total is {top:g}, but total.maximum says {declared:g}"


def _about_gates(parameters: ScoredParameters) -> Iterator[str]:
    scale = parameters.scale
    for name, gate in parameters.gates.items():
        if gate.effect is GateEffect.ALL_ZERO and (scale.minimum > 0 or (scale.maximum or 0) < 0):
            yield f'gates.{name}.effect: "all_zero" needs a scale that holds 0'
        if gate.conditions is GateConditions.TASK_RUBRIC and not gate.reason_field:
            yield f"gates.{name}.reason_field: conditions of a task rubric need a reason that says which one applied"


def _about_verdicts(parameters: ScoredParameters) -> Iterator[str]:
    rules = parameters.verdict.rules
    if parameters.verdict.field and not rules:
        yield "verdict.field: no rules; a verdict that nothing derives could not be checked"
    for number, (word, rule) in enumerate(rules.items(), start=1):
        place = f"verdict.rules.{word}"
        if rule.is_otherwise != (number == len(rules)):
            yield f"{place}: " + (
                "has no conditions, so the rules after it are never reached; put it last"
                if rule.is_otherwise
                else "is the last rule and has conditions; end with one that has none, for what no rule matches"
            )
        if rule.gate and rule.gate not in parameters.gates:
            yield f"{place}.gate: no such gate: {rule.gate}"
        for key in rule.nonzero:
            if key not in parameters.dimensions:
                yield f"{place}.nonzero: no such dimension: {key}"


def _about_texts(parameters: ScoredParameters) -> Iterator[str]:
    evidence = parameters.evidence
    if evidence.policy is not EvidencePolicy.OFF and not evidence.field:
        yield f'evidence.field: policy "{evidence.policy}" needs a field'
    if evidence.form is EvidenceForm.LIST:
        names = [evidence.dimension_field, evidence.quote_field, evidence.reason_field]
        if len(set(names)) < len(names):
            yield "evidence: dimension_field, quote_field and reason_field must differ"
    for name, choice in parameters.choices.items():
        for option in choice.descriptions:
            if option not in choice.options:
                yield f"choices.{name}.descriptions.{option}: not one of its options"
    roles = Counter(field.equals for field in parameters.identity.fields.values())
    for role, count in roles.items():
        if count > 1 and role not in {IdentityRole.ANY, IdentityRole.DATE}:
            yield f'identity.fields: {count} fields equal "{role}"; one is enough'


def _about_names(parameters: ScoredParameters) -> Iterator[str]:
    total = parameters.total
    if total.field and total.place is TotalPlace.INSIDE and total.field in parameters.dimensions:
        yield f"total.field: {total.field} is a dimension"
    for name, count in Counter(top_level_names(parameters)).items():
        if count > 1:
            yield f"{name}: {count} parts of the reply have this name; each needs its own"


def top_level_names(parameters: ScoredParameters) -> tuple[str, ...]:
    """The reply's own keys, in the order in which they are shown to the judge."""
    types = parameters.task_types
    identity = parameters.identity
    total = parameters.total
    named = (
        *((identity.place,) if identity.place and identity.fields else identity.fields),
        types.field,
        types.inferred_field,
        types.weights_field,
        parameters.scores.field,
        total.field if total.place is TotalPlace.BESIDE else "",
        parameters.verdict.field,
        parameters.flags.field,
        parameters.reasons.field,
        *(name for gate, one in parameters.gates.items() for name in (gate, one.reason_field)),
        *parameters.choices,
        parameters.evidence.field,
        *parameters.texts,
    )
    return tuple(name for name in named if name)


_ROLES = ("system", "user")
_DEFAULT_PROMPTS = Path(__file__).parent.parent / "prompts"
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
        unknown_keys = self._unknown_keys(reading.value)
        if reply.details.get("bundle"):
            # An entry must say which sample it is about; that is the bundle's label, not the judge's liberty.
            unknown_keys = [key for key in unknown_keys if key not in IDENTITY_NAMES]
        if unknown_keys:
            repairs = (*repairs, Repair.EXTRA_KEYS_IGNORED)
            fields.findings.extend(_contradicting(reading.value, unknown_keys, checked, self.settings))
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

    def documentation(self) -> str:
        """A page for people, in Markdown: what is scored, what the reply holds, and what makes it invalid."""
        # Ours, not a user's: nothing that it could do has to be bounded.
        environment = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        environment.filters["cell"] = lambda text: " ".join(text.split()).replace("|", "\\|")
        page = environment.from_string(Path(__file__).with_name("documentation.md.j2").read_text(encoding="utf-8"))
        return page.render(
            name=self.name,
            version=self.version,
            language=self.language,
            hash=self.hash,
            table=self.parameters,
            highest_total=total_range(self.settings, None)[1],
            undeclared_verdict=SCORED,
            **declared_variables(self.settings, self.language, None),
        )

    def _template(self, role: str) -> StrictTemplate:
        source = self.declaration.templates[role]
        return compile_template(source.text, VARIABLES, source.where)

    def _unknown_keys(self, value: Mapping[str, Any]) -> list[str]:
        """At the top and beside the fields that name the sample; strangers among dimensions are objected to there."""
        identity = self.settings.identity
        known = (*top_level_names(self.settings), self.settings.evidence.field)
        unknown_keys = [key for key in value if key not in known]
        inside = value.get(identity.place) if identity.place else None
        if isinstance(inside, Mapping):
            unknown_keys += [f"{identity.place}.{key}" for key in inside if key not in identity.fields]
        return unknown_keys

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
    value: Mapping[str, Any], unknown_keys: list[str], checked: CheckedReply, settings: ScoredParameters
) -> list[Finding]:
    """Seed 003 §6: a dimension or total given once more, in a place where nobody asked for it, must say the same."""
    known: dict[str, int | float | None] = {**(checked.scores or {}), settings.total.field: checked.total}
    return [
        Finding(
            Flag.INTERNAL_INCONSISTENCY,
            f"{name} is {excerpt(known[name])} in its place, but {excerpt(value[name])} at the top",
        )
        for name in unknown_keys
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
