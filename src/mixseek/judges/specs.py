"""From what a user writes after --judge to a judge."""

import difflib
from collections.abc import Mapping
from pathlib import Path

from mixseek.domain.calls import LiveJudge
from mixseek.domain.ports import Judge
from mixseek.errors import ConfigurationError
from mixseek.judges.endpoints import PROVIDERS, resolve_target
from mixseek.judges.replay import DatasetReplayJudge, FileReplayJudge
from mixseek.judges.rules import RulesJudge
from mixseek.settings.judge_settings import JudgeSettings

JUDGE_FORMS = {
    "rules": "the protocol's own rules, offline",
    "replay": "replies that stand in the dataset's column `reply`",
    "replay:FILE": "replies in a JSONL file, matched by id",
    "PROVIDER:MODEL": f"a model behind an endpoint; providers: {', '.join(PROVIDERS)}",
    "PROVIDER:MODEL@BASE_URL": "the same, at another address",
    "NAME": "a [judges.NAME] table of mixseek.toml",
}
_NO_SETTINGS: Mapping[str, JudgeSettings] = {}


def make_judge(spec: str, configured: Mapping[str, JudgeSettings] = _NO_SETTINGS) -> Judge:
    """`rules`, `replay` or `replay:FILE`; a replay file is read through here, so that it fails before the run."""
    match spec.partition(":"):
        case ("rules", "", ""):
            return RulesJudge()
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
    return spec in configured or (bool(colon) and kind in PROVIDERS)


def make_live_judge(spec: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> LiveJudge:
    """`provider:model`, `provider:model@base_url` or a configured name; nothing is sent yet."""
    if not is_live(spec, configured):
        raise unknown_judge(spec, configured)
    target = resolve_target(spec, configured, environment)
    # Here and not above: rules-only runs do not pay for loading an HTTP client.
    from mixseek.judges.endpoint_judge import EndpointJudge

    return EndpointJudge(target, environment)


def unknown_judge(spec: str, configured: Mapping[str, JudgeSettings]) -> ConfigurationError:
    """One line with the nearest thing that exists."""
    kind, colon, rest = spec.partition(":")
    available = f"available: {', '.join([*JUDGE_FORMS, *configured])}"
    if kind == "rules":
        advice = f"'rules' takes nothing after the colon; {available}"
    elif kind == "replay":
        advice = f"give the file of replies after the colon; {available}"
    elif colon:
        close = difflib.get_close_matches(kind, PROVIDERS, n=1)
        advice = f"did you mean '{close[0]}:{rest}'?" if close else f"providers: {', '.join(PROVIDERS)}"
    elif kind in PROVIDERS:
        advice = f"write {kind}:MODEL, or add [judges.{kind}] to mixseek.toml"
    else:
        close = difflib.get_close_matches(kind, ("rules", "replay", *configured), n=1)
        advice = f"did you mean {close[0]!r}? {available}" if close else available
    return ConfigurationError(f"unknown judge {spec!r}; {advice}")
