"""Counts and values as words, for every sentence that anybody is told."""

from collections.abc import Sequence


def count_text(count: int) -> str:
    return f"{count:,}"


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """`1 sample`, `2 samples`; `nouns` where an s does not do, as in `1 reply is`, `2 replies are`."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def shortened(text: str, limit: int) -> str:
    """So many characters, and a sign that there are more."""
    return text if len(text) <= limit else text[:limit] + "…"


def value_text(value: object, limit: int) -> str:
    """A setting beside another one: so much of it as tells which."""
    return "none" if value is None else shortened(str(value), limit)


def with_minus(digits: str) -> str:
    """Digits as people read them: a hyphen is overlooked, a minus is not. Files for programs keep the hyphen."""
    return digits.replace("-", "−")


def plain_number(value: float) -> str:
    """`2`, not `2.0`, with a true minus."""
    return with_minus(f"{value:g}")


# Names that a sentence can hold, and how much of each.
_MOST_NAMED, _NAME_CHARACTERS = 8, 60


def listed(names: Sequence[str]) -> str:
    """The first few, shortened, for a sentence; a line break or an escape sequence is shown by its codes."""
    printable = [name if name.isprintable() else repr(name) for name in names[:_MOST_NAMED]]
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return (
        ", ".join(name if len(name) <= _NAME_CHARACTERS else f"{name[:_NAME_CHARACTERS]}…" for name in printable) + more
    )
