"""`mixseek audit`: a judge examined like an instrument, before anybody trusts it."""

import itertools
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

from typer import Argument, BadParameter, Option

from mixseek.cli.parsing.old_spellings import note_old
from mixseek.cli.parsing.options import with_options
from mixseek.cli.terminal.console import ExitCode, notify_plainly, print_answer
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.settings.declared import Group
from mixseek.settings.options import AuditCommand

if TYPE_CHECKING:
    from mixseek.audits.plan import AuditRequest


@with_options(AuditCommand)
def audit(
    data: Annotated[str, Argument(metavar="DATA", help="Samples to draw from, as for `mixseek judge`.")],
    judge: Annotated[
        str | None,
        Option(
            "--judge",
            metavar="SPEC",
            help="Whom to examine, as for `mixseek judge`.  [required]",
            rich_help_panel=Group.JUDGES.value,
        ),
    ] = None,
    # The order of the release before: `audit JUDGE --data DATA`.
    old_data: Annotated[str | None, Option("--data", hidden=True)] = None,
    **options: Unpack[AuditCommand],
) -> ExitCode:
    """Examine a judge with controlled variants of the same samples, and write its card.

    Asked twice, padded, reformatted, in another tone, under its own name, with an order to the judge in the text, in
    another language of the rubric, with a planted defect. Each audit has an effect with its interval, and passes, is a
    concern or fails; all are one family. Exit 1 when one fails. The card belongs to this judge and this protocol.

    Interrupted? Run the same command again: it resumes, and asks nothing twice.

    \b
    Examples:
      mixseek audit outputs.jsonl --judge openai:gpt-5-mini --protocol cross --n 100 --dry-run
      mixseek audit outputs.jsonl --judge openai:gpt-5-mini --protocol cross --to card.html --to card.json
      mixseek audit answers.jsonl --judge vllm --only padding --only injection
      mixseek audit outputs.jsonl --judge vllm --protocol pairwise --pairs all --only order
      mixseek audit answers.jsonl --judge vllm --since card-march.json
      mixseek judge outputs.jsonl --protocol cross --judge openai:gpt-5-mini --require-card card.json
    """
    from mixseek.audits.examine import audit_request
    from mixseek.runs.requests.given_options import make_request, several
    from mixseek.settings.load import load_settings

    if old_data is not None and judge is None:
        note_old("audit JUDGE --data DATA", "audit DATA --judge JUDGE")
        data, judge = old_data, data
    if judge is None or old_data not in (None, data):
        raise BadParameter("name the data first, then who is examined: audit DATA --judge SPEC", param_hint="'--judge'")
    to = [Path(path) for path in several(options.get("to", ()))]
    for path in to:
        if path.suffix not in (".html", ".json"):
            raise BadParameter(f"{path}: name a .html or a .json file", param_hint="'--to'")
    settings = load_settings()
    request = make_request(
        data,
        options,
        settings,
        workspace=options.get("workspace", settings.workspace),
        judges=(judge,),
        cascade=False,
        command_line=("mixseek", *sys.argv[1:]),
        environment=os.environ,
    )
    is_dry, quiet, as_json = (bool(options.get(name)) for name in ("dry_run", "quiet", "as_json"))
    return run_order(audit_request(request, options), to, is_dry=is_dry, quiet=quiet, as_json=as_json)


def run_order(request: "AuditRequest", to: Sequence[Path], *, is_dry: bool, quiet: bool, as_json: bool) -> ExitCode:
    """Ask, write, print, decide."""
    from mixseek.audits.examine import forecast_audit, run_audit, write_card
    from mixseek.audits.views import card_sections
    from mixseek.cli.asking.judging import explain_interruption
    from mixseek.cli.terminal.progress import show_progress
    from mixseek.cli.terminal.stopping import stopping_on_signals
    from mixseek.reports.dry_run import dry_run_document, dry_run_sections
    from mixseek.runs.judge import Interruption
    from mixseek.stats.audits import AuditState

    if is_dry:
        dry = forecast_audit(request)
        document = with_schema(DocumentName.AUDIT_DRY_RUN, {"runs": [dry_run_document(forecast) for forecast in dry]})
        return print_answer(
            document, lambda: itertools.chain.from_iterable(map(dry_run_sections, dry)), as_json=as_json
        )
    try:
        with stopping_on_signals(drains=False) as stop:
            made = run_audit(
                request,
                lambda total: stop.draining(show_progress(total, quiet)),
                stop,
                (lambda _: None) if quiet else notify_plainly,
            )
    except KeyboardInterrupt:
        notify_plainly("interrupted; what was judged is kept: run the same command again to go on")
        return ExitCode.INTERRUPTED
    if isinstance(made, Interruption):
        return explain_interruption(made, notify_plainly)
    card, card_path = made
    for path in to:
        write_card(card, path)
    sections = card_sections(card, f"Card  {card_path}")
    print_answer(card.to_document(), lambda: sections, as_json=as_json)
    failed = card.of_state(AuditState.FAIL)
    if failed:
        notify_plainly(f"{card.judge.name} failed {', '.join(finding.title for finding in failed)}")
    return ExitCode.GATE_NOT_MET if failed else ExitCode.OK
