"""Splits one reply about many samples into one reply each: a list, or an object that holds a list of entries.

Every entry keeps its own text, so a protocol reads it like any other reply; a broken or doubled one spoils no other."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mixseek.domain.judgments import Finding, Flag
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.replies.reply_json import MAX_DEPTH, Decoded, canonical, decode_object, excerpt
from mixseek.protocols.replies.reply_objects import STRUCTURE, find_objects
from mixseek.protocols.replies.thought import without_thought

# In the order of trust: what seed 003 calls the sample's identity first.
IDENTITY_NAMES = ("output_id", "sample_id", "id", "file", "file_name", "filename")
# Cross replies name their sample one level down.
_NESTED = "meta"
_MAX_ENTRIES = 100_000
_NAMED_TEXT = re.compile(rf'"({"|".join(IDENTITY_NAMES)})"\s*:\s*(?:"([^"\\\n]{{1,300}})"|(\d{{1,18}})(?![\d.]))')
_EXTENSION = re.compile(r"\.(?:pdf|txt|md|markdown|json|jsonl|html?|docx?)\Z", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s_\-]+")


@dataclass(frozen=True, slots=True)
class BundleEntry:
    """One entry's own JSON text, the names it gives its sample, and what is wrong with it as an entry."""

    text: str
    identities: tuple[str, ...]
    problem: Finding | None = None


# In the reply's order, identical copies given once.
Bundle = tuple[BundleEntry, ...]


def split_bundle(text: str) -> Bundle | None:
    """None when the reply is not about many samples. Never raises; linear in the text."""
    spoken = without_thought(text.strip().strip("\ufeff").strip())
    pieces = list(_objects_in_lists(spoken.text))
    if not pieces:
        return None
    lists: dict[int, list[_Piece]] = defaultdict(list)
    for piece in pieces:
        lists[piece.list_start].append(piece)
    candidates = [[_entry(spoken.text, piece) for piece in members] for members in lists.values()]
    entries = max(candidates, key=_named_count)
    # A list of quotes or of flags is part of one reply; in a bundle, entries say what they are about.
    if 2 * _named_count(entries) < len(entries):
        return None
    return _flagged(_without_doubles(entries), spoken.text)


def fold_identity(name: str) -> str:
    """A file's name without its folder, its extension, case, spaces, underscores and hyphens."""
    last = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return _SEPARATORS.sub("", _EXTENSION.sub("", last.strip())).casefold()


def means_sample(given: str, expected: str) -> bool:
    """Whether an entry of a bundle means that sample, by the rule that brought the two together."""
    return bool(folded := fold_identity(given)) and folded == fold_identity(expected)


@dataclass(frozen=True, slots=True)
class _Piece:
    list_start: int
    start: int
    end: int | None
    depth: int


def _objects_in_lists(text: str) -> Iterator[_Piece]:
    """Objects that stand in a list which is the reply itself or a member of its one object."""
    open_brackets: list[tuple[str, int]] = []
    deepest = entries = 0
    for token in STRUCTURE.finditer(text):
        mark = token[0]
        if mark in ("{", "["):
            if not open_brackets and mark == "[" and text[token.end() : token.end() + 200].lstrip()[:1] != "{":
                # A bracket in prose ("[1]") begins no list of objects.
                continue
            open_brackets.append((mark, token.start()))
            deepest = 0 if _is_entry(open_brackets) else max(deepest, len(open_brackets))
        elif mark in ("}", "]") and open_brackets:
            if _is_entry(open_brackets):
                yield _Piece(open_brackets[-2][1], open_brackets[-1][1], token.end(), deepest)
                entries += 1
                if entries >= _MAX_ENTRIES:
                    return
            open_brackets.pop()
    for depth in (3, 2):
        if len(open_brackets) >= depth and _is_entry(open_brackets[:depth]):
            yield _Piece(open_brackets[depth - 2][1], open_brackets[depth - 1][1], None, deepest)


def _is_entry(open_brackets: Sequence[tuple[str, int]]) -> bool:
    kinds = [mark for mark, _ in open_brackets[:4]]
    return kinds in (["[", "{"], ["{", "[", "{"])


def _entry(text: str, piece: _Piece) -> BundleEntry:
    entry = text[piece.start : piece.end]
    if piece.end is None:
        problem = Finding(Flag.UNPARSABLE_OUTPUT, "the bundle ends inside this entry: it was cut off")
        entry = entry.rstrip()
    elif piece.depth > MAX_DEPTH:
        problem = Finding(Flag.UNPARSABLE_OUTPUT, f"the entry is nested more than {MAX_DEPTH} deep")
    else:
        decoded = decode_object(entry)
        if isinstance(decoded, Decoded):
            return BundleEntry(entry, _identities(decoded.value))
        problem = decoded
    # What a broken entry says about itself, so that the failure can still be laid at the right sample's door.
    named = dict.fromkeys(match[2] or match[3] for match in _NAMED_TEXT.finditer(entry))
    return BundleEntry(entry, tuple(named), problem)


def _identities(value: Mapping[str, Any]) -> tuple[str, ...]:
    nested = value.get(_NESTED)
    sources = (value, nested) if isinstance(nested, Mapping) else (value,)
    named = [source.get(name) for source in sources for name in IDENTITY_NAMES]
    texts = [str(name) for name in named if isinstance(name, str | int) and not isinstance(name, bool)]
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def _named_count(entries: Sequence[BundleEntry]) -> int:
    return sum(bool(entry.identities) for entry in entries)


def _without_doubles(entries: Sequence[BundleEntry]) -> Bundle:
    """Copies count once. Entries that contradict each other about one sample are both refused."""
    unlike = dict.fromkeys(entries)
    by_identity: dict[str, list[BundleEntry]] = defaultdict(list)
    for entry in unlike:
        if entry.identities:
            by_identity[entry.identities[0]].append(entry)
    kept: list[BundleEntry] = []
    for entry in unlike:
        same = by_identity[entry.identities[0]] if entry.identities else [entry]
        if len(same) == 1 or entry.problem is not None:
            kept.append(entry)
        elif len({_content(other) for other in same}) > 1:
            detail = f"{len(same)} entries of the bundle are about {entry.identities[0]!r}, and they differ"
            kept.append(replace(entry, problem=Finding(Flag.INTERNAL_INCONSISTENCY, detail)))
        elif same[0] is entry:
            kept.append(entry)
    return tuple(kept)


def _flagged(entries: Bundle, text: str) -> Bundle:
    """Seed 003 §6: flags name an unusable judging, and flags of the whole bundle are those of every entry."""
    wrappers = find_objects(text).readable if '"flags"' in text else ()
    flags = wrappers[0].value.get("flags") if len(wrappers) == 1 else None
    if not isinstance(flags, list) or not flags:
        return entries
    known = next((flag for flag in Flag if flag in flags), Flag.PROTOCOL_VIOLATION)
    finding = Finding(known, f"the bundle flags itself as unusable: {excerpt(flags)}")
    return tuple(entry if entry.problem else replace(entry, problem=finding) for entry in entries)


def _content(entry: BundleEntry) -> str:
    decoded = None if entry.problem else decode_object(entry.text)
    return canonical(decoded.value) if isinstance(decoded, Decoded) else entry.text
