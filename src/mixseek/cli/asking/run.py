"""`mixseek run`: the jobs of a file, one after the other, and which of them went wrong."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from mixseek.cli.parsing.options import JsonOption, Quiet, WorkspaceOption
from mixseek.cli.terminal.console import (
    ExitCode,
    collecting_answers,
    notify_json,
    notify_plainly,
    print_answer,
    print_result,
)
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from mixseek.analysis.run.summary import RunSummary
    from mixseek.ci.build_server import CiTargets
    from mixseek.ci.report import CiReport
    from mixseek.cli.asking.answering import AnswersPart
    from mixseek.cli.asking.job_file import Job, JobFile
    from mixseek.cli.asking.judging import JobPart
    from mixseek.cli.terminal.console import Shown
    from mixseek.presentation.sections import Section

# The worst first: what a script must know before anything else.
BY_GRAVITY = (
    ExitCode.INTERRUPTED,
    ExitCode.INTERNAL,
    ExitCode.USAGE,
    ExitCode.INCOMPLETE,
    ExitCode.GATE_NOT_MET,
    ExitCode.OK,
)
STATES = {
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.INTERNAL: "internal error",
    ExitCode.USAGE: "failed",
    ExitCode.INCOMPLETE: "incomplete",
    ExitCode.GATE_NOT_MET: "gate not met",
    ExitCode.OK: "done",
}
NOT_STARTED = "not started"
_FILE = "The job file; `mixseek init` writes one. Default: the [jobs.NAME] tables of mixseek.toml."


@dataclass(slots=True)
class Outcome:
    """What became of one job; `code` is None for one that was not started."""

    name: str
    code: ExitCode | None = None
    summary: dict[str, Any] | None = None
    steps: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    @property
    def state(self) -> str:
        return NOT_STARTED if self.code is None else STATES[self.code]

    def to_document(self) -> dict[str, Any]:
        parts = {"summary": self.summary, "steps": self.steps, "errors": self.errors}
        return {"name": self.name, "exit_code": self.code, "state": self.state, **parts}


def run(
    file: Annotated[Path | None, Argument(metavar="[JOB.toml]", help=_FILE)] = None,
    names: Annotated[
        list[str] | None, Argument(metavar="[NAME]...", help="Only these jobs of the file. Default: all, in order.")
    ] = None,
    workspace: WorkspaceOption = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Print the calls, tokens and cost to be expected; send nothing.")
    ] = False,
    as_json: JsonOption = False,
    quiet: Quiet = False,
    log_json: Annotated[bool, Option("--log-json", help="Progress and notices on stderr as JSON lines.")] = False,
) -> ExitCode:
    """Run the jobs of a file: judge, take labels in, write reports.

    A key of the file is an option of `mixseek judge` with underscores: data, judge, map, fail_under, baseline, junit.
    Beside them stand labels, report, export and archive: a file, or a table with the options of that command. Keys at
    the top hold for all jobs, a table [jobs.NAME] is one job, [judges.NAME] is a judge as in mixseek.toml. Paths are
    relative to the file. Tables [jobs.NAME] may stand in mixseek.toml as well; then no file has to be named.

    A table [answers] has the options of `mixseek answer` and is asked first; its variants are files, or texts
    ([answers.variants.A] with system, user). Jobs that name no data judge its answers.

    A job that fails does not keep others from running. The exit code is the worst of all: 130 interrupted, 3 internal
    error, 2 usage or input, 4 incomplete, 1 a gate was not met, 0 done. Interrupted? Run the same command again.

    \b
    Examples:
      mixseek run job.toml
      mixseek run job.toml nightly --dry-run
      mixseek run nightly                            a job of mixseek.toml
      mixseek run job.toml --json > jobs.json
    """
    from mixseek.cli.asking.job_file import command_of, find_file, key_of, read_jobs

    # Who carries out, where and how it is told, is the command line's; the workspace may be the file's.
    run_options = frozenset(key_of(parameter) for parameter in command_of(run).params) - {"workspace"}
    file, chosen = find_file(file, names or ())
    jobs = read_jobs(file, chosen, run_options)
    flags = {"--dry-run": dry_run, "--quiet": quiet, "--log-json": log_json, "--json": as_json}
    shared = [f"--workspace={workspace}"] if workspace is not None else []
    shared += [option for option, is_set in flags.items() if is_set]
    runner = JobRunner(jobs, shared, as_json=as_json, quiet=quiet, log_json=log_json)
    asked = runner.ask_first()
    # What is not answered yet cannot be judged, and not even forecast.
    is_ready = asked is None or (asked.code is ExitCode.OK and not dry_run)
    outcomes = runner.run_all() if is_ready else [Outcome(job.name) for job in jobs.jobs]
    if not dry_run:
        runner.write_reports(outcomes)
    return tell_outcomes(file, [*([asked] if asked is not None else []), *outcomes], as_json=as_json)


def tell_outcomes(file: Path, outcomes: Sequence[Outcome], *, as_json: bool) -> ExitCode:
    """Which job went how, where there are several; the exit code is the worst of all."""
    code = worst(outcome.code for outcome in outcomes if outcome.code is not None)
    results = {"file": str(file), "exit_code": code, "jobs": [outcome.to_document() for outcome in outcomes]}
    if as_json or len(outcomes) > 1:
        document = with_schema(DocumentName.JOBS, results)
        print_answer(document, lambda: outcome_sections(outcomes), as_json=as_json)
    return code


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    return min(codes, key=BY_GRAVITY.index)


class JobRunner:
    """One job after the other; what becomes of one of them is not the others' trouble, but Ctrl-C is for all."""

    def __init__(self, file: "JobFile", shared: Sequence[str], *, as_json: bool, quiet: bool, log_json: bool) -> None:
        self._file, self._shared, self._as_json, self._quiet = file, shared, as_json, quiet
        self._notify = notify_json if log_json else notify_plainly
        self._reports: dict[str, list[tuple[CiTargets, CiReport]]] = {job.name: [] for job in file.jobs}

    def ask_first(self) -> Outcome | None:
        """The answers that jobs are about; None where the file asks for none."""
        answers = self._file.answers
        if answers is None:
            return None
        from mixseek.cli.asking.answer import answer
        from mixseek.cli.asking.answering import AnswersPart

        outcome = Outcome("answers")
        part = AnswersPart(self._file.judges, answers.variants)
        code, printed = self._carry_out(answer, with_options(answers.arguments, self._shared), outcome, part)
        for document, shown in printed:
            outcome.summary = document
            if not self._as_json:
                print_answer(document, shown, as_json=False)
        outcome.code = code
        return outcome

    def run_all(self) -> list[Outcome]:
        outcomes = [Outcome(job.name) for job in self._file.jobs]
        for job, outcome in zip(self._file.jobs, outcomes, strict=True):
            if len(outcomes) > 1 and not self._as_json:
                print_result(f"job {job.name}")
            self._run_one(job, outcome)
            if outcome.code is ExitCode.INTERRUPTED:
                break
        return outcomes

    def _run_one(self, job: "Job", outcome: Outcome) -> None:
        from mixseek.cli.asking.judge import judge
        from mixseek.cli.asking.judging import JobPart

        codes: list[ExitCode] = []

        def before_summary(result: "RunSummary") -> "RunSummary":
            for step in job.steps:
                codes.append(self._take_step(step, job, outcome, result))
                result = with_labels(result) if step == "labels" else result
            return result

        from mixseek.labels.intake import with_labels

        part = JobPart(self._file.judges, before_summary, self._reports[job.name])
        code, answers = self._carry_out(judge, with_options(job.arguments, self._shared), outcome, part)
        for document, text in answers:
            outcome.summary = document
            if not self._as_json:
                print_answer(document, text, as_json=False)
        outcome.code = worst([code, *codes])

    def _take_step(self, step: str, job: "Job", outcome: Outcome, result: "RunSummary") -> ExitCode:
        """The command behind the key, about the run that was just judged."""
        from mixseek.cli.asking.job_file import STEPS
        from mixseek.labels.intake import is_drawn_sheet

        run, arguments = result.header.run_id, job.steps[step]
        more = [f"--workspace={result.workspace}", "--json"]
        if step != "labels":
            arguments = (*arguments, run)
        elif not any(text.startswith("--run=") for text in arguments) and not is_drawn_sheet(Path(arguments[-1])):
            more.append(f"--run={run}")
        code, answers = self._carry_out(STEPS[step].function, with_options(arguments, more), outcome, None)
        for document, _ in answers:
            outcome.steps[step] = document
            if not self._quiet:
                self._notify(describe_step(step, document))
        return code

    def _carry_out(
        self,
        function: Callable[..., Any],
        arguments: Sequence[str],
        outcome: Outcome,
        part: "JobPart | AnswersPart | None",
    ) -> "tuple[ExitCode, list[tuple[Any, Shown]]]":
        """The command's exit code and its answers, as on a command line of its own."""
        from mixseek.cli.asking.job_file import command_of
        from mixseek.cli.terminal.failures import end_of

        def tell(line: str) -> None:
            message = line.removeprefix("mixseek: ")
            outcome.errors.append(message)
            self._notify(f"job {outcome.name}: {message}")

        def invoke() -> object:
            command = command_of(function)
            with command.make_context(command.name, list(arguments), obj=part) as context:
                return command.invoke(context)

        with collecting_answers() as answers:
            try:
                code = end_of(invoke, debug="--debug" in sys.argv, tell=tell)
            except KeyboardInterrupt:
                tell("interrupted; what was judged is kept: run the same command again to go on")
                code = ExitCode.INTERRUPTED
        return ExitCode(code), answers

    def write_reports(self, outcomes: Sequence[Outcome]) -> None:
        """Jobs that name one file share it. One that came to no result is told of as an error: CI must not miss it."""
        from mixseek.ci.build_server import CiTargets, write_ci

        by_file: dict[CiTargets, list[CiReport]] = {}
        for job, outcome in zip(self._file.jobs, outcomes, strict=True):
            for targets, report in self._reports[job.name] or failed_reports(job, outcome):
                for part in (CiTargets(junit=targets.junit), replace(targets, junit=None)):
                    if part:
                        by_file.setdefault(part, []).append(replace(report, name=job.name))
        for targets, reports in by_file.items():
            write_ci(targets, reports)


def with_options(arguments: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """The arguments with options before what is positional; of an option that stands twice the last one holds."""
    place = arguments.index("--")
    return (*arguments[:place], *more, *arguments[place:])


def failed_reports(job: "Job", outcome: Outcome) -> "Iterator[tuple[CiTargets, CiReport]]":
    """The reports of a job that ended before it had anything to report."""
    from mixseek.ci.report import CiCase, CiReport
    from mixseek.cli.parsing.options import ci_targets
    from mixseek.errors import ConfigurationError

    typed = dict(text.split("=", 1) for text in job.arguments if text.startswith(("--junit=", "--summary-file=")))
    junit, summary = (Path(typed[name]) if name in typed else None for name in ("--junit", "--summary-file"))
    try:
        targets = ci_targets(junit, summary, github_summary="--github-summary" in job.arguments)
    except ConfigurationError:
        # What the job itself ended with, and has said.
        return
    if targets is not None:
        errors = outcome.errors or [outcome.state]
        case = CiCase(job.name, outcome.state, errors[0], "\n".join(errors[1:]), is_error=True)
        yield targets, CiReport(job.name, cases=[case], worst=[case], is_failed=True)


def describe_step(step: str, document: dict[str, Any]) -> str:
    """One line about what was written or taken in."""
    if step == "labels":
        from mixseek.labels.views import import_sentence

        return import_sentence(document)
    place = next((document[key] for key in ("html", "file", "archive", "directory") if document.get(key)), None)
    return f"{step} written" + (f" to {place}" if place else "")


def outcome_sections(outcomes: Sequence[Outcome]) -> "Iterator[Section]":
    """Which job went how."""
    from mixseek.presentation.sections import GAP, Section, TableRows
    from mixseek.reports.wording.numbers import percent

    rows = []
    for outcome in outcomes:
        summary = outcome.summary or {}
        mean = summary.get("mean_score")
        error = outcome.errors[0] if outcome.errors else ""
        rows.append([outcome.name, outcome.state, "" if mean is None else percent(mean), summary.get("run", ""), error])
    yield Section(None, [GAP, TableRows(("|job", "|state", ">score", "run", "error"), rows)])
