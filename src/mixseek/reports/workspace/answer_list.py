"""The list of answer runs that a workspace holds, as sections and for programs."""

from collections.abc import Iterator, Sequence

from mixseek.presentation.sections import QUIET, Cell, Head, Section, TableRows, Words
from mixseek.reports.wording.names import moment_text
from mixseek.reports.wording.numbers import NOTHING
from mixseek.runs.answers.listed import AnswerLine

_WIDE = 110


def answer_list_sections(lines: Sequence[AnswerLine]) -> Iterator[Section]:
    """A line each; `judge answers:NAME` takes the name."""
    heads = (
        *(Head("|answers", "answers"), Head("questions"), Head("targets", "targets"), Head("variants")),
        *(">planned", ">answered", ">cut off", ">without", Head("|started")),
    )
    yield Section(None, [TableRows(heads, [list(cells_of(line)) for line in lines], wide=_WIDE)])


def cells_of(line: AnswerLine) -> Iterator[Cell]:
    """What there is; a dash where nobody has counted yet."""
    state = "" if line.is_complete else " (running)" if line.is_running else " (incomplete, resumable)"
    yield Words([line.name, *([(state, "yellow")] if state and line.problem is None else [])])
    yield line.questions
    yield ", ".join(line.targets) if line.problem is None else line.problem
    yield ", ".join(line.variants)
    yield f"{line.planned:,}"
    for count in (line.answered, line.cut_off, line.without_answer):
        yield NOTHING if count is None else f"{count:,}"
    yield moment_text(line.started_at) or NOTHING, QUIET
