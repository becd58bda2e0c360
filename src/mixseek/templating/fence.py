"""Fences around judged text: whoever wrote the text cannot know the nonce, so cannot close the fence."""

import hashlib
import hmac
import re
from collections.abc import Iterable

# 96 bits: not to be guessed, and still short enough for a judge to copy and compare.
NONCE_LENGTH = 24
_LABEL = re.compile(r"[A-Z][A-Z0-9_]*")
_DIGITS = re.compile(r"[0-9]+")


def fence_nonce(workspace_key: bytes, sample_key: str) -> str:
    """The same for a sample in every run of a workspace, so that requests hit the cache; unknown outside of it."""
    # The prefix keeps these digests apart from whatever else the workspace key may sign.
    return hmac.digest(workspace_key, b"fence\x00" + sample_key.encode(), "sha256").hex()[:NONCE_LENGTH]


def unused_nonce(nonce: str, texts: Iterable[str]) -> str:
    """`nonce`, or, should it stand in a text, the first of its descendants that stands in none of them."""
    # A nonce holds no line break, so it cannot stand across two of them. Whatever its case: a judge may read any.
    text = "\n".join(texts)
    # Folding a long text takes most of the time, and nothing folds to a digit: without the nonce's digits it is unused.
    if max(_DIGITS.findall(nonce), key=len, default="") not in text:
        return nonce
    text = text.casefold()
    while nonce.casefold() in text:
        nonce = hashlib.sha256(nonce.encode()).hexdigest()[:NONCE_LENGTH]
    return nonce


def fence(text: str, label: str, nonce: str) -> str:
    """The text, to the letter, between two lines that only the nonce's holder could have written."""
    if not _LABEL.fullmatch(label) or not (nonce.isascii() and nonce.isalnum()):
        raise ValueError(f"a fence needs an upper-case label and an alphanumeric nonce, not {label!r} and {nonce!r}")
    nonce = unused_nonce(nonce, [text])
    return f"<<<{label} {nonce}>>>\n{text}\n<<<END {label} {nonce}>>>"
