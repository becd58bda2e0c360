"""Who can be asked from here; what is installed, which keys are set, what is wrong with a workspace."""

import asyncio
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mixseek.analysis.index.loading import describe_distrust
from mixseek.composition.race import list_competitions
from mixseek.errors import ConfigurationError, MixseekError, StorageError, reason_of, suggest
from mixseek.judges.embedded import MODELS, install, models_directory
from mixseek.judges.endpoint.address import PROVIDERS
from mixseek.judges.endpoint.keys import holds_credential, is_variable_name
from mixseek.judges.specs import JUDGE_FORMS, make_live_judge
from mixseek.reporting.wording import make_visible, plural
from mixseek.settings.load import load_settings
from mixseek.settings.models import ENVIRONMENT_PREFIX, SETTINGS_FILE, JudgeSettings, Settings
from mixseek.storage.journal.journal import is_being_written, verify_journal
from mixseek.storage.journal.records import RunStatus, read_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.reply_cache import CACHE_FILE, find_cache_damage
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.storage.workspace_key import NONCE_KEY_FILE, workspace_key
from mixseek.testing import mock_server
from mixseek.testing.mock_replies import Defect, Fault

if TYPE_CHECKING:
    from mixseek.judges.endpoint.judge import CheckResult


# Which judges are configured, whether one answers, and where the small ones come from.

Kind = TypeVar("Kind", bound=StrEnum)

# What may stand after --judge here, and whether it answers.


def list_judges(configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> dict[str, Any]:
    """For programs. Each table is made once, so that a mistake is said; `key_found` is None where none is needed."""
    return {
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
    said: Mapping[str, Any] = configured[name].model_dump()
    if holds_credential(said["base_url"] or "", environment):
        said = {**said, "base_url": None}
    problem = None
    try:
        said = make_live_judge(name, configured, environment).description
    except ConfigurationError as error:
        problem = str(error)
    return {"name": name, **{key: said.get(key) for key in ("provider", "model", "base_url")}, "problem": problem}


def describe_judges(document: Mapping[str, Any]) -> str:
    """What `mixseek judges` prints."""
    lines = ["Configured in mixseek.toml:"]
    for judge in document["configured"]:
        lines.append(
            f"  {judge['name']:<14} {judge['model'] or '?'} at {judge['base_url'] or judge['provider'] or '?'}"
        )
        lines += [f"  {'':<14} ! {judge['problem']}"] if judge["problem"] is not None else []
    if not document["configured"]:
        lines.append("  none; add a table such as [judges.vllm] with base_url and model")
    lines += ["", "Providers (--judge PROVIDER:MODEL):"]
    for one in document["providers"]:
        key = {None: "no key needed", True: "key found", False: f"set {' or '.join(one['key_variables'])}"}
        lines.append(f"  {one['name']:<14} {one['base_url'] or 'needs a base URL':<56} {key[one['key_found']]}")
    lines += ["", "Forms:", *(f"  {form:<28} {meaning}" for form, meaning in JUDGE_FORMS.items())]
    return "\n".join(lines)


def check_one(name: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> "CheckResult":
    """Makes one call; raises ConfigurationError for a judge that is not to be called."""
    if name in ("rules", "replay") or name.startswith("replay:"):
        raise ConfigurationError(f"judge {name!r} answers without being called; there is nothing to check")
    judge = make_live_judge(name, configured, environment)
    from mixseek.judges.endpoint.judge import check_judge

    async def check() -> "CheckResult":
        try:
            return await check_judge(judge)
        finally:
            await judge.close()

    return asyncio.run(check())


def describe_check(name: str, result: "CheckResult") -> str:
    """What `mixseek judges check` prints."""
    lines = [f"{name}: {result.problem or 'answers'}"]
    if result.latency_seconds is not None:
        obeyed = {None: "", True: " (obeyed)", False: " (not obeyed)"}[result.is_schema_obeyed]
        seconds = f"{result.latency_seconds:.2f} s"
        lines.append(f"  model {result.model or 'not named'}, {seconds}, schema {result.schema}{obeyed}")
    return "\n".join([*lines, *(f"  {sentence}" for sentence in result.advice)])


# The loopback judge by its options.


def serve(host: str, port: int, faults: Sequence[str], defect: str | None, **options: Any) -> None:
    """Until Ctrl-C; `options` are those of MockOptions. Raises ConfigurationError for a kind that is none."""
    chosen = tuple(read_kind(Fault, name, "--fault") for name in faults) or tuple(Fault)
    wrong = None if defect is None else read_kind(Defect, defect, "--defect")
    mock_server.serve(host, port, mock_server.MockOptions(faults=chosen, defect=wrong, **options))


def read_kind(kinds: type[Kind], name: str, option: str) -> Kind:
    """By name, with the nearest one for a slip."""
    try:
        return kinds(name)
    except ValueError:
        meant = suggest(name, [kind.value for kind in kinds], f"kinds are {', '.join(kinds)}")
        raise ConfigurationError(f"{option} {name!r}: {meant}") from None


# Weights on this machine by name.


def install_named(name: str) -> tuple[Path, str]:
    """Where the weights lie, fetched first when they are not there, and what must be said about them."""
    return install(name, models_directory(os.environ)), MODELS[name].warning


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
_LEAST_FREE_BYTES = 500_000_000
_REQUIREMENT = re.compile(r"""^([\w.-]++).*?(?:extra\s*==\s*["']([\w-]+)["'])?$""")


class Severity(StrEnum):
    """Only a problem makes the exit code 1."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """`said` never holds a key, nor how long it is."""

    area: str
    name: str
    severity: Severity
    said: str


def examine(root: Path | None, environment: Mapping[str, str], *, offline: bool) -> list[Finding]:
    """All of it, whatever fails."""
    settings, found = examine_settings(environment)
    return [
        *examine_installation(),
        *found,
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
        said = version or f"missing; pip install '{name}'"
        yield Finding(area, name, Severity.OK if version else Severity.PROBLEM, said)
    for extra, gives in EXTRAS.items():
        versions = {name: version_of(name) for name in needed.get(extra, ())}
        if versions and all(versions.values()):
            said = f"{', '.join(f'{name} {version}' for name, version in versions.items())}; {gives}"
            yield Finding(area, f"extra {extra}", Severity.OK, said)
        else:
            said = f"not installed; it {gives}: pip install 'mixseek[{extra}]'"
            yield Finding(area, f"extra {extra}", Severity.NOTE, said)


def version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def examine_settings(environment: Mapping[str, str]) -> tuple[Settings, list[Finding]]:
    """The settings, or the defaults where they cannot be read."""
    area, settings, found = "settings", Settings(), []
    try:
        settings = load_settings()
    except ConfigurationError as error:
        found.append(Finding(area, SETTINGS_FILE, Severity.PROBLEM, str(error)))
    else:
        is_there = Path(SETTINGS_FILE).exists()
        said = plural(len(settings.judges), "judge") if is_there else "none here; defaults hold"
        found.append(Finding(area, SETTINGS_FILE, Severity.OK, said))
    known = known_variables()
    # pydantic-settings passes over what it does not know: a slip would go unnoticed for ever.
    for name in sorted(environment):
        first = name.upper().removeprefix(ENVIRONMENT_PREFIX).partition("__")[0]
        if name.upper().startswith(ENVIRONMENT_PREFIX) and first not in known:
            said = f"no setting of that name, so it has no effect; known: {', '.join(sorted(known))}"
            found.append(Finding(area, name, Severity.PROBLEM, said))
    return settings, found


def known_variables() -> set[str]:
    """After the prefix, up to the first double underscore."""
    from mixseek.prompt_builder.models import PromptBuilderSettings

    fields = (*Settings.model_fields, *PromptBuilderSettings.model_fields, "prompt_builder")
    return {name.upper() for name in fields}


def examine_keys(judges: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> Iterator[Finding]:
    """By name alone. One that is not set is a problem only for a judge that needs it, which says so itself."""
    users: dict[str, list[str]] = {}
    for provider, one in PROVIDERS.items():
        for variable in one.key_variables:
            users.setdefault(variable, []).append(provider)
    for name, judge in judges.items():
        # What is no name may be the key itself; the judge's own line says so, without it.
        if judge.api_key_env and is_variable_name(judge.api_key_env, environment):
            users.setdefault(judge.api_key_env, []).append(f"[judges.{name}]")
    for variable, names in users.items():
        said = "set" if environment.get(variable, "").strip() else "not set"
        yield Finding("keys", variable, Severity.OK if said == "set" else Severity.NOTE, f"{said}; {', '.join(names)}")


def examine_judges(
    judges: Mapping[str, JudgeSettings], environment: Mapping[str, str], *, offline: bool
) -> list[Finding]:
    """Each is asked one small question, unless nobody may be."""
    hasty = {
        name: one.model_copy(update={"timeout_seconds": min(CHECK_SECONDS, one.timeout_seconds)})
        for name, one in judges.items()
    }

    def examine_one(name: str) -> Finding:
        problem = describe_configured(name, judges, environment)["problem"]
        if problem is not None:
            return Finding("judges", name, Severity.PROBLEM, problem)
        if offline or judges[name].provider == "gguf":
            return Finding("judges", name, Severity.NOTE, "not asked")
        result = check_one(name, hasty, environment)
        said = "; ".join([result.problem or f"answers in {result.latency_seconds or 0:.2f} s", *result.advice])
        return Finding("judges", name, Severity.OK if result.is_usable else Severity.PROBLEM, said)

    with ThreadPoolExecutor(_CHECKS_AT_ONCE) as pool:
        return list(pool.map(examine_one, judges))


# The workspace: what stands there is read, and nothing is repaired.


def examine_workspace(root: Path) -> Iterator[Finding]:
    area, name = "workspace", str(root)
    if not os.path.lexists(root):
        yield Finding(area, name, Severity.NOTE, "not there yet; the first run makes it")
        return
    if not root.is_dir():
        yield Finding(area, name, Severity.PROBLEM, "not a directory; name another with --workspace")
        return
    yield examine_place(root)
    yield from examine_nonce_key(root)
    yield from examine_runs(Workspace(root))
    if (root / CACHE_FILE).exists():
        damage = find_cache_damage(root / CACHE_FILE)
        advice = "; it is set aside by the next run that needs it, and replies are asked for again"
        said = "sound" if damage is None else f"damaged: {damage}{advice}"
        yield Finding(area, CACHE_FILE, Severity.OK if damage is None else Severity.PROBLEM, said)
    labels = LabelStore(Workspace(root))
    yield from examine_store("labels", lambda: f"{plural(len(labels.read()), 'label')}, {len(labels.draws())} draws")
    yield from examine_store("competitions", lambda: plural(len(list_competitions(root)), "competition"))


def examine_place(root: Path) -> Finding:
    """Whether files can be made there, and how many."""
    try:
        with tempfile.TemporaryFile(dir=root):
            pass
        free = shutil.disk_usage(root).free
    except OSError as error:
        said = f"cannot be written ({reason_of(error)}); make it writable or name another"
        return Finding("workspace", str(root), Severity.PROBLEM, said)
    if free < _LEAST_FREE_BYTES:
        said = f"{free / 1e6:,.0f} MB left on its disk; free some space"
        return Finding("workspace", str(root), Severity.PROBLEM, said)
    return Finding("workspace", str(root), Severity.OK, f"writable, {free / 1e9:,.1f} GB free")


def examine_nonce_key(root: Path) -> Iterator[Finding]:
    """Whoever knows it can forge the end of a judged text."""
    path = root / NONCE_KEY_FILE
    if not path.exists():
        return
    try:
        workspace_key(root)
        mode = stat.S_IMODE(path.stat().st_mode)
    except (StorageError, OSError) as error:
        yield Finding("workspace", NONCE_KEY_FILE, Severity.PROBLEM, str(error))
        return
    if mode & 0o077:
        said = f"others may read it (mode {mode:o}); chmod 600 {path}"
        yield Finding("workspace", NONCE_KEY_FILE, Severity.PROBLEM, said)
    else:
        yield Finding("workspace", NONCE_KEY_FILE, Severity.OK, "for its owner alone")


def examine_runs(workspace: Workspace) -> Iterator[Finding]:
    """A line for each run with something about it, and one for the others."""
    place, sound = workspace.root / "runs", 0
    try:
        entries = sorted(entry for entry in place.iterdir() if entry.is_dir()) if place.is_dir() else []
    except OSError as error:
        yield Finding("workspace", "runs", Severity.PROBLEM, f"{place}: {reason_of(error)}")
        return
    for entry in entries:
        found = list(examine_run(RunDirectory(entry.name, entry)))
        sound += not found
        yield from found
    if entries:
        severity = Severity.OK if sound == len(entries) else Severity.NOTE
        yield Finding("workspace", "runs", severity, f"{sound} of {len(entries)} sound")


def examine_run(run: RunDirectory) -> Iterator[Finding]:
    """Reads the whole journal: only so can it be known that nobody changed it."""

    def problem(said: str, severity: Severity = Severity.PROBLEM) -> Finding:
        return Finding("workspace", f"run {run.name}", severity, said)

    if not run.exists():
        yield problem(f"no manifest in {run.path}; restore it from a copy, or remove the directory")
        return
    is_busy = is_being_written(run.journal.with_suffix(".lock"))
    try:
        status = read_manifest(run.manifest).status
        verify_journal(run)
    except MixseekError as error:
        yield problem(str(error))
        return
    if is_busy:
        yield problem("is being judged now", Severity.NOTE)
    elif status is RunStatus.RUNNING:
        yield problem("its process was killed; run the same command again to go on")
    elif status is not RunStatus.COMPLETE:
        yield problem(f"{status.value}; run the same command again to go on", Severity.NOTE)
    distrust = describe_distrust(run) if not is_busy and run.index.exists() else None
    if distrust is not None:
        advice = f"it is not read, and `mixseek report {run.name}` makes it anew"
        severity = Severity.PROBLEM if distrust.is_suspicious else Severity.NOTE
        yield problem(f"its index {run.index} {distrust.why}; {advice}", severity)


def examine_store(name: str, count: Callable[[], str]) -> Iterator[Finding]:
    try:
        yield Finding("workspace", name, Severity.OK, count())
    except MixseekError as error:
        yield Finding("workspace", name, Severity.PROBLEM, str(error))


def findings_document(findings: Sequence[Finding]) -> dict[str, Any]:
    problems = sum(one.severity is Severity.PROBLEM for one in findings)
    return {"ok": not problems, "problems": problems, "findings": [asdict(one) for one in findings]}


def describe_findings(findings: Sequence[Finding]) -> str:
    """For a person: area by area, the sum at the end."""
    marks = {Severity.OK: "✓", Severity.NOTE: "·", Severity.PROBLEM: "✗"}
    lines, area = [], ""
    for one in findings:
        if one.area != area:
            lines += ["", one.area.capitalize()] if area else [one.area.capitalize()]
            area = one.area
        lines.append(f"  {marks[one.severity]} {make_visible(f'{one.name}: {one.said}')}")
    problems = sum(one.severity is Severity.PROBLEM for one in findings)
    said = "nothing is wrong" if not problems else f"{plural(problems, 'thing is', 'things are')} wrong, marked ✗"
    return "\n".join([*lines, "", said])
