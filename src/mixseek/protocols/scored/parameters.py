"""What a declaration says about dimensions, scale, weights, gates and verdicts, and the arithmetic of it."""

import math
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from mixseek.domain.judgments import Flag
from mixseek.protocols.declaration.declaration import Table
from mixseek.protocols.identity import Families
from mixseek.protocols.reply.json import ReplyMode

# Everything here is part of the hash. Field names of the reply are free, so that a protocol in use elsewhere can be
# declared as it is. An empty field name means: the reply does not have it.

# true is not 1: neither in a declaration nor in a reply.
Number = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]
# One text for all languages, or one for each.
Words = str | dict[str, str]
FieldName = Annotated[str, Field(pattern=r"^\S(.*\S)?$")]
OptionalFieldName = Annotated[str, Field(pattern=r"^(\S(.*\S)?)?$")]

FLAGS = tuple(flag.value for flag in Flag)


class ValueKind(StrEnum):
    """INTEGER: 2 and never 2.0. NUMBER: 2, 2.0 and 2.5."""

    INTEGER = "integer"
    NUMBER = "number"


class Direction(StrEnum):
    """Whether a high total is good; the score, 0..1, is always good when high."""

    HIGHER = "higher_is_better"
    LOWER = "lower_is_better"


class TotalPlace(StrEnum):
    """INSIDE the object that holds the dimensions, or BESIDE it."""

    INSIDE = "inside"
    BESIDE = "beside"


class TotalRule(StrEnum):
    """How the total comes from the dimensions; weights are those of the sample's task type."""

    SUM = "sum"
    WEIGHTED_SUM = "weighted_sum"


class GateEffect(StrEnum):
    """ALL_ZERO: a failed gate demands that every dimension is zero. NONE: it is only reported, or read by a verdict."""

    ALL_ZERO = "all_zero"
    NONE = "none"


class GateConditions(StrEnum):
    """DECLARED: the gate may fail on any sample. TASK_RUBRIC: only where the task rubric lists conditions for it."""

    DECLARED = "declared"
    TASK_RUBRIC = "task_rubric"


class EvidencePolicy(StrEnum):
    """VERIFIED: enough quotes of each dimension stand in the response. PRESENT: they are given. OFF: not looked at."""

    VERIFIED = "verified"
    PRESENT = "present"
    OFF = "off"


class EvidenceForm(StrEnum):
    """LIST of {dimension, quote, reason}, or MAP from dimension to quote (or to a list of quotes)."""

    LIST = "list"
    MAP = "map"


class IdentityRole(StrEnum):
    """What a field that names the sample or the judging must equal."""

    TARGET_MODEL = "target_model"
    QUESTION_ID = "question_id"
    PROMPT_VARIANT = "prompt_variant"
    OUTPUT_ID = "output_id"
    TASK_NAME = "task_name"
    SAMPLE_ID = "id"
    JUDGE = "judge"
    METHOD = "method"
    DATE = "date"
    ANY = "any"


class Dimension(Table):
    """One thing that is scored."""

    title: Words
    description: Words = ""
    label: str = ""  # a short name for tables, such as D1


class Scale(Table):
    """Both ends included. Without a maximum, the weight of a dimension in the sample's task type is its maximum."""

    minimum: Number = 0
    maximum: Number | None = None
    values: ValueKind = ValueKind.INTEGER
    direction: Direction = Direction.HIGHER
    # What a value means, by the value as text: TOML's keys are texts.
    labels: dict[str, Words] = Field(default_factory=dict)


class Scores(Table):
    """The object that holds one number for each dimension."""

    field: FieldName = "scores"


class Total(Table):
    """`maximum`, where given, is what every task type's weights must sum to."""

    field: OptionalFieldName = "total"
    place: TotalPlace = TotalPlace.BESIDE
    rule: TotalRule = TotalRule.SUM
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
    effect: GateEffect = GateEffect.ALL_ZERO
    conditions: GateConditions = GateConditions.DECLARED
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

    policy: EvidencePolicy = EvidencePolicy.OFF
    field: OptionalFieldName = "evidence"
    form: EvidenceForm = EvidenceForm.LIST
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
    """A field of free text."""

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
    """The whole table; `contradictions` in scored/protocol.py says what in it contradicts itself."""

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


def in_language(words: Words, language: str) -> str:
    """The text; empty where the declaration has none in that language, which `missing_words` reports."""
    return words if isinstance(words, str) else words.get(language, "")


def missing_words(parameters: ScoredParameters, language: str) -> list[str]:
    """Places, as in the file, whose text is given in other languages and not in this one."""
    return [
        place
        for place, words in _texts(parameters)
        if not isinstance(words, str) and words and not words.get(language, "").strip()
    ]


def _texts(parameters: ScoredParameters) -> Iterator[tuple[str, Words]]:
    yield "instructions", parameters.instructions
    for key, dimension in parameters.dimensions.items():
        yield f"dimensions.{key}.title", dimension.title
        yield f"dimensions.{key}.description", dimension.description
    for value, label in parameters.scale.labels.items():
        yield f"scale.labels.{value}", label
    for name, task_type in parameters.task_types.types.items():
        yield f"task_types.types.{name}.description", task_type.description
    for name, gate in parameters.gates.items():
        yield f"gates.{name}.description", gate.description
    for name, choice in parameters.choices.items():
        for option, description in choice.descriptions.items():
            yield f"choices.{name}.descriptions.{option}", description
    for name, text in parameters.texts.items():
        yield f"texts.{name}.description", text.description


# The arithmetic of a scored protocol: maxima, totals, verdicts, and the score between 0 and 1; no text is read.

# Decimal scores such as 0.1 + 0.2 add up as decimals do on paper, not as binary fractions do.
TOLERANCE = 1e-9
# The verdict of a protocol that declares none.
SCORED = "scored"


def weights_of(parameters: ScoredParameters, task_type: str | None) -> Mapping[str, int | float]:
    """Of the task type; all one where there are no types."""
    types = parameters.task_types.types
    if task_type in types:
        return types[task_type].weights
    return dict.fromkeys(parameters.dimensions, 1)


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
    if parameters.total.rule is TotalRule.WEIGHTED_SUM:
        weights = weights_of(parameters, task_type)
        terms = [weights[key] * scores[key] for key in parameters.dimensions]
    else:
        terms = [scores[key] for key in parameters.dimensions]
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
        if _holds(rule, scores, total, failed):
            return word
    return SCORED


def score_of(parameters: ScoredParameters, total: int | float, task_type: str | None) -> float:
    """The total's place between the lowest and the highest, 0..1, high is good."""
    lowest, highest = total_range(parameters, task_type)
    share = min(1.0, max(0.0, (total - lowest) / (highest - lowest)))
    return 1.0 - share if parameters.scale.direction is Direction.LOWER else share


def _holds(rule: VerdictRule, scores: Mapping[str, int | float], total: int | float, failed: Collection[str]) -> bool:
    return (
        (rule.at_most is None or total <= rule.at_most + TOLERANCE)
        and (rule.at_least is None or total >= rule.at_least - TOLERANCE)
        and all(scores[key] != 0 for key in rule.nonzero)
        and (not rule.gate or rule.gate in failed)
    )
