"""What a terminal shows of a run of each protocol is what it showed before: one way to word and draw it, and no other.

`python -m tests.flows.test_terminal_texts` writes the texts anew; whoever does so reads the difference first.
"""

import io
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from tests.flows.document_material import WORKSPACE, first_sample, make_runs, place_of_runs

from mixseek.analysis.run.report import load_report
from mixseek.analysis.run.sample_rows import load_sample
from mixseek.presentation.render.terminal import print_sections
from mixseek.presentation.sections import Section
from mixseek.reports.run.report import report_sections
from mixseek.reports.run.sample import sample_sections

GOLDEN = Path(__file__).parents[1] / "golden" / "terminal"
RUNS = (
    *("sem-panel", "sem-broken", "sem-cascade", "sem-targets", "cross-panel", "cross-broken"),
    *("rubric-panel", "rubric-one", "pairs-panel", "own-panel"),
)
WIDTHS = (80, 140)
# When it was judged, and the digest of the protocol, which names the rules of the day.
_VOLATILE = re.compile(r"\[[0-9a-f]{8}\]|\d{4}-\d\d-\d\d \d\d:\d\d UTC")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return place_of_runs(tmp_path_factory)


def text_of(sections: tuple[Section, ...], width: int) -> str:
    page = io.StringIO()
    print_sections(sections, Console(file=page, width=width))
    return _VOLATILE.sub("…", page.getvalue())


def texts(place: Path, run: str) -> Iterator[tuple[str, str]]:
    report, _ = load_report(place / WORKSPACE, run, None, ())
    sections = tuple(report_sections(report))
    for width in WIDTHS:
        yield f"{run}-{width}", text_of(sections, width)
    rows = load_sample(place / WORKSPACE, run, first_sample(place, run))
    yield f"{run}-sample", text_of(tuple(sample_sections(rows)), WIDTHS[0])


@pytest.mark.parametrize("run", RUNS)
def test_a_terminal_shows_what_it_showed(place: Path, run: str) -> None:
    for name, text in texts(place, run):
        assert text.splitlines() == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8").splitlines(), name


def freeze() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        make_runs(place)
        for run in RUNS:
            for file, text in texts(place, run):
                (GOLDEN / f"{file}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    freeze()
