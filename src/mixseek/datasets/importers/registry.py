"""Every format of a log that is known, and the look-up that finds the one format that a file shows.

A file is looked at once; of all formats only those are asked whose signature it shows, so a plain row meets none.
"""

from collections import defaultdict
from pathlib import Path

from mixseek.datasets.importers.formats import (
    alpacaeval,
    braintrust,
    chat,
    deepeval,
    evalscope,
    fastchat,
    helm,
    inputs_outputs,
    inspect_ai,
    langsmith,
    lm_eval,
    mlflow,
    promptfoo,
    pydantic_evals,
    ragas,
)
from mixseek.datasets.importers.formats.batches import anthropic, description, gemini, openai
from mixseek.datasets.importers.formats.traces import langsmith_runs, mlflow_traces, openai_agents, otlp, pydantic_ai
from mixseek.datasets.importers.log_format import LogFormat, Signature, Summary
from mixseek.datasets.importers.open_log import OpenLog
from mixseek.datasets.importers.reading.sniffing import Mark, Sniffed, sniff
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.errors import DatasetError

# Where a file shows several: the most telling first; chats and tables last, because any tool may write them.
FORMATS: tuple[LogFormat, ...] = (
    inspect_ai.FORMAT,
    lm_eval.FORMAT,
    helm.FORMAT,
    evalscope.FORMAT,
    promptfoo.FORMAT,
    deepeval.FORMAT,
    description.FORMAT,
    openai.FORMAT,
    anthropic.FORMAT,
    gemini.FORMAT,
    fastchat.FORMAT,
    alpacaeval.FORMAT,
    mlflow.FORMAT,
    langsmith.FORMAT,
    langsmith_runs.FORMAT,
    otlp.FORMAT,
    mlflow_traces.FORMAT,
    pydantic_ai.FORMAT,
    openai_agents.FORMAT,
    pydantic_evals.FORMAT,
    braintrust.FORMAT,
    ragas.FORMAT,
    chat.FORMAT,
    inputs_outputs.FORMAT,
)
# Asked about where no format is shown.
SUMMARIES: tuple[Summary, ...] = (lm_eval.SUMMARY, braintrust.SUMMARY)


def index_signatures(known: tuple[LogFormat | Summary, ...]) -> dict[Mark, list[tuple[int, Signature]]]:
    """Each signature by its most telling mark, with the place in `known` of whose it is."""
    index: dict[Mark, list[tuple[int, Signature]]] = defaultdict(list)
    for place, log_format in enumerate(known):
        for signature in log_format.signatures:
            index[signature[0]].append((place, signature))
    return dict(index)


_KNOWN: tuple[LogFormat | Summary, ...] = (*FORMATS, *SUMMARIES)
_INDEX = index_signatures(_KNOWN)


def shown_formats(sniffed: Sniffed) -> list[LogFormat | Summary]:
    """Those whose signature the file shows, in the order in which they are asked."""
    marks = sniffed.marks()
    places = {
        place
        for mark in marks
        for place, signature in _INDEX.get(mark, ())
        if all(other in marks for other in signature)
    }
    return [_KNOWN[place] for place in sorted(places)]


def recognise(path: Path, longest: int = LONGEST_LINE_BYTES) -> OpenLog | None:
    """Whose log the file is, told by its content; None for a plain dataset or what nobody knows.

    Raises DatasetError for a log that is recognised and cannot be read.
    """
    sniffed = sniff(path, longest)
    return None if sniffed is None else recognise_sniffed(sniffed)


def recognise_sniffed(sniffed: Sniffed) -> OpenLog | None:
    """The same of a file that was looked at already."""
    for shown in shown_formats(sniffed):
        if isinstance(shown, Summary):
            raise DatasetError(f"{sniffed.path}: {shown.title}, which hold no responses; {shown.advice}")
        if shown.confirm is None or shown.confirm(sniffed):
            if sniffed.fault is not None:
                raise DatasetError(sniffed.fault)
            return OpenLog(sniffed.path, shown, shown.open(sniffed))
    return None
