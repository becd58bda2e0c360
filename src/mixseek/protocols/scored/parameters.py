"""What a declaration says about dimensions, scale, weights, gates and verdicts, and the arithmetic of it."""

from typing import Annotated, Literal

from pydantic import Field

from mixseek.domain.judgments import Flag
from mixseek.protocols.declaration import Table
from mixseek.protocols.identity import Families
from mixseek.protocols.replies.repairs import ReplyMode
from mixseek.protocols.transcripts import DEFAULT_BUDGET, LEAST_BUDGET

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


def _is_none(value: object) -> bool:
    return value is None


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


class StepsUse(Table):
    """What is made of a sample's steps; names of fields are empty where the reply does not have them."""

    # A sample without steps cannot be asked about; one without a final answer can.
    required: bool = Field(default=False, strict=True)
    # The longest transcript, in characters; of a longer one a window is shown.
    characters: int = Field(default=DEFAULT_BUDGET, ge=LEAST_BUDGET, strict=True)
    # Tools whose calls are shown whatever the window is.
    keep_tools: tuple[str, ...] = ()
    # In each piece of evidence: the number of the step in which its quote stands, or null for the final answer.
    evidence_field: OptionalFieldName = ""
    # The number of the first step that is wrong, or null.
    first_wrong_field: OptionalFieldName = ""
    # The dimension that cannot be full where a step failed and was never repeated with success.
    recovery: OptionalFieldName = ""


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
    # Absent from a declaration that says nothing of steps, and so from its hash.
    steps: StepsUse | None = Field(default=None, exclude_if=_is_none)
    # Over the built-in table, model_names.toml.
    families: Families = Families()
