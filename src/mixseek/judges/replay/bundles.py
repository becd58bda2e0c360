"""Replies that were collected in bundles, laid at the doors of the samples they are about; never by guessing."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from typing import Any

import orjson

from mixseek.domain.judgments import Missing, Reply
from mixseek.domain.samples import Sample
from mixseek.protocols.reply.bundles import Bundle, BundleEntry, fold_identity

# Columns of a bundle's row that say which samples it can be about.
_SCOPES: Mapping[str, tuple[str, ...]] = {
    "target_model": ("target_model", "target"),
    "question_id": ("question_id",),
    "prompt_variant": ("prompt_variant",),
    "task_name": ("task_name", "task"),
}
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
    """By sample key: the entries that are about the sample (several contradict each other), or why none is."""

    found: Mapping[str, tuple[PlacedEntry, ...]]
    refused: Mapping[str, str]
    unmatched: tuple[PlacedEntry, ...]

    def reply(self, sample: Sample, judge: str) -> Reply | Missing:
        """The entry's own text; contradicting ones together, so that the protocol refuses them with a reason."""
        entries = self.found.get(sample.key())
        if entries is None:
            return Missing(self.refused.get(sample.key(), f"no entry of the bundle is about id {sample.id!r}"))
        details: dict[str, Any] = {"bundle": [entry.home.place for entry in entries]}
        problem = entries[0].entry.problem
        if problem is not None:
            details["unusable"] = {"flag": problem.flag.value, "detail": problem.detail}
        model = entries[0].home.judge_model
        if model is not None:
            details["judge_model"] = model
        return Reply("\n".join(entry.entry.text for entry in entries), judge, details=details)


def scope_of(row: Mapping[str, Any]) -> dict[str, str]:
    """What a bundle's row says about the samples in it."""
    said = {
        name: next((row[key] for key in keys if isinstance(row.get(key), str)), "") for name, keys in _SCOPES.items()
    }
    return {name: value for name, value in said.items() if value}


def match_bundles(bundles: Sequence[PlacedBundle], samples: Callable[[], Iterable[Sample]]) -> Matching:
    """Exact names first; folded ones (no folder, suffix, case, separators) where one sample and one entry are left."""
    entries = [
        PlacedEntry(number, entry, home)
        for number, (home, entry) in enumerate(
            ((home, entry) for home in bundles for entry in home.bundle.entries), start=1
        )
    ]
    row_ids = {home.row_id for home in bundles if home.row_id is not None}
    claimed = frozenset(sample.id for sample in samples() if sample.id in row_ids) if row_ids else frozenset[str]()
    finder = _EntryFinder(entries, claimed)
    claims: dict[str, _Claim] = {}
    claimants: dict[PlacedEntry, list[_Claim]] = defaultdict(list)
    for sample in samples():
        claim = finder.claim(sample)
        if claim is not None:
            claims[claim.key] = claim
            for entry in claim.entries:
                claimants[entry].append(claim)
    return _settle(claims, claimants, entries)


@dataclass(frozen=True, slots=True)
class _Claim:
    """`strength`: by an exact name or a similar one, then whether the entry itself agrees with the sample."""

    key: str
    sample_id: str
    entries: tuple[PlacedEntry, ...]
    strength: tuple[bool, bool] = (False, False)
    problem: str | None = None


class _EntryFinder:
    """Finds the entries that a sample's names could mean."""

    def __init__(self, entries: Iterable[PlacedEntry], sample_ids: frozenset[str]) -> None:
        # Ids of samples that bundles were recorded under.
        self._sample_ids = sample_ids
        self._exact: dict[str, list[PlacedEntry]] = defaultdict(list)
        self._folded: dict[str, list[PlacedEntry]] = defaultdict(list)
        for entry in entries:
            for name in dict.fromkeys(entry.entry.identities):
                self._exact[name].append(entry)
            for name in dict.fromkeys(map(fold_identity, entry.entry.identities)):
                self._folded[name].append(entry)

    def claim(self, sample: Sample) -> _Claim | None:
        """None where no entry means the sample."""
        names = names_of(sample)
        for is_exact, index, wanted in (
            (True, self._exact, names),
            (False, self._folded, [fold_identity(name) for name in names]),
        ):
            for name in wanted:
                fitting = [entry for entry in index.get(name, ()) if self._may_mean(entry, sample)]
                if len(fitting) > 1:
                    fitting = [entry for entry in fitting if is_in_scope(said_by(entry), sample)] or fitting
                if len(fitting) == 1 or (fitting and are_rivals(fitting)):
                    agrees = all(is_in_scope(said_by(entry), sample) for entry in fitting)
                    return _Claim(sample.key(), sample.id, tuple(fitting), (is_exact, agrees))
                if fitting:
                    labels = ", ".join(entry.label for entry in fitting[:_SHOWN])
                    problem = f"{len(fitting)} entries could be about id {sample.id!r}: {labels}"
                    return _Claim(sample.key(), sample.id, (), problem=problem)
        return None

    def _may_mean(self, entry: PlacedEntry, sample: Sample) -> bool:
        """A reply recorded under one sample's id never judges another."""
        row_id = entry.home.row_id
        is_anothers = row_id in self._sample_ids and row_id != sample.id
        return not is_anothers and is_in_scope(entry.home.scope, sample)


def _settle(
    claims: Mapping[str, _Claim],
    claimants: Mapping[PlacedEntry, list[_Claim]],
    entries: Iterable[PlacedEntry],
) -> Matching:
    found: dict[str, tuple[PlacedEntry, ...]] = {}
    refused: dict[str, str] = {}
    used: set[PlacedEntry] = set()
    for key, claim in claims.items():
        if claim.problem is not None:
            refused[key] = claim.problem
            continue
        rivals = [
            rival
            for entry in claim.entries
            for rival in claimants[entry]
            if rival.key != key and rival.strength >= claim.strength
        ]
        if rivals:
            others = ", ".join(repr(rival.sample_id) for rival in rivals[:_SHOWN])
            refused[key] = f"{claim.entries[0].label} could be about this sample and about {others}"
        else:
            found[key] = claim.entries
            used.update(claim.entries)
    return Matching(found, refused, tuple(entry for entry in entries if entry not in used))


def names_of(sample: Sample) -> list[str]:
    """What an entry may call the sample, the most telling first."""
    path = sample.metadata.get("response_path")
    file = PureWindowsPath(path).name if isinstance(path, str) else None
    return list(dict.fromkeys(name for name in (sample.output_id, sample.id, file) if name))


def is_in_scope(scope: Mapping[str, str], sample: Sample) -> bool:
    """Nothing that is said contradicts the sample."""
    return all(
        (known := getattr(sample, name)) is None or known.strip().casefold() == said.strip().casefold()
        for name, said in scope.items()
    )


def said_by(entry: PlacedEntry) -> dict[str, str]:
    """What the entry itself says; looked at only to tell entries apart, as the protocol checks it anyway."""
    try:
        value = orjson.loads(entry.entry.text)
    except orjson.JSONDecodeError:
        return {}
    meta = value.get("meta") if isinstance(value, dict) else None
    return {
        **(scope_of(value) if isinstance(value, dict) else {}),
        **(scope_of(meta) if isinstance(meta, dict) else {}),
    }


def are_rivals(entries: Sequence[PlacedEntry]) -> bool:
    """Entries of one bundle under one and the same name contradict each other."""
    return len({(id(entry.home), entry.entry.identities[:1]) for entry in entries}) == 1
