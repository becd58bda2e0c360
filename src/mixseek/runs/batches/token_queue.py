"""How many tokens may wait with a provider at once: what the settings say, and what refusals have taught."""

import re

from mixseek.judges.batches.wires import MARGIN

# "Limit: 90,000 enqueued tokens", as OpenAI says it.
_TOLD = re.compile(r"[Ll]imit:?\s*([\d,]+)\s*enqueued tokens")
# Smaller than this share of what was told, or of what was tried first, is never tried: something else is in the way.
_LEAST_SHARE = 1 / 16


class TokenQueue:
    """`most` is None as long as nobody has set a limit, and none was met."""

    def __init__(self, given: int | None) -> None:
        self.most = given
        self._given = given
        self._least = 1

    def refused(self, tokens: int, reason: str) -> bool:
        """A batch of so many was too much; whether a smaller one is worth a try."""
        stated = _TOLD.search(reason)
        limit = int(stated[1].replace(",", "") or 0) if stated is not None else 0
        if self._least == 1:
            self._least = max(1, int((limit or tokens) * _LEAST_SHARE))
        before = min(self.most or tokens, tokens)
        # Their counting is not ours: what should have fitted is halved all the same.
        fitting = int(limit * MARGIN)
        smaller = fitting if 0 < fitting < before else before // 2
        self.most = min(before, max(self._least, smaller))
        return self.most < before

    def taken(self) -> None:
        """A batch was answered: more may fit by now."""
        if self.most is not None and self.most != self._given:
            grown = self.most + self.most // 2
            self.most = grown if self._given is None else min(grown, self._given)
