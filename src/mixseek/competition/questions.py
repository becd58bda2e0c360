"""Single questions of a competition or an evaluation: journaled before they count, cached, and asked for once."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path

from mixseek.domain.judgments import Missing
from mixseek.engine.budget import Budget
from mixseek.engine.call import CallContext
from mixseek.engine.journaling import GroupCommit
from mixseek.engine.questions import AnsweredBefore, Place, Questions
from mixseek.engine.replies import NoCache
from mixseek.round_controller.model_team import FreeTextProtocol
from mixseek.runs.live import Panel, open_cache, open_tracer
from mixseek.storage.journal import records
from mixseek.storage.journal.journal import JournalFile, read_records
from mixseek.storage.workspace_key import key_id, workspace_key
from mixseek.templating import fence_nonces

_NO_PROTOCOL = "0" * 64


class Counting(Counter[str]):
    """What reached the disk."""

    def advance(self, counts: Mapping[str, int]) -> None:
        self.update(counts)

    @property
    def sent(self) -> dict[str, int | float]:
        """The account for programs: calls, replies that the cache had, and US dollars as far as prices are known."""
        return {"calls": self["calls"], "cached": self["cached"], "cost_usd": self["cost_millionths"] / 1_000_000}


def recall_answers(path: Path) -> AnsweredBefore:
    """All replies of an execution: a competition has thousands of them, not millions."""
    before = AnsweredBefore()
    for record in read_records(path):
        match record:
            case records.SampleRecord(key=key):
                before.introduced.add(key)
            case records.ReplyRecord(key=key, reply=reply):
                place = Place(key, reply.judge, reply.details.get("take", 1))
                before.replies[place] = (*before.replies.get(place, ()), reply)
            case records.OutcomeRecord(key=key, judge=judge, take=take, outcome=outcome):
                if not isinstance(outcome, Missing):
                    before.concluded.add(Place(key, judge, take))
    return before


@contextlib.asynccontextmanager
async def open_questions(
    panel: Panel,
    journal: JournalFile,
    root: Path,
    counting: Counting,
    *,
    environment: Mapping[str, str],
    notify: Callable[[str], None],
) -> AsyncIterator[Questions]:
    """The panel before its endpoints, with what the journal and the workspace know; connections are given back."""
    options, key = panel.options, workspace_key(root)
    with (
        # Reply by reply, unlike a run: there are few of them, and each has cost a round's time.
        open_cache(root, is_wanted=options.use_cache, notify=notify) as cache,
        open_tracer(environment) as tracer,
    ):
        context = CallContext(
            # Each question brings its own.
            protocol=FreeTextProtocol(""),
            encoder=records,
            commits=GroupCommit(journal, counting),
            cache=cache or NoCache(),
            budget=Budget(options.max_calls, options.max_cost_usd),
            nonces_of=partial(fence_nonces, key),
        )
        slots = panel.make_slots(_NO_PROTOCOL, key, notify, tracer)
        async with Questions(context, slots, key_id(key), recall_answers(journal.path)) as questions:
            yield questions
