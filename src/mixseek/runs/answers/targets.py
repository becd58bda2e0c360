"""Who answers: whatever can be named as a judge and writes texts, under a name that tells one target from another."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from mixseek.errors import ConfigurationError
from mixseek.runs.requests.named import AnyJudge, NamedJudge, get_panel, is_remote
from mixseek.settings.models import JudgeSettings

_RECORDED = "replay:"
# What judges texts and writes none.
_NO_WRITERS = ("rules", "checks", "log", "replay")


def get_targets(
    targets: Sequence[NamedJudge],
    configured: Mapping[str, JudgeSettings],
    environment: Mapping[str, str],
    timeout_seconds: float | None = None,
) -> tuple[AnyJudge, ...]:
    """All kinds of targets, in order; nothing is sent yet."""
    names = [target if isinstance(target, str) else target.name for target in targets]
    if not names:
        raise ConfigurationError("no target; name who answers with --target, e.g. --target openai:gpt-5-mini")
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ConfigurationError(
            f"--target {repeated} is given twice; name each target once (--repeats asks one several times)"
        )
    for name in names:
        if name in _NO_WRITERS or name.startswith("log:"):
            more = "; recorded answers are replay:FILE, with ids QUESTION/VARIANT" if name == "replay" else ""
            raise ConfigurationError(f"--target {name}: writes no answers; name a model, or a function of yours{more}")
    try:
        return get_panel(targets, configured, environment, timeout_seconds)
    except ConfigurationError as error:
        # The words are those of judges, whose specs these are; of these, some write nothing.
        message = str(error).replace("unknown judge ", "unknown target ", 1)
        message = message.replace(
            "available: rules, checks, replay, replay:FILE, log:SCORER, ", "available: replay:FILE, ", 1
        )
        raise ConfigurationError(message.replace("judge '", "target '", 1)) from error


def describe_target(target: AnyJudge) -> str:
    """Who wrote a response: the model, as identities are held against each other, with the table's name if it has one.

    Two tables of one model are two targets, and both are that model.
    """
    if target.name.startswith(_RECORDED):
        # The file, or whose answers of it are taken.
        path, _, writer = target.name.removeprefix(_RECORDED).partition("#")
        return writer or Path(path).stem
    model = target.description.get("model") if is_remote(target) else None
    return name_target(target.name, model if isinstance(model, str) else None)


def name_target(name: str, model: str | None) -> str:
    """`openai:gpt-5-mini` is gpt-5-mini; a table `hot` of that model is `gpt-5-mini (hot)`."""
    if not model or model == name:
        return name
    return model if name.endswith(f":{model}") or f":{model}@" in name else f"{model} ({name})"
