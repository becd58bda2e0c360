"""A journal as a viewer follows it: what it gained since the last look, and its texts searched; without an index.

Texts stand in the journal, where a scan of a million samples takes half a minute. So they are folded once, one line a
sample, into a file of our own, and every search reads that, about a gigabyte a second: a moment at a time, saying how
far it has come. What judges wrote stands in lines of its own, far behind: it is folded into another file, one line a
judgment, when somebody searches.
"""

import contextlib
import threading
import time
import unicodedata
from array import array
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson

from mixseek.lazy_dataclass import dataclass
from mixseek.storage.journal.journal import opening_journal
from mixseek.storage.journal.lock import is_being_written
from mixseek.storage.journal.manifest import RunStatus, read_manifest
from mixseek.storage.workspace import RunDirectory

_NEWEST = 12
# A look reads at most this much: the first one at a long journal takes several.
_LOOK_BYTES = 32 << 20
# What a rate is measured over.
_RATE_SECONDS = 20.0
# Nothing was written for so long: perhaps the process is gone, and its lock is asked for.
_SILENT_SECONDS = 5.0


class JournalTail:
    """Counts from the beginning of the journal; each look goes on where the one before ended."""

    def __init__(self, run: RunDirectory, clock: Callable[[], float] = time.monotonic) -> None:
        self._run, self._clock = run, clock
        self._offset = 0
        self._lock = threading.Lock()
        self._samples = 0
        self._statuses: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._replies = 0
        self._unpriced = 0
        self._cost = Decimal(0)
        self._newest: deque[dict[str, Any]] = deque(maxlen=_NEWEST)
        self._marks: deque[tuple[float, int]] = deque()
        self._grown_at = clock()

    def look(self) -> dict[str, Any]:
        """What is known now; `is_behind` while there is more of the journal to read."""
        with self._lock:
            now = self._clock()
            size = 0
            if self._run.journal.is_file():
                stat = self._run.journal.stat()
                size, self._grown_at = stat.st_size, now - max(0.0, time.time() - stat.st_mtime)
            self._read(size)
            judged = self._statuses.total()
            is_behind = self._offset < size and size - self._offset > 1 << 20
            # What was there before says nothing about the rate.
            if not is_behind:
                self._marks.append((now, judged))
            while len(self._marks) > 2 and now - self._marks[0][0] > _RATE_SECONDS:
                self._marks.popleft()
            return self._describe(now, judged, is_behind=is_behind)

    def _read(self, size: int) -> None:
        if size <= self._offset:
            return
        with opening_journal(self._run.journal, buffering=1 << 20) as journal:
            journal.seek(self._offset)
            end = self._offset + _LOOK_BYTES
            for line in journal:
                if not line.endswith(b"\n"):
                    break
                self._offset += len(line)
                self._take(line)
                if self._offset >= end:
                    break

    def _take(self, line: bytes) -> None:
        # By how a line begins: most of a journal is texts, which nobody counts here.
        match line[5:9]:
            case b'"sam':
                self._samples += 1
            case b'"rep' if b'"cached":true' not in line:
                self._replies += 1
                cost = orjson.loads(line).get("details", {}).get("cost_usd")
                if isinstance(cost, str | int | float):
                    self._cost += Decimal(str(cost))
                else:
                    self._unpriced += 1
            case b'"out':
                outcome = orjson.loads(line)
                self._statuses[outcome["status"]] += 1
                if outcome["status"] == "valid" and outcome.get("verdict"):
                    self._verdicts[outcome["verdict"]] += 1
                names = ("id", "judge", "status", "verdict", "score", "reason")
                self._newest.append({name: outcome.get(name) for name in names} | {"repeat": outcome.get("take", 1)})
            case _:
                pass

    def _describe(self, now: float, judged: int, *, is_behind: bool) -> dict[str, Any]:
        manifest = read_manifest(self._run.manifest)
        first = self._marks[0] if self._marks else (now, judged)
        seconds = now - first[0]
        is_running = manifest.status is RunStatus.RUNNING
        if is_running and now - self._grown_at > _SILENT_SECONDS:
            is_running = is_being_written(self._run.journal.with_suffix(".lock"))
        return {
            "run": self._run.name,
            "status": manifest.status.value if is_running or manifest.has_ended else RunStatus.INTERRUPTED.value,
            "is_running": is_running,
            "is_behind": is_behind,
            # So much of the journal is counted here; a list that is as new has every judgment named below.
            "journal_bytes": self._offset,
            "samples": self._samples,
            "sample_count": manifest.sample_count,
            "judged": judged,
            "statuses": dict(self._statuses),
            "verdicts": dict(self._verdicts.most_common(8)),
            "invalid_share": self._statuses["invalid"] / judged if judged else None,
            "rate": (judged - first[1]) / seconds if seconds >= 1 else None,
            "replies": self._replies,
            "cost_usd": float(self._cost) if self._replies > self._unpriced else None,
            "unpriced": self._unpriced,
            "newest": list(self._newest)[::-1],
        }


# Full-text search over the samples of a run, and over what its judges wrote.

_SAMPLE, _OUTCOME = b'{"t":"sam', b'{"t":"out'
_BLOCK_BYTES = 1 << 20
# Stands around a value of the metadata, and nowhere else.
_EDGE = "\x1f"
_SEARCHED = ("id", "question", "response", "ground_truth")
_SEARCHED_IN_STEPS = ("text", "tool", "result", "source")
# Of a judgment: what it found, and why it says so.
_WRITTEN = ("comment", "notes", "extracted_answer", "critical_fail_reason")
# Metadata with more different values than this is no choice for a filter.
_MOST_VALUES, _MOST_KEYS = 60, 20
# How long a request waits for a search, and how long the thread works before it looks who else asks.
_WAIT_SECONDS, _MOMENT_SECONDS = 0.05, 0.02
_SEARCHES_KEPT = 24
# What is in a bit string; positions count from 1.
_NO, _YES = ord("0"), ord("1")


def fold(text: str) -> str:
    """Width, case and compatibility forms do not matter, as in the report; nor do line breaks."""
    folded = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()
    return folded.replace("\n", " ").replace(_EDGE, " ")


def metadata_values(sample: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and values as a filter writes them; lists and tables are no choice."""
    for name, value in (sample.get("metadata") or {}).items():
        if isinstance(value, bool):
            yield name, "true" if value else "false"
        elif isinstance(value, str | int | float):
            yield name, str(value)


class _Values:
    """The values of one name of the metadata: a number for each, how many samples have it, and which each has."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        # By number, and by position; nought is for those without, and for what is one value too many.
        self._counts = [0]
        self._held = array("B")

    def note(self, position: int, value: str) -> None:
        code = self.codes.get(value)
        if code is None:
            # One more than are shown says that there are too many.
            if len(self.codes) > _MOST_VALUES:
                return
            code = self.codes[value] = len(self._counts)
            self._counts.append(0)
        self._counts[code] += 1
        self._held.extend(bytes(position - len(self._held)))
        self._held.append(code)

    def judgments(self, usual: int, unusual: Sequence[tuple[int, int]]) -> list[tuple[str, int]]:
        """The numbers of judgments by value, in order."""
        counts, held = [usual * count for count in self._counts], self._held
        for position, judgments in unusual:
            if position < len(held):
                counts[held[position]] += judgments - usual
        return sorted((value, counts[code]) for value, code in list(self.codes.items()))


class FoldedTexts:
    """The texts of a journal, folded as far as somebody has asked for; grows with the journal."""

    # How the lines begin that are folded.
    kind = _SAMPLE

    def __init__(self, journal: Path, file: Path) -> None:
        self._journal, self._file = journal, file
        self._read_bytes = 0
        self._lock = threading.Lock()
        # How much of the file can be searched, and how many samples that is.
        self.ready_bytes = self.samples = 0
        self._values: dict[str, _Values] = {}

    def advance(self, deadline: float, samples: int) -> bool:
        """Fold until that many samples are, or until that moment (of the monotonic clock), and at least one block.

        Whether there may be more to fold: on a starved machine a moment goes by without anything done in it.
        """
        with (
            self._lock,
            opening_journal(self._journal, buffering=_BLOCK_BYTES) as journal,
            self._file.open("ab") as out,
        ):
            journal.seek(self._read_bytes)
            while self.samples < samples:
                if not self._fold_some(journal.readlines(_BLOCK_BYTES), out.write, samples):
                    return False
                out.flush()
                self.ready_bytes = out.tell()
                if time.monotonic() >= deadline:
                    break
        return self.samples < samples

    def _fold_some(self, lines: list[bytes], write: Any, samples: int) -> bool:
        for line in lines:
            if not line.endswith(b"\n"):
                return False
            self._read_bytes += len(line)
            if line.startswith(self.kind):
                write(self.fold_line(line))
                self.samples += 1
        return bool(lines)

    def fold_line(self, line: bytes) -> bytes:
        sample = orjson.loads(line)["sample"]
        texts = [text for name in _SEARCHED if (text := sample.get(name))]
        texts += sample.get("ground_truth_alternatives", ())
        for step in (*sample.get("steps", ()), *sample.get("steps_b", ()), *sample.get("contexts", ())):
            texts += [text for name in _SEARCHED_IN_STEPS if isinstance(text := step.get(name), str)]
        folded = _EDGE.join(map(fold, texts))
        for name, value in metadata_values(sample):
            self._note(name, value)
            folded += metadata_needle(name, value)
        return (folded + "\n").encode("utf-8", "replace")

    def _note(self, name: str, value: str) -> None:
        if name not in self._values and len(self._values) == _MOST_KEYS:
            return
        self._values.setdefault(name, _Values()).note(self.samples + 1, value)

    def choices(self, usual: int, unusual: Sequence[tuple[int, int]]) -> dict[str, list[tuple[str, int]]]:
        """Metadata of few different values, of what is folded so far, with the number of judgments of each.

        A sample has the usual number of judgments, or its own among those that `unusual` lists by position.
        """
        few = {name: values for name, values in list(self._values.items()) if 2 <= len(values.codes) <= _MOST_VALUES}
        return {name: values.judgments(usual, unusual) for name, values in few.items()}

    def blocks(self, begin: int) -> Iterator[bytes]:
        """Whole lines from a byte on, as far as they are ready."""
        size = _BLOCK_BYTES
        with self._file.open("rb") as file:
            while begin < self.ready_bytes:
                file.seek(begin)
                block = file.read(min(size, self.ready_bytes - begin))
                end = block.rfind(b"\n") + 1
                if not end:
                    # One line is longer than that.
                    size *= 2
                    continue
                begin += end
                yield block[:end]


class FoldedJudgments(FoldedTexts):
    """What judges wrote, one line a judgment; `samples` counts judgments here."""

    kind = _OUTCOME

    def fold_line(self, line: bytes) -> bytes:
        outcome = orjson.loads(line)
        texts = [text for text in written_texts(outcome) if isinstance(text, str)]
        return folded_line(texts)


def folded_line(texts: Iterable[str]) -> bytes:
    """Texts that are searched together."""
    return (_EDGE.join(map(fold, texts)) + "\n").encode("utf-8", "replace")


def written_texts(outcome: Mapping[str, Any]) -> Iterator[Any]:
    """Comments, answers, reasons and quotes; why there is no verdict, and what was wrong with a reply."""
    fields = outcome.get("fields") or {}
    yield outcome.get("reason")
    yield from (finding.get("detail") for finding in outcome.get("flags") or ())
    yield from (fields.get(name) for name in _WRITTEN)
    reasons = fields.get("reasons")
    yield from reasons.values() if isinstance(reasons, Mapping) else (reasons,)
    gates = fields.get("gates")
    yield from (gate.get("reason") for gate in (gates.values() if isinstance(gates, Mapping) else ()))
    for quote in fields.get("evidence") or ():
        yield from (quote.get("quote"), quote.get("reason"))


def metadata_needle(name: str, value: str) -> str:
    return f"{_EDGE}{fold(name)}={fold(value)}{_EDGE}"


class TextSearch:
    """One search; `bits` has a 1 for every sample found so far, by its position."""

    def __init__(self, texts: FoldedTexts, words: str, metadata: Sequence[tuple[str, str]] = ()) -> None:
        self._texts = texts
        needles = [*fold(words).split(), *(metadata_needle(*column) for column in metadata)]
        # The longest is the rarest, as a rule.
        self._first, *self._others = sorted((needle.encode("utf-8", "replace") for needle in needles), key=len)[::-1]
        self._offset = 0
        self._lock = threading.Lock()
        self.searched = 0
        self._bits = bytearray([_NO])

    def bits(self, samples: int) -> str:
        """A 0 or a 1 for each position from 0 to that of the last sample; what is not searched yet is not found."""
        return self._bits.decode().ljust(samples + 1, "0")

    def advance(self, deadline: float, samples: int) -> None:
        """Search on until all samples are, or until that moment; what is not folded yet is folded first."""
        with self._lock:
            while self.searched < samples and time.monotonic() < deadline:
                if self.searched >= self._texts.samples:
                    has_more = self._texts.advance(min(deadline, time.monotonic() + 0.05), samples)
                    if self.searched >= self._texts.samples:
                        if has_more:
                            continue
                        return
                self._scan(deadline)

    def _scan(self, deadline: float) -> None:
        for block in self._texts.blocks(self._offset):
            lines = block.count(b"\n")
            self._bits += bytes([_NO]) * lines
            for line in self._matching_lines(block):
                self._bits[self.searched + line + 1] = _YES
            self._offset += len(block)
            self.searched += lines
            if time.monotonic() >= deadline:
                return

    def _matching_lines(self, block: bytes) -> Iterator[int]:
        place = line = 0
        while (hit := block.find(self._first, place)) >= 0:
            line += block.count(b"\n", place, hit)
            end = block.find(b"\n", hit)
            if not self._others or self._has_others(block, hit, end):
                yield line
            place = end

    def _has_others(self, block: bytes, hit: int, end: int) -> bool:
        begin = block.rfind(b"\n", 0, hit) + 1
        return all(block.find(other, begin, end) >= 0 for other in self._others)


class TextSearches:
    """The searches of one run, worked on by one thread for as long as any of them is unfinished.

    Also across newer lists of the same run: a journal only grows, and what is folded stays folded.
    """

    def __init__(
        self,
        journal: Path,
        file: Path,
        texts: type[FoldedTexts] = FoldedTexts,
        written: type[FoldedTexts] = FoldedJudgments,
    ) -> None:
        self.texts = texts(journal, file)
        self._judgments = written(journal, file.with_suffix(".judgments"))
        self._searches: OrderedDict[tuple[Any, ...], TextSearch] = OrderedDict()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._samples = self._outcomes = 0
        self._answering = 0
        self._is_closed = False

    @contextlib.contextmanager
    def resting(self) -> Iterator[None]:
        """While an answer is made, the thread leaves the interpreter to it."""
        with self._lock:
            self._answering += 1
        try:
            yield
        finally:
            with self._lock:
                self._answering -= 1

    def find(self, words: str, metadata: tuple[tuple[str, str], ...], samples: int, outcomes: int) -> "JudgmentSearch":
        """The search as far as it has come within a moment.

        All words in the texts of a sample, or all of them in what one judge wrote of it.
        """
        has_words = bool(words.split())
        search = JudgmentSearch(
            self._search(self.texts, words, metadata),
            self._search(self._judgments, words) if has_words else None,
            self._search(self.texts, "", metadata) if has_words and metadata else None,
            samples,
            outcomes,
        )
        self.go_on(samples, outcomes if has_words else 0)
        deadline = time.monotonic() + _WAIT_SECONDS
        while not search.is_done and time.monotonic() < deadline:
            time.sleep(0.005)
        return search

    def _search(self, texts: FoldedTexts, words: str, metadata: tuple[tuple[str, str], ...] = ()) -> TextSearch:
        key = (texts, words, metadata)
        with self._lock:
            search = self._searches.pop(key, None) or TextSearch(texts, words, metadata)
            self._searches[key] = search
            while len(self._searches) > _SEARCHES_KEPT:
                self._searches.popitem(last=False)
        return search

    def go_on(self, samples: int, outcomes: int = 0) -> None:
        """Fold and search that many samples, and judgments where somebody searches those, in the background."""
        with self._lock:
            self._samples, self._outcomes = max(self._samples, samples), max(self._outcomes, outcomes)
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._work, name="mixseek-search", daemon=True)
                self._thread.start()

    def close(self) -> None:
        self._is_closed = True

    def _work(self) -> None:
        while not self._is_closed:
            with self._lock:
                # Whoever asked last is waiting.
                active = [
                    (search, most)
                    for (texts, *_), search in reversed(self._searches.items())
                    if search.searched < (most := self._most(texts))
                ]
                before = self._progress(active)
                if not active and self.texts.samples >= self._samples:
                    self._thread = None
                    return
            if self._answering:
                time.sleep(_MOMENT_SECONDS / 4)
                continue
            deadline = time.monotonic() + _MOMENT_SECONDS
            if active:
                active[0][0].advance(deadline, active[0][1])
            else:
                self.texts.advance(deadline, self._samples)
            if before == self._progress(active):
                # The journal holds fewer than its index says, or a line is being written.
                time.sleep(_WAIT_SECONDS)

    def _most(self, texts: FoldedTexts) -> int:
        """How many lines there are to search."""
        return self._outcomes if texts is self._judgments else self._samples

    def _progress(self, active: Sequence[tuple[TextSearch, int]]) -> tuple[int, ...]:
        return (self.texts.samples, self._judgments.samples, *(search.searched for search, _ in active))


@dataclass(frozen=True, slots=True)
class JudgmentSearch:
    """One search over samples and judgments, as far as it has come; `within` finds the samples of its metadata."""

    texts: TextSearch
    written: TextSearch | None
    within: TextSearch | None
    samples: int
    outcomes: int

    @property
    def is_done(self) -> bool:
        return self.searched >= self.samples

    @property
    def searched(self) -> int:
        """Samples that were searched with all that was written of them, or as many as that is of all."""
        shares = [search.searched for search in (self.texts, self.within) if search is not None]
        if self.written is not None and self.outcomes:
            shares.append(min(self.samples, self.samples * self.written.searched // self.outcomes))
        return min(self.samples, *shares)
