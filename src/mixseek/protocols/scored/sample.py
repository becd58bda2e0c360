"""Who judged what, as the reply says it, against what is known."""

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from mixseek.domain.judgments import Flag, Method, Reply
from mixseek.domain.samples import Sample
from mixseek.errors import DatasetError
from mixseek.protocols.identity import Relation, is_same_model, judge_identity, relate
from mixseek.protocols.reply.fields import FieldReader
from mixseek.protocols.reply.json import excerpt
from mixseek.protocols.rubric import TaskRubric, read_task_rubric
from mixseek.protocols.scored.parameters import IdentityField, IdentityRole, ScoredParameters

# What a sample fixes before anybody is asked: its task type, its task rubric, and what its names must be.

# A sample that lacks one of these cannot be placed in the grid of judgments (seed 003 §0).
GRID_ROLES = (IdentityRole.QUESTION_ID, IdentityRole.PROMPT_VARIANT, IdentityRole.TARGET_MODEL)
_LONGEST_NAME = 200
# Controls, direction marks, line and paragraph separators.
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
# What says which sample a reply is about; the rest says who judged, how and when.
SAMPLE_ROLES = frozenset({*GRID_ROLES, IdentityRole.OUTPUT_ID, IdentityRole.TASK_NAME, IdentityRole.SAMPLE_ID})


@dataclass(frozen=True, slots=True)
class SampleFacts:
    """`task_type` is None where the judge has to infer it; `problem` says why the sample cannot be judged at all."""

    sample: Sample
    rubric: TaskRubric | None
    task_type: str | None
    problem: str | None

    def expected(self, role: IdentityRole) -> str | None:
        """What the sample says; None where it says nothing, or the role is not the sample's."""
        if role not in SAMPLE_ROLES:
            return None
        # Roles of a sample are called as its fields are. An empty cell of a table says nothing.
        said: str = getattr(self.sample, role.value) or ""
        if not said.strip() and role is IdentityRole.OUTPUT_ID:
            # Seed 003 §0: a file name or any unique mark, which the id is.
            said = self.sample.id
        if not said.strip() and role is IdentityRole.TASK_NAME and self.rubric is not None:
            said = self.rubric.task_name or ""
        return said if said.strip() else None


def shown_name(name: str) -> str:
    """A name as the judge is shown it and has to repeat it: one line, and no longer than a name is.

    Names come with the judged text, so they could hold instructions: what is cut is replaced by a digest, which keeps
    two long names apart.
    """
    line = " ".join(_UNSEEN.sub(" ", name).split())
    if len(line) <= _LONGEST_NAME:
        return line
    return f"{line[: _LONGEST_NAME - 18].rstrip()}… {hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:16]}"


def facts_of(sample: Sample, parameters: ScoredParameters) -> SampleFacts:
    """Never raises."""
    types = tuple(parameters.task_types.types)
    rubric = None if sample.rubric is None else _read_rubric(sample.rubric, types)
    if not types:
        return SampleFacts(sample, rubric, None, None)
    if len(types) == 1 and not parameters.task_types.field:
        # Weights that are the same for every sample need no name; one that the dataset has is about something else.
        return SampleFacts(sample, rubric, types[0], None)
    named, source = (sample.task_type or "").strip() or None, "task_type"
    if named is None and rubric is not None:
        named, source = rubric.task_type or rubric.unknown_task_type, "rubric's task_type"
    if named is not None and named not in types:
        # A column in capitals means the same type; a reply is not read so kindly.
        named = next((one for one in types if one.casefold() == named.casefold()), named)
    if named is not None and named not in types:
        return SampleFacts(sample, rubric, None, f"its {source} {named!r} is not one of {', '.join(types)}")
    if named is None and len(types) == 1:
        named = types[0]
    if named is None and not parameters.task_types.field:
        return SampleFacts(sample, rubric, None, f"it has no task_type; one of {', '.join(types)} is needed")
    return SampleFacts(sample, rubric, named, None)


def refuse_unaskable(facts: SampleFacts, parameters: ScoredParameters, protocol: str) -> None:
    """Raises DatasetError for a sample whose reply could never be valid: asking would only cost money."""
    sample = facts.sample
    if facts.problem is not None:
        raise DatasetError(f"sample {sample.id!r}: {facts.problem}")
    if parameters.task_rubric.required and not (sample.rubric or "").strip():
        raise DatasetError(
            f"sample {sample.id!r} has no rubric, which the {protocol} protocol grades by; "
            "give the directory of the task rubrics, or a column rubric"
        )
    missing = missing_names(facts, parameters)
    if missing:
        raise DatasetError(
            f"sample {sample.id!r} has no {', '.join(missing)}, which the {protocol} protocol identifies samples by; "
            "add the column, or map one with --map"
        )


def missing_names(facts: SampleFacts, parameters: ScoredParameters) -> tuple[str, ...]:
    """What the protocol identifies samples by, and this one does not have."""
    return tuple(role.value for role in grid_roles(parameters) if not facts.expected(role))


def grid_roles(parameters: ScoredParameters) -> tuple[IdentityRole, ...]:
    """What places a sample in the grid, of what a reply must repeat; its own id is not among them."""
    declared = parameters.identity.fields.values()
    return tuple(field.equals for field in declared if field.required and field.equals in GRID_ROLES)


# A run has few rubrics and many samples.
@lru_cache(maxsize=256)
def _read_rubric(text: str, types: tuple[str, ...]) -> TaskRubric:
    return read_task_rubric(text, types) if types else read_task_rubric(text)


METHODS = (Method.CROSS_JUDGE.value, Method.SELF_JUDGE.value)
# A judge that calls itself otherwise is remarkable and no reason to lose its judgment: models seldom know their name.
JUDGE_NAMES_ITSELF_OTHERWISE = "judge_names_itself_otherwise"

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
# A judge of this name only hands on what others wrote.
_REPLAY = "replay"


@dataclass(frozen=True, slots=True)
class CheckedIdentity:
    """`named` holds the fields as the judge wrote them."""

    relation: Relation
    named: dict[str, Any]
    warnings: tuple[str, ...] = ()


def check_identity(
    fields: FieldReader, reply: Reply, facts: SampleFacts, parameters: ScoredParameters
) -> CheckedIdentity:
    """Objections go to `fields`; what names the sample and is missing leaves a hole in the coverage."""
    declared = parameters.identity.fields
    place = parameters.identity.place
    reader: FieldReader | None = fields
    if place and declared:
        is_needed = any(field.required for field in declared.values())
        absent = not is_needed and fields.given(place) is None
        reader = None if absent else fields.nested(place, Flag.INCOMPLETE_COVERAGE)
    judge = known_judge(reply)
    claimed = _claim(reader, declared) if reader is not None else None
    relation = relate(judge or claimed, facts.sample.target_model, parameters.families)
    named: dict[str, Any] = {}
    if reader is not None:
        for name, field in declared.items():
            _check_field(reader, name, field, facts.expected(field.equals), relation)
            if reader.has(name):
                named[name] = reader.given(name)
    differs = judge is not None and claimed is not None and not is_same_model(judge, claimed, parameters.families)
    return CheckedIdentity(relation, named, (JUDGE_NAMES_ITSELF_OTHERWISE,) if differs else ())


def known_judge(reply: Reply) -> str | None:
    """The judge's identity, unless nothing but the replay of an unnamed record is known."""
    identity = judge_identity(reply)
    return None if identity.split(":", 1)[0] == _REPLAY else identity


def _claim(reader: FieldReader, declared: dict[str, IdentityField]) -> str | None:
    """Who the judge says it is."""
    for name, field in declared.items():
        if field.equals is IdentityRole.JUDGE:
            value = reader.given(name)
            return value if isinstance(value, str) and value.strip() else None
    return None


def _check_field(
    reader: FieldReader, name: str, field: IdentityField, expected: str | None, relation: Relation
) -> None:
    if reader.given(name) is None and (
        not field.required or (field.equals is IdentityRole.TASK_NAME and expected is None)
    ):
        return
    if field.equals in SAMPLE_ROLES:
        _check_sample_name(reader, name, field.equals, expected)
    elif field.equals is IdentityRole.METHOD:
        _check_method(reader, name, relation)
    elif field.equals is IdentityRole.DATE:
        _check_date(reader, name)
    else:
        given = reader.text(name)
        if field.equals is IdentityRole.JUDGE and given is not None and not given.strip():
            reader.note(Flag.INCOMPLETE_COVERAGE, f"{reader.path}{name} is empty, but it names the judge")


def _check_sample_name(reader: FieldReader, name: str, role: IdentityRole, expected: str | None) -> None:
    given = reader.identifier(name)
    if given is None:
        return
    if not given.strip() and expected != given:
        reader.note(Flag.INCOMPLETE_COVERAGE, f"{reader.path}{name} is empty, but it names the sample")
    elif expected is not None and given not in {expected, shown_name(expected)}:
        said = f"{reader.path}{name} is {excerpt(given)}"
        reader.contradiction(f"{said}, but the sample's {role.value} is {excerpt(expected)}")


def _check_method(reader: FieldReader, name: str, relation: Relation) -> None:
    given = reader.choice(name, METHODS)
    if given is not None and given != relation.method.value:
        said = f"{reader.path}{name} is {excerpt(given)}"
        reader.contradiction(f"{said}, but judge and target make it {relation.method.value}")


def _check_date(reader: FieldReader, name: str) -> None:
    given = reader.text(name)
    if given is None or not given.strip():
        return
    try:
        is_date = _DATE.fullmatch(given) is not None and date.fromisoformat(given) is not None
    except ValueError:
        is_date = False
    if not is_date:
        reader.violation(f"{reader.path}{name} is {excerpt(given)}, expected YYYY-MM-DD or nothing")
