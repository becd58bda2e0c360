"""Protocols and judges by name."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

from mixseek.domain.calls import LiveJudge
from mixseek.domain.ports import Judge, JudgeProtocol
from mixseek.errors import ConfigurationError
from mixseek.judges.endpoints import PROVIDERS, split_spec
from mixseek.judges.specs import is_live, make_judge, make_live_judge
from mixseek.protocols.registry import describe, load_protocol
from mixseek.settings.judge_settings import JudgeSettings

if TYPE_CHECKING:
    from mixseek.judges.replay import FileReplayJudge

AnyJudge = Judge | LiveJudge


def get_protocol(name: str, language: str | None = None) -> JudgeProtocol:
    """A built-in or declared protocol in the language asked for."""
    return load_protocol(name, language)


def get_judges(specs: Sequence[str]) -> tuple[Judge, ...]:
    """Judges that answer at once, in order; two of one name could not be told apart in the journal."""
    check_specs(specs)
    waited = [spec for spec in specs if is_live(spec, {})]
    if waited:
        raise ConfigurationError(
            f"judge {waited[0]!r} has to be waited for; `mixseek judge` does that, and journals every reply"
        )
    return tuple(make_judge(spec) for spec in specs)


def get_panel(
    specs: Sequence[str],
    configured: Mapping[str, JudgeSettings],
    environment: Mapping[str, str],
    timeout_seconds: float | None = None,
    *,
    takes_bundles: bool = False,
) -> tuple[AnyJudge, ...]:
    """All kinds of judges, in order; nothing is sent yet."""
    check_specs(specs)
    return tuple(
        make_live_judge(spec, with_timeout(spec, configured, timeout_seconds), environment)
        if is_live(spec, configured)
        else make_judge(spec, configured, takes_bundles=takes_bundles)
        for spec in specs
    )


def check_specs(specs: Sequence[str]) -> None:
    """At least one judge, and none twice."""
    if not specs:
        raise ConfigurationError("no judge; name one with --judge, e.g. --judge rules")
    repeated = {spec for spec in specs if specs.count(spec) > 1}
    if repeated:
        raise ConfigurationError(
            f"--judge {sorted(repeated)[0]} is given twice; name each judge once (--repeats asks one several times)"
        )


def with_timeout(
    spec: str, configured: Mapping[str, JudgeSettings], timeout_seconds: float | None
) -> Mapping[str, JudgeSettings]:
    """The settings with the timeout of the command line, which wins over the file."""
    if timeout_seconds is None:
        return configured
    settings = configured.get(spec)
    if settings is None:
        if spec.partition(":")[0] not in PROVIDERS:
            return configured
        provider, model, base_url = split_spec(spec)
        if not model:
            return configured
        settings = JudgeSettings(model=model, provider=provider, base_url=base_url)
    return {**configured, spec: replace(settings, timeout_seconds=timeout_seconds)}


def is_waited_for(judge: AnyJudge) -> TypeGuard[LiveJudge]:
    """Whether the judge is behind an endpoint or a model; rules and recorded replies answer at once."""
    return hasattr(judge, "fingerprint")


def answers_at_once(judge: AnyJudge) -> TypeGuard[Judge]:
    """The other kind."""
    return not is_waited_for(judge)


def replays_file(judge: AnyJudge) -> "TypeGuard[FileReplayJudge]":
    """Whether its replies stand in a file of their own; told without loading what reads such files."""
    return hasattr(judge, "matched_to")


def replays_rows(judge: AnyJudge) -> bool:
    """Whether its replies stand in the rows of the dataset."""
    return judge.name == "replay"


def protocol_document(name: str, language: str | None = None) -> dict[str, Any]:
    """Everything that is asked and demanded, as data."""
    # Here and not above: judging with rules does not pay for loading what scores.
    from mixseek.protocols.scored import ScoredProtocol
    from mixseek.protocols.scored_documentation import documentation

    protocol = get_protocol(name, language)
    page = documentation(protocol) if isinstance(protocol, ScoredProtocol) else None
    return {**describe(protocol), "documentation": page}


def describe_protocol(name: str, language: str | None = None) -> str:
    """The same for a person: what is scored and checked, then the prompt as a judge sees it, with an example."""
    document = protocol_document(name, language)
    lines = [
        f"protocol    {document['name']} {document['version']} ({document['language']})",
        f"hash        {document['hash']}",
    ]
    if document["documentation"] is not None:
        # Its first two lines are the name and the hash again.
        lines += ["", document["documentation"].split("\n", 3)[3].strip()]
    for message in document["messages"]:
        lines += ["", f"--- {message['role']} message ---", message["content"].rstrip()]
    for title, key in (("parameters", "parameters"), ("reply schema", "reply_schema")):
        lines += ["", f"--- {title} ---", json.dumps(document[key], ensure_ascii=False, indent=2)]
    return "\n".join(lines)
