"""How a judged verdict came about, derived from who judged whom; never asked of the judge."""

from functools import lru_cache
from typing import NamedTuple

from mixseek.domain.judgments import Method, Reply
from mixseek.domain.samples import Sample
from mixseek.protocols.model_names import Families, ModelName, built_in_families, fold_model_name


class Relation(NamedTuple):
    """`same_family`: judge and target are different models of one family, which may favour its own."""

    method: Method
    same_family: bool = False


_STRANGERS = Relation(Method.CROSS_JUDGE)


def judge_identity(reply: Reply) -> str:
    """A recorded reply names its judge in the details; `replay` or a name from the settings is nobody's model."""
    recorded = reply.details.get("judge_model")
    return recorded if isinstance(recorded, str) and recorded.strip() else reply.judge


def relate(judge: str | None, target: str | None, table: Families | None = None) -> Relation:
    """Unknown on either side is a cross judgment: nobody is accused of judging himself without a name."""
    if not judge or not target:
        return _STRANGERS
    judging, judged = _folded(judge, table), _folded(target, table)
    if judging.is_same_model(judged):
        return Relation(Method.SELF_JUDGE)
    return Relation(Method.CROSS_JUDGE, judging.is_same_family(judged))


def is_same_model(one: str, other: str, table: Families | None = None) -> bool:
    """Whether two names mean one model."""
    return _folded(one, table).is_same_model(_folded(other, table))


def relation_of(reply: Reply, sample: Sample, table: Families | None = None) -> Relation:
    """Between the judge that replied and the model that was judged; `table` goes over the built-in one."""
    return relate(judge_identity(reply), sample.target_model, table)


def method_of(reply: Reply, sample: Sample) -> Method:
    """`self_judge` when judge and judged are one model."""
    return relation_of(reply, sample).method


def _folded(name: str, table: Families | None) -> ModelName:
    return _fold(name, "{}" if table is None else table.model_dump_json())


# A run holds a handful of names and a million replies; the table itself is not hashable, its text is.
@lru_cache(maxsize=4096)
def _fold(name: str, table: str) -> ModelName:
    return fold_model_name(name, Families.model_validate_json(table).over(built_in_families()))
