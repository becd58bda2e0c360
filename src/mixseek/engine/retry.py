"""The one retry policy: what is tried again, after how long, and when it is enough. Pure."""

from mixseek.errors import TransientJudgeError
from mixseek.lazy_dataclass import dataclass

# An endpoint that has answered is worth waiting for; one that never has is more likely misspelt, or not started.
PATIENCE_SECONDS, FIRST_PATIENCE_SECONDS = 600.0, 10.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential backoff with jitter; `patience_seconds` is how long an endpoint may go without one success."""

    tries: int = 8
    first_delay_seconds: float = 0.5
    longest_delay_seconds: float = 30.0
    # Failures in a row, without a success in between, that mean: the endpoint is down, not the request unlucky.
    # Lower than `tries`, so that an outage is recognised before it costs a sample its reply.
    failures_until_down: int = 5
    first_probe_seconds: float = 1.0
    longest_probe_seconds: float = 10.0
    patience_seconds: float = PATIENCE_SECONDS
    # The same for one that has not answered yet, nothing being in flight that might; None: no other.
    first_patience_seconds: float | None = None

    @classmethod
    def of_patience(cls, seconds: float | None) -> "RetryPolicy":
        """Waits as long as the user says from the first request on; by default, not long for a first answer."""
        if seconds is None:
            return cls(first_patience_seconds=FIRST_PATIENCE_SECONDS)
        return cls(patience_seconds=seconds)

    def delay_before_retry(self, failures: int, error: TransientJudgeError, jitter: float) -> float:
        """Seconds until the next try; `jitter` is in 0..1. What the endpoint named is kept, with a little on top."""
        backoff = min(self.longest_delay_seconds, self.first_delay_seconds * 2.0 ** min(failures - 1, 30))
        if error.retry_after_seconds is not None:
            return error.retry_after_seconds + jitter * self.first_delay_seconds
        # Never less than half: a retry at once meets what the first one met.
        return backoff * (0.5 + jitter / 2)

    def delay_before_probe(self, probes: int) -> float:
        """Seconds until a silent endpoint is tried again, after `probes` in vain."""
        return min(self.longest_probe_seconds, self.first_probe_seconds * 2.0 ** min(probes, 30))
