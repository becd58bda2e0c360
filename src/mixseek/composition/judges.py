"""Which judges are configured, whether one answers, and where the small ones come from."""

import asyncio
import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mixseek.errors import ConfigurationError
from mixseek.judges.endpoint.address import PROVIDERS
from mixseek.judges.mock import server as mock_server
from mixseek.judges.mock.replies import Fault
from mixseek.judges.model_store import MODELS, install, models_directory
from mixseek.judges.specs import JUDGE_FORMS, is_live, make_live_judge
from mixseek.settings.models import JudgeSettings

# What may stand after --judge here, and whether it answers.


@dataclass(frozen=True, slots=True)
class ConfiguredJudge:
    """One `[judges.NAME]` table; `problem` says why it cannot be used yet."""

    name: str
    provider: str | None
    model: str | None
    base_url: str | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class KnownProvider:
    """One row of the provider table; `key_found` is None where no key is needed."""

    name: str
    base_url: str | None
    key_variables: tuple[str, ...]
    key_found: bool | None


def list_configured(
    configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]
) -> tuple[ConfiguredJudge, ...]:
    """Each is made once, so that a table with a mistake in it says so here."""
    return tuple(describe_configured(name, configured, environment) for name in configured)


def describe_configured(
    name: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]
) -> ConfiguredJudge:
    """What the judge says of itself, or what is wrong with its table."""
    settings = configured[name]
    try:
        said = make_live_judge(name, configured, environment).description
    except ConfigurationError as error:
        return ConfiguredJudge(name, settings.provider, settings.model, settings.base_url, str(error))
    return ConfiguredJudge(name, said.get("provider"), said.get("model"), said.get("base_url"), None)


def list_providers(environment: Mapping[str, str]) -> tuple[KnownProvider, ...]:
    """All of them, with whether a key is at hand; never the key."""
    return tuple(
        KnownProvider(
            name,
            provider.base_url,
            provider.key_variables,
            any(environment.get(variable) for variable in provider.key_variables) if provider.key_required else None,
        )
        for name, provider in PROVIDERS.items()
    )


def judges_document(configured: tuple[ConfiguredJudge, ...], providers: tuple[KnownProvider, ...]) -> dict[str, Any]:
    """For programs."""
    return {
        "configured": [asdict(judge) for judge in configured],
        "providers": [asdict(provider) for provider in providers],
        "forms": dict(JUDGE_FORMS),
    }


def describe_judges(configured: tuple[ConfiguredJudge, ...], providers: tuple[KnownProvider, ...]) -> str:
    """For a person."""
    lines = ["Configured in mixseek.toml:"]
    for judge in configured:
        lines.append(f"  {judge.name:<14} {judge.model or '?'} at {judge.base_url or judge.provider or '?'}")
        if judge.problem is not None:
            lines.append(f"  {'':<14} ! {judge.problem}")
    if not configured:
        lines.append("  none; add a table such as [judges.vllm] with base_url and model")
    lines += ["", "Providers (--judge PROVIDER:MODEL):"]
    for provider in providers:
        key = {None: "no key needed", True: "key found", False: f"set {' or '.join(provider.key_variables)}"}
        lines.append(f"  {provider.name:<14} {provider.base_url or 'needs a base URL':<56} {key[provider.key_found]}")
    lines += ["", "Forms:", *(f"  {form:<28} {meaning}" for form, meaning in JUDGE_FORMS.items())]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class CheckedJudge:
    """What one cheap call told; `document` is all of it for programs."""

    is_usable: bool
    text: str
    document: Mapping[str, Any]


def check_one(name: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> CheckedJudge:
    """Makes one call; raises ConfigurationError for a judge that is not to be called."""
    if name in ("rules", "replay") or name.startswith("replay:"):
        raise ConfigurationError(f"judge {name!r} answers without being called; there is nothing to check")
    if not is_live(name, configured):
        # Words the nearest thing that exists.
        make_live_judge(name, configured, environment)
    from mixseek.judges.endpoint.check import check_judge

    async def check() -> CheckedJudge:
        judge = make_live_judge(name, configured, environment)
        try:
            result = await check_judge(judge)
        finally:
            await judge.close()
        lines = [f"{name}: {result.problem}" if result.problem is not None else f"{name}: answers"]
        if result.latency_seconds is not None:
            lines.append(
                f"  model {result.model or 'not named'}, {result.latency_seconds:.2f} s, schema {result.schema}"
            )
        lines += [f"  {sentence}" for sentence in result.advice]
        return CheckedJudge(result.is_usable, "\n".join(lines), {**asdict(result), "is_usable": result.is_usable})

    return asyncio.run(check())


# The loopback judge by its options.


def serve(host: str, port: int, faults: Sequence[str], **options: Any) -> None:
    """Until Ctrl-C; `options` are those of MockOptions. Raises ConfigurationError for a kind of fault that is none."""
    chosen = tuple(map(read_fault, faults)) or tuple(Fault)
    mock_server.serve(host, port, mock_server.MockOptions(faults=chosen, **options))


def read_fault(name: str) -> Fault:
    """By name, with the nearest one for a slip."""
    try:
        return Fault(name)
    except ValueError:
        close = difflib.get_close_matches(name, list(Fault), n=1)
        meant = f"did you mean {close[0]!r}?" if close else f"kinds are {', '.join(Fault)}"
        raise ConfigurationError(f"--fault {name!r}: {meant}") from None


# Weights on this machine by name.


def install_named(name: str) -> tuple[Path, str]:
    """Where the weights lie, fetched first when they are not there, and what must be said about them."""
    path = install(name, models_directory(os.environ))
    return path, MODELS[name].warning
