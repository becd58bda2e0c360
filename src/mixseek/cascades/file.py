"""`cascade.toml`: who is asked in which order, what each may decide, who has the last word, and the certificate.

Programs write it and people read it; whoever edits it voids its certificate, because that speaks of what was tested.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Self

import orjson
from pydantic import Field, model_validator

from mixseek.cascades.certificate import Certificate, Name, Share, Tier, digest_of
from mixseek.errors import ConfigurationError
from mixseek.settings.load import explaining_failures
from mixseek.settings.models import Table
from mixseek.settings.text_files import decode_text, parse_toml, read_bounded
from mixseek.storage.durable import replacing, storage_error
from mixseek.storage.journal.manifest import JudgeEntry, ProtocolEntry

DEFAULT_NAME = "cascade.toml"
# Who decides what no tier may decide, where that is no judge.
PEOPLE = "people"
_HEAD = """\
# Written by `mixseek cascade plan`. What is changed here by hand voids the certificate: plan again instead.
"""


class CascadeTable(Table):
    """`[cascade]`: what was asked for, and who decides what is left."""

    # Least agreement with labels among what is decided, and how sure that is.
    agree: Share
    confidence: Share
    # `people`, or the name of the last tier.
    last: Name = PEOPLE
    # What was asked of the judges; nothing where ratings came from a table.
    protocol: str | None = None
    protocol_hash: str | None = None
    sources: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_askable(self) -> Self:
        for name in ("agree", "confidence"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name):g}; give a share between 0 and 1, such as 0.95")
        return self


class Cascade(Table):
    """All of `cascade.toml`."""

    cascade: CascadeTable
    tiers: tuple[Tier, ...] = Field(min_length=1)
    certificate: Certificate

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        names = [tier.name for tier in self.tiers]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"tiers: two are called {name!r}; give one of them another name")
        earlier: set[str] = set()
        for tier in self.tiers:
            if len({*tier.judges, *tier.beside}) < len(tier.judges) + len(tier.beside):
                raise ValueError(f"tiers: {tier.name!r} names a judge twice; name each once, and raise its repeats")
            if unasked := [name for name in tier.beside if name not in earlier]:
                raise ValueError(f"tiers: {tier.name!r} has {unasked[0]!r} beside it, which no earlier tier asks")
            earlier |= {*tier.judges}
        if self.cascade.last not in (PEOPLE, names[-1]):
            raise ValueError(
                f"cascade.last: {self.cascade.last!r} is neither {PEOPLE!r} nor the last tier, {names[-1]!r}"
            )
        return self

    @property
    def routing(self) -> tuple[Tier, ...]:
        """The tiers that are asked, in their order: those that decide, and a judge that has the last word."""
        return tuple(tier for tier in self.tiers if tier.decides or tier.name == self.cascade.last)

    @property
    def is_edited(self) -> bool:
        """Whether anything in the file is not what was certified."""
        return self.certificate.digest != content_digest(self)

    def voided_by(
        self,
        judges: Sequence[JudgeEntry],
        protocol: ProtocolEntry,
        models: Mapping[str, Collection[str]] | None = None,
    ) -> tuple[str, ...]:
        """Everything that is not what was certified, in a few words each; see `Certificate.voided_by`."""
        changed = self.certificate.voided_by(self.tiers, judges, protocol, models)
        return changed or (("the file was edited after it was certified",) if self.is_edited else ())


def certified(cascade: CascadeTable, tiers: Sequence[Tier], certificate: Certificate) -> Cascade:
    """The file with its digest in it."""
    unsigned = Cascade(cascade=cascade, tiers=tuple(tiers), certificate=certificate)
    signed = certificate.model_copy(update={"digest": content_digest(unsigned)})
    return unsigned.model_copy(update={"certificate": signed})


def content_digest(cascade: Cascade) -> str:
    """A digest over everything in the file but itself."""
    return digest_of(cascade.model_dump(mode="json", exclude_none=True, exclude={"certificate": {"digest"}}))


def read_cascade(path: Path) -> Cascade:
    """Raises ConfigurationError, in one line that names the file and the key, for everything that is none."""
    with explaining_failures(path, Cascade):
        document = parse_toml(decode_text(read_bounded(path)))
        if "certificate" not in document:
            raise ConfigurationError(f"{path}: 'certificate' is missing; `mixseek cascade plan` writes one")
        return Cascade.model_validate(document)


def write_cascade(path: Path, cascade: Cascade) -> None:
    """Atomic; raises ConfigurationError where another file has that name, which is nobody's cascade."""
    if path.exists():
        try:
            read_cascade(path)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"{path}: is there and is no cascade file; give another name with --out"
            ) from error
    document = cascade.model_dump(mode="python", exclude_none=True)
    # Dates stay dates; everything else is as in JSON.
    plain = {**cascade.model_dump(mode="json", exclude_none=True)}
    plain["certificate"]["made_on"] = document["certificate"]["made_on"]
    text = _HEAD + "\n".join(_table_lines(plain, ())) + "\n"
    try:
        with replacing(path) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise storage_error("write", path, error) from error


# Tables whose keys belong to somebody else: they stay on one line, whatever is in them.
_INLINE = {"parameters", "prompts", "thresholds"}


def _table_lines(table: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[str]:
    """A table as TOML, its own keys first; empty ones are what their absence means, too."""
    for key, value in table.items():
        if value not in ([], {}) and not _is_table(key, value) and not _is_table_list(value):
            yield f"{_key_text(key)} = {_value_text(value)}"
    for key, value in table.items():
        name = ".".join(map(_key_text, (*place, key)))
        if _is_table(key, value):
            yield from ("", f"[{name}]", *_table_lines(value, (*place, key)))
        elif _is_table_list(value):
            for item in value:
                yield from ("", f"[[{name}]]", *_table_lines(item, (*place, key)))


def _is_table(key: str, value: object) -> bool:
    return isinstance(value, Mapping) and key not in _INLINE


def _is_table_list(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _key_text(key: str) -> str:
    is_bare = bool(key) and key.isascii() and all(letter.isalnum() or letter in "-_" for letter in key)
    return key if is_bare else _value_text(key)


def _value_text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            # JSON's escapes are TOML's, but for the one control character that JSON lets stand.
            text = orjson.dumps(value.encode(errors="replace").decode()).decode()
            return text.replace("\x7f", "\\u007F")
        case date():
            return value.isoformat()
        case Mapping():
            pairs = ", ".join(f"{_key_text(str(key))} = {_value_text(item)}" for key, item in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case list() | tuple():
            return f"[{', '.join(map(_value_text, value))}]"
        case _:
            return repr(value)
