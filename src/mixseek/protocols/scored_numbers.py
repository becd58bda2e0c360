"""The numbers of a reply: task type and weights, scores within the scale, and a total that adds up."""

from collections.abc import Mapping

from mixseek.domain.judgments import Flag
from mixseek.protocols.reply_fields import FieldReader
from mixseek.protocols.reply_json import excerpt
from mixseek.protocols.scored_parameters import ScoredParameters, TotalPlace, ValueKind
from mixseek.protocols.scored_rules import TOLERANCE, maxima_of, total_of, total_range
from mixseek.protocols.scored_sample import SampleFacts


def check_task_type(
    fields: FieldReader, facts: SampleFacts, parameters: ScoredParameters
) -> tuple[str | None, str | None]:
    """The type whose weights count, and the inferred one. The sample's type counts, whatever the judge says."""
    types = parameters.task_types
    names = tuple(types.types)
    given = fields.choice(types.field, names) if types.field else None
    if given is not None and facts.task_type is not None and given != facts.task_type:
        fields.note(
            Flag.INTERNAL_INCONSISTENCY,
            f"{types.field} is {excerpt(given)}, but the sample's is {excerpt(facts.task_type)}",
        )
    inferred = _check_inferred(fields, given, facts, parameters) if types.inferred_field else None
    return facts.task_type if facts.task_type is not None else given, inferred


def _check_inferred(
    fields: FieldReader, given: str | None, facts: SampleFacts, parameters: ScoredParameters
) -> str | None:
    name = parameters.task_types.inferred_field
    names = tuple(parameters.task_types.types)
    inferred = None if fields.is_null(name) else fields.choice(name, names)
    if facts.task_type is not None:
        if inferred is not None:
            fields.note(
                Flag.INTERNAL_INCONSISTENCY,
                f"{name} is {excerpt(inferred)}, but the task type is given as {excerpt(facts.task_type)}; "
                "it must be null",
            )
    elif fields.is_null(name):
        fields.note(
            Flag.INTERNAL_INCONSISTENCY, f"{name} is null, but no task type is given; it must say the inferred one"
        )
    elif inferred is not None and given is not None and inferred != given:
        fields.note(
            Flag.INTERNAL_INCONSISTENCY,
            f"{name} is {excerpt(inferred)}, but {parameters.task_types.field} is {excerpt(given)}",
        )
    return inferred


def check_weights(fields: FieldReader, task_type: str | None, parameters: ScoredParameters) -> None:
    """The table as the judge repeats it: whoever weighs otherwise has scored by another scale."""
    types = parameters.task_types
    holder = fields.nested(types.weights_field) if types.weights_field else None
    if holder is None:
        return
    _refuse_other_dimensions(holder, tuple(parameters.dimensions))
    for key in parameters.dimensions:
        if not holder.has(key) or not _is_number(holder.given(key)):
            # Notes what is missing or of the wrong type.
            holder.number(key, 0, 0)
            continue
        given = holder.given(key)
        if task_type is not None and given != types.types[task_type].weights[key]:
            fields.note(
                Flag.INTERNAL_INCONSISTENCY,
                f"{holder.path}{key} is {excerpt(given)}, "
                f"but the weight for {task_type} is {types.types[task_type].weights[key]}",
            )


def check_scores(
    holder: FieldReader, task_type: str | None, parameters: ScoredParameters
) -> dict[str, int | float] | None:
    """One usable number for each dimension; None where one is not."""
    scale = parameters.scale
    total = parameters.total
    inside = (total.field,) if total.field and total.place is TotalPlace.INSIDE else ()
    _refuse_other_dimensions(holder, (*parameters.dimensions, *inside))
    scores: dict[str, int | float] = {}
    for key, maximum in maxima_of(parameters, task_type).items():
        value: int | float | None
        if scale.values is ValueKind.INTEGER:
            value = holder.integer(key, int(scale.minimum), int(maximum))
        else:
            value = holder.number(key, scale.minimum, maximum)
        if value is not None:
            scores[key] = value
    return scores if len(scores) == len(parameters.dimensions) else None


def check_total(
    fields: FieldReader,
    holder: FieldReader | None,
    scores: Mapping[str, int | float] | None,
    task_type: str | None,
    parameters: ScoredParameters,
) -> int | float | None:
    """The total as derived; the reply's must be the same, wherever it put it."""
    derived = None
    if scores is not None and (task_type is not None or not parameters.task_types.types):
        derived = total_of(parameters, scores, task_type)
    total = parameters.total
    if not total.field:
        return derived
    inside = total.place is TotalPlace.INSIDE
    place, other = (holder, fields) if inside else (fields, holder)
    if place is not None:
        given = _read_total(place, task_type, parameters)
        _compare(place, total.field, given, derived)
        if place.has(total.field):
            other = None
    if other is not None and _is_number(other.given(total.field)):
        # It is in the wrong place, which is said already; whether it adds up is worth knowing all the same.
        _compare(other, total.field, other.given(total.field), derived)
    return derived


def _read_total(place: FieldReader, task_type: str | None, parameters: ScoredParameters) -> int | float | None:
    """A number of the scale's kind, also one that is out of range: what it should be is said by the sum."""
    name = parameters.total.field
    lowest, highest = total_range(parameters, task_type)
    value = place.given(name)
    is_whole = parameters.scale.values is ValueKind.INTEGER and isinstance(lowest, int) and isinstance(highest, int)
    if is_whole:
        place.integer(name, int(lowest), int(highest))
    else:
        place.number(name, lowest, highest)
    fits = _is_number(value) and (not is_whole or isinstance(value, int))
    return value if fits else None


def _compare(place: FieldReader, name: str, given: int | float | None, derived: int | float | None) -> None:
    if given is None or derived is None:
        return
    # Compared before subtracting: an integer of a thousand digits is no float.
    if not derived - TOLERANCE <= given <= derived + TOLERANCE:
        place.note(
            Flag.INTERNAL_INCONSISTENCY,
            f"{place.path}{name} is {excerpt(given)}, but the scores add up to {excerpt(derived)}",
        )


def _refuse_other_dimensions(holder: FieldReader, known: tuple[str, ...]) -> None:
    for key in holder.unknown_keys(known):
        holder.note(Flag.PROTOCOL_VIOLATION, f"{holder.path}{excerpt(key)} is no dimension of the protocol")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
