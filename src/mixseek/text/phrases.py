"""Counts and values as words, for every sentence that anybody is told."""


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


def plain_number(value: float) -> str:
    """`2`, not `2.0`."""
    return f"{value:g}"
