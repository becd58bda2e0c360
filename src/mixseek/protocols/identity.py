"""How a judged verdict came about, derived from who judged whom; never asked of the judge."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from mixseek.domain.judgments import Method, Reply
from mixseek.domain.samples import Sample
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.declaration import Table
from mixseek.settings.text_files import parse_toml

# Two names, one model? Names folded by an editable table; see model_names.toml.

_TABLE = Path(__file__).parent / "model_names.toml"

_REMARK = re.compile(r"[(\[【][^)\]】]{0,200}[)\]】]")
# `@` opens a base URL or, with some hosts, a snapshot; neither says which model it is.
_PLACE = re.compile(r"@(?=[^\s@]*+://|[^\s]{0,200}://)\S*")
# Where clouds keep a model: an Amazon resource name, a Vertex path. Only what stands behind it is the name.
_SHELF = re.compile(r"\barn:aws[^/\s]*/|\bprojects/\S{0,300}/models/")
# A file, `/srv/models/qwen.gguf` or `C:\\qwen.gguf`, is called what its last part is called.
_FILE = re.compile(r"(?:\A|(?<=:))(?:[/~.]|[a-z]:\\)\S*[/\\](?=[^/\\])")
_FILE_ENDING = re.compile(r"(?:-\d{5}-of-\d{5})?\.(?:gguf|ggml|safetensors|bin)\Z")
_SEPARATORS = re.compile(r"[\s_./@:-]+")
# Dashes that are not of Unicode's class of dashes: minus, hyphen bullet, modifier minus, soft hyphen.
_OTHER_DASHES = "\u2212\u2043\u02d7\u00ad"
_SNAPSHOT = re.compile(r"-((?:19|20)\d\d-?[01]\d-?[0-3]\d)(?:-v\d+(?:-\d+)?)?(?=-|\Z)")
# Month and day, a running number, year and month, month and year: only behind a name that is known, where it can be
# nothing else.
_SHORT_SNAPSHOT = re.compile(r"-((?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|00\d)\Z")
_MONTH = re.compile(r"-(?:(?P<short>2\d)(?P<month>0[1-9]|1[0-2])|(?P<first>0[1-9]|1[0-2])-(?P<year>20\d\d))\Z")
# Bedrock's `-v1:0`. `deepseek-v3.1` and `mistral-7b-v0.3` have no colon: there it is the model's own version.
_HOST_VERSION = re.compile(r"-v\d+:\d+\Z")
# 0.5b and, as Fireworks writes it, v3p1.
_DECIMAL_SIZE = re.compile(r"(?<=\d)\.(?=\d+[bm](?![a-z0-9]))")
_SPELLED_POINT = re.compile(r"(?<![a-z0-9])v(\d)p(\d)(?![a-z0-9])")
_SIZE = re.compile(r"[aep]?\d+(?:x\d+|p\d+)?[bm]")
_QUANTISED = re.compile(r"-(?:ud-)?i?q\d(?:-(?:k|0|1|xxs|xs|s|m|l|xl|nl))*\Z")
# What stands behind Ollama's colon where the word before it is a model and not a host: `mistral:7b`.
_TAG = re.compile(rf"(?:{_SIZE.pattern}|latest|instruct|chat|text|base|code|v\d+)(?![a-z0-9])")
# The same weights before and after they learnt to talk. A name that says neither may be either.
_TUNINGS = {"instruct": "talking", "chat": "talking", "it": "talking", "base": "raw", "pt": "raw"}
# Longer is no name; and every later step is then cheap.
_LONGEST = 300


class Family(Table):
    """Models of one lineage; `begins` are the words that their folded names begin with."""

    begins: tuple[str, ...] = Field(min_length=1)
    modes: tuple[str, ...] = ()
    # Names of its models that people use without the family's: "Sonnet 4.5".
    tiers: tuple[str, ...] = ()


class Families(Table):
    """A table, or what goes over the built-in one."""

    providers: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    aliases: dict[str, str] = Field(default_factory=dict)
    families: dict[str, Family] = Field(default_factory=dict)

    def over(self, below: "Families") -> "Families":
        """Lists grow; an alias or a family of the same name replaces the one below and is looked at first."""
        kept = {name: family for name, family in below.families.items() if name not in self.families}
        return Families(
            providers=(*self.providers, *below.providers),
            modes=(*self.modes, *below.modes),
            aliases={**below.aliases, **self.aliases},
            families={**self.families, **kept},
        )


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name, folded. `snapshot` is the date in it, digits only; None where the name leaves it open, as `tuning` is."""

    name: str
    family: str | None
    snapshot: str | None
    tuning: str | None = None

    def is_same_model(self, other: "ModelName") -> bool:
        """Two dated snapshots of one name are two models; an undated name may be either of them, so it is the same."""
        if not self.name or self.name != other.name:
            return False
        if self.tuning is not None and other.tuning is not None and self.tuning != other.tuning:
            return False
        date, other_date = self.snapshot or "", other.snapshot or ""
        # A date without its year may be of any year, one without its day of any day.
        return any(
            long.endswith(short) or long.startswith(short) for long, short in ((date, other_date), (other_date, date))
        )


@cache
def built_in_families() -> Families:
    """The table beside this module."""
    return Families.model_validate(parse_toml(_TABLE.read_text(encoding="utf-8")))


def fold_model_name(text: str, table: Families) -> ModelName:
    """Any text; one that is no model's name folds to itself."""
    plain = _plain(text)
    path = [part for part in (_dashed(part) for part in re.split(r"[/:]", plain)) if part]
    name = _with_family_name(_without_providers(path, table), table)
    # Somebody's own upload is of the family that it is called by; whether it is the same model, nobody knows.
    family = _family_of(name, table) or (_family_of(path[-1], table) if len(path) > 1 else None)
    modes = (*table.modes, *(table.families[family].modes if family is not None else ()))
    # A mode may stand before the date and behind it.
    name, snapshot = _without_snapshot(_without_modes(name, modes), is_known=family is not None)
    name = _without_modes(name, modes)
    known = _family_of(name, table)
    if known is not None:
        return _of_family(name, known, snapshot, table)
    name = table.aliases.get(name, name)
    return ModelName(name, _family_of(name, table) or family, snapshot)


def _of_family(name: str, family: str, snapshot: str | None, table: Families) -> ModelName:
    """A name that begins with a family's word: there it is known what the rest of it means."""
    begins = table.families[family].begins
    name = _in_order(_spaced(name, begins), begins)
    name = {_in_order(alias, begins): other for alias, other in table.aliases.items()}.get(name, name)
    meant = _family_of(name, table)
    if meant is None:
        return ModelName(name, None, snapshot)
    name, tuning = _without_tuning(_in_order(name, table.families[meant].begins))
    return ModelName(name, meant, snapshot, tuning)


def _plain(text: str) -> str:
    """Lower case, one kind of dash, nothing invisible, and nothing about where the model is kept."""
    folded = unicodedata.normalize("NFKC", text[:_LONGEST]).casefold()
    folded = "".join(map(_plain_character, folded))
    plain = _PLACE.sub("", _REMARK.sub(" ", folded)).strip()
    plain = _FILE_ENDING.sub("", _FILE.sub("", _SHELF.sub("", plain)))
    plain = _HOST_VERSION.sub("", plain)
    return _SPELLED_POINT.sub(r"\1-\2", _DECIMAL_SIZE.sub("p", plain))


def _plain_character(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Pd" or character in _OTHER_DASHES:
        return "-"
    return "" if category == "Cf" else character


def _dashed(text: str) -> str:
    return _SEPARATORS.sub("-", text).strip("-")


def _without_providers(path: list[str], table: Families) -> str:
    """What stands before a slash or colon is left out while it names a host; `llama3:8b` keeps both its parts."""
    known = {_dashed(name) for name in table.providers}
    while len(path) > 1 and path[0] in known:
        if _family_of(path[0], table) is not None and _TAG.match(path[1]):
            break
        path = path[1:]
    name = "-".join(path)
    # Hosts and people also write `us.anthropic.claude…` and `Google Gemini…`; but `mistral-large` is all name.
    words = name.split("-")
    for position, word in enumerate(words[:-1], start=1):
        if word not in known:
            break
        rest = "-".join(words[position:])
        if _family_of(rest, table) is not None:
            name = rest
    return name


def _with_family_name(name: str, table: Families) -> str:
    first, _, rest = name.partition("-")
    owners = (family.begins[0] for family in table.families.values() if first in family.tiers and rest[:1].isdigit())
    owner = next(owners, None)
    return name if owner is None else f"{owner}-{name}"


def _without_snapshot(name: str, *, is_known: bool) -> tuple[str, str | None]:
    dated = _SNAPSHOT.search(name)
    if dated is not None:
        return name[: dated.start()] + name[dated.end() :], dated[1].replace("-", "")
    if is_known and (short := _SHORT_SNAPSHOT.search(name)) is not None:
        return name[: short.start()], short[1].replace("-", "")
    if is_known and (month := _MONTH.search(name)) is not None:
        year = month["year"] or f"20{month['short']}"
        return name[: month.start()], year + (month["month"] or month["first"])
    return name, None


def _spaced(name: str, words: Iterable[str]) -> str:
    """`llama3`, `llama-v3` and `llama-3` are one."""
    word = _first_words(name, words)
    rest = name.removeprefix(word)
    if rest[:1].isdigit():
        return f"{word}-{rest}"
    return f"{word}-{rest[2:]}" if re.match(r"-v\d", rest) else name


def _first_words(name: str, words: Iterable[str]) -> str:
    return max((dashed for dashed in map(_dashed, words) if name.startswith(dashed)), key=len, default="")


def _in_order(name: str, words: Iterable[str]) -> str:
    """The version first: `claude-sonnet-4-5` and `claude-4.5-sonnet` are one. 2.0 is 2."""
    first = _first_words(name, words)
    rest = name.removeprefix(first).strip("-").split("-")
    version = [word for word in rest if word.isdigit()]
    if len(version) > 1 and version[-1] == "0":
        version.pop()
    return "-".join(word for word in (first, *version, *(word for word in rest if not word.isdigit())) if word)


def _without_tuning(name: str) -> tuple[str, str | None]:
    """Only of weights that say their size: `gpt-3.5-turbo-instruct` is a model of its own."""
    words = name.split("-")
    if not any(_SIZE.fullmatch(word) for word in words):
        return name, None
    tuning = next((_TUNINGS[word] for word in words if word in _TUNINGS), None)
    return "-".join(word for word in words if word not in _TUNINGS), tuning


def _without_modes(name: str, modes: Iterable[str]) -> str:
    endings = sorted({f"-{_dashed(mode)}" for mode in modes}, key=len, reverse=True)
    while True:
        quantised = _QUANTISED.search(name)
        ending = next((suffix for suffix in endings if name.endswith(suffix)), quantised[0] if quantised else "")
        if not ending:
            return name
        name = name.removesuffix(ending)


def _family_of(name: str, table: Families) -> str | None:
    for family, words in table.families.items():
        for word in words.begins:
            rest = name.removeprefix(_dashed(word))
            # "phi" begins phi-4 and phi4, not philosopher.
            if rest != name and not rest[:1].isalpha():
                return family
    return None


class Relation(NamedTuple):
    """`same_family`: judge and target are different models of one family, which may favour its own."""

    method: Method
    same_family: bool = False


def judge_identity(reply: Reply) -> str:
    """A recorded reply names its judge in the details; `replay` or a name from the settings is nobody's model."""
    recorded = reply.details.get("judge_model")
    return recorded if isinstance(recorded, str) and recorded.strip() else reply.judge


def relate(judge: str | None, target: str | None, table: Families | None = None) -> Relation:
    """Unknown on either side is a cross judgment: nobody is accused of judging himself without a name."""
    if not judge or not target:
        return Relation(Method.CROSS_JUDGE)
    judging, judged = _folded(judge, table), _folded(target, table)
    if judging.is_same_model(judged):
        return Relation(Method.SELF_JUDGE)
    # Where a family is not known, nothing can be said.
    return Relation(Method.CROSS_JUDGE, judging.family is not None and judging.family == judged.family)


def is_kin(judge: str | None, target: str | None) -> bool:
    """Whether judge and target are one model, or of one family."""
    relation = relate(judge, target)
    return relation.same_family or relation.method is Method.SELF_JUDGE


def is_same_model(name: str, other: str, table: Families | None = None) -> bool:
    """Whether two names mean one model."""
    return _folded(name, table).is_same_model(_folded(other, table))


def method_of(reply: Reply, sample: Sample) -> Method:
    """`self_judge` when judge and judged are one model."""
    return relate(judge_identity(reply), sample.target_model).method


def _folded(name: str, table: Families | None) -> ModelName:
    return _fold(name, "{}" if table is None else table.model_dump_json())


# A run holds a handful of names and a million replies; the table itself is not hashable, its text is.
@lru_cache(maxsize=4096)
def _fold(name: str, table: str) -> ModelName:
    return fold_model_name(name, Families.model_validate_json(table).over(built_in_families()))
