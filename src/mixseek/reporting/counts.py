"""What a report is made from: counts that a database can group, so that a million judgments are never held at once."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mixseek.domain.calls import CallAccount
from mixseek.domain.counts import FlagCount, OutcomeCount, ReasonCount, RuleCount
from mixseek.domain.judgments import Flag, Status
from mixseek.reporting.model import JudgmentRow, RunHeader

if TYPE_CHECKING:
    from mixseek.reporting.scored_model import ScoredReport

_Key = tuple[str, str | None, Status, str | None, str | None]


@dataclass(frozen=True, slots=True)
class ReportInput:
    """`rows` may be all judgments, or any part that holds `row_limit` of each kind (see `selection.kind_of`)."""

    run: RunHeader
    manifest: Mapping[str, Any]
    outcomes: Iterable[OutcomeCount]
    rows: Iterable[JudgmentRow]
    rules: Iterable[RuleCount] = ()
    flags: Iterable[FlagCount] = ()
    reasons: Iterable[ReasonCount] = ()
    # The order in which judges are shown; judges that only occur in the counts follow by name.
    judges: tuple[str, ...] = field(default=())
    # What live judges were asked, in the order of the judges.
    calls: Iterable[CallAccount] = ()
    # Under a protocol with dimensions.
    scored: "ScoredReport | None" = None
    # Judge to the model whose recorded replies it brings.
    models: Mapping[str, str] = field(default_factory=dict)


def count_rows(run: RunHeader, manifest: Mapping[str, Any], rows: Sequence[JudgmentRow]) -> ReportInput:
    """The counts that a database would give, from rows in memory: small runs, and the yardstick for the queries."""
    outcomes: dict[tuple[_Key, bool], list[float]] = defaultdict(list)
    rules: dict[tuple[str, str, Status], list[float]] = defaultdict(list)
    flags: Counter[tuple[str, Flag, str]] = Counter()
    reasons: Counter[tuple[str, Status, str]] = Counter()
    for row in rows:
        score = row.score if row.status is Status.VALID and row.score is not None else 0.0
        outcomes[(row.judge, row.task, row.status, row.verdict, row.error_type), row.is_control].append(score)
        if row.is_control:
            continue
        # A rule that fired twice on one response still concerns one judgment.
        for rule in dict.fromkeys(row.rules):
            rules[row.judge, rule, row.status].append(score)
        flags.update((row.judge, finding.flag, finding.detail) for finding in row.flags)
        if row.reason is not None and row.status in (Status.UNDECIDED, Status.MISSING):
            reasons[row.judge, row.status, row.reason] += 1
    return ReportInput(
        run=run,
        manifest=manifest,
        outcomes=[
            OutcomeCount(*key, len(scores), sum(scores), sum(score * score for score in scores), is_control)
            for (key, is_control), scores in outcomes.items()
        ],
        rows=rows,
        rules=[RuleCount(*key, len(scores), sum(scores)) for key, scores in rules.items()],
        flags=[FlagCount(*key, count) for key, count in flags.items()],
        reasons=[ReasonCount(*key, count) for key, count in reasons.items()],
        judges=tuple(dict.fromkeys(row.judge for row in rows)),
    )
