"""What a sample fixes before anybody is asked: its task type, its task rubric, and what its names must be."""

from functools import lru_cache
from typing import get_args

from mixseek.domain.samples import Sample
from mixseek.errors import DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.rubric import TaskRubric, read_task_rubric
from mixseek.protocols.scored.parameters import IdentityRole, SampleRole, ScoredParameters

# A sample that lacks one of these cannot be placed in the grid of judgments (seed 003 §0).
GRID_ROLES = ("question_id", "prompt_variant", "target_model")
# What says which sample a reply is about; the rest says who judged, how and when.
SAMPLE_ROLES = frozenset(get_args(SampleRole))


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
        value: str = getattr(self.sample, role) or ""
        if not value.strip() and role == "output_id":
            # Seed 003 §0: a file name or any unique mark, which the id is.
            value = self.sample.id
        if not value.strip() and role == "task_name" and self.rubric is not None:
            value = self.rubric.task_name or ""
        return value if value.strip() else None

    def missing(self, parameters: ScoredParameters) -> tuple[str, ...]:
        """What the protocol identifies samples by, and this one does not have."""
        return tuple(role for role in grid_roles(parameters) if not self.expected(role))


def facts_of(sample: Sample, parameters: ScoredParameters) -> SampleFacts:
    """The facts of any sample; this never raises."""
    types, is_told = tuple(parameters.task_types.types), bool(parameters.task_types.field)
    rubric = None if sample.rubric is None else _read_rubric(sample.rubric, types)
    if not types or (len(types) == 1 and not is_told):
        # Weights that are the same for every sample need no name; one that the dataset has is about something else.
        return SampleFacts(sample, rubric, types[0] if types else None, None)
    named, source = (sample.task_type or "").strip(), "task_type"
    if not named and rubric is not None:
        named, source = rubric.task_type or rubric.unknown_task_type or "", "rubric's task_type"
    # A column in capitals means the same type; a reply is not read so kindly.
    known = named if named in types else next((name for name in types if name.casefold() == named.casefold()), None)
    problem = None
    if named and known is None:
        problem = f"its {source} {named!r} is not one of {', '.join(types)}"
    elif not named and len(types) == 1:
        known = types[0]
    elif not named and not is_told:
        problem = f"it has no task_type; one of {', '.join(types)} is needed"
    return SampleFacts(sample, rubric, known, problem)


def refuse_unaskable(facts: SampleFacts, parameters: ScoredParameters, protocol: str) -> None:
    """Raises DatasetError for a sample whose reply could never be valid: asking would only cost money."""
    sample = facts.sample
    if facts.problem is not None:
        raise DatasetError(f"sample {sample.id!r}: {facts.problem}")
    if parameters.steps is not None and parameters.steps.required and not sample.steps:
        raise DatasetError(
            f"sample {sample.id!r} has no steps, which the {protocol} protocol judges; give a column steps or messages"
        )
    if parameters.task_rubric.required and not (sample.rubric or "").strip():
        raise DatasetError(
            f"sample {sample.id!r} has no rubric, which the {protocol} protocol grades by; "
            "give the directory of the task rubrics, or a column rubric"
        )
    if missing := facts.missing(parameters):
        raise DatasetError(
            f"sample {sample.id!r} has no {', '.join(missing)}, which the {protocol} protocol identifies samples by; "
            "add the column, or map one with --map"
        )


def grid_roles(parameters: ScoredParameters) -> tuple[IdentityRole, ...]:
    """What places a sample in the grid, of what a reply must repeat; its own id is not among them."""
    declared = parameters.identity.fields.values()
    return tuple(field.equals for field in declared if field.required and field.equals in GRID_ROLES)


# A run has few rubrics and many samples.
@lru_cache(maxsize=256)
def _read_rubric(text: str, types: tuple[str, ...]) -> TaskRubric:
    return read_task_rubric(text, types) if types else read_task_rubric(text)
