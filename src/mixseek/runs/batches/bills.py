"""What a provider bills for answers of a batch that stand in no line that can be read."""

from typing import NamedTuple

from mixseek.domain.ports import Usage
from mixseek.judges.batches.wires import BatchView
from mixseek.runs.batches.desk import Bill
from mixseek.storage.batch_ledger import Intent


class Unread(NamedTuple):
    """So many answers, what they took, and by which estimate they cost what they cost where nobody says."""

    requests: int
    usage: Usage
    estimated_usd: float | None = None


def billed_unread(bill: Bill, view: BatchView, like: Bill | None, intent: Intent) -> Unread:
    """The provider's own sum; where it only counts answers, each of them at the mean of those that can be read.

    `like` is the bill of another batch, for one of which nothing can be read; without any, what was expected counts.
    """
    missing = max(0, (view.succeeded or 0) - bill.answers)
    if view.usage is not None and bill.counted == bill.answers:
        sent = max(0, (view.usage.input_tokens or 0) - bill.input_tokens)
        replied = max(0, (view.usage.output_tokens or 0) - bill.output_tokens)
        return Unread(max(missing, int(sent > 0)), Usage(sent, replied))
    mean = bill if bill.spoken else like
    if mean is not None and mean.spoken:
        share = missing / mean.spoken
        return Unread(missing, Usage(round(mean.spoken_input_tokens * share), round(mean.output_tokens * share)))
    share = missing / max(1, len(intent.requests))
    expected = None if intent.expected_usd is None else intent.expected_usd * share
    return Unread(missing, Usage(round(intent.tokens * share), 0), expected)
