"""The language of a page: messages are said from the table of their ids, `messages.toml`."""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import resources

from aiohttp import web

from mixseek.text.messages import Message, say, translate

LANGUAGES = {"en": "English", "ja": "日本語", "zh": "中文"}
_COOKIE = "mixseek-language"


@cache
def read_messages() -> Mapping[str, Mapping[str, str]]:
    """Id to language to words; `en` is the English that the others were translated from."""
    return tomllib.loads((resources.files("mixseek.web") / "messages.toml").read_text(encoding="utf-8"))


@cache
def words_of(language: str) -> Mapping[str, str]:
    """Id to words; nothing for English, which stands where it is said."""
    return {} if language == "en" else {name: words[language] for name, words in read_messages().items()}


def untranslated(text: str, why: str) -> str:
    """What cannot be said in a language is shown in English; tests refuse it here, and `why` tells them."""
    del why
    return str(text)


def say_in(language: str, text: str) -> str:
    """A message in a language. Text that is nobody's to translate must say so (`verbatim`), or it is no message."""
    if not isinstance(text, Message):
        return untranslated(text, "no message")
    if language == "en":
        return str(text)
    try:
        return translate(text, words_of(language))
    except KeyError as error:
        return untranslated(text, f"no words for {error} in {language}")


# The language that templates of the report, whose macros see no context, speak while a page is made.
_SPOKEN: ContextVar[str] = ContextVar("spoken", default="en")


def say_in_language(text: str, english: str | None = None, /, **parts: str | int) -> str:
    """What templates of the viewer call: with an id and its English, or with a message."""
    return say_in(_SPOKEN.get(), say(text, english, **parts))


@contextmanager
def saying(language: str) -> Iterator[None]:
    """Templates speak the language for as long as this lasts."""
    token = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def language_of(request: web.Request) -> str:
    """The language asked for in the address, chosen before, or preferred by the browser; else English."""
    accepted = request.headers.get("Accept-Language", "")
    preferred = [part.split(";")[0].strip().split("-")[0].lower() for part in accepted.split(",")]
    wanted = [request.query.get("lang"), request.cookies.get(_COOKIE), *preferred]
    return next((language for language in wanted if language in LANGUAGES), "en")


def keep_language(request: web.Request, response: web.Response) -> None:
    """Chosen once in the address, it stays."""
    if request.query.get("lang") in LANGUAGES:
        response.set_cookie(_COOKIE, request.query["lang"], path="/", httponly=True, samesite="Strict")
