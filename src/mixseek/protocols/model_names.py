"""Two names, one model? Names folded by an editable table; see model_names.toml."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

_TABLE = Path(__file__).parent / "model_names.toml"

_REMARK = re.compile(r"[(\[【][^)\]】]{0,200}[)\]】]")
# `@` opens a base URL or, with some hosts, a snapshot; neither says which model it is.
_PLACE = re.compile(r"@(?=\S*://)\S*")
_SEPARATORS = re.compile(r"[\s_./@:-]+")
_SNAPSHOT = re.compile(r"-((?:19|20)\d\d-?[01]\d-?[0-3]\d)(?:-v\d+(?:-\d+)?)?(?=-|\Z)")
# Month and day, or a running number: only behind a name that is known, where it can be nothing else.
_SHORT_SNAPSHOT = re.compile(r"-((?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|00\d)\Z")
_HOST_VERSION = re.compile(r"-v\d+-\d+\Z")
# Longer is no name; and every later step is then cheap.
_LONGEST = 300


class Family(BaseModel):
    """Models of one lineage; `begins` are the words that their folded names begin with."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    begins: tuple[str, ...] = Field(min_length=1)
    modes: tuple[str, ...] = ()


class Families(BaseModel):
    """A table, or what goes over the built-in one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    providers: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    aliases: dict[str, str] = Field(default_factory=dict)
    families: dict[str, Family] = Field(default_factory=dict)

    def over(self, below: "Families") -> "Families":
        """Lists grow; an alias or a family of the same name replaces the one below and is looked at first."""
        return Families(
            providers=(*self.providers, *below.providers),
            modes=(*self.modes, *below.modes),
            aliases={**below.aliases, **self.aliases},
            families={
                **self.families,
                **{name: one for name, one in below.families.items() if name not in self.families},
            },
        )


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name, folded. `snapshot` is the date in it, digits only; None where the name leaves it open."""

    name: str
    family: str | None
    snapshot: str | None

    def is_same_model(self, other: "ModelName") -> bool:
        """Two dated snapshots of one name are two models; an undated name may be either of them, so it is the same."""
        if not self.name or self.name != other.name:
            return False
        one, two = self.snapshot, other.snapshot
        # A date without its year may be of any year.
        return one is None or two is None or one.endswith(two) or two.endswith(one)

    def is_same_family(self, other: "ModelName") -> bool:
        """False where a family is not known: nothing can be said then."""
        return self.family is not None and self.family == other.family


@cache
def built_in_families() -> Families:
    """The table beside this module."""
    return Families.model_validate(tomllib.loads(_TABLE.read_text(encoding="utf-8")))


def fold_model_name(text: str, table: Families) -> ModelName:
    """Any text; one that is no model's name folds to itself."""
    folded = unicodedata.normalize("NFKC", text[:_LONGEST]).casefold()
    plain = _PLACE.sub("", _REMARK.sub(" ", folded))
    path = [part for part in (_dashed(part) for part in re.split(r"[/:]", plain)) if part]
    name = _without_providers(path, table)
    dated = _SNAPSHOT.search(name)
    snapshot = None
    if dated is not None:
        snapshot = dated[1].replace("-", "")
        name = name[: dated.start()] + name[dated.end() :]
    name = _HOST_VERSION.sub("", name)
    family = _family_of(name, table)
    short = _SHORT_SNAPSHOT.search(name) if family is not None and snapshot is None else None
    if short is not None:
        snapshot = short[1].replace("-", "")
        name = name[: short.start()]
    name = _spaced(name, table.families[family].begins) if family is not None else name
    modes = (*table.modes, *(table.families[family].modes if family is not None else ()))
    name = _without_modes(name, modes)
    name = table.aliases.get(name, name)
    return ModelName(name, _family_of(name, table), snapshot)


def _dashed(text: str) -> str:
    return _SEPARATORS.sub("-", text).strip("-")


def _without_providers(path: list[str], table: Families) -> str:
    """What stands before a slash or colon is left out while it names a host; `llama3:8b` keeps both its parts."""
    known = {_dashed(name) for name in table.providers}
    while len(path) > 1 and path[0] in known:
        path = path[1:]
    name = "-".join(path)
    # Hosts and people also write `us.anthropic.claude…` and `Google Gemini…`; but `mistral-large` is all name.
    words = name.split("-")
    for position, word in enumerate(words[:-1], start=1):
        if word not in known:
            break
        rest = "-".join(words[position:])
        if _family_of(rest, table) is not None:
            return rest
    return name


def _spaced(name: str, words: Iterable[str]) -> str:
    """`llama3` and `llama-3` are one."""
    word = max((dashed for dashed in map(_dashed, words) if name.startswith(dashed)), key=len)
    rest = name.removeprefix(word)
    return f"{word}-{rest}" if rest[:1].isdigit() else name


def _without_modes(name: str, modes: Iterable[str]) -> str:
    endings = sorted({f"-{_dashed(mode)}" for mode in modes}, key=len, reverse=True)
    while ending := next((one for one in endings if name.endswith(one)), None):
        name = name[: -len(ending)]
    return name


def _family_of(name: str, table: Families) -> str | None:
    for family, words in table.families.items():
        for word in words.begins:
            rest = name.removeprefix(_dashed(word))
            # "phi" begins phi-4 and phi4, not philosopher.
            if rest != name and not rest[:1].isalpha():
                return family
    return None
