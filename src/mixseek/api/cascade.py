"""`mixseek.plan_cascade`: which judge may decide what without people, with the certificate as an object."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal

from mixseek.analysis.ratings.relation import RatingColumns, RatingSource
from mixseek.api.options import Data, TemporaryWorkspace, choose
from mixseek.api.run import Run
from mixseek.api.words import in_python_words
from mixseek.cascades import views  # noqa: F401 - what is printed of a result is registered there
from mixseek.cascades.plan import CascadeRequest, LastWord, PlannedCascade, plan, write_plan
from mixseek.cascades.rated_runs import LabelChoice
from mixseek.datasets.memory import IN_MEMORY, keep_rows
from mixseek.errors import ConfigurationError, MixseekError
from mixseek.settings.load import load_settings
from mixseek.stats.estimates import Drawing


@in_python_words("judge")
def plan_cascade(
    runs: "Run | Data | Sequence[Run | str]",
    *,
    agree: float = 0.95,
    confidence: float = 0.9,
    last: Literal["people", "last"] = "people",
    tiers: Sequence[str] = (),
    prices: Mapping[str, float] | None = None,
    path: str | Path | None = None,
    label_count: int | None = None,
    seed: int = 0,
    human: str | None = None,
    labels: Literal["random", "stratified", "elsewhere", "unknown"] = "unknown",
    labelled: str | None = None,
    item: str | None = None,
    judge: str | None = None,
    score: str | None = None,
    sure: str | None = None,
    question: str | None = None,
    where: str | None = None,
    scale: tuple[float, float] | None = None,
    today: date | None = None,
    workspace: str | Path | None = None,
) -> PlannedCascade:
    """Which judge may decide what without people, as `mixseek cascade plan` finds it; `print` shows the result.

    `runs` is one run or several, by name or as objects; or one table of ratings: a file, rows in memory or a table.
    The `certificate` is None where no judge can do it; else `path` is for `cascade.toml`, and `today` is its date.

    >>> import mixseek
    >>> rows = [{"item": n, "judge": who, "score": n % 2} for n in range(60) for who in ("small", "people")]
    >>> planned = mixseek.plan_cascade(rows, human="people")
    >>> planned.decided_share, planned.agreement, dict(planned.certificate.thresholds)
    (1.0, 1.0, {'small': 1.0})
    """
    names, root, temporary = _names_of(runs, workspace)
    columns = RatingColumns(item, judge, score, question, where=where, labelled=labelled, confidence=sure)
    request = CascadeRequest(
        names=names,
        workspace=root,
        today=today or date.today(),
        agree=agree,
        confidence=confidence,
        last=choose(LastWord, last, "last"),
        tiers=tuple(tiers),
        prices=dict(prices or {}),
        choice=LabelChoice(label_count, seed),
        source=RatingSource(columns, human, longest_line=load_settings().judge.longest_line),
        drawing=choose(Drawing, labels, "labels"),
        scale=scale,
        shown_name=IN_MEMORY if temporary else None,
    )
    try:
        result = plan(request)
    except MixseekError as error:
        if temporary is None:
            raise
        # Nobody knows the file that their rows are in.
        raise type(error)(str(error).replace(names[0], IN_MEMORY)) from error
    return result if path is None else write_plan(result, Path(path))


def _names_of(
    runs: "Run | Data | Sequence[Run | str]", workspace: str | Path | None
) -> tuple[list[str], Path, TemporaryWorkspace | None]:
    """What is planned from, by name; where it lies; and what keeps rows that were in memory."""
    given = [runs] if isinstance(runs, Run | str | Path) else runs
    if isinstance(given, list | tuple) and given and all(isinstance(run, Run | str | Path) for run in given):
        roots = {run.workspace for run in given if isinstance(run, Run)}
        if len(roots) > 1:
            raise ConfigurationError("runs: they lie in different workspaces; judge them into one")
        root = Path(workspace) if workspace is not None else next(iter(roots), None) or load_settings().workspace
        return [run.name if isinstance(run, Run) else str(run) for run in given], root, None
    temporary = TemporaryWorkspace()
    return [str(keep_rows(runs, temporary.path))], temporary.path, temporary
