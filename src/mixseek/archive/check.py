"""An archive held against itself: every file read again by the protocol, whoever edited or moved it meanwhile."""

import hashlib
import os
import unicodedata
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, assert_never

import orjson

from mixseek.archive import write as names
from mixseek.archive.write import ARCHIVE_VERSION, SEALED
from mixseek.domain.confidence import columns_of
from mixseek.domain.judgments import InvalidJudgment, Missing, Outcome, Reply, Responded, Undecided, ValidJudgment
from mixseek.domain.panels import WITNESS_PREFIX
from mixseek.domain.ports import JudgingProtocol, MathsComparer, is_plain
from mixseek.domain.samples import Sample
from mixseek.engine.offline import judge_reply, judge_shown, refuse_incomplete
from mixseek.errors import ConfigurationError
from mixseek.judges.specs import CHECKS_JUDGE, decide_by_checks
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.replies.token_shares import LOGPROBS
from mixseek.protocols.semantic import read_log_score
from mixseek.storage.durable import digest_file, storage_error
from mixseek.storage.journal.records import SampleRecord, decode_object, decode_record

# Files that desktops leave behind are nobody's judgments.
_STRAYS = ("Thumbs.db", "desktop.ini")
_TOLERANCE = 1e-9


class ProblemKind(StrEnum):
    """What can be wrong with an archive."""

    MISSING = "missing"  # in the index, not on disk
    EXTRA = "extra"  # on disk, not in the index
    MOVED = "moved"  # in another place than the index says
    CHANGED = "changed"  # other bytes than were written
    NOT_VALID = "not_valid"  # in the valid room, and the protocol refuses it
    NOT_INVALID = "not_invalid"  # in the invalid room, and the protocol accepts it
    DIFFERS = "differs"  # read again, it says something else than the index


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, with its place inside the archive."""

    path: str
    kind: ProblemKind
    detail: str


@dataclass(frozen=True, slots=True)
class ArchiveMarker:
    """What the archive says of itself."""

    run: str
    protocol_hash: str
    sha256: Mapping[str, str]


def read_marker(archive: Path) -> ArchiveMarker:
    """Raises ConfigurationError for a directory that is no archive of ours."""
    path = archive / names.MARKER
    if not archive.is_dir():
        raise ConfigurationError(f"{archive}: no such directory; name what `mixseek archive` wrote")
    try:
        document = orjson.loads(path.read_bytes())
        version = document["archive_version"]
        marker = ArchiveMarker(document["run"], document["protocol_hash"], dict(document["sha256"]))
    except FileNotFoundError:
        raise ConfigurationError(f"{archive}: no archive ({names.MARKER} is not there)") from None
    except OSError as error:
        raise storage_error("read", path, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{path}: damaged ({error}); write the archive anew with `mixseek archive`") from error
    if version != ARCHIVE_VERSION:
        raise ConfigurationError(f"{path}: version {version} of archives, this mixseek reads {ARCHIVE_VERSION}")
    return marker


class ArchiveCheck:
    """One pass over the index and one over the files; offsets and paths are held, no text."""

    def __init__(
        self, archive: Path, marker: ArchiveMarker, protocol: JudgingProtocol, maths: MathsComparer | None = None
    ) -> None:
        self._archive = archive
        self._marker = marker
        self._protocol = protocol
        self._maths = maths
        self._samples = archive / names.SAMPLES
        self._places: dict[str, int] = {}
        self._known: set[str] = set()
        # Index rows whose file is not where it should be, by digest and by file name.
        self._sought: dict[str, dict[str, Any]] = {}
        self.files = 0

    def problems(self) -> Iterator[Problem]:
        """The problems in the order of the index; then what is missing, and what nobody knows."""
        yield from self._check_seals()
        if self._protocol.hash != self._marker.protocol_hash:
            yield Problem(names.PROTOCOL, ProblemKind.DIFFERS, "not the protocol that the run was judged by")
        yield from self._find_samples()
        for row in self._rows():
            yield from self._check_row(row)
        yield from self._check_unmatched_entries()
        for path, row in self._sought.items():
            yield Problem(
                path, ProblemKind.MISSING, f"the {row['status']} judgment of {describe_row(row)} is not there"
            )

    def _check_seals(self) -> Iterator[Problem]:
        for name in SEALED:
            if name == names.PROMPTS and name not in self._marker.sha256:
                # Archives of an older mixseek have none.
                continue
            path = self._archive / name
            if not path.is_file():
                yield Problem(name, ProblemKind.MISSING, "part of every archive; write it anew with `mixseek archive`")
            elif digest_file(path) != self._marker.sha256.get(name):
                yield Problem(name, ProblemKind.CHANGED, "edited since the archive was written")

    def _find_samples(self) -> Iterator[Problem]:
        """Only where they stand is kept: an archive may hold more text than memory."""
        offset = 0
        if not self._samples.is_file():
            return
        with self._samples.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                record = decode_sample_line(line)
                if record is None or record.sample.key() != record.key:
                    detail = f"line {number}: not the sample that was judged"
                    yield Problem(names.SAMPLES, ProblemKind.CHANGED, detail)
                else:
                    self._places[record.key] = offset
                offset += len(line)

    def _sample(self, key: str) -> Sample | None:
        if key not in self._places:
            return None
        with self._samples.open("rb") as stream:
            stream.seek(self._places[key])
            record = decode_sample_line(stream.readline())
        return record.sample if record is not None else None

    def _rows(self) -> Iterator[dict[str, Any]]:
        path = self._archive / names.INDEX
        if not path.is_file():
            return
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                row = read_row(line)
                if row is None:
                    raise ConfigurationError(
                        f"{path}: line {number} is damaged; write the archive anew with `mixseek archive`"
                    )
                if row["path"] is not None:
                    yield row

    def _check_row(self, row: dict[str, Any]) -> Iterator[Problem]:
        path = row["path"]
        self._known.add(normalised(path))
        file = self._archive / path
        if not file.is_file():
            self._sought[path] = row
            return
        self.files += 1
        data = file.read_bytes()
        if digest_bytes(data) != row["sha256"]:
            yield Problem(path, ProblemKind.CHANGED, "edited since the archive was written")
        sample = self._sample(row["key"])
        if sample is None:
            yield Problem(path, ProblemKind.DIFFERS, f"{describe_row(row)}: the sample is not in {names.SAMPLES}")
            return
        yield from self._read_again(path, data, row, sample)

    def _read_again(self, path: str, data: bytes, row: Mapping[str, Any], sample: Sample) -> Iterator[Problem]:
        """What the protocol makes of the file as it is now, where it is now."""
        is_in_valid_room = path.startswith(f"{names.VALID_ROOM}/")
        text: Any = data.decode("utf-8", "replace")
        if row.get("presentations"):
            yield from self._read_presentations(path, text, row, sample)
            return
        if not is_in_valid_room and row.get("has_reply", True):
            text = decode_object(text).get("reply")
        if not isinstance(text, str):
            yield Problem(path, ProblemKind.DIFFERS, "not a file of this archive: `reply` is not there")
            return
        judgment = self._protocol.complete(sample, self._judge(text, row, sample))
        yield from self._hold_against(path, judgment, row)

    def _read_presentations(self, path: str, text: str, row: Mapping[str, Any], sample: Sample) -> Iterator[Problem]:
        """Every reply in its own presentation, then what they come to together."""
        replies, protocol = decode_object(text).get("replies"), self._protocol
        if not isinstance(replies, dict) or set(replies) != set(row["presentations"]):
            yield Problem(path, ProblemKind.DIFFERS, f"`replies` are not those of {', '.join(row['presentations'])}")
        elif is_plain(protocol):
            yield Problem(path, ProblemKind.DIFFERS, f"the {protocol.name} protocol shows a sample in one way only")
        else:
            details, tokens = row.get("reply_details") or {}, row.get("presentation_tokens") or {}
            by_name = {name: {**details, LOGPROBS: tokens[name]} if name in tokens else details for name in replies}
            outcomes: dict[str, Outcome] = {
                name: judge_reply(Reply(str(text), row["judge"], details=by_name[name]), sample, protocol.present(name))
                for name, text in replies.items()
            }
            yield from self._hold_against(path, protocol.complete(sample, protocol.combine(outcomes)), row)

    def _hold_against(self, path: str, judgment: Outcome, row: Mapping[str, Any]) -> Iterator[Problem]:
        is_in_valid_room = path.startswith(f"{names.VALID_ROOM}/")
        match judgment:
            case ValidJudgment() if is_in_valid_room:
                yield from compare(path, judgment, row)
            case ValidJudgment():
                yield Problem(path, ProblemKind.NOT_INVALID, "the protocol accepts this reply as it stands")
            case InvalidJudgment() if is_in_valid_room:
                first = judgment.findings[0]
                more = f" (and {len(judgment.findings) - 1} more)" if len(judgment.findings) > 1 else ""
                yield Problem(path, ProblemKind.NOT_VALID, f"{first.flag}: {first.detail}{more}")
            case InvalidJudgment():
                flags = list(dict.fromkeys(finding.flag.value for finding in judgment.findings))
                if flags != row["flags"]:
                    indexed = ", ".join(row["flags"])
                    yield Problem(path, ProblemKind.DIFFERS, f"flags are {', '.join(flags)}, the index says {indexed}")
            case Undecided():
                yield Problem(path, ProblemKind.NOT_VALID, f"the rules leave it undecided: {judgment.reason}")
            case Missing():
                yield Problem(path, ProblemKind.NOT_VALID, judgment.reason)
            case Responded():
                yield Problem(path, ProblemKind.NOT_VALID, "an answer is no judgment")
            case unexpected:
                assert_never(unexpected)

    def _judge(self, text: str, row: Mapping[str, Any], sample: Sample) -> ValidJudgment | InvalidJudgment | Undecided:
        if row["judge"] == CHECKS_JUDGE:
            return decide_by_checks(sample, self._protocol)
        if row.get("is_ruled"):
            return self._protocol.decide(sample, self._maths)
        scorer = row["judge"].removeprefix(WITNESS_PREFIX)
        if scorer != row["judge"] and refuse_incomplete(sample, self._protocol) is None:
            return read_log_score(sample, scorer, self._protocol.name)
        details = row.get("reply_details")
        reply = Reply(text, row["judge"], details=details if isinstance(details, dict) else {})
        judgment = judge_shown(reply, sample, self._protocol)
        incomplete = refuse_incomplete(sample, self._protocol)
        if incomplete is None:
            return judgment
        if not row.get("has_reply", True):
            # Nobody was asked, so there is nothing to read again but the sample.
            return incomplete
        rest = judgment.findings if isinstance(judgment, InvalidJudgment) else ()
        return InvalidJudgment((*incomplete.findings, *rest))

    def _check_unmatched_entries(self) -> Iterator[Problem]:
        """Files that the index does not know: moved ones are recognised by their bytes or their name."""
        by_digest = {row["sha256"]: path for path, row in self._sought.items()}
        by_name = {Path(path).name: path for path in self._sought}
        for path in sorted(path for path in self._files_on_disk() if normalised(path) not in self._known):
            data = (self._archive / path).read_bytes()
            was = by_digest.get(digest_bytes(data)) or by_name.get(Path(path).name)
            row = self._sought.pop(was, None) if was is not None else None
            if row is None:
                yield Problem(path, ProblemKind.EXTRA, "not in the index: not a judgment of this run")
                continue
            self.files += 1
            yield Problem(path, ProblemKind.MOVED, f"this {row['status']} judgment was written as {was}")
            if digest_bytes(data) != row["sha256"]:
                yield Problem(path, ProblemKind.CHANGED, "edited since the archive was written")

    def _files_on_disk(self) -> Iterator[str]:
        for room in names.ROOMS.values():
            for folder, _, files in os.walk(self._archive / room):
                place = Path(folder).relative_to(self._archive).as_posix()
                for name in files:
                    path = f"{place}/{name}"
                    if not name.startswith(".") and name not in _STRAYS and path != names.INVALID_README:
                        yield path


def decode_sample_line(line: bytes) -> SampleRecord | None:
    """None for what is no sample of ours."""
    try:
        record = decode_record(line)
    except ValueError:
        return None
    return record if isinstance(record, SampleRecord) else None


def read_row(line: bytes) -> dict[str, Any] | None:
    """A row of the index whose parts are what they must be; None for one that an editor has spoilt."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("key", "judge", "status")):
        return None
    path = row.get("path")
    if path is None:
        return row
    if not (isinstance(path, str) and isinstance(row.get("sha256"), str) and isinstance(row.get("flags"), list)):
        return None
    parts = path.split("/")
    return row if parts[0] in names.ROOMS.values() and ".." not in parts else None


def compare(path: str, judgment: ValidJudgment, row: Mapping[str, Any]) -> Iterator[Problem]:
    """What the index says of a valid judgment."""
    for name, now, then in (
        ("score", judgment.score, row.get("score")),
        ("verdict", judgment.verdict, row.get("verdict")),
        ("total", judgment.fields.get("total"), row.get("total")),
        ("method", judgment.method.value, row.get("method")),
        # Archives of an older mixseek say nothing of these.
        *((name, value, row[name]) for name, value in certainty_columns(judgment).items() if name in row),
    ):
        # Numbers were written and read again.
        is_near = isinstance(now, int | float) and isinstance(then, int | float) and abs(now - then) <= _TOLERANCE
        if now != then and not is_near:
            yield Problem(path, ProblemKind.DIFFERS, f"{name} is {now}, the index says {then}")


def certainty_columns(judgment: ValidJudgment) -> dict[str, Any]:
    """How sure the judge is, by the names that it has in the index."""
    confidence = judgment.confidence
    columns = {"confidence_value": None, "confidence_source": None} if confidence is None else columns_of(confidence)
    return {**columns, "expected_score": judgment.expected_score}


def describe_row(row: Mapping[str, Any]) -> str:
    return f"sample {row.get('id')!r} by {row.get('judge')!r}"


def normalised(path: str) -> str:
    """Some file systems give names back decomposed."""
    return unicodedata.normalize("NFC", path)


def digest_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
