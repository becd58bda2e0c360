"""From the tokens of a field's value to the probability of each option that the field could hold. Pure.

Tokens are walked from the colon until only one option is left. At each, what could have come instead is an option, the
beginning of several, or none of them. What begins as the real token does is counted with it; what is none is *outside*;
and where more than a little of the probability could be anybody's, there is no number but a reason.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mixseek.domain.confidence import SUM_TOLERANCE, renormalise

# Where a reply's details keep the tokens, or why there are none.
LOGPROBS = "logprobs"
# As much of the probability may be on what nobody can tell: tokens that begin several options, and options that are not
# among the alternatives that the endpoint gives.
MOST_UNKNOWN = 0.05
# A whole number on a scale; longer scales are no list of options.
MOST_OPTIONS = 101
_BLANK = b" \t\r\n"
# What may stand behind a value.
_ENDS = frozenset(b"\",}] \t\r\n'")


class FieldShares(NamedTuple):
    """The probability of each option, over all of them, and what was on none."""

    shares: Mapping[str, float]
    # None where nobody knows.
    outside: float | None

    def document(self) -> dict[str, Any]:
        """What a judgment keeps of it."""
        return {"shares": dict(self.shares), "outside": self.outside}


class Token(NamedTuple):
    """A piece of the reply; `begin` counts bytes from the colon, and is negative where the token holds it."""

    text: bytes
    begin: int
    # What could have stood there, the token itself among it, with its probability.
    alternatives: tuple[tuple[bytes, float], ...]


class UnusableError(ValueError):
    """Why nothing can be said of a field, as a predicate."""


def read_shares(document: Mapping[str, Any], options: Mapping[str, str], given: str) -> FieldShares:
    """`options`: how each is written in JSON, without quotation marks; raises UnusableError."""
    if problem := document.get("problem"):
        raise UnusableError(str(problem))
    spellings = _Spellings(options)
    walk = _Walk(spellings)
    for token in _tokens(document.get("tokens")):
        if walk.step(token):
            return walk.result(given)
    raise UnusableError("has tokens that end before the value does")


class _Spellings:
    """Which options a piece of text behind a colon can still become."""

    def __init__(self, options: Mapping[str, str]) -> None:
        written = {name: spelling.encode() for name, spelling in options.items()}
        folded = {name: spelling.lower() for name, spelling in written.items()}
        # True is true; but where two options differ in that alone, M is not m.
        self._folds = len(set(folded.values())) == len(folded)
        self._written = folded if self._folds else written
        self.all = frozenset(options)

    def read(self, fragment: bytes) -> frozenset[str]:
        text = fragment.lstrip(_BLANK).removeprefix(b'"').lstrip(_BLANK)
        text = text.lower() if self._folds else text
        return frozenset(name for name, spelling in self._written.items() if self._can_become(text, spelling))

    @staticmethod
    def _can_become(text: bytes, spelling: bytes) -> bool:
        if len(text) <= len(spelling):
            return spelling.startswith(text)
        return text.startswith(spelling) and text[len(spelling)] in _ENDS


class _Walk:
    """The tokens one after the other, until one option is left."""

    def __init__(self, spellings: _Spellings) -> None:
        self._spellings = spellings
        self._left = spellings.all
        self._written = b""
        # Of the path that the reply took.
        self._path = 1.0
        self._masses: dict[str, float] = defaultdict(float)
        self._outside = self._unknown = 0.0

    def step(self, token: Token) -> bool:
        """Whether the value is settled by it."""
        here = self._after(token, token.text)
        if not here:
            raise UnusableError(f"has a token that is none of {', '.join(sorted(self._spellings.all))}")
        alongside, known = 0.0, set[str]()
        for text, probability in token.alternatives:
            options = self._after(token, text)
            known |= options
            if options == here:
                alongside += probability
            elif len(options) == 1:
                self._masses[min(options)] += self._path * probability
            elif options:
                self._unknown += self._path * probability
            else:
                self._outside += self._path * probability
        self._add_unseen(token, known)
        self._path *= alongside
        if len(here) == 1:
            self._masses[min(here)] += self._path
            return True
        self._left = here
        self._written += token.text[max(0, -token.begin) :]
        return False

    def result(self, given: str) -> FieldShares:
        """The shares of all options; the one that was given must be the one that the tokens spell."""
        if self._left and given not in self._masses:
            raise UnusableError(f"has tokens that spell something else than {given}")
        whole = math.fsum(self._masses.values())
        if self._unknown > MOST_UNKNOWN * (whole + self._unknown):
            raise UnusableError("has alternatives that leave too much open")
        shares = renormalise({name: self._masses.get(name, 0.0) for name in sorted(self._spellings.all)})
        if shares is None:
            raise UnusableError("has no probability on any option")
        return FieldShares(shares, min(1.0, max(0.0, self._outside)))

    def _after(self, token: Token, text: bytes) -> frozenset[str]:
        """What the value can become with this text in the token's place."""
        before = token.text[: -token.begin] if token.begin < 0 else b""
        if text.startswith(before):
            return self._spellings.read(self._written + text[len(before) :])
        # It has not come to the value yet, or goes another way before it.
        return self._spellings.all if before.startswith(text) else frozenset()

    def _add_unseen(self, token: Token, known: set[str]) -> None:
        """What is on no alternative: at most as much on each option that is not among them as on the last of these."""
        probabilities = [probability for _, probability in token.alternatives]
        unseen = max(0.0, 1.0 - math.fsum(probabilities))
        absent = len(self._left - known)
        possible = min(unseen, absent * min(probabilities)) if len(probabilities) > 1 or not absent else unseen
        self._unknown += self._path * possible
        self._outside += self._path * (unseen - possible)


def _tokens(given: Any) -> Iterator[Token]:
    """Raises UnusableError for what is no list of tokens with probabilities."""
    if not isinstance(given, list) or not given:
        raise UnusableError("has no tokens")
    for item in given:
        if not isinstance(item, list) or len(item) != 4 or not isinstance(item[1], int):
            raise UnusableError("has something in the place of a token")
        text, begin, logprob, top = item
        if not isinstance(top, list) or not top:
            raise UnusableError("has a token without alternatives")
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in top):
            raise UnusableError("has something in the place of an alternative")
        written = bytes_of(text)
        # What an endpoint says twice, it says once.
        alternatives = dict.fromkeys((bytes_of(piece), _probability(number)) for piece, number in top)
        if all(piece != written for piece, _ in alternatives):
            # A token that was drawn although it was not among the likeliest.
            alternatives[written, _probability(logprob)] = None
        whole = math.fsum(probability for _, probability in alternatives)
        if whole > 1.0 + SUM_TOLERANCE:
            raise UnusableError(f"has alternatives whose probabilities add up to {whole:.3g}")
        yield Token(written, begin, tuple(alternatives))


def _probability(logprob: Any) -> float:
    """Raises UnusableError for what is no logarithm of a probability."""
    is_number = isinstance(logprob, int | float) and not isinstance(logprob, bool)
    # A comparison with NaN is false.
    if not is_number or not logprob <= math.log1p(SUM_TOLERANCE):
        raise UnusableError(f"has {logprob!r} in the place of a log probability")
    return min(1.0, math.exp(logprob))


def bytes_of(piece: Any) -> bytes:
    """Text, or a list of bytes where they are no text by themselves; raises UnusableError."""
    if isinstance(piece, str):
        return piece.encode("utf-8", "surrogatepass")
    try:
        return bytes(piece)
    except (TypeError, ValueError):
        raise UnusableError("has something in the place of a token") from None


def spelt_integers(minimum: int, maximum: int) -> Mapping[str, str] | None:
    """The options of a scale of whole numbers; None where there are too many to be told apart."""
    count = maximum - minimum + 1
    return {str(level): str(level) for level in range(minimum, maximum + 1)} if count <= MOST_OPTIONS else None
