"""`mixseek batches`: what was left with providers, and stopping it."""

import os
from typing import Annotated

from typer import Option

from mixseek.cli.parsing.options import JsonOption, WorkspaceOption, workspace_path
from mixseek.cli.terminal.console import ExitCode, print_answer
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.errors import ConfigurationError


def list_left(
    cancel: Annotated[
        str | None, Option(metavar="ID", help="Ask the provider to stop this one; what is finished is kept.")
    ] = None,
    resubmit: Annotated[
        str | None,
        Option(
            metavar="ID",
            help="Give up one of which nobody knows whether it was submitted; its requests may be paid for twice.",
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """List the batches of all runs: provider, state, requests, age, cost, and where results are.

    States are as the run's own command saw them last; that command looks anew, and collects. An ID is the provider's,
    or RUN/NAME.

    \b
    Examples:
      mixseek batches
      mixseek batches --json
      mixseek batches --cancel batch_6a1f
      mixseek batches --resubmit march/b0003
    """
    from mixseek.reports.workspace.batch_list import batch_list_sections, batches_document
    from mixseek.runs.batches.listed import BatchList, free_requests, list_batches

    if cancel is not None and resubmit is not None:
        raise ConfigurationError("batches: --cancel and --resubmit are two things; give one")
    root = workspace_path(workspace)
    cancelled = resubmitted = None
    if cancel is not None:
        # Late: only who cancels speaks to a provider.
        from mixseek.runs.batches.cancelling import cancel_batch
        from mixseek.settings.load import load_settings

        cancelled = cancel_batch(root, cancel, load_settings().judges, os.environ)
    if resubmit is not None:
        resubmitted = free_requests(root, resubmit)
    listed = BatchList(list_batches(root), cancelled, resubmitted)
    document = with_schema(DocumentName.BATCHES, batches_document(listed))
    return print_answer(document, lambda: batch_list_sections(listed), as_json=as_json)
