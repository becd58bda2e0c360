"""`mixseek audit`: a judge examined like an instrument, before anybody trusts it."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Option

from mixseek.cli.console import ExitCode, notify_plainly, print_answer
from mixseek.cli.options import JsonOption, MaxCalls, MaxCost, Quiet, WorkspaceOption, parse_mapping, parse_parameters
from mixseek.domain.documents import DocumentName, with_schema

if TYPE_CHECKING:
    from mixseek.audits.plan import AuditRequest

_ONLY = (
    "Only these audits; repeat for more: retest, order, padding, format, tone, name, own, injection, language, "
    "implant, lenient, drift, rescaled. Default: all that apply."
)
_OUT = "Write the card to this file too: a page (.html), or what --require-card reads (.json)."


def audit(
    judge: Annotated[str, Argument(metavar="JUDGE", help="What may stand after --judge of `mixseek judge`.")],
    data: Annotated[str, Option("--data", metavar="DATA", help="Samples to draw from, as for `mixseek judge`.")],
    protocol: Annotated[
        str | None, Option(metavar="NAME|FILE", help="What is asked: a built-in, or a .toml file. Default: semantic.")
    ] = None,
    pairs: Annotated[
        str | None, Option(metavar="all|baseline:MODEL|N", help="Make pairs of single outputs, as for `mixseek judge`.")
    ] = None,
    items: Annotated[int, Option("--n", metavar="N", min=1, help="Draw so many samples.")] = 100,
    seed: Annotated[int, Option(metavar="N", help="Of the pairs, of the draw and of every change.")] = 0,
    only: Annotated[list[str] | None, Option(metavar="AUDIT", help=_ONLY)] = None,
    since: Annotated[
        Path | None,
        Option(
            metavar="CARD",
            help="An earlier card of this judge: ask again, and look for drift. A later look needs a --run.",
        ),
    ] = None,
    own_name: Annotated[
        str | None,
        Option(metavar="MODEL", help="The model that judges, where JUDGE does not say it: whose name it may favour."),
    ] = None,
    out: Annotated[list[Path] | None, Option(metavar="FILE", help=_OUT)] = None,
    workspace: WorkspaceOption = None,
    run: Annotated[
        str | None, Option(metavar="NAME", help="Name of the run. Default: the same for the same request.")
    ] = None,
    language: Annotated[
        str | None, Option(metavar="en|ja|zh", help="Language of the prompt. Default: the protocol's own.")
    ] = None,
    mapping: Annotated[
        list[str] | None, Option("--map", metavar="FIELD=COLUMN", help="Where a field stands in DATA.")
    ] = None,
    rubric: Annotated[
        Path | None, Option(metavar="DIR|FILE", help="Task rubrics in Markdown, as for `mixseek judge`.")
    ] = None,
    parameters: Annotated[
        list[str] | None, Option("--parameter", metavar="KEY=VALUE", help="Replace a parameter of the protocol.")
    ] = None,
    concurrency: Annotated[int, Option(metavar="N", min=1, max=4096, help="Calls at once, at most.")] = 32,
    max_calls: MaxCalls = None,
    max_cost: MaxCost = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Print the calls, tokens and cost to be expected; send nothing.")
    ] = False,
    quiet: Quiet = False,
    as_json: JsonOption = False,
) -> ExitCode:
    """Examine a judge with controlled variants of the same samples, and write its card.

    Asked twice, padded, reformatted, in another tone, under its own name, with an order to the judge in the text, in
    another language of the rubric, with a planted defect. Each audit has an effect with its interval, and passes, is a
    concern or fails; all are one family. Exit 1 when one fails. The card belongs to this judge and this protocol.

    Interrupted? Run the same command again: it resumes, and asks nothing twice.

    \b
    Examples:
      mixseek audit openai:gpt-5-mini --protocol cross --data outputs.jsonl --n 100 --dry-run
      mixseek audit openai:gpt-5-mini --protocol cross --data outputs.jsonl --out card.html --out card.json
      mixseek audit vllm --data answers.jsonl --only padding --only injection
      mixseek audit vllm --protocol pairwise --pairs all --data outputs.jsonl --only order
      mixseek audit vllm --data answers.jsonl --since card-march.json
      mixseek judge outputs.jsonl --protocol cross --judge openai:gpt-5-mini --require-card card.json
    """
    from mixseek.audits.examine import read_audits
    from mixseek.audits.plan import AuditRequest
    from mixseek.runs.request import JudgeRequest, LiveOptions
    from mixseek.settings.load import load_settings

    for path in out or ():
        if path.suffix not in (".html", ".json"):
            raise BadParameter(f"{path}: name a .html or a .json file", param_hint="'--out'")
    settings = load_settings()
    request = AuditRequest(
        JudgeRequest(
            data=data,
            workspace=workspace or settings.workspace,
            protocol=protocol or settings.judge.protocol,
            language=language or settings.judge.language,
            judges=(judge,),
            run=run,
            mapping=parse_mapping(mapping or []),
            command_line=("mixseek", *sys.argv[1:]),
            live=LiveOptions(concurrency=concurrency, max_calls=max_calls, max_cost_usd=max_cost),
            configured=settings.judges,
            longest_line=settings.judge.longest_line,
            parameters=parse_parameters(parameters or []),
            pairs=pairs,
            seed=seed,
            rubric=rubric,
            environment=os.environ,
        ),
        items=items,
        seed=seed,
        only=read_audits(only or ()),
        since=since,
        own_name=own_name,
    )
    return run_order(request, out or (), is_dry=dry_run, quiet=quiet, as_json=as_json)


def run_order(request: "AuditRequest", out: Sequence[Path], *, is_dry: bool, quiet: bool, as_json: bool) -> ExitCode:
    """Ask, write, print, decide."""
    from mixseek.audits.examine import forecast_audit, run_audit, write_card
    from mixseek.cli.judging import explain_interruption, show_progress
    from mixseek.cli.stopping import stopping_on_signals
    from mixseek.reports.cards import card_sections
    from mixseek.reports.forecasts import describe_dry_run, dry_run_document
    from mixseek.reports.render.terminal import print_sections
    from mixseek.runs.judge import Interruption
    from mixseek.stats.audits import AuditState

    if is_dry:
        dry = forecast_audit(request)
        document = with_schema(DocumentName.AUDIT_DRY_RUN, {"runs": [dry_run_document(one) for one in dry]})
        return print_answer(document, "\n".join(map(describe_dry_run, dry)), as_json=as_json)
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
    card, kept = made
    for path in out:
        write_card(card, path)
    sections = card_sections(card, f"Card  {kept}")
    print_answer(card.to_document(), lambda console: print_sections(sections, console), as_json=as_json)
    failed = card.of_state(AuditState.FAIL)
    if failed:
        notify_plainly(f"{card.judge.name} failed {', '.join(one.title for one in failed)}")
    return ExitCode.GATE_NOT_MET if failed else ExitCode.OK
