"""From a metric's `type` to a metric: a built-in, a protocol, or a class of the user's."""

import difflib
from collections.abc import Mapping

from mixseek.errors import ConfigurationError
from mixseek.evaluator.evaluator import describe_failure
from mixseek.evaluator.llm_metric import ClarityCoherence, Coverage, LLMJudgeMetric, LLMPlain, Relevance
from mixseek.evaluator.metric import BaseMetric, JudgeBench, MetricSetting
from mixseek.evaluator.protocol_metric import ProtocolMetric
from mixseek.protocols.registry import load_protocol, protocol_names
from mixseek.settings.import_paths import is_import_path, load_object

BUILT_IN: Mapping[str, type[LLMJudgeMetric]] = {
    "ClarityCoherence": ClarityCoherence,
    "Coverage": Coverage,
    "Relevance": Relevance,
    "LLMPlain": LLMPlain,
}
PROTOCOL_PREFIX = "protocol:"


def make_metric(kind: str, setting: MetricSetting, bench: JudgeBench, language: str | None = None) -> BaseMetric:
    """Raises ConfigurationError for whatever cannot work; asks nobody anything.

    `language` is that of a protocol of ours, None for its own; a protocol of the user's is in what it was written in.
    """
    where = f"metric {setting.name}"
    if kind in BUILT_IN:
        refuse_options(kind, setting)
        return BUILT_IN[kind](setting, bench)
    if kind in protocol_names() or kind.startswith(PROTOCOL_PREFIX):
        name = kind.removeprefix(PROTOCOL_PREFIX)
        protocol = load_protocol(name, language if name in protocol_names() else None)
        return ProtocolMetric(setting, protocol, bench.asker, bench.judge)
    if is_import_path(kind):
        return make_foreign(kind, load_object(kind, where), setting, bench)
    raise ConfigurationError(f"{where}: unknown type {kind!r}; {suggest_type(kind)}")


def refuse_options(kind: str, setting: MetricSetting) -> None:
    """A built-in is what it is; only the plain one is in the user's words."""
    if setting.options and kind != "LLMPlain":
        first = next(iter(setting.options))
        raise ConfigurationError(
            f"metric {setting.name}: {kind} takes no options (got {first!r}); use LLMPlain for criteria of your own"
        )


def make_foreign(path: str, found: object, setting: MetricSetting, bench: JudgeBench) -> BaseMetric:
    """A class of the user's, made; an LLM metric also gets its judge."""
    where = f"metric {setting.name}"
    if not isinstance(found, type) or not issubclass(found, BaseMetric):
        raise ConfigurationError(f"{where}: {path} is not a subclass of mixseek.evaluator.metric:BaseMetric")
    try:
        return found(setting, bench) if issubclass(found, LLMJudgeMetric) else found(setting)
    except ConfigurationError:
        raise
    # The user's own constructor may fail in any way there is.
    except Exception as error:
        raise ConfigurationError(f"{where}: {path} cannot be made ({describe_failure(error)})") from error


def suggest_type(kind: str) -> str:
    """The nearest one, and all there are."""
    known = [*BUILT_IN, *protocol_names()]
    close = difflib.get_close_matches(kind, known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}available: {', '.join(known)}, {PROTOCOL_PREFIX}FILE.toml, or package.module:Class"
