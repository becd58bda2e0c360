"""Scorers of a log of another tool, as judges of a run."""

from collections import Counter
from collections.abc import Sequence

from mixseek.datasets.reader import STDIN, check_file, choose_any_source
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.domain.panels import WITNESS_PREFIX
from mixseek.domain.samples import LOG_SCORES
from mixseek.errors import ConfigurationError, suggest
from mixseek.runs.requests.named import NamedJudge

_LOG = WITNESS_PREFIX.rstrip(":")


def is_log_judge(spec: str) -> bool:
    """`log` or `log:SCORER`."""
    return spec == _LOG or spec.startswith(WITNESS_PREFIX)


def expand_scorers(
    judges: Sequence[NamedJudge], data: str, longest: int = LONGEST_LINE_BYTES
) -> tuple[NamedJudge, ...]:
    """`log` as one judge for each scorer of the log; a scorer that the log does not have is refused by name."""
    wanted = [judge for judge in judges if isinstance(judge, str) and is_log_judge(judge)]
    if not wanted or data == STDIN:
        return tuple(judges)
    scorers = tuple(count_scorers(data, longest))
    if not scorers:
        raise ConfigurationError(f"judge {wanted[0]!r}: {data} holds no scores of another tool (column `{LOG_SCORES}`)")
    for spec in wanted:
        name = spec.partition(":")[2]
        if name and name not in scorers:
            there = f"{suggest(name, scorers)} it has {', '.join(scorers)}".lstrip()
            raise ConfigurationError(f"judge {spec!r}: the log has no such scorer; {there}")
    expanded = [f"{WITNESS_PREFIX}{name}" for name in scorers]
    named: list[NamedJudge] = []
    for judge in judges:
        # Named twice, by itself and by `log`, it is still one judge.
        named += [candidate for candidate in (expanded if judge == _LOG else [judge]) if candidate not in named]
    return tuple(named)


def count_scorers(data: str, longest: int) -> Counter[str]:
    """How many samples each scorer has scored, in order of appearance."""
    counts: Counter[str] = Counter()
    for _, row in choose_any_source(check_file(data), longest).rows():
        scores = row.get(LOG_SCORES)
        if isinstance(scores, dict):
            counts.update(scores.keys())
    return counts
