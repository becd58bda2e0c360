"""A request judged, and what came of it summed up: `mixseek judge` and `mixseek.judge` begin here."""

import time
from collections.abc import Callable
from dataclasses import replace

from mixseek.analysis.labels.of_run import load_corrected
from mixseek.analysis.run.summarise import summarise_run
from mixseek.analysis.run.summary import RunSummary
from mixseek.runs.judge import Interruption, judge_planned, prepare_run, unmatched_replies
from mixseek.runs.live import ProgressMaker, RunObserver, fewer_collections
from mixseek.runs.requests.request import JudgeRequest
from mixseek.storage.journal.manifest import Manifest


def judge_dataset(
    request: JudgeRequest, show_progress: ProgressMaker, stop: Callable[[], bool], notify: Callable[[str], None]
) -> RunSummary | Interruption:
    """Judge what is not judged yet, and say what the run holds. Again, it resumes; a finished run is only shown."""
    began = time.monotonic()
    with fewer_collections:
        plan, notices = prepare_run(request, notify)

        def summarise(manifest: Manifest) -> RunSummary:
            return summarise_run(plan.workspace, plan.run, manifest, request.panel, request.counting)

        result = judge_planned(plan, RunObserver(show_progress, stop, notify), summarise)
        if isinstance(result, Interruption):
            return result
        corrected = load_corrected(plan.workspace, plan.run)
        unmatched = unmatched_replies(plan)
    seconds = time.monotonic() - began
    return replace(result, seconds=seconds, unmatched=unmatched, notices=notices, corrected=corrected)
