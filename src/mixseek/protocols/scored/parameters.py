"""What a declaration says about dimensions, scale, weights, gates and verdicts, and the arithmetic of it."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from mixseek.domain.judgments import Flag
from mixseek.protocols.declaration import Table
from mixseek.protocols.identity import Families
from mixseek.protocols.repairs import ReplyMode

# Everything here is part of the hash. Field names of the reply are free, so that a protocol in use elsewhere can be
# declared as it is. An empty field name means: the reply does not have it.

# true is not 1: neither in a declaration nor in a reply.
Number = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]
# One text for all languages, or one for each.
Words = str | dict[str, str]
FieldName = Annotated[str, Field(pattern=r"^\S(.*\S)?$")]
OptionalFieldName = Annotated[str, Field(pattern=r"^(\S(.*\S)?)?$")]

FLAGS = tuple(flag.value for flag in Flag)


# What a field that names the sample or the judging must equal; those of a sample are called as its fields are.
SampleRole = Literal["target_model", "question_id", "prompt_variant", "output_id", "task_name", "id"]
IdentityRole = Literal[SampleRole, "judge", "method", "date", "any"]


class Dimension(Table):
    """One thing that is scored."""

    title: Words
    description: Words = ""
    label: str = ""  # a short name for tables, such as D1


class Scale(Table):
    """Both ends included. Without a maximum, the weight of a dimension in the sample's task type is its maximum."""

    minimum: Number = 0
    maximum: Number | None = None
    # integer: 2 and never 2.0; number: 2, 2.0 and 2.5.
    values: Literal["integer", "number"] = "integer"
    # Of the total; the score, 0..1, is always good when high.
    direction: Literal["higher_is_better", "lower_is_better"] = "higher_is_better"
    # What a value means, by the value as text: TOML's keys are texts.
    labels: dict[str, Words] = Field(default_factory=dict)


class Scores(Table):
    """The object that holds one number for each dimension."""

    field: FieldName = "scores"


class Total(Table):
    """`place`: in the object that holds the dimensions, or beside it. `maximum`: what every type's weights sum to."""

    field: OptionalFieldName = "total"
    place: Literal["inside", "beside"] = "beside"
    # Weights are those of the sample's task type.
    rule: Literal["sum", "weighted_sum"] = "sum"
    maximum: Number | None = None


class TaskType(Table):
    """A kind of task with its own weights."""

    description: Words = ""
    weights: dict[str, Number]


class TaskTypes(Table):
    """The type is the sample's, else the task rubric's; else the judge infers it and says so in `inferred_field`."""

    field: OptionalFieldName = ""
    inferred_field: OptionalFieldName = ""
    weights_field: OptionalFieldName = ""
    types: dict[str, TaskType] = Field(default_factory=dict)


class Gate(Table):
    """A condition that outweighs every score; the reply says true and why, or false and null."""

    reason_field: OptionalFieldName = ""
    # A failed gate demands that every dimension is zero; or it is only reported, or read by a verdict.
    effect: Literal["all_zero", "none"] = "all_zero"
    # It may fail on any sample, or only where the task rubric lists conditions for it.
    conditions: Literal["declared", "task_rubric"] = "declared"
    description: Words = ""


class VerdictRule(Table):
    """All of its conditions must hold; a rule without any is the last one: otherwise."""

    at_most: Number | None = None
    at_least: Number | None = None
    nonzero: tuple[str, ...] = ()
    gate: str = ""

    @property
    def is_otherwise(self) -> bool:
        return self.at_most is None and self.at_least is None and not self.nonzero and not self.gate


class VerdictTable(Table):
    """The first rule that holds names the verdict. Seed 003's FAIL and PARTIAL overlap, so the order is a rule too."""

    field: OptionalFieldName = ""
    rules: dict[str, VerdictRule] = Field(default_factory=dict)


class Evidence(Table):
    """Where quotes stand in the reply and what is demanded of them."""

    # Enough quotes of each dimension stand in the response; or they are given; or they are not looked at.
    policy: Literal["verified", "present", "off"] = "off"
    field: OptionalFieldName = "evidence"
    # A list of {dimension, quote, reason}, or a map from dimension to quote (or to a list of quotes).
    form: Literal["list", "map"] = "list"
    minimum_per_dimension: int = Field(default=1, ge=0, strict=True)
    dimension_field: FieldName = "dimension"
    quote_field: FieldName = "quote"
    reason_field: OptionalFieldName = "reason"


class Reasons(Table):
    """One text for each dimension, in an object; characters are Unicode code points."""

    field: OptionalFieldName = ""
    maximum_characters: int | None = Field(default=None, ge=1, strict=True)


class Choice(Table):
    """A field that holds one of a few words."""

    options: tuple[str, ...] = Field(min_length=1)
    required: bool = Field(default=True, strict=True)
    descriptions: dict[str, Words] = Field(default_factory=dict)


class FreeText(Table):
    """What the judge may write beside its scores, and how much of it."""

    required: bool = Field(default=False, strict=True)
    maximum_characters: int | None = Field(default=None, ge=1, strict=True)
    description: Words = ""


class IdentityField(Table):
    """`required`: without it the reply is invalid, and a sample that lacks it cannot be asked about."""

    equals: IdentityRole
    required: bool = Field(default=True, strict=True)


class Identity(Table):
    """Fields that say who judged what; `place` is the object that holds them, or empty for the reply itself."""

    place: OptionalFieldName = ""
    fields: dict[str, IdentityField] = Field(default_factory=dict)


class Flags(Table):
    """Where the judge itself may declare its judging unusable."""

    field: OptionalFieldName = ""


class RubricUse(Table):
    """`required`: a sample without a task rubric cannot be asked about."""

    required: bool = Field(default=False, strict=True)


class ScoredParameters(Table):
    """The whole table; `contradictions` says what in it contradicts itself."""

    reply_mode: ReplyMode = ReplyMode.REPAIR
    instructions: Words = ""
    dimensions: dict[FieldName, Dimension] = Field(min_length=1)
    scale: Scale
    scores: Scores = Scores()
    total: Total = Total()
    task_types: TaskTypes = TaskTypes()
    task_rubric: RubricUse = RubricUse()
    gates: dict[FieldName, Gate] = Field(default_factory=dict)
    verdict: VerdictTable = VerdictTable()
    reasons: Reasons = Reasons()
    evidence: Evidence = Evidence()
    choices: dict[FieldName, Choice] = Field(default_factory=dict)
    texts: dict[FieldName, FreeText] = Field(default_factory=dict)
    identity: Identity = Identity()
    flags: Flags = Flags()
    # Over the built-in table, model_names.toml.
    families: Families = Families()


# Texts of a declaration in the language asked for, and what has none.

_TEXTS = frozenset({"instructions", "title", "description"})


def in_language(words: Words, language: str) -> str:
    """The text; empty where the declaration has none in that language, which `missing_words` reports."""
    return words if isinstance(words, str) else words.get(language, "")


def spoken(table: Table, language: str) -> dict[str, Any]:
    """A table's fields as a template sees them: its texts in the prompt's language."""
    return {name: in_language(value, language) if name in _TEXTS else value for name, value in table}


def missing_words(parameters: Table, language: str) -> list[str]:
    """Places, as in the file, whose text is given in other languages and not in this one."""
    return [
        place
        for place, words in _texts(parameters)
        if not isinstance(words, str) and words and not words.get(language, "").strip()
    ]


def _texts(table: Table, place: str = "") -> Iterator[tuple[str, Words]]:
    for name, value in table:
        if name in _TEXTS:
            yield f"{place}{name}", value
        elif name in {"labels", "descriptions"}:
            yield from ((f"{place}{name}.{key}", words) for key, words in value.items())
        elif isinstance(value, Table):
            yield from _texts(value, f"{place}{name}.")
        elif isinstance(value, dict):
            for key, inner in value.items():
                yield from _texts(inner, f"{place}{name}.{key}.") if isinstance(inner, Table) else ()


# The arithmetic of a scored protocol: maxima, totals, verdicts, and the score between 0 and 1; no text is read.

# Decimal scores such as 0.1 + 0.2 add up as decimals do on paper, not as binary fractions do.
TOLERANCE = 1e-9
# The verdict of a protocol that declares none.
SCORED = "scored"


def factors_of(parameters: ScoredParameters, task_type: str | None) -> dict[str, int | float]:
    """What each dimension counts for in the total: one, or its weight in the task type."""
    types = parameters.task_types.types if parameters.total.rule == "weighted_sum" else {}
    weights = types[task_type].weights if task_type in types else {}
    return {key: weights.get(key, 1) for key in parameters.dimensions}


def maxima_of(parameters: ScoredParameters, task_type: str | None) -> dict[str, int | float]:
    """The top of each dimension's scale; of any task type where the type is not known."""
    maximum = parameters.scale.maximum
    if maximum is not None:
        return dict.fromkeys(parameters.dimensions, maximum)
    types = parameters.task_types.types
    tables = [types[task_type].weights] if task_type in types else [one.weights for one in types.values()]
    return {key: max(table[key] for table in tables) for key in parameters.dimensions}


def total_of(parameters: ScoredParameters, scores: Mapping[str, int | float], task_type: str | None) -> int | float:
    """By the declared rule; whole where all scores and weights are."""
    terms = [factor * scores[key] for key, factor in factors_of(parameters, task_type).items()]
    return sum(terms) if all(isinstance(term, int) for term in terms) else math.fsum(terms)


def total_range(parameters: ScoredParameters, task_type: str | None) -> tuple[int | float, int | float]:
    """The lowest and the highest total; of any task type where the type is not known."""
    types = parameters.task_types.types
    if types and task_type not in types:
        bottoms, tops = zip(*(total_range(parameters, name) for name in types), strict=True)
        return min(bottoms), max(tops)
    lowest = dict.fromkeys(parameters.dimensions, parameters.scale.minimum)
    return (
        total_of(parameters, lowest, task_type),
        total_of(parameters, maxima_of(parameters, task_type), task_type),
    )


def verdict_of(
    parameters: ScoredParameters, scores: Mapping[str, int | float], total: int | float, failed: Collection[str]
) -> str:
    """The first rule whose conditions all hold; `failed` names the gates that did."""
    for word, rule in parameters.verdict.rules.items():
        if (
            (rule.at_most is None or total <= rule.at_most + TOLERANCE)
            and (rule.at_least is None or total >= rule.at_least - TOLERANCE)
            and all(scores[key] != 0 for key in rule.nonzero)
            and (not rule.gate or rule.gate in failed)
        ):
            return word
    return SCORED


def score_of(parameters: ScoredParameters, total: int | float, task_type: str | None) -> float:
    """The total's place between the lowest and the highest, 0..1, high is good."""
    lowest, highest = total_range(parameters, task_type)
    share = min(1.0, max(0.0, (total - lowest) / (highest - lowest)))
    return 1.0 - share if parameters.scale.direction == "lower_is_better" else share


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
        *_about_verdicts(parameters),
        *_about_fields(parameters),
    )


def _about_scale(parameters: ScoredParameters) -> Iterator[str]:
    scale = parameters.scale
    if scale.maximum is not None and scale.minimum >= scale.maximum:
        yield f"scale: minimum {scale.minimum} is not below maximum {scale.maximum}"
    if scale.maximum is None and not parameters.task_types.types:
        yield "scale: no maximum; give one, or weights by task type in task_types.types, which are then the maxima"
    ends = [end for end in (scale.minimum, scale.maximum) if end is not None]
    if scale.values == "integer" and any(isinstance(end, float) for end in ends):
        yield 'scale: values = "integer" needs whole numbers at both ends'
    for value in scale.labels:
        if scale.maximum is None or not (_WHOLE.fullmatch(value) and scale.minimum <= int(value) <= scale.maximum):
            yield f"scale.labels.{value}: not a value of the scale"


def _about_weights(parameters: ScoredParameters) -> Iterator[str]:
    types = parameters.task_types
    if not types.types:
        for field in ("field", "inferred_field", "weights_field"):
            if getattr(types, field):
                yield f"task_types.{field}: there are no task types; declare them in task_types.types"
        if parameters.total.rule == "weighted_sum":
            yield 'total.rule: "weighted_sum" needs weights; declare them in task_types.types'
        return
    if types.inferred_field and not types.field:
        yield "task_types.inferred_field: needs task_types.field as well"
    if (parameters.total.rule == "weighted_sum") == (parameters.scale.maximum is None):
        yield (
            'total.rule: with weights, either scale.maximum is left out (the weights are the maxima, rule "sum") '
            'or the rule is "weighted_sum"'
        )
    dimensions, scale = set(parameters.dimensions), parameters.scale
    for name, task_type in types.types.items():
        place, weights = f"task_types.types.{name}.weights", task_type.weights.values()
        for key in sorted(dimensions ^ set(task_type.weights)):
            yield f"{place}: {'no weight for' if key in dimensions else 'no such dimension:'} {key}"
        if any(weight < 0 for weight in weights) or not sum(weights) > 0:
            yield f"{place}: weights must not be negative, and not all zero"
        if scale.maximum is None and any(weight < scale.minimum for weight in weights):
            what = "a weight is the dimension's maximum here, so it cannot be below the minimum"
            yield f"{place}: {what} {scale.minimum}"
        if scale.values == "integer" and any(isinstance(weight, float) for weight in weights):
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


def _about_verdicts(parameters: ScoredParameters) -> Iterator[str]:
    scale = parameters.scale
    for name, gate in parameters.gates.items():
        if gate.effect == "all_zero" and (scale.minimum > 0 or (scale.maximum or 0) < 0):
            yield f'gates.{name}.effect: "all_zero" needs a scale that holds 0'
        if gate.conditions == "task_rubric" and not gate.reason_field:
            yield f"gates.{name}.reason_field: conditions of a task rubric need a reason that says which one applied"
    rules = parameters.verdict.rules
    if parameters.verdict.field and not rules:
        yield "verdict.field: no rules; a verdict that nothing derives could not be checked"
    for number, (word, rule) in enumerate(rules.items(), start=1):
        place = f"verdict.rules.{word}"
        if rule.is_otherwise and number < len(rules):
            yield f"{place}: has no conditions, so the rules after it are never reached; put it last"
        if not rule.is_otherwise and number == len(rules):
            what = "is the last rule and has conditions; end with one that has none, for what no rule matches"
            yield f"{place}: {what}"
        if rule.gate and rule.gate not in parameters.gates:
            yield f"{place}.gate: no such gate: {rule.gate}"
        for key in rule.nonzero:
            if key not in parameters.dimensions:
                yield f"{place}.nonzero: no such dimension: {key}"


def _about_fields(parameters: ScoredParameters) -> Iterator[str]:
    evidence = parameters.evidence
    if evidence.policy != "off" and not evidence.field:
        yield f'evidence.field: policy "{evidence.policy}" needs a field'
    if evidence.form == "list":
        names = [evidence.dimension_field, evidence.quote_field, evidence.reason_field]
        if len(set(names)) < len(names):
            yield "evidence: dimension_field, quote_field and reason_field must differ"
    for name, choice in parameters.choices.items():
        for option in choice.descriptions:
            if option not in choice.options:
                yield f"choices.{name}.descriptions.{option}: not one of its options"
    roles = Counter(field.equals for field in parameters.identity.fields.values())
    for role, count in roles.items():
        if count > 1 and role not in {"any", "date"}:
            yield f'identity.fields: {count} fields equal "{role}"; one is enough'
    total = parameters.total
    if total.field and total.place == "inside" and total.field in parameters.dimensions:
        yield f"total.field: {total.field} is a dimension"
    for name, count in Counter(top_level_names(parameters)).items():
        if count > 1:
            yield f"{name}: {count} parts of the reply have this name; each needs its own"


def top_level_names(parameters: ScoredParameters) -> tuple[str, ...]:
    """The reply's own keys, in the order in which they are shown to the judge."""
    types, identity, total = parameters.task_types, parameters.identity, parameters.total
    named = (
        *((identity.place,) if identity.place and identity.fields else identity.fields),
        *(types.field, types.inferred_field, types.weights_field),
        parameters.scores.field,
        total.field if total.place == "beside" else "",
        *(parameters.verdict.field, parameters.flags.field, parameters.reasons.field),
        *(name for gate, one in parameters.gates.items() for name in (gate, one.reason_field)),
        *parameters.choices,
        parameters.evidence.field,
        *parameters.texts,
    )
    return tuple(name for name in named if name)
