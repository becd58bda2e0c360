"""What a run amounts to in a few lines, and what one would send: for a person, and as documents for programs."""

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from shlex import quote
from typing import Any

from mixseek.domain.counts import FailureGroup, ReaskCount, TakeSpread
from mixseek.domain.judgments import Method, Status
from mixseek.domain.panels import WITNESS_PREFIX
from mixseek.domain.ports import CallAccount
from mixseek.reporting import wording
from mixseek.reporting.findings import model
from mixseek.reporting.findings.agreement import PairsReport
from mixseek.reporting.findings.corrected import CorrectedReport
from mixseek.reporting.findings.model import Headline, ScoreSummary, document_of, split_of
from mixseek.reporting.headline import describe_headline, headline_document, score_document
from mixseek.reporting.labels import corrected_document, corrected_lines
from mixseek.reporting.trust import agreement_document, consistency_documents, describe_pairs, pairs_document
from mixseek.reporting.wording import call_documents, cost_text, masked_text, tokens_text

# Limits that a finished run must keep; a gate is a number with a name, and so is its failure.


@dataclass(frozen=True, slots=True)
class Gates:
    """Shares in 0..1; None is no gate."""

    fail_under: float | None = None
    max_invalid: float | None = None
    max_undecided: float | None = None
    max_unverified: float | None = None

    def limits(self) -> dict[str, float]:
        """The gates that are set, by name."""
        return {name: limit for name, limit in asdict(self).items() if limit is not None}


@dataclass(frozen=True, slots=True)
class GateResult:
    """Of several judges that each judge everything, their panel must keep the limit."""

    name: str
    limit: float
    actual: float | None  # None where nothing was scored: a mean of nothing meets no minimum
    is_met: bool
    judge: str | None = None  # None for the run as one

    def describe(self) -> str:
        """The gate, the judge and both numbers, for one line."""
        actual = "no valid verdict" if self.actual is None else f"{self.actual:.2%}"
        relation = "within" if self.is_met else "under" if self.name == "fail_under" else "over"
        nouns = {"fail_under": "mean score", "max_invalid": "invalid or missing"}
        noun = nouns.get(self.name, self.name.removeprefix("max_"))
        option = "--" + self.name.replace("_", "-")
        who = f" by {self.judge}" if self.judge is not None else ""
        said = "met" if self.is_met else "not met"
        return f"gate {option} {said}{who}: {noun} {actual}, {relation} the limit of {self.limit:.2%}"


def check_gates(
    gates: Gates, headlines: Mapping[str | None, ScoreSummary], *, has_pairs: bool = False
) -> tuple[GateResult, ...]:
    """One result per gate that was set and judge that must keep it."""
    results = []
    for judge, score in headlines.items():
        counts = score.counts
        shares = {
            # What its judge refused is as little of a judgment as what cannot be read; nor is a pair of which one order
            # cannot be used, which leaves it undecided.
            "max_invalid": (counts.invalid + counts.missing + (counts.undecided if has_pairs else 0), counts.total),
            # Judges that cancel each other out have decided nothing.
            "max_undecided": (counts.undecided + split_of(counts), counts.total),
            "max_unverified": (score.unverified, counts.valid),
        }
        for name, limit in gates.limits().items():
            if name == "fail_under":
                actual, is_met = score.mean, score.mean is not None and score.mean >= limit
            else:
                part, whole = shares[name]
                actual = part / whole if whole else 0.0
                is_met = actual <= limit
            results.append(GateResult(name, limit, actual, is_met, judge))
    return tuple(results)


# What a run holds, in numbers: for the terminal, for programs and for the manifest.

EMPTY = ScoreSummary(model.StatusCounts(), mean=None, interval=None, bounds=None, is_binary=True)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`headline` is about samples, each with one verdict; gates apply to it.

    `score` counts judgments, in a cascade those of the judge that had the last word; a mean over judges who differ is
    nobody's verdict, so each has its own in `by_judge`. Judgments of models on their own output are in `control` alone.
    """

    header: model.RunHeader
    dataset: Mapping[str, Any]
    judges: tuple[str, ...]
    cascade: bool
    repeats: int
    workspace: Path
    journal: Path
    manifest: Path
    score: ScoreSummary
    headline: Headline
    by_judge: Mapping[str, ScoreSummary]
    calls: tuple[CallAccount, ...] = ()  # of judges that had to be waited for
    spreads: tuple[TakeSpread, ...] = ()  # of judges that were asked several times
    control: ScoreSummary = EMPTY
    all_by_judge: Mapping[str, model.StatusCounts] = field(default_factory=dict)  # own output included
    missing_for_good: int = 0  # the endpoint refuses these samples, however often it is asked
    needs_maths: int = 0  # answers that only the extra `maths` could compare, and it was not there
    seconds: float = 0.0
    # By judge: how many recorded replies are about no sample of the dataset, and the first of them.
    unmatched: Mapping[str, tuple[int, list[str]]] = field(default_factory=dict)
    reasks: tuple[ReaskCount, ...] = ()  # of judges that gave replies
    warnings: tuple[tuple[str, str], ...] = ()  # what a judge is known to be weak at, by its name
    notices: tuple[str, ...] = ()  # what a person was told before the first call
    corrected: CorrectedReport | None = None  # where people have labelled some of the texts
    pairs: PairsReport | None = None  # where two responses were judged at a time

    @property
    def is_complete(self) -> bool:
        """Every sample of the request is there, and nothing is missing that could still be had."""
        total = self.score.counts.total + self.control.counts.total
        if self.score.counts.missing + self.control.counts.missing > self.missing_for_good:
            return False
        if self.repeats == 1:
            return total == self.header.samples * (1 if self.cascade else len(self.judges))
        # Rules are asked once and models several times, so only the least is known.
        return total >= self.header.samples

    @property
    def is_panel(self) -> bool:
        """Several judges, each of whom judges everything."""
        return len(self.judges) > 1 and not self.cascade

    @property
    def headlines(self) -> dict[str | None, ScoreSummary]:
        """What gates apply to: the run as one."""
        return {None: self.headline.score}

    def asked_again(self, judge: str | None = None) -> int:
        """First replies that were invalid, so that another was asked for: of one judge, or of all."""
        return sum(count.asked_again for count in self.reasks if judge in (None, count.judge))

    def counts_by_judge(self) -> dict[str, dict[str, int]]:
        return {judge: asdict(counts) for judge, counts in self.all_by_judge.items()}


def summary_document(summary: RunSummary, gates: Sequence[Any] = ()) -> dict[str, Any]:
    """The contract for programs: keys are never renamed, only added. Gates are of this module or of a baseline."""
    header, first_replies = summary.header, {count.judge: count for count in summary.reasks}
    return {
        "run": header.run_id,
        "workspace": str(summary.workspace),
        "protocol": header.protocol,
        "protocol_hash": header.protocol_hash,
        "dataset": dict(summary.dataset),
        "samples": header.samples,
        "judges": list(summary.judges),
        "cascade": summary.cascade,
        "repeats": summary.repeats,
        # Of samples, each with one verdict; the counts are of judgments, `headline.counts` has those of samples.
        **score_document(summary.headline.score),
        "counts": asdict(summary.score.counts),
        "headline": headline_document(summary.headline),
        "control": score_document(summary.control) if summary.control.counts.total else None,
        "per_judge": {
            judge: {
                **score_document(score),
                "asked_again": summary.asked_again(judge),
                "first_replies": first_replies_document(first_replies.get(judge)),
            }
            for judge, score in summary.by_judge.items()
        },
        "asked_again": summary.asked_again(),
        "calls": call_documents(summary.calls),
        "spreads": {spread.judge: asdict(spread) for spread in summary.spreads},
        "gates": [document_of(gate, name="gate", is_met="met") for gate in gates],
        "unmatched_replies": {
            judge: {"count": count, "first": first} for judge, (count, first) in summary.unmatched.items()
        },
        "needs_maths": summary.needs_maths,
        "complete": summary.is_complete,
        "journal": str(summary.journal),
        "manifest": str(summary.manifest),
        "seconds": round(summary.seconds, 3),
        "notices": list(summary.notices),
        "corrected": corrected_document(summary.corrected) if summary.corrected else None,
        "pairs": pairs_document(summary.pairs) if summary.pairs else None,
    }


def first_replies_document(count: ReaskCount | None) -> dict[str, Any] | None:
    """How many first replies were invalid, whatever came of asking again; null for judges without replies."""
    if count is None:
        return None
    share = count.first_invalid / count.replies if count.replies else None
    return {"replies": count.replies, "invalid": count.first_invalid, "invalid_share": share}


def describe_calls(account: CallAccount) -> str:
    cached = f", {account.cached:,} from the cache" if account.cached else ""
    again = f", {account.reasks:,} asked again" if account.reasks else ""
    masked = f"; {masked_text(account)}" if account.masked else ""
    return (
        f"{account.judge}: {account.tries:,} requests for {account.calls:,} replies{cached}{again}; "
        f"{tokens_text(account.input_tokens, account)} tokens in, {tokens_text(account.output_tokens, account)} out; "
        f"cost {cost_text(account)}{masked}"
    )


def describe_summary(summary: RunSummary) -> str:
    """A few lines for a person; `mixseek report` says more."""
    run = summary.header.run_id
    samples = wording.plural(summary.header.samples, "sample")
    lines = [f"{run}: {samples}, {summary.seconds:.1f} s"]
    lines += [f"  {line}" for line in describe_headline(summary.headline)]
    lines += [f"  {line}" for line in describe_pairs(summary.pairs)] if summary.pairs else []
    # Which of a pair is A is chance, or the dataset's: the mean of A is only of use where that means something.
    label = "A preferred" if summary.pairs else "mean score"
    lines += [f"  {line}" for line in describe_score(summary.headline.score, summary.asked_again(), label)]
    if summary.corrected:
        lines += [f"  {line}" for line in corrected_lines(summary.corrected)]
    if len(summary.by_judge) > 1:
        lines += [f"  {line}" for line in describe_judges(summary)]
    if total := summary.control.counts.total:
        mean = wording.score_text(wording.in_unit_of(summary.score, summary.control))
        lines.append(f"  control     {wording.plural(total, 'self-judgment')} apart, mean {mean}")
    lines += [f"  {describe_calls(account)}" for account in summary.calls]
    lines += [
        f"  {spread.judge}: agrees with itself on {spread.unanimous:,} of {wording.plural(spread.samples, 'sample')} "
        f"with several valid takes; mean spread {spread.mean_spread:.3f}"
        for spread in summary.spreads
    ]
    lines += [f"  {judge}: {warning}" for judge, warning in summary.warnings]
    if summary.needs_maths:
        lines.append(f"  {needs_maths_text(summary.needs_maths)}")
    lines.append(f"  report      mixseek report {quote(run)} --workspace {quote(str(summary.workspace))}")
    return "\n".join(lines)


def describe_judges(summary: RunSummary) -> Iterator[str]:
    """A line a judge: what it gave, and its own mean where it judged everything."""
    for judge, own in summary.by_judge.items():
        told = [f"{count:,} {status}" for status, count in asdict(own.counts).items() if count]
        mean = f"mean {wording.score_text(own)}, " if summary.is_panel and own.mean is not None else ""
        yield f"{judge}: {mean}{', '.join(told) or 'not asked'}"


def needs_maths_text(count: int) -> str:
    """What would help where mathematics was left undecided."""
    said = wording.plural(count, "answer is mathematics", "answers are mathematics")
    return f"{said} that only the extra `maths` can compare: pip install 'mixseek[maths]'"


def describe_score(score: ScoreSummary, asked_again: int, label: str = "mean score") -> list[str]:
    """The mean with what limits it, then how samples ended."""
    counts = score.counts
    interval = f" ({wording.interval_sentence(score)})" if score.interval else ""
    if score.mean is not None and not score.interval:
        interval = f" ({wording.no_interval_sentence(score)})"
    lines = [f"{label:<10}  {wording.score_text(score)}{interval}"]
    lines += [f"{'bounds':<10}  {sentence}" for sentence in (wording.bounds_sentence(score),) if sentence]
    unverified = f", {score.unverified:,} of them unverified: the answer they call correct is not in the response"
    notes = {
        Status.VALID: unverified if score.unverified else "",
        Status.INVALID: f" {wording.reasks_text(asked_again)}" if asked_again else "",
    }
    for status, note in {**dict.fromkeys(Status, ""), **notes}.items():
        # "0 invalid" is true of a judge's last replies only, where first ones had to be asked for again.
        if counts.of(status) or status is Status.VALID or note:
            lines.append(f"{status.value:<10}  {counts.of(status):,}{note}")
    if split := split_of(counts):
        lines.append(f"{'split':<10}  {split:,}: no verdict, because the judges cancel each other out")
    return lines


# What of a run cannot be used, and why: reasons with an example each for a person, records for a program.

SHOWN = 10
REASONS_SHOWN = 5
_WHY_CHARACTERS = 160


def describe_groups(groups: Sequence[FailureGroup], summary: RunSummary) -> list[str]:
    """A line for each of the commonest reasons, and how many records have others."""
    has_several = len(summary.by_judge) > 1
    lines = [describe_group(group, with_judge=has_several) for group in groups[:REASONS_SHOWN]]
    rest = groups[REASONS_SHOWN:]
    if rest:
        name, workspace = summary.header.run_id, summary.workspace
        lines.append(
            f"and {sum(group.count for group in rest):,} more for {len(rest):,} other reasons; "
            f"`mixseek export {quote(name)} --workspace {quote(str(workspace))} --to FILE` lists them all"
        )
    return lines


def describe_group(group: FailureGroup, *, with_judge: bool) -> str:
    """One line, whatever the judge wrote, and however the sample is called."""
    cut, name = (
        wording.shortened(" ".join(wording.make_visible(text).split()), _WHY_CHARACTERS)
        for text in (group.why, group.sample_id)
    )
    by = f" by {group.judge}" if with_judge else ""
    first = "such as" if group.count > 1 else "sample"
    return f"{group.count:,} {group.status.value}{by}: {cut} ({first} {name})"


def explain_nothing_valid(summary: RunSummary, groups: Sequence[FailureGroup]) -> list[str]:
    """A line for each headline that no valid judgment stands behind, with the commonest reason."""
    lines = []
    headlines = dict(summary.by_judge) if summary.is_panel else summary.headlines
    for judge, score in headlines.items():
        counts = score.counts
        if counts.valid or not counts.total:
            continue
        who = "" if judge is None else f" by {judge}"
        if counts.undecided == counts.total:
            # A function of the user's may decline, too.
            is_rules = set(summary.judges) == {Method.RULES.value}
            decider = "rules" if is_rules else judge or "the judges"
            advice = "; ask a model for them: --cascade --judge rules --judge PROVIDER:MODEL" if is_rules else ""
            total = wording.plural(counts.total, "sample")
            lines.append(f"no valid judgment{who}: {decider} decided none of {total}{advice}")
            continue
        reasons = [group for group in groups if judge in (None, group.judge)]
        commonest = f"; the commonest reason: {describe_group(reasons[0], with_judge=False)}" if reasons else ""
        lines.append(f"no valid judgment{who} among {wording.plural(counts.total, 'judgment')}{commonest}")
    return lines


def has_nothing_valid(summary: RunSummary) -> bool:
    """A headline without a number to trust; rules that declined everything are an honest end, though without one."""
    headlines = dict(summary.by_judge) if summary.is_panel else summary.headlines
    for judge, score in headlines.items():
        counts = score.counts
        # A scorer of a log that grades, in words or numbers, gives no verdict, and has done what it was made for.
        names = summary.judges if judge is None else (judge,)
        is_graded = counts.undecided and all(name.startswith(WITNESS_PREFIX) for name in names)
        if counts.total and not counts.valid and counts.undecided < counts.total and not is_graded:
            return True
    return False


# What would be sent, before anything is sent: said to be estimates.


@dataclass(frozen=True, slots=True)
class Forecast:
    """One judge. In a cascade `calls` is an upper bound: earlier judges may decide. `cost_usd` None: price unknown."""

    judge: str
    calls: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class DryRun:
    run: str
    samples: int
    pending: int
    is_upper_bound: bool
    forecasts: tuple[Forecast, ...]


def dry_run_document(dry: DryRun) -> dict[str, Any]:
    known = [one.cost_usd for one in dry.forecasts if one.cost_usd is not None]
    return {
        **asdict(dry),
        "calls": sum(one.calls for one in dry.forecasts),
        "cost_usd": sum(known) if len(known) == len(dry.forecasts) else None,
        "is_estimate": True,
    }


def describe_dry_run(dry: DryRun) -> str:
    lines = [f"{dry.run}: {dry.pending:,} of {dry.samples:,} samples to be judged; nothing was sent"]
    most = "at most " if dry.is_upper_bound else ""
    for one in dry.forecasts:
        cost = "price unknown" if one.cost_usd is None else f"about {one.cost_usd:.4f} USD"
        lines.append(
            f"  {one.judge}: {most}{one.calls:,} calls ({one.cached:,} more from the cache), about "
            f"{one.input_tokens:,} tokens in and {one.output_tokens:,} out, {cost}"
        )
    if dry.forecasts:
        lines.append("  tokens are estimated from characters; retries and re-asks come on top")
    else:
        lines.append("  no judge has to be called")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class CallForecast:
    """Calls to one judge: as many as the fewest and the most rounds take, without retries and re-asks."""

    judge: str
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class CompeteForecast:
    execution: str
    teams: int
    metrics: tuple[str, ...]
    min_rounds: int
    max_rounds: int
    calls: tuple[CallForecast, ...]
    remarks: tuple[str, ...] = ()
    # By team: the metrics that its own model judges.
    self_judged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def forecast_document(forecast: CompeteForecast) -> dict[str, Any]:
    return {**asdict(forecast), "is_estimate": True}


def describe_forecast(forecast: CompeteForecast) -> str:
    rounds = f"{forecast.min_rounds} to {forecast.max_rounds} rounds"
    metrics = ", ".join(forecast.metrics)
    lines = [f"{forecast.execution}: {forecast.teams} teams, {rounds}, metrics {metrics}; nothing was sent"]
    lines += [f"  {one.judge}: {one.least:,} to {one.most:,} calls" for one in forecast.calls]
    lines.append("  retries and re-asks come on top" if forecast.calls else "  no judge has to be called")
    lines += [f"  note: {remark}" for remark in forecast.remarks]
    return "\n".join(lines)


# Reports, lists of runs and comparisons for programs.


def report_document(report: model.ReportData, html: Path | None) -> dict[str, Any]:
    """The report's numbers for programs; the rows are what `mixseek export` is for."""
    return {
        **document_of(report.run, run_id="run"),
        "judges": [
            {
                "judge": judge.judge,
                "model": report.models.get(judge.judge),
                **score_document(judge.score),
                "control": score_document(judge.control) if judge.control else None,
                "asked_again": judge.asked_again,
                "first_replies": first_replies_document(judge.first_replies),
                **{
                    kind: {tally.name: tally.count for tally in getattr(judge, kind)}
                    for kind in ("warnings", "verdicts", "error_types")
                },
                "reasoning": reasoning_document(judge.reasoning),
                "tasks": [{"task": part.name, **group_document(part)} for part in judge.tasks],
                "targets": [{"target": part.name, **group_document(part)} for part in judge.targets],
                "rules": [asdict(usage) for usage in judge.rules],
                "flags": [document_of(flag, kind="flag") for flag in judge.flags],
                "reasons": [document_of(reason, kind="status") for reason in judge.reasons],
            }
            for judge in report.judges
        ],
        "headline": headline_document(report.headline) if report.headline else None,
        "agreement": agreement_document(report.agreement),
        "consistency": consistency_documents(report.consistency),
        "scored": asdict(report.scored) if report.scored else None,
        "calls": call_documents(report.calls),
        "corrected": corrected_document(report.corrected) if report.corrected else None,
        "pairs": pairs_document(report.pairs) if report.pairs else None,
        "html": str(html) if html is not None else None,
    }


def group_document(group: model.GroupSummary) -> dict[str, Any]:
    return {**score_document(group.score), "reasoning": reasoning_document(group.reasoning)}


def reasoning_document(reasoning: model.ReasoningSummary | None) -> dict[str, Any] | None:
    """Null where no reasoning was assessed: rules do not."""
    if reasoning is None:
        return None
    fields = asdict(reasoning)
    bars = fields.pop("bars")
    return {**fields, "counts": {str(bar["score"]): {of: bar[of] for of in ("correct", "incorrect")} for bar in bars}}


def runs_document(lines: Sequence[model.RunLine]) -> dict[str, Any]:
    keys = {"run_id": "run", "mean": "mean_score", "is_sealed": "sealed", "is_running": "running"}
    return {"runs": [document_of(line, **keys) for line in lines]}


def comparison_document(comparison: model.RunComparison) -> dict[str, Any]:
    return {
        "protocol": comparison.protocol,
        "protocol_hash": comparison.protocol_hash,
        "runs": [
            {
                "run": run.run_id,
                "dataset": run.dataset,
                "judges": list(run.judges),
                **score_document(run.score),
                "control": asdict(run.control.counts),
            }
            for run in comparison.runs
        ],
        "pooled": score_document(comparison.pooled),
        "notes": list(comparison.notes),
    }


# How far a run is, in words; drawn by rich on a terminal, and by Jupyter in a notebook.

SECONDS_BETWEEN_LINES = 5.0


@dataclass
class Meter:
    """Adds up what it is told, and shows nothing; the rate leaves out what an earlier run had done."""

    total: int | None
    clock: Callable[[], float] = time.monotonic
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.started = self.last = self.clock()

    def advance(self, counts: Mapping[str, int]) -> None:
        self.counts.update(counts)

    @property
    def done(self) -> int:
        return self.counts["samples"] + self.counts["skipped"]

    def describe(self) -> str:
        """done/total, rate, time to go, and how samples ended."""
        counts, done = self.counts, self.done
        rate = counts["samples"] / max(self.clock() - self.started, 1e-9)
        parts = [f"{done:,}" + (f"/{self.total:,}" if self.total else "") + " samples", f"{rate:,.0f}/s"]
        if self.total and rate and done < self.total:
            parts.append(f"{describe_seconds((self.total - done) / rate)} to go")
        parts += [f"{status} {counts[status]:,}" for status in Status if counts[status]]
        parts += [f"{counts['in_flight']:,} in flight"] if counts["in_flight"] > 0 else []
        parts += [f"{counts['cached']:,} from cache"] if counts["cached"] else []
        parts += [f"${counts['cost_millionths'] / 1_000_000:.4f}"] if counts["cost_millionths"] else []
        return " · ".join(parts)


@dataclass
class LineProgress(Meter):
    """For logs: a line every few seconds, and none for a run that is over sooner."""

    notify: Callable[[str], None] = lambda _: None

    def advance(self, counts: Mapping[str, int]) -> None:
        super().advance(counts)
        now = self.clock()
        if now - self.last >= SECONDS_BETWEEN_LINES:
            self.last = now
            self.notify(self.describe())


@dataclass
class BarProgress(Meter):
    """For a person at a terminal: rich draws, we word."""

    bar: Any = None  # rich.progress.Progress; rich is imported only when it draws

    def advance(self, counts: Mapping[str, int]) -> None:
        super().advance(counts)
        self.bar.update(self.bar.task_ids[0], completed=self.done, text=self.describe())


@contextlib.contextmanager
def drawing_bar(total: int | None) -> Iterator[BarProgress]:
    """A bar on stderr, gone at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.fields[text]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task("judging", total=total, text="")
        yield BarProgress(total, bar=bar)


# A notebook redraws what is in a cell; more often than this nobody sees.
SECONDS_BETWEEN_DRAWINGS = 0.25


@dataclass
class NotebookProgress(Meter):
    """For a person at a notebook: one output of the cell, written again and again. It needs no widgets."""

    handle: Any = None  # IPython.display.DisplayHandle

    def advance(self, counts: Mapping[str, int]) -> None:
        super().advance(counts)
        now = self.clock()
        if now - self.last >= SECONDS_BETWEEN_DRAWINGS:
            self.last = now
            self.draw()

    def draw(self) -> None:
        """As text, and as a bar with the same text."""
        said = self.describe()
        bar = f'<progress max="{self.total or 1}" value="{self.done}"></progress> '
        self.handle.update({"text/plain": said, "text/html": f"{bar}<small>{escape(said)}</small>"}, raw=True)


def is_notebook() -> bool:
    """Whether a kernel of Jupyter runs us, which shows more than text."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in shell.config


@contextlib.contextmanager
def drawing_in_notebook(total: int | None) -> Iterator[NotebookProgress]:
    """The last state stays in the cell."""
    import importlib

    handle = importlib.import_module("IPython.display").display(
        {"text/plain": "", "text/html": ""}, raw=True, display_id=True
    )
    progress = NotebookProgress(total, handle=handle)
    try:
        yield progress
    finally:
        progress.draw()


def describe_seconds(seconds: float) -> str:
    """Two units at most: 1h 05m, 3m 20s, 8s."""
    whole = int(seconds + 0.5)
    if whole >= 3600:
        return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
    if whole >= 60:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole}s"
