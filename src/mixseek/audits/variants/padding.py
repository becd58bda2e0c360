"""Padding: whole sentences that say nothing, as long as the text itself, before it or after it."""

from itertools import cycle

from mixseek.audits.variants.texts import JudgedText

_LEAST_PADDING, _MOST_PADDING = 300, 2_000


def neutral_text(text: JudgedText, characters: int) -> str:
    """Content-free words, exactly so many characters of them."""
    stop = "." if text.language == "en" else "。"
    words = _filler(text, characters)[: characters - 1].rstrip(" ,、，;.。")
    return words + stop * (characters - len(words))


def _padding(text: JudgedText) -> str:
    return _filler(text, min(_MOST_PADDING, max(_LEAST_PADDING, len(text.text))))


def _filler(text: JudgedText, wanted: int) -> str:
    """Whole sentences that say nothing, so many characters at least."""
    pool: list[str] = text.words("padding")
    between = " " if text.language == "en" else ""
    padding, endless = "", cycle(text.rng.sample(pool, len(pool)))
    while len(padding) < wanted:
        padding += between + next(endless)
    return padding.strip()


def pad_before(text: JudgedText) -> str:
    return f"{_padding(text)}\n\n{text.text}"


def pad_after(text: JudgedText) -> str:
    return f"{text.text}\n\n{_padding(text)}"
