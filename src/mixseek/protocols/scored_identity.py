"""Who judged what, as the reply says it, against what is known."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from mixseek.domain.judgments import Flag, Method, Reply
from mixseek.protocols.method import Relation, is_same_model, judge_identity, relate
from mixseek.protocols.reply_fields import FieldReader
from mixseek.protocols.reply_json import excerpt
from mixseek.protocols.scored_parameters import IdentityField, IdentityRole, ScoredParameters
from mixseek.protocols.scored_sample import SAMPLE_ROLES, SampleFacts, shown_name

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
        reader.note(
            Flag.INTERNAL_INCONSISTENCY,
            f"{reader.path}{name} is {excerpt(given)}, but the sample's {role.value} is {excerpt(expected)}",
        )


def _check_method(reader: FieldReader, name: str, relation: Relation) -> None:
    given = reader.choice(name, METHODS)
    if given is not None and given != relation.method.value:
        reader.note(
            Flag.INTERNAL_INCONSISTENCY,
            f"{reader.path}{name} is {excerpt(given)}, but judge and target make it {relation.method.value}",
        )


def _check_date(reader: FieldReader, name: str) -> None:
    given = reader.text(name)
    if given is None or not given.strip():
        return
    if not _DATE.fullmatch(given) or not _is_date(given):
        reader.note(Flag.PROTOCOL_VIOLATION, f"{reader.path}{name} is {excerpt(given)}, expected YYYY-MM-DD or nothing")


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
