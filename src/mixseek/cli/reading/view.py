"""`mixseek view`: a local page on the workspace."""

import os
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option, launch

from mixseek.cli.parsing.options import WorkspaceOption, workspace_path
from mixseek.cli.terminal.console import ExitCode, print_result

if TYPE_CHECKING:
    from mixseek.web.server import ViewServer

_NAME = "What to open: a run, or answers:NAME; without it the first page."
_HOST = "Where to listen; another than this machine's own loopback needs --allow-remote."
_PUBLIC_URL = "Where a proxy in front lets others in, such as https://host/path: links, Host and Origin follow it."


def view(
    name: Annotated[str | None, Argument(metavar="NAME", help=_NAME)] = None,
    workspace: WorkspaceOption = None,
    port: Annotated[int, Option(metavar="N", min=0, max=65535, help="0 takes a free one.")] = 0,
    host: Annotated[str, Option(metavar="ADDRESS", help=_HOST)] = "127.0.0.1",
    allow_remote: Annotated[
        bool, Option("--allow-remote", help="Let other machines ask, with the token in $MIXSEEK_VIEW_TOKEN.")
    ] = False,
    public_url: Annotated[str | None, Option("--public-url", metavar="URL", help=_PUBLIC_URL)] = None,
    read_only: Annotated[bool, Option("--read-only", help="Refuse everything that would change something.")] = False,
    no_open: Annotated[bool, Option("--no-open", help="Print the link and open no browser.")] = False,
) -> ExitCode:
    """Look at runs in the browser, also while they are judged.

    Serves pages on this machine only, to whoever has the link that it prints: runs and competitions, every judgment
    with filters and search, a sample under all of its judges, two runs side by side, answers of models side by side,
    and queues of texts for people to label, blind. Ctrl-C ends it.

    \b
    Examples:
      mixseek view
      mixseek view answers:spring
      mixseek view --workspace ws --port 8765 --no-open
      mixseek view --port 8765 --public-url https://judging.example.org/mixseek    behind a proxy, for several raters
    """
    from mixseek.web.pages import address_of
    from mixseek.web.security import TOKEN_VARIABLE, decide_access
    from mixseek.web.server import serve

    root = workspace_path(workspace)
    page = address_of(root, name)
    token = os.environ.get(TOKEN_VARIABLE)
    access = decide_access(host, allows_remote=allow_remote, is_read_only=read_only, token=token, public_url=public_url)

    def ready(server: "ViewServer") -> None:
        link = server.link_to(page)
        print_result(f"{root} at {link}\n  Ctrl-C ends it")
        if not no_open:
            launch(link)

    serve(root, access, port, ready)
    return ExitCode.OK
