"""Replies that were collected in bundles, matched to the samples they are about; never by guessing."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import PureWindowsPath
from typing import Any, NamedTuple

import orjson

from mixseek.domain.judgments import Missing, Reply
from mixseek.domain.samples import Sample
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.replies.reply_bundles import Bundle, BundleEntry, fold_identity

# Columns of a bundle's row that say which samples it can be about.
_SCOPES = (
    ("target_model", ("target_model", "target")),
    ("question_id", ("question_id",)),
    ("prompt_variant", ("prompt_variant",)),
    ("task_name", ("task_name", "task")),
)
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class PlacedBundle:
    """A bundle with where it stands, what its row says it is about, and who wrote it."""

    bundle: Bundle
    place: str
    scope: Mapping[str, str] = field(default_factory=dict)
    judge_model: str | None = None
    # Under which it was recorded. Where a sample has that id, the bundle is about that sample and no other.
    row_id: str | None = None


@dataclass(frozen=True, slots=True)
class PlacedEntry:
    """One entry of one of the bundles; compared by its number."""

    number: int
    entry: BundleEntry = field(compare=False)
    home: PlacedBundle = field(compare=False)

    @property
    def label(self) -> str:
        named = self.entry.identities[0] if self.entry.identities else f"entry {self.number}"
        return f"{named!r} ({self.home.place})"


@dataclass(frozen=True, slots=True)
class Matching:
    """Entries by key of the sample that they are about (several contradict each other), or why none is."""

    matched: Mapping[str, tuple[PlacedEntry, ...]]
    refused: Mapping[str, str]
    unmatched: tuple[PlacedEntry, ...]

    def reply(self, sample: Sample, judge: str) -> Reply | Missing:
        """The entry's own text; contradicting ones together, so that the protocol refuses them with a reason."""
        entries = self.matched.get(sample.key())
        if entries is None:
            return Missing(self.refused.get(sample.key(), f"no entry of the bundle is about id {sample.id!r}"))
        problem = entries[0].entry.problem
        details = {
            "bundle": [entry.home.place for entry in entries],
            "unusable": None if problem is None else {"flag": problem.flag.value, "detail": problem.detail},
        }
        text = "\n".join(entry.entry.text for entry in entries)
        return Reply.by_model(entries[0].home.judge_model, text, judge, details)


def scope_of(row: Any) -> dict[str, str]:
    """What a bundle's row says about the samples in it."""
    row = row if isinstance(row, Mapping) else {}
    scopes = ((name, next((row[key] for key in keys if isinstance(row.get(key), str)), "")) for name, keys in _SCOPES)
    return {name: value for name, value in scopes if value}


class _Claim(NamedTuple):
    """`strength`: by an exact name or a similar one, then whether the entry itself agrees with the sample."""

    sample_id: str
    entries: tuple[PlacedEntry, ...]
    strength: tuple[bool, bool] = (False, False)


def match_bundles(bundles: Sequence[PlacedBundle], samples: Callable[[], Iterable[Sample]]) -> Matching:
    """Exact names first; folded ones (no folder, suffix, case, separators) where one sample and one entry are left."""
    placed = [(home, entry) for home in bundles for entry in home.bundle]
    entries = [PlacedEntry(number, entry, home) for number, (home, entry) in enumerate(placed, start=1)]
    by_name: dict[tuple[bool, str], list[PlacedEntry]] = defaultdict(list)
    for entry in entries:
        for name in _exact_and_folded(entry.entry.identities):
            by_name[name].append(entry)
    row_ids = {home.row_id for home in bundles if home.row_id is not None}
    recorded_under = {sample.id for sample in samples() if sample.id in row_ids} if row_ids else set()
    claims: dict[str, _Claim] = {}
    refused: dict[str, str] = {}
    claimants: dict[PlacedEntry, list[_Claim]] = defaultdict(list)
    for sample in samples():
        claim = _claim(sample, by_name, recorded_under)
        if isinstance(claim, str):
            refused[sample.key()] = claim
        elif claim is not None:
            claims[sample.key()] = claim
            for entry in claim.entries:
                claimants[entry].append(claim)
    matched: dict[str, tuple[PlacedEntry, ...]] = {}
    for key, claim in claims.items():
        others = [other for entry in claim.entries for other in claimants[entry] if other.sample_id != claim.sample_id]
        rivals = [repr(other.sample_id) for other in others if other.strength >= claim.strength]
        if rivals:
            refused[key] = f"{claim.entries[0].label} could be about this sample and about {', '.join(rivals[:_SHOWN])}"
        else:
            matched[key] = claim.entries
    used = {entry for taken in matched.values() for entry in taken}
    return Matching(matched, refused, tuple(entry for entry in entries if entry not in used))


def _claim(
    sample: Sample, by_name: Mapping[tuple[bool, str], list[PlacedEntry]], recorded_under: Collection[str]
) -> _Claim | str | None:
    """The entries that the sample's names mean, why they mean too many, or None where they mean none."""
    for is_exact, name in _exact_and_folded(_names_of(sample)):
        # A reply recorded under one sample's id never judges another.
        fitting = [
            entry
            for entry in by_name.get((is_exact, name), ())
            if entry.home.row_id not in recorded_under or entry.home.row_id == sample.id
            if _is_in_scope(entry.home.scope, sample)
        ]
        agreeing = [entry for entry in fitting if _is_in_scope(_said_by(entry), sample)]
        if len(fitting) > 1 and agreeing:
            fitting = agreeing
        # Entries of one bundle under one and the same name contradict each other, and are taken together.
        if len({(id(entry.home), entry.entry.identities[:1]) for entry in fitting}) == 1:
            return _Claim(sample.id, tuple(fitting), (is_exact, fitting == agreeing))
        if fitting:
            labels = ", ".join(entry.label for entry in fitting[:_SHOWN])
            return f"{len(fitting)} entries could be about id {sample.id!r}: {labels}"
    return None


def _exact_and_folded(names: Iterable[str]) -> list[tuple[bool, str]]:
    exact = list(dict.fromkeys(names))
    return [(True, name) for name in exact] + [(False, name) for name in dict.fromkeys(map(fold_identity, exact))]


def _names_of(sample: Sample) -> list[str]:
    """What an entry may call the sample, the most telling first."""
    path = sample.metadata.get("response_path")
    file = PureWindowsPath(path).name if isinstance(path, str) else None
    return [name for name in (sample.output_id, sample.id, file) if name]


def _is_in_scope(scope: Mapping[str, str], sample: Sample) -> bool:
    """Nothing that is said contradicts the sample."""
    return all(
        (known := getattr(sample, name)) is None or known.strip().casefold() == value.strip().casefold()
        for name, value in scope.items()
    )


def _said_by(entry: PlacedEntry) -> dict[str, str]:
    """What the entry itself says; looked at only to tell entries apart, as the protocol checks it anyway."""
    try:
        value = orjson.loads(entry.entry.text)
    except orjson.JSONDecodeError:
        return {}
    return {} if not isinstance(value, dict) else scope_of(value) | scope_of(value.get("meta"))
