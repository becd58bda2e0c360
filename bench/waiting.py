"""Where a person waits: start-up, reports, live judges, as ratios held against those of the last release.

`python -m bench.waiting [NAME]...` alone, or as a part of `make bench`. Exit code 1 where a ratio has grown by more
than 15 %: CPU seconds of a shared machine are noisy, ratios taken in the same minutes much less so.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import live
from bench.responses import synthetic_rows

FIGURES = Path(__file__).with_name("figures.toml")
# More than this factor above the last release is a defect.
MOST_GROWTH = 1.15
ROUNDS = 5
SMALL, LARGE, LIVE = 50, 100_000, 15_000
# The least that a command line of typer's can be: two commands, of which one prints a word. None of it is ours.
_TYPER_ALONE = """
import typer
app = typer.Typer(rich_markup_mode=None)
app.command("other")(lambda: None)
@app.command()
def word(count: int = 1, json: bool = False) -> None:
    print("word")
app(["word"])
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A ratio as it was: when the work on it began, at the last release, and what it should become."""

    of: str
    before: float
    aim: float
    last: float


def read_figures(path: Path = FIGURES) -> dict[str, Figure]:
    with path.open("rb") as stream:
        return {name: Figure(**table) for name, table in tomllib.load(stream).items()}


def has_grown(figure: Figure, now: float) -> bool:
    """By more than noise and a small change explain."""
    return now > figure.last * MOST_GROWTH


def describe(name: str, figure: Figure, now: float) -> str:
    """One line: the ratio now, those before, and whether that is too much."""
    verdict = "GROWN by more than 15 %" if has_grown(figure, now) else "met" if now <= figure.aim else "not met yet"
    past = f"last release {figure.last:.2f}, before {figure.before:.2f}, aim {figure.aim:.2f}"
    return f"{name}: {now:.2f} ({past}): {verdict}\n  {figure.of}"


def main(names: Sequence[str] = ()) -> int:
    """Print every ratio; 1 where one has grown too much, else 0."""
    figures = read_figures()
    wanted = [name for name in figures if not names or name in names]
    measured: dict[str, float] = {}
    for part, measure in PARTS.items():
        if any(name in part for name in wanted):
            measured |= measure()
    for name in wanted:
        print(describe(name, figures[name], measured[name]))
    return int(any(has_grown(figures[name], measured[name]) for name in wanted))


def small_commands() -> Mapping[str, float]:
    """What every command costs before it does anything, and a report of a few rows."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        judge_rows(place, SMALL)
        empty = [live.MIXSEEK, "runs", "--workspace", str(place / "empty")]
        report = [live.MIXSEEK, "report", "bench", "--workspace", str(place / "ws")]
        bare_command, typer_alone = ([sys.executable, "-c", code] for code in ("pass", _TYPER_ALONE))
        bare, typer, start, whole = least_cpu([bare_command, typer_alone, empty, report])
    print(f"a typer command that prints one word: {typer / bare:.1f} times the CPU of a bare interpreter")
    return {"start_up": start / bare, "report_small": whole / bare}


def large_report() -> Mapping[str, float]:
    """All judgments in one page, against all judgments in one table."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        judge_rows(place, LARGE)
        report = [live.MIXSEEK, "report", "bench", "--workspace", str(place / "ws")]
        export = [live.MIXSEEK, "export", "bench", "--workspace", str(place / "ws"), "--to", str(place / "x.parquet")]
        page, table = least_cpu([report, export], rounds=2)
    return {"report_large": page / table}


def live_judges() -> Mapping[str, float]:
    """Ours and the bare loop, one after the other, twice; the better of each."""
    with tempfile.TemporaryDirectory() as folder, live.mock_judge(live.LATENCY_SECONDS) as base_url:
        place = Path(folder)
        data = live.write_dataset(place / "rows.jsonl", LIVE)
        floors, ours = [], []
        for number in range(2):
            floor = live.peer("aiohttp", base_url, data)
            assert floor is not None, "aiohttp is part of the core"
            floors.append(floor)
            # A workspace each: a second run must not find the replies of the first.
            ours.append(live.measure(live.asking_command(place / str(number), data, base_url, "bench")))
    return {
        "live_cpu": min(run.cpu_seconds for run in ours) / min(floor["cpu_seconds"] for floor in floors),
        "live_time": min(run.wall_seconds for run in ours) / min(floor["seconds"] for floor in floors),
    }


PARTS: Mapping[tuple[str, ...], Callable[[], Mapping[str, float]]] = {
    ("start_up", "report_small"): small_commands,
    ("report_large",): large_report,
    ("live_cpu", "live_time"): live_judges,
}


def judge_rows(place: Path, count: int) -> None:
    """A run called `bench`, indexed, so that what is measured is reading it."""
    data = place / "rows.jsonl"
    with data.open("w", encoding="utf-8") as sink:
        sink.writelines(json.dumps(row) + "\n" for row in synthetic_rows(count))
    where = ["--workspace", str(place / "ws")]
    run([live.MIXSEEK, "judge", str(data), "--judge", "rules", "--run", "bench", "--quiet", *where])
    run([live.MIXSEEK, "runs", *where])


def least_cpu(commands: Sequence[Sequence[str]], rounds: int = ROUNDS) -> list[float]:
    """CPU seconds of each, in turns, children included; the least, because noise only ever adds."""
    spent = [[cpu_seconds(command) for command in commands] for _ in range(rounds)]
    return [min(column) for column in zip(*spent, strict=True)]


def cpu_seconds(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(command: Sequence[str]) -> None:
    """With bytecode that is kept, as where mixseek is installed: else every start compiles our source anew."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
