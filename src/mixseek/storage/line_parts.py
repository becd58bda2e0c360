"""Journal lines in two parts: the names of sample and judge, and the rest, which is the same under other names."""

from functools import lru_cache

import orjson

from mixseek.domain.judgments import Outcome, Reply
from mixseek.domain.samples import Sample
from mixseek.storage.records import encode_outcome, encode_reply

# Such a line repeats its names further on.
_EXACT = b'"exact":'


# A run has a few judges and two kinds of line.
@lru_cache(maxsize=256)
def line_head(kind: str, judge: str) -> tuple[bytes, bytes]:
    """What stands before and after the sample's key; the rest begins with a comma."""
    name = orjson.dumps(judge.encode("utf-8", "replace").decode())
    return b'{"t":"%s","key":"' % kind.encode(), b'","judge":%s' % name


def settle_lines(sample: Sample, key: str, reply: Reply, outcome: Outcome, take: int) -> tuple[bytes, bytes] | None:
    """The rest of the reply's and of the outcome's line; None where a line names its sample or judge twice."""
    rests = (
        line_rest(encode_reply(key, reply), "reply", key, reply.judge),
        line_rest(encode_outcome(sample, key, reply.judge, outcome, take), "outcome", key, reply.judge),
    )
    first, second = rests
    return None if first is None or second is None else (first, second)


def line_rest(line: bytes, kind: str, key: str, judge: str) -> bytes | None:
    """None where the line is not of the plain form."""
    start, end = line_head(kind, judge)
    head = b"%s%s%s" % (start, key.encode(), end)
    return line[len(head) :] if line.startswith(head) and _EXACT not in line else None
