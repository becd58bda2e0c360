"""Tables of `prompt_text` and `reply_text`."""

from collections.abc import Iterator

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_row, opening
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.answers import answered, read_answer
from mixseek.datasets.importers.samples.columns import common_fields
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import question_text

_SIGNATURES = (in_row("reply_text", "prompt_text"),)


def read_replies(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """A row is a sample."""
    for number, row in sniffed.rows(notices):
        fields = common_fields(row, number, ("prompt_text", "reply_text"))
        yield LoggedSample(question=question_text(row["prompt_text"]), **answered(read_answer(row["reply_text"])), **fields)


FORMAT = LogFormat("prompt_reply", "table of prompts and replies", _SIGNATURES, opening(read_replies))
