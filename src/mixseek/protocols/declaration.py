"""A protocol as a file: TOML for what a table can say, Jinja2 templates beside it for what is asked."""

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mixseek.checks.declare import read_checks
from mixseek.checks.find import fails_gate, find_all
from mixseek.checks.settled import NO_CHECKS, CheckSet, documents_of
from mixseek.domain.check_findings import (
    CHECKS_FIELD,
    ROW_CHECKS,
    SCORE_BEFORE_CHECKS,
    VERDICT_BEFORE_CHECKS,
    CheckFinding,
    CheckState,
    failed_checks,
    finding_documents,
)
from mixseek.domain.judgments import Method, Outcome, Responded, Undecided, ValidJudgment
from mixseek.domain.ports import PlainProtocol
from mixseek.domain.samples import Sample, SampleNeeds
from mixseek.errors import ConfigurationError, suggest
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.replies.reply_json import hash_of
from mixseek.settings.text_files import decode_text, parse_toml, read_bounded
from mixseek.templating import StrictTemplate, compile_template

_PROMPTS = Path(__file__).parent / "prompts"
# Languages that prompts of our own are written in.
DEFAULT_LANGUAGES = ("en", "ja", "zh")


@dataclass(frozen=True, slots=True)
class Complaint:
    """One problem in one file; `line` counts from 1 or is None for the whole file. A hint makes no lint fail."""

    where: str
    line: int | None
    what: str
    advice: str
    is_hint: bool = False

    def __str__(self) -> str:
        place = self.where if self.line is None else f"{self.where}:{self.line}"
        sentence = "; ".join(part for part in (self.what, self.advice) if part)
        return f"{place}: {'hint: ' if self.is_hint else ''}{sentence}"


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A template's text and the file that it came from."""

    text: str
    where: str


@dataclass(frozen=True, slots=True)
class ProtocolDeclaration:
    """One protocol in one language, as written; the class named by `kind` gives it its rules."""

    name: str
    version: str
    kind: str
    language: str
    parameters: Mapping[str, Any]
    templates: Mapping[str, PromptSource]  # by role: "system", "user"
    where: str
    # Its own, and those that a request has added.
    checks: CheckSet = NO_CHECKS
    # By field: what it is as a question for a decision endpoint, where that is not the usual (see `questions`).
    decisions: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckWords:
    """The verdicts of a protocol that checks can give, and what of its fields says the same as the verdict."""

    passed: str
    failed: str
    has_is_correct: bool = False

    def fields(self, *, is_kept: bool) -> dict[str, Any]:
        """Nothing is assessed but whether the checks were kept."""
        if not self.has_is_correct:
            return {}
        unknown = dict.fromkeys(("extracted_answer", "reasoning_score", "error_type"))
        return {"is_correct": is_kept, **unknown}


DEFAULT_CHECK_WORDS = CheckWords("passed", "failed")


def describe_failed(findings: Sequence[CheckFinding]) -> str:
    """One line for lists: which checks failed, and in which step."""
    texts = [
        f"{finding.check}: {finding.detail}{'' if finding.step is None else f' (step {finding.step})'}"
        for finding in findings
    ]
    return f"Failed: {'; '.join(texts)}."


Settings = TypeVar("Settings", bound=BaseModel)


@dataclass(frozen=True)
class DeclaredProtocol(PlainProtocol, Generic[Settings]):
    """What a protocol of any kind takes from its declaration; picklable, so templates are kept as text."""

    declaration: ProtocolDeclaration
    settings: Settings
    # Whether some samples can be decided without a judge.
    has_rules: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def version(self) -> str:
        return self.declaration.version

    @property
    def language(self) -> str:
        return self.declaration.language

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        return self.settings.model_dump(mode="json")

    @property
    def needs(self) -> SampleNeeds:
        return SampleNeeds()

    def needs_no_response(self, sample: Sample) -> bool:
        return self.needs.steps and bool(sample.steps)

    def shown_steps(self, sample: Sample) -> Collection[int]:
        """The numbers of the steps that a judge reads; none where the prompt has no steps."""
        return ()

    @property
    def checks(self) -> CheckSet:
        """What is checked of every sample without a judge."""
        return self.declaration.checks

    @property
    def check_words(self) -> CheckWords | None:
        """What a sample is called that keeps its checks, and one that fails some; None where no verdict says that."""
        return None

    def complete(self, sample: Sample, outcome: Outcome) -> Outcome:
        """The findings among its fields; a failed check changes the verdict only where the protocol says so."""
        if not self.checks and ROW_CHECKS not in sample.metadata:
            return outcome
        # Of a pair nobody could say which of the two failed.
        if isinstance(outcome, Responded) or CHECKS_FIELD in outcome.fields or self.needs.is_pair:
            return outcome
        findings = find_all(self.checks, sample)
        fields = {**outcome.fields, CHECKS_FIELD: finding_documents(findings)}
        words = self.check_words
        is_changed = fails_gate(self.checks, findings)
        if words is None or not is_changed or not isinstance(outcome, ValidJudgment):
            return replace(outcome, fields=fields)
        fields |= {VERDICT_BEFORE_CHECKS: outcome.verdict, SCORE_BEFORE_CHECKS: outcome.score}
        fields |= words.fields(is_kept=False) if outcome.score else {}
        # How sure the judge is was said of another verdict.
        return replace(outcome, score=0.0, verdict=words.failed, fields=fields, confidence=None, expected_score=None)

    def decide_by_checks(self, sample: Sample) -> ValidJudgment | Undecided:
        """What the checks alone say; undecided where none applies."""
        findings = find_all(self.checks, sample)
        found_fields: dict[str, Any] = {CHECKS_FIELD: finding_documents(findings)}
        words = self.check_words or DEFAULT_CHECK_WORDS
        failed = failed_checks(findings)
        passed = [finding for finding in findings if finding.state is CheckState.PASSED]
        if not failed and not passed:
            return Undecided("no check applies to the sample", fields=found_fields)
        verdict = words.failed if failed else words.passed
        comment = describe_failed(failed) if failed else f"{len(passed)} of {len(findings)} checks passed, none failed."
        fields = {**words.fields(is_kept=not failed), "comment": comment, **found_fields}
        return ValidJudgment(float(not failed), verdict, fields, Method.RULES)

    def template(self, role: str, variables: Collection[str]) -> StrictTemplate:
        """The compiled template of "system" or "user"; ConfigurationError where it cannot be used."""
        source = self.declaration.templates[role]
        return compile_template(source.text, variables, source.where)

    def hash_with(self, parameters: object, schema: object) -> str:
        """Where the files lie does not count; what they say does. A kind whose order matters passes text."""
        asked = {
            "name": self.name,
            "version": self.version,
            "kind": self.declaration.kind,
            "language": self.language,
            "parameters": parameters,
            "templates": {role: source.text for role, source in self.declaration.templates.items()},
            "schema": schema,
        }
        if self.checks.is_gate:
            # Only then do they decide a verdict; else a run with other checks asks the same.
            asked["checks"] = documents_of(self.checks.checks)
        if self.declaration.decisions:
            # The usual questions are named by the judge that is asked them.
            asked["decisions"] = self.declaration.decisions
        return hash_of(asked)


def validated(model: type[Settings], declaration: ProtocolDeclaration) -> Settings:
    """The declaration's parameters; ConfigurationError for what the kind does not know."""
    try:
        return model.model_validate(declaration.parameters)
    except ValidationError as error:
        raise ConfigurationError(f"{declaration.where}: parameters.{first_problem(error)}") from error


class Table(BaseModel):
    """A table of a declaration: every key is known, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DeclarationFile(Table):
    """The shape of a declaration's TOML."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    version: str = Field(min_length=1)
    kind: str
    languages: tuple[str, ...] = Field(min_length=1)
    default_language: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    # Roles to files beside this one; a kind may have prompts of its own for roles that are left out.
    templates: dict[str, str] = Field(default_factory=dict)
    # By name, each as a line or a table (see `checks.declare`); and whether a failed one changes the verdict.
    checks: dict[str, Any] = Field(default_factory=dict)
    # By field, the question that it is for a decision endpoint (see `questions`).
    decisions: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _default_is_offered(self) -> "DeclarationFile":
        if self.default_language not in self.languages:
            raise ValueError(f"default_language {self.default_language!r} is not one of languages")
        return self


def read_declaration(
    path: Path, language: str | None = None, parameters: Mapping[str, Any] | None = None
) -> ProtocolDeclaration:
    """`parameters` replace those of the file, table by table; the protocol's class checks them."""
    try:
        file = DeclarationFile.model_validate(parse_toml(read_toml_text(path)))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}") from error
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {first_problem(error)}") from error
    language = language or file.default_language
    if language not in file.languages:
        raise ConfigurationError(f"{path.name}: no prompts in language {unknown_among(language, file.languages)}")
    templates = {
        role: read_template(path.parent / pattern.replace("{language}", language))
        for role, pattern in file.templates.items()
    }
    overlaid = _overlay(file.parameters, parameters or {})
    try:
        checks = read_checks(file.checks, lambda name: read_toml_text(path.parent / name), takes_gate=True)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path.name}: checks: {error}") from error
    return ProtocolDeclaration(
        file.name, file.version, file.kind, language, overlaid, templates, path.name, checks, file.decisions
    )


def with_default_templates(declaration: ProtocolDeclaration, stems: Mapping[str, str]) -> ProtocolDeclaration:
    """The declaration with our own prompts for the roles that it leaves out; `stems` are their files, by role."""
    unknown = set(declaration.templates) - set(stems)
    if unknown:
        raise ConfigurationError(f"{declaration.where}: templates may only be: {', '.join(stems)}")
    templates = dict(declaration.templates)
    for role, stem in stems.items():
        if role in templates:
            continue
        if declaration.language not in DEFAULT_LANGUAGES:
            raise ConfigurationError(
                f"{declaration.where}: there is no prompt of our own in language {declaration.language!r} "
                f"({', '.join(DEFAULT_LANGUAGES)}); name a file in templates.{role}"
            )
        templates[role] = read_template(_PROMPTS / f"{stem}.{declaration.language}.md.j2")
    return replace(declaration, templates=templates)


def first_problem(error: ValidationError) -> str:
    """A validation error's first complaint on one line, with the place inside the file."""
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"]) or "file"
    return f"{place}: {problem['msg'].removeprefix('Value error, ')}"


def unknown_among(name: str, known: Collection[str]) -> str:
    """A name that is not known, quoted, with what was probably meant and what there is."""
    return f"{name!r}; " + f"{suggest(name, known)} available: {', '.join(known)}".lstrip()


def read_template(path: Path) -> PromptSource:
    """A template to the letter; ConfigurationError where it cannot be read."""
    # Bytes, not text mode: a prompt is hashed to the letter, and line endings are letters.
    return PromptSource(_read(path, bytes.decode), path.name)


def read_toml_text(path: Path) -> str:
    """The TOML text; ConfigurationError where it cannot be read."""
    return _read(path, decode_text)


def _read(path: Path, decode: Callable[[bytes], str]) -> str:
    try:
        return decode(read_bounded(path))
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8 (byte {error.start})") from error


def _overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for name, value in above.items():
        old = merged.get(name)
        merged[name] = _overlay(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged
