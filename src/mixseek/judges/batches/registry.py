"""Which judge's requests can be left in batches, and in whose way."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mixseek.domain.ports import Call, LiveJudge
from mixseek.errors import ConfigurationError
from mixseek.judges.batches.anthropic_batches import AnthropicBatches
from mixseek.judges.batches.files import BatchFiles
from mixseek.judges.batches.gemini_operations import GeminiOperations
from mixseek.judges.batches.mistral_jobs import MistralJobs
from mixseek.judges.batches.openai_files import OpenAIFiles
from mixseek.judges.batches.wires import BatchWire, Limits
from mixseek.judges.endpoint.address import PROVIDERS
from mixseek.judges.endpoint.judge import EndpointJudge
from mixseek.judges.system_prompt import PromptedJudge
from mixseek.settings.models import WireFormat

_WIRES: Mapping[str, Callable[[], Any]] = {
    "openai": OpenAIFiles,
    "azure": partial(OpenAIFiles, name="azure"),
    "groq": partial(OpenAIFiles, name="groq", limits=Limits(50_000, 100_000_000)),
    "together": partial(
        OpenAIFiles,
        name="together",
        limits=Limits(50_000, 100_000_000),
        files_path="/files/upload",
        purpose="batch-api",
        wants_file_name=True,
        takes_metadata=False,
    ),
    "anthropic": AnthropicBatches,
    "gemini": GeminiOperations,
    "mistral": MistralJobs,
}


class BatchJudge(NamedTuple):
    """A judge whose requests wait: who knows how they are put and read, and how they are left."""

    judge: EndpointJudge
    wire: BatchWire
    # What is said before the call where the judge has a system prompt of its own.
    put: Callable[[Call], Call]


def batch_judge(judge: LiveJudge, files: Path | None = None) -> BatchJudge:
    """Raises ConfigurationError for a judge that has no batches; `files` is where they are written instead."""
    put: Callable[[Call], Call] = _as_it_is
    inner = judge
    if isinstance(inner, PromptedJudge):
        put, inner = inner.with_system, inner.judge
    if not isinstance(inner, EndpointJudge):
        raise ConfigurationError(f"judge {judge.name!r} answers in this process and has no batches; leave --batch out")
    if inner.asks_questions:
        raise ConfigurationError(f"judge {judge.name!r}: decision endpoints take no batches; leave --batch out")
    if files is not None:
        if inner.target.wire is not WireFormat.OPENAI:
            raise ConfigurationError(f"judge {judge.name!r}: --batch-files are chat completions, and its wire is not")
        return BatchJudge(inner, BatchFiles(files), put)
    return BatchJudge(inner, find_wire(inner), put)


def find_wire(judge: EndpointJudge) -> BatchWire:
    """Its provider's; ConfigurationError that says who has batches."""
    provider = PROVIDERS.get(judge.target.provider)
    name = provider.batch if provider is not None else None
    if name is None:
        having = ", ".join(label for label, known in PROVIDERS.items() if known.batch)
        raise ConfigurationError(
            f"judge {judge.name!r}: no batches are known of {judge.target.provider}; use a provider that has them "
            f'({having}; provider = "…" in its table says that a host speaks alike), or write files with '
            "--batch-files DIR"
        )
    wire: BatchWire = _WIRES[name]()
    return wire


def wire_named(name: str, files: Path | None = None) -> BatchWire:
    """The one that a ledger names."""
    wire: BatchWire = BatchFiles(files or Path()) if name == "files" else _WIRES[name]()
    return wire


def _as_it_is(call: Call) -> Call:
    return call
