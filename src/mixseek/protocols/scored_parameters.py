"""What a scored protocol's table says: dimensions, scale, weights, gates, totals, verdicts, evidence, identity.

Everything here is part of the hash. Field names of the reply are free, so that a protocol in use elsewhere can be
declared as it is. An empty field name means: the reply does not have it.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from mixseek.domain.judgments import Flag
from mixseek.protocols.model_names import Families
from mixseek.protocols.reply_repairs import ReplyMode

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


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Dimension(_Table):
    """One thing that is scored."""

    title: Words
    description: Words = ""
    label: str = ""  # a short name for tables, such as D1


class Scale(_Table):
    """Both ends included. Without a maximum, the weight of a dimension in the sample's task type is its maximum."""

    minimum: Number = 0
    maximum: Number | None = None
    values: ValueKind = ValueKind.INTEGER
    direction: Direction = Direction.HIGHER
    # What a value means, by the value as text: TOML's keys are texts.
    labels: dict[str, Words] = Field(default_factory=dict)


class Scores(_Table):
    """The object that holds one number for each dimension."""

    field: FieldName = "scores"


class Total(_Table):
    """`maximum`, where given, is what every task type's weights must sum to."""

    field: OptionalFieldName = "total"
    place: TotalPlace = TotalPlace.BESIDE
    rule: TotalRule = TotalRule.SUM
    maximum: Number | None = None


class TaskType(_Table):
    """A kind of task with its own weights."""

    description: Words = ""
    weights: dict[str, Number]


class TaskTypes(_Table):
    """The type is the sample's, else the task rubric's; else the judge infers it and says so in `inferred_field`."""

    field: OptionalFieldName = ""
    inferred_field: OptionalFieldName = ""
    weights_field: OptionalFieldName = ""
    types: dict[str, TaskType] = Field(default_factory=dict)


class Gate(_Table):
    """A condition that outweighs every score; the reply says true and why, or false and null."""

    reason_field: OptionalFieldName = ""
    effect: GateEffect = GateEffect.ALL_ZERO
    conditions: GateConditions = GateConditions.DECLARED
    description: Words = ""


class VerdictRule(_Table):
    """All of its conditions must hold; a rule without any is the last one: otherwise."""

    at_most: Number | None = None
    at_least: Number | None = None
    nonzero: tuple[str, ...] = ()
    gate: str = ""

    @property
    def is_otherwise(self) -> bool:
        return self.at_most is None and self.at_least is None and not self.nonzero and not self.gate


class Verdict(_Table):
    """The first rule that holds names the verdict. Seed 003's FAIL and PARTIAL overlap, so the order is a rule too."""

    field: OptionalFieldName = ""
    rules: dict[str, VerdictRule] = Field(default_factory=dict)


class Evidence(_Table):
    """Where quotes stand in the reply and what is demanded of them."""

    policy: EvidencePolicy = EvidencePolicy.OFF
    field: OptionalFieldName = "evidence"
    form: EvidenceForm = EvidenceForm.LIST
    minimum_per_dimension: int = Field(default=1, ge=0, strict=True)
    dimension_field: FieldName = "dimension"
    quote_field: FieldName = "quote"
    reason_field: OptionalFieldName = "reason"


class Reasons(_Table):
    """One text for each dimension, in an object; characters are Unicode code points."""

    field: OptionalFieldName = ""
    maximum_characters: int | None = Field(default=None, ge=1, strict=True)


class Choice(_Table):
    """A field that holds one of a few words."""

    options: tuple[str, ...] = Field(min_length=1)
    required: bool = Field(default=True, strict=True)
    descriptions: dict[str, Words] = Field(default_factory=dict)


class FreeText(_Table):
    """A field of free text."""

    required: bool = Field(default=False, strict=True)
    maximum_characters: int | None = Field(default=None, ge=1, strict=True)
    description: Words = ""


class IdentityField(_Table):
    """`required`: without it the reply is invalid, and a sample that lacks it cannot be asked about."""

    equals: IdentityRole
    required: bool = Field(default=True, strict=True)


class Identity(_Table):
    """Fields that say who judged what; `place` is the object that holds them, or empty for the reply itself."""

    place: OptionalFieldName = ""
    fields: dict[str, IdentityField] = Field(default_factory=dict)


class Flags(_Table):
    """Where the judge itself may declare its judging unusable."""

    field: OptionalFieldName = ""


class RubricUse(_Table):
    """`required`: a sample without a task rubric cannot be asked about."""

    required: bool = Field(default=False, strict=True)


class ScoredParameters(_Table):
    """The whole table; scored_checks.py says what in it contradicts itself."""

    reply_mode: ReplyMode = ReplyMode.REPAIR
    instructions: Words = ""
    dimensions: dict[FieldName, Dimension] = Field(min_length=1)
    scale: Scale
    scores: Scores = Scores()
    total: Total = Total()
    task_types: TaskTypes = TaskTypes()
    task_rubric: RubricUse = RubricUse()
    gates: dict[FieldName, Gate] = Field(default_factory=dict)
    verdict: Verdict = Verdict()
    reasons: Reasons = Reasons()
    evidence: Evidence = Evidence()
    choices: dict[FieldName, Choice] = Field(default_factory=dict)
    texts: dict[FieldName, FreeText] = Field(default_factory=dict)
    identity: Identity = Identity()
    flags: Flags = Flags()
    # Over the built-in table of model names; see model_names.py.
    families: Families = Families()
