"""Commands that read what was judged: `mixseek report`, `show`, `export`, `archive`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Option, launch

from mixseek.cli.parsing.options import (
    BaselineOption,
    CutOffOption,
    GateOnOption,
    GithubSummaryOption,
    JsonOption,
    JUnitOption,
    MaxCutOffOption,
    MaxDropOption,
    PanelOption,
    RunArgument,
    SummaryFileOption,
    UndecidedOption,
    WorkspaceOption,
    ci_targets,
    workspace_path,
)
from mixseek.cli.reading.compare import check_baseline, read_drop_gate, with_gates
from mixseek.cli.terminal.console import ExitCode, print_answer, print_notice
from mixseek.domain.documents import DocumentName, with_schema

_RUNS = "A run's name, or `latest`; left out, the only run. Several runs of one protocol are set side by side."
# More do not help anybody who reads; --json has them all.
_PROBLEMS_SHOWN = 50


def report(
    runs: Annotated[list[str] | None, Argument(metavar="[RUN]...", help=_RUNS)] = None,
    workspace: WorkspaceOption = None,
    to: Annotated[
        Path | None,
        Option("--to", "-o", metavar="FILE", help="Where the HTML goes. Default: report.html beside the journal."),
    ] = None,
    open_page: Annotated[bool, Option("--open", help="Open the HTML in the browser.")] = False,
    by: Annotated[
        list[str] | None,
        Option(
            "--by", metavar="COLUMN", help="Break down by a column of the samples, of metadata too; repeat for more."
        ),
    ] = None,
    panel: PanelOption = None,
    cut_off: CutOffOption = None,
    undecided: UndecidedOption = None,
    max_cut_off: MaxCutOffOption = None,
    baseline: BaselineOption = None,
    max_drop: MaxDropOption = None,
    gate_on: GateOnOption = None,
    as_json: JsonOption = False,
    junit: JUnitOption = None,
    github_summary: GithubSummaryOption = False,
    summary_file: SummaryFileOption = None,
) -> ExitCode:
    """Summarise a run here and in one HTML file.

    The file needs no network and no other file, so it can be sent as it is.
    Several runs are set side by side, and averaged only if one protocol judged them; what changed between two of
    them, sample by sample, is what `mixseek compare A B` says.

    \b
    Examples:
      mixseek report latest
      mixseek report bbh-march --to bbh.html --open
      mixseek report bbh-march --json > summary.json
      mixseek report bbh-march --by difficulty --panel unanimous
      mixseek report bbh-march bbh-april
      mixseek report bbh-april --baseline bbh-march --max-drop 2%
      mixseek report bbh-april --junit junit.xml --github-summary
    """
    from mixseek.analysis.run.report import load_report
    from mixseek.domain.counting import read_counting
    from mixseek.presentation.sections import page_section
    from mixseek.reports.documents import report_document
    from mixseek.reports.pages.html import write_html
    from mixseek.reports.run.report import report_sections

    gate = read_drop_gate(max_drop, gate_on, baseline)
    ci = ci_targets(junit, summary_file, github_summary=github_summary)
    asked = read_counting(cut_off, undecided)
    if runs and len(runs) > 1:
        refuse_of_several(to, open_page, by, panel, cut_off, undecided, max_cut_off, baseline, ci)
        return set_side_by_side(runs, workspace_path(workspace), as_json=as_json)
    root = workspace_path(workspace)
    report_data, directory = load_report(root, runs[0] if runs else None, panel, by or (), asked)
    target = to or (None if as_json else directory.report)
    if target is not None:
        write_html(report_data, target)
    document = report_document(report_data, target)
    held = check_baseline(root, directory.name, baseline, gate, panel, asked)
    headline = report_data.headline
    held = with_gates(held, max_cut_off, {None: headline.score.responses} if headline else {})
    document |= held.document
    if ci is not None:
        from mixseek.ci.build_server import run_report, write_ci

        write_ci(ci, [run_report(root, directory.name, held.gates, headline=headline, rule=panel, asked=asked)])
    pages = [page_section(target, "Report")] if target is not None else []
    print_answer(document, lambda: (*report_sections(report_data), *pages), as_json=as_json)
    if open_page and target is not None:
        launch(target.resolve().as_uri())
    return held.tell(as_json=as_json)


def refuse_of_several(*of_one_run: object) -> None:
    """Raises BadParameter for what means something for one run only."""
    if any(value not in (None, False, [], ()) for value in of_one_run):
        message = (
            "these are of one run; leave out --to, --open, --by, --panel, --cut-off, --undecided, --max-cut-off, "
            "--baseline, --junit and summaries"
        )
        raise BadParameter(message, param_hint="'[RUN]...'")


def set_side_by_side(runs: list[str], workspace: Path, *, as_json: bool) -> ExitCode:
    """Several runs beside each other."""
    from mixseek.comparison.side_by_side import compare_runs
    from mixseek.comparison.views.side_by_side import comparison_document, side_by_side_sections

    comparison = compare_runs(workspace, runs)
    document = comparison_document(comparison)
    return print_answer(document, lambda: side_by_side_sections(comparison), as_json=as_json)


def show(
    names: Annotated[
        list[str],
        Argument(metavar="[RUN] ID", help="The sample's id; before it the run, or `latest`, if there are several."),
    ],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Show one sample under every judge.

    The span that decided, the rules in order, the raw reply.

    \b
    Examples:
      mixseek show bbh-march q-17
      mixseek show q-17
      mixseek show latest q-17 --json
      mixseek show answers:spring q-17               every answer to that question
    """
    if len(names) > 2:
        raise BadParameter(f"one run and one id, not {len(names)} names", param_hint="'[RUN] ID'")
    if (answered := show_answers(names, workspace_path(workspace), as_json=as_json)) is not None:
        return answered
    from mixseek.analysis.run.sample_rows import load_sample
    from mixseek.reports.excerpts import cut_row
    from mixseek.reports.run.sample import sample_sections

    rows = load_sample(workspace_path(workspace), names[0] if len(names) == 2 else None, names[-1])
    document = with_schema(DocumentName.SHOW, {"id": rows[0].id, "judgments": [asdict(row) for row in rows]})
    shown = [cut_row(row) for row in rows]
    code = print_answer(document, lambda: sample_sections(shown), as_json=as_json)
    if shown != rows and not as_json:
        print_notice("texts this long are shown in part, responses from their end; --json has them whole")
    return code


def show_answers(names: list[str], workspace: Path, *, as_json: bool) -> ExitCode | None:
    """None where a judged run is meant."""
    from mixseek.runs.answers.kept import find_answers, find_rows
    from mixseek.storage.workspace import Workspace

    answers = find_answers(Workspace(workspace), names[0] if len(names) == 2 else None)
    if answers is None:
        return None
    from mixseek.reports.answers import answer_row_sections

    rows = find_rows(answers, names[-1])
    document = with_schema(DocumentName.SHOW_ANSWERS, {"run": answers.name, "id": names[-1], "answers": rows})
    return print_answer(document, lambda: answer_row_sections(rows), as_json=as_json)


def export(
    run: RunArgument = None,
    *,
    to: Annotated[Path, Option(metavar="FILE", help="The ending decides: .jsonl, .csv or .parquet.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Write a row for each sample and judge.

    Columns: id, judge, take, status, score, verdict, flags and their details, total, scores, fields (JSON),
    what people say, and more. Of answers (`mixseek answer`), a row for each that was asked for.

    \b
    Examples:
      mixseek export latest --to judgments.parquet
      mixseek export bbh-march --workspace ws --to judgments.jsonl
      mixseek export answers:spring --to answers.jsonl
    """
    from mixseek.runs.answers.kept import export_answers, find_answers
    from mixseek.storage.workspace import Workspace
    from mixseek.text.phrases import plural

    kept = Workspace(workspace_path(workspace))
    if (answers := find_answers(kept, run)) is not None:
        name, rows = answers.name, export_answers(kept, answers, to)
    else:
        from mixseek.analysis.run.exported import export_rows

        name, rows = export_rows(kept.root, run, to)
    if as_json:
        document = with_schema(DocumentName.EXPORT, {"run": name, "file": str(to), "rows": rows})
        print_answer(document, "", as_json=True)
    else:
        print_notice(f"mixseek: {plural(rows, 'row')} written to {to}")
    return ExitCode.OK


def archive(
    run: RunArgument = None,
    to: Annotated[
        Path | None, Option(metavar="DIR", help="Where to. Default: `archive` in the run's own directory.")
    ] = None,
    check: Annotated[
        Path | None,
        Option(metavar="DIR", help="Write nothing; read an archive again and say what is wrong with it."),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Write one JSON file for each judgment.

    Valid ones into 有效评测/, invalid ones into 无效评测/ with flags, details and the raw reply; beside them samples,
    the protocol, an index and the run log. Of answers it holds every row, every prompt and how it was asked. An
    archive of the same run is replaced.

    --check reads every file again, also after somebody edited or moved some by hand, and exits 1 if anything is found.

    \b
    Examples:
      mixseek archive latest --to archive/
      mixseek archive answers:spring --to answers/
      mixseek archive --check archive/
    """
    from mixseek.archive.use import archive_run, check_archive
    from mixseek.reports.archives import archived_sections, checked_sections

    if check is None:
        written = archive_run(workspace_path(workspace), run, to)
        return print_answer(written, lambda: archived_sections(written), as_json=as_json)
    if run is not None or to is not None:
        raise BadParameter("takes neither a run nor --to: it only reads", param_hint="'--check'")
    checked = check_archive(check)
    print_answer(checked, lambda: checked_sections(checked, _PROBLEMS_SHOWN), as_json=as_json)
    return ExitCode.OK if checked["ok"] else ExitCode.GATE_NOT_MET
