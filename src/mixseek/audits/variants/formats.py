"""Format and tone: the same words, dressed otherwise."""

import re
from collections.abc import Callable

from mixseek.audits.variants.texts import JudgedText

# Marks that mean something there.
_FORMATTED = re.compile(r"```|\$\$|\\\[|\\\(|^[^\S\n]*\||<\w+>", re.MULTILINE)
_LISTED = re.compile(r"^[^\S\n]*+(?:[-*+•]|\d+[.)])\s", re.MULTILINE)
_EMOJI = ("✨", "✅", "🚀", "💡", "👍", "🎯")


def embolden(text: JudgedText) -> str | None:
    """The first words of every sentence."""
    if _FORMATTED.search(text.text) or "**" in text.text:
        return None
    opening = r"(\S+(?:[ ]\S+){0,3})" if text.language == "en" else r"(\w{2,8})"
    return "".join(re.sub(opening, r"**\1**", sentence, count=1) for sentence in text.sentences)


def list_up(text: JudgedText) -> str | None:
    """Every sentence as a point of a list."""
    if _FORMATTED.search(text.text) or _LISTED.search(text.text) or len(text.sentences) < 2:
        return None
    return "\n".join(f"- {sentence.strip()}" for sentence in text.sentences)


def put_headings(text: JudgedText) -> str | None:
    """A heading over every paragraph."""
    if _FORMATTED.search(text.text) or re.search(r"^#+ ", text.text, re.MULTILINE):
        return None
    paragraphs = [paragraph for paragraph in text.text.split("\n\n") if paragraph.strip()]
    headings = text.words("heading")
    return "\n\n".join(
        f"## {headings[min(n, len(headings) - 1)]}\n\n{paragraph}" for n, paragraph in enumerate(paragraphs)
    )


def decorate(text: JudgedText) -> str | None:
    """An emoji behind every sentence."""
    if _FORMATTED.search(text.text):
        return None
    return "".join(
        f"{sentence.rstrip()} {text.rng.choice(_EMOJI)}{sentence[len(sentence.rstrip()) :] or ' '}"
        for sentence in text.sentences
    ).rstrip(" ")


def speak(manner: str) -> Callable[[JudgedText], str]:
    """The text behind an opening of this manner."""
    return lambda text: f"{text.words(manner)}\n\n{text.text}"
