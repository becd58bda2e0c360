"""What an address asks for, read strictly: a word that means nothing would show everything, or what nobody meant."""

from collections.abc import Collection, Mapping
from dataclasses import field
from functools import wraps

from aiohttp import web
from multidict import MultiMapping

from mixseek.domain.judgments import Status
from mixseek.errors import ConfigurationError
from mixseek.index.listing import FILTERS, SORTS, YES_OR_NO, NamedJudgment
from mixseek.lazy_dataclass import dataclass
from mixseek.web.languages import LANGUAGES
from mixseek.web.security import Handler

# Between conditions on metadata, which are one value of an address; in it, %1F.
ALSO = "\x1f"
# Judgments on a page, and the most that a program may ask for at once.
PAGE_ROWS, MOST_ROWS = 100, 1_000
# What narrows a list, and everything that an address of it may say.
NARROWING = (*FILTERS, "q", "meta")
LISTING = (*NARROWING, "sort", "offset", "limit", "id", "by", "repeat", "as_of")
# What the page around everything is told: how it speaks and looks; `key` is of the link that opened it.
_OF_ANY_PAGE = ("lang", "theme", "key")
# Names that have few values, wherever they stand; nothing is as if the name were not there.
_WORDS: Mapping[str, Collection[str]] = {
    **dict.fromkeys(YES_OR_NO, ("yes", "no")),
    "open": ("yes", "no"),
    "status": tuple(Status),
    "lang": tuple(LANGUAGES),
    "theme": ("light", "dark"),
    "kind": ("worse",),
}


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


def taking(handler: Handler, *names: str, several: Collection[str] = ()) -> Handler:
    """The handler behind a check of its address: no other names than these, and only `several` more than once."""

    @wraps(handler)
    async def checked(request: web.Request) -> web.StreamResponse:
        refuse_unknown(request.query, (*names, *several), several)
        return await handler(request)

    return checked


def refuse_unknown(asked: MultiMapping[str], names: Collection[str], several: Collection[str] = ()) -> None:
    """Raises ParameterError, in the letters of whoever asked."""
    for name, value in asked.items():
        if name not in names and name not in _OF_ANY_PAGE:
            known = f"there is {', '.join(sorted(names))}" if names else "this address takes none"
            raise ParameterError(f"{name}={value}: no such parameter; {known}")
        if name not in several and len(asked.getall(name)) > 1:
            raise ParameterError(f"{name}={asked.getall(name)[1]}: {name} stands in the address twice; leave one")
        if value and value not in _WORDS.get(name, (value,)):
            raise ParameterError(f"{name}={value}: there is {', '.join(_WORDS[name])}")


def read_filters(asked: Mapping[str, str]) -> dict[str, str]:
    """What narrows judgments and needs no search."""
    return {name: asked[name] for name in FILTERS if asked.get(name)}


def read_list_request(asked: Mapping[str, str]) -> ListRequest:
    """Reads the parameters of an address; raises ParameterError for what has no meaning."""
    sort = asked.get("sort", "")
    if sort not in SORTS:
        raise ParameterError(
            f"sort={sort}: there is {', '.join(filter(None, SORTS))}; leave it out for the dataset's order"
        )
    metadata = []
    for pair in filter(None, asked.get("meta", "").split(ALSO)):
        name, equals, value = pair.partition("=")
        if not equals:
            raise ParameterError(f"meta={pair}: write name=value, as in meta=language=ja")
        metadata.append((name, value))
    repeat = read_number(asked, "repeat", 1, 10**6, least=1)
    return ListRequest(
        filters=read_filters(asked),
        words=asked.get("q", ""),
        metadata=tuple(metadata),
        sort=sort,
        offset=read_number(asked, "offset", 0, 10**12),
        limit=read_number(asked, "limit", PAGE_ROWS, MOST_ROWS, least=1),
        named=NamedJudgment(asked["id"], asked.get("by") or None, repeat if asked.get("repeat") else None)
        if asked.get("id")
        else None,
    )


def read_number(asked: Mapping[str, str], name: str, default: int, most: int, least: int = 0) -> int:
    """Raises ParameterError for what is none, too small or too large."""
    text = asked.get(name) or str(default)
    is_whole = text.isascii() and text.isdecimal() and len(text) <= len(str(most))
    if not is_whole or not least <= int(text) <= most:
        raise ParameterError(f"{name}={text}: not a number from {least:,} to {most:,}")
    return int(text)


def read_name(asked: Mapping[str, str], name: str, what: str) -> str:
    """What must be named; raises ParameterError where it is not."""
    if not asked.get(name):
        raise ParameterError(f"{name}= is missing: name {what}")
    return asked[name]
