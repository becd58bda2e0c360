"""Who sits before the samples: judges that answer at once, and judges that have to be waited for."""

from collections.abc import Callable
from dataclasses import field

from mixseek.domain.ports import Judge, LiveJudge, Usage
from mixseek.engine.desk import Desk
from mixseek.engine.endpoint import Endpoint
from mixseek.engine.prefixes import PrefixQueue
from mixseek.engine.rates import RateLimit
from mixseek.engine.replies import RequestKeys
from mixseek.lazy_dataclass import dataclass

# Tokens, and the model that answered as far as it is known, to US dollars; None where nobody knows the price.
Price = Callable[[Usage, str | None], float | None]


def unpriced(usage: Usage, answered_by: str | None) -> float | None:
    """A price that nobody knows."""
    return None


@dataclass(frozen=True, slots=True)
class OfflineSlot:
    """Rules, or recorded replies; asked once, however many repeats there are: the answer is always the same."""

    judge: Judge
    repeats: int = field(default=1, init=False)

    @property
    def name(self) -> str:
        return self.judge.name


@dataclass(frozen=True, slots=True)
class LiveSlot:
    """A judge behind an endpoint, with what the engine must know about it."""

    judge: LiveJudge
    endpoint: Endpoint
    keys: RequestKeys
    repeats: int = 1
    max_reasks: int = 1
    price: Price = unpriced
    requests: RateLimit | None = None
    tokens: RateLimit | None = None
    # A response that was cut off is asked for once more, with twice the limit.
    retries_cut_off: bool = False
    # Where its requests are left for batches; None where each is sent at once.
    desk: Desk | None = None
    # Where its endpoint caches what prompts begin with; None where nobody gains by waiting for another.
    prefixes: PrefixQueue | None = None
    # The judge's; looked at many times for each sample.
    name: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.judge.name)


Slot = OfflineSlot | LiveSlot
