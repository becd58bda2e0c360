"""What an answer run came to, kept beside it: lists of answer runs read no journal.

It belongs to the journal as that was then, and is sealed: what is not ours is not believed.
"""

import hmac
from collections.abc import Mapping
from dataclasses import asdict

import orjson

from mixseek.datasets.answer_runs import OPEN, STATES
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.answers.summary import AnswerSummary
from mixseek.storage.durable import replacing
from mixseek.storage.seal import seal_text
from mixseek.storage.workspace import RunDirectory
from mixseek.storage.workspace_key import find_workspace_key, workspace_key

_ACCOUNT = b"answers"


@dataclass(frozen=True, slots=True)
class KeptAccount:
    """Answers by how they ended, and the known part of what they cost."""

    journal_bytes: int
    changed_ns: int
    states: Mapping[str, int]
    calls: int
    unpriced: int
    cost_usd: float


def keep_account(summary: AnswerSummary, journal: tuple[int, int]) -> None:
    """Writes it for lists; `journal` is what `state_of_journal` said before the journal was read."""
    key = workspace_key(summary.run.workspace)
    account = KeptAccount(
        *journal,
        {**{state: summary.count(state) for state in STATES}, OPEN: summary.open},
        calls=sum(target.calls for target in summary.accounts),
        unpriced=sum(target.unpriced for target in summary.accounts),
        cost_usd=summary.cost_usd or 0.0,
    )
    document = asdict(account)
    sealed = {**document, "seal": seal_text(key, _ACCOUNT, orjson.dumps(document))}
    with replacing(summary.run.headline) as stream:
        stream.write(orjson.dumps(sealed) + b"\n")


def read_account(run: RunDirectory) -> KeptAccount | None:
    """None where nobody has counted the journal as it is now, or not we."""
    key = find_workspace_key(run.workspace)
    try:
        document = orjson.loads(run.headline.read_bytes())
        seal = document.pop("seal")
        if key is None or not hmac.compare_digest(seal, seal_text(key, _ACCOUNT, orjson.dumps(document))):
            return None
        account = KeptAccount(**document)
        return account if state_of_journal(run) == (account.journal_bytes, account.changed_ns) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def state_of_journal(run: RunDirectory) -> tuple[int, int]:
    """Its length and the time of its last change."""
    status = run.journal.stat()
    return status.st_size, status.st_mtime_ns
