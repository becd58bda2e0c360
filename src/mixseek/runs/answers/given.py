"""Options of `answer` as a request, whichever door they came through."""

from collections.abc import Mapping
from typing import Any

from mixseek.runs.answers.request import AnswerRequest
from mixseek.runs.requests.given_options import live_options, several
from mixseek.runs.requests.request import ClusterOptions
from mixseek.settings.models import Settings
from mixseek.settings.options import AnswerOptions


def make_answer_request(questions: str, given: Mapping[str, Any], settings: Settings, **known: Any) -> AnswerRequest:
    """`known` is what only the caller knows."""
    fields: dict[str, Any] = {
        "targets": tuple(several(given.get("targets", ()))),
        "variants": given.get("variants", {}),
        "run": given.get("run"),
        "mapping": given.get("mapping", {}),
        "limit": given.get("limit"),
        "longest_line": settings.judge.longest_line,
        "configured": settings.judges,
        "live": live_options(given, AnswerOptions),
        "cluster": ClusterOptions(given.get("address"), given.get("shards")) if "on" in given else None,
    }
    return AnswerRequest(questions=questions, **{**fields, **known})
