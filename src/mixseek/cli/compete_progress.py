"""Teams at work, on stderr: a line each that changes on a terminal, a line for each score elsewhere."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mixseek.cli.notices import notify_plainly
from mixseek.reporting.visible import make_visible
from mixseek.round_controller.events import NoWatcher, Stage, TeamEvent, Watcher


def one_line(text: str) -> str:
    """What others wrote, without what would break a line or hide in it."""
    return make_visible(" ".join(text.split()))


def score_text(score: float | None) -> str:
    return "no score" if score is None else f"{score:.2f}"


@dataclass
class LineWatcher:
    """For logs: what was stored, and nothing that is only under way."""

    def told(self, event: TeamEvent) -> None:
        name = one_line(event.team_name)
        if event.stage is Stage.SCORED:
            said = event.text or score_text(event.score)
            notify_plainly(f"{name}: round {event.round_number}: {one_line(said)}")
        elif event.stage is Stage.ENDED:
            notify_plainly(f"{name}: ended after {event.round_number} rounds ({one_line(event.text)})")


@dataclass
class BarWatcher:
    """For a person: a line for each team, drawn by rich."""

    bar: Any  # rich.progress.Progress; rich is imported only when it draws
    tasks: dict[str, Any] = field(default_factory=dict)
    best: dict[str, float] = field(default_factory=dict)

    def told(self, event: TeamEvent) -> None:
        if event.score is not None:
            self.best[event.team_id] = max(event.score, self.best.get(event.team_id, 0.0))
        best = self.best.get(event.team_id)
        text = event.text if event.stage is Stage.ENDED and event.text else event.stage.value
        shown = {
            "team": one_line(event.team_name),
            "round": f"round {event.round_number}" if event.round_number else "",
            "best": "" if best is None else f"best {best:.2f}",
            "text": one_line(text)[:60],
        }
        if event.team_id in self.tasks:
            self.bar.update(self.tasks[event.team_id], **shown)
        else:
            self.tasks[event.team_id] = self.bar.add_task("", total=None, **shown)


@contextlib.contextmanager
def show_teams(quiet: bool) -> Iterator[Watcher]:
    """The watcher that fits where stderr goes."""
    if quiet:
        yield NoWatcher()
        return
    if not sys.stderr.isatty():
        yield LineWatcher()
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    columns = [TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in ("team", "round", "best", "text")]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield BarWatcher(bar)
