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
    match spec.partition(":"):
        case ("rules", "", ""):
            return RulesJudge()
        case ("replay", "", ""):
            return DatasetReplayJudge()
        case ("replay", ":", path) if path:
            return FileReplayJudge.open(Path(path), spec)
        case (kind, colon, _):
            raise ConfigurationError(f"unknown judge {spec!r}; {_advice(kind, bool(colon))}")


def _advice(kind: str, has_colon: bool) -> str:
    available = f"available: {', '.join(JUDGE_FORMS)}"
    if kind == "rules":
        return f"'rules' takes nothing after the colon; {available}"
    if kind == "replay":
        return f"give the file of replies after the colon; {available}"
    if has_colon:
        return f"endpoint judges (provider:model) come with the next release; {available}"
    close = difflib.get_close_matches(kind, ("rules", "replay"), n=1)
    return f"did you mean {close[0]!r}? {available}" if close else available
