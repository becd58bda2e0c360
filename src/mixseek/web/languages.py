"""The words of the interface, by the English ones; a sentence that nobody has translated stays English."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
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


@cache
def _sentences_with_names(language: str) -> Sequence[tuple[re.Pattern[str], Sequence[str], str]]:
    """Those with a star: as a pattern, what each of its groups is (a number or a name), and what is said."""
    found = []
    for english, said in words_of(language).items():
        if "*" in english:
            parts = re.split("([#*])", english)
            pattern = "".join({"#": f"({_NUMBER.pattern})", "*": "(.+)"}.get(part, re.escape(part)) for part in parts)
            found.append((re.compile(pattern, re.DOTALL), parts[1::2], said))
    return found


# Neither Japanese nor Chinese has a plural.
_SINGULAR = re.compile("(?<![0-9.,])1 ((?:labelled )?(?:sample|question|label|pair|text|call|judge))(?![a-z])")


def sayer(language: str) -> Callable[[str], str]:
    """What templates call with an English sentence; one with numbers (#) or names (*) is known by its other words.

    One that is not known as a whole is said clause by clause, if every clause is known.
    """
    words = words_of(language)

    def find(english: str, *marks: str) -> str | None:
        found = words.get(english) or words.get(_NUMBER.sub("#", english))
        parts = {"#": _NUMBER.findall(english)}
        if found is None and marks:
            # Before names: one that ends a clause would take all that follows.
            clauses = [find(clause, *marks[1:]) for clause in english.split(marks[0])]
            if all(clauses):
                return words[marks[0]].join(filter(None, clauses))
        if found is None:
            for pattern, kinds, said in _sentences_with_names(language):
                if match := pattern.fullmatch(english):
                    found = said
                    told = list(zip(kinds, match.groups(), strict=True))
                    parts = {one: [text for kind, text in told if kind == one] for one in "#*"}
                    break
        return re.sub("([#*])([0-9])", lambda place: parts[place[1]][int(place[2]) - 1], found) if found else None

    def say(english: str) -> str:
        plural = _SINGULAR.sub(r"1 \1s", english)
        if english.endswith(".") and (told := find(plural[:-1], "; ", ", ")):
            return f"{told}。"
        return (find(english) or find(plural, "; ", ", ") or english) if words else english

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
