"""`mixseek.answer` and `mixseek.aanswer`: questions before targets, without a terminal."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Unpack

from mixseek.api.options import (
    Data,
    KeptAnswers,
    TemporaryWorkspace,
    await_stopping,
    check_options,
    in_thread,
    name_judge,
    refuse_batches_nobody_keeps,
    signature_of,
    wait_for,
)
from mixseek.api.progress import choose_progress
from mixseek.api.words import in_python_words, without_flags
from mixseek.datasets.memory import IN_MEMORY, keep_rows
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.answers import answers_document
from mixseek.runs.answers.given import make_answer_request
from mixseek.runs.answers.kept import export_answers, rows_of
from mixseek.runs.answers.request import AnswerRequest
from mixseek.runs.answers.run import Stopped, answer_questions
from mixseek.runs.answers.summary import AnswerSummary, summarise_answers
from mixseek.runs.requests.given_options import several
from mixseek.settings.load import load_settings
from mixseek.settings.options import AnswerOptions
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import Workspace

# Sentences that the command line writes to stderr; nobody sees them unless logging is set up.
logger = logging.getLogger("mixseek")


class Answers:
    """What `mixseek.answer` gives. Iterating over it gives a row for each answer that was asked for, as a dict.

    `mixseek.judge` takes it where it takes data.

    >>> import mixseek
    >>> def parrot(sample):
    ...     return f"You ask: {sample.question}"
    >>> answers = mixseek.answer([{"id": "1", "question": "Is it late?"}], targets=parrot, progress=False)
    >>> answers
    <Answers data-answers-...: 1 of 1 answer, complete>
    >>> [(row["id"], row["response"]) for row in answers]
    [('1/parrot/plain/1', 'You ask: Is it late?')]
    """

    def __init__(
        self, summary: AnswerSummary, temporary: TemporaryWorkspace | None = None, reason: str | None = None
    ) -> None:
        self.summary = summary
        """Every number: how answers ended by target and variant, calls and cost."""
        self.reason = reason
        """Why it stopped before everything was asked; None where it did not."""
        # Held, because it goes when nobody holds it.
        self._temporary = temporary

    @property
    def name(self) -> str:
        """Its name; `mixseek judge answers:NAME` knows it, where it is kept in a workspace."""
        return self.summary.run.name

    @property
    def workspace(self) -> Path:
        """Where its files are; answers in memory have them in a directory that goes with this object."""
        return self.summary.run.workspace

    @property
    def kept(self) -> KeptAnswers:
        """Where `mixseek.judge` finds them."""
        return KeptAnswers(self.name, self.workspace, self._temporary)

    @property
    def ok(self) -> bool:
        """Nothing is left that asking again could bring."""
        return self.summary.is_complete and self.reason is None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return rows_of(self.summary.run)

    def __len__(self) -> int:
        return self.summary.planned

    def document(self) -> dict[str, Any]:
        """What `mixseek answer --json` prints."""
        return answers_document(self.summary)

    @in_python_words()
    def export(self, path: str | Path) -> int:
        """Writes .jsonl, .csv or .parquet; returns the number of rows."""
        return export_answers(Workspace(self.workspace), self.summary.run, Path(path))

    def __repr__(self) -> str:
        planned, came = self.summary.planned, self.summary.planned - self.summary.open
        noun = "answer" if planned == 1 else "answers"
        return f"<Answers {self.name}: {came:,} of {planned:,} {noun}, {self.summary.state.value}>"


@dataclass(frozen=True, slots=True)
class AnswerOrder:
    """A request, and how it is told."""

    request: AnswerRequest
    shows_progress: bool
    # None where the answers are kept in a workspace of the user's.
    temporary: TemporaryWorkspace | None
    notices: list[str] = field(default_factory=list)

    def tell(self, sentence: str) -> None:
        """Tells whoever listens to the log, and keeps it with the answers."""
        sentence = without_flags(sentence)
        self.notices.append(sentence)
        logger.info(sentence)


def answer(questions: Data, **options: Unpack[AnswerOptions]) -> Answers:
    """Ask targets for answers, and give these: the same engine and the same files as `mixseek answer`.

    `questions` is a path, a list of dicts, a generator of them, or a table. Options are those of the command;
    `AnswerOptions` lists them. Without `workspace` nothing is left behind. Answers that are missing do not raise:
    `answers.ok` is False, and in a workspace the same call asks for them again.

    >>> import mixseek
    >>> questions = [{"id": "1", "question": "2 + 2?", "ground_truth": "4"}]
    >>> variants = {"A": {"user": "{{ question }} Be brief."}, "B": {"user": "{{ question }} Think."}}
    >>> answers = mixseek.answer(questions, targets=lambda sample: "It is 4.", variants=variants, progress=False)
    >>> run = mixseek.judge(answers, judges="rules", progress=False)
    >>> [(one.sample.prompt_variant, one.verdict) for one in run]
    [('A', 'correct'), ('B', 'correct')]
    """
    with in_python_words():
        order = make_order(questions, dict(options))
        stop = threading.Event()
        work = in_thread(lambda: carry_out(order, stop.is_set))
        return wait_for(work, stop, order.tell)


async def aanswer(questions: Data, **options: Unpack[AnswerOptions]) -> Answers:
    """`answer`, awaited: the event loop goes on meanwhile. Cancelled, it stops after what is in flight.

    >>> import asyncio, mixseek
    >>> asked = mixseek.aanswer([{"question": "2 + 2?"}], targets=lambda sample: "4", progress=False)
    >>> asyncio.run(asked).ok
    True
    """
    with in_python_words():
        order = await asyncio.to_thread(make_order, questions, dict(options))
        stop = threading.Event()
        return await await_stopping(in_thread(lambda: carry_out(order, stop.is_set)), stop)


# By name, because a checker knows no such attribute of a function; the typed options above are what it goes by.
for _function in (answer, aanswer):
    setattr(  # noqa: B010 - see above
        _function, "__signature__", signature_of(AnswerOptions, "questions").replace(return_annotation=Answers)
    )


def make_order(questions: Data, options: Mapping[str, Any]) -> AnswerOrder:
    """Raises MixseekError for whatever cannot work; rows in memory are copied, and a generator is used up."""
    given = check_options(options, AnswerOptions, "answer")
    settings = load_settings()
    temporary = None if "workspace" in given else TemporaryWorkspace()
    root = Path(given["workspace"]) if temporary is None else temporary.path
    is_file = isinstance(questions, str | os.PathLike)
    request = make_answer_request(
        str(questions) if is_file else str(keep_rows(questions, Workspace(root).spool)),
        given,
        settings,
        data_name=None if is_file else IN_MEMORY,
        workspace=root,
        targets=tuple(map(name_judge, several(given.get("targets", ())))),
        command_line=("mixseek.answer",),
        keeps_empty_run=True,
        environment=os.environ,
    )
    if temporary is not None:
        refuse_batches_nobody_keeps(request.live.batches, request.targets, request.configured)
    return AnswerOrder(request, given.get("progress", True), temporary)


def carry_out(order: AnswerOrder, stop: Callable[[], bool]) -> Answers:
    """The answers; those that nobody will get leave nothing behind."""
    try:
        result = answer_questions(
            order.request, lambda total: choose_progress(total, shows=order.shows_progress), stop, order.tell
        )
        if not isinstance(result, Stopped):
            return Answers(replace(result, notices=tuple(order.notices)), order.temporary)
        return stopped_answers(order, result)
    except BaseException:
        if order.temporary is not None:
            order.temporary.remove()
        raise


def stopped_answers(order: AnswerOrder, stopped: Stopped) -> Answers:
    """What there is of answers that came to their end before their plan did."""
    reason = stopped.interruption.reason
    if reason is None:
        raise KeyboardInterrupt("interrupted: what was answered is kept in a workspace")
    run = Workspace(order.request.workspace).answers(stopped.interruption.run)
    held = stopped.summary or summarise_answers(run, read_manifest(run.manifest))
    return Answers(replace(held, notices=tuple(order.notices)), order.temporary, reason)
