"""The demo: bundled samples judged offline under every protocol, with recorded replies that are good and bad."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from mixseek.composition.compete import run_competition
from mixseek.composition.judge import Interruption, judge_dataset
from mixseek.composition.leaderboards import write_leader_board
from mixseek.composition.race import CompeteRequest
from mixseek.composition.report import load_report, write_html
from mixseek.composition.request import RULES, JudgeRequest
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.ports import ProgressSink
from mixseek.engine.executor import NoProgress
from mixseek.errors import MixseekError
from mixseek.reporting.leaderboard import LeaderBoard
from mixseek.reporting.summary import RunSummary
from mixseek.round_controller.controller import watch_nothing
from mixseek.storage.durable import replacing, storage_error
from mixseek.storage.index.run import open_run_index
from mixseek.storage.workspace import Workspace

# The demo's competition: three teams, recorded replies, one program, and a board.

DIRECTORY = "competition"
COMPETITION_FILES = ("race.toml", "replies.jsonl")
EXECUTION = "salty-sea"


@dataclass(frozen=True, slots=True)
class DemoCompetition:
    """The board, the race that made it, and the page that tells its story."""

    board: LeaderBoard
    race: Path
    page: Path


def run_demo_competition(root: Path) -> DemoCompetition:
    """Offline, in a moment. The second time it is only shown again."""
    race = unpack_race(root)
    request = CompeteRequest(race=race, workspace=root, execution=EXECUTION)
    board = run_competition(request, watch_nothing, stop=lambda: False, notify=lambda _: None).board
    page = root / "competitions" / EXECUTION / "leaderboard.html"
    write_leader_board(board, page)
    return DemoCompetition(board, race, page)


def unpack_race(root: Path) -> Path:
    """The bundled files in the workspace, where a person can look at them and change them."""
    source = resources.files("mixseek.composition") / "demo_data" / DIRECTORY
    target = root / DIRECTORY
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("create the workspace", target, error) from error
    for name in COMPETITION_FILES:
        with replacing(target / name) as stream:
            stream.write((source / name).read_bytes())
    return target / COMPETITION_FILES[0]


# Name in the workspace to name in the package: people look at the first and run commands on it.
FILES = {"demo.jsonl": "semantic.jsonl", "replies.jsonl": "semantic_replies.jsonl"}
EXAMPLE_FILES = (
    *("cross.jsonl", "cross_replies_aster-1.jsonl", "cross_replies_cedar-7.jsonl"),
    *("rubric.jsonl", "rubric_replies_kiri-judge.jsonl", "rubric_replies_sumi-judge.jsonl"),
    *("tasks/lighthouse-facts.md", "tasks/rain-letter.md", "tasks/slow-city.md"),
)
# Protocol to the judges whose replies were recorded.
EXAMPLES = {"rubric": ("kiri-judge", "sumi-judge"), "cross": ("aster-1", "cedar-7")}


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
    data: Path
    report: Path
    rows: tuple[DemoRow, ...]


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Everything that `mixseek demo` shows."""

    summary: RunSummary
    lines: tuple[DemoLine, ...]
    data: Path
    report: Path
    examples: tuple[DemoExample, ...] = ()
    competition: DemoCompetition | None = None

    @property
    def disagreements(self) -> tuple[DemoLine, ...]:
        """Where rules and label differ: nowhere, or the rules are broken."""
        return tuple(line for line in self.lines if not line.agrees)


def run_demo(root: Path) -> DemoResult:
    """Judge, compare with the labels, write the report. The second time it is only shown again."""
    data, replies = unpack_files(root)
    request = JudgeRequest(
        data=str(data),
        workspace=root,
        judges=(RULES, f"replay:{replies}"),
        cascade=True,
        command_line=("mixseek", "demo", "--workspace", str(root)),
    )
    summary = judge_quietly(request)
    report, run = load_report(root, summary.header.run_id)
    write_html(report, run.report)
    with open_run_index(Workspace(root), run) as index:
        lines = compare_labels(data, list(index.rows()))
    examples = tuple(run_example(root, protocol, judges) for protocol, judges in EXAMPLES.items())
    return DemoResult(summary, lines, data, run.report, examples, run_demo_competition(root))


def judge_quietly(request: JudgeRequest) -> RunSummary:
    """Nothing but the result: it is over in a moment."""
    summary = judge_dataset(request, without_progress, stop=lambda: False, notify=lambda _: None)
    if isinstance(summary, Interruption):
        raise MixseekError("the demo was interrupted; run it again")
    return summary


def run_example(root: Path, protocol: str, judges: tuple[str, ...]) -> DemoExample:
    """Two recorded judges on one dataset, and the report of it."""
    data = root / f"{protocol}.jsonl"
    request = JudgeRequest(
        data=str(data),
        workspace=root,
        protocol=protocol,
        judges=tuple(f"replay:{root / f'{protocol}_replies_{judge}.jsonl'}" for judge in judges),
        rubric=root / "tasks" if protocol == "rubric" else None,
        command_line=("mixseek", "demo", "--workspace", str(root)),
    )
    summary = judge_quietly(request)
    report, run = load_report(root, summary.header.run_id)
    write_html(report, run.report)
    with open_run_index(Workspace(root), run) as index:
        rows = example_rows(index.rows(), len(judges))
    return DemoExample(protocol, judges, summary, data, run.report, rows)


def example_rows(rows: Iterable[JudgedRow], judges: int) -> tuple[DemoRow, ...]:
    """Rows come sample by sample, judge by judge."""
    cells = [(row.id, demo_cell(row)) for row in rows]
    return tuple(
        DemoRow(cells[start][0], tuple(cell for _, cell in cells[start : start + judges]))
        for start in range(0, len(cells), judges)
    )


def demo_cell(row: JudgedRow) -> DemoCell:
    """In one or two words."""
    word = row.flags[0].flag.value if row.flags else word_of(row)
    total, maximum = row.fields.get("total"), row.fields.get("total_maximum")
    told = None if total is None or maximum is None else f"{total:g}/{maximum:g}"
    return DemoCell(word, row.status, told, row.is_control)


@contextmanager
def without_progress(total: int) -> Iterator[ProgressSink]:
    """It is over in a moment."""
    yield NoProgress()


def unpack_files(root: Path) -> tuple[Path, Path]:
    """The bundled files in the workspace, where a person can look at them."""
    source = resources.files("mixseek.composition") / "demo_data"
    for name, bundled in {**FILES, **{name: name for name in EXAMPLE_FILES}}.items():
        make_parent(root / name)
        with replacing(root / name) as stream:
            stream.write((source / bundled).read_bytes())
    data, replies = (root / name for name in FILES)
    return data, replies


def make_parent(path: Path) -> None:
    """The directory that a bundled file goes to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("create the workspace", path.parent, error) from error


def compare_labels(data: Path, rows: list[JudgedRow]) -> tuple[DemoLine, ...]:
    """One line a sample, in the order of the file."""
    by_rules = {row.id: row for row in rows if row.judge == RULES}
    by_replies = {row.id: row for row in rows if row.judge != RULES}
    lines = []
    for text in data.read_text(encoding="utf-8").splitlines():
        sample = json.loads(text)
        rules, replies = by_rules[sample["id"]], by_replies.get(sample["id"])
        lines.append(
            DemoLine(
                id=sample["id"],
                task=sample["task"],
                language=sample["language"],
                verdict=word_of(rules),
                rule=rules.rules[-1] if rules.rules else rules.reason or "",
                label=sample["label"],
                why=sample["why"],
                ending=word_of(replies) if replies else None,
            )
        )
    return tuple(lines)


def word_of(row: JudgedRow) -> str:
    """The verdict where there is one, else the status."""
    return row.verdict or row.status.value
