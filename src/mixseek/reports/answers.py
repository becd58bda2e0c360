"""What an answer run came to, as sections and for programs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from mixseek.datasets.answer_runs import FAILED, OPEN, STATES
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.response_states import ResponseState
from mixseek.domain.samples import RESPONSE_ERROR
from mixseek.presentation.sections import (
    VERBATIM,
    Cell,
    Facts,
    Listing,
    Part,
    Section,
    Sentence,
    TableRows,
    Words,
    number_head,
    sections_of,
)
from mixseek.reports.accounts import forecast_cost_text, known_cost_text, usd_text
from mixseek.reports.wording.names import moment_text
from mixseek.reports.wording.numbers import NOTHING, percent
from mixseek.reports.wording.responses import state_word
from mixseek.runs.answers.cells import Cell as PlannedCell
from mixseek.runs.answers.forecast import AnswerDryRun
from mixseek.runs.answers.summary import AnswerSummary, CellCounts, TargetAccount
from mixseek.text.messages import Message, counted, join, message, verbatim
from mixseek.text.phrases import plural

# A larger share of responses that were cut off moves a mean: it is said before any other number.
WARNED_SHARE = 0.02
WORDS = {
    **{state.value: state_word(state) for state in ResponseState},
    FAILED: message("word.failed", "failed"),
    OPEN: message("word.missing", "missing"),
}
_SHOWN_STATES = (*STATES, OPEN)


def answers_document(summary: AnswerSummary) -> dict[str, Any]:
    """Every number; `answers` are of targets asked in one way."""
    return {
        "schema": schema_id(DocumentName.ANSWERS),
        "run": summary.run.name,
        "workspace": str(summary.run.workspace),
        "state": summary.state.value,
        "questions": summary.manifest.dataset.get("rows"),
        "planned": summary.planned,
        **counted_states(summary),
        "answers": [
            {
                "target": cell.cell.target,
                "judge": cell.cell.judge,
                "variant": cell.cell.variant,
                "repeats": cell.cell.repeats,
                "questions": cell.cell.questions,
                "planned": cell.planned,
                **{state: cell.states.get(state, 0) for state in STATES},
                OPEN: cell.open,
            }
            for cell in summary.cells
        ],
        "targets": [account_document(account) for account in summary.accounts],
        "asked_longer": summary.asked_longer,
        "reasons": [{"reason": reason, "count": count} for reason, count in summary.reasons],
        "cost_usd": summary.cost_usd,
        "seconds": summary.seconds,
        "notices": list(summary.notices),
    }


def counted_states(summary: AnswerSummary) -> dict[str, int]:
    return {**{state: summary.count(state) for state in STATES}, OPEN: summary.open}


def account_document(account: TargetAccount) -> dict[str, Any]:
    latency = None if account.latency is None else asdict(account.latency)
    is_known = account.calls > account.unpriced
    return {
        **asdict(account),
        "latency": latency,
        "models": list(account.models),
        "cost_usd": account.cost_usd if is_known else None,
    }


@sections_of.register
def answer_sections(summary: AnswerSummary) -> Iterator[Section]:
    """Where it stands, what came of each target and variant, and what it cost."""
    answered = summary.count(ResponseState.FINISHED) + summary.count(ResponseState.CUT_OFF)
    planned = counted(summary.planned, "answer")
    lead = message("answers.lead", "answers {run}: {n} of {planned}", run=summary.run.name, n=answered, planned=planned)
    # A person reads three lines: what is wrong with the answers is one of them.
    warning = cut_off_warning(summary)
    lines = [Sentence(lead, "bold", is_unbroken=True), *([Sentence(warning, "yellow")] if warning else [])]
    yield Section(
        None, [*lines, Facts([(message("head.answers", "answers"), ends_text(summary)), *cost_facts(summary)])]
    )
    yield from account_sections(summary)
    command = f"mixseek judge answers:{summary.run.name}"
    yield Section(
        None, [Sentence(message("answers.judge_them", "judge them: {command}", command=command), is_unbroken=True)]
    )


def answer_facts(summary: AnswerSummary) -> list[tuple[Message, Message]]:
    """What a page says of it in a line: what was asked, of whom, how often, and what came of it."""
    cells = [cell.cell for cell in summary.cells]
    answered = summary.count(ResponseState.FINISHED) + summary.count(ResponseState.CUT_OFF)
    names = {name: list(dict.fromkeys(getattr(cell, name) for cell in cells)) for name in ("target", "variant")}
    started = moment_text(summary.manifest.started_at.isoformat()) or NOTHING
    facts = [
        (message("answers.questions_of", "Questions"), verbatim(str(summary.manifest.dataset.get("path", NOTHING)))),
        (message("answers.plan", "Plan"), plan_text(cells)),
        (message("word.targets", "Targets"), verbatim(", ".join(names["target"]))),
        (message("answers.variants", "Variants"), verbatim(", ".join(names["variant"]))),
        (message("answers.answered", "Answered"), answered_text(answered, summary.planned)),
        (message("answers.ended", "Ended"), ends_text(summary)),
        (message("report.calls", "Calls"), calls_text(summary)),
        (message("viewer.started", "Started"), verbatim(started)),
    ]
    return [(head, text) for head, text in facts if text]


def plan_text(cells: Sequence[PlannedCell]) -> Message:
    """`250 questions × 4 targets × 3 variants × 2 repeats`, the most of each that any command asked for."""
    targets, variants = {cell.judge for cell in cells}, {cell.variant for cell in cells}
    questions = max((cell.questions for cell in cells), default=0)
    return plan_words(questions, len(targets), len(variants), max((cell.repeats for cell in cells), default=1))


def plan_words(questions: int, targets: int, variants: int, repeats: int) -> Message:
    return message(
        "answers.plan_of",
        "{questions} × {targets} × {variants} × {repeats}",
        questions=counted(questions, "question"),
        targets=counted(targets, "target"),
        variants=counted(variants, "variant"),
        repeats=counted(repeats, "repeat"),
    )


def answered_text(answered: int, planned: int) -> Message:
    return message("answers.answered_of", "{n} of {planned}", n=answered, planned=planned)


def ends_text(summary: AnswerSummary) -> Message:
    """`finished 18, cut off 1`: what nobody has is left out."""
    counts = [
        message("answers.so_many", "{state} {n}", state=WORDS[state], n=count)
        for state, count in counted_states(summary).items()
        if count
    ]
    return join(counts, ", ")


def account_sections(summary: AnswerSummary) -> Iterator[Section]:
    """What came of each target and variant, and the commonest reasons why there is no answer."""
    yield Section(message("word.targets", "Targets"), [cells_table(summary)])
    if summary.reasons:
        reasons = [f"{count:,} × {reason}" for reason, count in summary.reasons]
        yield Section(message("answers.why_none", "Why there is no answer"), [Listing(reasons)])


def cut_off_warning(summary: AnswerSummary) -> Message | None:
    """None where few responses were cut off."""
    came = sum(cell.answered for cell in summary.cells)
    cut_off = summary.count(ResponseState.CUT_OFF)
    if not came or cut_off / came <= WARNED_SHARE:
        return None
    share = percent(cut_off / came)
    if summary.asked_longer:
        words = (
            "{share} of the responses were cut off, {n} of them asked for again; a larger max_tokens, or "
            "--retry-cut-off, lets them end"
        )
        return message("answers.cut_off_asked_again", words, share=share, n=summary.asked_longer)
    words = "{share} of the responses were cut off; a larger max_tokens, or --retry-cut-off, lets them end"
    return message("answers.cut_off", words, share=share)


def cost_facts(summary: AnswerSummary) -> list[tuple[str, str]]:
    facts = calls_text(summary)
    return [(message("head.calls", "calls"), facts)] if facts else []


def calls_text(summary: AnswerSummary) -> Message:
    """Calls, what nobody was asked for, and the cost as far as it is known; empty where there was none of that."""
    calls = sum(account.calls for account in summary.accounts)
    cached = sum(account.cached for account in summary.accounts)
    recorded = sum(account.recorded for account in summary.accounts)
    unpriced = sum(account.unpriced for account in summary.accounts)
    facts = [
        *([counted(calls, "call")] if calls else []),
        *([message("answers.from_the_cache", "{n} from the cache", n=cached)] if cached else []),
        *([message("answers.recorded", "{n} recorded", n=recorded)] if recorded else []),
        *([known_cost_text(calls, unpriced, Decimal(str(summary.cost_usd or 0)))] if calls else []),
    ]
    return join(facts, ", ")


def cells_table(summary: AnswerSummary) -> TableRows:
    """A row for each target and variant; states that nobody has are left out."""
    shown = [state for state in _SHOWN_STATES if any(count_of(cell, state) for cell in summary.cells)]
    accounts = {account.judge: account for account in summary.accounts}
    # What is on record costs nothing here.
    has_calls = any(account.calls for account in summary.accounts)
    rows: list[list[Cell]] = []
    named: set[str] = set()
    for cell in summary.cells:
        account = accounts.get(cell.cell.judge)
        is_first = cell.cell.judge not in named
        named.add(cell.cell.judge)
        rows.append(
            [
                cell.cell.target,
                cell.cell.variant,
                f"{cell.planned:,}",
                *(f"{count_of(cell, state):,}" for state in shown),
                *((account_cells(account) if account is not None and is_first else ("", "", "")) if has_calls else ()),
            ]
        )
    heads: list[str] = [
        *(message("head.target", "target"), message("head.variant", "variant")),
        *(number_head(word) for word in (message("head.planned", "planned"), *(WORDS[state] for state in shown))),
    ]
    if has_calls:
        heads += [
            number_head(message("head.tokens_out", "tokens out")),
            number_head(message("head.cost", "cost")),
            ">p50",
        ]
    label = message("answers.by_target_and_variant", "Answers by target and variant")
    return TableRows(heads, rows, name="targets", label=label)


def count_of(cell: CellCounts, state: str) -> int:
    return cell.open if state == OPEN else cell.states.get(state, 0)


def account_cells(account: TargetAccount) -> tuple[str, str, str]:
    """Tokens, cost and latency of all variants together, beside the first of them."""
    is_known = account.calls > account.unpriced
    cost = usd_text(Decimal(str(account.cost_usd))) if is_known else NOTHING
    median = NOTHING if account.latency is None else f"{account.latency.p50:.2f} s"
    return f"{account.output_tokens:,}", cost, median


def answer_row_sections(rows: Sequence[Mapping[str, Any]]) -> Iterator[Section]:
    """Each answer below the other, under the question that all of them have."""
    first = rows[0]
    truth = [("ground truth", str(first["ground_truth"]))] if first.get("ground_truth") else []
    asked = Listing([Words([(line, VERBATIM)]) for line in str(first.get("question") or "").splitlines()])
    yield Section(f"question {first['question_id']}", [asked, *([Facts(truth)] if truth else [])])
    for row in rows:
        facts = [("state", WORDS.get(row["response_state"] or "", "no answer")), *cost_of_row(row)]
        if error := row.get(RESPONSE_ERROR):
            facts.append(("why", error))
        parts: list[Part] = [Facts(facts)]
        for title, text in (("", row["response"]), ("reasoning", row["reasoning"])):
            if text:
                lines = [Words([(line, VERBATIM)]) for line in text.splitlines()]
                parts += [*([Sentence(f"{title}:")] if title else []), Listing(lines)]
        yield Section(row["id"], parts)


def cost_of_row(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    usage = row.get("usage") or {}
    tokens = usage.get("output_tokens")
    parts = [
        *([f"{tokens:,} tokens out"] if tokens is not None else []),
        *([usd_text(Decimal(str(row["cost_usd"])))] if row.get("cost_usd") is not None else []),
        *([f"{row['latency_seconds']:.2f} s"] if row.get("latency_seconds") is not None else []),
        *([row["served_model"]] if row.get("served_model") else []),
    ]
    return [("call", ", ".join(parts))] if parts else []


def answer_dry_run_document(dry: AnswerDryRun) -> dict[str, Any]:
    known = [forecast.cost_usd for forecast in dry.forecasts if forecast.cost_usd is not None]
    return {
        "schema": schema_id(DocumentName.ANSWERS_DRY_RUN),
        "run": dry.run,
        "questions": dry.questions,
        "planned": dry.planned,
        "forecasts": [asdict(forecast) for forecast in dry.forecasts],
        "calls": sum(forecast.calls for forecast in dry.forecasts),
        "cost_usd": sum(known) if len(known) == len(dry.forecasts) else None,
        "requests": [asdict(request) for request in dry.requests],
        "is_estimate": True,
    }


@sections_of.register
def answer_dry_run_sections(dry: AnswerDryRun) -> Iterator[Section]:
    """One rendered request of each variant and target, then what all of them come to."""
    for request in dry.requests:
        lines = [f"{turn['role']}: {turn['content']}" for turn in request.messages]
        title = f"variant {request.variant}, question {request.question_id}"
        yield Section(title, [Listing(lines), Facts([("to", ", ".join(request.targets)), ("with", request.settings)])])
    lead = f"{dry.run}: {plural(dry.planned, 'answer')} to {plural(dry.questions, 'question')}; nothing was sent"
    lines = []
    for forecast in dry.forecasts:
        cost = forecast_cost_text(forecast)
        lines.append(
            f"{forecast.judge}: {forecast.calls:,} calls ({forecast.cached:,} more from the cache), about "
            f"{forecast.input_tokens:,} tokens in and {forecast.output_tokens:,} out, {cost}"
        )
    on_top = ["tokens are estimated from characters; retries come on top"] if lines else []
    yield Section(None, [Sentence(lead, "bold", is_unbroken=True), *([Listing([*lines, *on_top])] if lines else [])])
