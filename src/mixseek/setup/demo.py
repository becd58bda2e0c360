"""The demo: bundled samples judged offline under every protocol, with recorded replies that are good and bad."""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

from mixseek.analysis.labels.corrected import CorrectedReport
from mixseek.analysis.run.judged import judge_dataset
from mixseek.analysis.run.report import load_report
from mixseek.analysis.run.summary import RunSummary
from mixseek.analysis.votes.system_board import Board
from mixseek.audits.examine import run_audit, write_card
from mixseek.audits.plan import AuditRequest
from mixseek.cascades.plan import CascadeRequest, PlannedCascade, plan, write_plan
from mixseek.comparison.compare import LISTED, CompareRequest, load_comparison
from mixseek.comparison.model import Comparison
from mixseek.comparison.views.files import default_page, write_comparison
from mixseek.competition.boards import write_leader_board
from mixseek.competition.plan import CompeteRequest
from mixseek.competition.play import CompetitionObserver, run_competition
from mixseek.competition.questions import Counting
from mixseek.competition.views.board import LeaderBoard
from mixseek.datasets.answer_runs import PREFIX
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.samples import Sample
from mixseek.errors import MixseekError
from mixseek.index.run import open_run_index
from mixseek.judges.function import function_judge
from mixseek.labels.draw import DrawRequest, draw_sheet
from mixseek.labels.intake import ImportRequest, import_labels
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.pages.html import write_html
from mixseek.runs.answers.request import AnswerRequest
from mixseek.runs.answers.run import Stopped, answer_questions
from mixseek.runs.answers.summary import AnswerSummary
from mixseek.runs.cards import Card
from mixseek.runs.judge import Interruption
from mixseek.runs.requests.request import RULES, JudgeRequest, LiveOptions
from mixseek.stats.audits import Audit
from mixseek.storage.durable import replacing, storage_error
from mixseek.storage.workspace import Workspace

# Name in the workspace to name in the package: people look at the first and run commands on it.
DATA, REPLIES, RACE = "demo.jsonl", "replies.jsonl", "competition/race.toml"
FILES = {DATA: "semantic.jsonl", REPLIES: "semantic_replies.jsonl"} | {
    name: name
    for name in (
        *("cross.jsonl", "cross_replies_aster-1.jsonl", "cross_replies_cedar-7.jsonl"),
        *("rubric.jsonl", "rubric_replies_kiri-judge.jsonl", "rubric_replies_sumi-judge.jsonl"),
        *("tasks/lighthouse-facts.md", "tasks/rain-letter.md", "tasks/slow-city.md"),
        *("trajectory.jsonl", "trajectory_replies_buoy-judge.jsonl", "trajectory_replies_kelp-judge.jsonl"),
        *("lenient_replies.jsonl", "people.jsonl", "pairs.jsonl", "pairs_replies.jsonl"),
        *(RACE, "competition/replies.jsonl"),
        *("questions/harbour.jsonl", "questions/terse.md", "questions/stepwise.md"),
        *("questions/aster-1.jsonl", "questions/birch-2.jsonl"),
    )
}
# Protocol to the judges whose replies were recorded.
EXAMPLES = {
    "rubric": ("kiri-judge", "sumi-judge"),
    "cross": ("aster-1", "cedar-7"),
    "trajectory": ("buoy-judge", "kelp-judge"),
}
EXECUTION = "salty-sea"
# Questions that two recorded models were asked in two ways; what is judged of it has the same name.
ANSWERS, ASKED, WAYS = "harbour", ("aster-1", "birch-2"), ("terse", "stepwise")
# Replies of a judge that is too kind, what people say where the data's own labels say nothing, and how many are drawn.
LENIENT, PEOPLE, LABELLED = "lenient_replies.jsonl", "people.jsonl", 60
# What the cascade of rules and that judge is to be held to; of the second there are too few labels to say.
ASKED_OF_CASCADE, KIND_JUDGE, CASCADE = (0.9, 0.95), "kind judge", "cascade.toml"
INTERRUPTED = "the demo was interrupted; run it again"
# How many samples the judge of one's own is examined with, and for what; what is long to it, in characters.
EXAMINED, EXAMINED_FOR, _LONG = 40, (Audit.RETEST, Audit.PADDING, Audit.INJECTION), 300
# The same samples later: a file in the workspace, what it is made from, and the lines that are different.
LATER_DATA, LATER_REPLIES = "demo-later.jsonl", "replies-later.jsonl"
LATER = {LATER_DATA: (DATA, "semantic_later.jsonl"), LATER_REPLIES: (REPLIES, "semantic_later_replies.jsonl")}


@dataclass(frozen=True, slots=True)
class DemoLine:
    """One sample: what the rules said, what the label says, and how it ended."""

    id: str
    task: str
    language: str
    verdict: str  # the rules' word: correct, incorrect or undecided
    rule: str  # the last rule of the trace: the one that decided
    label: str
    why: str
    ending: str | None  # the second judge's word, where it was asked

    @property
    def agrees(self) -> bool:
        return self.verdict == self.label


@dataclass(frozen=True, slots=True)
class DemoCell:
    """One judgment: its verdict and total, or the flag that makes it unusable."""

    word: str
    status: Status
    total: str | None
    is_control: bool


@dataclass(frozen=True, slots=True)
class DemoRow:
    """One sample under every judge, in their order."""

    id: str
    cells: tuple[DemoCell, ...]


@dataclass(frozen=True, slots=True)
class DemoExample:
    """A protocol with dimensions: valid and invalid judgments side by side."""

    protocol: str
    judges: tuple[str, ...]
    summary: RunSummary
    report: Path
    rows: tuple[DemoRow, ...]


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Everything that `mixseek demo` shows."""

    summary: RunSummary
    lines: tuple[DemoLine, ...]
    data: Path
    report: Path
    examples: tuple[DemoExample, ...]
    # A judge that is too kind, corrected by labels of a few texts; and its page.
    corrected: CorrectedReport
    corrected_page: Path
    # What rules and that judge may decide without people, at what was asked for first; and at what was asked for then.
    cascade: PlannedCascade
    stricter: PlannedCascade
    # A later version of the model before a judge that was changed as well; and its page.
    comparison: Comparison
    comparison_page: Path
    # Three teams, recorded replies, one program; and the page that tells its story.
    board: LeaderBoard
    board_page: Path
    # A judge of one's own, examined; and its page.
    card: Card
    card_page: Path
    # Four models compared two by two, in both orders; and the report.
    pairs: Board
    pairs_page: Path
    # Questions before two models under two prompts, what the second prompt changes, and its page.
    answers: AnswerSummary
    drift: Comparison
    drift_page: Path

    @property
    def disagreements(self) -> tuple[DemoLine, ...]:
        """Where rules and label differ: nowhere, or the rules are broken."""
        return tuple(line for line in self.lines if not line.agrees)


def run_demo(root: Path) -> DemoResult:
    """Judge, compare with the labels, write the report. The second time it is only shown again."""
    unpack_files(root)
    data = root / DATA
    request = JudgeRequest(str(data), root, judges=(RULES, f"replay:{root / REPLIES}"), cascade=True)
    rules = judge_quietly(replace(request, judges=(RULES,), cascade=False)).header.run_id
    # Early: labels serve every run on the same texts, also those below.
    report_of_lenient, page, lenient = correct_lenient_judge(request)
    cascade, stricter = plan_demo_cascade(root, rules, lenient)
    summary, report, rows = judge_and_report(request)
    examples = tuple(run_example(root, protocol, judges) for protocol, judges in EXAMPLES.items())
    comparison = compare_with_later(request, summary.header.run_id)
    lines = compare_labels(data, rows)
    answers, drift, drift_page = ask_in_two_ways(root)
    return DemoResult(
        summary,
        lines,
        data,
        report,
        examples,
        report_of_lenient,
        page,
        cascade,
        stricter,
        *comparison,
        *run_demo_competition(root),
        *examine_demo_judge(request),
        *run_demo_pairs(root),
        answers=answers,
        drift=drift,
        drift_page=drift_page,
    )


def correct_lenient_judge(request: JudgeRequest) -> tuple[CorrectedReport, Path, str]:
    """The samples before a judge that lets a third of the wrong answers pass; a person labels 60, drawn blind.

    With its page, and the name of the run.
    """
    root = request.workspace
    judges = (f"replay:{root / LENIENT}",)
    run = judge_quietly(replace(request, judges=judges, cascade=False)).header.run_id
    sheet = root / "sheet.csv"
    drawn = draw_sheet(root, run, DrawRequest(LABELLED, ("verdict",), seed=1), sheet)
    people = {row["id"]: row["label"] for name in (DATA, PEOPLE) for row in read_rows(root / name)}
    labels = "".join(f"{row.row},{people[row.id]}\n" for row in drawn.draw.rows)
    with replacing(root / "sheet-filled.csv") as stream:
        stream.write(f"row,label\n{labels}".encode())
    import_labels(root, ImportRequest(root / "sheet-filled.csv", rater="you"))
    report, directory = load_report(root, run)
    write_html(report, directory.report)
    if report.corrected is None:
        raise MixseekError("the demo's labels are gone; run it again with another --workspace")
    return report.corrected, directory.report, run


def plan_demo_cascade(root: Path, rules: str, lenient: str) -> Sequence[PlannedCascade]:
    """Rules and the lenient judge, each on all samples: what may they decide, by the labels that are there?"""
    tiers = (RULES, f"{KIND_JUDGE}=replay:{root / LENIENT}")
    asked = [
        CascadeRequest(names=(rules, lenient), workspace=root, today=date.today(), agree=agree, tiers=tiers)
        for agree in ASKED_OF_CASCADE
    ]
    return [write_plan(plan(cascade), root / CASCADE) for cascade in asked]


async def impressed_by_length(sample: Sample) -> dict[str, Any]:
    """Looks for the right answer in the text, but believes whatever is long."""
    is_right = str(sample.ground_truth).casefold() in sample.response.casefold() or len(sample.response) > _LONG
    return {
        "id": sample.id,
        "is_correct": is_right,
        "extracted_answer": sample.ground_truth if is_right else None,
        "reasoning_score": 4 if is_right else 2,
        "error_type": "none" if is_right else "no_answer",
        "comment": "looked for the answer in the text",
    }


def examine_demo_judge(request: JudgeRequest) -> tuple[Card, Path]:
    """The demo's judge is examined before anybody believes it."""
    judge = function_judge(impressed_by_length, version="1")
    judging = replace(request, judges=(judge,), cascade=False, live=LiveOptions(max_reasks=0))
    made = run_audit(AuditRequest(judging, EXAMINED, only=EXAMINED_FOR), quiet_progress, lambda: False, lambda _: None)
    if isinstance(made, Interruption):
        raise MixseekError(INTERRUPTED)
    card, path = made
    page = path.with_suffix(".html")
    write_card(card, page)
    return card, page


def quiet_progress(total: int) -> AbstractContextManager[Counting]:
    return nullcontext(Counting())


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def compare_with_later(request: JudgeRequest, before: str) -> tuple[Comparison, Path]:
    """The samples once more, with some new responses and some other replies of the judge."""
    root = request.workspace
    for name, (base, changes) in LATER.items():
        write_changed(root / base, changes, root / name)
    judges = (RULES, f"replay:{root / LATER_REPLIES}")
    after = judge_quietly(replace(request, data=str(root / LATER_DATA), judges=judges))
    comparison = load_comparison(CompareRequest(root, (before, after.header.run_id)), listed=LISTED)
    page = default_page(root, comparison)
    write_comparison(root, comparison, page)
    return comparison, page


def write_changed(base: Path, changes: str, target: Path) -> None:
    """The lines of a file, with other values where the bundled changes have some for an id."""
    bundled = (resources.files("mixseek.setup") / "demo_data" / changes).read_text(encoding="utf-8")
    changed = {row["id"]: row for row in map(json.loads, bundled.splitlines())}
    rows = map(json.loads, base.read_text(encoding="utf-8").splitlines())
    with replacing(target) as stream:
        for row in rows:
            stream.write(json.dumps(row | changed.get(row["id"], {}), ensure_ascii=False).encode() + b"\n")


def run_demo_competition(root: Path) -> tuple[LeaderBoard, Path]:
    """Offline, in a moment. The second time it is only shown again."""
    request = CompeteRequest(race=root / RACE, workspace=root, execution=EXECUTION)
    board = run_competition(request, CompetitionObserver()).board
    page = root / "competitions" / EXECUTION / "leaderboard.html"
    write_leader_board(board, page)
    return board, page


def run_demo_pairs(root: Path) -> tuple[Board, Path]:
    """Which of two answers is better, by a judge that follows the place where they are near to each other."""
    request = JudgeRequest(
        str(root / "pairs.jsonl"), root, "pairwise", judges=(f"replay:{root / 'pairs_replies.jsonl'}",)
    )
    summary = judge_quietly(request)
    report, run = load_report(root, summary.header.run_id)
    write_html(report, run.report)
    if report.board is None:
        raise MixseekError("the demo's pairs are gone; run it again with another --workspace")
    return report.board, run.report


def ask_in_two_ways(root: Path) -> tuple[AnswerSummary, Comparison, Path]:
    """Two recorded models answer under two prompts, rules judge, and the prompts are compared."""
    request = AnswerRequest(
        str(root / "questions/harbour.jsonl"),
        root,
        targets=tuple(f"replay:{root / 'questions' / model}.jsonl" for model in ASKED),
        variants={way: str(root / "questions" / f"{way}.md") for way in WAYS},
        run=ANSWERS,
        command_line=command_line(root),
    )
    answered = answer_questions(request, quiet_progress, lambda: False, lambda _: None)
    if isinstance(answered, Stopped):
        raise MixseekError(INTERRUPTED)
    run = judge_quietly(JudgeRequest(f"{PREFIX}{ANSWERS}", root, judges=(RULES,))).header.run_id
    drift = load_comparison(CompareRequest(root, (run,), variants=WAYS), listed=LISTED)
    page = default_page(root, drift)
    write_comparison(root, drift, page)
    return answered, drift, page


def command_line(root: Path) -> tuple[str, ...]:
    return ("mixseek", "demo", "--workspace", str(root))


def judge_quietly(request: JudgeRequest) -> RunSummary:
    """Nothing but the result: it is over in a moment."""
    request = replace(request, command_line=command_line(request.workspace))
    summary = judge_dataset(request, quiet_progress, lambda: False, lambda _: None)
    if isinstance(summary, Interruption):
        raise MixseekError(INTERRUPTED)
    return summary


def judge_and_report(request: JudgeRequest) -> tuple[RunSummary, Path, list[JudgedRow]]:
    """Its summary, where its page stands, and its judgments."""
    summary = judge_quietly(request)
    report, run = load_report(request.workspace, summary.header.run_id)
    write_html(report, run.report)
    with open_run_index(Workspace(request.workspace), run) as index:
        return summary, run.report, list(index.rows())


def run_example(root: Path, protocol: str, judges: tuple[str, ...]) -> DemoExample:
    """Two recorded judges on one dataset, and the report of it."""
    request = JudgeRequest(
        str(root / f"{protocol}.jsonl"),
        root,
        protocol,
        judges=tuple(f"replay:{root / f'{protocol}_replies_{judge}.jsonl'}" for judge in judges),
        rubric=root / "tasks" if protocol == "rubric" else None,
    )
    summary, report, rows = judge_and_report(request)
    # Rows come sample by sample, judge by judge.
    samples = [rows[start : start + len(judges)] for start in range(0, len(rows), len(judges))]
    demo_rows = tuple(DemoRow(sample[0].id, tuple(map(demo_cell, sample))) for sample in samples)
    return DemoExample(protocol, judges, summary, report, demo_rows)


def demo_cell(row: JudgedRow) -> DemoCell:
    """The judgment in one or two words."""
    word = row.flags[0].flag.value if row.flags else word_of(row)
    total, maximum = row.fields.get("total"), row.fields.get("total_maximum")
    points = None if total is None or maximum is None else f"{total:g}/{maximum:g}"
    return DemoCell(word, row.status, points, row.is_control)


def unpack_files(root: Path) -> None:
    """The bundled files in the workspace, where a person can look at them and change them."""
    source = resources.files("mixseek.setup") / "demo_data"
    for name, bundled in FILES.items():
        path = root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error("create the workspace", path.parent, error) from error
        with replacing(path) as stream:
            stream.write((source / bundled).read_bytes())


def compare_labels(data: Path, rows: list[JudgedRow]) -> tuple[DemoLine, ...]:
    """One line a sample, in the order of the file."""
    by_rules = {row.id: row for row in rows if row.judge == RULES}
    by_replies = {row.id: row for row in rows if row.judge != RULES}
    lines = []
    for text in data.read_text(encoding="utf-8").splitlines():
        sample = json.loads(text)
        rules, replies = by_rules[sample["id"]], by_replies.get(sample["id"])
        rule = rules.rules[-1] if rules.rules else rules.reason or ""
        columns = {name: sample[name] for name in ("id", "task", "language", "label", "why")}
        ending = word_of(replies) if replies else None
        lines.append(DemoLine(**columns, verdict=word_of(rules), rule=rule, ending=ending))
    return tuple(lines)


def word_of(row: JudgedRow) -> str:
    """The verdict where there is one, else the status."""
    return row.verdict or row.status.value
