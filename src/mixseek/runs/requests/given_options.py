"""Options as a request, whichever door they came through: values by the names of the table, checked by the door."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from mixseek.checks.declare import read_checks
from mixseek.checks.settled import CheckSet
from mixseek.domain.counting import read_counting
from mixseek.protocols.declaration import read_toml_text
from mixseek.runs.requests.request import CHECKS, BatchOptions, ClusterOptions, JudgeRequest, LiveOptions, PairBudget
from mixseek.settings.declared import declarations
from mixseek.settings.models import Settings
from mixseek.settings.options import JudgeOptions

GATES = ("fail_under", "max_invalid", "max_undecided", "max_unverified", "max_cut_off", "max_failed_checks")


def several(given: Any) -> Sequence[Any]:
    """One is one, not its letters."""
    return given if isinstance(given, Sequence) and not isinstance(given, str) else (given,)


def live_options(given: Mapping[str, Any], table: type = JudgeOptions) -> LiveOptions:
    """How endpoints are asked; what is not given is the default."""
    known = declarations(table)
    return LiveOptions(
        **{known[name].live or "": value for name, value in given.items() if name in known and known[name].live},
        batches=batch_options(given),
    )


def batch_options(given: Mapping[str, Any]) -> BatchOptions:
    """Whose requests are left in batches, and how these are waited for."""
    files = given.get("batch_files")
    options = BatchOptions(
        is_for_all=bool(given.get("batch")) or files is not None,
        waits=bool(given.get("wait")),
        asks_rest_live=given.get("batch_rest") == "live",
        files=None if files is None else Path(files).absolute(),
    )
    return options if given.get("poll") is None else replace(options, poll_seconds=given["poll"])


def make_request(data: str, given: Mapping[str, Any], settings: Settings, **known: Any) -> JudgeRequest:
    """What is given wins over the environment, that over mixseek.toml; `known` is what only the caller knows."""
    judges = tuple(known.get("judges", given.get("judges", settings.judge.judges)))
    # Whoever judges by checks alone, and says nothing of a protocol, asks for nothing but them.
    is_checked_alone = judges == (CHECKS,) and "protocol" not in settings.judge.model_fields_set
    protocol = given.get("protocol", CHECKS if is_checked_alone else settings.judge.protocol)
    is_loaded = not isinstance(protocol, str | os.PathLike)
    panel, counting = given.get("panel"), read_counting(given.get("cut_off"), given.get("undecided"))
    fields: dict[str, Any] = {
        "protocol": protocol if is_loaded else str(protocol),
        "checks": read_given_checks(given.get("checks", ())),
        "language": given.get("language", None if is_loaded or is_checked_alone else settings.judge.language),
        "judges": judges,
        "cascade": given.get("cascade", settings.judge.cascade and panel is None),
        "panel": panel,
        "cut_off": counting.cut_off,
        "undecided": counting.undecided,
        "workers": given.get("workers", settings.judge.workers),
        "longest_line": settings.judge.longest_line,
        "configured": settings.judges,
        "gates": {name: given[name] for name in (*GATES, "max_drop") if name in given},
        "live": live_options(given),
        "cluster": ClusterOptions(given.get("address"), given.get("shards")) if "on" in given else None,
        "budget": PairBudget(given["budget"], given.get("top", 3) or None) if "budget" in given else None,
        "required_cards": tuple(map(Path, several(given.get("require_card", ())))),
        "card_max_age": timedelta(days=given["card_max_age"]) if "card_max_age" in given else None,
    }
    return JudgeRequest(data=data, **{**fields, **plain_fields(given), **known})


def read_given_checks(given: Any) -> CheckSet:
    """The checks of an option; files of schemas lie where the command was given."""
    lines = (given,) if isinstance(given, str) else given
    return read_checks(lines, lambda name: read_toml_text(Path(name)))


def plain_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the request that are an option's value and nothing else."""
    fields: dict[str, Any] = {}
    for name, declared in declarations(JudgeOptions).items():
        if name in given and declared.request is not None:
            is_converted = declared.typed_as in (str, Path)
            fields[declared.request] = declared.typed_as(given[name]) if is_converted else given[name]
    return fields
