"""What of a run cannot be used, and why: reasons with an example each for a person, records for a program."""

from collections.abc import Sequence
from shlex import quote

from mixseek.analysis.run.summary import RunSummary
from mixseek.domain.judgments import Method
from mixseek.domain.panels import WITNESS_PREFIX
from mixseek.domain.scored_counts import FailureGroup
from mixseek.text import phrases, visible
from mixseek.text.phrases import plural

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
        phrases.shortened(" ".join(visible.make_visible(text).split()), _WHY_CHARACTERS)
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
            total = phrases.plural(counts.total, "sample")
            lines.append(f"no valid judgment{who}: {decider} decided none of {total}{advice}")
            continue
        reasons = [group for group in groups if judge in (None, group.judge)]
        commonest = f"; the commonest reason: {describe_group(reasons[0], with_judge=False)}" if reasons else ""
        lines.append(f"no valid judgment{who} among {phrases.plural(counts.total, 'judgment')}{commonest}")
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


def explain_missing(summary: RunSummary) -> str:
    """What can be done about it: asking a file of recorded replies again brings nothing new."""
    judges = [judge for judge, counts in summary.all_by_judge.items() if counts.missing]
    missing = summary.score.counts.missing + summary.control.counts.missing - summary.missing_for_good
    if not missing:
        return "the run was stopped before every sample was judged; run the same command again to go on"
    replies = plural(missing, "reply is missing", "replies are missing")
    if judges and all(judge == "replay" or judge.startswith("replay:") for judge in judges):
        return (
            f"{replies}: nothing is recorded for these samples; add the replies to the file, then run the same "
            "command again"
        )
    return f"{replies}; run the same command again to ask for them"
