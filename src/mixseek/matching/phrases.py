"""What the rules know of languages: the phrases they look for, and what a dataset is written in."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(resources.files("mixseek.matching").joinpath("phrases.toml").read_text(encoding="utf-8"))


def table(name: str) -> dict[str, str]:
    """One table of `phrases.toml`."""
    return dict(_tables()[name])


class Phrases:
    """The patterns of one table, by name, compiled when one is first used: a short command needs few of them.

    Lines of an entry are joined, and `{name}` stands for another entry.
    """

    def __init__(self, name: str) -> None:
        self.table = name
        self.texts = {entry: re.sub(r"(?:\A|\n)\s*", "", text) for entry, text in table(name).items()}

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name in {"table", "texts"} or name not in self.texts:
            raise AttributeError(f"no such entry in phrases.toml: {name}")
        pattern = re.compile(self._written_out(self.texts[name]))
        setattr(self, name, pattern)
        return pattern

    def _written_out(self, text: str) -> str:
        return _ENTRY.sub(lambda match: self._written_out(self.texts[match[1]]), text)


# Not \text{...}, whose braces are escaped.
_ENTRY = re.compile(r"\{([a-z_]+)\}")
_KEY = 3
_NO_STEM: tuple[str, ...] = ()


class Lexicon:
    """Words and beginnings of words ("fabricat*"), looked up by their first letters."""

    def __init__(self, *entries: str) -> None:
        words = " ".join(entries).split()
        self.whole = frozenset(word for word in words if not word.endswith("*"))
        stems = [word[:-1] for word in words if word.endswith("*")]
        heads = {stem[:_KEY] for stem in stems}
        self.stems = {head: tuple(stem for stem in stems if stem[:_KEY] == head) for head in heads}

    def __contains__(self, word: str) -> bool:
        return word in self.whole or word.startswith(self.stems.get(word[:_KEY], _NO_STEM))


# A dataset's language is told by its scripts: enough to say that a prompt speaks another one.
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9d]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
# Of each text; the beginning tells, and a megabyte costs nothing.
_HEAD = 2_000
# Fewer letters say nothing: a dataset of numbers and option letters has no language.
_MIN_LETTERS = 20
# A word of Latin takes several letters where an ideograph is one.
_LETTERS_PER_WORD = 5
# The share of kana in Japanese prose is about a half; names and quotations bring a little into Chinese.
_MIN_KANA = 0.2
_MIN_SHARE = 0.8


def written_in(texts: Iterable[str]) -> str | None:
    """`en`, `ja` or `zh`; None where the scripts are mixed, others, or too few letters to tell.

    Latin letters count as English, which our prompts have; French data are as well served by that.
    """
    heads = "".join(text[:_HEAD] for text in texts)
    kana, han, latin = (len(script.findall(heads)) for script in (_KANA, _HAN, _LATIN))
    if kana + han + latin < _MIN_LETTERS:
        return None
    words = kana + han + latin / _LETTERS_PER_WORD
    if latin / _LETTERS_PER_WORD / words >= _MIN_SHARE:
        return "en"
    if kana / (kana + han) >= _MIN_KANA:
        return "ja"
    return "zh" if han / words >= _MIN_SHARE / 2 else None
