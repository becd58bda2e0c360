"""What an address asks of the list of judgments, read strictly: a word that means nothing would show everything."""

from collections.abc import Mapping
from dataclasses import field

from mixseek.errors import ConfigurationError
from mixseek.index.listing import FILTERS, SORTS, YES_OR_NO, NamedJudgment
from mixseek.lazy_dataclass import dataclass

# Between conditions on metadata, which are one value of an address; in it, %1F.
ALSO = "\x1f"
# Judgments on a page, and the most that a program may ask for at once.
PAGE_ROWS, MOST_ROWS = 100, 1_000
# Everything that an address of the list may say. `lang` is about the page around it.
_NAMES = frozenset({*FILTERS, "q", "meta", "sort", "offset", "limit", "id", "by", "repeat", "as_of", "format", "lang"})


class ParameterError(ConfigurationError):
    """What an address says means nothing: the address is wrong, and nothing is missing."""


@dataclass(frozen=True, slots=True)
class ListRequest:
    """What a page of the list asks for; as in its address."""

    filters: Mapping[str, str] = field(default_factory=dict)
    words: str = ""
    metadata: tuple[tuple[str, str], ...] = ()
    sort: str = ""
    offset: int = 0
    limit: int = PAGE_ROWS
    named: NamedJudgment | None = None


def read_list_request(asked: Mapping[str, str]) -> ListRequest:
    """Reads the parameters of an address; raises ParameterError for what has no meaning."""
    if unknown := sorted(asked.keys() - _NAMES):
        known = ", ".join(sorted(_NAMES))
        raise ParameterError(f"{unknown[0]}={asked[unknown[0]]}: no such parameter; there is {known}")
    for name in sorted(YES_OR_NO & asked.keys()):
        if asked[name] not in ("", "yes", "no"):
            raise ParameterError(f"{name}={asked[name]}: there is yes and no; leave it out for both")
    sort = asked.get("sort", "")
    if sort not in SORTS:
        raise ParameterError(
            f"sort={sort}: there is {', '.join(filter(None, SORTS))}; leave it out for the dataset's order"
        )
    bounds = (("offset", 0, 10**12), ("limit", PAGE_ROWS, MOST_ROWS), ("repeat", 1, 10**6))
    numbers = {name: read_number(asked, name, default, most) for name, default, most in bounds}
    metadata = []
    for pair in filter(None, asked.get("meta", "").split(ALSO)):
        name, equals, value = pair.partition("=")
        if not equals:
            raise ParameterError(f"meta={pair}: write name=value, as in meta=language=ja")
        metadata.append((name, value))
    repeat = numbers["repeat"] if asked.get("repeat") else None
    return ListRequest(
        filters={name: asked[name] for name in FILTERS if asked.get(name)},
        words=asked.get("q", ""),
        metadata=tuple(metadata),
        sort=sort,
        offset=numbers["offset"],
        limit=numbers["limit"],
        named=NamedJudgment(asked["id"], asked.get("by") or None, repeat) if asked.get("id") else None,
    )


def read_number(asked: Mapping[str, str], name: str, default: int, most: int) -> int:
    """Raises ParameterError for what is none, or too large."""
    text = asked.get(name) or str(default)
    if not (text.isascii() and text.isdecimal() and int(text) <= most):
        raise ParameterError(f"{name}={text}: not a number from 0 to {most:,}")
    return int(text)
