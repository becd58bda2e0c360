"""The words of reports, once for terminal and page."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from mixseek.domain.calls import CallAccount, Latency
from mixseek.reporting.model import JudgeSummary, ReasoningSummary, ReportData, RunHeader, ScoreSummary, ShownCount
from mixseek.stats.intervals import Bounds, Interval

# Judged text is hostile: what cannot be seen, or changes how its neighbours are seen, is shown by its code point.
#
# The page does the same in `assets/text.js`; a test holds the two character lists together.

# How a terminal shows what stands beside the point.
QUIET = "dim"
# C0 and C1 controls (an escape sequence would drive the reader's terminal), bidirectional controls (they reorder what
# is read), zero-width and other invisible formats, unpaired surrogates, and the tag block that hides ASCII.
# Joiners U+200C/D and variation selectors stay: scripts and emoji need them.
INVISIBLE = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)
_INVISIBLE_RUN = re.compile(f"[{INVISIBLE}]+")
_CODES_SHOWN = 3
_TAGS_SHOWN = 40


def make_visible(text: str) -> str:
    """Safe to print on a terminal and to read in any direction; line breaks and tabs are kept."""
    return _INVISIBLE_RUN.sub(lambda run: f"⟨{_describe(run.group())}⟩", text.replace("\r\n", "\n"))


def replace_unpaired_surrogates(text: str) -> str:
    """The last resort before a file is written: UTF-8 has no bytes for half a character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _describe(run: str) -> str:
    codes = [ord(character) for character in run]
    if all(0xE0020 <= code <= 0xE007E for code in codes):
        hidden = "".join(chr(code - 0xE0000) for code in codes[:_TAGS_SHOWN])
        return f"hidden: {hidden}{'…' if len(codes) > _TAGS_SHOWN else ''}"
    shown = " ".join(f"U+{code:04X}" for code in codes[:_CODES_SHOWN])
    return shown if len(codes) <= _CODES_SHOWN else f"{shown} +{len(codes) - _CODES_SHOWN:,}"


# Numbers and short phrases as every renderer writes them: one wording for terminal and page.

NO_TASK = "(no task)"
NOTHING = "–"

# Seed 001's judgments carry these; a protocol of one's own may have others.
_WARNINGS = {
    "extracted_answer_not_in_response": "the extracted answer is not in the response",
    "extracted_answer_copies_ground_truth": "the extracted answer is the ground truth, which the response does not say",
    "correct_with_low_reasoning_score": "correct, with the reasoning score of a failure (1 or 2)",
}

_KANA = re.compile(r"[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HANGUL = re.compile(r"[\u1100-\u11ff\uac00-\ud7af]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")


def count_text(count: int) -> str:
    return f"{count:,}"


def plural(count: int, noun: str) -> str:
    """`1 sample`, `2 samples`."""
    return f"{count_text(count)} {noun}" if count == 1 else f"{count_text(count)} {noun}s"


def percent(share: float) -> str:
    """One decimal; 0 % and 100 % are said only of exactly none and all."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share * 100:.1f}%"


def score_text(score: ScoreSummary) -> str:
    """A share of right answers as per cent, a graded mean as a number, nothing as a dash."""
    if score.mean is None:
        return NOTHING
    return percent(score.mean) if score.is_binary else f"{score.mean:.3f}"


def range_text(low: float, high: float, *, is_binary: bool) -> str:
    if is_binary:
        return f"{low * 100:.1f}–{high * 100:.1f}%"
    return f"{low:.3f}–{high:.3f}"


def interval_text(score: ScoreSummary) -> str:
    interval = score.interval
    return NOTHING if interval is None else range_text(interval.low, interval.high, is_binary=score.is_binary)


def level_text(interval: Interval) -> str:
    return f"{interval.level * 100:g}% {interval.method} interval"


def interval_sentence(score: ScoreSummary) -> str:
    """`95% Wilson interval 38.7–78.1%, 20 samples`: an interval with its method and what it counts."""
    if score.interval is None:
        return units_text(score)
    return f"{level_text(score.interval)} {interval_text(score)}, {units_text(score)}"


def units_text(score: ScoreSummary) -> str:
    """What an interval counts: samples, and questions where several samples ask the same one."""
    samples = plural(score.samples, "sample")
    return samples if score.questions == score.samples else f"{samples} of {plural(score.questions, 'question')}"


def unreached_sentence(run: RunHeader) -> str:
    """Of a run that was stopped, or still goes on: what the counts and bounds leave out."""
    whole = plural(run.samples, "sample")
    return f"Not finished: {count_text(run.unreached)} of {whole} not reached yet, and in no count or bound below."


def bounds_sentence(score: ScoreSummary) -> str | None:
    """None when every sample has a score to rely on: then there is nothing to bound."""
    bounds, unscored, unverified = score.bounds, score.counts.unscored, score.unverified
    if bounds is None or unscored + unverified == 0:
        return None
    subject = (
        "the one sample without a score" if unscored == 1 else f"all {count_text(unscored)} samples without a score"
    )
    worst, best = _bound_texts(bounds, is_binary=score.is_binary)
    lowest, highest = ("were wrong", "right") if score.is_binary else ("had the lowest one", "the highest")
    if not unverified:
        return f"If {subject} {lowest}: {worst}; {highest}: {best}."
    doubtful = f"the {count_text(unverified)} unverified"
    if not unscored:
        return f"If {doubtful} {lowest}: {worst}."
    # In the best case an unverified judgment is as good as it says.
    return f"If {subject} and {doubtful} {lowest}: {worst}; if those without a score were right: {best}."


def unverified_text(score: ScoreSummary) -> str:
    """What a report says beside the number of valid judgments."""
    return f"{count_text(score.unverified)} of them unverified: the answer they call correct is not in the response"


def warning_text(name: str) -> str:
    """A warning of a protocol in words; as it stands where this page knows none."""
    return _WARNINGS.get(name, name)


def reasoning_text(reasoning: ReasoningSummary) -> str:
    """`mean 3.89, 4.99 where correct, 1.95 where incorrect`."""
    parts = [f"mean {reasoning.mean:.2f}"]
    for mean, where in ((reasoning.mean_correct, "correct"), (reasoning.mean_incorrect, "incorrect")):
        if mean is not None:
            parts.append(f"{mean:.2f} where {where}")
    return ", ".join(parts)


def mean_reasoning_text(reasoning: ReasoningSummary | None) -> str:
    return NOTHING if reasoning is None else f"{reasoning.mean:.2f}"


def reasks_text(asked_again: int) -> str:
    """`invalid 0` alone would be said of the last replies, and read as said of all."""
    return f"after {plural(asked_again, 're-ask')} (first replies that were invalid)"


def first_replies_sentence(judge: JudgeSummary) -> str | None:
    """How often a judge's first reply could not be used, whatever came of asking again; None without replies."""
    first = judge.first_replies
    if first is None or not first.replies:
        return None
    share = percent(first.first_invalid / first.replies)
    return f"First replies: {count_text(first.first_invalid)} of {count_text(first.replies)} invalid ({share})."


def _bound_texts(bounds: Bounds, *, is_binary: bool) -> tuple[str, str]:
    if is_binary:
        return percent(bounds.worst), percent(bounds.best)
    return f"{bounds.worst:.3f}", f"{bounds.best:.3f}"


def control_sentence(judge: JudgeSummary) -> str | None:
    """What a judge says of its own output, in the unit of its headline; None where it was not asked that."""
    control = judge.control
    if control is None:
        return None
    total = control.counts.total
    noun = "self-judgment" if total == 1 else "self-judgments"
    score = replace(control, is_binary=control.is_binary and judge.score.is_binary)
    mean = f", mean {score_text(score)}" if control.mean is not None else ""
    return f"{count_text(total)} {noun} apart{mean}: a control, in no mean."


def mean_label(judge: JudgeSummary) -> str:
    """What the headline number is a mean of. `correct` alone would be wrong for graded protocols."""
    if judge.score.mean is None:
        return "nothing was scored"
    best = judge.verdicts[0].name if judge.verdicts else "correct"
    return best if judge.score.is_binary and judge.score.mean > 0 else "mean score"


def shown_sentence(report: ReportData) -> str:
    """Exactly how many of how many judgments are listed, outcome by outcome."""
    total = report.rows_total
    if report.is_complete:
        return f"All {count_text(total)} judgments are listed."
    parts = ", ".join(_shown_part(part) for part in report.shown)
    return f"{count_text(len(report.rows))} of {count_text(total)} judgments are listed: {parts}."


def _shown_part(part: ShownCount) -> str:
    if part.shown >= part.total:
        return f"all {count_text(part.total)} {part.outcome}"
    return f"{count_text(part.shown)} of {count_text(part.total)} {part.outcome}"


def moment_text(moment: str | None) -> str | None:
    """`2026-03-01 09:12 UTC`; whatever is no ISO time is shown as it stands."""
    if moment is None:
        return None
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    if parsed.tzinfo is None:
        return f"{parsed:%Y-%m-%d %H:%M}"
    return f"{parsed.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def language_of(text: str) -> str | None:
    """A cheap guess, only to choose between Japanese, Korean and Chinese shapes of the same characters."""
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    return "zh" if _HAN.search(text) else None


# What live judges were asked and what it cost, in the words of every renderer and in the keys that programs read.

TOTAL = "all judges"


def add_accounts(accounts: Sequence[CallAccount]) -> CallAccount | None:
    """The run as one; None where a sum would only repeat the one line above it. Percentiles do not add up."""
    if len(accounts) < 2:
        return None
    reasons: Counter[str] = Counter()
    for account in accounts:
        reasons.update(account.finish_reasons)
    return CallAccount(
        judge=TOTAL,
        calls=sum(account.calls for account in accounts),
        cached=sum(account.cached for account in accounts),
        tries=sum(account.tries for account in accounts),
        reasks=sum(account.reasks for account in accounts),
        input_tokens=sum(account.input_tokens for account in accounts),
        output_tokens=sum(account.output_tokens for account in accounts),
        cached_input_tokens=sum(account.cached_input_tokens for account in accounts),
        uncounted=sum(account.uncounted for account in accounts),
        cost_usd=sum((account.cost_usd for account in accounts), Decimal(0)),
        unpriced=sum(account.unpriced for account in accounts),
        latency=None,
        models=tuple(sorted({model for account in accounts for model in account.models})),
        finish_reasons=dict(reasons.most_common()),
    )


def usd_text(amount: Decimal) -> str:
    """Cents from a dollar on, three digits that say something below it."""
    if amount == 0:
        return "$0"
    if amount >= 1:
        return f"${amount:,.2f}"
    # Leading noughts, then three digits: 0.000357 and not 0.00.
    places = max(2, 2 - amount.adjusted())
    digits = f"{amount:.{places}f}".rstrip("0")
    return f"${digits.ljust(4, '0')}"


def cost_text(account: CallAccount) -> str:
    """The known part, and for how many calls nothing is known; never a sum that silently leaves calls out."""
    if not account.calls:
        return NOTHING
    if not account.unpriced:
        return usd_text(account.cost_usd)
    unknown = f"unknown for {plural(account.unpriced, 'call')}"
    return unknown if account.unpriced == account.calls else f"{usd_text(account.cost_usd)} + {unknown}"


def tokens_text(tokens: int, account: CallAccount) -> str:
    """A dash where the endpoint counted nothing at all: nought would be a claim."""
    return NOTHING if account.uncounted == account.calls else count_text(tokens)


def seconds_text(seconds: float) -> str:
    """Three digits at most, in the unit that fits."""
    if seconds < 0.9995:
        return f"{seconds * 1_000:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds:,.0f} s"


def account_notes(account: CallAccount) -> tuple[str, ...]:
    """What the numbers of one judge leave unsaid: who answered, how replies ended, what was not counted."""
    notes = []
    if account.models:
        notes.append(f"answered by {', '.join(account.models)}")
    if set(account.finish_reasons) - {"stop", "end_turn"}:
        ends = ", ".join(f"{count_text(count)} {reason}" for reason, count in account.finish_reasons.items())
        notes.append(f"replies ended with: {ends}")
    if account.cached_input_tokens:
        notes.append(f"{count_text(account.cached_input_tokens)} input tokens came from the endpoint's own cache")
    if account.uncounted:
        notes.append(f"tokens of {plural(account.uncounted, 'call')} were not counted by the endpoint")
    return tuple(notes)


def latency_scale(accounts: Sequence[CallAccount]) -> float:
    """The right end of the axis on which latencies are drawn: the slowest 99th percentile."""
    return max((account.latency.p99 for account in accounts if account.latency), default=0.0) or 1.0


def call_documents(accounts: Sequence[CallAccount]) -> dict[str, dict[str, Any]]:
    """Judge to its account, for programs; empty where no live judge was asked. Keys are never renamed, only added."""
    return {account.judge: call_document(account) for account in accounts}


def call_document(account: CallAccount) -> dict[str, Any]:
    """`cost_usd` is the known part, and null where no call has a known price."""
    is_cost_known = account.unpriced < account.calls or not account.calls
    return {
        "calls": account.calls,
        "cached": account.cached,
        "tries": account.tries,
        "reasks": account.reasks,
        "input_tokens": account.input_tokens,
        "output_tokens": account.output_tokens,
        "cached_input_tokens": account.cached_input_tokens,
        "uncounted_calls": account.uncounted,
        "cost_usd": float(account.cost_usd) if is_cost_known else None,
        "unpriced_calls": account.unpriced,
        "latency_seconds": latency_document(account.latency),
        "models": list(account.models),
        "finish_reasons": dict(account.finish_reasons),
    }


def latency_document(latency: Latency | None) -> dict[str, float] | None:
    """Null where every reply came from the cache."""
    return None if latency is None else {"p50": latency.p50, "p90": latency.p90, "p99": latency.p99}
