"""Judges whose replies or scores were collected elsewhere: in a file beside the dataset, or in the dataset itself."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple

import orjson

from mixseek.domain.judgments import InvalidJudgment, Missing, Reply, Undecided, ValidJudgment
from mixseek.domain.lines import LONGEST_LINE_BYTES, bounded_lines
from mixseek.domain.panels import AB, BA
from mixseek.domain.ports import PLAIN, JudgeProtocol, presentation_of
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.protocols.reply_reader import Bundle, BundleEntry, fold_identity, split_bundle
from mixseek.protocols.semantic import read_log_score

# A recorded reply as it stands in a row, whatever the column is called.

# In the order in which they are looked for: the most explicit name first.
REPLY_NAMES = ("reply", "raw_output", "raw", "text", "output", "response", "content")
JUDGE_NAMES = ("judge_model", "judge")
_ISO_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:\Z|[T ])")
# What is wrong with the bundle that the reply was taken out of: {"flag": …, "detail": …}.
PROBLEM_NAME = "reply_problem"
# The reply was taken out of a bundle.
BUNDLED_NAME = "reply_bundled"


def recorded_reply(
    row: Mapping[str, Any], name: str, judge: str, sample_id: str, *, may_be_bundled: bool = False
) -> Reply | Missing:
    """The text in column `name`, to the letter; a value that is not text is written as JSON, and marked so."""
    value = row.get(name)
    if value is None:
        return Missing(f"no recorded reply for id {sample_id!r}")
    # A row that cannot have been made out of a bundle cannot say so of itself.
    problem = row.get(PROBLEM_NAME) if may_be_bundled else None
    details = {
        # The original bytes are lost: key order survives, spacing and duplicate keys do not.
        "reserialised": not isinstance(value, str) or None,
        "unusable": dict(problem) if problem and isinstance(problem, Mapping) else None,
        "bundle": (may_be_bundled and row.get(BUNDLED_NAME) is True) or None,
        "received_on": day_of(row),
    }
    if not isinstance(value, str):
        value = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS, default=str).decode()
    return Reply.by_model(judge_of(row), value, judge, details)


def day_of(row: Mapping[str, Any]) -> str | None:
    """When the reply came, where the row says so in a way that cannot be misread."""
    said = row.get("timestamp")
    return said[:10] if isinstance(said, str) and _ISO_DAY.match(said) else None


def judge_of(row: Mapping[str, Any]) -> str | None:
    """Who wrote the reply, where the row says so."""
    return next((row[key] for key in JUDGE_NAMES if isinstance(row.get(key), str)), None)


# Replies that were collected in bundles, matched to the samples they are about; never by guessing.

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
    """By sample key: the entries that are about the sample (several contradict each other), or why none is."""

    found: Mapping[str, tuple[PlacedEntry, ...]]
    refused: Mapping[str, str]
    unmatched: tuple[PlacedEntry, ...]

    def reply(self, sample: Sample, judge: str) -> Reply | Missing:
        """The entry's own text; contradicting ones together, so that the protocol refuses them with a reason."""
        entries = self.found.get(sample.key())
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
    said = ((name, next((row[key] for key in keys if isinstance(row.get(key), str)), "")) for name, keys in _SCOPES)
    return {name: value for name, value in said if value}


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
    found: dict[str, tuple[PlacedEntry, ...]] = {}
    for key, claim in claims.items():
        others = [other for entry in claim.entries for other in claimants[entry] if other.sample_id != claim.sample_id]
        rivals = [repr(other.sample_id) for other in others if other.strength >= claim.strength]
        if rivals:
            refused[key] = f"{claim.entries[0].label} could be about this sample and about {', '.join(rivals[:_SHOWN])}"
        else:
            found[key] = claim.entries
    used = {entry for taken in found.values() for entry in taken}
    return Matching(found, refused, tuple(entry for entry in entries if entry not in used))


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
        (known := getattr(sample, name)) is None or known.strip().casefold() == said.strip().casefold()
        for name, said in scope.items()
    )


def _said_by(entry: PlacedEntry) -> dict[str, str]:
    """What the entry itself says; looked at only to tell entries apart, as the protocol checks it anyway."""
    try:
        value = orjson.loads(entry.entry.text)
    except orjson.JSONDecodeError:
        return {}
    return {} if not isinstance(value, dict) else scope_of(value) | scope_of(value.get("meta"))


class OffsetIndex:
    """Where in a file each id's line begins, by digests: the ids of a million lines would take twice the memory."""

    def __init__(self) -> None:
        # 128 bits do not collide. An offset is stored as its complement, a negative number, once its id was wanted.
        self._offsets: dict[int, int] = {}
        # Whether some lines say in which order a pair was shown.
        self.has_orders = False

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, key: str, offset: int) -> None:
        self._offsets[_digest(key)] = offset

    def find(self, key: str) -> int | None:
        stored = self._offsets.get(_digest(key))
        return None if stored is None else max(stored, ~stored)

    def mark(self, key: str) -> None:
        """A sample asks for this key; `unmarked` tells what none asked for."""
        digest = _digest(key)
        stored = self._offsets.get(digest, -1)
        if stored >= 0:
            self._offsets[digest] = ~stored

    def unmarked(self, limit: int) -> tuple[int, list[int]]:
        """How many lines nobody wanted, and where the first of them begin."""
        offsets = [stored for stored in self._offsets.values() if stored >= 0]
        return len(offsets), sorted(offsets)[:limit]


def _digest(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest())


_UTF8_MARK = b"\xef\xbb\xbf"
# A file of these kinds may be one reply about many samples, as a judge wrote it.
_WHOLE_FILES = (".json", ".txt", ".md")
_MAX_WHOLE_BYTES = 64 << 20
_CHUNK_BYTES = 1 << 20
_NO_ID = "no usable id; give each reply the id of its sample, as text or integer"


@dataclass(frozen=True, slots=True)
class DatasetReplayJudge:
    """The reply stands in the sample's own row, in column `reply`, or `raw_output` or `raw`."""

    name: str = "replay"
    # Whether rows were made out of bundles.
    bundles: bool = False

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> Reply | Missing:
        """The other names are not looked at: `response` and `output` are the judged text here."""
        shown = presentation_of(protocol)
        if shown != PLAIN and sample.metadata.get(f"{REPLY_NAMES[0]}_{shown}") is not None:
            return recorded_reply(sample.metadata, f"{REPLY_NAMES[0]}_{shown}", self.name, sample.id)
        if shown not in (PLAIN, AB):
            return Missing(f"no recorded reply for id {sample.id!r} in order {shown}; it stands in `reply_{shown}`")
        column = next((name for name in REPLY_NAMES[:3] if sample.metadata.get(name) is not None), REPLY_NAMES[0])
        return recorded_reply(sample.metadata, column, self.name, sample.id, may_be_bundled=self.bundles)


@dataclass(frozen=True, slots=True)
class FileReplayJudge:
    """Replies in a file: JSON lines matched by id, of which only offsets are kept; bundles by name where asked for."""

    name: str
    path: Path
    index: OffsetIndex = field(repr=False, compare=False)
    wanted_judge: str | None = None
    bundles: tuple[PlacedBundle, ...] = field(default=(), repr=False, compare=False)
    matching: Matching | None = field(default=None, repr=False, compare=False)
    # Of the whole file, as it was when it was opened.
    sha256: str = ""
    length_bytes: int = 0

    @classmethod
    def open(
        cls, path: Path, name: str, *, takes_bundles: bool = False, longest_line: int = LONGEST_LINE_BYTES
    ) -> "FileReplayJudge":
        """Reads the file once, and refuses it as a whole when a line is bad or an id stands twice."""
        path, wanted = split_judge(path)
        judge = cls(name, path, OffsetIndex(), wanted)
        bundle = read_whole_bundle(path, longest_line)
        if bundle is not None and not takes_bundles:
            raise DatasetError(f"{path}: one reply about many samples; add --bundles to take it apart")
        bundles = tuple(judge._index_lines(takes_bundles, longest_line)) if bundle is None else (bundle,)
        if not len(judge.index) and not bundles:
            of = f" of judge {wanted!r}" if wanted else ""
            raise DatasetError(f'{path}: holds no replies{of}; expected JSON lines such as {{"id": …, "reply": …}}')
        length_bytes = path.stat().st_size
        return replace(judge, bundles=bundles, sha256=digest_start(path, length_bytes), length_bytes=length_bytes)

    def has_grown_from(self, sha256: str, length_bytes: int) -> bool:
        """Whether lines were only added since: every reply that was there is still the same."""
        # Never with bundles: a name that fitted one entry may fit two when another is added.
        can_have_grown = not self.bundles and length_bytes < self.length_bytes
        return can_have_grown and digest_start(self.path, length_bytes) == sha256

    def matched_to(self, samples: Callable[[], Iterable[Sample]]) -> "FileReplayJudge":
        """With every bundled entry matched to its sample; needs all samples, because a name may fit two."""
        return replace(self, matching=match_bundles(self.bundles, samples)) if self.bundles else self

    def note_sample(self, sample_id: str) -> None:
        """Told of every sample of the dataset, so that replies to none of them can be counted."""
        self.index.mark(sample_id)
        for order in (AB, BA) if self.index.has_orders else ():
            self.index.mark(_in_order(sample_id, order))

    def unmatched(self, limit: int) -> tuple[int, list[str]]:
        """How many replies are about no sample, and the first of them as their file names them."""
        count, offsets = self.index.unmarked(limit)
        entries = self.matching.unmatched if self.matching is not None else ()
        named = [repr(_id_text(self._row_at(offset))) for offset in offsets] + [entry.label for entry in entries]
        return count + len(entries), named[:limit]

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> Reply | Missing:
        """The recorded text to the letter, or Missing; never a guess by position."""
        shown = presentation_of(protocol)
        offset = self.index.find(_in_order(sample.id, shown)) if shown != PLAIN else None
        # A reply that names no order is about the sample as it stands, which of a pair is A first.
        offset = self.index.find(sample.id) if offset is None and shown in (PLAIN, AB) else offset
        if offset is not None:
            row = self._row_at(offset)
            return recorded_reply(row, _reply_name(row), self.name, sample.id)
        if self.matching is None or shown not in (PLAIN, AB):
            in_order = "" if shown == PLAIN else f" in order {shown}"
            return Missing(f"no recorded reply for id {sample.id!r}{in_order}")
        return self.matching.reply(sample, self.name)

    def _index_lines(self, takes_bundles: bool, longest_line: int) -> Iterator[PlacedBundle]:
        """Fills the index; gives the lines whose reply is about many samples."""
        for number, offset, line in _lines(self.path, longest_line):
            place = f"{self.path}:{number}"
            row = _checked_row(line, place)
            if self.wanted_judge is not None and judge_of(row) != self.wanted_judge:
                continue
            reply = row[_reply_name(row)]
            # Nothing without a bracket is a bundle, and most replies have none.
            bundle = split_bundle(reply) if takes_bundles and isinstance(reply, str) and "[" in reply else None
            row_id = _id_text(row)
            if bundle is not None:
                yield PlacedBundle(bundle, f"line {number}", scope_of(row), judge_of(row), row_id)
                continue
            if row_id is None:
                more = "" if takes_bundles else ", or add --bundles if it is about many"
                raise DatasetError(f"{place}: {_NO_ID}{more}")
            order = _order_of(row)
            self.index.has_orders |= order is not None
            key = row_id if order is None else _in_order(row_id, order)
            earlier = self.index.find(key)
            if earlier is not None:
                raise self._twice(place, row_id, row, earlier)
            self.index.add(key, offset)

    def _twice(self, place: str, row_id: str, row: Mapping[str, Any], earlier: int) -> DatasetError:
        # It was read once: no line before this one is longer than this file.
        line = next(number for number, at, _ in _lines(self.path, self.path.stat().st_size) if at == earlier)
        first, second = judge_of(self._row_at(earlier)), judge_of(row)
        advice = f"; take the judges apart with --judge replay:{self.path}#{first} --judge replay:{self.path}#{second}"
        are_two = first and second and first != second
        return DatasetError(f"{place}: id {row_id!r} stood already at line {line}{advice if are_two else ''}")

    def _row_at(self, offset: int) -> Mapping[str, Any]:
        # Opened anew each time: nothing to share between processes and threads, at 20 µs a reply.
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                row = orjson.loads(file.readline())
        except (OSError, orjson.JSONDecodeError) as error:
            raise ConfigurationError(f"{self.path}: changed while it was being read; run again") from error
        return row if isinstance(row, dict) else {}


def split_judge(path: Path) -> tuple[Path, str | None]:
    """`FILE#JUDGE` takes the lines of one judge, unless a file of that very name exists."""
    name, mark, judge = str(path).rpartition("#")
    return (Path(name), judge) if mark and name and judge and not path.exists() else (path, None)


def digest_start(path: Path, length_bytes: int) -> str:
    """sha256 over the file's first bytes."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while length_bytes and (data := file.read(min(_CHUNK_BYTES, length_bytes))):
                digest.update(data)
                length_bytes -= len(data)
    except OSError as error:
        raise ConfigurationError(f"{path}: recorded replies cannot be read ({error.strerror})") from error
    return digest.hexdigest()


def read_whole_bundle(path: Path, longest_line: int) -> PlacedBundle | None:
    """None for JSON lines, whatever the file is called."""
    if path.suffix.lower() not in _WHOLE_FILES or not path.is_file() or path.stat().st_size > _MAX_WHOLE_BYTES:
        return None
    if _is_row(next((line for _, _, line in _lines(path, longest_line)), b"")):
        return None
    try:
        bundle = split_bundle(path.read_bytes().decode())
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: not valid UTF-8 (byte {error.start}); convert the file to UTF-8") from error
    return None if bundle is None else PlacedBundle(bundle, path.name)


def _is_row(line: bytes) -> bool:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(row, dict) and bool(_reply_name(row))


def _lines(path: Path, longest_line: int) -> Iterator[tuple[int, int, bytes]]:
    """Line number, byte offset and text of every line that is not blank."""
    try:
        with path.open("rb") as file:
            offset = 0
            for number, line in enumerate(bounded_lines(path, file, longest_line), start=1):
                skipped = len(_UTF8_MARK) if number == 1 and line.startswith(_UTF8_MARK) else 0
                if line[skipped:].strip():
                    yield number, offset + skipped, line[skipped:]
                offset += len(line)
    except OSError as error:
        raise ConfigurationError(f"{path}: recorded replies cannot be read ({error.strerror})") from error


def _checked_row(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DatasetError(f"{place}: not a JSON line ({error})") from error
    if not isinstance(row, dict):
        raise DatasetError(f"{place}: a JSON object is expected, this is {type(row).__name__}")
    if not _reply_name(row):
        expected = f"no reply; expected one of the columns {', '.join(REPLY_NAMES)}"
        raise DatasetError(f"{place}: {_NO_ID if _id_text(row) is None else expected}")
    return row


def _order_of(row: Mapping[str, Any]) -> str | None:
    """In which order a pair was shown, where the row says so."""
    said = str(row.get("order") or row.get("presentation") or "").lower()
    return said if said in (AB, BA) else None


def _in_order(sample_id: str, order: str) -> str:
    return f"{sample_id}\x1f{order}"


def _id_text(row: Mapping[str, Any]) -> str | None:
    value = row.get("id")
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _reply_name(row: Mapping[str, Any]) -> str:
    """Blank where there is no reply."""
    return next((name for name in REPLY_NAMES if name in row), "")


# The scorer of another tool as a judge of its own: what it said is replayed, so that it can be held against ours.


@dataclass(frozen=True, slots=True)
class LogScoreJudge:
    """Reads the score that stands in the sample's own row; it needs a protocol whose verdicts are correct and not."""

    name: str
    scorer: str

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> ValidJudgment | InvalidJudgment | Undecided:
        """An outcome at once: a score is no text that would have to be parsed."""
        return read_log_score(sample, self.scorer, protocol.name)
