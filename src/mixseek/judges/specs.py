"""From what a user writes after --judge to a judge."""

import difflib
from pathlib import Path

from mixseek.domain.ports import Judge
from mixseek.errors import ConfigurationError
from mixseek.judges.replay import DatasetReplayJudge, FileReplayJudge
from mixseek.judges.rules import RulesJudge

JUDGE_FORMS = {
    "rules": "the protocol's own rules, offline",
    "replay": "replies that stand in the dataset's column `reply`",
    "replay:FILE": "replies in a JSONL file, matched by id",
}


def make_judge(spec: str) -> Judge:
    """`rules`, `replay` or `replay:FILE`; a replay file is read through here, so that it fails before the run."""
    kind, colon, rest = spec.partition(":")
    match (kind, colon, rest):
        case ("rules", "", ""):
            return RulesJudge()
        case ("replay", "", ""):
            return DatasetReplayJudge()
        case ("replay", ":", path) if path:
            return FileReplayJudge.open(Path(path), spec)
        case _:
            raise ConfigurationError(f"unknown judge {spec!r}; {_advice(kind, rest)}")


def _advice(kind: str, rest: str) -> str:
    close = difflib.get_close_matches(kind, ("rules", "replay"), n=1)
    if close:
        return f"did you mean {close[0]!r}? available: {', '.join(JUDGE_FORMS)}"
    later = "; endpoint judges (provider:model) come with the next release" if rest else ""
    return f"available: {', '.join(JUDGE_FORMS)}{later}"
