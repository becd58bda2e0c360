"""The words of the interface, by the English ones; a sentence that nobody has translated stays English."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import resources

from aiohttp import web

LANGUAGES = {"en": "English", "ja": "日本語", "zh": "中文"}
_COOKIE = "mixseek-language"
_NUMBER = re.compile("[0-9](?:[0-9.,]*[0-9])?")


@cache
def read_words() -> Mapping[str, Mapping[str, str]]:
    """Language to English to word."""
    return tomllib.loads((resources.files("mixseek.web") / "words.toml").read_text(encoding="utf-8"))


def words_of(language: str) -> Mapping[str, str]:
    return {english: said[language] for english, said in read_words().items() if language in said}


def sayer(language: str) -> Callable[[str], str]:
    """What templates call with an English sentence; one with numbers is known by its words."""
    words = words_of(language)

    def say(english: str) -> str:
        found = words.get(english) or words.get(_NUMBER.sub("#", english))
        numbers = _NUMBER.findall(english)
        return re.sub("#([0-9])", lambda place: numbers[int(place[1]) - 1], found) if found else english

    return say


# The one that templates of the report, whose macros see no context, call while a page is made.
_SAYING: ContextVar[Callable[[str], str]] = ContextVar("saying", default=str)


def say_in_language(english: str) -> str:
    return _SAYING.get()(english)


@contextmanager
def saying(language: str) -> Iterator[None]:
    """Templates speak the language for as long as this lasts."""
    token = _SAYING.set(sayer(language))
    try:
        yield
    finally:
        _SAYING.reset(token)


def language_of(request: web.Request) -> str:
    """As asked for in the address, as chosen before, or as the browser prefers; else English."""
    accepted = request.headers.get("Accept-Language", "")
    preferred = [part.split(";")[0].strip().split("-")[0].lower() for part in accepted.split(",")]
    wanted = [request.query.get("lang"), request.cookies.get(_COOKIE), *preferred]
    return next((language for language in wanted if language in LANGUAGES), "en")


def keep_language(request: web.Request, response: web.Response) -> None:
    """Chosen once in the address, it stays."""
    if request.query.get("lang") in LANGUAGES:
        response.set_cookie(_COOKIE, request.query["lang"], path="/", httponly=True, samesite="Strict")
