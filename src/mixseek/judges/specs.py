"""From what a user writes after --judge to a judge."""

import difflib
from collections.abc import Mapping
from pathlib import Path

from mixseek.domain.calls import LiveJudge
from mixseek.domain.ports import Judge
from mixseek.errors import ConfigurationError
from mixseek.judges.endpoints import PROVIDERS, resolve_target
from mixseek.judges.math_verify import find_maths
from mixseek.judges.rules import RulesJudge
from mixseek.settings.judge_settings import JudgeSettings

JUDGE_FORMS = {
    "rules": "the protocol's own rules, offline",
    "replay": "replies that stand in the dataset's column `reply`, one a row or bundled",
    "replay:FILE": "replies in a file: JSON lines matched by id, or a bundle; FILE#JUDGE takes one judge's",
    "PROVIDER:MODEL": f"a model behind an endpoint; providers: {', '.join(PROVIDERS)}",
    "PROVIDER:MODEL@BASE_URL": "the same, at another address",
    "gguf:PATH": "a GGUF model in this process (extra `embedded`)",
    "pydantic-ai:PROVIDER:MODEL": "every other provider (extra `providers`)",
    "NAME": "a [judges.NAME] table of mixseek.toml",
}
# Live judges that are not spoken to over our own HTTP; each module is loaded only when it is asked for.
_EMBEDDED, _OTHER_PROVIDERS = "gguf", "pydantic-ai"
_LIVE_KINDS = (*PROVIDERS, _EMBEDDED, _OTHER_PROVIDERS)
_NO_SETTINGS: Mapping[str, JudgeSettings] = {}


def make_judge(spec: str, configured: Mapping[str, JudgeSettings] = _NO_SETTINGS) -> Judge:
    """`rules`, `replay` or `replay:FILE`; a replay file is read through here, so that it fails before the run."""
    match spec.partition(":"):
        case ("rules", "", ""):
            return RulesJudge(maths=find_maths())
        case ("replay", _, _):
            return _make_replay_judge(spec, configured)
        case _:
            raise unknown_judge(spec, configured)


def _make_replay_judge(spec: str, configured: Mapping[str, JudgeSettings]) -> Judge:
    # Late: no other judge reads bundles.
    from mixseek.judges.replay import DatasetReplayJudge, FileReplayJudge

    match spec.partition(":"):
        case ("replay", "", ""):
            return DatasetReplayJudge()
        case ("replay", ":", path) if path:
            return FileReplayJudge.open(Path(path), spec)
        case _:
            raise unknown_judge(spec, configured)


def is_live(spec: str, configured: Mapping[str, JudgeSettings]) -> bool:
    """True when the judge has to be waited for; a name that nobody knows is not, and `make_judge` says so."""
    kind, colon, _ = spec.partition(":")
    if kind in ("rules", "replay"):
        return False
    return spec in configured or (bool(colon) and kind in _LIVE_KINDS)


def make_live_judge(spec: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> LiveJudge:
    """`provider:model`, `provider:model@base_url` or a configured name; nothing is sent yet."""
    if not is_live(spec, configured):
        raise unknown_judge(spec, configured)
    settings = configured.get(spec)
    kind = spec.partition(":")[0] if settings is None else settings.provider
    # Imports stand here and not above: rules-only runs do not pay for loading an HTTP client or a model runtime.
    if kind == _EMBEDDED:
        from mixseek.judges.embedded import make_embedded_judge

        return make_embedded_judge(_full_spec(spec, settings), environment, settings, name=spec)
    if kind == _OTHER_PROVIDERS:
        from mixseek.judges.providers import make_provider_judge

        return make_provider_judge(_full_spec(spec, settings), environment, settings, name=spec)
    target = resolve_target(spec, configured, environment)
    from mixseek.judges.endpoint_judge import EndpointJudge

    return EndpointJudge(target, environment)


def _full_spec(spec: str, settings: JudgeSettings | None) -> str:
    """What a table's provider and model would be on the command line."""
    return spec if settings is None else f"{settings.provider}:{settings.model or ''}"


def unknown_judge(spec: str, configured: Mapping[str, JudgeSettings]) -> ConfigurationError:
    """One line with the nearest thing that exists."""
    kind, colon, rest = spec.partition(":")
    available = f"available: {', '.join([*JUDGE_FORMS, *configured])}"
    if kind == "rules":
        advice = f"'rules' takes nothing after the colon; {available}"
    elif kind == "replay":
        advice = f"give the file of replies after the colon; {available}"
    elif colon:
        close = difflib.get_close_matches(kind, _LIVE_KINDS, n=1)
        advice = f"did you mean '{close[0]}:{rest}'?" if close else f"providers: {', '.join(_LIVE_KINDS)}"
    elif kind in _LIVE_KINDS:
        advice = f"write {kind}:MODEL, or add [judges.{kind}] to mixseek.toml"
    else:
        close = difflib.get_close_matches(kind, ("rules", "replay", *configured), n=1)
        advice = f"did you mean {close[0]!r}? {available}" if close else available
    return ConfigurationError(f"unknown judge {spec!r}; {advice}")
