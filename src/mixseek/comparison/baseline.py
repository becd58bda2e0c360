"""A run against the one that it must not fall behind."""

from pathlib import Path
from typing import TYPE_CHECKING

from mixseek.comparison.compare import CompareRequest, load_comparison, refuse_other_protocol
from mixseek.comparison.model import Comparison, DropGate
from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.panels import PanelRule
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import Workspace

if TYPE_CHECKING:
    from mixseek.runs.requests.request import JudgeRequest

# Of the pairs that fell behind a baseline.
_BASELINE_LISTED = 10


@dataclass(frozen=True, slots=True)
class Baseline:
    """`gate` is None where the difference is only to be shown."""

    run: str
    gate: DropGate | None


def find_baseline(request: "JudgeRequest", name: str, gate: DropGate | None) -> Baseline:
    """Refused before anything is judged and paid: no such run, another protocol, or the run itself."""
    # Here and not above: comparing what was judged needs nothing that judges.
    from mixseek.runs.requests.manifest_entries import describe_protocol

    # Now, and not at the end: then `latest` would be the run that is about to start.
    run = Workspace(request.workspace).resolve(name)
    if request.run == run.name:
        raise ConfigurationError(own_baseline(run.name))
    protocol = request.load_protocol()
    before = read_manifest(run.manifest).protocol
    refuse_other_protocol((f"the baseline {run.name}", "this run"), before, describe_protocol(protocol))
    return Baseline(run.name, gate)


def compare_with_baseline(
    root: Path, baseline: Baseline, run: str, panel: PanelRule | None = None, asked: Counting = USUAL
) -> Comparison:
    """The run is B; the lists hold a few pairs."""
    if baseline.run == run:
        raise ConfigurationError(own_baseline(run))
    # The run's own rule where none is named, for both.
    manifest = read_manifest(Workspace(root).run(run).manifest)
    counting = asked.or_else(manifest.counting).explicit
    request = CompareRequest(root, (baseline.run, run), panel=panel or manifest.panel, counting=counting)
    return load_comparison(request, listed=_BASELINE_LISTED)


def own_baseline(run: str) -> str:
    return f"run {run} is its own baseline, which it can never fall behind; name another run with --baseline"
