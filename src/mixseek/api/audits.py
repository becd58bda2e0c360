"""`mixseek.audit`: a judge's card without a terminal."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from mixseek.api.judging import choose_progress, tell
from mixseek.api.loops import in_thread, wait_for
from mixseek.api.options import Data, JudgeLike, JudgeOrder, check_options, make_order, several
from mixseek.composition.audits import AuditRequest, read_audits, run_audit, write_card
from mixseek.composition.judge import Interruption
from mixseek.domain.ports import JudgeProtocol
from mixseek.errors import JudgeCallError
from mixseek.reporting.cards import Card


class AuditOptions(TypedDict, total=False):
    """Every option of `mixseek audit`; what is left out, or None, is as on the command line."""

    protocol: str | Path | JudgeProtocol | None
    """What is asked: a built-in, a .toml file, or what `load_protocol` gave. Default: semantic."""
    pairs: str | int | None
    """Make pairs of single outputs: "all", "baseline:MODEL", or how many of each question."""
    n: int | None
    """Draw so many samples. Default: 100."""
    seed: int | None
    """Of the pairs, of the draw and of every change. Default: 0."""
    only: str | Sequence[str] | None
    """Only these audits: retest, order, padding, format, tone, name, own, injection, language, implant, …"""
    since: str | Path | None
    """An earlier card of this judge: ask again, and look for drift."""
    out: str | Path | Sequence[str | Path] | None
    """Write the card to these files too: .html or .json."""
    workspace: str | Path | None
    """Where the runs are kept, resumed and cached. Default: in memory, which leaves nothing behind."""
    run: str | None
    """Name of the run. Default: the same for the same request."""
    language: str | None
    """Of the prompt: en, ja or zh."""
    mapping: dict[str, str] | None
    """Where a field stands in the data: `{"response": "output"}`."""
    rubric: str | Path | None
    """Task rubrics in Markdown: one for all samples, or a directory with one for each task."""
    parameters: dict[str, Any] | None
    """Replace parameters of the protocol."""
    concurrency: int | None
    """Calls at once to an endpoint or a function, at most. Default: 32."""
    max_calls: int | None
    """Stop after so many requests; resumable."""
    max_cost: float | None
    """Stop before more US dollars are spent; resumable."""
    progress: bool | None
    """False: show nothing while judging."""


_OWN = ("n", "seed", "only", "since", "out")


def audit(judge: JudgeLike, data: Data, **options: Unpack[AuditOptions]) -> Card:
    """Examine a judge with controlled variants of the same samples, as `mixseek audit` does; `print` shows its card.

    `card.ok` is False where an audit failed; `card.findings` has them all. Raises JudgeCallError where replies are
    missing: in a workspace, the same call resumes.

    >>> import mixseek
    >>> rows = [{"id": str(n), "response": f"It is {n}.", "ground_truth": str(n)} for n in range(30)]
    >>> card = mixseek.audit("rules", rows, only=["retest", "padding"], n=30)
    >>> card.ok, [(one.title, one.state.value) for one in card.findings]
    (True, [('test–retest', 'pass'), ('padding', 'pass')])
    """
    given = check_options(dict(options), AuditOptions.__annotations__, "audit")
    own = {name: given.pop(name) for name in _OWN if name in given}
    order = make_order(data, {**given, "judges": judge, "seed": own.get("seed", 0)})
    request = AuditRequest(
        order.request,
        items=own.get("n", 100),
        seed=own.get("seed", 0),
        only=read_audits(several(own.get("only", ()))),
        since=Path(own["since"]) if "since" in own else None,
    )
    stop = threading.Event()
    work = in_thread(lambda: carry_out(request, order, stop))
    card = wait_for(work, stop, lambda sentence: tell(order, sentence))
    for path in several(own.get("out", ())):
        write_card(card, Path(path))
    return card


def carry_out(request: AuditRequest, order: JudgeOrder, stop: threading.Event) -> Card:
    """The card; a workspace in memory goes with the order."""
    made = run_audit(
        request, lambda total: choose_progress(total, order), stop.is_set, lambda sentence: tell(order, sentence)
    )
    if not isinstance(made, Interruption):
        return made[0]
    if made.reason is None:
        raise KeyboardInterrupt("interrupted: what was judged is kept in a workspace")
    raise JudgeCallError(made.reason)
