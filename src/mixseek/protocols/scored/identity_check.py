"""Who judged what, as the reply says it, held against what the sample and the judge are."""

import re
from datetime import date
from typing import Any

from mixseek.domain.judgments import Flag, Method, Reply
from mixseek.protocols.identity import Relation, is_same_model, judge_identity, relate
from mixseek.protocols.replies.reply_bundles import means_sample
from mixseek.protocols.replies.reply_fields import FieldReader
from mixseek.protocols.replies.reply_json import excerpt
from mixseek.protocols.scored.parameters import IdentityField, IdentityRole, ScoredParameters
from mixseek.protocols.scored.sample_facts import SAMPLE_ROLES, SampleFacts
from mixseek.protocols.shown_texts import shown_name

METHODS = (Method.CROSS_JUDGE.value, Method.SELF_JUDGE.value)
# A judge that calls itself otherwise is remarkable and no reason to lose its judgment: models seldom know their name.
JUDGE_NAMES_ITSELF_OTHERWISE = "judge_names_itself_otherwise"
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def check_identity(
    fields: FieldReader, reply: Reply, facts: SampleFacts, parameters: ScoredParameters
) -> tuple[Relation, dict[str, Any], list[str]]:
    """How it was judged, the fields as the judge wrote them, and warnings; objections go to `fields`."""
    declared, place = parameters.identity.fields, parameters.identity.place
    reader: FieldReader | None = fields
    if place and declared:
        is_needed = any(field.required for field in declared.values()) or fields.given(place) is not None
        reader = fields.nested(place, Flag.INCOMPLETE_COVERAGE) if is_needed else None
    # A replay hands on what others wrote; where the record names nobody, nothing is known of the judge.
    identity = judge_identity(reply)
    judge = None if identity.split(":", 1)[0] == "replay" else identity
    named_judge = next(
        (reader.given(name) for name, field in declared.items() if reader and field.equals == "judge"), None
    )
    claimed = named_judge if isinstance(named_judge, str) and named_judge.strip() else None
    relation = relate(judge or claimed, facts.sample.target_model, parameters.families)
    named: dict[str, Any] = {}
    is_bundled = bool(reply.details.get("bundle"))
    for name, field in declared.items():
        if reader is None:
            break
        _check_field(reader, name, field, facts.expected(field.equals), relation, is_bundled=is_bundled)
        if reader.has(name):
            named[name] = reader.given(name)
    differs = judge is not None and claimed is not None and not is_same_model(judge, claimed, parameters.families)
    return relation, named, [JUDGE_NAMES_ITSELF_OTHERWISE] if differs else []


def _check_field(
    reader: FieldReader,
    name: str,
    field: IdentityField,
    expected: str | None,
    relation: Relation,
    *,
    is_bundled: bool,
) -> None:
    is_unnamed = field.equals == "task_name" and expected is None
    if reader.given(name) is None and (not field.required or is_unnamed):
        return
    if field.equals in SAMPLE_ROLES:
        _check_sample_name(reader, name, field.equals, expected, is_bundled=is_bundled)
    elif field.equals == "method":
        given = reader.choice(name, METHODS)
        if given is not None and given != relation.method.value:
            statement = f"{reader.path}{name} is {excerpt(given)}"
            reader.contradiction(f"{statement}, but judge and target make it {relation.method.value}")
    else:
        given = reader.text(name)
        if field.equals == "date" and given and given.strip() and not _is_date(given):
            reader.violation(f"{reader.path}{name} is {excerpt(given)}, expected YYYY-MM-DD or nothing")
        elif field.equals == "judge" and given is not None and not given.strip():
            reader.note(Flag.INCOMPLETE_COVERAGE, f"{reader.path}{name} is empty, but it names the judge")


def _check_sample_name(
    reader: FieldReader, name: str, role: IdentityRole, expected: str | None, *, is_bundled: bool
) -> None:
    given = reader.identifier(name)
    if given is None:
        return
    if is_bundled and expected is not None and _is_meant(given, expected, role):
        return
    if not given.strip() and expected != given:
        reader.note(Flag.INCOMPLETE_COVERAGE, f"{reader.path}{name} is empty, but it names the sample")
    elif expected is not None and given not in {expected, shown_name(expected)}:
        statement = f"{reader.path}{name} is {excerpt(given)}"
        reader.contradiction(f"{statement}, but the sample's {role} is {excerpt(expected)}")


def _is_meant(given: str, expected: str, role: IdentityRole) -> bool:
    """The names are compared as those of a bundle's entries are: without case, and names of outputs without more."""
    if role in ("id", "output_id"):
        return means_sample(given, expected)
    return given.strip().casefold() == expected.strip().casefold()


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and date.fromisoformat(text) is not None
    except ValueError:
        return False
