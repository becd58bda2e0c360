"""From what the engine judged to the lines of a journal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mixseek.domain.judgments import Outcome, Reply
from mixseek.domain.samples import Sample
from mixseek.engine.one import Judged
from mixseek.storage.records import encode_outcome, encode_reply, encode_sample


@dataclass(frozen=True, slots=True)
class JournalEncoder:
    """The sample once, then for each judge its reply before what was made of it."""

    def __call__(self, sample: Sample, results: Sequence[Judged]) -> Iterator[bytes]:
        key = sample.key()
        yield encode_sample(sample, key)
        for judged in results:
            if judged.reply is not None:
                yield encode_reply(key, judged.reply)
            yield encode_outcome(sample, key, judged.judge, judged.outcome)


@dataclass(frozen=True, slots=True)
class JournalLines:
    """Line by line, for judges whose replies come one at a time."""

    def sample(self, sample: Sample, key: str) -> bytes:
        return encode_sample(sample, key)

    def reply(self, key: str, reply: Reply) -> bytes:
        return encode_reply(key, reply)

    def outcome(self, sample: Sample, key: str, judge: str, outcome: Outcome, take: int, lost_tries: int = 0) -> bytes:
        return encode_outcome(sample, key, judge, outcome, take, lost_tries)
