"""Who can be asked from here: judges that are configured, whether one answers, small ones to install, and the mock."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.kinds import read_kind
from mixseek.errors import ConfigurationError
from mixseek.judges.endpoint.address import PROVIDERS
from mixseek.judges.keys.refusal import holds_credential
from mixseek.judges.specs import JUDGE_FORMS, make_live_judge
from mixseek.judges.stored_models import MODELS, install, models_directory
from mixseek.presentation.sections import Section, unbroken_lines
from mixseek.settings.models import JudgeSettings
from mixseek.testing import mock_server
from mixseek.testing.batches.faults import BatchFault
from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.mock_probabilities import ProbabilityFault
from mixseek.testing.mock_replies import Fault
from mixseek.testing.reading_mock import Defect

if TYPE_CHECKING:
    from mixseek.judges.endpoint.check import CheckResult


def list_judges(configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> dict[str, Any]:
    """The judges for programs. Each table is made once, so that a mistake is said.

    `key_found` is None where none is needed.
    """
    return {
        "schema": schema_id(DocumentName.JUDGES),
        "configured": [describe_configured(name, configured, environment) for name in configured],
        "providers": [
            {
                "name": name,
                "base_url": provider.base_url,
                "key_variables": provider.key_variables,
                "key_found": any(map(environment.get, provider.key_variables)) if provider.key_required else None,
            }
            for name, provider in PROVIDERS.items()
        ],
        "forms": dict(JUDGE_FORMS),
    }


def describe_configured(
    name: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]
) -> dict[str, str | None]:
    """What the judge says of itself, or why it cannot be used yet."""
    description: Mapping[str, Any] = configured[name].model_dump()
    if holds_credential(description["base_url"] or "", environment):
        description = {**description, "base_url": None}
    problem = None
    try:
        description = make_live_judge(name, configured, environment).description
    except ConfigurationError as error:
        problem = str(error)
    return {
        "name": name,
        **{key: description.get(key) for key in ("provider", "model", "base_url")},
        "gives": gives_of(configured[name]),
        "problem": problem,
    }


def gives_of(settings: JudgeSettings) -> str | None:
    """What says how sure the judge is, where its table asks for that."""
    if settings.api is not None:
        return f"decisions ({settings.api.value})"
    return "token probabilities" if settings.logprobs else None


def judges_sections(document: Mapping[str, Any]) -> Iterator[Section]:
    """What `mixseek judges` shows."""
    lines = ["Configured in mixseek.toml:"]
    for judge in document["configured"]:
        lines.append(
            f"  {judge['name']:<14} {judge['model'] or '?'} at {judge['base_url'] or judge['provider'] or '?'}"
            + (f", gives {judge['gives']}" if judge["gives"] else "")
        )
        lines += [f"  {'':<14} ! {judge['problem']}"] if judge["problem"] is not None else []
    if not document["configured"]:
        lines.append("  none; add a table such as [judges.vllm] with base_url and model")
    lines += ["", "Providers (--judge PROVIDER:MODEL):"]
    for provider in document["providers"]:
        key = {None: "no key needed", True: "key found", False: f"set {' or '.join(provider['key_variables'])}"}
        lines.append(
            f"  {provider['name']:<14} {provider['base_url'] or 'needs a base URL':<56} {key[provider['key_found']]}"
        )
    lines += ["", "Forms:", *(f"  {form:<28} {meaning}" for form, meaning in JUDGE_FORMS.items())]
    yield unbroken_lines(*lines)


def check_one(name: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> "CheckResult":
    """Makes one call; raises ConfigurationError for a judge that is not to be called."""
    if name in ("rules", "replay") or name.startswith("replay:"):
        raise ConfigurationError(f"judge {name!r} answers without being called; there is nothing to check")
    judge = make_live_judge(name, configured, environment)
    from mixseek.judges.endpoint.check import check_judge

    async def check() -> "CheckResult":
        try:
            return await check_judge(judge)
        finally:
            await judge.close()

    return asyncio.run(check())


def check_sections(name: str, result: "CheckResult") -> Iterator[Section]:
    """What `mixseek judges check` shows."""
    lines = [f"{name}: {result.problem or 'answers'}"]
    if result.latency_seconds is not None:
        obeyed = {None: "", True: " (obeyed)", False: " (not obeyed)"}[result.is_schema_obeyed]
        seconds = f"{result.latency_seconds:.2f} s"
        lines.append(f"  model {result.model or 'not named'}, {seconds}, schema {result.schema}{obeyed}")
    yield unbroken_lines(*lines, *(f"  {sentence}" for sentence in result.advice))


def serve(
    host: str,
    port: int,
    faults: Sequence[str],
    defect: str | None,
    batches: BatchOptions | None,
    **options: Any,
) -> None:
    """Until Ctrl-C; `options` are those of MockOptions. Raises ConfigurationError for a kind that is none."""
    chosen = tuple(read_kind(Fault, name, "--fault") for name in faults) or tuple(Fault)
    wrong = None if defect is None else read_kind(Defect, defect, "--defect")
    mock_server.serve(host, port, mock_server.MockOptions(faults=chosen, defect=wrong, batches=batches, **options))


def read_probability_faults(names: Sequence[str]) -> tuple[ProbabilityFault, ...]:
    """The faults of these names; raises ConfigurationError for one that is none."""
    return tuple(read_kind(ProbabilityFault, name, "--probability-fault") for name in names)


def read_batch_options(*, takes_batches: bool, faults: Sequence[str], **options: Any) -> BatchOptions | None:
    """How batches are served; None where none are. Raises ConfigurationError for a fault that is none.

    Also for words about batches that would not be served.
    """
    names = tuple(BatchFault) if "all" in faults else faults
    chosen = tuple(read_kind(BatchFault, name, "--batch-fault") for name in names)
    batches = BatchOptions(faults=chosen, **options)
    if takes_batches:
        return batches
    if replace(batches, fault_rate=BatchOptions().fault_rate) != BatchOptions():
        raise ConfigurationError("options of batches need --batches; add it, or leave them out")
    return None


def install_named(name: str) -> tuple[Path, str]:
    """Where the weights lie, fetched first when they are not there, and what must be said about them."""
    return install(name, models_directory(os.environ)), MODELS[name].warning
