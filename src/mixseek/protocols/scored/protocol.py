"""Protocols that score dimensions: `rubric` (seed 000), `cross` (seed 003) and users' own, from one kind of table."""

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from jinja2 import StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.decisions import QuestionSet
from mixseek.domain.judgments import InvalidJudgment, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message, Nonces
from mixseek.domain.samples import Sample, SampleNeeds
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.decided import UNEXPLAINED_FIELDS, is_decision, read_decision
from mixseek.protocols.declaration import DeclaredProtocol, ProtocolDeclaration, validated, with_default_templates
from mixseek.protocols.replies.copied_verdicts import repetitions
from mixseek.protocols.replies.field_places import FieldPath
from mixseek.protocols.replies.repairs import Repair
from mixseek.protocols.replies.reply_bundles import IDENTITY_NAMES
from mixseek.protocols.replies.reply_fields import FieldReader
from mixseek.protocols.replies.reply_json import excerpt
from mixseek.protocols.replies.reply_reader import read_reply, violations
from mixseek.protocols.scored.arithmetic import SCORED, maxima_of, score_of, total_range
from mixseek.protocols.scored.certainty import GivenScores, certainty_of_reply, certainty_of_shares, verdict_paths
from mixseek.protocols.scored.checked_reply import CheckedReply
from mixseek.protocols.scored.contradictions import contradictions, top_level_names
from mixseek.protocols.scored.decided_scores import DecidedScores, decide_scores, scored_questions
from mixseek.protocols.scored.languages import refuse_missing_words
from mixseek.protocols.scored.parameters import ScoredParameters
from mixseek.protocols.scored.prompt import VARIABLES, declared_variables, prompt_variables, window_for
from mixseek.protocols.scored.reply_parts import reply_schema
from mixseek.protocols.scored.sample_facts import facts_of, grid_roles, refuse_unaskable
from mixseek.protocols.shown_texts import QUESTION_NONCE, nonces_told, with_constant_part
from mixseek.protocols.transcripts import SHORTENED, pictures_of

_ROLES = ("system", "user")
# Prompts of our own, by role.
_STEMS = {"system": "scored", "user": "scored_user"}


@dataclass(frozen=True)
class ScoredProtocol(DeclaredProtocol[ScoredParameters]):
    """Scores dimensions, adds them up and derives a verdict."""

    # Who is asked, where that is known; part of the prompt, not of the protocol.
    judge: str | None = None

    @classmethod
    def from_declaration(cls, declaration: ProtocolDeclaration) -> Self:
        """Everything that can be wrong with a declaration is found here, before the first sample."""
        settings = validated(ScoredParameters, declaration)
        for problem in contradictions(settings):
            raise ConfigurationError(f"{declaration.where}: parameters.{problem}")
        refuse_missing_words(settings, declaration)
        protocol = cls(with_default_templates(declaration, _STEMS), settings)
        for role in _ROLES:
            protocol.template(role, VARIABLES)
        if declaration.decisions:
            # Whatever is wrong with them is found here.
            _ = protocol.question_set
        return protocol

    @cached_property
    def reply_schema(self) -> Mapping[str, Any]:
        return reply_schema(self.settings)

    @cached_property
    def hash(self) -> str:
        """The hash is of text: the order of dimensions and verdicts counts too."""
        return self.hash_with(
            json.dumps(self.parameters, ensure_ascii=False), json.dumps(self.reply_schema, ensure_ascii=False)
        )

    @property
    def verdict_fields(self) -> tuple[FieldPath, ...]:
        return verdict_paths(self.settings)

    def for_judge(self, judge: str) -> Self:
        """The same protocol, which tells the judge its name and the method in the prompt."""
        return replace(self, judge=judge)

    @property
    def needs(self) -> SampleNeeds:
        reason = (
            f"no `response`, and the {self.name} protocol looks for every quote in it; give `response` "
            "or `response_path`, or check only that quotes are there with --parameter evidence.policy=present"
        )
        return SampleNeeds(
            fields=grid_roles(self.settings),
            rubric=self.settings.task_rubric.required,
            task_types=tuple(self.settings.task_types.types),
            response_reason=reason if self.settings.evidence.policy == "verified" else None,
            steps=self.settings.steps is not None and self.settings.steps.required,
        )

    def shown_steps(self, sample: Sample) -> Collection[int]:
        return window_for(sample, self.settings).shown

    def missing_names(self, sample: Sample) -> tuple[str, ...]:
        """The fields that place a sample in the grid and that this one does not have."""
        return facts_of(sample, self.settings).missing(self.settings)

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        """Raises DatasetError where no reply about the sample could be valid."""
        facts = facts_of(sample, self.settings)
        refuse_unaskable(facts, self.settings, self.name)
        system, user = (self.template(role, VARIABLES) for role in _ROLES)
        nonces, shown = nonces_told(user, nonces), system.variables | user.variables
        variables = prompt_variables(facts, nonces, self.judge, self.settings, self.language, shown)
        used = Nonces(variables[QUESTION_NONCE], variables["nonce"])
        identity, rubric = variables["sample"], variables["Task_Specific_Rubric"]
        pictures = pictures_of(window_for(sample, self.settings), used.sample)
        asked = [
            Message("system", system.render(variables)),
            Message("user", user.render(variables), pictures=pictures),
        ]
        return tuple(
            with_constant_part(message, template, used, identity, rubric)
            for message, template in zip(asked, (system, user), strict=True)
        )

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """All objections are collected: a judge that is asked again should hear them at once."""
        if is_decision(reply):
            return self._parse_decision(reply, sample)
        known = top_level_names(self.settings)
        reading = read_reply(reply.text, self.settings.reply_mode, known)
        if reading.value is None:
            return InvalidJudgment(reading.findings, reading.repairs)
        fields = FieldReader(reading.value)
        checked = CheckedReply(fields, reply, facts_of(sample, self.settings), self.settings)
        repairs = (*reading.repairs, *checked.repairs)
        # An entry must say which sample it is about; that is the bundle's label, not the judge's liberty.
        unknown_keys = fields.unknown_keys((*known, *IDENTITY_NAMES) if reply.details.get("bundle") else known)
        identity = self.settings.identity
        named = reading.value.get(identity.place) if identity.place else None
        if unknown_keys or (isinstance(named, Mapping) and not named.keys() <= identity.fields.keys()):
            repairs = (*repairs, Repair.EXTRA_KEYS_IGNORED)
            _check_given_again(fields, unknown_keys, checked, self.settings)
        quotes = [quote.document() for quote in checked.evidence]
        repeated = repetitions(reading.value, sample, [quote.text for quote in checked.evidence])
        unallowed = violations(checked.repairs, self.settings.reply_mode)
        findings = (*reading.findings, *fields.findings, *unallowed, *repeated)
        if findings or checked.scores is None or checked.total is None:
            # Quotes that do not stand in the response count against the judge; they are what often makes it invalid.
            return InvalidJudgment(findings, repairs, {"evidence": quotes} if quotes else {})
        score = score_of(self.settings, checked.total, checked.task_type)
        judgment_fields = self._fields_of(checked, quotes) | {"reply": dict(reading.value)}
        failed = {name: bool(is_failed) for name, (is_failed, _) in checked.gates.items()}
        given = GivenScores(checked.scores, failed, checked.task_type)
        certainty = certainty_of_reply(reply, self.settings, given, checked.words)
        return ValidJudgment(
            score,
            checked.verdict or "",
            {**judgment_fields, **certainty.fields},
            checked.relation.method,
            repairs=repairs,
            confidence=certainty.confidence,
            expected_score=certainty.expected_score,
        )

    @cached_property
    def question_set(self) -> QuestionSet:
        return scored_questions(self.declaration, self.settings)

    def _parse_decision(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """The likeliest level of each dimension, added up as ever; nothing but numbers was asked for."""
        reading = read_decision(reply, self.question_set)
        if isinstance(reading, InvalidJudgment):
            return reading
        decided = decide_scores(reading, reply, facts_of(sample, self.settings), self.settings)
        if isinstance(decided, InvalidJudgment):
            return decided
        certainty = certainty_of_shares(self.settings, decided.given, decided.known, ConfidenceSource.DECISION)
        return ValidJudgment(
            score_of(self.settings, decided.total, decided.task_type),
            decided.verdict,
            {**self._fields_of(decided, []), **certainty.fields, **UNEXPLAINED_FIELDS},
            decided.relation.method,
            confidence=certainty.confidence,
            expected_score=certainty.expected_score,
        )

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

    def _fields_of(self, checked: CheckedReply | DecidedScores, quotes: list[dict[str, Any]]) -> dict[str, Any]:
        settings = self.settings
        lowest, highest = total_range(settings, checked.task_type)
        fields: dict[str, Any] = dict(checked.words)
        # The declaration's own names first: what every scored protocol has must keep its meaning.
        for name, gate in settings.gates.items():
            fields[name], reason = checked.gates[name]
            if gate.reason_field:
                fields[gate.reason_field] = reason
        fields |= {
            "scores": checked.scores,
            "maxima": maxima_of(settings, checked.task_type),
            "total": checked.total,
            "total_minimum": lowest,
            "total_maximum": highest,
            "same_family": checked.relation.same_family,
            "warnings": checked.warnings if checked.window.is_whole else [*checked.warnings, SHORTENED],
        }
        if settings.identity.fields:
            fields["identity"] = checked.identity
        if settings.task_types.types:
            fields |= {"task_type": checked.task_type, "inferred_task_type": checked.inferred_task_type}
        if settings.steps is not None and settings.steps.first_wrong_field:
            fields["first_wrong_step"] = checked.first_wrong_step
        if not checked.window.is_whole:
            fields["left_out"] = checked.window.describe()
        if settings.reasons.field:
            fields["reasons"] = checked.reasons
        if settings.evidence.policy != "off":
            fields["evidence"] = quotes
        gates = {name: {"failed": failed, "reason": reason} for name, (failed, reason) in checked.gates.items()}
        if gates:
            fields["gates"] = gates
        # One line for lists: why a gate failed, else the judge's notes.
        reasons = [gate["reason"] for gate in gates.values() if gate["failed"] and gate["reason"]]
        return fields | {"comment": reasons[0] if reasons else checked.words.get("notes", "")}


def _check_given_again(
    fields: FieldReader, names: list[str], checked: CheckedReply, settings: ScoredParameters
) -> None:
    """Seed 003 §6: a dimension or total given once more, in a place where nobody asked for it, must say the same."""
    known: dict[str, int | float | None] = {**(checked.scores or {}), settings.total.field: checked.total}
    for name in names:
        given, expected = fields.given(name), known.get(name)
        if expected is not None and given != expected:
            statement = f"{name} is {excerpt(expected)} in its place"
            fields.contradiction(f"{statement}, but {excerpt(given)} at the top")
