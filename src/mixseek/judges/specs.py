"""From what a user writes after --judge to a judge."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from mixseek.domain.judgments import Undecided, ValidJudgment
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.domain.ports import Judge, JudgeProtocol, LiveJudge, MathsComparer
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError, suggest
from mixseek.judges.endpoint.address import (
    DECIDER_PREFIX,
    PROVIDERS,
    means_address,
    refuse_address,
    resolve_target,
    settings_of_spec,
)
from mixseek.judges.math_verify import find_maths
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.declaration import DeclaredProtocol
from mixseek.settings.models import JudgeSettings

CHECKS_JUDGE = "checks"


@dataclass(frozen=True, slots=True)
class RulesJudge:
    """Offline and without cost; undecided where the rules decline."""

    name: str = "rules"
    # Who compares mathematics that is more than numbers; without, such answers are undecided.
    maths: MathsComparer | None = None

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> ValidJudgment | Undecided:
        """An outcome at once: rules write no text that would have to be parsed."""
        return protocol.decide(sample, self.maths)


@dataclass(frozen=True, slots=True)
class ChecksJudge:
    """Offline and without cost; undecided where no check applies."""

    name: str = CHECKS_JUDGE
    # Steps say enough where no final answer came.
    needs_response: bool = False

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> ValidJudgment | Undecided:
        """An outcome at once, by the checks of the protocol, of the request and of the sample's own row."""
        return decide_by_checks(sample, protocol)


def decide_by_checks(sample: Sample, protocol: JudgeProtocol) -> ValidJudgment | Undecided:
    """What the checks alone say; nothing under a protocol that cannot have any."""
    if not isinstance(protocol, DeclaredProtocol):
        return Undecided(f"the {protocol.name} protocol is not declared in a file, so it has no checks")
    return protocol.decide_by_checks(sample)


JUDGE_FORMS = {
    "rules": "the protocol's own rules, offline",
    "checks": "the checks of the protocol, of --check and of rows, offline",
    "replay": "replies that stand in the dataset's column `reply`",
    "replay:FILE": "replies in a file: JSON lines matched by id; FILE#JUDGE takes one judge's",
    "log:SCORER": "what the scorer of another tool's log said, which stays with its samples; `log` is all of them",
    "PROVIDER:MODEL": f"a model behind an endpoint; providers: {', '.join(PROVIDERS)}",
    "PROVIDER:MODEL@BASE_URL": "the same, at another address",
    "decisions:PROVIDER:MODEL": "a decision endpoint: probabilities for a protocol's questions, without a text",
    "decisions:NAME": "the same for a [judges.NAME] table; `api` in the table says which interface it has",
    "gguf:PATH": "a GGUF model in this process (extra `embedded`)",
    "pydantic-ai:PROVIDER:MODEL": "every other provider (extra `providers`)",
    "NAME": "a [judges.NAME] table of mixseek.toml",
}
# Live judges that are not spoken to over our own HTTP; each module is loaded only when it is asked for.
_EMBEDDED, _OTHER_PROVIDERS = "gguf", "pydantic-ai"
_DECIDER = DECIDER_PREFIX.removesuffix(":")
_LIVE_KINDS = (*PROVIDERS, _EMBEDDED, _OTHER_PROVIDERS, _DECIDER)


def make_judge(
    spec: str,
    configured: Mapping[str, JudgeSettings] | None = None,
    *,
    takes_bundles: bool = False,
    longest_line: int = LONGEST_LINE_BYTES,
) -> Judge:
    """Judges that answer at once; a replay file is read through here, so that it fails before the run."""
    kind, colon, path = spec.partition(":")
    if spec == "rules":
        return RulesJudge(maths=find_maths())
    if spec == "checks":
        return ChecksJudge()
    if kind == "log" and path:
        from mixseek.judges.log_scores import LogScoreJudge

        return LogScoreJudge(spec, path)
    if kind != "replay" or (colon and not path):
        raise unknown_judge(spec, configured or {})
    # Late: no other judge reads bundles.
    from mixseek.judges.replay import DatasetReplayJudge, FileReplayJudge

    if not colon:
        return DatasetReplayJudge(bundles=takes_bundles)
    return FileReplayJudge.open(Path(path), spec, takes_bundles=takes_bundles, longest_line=longest_line)


def is_live(spec: str, configured: Mapping[str, JudgeSettings]) -> bool:
    """True when the judge has to be waited for; a name that nobody knows is not, and `make_judge` says so."""
    kind, colon, _ = spec.partition(":")
    if kind in ("rules", "checks", "replay", "log"):
        return False
    if settings_of_spec(spec, configured) is not None:
        return True
    if kind == _DECIDER:
        # Of a provider, or nobody knows whom it means.
        kind, colon, _ = spec.removeprefix(DECIDER_PREFIX).partition(":")
        return bool(colon) and kind in PROVIDERS
    return bool(colon) and kind in _LIVE_KINDS


def make_live_judge(spec: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]) -> LiveJudge:
    """`provider:model`, `provider:model@base_url` or a configured name; nothing is sent yet."""
    if not is_live(spec, configured):
        raise unknown_judge(spec, configured)
    settings = settings_of_spec(spec, configured)
    judge = make_unprompted_judge(spec, configured, environment)
    if settings is None or settings.system is None:
        return judge
    # Late, as the judges themselves: few have one.
    from mixseek.judges.system_prompt import PromptedJudge

    return PromptedJudge(judge, settings.system)


def make_unprompted_judge(
    spec: str, configured: Mapping[str, JudgeSettings], environment: Mapping[str, str]
) -> LiveJudge:
    """The judge without a system prompt of its own."""
    settings = settings_of_spec(spec, configured)
    kind = spec.partition(":")[0] if settings is None else settings.provider
    # What a table's provider and model would be on the command line.
    full = spec if settings is None else f"{settings.provider}:{settings.model or ''}"
    # Imports stand here and not above: rules-only runs do not pay for loading an HTTP client or a model runtime.
    if settings is not None and settings.api is not None and kind in (_EMBEDDED, _OTHER_PROVIDERS):
        raise ConfigurationError(f"judge {spec!r}: {kind} is no decision endpoint; remove api, or name its base_url")
    if kind == _EMBEDDED:
        from mixseek.judges.embedded import make_embedded_judge

        return make_embedded_judge(full, environment, settings, name=spec)
    if kind == _OTHER_PROVIDERS:
        if settings is None and means_address(spec):
            raise refuse_other_address(spec)
        from mixseek.judges.providers import make_provider_judge

        return make_provider_judge(full, environment, settings, name=spec)
    target = resolve_target(spec, configured, environment)
    from mixseek.judges.endpoint.judge import EndpointJudge

    return EndpointJudge(target, environment)


def unknown_judge(spec: str, configured: Mapping[str, JudgeSettings]) -> ConfigurationError:
    """One line with the nearest thing that exists."""
    kind, colon, rest = spec.partition(":")
    # Whose model it is, by how its name begins.
    owner = next(
        (name for name, provider in PROVIDERS.items() if kind.lower().startswith(provider.model_prefixes)), None
    )
    available = f"available: {', '.join([*JUDGE_FORMS, *configured])}"
    if kind == _DECIDER:
        named = ", ".join([*PROVIDERS, *configured])
        advice = f"write decisions:PROVIDER:MODEL, or decisions:NAME for a [judges.NAME] table; there are: {named}"
    elif kind in ("rules", "checks"):
        advice = f"{kind!r} takes nothing after the colon; {available}"
    elif kind == "log":
        advice = f"write log:SCORER with a scorer of the log, which `mixseek import LOG` lists; {available}"
    elif kind == "replay":
        advice = f"give the file of replies after the colon; {available}"
    elif "://" in spec and "@" not in spec:
        advice = f"for a model at that address, write {quote(f'openai:MODEL@{spec}')}"
    elif kind not in _LIVE_KINDS and owner:
        advice = f"did you mean {quote(f'{owner}:{spec}')}?"
    elif colon:
        close = difflib.get_close_matches(kind, _LIVE_KINDS, n=1)
        advice = f"did you mean '{close[0]}:{rest}'?" if close else f"providers: {', '.join(_LIVE_KINDS)}"
    elif kind in _LIVE_KINDS:
        advice = f"write {kind}:MODEL, or add [judges.{kind}] to mixseek.toml"
    else:
        advice = f"{suggest(kind, ('rules', 'checks', 'replay', *configured))} {available}".lstrip()
    return ConfigurationError(f"unknown judge {spec!r}; {advice}")


def refuse_other_address(spec: str) -> ConfigurationError:
    """pydantic-ai takes no address from a spec: the rest of the name would go to the provider's public host."""
    provider, _, rest = spec.removeprefix(f"{_OTHER_PROVIDERS}:").partition(":")
    if provider in PROVIDERS:
        return refuse_address(provider, rest)
    return ConfigurationError(
        f"judge {_OTHER_PROVIDERS}:{provider}:…: no address can be given here, and a model whose own name holds an @ "
        f'needs a [judges.NAME] table with provider = "{_OTHER_PROVIDERS}" and model = "…" in mixseek.toml'
    )
