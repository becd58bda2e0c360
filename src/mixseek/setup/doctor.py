"""What is installed, which keys are set, and what is wrong with a workspace."""

import platform
import re
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

from mixseek.errors import ConfigurationError
from mixseek.judges.endpoint.address import PROVIDERS
from mixseek.judges.keys.refusal import is_variable_name
from mixseek.settings.load import load_settings
from mixseek.settings.models import ENVIRONMENT_PREFIX, SETTINGS_FILE, JudgeSettings, Settings
from mixseek.setup.findings import Finding, Severity
from mixseek.setup.judges import check_one, describe_configured
from mixseek.setup.workspace_state import examine_workspace
from mixseek.text.phrases import plural

# What each extra gives; which packages it takes is said by the installed package itself.
EXTRAS = {
    "maths": "compares answers that are mathematics beyond numbers",
    "prices": "knows what hosted models cost",
    "embedded": "judges with a GGUF model in this process",
    "providers": "reaches providers that speak neither OpenAI's nor Anthropic's format",
    "pdf": "reads outputs that are PDF files",
    "frames": "gives the judgments of a run as frames of pandas, polars or pyarrow",
    "ray": "judges on a Ray cluster",
    "otel": "sends traces to OpenTelemetry",
}
# One call each, at the same time: a person is waiting.
CHECK_SECONDS = 10.0
_CHECKS_AT_ONCE = 8
_REQUIREMENT = re.compile(r"""^([\w.-]++).*?(?:extra\s*==\s*["']([\w-]+)["'])?$""")


def examine(root: Path | None, environment: Mapping[str, str], *, offline: bool) -> list[Finding]:
    """All of it, whatever fails."""
    settings, findings = examine_settings(environment)
    return [
        *examine_installation(),
        *findings,
        *examine_keys(settings.judges, environment),
        *examine_judges(settings.judges, environment, offline=offline),
        *examine_workspace(root or settings.workspace),
    ]


def examine_installation() -> Iterator[Finding]:
    area = "installation"
    yield Finding(area, "mixseek", Severity.OK, metadata.version("mixseek"))
    yield Finding(area, "python", Severity.OK, f"{platform.python_version()} on {sys.platform} {platform.machine()}")
    needed: dict[str | None, list[str]] = {}
    for line in metadata.requires("mixseek") or ():
        if parts := _REQUIREMENT.match(line):
            needed.setdefault(parts[2], []).append(parts[1])
    for name in needed.get(None, ()):
        version = version_of(name)
        sentence = version or f"missing; pip install '{name}'"
        yield Finding(area, name, Severity.OK if version else Severity.PROBLEM, sentence)
    for extra, gives in EXTRAS.items():
        versions = {name: version_of(name) for name in needed.get(extra, ())}
        if versions and all(versions.values()):
            sentence = f"{', '.join(f'{name} {version}' for name, version in versions.items())}; {gives}"
            yield Finding(area, f"extra {extra}", Severity.OK, sentence)
        else:
            sentence = f"not installed; it {gives}: pip install 'mixseek[{extra}]'"
            yield Finding(area, f"extra {extra}", Severity.NOTE, sentence)


def version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def examine_settings(environment: Mapping[str, str]) -> tuple[Settings, list[Finding]]:
    """The settings, or the defaults where they cannot be read."""
    area, settings, findings = "settings", Settings(), []
    try:
        settings = load_settings()
    except ConfigurationError as error:
        findings.append(Finding(area, SETTINGS_FILE, Severity.PROBLEM, str(error)))
    else:
        is_there = Path(SETTINGS_FILE).exists()
        sentence = plural(len(settings.judges), "judge") if is_there else "none here; defaults hold"
        findings.append(Finding(area, SETTINGS_FILE, Severity.OK, sentence))
    known = known_variables()
    # pydantic-settings passes over what it does not know: a slip would go unnoticed for ever.
    for name in sorted(environment):
        first = name.upper().removeprefix(ENVIRONMENT_PREFIX).partition("__")[0]
        if name.upper().startswith(ENVIRONMENT_PREFIX) and first not in known:
            sentence = f"no setting of that name, so it has no effect; known: {', '.join(sorted(known))}"
            findings.append(Finding(area, name, Severity.PROBLEM, sentence))
    return settings, findings


def known_variables() -> set[str]:
    """The names after the prefix, up to the first double underscore."""
    from mixseek.prompt_builder.models import PromptBuilderSettings

    fields = (*Settings.model_fields, *PromptBuilderSettings.model_fields, "prompt_builder")
    return {name.upper() for name in fields}


def examine_keys(judges: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> Iterator[Finding]:
    """Keys by name alone. One that is not set is a problem only for a judge that needs it, which says so itself."""
    users: dict[str, list[str]] = {}
    for provider, settings in PROVIDERS.items():
        for variable in settings.key_variables:
            users.setdefault(variable, []).append(provider)
    for name, judge in judges.items():
        # What is no name may be the key itself; the judge's own line says so, without it.
        if judge.api_key_env and is_variable_name(judge.api_key_env, environment):
            users.setdefault(judge.api_key_env, []).append(f"[judges.{name}]")
    for variable, names in users.items():
        state = "set" if environment.get(variable, "").strip() else "not set"
        yield Finding(
            "keys", variable, Severity.OK if state == "set" else Severity.NOTE, f"{state}; {', '.join(names)}"
        )


def examine_judges(
    judges: Mapping[str, JudgeSettings], environment: Mapping[str, str], *, offline: bool
) -> list[Finding]:
    """Each is asked one small question, unless nobody may be."""
    hasty = {
        name: settings.model_copy(update={"timeout_seconds": min(CHECK_SECONDS, settings.timeout_seconds)})
        for name, settings in judges.items()
    }

    def examine_one(name: str) -> Finding:
        problem = describe_configured(name, judges, environment)["problem"]
        if problem is not None:
            return Finding("judges", name, Severity.PROBLEM, problem)
        if offline or judges[name].provider == "gguf":
            return Finding("judges", name, Severity.NOTE, "not asked")
        result = check_one(name, hasty, environment)
        sentence = "; ".join([result.problem or f"answers in {result.latency_seconds or 0:.2f} s", *result.advice])
        return Finding("judges", name, Severity.OK if result.is_usable else Severity.PROBLEM, sentence)

    with ThreadPoolExecutor(_CHECKS_AT_ONCE) as pool:
        return list(pool.map(examine_one, judges))
